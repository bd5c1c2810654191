"""Progress of a sweep on stderr: a bar on a terminal, otherwise a line every ten seconds."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lasthop.base.errors import UsageError
from lasthop.base.quantity import digits, duration, prefix
from lasthop.study.sweep import Listener

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.progress import Progress as Bar
    from rich.progress import TaskID

    from lasthop.study.rows import Row

LINE_EVERY_S = 10.0


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a sweep.

    Attributes:
        total: Number of runs of the study, as far as it is known.
        reused: Number of runs that were already stored.
        ended: Number of runs that have ended since.
        failed: Number of failed runs among them.
        events: Number of events processed by the ended runs.
        elapsed_s: The time since the sweep began, in seconds.
    """

    total: int
    reused: int
    ended: int
    failed: int
    events: int
    elapsed_s: float

    @property
    def remaining_s(self) -> float | None:
        """The estimated remaining time.

        Returns:
            Seconds; `None` before the first run has ended.
        """
        left = self.total - self.reused - self.ended
        return left * self.elapsed_s / self.ended if self.ended else None


class Lines(Listener):
    """A line now and then, and one at the end; counts what every kind of report needs."""

    #: Whether it reports events; runs in real time have none.
    counts_events = True
    #: How long all runs together take, if that is known before one has ended.
    expected_s: float | None = None

    def __init__(self, *, silent: bool = False) -> None:
        self.silent = silent
        self.total = self.reused = self.ended = self.failed = self.events = 0
        self.started = self._told = time.monotonic()

    def begin(self, total: int, reused: int) -> None:
        """Start the clock."""
        self.total, self.reused = total, reused
        self.started = self._told = time.monotonic()
        if reused and not self.silent:
            say(f"{reused} of {total} runs are already in the ledger")

    def grow(self, total: int) -> None:
        """Count towards a larger total."""
        self.total = total

    def step(self, row: Row) -> None:
        """Count a run."""
        self.count(events=row.events, failed=row.error is not None)

    def count(self, *, events: int = 0, failed: bool = False) -> None:
        """Count a run by what matters of it."""
        self.ended += 1
        self.failed += failed
        self.events += events

    def tick(self) -> None:
        """Report if it is time to."""
        now = time.monotonic()
        if not self.silent and now - self._told >= LINE_EVERY_S:
            self._told = now
            say(f"{self.reused + self.ended}/{self.total} runs, {self.pace()}")

    def state(self) -> Progress:
        """How far the sweep has come."""
        passed = time.monotonic() - self.started
        return Progress(self.total, self.reused, self.ended, self.failed, self.events, passed)

    def pace(self) -> str:
        """How long the rest takes, and the events simulated in a second, if any are counted."""
        now = self.state()
        left = now.remaining_s
        if left is None and self.expected_s is not None:
            left = max(0.0, self.expected_s - now.elapsed_s)
        eta = "ETA unknown" if left is None else f"ETA {duration(left)}"
        if not self.counts_events:
            return eta
        return f"{eta}, {rate(now.events, now.elapsed_s)}"

    def summary(self) -> str:
        """One sentence on what was done."""
        passed = time.monotonic() - self.started
        failed = f", {self.failed} failed" if self.failed else ""
        return f"{self.ended} runs in {duration(passed)}{failed}, {rate(self.events, passed)}"


class Bars(Lines):
    """The same on a terminal, as a bar that is redrawn in place."""

    def __init__(self) -> None:
        super().__init__()
        self._bar: Bar | None = None
        self._task: TaskID | None = None

    def begin(self, total: int, reused: int) -> None:
        """Start the clock."""
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Bar

        super().begin(total, reused)
        self._bar = Bar(
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.description}"),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._task = self._bar.add_task("", total=total, completed=reused)
        self._bar.start()

    def tick(self) -> None:
        """Report if it is time to."""
        if self._bar is not None and self._task is not None:
            done = self.reused + self.ended
            self._bar.update(self._task, completed=done, total=self.total, description=self.pace())

    def end(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()


class Calls(Lines):
    """The same handed to a function: at the start, after each run, and when more runs are needed."""

    def __init__(self, call: Callable[[Progress], object]) -> None:
        super().__init__(silent=True)
        self._call = call

    def begin(self, total: int, reused: int) -> None:
        """Start the clock."""
        super().begin(total, reused)
        self._call(self.state())

    def grow(self, total: int) -> None:
        """Count towards a larger total."""
        super().grow(total)
        self._call(self.state())

    def step(self, row: Row) -> None:
        """Count a run."""
        super().step(row)
        self._call(self.state())


def listener(progress: bool | Callable[[Progress], object]) -> Listener:
    """The listener to a sweep: none, stderr, or a function."""
    if isinstance(progress, bool):
        return reporter(quiet=False, plain=False) if progress else Listener()
    if not callable(progress):
        raise UsageError(f"{progress!r}; expected True, False or a function of Progress", argument="progress")
    return Calls(progress)


def rate(events: int, passed: float) -> str:
    """Events per second, readable.

    >>> rate(12_000_000, 2.0)
    '6.000 M events/s'
    """
    if passed <= 0 or not events:
        return "0 events/s"
    factor, name = prefix(events / passed, "B")
    return f"{digits(events / passed / factor)} {name[:-1]} events/s".replace("  ", " ")


def say(text: str) -> None:
    """Print a line on stderr; a closed stderr is ignored."""
    try:
        print(text, file=sys.stderr, flush=True)
    except (OSError, ValueError):
        return


def reporter(*, quiet: bool, plain: bool) -> Lines:
    """The report that suits where stderr goes."""
    if quiet:
        return Lines(silent=True)
    if plain or not sys.stderr.isatty():
        return Lines()
    return Bars()
