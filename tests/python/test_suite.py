"""`lasthop suite`: demands on a law, relative to a standard one."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop.base import paths
from lasthop.base.errors import UsageError
from lasthop.laws import Loss, Reno, Window
from lasthop.laws.registered import forget
from lasthop.study.sweep import Listener
from lasthop.suites import cases, measured, page, tables

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

SCENARIO = """
title = "A short path"

[run]
duration     = "20 s"
warmup       = "2 s"
replications = 3

[nodes]
a = {}
b = {}

[links.path]
kind  = "wired"
nodes = ["a", "b"]
rate  = "2 Mbit/s"
delay = "40 ms"
queue = "12 packets"

[flows.test]
from = "a"
to   = "b"
app  = { spread = "1 s" }
tcp  = { congestion = "cubic", timestamps = false }

[flows.other]
from = "a"
to   = "b"
app  = { spread = "1 s" }

[sweep]
"flows.test.tcp.congestion" = ["reno", "cubic", "vegas"]
"""

SUITE = """
title    = "Two demands"
version  = 7
standard = "cubic"
left-out = ["1: nothing"]

[[case]]
id       = "carries"
section  = "2"
says     = "It carries at least 80 % of CUBIC's goodput."
scenario = "small/path"
kind     = "gain"
metric   = "flows.test.goodput_bps"
at-least = -20
unit     = "%"

[[case]]
id       = "leaves"
section  = "3"
says     = "Others keep at least three quarters."
scenario = "small/path"
kind     = "gain"
metric   = "flows.other.goodput_bps"
at-least = -25
unit     = "%"
"""

# A law that never reduces its window, and one that takes it down to a segment at each loss.
LAWS = """
from lasthop.laws import Loss, Reno, Window


class Never(Reno):
    def on_loss(self, loss: Loss, window: Window) -> None:
        pass


class Timid(Reno):
    def on_loss(self, loss: Loss, window: Window) -> None:
        window.ssthresh = window.cwnd = 1.0
"""


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one suite of two cases."""
    web = paths.data("web")
    (tmp_path / "web").symlink_to(web)
    (tmp_path / "scenarios" / "small").mkdir(parents=True)
    (tmp_path / "scenarios" / "small" / "path.toml").write_text(SCENARIO)
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "two.toml").write_text(SUITE)
    (tmp_path / "laws.py").write_text(LAWS)
    monkeypatch.setattr(paths, "DATA", tmp_path)
    monkeypatch.setattr(paths, "checkout", lambda: tmp_path)
    monkeypatch.chdir(tmp_path)
    cases._scenario.cache_clear()
    return tmp_path


def outcomes(library: Path, name: str) -> dict[str, str]:
    found = measured.read(library / name / "results.json")
    return {case: tables.verdict(law) for case, by_law in found.outcomes.items() for law in by_law.values()}


def test_a_law_loses_the_cases_that_its_mistake_breaks_and_no_others(library: Path, within: Cli) -> None:
    for law, expected in {
        "cubic": {"carries": "passes", "leaves": "passes"},
        "greedy=laws.py:Never": {"carries": "passes", "leaves": "fails"},
        "timid=laws.py:Timid": {"carries": "fails", "leaves": "passes"},
    }.items():
        done = within("suite", "two", "--law", law, "-o", law[:5], "-j", "1")
        assert done.returncode == 0, done.stderr
        assert outcomes(library, law[:5]) == expected
        number = list(expected.values()).count("passes")
        assert f"{law.partition('=')[0]}: {number} passed" in done.stdout


def test_all_laws_give_a_table_of_verdicts_and_published_results_give_a_place(
    library: Path, within: Cli
) -> None:
    done = within("suite", "two", "--record", "-q")
    assert done.stderr.strip() == str(library / "suites" / "two.results.json")
    table = within("suite", "two").stdout
    assert table.split("\n")[0].split() == ["section", "case", "reno", "cubic", "vegas"]
    # CUBIC carries most and leaves least.
    one = within("suite", "two", "--law", "cubic").stdout
    assert [line.split()[-3:] for line in one.split("\n")[1:3]] == [["1", "of", "3"], ["3", "of", "3"]]
    drawn = (library / "studies" / "suite-two" / "index.html").read_text()
    assert drawn.count('<svg class="cases"') == 2
    assert "Two demands" in drawn
    assert "vegas" in drawn


def test_results_are_verified_by_measuring_again(library: Path, within: Cli) -> None:
    within("suite", "two", "--law", "reno", "-o", "first", "-q")
    same = within("suite", "--verify", "first/results.json", "-o", "second")
    assert (same.returncode, same.stdout.strip()) == (0, "2 of 2 values are equal")
    whole = json.loads((library / "first" / "results.json").read_text())
    whole["cases"]["leaves"]["reno"]["mean"] += 1
    (library / "first" / "results.json").write_text(json.dumps(whole))
    other = within("suite", "--verify", "first/results.json", "-o", "second")
    assert other.returncode == 1
    assert other.stdout.startswith("leaves: reno: ")
    assert other.stdout.strip().endswith("1 of 2 values are equal")


def test_a_law_in_python_is_verified_with_its_class(library: Path, within: Cli) -> None:
    within("suite", "two", "--law", "timid=laws.py:Timid", "-o", "first", "-q")
    whole = json.loads((library / "first" / "results.json").read_text())
    assert list(whole["sources"]) == ["timid"]
    whole["cases"] = {case: {"other": found["timid"]} for case, found in whole["cases"].items()}
    (library / "first" / "other.json").write_text(json.dumps(whole))
    done = within("suite", "--verify", "first/other.json")
    assert done.returncode == 2
    assert "results of other, a law in Python; expected --law other=MODULE:CLASS too" in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("version  = 7", "", "no version; expected one"),
        ("title    =", "titel =", 'titel: unknown key; did you mean "title"?'),
        ('section  = "2"', "section = 2", "carries: section; expected text"),
        ('id       = "leaves"', 'id = "carries"', "carries: listed twice; expected unique ids"),
        (
            'scenario = "small/path"\nkind     = "gain"\nmetric   = "flows.test',
            'scenario = "small/pat"\nmetric = "flows.test',
            "small/pat",
        ),
        ("[[case]]", "[[case", "expected a readable suite"),
    ],
)
def test_a_wrong_file_is_reported(library: Path, old: str, new: str, message: str) -> None:
    assert old in SUITE
    (library / "suites" / "two.toml").write_text(SUITE.replace(old, new, 1))
    with pytest.raises(UsageError, match=message.replace("?", r"\?")):
        cases.suite("two")


def test_results_of_another_version_or_model_are_not_compared(library: Path, within: Cli) -> None:
    within("suite", "two", "--record", "-q")
    (library / "suites" / "two.toml").write_text(SUITE.replace("version  = 7", "version  = 8"))
    assert measured.published(cases.suite("two")) is None
    done = within("suite", "--verify", "suites/two.results.json")
    assert done.returncode == 2
    assert "expected version 8 of two" in done.stderr


def of_scenarios(chosen: cases.Suite, *names: str) -> cases.Suite:
    """A suite with the cases of some scenarios alone."""
    return measured.replace(
        chosen, cases=tuple(case for case in chosen.cases if case.scenario.rpartition("/")[2] in names)
    )


def verdicts(chosen: cases.Suite, laws: list[str], folder: Path) -> dict[str, list[str]]:
    found = measured.measure(chosen, laws, folder, jobs=None, listener=lambda _: Listener())
    return {case: [tables.verdict(one) for one in by_law.values()] for case, by_law in found.outcomes.items()}


@pytest.mark.parametrize(
    ("name", "cheap"),
    [("rfc9743", ("slow", "no-feedback")), ("rfc7928", ("friendly",)), ("rfc8867", ("capacity",))],
)
def test_the_published_results_are_those_of_this_simulator(
    name: str, cheap: tuple[str, ...], tmp_path: Path
) -> None:
    """A change of a number needs `./lasthop suite NAME --record`, and a reason in its commit."""
    chosen = cases.suite(name)
    known = measured.published(chosen)
    assert known is not None
    assert known.laws == chosen.laws
    some = of_scenarios(chosen, *cheap)
    found = measured.measure(some, chosen.laws, tmp_path, jobs=None, listener=lambda _: Listener())
    assert found.outcomes == {case.id: known.outcomes[case.id] for case in some.cases}


def test_codel_that_waits_a_second_fails_where_delay_is_judged_and_carries_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = of_scenarios(cases.suite("rfc7928"), "friendly")
    right = {"friendly-goodput": ["fails"], "friendly-delay": ["passes"]}
    assert verdicts(chosen, ["codel"], tmp_path / "right") == right
    slow = cases.among("rfc7928/friendly", chosen.subject, ["codel", "none"])
    slow = slow.set({"links.path.aqm.codel.target": "1 s"})
    monkeypatch.setattr(measured, "among", lambda *_: slow)
    wrong = {"friendly-goodput": ["passes"], "friendly-delay": ["fails"]}
    assert verdicts(chosen, ["codel"], tmp_path / "slow") == wrong


class Never(Reno):
    """A law that never reduces its window."""

    def on_loss(self, loss: Loss, window: Window) -> None:
        pass


@pytest.fixture
def law() -> Iterator[Callable[[type], str]]:
    """Registers a class under the name `mine` for one test."""

    def registered(kind: type) -> str:
        lh.law("mine", kind)
        return "mine"

    yield registered
    forget("mine")


def test_a_law_without_reduction_fails_where_losses_of_media_are_judged(
    tmp_path: Path, law: Callable[[type], str]
) -> None:
    laws = [law(Never), "reno"]
    assert verdicts(of_scenarios(cases.suite("rfc8867"), "capacity"), laws, tmp_path) == {
        "capacity": ["passes", "passes"],
        "capacity-delay": ["fails", "fails"],
        "capacity-losses": ["fails", "passes"],
    }


def test_python_gives_verdicts_also_of_a_law_in_python(library: Path, law: Callable[[type], str]) -> None:
    found = lh.suite("two", ["reno", "cubic", law(Reno)], out=library / "first")
    assert found.laws == ("reno", "cubic", "mine")
    assert list(measured.read(library / "first" / "results.json").sources) == ["mine"]
    assert [row["verdict"] for row in found.table("cubic")] == ["passes", "passes"]
    mine, reno = (
        [(row["value"], row["ci_low"], row["unit"]) for row in found.table(name)] for name in ("mine", "reno")
    )
    assert mine == reno
    assert mine[0][2] == "%"
    found.save(library / "shown.html")
    assert "Two demands" in (library / "shown.html").read_text()
    assert str(found).split("\n")[0].split() == ["section", "case", "reno", "cubic", "mine"]


@pytest.mark.parametrize("name", ["rfc7928", "rfc8867", "rfc9743"])
def test_every_case_draws_the_laws_over_its_demand(name: str) -> None:
    chosen = cases.suite(name)
    known = measured.published(chosen)
    assert known is not None
    drawn = page.html(chosen, known)
    assert drawn.count('class="band"') == len(chosen.cases)
    assert drawn.count("<circle") >= len(chosen.cases) * len(known.laws)
