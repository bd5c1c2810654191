"""Writes the records of the "bad Wi-Fi" that the tests of C4 simulate (draft-huitema-ccwg-c4-test, 5.3).

    .venv/bin/python docs/make_bad_wifi.py

A packet is delayed by N1 ms less a uniform part of the last one, and in a share x of cases by N2 times 7.5
ms; N1 and N2 are Poisson of means 1 and 12, and x follows from a mean jitter of 7 ms. No packet overtakes
another, so that one delay holds up all behind it. A record has the instants at which such a link lets go
what waits, with a packet sent each 1.2 ms (10 Mbit/s).
"""

import math
import random
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "scenarios" / "today" / "traces"
LONG_MS = 7.5
JITTER_MS = 7.0
PACKET_MS = 1.2
DURATION_MS = 30_000
#: Opportunities of 64 kB at each instant, more than ever wait.
OPPORTUNITIES = 5


def poisson(draw: random.Random, mean: float) -> int:
    """A Poisson number (Knuth)."""
    count, product = 0, draw.random()
    while product > math.exp(-mean):
        count, product = count + 1, product * draw.random()
    return count


def delay_ms(draw: random.Random) -> float:
    """The delay of one packet."""
    short = poisson(draw, 1)
    smooth = draw.random() if short else 0.0
    is_long = draw.random() < (JITTER_MS - 1) / 90
    return short - smooth + (poisson(draw, 12) * LONG_MS if is_long else 0.0)


def record(seed: int) -> str:
    """The whole milliseconds at which what waits is let go."""
    draw = random.Random(seed)  # noqa: S311 - nothing secret
    now, at = 0.0, 0.0
    found: dict[int, None] = {}
    while True:
        now += PACKET_MS
        at = max(at, now + delay_ms(draw))
        if at > DURATION_MS:
            return "".join(f"{ms}\n" * OPPORTUNITIES for ms in found)
        found[math.ceil(at)] = None


if __name__ == "__main__":
    for seed, name in enumerate(("bad-wifi-down", "bad-wifi-up")):
        (FOLDER / name).write_text(record(seed), encoding="ascii")
