"""Progress of a sweep or of one run on stderr: a bar on a terminal, otherwise a line every ten seconds."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lasthop.base.errors import UsageError
from lasthop.base.quantity import digits, duration, prefix
from lasthop.study.sweep import Listener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Literal

    from rich.progress import Progress as Bar
    from rich.progress import ProgressColumn

    from lasthop.study.rows import Row

LINE_EVERY_S = 10.0
# A run that is shorter needs no bar.
BAR_AFTER_S = 1.0


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
            say(f"{reused} of {total} runs are stored already")

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
        eta = _eta(left)
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

    def begin(self, total: int, reused: int) -> None:
        """Start the clock."""
        from rich.progress import MofNCompleteColumn

        super().begin(total, reused)
        self._bar = _bar(MofNCompleteColumn(), total=total, completed=reused)

    def tick(self) -> None:
        """Report if it is time to."""
        if self._bar is not None:
            done, task = self.reused + self.ended, self._bar.task_ids[0]
            self._bar.update(task, completed=done, total=self.total, description=self.pace())

    def end(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.stop()


class OneRun:
    """The progress of one run, in simulated time: a bar after a second, or a line every ten seconds."""

    def __init__(self, duration_s: float, *, plain: bool) -> None:
        self._duration_s = duration_s
        self._plain = plain or not sys.stderr.isatty()
        self.started = self._told = time.monotonic()
        self._bar: Bar | None = None

    def tick(self, reached_s: float) -> None:
        """Report that the run has reached this simulated time, if it is time to."""
        now = time.monotonic()
        passed = now - self.started
        left = passed * (self._duration_s / reached_s - 1.0) if reached_s > 0 else None
        text = f"{digits(reached_s, 3)} of {self._duration_s:g} s simulated, {_eta(left)}"
        if self._plain:
            if now - self._told >= LINE_EVERY_S:
                self._told = now
                say(text)
        elif passed >= BAR_AFTER_S:
            self._draw(reached_s, text)

    def _draw(self, reached_s: float, text: str) -> None:
        if self._bar is None:
            self._bar = _bar(total=self._duration_s)
        self._bar.update(self._bar.task_ids[0], completed=reached_s, description=text)

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


@contextmanager
def of_one_run(
    progress: bool | Callable[[float], object], duration_s: Callable[[], float], *, plain: bool = False
) -> Iterator[Callable[[float], object] | Literal[False]]:
    """What hears the simulated time of a run while it lasts: nothing, stderr, or a function."""
    if not isinstance(progress, bool):
        if not callable(progress):
            raise UsageError(
                f"{progress!r}; expected True, False or a function of seconds", argument="progress"
            )
        yield progress
    elif not progress:
        yield False
    else:
        shown = OneRun(duration_s(), plain=plain)
        try:
            yield shown.tick
        finally:
            shown.end()


def _bar(*columns: ProgressColumn, total: float, completed: int = 0) -> Bar:
    """A bar on stderr with one task and its description; it vanishes when stopped."""
    from rich.console import Console
    from rich.progress import BarColumn, TextColumn
    from rich.progress import Progress as Bar

    text = TextColumn("{task.description}")
    bar = Bar(BarColumn(), *columns, text, console=Console(file=sys.stderr), transient=True)
    bar.add_task("", total=total, completed=completed)
    bar.start()
    return bar


def _eta(left_s: float | None) -> str:
    return "ETA unknown" if left_s is None else f"ETA {duration(left_s)}"


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
