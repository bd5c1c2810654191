"""Short runs in large numbers: what they cost beside the simulation, in time and in the ledger."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import COMMAND, SMALL, environment
from lasthop.study import sweep as sweep_module
from lasthop.study.export import text, tidy
from lasthop.study.sweep import BATCH_S, Sweep, carry_out
from studies import csv

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from lasthop.study.rows import Row
    from lasthop.study.work import Task

    Cli = Callable[..., subprocess.CompletedProcess[str]]

# A packet a second: a run of a microsecond or so.
TINY = (
    SMALL[: SMALL.index("[sweep]")].replace('"3 s"', '"1 s"').split("app  =")[0]
    + """\
app  = { kind = "poisson", poisson.rate = "8 kbit/s", poisson.packet = "1000 B" }
udp  = {}
"""
)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.toml"
    file.write_text(TINY)
    return file


def test_a_run_of_no_length_costs_less_than_100_microseconds_and_a_kilobyte(
    tiny: Path, tmp_path: Path
) -> None:
    runs = 10_000
    study = lh.load(tiny).sweep(runs, tmp_path / "s")
    began = time.process_time()
    study.run(jobs=1)
    spent = time.process_time() - began - sum(row.cpu_s for row in study.runs.values())
    size = sum(file.stat().st_size for file in study.path.iterdir())
    assert len(study.runs) == runs
    assert spent / runs < 100e-6 * (5 if lh._core.is_checked else 1)
    assert size / runs < 1000
    assert csv(lh.Study.open(tmp_path / "s")) == csv(study)


def test_a_run_with_many_metrics_is_less_than_a_kilobyte(tmp_path: Path) -> None:
    sc = lh.load("lle-tcp/fig05").set({"run.duration": "1 s", "run.warmup": "100 ms"})
    study = sc.sweep(60, tmp_path / "s", where=["links.wlan.loss.rate=0 %"]).run(jobs=2)
    assert study.size >= 100
    assert (study.path / "study.sqlite").stat().st_size / study.size < 1000


def test_batches_grow_where_runs_are_short_and_stay_single_where_they_are_long(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def noted(tasks: list[Task], *rest: object) -> list[Row]:
        sizes.append(len(tasks))
        return carry_out(tasks, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(sweep_module, "carry_out", noted)
    lh.load(tiny).sweep(3_000, tmp_path / "s").run(jobs=1)
    assert sizes[0] == sizes[-1] == 1
    assert max(sizes) >= 64
    assert sum(sizes) == 3_000
    sizes.clear()
    monkeypatch.setattr(sweep_module, "RUN_S", BATCH_S)
    lh.load(tiny).sweep(100, tmp_path / "t").run(jobs=1)
    assert sizes == [1] * 100


@pytest.mark.slow
def test_a_study_of_short_runs_killed_at_any_moment_is_whole(tiny: Path, tmp_path: Path, cli: Cli) -> None:
    many = ("-r", "20000", "-j", "2", "-q")
    counts = []
    for pause, least in ((0.02, 0), (0.15, 0), (0.4, 0), (0.05, 1)):
        words = [*COMMAND, "sweep", str(tiny), "-o", "s", *many]
        with subprocess.Popen(words, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE) as process:
            while not list(tmp_path.glob("s/study.sqlite-wal")):
                assert process.poll() is None
                time.sleep(0.005)
            time.sleep(pause)
            while len(lh.Study.open(tmp_path / "s").runs) < least:
                time.sleep(pause)
            os.kill(process.pid, signal.SIGKILL)
        kept = lh.Study.open(tmp_path / "s")
        counts.append(len(kept.runs))
        # Every run that is there is complete: the same as a run of its own.
        for result in list(kept.results())[:: max(len(kept.runs) // 20, 1)]:
            alone = kept.scenario.run(kept.seed, result.row.replication, result.point)
            assert (result.row.metrics, result.row.events) == (alone.metrics, alone.events)
    assert counts == sorted(counts)
    assert 0 < counts[-1] < 20_000
    assert cli("sweep", tiny, "-o", "s", *many).returncode == 0
    assert cli("sweep", tiny, "-o", "t", *many).returncode == 0
    assert cli("export", "s").stdout == cli("export", "t").stdout


def test_an_interruption_keeps_the_runs_of_a_batch_that_have_ended(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tasks = Sweep(lh.load(tiny).sweep(5, tmp_path / "s")).tasks()
    alone = [sweep_module.execute(task) for task in tasks]

    def third(task: Task, cancel: lh.Cancel | None = None) -> Row:
        if task.replication == 3:
            raise lh.Interrupted("now")
        return alone[task.replication]

    monkeypatch.setattr(sweep_module, "execute", third)
    assert carry_out(tasks) == alone[:3]
    with pytest.raises(lh.Interrupted):
        carry_out(tasks[3:])


# Older ledgers.

FORMAT_3 = """
create table runs (
    point_key text not null, replication integer not null, seed text not null, model_version text not null,
    limits text not null, stopped text, error text, metrics text, series text, transfers text, events integer,
    simulated_s real, cpu_s real, wall_s real, primary key (point_key, replication, seed, model_version)
) without rowid;
"""


def made_older(folder: Path, study: lh.Study) -> None:
    """The ledger of a study in format 3, with a run of another model."""
    with sqlite3.connect(folder / "study.sqlite") as db:
        db.execute("drop table runs")
        db.execute("drop table points")
        db.execute("drop table names")
        db.executescript(FORMAT_3)
        for row in study.runs.values():
            for model in (lh.model_version, "1"):
                db.execute(
                    f"insert into runs values ({', '.join('?' * 14)})",
                    (
                        row.point_key,
                        row.replication,
                        str(row.seed),
                        model,
                        row.limits,
                        row.stopped,
                        row.error,
                        json.dumps(row.metrics),
                        json.dumps(row.series) if row.series else None,
                        None,
                        row.events,
                        row.simulated_s,
                        row.cpu_s,
                        row.wall_s,
                    ),
                )
        db.execute("pragma user_version = 3")
    db.close()


def test_a_ledger_of_the_format_before_is_read_and_renewed_by_what_writes(
    small: Path, tmp_path: Path
) -> None:
    sc = lh.load(small).set({"run.bin": "500 ms"})
    study = sc.sweep(2, tmp_path / "s").run()
    made_older(tmp_path / "s", study)
    before = (tmp_path / "s" / "study.sqlite").read_bytes()
    assert csv(lh.Study.open(tmp_path / "s")) == csv(study)
    assert lh.Study.open(tmp_path / "s").runs == study.runs
    assert (tmp_path / "s" / "study.sqlite").read_bytes() == before
    more = sc.sweep(3, tmp_path / "s").run()
    assert csv(more) == csv(sc.sweep(3, tmp_path / "t").run())
    assert text(lh.Study.open(tmp_path / "s"), "json", tidy(more)) == text(more, "json", tidy(more))
    with sqlite3.connect(tmp_path / "s" / "study.sqlite") as db:
        assert db.execute("pragma user_version").fetchone() == (5,)
        assert db.execute("select count(*) from runs where model_version = '1'").fetchone() == (12,)
        assert {name for (name,) in db.execute("select name from sqlite_master where type = 'table'")} == {
            *("meta", "plan", "points", "names", "runs")
        }
    db.close()
