"""Where things are: the shipped scenarios and papers, and what a SCENARIO argument means."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from lasthop.base.errors import UsageError, nearest

LEDGER = "study.sqlite"
TEXT = "scenario.toml"
RUN = "run.json"
FILES = "scenario.files"
"""The directory of a study with copies of the files that its scenario names."""
STUDY_FILES = (LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm", TEXT, "resolved.json")


_HERE = Path(__file__).resolve()

DATA = _HERE.parents[1] / "data"
"""The data files of the package; in a checkout, links to the directories at its top."""


@cache
def checkout() -> Path | None:
    """The checkout that this package runs from; `None` for an installed package, whatever the directory."""
    top = _HERE.parents[3]
    return top if (top / "Cargo.toml").is_file() and _HERE.parents[2] == top / "python" else None


def for_children() -> str:
    """The `PYTHONPATH` with which a process that is started elsewhere finds this package."""
    return os.pathsep.join(
        [*filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)), str(_HERE.parents[2])]
    )


def data(name: str) -> Path:
    """The data of this name: `scenarios`, `suites`, `papers` or `CITATION.cff`.

    A directory of that name in the current directory is never used.
    """
    found = (DATA / name).resolve()
    if not found.exists():
        raise UsageError(
            f"{DATA / name}: not found; expected a complete installation of lasthop (install it again)"
        )
    return found


def shipped() -> dict[str, Path]:
    """The shipped scenarios: id to file, in the order of their ids."""
    base = data("scenarios")
    files = {f.relative_to(base).with_suffix("").as_posix(): f for f in sorted(base.rglob("*.toml"))}
    if not files:
        raise UsageError(
            f"{base}: no scenarios; expected a complete installation of lasthop (install it again)"
        )
    return files


def shipped_file(ident: str) -> Path:
    """The file of a shipped scenario, by id; files in the current directory are not considered."""
    known = shipped()
    if ident not in known:
        raise UsageError(f"{ident}: not a shipped scenario; {nearest(ident, known)}")
    return known[ident]


def find(argument: str) -> Path:
    """The scenario file for a path, a directory with `scenario.toml`, or an id."""
    if not argument.strip():
        raise UsageError('""; expected a scenario: a file, a directory or an id')
    path = Path(argument)
    try:
        is_file = path.is_file()
    except OSError as e:
        raise UsageError(
            f"{argument}: {e.strerror}; expected a scenario: a file, a directory or an id"
        ) from e
    if is_file:
        return path
    if path.is_dir():
        if (path / TEXT).is_file():
            return path / TEXT
        if argument not in shipped():
            raise UsageError(f"{argument}: a directory without {TEXT}; expected the directory of a scenario")
    known = shipped()
    name = argument.removesuffix(".toml").strip("/")
    if name in known:
        return known[name]
    # The pages of the papers name scenarios so.
    if (ident := name.removeprefix("scenarios/")) in known:
        return known[ident]
    if path.suffix in {".toml", ".tml"} or argument.startswith((".", "/", "~")):
        raise UsageError(f"{argument}: no such file; expected a file, or an id of lasthop list scenarios")
    raise UsageError(f"{argument}: not a scenario file or id; {nearest(name, known)}")


def scenario_id(path: Path) -> str:
    """The id of a scenario file: its path below `scenarios/`, or else its name without ending."""
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
    """A path for messages: relative if it lies below the current directory."""
    full = Path.cwd() / path
    return str(full.relative_to(Path.cwd())) if full.is_relative_to(Path.cwd()) else str(path)


def protect(target: Path, *inputs: Path) -> None:
    """Refuse to overwrite an input file or a file of a study."""
    # Unlike `resolve`, it does not fail at links in a circle.
    full = Path(os.path.realpath(target))
    if any(full == Path(os.path.realpath(file)) for file in inputs):
        raise UsageError(f"{target}: an input of this command; expected another file to write")
    is_copy = any(above.name == FILES and (above.parent / LEDGER).exists() for above in full.parents)
    if is_copy or (full.name in STUDY_FILES and (full.parent / LEDGER).exists()):
        raise UsageError(f"{target}: a file of a study; expected another file to write")


def expect_folder(folder: Path, argument: str | None = None) -> None:
    """Require a directory to exist: creating it would hide a mistyped path."""
    if not folder.exists():
        raise UsageError(f"{folder}: no such directory; expected an existing directory", argument=argument)


def program() -> str:
    """The command that starts lasthop in the current directory: in a checkout, its starter."""
    top = checkout()
    if top is None or not os.access(top / "lasthop", os.X_OK):
        return "lasthop"
    return "./lasthop" if top == Path.cwd() else str(top / "lasthop")


def is_study(argument: str) -> bool:
    """Whether the argument is the directory of a study."""
    return (Path(argument) / LEDGER).exists()
