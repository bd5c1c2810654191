"""A run kept in a directory, as `run -o` writes it: run.json, and a table for each trace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import StudyError, reason
from lasthop.base.files import make_folder, put, replacing
from lasthop.base.jsontext import dumps
from lasthop.base.paths import RUN
from lasthop.scenario.trace import write_csv

if TYPE_CHECKING:
    from pathlib import Path

    from lasthop.scenario.scenario import Run


def keep(run: Run, folder: Path) -> None:
    """Write a run and its traces."""
    for name in run.traces():
        path = folder / "traces" / f"{name}.csv"
        make_folder(path.parent)
        with replacing(path, expected="a writable directory") as draft:
            write_csv(run.trace(name), draft)
    put(folder / RUN, dumps(run.as_dict()) + "\n", expected="a writable directory")


def read(folder: Path) -> dict[str, Any]:
    """What `keep` wrote about a run."""
    path = folder / RUN
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        missing = [key for key in ("scenario", "file", "seed", "point_number", "airtime") if key not in found]
    except (OSError, ValueError, TypeError) as e:
        raise StudyError(f"{path}: {reason(e)}; expected the output of lasthop run") from e
    if missing:
        raise StudyError(
            f"{path}: no {missing[0]}; expected the output of this version of lasthop run (run it again)"
        )
    return found
