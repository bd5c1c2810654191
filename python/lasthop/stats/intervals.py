"""Means with Student-t intervals, paired contrasts and Jain's fairness index.

Replications with the same index draw the same random numbers at every point of a sweep (common random
numbers). Points are therefore compared pair by pair and not as if independent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LEVEL = 0.95
# This few runs are drawn one by one: an interval of two or three runs mostly shows how few they are.
FEWEST = 4


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean with its confidence interval, in the unit of the values.

    Attributes:
        mean: The mean; `None` without values.
        low: The lower bound of the 95 % interval; `None` for fewer than two values.
        high: The upper bound of the 95 % interval; `None` for fewer than two values.
        n: The number of values.
    """

    mean: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def half(self) -> float | None:
        """Half the width of the interval.

        Returns:
            The half-width in the unit of the values; `None` without an interval.
        """
        if self.low is None or self.high is None:
            return None
        return (self.high - self.low) / 2

    @property
    def relative(self) -> float | None:
        """Half-width over mean, in magnitude.

        Returns:
            A share: 0 when every value is the same, infinite about a mean of 0; `None` without an interval.
        """
        if self.half is None or self.mean is None:
            return None
        if self.half == 0:
            return 0.0
        return abs(self.half / self.mean) if self.mean else math.inf

    @property
    def is_constant(self) -> bool:
        """Whether the values do not vary.

        Returns:
            True if there are several values, all equal: more runs would show nothing new.
        """
        return self.n > 1 and self.low is not None and self.low == self.high

    def less(self, amount: float) -> Interval:
        """Shift the interval down.

        Args:
            amount: By how much, in the unit of the values.

        Returns:
            The interval of the same width.
        """
        mean, low, high = (None if v is None else v - amount for v in (self.mean, self.low, self.high))
        return Interval(mean, low, high, self.n)


def counts(numbers: Iterable[int]) -> str:
    """The number of runs behind the values shown.

    >>> counts([10, 10]), counts([3, 10])
    ('n = 10', 'n = 3 to 10')
    """
    known = sorted(set(numbers))
    return f"n = {known[0]}" if len(known) == 1 else f"n = {known[0]} to {known[-1]}"


@lru_cache(maxsize=4096)
def t_factor(n: int, level: float = LEVEL) -> float:
    """The Student-t quantile for a two-sided interval over n values."""
    from lasthop._core import t_quantile

    return t_quantile(0.5 + level / 2, n - 1)


def interval(values: Sequence[float | None], level: float = LEVEL) -> Interval:
    """The mean and its Student-t interval; missing values are left out and not counted.

    >>> it = interval([1.0, 2.0, 3.0])
    >>> it.mean, round(it.low, 4), round(it.high, 4), it.n
    (2.0, -0.4841, 4.4841, 3)
    >>> interval([5.0])
    Interval(mean=5.0, low=None, high=None, n=1)
    """
    known = [v for v in values if v is not None]
    n = len(known)
    if n == 0:
        return Interval(None, None, None, 0)
    if n == 1:
        return Interval(known[0], None, None, 1)
    if min(known) == max(known):
        # The rounding of the mean must not look like a spread.
        return Interval(known[0], known[0], known[0], n)
    mean = math.fsum(known) / n
    spread = math.sqrt(math.fsum((v - mean) ** 2 for v in known) / (n - 1) / n)
    half = t_factor(n, level) * spread
    return Interval(mean, mean - half, mean + half, n)


def middle(values: Sequence[float | None]) -> Interval:
    """The median, and the range that 90 % of the values lie in; missing values are left out and not counted.

    >>> middle([float(v) for v in range(101)])
    Interval(mean=50.0, low=5.0, high=95.0, n=101)
    >>> middle([3.0])
    Interval(mean=3.0, low=None, high=None, n=1)
    """
    known = sorted(v for v in values if v is not None)
    if len(known) < 2:
        return Interval(known[0] if known else None, None, None, len(known))

    def quantile(share: float) -> float:
        place = share * (len(known) - 1)
        below = min(int(place), len(known) - 2)
        return known[below] + (place - below) * (known[below + 1] - known[below])

    return Interval(quantile(0.5), quantile(0.05), quantile(0.95), len(known))


def _shared(a: Mapping[int, float | None], b: Mapping[int, float | None]) -> list[tuple[float, float]]:
    pairs = ((a[k], b[k]) for k in sorted(a.keys() & b.keys()))
    return [(x, y) for x, y in pairs if x is not None and y is not None]


def difference(
    a: Mapping[int, float | None], b: Mapping[int, float | None], level: float = LEVEL
) -> Interval:
    """The mean of a - b over the replications that both have.

    >>> difference({0: 3.0, 1: 5.0}, {0: 1.0, 1: 3.0, 2: 9.0})
    Interval(mean=2.0, low=2.0, high=2.0, n=2)
    """
    return interval([x - y for x, y in _shared(a, b)], level)


def ratio(
    pairs: Sequence[tuple[Mapping[int, float | None], Mapping[int, float | None]]],
    level: float = LEVEL,
) -> Interval:
    """The ratio of means a/b, averaged over the given pairs of points.

    The interval is that of the delta method. To first order a ratio of means moves with (a - R b) / mean(b),
    replication by replication. The common random numbers of the two points, and of all pairs, thus cancel as
    they should.

    >>> ratio([({0: 2.0, 1: 4.0}, {0: 1.0, 1: 2.0})])
    Interval(mean=2.0, low=2.0, high=2.0, n=2)
    """
    ratios: list[float] = []
    moves: list[dict[int, float]] = []
    for a, b in pairs:
        keys = [k for k in sorted(a.keys() & b.keys()) if a[k] is not None and b[k] is not None]
        if not keys:
            return Interval(None, None, None, 0)
        top = [float(a[k] or 0.0) for k in keys]
        bottom = [float(b[k] or 0.0) for k in keys]
        mean_b = math.fsum(bottom) / len(keys)
        if mean_b == 0:
            return Interval(None, None, None, 0)
        r = math.fsum(top) / len(keys) / mean_b
        ratios.append(r)
        moves.append({k: (x - r * y) / mean_b for k, x, y in zip(keys, top, bottom, strict=True)})
    if not ratios:
        return Interval(None, None, None, 0)
    mean = math.fsum(ratios) / len(ratios)
    common = sorted(set.intersection(*(set(m) for m in moves)))
    spread = interval([math.fsum(m[k] for m in moves) / len(moves) for k in common], level)
    if spread.half is None:
        return Interval(mean, None, None, len(common))
    return Interval(mean, mean - spread.half, mean + spread.half, len(common))


def share_in_sum(
    part: Mapping[int, float | None], *others: Mapping[int, float | None]
) -> dict[int, float | None]:
    """The share of the first in the sum of all, replication by replication; `None` of a sum of zero.

    >>> share_in_sum({0: 1.0, 1: 0.0, 2: 4.0}, {0: 3.0, 1: 0.0, 2: None})
    {0: 0.25, 1: None, 2: None}
    """
    found: dict[int, float | None] = {}
    for k, value in part.items():
        values = [value, *(other.get(k) for other in others)]
        known = [v for v in values if v is not None]
        whole = math.fsum(known)
        found[k] = known[0] / whole if len(known) == len(values) and whole else None
    return found


def jain(rates: Sequence[float]) -> float | None:
    """Jain's fairness index, (sum x)^2 / (n sum x^2): 1 for equal shares, 1/n if one takes all.

    >>> jain([1.0, 1.0]), jain([1.0, 0.0]), jain([])
    (1.0, 0.5, None)
    """
    squares = math.fsum(x * x for x in rates)
    return math.fsum(rates) ** 2 / (len(rates) * squares) if squares else None
