"""Intervals of shares whose events come in clusters, such as losses of the MPDUs of an A-MPDU.

Source: E. L. Korn and B. I. Graubard, "Confidence intervals for proportions with small expected number of
positive counts estimated from survey data", Survey Methodology 24(2), 1998: the interval of Clopper and
Pearson with the number of independent events that has the variance found between the clusters.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lasthop.stats.intervals import LEVEL, Interval, interval, t_factor

if TYPE_CHECKING:
    from collections.abc import Sequence

_BATCHES = 30


def batches(values: Sequence[float], weights: Sequence[float]) -> list[tuple[float, float]]:
    """The sums of values and weights of up to 30 stretches, in order, of about the same weight.

    >>> batches([1, 0, 1], [1, 1, 1])
    [(1.0, 1.0), (0.0, 1.0), (1.0, 1.0)]
    """
    whole = math.fsum(weights)
    found: list[tuple[float, float]] = []
    value = weight = done = 0.0
    for v, w in zip(values, weights, strict=True):
        value, weight = value + v, weight + w
        if done + weight >= whole * (len(found) + 1) / _BATCHES:
            found.append((value, weight))
            done += weight
            value = weight = 0.0
    return found


def share(events: Sequence[int], of: Sequence[int], level: float = LEVEL) -> Interval:
    """The share of events, and its interval; each place of the two lists is a cluster, in order of time.

    >>> it = share([0, 1, 0, 1] * 50, [1, 1, 1, 1] * 50)
    >>> it.mean, it.n, 0.42 < it.low < 0.44, 0.56 < it.high < 0.58
    (0.5, 200, True, True)
    >>> alone, together = share([1, 0] * 550, [1] * 1100), share([10] * 55 + [0] * 55, [10] * 110)
    >>> alone.mean == together.mean, together.high - together.low > 2 * (alone.high - alone.low)
    (True, True)
    >>> share([0] * 9, [1] * 9).high < 0.34, share([], [])
    (True, Interval(mean=None, low=None, high=None, n=0))
    """
    n, k = sum(of), sum(events)
    if n == 0:
        return Interval(None, None, None, 0)
    mean = k / n
    alone = float(n)
    parts = batches(events, of)
    if 0 < k < n and len(parts) > 1:
        spread = math.fsum((v - mean * w) ** 2 for v, w in parts) * len(parts) / (len(parts) - 1) / n**2
        narrower = (t_factor(n, level) / t_factor(len(parts), level)) ** 2
        alone = min(float(n), mean * (1 - mean) / spread * narrower) if spread else alone
    return Interval(mean, *_clopper_pearson(mean * alone, alone, level), n)


def _clopper_pearson(k: float, n: float, level: float) -> tuple[float, float]:
    from lasthop._core import beta_quantile

    tail = (1 - level) / 2
    low = beta_quantile(tail, k, n - k + 1) if k > 0 else 0.0
    high = beta_quantile(1 - tail, k + 1, n - k) if k < n else 1.0
    return low, high


def mean(values: Sequence[float], weights: Sequence[float] | None = None) -> Interval:
    """A mean with the interval of the means of stretches, which may depend on their neighbours.

    >>> it = mean([float(v % 7) for v in range(700)])
    >>> round(it.mean, 2), it.n, it.low < 3 < it.high
    (3.0, 700, True)
    """
    weighed = [1.0] * len(values) if weights is None else weights
    parts = [v / w for v, w in batches(values, weighed) if w]
    if not parts:
        return Interval(None, None, None, 0)
    whole = math.fsum(values) / math.fsum(weighed)
    half = interval(parts).half
    low, high = (None, None) if half is None else (whole - half, whole + half)
    return Interval(whole, low, high, len(values))
