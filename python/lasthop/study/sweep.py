"""Carrying out a study: which runs are missing, on which workers, and what is kept.

Workers only simulate, short runs in batches: as many runs as last about `BATCH_S` together. The thread that
called `run` records every finished batch at once and alone, in one transaction with the others that have
ended. The ledger therefore needs no other lock, and an interruption loses no more than the batches under way.
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
from itertools import islice
from typing import TYPE_CHECKING

from lasthop import _core
from lasthop.base.arguments import instance, whole
from lasthop.base.errors import Interrupted, LasthopError, StudyError, UsageError
from lasthop.laws.registered import used
from lasthop.study.ledger import Ledger
from lasthop.study.precision import Precision, check, more, set_replications
from lasthop.study.remote import check_maker, maker
from lasthop.study.rows import Row
from lasthop.study.work import Limits, Task, execute

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lasthop.study.study import Study

TICK_S = 0.25
BATCH_S = 0.1
"""How long the runs of a batch last together, as far as the runs before them tell."""
MOST_BATCH = 500
"""Runs of a batch at most, however short they are."""
RUN_S = 50e-6
"""What a run costs beside its simulation (docs/sweeps-and-statistics.md)."""


class WorkersLostError(LasthopError):
    """The workers of a sweep, or what they are reached by, are gone; finished runs are stored."""


def lost(study: Study, what: str) -> str:
    """What happened to the workers of a study, and what is kept of it."""
    done = sum(1 for _ in study.results())
    return (
        f"{study.scenario.id}: {what}; expected it to finish ({done} of {study.size} runs are stored in "
        f"{study.path}; the same command continues)"
    )


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
        # A scheduler that needs longer for a batch gets longer ones.
        self.batch_s = BATCH_S

    def _remember_shard(self, ledger: Ledger) -> None:
        """Keep which part of the plan this is, unless the directory has another part or all of it."""
        before = ledger.meta("shard", "")
        here = "{}/{}".format(*self.shard) if self.shard else ""
        if self.study.runs and here != before:
            here = ""
        if here != before:
            ledger.set_meta({"shard": here})

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
        laws = used(scenario.text, tuple(scenario.overrides))
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
                        laws,
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
            # Runs that another process has added since the study was opened.
            study.take(ledger.rows(study.seed))
            ledger.mend()
            study.damaged.clear()
            ledger.set_plan(study.plan)
            self._remember_shard(ledger)
            tasks = self.tasks()
            self.listener.begin(study.size, study.size - len(tasks))
            while True:
                self._carry_out(tasks, ledger)
                if not self.precision or not more(study, self.precision):
                    break
                ledger.set_plan(study.plan)
                self.listener.grow(study.size)
                tasks = self.tasks()
        finally:
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
        # A bounded number of tasks is submitted, so that an interruption has little to undo.
        ahead = max(4 * self.jobs, 64)
        queue = _Batches(tasks, self.jobs, self.batch_s)
        pending: set[Future[list[Row]]] = set()

        made_by = None if cancel else maker()

        def submit(count: int) -> None:
            for batch in _take(queue, count):
                # A token cannot travel to another process, and only threads share one.
                pending.add(pool.submit(carry_out, batch, cancel, made_by))

        try:
            submit(ahead)
            while pending:
                done, pending = wait(pending, TICK_S, FIRST_COMPLETED)
                queue.hear(self._record(done, ledger))
                if any(future.cancelled() for future in done):
                    # Not by us: a scheduler that is gone cancels its tasks.
                    raise self._lost()
                self.listener.tick()
                submit(ahead - len(pending))
        except BaseException as error:
            if cancel:
                cancel.set()
            # What is gone would be waited for.
            for future in () if isinstance(error, (BrokenExecutor, WorkersLostError)) else pending:
                future.cancel()
            if isinstance(error, KeyboardInterrupt):
                grace = None if cancel else 0
                done, _ = wait(pending, grace)
                self._record(done, ledger)
            if isinstance(error, BrokenExecutor):
                raise self._lost() from error
            raise

    def _lost(self) -> WorkersLostError:
        what = "a worker process died" if self.executor is not None else "a thread ended"
        return WorkersLostError(lost(self.study, what))

    def _record(self, done: set[Future[list[Row]]], ledger: Ledger) -> list[Row]:
        ended = [f for f in done if not f.cancelled()]
        rows = [row for f in ended if f.exception() is None for row in f.result()]
        if rows:
            ledger.put(rows)
            self.study.add(rows)
        for row in rows:
            self.listener.step(row)
        for error in (f.exception() for f in ended):
            if error is not None and not isinstance(error, Interrupted):
                raise error
        return rows


class _Batches:
    """Tasks in batches, which become longer when the runs turn out to be short."""

    def __init__(self, tasks: list[Task], workers: int, length_s: float) -> None:
        self._tasks = tasks
        self._length_s = length_s
        self._workers = workers
        self._next = 0
        self._size = 1

    def __iter__(self) -> _Batches:
        return self

    def __next__(self) -> list[Task]:
        left = len(self._tasks) - self._next
        if left <= 0:
            raise StopIteration
        # The last batches are smaller, so that no worker waits for another for long.
        size = max(1, min(self._size, left // (2 * self._workers)))
        batch = self._tasks[self._next : self._next + size]
        self._next += size
        return batch

    def hear(self, rows: list[Row]) -> None:
        """Set the size of the next batches by the runs that have ended; it grows by doubling."""
        spent = sum(row.wall_s for row in rows) + RUN_S * len(rows)
        if rows:
            fits = int(self._length_s * len(rows) / spent)
            self._size = max(1, min(fits, 2 * self._size, MOST_BATCH))


def carry_out(
    tasks: list[Task], cancel: _core.Cancel | None = None, made_by: tuple[str, str] | None = None
) -> list[Row]:
    """Execute tasks one after the other; where the token is set, those that have ended are the result.

    In another process, `made_by` are the versions that have to be those of the study.
    """
    if made_by:
        check_maker(made_by)
    rows = []
    for task in tasks:
        try:
            rows.append(execute(task, cancel))
        except Interrupted:
            if not rows:
                raise
            break
    return rows


def _check_executor(executor: object) -> None:
    # Not every executor is a subclass of the standard library's.
    if isinstance(executor, type) or not callable(getattr(executor, "submit", None)):
        expected = "an executor of concurrent.futures such as ProcessPoolExecutor()"
        raise UsageError(f"{executor!r}; expected {expected}", argument="executor")


def _take(batches: Iterator[list[Task]], count: int) -> Iterator[list[Task]]:
    yield from islice(batches, count)
