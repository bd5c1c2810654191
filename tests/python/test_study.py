"""Runs of a study: what is run, what is reused, what is left out, and that nothing depends on workers."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import SMALL
from lasthop.stats.intervals import Interval
from lasthop.study import precision
from lasthop.study import sweep as sweep_module
from lasthop.study.export import summary, text, tidy
from lasthop.study.precision import Precision
from lasthop.study.sweep import Sweep
from lasthop.study.work import Limits
from studies import METRIC, csv, failing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def test_a_study_runs_every_point_and_replication_once(small: Path, tmp_path: Path) -> None:
    study = lh.load(small).sweep(out=tmp_path / "s").run()
    table = tidy(study)
    assert [(r["point"], r["replication"]) for r in table.rows] == [
        (p, k) for p in range(6) for k in range(3)
    ]
    assert all(r["status"] == "done" for r in table.rows)
    assert {p.name for p in (tmp_path / "s").iterdir()} == {"scenario.toml", "resolved.json", "study.sqlite"}
    assert (tmp_path / "s" / "scenario.toml").read_text() == SMALL


def test_exports_are_the_same_for_one_and_two_workers_and_for_processes(small: Path, tmp_path: Path) -> None:
    sc = lh.load(small)
    one = sc.sweep(out=tmp_path / "1").run(jobs=1)
    two = sc.sweep(out=tmp_path / "2").run(jobs=2)
    with ThreadPoolExecutor(3) as pool:
        any_executor = sc.sweep(out=tmp_path / "3").run(executor=pool)
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        processes = sc.sweep(out=tmp_path / "4").run(executor=pool)
    assert csv(one) == csv(two) == csv(any_executor) == csv(processes)
    assert text(one, "json", summary(one)) == text(two, "json", summary(two))


def test_a_second_run_runs_nothing(small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = lh.load(small).sweep(out=tmp_path / "s").run()

    def refuse(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(sweep_module, "execute", refuse)
    again = lh.load(small).sweep(out=tmp_path / "s").run()
    assert csv(first) == csv(again) == csv(lh.Study.open(tmp_path / "s"))


def test_more_replications_keep_those_that_are_there(small: Path, tmp_path: Path) -> None:
    few = lh.load(small).sweep(2, tmp_path / "s").run()
    more = lh.load(small).sweep(4, tmp_path / "s")
    assert len(Sweep(more).tasks()) == 12
    whole = lh.load(small).sweep(4, tmp_path / "t").run()
    assert csv(more.run()) == csv(whole)
    assert csv(few) == csv(lh.load(small).sweep(2, tmp_path / "s").run())


def test_settings_are_remembered_by_the_study(small: Path, tmp_path: Path) -> None:
    lh.load(small).set({"run.duration": "1 s", "flows.main.tcp.variant": "reno"}).sweep(
        2, tmp_path / "s"
    ).run()
    again = lh.Study.open(tmp_path / "s")
    assert again.scenario.resolved()["run.duration"]["value"] == "1 s"
    assert again.scenario.overrides == [("run.duration", "1 s"), ("flows.main.tcp.variant", "reno")]
    assert list(again.points()[0]) == ["links.path.loss.rate"]


def test_a_changed_scenario_reuses_exactly_the_points_it_still_has(
    edited: Callable[[str, str], Path], small: Path, tmp_path: Path
) -> None:
    lh.load(small).sweep(out=tmp_path / "s").run()
    path = edited('["0 %", "1 %", "3 %"]', '["1 %", "2 %"]')
    study = lh.load(path).sweep(out=tmp_path / "s")
    assert "2 of 4 points" in study.notes[0]
    assert len(Sweep(study).tasks()) == 6
    assert csv(study.run()) == csv(lh.load(path).sweep(out=tmp_path / "t").run())


def test_a_change_of_a_default_that_matters_reuses_nothing(
    edited: Callable[[str, str], Path], small: Path, tmp_path: Path
) -> None:
    lh.load(small).sweep(out=tmp_path / "s").run()
    study = lh.load(edited('delay = "10 ms"', 'delay = "11 ms"')).sweep(out=tmp_path / "s")
    assert len(Sweep(study).tasks()) == 18


def test_a_change_of_words_reuses_everything(
    edited: Callable[[str, str], Path], small: Path, tmp_path: Path
) -> None:
    lh.load(small).sweep(out=tmp_path / "s").run()
    study = lh.load(edited("Two TCPs", "A pair of TCPs")).sweep(out=tmp_path / "s")
    assert Sweep(study).tasks() == []


def test_another_seed_is_another_set_of_runs(small: Path, tmp_path: Path) -> None:
    one = csv(lh.load(small).sweep(out=tmp_path / "s", seed=10**18 - 1).run())
    two = csv(lh.load(small).sweep(out=tmp_path / "s", seed=2).run())
    assert one != two
    assert one == csv(lh.load(small).sweep(out=tmp_path / "s", seed=10**18 - 1).run())


def test_a_run_cut_short_by_a_limit_does_not_stand_for_a_whole_one(small: Path, tmp_path: Path) -> None:
    sc = lh.load(small)
    cut = sc.sweep(1, tmp_path / "s").run(limits=Limits(max_events=100))
    assert {r.row.stopped for r in cut.results()} == {"max-events"}
    assert Sweep(sc.sweep(1, tmp_path / "s"), limits=Limits(max_events=100)).tasks() == []
    whole = sc.sweep(1, tmp_path / "s").run()
    assert csv(whole) == csv(sc.sweep(1, tmp_path / "t").run())


def test_means_leave_out_runs_that_a_limit_stopped(small: Path, tmp_path: Path) -> None:
    sc = lh.load(small)
    whole = sc.sweep(2, tmp_path / "s").run()
    more = sc.sweep(3, tmp_path / "s").run(limits=Limits(max_events=100))
    assert [r.row.replication for r in more.stopped] == [2] * 6
    assert more.table(METRIC).rows == whole.table(METRIC).rows
    assert more.table(METRIC).column("n") == [2] * 6
    assert summary(more).rows == summary(whole).rows
    assert len(tidy(more)) == 18


def test_a_failed_run_is_kept_apart_and_tried_again(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = lh.load(small).sweep(out=tmp_path / "s")
    monkeypatch.setattr(sweep_module, "execute", failing)
    with pytest.warns(RuntimeWarning, match="1 of 18 runs failed"):
        study.run()
    assert [(f.point, f.row.replication) for f in study.failures] == [(1, 0)]
    assert study.table(METRIC).column("n") == [3, 2, 3, 3, 3, 3]
    monkeypatch.undo()
    again = lh.load(small).sweep(out=tmp_path / "s")
    assert len(Sweep(again).tasks()) == 1
    assert csv(again.run()) == csv(lh.load(small).sweep(out=tmp_path / "t").run())


def test_replications_grow_until_the_interval_is_narrow(small: Path, tmp_path: Path) -> None:
    sc = lh.load(small)
    aim = Precision(target=0.25, most=12, least=3)
    study = sc.sweep(out=tmp_path / "s").run(precision=aim)
    counts = [planned.replications for planned in study.plan]
    assert min(counts) == 3
    for row in study.table(METRIC).rows:
        narrow = (row["ci_high"] - row["ci_low"]) / 2 <= 0.25 * row["mean"]
        assert narrow or row["n"] == 12
    again = sc.sweep(out=tmp_path / "s").run(precision=aim)
    assert csv(study) == csv(again)


def test_the_metric_with_the_widest_interval_decides_how_many_runs_follow(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = lh.load(small).sweep(10, tmp_path / "s")
    found = [([0], Interval(10.0, 10 - half, 10 + half, 10), 10.0) for half in (3.0, 0.1)]
    monkeypatch.setattr(precision, "_intervals", lambda *_: found)
    assert precision.more(study, Precision(target=0.2, most=100))
    assert [planned.replications for planned in study.plan] == [20, 10, 10, 10, 10, 10]
