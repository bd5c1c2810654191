"""Whether a quick run confirms what is on record.

Two or three runs cannot judge a claim: their verdict is that of the record. They can contradict it. The mean
of m new runs lies in the prediction interval about the recorded mean of n runs,

    mean ± t(n - 1) sqrt(s² / n + q / m),    q = max(r s², u²)

where s² is the variance of the recorded runs, u² that of the new ones, and r how many times shorter these
are. The level is such that one in a hundred quick runs is wrong about any claim, over all claims that it
judges.

A shorter run has more of its start in it. Then a quarter of the recorded value, and of a share or a gain
three points as well, is not a contradiction either. What depends on the length of a run by itself is not
compared: numbers of events, and Jain's index. Neither are claims whose points the quick run does not have,
claims of single runs, and those about the best of many points.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from lasthop.papers.claims import AGREES
from lasthop.stats.intervals import t_factor

if TYPE_CHECKING:
    from lasthop.papers.claims import Claim
    from lasthop.papers.results import Outcome

ERROR = 0.01
CONFIRMS, CONTRADICTS, NOT_COMPARED = "confirm", "do not confirm", "not compared"
_SLACK, _POINTS = 0.25, 0.03
# What rounding to seven digits may change.
_ROUNDING = 1e-6
_OF_EVENTS = ("", "packets", "segments")


def compared(claim: Claim, recorded: Outcome | None, now: Outcome, *, shorter: float, among: int) -> str:
    """What new runs say of the record of a claim.

    Args:
        claim: The claim.
        recorded: What is on record of it.
        now: What the new runs gave.
        shorter: The duration of a recorded run over that of a new one.
        among: The number of claims that are compared together.

    Returns:
        One of `CONFIRMS`, `CONTRADICTS` and `NOT_COMPARED`.
    """
    if recorded is None or recorded.mean is None or now.mean is None or not _is_comparable(claim, shorter):
        return NOT_COMPARED
    spread = _spread(recorded)
    if spread is None:
        return NOT_COMPARED
    new = max(shorter * spread**2, (_spread(now) or 0.0) ** 2)
    level = 1 - ERROR / max(1, among)
    reach = t_factor(recorded.n, level) * math.sqrt(spread**2 / recorded.n + new / now.n)
    reach += _ROUNDING * abs(recorded.mean)
    if shorter > 1:
        points = _POINTS / claim.scale if claim.unit == "%" or claim.kind == "ratio" else 0.0
        reach += _SLACK * abs(recorded.mean) + points
    return CONFIRMS if abs(now.mean - recorded.mean) <= reach else CONTRADICTS


def lost(claim: Claim, recorded: Outcome, now: Outcome) -> bool:
    """Whether new runs that contradict the record take its agreement away."""
    return (
        recorded.verdict == AGREES and now.mean is not None and not claim.band.holds(now.mean * claim.scale)
    )


def _is_comparable(claim: Claim, shorter: float) -> bool:
    if claim.one_run or claim.kind == "best":
        return False
    counts_events = claim.kind in ("mean", "difference") and claim.unit in _OF_EVENTS
    is_of_length = (counts_events and not claim.metric.endswith("share")) or claim.metric.endswith(
        "jain_index"
    )
    return shorter <= 1 or not is_of_length


def _spread(one: Outcome) -> float | None:
    """The standard deviation of single runs, from the interval of their mean."""
    if one.low is None or one.high is None or one.n < 2:
        return None
    return (one.high - one.low) / 2 / t_factor(one.n) * math.sqrt(one.n)
