"""The command that repeats one run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import UsageError
from lasthop.scenario.kept import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lasthop.study.study import Study


def command_of_run(folder: Path) -> str:
    """The shell command that repeats a run that was kept by `run -o`."""
    run = read(folder)
    file = str(run["file"])
    if not Path(file).is_file():
        file = str(run["scenario"])
        if file not in paths.shipped():
            raise UsageError(f"{folder}: {run['file']} does not exist; expected the scenario of the run")
    given = run["overrides"]
    # Older versions have kept a mapping.
    pairs = list(given.items()) if isinstance(given, dict) else given
    return _command(file, pairs, run["point_number"], run)


def command(study: Study, point: int, replication: int) -> str:
    """The shell command that repeats a run of the study, on the study's own scenario file."""
    if not any(planned.point == point for planned in study.plan):
        raise UsageError(
            f"{study.path}: point {point}; expected one of its {len(study.plan)} points "
            f"({study.plan[0].point} to {study.plan[-1].point})"
        )
    row = study.run_at(point, replication)
    run: dict[str, Any] = {"seed": study.seed, "replication": replication}
    if row is not None:
        run |= {"stopped": row.stopped, "events": row.events}
    return _command(str(study.path / paths.TEXT), study.scenario.overrides, point, run)


def _command(file: str, overrides: list[tuple[str, str]], point: int, run: Mapping[str, Any]) -> str:
    words = [paths.program(), "run", file]
    for key, value in overrides:
        words += ["-s", f"{key}={value}"]
    # Not its swept values: one may have no meaning where another is fixed.
    words += ["--point", str(point)]
    words += ["--seed", str(run["seed"]), "--replication", str(run["replication"])]
    if run.get("stopped"):
        # Whatever stopped it, it had processed this many events.
        words += ["--max-events", str(run["events"])]
    return shlex.join(words)
