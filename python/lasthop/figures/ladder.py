"""Ladders: time downwards, a line for each node, and an arrow for each segment or frame.

Colours and dashes distinguish the kinds of arrows, and each state has its own sign, so that a greyscale print
shows the same. The signs are a dot for a retransmission, a diamond for something an agent created, a bar for
something an agent kept, a cross for a loss. The MPDUs of an A-MPDU are ticks along its arrow, or crosses.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from lasthop.figures.scene import Area, Group, Line, Scene, Text, overlap
from lasthop.figures.style import COLOURS
from lasthop.views.arrows import AGENT, HOST

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lasthop.figures.scene import Point, Shape
    from lasthop.views.arrows import Arrow, Panel, Place

# Points: text, and the height that the label of an arrow needs.
_SIZE, _SMALL, _ROW = 7.0, 6.0, 11.0
_LEAST, _MOST = 160.0, 2000.0
# Points between the line of a host and that of its agent, and around a panel.
_SEAT, _ASIDE, _EDGE, _STRIP = 22.0, 5.0, 6.0, 34.0
# Panels at least this wide have a strip for the window.
_WIDE = 150.0
_GREY, _PALE, _BLACK = "#767676", "#dddddd", "#000000"

# Colour, dashes and width of each kind of arrow, and its name in the legend.
KINDS: dict[str, tuple[str, tuple[float, ...], float, str]] = {
    "data": (COLOURS[0], (), 1.1, "data"),
    "ack": (COLOURS[1], (4.0, 2.0), 1.1, "TCP ACK"),
    "datagram": (COLOURS[4], (), 1.1, "datagram"),
    "control": (_GREY, (1.2, 1.6), 1.0, "control"),
    "mac-ack": (COLOURS[2], (5.0, 1.6, 1.2, 1.6), 0.9, "ACK of the MAC"),
}
AGENT_COLOUR = COLOURS[3]
# Possible positions of a label along its arrow, best first.
_PLACES = (0.5, 0.32, 0.68, 0.2, 0.8)


@dataclass(frozen=True, slots=True)
class _Frame:
    """The area of one panel, and its scale."""

    left: float
    right: float
    top: float
    bottom: float
    begin_s: float
    end_s: float
    columns: dict[str, dict[str, float]]

    def y(self, time_s: float) -> float:
        """The vertical position of a time."""
        share = (time_s - self.begin_s) / (self.end_s - self.begin_s)
        return self.top + share * (self.bottom - self.top)

    def x(self, place: Place) -> float:
        """The horizontal position of a place."""
        seats = self.columns[place.node]
        return seats.get(place.seat, seats[HOST])


def scene(
    panels: Sequence[Panel], period: tuple[float, float], title: str, width: float | None = None
) -> Scene:
    """The ladders of several runs side by side, over the same time.

    Args:
        panels: One for each run.
        period: Begin and end in seconds.
        title: The title.
        width: In points; by default, it depends on the number of nodes and panels.
    """
    lines = sum(max(1, len(panel.nodes) - 1) for panel in panels)
    full = width or min(60.0 + 60.0 * len(panels) + 150.0 * lines, 720.0)
    axis = 34.0
    each = (full - axis - _EDGE) / len(panels)
    body = _height(panels, period)
    head = 48.0 if title else 36.0
    drawn = Scene(full, head + body + 40.0, title)
    if title:
        size = min(9.0, 9.0 * (full - 8.0) / Text(0.0, 0.0, title, 9.0, bold=True).width)
        drawn.groups.append(Group("title", "", [Text(full / 2, 9.0, title, size, bold=True)]))
    ticks = _ticks(period, body)
    top = head
    for number, panel in enumerate(panels):
        left = axis + number * each
        frame = _frame(panel, (left, left + each), (top, top + body), period)
        drawn.groups += _panel(panel, frame, ticks, has_numbers=number == 0)
    drawn.groups.append(_legend(panels, full, head + body + 14.0))
    return drawn


def _height(panels: Sequence[Panel], period: tuple[float, float]) -> float:
    """The height of the period in points, at which most labels have space."""
    rows = _LEAST
    for panel in panels:
        rows = max(rows, _ROW * len(panel.arrows) / math.sqrt(max(1, len(panel.nodes) - 1)))
    gaps: list[float] = []
    for panel in panels:
        # Frames occur in short exchanges.
        between = [a for a in panel.arrows if panel.is_of_frames and a.begin.node != a.end.node]
        middles = sorted((arrow.begin.time_s + arrow.end.time_s) / 2 for arrow in between)
        gaps += [later - sooner for sooner, later in pairwise(middles) if later > sooner]
    if not gaps:
        return min(rows, _MOST)
    close = sorted(gaps)[len(gaps) // 4]
    wanted = 0.8 * _ROW * (period[1] - period[0]) / close
    return min(max(rows, min(wanted, 2.5 * rows)), _MOST)


def _frame(
    panel: Panel, sides: tuple[float, float], heights: tuple[float, float], period: tuple[float, float]
) -> _Frame:
    """Positions the lines of the nodes; the outer ones leave space at the sides for marks and windows."""
    left, right = sides
    wide = right - left
    strip = _STRIP if panel.windows and wide >= _WIDE else 2.0
    before, after = (_margin(panel, column, wide) for column in (0, -1))
    first, last = left + strip + before, right - after
    nodes = panel.nodes or [""]
    seat = min(_SEAT, 0.12 * (last - first))
    columns = {}
    for number, node in enumerate(nodes):
        x = first + (last - first) * (number / (len(nodes) - 1) if len(nodes) > 1 else 0.5)
        columns[node] = {HOST: x}
        if node in panel.seats:
            inwards = seat if number < len(nodes) / 2 else -seat
            columns[node][AGENT] = x + inwards
    return _Frame(left, right, *heights, *period, columns)


def _margin(panel: Panel, column: int, wide: float) -> float:
    """The space outside the first or last line: for the text there, and for half of the node's name."""
    node = panel.nodes[column] if panel.nodes else ""
    half = 0.5 * Text(0.0, 0.0, node, _SIZE, bold=True).width + 2.0
    return min(max([half, *(5.0 + text.width for text in _outside(panel, node))]), 0.3 * wide)


def _outside(panel: Panel, node: str) -> list[Text]:
    """The text outside the line of a node: its marks, and what its agent created or kept."""
    words = [mark.text for mark in panel.marks if mark.place.node == node]
    words += [a.label for a in panel.arrows if a.begin.node == a.end.node == node and not a.lost]
    return [Text(0.0, 0.0, text, _SMALL) for text in words]


def _fitting(text: str, room: float) -> float:
    """The size at which a text fits outside a line."""
    return min(_SMALL, _SMALL * room / max(Text(0.0, 0.0, text, _SMALL).width, 1.0))


def _panel(panel: Panel, frame: _Frame, ticks: Sequence[float], *, has_numbers: bool) -> list[Group]:
    middle = (frame.left + frame.right) / 2
    size = min(
        8.0, 8.0 * (frame.right - frame.left - 8.0) / Text(0.0, 0.0, panel.title or " ", 8.0, bold=True).width
    )
    groups = [Group("head", "", [Text(middle, frame.top - 26.0, panel.title, size, bold=True)])]
    axis = Group("axis")
    for tick in ticks:
        y = frame.y(tick)
        axis.shapes.append(Line(((frame.left, y), (frame.right - _EDGE, y)), _PALE, 0.5))
        if has_numbers:
            axis.shapes.append(Text(frame.left - 3.0, y, _seconds(tick, ticks), _SMALL, _GREY, "end"))
    if has_numbers:
        axis.shapes.append(Text(frame.left - 3.0, frame.top - 10.0, "s", _SMALL, _GREY, "end"))
    groups.append(axis)
    groups += _windows(panel, frame)
    nodes = Group("nodes")
    for node, seats in frame.columns.items():
        for seat, x in seats.items():
            dashes = (2.0, 2.0) if seat == AGENT else ()
            colour = AGENT_COLOUR if seat == AGENT else _BLACK
            nodes.shapes.append(Line(((x, frame.top - 4.0), (x, frame.bottom)), colour, 0.8, dashes))
            if seat == AGENT:
                nodes.shapes.append(Text(x, frame.top - 7.5, "agent", _SMALL, AGENT_COLOUR))
        nodes.shapes.append(Text(seats[HOST], frame.top - 15.0, node, _SIZE, bold=True))
    groups.append(nodes)
    taken: list[tuple[float, ...]] = []
    labels = Group("labels")
    losses = Group("losses")
    for arrow in panel.arrows:
        if arrow.lost:
            sign = _loss(arrow, panel, frame)
            losses.shapes += sign
            taken += [shape.box for shape in sign if isinstance(shape, Text)]
        losses.shapes += _parts(arrow, _ends(arrow, panel, frame), frame, lost=True)
    for arrow in panel.arrows:
        group = _arrow(arrow, panel, frame)
        label = _label(arrow, panel, frame, taken)
        if label is not None:
            labels.shapes.append(label)
        groups.append(group)
    groups += _marks(panel, frame, taken)
    return [*groups, labels, losses]


def _ends(arrow: Arrow, panel: Panel, frame: _Frame) -> tuple[Point, Point]:
    """The two ends of an arrow.

    An arrow that is lost stops short, and one that has waited leaves next to the line of its node.
    """
    begin = (frame.x(arrow.begin), frame.y(arrow.begin.time_s))
    if arrow.left_s is not None:
        aside = _ASIDE if frame.x(arrow.end) >= begin[0] else -_ASIDE
        begin = (begin[0] + aside, frame.y(arrow.left_s))
    end = (frame.x(arrow.end), frame.y(arrow.end.time_s))
    if arrow.lost:
        if arrow.near or arrow.begin.node == arrow.end.node:
            nodes = panel.nodes
            here = nodes.index(arrow.begin.node)
            there = nodes[here + 1] if here + 1 < len(nodes) else nodes[here - 1]
            far, share = frame.columns[there][HOST], 0.3
            return begin, (begin[0] + share * (far - begin[0]), end[1])
        share = 0.72
        return begin, (begin[0] + share * (end[0] - begin[0]), begin[1] + share * (end[1] - begin[1]))
    return begin, end


def _clipped(begin: Point, end: Point, frame: _Frame) -> tuple[Point, Point] | None:
    """The part of a line that is within the period."""
    (x0, y0), (x1, y1) = begin, end
    if y1 < frame.top or y0 > frame.bottom:
        return None

    def at(y: float) -> float:
        return begin[0] + (end[0] - begin[0]) * (y - begin[1]) / (end[1] - begin[1])

    if y0 < frame.top:
        x0, y0 = at(frame.top), frame.top
    if y1 > frame.bottom:
        x1, y1 = at(frame.bottom), frame.bottom
    return (x0, y0), (x1, y1)


def _arrow(arrow: Arrow, panel: Panel, frame: _Frame) -> Group:
    colour, dashes, width, _ = KINDS[arrow.kind]
    group = Group(f"arrow {arrow.kind}{' again' if arrow.again else ''}", arrow.text)
    begin, end = _ends(arrow, panel, frame)
    start = (frame.x(arrow.begin), frame.y(arrow.begin.time_s))
    wait = _clipped(start, begin, frame) if arrow.left_s is not None else None
    if wait is not None:
        group.shapes.append(Line(wait, colour, 0.5))
    line = _clipped(begin, end, frame)
    if line is None:
        return group
    group.shapes.append(Line(line, colour, width * (1.5 if arrow.again else 1.0), dashes))
    if line[1] == end and not arrow.lost:
        group.shapes += _bar(line, AGENT_COLOUR) if arrow.kept else [_head(line, colour)]
    group.shapes += _parts(arrow, (begin, end), frame, lost=False)
    if arrow.made:
        group.shapes.append(_diamond(start, AGENT_COLOUR))
    elif arrow.again and line[0] == begin:
        group.shapes.append(_dot(begin, colour))
    return group


def _parts(arrow: Arrow, ends: tuple[Point, Point], frame: _Frame, *, lost: bool) -> list[Shape]:
    """The MPDUs of an A-MPDU along its arrow: a tick for each, or a cross for each that was lost."""
    if arrow.lost:
        return []
    (x0, y0), (x1, y1) = ends
    colour = KINDS[arrow.kind][0]
    is_wide = math.hypot(x1 - x0, y1 - y0) >= 2.0 * len(arrow.parts)
    shapes: list[Shape] = []
    for number, part in enumerate(arrow.parts):
        share = (number + 0.5) / len(arrow.parts)
        x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0)
        if not frame.top <= y <= frame.bottom or bool(part.lost) != lost:
            continue
        if lost:
            shapes += _cross((x, y), 2.2, 1.1)
        elif is_wide:
            shapes.append(Line(((x, y - 2.0), (x, y + 2.0)), colour, 0.6))
    return shapes


def _loss(arrow: Arrow, panel: Panel, frame: _Frame) -> list[Shape]:
    """The cross of a loss within the period, with its cause."""
    begin, end = _ends(arrow, panel, frame)
    if not frame.top <= end[1] <= frame.bottom:
        return []
    is_right = end[0] >= begin[0]
    anchor, x = ("start", end[0] + 5.0) if is_right else ("end", end[0] - 5.0)
    return [*_cross(end), Text(x, end[1] + 1.0, arrow.lost, _SMALL, _BLACK, anchor, plate=True)]


def _label(arrow: Arrow, panel: Panel, frame: _Frame, taken: list[tuple[float, ...]]) -> Text | None:
    """The label of an arrow, if there is space for it."""
    line = _clipped(*_ends(arrow, panel, frame), frame)
    if line is None:
        return None
    (x0, y0), (x1, y1) = line
    text = arrow.label + (" again" if arrow.again else "")
    if arrow.begin.node == arrow.end.node and not arrow.lost:
        # Between a host and its agent, the label is outside both.
        seats = frame.columns[arrow.begin.node]
        is_left = seats[HOST] <= seats.get(AGENT, seats[HOST])
        x = seats[HOST] + (-3.0 if is_left else 3.0)
        room = x - frame.left - _strip(panel, frame) if is_left else frame.right - x
        found = Text(
            x, y0, text, _fitting(text, room), AGENT_COLOUR, "end" if is_left else "start", plate=True
        )
        if any(overlap(found.box, other) for other in taken):
            return None
        taken.append(found.box)
        return found
    colour = KINDS[arrow.kind][0]
    for share in _PLACES:
        at = (x0 + share * (x1 - x0), y0 + share * (y1 - y0) - 0.2)
        found = Text(*at, text, _SIZE, colour, plate=True)
        if found.width > abs(x1 - x0) + 4.0 or any(overlap(found.box, other) for other in taken):
            continue
        taken.append(found.box)
        return found
    return None


def _marks(panel: Panel, frame: _Frame, taken: list[tuple[float, ...]]) -> list[Group]:
    """Timeouts and other events of a node, outside its line; a timer is a bracket from its start."""
    groups = []
    for mark in panel.marks:
        if mark.place.node not in frame.columns:
            continue
        is_right = panel.nodes.index(mark.place.node) >= len(panel.nodes) / 2
        sign = 1.0 if is_right else -1.0
        x, y = frame.columns[mark.place.node][HOST], frame.y(mark.place.time_s)
        took = "" if mark.since_s is None else f", set {mark.place.time_s - mark.since_s:.6g} s before"
        group = Group("mark", f"{mark.text} at {mark.place.node}, {mark.place.time_s:.6f} s{took}")
        if mark.since_s is not None:
            start = max(frame.y(mark.since_s), frame.top)
            group.shapes.append(
                Line(((x, start), (x + 3.5 * sign, start), (x + 3.5 * sign, y), (x, y)), _BLACK, 0.7)
            )
        group.shapes.append(_dot((x, y), _BLACK))
        room = frame.right - x - 6.0 if is_right else x - 6.0 - frame.left - _strip(panel, frame)
        size = _fitting(mark.text, room)
        text = Text(x + 6.0 * sign, y, mark.text, size, _BLACK, "start" if is_right else "end", plate=True)
        if not any(overlap(text.box, other) for other in taken):
            taken.append(text.box)
            group.shapes.append(text)
        groups.append(group)
    return groups


def _strip(panel: Panel, frame: _Frame) -> float:
    return _STRIP if panel.windows and frame.right - frame.left >= _WIDE else 0.0


def _windows(panel: Panel, frame: _Frame) -> list[Group]:
    """The congestion window as a strip, whose width is proportional to the window."""
    if not _strip(panel, frame):
        return []
    most = max(2.0, *(step.cwnd for step in panel.windows))
    left = frame.left + 4.0
    wide = _STRIP - 8.0
    group = Group("window", f"congestion window, up to {most:g} segments")
    points: list[Point] = []
    last = None
    for step in panel.windows:
        x, y = left + wide * step.cwnd / most, max(frame.y(step.time_s), frame.top)
        if points:
            points.append((points[-1][0], y))
        points.append((x, y))
        if last is None or (abs(step.cwnd - last[0]) >= 0.1 * most and y - last[1] > 3 * _SIZE):
            group.shapes.append(Text(left, y + 4.0, f"{step.cwnd:.3g}", _SMALL, _GREY, "start"))
            last = (step.cwnd, y)
    points.append((points[-1][0], frame.bottom))
    outline = ((left, points[0][1]), *points, (left, frame.bottom))
    group.shapes.insert(0, Area(outline, "#eeeeee"))
    group.shapes.insert(1, Line(tuple(points), _GREY, 0.8))
    group.shapes.append(Text(left, frame.top - 10.0, "cwnd", _SMALL, _GREY, "start"))
    return [group]


def _legend(panels: Sequence[Panel], width: float, y: float) -> Group:
    """A legend of the arrows and signs that occur."""
    arrows = [arrow for panel in panels for arrow in panel.arrows]
    kinds = [kind for kind in KINDS if any(arrow.kind == kind for arrow in arrows)]
    entries: list[tuple[str, list[Shape]]] = []
    for kind in kinds:
        colour, dashes, thick, name = KINDS[kind]
        line = ((0.0, 0.0), (18.0, 0.0))
        entries.append((name, [Line(line, colour, thick, dashes), _head(line, colour)]))
    short = ((4.0, 0.0), (14.0, 0.0))
    signs: list[tuple[bool, str, list[Shape]]] = [
        (any(a.again for a in arrows), "sent again", [Line(short, _GREY, 1.6), _dot((4.0, 0.0), _GREY)]),
        (any(a.made for a in arrows), "made by an agent", [_diamond((9.0, 0.0), AGENT_COLOUR)]),
        (
            any(a.kept for a in arrows),
            "kept by an agent",
            [Line(short, _GREY, 1.0), *_bar(short, AGENT_COLOUR)],
        ),
        (any(a.parts for a in arrows), "MPDUs of an A-MPDU", _comb((4.0, 14.0), _GREY)),
        (any(a.lost or a.failed for a in arrows), "lost", [*_cross((9.0, 0.0))]),
    ]
    entries += [(name, shapes) for is_there, name, shapes in signs if is_there]
    group = Group("legend")
    widths = [24.0 + Text(0, 0, name, _SMALL).width + 8.0 for name, _ in entries]
    rows: list[list[int]] = [[]]
    for number in range(len(entries)):
        if sum(widths[n] for n in rows[-1]) + widths[number] > width - 8.0 and rows[-1]:
            rows.append([])
        rows[-1].append(number)
    for place, row in enumerate(rows):
        x = max(4.0, (width - sum(widths[n] for n in row)) / 2)
        for number in row:
            name, shapes = entries[number]
            group.shapes += [_moved(shape, x, y + 10.0 * place) for shape in shapes]
            group.shapes.append(Text(x + 22.0, y + 10.0 * place, name, _SMALL, _BLACK, "start"))
            x += widths[number]
    return group


def _moved(shape: Shape, x: float, y: float) -> Shape:
    if isinstance(shape, Text):
        return Text(shape.x + x, shape.y + y, shape.text, shape.size, shape.colour, shape.anchor, shape.bold)
    points = tuple((px + x, py + y) for px, py in shape.points)
    if isinstance(shape, Line):
        return Line(points, shape.colour, shape.width, shape.dashes)
    return Area(points, shape.colour, shape.edge)


def _head(line: tuple[Point, Point], colour: str) -> Area:
    """The head of an arrow at the end of a line."""
    (x0, y0), (x1, y1) = line
    length = math.hypot(x1 - x0, y1 - y0) or 1.0
    dx, dy = (x1 - x0) / length, (y1 - y0) / length
    long, half = min(5.0, 0.6 * length), 1.9
    back = (x1 - long * dx, y1 - long * dy)
    return Area(
        ((x1, y1), (back[0] - half * dy, back[1] + half * dx), (back[0] + half * dy, back[1] - half * dx)),
        colour,
    )


def _bar(line: tuple[Point, Point], colour: str) -> list[Shape]:
    (x0, _), (x1, y1) = line
    inside = -1.5 if x1 > x0 else 1.5
    return [Line(((x1 + inside, y1 - 3.5), (x1 + inside, y1 + 3.5)), colour, 2.0)]


def _cross(at: Point, half: float = 3.0, width: float = 1.5) -> list[Line]:
    x, y = at
    arms = (((x - half, y - half), (x + half, y + half)), ((x - half, y + half), (x + half, y - half)))
    return [Line(arm, _BLACK, width) for arm in arms]


def _comb(sides: tuple[float, float], colour: str) -> list[Shape]:
    """A piece of an arrow with the ticks of MPDUs."""
    left, right = sides
    ticks = [left + share * (right - left) for share in (0.125, 0.375, 0.625, 0.875)]
    lines = [((left, 0.0), (right, 0.0)), *(((x, -2.0), (x, 2.0)) for x in ticks)]
    return [Line(line, colour, 0.8) for line in lines]


def _dot(at: Point, colour: str) -> Area:
    angles = [2 * math.pi * n / 12 for n in range(12)]
    return Area(tuple((at[0] + 2.0 * math.cos(a), at[1] + 2.0 * math.sin(a)) for a in angles), colour)


def _diamond(at: Point, colour: str) -> Area:
    x, y = at
    return Area(((x, y - 3.2), (x + 3.2, y), (x, y + 3.2), (x - 3.2, y)), colour)


def _ticks(period: tuple[float, float], height: float) -> list[float]:
    """Times at round intervals of at least forty points."""
    begin, end = period
    rough = (end - begin) * 40.0 / height
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1.0, 2.0, 5.0, 10.0) if power * m >= rough)
    first = math.ceil(begin / step - 1e-9)
    return [n * step for n in range(first, math.floor(end / step + 1e-9) + 1)]


def _seconds(tick: float, ticks: Sequence[float]) -> str:
    """A tick with enough decimals to distinguish it from its neighbours."""
    step = ticks[1] - ticks[0] if len(ticks) > 1 else 1.0
    return f"{tick:.{max(0, -math.floor(math.log10(step) + 1e-9))}f}"
