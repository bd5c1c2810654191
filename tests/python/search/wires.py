"""Wires that police, reorder and duplicate packets, drop-head queues, and records of rates or played once."""

from __future__ import annotations

import tempfile
import zlib
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .draw import Draw
    from .tree import Tree

TREATED = {"wired", "lossy", "trace"}
HEADED = TREATED | {"wimax", "wifi"}


def draw_wires(draw: Draw, tree: Tree) -> Tree:
    """The scenario with wires of this kind in four of ten cases."""
    tree = deepcopy(tree)
    if not draw.chance(0.4):
        return tree
    for link in tree["links"].values():
        if link["kind"] in HEADED and "aqm" not in link and draw.chance(0.2):
            link["aqm"] = {"law": "drop-head"}
        if link["kind"] not in TREATED:
            continue
        if draw.chance(0.7):
            link.update(_treatment(draw))
            if draw.chance(0.4):
                link["reverse"] = link.get("reverse", {}) | _treatment(draw)
        if link["kind"] == "trace":
            link["trace"] = link["trace"] | _trace(draw)
            if draw.chance(0.3):
                reverse = link.get("reverse", {})
                link["reverse"] = reverse | {"trace": reverse.get("trace", {}) | _trace(draw)}
    return tree


def _treatment(draw: Draw) -> Tree:
    found: Tree = {}
    if draw.chance(0.3):
        found["policer"] = {"rate": draw.rate(5e4, 2e7), "burst": draw.size(1000, 1e5)}
    if draw.chance(0.5):
        found["jitter"] = {
            "spread": draw.time(1e-5, 0.1),
            "distribution": draw.one(["uniform", "normal", "pareto", "pareto-normal"]),
            "keeps-order": draw.chance(0.5),
        }
        if draw.chance(0.4):
            found["jitter"]["correlation"] = draw.percent(1, 100)
    if draw.chance(0.5):
        found["reorder"] = {"rate": draw.percent(0.1, 100), "gap": draw.one([1, 1, 2, 5, 40])}
        if draw.chance(0.4):
            found["reorder"] |= {"correlation": draw.percent(1, 99), "by": draw.time(1e-5, 0.2)}
    if draw.chance(0.5):
        found["duplicate"] = {"rate": draw.percent(0.1, 100)}
        if draw.chance(0.3):
            found["duplicate"]["correlation"] = draw.percent(1, 99)
    return found


def _trace(draw: Draw) -> Tree:
    """A record that is played once, or one of rates, named by its content."""
    found: Tree = {"once": draw.chance(0.5)}
    if draw.chance(0.5):
        time_s, lines = 0.0, []
        for _ in range(draw.whole(1, draw.one([2, 10, 300]))):
            time_s += draw.one([0.0, draw.log(1e-4, 1.0)])
            lines.append(f"{time_s:.6f} {draw.one([0.0, draw.log(0.01, 30)]):.4f}\n")
        text = "".join(lines) + f"{time_s + draw.log(1e-3, 1):.6f} {draw.log(0.05, 20):.4f}\n"
        file = Path(tempfile.gettempdir()) / "lasthop-records" / f"{zlib.crc32(text.encode()):08x}.rates"
        file.parent.mkdir(exist_ok=True)
        if not file.exists():
            file.write_text(text, encoding="utf-8")
        found |= {"file": str(file), "format": "rates"}
    return found
