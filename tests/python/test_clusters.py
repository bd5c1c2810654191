"""Sweeps on other executors: a scheduler of dask with several worker processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import COMMAND, environment
from studies import csv

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

pytest.importorskip("distributed", reason='distributed is not installed: pip install "lasthop[dask]"')
LONG = ("-r", "40", "-s", "run.duration=100 s")


class Cluster:
    """A scheduler of its own on this machine, with workers in processes of their own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen[bytes]] = []
        self.file = folder / "scheduler.json"
        self._start("dask_scheduler", "--port", "0", "--no-dashboard")
        self._until(self.file.exists)
        from distributed import Client

        self._until(lambda: self.file.stat().st_size > 0)
        self.client = Client(scheduler_file=str(self.file), set_as_default=False)
        self.address = self.client.scheduler.address.replace("tcp://", "dask://")

    def _start(self, module: str, *words: str, **env: str) -> subprocess.Popen[bytes]:
        words = ("-m", f"distributed.cli.{module}", "--scheduler-file", str(self.file), *words)
        log = (self.folder / f"{module}.log").open("ab")
        process = subprocess.Popen([sys.executable, *words], env=environment(**env), stdout=log, stderr=log)
        log.close()
        self.processes.append(process)
        return process

    @staticmethod
    def _until(is_true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 60
        while not is_true():
            assert time.monotonic() < deadline
            time.sleep(0.02)

    def join(self, count: int = 1, **env: str) -> subprocess.Popen[bytes]:
        """Start a worker; there are then so many."""
        options = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--local-directory", str(self.folder))
        process = self._start("dask_worker", *options, **env)
        self._until(lambda: len(self.client.scheduler_info(n_workers=-1)["workers"]) >= count)
        return process

    def runs_by_worker(self) -> dict[str, int]:
        return {w: len(keys) for w, keys in self.client.has_what().items()}

    def close(self) -> None:
        self.client.close()
        for process in self.processes:
            process.kill()
            process.wait()


@contextmanager
def of(folder: Path) -> Iterator[Cluster]:
    folder.mkdir()
    made = Cluster(folder)
    try:
        yield made
    finally:
        made.close()


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    with of(tmp_path / "cluster") as made:
        yield made


@pytest.fixture
def another_version(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which lasthop has another version."""
    package = tmp_path / "other" / "lasthop"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text('__version__ = "0.0.9"\nmodel_version = "2"\n')
    return {"PYTHONPATH": str(package.parent)}


def test_a_scheduler_with_two_workers_gives_what_threads_give(
    cluster: Cluster, small: Path, cli: Cli, tmp_path: Path
) -> None:
    cluster.join(1)
    cluster.join(2)
    threads = cli("sweep", small, "-o", "1", "--json").stdout
    done = cli("sweep", small, "-o", "2", "--json", "--executor", cluster.address)
    assert (done.returncode, done.stdout) == (0, threads)
    # In Python it is an executor like any other.
    study = lh.load(small).sweep(out=tmp_path / "3").run(cluster.client.get_executor())
    assert csv(study) == csv(lh.Study.open(tmp_path / "1"))


@pytest.mark.slow
def test_a_worker_that_is_killed_and_one_that_joins_late_leave_the_study_whole(
    cluster: Cluster, small: Path, cli: Cli, tmp_path: Path
) -> None:
    first = cluster.join(1)
    cluster.join(2)
    words = [*COMMAND, "sweep", str(small), "-o", "s", *LONG, "--executor", cluster.address]
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        cluster._until(
            lambda: (
                (tmp_path / "s" / "resolved.json").is_file() and len(lh.Study.open(tmp_path / "s").runs) >= 10
            )
        )
        os.kill(first.pid, signal.SIGKILL)
        before = set(cluster.client.scheduler_info(n_workers=-1)["workers"])
        late = cluster.join(2)
        cluster._until(lambda: bool(set(cluster.client.scheduler_info(n_workers=-1)["workers"]) - before))
        (name,) = set(cluster.client.scheduler_info(n_workers=-1)["workers"]) - before
        seen = False
        while process.poll() is None:
            found = cluster.client.processing().get(name, ())
            seen = seen or len(found) > 0
            time.sleep(0.01)
        assert process.returncode == 0, process.stderr.read() if process.stderr else ""
    assert late.poll() is None
    assert seen
    assert cli("sweep", small, "-o", "t", *LONG).returncode == 0
    assert cli("export", "s").stdout == cli("export", "t").stdout


def test_a_worker_with_another_version_is_refused_by_name(
    cluster: Cluster, small: Path, cli: Cli, another_version: dict[str, str]
) -> None:
    cluster.join(1)
    known = set(cluster.client.scheduler_info(n_workers=-1)["workers"])
    cluster.join(2, **another_version)
    (name,) = set(cluster.client.scheduler_info(n_workers=-1)["workers"]) - known
    done = cli("sweep", small, "-o", "s", "--executor", cluster.address)
    assert done.returncode == 2
    expected = f"{lh.__version__} (model {lh.model_version})"
    assert (
        f"error: --executor: worker {name}: has lasthop 0.0.9 (model 2); expected {expected}" in done.stderr
    )


@pytest.mark.slow
def test_a_worker_with_another_version_that_joins_late_is_refused_by_name_and_the_study_continues(
    cluster: Cluster, small: Path, another_version: dict[str, str], tmp_path: Path
) -> None:
    cluster.join(1)
    words = [*COMMAND, "sweep", str(small), "-o", "s", *LONG, "-r", "2000", "--executor", cluster.address]
    with subprocess.Popen(
        words, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True
    ) as process:
        cluster._until(
            lambda: (
                (tmp_path / "s" / "resolved.json").is_file() and len(lh.Study.open(tmp_path / "s").runs) >= 1
            )
        )
        cluster.join(2, **another_version)
        _, talk = process.communicate(timeout=100)
    assert process.returncode == 2
    assert "has lasthop 0.0.9 (model 2); expected" in talk
    kept = lh.Study.open(tmp_path / "s")
    assert 0 < len(kept.runs) < 12_000
    (done,) = [result for result in kept.results() if result.row.replication == 0 and result.point == 0]
    assert done.row.metrics == kept.scenario.run(kept.seed, 0, 0).metrics


def test_what_is_no_executor_is_refused(small: Path, cli: Cli) -> None:
    for wrong in ("tread", "dask://", "dask://host", "dask://host:x", "dask://:80", "dask://host:99999"):
        done = cli("sweep", small, "--executor", wrong)
        assert done.returncode == 2
        assert done.stderr.startswith(f'error: --executor: "{wrong}"; ')
    done = cli("sweep", small, "--executor", "dask://127.0.0.1:1")
    assert done.returncode == 2
    assert "error: --executor: dask://127.0.0.1:1: no scheduler answers there" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_dask_the_error_names_the_extra(small: Path, cli: Cli, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "distributed.py").write_text('raise ModuleNotFoundError("No module named distributed")\n')
    code = "import sys; sys.path.insert(0, sys.argv.pop(1)); from lasthop.cli import main; main()"
    words = [sys.executable, "-c", code, str(hidden), "sweep", str(small), "--executor", "dask://h:1"]
    done = subprocess.run(words, cwd=tmp_path, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert 'distributed is not installed; expected it for dask (pip install "lasthop[dask]")' in done.stderr


def test_a_scheduler_that_is_killed_ends_the_sweep_with_one_line_and_what_continues_it(
    cluster: Cluster, small: Path, cli: Cli, tmp_path: Path
) -> None:
    cluster.join(1)
    long = ("-s", "run.duration=300 s", "-r", "20", "-o", "s")
    words = [*COMMAND, "sweep", str(small), *long, "--executor", cluster.address, "--no-progress"]
    sweep = subprocess.Popen(words, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "s" / "study.sqlite").exists() or len(lh.Study.open(tmp_path / "s").runs) < 3:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    cluster.processes[0].kill()
    try:
        _, said = sweep.communicate(timeout=60)
    finally:
        sweep.kill()
        sweep.communicate()
    kept = len(lh.Study.open(tmp_path / "s").runs)
    assert sweep.returncode == 1
    assert "Traceback" not in said
    (error,) = [line for line in said.splitlines() if line.startswith("error: ")]
    assert f"{kept} of 120 runs are stored in s; the same command continues" in error
    assert (
        said.splitlines()[-1].strip().startswith("lasthop sweep") or "lasthop sweep" in said.splitlines()[-1]
    )
    assert "distributed" not in said
    assert cli("sweep", small, *long, "-q").returncode == 0
