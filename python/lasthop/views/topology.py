"""The network of a scenario as a drawing shows it: its shown parts, and the place of each node."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop.views.names import link_kinds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lasthop.scenario.scenario import Scenario

# With more nodes than this, those of a group are drawn as one, or as dots where they have positions.
MOST = 30
# Pixels: the height of a box, its width without text, the width of a letter, and what separates boxes.
HEIGHT, _BASE, LETTER, _APART = 24.0, 18.0, 7.0, 10.0
# Boxes that lie beside each other in a layer before the next column or row begins.
_ROWS = 8
# The space between layers, in which the texts of links are written.
_GAP, _GAP_BELOW = 110.0, 64.0
_MARGIN = 26.0
# The width of the names of agents below a box.
_BELOW = 108.0
_TALLEST = 430.0
# Positions with less than this height for their width are in a row.
_FLAT = 0.25
DOT = 4.5


@dataclass(slots=True)
class Node:
    """A node of a drawing, or a group that is drawn as one.

    Attributes:
        label: Its name, or the names of its first and last member.
        table: The name of its table.
        members: The numbers of the nodes that it stands for.
        position: Its position in metres to the right and up, if it has one.
        at: The names of the agents that are only there.
        moves: Whether it moves.
    """

    label: str
    table: str
    members: list[int]
    position: tuple[float, float] | None
    at: list[str] = field(default_factory=list)
    moves: bool = False

    @property
    def width(self) -> float:
        """The width of its box in pixels."""
        return LETTER * len(self.label) + _BASE

    @property
    def room(self) -> float:
        """The width that it takes with what is written below it."""
        return max(self.width, _BELOW if self.at else 0.0)


@dataclass(slots=True)
class Link:
    """A link of a drawing: the numbers of its nodes, and the pairs of them that it joins."""

    table: str
    kind: str
    nodes: list[int]
    pairs: list[tuple[int, int]]
    access_point: int | None = None

    @property
    def is_medium(self) -> bool:
        """Whether its nodes share a medium."""
        return not link_kinds()[self.kind]["ends"]


@dataclass(slots=True)
class Network:
    """What is drawn of a point of a scenario; flows are paths of node numbers by the name of their table."""

    point: int
    nodes: list[Node]
    links: list[Link]
    flows: dict[str, list[list[int]]]
    # The sending and the receiving nodes of the flows of each table, in words.
    ends: dict[str, tuple[str, str]]
    # The agents whose place follows from their flows.
    agents: list[str]
    # Number of nodes that the scenario has there.
    size: int

    @property
    def is_plan(self) -> bool:
        """Whether positions give the places of nodes: at least two that differ."""
        return len({node.position for node in self.nodes if node.position is not None}) > 1

    @property
    def are_dots(self) -> bool:
        """Whether nodes are too many for their names."""
        return self.is_plan and len(self.nodes) > MOST


@dataclass(slots=True)
class Layout:
    """The places of the nodes of a network in pixels, and the length of a metre, if that means something."""

    width: float
    height: float
    places: list[tuple[float, float]]
    metre: float | None = None
    # Whether the layers follow one another downward.
    is_down: bool = False


def largest_point(scenario: Scenario) -> int:
    """The point with the most nodes: that with the largest swept counts, and the first of these."""
    points = scenario.points()
    counts = [key for key in points[0] if key.startswith("nodes.") and key.endswith(".count")]
    sizes = [sum(scenario.numeric(key, point[key]) or 0.0 for key in counts) for point in points]
    return sizes.index(max(sizes))


def network(scenario: Scenario, point: int) -> Network:
    """The network of a point."""
    found, values = scenario.network(point), scenario.resolved(point)
    given = found["nodes"]
    spots = {tuple(node["position"]) for node in given if node["position"]}
    nodes = _nodes(given, is_plan=len(spots) > 1)
    shown = {member: place for place, node in enumerate(nodes) for member in node.members}
    links: dict[str, Link] = {}
    for link in found["links"]:
        table = str(link["table"])
        kind = values[f"links.{table}.kind"]["value"]
        ends = list(dict.fromkeys(shown[node] for node in link["nodes"]))
        hub = None if link["access_point"] is None else shown[link["access_point"]]
        one = links.setdefault(table, Link(table, kind, [], [], hub))
        one.nodes += [end for end in ends if end not in one.nodes]
        reach = None
        if kind == "frn":
            reach = scenario.numeric(f"links.{table}.frn.range", values[f"links.{table}.frn.range"]["value"])
        one.pairs += [pair for pair in _pairs(nodes, ends, hub, reach) if pair not in one.pairs]
    agents = []
    for agent in found["agents"]:
        for node in {shown[place] for place in agent["nodes"] or []}:
            nodes[node].at.append(str(agent["name"]))
        if not agent["nodes"]:
            agents.append(str(agent["name"]))
    near = _neighbours(len(nodes), links.values())
    flows: dict[str, list[list[int]]] = {}
    for flow in found["flows"]:
        path = _path(near, shown[flow["from"]], shown[flow["to"]])
        paths = flows.setdefault(str(flow["table"]), [])
        if path not in paths:
            paths.append(path)
    told: dict[str, tuple[str, str]] = {}
    for table in flows:
        own = [flow for flow in found["flows"] if flow["table"] == table]
        told[table] = (_end(given, [it["from"] for it in own]), _end(given, [it["to"] for it in own]))
    return Network(point, nodes, list(links.values()), flows, told, agents, len(given))


def _end(given: Sequence[Mapping[str, Any]], nodes: Sequence[int]) -> str:
    """Nodes in words: the name of one, or how many of each table."""
    tables: dict[str, list[int]] = {}
    for node in dict.fromkeys(nodes):
        tables.setdefault(str(given[node]["table"]), []).append(node)
    return " and ".join(
        str(given[own[0]]["name"]) if len(own) == 1 else f"{len(own)} × {table}"
        for table, own in tables.items()
    )


def _nodes(given: Sequence[Mapping[str, Any]], *, is_plan: bool) -> list[Node]:
    """The nodes to draw; without positions, many of a group are one."""
    tables: dict[str, list[int]] = {}
    for number, node in enumerate(given):
        tables.setdefault(str(node["table"]), []).append(number)
    found = []
    for table, members in tables.items():
        if len(given) > MOST and len(members) > 1 and not is_plan:
            last = str(given[members[-1]]["name"])
            found.append(Node(f"{given[members[0]]['name']} … {last}", table, members, None))
            continue
        for number in members:
            node = given[number]
            position = tuple(node["position"]) if is_plan and node["position"] else None
            found.append(Node(str(node["name"]), table, [number], position, moves=bool(node["moves"])))
    return found


def _pairs(
    nodes: Sequence[Node], ends: Sequence[int], hub: int | None, reach: float | None
) -> list[tuple[int, int]]:
    """The pairs of nodes that a link joins: with its access point, within reach, or all."""
    if hub is not None:
        return [(hub, end) for end in ends if end != hub]
    every = [(one, other) for place, one in enumerate(ends) for other in ends[place + 1 :]]

    def within(one: int, other: int) -> bool:
        a, b = nodes[one].position, nodes[other].position
        return reach is None or a is None or b is None or math.dist(a, b) <= reach * (1 + 1e-9)

    return [pair for pair in every if within(*pair)]


def _neighbours(count: int, links: Iterable[Link]) -> list[list[tuple[int, str]]]:
    near: list[list[tuple[int, str]]] = [[] for _ in range(count)]
    for link in links:
        for one, other in link.pairs:
            near[one].append((other, link.table))
            near[other].append((one, link.table))
    return near


def _path(near: Sequence[Sequence[tuple[int, str]]], begin: int, end: int) -> list[int]:
    """A shortest path; both ends alone if there is none."""
    before = {begin: begin}
    waiting = deque([begin])
    while waiting and end not in before:
        here = waiting.popleft()
        for there, _ in near[here]:
            if there not in before:
                before[there] = here
                waiting.append(there)
    path = [end]
    while path[-1] != begin and path[-1] in before:
        path.append(before[path[-1]])
    return path[::-1] if path[-1] == begin else [begin, end]


def layers(net: Network) -> list[int]:
    """The layer of each node: along the longest path of a flow, with the others beside their neighbours.

    A node beside one of the path lies where the path uses the same link; else senders before, others after.
    """
    near = _neighbours(len(net.nodes), net.links)
    paths = [path for every in net.flows.values() for path in every]
    spine = max(paths, key=len, default=[0])
    layer = {node: place for place, node in enumerate(spine)}
    senders = {path[0] for path in paths}
    link_of = {(a, b): table for a in range(len(near)) for b, table in near[a]}
    waiting, step = deque(spine), dict.fromkeys(spine, 0)
    while waiting:
        here = waiting.popleft()
        for there, table in near[here]:
            if there in layer:
                continue
            aside = step[here]
            if aside == 0:
                place = layer[here]
                after = spine[place + 1] if place + 1 < len(spine) else None
                before = spine[place - 1] if place else None
                if after is not None and link_of.get((here, after)) == table:
                    aside = 1
                elif before is not None and link_of.get((here, before)) == table:
                    aside = -1
                else:
                    aside = -1 if there in senders else 1
            layer[there], step[there] = layer[here] + aside, aside
            waiting.append(there)
    for node in range(len(net.nodes)):
        layer.setdefault(node, 0)
    least = min(layer.values())
    return [layer[node] - least for node in range(len(net.nodes))]


def layout(net: Network, width: float, *, is_down: bool) -> Layout:
    """The places of the nodes in a drawing of this width, whose layers are beside or below each other."""
    return _plan(net, width, is_down) if net.is_plan else _layered(net, width, is_down)


def _layered(net: Network, width: float, is_down: bool) -> Layout:
    layer = layers(net)
    rows = [[n for n in range(len(net.nodes)) if layer[n] == at] for at in range(max(layer) + 1)]
    near = _neighbours(len(net.nodes), net.links)
    order = {node: place for place, node in enumerate(rows[0])}
    for row in rows[1:]:
        # Each near what it is joined to in the layer before.
        key = {n: [order[m] for m, _ in near[n] if m in order and layer[m] < layer[n]] for n in row}
        row.sort(key=lambda n: (sum(key[n]) / len(key[n]) if key[n] else math.inf, n))
        order |= {node: place for place, node in enumerate(row)}
    places = [(0.0, 0.0)] * len(net.nodes)
    sizes = [max((net.nodes[n].room for n in row), default=0.0) for row in rows]
    if is_down:
        top = _MARGIN + HEIGHT
        for row, size in zip(rows, sizes, strict=True):
            abreast = max(1, min(int((width - _MARGIN) / (size + _APART)), len(row) or 1))
            for place, node in enumerate(row):
                line, column = divmod(place, abreast)
                here = min(abreast, len(row) - line * abreast)
                x = width / 2 + (column - (here - 1) / 2) * (size + _APART)
                places[node] = (x, top + line * (HEIGHT + 2 * _APART))
            top += -(-len(row) // abreast) * (HEIGHT + 2 * _APART) - 2 * _APART + _GAP_BELOW
        return Layout(width, top - _GAP_BELOW + _MARGIN, places, is_down=True)
    columns = [-(-len(row) // _ROWS) for row in rows]
    widths = [count * (size + _APART) - _APART for count, size in zip(columns, sizes, strict=True)]
    gaps = max(len(rows) - 1, 1)
    gap = min(max(_GAP, (width - 2 * _MARGIN - sum(widths)) / gaps), 2.2 * _GAP)
    # A line below boxes for the agents there.
    down = HEIGHT + 1.4 * _APART + (14.0 if any(node.at for node in net.nodes) else 0.0)
    most = max(-(-len(row) // max(count, 1)) for row, count in zip(rows, columns, strict=True))
    height = 2 * (_MARGIN + HEIGHT) + (most - 1) * down
    used = sum(widths) + gap * (len(rows) - 1)
    left = max((width - used) / 2, _MARGIN)
    for row, count, size, wide in zip(rows, columns, sizes, widths, strict=True):
        deep = -(-len(row) // max(count, 1))
        for place, node in enumerate(row):
            column, line = divmod(place, deep)
            y = height / 2 + (line - (min(deep, len(row) - column * deep) - 1) / 2) * down
            places[node] = (left + size / 2 + column * (size + _APART), y)
        left += wide + gap
    return Layout(max(width, used + 2 * _MARGIN), height, places)


def _plan(net: Network, width: float, is_down: bool) -> Layout:
    """Nodes at their positions; those without one before the one that they are joined to."""
    known = {n: node.position for n, node in enumerate(net.nodes) if node.position is not None}
    wide, high = (max(spots) - min(spots) for spots in zip(*known.values(), strict=True))
    if is_down and high < _FLAT * wide:
        # What lies in a row goes downward on a narrow screen.
        known = {n: (y, -x) for n, (x, y) in known.items()}
    xs, ys = [x for x, _ in known.values()], [y for _, y in known.values()]
    away = _away(net)
    before = max(away.values(), default=0)
    step = HEIGHT + _GAP_BELOW if is_down else 2.0 * _GAP
    left, top = (0.0, before * step) if is_down else (before * step, 0.0)
    widest = 2 * DOT if net.are_dots else max(node.width for node in net.nodes)
    room = max(width - left - widest - 2 * _MARGIN, 60.0)
    spans = max(xs) - min(xs), max(ys) - min(ys)
    metre = min(room / spans[0] if spans[0] else math.inf, _TALLEST / spans[1] if spans[1] else math.inf)
    begin = left + widest / 2 + _MARGIN + (room - spans[0] * metre) / 2
    head = top + HEIGHT + _MARGIN
    places = [(0.0, 0.0)] * len(net.nodes)
    for number, (x, y) in known.items():
        places[number] = (begin + (x - min(xs)) * metre, head + (max(ys) - y) * metre)
    near = _neighbours(len(net.nodes), net.links)
    for number in sorted(away, key=lambda n: away[n]):
        joined = [places[m] for m, _ in near[number] if m not in away or away[m] < away[number]]
        middle = (width / 2, head + spans[1] * metre / 2)
        x, y = joined[0] if joined else middle
        depth = (before - away[number]) * step
        there = [places[n] for n in range(len(places)) if n not in away]
        for aside in sorted(range(-240, 241, 20), key=abs):
            if is_down:
                spot = (x + aside, HEIGHT + depth)
            else:
                spot = (_MARGIN + net.nodes[number].width / 2 + depth, y + aside)
            # The link shall not lie behind other nodes.
            if not any(_covers(other, spot, (x, y), widest) for other in there if other != (x, y)):
                break
        places[number] = spot
    size = [(2 * DOT, 2 * DOT) if net.are_dots else (node.width, HEIGHT) for node in net.nodes]
    _part(places, size)
    # Boxes that were moved apart may need more room.
    left = min(0.0, *(x - w / 2 - 4 for (x, _), (w, _) in zip(places, size, strict=True)))
    top = min(0.0, *(y - HEIGHT for _, y in places))
    places = [(x - left, y - top) for x, y in places]
    right = max(x + w / 2 + 4 for (x, _), (w, _) in zip(places, size, strict=True))
    height = max(y for _, y in places) + HEIGHT + _MARGIN + 18
    return Layout(max(width, right), height, places, metre)


def _covers(
    other: tuple[float, float], begin: tuple[float, float], end: tuple[float, float], width: float
) -> bool:
    """Whether a box of this width lies on a line."""
    steps = 40
    return any(
        abs(begin[0] + (end[0] - begin[0]) * at / steps - other[0]) < width / 2 + 2
        and abs(begin[1] + (end[1] - begin[1]) * at / steps - other[1]) < HEIGHT / 2 + 4
        for at in range(1, steps)
    )


def _away(net: Network) -> dict[int, int]:
    """How many links each node without a position is from one that has one."""
    near = _neighbours(len(net.nodes), net.links)
    found = {n: 0 for n, node in enumerate(net.nodes) if node.position is not None}
    waiting = deque(found)
    while waiting:
        here = waiting.popleft()
        for there, _ in near[here]:
            if there not in found:
                found[there] = found[here] + 1
                waiting.append(there)
    return {n: found.get(n, 1) for n, node in enumerate(net.nodes) if node.position is None}


def _part(places: list[tuple[float, float]], size: Sequence[tuple[float, float]]) -> None:
    """Move boxes apart that overlap."""
    for _ in range(400 if len(places) <= 4 * MOST else 0):
        moved = False
        for one in range(len(places)):
            for other in range(one + 1, len(places)):
                (ax, ay), (bx, by) = places[one], places[other]
                across = (size[one][0] + size[other][0]) / 2 + _APART - abs(bx - ax)
                up = (size[one][1] + size[other][1]) / 2 + _APART - abs(by - ay)
                if across <= 0.1 or up <= 0.1:
                    continue
                moved = True
                if across < up:
                    aside = math.copysign(across / 2, bx - ax)
                    places[one], places[other] = (ax - aside, ay), (bx + aside, by)
                else:
                    aside = math.copysign(up / 2, by - ay)
                    places[one], places[other] = (ax, ay - aside), (bx, by + aside)
        if not moved:
            return
