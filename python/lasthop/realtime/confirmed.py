"""What an agent has acknowledged and its receiver has not, when the agent has ended.

The link had delivered it, but a receiver may drop what it gets, for want of memory, and its sender has
forgotten it. The agent's own copies end with it. These are in a file: each segment that the link delivered.
"""

from __future__ import annotations

import heapq
import select
import socket
import struct
import time
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Bytes of a place in the file, and places, as in `sim/src/live/attached/carry.rs`.
PLACE, PLACES = 2048, 4096
_LENGTH = struct.Struct("<H")
_FIN, _SYN, _RST, _ACK = 1, 2, 4, 16
_TCP, _TIMESTAMPS = 6, 8
# The first wait for an answer, which doubles, and how often the same is sent.
_WAIT_S, _MOST_S, _MOST_TRIES = 0.2, 30.0, 12
_LONGEST = 1 << 16

#: Addresses and ports of a sender and its receiver.
Key = tuple[bytes, bytes]


def _before(one: int, other: int) -> bool:
    """Whether a sequence number precedes another.

    >>> _before(5, 7), _before(7, 5), _before(2**32 - 1, 3)
    (True, False, True)
    """
    return 0 < (other - one) % (1 << 32) < 1 << 31


class Segment(NamedTuple):
    """A segment, with where its parts are."""

    packet: bytes
    #: Where the TCP header begins, and the payload.
    header: int
    payload: int

    @staticmethod
    def of(packet: bytes) -> Segment | None:
        """That of an IP packet, if it is one."""
        header = 4 * (packet[0] & 15) if packet else 0
        if len(packet) < header + 20 or packet[0] >> 4 != 4 or packet[9] != _TCP:
            return None
        payload = header + 4 * (packet[header + 12] >> 4)
        return Segment(packet, header, payload) if header + 20 <= payload <= len(packet) else None

    @property
    def key(self) -> Key:
        """Its connection, from its sender."""
        ports = self.packet[self.header : self.header + 4]
        return self.packet[12:16] + ports[:2], self.packet[16:20] + ports[2:]

    @property
    def flags(self) -> int:
        """Its flags."""
        return self.packet[self.header + 13]

    @property
    def seq(self) -> int:
        """Its sequence number."""
        return int.from_bytes(self.packet[self.header + 4 : self.header + 8], "big")

    @property
    def ack(self) -> int:
        """What it acknowledges."""
        return int.from_bytes(self.packet[self.header + 8 : self.header + 12], "big")

    @property
    def end(self) -> int:
        """The sequence number behind it, but for a FIN."""
        return (self.seq + len(self.packet) - self.payload) % (1 << 32)

    def stamp(self) -> int | None:
        """Where the value of its timestamps is."""
        at = self.header + 20
        while at + 1 < self.payload:
            kind, length = self.packet[at], self.packet[at + 1]
            if kind == _TIMESTAMPS and length == 10 and at + length <= self.payload:
                return at + 2
            at += 1 if kind == 1 else max(length, 2)
        return None

    def stamped(self, value: bytes) -> bytes:
        """The same with other timestamps: a receiver discards what is older than the last."""
        packet = bytearray(self.packet)
        place = self.stamp()
        if place is not None and value:
            packet[place : place + 4] = value
        packet[self.header + 16 : self.header + 18] = b"\0\0"
        pseudo = packet[12:20] + struct.pack("!HH", _TCP, len(packet) - self.header)
        covered = pseudo + packet[self.header :]
        total = sum(struct.unpack(f"!{(len(covered) + 1) // 2}H", covered + bytes(len(covered) % 2)))
        total = (total & 0xFFFF) + (total >> 16)
        total = (total & 0xFFFF) + (total >> 16)
        packet[self.header + 16 : self.header + 18] = (total ^ 0xFFFF).to_bytes(2, "big")
        return bytes(packet)


def kept(content: bytes) -> Iterator[Segment]:
    """The segments of a file, in the order in which they were kept; the file is used round."""
    found = []
    for at in range(0, len(content), PLACE):
        (length,) = _LENGTH.unpack_from(content, at + 8)
        number = int.from_bytes(content[at : at + 8], "little")
        segment = Segment.of(content[at + 10 : at + 10 + length])
        if segment is not None:
            found.append((number, segment))
    yield from (segment for _, segment in sorted(found, key=lambda one: one[0]))


@dataclass(slots=True)
class Connection:
    """What one receiver may lack."""

    #: In the order of their ends, once all are taken.
    copies: deque[Segment] = field(default_factory=deque)
    #: The newest value of its timestamps.
    value: bytes = b""
    acked: int | None = None
    tries: int = 0
    due_s: float = 0.0

    def take(self, segment: Segment) -> None:
        """A segment was delivered."""
        if segment.flags & _SYN:
            self.copies, self.value = deque(), b""
            return
        self._note(segment, 0)
        if segment.end != segment.seq:
            self.copies.append(segment)

    def sort(self) -> None:
        """All are taken: order them. They are less than half of the numbers apart."""
        if self.copies:
            first = self.copies[0].end - (1 << 31)
            self.copies = deque(sorted(self.copies, key=lambda one: (one.end - first) % (1 << 32)))

    def _note(self, segment: Segment, field: int) -> None:
        """Note a value of the sender's timestamps: what it sent, or what the receiver echoes."""
        place = segment.stamp()
        if place is None:
            return
        found = segment.packet[place + field : place + field + 4]
        if not self.value or _before(int.from_bytes(self.value, "big"), int.from_bytes(found, "big")):
            self.value = found

    def hear(self, segment: Segment) -> None:
        """The receiver speaks. It echoes the last value that it has accepted, and discards older ones."""
        self._note(segment, 4)
        if segment.flags & _RST:
            self.copies.clear()
        elif segment.flags & _ACK and (self.acked is None or _before(self.acked, segment.ack)):
            self.acked, self.tries, self.due_s = segment.ack, 0, 0.0
            while self.copies and not _before(segment.ack, self.copies[0].end):
                self.copies.popleft()

    def due(self, now_s: float) -> bytes | None:
        """What is to be sent now: what the receiver lacks first, or the last if it has not spoken yet."""
        if not self.copies or now_s < self.due_s:
            return None
        if self.tries == _MOST_TRIES:
            self.copies.clear()
            return None
        self.due_s = now_s + min(_WAIT_S * 2**self.tries, _MOST_S)
        self.tries += 1
        if self.acked is None:
            return self.copies[-1].stamped(self.value)
        return self.copies[0].stamped(self.value)


def connections(content: bytes) -> dict[Key, Connection]:
    """What receivers may lack, by their connections."""
    found: dict[Key, Connection] = {}
    for segment in kept(content):
        found.setdefault(segment.key, Connection()).take(segment)
    for one in found.values():
        one.sort()
    return {key: one for key, one in found.items() if one.copies}


def confirm(content: bytes, link: socket.socket, heard: socket.socket) -> None:
    """Send what receivers lack until they have confirmed it, or have stopped answering.

    Args:
        content: The file.
        link: What sends packets by the interface.
        heard: What hears its packets.
    """
    left = connections(content)
    turns: list[tuple[float, Key]] = []

    def wait(key: Key) -> None:
        """A connection has its next turn when it is due; turns of before are passed over."""
        if left[key].copies:
            heapq.heappush(turns, (left[key].due_s, key))
        else:
            del left[key]

    for key in list(left):
        wait(key)
    while left:
        now_s = time.monotonic()
        while turns and turns[0][0] <= now_s:
            due_s, key = heapq.heappop(turns)
            one = left.get(key)
            if one is None or one.due_s != due_s:
                continue
            packet = one.due(now_s)
            if packet is not None:
                # What the link refuses is sent again.
                with suppress(OSError):
                    link.sendto(packet, (socket.inet_ntoa(packet[16:20]), 0))
            wait(key)
        pause = turns[0][0] - time.monotonic() if turns else 0.0
        if left and select.select([heard], [], [], max(pause, 0.0))[0]:
            segment = None
            # The interface is down.
            with suppress(OSError):
                segment = Segment.of(heard.recv(_LONGEST))
            if segment is not None and (found := left.get(segment.key[::-1])) is not None:
                before_s = found.due_s
                found.hear(segment)
                if found.due_s != before_s or not found.copies:
                    wait(segment.key[::-1])
