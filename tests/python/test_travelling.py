"""Scenarios and runs travel to other processes and files, and can be compared; a sweep says how far it is."""

from __future__ import annotations

import pickle
import tomllib
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import lasthop as lh
from conftest import HOP, SMALL

if TYPE_CHECKING:
    from pathlib import Path


def again(value: Any) -> Any:
    return pickle.loads(pickle.dumps(value))


def test_a_scenario_is_the_same_after_its_journey(small: Path) -> None:
    sc = lh.load(small).set({"run.duration": "1 s"})
    made = lh.from_dict(tomllib.loads(SMALL)).vary({"run.duration": ["1 s"]})
    for one in (sc, made):
        other = again(one)
        assert type(other) is lh.Scenario
        assert other == one
        assert hash(other) == hash(one)
        assert (other.name, other.overrides, other.points()) == (one.name, one.overrides, one.points())
        with pytest.raises(lh.ScenarioError) as there:
            other.set({"run.duration": "x"})
        with pytest.raises(lh.ScenarioError) as here:
            one.set({"run.duration": "x"})
        assert str(there.value) == str(here.value)


def test_scenarios_are_equal_when_what_is_run_is(small: Path) -> None:
    one = lh.load(small)
    assert one == lh.load(small)
    assert one == lh.Scenario.from_text(small.read_text(), "elsewhere.toml", ident="small")
    others = [
        one.set({"run.duration": "1 s"}),
        lh.Scenario.from_text(small.read_text(), "other.toml"),
        lh.Scenario.from_text(small.read_text() + "\n# a remark", "small.toml"),
    ]
    assert one not in others
    assert len({one, lh.load(small), *others}) == 4
    assert one != "small"


def test_a_run_takes_its_traces_along(tmp_path: Path) -> None:
    sc = lh.Scenario.from_text(HOP, "hop.toml")
    run = sc.run(seed=3, point=2, trace=["cwnd", "queue"])
    other = again(run)
    assert type(other) is lh.Run
    assert other == run
    assert other.as_dict() == run.as_dict()
    assert other.traces() == run.traces() == ["cwnd", "queue"]
    for name in run.traces():
        there, here = other.trace(name), run.trace(name)
        assert (repr(there), len(there)) == (repr(here), len(here))
        assert np.array_equal(there.to_numpy(), here.to_numpy())
        assert len(list(there.chunks())) == len(list(here.chunks()))
        here.to_csv(tmp_path / "here.csv")
        there.to_csv(tmp_path / "there.csv")
        assert (tmp_path / "here.csv").read_bytes() == (tmp_path / "there.csv").read_bytes()
    assert again(other) == run


def test_runs_are_equal_when_they_measured_the_same(small: Path) -> None:
    sc = lh.load(small)
    one = sc.run(seed=1, point=4)
    assert one == sc.run(seed=1, point=4, trace=["cwnd"])
    assert one.wall_s != sc.run(seed=1, point=4).wall_s
    others = (sc.run(seed=2, point=4), sc.run(seed=1, point=3), sc.run(seed=1, point=4, replication=1))
    assert one not in others
    assert one != sc.run(seed=1, point=4, max_events=100)
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def test_scenarios_runs_and_errors_cross_to_spawned_processes(small: Path) -> None:
    sc = lh.load(small)
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(lh.Scenario.run, sc, 5, trace=["rtt"]).result()
        wrong = pool.submit(lh.Scenario.set, sc, {"links.path.rate": "5 MB"}).exception()
        usage = pool.submit(lh.Scenario.run, sc, point=99).exception()
    assert there == sc.run(5)
    assert len(there.trace("rtt")) > 0
    assert isinstance(wrong, lh.ScenarioError)
    assert isinstance(usage, lh.UsageError)
    assert (usage.argument, str(usage)[:10]) == ("point", "point: 99;")


# Progress.


def test_a_function_hears_of_each_run(small: Path, tmp_path: Path) -> None:
    heard: list[lh.Progress] = []
    study = lh.load(small).sweep(2, tmp_path / "s").run(progress=heard.append)
    assert [(at.total, at.reused, at.ended) for at in heard] == [(12, 0, n) for n in range(13)]
    assert heard[0].remaining_s is None
    assert heard[-1].remaining_s == 0
    assert heard[-1].events == sum(result.row.events for result in study.results())
    assert all(a.elapsed_s <= b.elapsed_s for a, b in pairwise(heard))
    heard.clear()
    lh.load(small).sweep(3, tmp_path / "s").run(progress=heard.append)
    assert (heard[0].total, heard[0].reused, heard[-1].ended) == (18, 12, 6)


def test_a_function_hears_that_more_runs_are_needed(small: Path, tmp_path: Path) -> None:
    heard: list[lh.Progress] = []
    aim = lh.Precision(target=0.25, most=6, least=3)
    study = lh.load(small).sweep(out=tmp_path / "s").run(precision=aim, progress=heard.append)
    totals = list(dict.fromkeys(at.total for at in heard))
    assert totals[0] == 18
    assert totals[-1] == study.size > 18


def test_what_the_function_raises_ends_the_sweep_and_keeps_the_runs(small: Path, tmp_path: Path) -> None:
    def stop(now: lh.Progress) -> None:
        if now.ended == 3:
            raise KeyError("enough")

    # Runs go on until the function is called.
    study = lh.load(small).sweep(200, tmp_path / "s")
    with pytest.raises(KeyError, match="enough"):
        study.run(jobs=1, progress=stop)
    assert 3 <= len(lh.Study.open(tmp_path / "s").runs) < 1200
    assert len(list(study.run().results())) == 1200


def test_progress_appears_on_stderr_when_asked(
    small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lh.load(small).sweep(1, tmp_path / "s").run()
    assert capsys.readouterr() == ("", "")
    lh.load(small).sweep(2, tmp_path / "s").run(progress=True)
    assert capsys.readouterr() == ("", "6 of 12 runs are stored already\n")
    with pytest.raises(lh.UsageError, match=r"^progress: 3; expected True, False or a function of Progress"):
        lh.load(small).sweep(2, tmp_path / "s").run(progress=3)  # type: ignore[arg-type]


def test_budgets_and_precision_are_checked_when_they_are_made() -> None:
    wrong = {
        "max_events: 0; expected an integer of at least 1": lambda: lh.Limits(max_events=0),
        "max_wall_s: -1; expected a number of seconds above 0": lambda: lh.Limits(max_wall_s=-1),
        "target: 0; expected a share such as 0.02 above 0": lambda: lh.Precision(0, 10),
        "most: 0; expected an integer of at least 1": lambda: lh.Precision(0.02, 0),
    }
    for message, call in wrong.items():
        with pytest.raises(lh.UsageError) as raised:
            call()
        assert str(raised.value) == message
