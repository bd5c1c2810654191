"""Carrying out a study: which runs are missing, on which workers, and what is kept.

Workers only simulate. The thread that called `run` records every finished run at once and
alone, so the ledger needs no other lock, and an interruption loses nothing that had ended.
"""

from __future__ import annotations

import math
import os
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lasthop import _core
from lasthop.base.arguments import above_zero, instance, whole
from lasthop.base.errors import Interrupted, LasthopError, StudyError, UsageError
from lasthop.scenario.description import metrics_of
from lasthop.stats.intervals import interval
from lasthop.study.ledger import Ledger, Row
from lasthop.study.work import Limits, Task, execute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from lasthop.study.study import Study

TICK_S = 0.25


class Listener:
    """A listener to a sweep; this one does nothing."""

    def begin(self, total: int, reused: int) -> None:
        """`total` runs are wanted, of which `reused` are in the ledger."""

    def grow(self, total: int) -> None:
        """More replications turned out to be needed."""

    def step(self, row: Row) -> None:
        """A run has ended."""

    def tick(self) -> None:
        """Called several times a second."""

    def end(self) -> None:
        """Nothing is left to do, or the sweep was interrupted."""


@dataclass(frozen=True, slots=True)
class Precision:
    """Replicate until the intervals of the figures' metrics are narrow at every point.

    Attributes:
        target: Maximum half-width of a 95 % interval as a share of the mean: 0.02 is 2 %.
        most: Maximum replications per point.
        least: Minimum replications per point, not above `most`.

    Raises:
        UsageError: A number is out of range.
    """

    target: float
    most: int
    least: int = 5

    def __post_init__(self) -> None:
        above_zero("target", self.target, "share such as 0.02")
        whole("most", self.most, 1)
        whole("least", self.least, 1)
        if self.least > self.most:
            raise UsageError(
                f"{self.least}; expected at most {self.most}, the value of most", argument="least"
            )


class Sweep:
    """The execution of the missing runs of a study."""

    def __init__(
        self,
        study: Study,
        *,
        executor: Executor | None = None,
        jobs: int | None = None,
        limits: Limits | None = None,
        precision: Precision | None = None,
        shard: tuple[int, int] | None = None,
        listener: Listener | None = None,
    ) -> None:
        if jobs is not None:
            jobs = whole("jobs", jobs, 1)
        if executor is not None:
            _check_executor(executor)
        if limits is not None:
            instance("limits", limits, Limits, "Limits(max_events, max_wall_s)")
        if precision is not None:
            instance("precision", precision, Precision, "Precision(target, most)")
        if shard and precision:
            raise UsageError("shard and precision cannot be combined; expected one of them")
        self.study = study
        self.executor = executor
        self.jobs = jobs or os.cpu_count() or 1
        self.limits = limits or Limits()
        self.precision = precision
        self.shard = shard
        self.listener = listener or Listener()

    def tasks(self) -> list[Task]:
        """The runs that the plan requires and the ledger lacks; replications go outermost.

        Failed runs are tried again. A run that a limit cut short counts as done only under
        the same limits.
        """
        study = self.study
        scenario = study.scenario
        have = study.runs
        wanted = [
            (planned.point, planned.point_key, replication)
            for replication in range(max(planned.replications for planned in study.plan))
            for planned in study.plan
            if replication < planned.replications
        ]
        if self.shard:
            index, parts = self.shard
            wanted = wanted[index - 1 :: parts]
        missing: dict[tuple[str, int], Task] = {}
        for point, key, replication in wanted:
            row = have.get((key, replication))
            if row is None or not self._counts(row):
                missing.setdefault(
                    (key, replication),
                    Task(
                        scenario.text,
                        scenario.name,
                        tuple(scenario.overrides),
                        point,
                        key,
                        study.seed,
                        replication,
                        self.limits,
                    ),
                )
        return list(missing.values())

    def _counts(self, row: Row) -> bool:
        return row.error is None and (row.stopped is None or row.limits == str(self.limits))

    def run(self) -> None:
        """Execute all missing runs; on an interruption keep those that are done and raise it again."""
        study = self.study
        if study.is_older:
            raise StudyError(
                f"{study.path}: written by a version with other keys, so it can only be shown and exported; "
                "expected a new directory"
            )
        if self.precision:
            least = self.precision.least
            _set_replications(study, lambda _: least)
        ledger = Ledger(study.path, write=True)
        try:
            ledger.set_plan(study.plan)
            tasks = self.tasks()
            self.listener.begin(study.size, study.size - len(tasks))
            while True:
                self._carry_out(tasks, ledger)
                study.take(ledger.rows(study.seed))
                if not self.precision or not _more(study, self.precision):
                    break
                ledger.set_plan(study.plan)
                self.listener.grow(study.size)
                tasks = self.tasks()
        finally:
            study.take(ledger.rows(study.seed))
            ledger.close()
            self.listener.end()

    def _carry_out(self, tasks: list[Task], ledger: Ledger) -> None:
        if not tasks:
            return
        if self.executor is not None:
            self._drain(self.executor, tasks, ledger, None)
            return
        cancel = _core.Cancel()
        with ThreadPoolExecutor(min(self.jobs, len(tasks)), "lasthop") as pool:
            self._drain(pool, tasks, ledger, cancel)

    def _drain(self, pool: Executor, tasks: list[Task], ledger: Ledger, cancel: _core.Cancel | None) -> None:
        # A bounded number of tasks is handed over, so that an interruption has little to undo.
        ahead = max(4 * self.jobs, 64)
        queue = iter(tasks)
        pending: set[Future[Row]] = set()

        def submit(count: int) -> None:
            for task in _take(queue, count):
                # A token cannot travel to another process, and only threads share one.
                pending.add(pool.submit(execute, task, cancel) if cancel else pool.submit(execute, task))

        try:
            submit(ahead)
            while pending:
                done, pending = wait(pending, TICK_S, FIRST_COMPLETED)
                self._record(done, ledger)
                self.listener.tick()
                submit(len(done))
        except BaseException as error:
            if cancel:
                cancel.set()
            for future in pending:
                future.cancel()
            if isinstance(error, KeyboardInterrupt):
                grace = None if cancel else 0
                done, _ = wait(pending, grace)
                self._record(done, ledger)
            if isinstance(error, BrokenExecutor):
                raise LasthopError(
                    f"{self.study.scenario.id}: a worker process died; expected it to finish "
                    "(finished runs are stored; the same command continues)"
                ) from error
            raise

    def _record(self, done: set[Future[Row]], ledger: Ledger) -> None:
        ended = [f for f in done if not f.cancelled()]
        rows = [f.result() for f in ended if f.exception() is None]
        ledger.put(rows)
        for row in rows:
            self.listener.step(row)
        for error in (f.exception() for f in ended):
            if error is not None and not isinstance(error, Interrupted):
                raise error


def _check_executor(executor: object) -> None:
    # Not every executor is a subclass of the standard library's.
    if isinstance(executor, type) or not callable(getattr(executor, "submit", None)):
        expected = "an executor of concurrent.futures such as ProcessPoolExecutor()"
        raise UsageError(f"{executor!r}; expected {expected}", argument="executor")


def _take(tasks: Iterator[Task], count: int) -> Iterator[Task]:
    for _, task in zip(range(count), tasks, strict=False):
        yield task


def _set_replications(study: Study, count: Callable[[int], int]) -> None:
    study.plan = [replace(planned, replications=count(planned.point)) for planned in study.plan]


def figure_metrics(study: Study) -> list[str]:
    """The metrics that the figures of the scenario show; the first one of all if there are none."""
    shown = [metric for figure in study.scenario.figures() for metric in metrics_of(figure)]
    return list(dict.fromkeys(shown)) or study.metrics()[:1]


def _more(study: Study, precision: Precision) -> bool:
    """Raise the replications of points whose intervals are too wide; whether there are any.

    The next count follows from the runs counted so far and from nothing else, so a resumed
    study takes the same steps as one that was never interrupted.
    """
    metrics = figure_metrics(study)
    wanted: dict[int, int] = {}
    for planned in study.plan:
        point, count = planned.point, planned.replications
        widest = 0.0
        for metric in metrics:
            relative = interval(list(study.values(point, metric).values())).relative
            widest = max(widest, math.inf if relative is None else relative)
        if widest > precision.target and count < precision.most:
            guess = count * min((widest / precision.target) ** 2, 2.0)
            wanted[point] = min(max(math.ceil(guess), count + 1), precision.most)
    if wanted:
        current = {planned.point: planned.replications for planned in study.plan}
        _set_replications(study, lambda point: wanted.get(point, current[point]))
    return bool(wanted)
