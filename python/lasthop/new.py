"""Starting a scenario from a shipped one."""

from __future__ import annotations

from pathlib import Path

from lasthop import paths
from lasthop.errors import StudyError, UsageError
from lasthop.scenario import load


def copy(name: str, source: str) -> Path:
    """Write a copy of a scenario to NAME(.toml); it is checked first and nothing is replaced."""
    origin = load(source)
    target = Path(name)
    if target.suffix != ".toml":
        target = target.with_name(target.name + ".toml")
    head = f"# Started from {origin.id}. Try it: lasthop run {paths.shown(target)}\n\n"
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("x", encoding="utf-8", newline="") as file:
            file.write(head + origin.text)
    except FileExistsError as e:
        raise UsageError(f"new: {target}: exists already; expected a new name") from e
    except OSError as e:
        raise StudyError(f"{target}: {e.strerror}; expected a writable directory") from e
    return target
