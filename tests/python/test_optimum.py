"""Searches: they find what is known to be best, continue after a kill, and confirm with other seeds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop.study.optimum import Plan, Range, search

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

pytest.importorskip("optuna")
GOODPUT = "flows.main.goodput_bps"
QUEUE = "links.path.queue"
SEARCH = ("--maximise", GOODPUT, "--over", f"{QUEUE}=2 packets..60 packets")


@pytest.fixture
def wire(tmp_path: Path) -> Path:
    """Bulk TCP over a wire with a queue, without random loss."""
    file = tmp_path / "wire.toml"
    file.write_text(
        '[run]\nduration = "4 s"\n[nodes]\na = {}\nb = {}\n[links.path]\nkind = "lossy"\nnodes = ["a", "b"]\n'
        'rate = "5 Mbit/s"\ndelay = "20 ms"\nqueue = "4 packets"\n'
        'loss = { model = "packet", rate = "0.5 %" }\n'
        '[flows.main]\nfrom = "a"\nto = "b"\ntcp = { variant = "newreno", window = "16 segments" }\n'
    )
    return file


def test_the_window_that_fills_the_path_is_found(wire: Path, tmp_path: Path) -> None:
    sc = lh.load(wire).set({"links.path.loss.rate": "0 %", "links.path.queue": "100 packets"})
    # With 40 ms at 5 Mbit/s, fewer than 17 segments do not fill the path, and more add delay alone.
    found = sc.search(
        "flows.main.rtt_p50_s",
        {"flows.main.tcp.window": "2..64 segments"},
        maximise=False,
        trials=12,
        replications=1,
        confirm=2,
        out=tmp_path / "rtt",
    )
    assert found.trials[0].values == {"flows.main.tcp.window": "16 segments"}
    assert int(found.best["flows.main.tcp.window"].split()[0]) < 17
    filled = sc.search(
        GOODPUT,
        {"flows.main.tcp.window": "2..64 segments"},
        trials=12,
        replications=1,
        confirm=2,
        out=tmp_path / "g",
    )
    assert int(filled.best["flows.main.tcp.window"].split()[0]) >= 17
    assert filled.chosen == max(trial.objective or 0.0 for trial in filled.trials)


def test_the_choice_is_confirmed_with_other_random_numbers_beside_controls_and_elsewhere(
    wire: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other.toml"
    other.write_text(wire.read_text().replace("0.5 %", "0 %"))
    found = lh.load(wire).search(
        GOODPUT,
        {QUEUE: "2 packets..60 packets"},
        trials=6,
        replications=2,
        confirm=8,
        elsewhere=[{"links.path.delay": "50 ms"}, lh.load(other)],
        against=[{"flows.main.tcp.variant": "bbr"}],
        out=tmp_path / "s",
    )
    here, there, in_other = found.confirmed
    assert (here.place, there.place, in_other.place) == ("here", "links.path.delay=50 ms", "other")
    assert (in_other.default.mean or 0) > (here.default.mean or 0)
    assert lh.Study.open(tmp_path / "s/elsewhere/other").scenario.id == "other"
    assert (here.difference.n, here.best.n) == (8, 8)
    assert here.difference.mean == pytest.approx((here.best.mean or 0) - (here.default.mean or 0))
    assert list(here.controls) == ["flows.main.tcp.variant=bbr"]
    seeds = {lh.Study.open(tmp_path / "s").seed}
    assert seeds == {1 + 1_000_003}
    assert found.default is not None
    assert found.shrinkage == pytest.approx(1 - (here.difference.mean or 0) / (found.chosen - found.default))
    assert "flows.main.goodput_bps (Mbit/s), best of 6 trials" in found.text()
    worse = replace(found, chosen=found.default - 1.0)
    assert worse.shrinkage is None
    assert "no trial is better" in worse.text()


def test_a_trial_that_lacks_the_metric_in_some_runs_is_not_best_by_the_others(
    wire: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def means(self: object, scenario: lh.Scenario, replications: int, seed: int) -> dict[int, float | None]:
        window = int(scenario.resolved(0)["flows.main.tcp.window"]["value"].split()[0])
        if window < 30:  # Only the luckiest run completes.
            return {0: 1.0} | dict.fromkeys(range(1, replications))
        return dict.fromkeys(range(replications), 1 + window / 100)

    monkeypatch.setattr("lasthop.study.optimum._Runner.means", means)
    said: list[str] = []
    found = search(
        lh.load(wire),
        "flows.main.completion_s",
        {"flows.main.tcp.window": "2..64 segments"},
        maximise=False,
        plan=Plan(trials=14, replications=3, confirm=4),
        out=tmp_path / "lucky",
        say=said.append,
    )
    whole = [one for one in found.trials if one.replications == 3]
    assert 0 < len(whole) < 14
    assert {one.objective for one in found.trials if one not in whole} == {1.0}
    assert found.chosen == min(one.objective or 0.0 for one in whole) > 1.3
    assert "1.000 s in 1 of 3 replications with" in said[0]
    assert "1 (n = 1)" in found.text()


def test_a_search_that_was_killed_goes_on_to_the_same_result(wire: Path, cli: Cli, tmp_path: Path) -> None:
    whole = cli("search", wire, *SEARCH, "--trials", "25", "-o", "whole", "--json")
    assert whole.returncode == 0
    command = [sys.executable, "-P", "-m", "lasthop", "search", str(wire), *SEARCH]
    command += ["--trials", "25", "-o", "cut", "-s", "run.duration=4 s"]
    process = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True, env=os.environ)
    assert process.stderr is not None
    for line in process.stderr:
        if line.startswith("trial 3 "):
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    process.stderr.close()
    begun = time.monotonic()
    again = cli("search", wire, *SEARCH, "--trials", "25", "-o", "cut", "-s", "run.duration=4 s", "--json")
    assert time.monotonic() - begun < 60
    one, other = (json.loads(done.stdout) for done in (whole, again))
    assert one | {"study": ""} == other | {"study": ""}
    more = json.loads(
        cli("search", wire, *SEARCH, "--trials", "27", "-o", "cut", "-s", "run.duration=4 s", "--json").stdout
    )
    assert more["trials"][:25] == one["trials"]


def test_ranges_are_read_and_the_rest_is_refused(wire: Path, within: Cli) -> None:
    assert Range.of("k", "0.5..2.0").distribution(__import__("optuna")).log is False
    assert Range.of("k", "1e-3..1").is_whole is False
    assert Range.of("k", "-3..4 dB").ends() == ("-3 dB", "4 dB")
    for text, expected in (
        ("links.path.delay=1 ms..2 s", "has two units; expected one"),
        ("run.seed=1..5", "run.seed is not part of what runs; expected a key that is"),
        ("title=one|two", "title is not part of what runs; expected a key that is"),
        ("links.path.delay=2 ms..1 ms", "expected LOW < HIGH"),
        ("links.path.delay=log:0 ms..1 ms", "expected 0 < LOW < HIGH"),
        ("links.path.delay=1 ms", "expected a range such as"),
        ("links.path.delay=1..2", "has no unit"),
        ("links.path.dely=1 ms..2 ms", 'did you mean "delay"'),
        ("flows.main.tcp.variant=reno|veg", 'did you mean "vegas"'),
    ):
        done = within("search", wire, "--maximise", GOODPUT, "--over", text)
        assert (done.returncode, expected in done.stderr) == (2, True), done.stderr
        assert done.stderr.startswith("error: --over: ")
    both = within("search", wire, *SEARCH, "--minimise", GOODPUT)
    assert (both.returncode, "one of --maximise and --minimise" in both.stderr) == (2, True)
    unknown = within("search", wire, "--maximise", "flows.main.goodput", *SEARCH[2:], "--trials", "1")
    assert (unknown.returncode, 'did you mean "flows.main.goodput_bps"' in unknown.stderr) == (2, True)


def test_without_optuna_the_message_says_what_to_install(wire: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(lh.UsageError, match=r"lasthop\[search\]"):
        lh.load(wire).search(GOODPUT, {QUEUE: "2 packets..60 packets"})
