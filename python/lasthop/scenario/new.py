"""Starting a scenario from a shipped one."""

from __future__ import annotations

import shlex
from contextlib import suppress
from pathlib import Path

from lasthop.base import paths
from lasthop.base.errors import StudyError, UsageError
from lasthop.scenario.scenario import load


def copy(name: str, source: str) -> Path:
    """Write a copy of a scenario to NAME(.toml); it is checked first and nothing is replaced."""
    origin = load(source)
    target = Path(name)
    if name.endswith("/") or not target.name:
        raise UsageError(f"new: {name}: is a directory; expected the name of a file")
    if target.suffix != ".toml":
        target = target.with_name(target.name + ".toml")
    # A mistyped path would otherwise create directories.
    if not target.parent.is_dir():
        raise UsageError(f"new: {target.parent}: no such directory; expected an existing directory")
    # A comment ends with its line, whatever the name of the file has.
    name = "".join(c if c.isprintable() else "?" for c in shlex.quote(paths.shown(target)))
    head = f"# Started from {origin.id}. Try it: lasthop run {name}\n\n"
    try:
        with target.open("x", encoding="utf-8", newline="") as file:
            file.write(head + origin.text)
    except FileExistsError as e:
        raise UsageError(f"new: {target}: already exists; expected a new name") from e
    except OSError as e:
        with suppress(OSError):
            target.unlink(missing_ok=True)
        raise StudyError(f"{target}: {e.strerror}; expected a writable directory") from e
    return target
