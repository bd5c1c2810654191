"""Wrong commands that users type, each with its whole answer: the table is `wrong_commands.txt`.

A row is a command, its exit code, and the errors that it prints. `python tests/python/test_wrong_commands.py`
writes the answers anew; whoever does reads each that moved as a user would.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import sqlite3
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from conftest import HOP, SMALL
from lasthop.cli.main import invoke

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path(__file__).with_name("wrong_commands.txt")


@dataclass(frozen=True)
class Row:
    """A command and its required answer."""

    command: str
    code: int
    errors: tuple[str, ...]


def rows() -> list[Row]:
    """The table."""
    found = []
    for block in TABLE.read_text(encoding="utf-8").split("\n$ ")[1:]:
        command, code, *errors = [line for line in block.splitlines() if not line.startswith("#")]
        found.append(Row(command, int(code), tuple(line for line in errors if line)))
    return found


def furnish(folder: Path) -> None:
    """What the commands are about: valid and invalid scenarios, a study, a run, and other files."""
    (folder / "small.toml").write_text(SMALL)
    (folder / "hop.toml").write_text(HOP.replace('"tahoe"', '"reno"'))
    (folder / "empty.toml").write_text("")
    (folder / "half.toml").write_text(SMALL[:300])
    (folder / "broken.toml").write_text(SMALL.replace("rate  =", "rat  =").replace('"10 ms"', '"10"'))
    (folder / "binary.toml").write_bytes(b"\xff\xfe\x00binary")
    for name in ("empty", "full", "broken", "old"):
        (folder / name).mkdir()
    (folder / "full" / "thesis.tex").write_text("mine")
    answer("sweep small.toml -r 1 -q -o s")
    answer("run small.toml --trace cwnd -q -o runs/one")
    (folder / "broken" / "study.sqlite").write_bytes(b"SQLite format 3\0" + bytes(500))
    shutil.copy(folder / "s" / "study.sqlite", folder / "old" / "study.sqlite")
    with contextlib.closing(sqlite3.connect(folder / "old" / "study.sqlite")) as db:
        db.execute("update meta set value = '0' where key = 'model_version'")
        db.commit()


def answer(command: str) -> tuple[int, str, str]:
    """The exit code, stdout and stderr of a command."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = invoke(shlex.split(command))
    return code, out.getvalue(), err.getvalue()


def errors(err: str) -> list[str]:
    """The errors that a command prints, without the lengths of lists, which a new name changes."""
    found = [line for line in err.splitlines() if line.startswith("error:")]
    return [re.sub(r"\(\d+ in total\)", "(N in total)", line) for line in found]


def contents(folder: Path) -> dict[str, bytes]:
    """Everything in a folder."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


@pytest.fixture(scope="module")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, dict[str, bytes]]]:
    folder = tmp_path_factory.mktemp("wrong")
    with contextlib.chdir(folder), pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_COLOR", "1")
        furnish(folder)
        yield folder, contents(folder)


@pytest.mark.parametrize("row", [pytest.param(row, id=row.command) for row in rows()])
def test_a_wrong_command_is_answered_as_the_table_says(
    row: Row, furnished: tuple[Path, dict[str, bytes]]
) -> None:
    folder, before = furnished
    code, out, err = answer(row.command)
    assert errors(err) == list(row.errors)
    assert code == row.code
    assert out == ""
    assert contents(folder) == before, "nothing is written by a command that is refused"


def test_every_answer_says_what_was_found_and_what_was_expected() -> None:
    assert len(rows()) >= 200
    assert len({row.command for row in rows()}) == len(rows())
    for row in rows():
        assert row.code in (1, 2, 4), row
        assert row.errors, row
        for error in row.errors:
            assert ": " in error, error
            assert "; " in error or "?" in error, error
            assert len(error) < 330, error
            assert "Errno" not in error, error
            assert "there are none" not in error, error


def test_a_list_of_known_names_is_cut_at_eight() -> None:
    for row in rows():
        for error in row.errors:
            for start in ("(known: ", "expected one of ", "(units: "):
                if start in error:
                    names = error.split(start, 1)[1].split(", … (")[0]
                    assert names.count(", ") <= 7, error


def _write() -> None:
    """Write new answers to the commands of the table."""
    head, *blocks = TABLE.read_text(encoding="utf-8").split("\n$ ")
    lines = [head]
    os.environ["NO_COLOR"] = "1"
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        furnish(Path(name))
        for block in blocks:
            command, *rest = block.splitlines()
            code, _, err = answer(command)
            comments = [line for line in rest if line.startswith("#")]
            lines += ["$ " + command, str(code), *errors(err), "", *comments]
    TABLE.write_text("\n".join(lines).rstrip() + "\n", encoding="utf-8")
    json.dump({"rows": len(blocks)}, sys.stdout)


if __name__ == "__main__":
    _write()
