"""The positions of nodes that a scenario gives: of a node, or of its place in a group.

Random positions, and those of nodes that move, are not known here.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from lasthop.base.quantity import split

if TYPE_CHECKING:
    from collections.abc import Mapping

Point = tuple[float, float]
_METRES = {"m": 1.0, "km": 1000.0}
_NEIGHBOURS = [(math.cos(turn * math.pi / 3), math.sin(turn * math.pi / 3)) for turn in range(6)]


def positions(keys: Mapping[str, Mapping[str, Any]]) -> dict[str, Point]:
    """The positions that a scenario gives, in metres, by node.

    Args:
        keys: The keys of a point with their values, as `Scenario.resolved` gives them.

    >>> line = {"place.kind": "line", "place.line.step": '["5 m", "0 m"]'}
    >>> keys = {"nodes.n.count": "2", **{f"nodes.n.{key}": value for key, value in line.items()}}
    >>> positions({key: {"value": value} for key, value in keys.items()})
    {'n1': (0.0, 0.0), 'n2': (5.0, 0.0)}
    """
    tables: dict[str, dict[str, str]] = {}
    for key, entry in keys.items():
        room, _, rest = key.partition(".")
        name, _, own = rest.partition(".")
        if room == "nodes" and own:
            tables.setdefault(name, {})[own] = str(entry["value"])
    found: dict[str, Point] = {}
    members: dict[str, list[str]] = {}
    for name, table in tables.items():
        if any(own.startswith("move.") for own in table):
            continue
        around = table.get("around", "")
        hubs = members.get(around, [around] if around in found else [])
        if around and not hubs:
            continue
        given = _pair(table.get("position"))
        if "count" not in table:
            if given:
                found[name] = given
            continue
        count = int(table["count"])
        offsets = [_offset(table, number, count) for number in range(count)]
        if None in offsets or not (given or around or table.get("place.kind", "point") != "point"):
            continue
        members[name] = []
        for base in [found[hub] for hub in hubs] or [given or (0.0, 0.0)]:
            for offset in offsets:
                members[name].append(f"{name}{len(members[name]) + 1}")
                found[members[name][-1]] = (base[0] + offset[0], base[1] + offset[1]) if offset else base
    return found


def _pair(text: str | None) -> Point | None:
    """Two lengths in metres.

    >>> _pair('["2 km", "-5 m"]'), _pair(None)
    ((2000.0, -5.0), None)
    """
    numbers = [split(one) for one in json.loads(text)] if text else []
    known = [one[0] * _METRES[one[1]] for one in numbers if one and one[1] in _METRES]
    return (known[0], known[1]) if len(known) == 2 else None


def _length(text: str) -> float:
    parts = split(text)
    return parts[0] * _METRES.get(parts[1], 1.0) if parts else 0.0


def _offset(table: Mapping[str, str], number: int, count: int) -> Point | None:
    """The position of a node of a group relative to the group; `None` if it is random."""
    kind = table.get("place.kind", "point")
    if kind == "point":
        return 0.0, 0.0
    if kind == "circle":
        radius, turn = _length(table["place.circle.radius"]), math.tau * number / count
        return radius * math.cos(turn), radius * math.sin(turn)
    if kind == "hexagon":
        x, y = _hexagon(number)
        spacing = _length(table["place.hexagon.spacing"])
        return spacing * x, spacing * y
    step = _pair(table.get(f"place.{kind}.step"))
    if kind == "line" and step:
        return number * step[0], number * step[1]
    if kind == "grid" and step:
        row, column = divmod(number, int(table["place.grid.columns"]))
        return column * step[0], row * step[1]
    return None


def _hexagon(number: int) -> Point:
    """A node of a hexagonal lattice of spacing 1, which is filled ring after ring.

    >>> [tuple(round(way, 2) for way in _hexagon(number)) for number in (0, 1, 2, 7, 8)]
    [(0.0, 0.0), (1.0, 0.0), (0.5, 0.87), (2.0, 0.0), (1.5, 0.87)]
    """
    ring = 0
    while 3 * ring * (ring + 1) < number:
        ring += 1
    if not ring:
        return 0.0, 0.0
    side, along = divmod(number - 1 - 3 * ring * (ring - 1), ring)
    corner, edge = _NEIGHBOURS[side], _NEIGHBOURS[(side + 2) % 6]
    return ring * corner[0] + along * edge[0], ring * corner[1] + along * edge[1]
