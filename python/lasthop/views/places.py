"""A map of the nodes of a run, for the page that plays it.

Nodes without a position, such as servers behind an access point, are beside those to which they are linked.
"""

from __future__ import annotations

import math
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lasthop.scenario.places import Point

# Nodes whose distance from a line is below this share of its length stand on it.
_FLAT = 0.02
# More nodes than this have no room on a map.
_MOST = 40


def plan(
    known: Mapping[str, Point], nodes: Sequence[str], pairs: Iterable[tuple[str, str]]
) -> list[Point] | None:
    """A map of nodes, or `None` if they stand on one line, in one place, or at unknown places.

    Args:
        known: The positions that the scenario gives.
        nodes: The nodes to show.
        pairs: The pairs of them that have a link; nodes without a position are placed by them.

    >>> plan({"a": (0.0, 0.0), "b": (9.0, 0.0)}, ["a", "b"], [("a", "b")])
    >>> plan({"a": (0.0, 0.0), "b": (9.0, 0.0), "c": (9.0, 5.0)}, ["h", "a", "b", "c"], [("h", "a")])
    [(-5.0, 0.0), (0.0, 0.0), (9.0, 0.0), (9.0, 5.0)]
    """
    found = {name: known[name] for name in nodes if name in known}
    if len(nodes) > _MOST or len(set(found.values())) < len(found) or _is_flat(list(found.values())):
        return None
    step = min(math.dist(one, other) for one, other in combinations(found.values(), 2))
    left = min(x for x, _ in found.values())
    links = list(pairs)
    beside: dict[str, Point] = dict(found)
    while len(beside) < len(nodes):
        new: dict[str, Point] = {}
        left -= step
        for one, other in [*links, *((b, a) for a, b in links)]:
            if one in beside and other not in beside and other in nodes:
                new.setdefault(other, (left, beside[one][1]))
        if not new:
            return None
        middle = sum(y for _, y in new.values()) / len(new)
        for at, name in enumerate(new):
            # Several in one column keep apart.
            y = new[name][1] if len(new) == 1 else middle + step * (at - (len(new) - 1) / 2)
            beside[name] = (left, y)
    return [beside[name] for name in nodes]


def _is_flat(points: Sequence[Point]) -> bool:
    """Whether points stand on a line; two always do."""
    if len(points) < 3:
        return True
    far = max(combinations(points, 2), key=lambda pair: math.dist(*pair))
    (x, y), length = far[0], math.dist(*far)
    across = ((far[1][1] - y) / length, -(far[1][0] - x) / length)
    return all(abs((px - x) * across[0] + (py - y) * across[1]) < _FLAT * length for px, py in points)
