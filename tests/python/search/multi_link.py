"""Multi-link devices: a random scenario whose stations of today have one or two further links."""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING

from .networks import MODES

if TYPE_CHECKING:
    from .draw import Draw
    from .tree import Tree

LACKS = {"arq", "outages", "trace"}
"""What multi-link devices lack, or have on one link only."""


def draw_multi_link(draw: Draw, tree: Tree) -> Tree:
    """The scenario with multi-link devices, in half of the cases with stations of today."""
    of_today = [name for name, link in tree["links"].items() if link.get("standard") in MODES]
    if not of_today or draw.chance(0.5):
        return tree
    tree = deepcopy(tree)
    riders = {
        name for name, agent in tree.get("agents", {}).items() if agent["kind"] in {"hack", "arq-proxy"}
    }
    for rider in riders:
        del tree["agents"][rider]
    if riders and not tree["agents"]:
        del tree["agents"]
    first = tree["links"][draw.one(of_today)]
    window = draw.one([64, 256, 1024])
    first |= {"standard": "802.11be", "guard-interval": "0.8 us"}
    first["aggregate"] = {"count": draw.one([1, 16, window])}
    first["block-ack"] = first.get("block-ack", {}) | {"window": window}
    for lacking in LACKS & first.keys():
        del first[lacking]
    name = next(name for name, link in tree["links"].items() if link is first)
    highest, widths, guards = MODES["802.11be"]
    for number in range(draw.whole(1, 2)):
        more = deepcopy(first) | {"multi-link": name, "mcs": draw.whole(0, highest)}
        more.pop("aqm", None)
        more |= {"width": draw.one(widths), "guard-interval": draw.one(guards)}
        more["loss"] = draw.one([{"model": "none"}, {"model": "packet", "rate": draw.percent(0.1, 30)}])
        more["rts-threshold"] = draw.one(["never", "0 B"])
        tree["links"][f"{name}-{number}"] = more
    if "access-point" in first and draw.chance(0.6):
        _draw_single_radios(draw, tree, first)
    return tree


def _draw_single_radios(draw: Draw, tree: Tree, link: Tree) -> None:
    """Stations of a link with one radio for all of their links."""
    for name in link["nodes"]:
        if name == link["access-point"] or draw.chance(0.3):
            continue
        node = tree["nodes"][name]
        delays = {"padding-delay": draw.one(["0 us", "32 us", "256 us"])}
        delays["transition-delay"] = draw.one(["0 us", "16 us", "256 us"])
        delays["medium-sync-delay"] = draw.one(["0 us", "5484 us"])
        node["wifi"] = node.get("wifi", {}) | {"multi-link": "emlsr", "emlsr": delays}
