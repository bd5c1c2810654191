"""Write the records of examples/leo: the rate and the delay of a link to satellites.

    python docs/make_leo.py rates 60 1 > scenarios/examples/traces/leo.rates
    python docs/make_leo.py delays 60 1 > scenarios/examples/traces/leo.delays

The arguments are seconds and a seed. Every 15 s, from second 12 on, another satellite serves the terminal, as
Starlink's schedule has it (Tanveer et al., "Making Sense of Constellations", CoNEXT Companion 2023): rate and
delay jump. Between these times the delay follows the distance, and the rate varies from second to second. The
numbers are made up: they are not a measurement of any network.
"""

from __future__ import annotations

import random
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

FIRST_S, EVERY_S = 12, 15
STEP_S = 0.1
MOST_MBPS, LEAST_MBPS = 25.0, 5.0
SHORTEST_MS, LONGEST_MS = 18.0, 40.0


def slot(at_s: float) -> int:
    """The number of the satellite that serves at this time."""
    return int((at_s - FIRST_S) // EVERY_S)


def draws(seed: int, number: int) -> random.Random:
    """The numbers of one satellite, the same for rates and delays."""
    return random.Random(f"{seed} {number}")  # noqa: S311 - nothing secret


def rates(seconds: int, seed: int) -> Iterator[str]:
    """Until when each rate holds in seconds, and the rate in Mbit/s."""
    each = random.Random(seed)  # noqa: S311 - nothing secret
    for second in range(1, seconds + 1):
        level = draws(seed, slot(second - 0.5)).uniform(LEAST_MBPS, MOST_MBPS)
        yield f"{second} {level * each.uniform(0.85, 1.0):.2f}"


def delays(seconds: int, seed: int) -> Iterator[str]:
    """The delay in milliseconds of each tenth of a second: a jump, and a drift towards the next one."""
    each = random.Random(seed)  # noqa: S311 - nothing secret
    for place in range(round(seconds / STEP_S)):
        at = place * STEP_S
        draw = draws(seed, slot(at))
        begin, drift = draw.uniform(SHORTEST_MS, LONGEST_MS), draw.uniform(-0.3, 0.3)
        since = at - FIRST_S - slot(at) * EVERY_S
        yield f"{begin + drift * since + each.uniform(0, 1.5):.2f}"


if __name__ == "__main__":
    kind, length, number = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    print("\n".join((rates if kind == "rates" else delays)(length, number)))
