"""Runs that are played, and the contents of their films."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import lasthop as lh
from lasthop.views.events import events
from lasthop.views.film import Film, film
from test_ladder import WIRED, hop

if TYPE_CHECKING:
    from lasthop.api import Run

CELL = """
[run]
duration = "1 s"
[nodes]
server = {}
ap = { position = ["0 m", "0 m"] }
sta = { count = 6, around = "ap", place = { kind = "circle", circle = { radius = "20 m" } } }
[links.wire]
kind = "wired"
nodes = ["server", "ap"]
rate = "10 Mbit/s"
delay = "2 ms"
[links.air]
kind = "wifi"
nodes = ["ap", "sta"]
access-point = "ap"
standard = "802.11b"
rate = "11 Mbit/s"
[flows.down]
from = "server"
to = "sta"
"""


@cache
def standard() -> Run:
    return hop("none")


@cache
def lle() -> Run:
    return hop("lle-tcp")


@cache
def wired() -> Run:
    return lh.Scenario.from_text(WIRED, "wired.toml").run(trace=["events"])


@cache
def cell() -> Run:
    return lh.Scenario.from_text(CELL, "cell.toml").run(trace=["events"])


def filmed(run: Run, begin: float, end: float) -> Film:
    return film(events(run.trace("events").chunks()), "", (begin, end))


def rows(run: Run) -> list[Any]:
    return list(events(run.trace("events").chunks()))
