"""A number makes a scenario: the same number makes the same one as long as the reader accepts the same."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

import lasthop as lh
from lasthop import _core

from .access_point import draw_access_point
from .draw import Draw
from .events import draw_events
from .marking import draw_marking
from .multi_link import draw_multi_link
from .networks import draw_network
from .stations import draw_stations
from .traffic import draw_flows
from .tree import text
from .twists import pair, twist
from .wires import draw_wires

if TYPE_CHECKING:
    from .tree import Tree

MOST_EVENTS = 150_000
"""By estimate: a case that may cost more is made shorter."""

MOST_DRAFTS = 40


class Draft:
    """A case and how many drafts the reader refused before it."""

    def __init__(self, number: int, tree: Tree, refused: int) -> None:
        self.number = number
        self.tree = tree
        self.refused = refused

    @property
    def text(self) -> str:
        return text(self.tree)


def case(number: int) -> Draft:
    """The case of this number."""
    for attempt in range(MOST_DRAFTS):
        draw = Draw(f"lasthop/{number}/{attempt}")
        tree = _draft(draw)
        if _is_accepted(tree):
            for more in (
                _with_events,
                _with_marking,
                _with_stations,
                _with_access_point,
                _with_wires,
                _with_links,
            ):
                tree = more(number, tree)
            tree = twist(draw, tree, draw.one([0, 3, 8, 20]))
            pairs = Draw(f"lasthop/{number}/pair")
            tree = _affordable(pair(pairs, tree) if pairs.chance(0.5) else tree)
            tree = {"title": f"Random case {number}"} | tree
            return Draft(number, tree, attempt)
    raise AssertionError(f"case {number}: {MOST_DRAFTS} drafts were refused")


def _draft(draw: Draw) -> Tree:
    network = draw_network(draw)
    budget_bits = 3e7
    duration_s = min(draw.log(0.5, 200), max(0.5, budget_bits / network.fastest_bps))
    run: Tree = {"duration": f"{duration_s * 1e3:.0f} ms", "seed": draw.whole(1, 1000)}
    if draw.chance(0.3):
        run["warmup"] = f"{duration_s * draw.uniform(0, 0.5) * 1e3:.0f} ms"
    if draw.chance(0.3):
        run["bin"] = f"{duration_s * draw.uniform(0.01, 0.5) * 1e3 + 1:.0f} ms"
    network.tree["run"] = run
    draw_flows(draw, network, duration_s)
    return network.tree


def _with_events(number: int, tree: Tree) -> Tree:
    """The scenario with outages and hand-offs now and then, drawn apart: other cases stay what they were."""
    more = draw_events(Draw(f"lasthop/{number}/events"), tree)
    return more if _is_accepted(more) else tree


def _with_marking(number: int, tree: Tree) -> Tree:
    """The scenario with queues that mark and flows that use ECN now and then, likewise."""
    more = draw_marking(Draw(f"lasthop/{number}/marking"), tree)
    return more if _is_accepted(more) else tree


def _with_stations(number: int, tree: Tree) -> Tree:
    """The scenario with stations that end connections now and then, drawn apart likewise."""
    more = draw_stations(Draw(f"lasthop/{number}/stations"), tree)
    return more if _is_accepted(more) else tree


def _with_access_point(number: int, tree: Tree) -> Tree:
    """The scenario with an access point of today now and then, drawn apart likewise."""
    more = draw_access_point(Draw(f"lasthop/{number}/access-point"), tree)
    return more if _is_accepted(more) else tree


def _with_wires(number: int, tree: Tree) -> Tree:
    """The scenario with wires that police, reorder and duplicate now and then, drawn apart likewise."""
    more = draw_wires(Draw(f"lasthop/{number}/wires"), tree)
    return more if _is_accepted(more) else tree


def _with_links(number: int, tree: Tree) -> Tree:
    """The scenario with multi-link devices now and then, drawn apart likewise."""
    more = draw_multi_link(Draw(f"lasthop/{number}/links"), tree)
    return more if _is_accepted(more) else tree


def _is_accepted(tree: Tree) -> bool:
    try:
        _core.Scenario.from_text(text(tree), "case.toml")
    except lh.ScenarioError:
        return False
    return True


def _affordable(tree: Tree) -> Tree:
    """The scenario, its run as short as its cost demands."""
    events = _core.Scenario.from_text(text(tree), "case.toml").estimate()["events"]
    if events <= MOST_EVENTS:
        return tree
    shorter = deepcopy(tree)
    run = shorter["run"]
    duration_ms = max(20.0, float(run["duration"].split()[0]) * MOST_EVENTS / events)
    run["duration"] = f"{duration_ms:.0f} ms"
    if "warmup" in run:
        run["warmup"] = f"{min(float(run['warmup'].split()[0]), duration_ms / 3):.0f} ms"
    return shorter if _is_accepted(shorter) else tree
