"""Queues that mark and flows that use ECN: what a random scenario does with marks."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .draw import Draw
    from .tree import Tree

MANAGED = {"wired", "lossy", "wifi", "wimax"}


def draw_marking(draw: Draw, tree: Tree) -> Tree:
    """The scenario with managed queues and ECN in a third of all cases, TCP-Jersey among the flows."""
    tree = deepcopy(tree)
    if not draw.chance(0.35):
        return tree
    for link in tree["links"].values():
        if link["kind"] in MANAGED and draw.chance(0.7):
            warning = {"threshold": round(draw.log(0.1, 40), 2), "weight": round(draw.log(0.002, 1), 3)}
            link["aqm"] = {"law": "warning", "warning": warning if draw.chance(0.8) else {}}
    for flow in tree["flows"].values():
        tcp = flow.get("tcp")
        if tcp is None:
            continue
        if draw.chance(0.3) and "congestion" not in tcp:
            tcp["variant"] = "jersey"
            tcp["jersey"] = {
                "window": draw.one([0.5, 1, 4]),
                "response": draw.one(["every-ack", "once-a-window"]),
            }
        if draw.chance(0.7):
            tcp["ecn"] = draw.one(["classic", "classic", "classic", "off"])
    return tree
