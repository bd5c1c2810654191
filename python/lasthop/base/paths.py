"""Where things are: the shipped scenarios and papers, and what a SCENARIO argument means."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from lasthop.base.errors import UsageError, nearest

LEDGER = "study.sqlite"
TEXT = "scenario.toml"
RUN = "run.json"
STUDY_FILES = (LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm", TEXT, "resolved.json")


@cache
def root() -> Path | None:
    """The checkout this package runs from, or the one around the current directory."""
    here = Path(__file__).resolve()
    for folder in [*here.parents[3:4], Path.cwd(), *Path.cwd().parents]:
        if (folder / "scenarios").is_dir() and (folder / "papers").is_dir():
            return folder
    return None


def folder(name: str) -> Path | None:
    """A folder of the checkout (`scenarios`, `papers`, `bench`), if it is there."""
    base = root()
    found = base / name if base else None
    return found if found and found.is_dir() else None


def shipped() -> dict[str, Path]:
    """The scenarios that come with lasthop: id to file, in the order of their ids."""
    base = folder("scenarios")
    files = sorted(base.rglob("*.toml")) if base else []
    return {f.relative_to(base).with_suffix("").as_posix(): f for f in files if base}


def find(argument: str) -> Path:
    """The scenario file meant by a path, a directory with `scenario.toml`, or an id."""
    if not argument.strip():
        raise UsageError('"": is empty; expected a scenario: a file, a directory or an id')
    path = Path(argument)
    if path.is_file():
        return path
    if path.is_dir():
        if (path / TEXT).is_file():
            return path / TEXT
        if argument not in shipped():
            raise UsageError(f"{argument}: a directory without {TEXT}; expected a scenario")
    known = shipped()
    name = argument.removesuffix(".toml").strip("/")
    if name in known:
        return known[name]
    if "scenarios/" in name and name.split("scenarios/", 1)[1] in known:
        return known[name.split("scenarios/", 1)[1]]
    instead = nearest(
        name, known, none="expected a file, since no scenarios are shipped with this installation"
    )
    raise UsageError(f"{argument}: no such scenario file or id; {instead}")


def scenario_id(path: Path) -> str:
    """The id of a scenario file: its place below `scenarios/`, else its stem."""
    full = path.resolve()
    base = folder("scenarios")
    if base and full.is_relative_to(base.resolve()):
        return full.relative_to(base.resolve()).with_suffix("").as_posix()
    return full.parent.name if full.name == TEXT else full.stem


@cache
def build() -> str:
    """A hash of the compiled simulator, which changes with every change of its code."""
    from hashlib import blake2b

    from lasthop import _core

    return blake2b(Path(str(_core.__file__)).read_bytes(), digest_size=16).hexdigest()


def shown(path: Path) -> str:
    """A path as a reader wants it: relative to the current directory when it lies below."""
    full = Path.cwd() / path
    return str(full.relative_to(Path.cwd())) if full.is_relative_to(Path.cwd()) else str(path)


def protect(target: Path, *inputs: Path) -> None:
    """Refuse to write over a file that is read, or over what makes a study."""
    full = target.resolve()
    if any(full == file.resolve() for file in inputs):
        raise UsageError(f"{target}: is read by this command; expected another file to write")
    if full.name in STUDY_FILES and (full.parent / LEDGER).exists():
        raise UsageError(f"{target}: belongs to a study; expected another file to write")


def expect_folder(folder: Path, argument: str | None = None) -> None:
    """Refuse a folder that is not there: a mistyped path would otherwise leave directories behind."""
    if not folder.exists():
        raise UsageError(f"{folder}: no such directory; expected one that is there", argument=argument)


def program() -> str:
    """How lasthop is called from the current directory: by the starter of a checkout, if this is one."""
    starter = Path(__file__).resolve().parents[3] / "lasthop"
    if not (starter.is_file() and os.access(starter, os.X_OK)):
        return "lasthop"
    return "./lasthop" if starter.parent == Path.cwd() else str(starter)


def is_study(argument: str) -> bool:
    """Whether the argument names a directory with a study in it."""
    return (Path(argument) / LEDGER).exists()
