"""A run at a glance: a row for each flow, link and agent, and at most two remarks, within 80 columns."""

from __future__ import annotations

import math
import re
from itertools import chain
from textwrap import fill
from typing import TYPE_CHECKING

from lasthop.base.quantity import human, prefix, split
from lasthop.base.table import folded
from lasthop.views.names import in_turn, titled

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lasthop.scenario.scenario import Run

    Values = Mapping[str, float | None]

WIDTH = 80
# Holds a value and its name together where cells are wrapped.
_GLUE = "\N{NO-BREAK SPACE}"
# Rows of a table before the rest is only counted.
_ROWS = 16
_REMARKS = 2
# The columns of each table with their greatest widths; 0 for the one that has what is left.
_FLOWS = {
    "flow": 0,
    "tcp": 12,
    "goodput": 11,
    "least–most": 10,
    "Jain": 4,
    "round trip or delay p50/95/99": 17,
    "resent": 6,
    "timeouts": 8,
}
_LINKS = {"link": 14, "used": 6, "drops": 18, "collisions": 10, "airtime": 0}
_AGENTS = {"agent": 20, "counted": 0}
_LIMITS = ("application", "receiver", "pace", "window")
# A limit of so much of the time is the only one worth a word.
_WHOLE = 0.95
_SENT = ("segments_sent", "packets_sent", "requests_sent")
_COLLISIONS = ("frames_collided", "collisions")
_LOST = ("packets_lost", "discards")
# A queue that was full for this share of the time is worth a word even if it dropped nothing.
_FULL = 0.5
# Wires and classes of airtime that are used less are left out.
_USED = 0.01


def of_run(done: Run) -> str:
    """The tables and remarks of a run.

    Args:
        done: The run.

    Returns:
        Text whose lines have at most 80 characters.
    """
    scopes = by_scope(done.metrics)
    named = {kind: dict(_named(scopes, kind)) for kind in ("flows", "links", "agents")}
    limits, mixed = _limits(done), _mixed(done)
    agents = [[name, _counted(values)] for name, values in named["agents"].items()]
    blocks = [
        _table(_FLOWS, _flow_rows(named["flows"], mixed)),
        "\n".join(text for text in (_limits_of(named["flows"], mixed), _completed(named["flows"])) if text),
        _table(_LINKS, _link_rows(done, named["links"])),
        _table(_AGENTS, agents),
        "\n".join(fill(text, WIDTH) for text in remarks(scopes, limits)),
    ]
    return "\n\n".join(block for block in blocks if block)


def by_scope(metrics: Values) -> dict[str, dict[str, float | None]]:
    """The metrics of each flow, link, direction of a link, node and agent, and of the run.

    >>> by_scope({"flows.a.timeouts": 1.0, "links.w.reverse.drops_queue": 2.0, "jain_index": 1.0})
    {'flows.a': {'timeouts': 1.0}, 'links.w.reverse': {'drops_queue': 2.0}, 'run': {'jain_index': 1.0}}
    """
    found: dict[str, dict[str, float | None]] = {}
    for name, value in metrics.items():
        parts = name.split(".")
        depth = 0 if len(parts) == 1 else 3 if parts[2] == "reverse" else 2
        found.setdefault(".".join(parts[:depth]) or "run", {})[".".join(parts[depth:])] = value
    return found


def remarks(scopes: Mapping[str, Values], limits: Mapping[str, str]) -> list[str]:
    """At most two sentences on what went wrong, the gravest first.

    Args:
        scopes: The metrics of each scope.
        limits: The limit of the queue of each link that has one, in packets or bytes.

    >>> remarks({"flows.a": {"segments_sent": 0.0}, "flows.p": {"lost_share": 0.5}}, {})
    ['a sent nothing', 'p: 50.0 % of the probes were lost']
    >>> remarks({"links.w": {"queue_full_share": 0.43, "drops_queue": 12.0}}, {"w": "9 packets"})
    ['the queue of w (9 packets) was full for 43 % of the time and dropped 12 packets']
    """
    flows = dict(_named(scopes, "flows"))
    silent = (f"{f} sent nothing" for f, v in flows.items() if any(v.get(sent) == 0 for sent in _SENT))
    shares = {f: share for f, v in flows.items() if (share := v.get("lost_share"))}
    lost = (f"{f}: {_percent(share)} of the probes were lost" for f, share in shares.items())
    found = chain(silent, _queues(scopes, limits), lost)
    return [text for text, _ in zip(found, range(_REMARKS), strict=False)]


def _queues(scopes: Mapping[str, Values], limits: Mapping[str, str]) -> Iterator[str]:
    """The queues that dropped packets or were full for long, those first that were full for longest."""

    def rank(link: str) -> tuple[float, float]:
        values = links[link]
        return values.get("queue_full_share") or 0.0, values.get("drops_queue") or 0.0

    links = dict(_named(scopes, "links"))
    for link in sorted(links, key=rank, reverse=True):
        share, drops = rank(link)
        if not drops and share < _FULL:
            continue
        name = f"{link} ({limits[link]})" if link in limits else link
        lasted = f"full for {100 * share:.0f} % of the time" if share >= 0.01 else "full at times"
        dropped = f"dropped {drops:.0f} packets"
        if not share:
            yield f"the queue of {name} {dropped}"
        elif not drops:
            yield f"the queue of {name} was {lasted}"
        elif _is_air(links[link]):
            # All stations drop, and the share is that of one.
            yield f"the queues of {name} {dropped}; that of the observing station was {lasted}"
        else:
            yield f"the queue of {name} was {lasted} and {dropped}"


def _is_air(values: Values) -> bool:
    """Whether these are the metrics of an 802.11 link."""
    return "airtime_idle_s" in values


def _limits(done: Run) -> dict[str, str]:
    """The limits of queues."""
    sheet = done.scenario.resolved(done.point)
    found: dict[str, str] = {}
    for key, entry in sheet.items():
        match = re.fullmatch(r"links\.(.+)\.queue", key)
        if match and split(str(entry["value"])):
            found[match[1]] = str(entry["value"])
    # The reverse direction has the queue of the forward one unless it has its own.
    return {**{f"{link}.reverse": limit for link, limit in found.items()}, **found}


def _named(scopes: Mapping[str, Values], kind: str) -> Iterator[tuple[str, Values]]:
    return ((name.split(".", 1)[1], values) for name, values in scopes.items() if name.startswith(f"{kind}."))


def _table(columns: Mapping[str, int], rows: list[list[str]]) -> str:
    """A folded table without its empty columns; rows beyond the most are counted."""
    head, most = list(columns), list(columns.values())
    kept = [i for i in range(len(head)) if any(row[i] for row in rows)]
    if not kept:
        return ""
    cells = [[row[i] for i in kept] for row in rows[:_ROWS]]
    text = folded([head[i] for i in kept], cells, [most[i] for i in kept], WIDTH)
    text = text.replace(_GLUE, " ")
    return text if len(rows) <= _ROWS else f"{text}\n… and {len(rows) - _ROWS} more; -v prints all"


def _mixed(done: Run) -> dict[str, list[str]]:
    """The TCPs of the members of groups that differ in it, in turn."""
    found = {}
    for key, entry in done.scenario.resolved(done.point).items():
        match = re.fullmatch(r"flows\.([^.]+)\.tcp\.variant", key)
        laws = in_turn(str(entry["value"])) if match else []
        if match and len(laws) > 1:
            found[match[1]] = [titled(key, law) for law in laws]
    return found


def _flow_rows(flows: Mapping[str, Values], mixed: Mapping[str, list[str]]) -> list[list[str]]:
    """A row for each group, and for each flow of no group or of one with different TCPs."""
    return [
        [name, tcp, *_goodput(values, members), _times(values),
         _percent(values.get("retransmitted_share")), _count(values.get("timeouts"))]
        for name, tcp, values, members in _rows(flows, mixed)
    ]  # fmt: skip


def _rows(
    flows: Mapping[str, Values], mixed: Mapping[str, list[str]]
) -> Iterator[tuple[str, str, Values, list[Values]]]:
    """The groups with their members, and the other flows with the TCP that tells them from their group."""
    groups = {name: _members(name, flows) for name, values in flows.items() if not _sends(values)}
    tcp_of = {
        member: mixed[group][place % len(mixed[group])]
        for group, members in groups.items()
        if group in mixed
        for place, member in enumerate(members)
    }
    inside = {member for members in groups.values() for member in members if member not in tcp_of}
    for name, values in flows.items():
        if name not in inside and name not in mixed:
            yield name, tcp_of.get(name, ""), values, [flows[member] for member in groups.get(name, [])]


def _sends(values: Values) -> bool:
    """Whether these are the metrics of a flow; a group has none of what was sent."""
    return any(name in values for name in _SENT)


def _members(group: str, flows: Mapping[str, Values]) -> list[str]:
    own = re.compile(re.escape(group) + r"\d+")
    return list(filter(own.fullmatch, flows))


def _goodput(values: Values, members: list[Values]) -> list[str]:
    """The goodput of a flow; the mean, extremes and Jain index of those of a group."""
    each = [rate for member in members if (rate := member.get("goodput_bps")) is not None]
    if not each:
        own = values.get("goodput_bps")
        return ["" if own is None else human(own, "bit/s", 3), "", ""]
    mean = math.fsum(each) / len(each)
    if len(each) == 1:
        return [human(mean, "bit/s", 3), "", ""]
    factor, _ = prefix(mean, "bit/s")
    squares = math.fsum(rate * rate for rate in each)
    jain = f"{math.fsum(each) ** 2 / (len(each) * squares):.2f}" if squares else "–"
    extremes = f"{_short(min(each) / factor)}–{_short(max(each) / factor)}"
    return [human(mean, "bit/s", 3), extremes, jain]


def _limits_of(flows: Mapping[str, Values], mixed: Mapping[str, list[str]]) -> str:
    """What kept most of the flows from sending more for most of the time; of a group, its mean flow.

    >>> shares = {"limited_by_pace_share": 0.2, "limited_by_window_share": 0.7}
    >>> _limits_of({"a": shares, "b": {"limited_by_window_share": 1.0}, "udp": {}}, {})
    'limited by window (a 70 %, b)'
    """
    found: dict[str, list[str]] = {}
    for name, _, values, members in _rows(flows, mixed):
        each = members or [values]
        shares = {limit: _mean(each, f"limited_by_{limit}_share") for limit in _LIMITS}
        known = {limit: share for limit, share in shares.items() if share is not None}
        if known:
            foremost = max(known, key=known.__getitem__)
            share = known[foremost]
            text = name if share > _WHOLE else f"{name}{_GLUE}{100 * share:.0f}{_GLUE}%"
            found.setdefault(foremost, []).append(text)
    texts = [f"{limit} ({', '.join(names)})" for limit, names in found.items()]
    return fill(f"limited by {', '.join(texts)}", WIDTH).replace(_GLUE, " ") if texts else ""


def _completed(flows: Mapping[str, Values]) -> str:
    """How long files took, and how many transfers of users are done.

    >>> done = {"class.web.transfers_done": 1.0, "class.web.transfers_begun": 2.0}
    >>> _completed({"a": {"completion_s": 0.15}, "b": {"completion_s": None}, "c": done})
    'completed: a after 150 ms, c 1 of 2 web'
    """
    found = [
        f"{name} after {human(time, 's', 3)}"
        for name, values in flows.items()
        if (time := values.get("completion_s")) is not None
    ]
    for name, values in flows.items():
        for metric, begun in values.items():
            kind = re.fullmatch(r"class\.(.+)\.transfers_begun", metric)
            if kind and begun:
                found.append(
                    f"{name} {values[f'class.{kind[1]}.transfers_done']:.0f} of {begun:.0f} {kind[1]}"
                )
    more = f" and {len(found) - _ROWS} more" if len(found) > _ROWS else ""
    return fill(f"completed: {', '.join(found[:_ROWS])}{more}", WIDTH) if found else ""


def _mean(flows: list[Values], metric: str) -> float | None:
    each = [value for flow in flows if (value := flow.get(metric)) is not None]
    return math.fsum(each) / len(each) if each else None


def _times(values: Values) -> str:
    """Three percentiles of the round trip, or of the one-way delay, in one unit."""
    for kind in ("rtt", "delay"):
        found = [t for p in (50, 95, 99) if (t := values.get(f"{kind}_p{p}_s")) is not None]
        if len(found) == 3:
            factor, unit = prefix(found[-1], "s")
            return f"{'/'.join(_short(time / factor) for time in found)} {unit}"
    return ""


def _short(value: float) -> str:
    """A number in at most four characters, for values below 1000.

    >>> _short(3.14159), _short(40.24), _short(99.97), _short(640.2)
    ('3.14', '40.2', '100', '640')
    """
    return f"{value:.{2 if value < 9.995 else 1 if value < 99.95 else 0}f}"


def _percent(share: float | None) -> str:
    """A share in per cent; at most six characters."""
    if share is None:
        return ""
    if not 0 < share < 1e-4:
        return f"{_short(100 * share)} %" if share else "0 %"
    return "<.01 %"


def _count(value: float | None) -> str:
    return "" if value is None else f"{value:.0f}"


def _link_rows(done: Run, links: Mapping[str, Values]) -> list[list[str]]:
    """A row for each link that was used, dropped packets or had collisions."""
    air = {}
    for book in done.airtime():
        shares = {name: book.share(seconds) or 0.0 for name, seconds in book.seconds.items()}
        ranked = sorted((name for name in shares if shares[name] >= _USED), key=lambda name: -shares[name])
        air[book.link] = ", ".join(_glued(name, _percent(shares[name])) for name in ranked)
    rows = []
    for link, values in links.items():
        collided = next((values[name] for name in _COLLISIONS if name in values), None)
        used = values.get("utilisation")
        drops = _drops(values)
        if drops or collided or air.get(link) or (used or 0.0) >= _USED:
            rows.append([link, _percent(used), drops, _count(collided), air.get(link, "")])
    return rows


def _drops(values: Values) -> str:
    """The packets lost, by cause."""
    causes = (name for name in values if name.startswith("drops_") or name in _LOST)
    lost = {name.removeprefix("drops_"): count for name in causes if (count := values[name])}
    return ", ".join(_glued(cause, f"{count:.0f}") for cause, count in lost.items())


def _glued(name: str, value: str) -> str:
    return f"{name} {value}".replace("_", " ").replace(" ", _GLUE)


def _counted(values: Values) -> str:
    """What an agent counted, without zeros."""
    counts = (_glued(name, f"{value:.6g}") for name, value in values.items() if value)
    return ", ".join(counts) or "nothing"
