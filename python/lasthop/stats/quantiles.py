"""Quantiles with intervals that hold for any distribution."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from lasthop.stats.intervals import LEVEL, Interval

if TYPE_CHECKING:
    from collections.abc import Sequence


def quantile(values: Sequence[float | None], share: float, level: float = LEVEL) -> Interval:
    """A quantile and its interval from the order of the values; missing values are left out and not counted.

    The number of values below the quantile is binomial whatever their distribution is, so two of the ordered
    values bound it. Too few values for the level have no interval: a median needs six, a 95th percentile 59.

    >>> quantile([float(v) for v in range(1, 21)], 0.5)
    Interval(mean=10.5, low=6.0, high=15.0, n=20)
    >>> quantile([1.0, 2.0, 3.0], 0.5)
    Interval(mean=2.0, low=None, high=None, n=3)
    """
    known = sorted(v for v in values if v is not None)
    if not known:
        return Interval(None, None, None, 0)
    place = share * (len(known) - 1)
    below = min(int(place), max(len(known) - 2, 0))
    above = min(below + 1, len(known) - 1)
    estimate = known[below] + (place - below) * (known[above] - known[below])
    if known[0] == known[-1] and len(known) > 1:
        return Interval(known[0], known[0], known[0], len(known))
    bounds = ranks(len(known), share, level)
    if bounds is None:
        return Interval(estimate, None, None, len(known))
    low, high = bounds
    return Interval(estimate, known[low], known[high], len(known))


@lru_cache(maxsize=4096)
def ranks(n: int, share: float, level: float) -> tuple[int, int] | None:
    """The places from 0 on of the two ordered values that bound a quantile.

    At most half of the error lies outside each.

    >>> ranks(6, 0.5, 0.95), ranks(5, 0.5, 0.95)
    ((0, 5), None)
    """
    tail = (1 - level) / 2
    below = _most(n, share, tail)
    above = _most(n, 1 - share, tail)
    if below is None or above is None:
        return None
    return below, n - 1 - above


def _most(n: int, share: float, tail: float) -> int | None:
    """The greatest k such that at most k values lie below the quantile with a probability up to `tail`."""
    total = 0.0
    for k in range(n + 1):
        log = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
        total += math.exp(log + k * math.log(share) + (n - k) * math.log1p(-share))
        if total > tail:
            return k - 1 if k else None
    return None
