"""How many runs distinguish an effect from none."""

from __future__ import annotations

import math


def runs_needed(half: float, effect: float, n: int) -> int:
    """The runs whose 95 % interval is no wider than an effect to either side, by n runs with this half-width.

    The width falls with the root of the number of runs; that Student's factor falls too is left out.

    >>> runs_needed(8.0, 4.0, 10), runs_needed(3.0, 4.0, 10)
    (40, 6)
    """
    return max(2, math.ceil(n * (half / effect) ** 2))
