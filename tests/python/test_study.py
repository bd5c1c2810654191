"""Studies: what is kept, what is reused, what is refused, and that nothing depends on workers."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, cast

import pytest

import lasthop as lh
from conftest import COMMAND, HOP, SMALL, environment
from lasthop.base.errors import StudyError
from lasthop.scenario.overrides import parse_where, select
from lasthop.study import sweep as sweep_module
from lasthop.study.export import summary, text, tidy
from lasthop.study.ledger import Ledger, Planned
from lasthop.study.study import Study
from lasthop.study.sweep import Precision, Sweep
from lasthop.study.work import Limits, execute
from lasthop.views.groups import series
from lasthop.views.losses import of_study

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lasthop.scenario.overrides import Numeric

METRIC = "flows.main.goodput_bps"


class FakeStudy:
    """Enough of a study for what reads one: points with given values of one metric."""

    def __init__(self, points: list[tuple[dict[str, str], list[float]]]) -> None:
        self._points = points
        self.path = "fake"
        self.scenario = self
        self.plan = [Planned(i, str(i), len(values)) for i, (_, values) in enumerate(points)]

    def numeric(self, key: str, text: str) -> float | None:
        number, _, unit = text.partition(" ")
        try:
            return float(number) * (0.01 if unit == "%" else 1.0)
        except ValueError:
            return None

    def points(self) -> list[dict[str, str]]:
        return [point for point, _ in self._points]

    def axes(self) -> list[tuple[list[str], list[list[str]]]]:
        keys = list(self._points[0][0])
        return [([k], [[v] for v in dict.fromkeys(p[k] for p, _ in self._points)]) for k in keys]

    def values(self, point: int, metric: str) -> dict[int, float | None]:
        return dict(enumerate(self._points[point][1]))

    def check_metric(self, metric: str) -> None:
        return


def csv(study: lh.Study) -> str:
    return text(study, "csv", tidy(study))


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


def failing(task: Any, cancel: Any = None) -> Any:
    row = execute(task)
    if (task.point, task.replication) != (1, 0):
        return row
    from dataclasses import replace

    return replace(row, error="x: it failed; expected it to work", metrics=None)


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


def test_shards_merge_into_the_whole(small: Path, tmp_path: Path) -> None:
    from lasthop.study.merge import merge

    sc = lh.load(small)
    for i in (1, 2, 3):
        Sweep(sc.sweep(out=tmp_path / str(i)), shard=(i, 3)).run()
    joined = merge(tmp_path / "all", [tmp_path / "1", tmp_path / "2", tmp_path / "3"])
    assert csv(joined) == csv(sc.sweep(out=tmp_path / "whole").run())


def test_shards_of_different_seeds_do_not_merge(small: Path, tmp_path: Path) -> None:
    from lasthop.study.merge import merge

    for seed in (1, 2):
        lh.load(small).sweep(1, tmp_path / str(seed), seed=seed).run()
    with pytest.raises(lh.StudyError, match="not the seed of"):
        merge(tmp_path / "all", [tmp_path / "1", tmp_path / "2"])
    assert not (tmp_path / "all").exists()


@pytest.mark.parametrize("other", ["points", "replications", "settings", "seed"])
def test_a_merge_does_not_plan_the_study_it_goes_to_anew(small: Path, tmp_path: Path, other: str) -> None:
    from lasthop.study.merge import merge

    sc = lh.load(small)
    whole = sc.sweep(2, tmp_path / "whole", seed=1).run()
    where = ["links.path.loss.rate=1 %"] if other == "points" else []
    changed = sc.set({"run.duration": "1 s"}) if other == "settings" else sc
    part = lh.Study.create(
        changed,
        tmp_path / "part",
        replications=1 if other == "replications" else 2,
        seed=2 if other == "seed" else 1,
        where=where,
    ).run()
    with pytest.raises(lh.StudyError, match=f"holds a study without the {other} of .+new directory") as error:
        merge(whole.path, [part.path])
    assert error.value.exit_code == 4
    assert csv(Study.open(whole.path)) == csv(whole)


def test_a_merge_goes_on_in_a_study_of_the_same_plan(small: Path, tmp_path: Path) -> None:
    from lasthop.study.merge import merge

    sc = lh.load(small)
    for i in (1, 2):
        Sweep(sc.sweep(out=tmp_path / str(i)), shard=(i, 2)).run()
    merge(tmp_path / "all", [tmp_path / "1"])
    joined = merge(tmp_path / "all", [tmp_path / "2"])
    assert csv(joined) == csv(sc.sweep(out=tmp_path / "whole").run())


def test_shards_of_different_settings_do_not_merge(small: Path, tmp_path: Path) -> None:
    from lasthop.study.merge import merge

    lh.load(small).sweep(1, tmp_path / "1").run()
    lh.load(small).set({"run.duration": "1 s"}).sweep(1, tmp_path / "2").run()
    with pytest.raises(lh.StudyError, match="not the settings of"):
        merge(tmp_path / "all", [tmp_path / "1", tmp_path / "2"])
    assert not (tmp_path / "all").exists()


LONG = ("-s", "run.duration=300 s", "-s", "links.path.rate=20 Mbit/s", "-r", "40", "-j", "1")


def start(small: Path, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [*COMMAND, "sweep", str(small), "-o", "s", *LONG],
        cwd=cwd,
        env=environment(),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


def recorded_runs(folder: Path) -> int:
    try:
        with sqlite3.connect(f"file:{folder / 'study.sqlite'}?mode=ro", uri=True) as db:
            count = db.execute("select count(*) from runs").fetchone()[0]
        db.close()
    except sqlite3.Error:
        return 0
    return int(count)


def wait_for_runs(process: subprocess.Popen[str], folder: Path, count: int) -> None:
    deadline = time.monotonic() + 60
    while recorded_runs(folder) < count:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.slow
def test_a_study_killed_at_any_moment_ends_like_one_never_killed(
    small: Path, tmp_path: Path, cli: Callable[..., subprocess.CompletedProcess[str]]
) -> None:
    for more in (1, 7, 20):
        process = start(small, tmp_path)
        wait_for_runs(process, tmp_path / "s", more)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    assert 20 <= recorded_runs(tmp_path / "s") < 240
    assert cli("sweep", small, "-o", "s", *LONG).returncode == 0
    assert cli("sweep", small, "-o", "t", *LONG, "-j", "2").returncode == 0
    for kind in ("csv", "json"):
        resumed = cli("export", "s", "--format", kind).stdout
        assert resumed == cli("export", "t", "--format", kind).stdout
        assert len(resumed) > 1000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_keeps_what_is_done_and_says_how_to_resume(
    small: Path, tmp_path: Path, number: signal.Signals
) -> None:
    process = start(small, tmp_path)
    wait_for_runs(process, tmp_path / "s", 2)
    process.send_signal(number)
    _, talk = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "Traceback" not in talk
    assert f"lasthop sweep {small} -o s" in talk.splitlines()[-1]
    assert 2 <= recorded_runs(tmp_path / "s") < 240


def test_a_study_killed_before_its_ledger_was_complete_starts_again(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "study.sqlite.new").write_bytes(b"half")
    lh.load(small).sweep(1, folder).run()
    assert len(tidy(lh.Study.open(folder))) == 6


def test_a_study_killed_before_its_copies_were_written_writes_them(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "s"
    lh.load(small).sweep(1, folder)
    (folder / "scenario.toml").unlink()
    (folder / "resolved.json").unlink()
    lh.load(small).sweep(1, folder)
    assert (folder / "scenario.toml").read_text() == SMALL
    assert json.loads((folder / "resolved.json").read_text())["scenario"] == "small"


def test_resolved_json_gives_every_key_of_every_point(small: Path, tmp_path: Path) -> None:
    sc = lh.load(small)
    sc.sweep(1, tmp_path / "s")
    kept = json.loads((tmp_path / "s" / "resolved.json").read_text())
    for index, entry in enumerate(kept["points"]):
        assert {**kept["values"], **entry["values"]} == sc.resolved(index)
        assert entry["key"] == sc.point_key(index)


def spoil(folder: Path, statement: str) -> None:
    db = sqlite3.connect(folder / "study.sqlite")
    db.execute(statement)
    db.commit()
    db.close()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("update meta set value = 'old' where key = 'model_version'", "results of model version old"),
        ("pragma user_version = 999", "ledger format 999; expected format"),
        ("pragma application_id = 7", "not a ledger of lasthop"),
    ],
)
def test_a_study_of_another_version_is_refused_and_left_alone(
    small: Path, tmp_path: Path, statement: str, message: str
) -> None:
    folder = tmp_path / "s"
    lh.load(small).sweep(1, folder).run()
    spoil(folder, statement)
    before = (folder / "study.sqlite").read_bytes()
    for attempt in (lambda: lh.load(small).sweep(1, folder), lambda: lh.Study.open(folder)):
        with pytest.raises(lh.StudyError, match=message):
            attempt()
    assert (folder / "study.sqlite").read_bytes() == before


@pytest.mark.parametrize("keep", [0, 10, 100, 5000])
def test_a_truncated_ledger_is_refused_until_fresh(small: Path, tmp_path: Path, keep: int) -> None:
    folder = tmp_path / "s"
    lh.load(small).sweep(1, folder).run()
    ledger = folder / "study.sqlite"
    ledger.write_bytes(ledger.read_bytes()[:keep])
    with pytest.raises(lh.StudyError, match="expected a"):
        lh.load(small).sweep(1, folder)
    with pytest.raises(lh.StudyError, match="expected a"):
        lh.Study.open(folder)
    assert len(tidy(lh.load(small).sweep(1, folder, fresh=True).run())) == 6


def test_a_directory_with_other_things_is_refused_also_when_fresh(small: Path, tmp_path: Path) -> None:
    folder = tmp_path / "thesis"
    folder.mkdir()
    (folder / "chapter.tex").write_text("dear reader")
    for fresh in (False, True):
        with pytest.raises(lh.StudyError, match=r"contains other files but no study\.sqlite"):
            lh.load(small).sweep(1, folder, fresh=fresh)
    assert [p.name for p in folder.iterdir()] == ["chapter.tex"]


def test_the_study_of_another_scenario_is_refused(small: Path, tmp_path: Path) -> None:
    lh.load(small).sweep(1, tmp_path / "s")
    other = small.with_name("other.toml")
    other.write_text(SMALL)
    with pytest.raises(lh.StudyError, match="a study of small; expected one of other"):
        lh.load(other).sweep(1, tmp_path / "s")


def test_two_processes_do_not_write_the_same_study(small: Path, tmp_path: Path) -> None:
    study = lh.load(small).sweep(1, tmp_path / "s")
    ledger = Ledger(study.path, write=True)
    with pytest.raises(lh.StudyError, match="another lasthop is writing here"):
        study.run()
    ledger.close()
    study.run()


def test_contrasts_are_paired_and_relative_to_the_first_value(small: Path, tmp_path: Path) -> None:
    study = lh.load(small).sweep(4, tmp_path / "s").run()
    table = study.contrast(METRIC, "flows.main.tcp.variant")
    assert [(r["flows.main.tcp.variant"], r["minus"]) for r in table.rows] == [("newreno", "reno")] * 3
    a, b = study.values(4, METRIC), study.values(1, METRIC)
    gaps = [(a[k] or 0.0) - (b[k] or 0.0) for k in range(4)]
    assert table.rows[1]["difference"] == pytest.approx(sum(gaps) / 4)
    assert table.rows[1]["n"] == 4
    swapped = study.contrast(METRIC, "flows.main.tcp.variant", baseline="newreno")
    assert swapped.rows[1]["difference"] == pytest.approx(-table.rows[1]["difference"])


def test_a_contrast_over_a_key_that_is_not_swept_names_those_that_are(small: Path, tmp_path: Path) -> None:
    study = lh.load(small).sweep(1, tmp_path / "s").run()
    with pytest.raises(lh.UsageError, match=r'did you mean "links\.path\.loss\.rate"'):
        study.contrast(METRIC, "links.path.loss.rat")
    with pytest.raises(lh.UsageError, match="no such metric"):
        study.table("flows.main.goodputt_bps")


def test_lines_of_a_figure_are_sorted_by_number_and_labelled_by_value() -> None:
    study = FakeStudy([({"v": v, "x": x}, [1.0, 2.0]) for v in "ab" for x in ("10 %", "2 %")])
    lines = series(study, "x", METRIC, "v", {})  # type: ignore[arg-type]
    assert [line.label for line in lines] == ["a", "b"]
    assert lines[0].xs == ["2 %", "10 %"]
    fixed = series(study, "x", METRIC, "v", {"v": "b"})  # type: ignore[arg-type]
    assert [line.points for line in fixed] == [[3, 2]]


def test_a_study_knows_the_metrics_of_all_its_points(small: Path, tmp_path: Path) -> None:
    path = tmp_path / "judges.toml"
    path.write_text(small.read_text().replace('["reno", "newreno"]', '["reno", "jtcp"]'))
    study = lh.load(path).sweep(replications=2, out=tmp_path / "s").run()
    judged = "flows.main.judged.fast.random_as_random"
    assert judged in study.metrics()
    assert study.values(0, judged) == {0: None, 1: None}
    rows = [line for line in of_study(study).splitlines() if "flows.main (law)" in line]
    assert rows
    assert all("jtcp" in row for row in rows)


def test_a_gain_is_over_the_paired_runs_of_another_point() -> None:
    values = {"a": [1.0, 2.0], "b": [3.0, 6.0]}
    study = FakeStudy([({"v": v, "x": x}, values[v]) for v in "ab" for x in ("1 %", "2 %")])
    lines = series(study, "x", METRIC, "v", {}, {"v": "a"})  # type: ignore[arg-type]
    assert [line.label for line in lines] == ["b"]
    assert [(it.mean, it.low, it.high, it.n) for it in lines[0].intervals] == [(2.0, 2.0, 2.0, 2)] * 2


def test_a_line_is_named_by_what_tells_it_from_the_others() -> None:
    points = [
        ({"x": x, "line": line, "hops": hops, "to": f"n{hops}"}, [1.0, 2.0])
        for x in ("1", "2")
        for line in ("a", "b")
        for hops in ("4", "8")
    ]
    study = cast("Study", FakeStudy(points))
    assert [one.label for one in series(study, "x", METRIC, "line", {"hops": "4"})] == ["a", "b"]
    whole = series(study, "x", METRIC, "line", {})
    assert {one.label for one in whole} == {"a, 4, n4", "b, 4, n4", "a, 8, n8", "b, 8, n8"}
    one = series(study, "x", METRIC, "line", {"hops": "4", "line": "a"})
    assert [line.label for line in one] == ["n4"]


def test_where_compares_swept_keys_with_each_other() -> None:
    points = [{"low": low, "high": high} for low in ("5", "9") for high in ("5", "9.0")]
    numeric = cast("Numeric", lambda _key, text: float(text))
    chosen = {
        sign: select(points, parse_where([f"low {sign} high"]), numeric)
        for sign in ("<", "<=", "=", "!=", ">")
    }
    assert chosen == {"<": [1], "<=": [0, 1, 3], "=": [0, 3], "!=": [1, 2], ">": [2]}


def test_where_leaves_the_points_that_meet_it(small: Path, tmp_path: Path) -> None:
    study = lh.load(small).sweep(1, tmp_path / "s", where=["links.path.loss.rate>0 %"]).run()
    assert [planned.point for planned in study.plan] == [1, 2, 4, 5]
    assert len(lh.Study.open(tmp_path / "s").table(METRIC)) == 4
    with pytest.raises(lh.UsageError, match="no point satisfies"):
        lh.load(small).sweep(1, tmp_path / "t", where=["links.path.loss.rate>50 %"])
    assert not (tmp_path / "t").exists()
    with pytest.raises(lh.UsageError, match='"7 %" is not a swept value'):
        lh.load(small).sweep(1, tmp_path / "t", where=["links.path.loss.rate=7 %"])


def test_exports_are_tidy_and_hold_no_clock(small: Path, tmp_path: Path) -> None:
    study = lh.load(small).sweep(2, tmp_path / "s").run()
    study.to_csv(tmp_path / "a.csv")
    study.to_json(tmp_path / "a.json")
    study.to_parquet(tmp_path / "a.parquet")
    import pyarrow.parquet as pq

    whole = json.loads((tmp_path / "a.json").read_text())
    assert len(whole["rows"]) == 12
    assert whole["rows"][2]["links.path.loss.rate"] == "1 %"
    assert whole["rows"][2]["links.path.loss.rate_si"] == 0.01
    assert not [c for c in whole["columns"] if "wall" in c or "cpu" in c]
    assert pq.read_table(tmp_path / "a.parquet").to_pylist() == whole["rows"]
    head = (tmp_path / "a.csv").read_text().splitlines()[0].split(",")
    assert head == whole["columns"]


def test_a_study_of_an_older_version_is_shown_and_exported_and_not_continued(tmp_path: Path) -> None:
    swept = HOP.replace(
        '"flows.main.tcp.packet" = ["200 B", "1000 B"]', '"agents.snoop.lle-tcp.hold" = ["10 ms"]'
    )
    swept = swept.replace('lle-tcp.mode = "paper"', 'lle-tcp.mode = "safe"')
    swept = swept.replace('["none", "lle-tcp"]', '["lle-tcp"]')
    scenario = lh.Scenario.from_text(swept[: swept.index("[[figure]]")], "hop.toml", ident="hop")
    study = scenario.sweep(out=tmp_path / "study", replications=1)
    study.run()
    expected = study.table("flows.main.goodput_bps").rows
    with sqlite3.connect(tmp_path / "study" / "study.sqlite") as ledger:
        before = scenario.text.replace("lle-tcp.mode", "mode").replace(".lle-tcp.hold", ".hold")
        assert "lle-tcp." not in before
        ledger.execute("update meta set value = ? where key = 'text'", (before,))
        ledger.execute("update meta set value = 'older' where key = 'build'")
        for table in ("plan", "runs"):
            ledger.execute(f"update {table} set point_key = 'older' || point_key")
    older = lh.Study.open(tmp_path / "study")
    assert older.is_older
    assert older.table("flows.main.goodput_bps").rows == expected
    assert "agents.snoop.lle-tcp.hold" in text(older, "csv", tidy(older))
    with pytest.raises(StudyError, match="can only be shown and exported; expected a new directory"):
        older.run()
