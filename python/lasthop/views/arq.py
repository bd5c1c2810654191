"""Dynamic ARQ: what an access point served, and why."""

from __future__ import annotations

import csv
import re
from itertools import islice
from typing import TYPE_CHECKING

from lasthop.base.errors import StudyError, UsageError, reason
from lasthop.base.table import grid

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

# Services shown if no period is given.
FIRST = 100
_TIMES = ("first", "again", "2nd retransmission", "3rd retransmission")
_WHY = {
    "new": "new",
    "urgent": "urgent: less than two round trips left",
    "turn": "next: head of the first queue",
    "oldest": "oldest: it blocks the window",
    "hopeless": "no other unit",
}


def between(text: str) -> tuple[float, float]:
    """The two times of `FROM..TO`, in seconds.

    >>> between("12.5..13")
    (12.5, 13.0)
    """
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*\.\.\s*(\d+(?:\.\d+)?)\s*", text)
    if not found or float(found[1]) > float(found[2]):
        raise UsageError(f'"{text}"; expected two times in seconds such as 12.5..13', argument="between")
    return float(found[1]), float(found[2])


def services_text(folder: Path, window: tuple[float, float] | None) -> tuple[str, int]:
    """The services of a stored run in a period, or the first ones, and the number omitted."""
    path = folder / "traces" / "arq.csv"
    try:
        with path.open(newline="", encoding="utf-8") as file:
            rows = csv.DictReader(file)
            first, last = window or (0.0, float("inf"))
            chosen = (row for row in rows if first <= float(row["time_s"]) <= last)
            shown = list(chosen if window else islice(chosen, FIRST))
            left = 0 if window else sum(1 for _ in chosen)
        several = len({row["link"] for row in shown}) > 1
        table = [[*([row["link"]] if several else []), *_cells(row)] for row in shown]
    except (OSError, LookupError, ValueError, TypeError, OverflowError, csv.Error) as e:
        raise StudyError(f"{path}: {reason(e)}; expected the output of lasthop run --trace arq -o DIR") from e
    heads = ["time s", "Q1", "Q2", "Q3", "next timer", "served", "", "why", "outcome"]
    return grid([*(["link"] if several else []), *heads], table), left


def _cells(row: Mapping[str, str]) -> Iterator[str]:
    yield f"{float(row['time_s']):.6f}"
    for queue in ("q1", "q2", "q3"):
        held = int(float(row[queue]))
        yield f"{held} ({_left(row[f'{queue}_left_s'])})" if held else "-"
    fires, near = _left(row["next_timer_s"]), _left(row["next_timer_rtt_s"], 2)
    yield f"{row['next_timer']} in {fires}, 2 RTT {near}" if float(row["next_timer_rtt_s"]) >= 0 else "-"
    yield f"{row['served']} {int(float(row['packet']))}.{int(float(row['fragment']))}"
    yield _TIMES[min(int(float(row["sent_before"])), 3)]
    yield _WHY[row["reason"]]
    yield row["outcome"]


def _left(seconds: str, factor: int = 1) -> str:
    value = float(seconds) * factor
    return "off" if value < 0 else f"{value * 1e3:.1f} ms"
