"""A run kept in a directory, as `run -o` writes it: run.json, and a table for each trace."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import StudyError, reason
from lasthop.base.files import replacing
from lasthop.base.jsontext import dumps
from lasthop.base.paths import RUN

if TYPE_CHECKING:
    from pathlib import Path

    from lasthop.scenario.scenario import Run


def keep(run: Run, folder: Path) -> None:
    """Write a run and its traces."""
    try:
        for name in run.traces():
            path = folder / "traces" / f"{name}.csv"
            path.parent.mkdir(exist_ok=True)
            with replacing(path) as draft:
                run.trace(name).to_csv(draft)
        with replacing(folder / RUN) as draft:
            draft.write_text(dumps(run.as_dict()) + "\n", encoding="utf-8")
    except OSError as e:
        raise StudyError(f"{folder}: {e.strerror}; expected a writable directory") from e


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
