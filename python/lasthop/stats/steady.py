"""One long run: where its warm-up ends, and the interval of its mean by batches.

Neighbouring bins of one run depend on each other, so their spread says too little about the mean. Means of
batches that are long against this dependence are nearly independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from lasthop.base.errors import UsageError
from lasthop.stats.intervals import Interval, interval

if TYPE_CHECKING:
    from collections.abc import Sequence

BATCH = 5
"""Bins that MSER-5 averages (White, Cobb and Spratt 2000)."""
BATCHES = 20
"""Batches behind the interval of one run (Schmeiser 1982: ten to thirty lose next to nothing)."""
MOST_LINKED = 1.645
"""Correlation of neighbouring batches, times the root of their number, above which they depend."""


@dataclass(frozen=True, slots=True)
class Steady:
    """The mean of one long run.

    Attributes:
        mean: The mean after the cut with its interval over the batches.
        cut: Bins left out at the start.
        batch: Bins of each batch.
        linked: Correlation of neighbouring batches; `None` if they do not differ.
        is_linked: Whether it is too high for independent batches: the interval is too narrow.
    """

    mean: Interval
    cut: int
    batch: int
    linked: float | None
    is_linked: bool


def warm_up(values: Sequence[float], batch: int = BATCH) -> int | None:
    """The number of bins at the start that MSER-5 leaves out; `None` if no end of the warm-up is found.

    Of all cuts it is the one at which the standard error of the mean of the rest is least (White 1997).
    A least value in the second half says that the run is too short to tell.

    >>> warm_up([0.0] * 10 + [1.0, 2.0] * 45)
    10
    >>> warm_up([float(v) for v in range(100)]) is None
    True
    >>> warm_up([3.0] * 50), warm_up([3e6] * 5 + [0.1] * 595)
    (0, 5)
    """
    means = [math.fsum(values[k : k + batch]) / batch for k in range(0, len(values) - batch + 1, batch)]
    if len(means) < 4:
        return None
    best, least = 0, math.inf
    middle = math.fsum(means) / len(means)
    total = squares = 0.0
    for cut in range(len(means) - 1, -1, -1):
        value = means[cut] - middle
        total += value
        squares += value * value
        n = len(means) - cut
        if n < 3:
            continue
        spread = squares - total * total / n
        # Not less by rounding alone: of equal cuts the earliest, also where nothing varies after them.
        error = spread / (n * n) if spread > 1e-12 * squares else 0.0
        if error <= least * (1 + 1e-9):
            best, least = cut, error
    return best * batch if best < len(means) / 2 else None


def steady(values: Sequence[float], cut: int, batches: int = BATCHES) -> Steady:
    """The mean of a run after a cut, with the interval of its batch means. What is left over is at its start.

    >>> one = steady([9.0, 9.0, *[1.0, 3.0] * 40], 2)
    >>> one.mean.mean, one.mean.n, one.batch, one.linked
    (2.0, 20, 4, None)
    >>> steady([9.0] * 3 + [1.0, 3.0] * 20, 0).mean.mean
    2.0
    >>> steady([1.0], 0, 0)
    Traceback (most recent call last):
    lasthop.base.errors.UsageError: batches: 0; expected 1 or more
    """
    if batches < 1:
        raise UsageError(f"{batches}; expected 1 or more", argument="batches")
    rest = list(values[cut:])
    size = len(rest) // batches
    if size == 0:
        mean = math.fsum(rest) / len(rest) if rest else None
        return Steady(Interval(mean, None, None, 0), cut, 0, None, False)
    rest = rest[len(rest) - size * batches :]
    means = [math.fsum(rest[k : k + size]) / size for k in range(0, len(rest), size)]
    found = linked(means)
    is_linked = found is not None and found * math.sqrt(batches) > MOST_LINKED
    return Steady(interval(means), cut, size, found, is_linked)


def linked(values: Sequence[float]) -> float | None:
    """The correlation of neighbours; `None` if all are equal.

    >>> linked([1.0, 1.0]), round(linked([0.0, 1.0] * 50), 2)
    (None, -0.99)
    """
    mean = math.fsum(values) / len(values)
    parts = [v - mean for v in values]
    squares = math.fsum(v * v for v in parts)
    if squares == 0:
        return None
    return math.fsum(a * b for a, b in pairwise(parts)) / squares
