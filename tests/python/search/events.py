"""Outages of links, hand-offs of nodes, and what endpoints do then: what happens to a random scenario."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .draw import Draw
    from .tree import Tree

WIRES = {"wired", "lossy", "wimax", "trace"}


def draw_events(draw: Draw, tree: Tree) -> Tree:
    """The scenario with outages in a third of all cases, hand-offs, and restarts of agents."""
    tree = deepcopy(tree)
    duration_s = float(tree["run"]["duration"].split()[0]) / 1e3
    if draw.chance(0.3):
        for link in tree["links"].values():
            if draw.chance(0.7):
                link["outages"] = _outages(draw, link["kind"], duration_s)
                if link["kind"] == "wifi" and draw.chance(0.4):
                    link["outages"]["node"] = draw.one(link["nodes"])
    if draw.chance(0.2):
        _handoff(draw, tree, duration_s)
    if tree.get("agents") and draw.chance(0.4):
        for node in draw.some(list(tree["nodes"]), draw.whole(1, 3)):
            tree["nodes"][node]["restart"] = _ms(draw.uniform(0, 0.9) * duration_s)
    for flow in tree["flows"].values():
        if "tcp" in flow and draw.chance(0.3):
            flow["tcp"]["reaction"] = draw.one(["none", "freeze-tcp", "atcp", "ilc-tcp", "m-tcp"])
    return tree


def _ms(seconds: float) -> str:
    return f"{max(1.0, seconds * 1e3):.0f} ms"


def _outages(draw: Draw, kind: str, duration_s: float) -> Tree:
    law = draw.one(["script", "periodic", "random"])
    short = draw.log(0.001, 0.3) * duration_s
    outages: Tree = {"law": law}
    if law == "script":
        begin = draw.uniform(0, 0.8) * duration_s
        outages["script"] = f"{_ms(short)} at {_ms(begin)}, {_ms(short)} at {_ms(begin + 2 * short + 0.01)}"
    elif law == "periodic":
        first = draw.uniform(0, 0.5) * duration_s
        outages["periodic"] = {"first": _ms(first), "every": _ms(3 * short + 0.01), "for": _ms(short)}
    else:
        outages["random"] = {"mean-up": _ms(4 * short + 0.01), "mean-down": _ms(short)}
    if kind in {"wired", "lossy"} and draw.chance(0.3):
        outages["queue"] = "kept"
    if draw.chance(0.6):
        warning: Tree = {"lead": draw.time(0.001, 0.5)}
        if draw.chance(0.5):
            warning |= {"deviation": draw.time(0.001, 0.2), "missed": draw.percent(1, 60)}
        if draw.chance(0.4):
            warning |= {"false-every": _ms(0.2 * duration_s + 0.01), "false-for": draw.time(0.001, 0.5)}
        outages["warning"] = warning
    return outages


def _has_one_station(tree: Tree, link: Tree) -> bool:
    """Whether a link joins two nodes, of which either may be a station."""
    is_pair = len(link["nodes"]) == 2 and all(
        "count" not in tree["nodes"].get(node, "count") for node in link["nodes"]
    )
    return link["kind"] in WIRES or (link["kind"] == "wifi" and is_pair)


def _handoff(draw: Draw, tree: Tree, duration_s: float) -> None:
    """Gives a node a second station, behind the first, and hands it off between the two."""
    links = tree["links"]
    of = {name: [link for link, table in links.items() if name in table["nodes"]] for name in tree["nodes"]}
    leaves = [
        (node, mine[0])
        for node, mine in of.items()
        if len(mine) == 1 and _has_one_station(tree, links[mine[0]]) and "count" not in tree["nodes"][node]
    ]
    if not leaves:
        return
    mobile, first = draw.one(leaves)
    station = next(node for node in links[first]["nodes"] if node != mobile)
    tree["nodes"]["other"] = {
        key: deepcopy(value) for key, value in tree["nodes"].get(station, {}).items() if key == "position"
    }
    links["second"] = deepcopy(links[first]) | {
        "nodes": ["other" if node == station else node for node in links[first]["nodes"]]
    }
    if links[first].get("access-point") == station:
        links["second"]["access-point"] = "other"
    links["between"] = {"kind": "wired", "nodes": [station, "other"], "rate": "10 Mbit/s", "delay": "2 ms"}
    every = draw.log(0.05, 0.5) * duration_s + 0.02
    law = draw.one(["script", "periodic", "random"])
    handoff: Tree = {"law": law, "from": first, "to": "second", "late": draw.one(["dropped", "forwarded"])}
    if law == "script":
        handoff["script"] = f"{_ms(every)}, {_ms(2.5 * every)}"
    elif law == "periodic":
        handoff["periodic"] = {"first": _ms(every), "every": _ms(every)}
    else:
        handoff["random"] = {"mean": _ms(every)}
    if draw.chance(0.7):
        handoff["gap"] = _ms(draw.uniform(0.01, 0.8) * every)
    if draw.chance(0.5):
        handoff["warning"] = {"lead": draw.time(0.001, 0.3)}
        if draw.chance(0.5):
            handoff["warning"] |= {"deviation": draw.time(0.001, 0.2), "missed": draw.percent(1, 60)}
        if draw.chance(0.3):
            handoff["warning"] |= {"false-every": _ms(0.2 * duration_s + 0.01)}
    tree["nodes"][mobile]["handoff"] = handoff
