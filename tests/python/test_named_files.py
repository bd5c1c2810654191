"""Files that a scenario names: a study has copies of them, whatever they are called."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import lasthop as lh

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

NAMED = """[run]
duration = "1 s"

[nodes]
a = {}
b = {}

[links.ab]
kind  = "trace"
nodes = ["a", "b"]
trace.file = "NAME"

[flows.f]
from = "a"
to   = "b"
"""


def written(folder: Path, name: str) -> Path:
    """A scenario that names a file."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("1\n3\n7\n")
    (folder / "mine.toml").write_text(NAMED.replace("NAME", name))
    return folder / "mine.toml"


@pytest.mark.parametrize(
    "name",
    [
        *("study.sqlite", "study.sqlite-wal", "study.sqlite-shm", "scenario.toml", "resolved.json"),
        *("run.json", "report.html", "figures/goodput.svg", "scenario.files/x", "manifest.json", "runs.csv"),
        *("laws/x.py", "x/down", ".lasthop-0123456789abcdef.new"),
    ],
)
def test_a_file_named_like_one_of_a_study_destroys_nothing_and_travels_with_it(
    within: Cli, tmp_path: Path, name: str
) -> None:
    written(tmp_path / "from", name)
    assert within("sweep", "from/mine.toml", "-o", "s", "-r", "2").returncode == 0
    before = within("export", "s").stdout
    for _ in range(2):
        done = within("sweep", "from/mine.toml", "-o", "s", "-r", "2")
        assert (done.returncode, "2 runs" in done.stderr or "reused" in done.stderr) == (0, True), done.stderr
    assert (tmp_path / "s" / "scenario.files" / name).read_text() == "1\n3\n7\n"
    assert within("archive", "s", "-o", "s.zip").returncode == 0
    (tmp_path / "from" / name).write_text("1\n900\n")
    assert within("export", "s").stdout == before
    done = within("verify", "s.zip")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 of 2 runs repeated agree" in done.stdout
    # The study's own scenario runs with the copies.
    assert within("sweep", "s/scenario.toml", "-o", "t", "-r", "2", "-s", "title=scenario").returncode == 0
    rows = [within("export", folder).stdout.splitlines()[1:] for folder in ("s", "t")]
    assert rows[0] == rows[1]
    assert within("sweep", "s", "-o", "s", "-r", "3", "--fresh").returncode == 0


def test_a_copy_in_a_study_is_not_written_over(within: Cli, tmp_path: Path) -> None:
    written(tmp_path, "x/down")
    within("sweep", "mine.toml", "-o", "s", "-r", "1")
    done = within("export", "s", "-o", "s/scenario.files/x/down")
    assert done.returncode == 2
    assert "a file of a study; expected another file to write" in done.stderr


def test_a_copy_goes_to_the_file_of_a_link(tmp_path: Path) -> None:
    written(tmp_path, "down")
    study = lh.load(tmp_path / "mine.toml").sweep(1, tmp_path / "s").run()
    copy = tmp_path / "s" / "scenario.files" / "down"
    copy.unlink()
    copy.symlink_to(os.devnull)
    lh.load(tmp_path / "mine.toml").sweep(2, tmp_path / "s")
    assert Path(os.devnull).is_char_device()
    assert study.path == tmp_path / "s"


def test_a_study_with_copies_among_its_files_stays_readable(within: Cli, tmp_path: Path) -> None:
    written(tmp_path, "x/down")
    assert within("sweep", "mine.toml", "-o", "s", "-r", "2").returncode == 0
    before = within("export", "s").stdout
    # As versions before have left it.
    (tmp_path / "s" / "scenario.files" / "x").rename(tmp_path / "s" / "x")
    (tmp_path / "s" / "scenario.files").rmdir()
    (tmp_path / "x" / "down").unlink()
    assert within("export", "s").stdout == before
    assert within("archive", "s", "-o", "s.zip").returncode == 0
    assert within("verify", "s.zip").returncode == 0
    done = within("sweep", "s/scenario.toml", "-o", "s", "-s", "title=mine")
    assert done.returncode in {0, 4}, done.stderr
