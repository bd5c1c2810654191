"""The signal-to-noise ratio at which the simulator loses what a capture shows as lost.

Each mode fails by its bit error rate, and a frame by its length. The ratio is the one that makes the losses
of all modes likeliest; its interval is that of the jackknife over stretches of time. It is the ratio of the
simulator's curves: a receiver that is better or worse than these has another one.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from lasthop import _core
from lasthop.captures.exchanges import Fate
from lasthop.stats.intervals import Interval, t_factor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lasthop.captures.exchanges import Ppdu

    Counts = Counter[tuple[int, int, bool]]

_PARTS = 20
_LOWEST_DB, _HIGHEST_DB = -5.0, 50.0
_GOLDEN = (math.sqrt(5) - 1) / 2
# The noise of 290 K in 20 MHz, and a noise figure of 7 dB: the defaults of links.NAME.reception.
NOISE_DBM = 10 * math.log10(1.380649e-23 * 290 * 20e6 * 1e3) + 7


def ratio(ppdus: Sequence[Ppdu]) -> Interval | None:
    """The ratio in decibels by the losses of these PPDUs; `None` where nothing, or all, was lost."""
    step = max(len(ppdus) // _PARTS, 1)
    parts = [_counts(ppdus[place : place + step]) for place in range(0, len(ppdus), step)]
    whole = sum(parts, Counter())
    if len({lost for _, _, lost in whole}) < 2:
        return None
    best = _likeliest(whole)
    without = [_likeliest(whole - part) for part in parts]
    middle = math.fsum(without) / len(without)
    spread = math.fsum((it - middle) ** 2 for it in without) * (len(without) - 1) / len(without)
    half = t_factor(len(without)) * math.sqrt(spread)
    return Interval(best, best - half, best + half, whole.total())


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
    while high - low > 1e-3:
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
