"""Studies on disk: killed, interrupted, spoilt, of another version, or in use."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import COMMAND, HOP, SMALL, environment
from lasthop.base.errors import StudyError
from lasthop.study.export import text, tidy
from lasthop.study.ledger import Ledger

if TYPE_CHECKING:
    from collections.abc import Callable


LONG = ("-s", "run.duration=300 s", "-s", "links.path.rate=20 Mbit/s", "-r", "16", "-j", "1")


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
    assert 20 <= recorded_runs(tmp_path / "s") < 96
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
    assert 2 <= recorded_runs(tmp_path / "s") < 96


def children(of: int) -> set[int]:
    """The processes below a process."""
    found = {of}
    while True:
        parents = {}
        for path in Path("/proc").glob("[0-9]*/stat"):
            with suppress(OSError):
                parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        more = {child for child, parent in parents.items() if parent in found} - found
        if not more:
            return found - {of}
        found |= more


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs the list of processes of Linux")
def test_the_workers_of_a_sweep_that_is_killed_end_with_it(small: Path, tmp_path: Path) -> None:
    words = ["sweep", str(small), "-o", "s", "-s", "run.duration=300 s", "-r", "40", "-j", "2"]
    command = [*COMMAND, *words, "--executor", "process", "-q"]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.DEVNULL)
    wait_for_runs(process, tmp_path / "s", 2)
    workers = children(process.pid)
    assert len(workers) >= 2
    process.kill()
    process.wait()
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{worker}").exists() and "Z" not in state(worker) for worker in workers):
        assert time.monotonic() < deadline, workers
        time.sleep(0.05)


def state(process: int) -> str:
    """What the system says that a process does; `Z` if it has ended."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


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
        for table in ("plan", "points"):
            ledger.execute(f"update {table} set point_key = 'older' || point_key")
        ledger.execute("alter table runs drop column sum")
        ledger.execute("pragma user_version = 4")
    older = lh.Study.open(tmp_path / "study")
    assert older.is_older
    assert older.table("flows.main.goodput_bps").rows == expected
    assert "agents.snoop.lle-tcp.hold" in text(older, "csv", tidy(older))
    with pytest.raises(StudyError, match="can only be shown and exported; expected a new directory"):
        older.run()
