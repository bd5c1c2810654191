"""The network of a scenario as a drawing: nodes, links by kind with rate and delay, and flows as arrows.

It is drawn for wide and for narrow screens; the page shows one of both.
"""

from __future__ import annotations

import math
import re
import textwrap
from html import escape
from itertools import pairwise
from typing import TYPE_CHECKING

from lasthop.report.markup import unbroken
from lasthop.views.names import in_turn, link_kinds, titled
from lasthop.views.topology import DOT, HEIGHT, MOST, Network, largest_point, layout, network

if TYPE_CHECKING:
    from lasthop.scenario.scenario import Scenario
    from lasthop.views.topology import Layout, Link

# Widths of the drawings in pixels.
_WIDE, _NARROW = 800.0, 352.0
# Colours of flows in the style of the page, and the pixels by which flows lie beside links.
_COLOURS, _ASIDE, _NEXT = 6, 5.0, 4.0
# Nodes, and pairs of a medium, beyond which single ones cannot be distinguished.
_MOST_NODES, _MOST_PAIRS = 600, 120
# The width of a letter of a label, of the name above it, and the least room of a label, in pixels.
_LETTER, _BOLD, _LEAST = 5.8, 6.9, 90.0
# The distance between the lines of a label in pixels.
_LINE = 13.0
# The title of an agent that does nothing.
_NONE = "no agent"
# Values shown of a swept key.
_MOST_VALUES = 4


def topology(scenario: Scenario) -> str:
    """The drawing as HTML; empty if it would have too many nodes."""
    point = largest_point(scenario)
    net = network(scenario, point)
    if len(net.nodes) > _MOST_NODES:
        return ""
    told = _Values(scenario, point)
    about = _about(net, told)
    drawings = "".join(
        _svg(net, layout(net, width, is_down=is_down), told, name, about)
        for name, width, is_down in (("wide", _WIDE, False), ("narrow", _NARROW, True))
    )
    flows = "".join(
        f'<li><svg class="f{number % _COLOURS}" viewBox="0 0 26 10" width="26" aria-hidden="true">'
        f'<path d="M1 5h17" class="flow"/><path d="M17 1l8 4-8 4z" class="head"/></svg>{unbroken(text)}</li>'
        for number, text in enumerate(_flow(net, table, told) for table in net.flows)
    )
    return (
        f'<figure class="network" id="network">{drawings}<ul>{flows}</ul>'
        f"<figcaption>{unbroken(_caption(net, scenario, point, told))}</figcaption></figure>"
    )


class _Values:
    """The values of keys in words: all of a swept key, and those of the members of a group."""

    def __init__(self, scenario: Scenario, point: int) -> None:
        self._values = {key: entry["value"] for key, entry in scenario.resolved(point).items()}
        self._swept: dict[str, list[str]] = {}
        for keys, rows in scenario.axes():
            for place, key in enumerate(keys):
                self._swept[key] = list(dict.fromkeys(row[place] for row in rows))
        self._numeric = scenario.numeric

    def __call__(self, key: str) -> str:
        """The value; empty if the key has none here."""
        if key not in self._values:
            return ""
        texts = self._swept.get(key, [self._values[key]])
        if len(texts) > 2 and None not in [self._numeric(key, text) for text in texts]:
            return f"{texts[0]} to {texts[-1]}"
        found = [", ".join(dict.fromkeys(titled(key, it) for it in in_turn(text))) for text in texts]
        more = " …" if len(found) > _MOST_VALUES else ""
        return " or ".join(dict.fromkeys(found[:_MOST_VALUES])) + more


def _link(link: Link, told: _Values) -> str:
    """What a link is: its rate and delay, or its standard."""
    of = f"links.{link.table}"
    if link.kind == "wifi":
        mode = (
            [f"MCS {told(f'{of}.mcs')}", told(f"{of}.width")] if told(f"{of}.mcs") else [told(f"{of}.rate")]
        )
        return ", ".join(part for part in [told(f"{of}.standard"), *mode] if part)
    if link.kind == "frn":
        return f"slots of {told(f'{of}.frn.slot-length')}, range {told(f'{of}.frn.range')}"
    loss = told(f"{of}.loss.rate")
    parts = [told(f"{of}.rate"), told(f"{of}.delay"), f"loss {loss}" if loss else ""]
    of_kind = link_kinds()[link.kind]
    kind = "" if of_kind["wires"] else of_kind["title"]
    return ", ".join(part for part in [kind, *parts] if part)


def _flow(net: Network, table: str, told: _Values) -> str:
    """A flow in words: its ends, its TCP, and what it sends."""
    begin, end = net.ends[table]
    source = told(f"flows.{table}.app.kind")
    over = told(f"flows.{table}.tcp.variant") or "UDP"
    what = over if source in ("", "bulk") else source if source == "ping" else f"{over}, {source}"
    return f"{table}: {begin} to {end}, {what}"


def _about(net: Network, told: _Values) -> str:
    """The drawing in words, for those who cannot see it."""
    links = [
        f"{link.table} ({link_kinds()[link.kind]['title']}, {_link(link, told)}) joins "
        f"{', '.join(net.nodes[n].label for n in link.nodes[:MOST])}"
        for link in net.links
    ]
    flows = [_flow(net, table, told) for table in net.flows]
    return f"Network of {net.size} nodes. {'. '.join(links)}. Flows: {'; '.join(flows)}."


def _caption(net: Network, scenario: Scenario, point: int, told: _Values) -> str:
    points = scenario.points()
    counts = [
        f"{key} = {value}"
        for key, value in points[point].items()
        if key.endswith(".count") and any(other[key] != value for other in points)
    ]
    sorts = {_sort(link) for link in net.links}
    signs = [
        text
        for text, here in (
            ("solid: wire", "wire" in sorts),
            ("broken: link with losses", "lossy" in sorts),
            ("dashed: radio", "radio" in sorts),
        )
        if here
    ]
    kinds_of = [told(f"agents.{name}.kind") for name in net.agents]
    agents = [f"agent: {kind}" for kind in dict.fromkeys(kinds_of) if kind not in ("", _NONE)]
    scale = ["positions to scale, as far as names have room"] if net.is_plan else []
    moving = ["moving nodes where they begin"] if any(node.moves for node in net.nodes) else []
    at = [f"at {', '.join(counts)}"] if counts else []
    return "; ".join([" ".join(["The network", *at]), *signs, *agents, *scale, *moving])


def _svg(net: Network, drawn: Layout, told: _Values, name: str, about: str) -> str:
    links = "".join(_edges(net, link, drawn, told) for link in net.links)
    flows = "".join(_arrows(net, drawn, number, table) for number, table in enumerate(net.flows))
    nodes = "".join(_node(net, drawn, number, told) for number in range(len(net.nodes)))
    labels = [_texts(net, link, drawn, told) for link in net.links]
    texts = "".join(text for text, _ in labels)
    # Labels of many lines may reach above the drawing.
    above = max([0.0, *(-top for _, top in labels)])
    return (
        f'<svg class="{name}" viewBox="0 {-above:.0f} {drawn.width:.0f} {drawn.height + above:.0f}" '
        f'style="max-width:{drawn.width:.0f}px" role="img" aria-label="{escape(about)}">'
        f"{links}{flows}{nodes}{texts}{_groups(net, drawn)}{_scale(drawn)}</svg>"
    )


def _half(net: Network, number: int) -> tuple[float, float]:
    return (DOT, DOT) if net.are_dots else (net.nodes[number].width / 2, HEIGHT / 2)


def _edges(net: Network, link: Link, drawn: Layout, told: _Values) -> str:
    """The lines of a link, and the area of a medium."""
    area = ""
    if link.is_medium:
        left, top, right, bottom = _area(net, link, drawn)
        area = (
            f'<rect class="air" x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" '
            f'height="{bottom - top:.1f}" rx="14"/>'
        )
        if len(link.pairs) > _MOST_PAIRS:
            return area
    spots = [f"{x:.1f} {y:.1f}" for x, y in drawn.places]
    lines = "".join(f"M{spots[a]}L{spots[b]}" for a, b in link.pairs)
    return f'{area}<path class="link {_sort(link)}" d="{lines}"/>' if lines else area


def _sort(link: Link) -> str:
    """How its lines are drawn."""
    return "radio" if link.is_medium else "lossy" if link_kinds()[link.kind]["losses"] else "wire"


def _area(net: Network, link: Link, drawn: Layout) -> tuple[float, float, float, float]:
    """The rectangle around the stations of a medium."""
    spots = [(drawn.places[n], _half(net, n)) for n in link.nodes]
    return (
        max(min(x - w for (x, _), (w, _) in spots) - 9, 1.0),
        max(min(y - h for (_, y), (_, h) in spots) - 9, 1.0),
        min(max(x + w for (x, _), (w, _) in spots) + 9, drawn.width - 1),
        min(max(y + h for (_, y), (_, h) in spots) + 9, drawn.height - 1),
    )


def _texts(net: Network, link: Link, drawn: Layout, told: _Values) -> tuple[str, float]:
    """The name of a link and what it is, once for all links of a group; and the upper end of the text."""
    what = _link(link, told)
    if link.is_medium:
        left, _, right, bottom = _area(net, link, drawn)
        below = bottom + 13
        text = f"{link.table}: {what}"
        x = min(max((left + right) / 2, 3.1 * len(text)), drawn.width - 3.1 * len(text))
        return f'<text x="{x:.1f}" y="{below:.1f}" class="about">{escape(text)}</text>', 0.0
    if not link.pairs:
        return "", 0.0
    # The uppermost of a group, or the rightmost, where nothing is beside it.
    corner = -1.0 if drawn.is_down else 1.0
    side = 0 if drawn.is_down else 1
    a, b = min(link.pairs, key=lambda pair: corner * sum(drawn.places[n][side] for n in pair))
    (ax, ay), (bx, by) = drawn.places[a], drawn.places[b]
    # In the middle of what boxes leave of the line, or near the end that lies outside a plan.
    aw, bw = _half(net, a)[0], _half(net, b)[0]
    sign = 1 if bx >= ax else -1
    is_flat = abs(bx - ax) > abs(by - ay)
    share = 0.5
    if net.is_plan and (net.nodes[a].position is None) != (net.nodes[b].position is None):
        share = 0.4 if net.nodes[a].position is None else 0.6
    if is_flat and not drawn.is_down:
        ax, bx = ax + sign * aw, bx - sign * bw
    x, y = ax + share * (bx - ax), ay + share * (by - ay)
    if not is_flat or drawn.is_down:
        room = max(drawn.width - x - 14, _LEAST)
        name, lines = _cut(link.table, room), _lines(what, room)
        x = min(x + 14, drawn.width - 6.0 * max(len(line) for line in [name, *lines]))
        top = y - 2 - (len(lines) - 1) * _LINE / 2
        return _label("beside", x, top, name, lines), top - _LINE
    # Above the flows that come back.
    y -= 12 + _ASIDE * _returns(net, (a, b)) + 24 * abs((by - ay) / (bx - ax))
    lines = _lines(what, max(abs(bx - ax), _LEAST))
    top = y + 2 - _LINE * len(lines)
    return _label("", x, top, _cut(link.table, max(abs(bx - ax) + aw + bw, _LEAST)), lines), top - _LINE


def _lines(text: str, room: float) -> list[str]:
    """Text in lines that fit into the room; numbers stay with their units."""
    joined = re.sub(r"(?<=\d) (?=\D)", "\N{NO-BREAK SPACE}", text)
    width = max(int(room / _LETTER), 1)
    found = textwrap.wrap(joined, width, break_long_words=False, break_on_hyphens=False)
    return [line.replace("\N{NO-BREAK SPACE}", " ") for line in found]


def _cut(name: str, room: float) -> str:
    """A name that fits into the room; screen readers have all of it."""
    most = int(room / _BOLD)
    return name if len(name) <= most else f"{name[: most - 1]}…"


def _label(kind: str, x: float, y: float, name: str, lines: list[str]) -> str:
    style = f' class="{kind}"' if kind else ""
    below = "".join(f'<tspan x="{x:.1f}" dy="{_LINE:g}">{escape(line)}</tspan>' for line in lines)
    return f'<text x="{x:.1f}" y="{y:.1f}"{style}><tspan>{escape(name)}</tspan>{below}</text>'


def _returns(net: Network, pair: tuple[int, int]) -> bool:
    """Whether flows cross a link both ways."""
    hops = {hop for paths in net.flows.values() for path in paths for hop in pairwise(path)}
    return pair in hops and pair[::-1] in hops


def _arrows(net: Network, drawn: Layout, number: int, table: str) -> str:
    """The flows of a table along their paths, each hop once, with a head at each destination."""
    aside = _ASIDE + _NEXT * (number % _COLOURS) * (0.5 if net.are_dots else 1.0)
    hops: dict[tuple[int, int], bool] = {}
    for path in net.flows[table]:
        for hop, pair in enumerate(pairwise(path)):
            hops[pair] = hops.get(pair, False) or hop == len(path) - 2
    lines, heads = "", ""
    for (one, other), is_last in hops.items():
        (ax, ay), (bx, by) = drawn.places[one], drawn.places[other]
        length = math.hypot(bx - ax, by - ay)
        if length == 0.0:
            continue
        right, down = (bx - ax) / length, (by - ay) / length
        ax, ay, bx, by = ax - down * aside, ay + right * aside, bx - down * aside, by + right * aside
        if is_last:
            w, h = _half(net, other)
            # The distance from the middle of a box to its edge, along the line.
            cut = min(w / abs(right) if right else math.inf, h / abs(down) if down else math.inf) + 2
            cut = min(cut, 0.6 * length)
            bx, by = bx - right * cut, by - down * cut
            heads += (
                f"M{bx:.1f} {by:.1f}L{bx - 9 * right + 4 * down:.1f} {by - 9 * down - 4 * right:.1f}"
                f"L{bx - 9 * right - 4 * down:.1f} {by - 9 * down + 4 * right:.1f}z"
            )
            bx, by = bx - 7 * right, by - 7 * down
        lines += f"M{ax:.1f} {ay:.1f}L{bx:.1f} {by:.1f}"
    many = " many" if len(hops) > 2 * MOST else ""
    own = f'<path class="flow" d="{lines}"/><path class="head" d="{heads}"/>'
    return f'<g class="f{number % _COLOURS}{many}">{own}</g>'


def _node(net: Network, drawn: Layout, number: int, told: _Values) -> str:
    node, (x, y) = net.nodes[number], drawn.places[number]
    hub = any(link.access_point == number for link in net.links)
    if net.are_dots:
        return f'<circle class="node{" hub" if hub else ""}" cx="{x:.1f}" cy="{y:.1f}" r="{DOT + 2 * hub}"/>'
    w, h = _half(net, number)
    kinds = [told(f"agents.{name}.kind") for name in node.at]
    here = ", ".join(kind for kind in kinds if kind != _NONE)
    badge = f'<text class="agent" x="{x:.1f}" y="{y + h + 12:.1f}">{escape(here)}</text>' if here else ""

    def box(kind: str, aside: float) -> str:
        left, top = x - w + aside, y - h - aside
        size = f'width="{2 * w:.1f}" height="{HEIGHT:g}"'
        return f'<rect class="{kind}" x="{left:.1f}" y="{top:.1f}" {size} rx="7"/>'

    # A group that is drawn as one has a box behind its own.
    behind = box("node", 4.0) if len(node.members) > 1 else ""
    name = f'<text class="name" x="{x:.1f}" y="{y + 4:.1f}">{escape(node.label)}</text>'
    return f"{behind}{box('node hub' if hub else 'node', 0.0)}{name}{badge}"


def _groups(net: Network, drawn: Layout) -> str:
    """Where nodes are dots, the names of their tables."""
    if not net.are_dots:
        return ""
    tables: dict[str, list[int]] = {}
    for number, node in enumerate(net.nodes):
        tables.setdefault(node.table, []).append(number)
    found = ""
    for table, members in tables.items():
        spots = [drawn.places[n] for n in members]
        x, y = min(spots, key=lambda spot: (spot[1], spot[0]))
        text = table if len(members) == 1 else f"{len(members)} {table}"
        found += f'<text class="name over" x="{x:.1f}" y="{y - 9:.1f}">{escape(text)}</text>'
    return found


def _scale(drawn: Layout) -> str:
    """A bar of a round number of metres."""
    if drawn.metre is None or not math.isfinite(drawn.metre):
        return ""
    most = 0.25 * drawn.width / drawn.metre
    unit = 10.0 ** math.floor(math.log10(most))
    metres = max(step * unit for step in (1, 2, 5) if step * unit <= most)
    text = f"{metres / 1000:g} km" if metres >= 1000 else f"{metres:g} m"
    right, y = drawn.width - 12, drawn.height - 8
    left = right - metres * drawn.metre
    return (
        f'<path class="scale" d="M{left:.1f} {y - 4:.1f}v4h{right - left:.1f}v-4"/>'
        f'<text class="about" x="{(left + right) / 2:.1f}" y="{y - 5:.1f}">{text}</text>'
    )
