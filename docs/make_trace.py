"""Write a trace of delivery opportunities for `kind = "trace"`, in Mahimahi's format.

    python docs/make_trace.py 30 4 1 > scenarios/examples/traces/cell.down
    python docs/make_trace.py 30 1 2 > scenarios/examples/traces/cell.up

The arguments are seconds, the mean rate in Mbit/s, and a seed. The rate is drawn anew every 100 ms, as for a
mobile receiver: a step up or down from the one before, within a factor of four of the mean. Now and then
nothing is sent for some hundred milliseconds. The model is made up: it is not a measurement of any network.
"""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterator

OPPORTUNITY = 1504
SPREAD = math.log(4)
STEP = 0.35
PULL = 0.05
GAP_EVERY_S = 10


def opportunities(seconds: int, mean_mbps: float, seed: int) -> Iterator[int]:
    """The times in milliseconds at which one packet may go."""
    draw = random.Random(seed).random  # noqa: S311 - nothing secret
    rate, bits, gap_ms = 0.0, 0.0, 0
    for ms in range(1, seconds * 1000 + 1):
        if ms % 100 == 1:
            rate += STEP * (2 * draw() - 1) - PULL * rate
            rate = min(max(rate, -SPREAD), SPREAD)
            if gap_ms == 0 and draw() < 0.1 / GAP_EVERY_S:
                gap_ms = 200 + int(500 * draw())
        if gap_ms > 0:
            gap_ms -= 1
            continue
        bits += mean_mbps * 1e3 * math.exp(rate)
        while bits >= 8 * OPPORTUNITY:
            bits -= 8 * OPPORTUNITY
            yield ms


def main() -> None:
    """Print the trace that the arguments describe."""
    seconds, mean, seed = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3])
    print("\n".join(str(ms) for ms in opportunities(seconds, mean, seed)))


if __name__ == "__main__":
    main()
