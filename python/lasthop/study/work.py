"""One run as a work item that any `concurrent.futures.Executor` can carry out.

A task is plain data, so it travels to another process or machine; each process parses the
scenario once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from lasthop import _core
from lasthop.base.arguments import span, whole
from lasthop.base.errors import RunError
from lasthop.laws.registered import Registered, take_over
from lasthop.study.rows import Row


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of each run, in addition to the scenario's; means exclude runs that reach one.

    Attributes:
        max_events: Maximum number of events of a run; `None` for no limit.
        max_wall_s: Maximum wall-clock time of a run, in seconds; `None` for no limit.

    Raises:
        UsageError: A number is out of range.
    """

    max_events: int | None = None
    max_wall_s: float | None = None

    def __post_init__(self) -> None:
        if self.max_events is not None:
            whole("max_events", self.max_events, 1)
        if self.max_wall_s is not None:
            span("max_wall_s", self.max_wall_s)

    def __str__(self) -> str:
        parts = {"max-events": self.max_events, "max-wall": self.max_wall_s}
        return " ".join(f"{k}={v:g}" for k, v in parts.items() if v is not None)


@dataclass(frozen=True, slots=True)
class Task:
    """What identifies one run."""

    text: str
    name: str
    overrides: tuple[tuple[str, str], ...]
    point: int
    point_key: str
    seed: int
    replication: int
    limits: Limits
    laws: tuple[Registered, ...] = ()


@lru_cache(maxsize=8)
def _scenario(text: str, name: str, overrides: tuple[tuple[str, str], ...]) -> _core.Scenario:
    return _core.Scenario.from_text(text, name, overrides)


def execute(task: Task, cancel: _core.Cancel | None = None) -> Row:
    """Execute a task; a failed simulation is a row with an error, not an exception."""
    if task.laws:
        take_over(task.laws)
    scenario = _scenario(task.text, task.name, task.overrides)
    try:
        run = scenario.run(
            task.point,
            task.seed,
            task.replication,
            cancel=cancel,
            max_events=task.limits.max_events,
            max_wall_s=task.limits.max_wall_s,
        )
    except RunError as e:
        return _failed(task, str(e))
    except BaseException as e:
        # A broken invariant in the extension arrives as pyo3's PanicException, which is not an
        # Exception and has no importable name; it must not take the other runs with it.
        if type(e).__name__ != "PanicException":
            raise
        where = f"{task.name}: point {task.point}, seed {task.seed}, replication {task.replication}"
        return _failed(task, f"{where}: {e}")
    return Row(
        task.point_key,
        task.replication,
        task.seed,
        str(task.limits),
        run.stopped,
        None,
        run.metrics,
        run.series,
        run.transfers,
        run.events,
        run.simulated_s,
        run.cpu_s,
        run.wall_s,
    )


def _failed(task: Task, error: str) -> Row:
    return Row(
        task.point_key,
        task.replication,
        task.seed,
        str(task.limits),
        None,
        error,
        None,
        {},
        {},
        0,
        0.0,
        0.0,
        0.0,
    )
