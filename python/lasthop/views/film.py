"""A run in motion: what was on its links, in its queues and in its windows at any time, and why.

It is made of the trace of events, as a ladder is. A frame moves from its transmission until its arrival. A
packet waits in the queue of a node from when the link takes it until the link is done with it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from lasthop.views.film_words import kind_of, reason_of, sentence_of
from lasthop.views.ladder import ordered

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lasthop.views.events import Event

# How long after the period a frame within it may end.
_PATIENCE_S = 5.0
# Packets that are remembered: more than can be on their way.
_MOST_PACKETS = 50_000


class Flight(NamedTuple):
    """A frame between two nodes.

    Attributes:
        begin_s: When it was sent.
        end_s: When it arrived, or would have.
        air_s: How long it was sent for; on a wire less than it took.
        source: The node that sent it.
        target: The node that it was for.
        link: The name of the link.
        kind: `data`, `ack`, `datagram`, `control` or `mac-ack`, as in a ladder.
        what: What it is; `#` stands for the number.
        number: The number of its first byte, or of the acknowledged one; -1 if there is none.
        attempt: The attempt of the MAC, from 1; 0 if it does not count.
        lost: Why it was lost, in words; empty if it was not.
        again: Whether TCP sent the segment before.
        made: Whether an agent made the packet.
    """

    begin_s: float
    end_s: float
    air_s: float
    source: str
    target: str
    link: str
    kind: str
    what: str
    number: int
    attempt: int
    lost: str
    again: bool
    made: bool


class Wait(NamedTuple):
    """A packet in the queue of a node, with the time until its last bit has left."""

    begin_s: float
    end_s: float
    node: str
    kind: str


class Happening(NamedTuple):
    """Something that happened, as a sentence.

    Attributes:
        time_s: When.
        node: Where.
        kind: `tcp`, `agent`, `frame`, `link`, `loss` or `timeout`.
        text: What; `#` stands for the number.
        why: Why; empty if the trace does not say.
        number: A number of a byte; -1 if there is none.
    """

    time_s: float
    node: str
    kind: str
    text: str
    why: str
    number: int


class Step(NamedTuple):
    """A congestion window and threshold from a time on, in segments."""

    time_s: float
    cwnd: float
    ssthresh: float


@dataclass(slots=True)
class Film:
    """What a page needs to play a run.

    Attributes:
        title: What distinguishes the run.
        nodes: From the source of the first flow to its destination.
        agents: The nodes that have an agent.
        hosts: The nodes at which a transport sends or receives.
        links: By name the pairs of nodes that frames went between.
        media: The links on which stations contend; the others are wires.
        flights: The frames, by when they began.
        waits: The packets in queues, by when they began.
        happenings: What happened, in order.
        windows: By flow, the windows of its sender.
        received: When data arrived that was not there before, and how many bytes.
    """

    title: str
    nodes: list[str] = field(default_factory=list)
    agents: list[str] = field(default_factory=list)
    hosts: list[str] = field(default_factory=list)
    links: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    media: list[str] = field(default_factory=list)
    flights: list[Flight] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    happenings: list[Happening] = field(default_factory=list)
    windows: dict[str, list[Step]] = field(default_factory=dict)
    received: list[tuple[float, int]] = field(default_factory=list)


def film(rows: Iterable[Event], title: str, period: tuple[float, float], flows: Sequence[str] = ()) -> Film:
    """The film of a run in a period.

    Args:
        rows: The rows of its trace from the first on.
        title: What distinguishes the run.
        period: Begin and end in seconds.
        flows: The flows to show; all if empty.
    """
    reader = _Reader(Film(title), *period)
    for row in rows:
        if row.time_s > period[1] and (not reader.is_waiting or row.time_s > period[1] + _PATIENCE_S):
            break
        if not flows or not row.flow or row.flow.removesuffix(".reverse") in flows:
            reader.take(row)
    return reader.finished()


class _Reader:
    """Makes a film of rows in the order of their times."""

    def __init__(self, made: Film, begin: float, end: float) -> None:
        self._film = made
        self._begin, self._end = begin, end
        self._frames: dict[int, Event] = {}
        self._packets: dict[int, Event] = {}
        self._agains: set[int] = set()
        self._by_agents: set[int] = set()
        # When a packet entered the queue of a node, and when it came to one that has none in the trace.
        self._queued: dict[tuple[int, str], float] = {}
        self._senders: set[str] = set()
        self._came: dict[int, tuple[str, float]] = {}
        self._paths: list[tuple[str, str]] = []
        self._sends_from = ""
        self._before: Event | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a frame that began in the period has not ended."""
        return any(row.time_s <= self._end for row in self._frames.values())

    def take(self, row: Event) -> None:
        """A row of the trace."""
        if row.layer in ("tcp", "udp"):
            self._transport(row)
        elif row.layer == "agent":
            self._agent(row)
        elif row.layer == "link":
            self._link(row)
        elif row.layer == "frame":
            self._frame(row)
        elif row.layer == "mpdu" and row.event == "receive":
            self._came[row.packet] = (row.node, row.time_s)
        if self._begin <= row.time_s <= self._end:
            self._tell(row)
        self._before = row

    def finished(self) -> Film:
        """All rows are taken."""
        made = self._film
        for (packet, node), since in self._queued.items():
            self._wait(packet, node, since, self._end)
        made.nodes = ordered(self._paths, self._sends_from)
        made.flights.sort(key=lambda flight: flight.begin_s)
        made.waits.sort(key=lambda wait: wait.begin_s)
        made.windows = {flow: steps for flow, steps in made.windows.items() if flow in self._senders}
        return made

    def _transport(self, row: Event) -> None:
        if row.node not in self._film.hosts:
            self._film.hosts.append(row.node)
        if row.event == "send":
            self._remember(row)
            if row.what == "data":
                self._senders.add(row.flow)
                self._sends_from = self._sends_from or row.node
            if row.what != "ack" and row.why not in ("new", "") and row.layer == "tcp":
                self._agains.add(row.packet)
        elif row.event == "receive":
            is_new = row.what == "datagram" or row.why in ("in-order", "early")
            if is_new and row.len > 0 and self._begin <= row.time_s <= self._end:
                self._film.received.append((row.time_s, row.len))
        if row.layer == "tcp" and math.isfinite(row.cwnd) and row.time_s <= self._end:
            self._window(row)

    def _window(self, row: Event) -> None:
        """The window of the end at a node; received data has the name of the other end."""
        flow = row.flow
        if row.event == "receive":
            flow = flow.removesuffix(".reverse") if flow.endswith(".reverse") else f"{flow}.reverse"
        steps = self._film.windows.setdefault(flow, [])
        step = Step(max(row.time_s, self._begin), row.cwnd, row.ssthresh)
        if not steps or steps[-1][1:] != step[1:]:
            if steps and steps[-1].time_s == step.time_s:
                steps.pop()
            steps.append(step)

    def _remember(self, row: Event) -> None:
        """A packet is made; the oldest are forgotten."""
        if len(self._packets) >= _MOST_PACKETS:
            for packet in list(self._packets)[: _MOST_PACKETS // 2]:
                del self._packets[packet]
                self._agains.discard(packet)
                self._by_agents.discard(packet)
                self._came.pop(packet, None)
        self._packets[row.packet] = row

    def _agent(self, row: Event) -> None:
        if row.node not in self._film.agents:
            self._film.agents.append(row.node)
        if row.event in ("make", "again", "release"):
            self._remember(row)
            if row.event == "make":
                self._by_agents.add(row.packet)
            if row.event == "again":
                self._agains.add(row.packet)

    def _link(self, row: Event) -> None:
        place = (row.packet, row.node)
        if row.event == "queue":
            self._queued[place] = row.time_s
            self._packets.setdefault(row.packet, row)
        elif row.event == "copy":
            self._remember(row)
        elif row.event in ("done", "lost") and place in self._queued:
            self._wait(*place, self._queued.pop(place), row.time_s)

    def _frame(self, row: Event) -> None:
        if row.event == "send":
            self._frames[row.frame] = row
            if row.what == "packet":
                self._leaves(row)
            return
        sent = self._frames.pop(row.frame, None)
        if sent is None:
            return
        self._paths.append((sent.node, sent.peer or sent.node))
        self._came[row.packet] = (row.node, row.time_s)
        self._fly(sent, row)

    def _leaves(self, row: Event) -> None:
        """A packet leaves a queue for a wire or in a slot, once its last bit is sent."""
        since = self._queued.pop((row.packet, row.node), None)
        came = self._came.get(row.packet)
        if since is None and came is not None and came[0] == row.node:
            since = came[1]
        self._wait(row.packet, row.node, row.time_s if since is None else since, row.time_s + row.duration_s)

    def _fly(self, sent: Event, ended: Event) -> None:
        if ended.time_s < self._begin or sent.time_s > self._end:
            return
        pair = (sent.node, sent.peer or ended.node)
        pairs = self._film.links.setdefault(sent.link, [])
        if pair not in pairs and pair[::-1] not in pairs:
            pairs.append(pair)
        if sent.what != "packet" and sent.link not in self._film.media:
            self._film.media.append(sent.link)
        carried = self._packets.get(sent.packet) if sent.what in ("data", "packet", "a-mpdu") else None
        kind, what, number = kind_of(sent, carried)
        is_one = carried is not None and sent.what != "a-mpdu"
        self._film.flights.append(
            Flight(
                sent.time_s,
                ended.time_s,
                sent.duration_s,
                *pair,
                sent.link,
                kind,
                what,
                number,
                0 if sent.what == "a-mpdu" else sent.attempt,
                reason_of(ended.why) if ended.event == "lost" else "",
                is_one and sent.packet in self._agains,
                is_one and sent.packet in self._by_agents,
            )
        )

    def _wait(self, packet: int, node: str, begin_s: float, end_s: float) -> None:
        known = self._packets.get(packet)
        if known is not None and end_s >= self._begin and begin_s <= self._end and end_s > begin_s:
            self._film.waits.append(Wait(begin_s, end_s, node, kind_of(known, known)[0]))

    def _tell(self, row: Event) -> None:
        found = sentence_of(row, self._before, self._packets.get(row.packet))
        if found is None:
            return
        told = self._film.happenings
        last = told[-1] if told else None
        said = Happening(row.time_s, row.node, *found)
        if last is not None and (last.time_s, last.node, last.kind) == (said.time_s, said.node, said.kind):
            if said.kind == "timeout":
                told.pop()
            elif said.kind == "loss" and (last.number, last.why) == (said.number, said.why):
                # A wire loses the frame and with it the packet.
                told.pop()
        told.append(said)
