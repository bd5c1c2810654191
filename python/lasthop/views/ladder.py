"""The ladder of a run: what passed between its nodes, as arrows and marks, from the trace of its events."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lasthop.views.arrows import AGENT, HOST, KINDS, NAMES, Arrow, Mark, Panel, Part, Place, Window, words_of
from lasthop.views.events import TRANSPORTS, is_of, period_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lasthop.views.events import Event

LAYERS = ("tcp", "frames")
# How long after the period something that began within it may end.
_PATIENCE_S = 60.0
# Frames that carry or acknowledge several packets, possibly of several flows.
_OF_MANY = ("a-mpdu", "block-ack", "trigger")
# An answer begins SIFS after the frame that it answers: 10 or 16 us.
_AT_ONCE_S = 20e-6


def panel(
    read: Callable[[], Iterable[Event]],
    title: str,
    between: tuple[float | None, float | None],
    layers: str,
    flows: Sequence[str] = (),
) -> tuple[Panel, tuple[float, float]]:
    """The ladder of a run in a period.

    Args:
        read: Returns the rows of its trace, from the first on.
        title: What distinguishes the run.
        between: Begin and end in seconds; None for the first event, and for the end of the first 30 segments.
        layers: `tcp` for segments between nodes, `frames` for transmissions on the media.
        flows: The flows to show; all if empty.

    Returns:
        The panel, and its period.
    """
    begin, end = period_of(read, between, flows)
    reader = _Reader(Panel(title, layers == "frames"), begin, end, flows)
    for row in read():
        if row.time_s > end and (reader.is_complete or row.time_s > end + _PATIENCE_S):
            break
        if is_of(row, flows) or row.layer == "mpdu" or row.what in _OF_MANY:
            reader.take(row)
    reader.finish()
    return reader.panel, (begin, end)


@dataclass(slots=True)
class _Packet:
    """The state of a packet, and its last place."""

    what: str
    label: str
    again: str
    made: bool
    place: Place
    left_s: float | None = None


@dataclass(slots=True)
class _Call:
    """A frame to several stations, and whether an arrow to one of them is drawn."""

    arrow: Arrow
    is_drawn: bool = False


_AGAIN = ("timeout", "fast-retransmit", "again", "probe")


class _Reader:
    """Builds a panel from rows in the order of their times."""

    def __init__(self, panel: Panel, begin: float, end: float, flows: Sequence[str]) -> None:
        self.panel = panel
        self._flows = flows
        self._begin, self._end, self._is_frames = begin, end, panel.is_of_frames
        self._packets: dict[int, _Packet] = {}
        self._frames: dict[int, Event] = {}
        self._timers: dict[tuple[str, str, str], float] = {}
        self._hosts: set[str] = set()
        self._agents: set[str] = set()
        self._paths: list[tuple[str, str]] = []
        self._receives: Arrow | None = None
        self._sends_from = ""
        # The A-MPDUs that have ended last, by number; and the last one shown by receiver and sender.
        self._aggregates: dict[int, Arrow] = {}
        self._answered: dict[tuple[str, str], Arrow] = {}
        # By node: when the last frames to it have ended, and their senders.
        self._heard: dict[str, tuple[float, list[str]]] = {}
        # By link: the last frame to several stations. By mark: the link of the frame that it is.
        self._called: dict[str, _Call] = {}
        self._marked: list[str] = []

    @property
    def is_complete(self) -> bool:
        """Whether everything that began before the end has arrived or been lost."""
        opened = [row.time_s for row in self._frames.values()]
        if not self._is_frames:
            opened += [packet.place.time_s for packet in self._packets.values()]
        return all(time_s > self._end for time_s in opened)

    def take(self, row: Event) -> None:
        """Processes a row of the trace."""
        if row.layer in TRANSPORTS:
            self._transport(row)
        elif row.layer == "agent":
            self._agent(row)
        elif row.layer == "link":
            self._link(row)
        elif row.layer == "frame":
            self._frame(row)
        elif row.layer == "mpdu":
            self._mpdu(row)

    def finish(self) -> None:
        """Completes the panel after the last row."""
        for link in list(self._called):
            self._mark_call(link)
        shown = self.panel
        shown.seats = self._agents & self._hosts
        shown.nodes = ordered(self._paths, self._sends_from)
        for arrow in shown.arrows:
            if arrow.parts:
                arrow.label = f"A-MPDU {len(arrow.parts)}"
                arrow.label += f", {len(arrow.failed)} lost" if arrow.failed else ""
        self._name_links()
        shown.arrows.sort(key=lambda arrow: arrow.begin.time_s)

    def _name_links(self) -> None:
        """Adds its link to the label of a frame between nodes that several links join."""
        links: dict[frozenset[str], set[str]] = {}
        for arrow in self.panel.arrows:
            if arrow.link:
                links.setdefault(frozenset((arrow.begin.node, arrow.end.node)), set()).add(arrow.link)
        joined = {pair for pair, names in links.items() if len(names) > 1}
        for arrow in self.panel.arrows:
            if frozenset((arrow.begin.node, arrow.end.node)) in joined:
                arrow.label += f", {arrow.link}"
        nodes = {node for pair in joined for node in pair}
        for place, (mark, link) in enumerate(zip(self.panel.marks, self._marked, strict=True)):
            if link and mark.place.node in nodes:
                self.panel.marks[place] = mark._replace(text=f"{mark.text}, {link}")

    def _transport(self, row: Event) -> None:
        here = Place(row.time_s, row.node, HOST)
        if row.event == "send":
            self._hosts.add(row.node)
            if row.what == "data" and not self._sends_from:
                self._sends_from = row.node
            again = row.why if row.why in _AGAIN else ""
            self._packets[row.packet] = _Packet(row.what, _label(row), again, made=False, place=here)
        elif row.event == "receive":
            self._hosts.add(row.node)
            self._receives = self._end_hop(row, here)
        elif row.event == "dupack":
            if self._receives is not None and self._receives.end == here:
                self._receives.label += " dup"
        elif row.event == "timeout":
            marks = self.panel.marks
            if marks and marks[-1].place == here:
                marks[-1] = marks[-1]._replace(text="timeout")
        elif row.event == "enter":
            self._mark(Mark(here, "loss detected"))
        elif row.event == "set":
            self._timers[row.node, row.flow, row.what] = row.time_s
        elif row.event == "fire" and row.what == "retransmit":
            self._mark(Mark(here, "timer", self._timers.pop((row.node, row.flow, row.what), None)))
        if row.node == self._sends_from and math.isfinite(row.cwnd):
            self._window(Window(row.time_s, row.cwnd, row.ssthresh))

    def _agent(self, row: Event) -> None:
        here = Place(row.time_s, row.node, AGENT)
        self._agents.add(row.node)
        if row.event in ("make", "again", "release"):
            again = "by an agent" if row.event == "again" else ""
            made = row.event == "make"
            self._packets[row.packet] = _Packet(row.what, _label(row), again, made=made, place=here)
        elif row.event == "keep":
            arrow = self._end_hop(row, here)
            if arrow is not None:
                arrow.kept = True
        elif row.event == "change" and row.packet in self._packets:
            self._mark(Mark(here, f"{_label(row)}: {row.why} changed"))

    def _link(self, row: Event) -> None:
        if row.event == "copy":
            here = Place(row.time_s, row.node, HOST)
            self._packets[row.packet] = _Packet(row.what, _label(row), "duplicated", made=True, place=here)
        packet = self._packets.get(row.packet)
        if packet is None:
            return
        if row.event == "queue" and packet.place.node != row.node:
            # The packet continues at a relay.
            self._end_hop(row, Place(row.time_s, row.node, HOST), stays=True)
        elif row.event == "lost":
            near = packet.place.node == row.node
            arrow = self._end_hop(row, Place(row.time_s, row.node, HOST))
            if arrow is not None:
                arrow.lost, arrow.near = row.why, near

    def _frame(self, row: Event) -> None:
        if row.event == "send":
            self._frames[row.frame] = row
            self._leaves(row)
            self._hear_call(row)
            return
        sent = self._frames.pop(row.frame, None)
        if sent is None:
            return
        self._paths.append((sent.node, sent.peer or sent.node))
        if not self._is_frames:
            return
        if not sent.peer:
            self._call(sent, row)
            return
        if row.event == "receive":
            time_s, senders = self._heard.get(sent.peer, (row.time_s, []))
            self._heard[sent.peer] = (row.time_s, [*(senders if time_s == row.time_s else []), sent.node])
        packet = self._packets.get(sent.packet)
        kind, label = _of_frame(sent, packet)
        is_whole = sent.what != "a-mpdu"
        notes = [f"{sent.len} B"]
        notes += [f"attempt {sent.attempt}"] if sent.attempt > 0 and is_whole else []
        notes += [f"backoff {sent.slots} slots"] if sent.slots >= 0 else []
        carries = sent.what in ("data", "packet") and packet is not None
        again = packet.again if carries and packet else ""
        label += f" #{sent.attempt}" if sent.attempt > 1 and is_whole else ""
        begin, end = Place(sent.time_s, sent.node, AGENT), Place(row.time_s, sent.peer, AGENT)
        lost = row.why if row.event == "lost" else ""
        arrow = Arrow(begin, end, kind, label, lost, again=again, notes=notes, link=sent.link)
        if sent.what == "a-mpdu":
            # It is added with its first MPDU of a flow that is shown; the rows of its MPDUs follow.
            if any(other.end.time_s != row.time_s for other in self._aggregates.values()):
                self._aggregates.clear()
            self._aggregates[sent.frame] = arrow
            self._answered.pop((sent.peer, sent.node), None)
            return
        if sent.what == "block-ack":
            answers = self._answers(sent.node, sent.peer)
            if not answers and self._flows:
                return
            arrow.label += answers
        self._add(arrow)

    def _answers(self, node: str, peer: str, since_s: float = 0.0) -> str:
        """What a BlockAck acknowledges: the MPDUs received of those in the A-MPDU, if it is shown."""
        of = self._answered.get((node, peer))
        if of is None or of.end.time_s < since_s:
            return ""
        return f" {sum(not part.lost for part in of.parts)}/{len(of.parts)}"

    def _call(self, sent: Event, row: Event) -> None:
        """A frame to several stations has ended: a BlockAck is for those just heard."""
        self._mark_call(sent.link)
        kind, label = _of_frame(sent, None)
        lost = row.why if row.event == "lost" else ""
        begin, end = Place(sent.time_s, sent.node, AGENT), Place(row.time_s, sent.node, AGENT)
        arrow = Arrow(begin, end, kind, label, lost, notes=[f"{sent.len} B"], link=sent.link)
        self._called[sent.link] = _Call(arrow)
        time_s, senders = self._heard.get(sent.node, (-math.inf, []))
        if sent.what == "block-ack" and sent.time_s - time_s < _AT_ONCE_S:
            for station in senders:
                self._draw_call(sent.link, station, self._answers(sent.node, station, time_s))

    def _hear_call(self, row: Event) -> None:
        """A station that sends at once after a frame to several answers it."""
        call = self._called.get(row.link)
        if (
            call is not None
            and 0.0 < row.time_s - call.arrow.end.time_s < _AT_ONCE_S
            and row.peer == call.arrow.begin.node
        ):
            self._draw_call(row.link, row.node)

    def _draw_call(self, link: str, station: str, answers: str = "") -> None:
        """Adds the arrow of a frame to several stations that goes to one of them."""
        call = self._called[link]
        call.is_drawn = True
        end = call.arrow.end._replace(node=station)
        self._add(replace(call.arrow, end=end, label=call.arrow.label + answers, notes=[*call.arrow.notes]))

    def _mark_call(self, link: str) -> None:
        """A frame to several stations which none has answered, such as a beacon, is a mark."""
        call = self._called.pop(link, None)
        if call is not None and not call.is_drawn:
            lost = f", {call.arrow.lost}" if call.arrow.lost else ""
            self._mark(Mark(call.arrow.begin, call.arrow.label + lost), link)

    def _leaves(self, row: Event) -> None:
        """A packet is transmitted on the medium."""
        begun = self._packets.get(row.packet)
        if begun is not None and begun.left_s is None and begun.place.node == row.node:
            begun.left_s = row.time_s

    def _mpdu(self, row: Event) -> None:
        """An MPDU of an A-MPDU begins, or has ended after the A-MPDU."""
        if row.event == "send":
            self._leaves(row)
            return
        arrow = self._aggregates.get(row.frame)
        if arrow is None:
            return
        ends = (arrow.end.node, arrow.begin.node)
        if ends not in self._answered and is_of(row, self._flows):
            self._answered[ends] = arrow
            self._add(arrow)
        arrow.kind = arrow.kind if arrow.parts else KINDS.get(row.what, "control")
        arrow.parts.append(Part(_label(row), row.attempt, row.why if row.event == "lost" else ""))

    def _end_hop(self, row: Event, here: Place, *, stays: bool = False) -> Arrow | None:
        """Ends a hop: a packet has moved from its last place to another."""
        packet = self._packets.get(row.packet)
        if packet is None:
            return None
        begin, packet.place = packet.place, here
        left_s, packet.left_s = packet.left_s, None
        if not stays and not self._is_frames:
            del self._packets[row.packet]
        notes = [f"{row.len} B"] if row.len > 0 else []
        kind = KINDS.get(packet.what, "control")
        if left_s is not None and not begin.time_s < left_s < here.time_s:
            left_s = None
        arrow = Arrow(
            begin,
            here,
            kind,
            packet.label,
            again=packet.again,
            made=packet.made,
            left_s=left_s,
            notes=notes,
        )
        self._paths.append((begin.node, here.node))
        if not self._is_frames or begin.node == here.node:
            self._add(arrow)
        return arrow

    def _add(self, arrow: Arrow) -> None:
        if arrow.end.time_s >= self._begin and arrow.begin.time_s <= self._end:
            self.panel.arrows.append(arrow)

    def _mark(self, mark: Mark, link: str = "") -> None:
        if self._begin <= mark.place.time_s <= self._end:
            self.panel.marks.append(mark)
            self._marked.append(link)

    def _window(self, window: Window) -> None:
        """Records a change of the window; of the changes before the period only the last is kept."""
        if window.time_s > self._end:
            return
        steps = self.panel.windows
        if steps and steps[-1][1:] == window[1:]:
            return
        if steps and window.time_s <= self._begin:
            steps.clear()
        steps.append(window)


def _label(row: Event) -> str:
    return words_of(row.what, row.seq, row.len, row.ack)


def _of_frame(sent: Event, packet: _Packet | None) -> tuple[str, str]:
    """The kind and the label of a frame."""
    if sent.what in ("data", "packet"):
        if packet is None:
            return "control", "packet"
        return KINDS.get(packet.what, "control"), packet.label
    name = NAMES.get(sent.what, sent.what)
    return ("mac-ack" if sent.what in ("ack", "block-ack") else "control"), name


def ordered(paths: Sequence[tuple[str, str]], first: str) -> list[str]:
    """The nodes in the order in which packets pass them, from the one that sends the first data."""
    near: dict[str, list[str]] = {}
    for one, other in paths:
        for a, b in ((one, other), (other, one)):
            if b not in near.setdefault(a, []) and a != b:
                near[a].append(b)
    order: list[str] = []
    waiting = [first] if first in near else []
    for start in [*waiting, *near]:
        stack = [start]
        while stack:
            node = stack.pop()
            if node not in order:
                order.append(node)
                stack += reversed(near.get(node, []))
    return order
