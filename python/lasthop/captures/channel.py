"""The signal-to-noise ratio at which the simulator loses what a capture shows as lost.

Each mode fails by its bit error rate, and a frame by its length. The ratio is the one that makes the losses
of all modes likeliest. Its interval has the ratios whose likelihood is not too much less; by how much is
that of a chi-square of one degree, times the dispersion of the losses of stretches of time if that is above
1. The ratio is that of the simulator's curves: a receiver that is better or worse than these has another
one.

Source: P. McCullagh and J. A. Nelder, "Generalized Linear Models", 1989, 4.5 and 9.2.4.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from lasthop import _core
from lasthop.captures.exchanges import Fate
from lasthop.stats.intervals import Interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lasthop.captures.exchanges import Ppdu

    Counts = Counter[tuple[int, int, bool]]

_PARTS = 20
_LOWEST_DB, _HIGHEST_DB = -5.0, 50.0
_CLOSE_DB = 1e-3
# 95 % of a chi-square of one degree of freedom are below this.
_CHI_SQUARE = 3.841
_GOLDEN = (math.sqrt(5) - 1) / 2
# The noise of 290 K in 20 MHz, and a noise figure of 7 dB: the defaults of links.NAME.reception.
NOISE_DBM = 10 * math.log10(1.380649e-23 * 290 * 20e6 * 1e3) + 7


def ratio(ppdus: Sequence[Ppdu]) -> Interval | None:
    """The ratio in decibels by the losses of these PPDUs; `None` where nothing, or all, was lost."""
    step = max(len(ppdus) // _PARTS, 1)
    parts = [_counts(ppdus[place : place + step]) for place in range(0, len(ppdus), step)]
    whole: Counts = sum(parts, Counter())
    if len({lost for _, _, lost in whole}) < 2:
        return None
    best = _likeliest(whole)
    least = _log_likely(whole, best) - _CHI_SQUARE / 2 * _dispersion(parts, best)
    low, high = (_where(whole, least, best, end) for end in (_LOWEST_DB, _HIGHEST_DB))
    return Interval(best, low, high, whole.total())


def _where(counts: Counts, least: float, inside: float, outside: float) -> float:
    """Where the likelihood falls below its least, by bisection."""
    while abs(outside - inside) > _CLOSE_DB:
        middle = (inside + outside) / 2
        if _log_likely(counts, middle) >= least:
            inside = middle
        else:
            outside = middle
    return outside


def _dispersion(parts: Sequence[Counts], db: float) -> float:
    """The variance of the losses of the parts in units of that of independent losses, at least 1."""
    squares, cells = 0.0, 0
    for part in parts:
        for mcs, size in {(mcs, size) for mcs, size, _ in part}:
            lost, arrived = part[mcs, size, True], part[mcs, size, False]
            failure = _core.mpdu_failure(mcs, size, 10 ** (db / 10))
            variance = (lost + arrived) * failure * (1 - failure)
            if variance >= 1:
                squares += (lost - (lost + arrived) * failure) ** 2 / variance
                cells += 1
    return max(squares / (cells - 1), 1.0) if cells > 1 else 1.0


def _counts(ppdus: Sequence[Ppdu]) -> Counts:
    """Attempts by MCS, size and whether they were lost."""
    found: Counts = Counter()
    for ppdu in ppdus:
        for frame, fate in zip(ppdu.frames, ppdu.fates, strict=True):
            if fate is not Fate.REPEATED and not frame.mode.is_legacy:
                found[min(frame.mode.mcs, 11), frame.size, fate is Fate.LOST] += 1
    return found


def _likeliest(counts: Counts) -> float:
    """The ratio in decibels of the greatest likelihood, by golden section."""
    low, high = _LOWEST_DB, _HIGHEST_DB
    while high - low > _CLOSE_DB:
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        if _log_likely(counts, left) < _log_likely(counts, right):
            low = left
        else:
            high = right
    return (low + high) / 2


def _log_likely(counts: Counts, db: float) -> float:
    total = 0.0
    for (mcs, size, lost), count in counts.items():
        failure = _core.mpdu_failure(mcs, size, 10 ** (db / 10))
        total += count * math.log(max(failure if lost else 1 - failure, 1e-12))
    return total
