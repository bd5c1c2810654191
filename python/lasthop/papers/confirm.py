"""Whether a quick run confirms what is on record.

Two or three short runs cannot judge a claim: their verdict is that of the record. They can contradict it. The
record has what ten quick runs of other seeds gave for each claim, with the same points, durations and
replications. With their mean and standard deviation s, another one lies in the prediction interval

    mean ± t(9) s sqrt(1 + 1 / 10)

The level is such that one in a hundred quick runs is wrong about any claim, over all claims that it judges.
Where all gave one value, any other contradicts it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lasthop.papers.claims import AGREES
from lasthop.stats.intervals import t_factor

if TYPE_CHECKING:
    from lasthop.papers.claims import Claim
    from lasthop.papers.results import Outcome, Repeated

REPEATS = 10
ERROR = 0.01
CONFIRMS, CONTRADICTS, NOT_COMPARED = "confirm", "do not confirm", "not compared"
# What rounding to seven digits may change.
_ROUNDING = 1e-6


def _reach(recorded: Repeated, among: int) -> float:
    """By how much another quick run differs from the mean at most, with as many claims compared."""
    if recorded.spread == 0.0:
        return 0.0
    level = 1 - ERROR / max(1, among)
    return t_factor(recorded.n, level) * recorded.spread * math.sqrt(1 + 1 / recorded.n)


def compared(recorded: Repeated | None, now: float | None, *, among: int) -> str:
    """What a quick run says of the record of a claim.

    Args:
        recorded: What quick runs of other seeds gave.
        now: What this one gave.
        among: The number of claims that are compared together.

    Returns:
        One of `CONFIRMS`, `CONTRADICTS` and `NOT_COMPARED`.
    """
    if recorded is None or now is None:
        return NOT_COMPARED
    reach = _reach(recorded, among) + _ROUNDING * abs(recorded.mean)
    return CONFIRMS if abs(now - recorded.mean) <= reach else CONTRADICTS


def lost(claim: Claim, recorded: Outcome, now: Outcome) -> bool:
    """Whether new runs that contradict the record take its agreement away."""
    return (
        recorded.verdict == AGREES and now.mean is not None and not claim.band.holds(now.mean * claim.scale)
    )
