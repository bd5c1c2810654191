"""Where the nodes of a run are on a plan, if a plan shows more than a line."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Spot = tuple[float, float]
# Nodes within this part of their greatest distance from a line are on it.
_FLAT = 0.05


def plan(nodes: Sequence[str], positions: Mapping[str, Spot]) -> list[Spot | None] | None:
    """The place of each node in metres to the right and up; none for a node without a position.

    Args:
        nodes: The nodes to show.
        positions: The positions that the scenario gives.

    Returns:
        Nothing if the nodes are on a line, as they are if less than three have a position.

    >>> plan(["a", "b", "c"], {"a": (0, 0), "b": (9, 0), "c": (0, 9)})
    [(0, 0), (9, 0), (0, 9)]
    >>> plan(["a", "b", "c"], {"a": (0, 0), "b": (9, 0), "c": (5, 0)})
    """
    places = [positions.get(node) for node in nodes]
    known = [place for place in places if place is not None]
    return places if len(known) > 2 and not _is_flat(known) else None


def _is_flat(spots: Sequence[Spot]) -> bool:
    first = spots[0]
    far = max(spots, key=lambda spot: math.dist(spot, first))
    length = math.dist(far, first)
    if length == 0.0:
        return True
    along = ((far[0] - first[0]) / length, (far[1] - first[1]) / length)
    aside = [abs((x - first[0]) * along[1] - (y - first[1]) * along[0]) for x, y in spots]
    return max(aside) <= _FLAT * length
