"""A ladder as text for a terminal: one line per arrow, at the time at which it begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lasthop.views.arrows import Arrow, Panel

# The stroke of each kind of arrow.
_STROKES = {"data": "─", "datagram": "─", "ack": "╌", "control": "┄", "mac-ack": "┈"}
_SIDE = "   "
# Columns: of the time, of the window, and the minimum of a ladder.
_TIME, _WINDOW, _LEAST = 10, 5, 30


def text(panels: Sequence[Panel], title: str, width: int) -> str:
    """The ladders of several runs, side by side if they fit into this width, or else one after the other."""
    room = (width - len(_SIDE) * (len(panels) - 1)) // len(panels)
    blocks = [_block(panel, room) for panel in panels]
    if room < _LEAST + _TIME + _WINDOW:
        blocks = [_block(panel, width) for panel in panels]
        return "\n\n".join(
            ["\n".join(filter(None, [title])), *("\n".join(block) for block in blocks)]
        ).strip()
    lines = [title, ""] if title else []
    for row in range(max(map(len, blocks))):
        cells = [block[row] if row < len(block) else "" for block in blocks]
        lines.append(_SIDE.join(cell.ljust(room) for cell in cells).rstrip())
    return "\n".join(lines)


def _block(panel: Panel, width: int) -> list[str]:
    """The lines of one ladder."""
    shown = bool(panel.windows)
    left = _TIME + (_WINDOW if shown else 0)
    nodes = panel.nodes or ["?"]
    span = width - left - 2
    places = {
        node: left + 1 + round(number * (span - 1) / max(1, len(nodes) - 1))
        for number, node in enumerate(nodes)
    }
    head = [" "] * width
    for node, at in places.items():
        begin = min(max(left, at - len(node) // 2), width - len(node))
        head[begin : begin + len(node)] = node
    label = "time (s)".rjust(_TIME - 2)
    head[: len(label)] = label
    if shown:
        head[_TIME : _TIME + 4] = "cwnd"
    lines = [panel.title.center(width).rstrip(), "".join(head).rstrip()] if panel.title else ["".join(head)]
    rows = [(arrow.begin.time_s, _drawn(arrow, places, width)) for arrow in panel.arrows]
    rows += [(mark.place.time_s, _marked(mark.place.node, mark.text, places, width)) for mark in panel.marks]
    steps = list(panel.windows)
    cwnd = ""
    for time_s, row in sorted(rows, key=lambda pair: pair[0]):
        before = cwnd
        while steps and steps[0].time_s <= time_s:
            cwnd = f"{steps.pop(0).cwnd:.3g}"
        margin = f"{time_s:{_TIME - 2}.4f}  "
        if shown:
            margin += (cwnd if cwnd != before else "").rjust(_WINDOW - 1) + " "
        lines.append((margin + row[left:]).rstrip())
    return lines


def _empty(places: dict[str, int], width: int) -> list[str]:
    row = [" "] * width
    for at in places.values():
        row[at] = "│"
    return row


def _drawn(arrow: Arrow, places: dict[str, int], width: int) -> str:
    """A row with one arrow, its label and its outcome."""
    row = _empty(places, width)
    begin, end = places[arrow.begin.node], places[arrow.end.node]
    label = arrow.label + (" again" if arrow.again else "")
    if begin == end:
        sign = (
            "◆ made " if arrow.made else "⊣ kept " if arrow.kept else f"✕ {arrow.lost} " if arrow.lost else ""
        )
        words = f" {sign}{label}"
        at = begin + 1 if begin + 1 + len(words) <= width else max(0, begin - len(words) - 1)
        row[at : at + len(words)] = words
        return "".join(row)
    is_right = end > begin
    inner = list(range(begin + 1, end)) if is_right else list(range(begin - 1, end, -1))
    shown = inner[: round(0.6 * len(inner))] if arrow.lost else inner
    for at in shown:
        row[at] = _STROKES[arrow.kind]
    if arrow.lost:
        row[shown[-1]] = "✕"
        cause = f" {arrow.lost}"
        if len(cause) + 1 < len(inner) - len(shown):
            first = shown[-1] + 1 if is_right else shown[-1] - len(cause)
            row[first : first + len(cause)] = cause if is_right else cause.strip() + " "
    else:
        row[shown[-1]] = "▶" if is_right else "◀"
    words = f" {label} "
    first = min(shown) + max(1, (len(shown) - len(words)) // 2)
    if len(words) + 2 <= len(shown):
        row[first : first + len(words)] = words
    if arrow.again:
        row[shown[0]] = "●"
    return "".join(row)


def _marked(node: str, words: str, places: dict[str, int], width: int) -> str:
    row = _empty(places, width)
    at = places.get(node, 0)
    shown = f" * {words}"
    first = at + 1 if at + 1 + len(shown) <= width else max(0, at - len(shown) - 1)
    row[first : first + len(shown)] = shown
    return "".join(row)
