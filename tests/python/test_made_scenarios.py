"""Scenarios that Python makes: from nested mappings, and with another sweep than their file's."""

from __future__ import annotations

import json
import shlex
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import lasthop as lh
from conftest import HOP, SMALL
from lasthop.base.paths import shipped
from lasthop.scenario.made import as_toml
from lasthop.scenario.overrides import parses

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

SCENARIOS = Path(__file__).resolve().parents[2] / "scenarios"
VARIANT, LOSS = "flows.main.tcp.variant", "links.path.loss.rate"
KIND, MODE, PACKET = "agents.snoop.kind", "agents.snoop.lle-tcp.mode", "flows.main.tcp.packet"
METRIC = "flows.main.goodput_bps"


@pytest.mark.parametrize("name", list(shipped()))
def test_a_shipped_scenario_is_the_same_from_a_dict(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    read = lh.load(name)
    # The files that a dict names are searched for from here.
    monkeypatch.chdir(SCENARIOS)
    made = lh.from_dict(tomllib.loads(read.text), name)
    assert (made.id, made.points(), made.figures()) == (read.id, read.points(), read.figures())
    for point in {0, len(read.points()) - 1}:
        assert made.point_key(point) == read.point_key(point)


def test_a_scenario_from_a_dict_runs_like_that_of_the_file(small: Path) -> None:
    made = lh.from_dict(tomllib.loads(SMALL))
    assert isinstance(made, lh.Scenario)
    assert made.run(seed=1).metrics == lh.load(small).run(seed=1).metrics


def test_whatever_toml_can_hold_comes_back() -> None:
    values: dict[str, Any] = {
        "title": 'quote " back \\ line \n delete \x7f nul \x00 ü',
        "odd key.with dot": [1, 2.5, True, -1e-9, "x"],
        "empty": {},
        "tables": {"a": {}, "b": {"c": {"d": []}}},
        "mixed": {"a": {"x": 1}, "b": 2},
        "figure": [{"id": "x"}, {"id": "y", "names": {"a b": "c"}}],
    }
    assert tomllib.loads(as_toml(values)) == values
    assert tomllib.loads(as_toml({"x": (np.float64(0.5), np.int64(3)), "y": np.array([1.5, 2])})) == {
        "x": [0.5, 3],
        "y": [1.5, 2.0],
    }


def changed(key: str, value: object) -> dict[str, Any]:
    values = tomllib.loads(SMALL)
    *tables, last = key.split(".")
    table = values
    for name in tables:
        table = table[name]
    table[last] = value
    return values


def test_mistakes_in_a_dict_name_the_key_and_no_line() -> None:
    wrong = {
        'scenario: links.path.rate: "5 MB" is a size; expected a rate such as "5 Mbit/s"': (
            lambda: lh.from_dict(changed("links.path.rate", "5 MB"))
        ),
        'mine: links.path.rate: "5 MB" is a size; expected a rate such as "5 Mbit/s"': (
            lambda: lh.from_dict(changed("links.path.rate", "5 MB"), "mine")
        ),
    }
    for message, call in wrong.items():
        with pytest.raises(lh.ScenarioError) as raised:
            call()
        assert str(raised.value) == message
    with pytest.raises(lh.ScenarioError, match=r"^scenario: links\.path\.rat: unknown key"):
        lh.from_dict(changed("links.path.rat", "5 Mbit/s"))
    with pytest.raises(lh.ScenarioError, match=r"^set links\.path\.rate=5 MB: "):
        lh.from_dict(tomllib.loads(SMALL)).set({"links.path.rate": "5 MB"})
    quiet = lh.from_dict(changed("links.path.queue", "500 B"))
    assert [text.split(": ")[:2] for text in quiet.warnings] == [["scenario", "links.path.queue"]]


def test_what_a_scenario_cannot_hold_is_refused_by_its_argument() -> None:
    cases: dict[str, Callable[[], object]] = {
        "values: run.duration: None is not a scenario value; "
        "expected a string, number, bool, list or mapping": (
            lambda: lh.from_dict({"run": {"duration": None}})
        ),
        'values: 3 is not a key; expected one such as "run"': lambda: lh.from_dict({"run": {3: 4}}),
        'values: \'x\'; expected a mapping such as {"run": {"duration": "50 s"}}': (
            lambda: lh.from_dict("x")  # type: ignore[arg-type]
        ),
        'vary: [1]; expected a mapping such as {"links.a.loss.rate": ["0 %", "1 %"]}': (
            lambda: lh.from_dict(tomllib.loads(SMALL)).vary([1])  # type: ignore[arg-type]
        ),
        "name: '../x'; expected letters, digits, -, _ and ., in parts separated by /": (
            lambda: lh.from_dict(tomllib.loads(SMALL), "../x")
        ),
        "replications: 1000000000; expected an integer from 1 to 1000000": (
            lambda: lh.from_dict(tomllib.loads(SMALL)).sweep(10**9)
        ),
    }
    for message, call in cases.items():
        with pytest.raises(lh.UsageError) as raised:
            call()
        assert str(raised.value) == message


def test_the_shipped_scenarios_are_listed_with_their_titles() -> None:
    found = lh.scenarios()
    assert list(found) == list(shipped())
    assert found["lle-tcp/fig08"] == lh.load("lle-tcp/fig08").title


# Sweeps from Python.


def test_vary_sweeps_the_product_of_lists(small: Path, tmp_path: Path) -> None:
    study = lh.sweep(
        lh.load(small).set({"run.duration": "1 s"}),
        vary={VARIANT: ["reno", "newreno", "sack"], LOSS: "0 % .. 2 % step 2 %"},
        replications=2,
        seed=7,
        out=tmp_path / "s",
    )
    assert [tuple(point.values()) for point in study.points()] == [
        (variant, loss) for variant in ("reno", "newreno", "sack") for loss in ("0 %", "2 %")
    ]
    study.run()
    assert (study.seed, study.table(METRIC).column("n")) == (7, [2] * 6)
    again = lh.Study.open(tmp_path / "s")
    assert again.table(METRIC).rows == study.table(METRIC).rows
    by_hand = lh.load(small).set({"run.duration": "1 s", VARIANT: "sack", LOSS: "2 %"})
    assert by_hand.run(seed=7).metrics[METRIC] == study.values(5, METRIC)[0]


def test_vary_keeps_the_other_keys_of_a_sweep_and_a_set_key_can_be_varied(small: Path) -> None:
    sc = lh.load(small).vary({"run.duration": ["1 s", "2 s"]})
    assert list(sc.points()[0]) == [VARIANT, LOSS, "run.duration"]
    assert len(sc.points()) == 12
    one = lh.load(small).set({VARIANT: "reno", LOSS: "1 %"}).vary({VARIANT: ["sack", "reno"]})
    assert one.points() == [{VARIANT: "sack"}, {VARIANT: "reno"}]
    assert one.overrides[1:] == [(LOSS, "1 %"), (f"sweep.{VARIANT}", '["sack", "reno"]')]
    assert one.set({VARIANT: "reno"}).points() == [{}]
    by_table = lh.load(small).set({"flows.main.tcp": {"variant": "reno"}, LOSS: "1 %"})
    assert by_table.vary({VARIANT: ["sack"]}).points() == [{VARIANT: "sack"}]


def test_vary_of_nothing_is_the_same_scenario(small: Path) -> None:
    assert lh.load(small).vary({}) == lh.load(small)


def test_vary_takes_keys_that_advance_together(small: Path) -> None:
    zipped = lh.load(small).vary({"zip": {VARIANT: ["reno", "sack"], LOSS: ["0 %", "1 %"]}})
    assert zipped.axes() == [([VARIANT, LOSS], [["reno", "0 %"], ["sack", "1 %"]])]
    listed = lh.load(small).vary({"list": [{VARIANT: "reno", LOSS: "0 %"}, {VARIANT: "sack", LOSS: "1 %"}]})
    assert listed.axes() == zipped.axes()


def test_vary_of_one_of_the_keys_that_advance_together_leaves_the_others(tmp_path: Path) -> None:
    text = HOP.split("[sweep]", 1)[0]
    rows = f'"{KIND}" = ["none", "lle-tcp", "lle-tcp"]\n"{MODE}" = ["paper", "paper", "safe"]\n'
    sc = lh.Scenario.from_text(f"{text}[sweep.zip]\n{rows}", "x.toml")
    free = sc.vary({MODE: ["paper", "safe"]})
    assert free.axes() == [([KIND], [["none"], ["lle-tcp"]]), ([MODE], [["paper"], ["safe"]])]
    other = ([PACKET, "run.duration"], [["200 B", "1 s"], ["400 B", "2 s"]])
    two = sc.vary({"zip": {PACKET: ["200 B", "400 B"], "run.duration": ["1 s", "2 s"]}})
    assert two.axes() == [*sc.axes(), other]
    assert two.vary({"zip": {KIND: ["none"], MODE: ["paper"]}}).axes() == [
        other,
        ([KIND, MODE], [["none", "paper"]]),
    ]
    assert len(sc.vary({"zip": {KIND: ["lle-tcp"], MODE: ["safe"], PACKET: ["200 B"]}}).points()) == 1


def test_vary_keeps_figures_and_plot_reports_one_that_does_not_fit(tmp_path: Path) -> None:
    sc = lh.Scenario.from_text(HOP, "hop.toml")
    plain = sc.vary({KIND: ["none"]})
    assert [point[KIND] for point in plain.points()] == ["none", "none"]
    assert plain.figures() == sc.figures()
    study = sc.vary({PACKET: ["400 B"]}).sweep(1, tmp_path / "s").run()
    assert study.plot("airtime").axes
    with pytest.raises(
        lh.UsageError, match=r"figure time: no point in .* has flows\.main\.tcp\.packet = 1000 B; "
    ):
        study.plot("time")


def test_vary_allows_any_number_of_settings_that_no_point_uses(small: Path) -> None:
    law = lh.load(small).set({VARIANT: "ejtcp"}).resolved()
    own = {key: entry["value"] for key, entry in law.items() if key.startswith("flows.main.tcp.ejtcp.")}
    assert len(own) > 10, "more than a message lists"
    values = tomllib.loads(SMALL)
    values["sweep"][VARIANT] = ["reno", "ejtcp"]
    values["flows"]["main"]["tcp"]["ejtcp"] = {
        key.rpartition(".")[2]: tomllib.loads(f"x = {text}")["x"] if parses(text) else text
        for key, text in own.items()
    }
    varied = lh.from_dict(values).vary({VARIANT: ["sack"], LOSS: ["0 %"]})
    assert varied.points() == [{VARIANT: "sack", LOSS: "0 %"}]


def test_mistakes_in_vary_name_the_argument_and_the_key(small: Path) -> None:
    sc = lh.load(small)
    with pytest.raises(lh.ScenarioError) as raised:
        sc.vary({LOSS: ["5 MB"]})
    assert str(raised.value).startswith(f'vary: {LOSS}: "5 MB" is a size; expected ')
    for axes, message in (
        ({VARIANT: ["renno"]}, f'^vary: {VARIANT}: .*did you mean "reno"'),
        ({VARIANT: []}, f"^vary: {VARIANT}: an empty list; expected at least one value$"),
        ({"flows.main.tcp.varian": ["reno"]}, "^vary: flows.main.tcp.varian: unknown key"),
        ({"zip": {VARIANT: ["reno"], LOSS: ["0 %", "1 %"]}}, f"^vary: zip.{LOSS}: 2 values; expected 1"),
        ({"zip": [VARIANT]}, "^vary: zip: a list; expected a table of keys with lists"),
        ({VARIANT: "reno"}, f'^vary: {VARIANT}: "reno"; expected a list of values in brackets'),
        ({"title": ["x"]}, "^vary: title: cannot be swept"),
        ({"run.seed": [1, 2]}, "^vary: run.seed: "),
    ):  # fmt: skip
        with pytest.raises(lh.ScenarioError, match=message):
            lh.sweep(sc, axes)
    made = lh.from_dict(tomllib.loads(SMALL))
    with pytest.raises(lh.ScenarioError, match=f'^vary: {VARIANT}: .*did you mean "reno"'):
        made.vary({VARIANT: ["renno"]})
    for axes, refused in (
        ({VARIANT: [None]}, f"^vary: {VARIANT}: None is not a scenario value; "),
        ({3: ["reno"]}, "^vary: 3 is not a key; "),
        (None, "^vary: None; expected a mapping such as "),
    ):
        with pytest.raises(lh.UsageError, match=refused):
            sc.vary(axes)  # type: ignore[arg-type]


def test_a_sweep_takes_what_load_takes(small: Path, tmp_path: Path) -> None:
    plain = lh.sweep(small, replications=1, where=[f"{LOSS}=1 %"], out=tmp_path / "s")
    assert (plain.scenario, plain.size) == (lh.load(small), 2)
    again = lh.load(small).sweep(1, tmp_path / "t", vary={VARIANT: ["sack"], LOSS: ["1 %"]})
    assert again.points() == [{VARIANT: "sack", LOSS: "1 %"}]


# The same from the command line.


def test_a_sweep_of_a_command_is_that_of_vary(small: Path, within: Cli, tmp_path: Path) -> None:
    axes = [
        f"sweep.{VARIANT}=[sack, bbr]",
        f'sweep.zip={{ "{LOSS}" = ["0 %", "1 %"], run.duration = ["1 s", "2 s"] }}',
    ]
    options = [word for axis in axes for word in ("-s", axis)]
    done = within("sweep", small, *options, "-r", "1", "-o", "s", "--no-progress")
    assert done.returncode == 0, done.stderr
    zipped = {LOSS: ["0 %", "1 %"], "run.duration": ["1 s", "2 s"]}
    study = lh.Study.open(tmp_path / "s")
    varied = lh.load(small).vary({VARIANT: ["sack", "bbr"], "zip": zipped})
    assert study.points() == varied.points()
    assert within("command", "s", "--point", "3").returncode == 0


def test_a_kept_run_of_a_sweep_can_be_repeated(small: Path, within: Cli, tmp_path: Path) -> None:
    given = (f"{VARIANT}=reno", f"sweep.{VARIANT}=[sack, bbr]", f'sweep.zip={{ {LOSS} = ["1 %"] }}')
    zips = (*given, 'sweep.zip={ run.duration = ["1 s"] }', f"{VARIANT}=newreno")
    options = [word for pair in zips for word in ("-s", pair)]
    assert within("run", small, *options, "-o", "kept").returncode == 0
    again = json.loads(within(*shlex.split(within("command", "kept").stdout)[1:], "--json").stdout)
    kept = json.loads((tmp_path / "kept" / "run.json").read_text())
    assert again["point"] == kept["point"] == {LOSS: "1 %", "run.duration": "1 s"}
    assert again["metrics"] == kept["metrics"]


def test_mistakes_in_a_sweep_of_a_command_name_the_option(small: Path, within: Cli) -> None:
    for given, message in (
        (f"sweep.{LOSS}=[5 MB]", f'--set sweep.{LOSS}=[5 MB]: "5 MB" is a size; expected '),
        ("sweep.zip=[1]", "--set sweep.zip=[1]: a list; expected a table of keys with lists"),
    ):
        done = within("check", small, "-s", given)
        assert (done.returncode, done.stderr.startswith(f"error: {message}")) == (2, True), done.stderr
