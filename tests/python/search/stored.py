"""Ledgers, archives and kept runs that are not as lasthop wrote them, and outputs to whatever there is.

A number makes the same change each time. What is changed is read by the command line, which must give results
or a sentence and an exit code for files. It must end soon, and leave what is not its own alone.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sqlite3
import stat
import time
import zipfile
from contextlib import chdir, closing, redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lasthop as lh
from conftest import SMALL
from lasthop.cli.main import invoke
from studies import resum

from .draw import Draw

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

MOST_S = 20.0
"""How long one command may take on a busy machine."""
VALUES: list[Any] = [
    *(None, 0, 1, -1, 2**31, 2**63 - 1, 10**9, 0.5, -0.0, 1e308, float("inf"), "", "x", "7", "null", "[]"),
    *("{}", "[7]", '{"a": 7}', '{"a": [1, "x"]}', "[" * 50_000, '"' * 999, "9" * 5000, "é", "\x00", "../x"),
    *("/abs", b"", b"\xff" * 9),
    *(b"\x00" * 800, b"x\x9c", True, "max-wall", "1e999", "NaN"),
]  # fmt: skip
COLUMNS = {
    "meta": ("key", "value"),
    "plan": ("point", "point_key", "replications"),
    "points": ("id", "point_key"),
    "names": ("id", "names"),
    "runs": (
        *("point", "replication", "seed", "model_version", "limits", "stopped", "error", "names", "metrics"),
        *("series", "transfers", "events", "simulated_s", "cpu_s", "wall_s", "sum"),
    ),
}
READERS = [
    *(("show", "s"), ("show", "s", "--json"), ("export", "s"), ("export", "s", "--summary"), ("report", "s")),
    *(("cite", "s"), ("archive", "s", "--no-figures"), ("command", "s", "--point", "1"), ("merge", "m", "s")),
    *(
        ("quantile", "s", "flows.main.goodput_bps"),
        ("sweep", "small.toml", "-s", "run.bin=500 ms", "-o", "s", "-q"),
    ),
]
NAMES = [
    "x",
    "a b",
    "é",
    "a'b",
    'a"b',
    "a\nb",
    "$(x)",
    "%s",
    "-x",
    "x" * 240,
    "x" * 300,
    "a\udcff",
    "\x7f",
    "..x",
    "~",
]


def prepare(folder: Path) -> None:
    """Make what is changed: a study, its archive, and a run."""
    (folder / "small.toml").write_text(SMALL)
    with chdir(folder):
        lh.load("small.toml").set({"run.bin": "500 ms"}).sweep(2, "s").run()
        for words in (
            ("archive", "s", "--no-figures", "-o", "s.zip"),
            ("run", "small.toml", "--trace", "cwnd", "-o", "r"),
        ):
            assert said(words)[0] == 0


def said(words: tuple[str, ...]) -> tuple[int, str]:
    """The exit code of a command, and what it says on stderr."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = invoke(words)
    return code, err.getvalue()


class Stored:
    """One change, and what is said of it."""

    def __init__(self, number: int, prepared: Path) -> None:
        self._draw = Draw(f"lasthop/stored/{number}")
        self._prepared = prepared
        kinds: list[Callable[[Path], Iterator[tuple[str, ...]]]] = [
            *(self._cells, self._cells, self._bytes, self._manifest, self._entry, self._run, self._output),
        ]
        self._change = self._draw.one(kinds)
        self.what = f"{number} ({self._change.__name__.strip('_')})"

    def faults(self, folder: Path) -> Iterator[str]:
        """What is wrong with what the commands do; none if nothing is."""
        work = folder / "work"
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(self._prepared, work)
        with chdir(work):
            for words in self._change(work):
                began = time.monotonic()
                try:
                    code, text = said(words)
                except BaseException as e:  # noqa: BLE001 - what is looked for
                    yield f"{self.what}: {' '.join(words)!r}: {type(e).__name__}: {str(e)[:200]}"
                    continue
                if code not in {0, 1, 2, 4} or (code == 1 and words[0] != "verify"):
                    yield f"{self.what}: {' '.join(words)!r}: exit code {code}: {text[:200]}"
                if code and not any(line.startswith("error: ") for line in text.splitlines()):
                    yield f"{self.what}: {' '.join(words)!r}: exit code {code} without a sentence"
                if time.monotonic() - began > MOST_S:
                    yield f"{self.what}: {' '.join(words)!r}: {time.monotonic() - began:.0f} s"

    def _cells(self, work: Path) -> Iterator[tuple[str, ...]]:
        """Other values in cells of the ledger, mostly with right sums."""
        draw = self._draw
        with closing(sqlite3.connect(work / "s" / "study.sqlite")) as db, db:
            for _ in range(draw.one([1, 1, 2, 5])):
                table = draw.one(list(COLUMNS))
                column = draw.one(COLUMNS[table])
                where = (
                    draw.one(["", f" where rowid = {draw.whole(1, 6)}"])
                    if table in {"plan", "points"}
                    else ""
                )
                if table == "meta":
                    facts = (
                        "text",
                        "overrides",
                        "where",
                        "seed",
                        "scenario",
                        "build",
                        "version",
                        "model_version",
                    )
                    where = f" where key = '{draw.one(facts)}'"
                with suppress(sqlite3.Error):
                    db.execute(f"update {table} set {column} = ?{where}", (draw.one(VALUES),))
            # What is not text cannot be found by its key.
            if draw.chance(0.8):
                with suppress(UnicodeEncodeError):
                    resum(db)
        yield from draw.some(READERS, 3)

    def _bytes(self, work: Path) -> Iterator[tuple[str, ...]]:
        """Other bytes in the ledger."""
        file = work / "s" / "study.sqlite"
        whole = bytearray(file.read_bytes())
        for _ in range(self._draw.one([1, 1, 3, 30])):
            place = self._draw.whole(0, len(whole) - 1)
            whole[place] = self._draw.whole(0, 255)
        if self._draw.chance(0.1):
            del whole[self._draw.whole(0, len(whole)) :]
        file.write_bytes(whole)
        yield from self._draw.some(READERS, 3)

    def _archive(self, work: Path, change: Callable[[dict[str, bytes], dict[str, Any]], None]) -> None:
        with zipfile.ZipFile(work / "s.zip") as old:
            contents = {name: old.read(name) for name in old.namelist()}
        manifest = json.loads(contents.pop("manifest.json"))
        change(contents, manifest)
        if isinstance(manifest.get("sha256"), dict) and self._draw.chance(0.9):
            manifest["sha256"] |= {name: hashlib.sha256(text).hexdigest() for name, text in contents.items()}
        with zipfile.ZipFile(work / "s.zip", "w", zipfile.ZIP_DEFLATED) as new:
            new.writestr("manifest.json", json.dumps(manifest))
            for name, text in contents.items():
                new.writestr(name, text)

    def _manifest(self, work: Path) -> Iterator[tuple[str, ...]]:
        """Other values in the manifest of an archive."""

        def change(_: dict[str, bytes], manifest: dict[str, Any]) -> None:
            for _ in range(self._draw.one([1, 1, 3])):
                value = self._draw.one(
                    [*(v for v in VALUES if not isinstance(v, bytes)), [], {}, [7], {"x": [7]}]
                )
                manifest[self._draw.one(list(manifest))] = value

        self._archive(work, change)
        yield ("verify", "s.zip", "--sample", "1", *self._draw.one([(), ("--json",), ("--run-laws",)]))

    def _entry(self, work: Path) -> Iterator[tuple[str, ...]]:
        """Other files in an archive."""

        def change(contents: dict[str, bytes], manifest: dict[str, Any]) -> None:
            name = self._draw.one(
                [*contents, "../evil", "/abs/evil", "laws/x.py", "figures/x.svg", "scenario.files/x", "x"]
            )
            text = bytearray(contents.get(name, b"x" * 100))
            for _ in range(self._draw.one([1, 1, 10])):
                text[self._draw.whole(0, len(text) - 1)] = self._draw.whole(0, 255)
            contents[name] = self._draw.one([bytes(text), bytes(text), b"", b"[" * 50_000, b"\xff"])
            if self._draw.chance(0.3):
                manifest["files"] = [name]

        self._archive(work, change)
        yield ("verify", "s.zip", "--sample", "1")
        if (work / "evil").exists() or (work.parent / "evil").exists() or Path("/abs/evil").exists():
            raise AssertionError("a file outside")

    def _run(self, work: Path) -> Iterator[tuple[str, ...]]:
        """Other values in a kept run."""
        file = work / "r" / "run.json"
        found = json.loads(file.read_text())
        for _ in range(self._draw.one([1, 1, 3])):
            value = self._draw.one(
                [*(v for v in VALUES if not isinstance(v, bytes)), [], {}, [7], {"x": [7]}, {"x": 7}]
            )
            found[self._draw.one(list(found))] = value
        file.write_text(self._draw.one([json.dumps(found)] * 4 + ["", "7", "[" * 50_000]))
        if self._draw.chance(0.4):
            trace = work / "r" / "traces" / "cwnd.csv"
            trace.write_bytes(
                self._draw.one(
                    [b"", b"\xff", b"a,b\n1\n", b"time_s,flow,cwnd_segments\nx,y,z\n", b'"' * 200_000]
                )
            )
        yield from self._draw.some([("plot", "r"), ("command", "r"), ("ladder", "r"), ("services", "r")], 2)

    def _output(self, work: Path) -> Iterator[tuple[str, ...]]:
        """Outputs to names and kinds of files of any sort."""
        name = self._draw.one(NAMES)
        words, suffix = self._draw.one([
            (("export", "s", "-o"), ".csv"),
            (("report", "s", "-o"), ".html"),
            (("archive", "s", "--no-figures", "-o"), ".zip"),
            (("run", "small.toml", "-q", "--pcap"), ".pcap"),
            (("ladder", "small.toml", "--between", "0..0.1", "-o"), ".svg"),
            (("play", "small.toml", "--between", "0..0.1", "-o"), ".html"),
        ])  # fmt: skip
        target = work / f"{name}{suffix}"
        (work / "mine").write_text("mine")
        kind = self._draw.one(
            ["nothing", "file", "null", "link", "dangling", "circle", "directory", "below", "draft"]
        )
        with suppress(OSError, ValueError):
            if kind == "file":
                target.write_text("before")
            elif kind in {"null", "link", "dangling", "circle"}:
                to = {"null": os.devnull, "link": "linked", "dangling": "no/such", "circle": target.name}[
                    kind
                ]
                (work / "linked").write_text("before")
                target.symlink_to(to)
            elif kind == "directory":
                target.mkdir()
            elif kind == "below":
                (work / name).write_text("file")
            elif kind == "draft":
                target.with_name(f"{target.name}.new").symlink_to(work / "mine")
        there = f"./{name}/x{suffix}" if kind == "below" else f"./{name}{suffix}"
        yield (*words, there)
        assert stat.S_ISCHR(Path(os.devnull).stat().st_mode), "the device is gone"
        assert (work / "mine").read_text() == "mine", "a file of the user is gone"
        assert kind not in {"null", "link"} or len(name) > 200 or target.is_symlink() or "\udcff" in name, (
            "the link is gone"
        )
        assert lh.Study.open(work / "s").damaged == []
