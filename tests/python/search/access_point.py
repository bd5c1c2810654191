"""Access points of today: a random scenario with a queue of each station and with modes of single nodes."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from .networks import MODES, WIFI_RATES

if TYPE_CHECKING:
    from .draw import Draw
    from .tree import Tree


def _station(draw: Draw) -> Tree:
    """The law of the queue of a station."""
    if draw.chance(0.3):
        return {
            "law": "dualpi2",
            "target": draw.one(["1 ms", "15 ms"]),
            "ramp-from": draw.one(["0 s", "800 us", "5 ms"]),
            "classic-share": draw.one([0.1, 0.5]),
        }
    return {
        "quantum": draw.one(["1 B", "300 B", "1514 B"]),
        "flows": draw.one([1, 64, 1024]),
        "ce-threshold": draw.one(["none", "0 s", "1 ms"]),
        "ce-threshold-for": draw.one(["all", "l4s"]),
    }


def draw_access_point(draw: Draw, tree: Tree) -> Tree:
    """The scenario with the queues of mac80211 and nodes with a rate of their own, in half of all cases."""
    tree = deepcopy(tree)
    if not draw.chance(0.5):
        return tree
    for link in tree["links"].values():
        if link["kind"] != "wifi":
            continue
        if draw.chance(0.6):
            law: Tree = _station(draw) | {
                "airtime-fairness": draw.chance(0.7),
                "aql": draw.chance(0.7),
                "frames": draw.one([1, 2, 2, 5]),
            }
            if law["aql"] and draw.chance(0.3):
                law["frames"] = "none"
                law["aql-low"] = draw.one(["1 us", "2 ms"])
            link["aqm"] = {"law": "mac80211", "mac80211": law}
        highest = MODES.get(link.get("standard", ""), (None,))[0]
        for name in link["nodes"]:
            if name in tree["nodes"] and draw.chance(0.4):
                own = (
                    {"mcs": draw.whole(0, highest)}
                    if highest
                    else {"rate": draw.one(WIFI_RATES[link["standard"]])}
                )
                tree["nodes"][name] = tree["nodes"][name] | {"wifi": own}
    return tree
