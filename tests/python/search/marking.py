"""Queues that mark and flows that use ECN: what a random scenario does with marks."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .draw import Draw
    from .tree import Tree

MANAGED = {"wired", "lossy", "wifi", "wimax", "trace"}


def _law(draw: Draw) -> Tree:
    """A law of a queue, with parameters far from its defaults in some cases."""
    name = draw.one(["warning", "warning", "red", "codel", "fq-codel", "pie", "dualpi2"])
    least = round(draw.log(0.1, 40), 2)
    parameters: dict[str, Tree] = {
        "warning": {"threshold": least, "weight": round(draw.log(0.002, 1), 3)},
        "red": {
            "min-threshold": least,
            "max-threshold": least + round(draw.log(0.1, 40), 2),
            "weight": round(draw.log(0.002, 1), 3),
            "gentle": draw.chance(0.5),
        },
        "codel": {
            "target": f"{round(draw.log(0.1, 50), 2)} ms",
            "interval": f"{round(draw.log(1, 200), 1)} ms",
        },
        "fq-codel": {"flows": draw.one([1, 2, 1024]), "quantum": f"{draw.one([1, 300, 1514, 6000])} B"},
        "pie": {"target": f"{round(draw.log(0.5, 50), 2)} ms", "derandomise": draw.chance(0.5)},
        "dualpi2": {
            "target": f"{round(draw.log(0.5, 50), 2)} ms",
            "classic-share": draw.one([0.05, 0.1, 0.5]),
        },
    }
    return {"law": name, name: parameters[name] if draw.chance(0.7) else {}}


def draw_marking(draw: Draw, tree: Tree) -> Tree:
    """The scenario with managed queues and ECN in a third of all cases, TCP-Jersey among the flows."""
    tree = deepcopy(tree)
    if not draw.chance(0.35):
        return tree
    for link in tree["links"].values():
        if link["kind"] in MANAGED and draw.chance(0.7):
            link["aqm"] = _law(draw)
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
            tcp["ecn"] = draw.one(["classic", "classic", "accurate", "off"])
    return tree
