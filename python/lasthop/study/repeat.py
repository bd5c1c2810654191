"""The commands that repeat one run, and a study."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import UsageError
from lasthop.laws.registered import used
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
    laws = _laws(Path(file).read_text(encoding="utf-8") if Path(file).is_file() else "", pairs)
    return _command(file, pairs, run["point_number"], run, (paths.program(), laws))


def command(study: Study, point: int, replication: int, *, file: str | None = None) -> str:
    """The shell command that repeats a run of the study, on the study's own scenario file.

    With a `file`, the command is one for other machines: it names that file, and starts what is installed.
    """
    if not any(planned.point == point for planned in study.plan):
        raise UsageError(
            f"{study.path}: point {point}; expected one of its {len(study.plan)} points "
            f"({study.plan[0].point} to {study.plan[-1].point})"
        )
    row = study.run_at(point, replication)
    run: dict[str, Any] = {"seed": study.seed, "replication": replication}
    if row is not None:
        run |= {"stopped": row.stopped, "events": row.events}
    own = file or str(study.path / paths.TEXT)
    program = "lasthop" if file else paths.program()
    laws = _laws(study.scenario.text, study.scenario.overrides, is_elsewhere=file is not None)
    return _command(own, study.scenario.overrides, point, run, (program, laws))


def command_of_study(study: Study, file: str) -> str:
    """The shell command that repeats a study on another machine, with its scenario in a file or by its id."""
    laws = _laws(study.scenario.text, study.scenario.overrides, is_elsewhere=True)
    words = ["lasthop", "sweep", file, *laws, *_settings(study.scenario.overrides)]
    for condition in study.where:
        words += ["--where", condition]
    # With --ci the points differ; the most of any reproduces the runs of all.
    most = max((planned.replications for planned in study.plan), default=1)
    return shlex.join([*words, "--replications", str(most), "--seed", str(study.seed)])


def portable(study: Study) -> str:
    """What a command on another machine calls the scenario: its id if lasthop ships it, or a file."""
    shipped = paths.shipped().get(study.scenario.id)
    is_same = shipped is not None and shipped.read_text(encoding="utf-8") == study.scenario.text
    return study.scenario.id if is_same else paths.TEXT


def _settings(overrides: list[tuple[str, str]]) -> list[str]:
    return [word for key, value in overrides for word in ("-s", f"{key}={value}")]


def _laws(text: str, overrides: list[tuple[str, str]], *, is_elsewhere: bool = False) -> list[str]:
    """The options that register the laws in Python of a scenario; on another machine, by the file's name."""
    words = []
    for law in used(text, tuple(overrides)):
        file = Path(law.file) if law.file else None
        if file and not is_elsewhere and file.is_relative_to(Path.cwd()):
            file = file.relative_to(Path.cwd())
        module = law.module if file is None else file.name if is_elsewhere else str(file)
        words += ["--law", f"{law.name}={module}:{law.qualname}"]
    return words


def _command(
    file: str,
    overrides: list[tuple[str, str]],
    point: int,
    run: Mapping[str, Any],
    program: tuple[str, list[str]],
) -> str:
    """The command; `program` is its name and the laws that it registers."""
    name, laws = program
    words = [name, "run", file, *laws, *_settings(overrides)]
    # Not its swept values: one may have no meaning where another is fixed.
    words += ["--point", str(point)]
    words += ["--seed", str(run["seed"]), "--replication", str(run["replication"])]
    if run.get("stopped"):
        # Whatever stopped it, it had processed this many events.
        words += ["--max-events", str(run["events"])]
    return shlex.join(words)
