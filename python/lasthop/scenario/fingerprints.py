"""Pinned results of a release, which every build of it gives to the last bit, on any processor."""

from __future__ import annotations

import csv
import hashlib
from typing import TYPE_CHECKING, NamedTuple

from lasthop.base import paths
from lasthop.scenario.scenario import load

if TYPE_CHECKING:
    from collections.abc import Mapping

FILE = "fingerprints.csv"
# The number of events after which a run ends.
EVENTS = 50_000


class Fingerprint(NamedTuple):
    """What a run of a shipped scenario gives.

    Attributes:
        scenario: Its id.
        point: The point.
        events: How many events the run has.
        sha256: A hash of the names and values of its metrics.
    """

    scenario: str
    point: int
    events: int
    sha256: str


def recorded() -> list[Fingerprint]:
    """The fingerprints of the release."""
    with paths.data(FILE).open(encoding="utf-8", newline="") as file:
        return [
            Fingerprint(row["scenario"], int(row["point"]), int(row["events"]), row["sha256"])
            for row in csv.DictReader(file)
        ]


def now(scenario: str, point: int) -> Fingerprint:
    """The fingerprint that this build gives to a point of a shipped scenario."""
    run = load(paths.shipped_file(scenario)).run(point=point, max_events=EVENTS)
    return of(scenario, point, run.events, run.metrics)


def of(scenario: str, point: int, events: int, metrics: Mapping[str, float | None]) -> Fingerprint:
    """The fingerprint of a run.

    >>> of("x/y", 0, 5, {"b": 1.5, "a": None}).sha256[:8]
    '5fc626ed'
    """
    lines = (
        f"{name} {value if value is None else float(value).hex()}\n"
        for name, value in sorted(metrics.items())
    )
    return Fingerprint(scenario, point, events, hashlib.sha256("".join(lines).encode()).hexdigest())
