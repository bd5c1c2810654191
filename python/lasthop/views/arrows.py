"""What a ladder shows: arrows between places, marks at them, and their words.

>>> words_of("data", 3072, 1024, 0), words_of("ack", 0, 0, 4096), words_of("syn-ack", -1, 0, 0)
('data 3072', 'ACK 4096', 'SYN-ACK')
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

HOST, AGENT = "host", "agent"
NAMES = {"ack": "ACK", "syn": "SYN", "syn-ack": "SYN-ACK", "fin": "FIN", "reset": "RST", "rts": "RTS"}
NAMES |= {"cts": "CTS", "null": "Null", "beacon": "beacon", "cf-end": "CF-End", "datagram": "datagram"}
NAMES |= {"a-mpdu": "A-MPDU", "block-ack": "BlockAck", "block-ack-request": "BlockAckReq"}
NAMES |= {"trigger": "trigger", "mu-rts": "MU-RTS"}
KINDS = {"data": "data", "ack": "ack", "fin": "control", "datagram": "datagram"}
# Lost MPDUs of an A-MPDU that are named.
_NAMED = 8


class Place(NamedTuple):
    """A point of the ladder: a time, a node, and the host or an agent at that node."""

    time_s: float
    node: str
    seat: str


class Part(NamedTuple):
    """An MPDU of an A-MPDU: what it carries, its attempt from 1, and why it was lost; empty if it was not."""

    label: str
    attempt: int
    lost: str


@dataclass(slots=True)
class Arrow:
    """Something that passed from one place to another.

    Attributes:
        begin: Where and when it began.
        end: Where and when it arrived or, if it was lost, would have arrived.
        kind: `data`, `ack`, `control` (of TCP, or RTS and CTS), `mac-ack` or `datagram`.
        label: A short description.
        lost: The cause of its loss; empty if it was not lost.
        near: Whether it was lost at the node that sent it.
        again: The reason for its retransmission; empty if it is not a retransmission.
        made: Whether an agent created it.
        kept: Whether an agent did not pass it on.
        left_s: When its first frame was transmitted, if later than its begin; until then it waited.
        notes: Further details.
        parts: The MPDUs of an A-MPDU, in their order.
        link: The link of a frame.
    """

    begin: Place
    end: Place
    kind: str
    label: str
    lost: str = ""
    near: bool = False
    again: str = ""
    made: bool = False
    kept: bool = False
    left_s: float | None = None
    notes: list[str] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)
    link: str = ""

    @property
    def failed(self) -> list[Part]:
        """The MPDUs that were lost from an A-MPDU that arrived."""
        return [] if self.lost else [part for part in self.parts if part.lost]

    @property
    def text(self) -> str:
        """A complete description in one line."""
        took = f"{1e3 * (self.end.time_s - self.begin.time_s):.3f} ms"
        way = self.begin.node if self.begin.node == self.end.node else f"{self.begin.node} to {self.end.node}"
        states = [f"sent again ({self.again})"] if self.again else []
        states += ["made by an agent"] if self.made else []
        states += ["kept by an agent"] if self.kept else []
        states += [f"lost: {self.lost}"] if self.lost else []
        if self.left_s is not None:
            states.append(f"on the air or wire after {1e3 * (self.left_s - self.begin.time_s):.3f} ms")
        if self.parts:
            states.append(f"{self.parts[0].label} to {self.parts[-1].label}")
            before = sum(part.attempt > 1 for part in self.parts)
            states += [f"{before} sent before"] if before else []
        if self.failed:
            named = ", ".join(part.label for part in self.failed[:_NAMED])
            more = len(self.failed) - _NAMED
            states.append(f"lost of it: {named}" + (f" and {more} more" if more > 0 else ""))
        return ", ".join([f"{self.label}, {way}, {self.begin.time_s:.6f} s", took, *states, *self.notes])


class Mark(NamedTuple):
    """An event at one place, such as a timeout; `since_s` is its begin if it has a duration."""

    place: Place
    text: str
    since_s: float | None = None


class Window(NamedTuple):
    """A congestion window and threshold, in segments, valid from a time on."""

    time_s: float
    cwnd: float
    ssthresh: float


@dataclass(slots=True)
class Panel:
    """The ladder of one run.

    Attributes:
        title: What distinguishes the run.
        is_of_frames: Whether its arrows are frames rather than segments.
        nodes: The columns, from the source of the first flow to its destination.
        seats: The nodes that have both a host and an agent.
        arrows: What passed between and at the nodes, by time.
        marks: Timeouts and other events of the nodes.
        windows: The window of the end that sends the first data.
    """

    title: str
    is_of_frames: bool = False
    nodes: list[str] = field(default_factory=list)
    seats: set[str] = field(default_factory=set)
    arrows: list[Arrow] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)
    windows: list[Window] = field(default_factory=list)


def words_of(what: str, seq: int, length: int, ack: int) -> str:
    """A packet in words: its kind, with the number of its first byte or the number that it acknowledges."""
    if what == "data" or (what == "fin" and length > 0):
        return f"data {seq}"
    if what == "datagram":
        return f"datagram {seq}"
    return f"{NAMES.get(what, what)} {ack}" if what == "ack" else NAMES.get(what, what)
