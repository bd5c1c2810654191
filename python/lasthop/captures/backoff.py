"""Backoffs: how many idle slots stations wait between transmissions, and the window they are drawn from.

A station with packets waiting draws a number from 0 to CWmin after each success and counts it down in idle
slots, also across transmissions of others. The sum of these slots is therefore the number drawn. A station
without a packet waits longer, or begins off the slots.

Source: IEEE 802.11-2020, 10.3.4.3 (DCF) and 10.23.2.4 (EDCA, where the boundary after AIFS counts).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lasthop.captures.exchanges import sifs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lasthop.captures.exchanges import Ppdu

# How far a beginning may be from the boundary of a slot, in slots: times are rounded to microseconds.
_OFF = 0.25
_WINDOWS = (1, 3, 7, 15, 31, 63, 127, 255, 511, 1023)
_WIDEST = 1024
# Shares of waits that are none of a backoff.
_OTHERS = (0.001, 0.01, 0.03, 0.1, 0.2, 0.3)
_FEWEST = 60
# Each quarter of a window has at least this share of the draws from it.
_QUARTER = 0.12
_LIKELY = 0.95
# Slots between SIFS and the first slot of a backoff, by user priority (table 9-155).
_EDCA = {-1: 2, 0: 3, 3: 3, 1: 7, 2: 7, 4: 2, 5: 2, 6: 2, 7: 2}


class Access(NamedTuple):
    """The windows of a contention window that the waits of a station agree with.

    Attributes:
        window: The likeliest CWmin in slots.
        low: The least that has a part in 95 % of the probability.
        high: The largest.
        n: The number of waits.
    """

    window: int
    low: int
    high: int
    n: int


@dataclass(slots=True)
class _Waiting:
    """A station since its last transmission."""

    slots: float = 0.0
    is_known: bool = False


def waits(ppdus: Sequence[Ppdu], slot: float) -> dict[tuple[bytes, int], list[float]]:
    """The slots that each sender waited after a success, by traffic identifier; with fractions off them."""
    found: dict[tuple[bytes, int], list[float]] = {}
    stations: dict[bytes, _Waiting] = {}
    busy, is_clean = 0.0, False
    for ppdu in ppdus:
        first = ppdu.first
        gap = (ppdu.start - busy - sifs(first)) / slot
        if gap > 0.6 and first.sender is not None and first.is_timed:
            first_slot = _EDCA.get(first.tid, 3) if first.kind == "data" else 2
            own = stations.setdefault(first.sender, _Waiting())
            slots = own.slots + gap - first_slot
            if own.is_known and is_clean and ppdu.is_data and not ppdu.has_collided:
                found.setdefault((first.sender, first.tid), []).append(slots)
            # With EDCA the boundary at which another begins is counted too.
            counted = max(math.floor(gap - first_slot + _OFF), 0) + (first.tid >= 0)
            for other in stations.values():
                other.slots += counted
                other.is_known = other.is_known and is_clean and not ppdu.has_collided
            own.slots, own.is_known = 0.0, ppdu.is_data and ppdu.succeeds
        if ppdu.end > busy:
            busy = ppdu.end
            # After a frame that nobody answers, others wait for EIFS, and its sender for the answer.
            is_clean = not ppdu.is_data or ppdu.answer is not None
    return found


def is_backlogged(slots: Sequence[float], window: int) -> bool:
    """Whether a station has always had a packet: nearly all waits are within the window, on slots."""
    within = sum(-_OFF <= it <= window + _OFF and _is_on_slot(it) for it in slots)
    return len(slots) >= _FEWEST and within >= _LIKELY * len(slots)


def _is_on_slot(slots: float) -> bool:
    return abs(slots - round(slots)) <= _OFF


def access(slots: Sequence[float]) -> Access | None:
    """CWmin by the waits of a station, all windows being equally likely before; `None` if they do not tell.

    >>> access([i % 16 for i in range(160)])
    Access(window=15, low=15, high=15, n=160)
    >>> access([i % 16 for i in range(20)]) is None, access(range(240, 440)) is None
    (True, True)
    """
    drawn = [round(it) for it in slots if _is_on_slot(it) and -1 < it < _WIDEST]
    if len(drawn) < max(_FEWEST, len(slots) / 2):
        return None
    scores = {}
    for window in _WINDOWS:
        within = sum(0 <= it <= window for it in drawn)
        scores[window] = max(_log_likely(within, len(drawn), window, others) for others in _OTHERS)
    best = max(scores, key=scores.__getitem__)
    held = [it for it in drawn if it <= best]
    if len(held) < (1 - _OTHERS[-1]) * len(drawn):
        return None
    # The waits of a station that is often idle lie in one part of a window that holds them.
    quarters = Counter(it * 4 // (best + 1) for it in held)
    if min(quarters[part] for part in range(4 if best > 1 else 1)) < _QUARTER * len(held):
        return None
    weights = {window: math.exp(score - scores[best]) for window, score in scores.items()}
    left, kept = _LIKELY * math.fsum(weights.values()), []
    for window in sorted(weights, key=weights.__getitem__, reverse=True):
        if left > 0:
            kept.append(window)
        left -= weights[window]
    return Access(best, min(kept), max(kept), len(drawn))


def _log_likely(within: int, n: int, window: int, others: float) -> float:
    """Waits are even over the window, and a share of others is even over the widest."""
    stray = others / _WIDEST
    return within * math.log((1 - others) / (window + 1) + stray) + (n - within) * math.log(stray)
