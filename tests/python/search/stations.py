"""Stations that end connections, in the middle of the paths of a random scenario."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .draw import Draw
    from .tree import Tree

KINDS = ["i-tcp", "m-tcp"]
VARIANTS = ["tahoe", "reno", "newreno", "sack", "fack", "vegas", "westwood", "cubic", "bbr", "bbr3", "ejtcp"]


def draw_stations(draw: Draw, tree: Tree) -> Tree:
    """The scenario with stations in a third of all cases: on one link, or on both of a node handed off."""
    tree = deepcopy(tree)
    over_tcp = any("udp" not in flow for flow in tree["flows"].values())
    if not over_tcp or not draw.chance(0.35):
        return tree
    kind = draw.one(KINDS)
    agents = tree.setdefault("agents", {})
    handoff = next((node["handoff"] for node in tree["nodes"].values() if "handoff" in node), None)
    if handoff and draw.chance(0.7):
        mobile = next(name for name, node in tree["nodes"].items() if "handoff" in node)
        for name, link in (("first-station", handoff["from"]), ("second-station", handoff["to"])):
            node = next(node for node in tree["links"][link]["nodes"] if node != mobile)
            agents[name] = {"kind": kind, "node": node, "link": link}
        handoff["state-delay"] = draw.time(0.001, 0.5)
        if draw.chance(0.5):
            handoff["state-rate"] = draw.rate(1e4, 1e7)
    else:
        link = draw.one(list(tree["links"]))
        agents["station"] = {"kind": kind, "link": link}
        if draw.chance(0.7):
            agents["station"]["node"] = draw.one(tree["links"][link]["nodes"])
    settings = _settings(draw)
    for agent in agents.values():
        if agent["kind"] == kind:
            agent[kind] = deepcopy(settings)
    if draw.chance(0.3):
        duration_s = float(tree["run"]["duration"].split()[0]) / 1e3
        node = draw.one(list(tree["nodes"]))
        tree["nodes"][node]["restart"] = f"{draw.uniform(0.1, 0.9) * duration_s * 1e3:.0f} ms"
    return tree


def _settings(draw: Draw) -> Tree:
    settings: Tree = {"wireless-variant": draw.one(VARIANTS), "wired-variant": draw.one(VARIANTS)}
    if draw.chance(0.4):
        settings["profile"] = "ns2-2004"
    if draw.chance(0.6):
        settings["wireless-window"] = f"{draw.log(1, 300):.0f} segments"
    if draw.chance(0.6):
        settings["buffer"] = draw.size(1000, 2e5)
    if draw.chance(0.4):
        settings["wireless-min-rto"] = draw.time(0.05, 1)
    return settings
