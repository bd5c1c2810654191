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


_HERE = Path(__file__).resolve()

DATA = _HERE.parents[1] / "data"
"""The data of the package; in a checkout, links to the folders at its top."""


@cache
def checkout() -> Path | None:
    """The checkout that this package runs from; an installed package has none, wherever it is called."""
    top = _HERE.parents[3]
    return top if (top / "Cargo.toml").is_file() and _HERE.parents[2] == top / "python" else None


def data(name: str) -> Path:
    """Package data with this name: `scenarios`, `papers` or `CITATION.cff`.

    No other place is searched: a folder of that name in the current directory is unrelated.
    """
    found = (DATA / name).resolve()
    if not found.exists():
        raise UsageError(f"{DATA / name}: is missing; expected what lasthop brings: install it again")
    return found


def shipped() -> dict[str, Path]:
    """The scenarios that come with lasthop: id to file, in the order of their ids."""
    base = data("scenarios")
    files = {f.relative_to(base).with_suffix("").as_posix(): f for f in sorted(base.rglob("*.toml"))}
    if not files:
        raise UsageError(f"{base}: no scenarios; expected those that lasthop brings: install it again")
    return files


def shipped_file(ident: str) -> Path:
    """The file of a shipped scenario by its id only, whatever the current directory contains."""
    known = shipped()
    if ident not in known:
        raise UsageError(f"{ident}: no such scenario of lasthop; {nearest(ident, known)}")
    return known[ident]


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
    # As the pages and papers name them.
    if (ident := name.removeprefix("scenarios/")) in known:
        return known[ident]
    raise UsageError(f"{argument}: no such scenario file or id; {nearest(name, known)}")


def scenario_id(path: Path) -> str:
    """The id of a scenario file: its place below `scenarios/`, else its stem."""
    full = path.resolve()
    base = (DATA / "scenarios").resolve()
    if full.is_relative_to(base):
        return full.relative_to(base).with_suffix("").as_posix()
    return full.parent.name if full.name == TEXT else full.stem


@cache
def build() -> str:
    """A hash of the compiled simulator, which changes with every change of its code."""
    from hashlib import blake2b

    from lasthop import _core

    return blake2b(Path(str(_core.__file__)).read_bytes(), digest_size=16).hexdigest()


def shown(path: Path) -> str:
    """A path for messages: relative to the current directory when it lies below."""
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
    """Refuse a folder that does not exist: a mistyped path would otherwise create directories."""
    if not folder.exists():
        raise UsageError(f"{folder}: no such directory; expected one that is there", argument=argument)


def program() -> str:
    """How lasthop is called from the current directory: by the starter of a checkout, if this is one."""
    top = checkout()
    if top is None or not os.access(top / "lasthop", os.X_OK):
        return "lasthop"
    return "./lasthop" if top == Path.cwd() else str(top / "lasthop")


def is_study(argument: str) -> bool:
    """Whether the argument names a directory with a study in it."""
    return (Path(argument) / LEDGER).exists()
