"""Carrying out a study: which runs are missing, on which workers, and what is kept.

Workers only simulate. The thread that called `run` records every finished run at once and
alone, so the ledger needs no other lock, and an interruption loses nothing that had ended.
"""

from __future__ import annotations

import os
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from typing import TYPE_CHECKING

from lasthop import _core
from lasthop.base.arguments import instance, whole
from lasthop.base.errors import Interrupted, LasthopError, StudyError, UsageError
from lasthop.study.ledger import Ledger, Row
from lasthop.study.precision import Precision, check, more, set_replications
from lasthop.study.work import Limits, Task, execute

if TYPE_CHECKING:
    from collections.abc import Iterator

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
            check(study, self.precision)
            first = self.precision.least or 1
            set_replications(study, lambda _: first)
        ledger = Ledger(study.path, write=True)
        try:
            ledger.set_plan(study.plan)
            tasks = self.tasks()
            self.listener.begin(study.size, study.size - len(tasks))
            while True:
                self._carry_out(tasks, ledger)
                study.take(ledger.rows(study.seed))
                if not self.precision or not more(study, self.precision):
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
