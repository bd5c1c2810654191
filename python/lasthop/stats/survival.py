"""The distribution of durations of which some are censored (Kaplan and Meier 1958).

A transfer that is under way when a run ends has lasted so long at least: it is censored. To leave it out, or
to take the time so far for its length, would make slow transfers look fast.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

from lasthop.stats.intervals import Interval, interval

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Lasted:
    """One duration, and whether its end was observed."""

    time: float
    ended: bool


@dataclass(frozen=True, slots=True)
class Survival:
    """The share that lasts longer than a time: `shares[i]` from `times[i]` on, and one before.

    The curve is known up to `until`, the longest time seen; where the last one had not ended, it
    does not reach zero there.
    """

    times: list[float]
    shares: list[float]
    until: float
    n: int

    @property
    def median(self) -> float | None:
        """The time that half of them do not outlast; `None` where the curve does not show it.

        >>> kaplan_meier([Lasted(1.0, True), Lasted(2.0, True), Lasted(3.0, False)]).median
        2.0
        """
        # A share that is a half except for rounding is a half.
        return next((t for t, s in zip(self.times, self.shares, strict=True) if s <= 0.5 + 1e-12), None)

    @property
    def told_until(self) -> float:
        """The time up to which the curve is known: infinite if all of them have ended.

        >>> kaplan_meier([Lasted(1.0, True), Lasted(2.0, False)]).told_until
        2.0
        >>> kaplan_meier([Lasted(1.0, False), Lasted(2.0, True)]).told_until
        inf
        """
        return math.inf if self.shares and self.shares[-1] < 1e-12 else self.until

    def restricted_mean(self, until: float) -> float:
        """The mean of what they last, or of `until` for those that last longer.

        Beyond the longest time seen, those that had not ended by then are assumed to continue.

        >>> kaplan_meier([Lasted(1.0, True), Lasted(2.0, False)]).restricted_mean(4.0)
        2.5
        """
        edges = [0.0, *(t for t in self.times if t < until), until]
        return sum(
            share * (b - a) for share, (a, b) in zip([1.0, *self.shares], pairwise(edges), strict=False)
        )


def kaplan_meier(lengths: Sequence[Lasted]) -> Survival:
    """The product-limit estimate; at equal times, ends come before what is censored.

    >>> curve = kaplan_meier([Lasted(t, e) for t, e in [(1, True), (2, False), (3, True), (3, False)]])
    >>> curve.times, curve.shares
    ([1, 3], [0.75, 0.375])
    """
    at_risk, share = len(lengths), 1.0
    times, shares = [], []
    for time, group in groupby(sorted(lengths, key=lambda it: it.time), key=lambda it: it.time):
        ended = [it.ended for it in group]
        if any(ended):
            share *= 1 - sum(ended) / at_risk
            times.append(time)
            shares.append(share)
        at_risk -= len(ended)
    return Survival(times, shares, max((it.time for it in lengths), default=0.0), len(lengths))


def common_limit(groups: Sequence[Sequence[Lasted]]) -> float:
    """The longest time to which the means of all groups can be restricted.

    >>> a, b = [Lasted(1.0, True), Lasted(9.0, False)], [Lasted(5.0, True)]
    >>> common_limit([a, b]), common_limit([b])
    (9.0, 5.0)
    """
    curves = [kaplan_meier(group) for group in groups if group]
    limit = min((curve.told_until for curve in curves), default=math.inf)
    return max((curve.until for curve in curves), default=0.0) if math.isinf(limit) else limit


def restricted_mean(runs: Sequence[Sequence[Lasted]], until: float) -> Interval:
    """The restricted mean over all runs, with an interval from what each run changes of it.

    Lengths within a run depend on one another, so that runs are left out whole (the delete-one-group
    jackknife), and the pseudo-values treated as independent.
    """
    told = [run for run in runs if run]
    every = [it for run in told for it in run]
    if not every:
        return Interval(None, None, None, 0)
    n = len(told)
    whole = kaplan_meier(every).restricted_mean(until)
    if n == 1:
        return Interval(whole, None, None, 1)
    pseudo = []
    for left_out in range(n):
        others = [it for place, run in enumerate(told) if place != left_out for it in run]
        pseudo.append(n * whole - (n - 1) * kaplan_meier(others).restricted_mean(until))
    spread = interval(pseudo)
    half = spread.half
    return Interval(whole, None if half is None else whole - half, None if half is None else whole + half, n)
