"""Frames of 802.11 as a capture holds them, and the packets in them.

Source: IEEE 802.11-2020, 9.2 and 9.3; RFC 1042; RFC 791, 8200, 9293 and 768.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from lasthop.base.errors import UsageError
from lasthop.captures.pcap import records
from lasthop.captures.radiotap import header

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from lasthop.captures.radiotap import Heard, Mode

_CONTROL = {8: "bar", 9: "ba", 11: "rts", 12: "cts", 13: "ack"}
_TO_DS, _FROM_DS, _RETRY, _PROTECTED, _ORDER = 0x01, 0x02, 0x08, 0x40, 0x80
_LLC_SNAP = bytes((0xAA, 0xAA, 3, 0, 0, 0))
_TCP, _UDP = 6, 17
_FCS = 4


class Packet(NamedTuple):
    """An IP packet in a frame.

    Attributes:
        size: Its bytes.
        transport: `tcp`, `udp` or another number.
        ends: Addresses and ports of source and destination.
        payload: Bytes above the transport.
        stamps: The two timestamps of TCP, if it has them.
    """

    size: int
    transport: str
    ends: tuple[bytes, bytes, int, int]
    payload: int
    stamps: tuple[int, int] | None


@dataclass(slots=True)
class Frame:
    """One frame; times in microseconds, sizes in bytes with the check sequence.

    Attributes:
        time: The first bit after the preamble if the receiver says so, or else the time of the record.
        is_timed: Whether the receiver says so.
        mode: How it was sent.
        kind: `data`, `ack`, `ba`, `bar`, `rts`, `cts`, or `other`.
        sender: The transmitter, which an Ack and a CTS do not name.
        receiver: The receiver.
        source: Who sent the packet.
        target: Whom the packet is for.
        via: Whether it goes to (`up`) or from (`down`) an access point, or neither (``).
        sequence: The sequence number.
        tid: The traffic identifier of QoS data; -1 without one.
        is_retry: Whether it was sent before.
        size: Its bytes.
        body: Bytes of what a frame of data carries.
        is_encrypted: Whether that cannot be read.
        packet: The packet in it, if that can be read.
        block: The first sequence number and the bits of a BlockAck.
        aggregate: The number of its A-MPDU.
        signal: The power in dBm.
        is_low_band: Whether it is in the band of 2.4 GHz.
    """

    time: float
    is_timed: bool
    mode: Mode
    kind: str
    sender: bytes | None
    receiver: bytes
    source: bytes | None
    target: bytes | None
    via: str
    sequence: int
    tid: int
    is_retry: bool
    size: int
    body: int
    is_encrypted: bool
    packet: Packet | None
    block: tuple[int, int] | None
    aggregate: int | None
    signal: int | None
    is_low_band: bool


@dataclass(slots=True)
class Seen:
    """How many frames a capture has, and why some are left out."""

    frames: int = 0
    damaged: int = 0
    shared: int = 0
    modeless: int = 0


def frames(path: Path, seen: Seen) -> Iterator[Frame]:
    """The frames of a capture that can be read.

    Raises:
        UsageError: The file is not a capture with radiotap headers.
    """
    for record in records(path):
        seen.frames += 1
        heard = header(record.data)
        if heard is None:
            raise UsageError(f"{path}: record {seen.frames} has no radiotap header; expected one in each")
        if heard.is_damaged:
            seen.damaged += 1
        elif heard.is_shared:
            seen.shared += 1
        elif heard.mode is None:
            seen.modeless += 1
        else:
            frame = _frame(record.time, record.data[heard.length :], record.size - heard.length, heard)
            if frame is None:
                seen.damaged += 1
            else:
                yield frame


def _frame(time: int, data: bytes, length: int, heard: Heard) -> Frame | None:
    """The frame after a radiotap header; `None` if it is shorter than its header."""
    if len(data) < 10 or heard.mode is None:
        return None
    end = length - (_FCS if heard.has_fcs else 0)
    found = Frame(
        time=time / 1000 if heard.tsft is None else heard.tsft,
        is_timed=heard.tsft is not None,
        mode=heard.mode,
        kind="other",
        sender=None,
        receiver=data[4:10],
        source=None,
        target=None,
        via="",
        sequence=0,
        tid=-1,
        is_retry=bool(data[1] & _RETRY),
        size=end + _FCS,
        body=0,
        is_encrypted=bool(data[1] & _PROTECTED),
        packet=None,
        block=None,
        aggregate=heard.aggregate,
        signal=heard.signal,
        is_low_band=heard.is_low_band,
    )
    kind, subtype = data[0] >> 2 & 3, data[0] >> 4
    if kind == 1:
        found.kind = _CONTROL.get(subtype, "other")
        if found.kind in ("rts", "bar", "ba"):
            found.sender = data[10:16]
        if found.kind == "ba" and len(data) >= 28:
            found.block = _block(data, end)
        return found
    if len(data) < 24:
        return None
    found.sender = data[10:16]
    found.sequence = struct.unpack_from("<H", data, 22)[0] >> 4
    if kind == 2 and not subtype & 4:
        _data(found, data, subtype, end)
    return found


def _data(found: Frame, data: bytes, subtype: int, end: int) -> None:
    """What a frame of data says besides."""
    flags = data[1]
    to_ds, from_ds = bool(flags & _TO_DS), bool(flags & _FROM_DS)
    found.kind = "data"
    found.via = {(True, False): "up", (False, True): "down"}.get((to_ds, from_ds), "")
    found.target = data[16:22] if to_ds else data[4:10]
    found.source = data[16:22] if from_ds and not to_ds else data[10:16]
    at = 30 if to_ds and from_ds else 24
    if subtype & 8 and len(data) > at:
        found.tid = data[at] & 15
        at += 6 if flags & _ORDER else 2
    found.body = max(end - at, 0)
    if not found.is_encrypted and data[at : at + 6] == _LLC_SNAP:
        found.packet = _packet(data[at + 6 : end])


def _block(data: bytes, end: int) -> tuple[int, int]:
    """The first sequence number and the bits of a compressed BlockAck."""
    first = struct.unpack_from("<H", data, 18)[0]
    # Fragment number 4 stands for 256 bits (9.3.1.8.2).
    size = 32 if first & 15 == 4 else 8
    return first >> 4, int.from_bytes(data[20 : min(20 + size, end)], "little")


def _packet(data: bytes) -> Packet | None:
    """The packet after LLC and SNAP; `data` begins with its type."""
    kind, head = data[:2], data[2:]
    if kind == b"\x08\x00" and len(head) >= 20:
        size, protocol, at = struct.unpack_from(">H", head, 2)[0], head[9], (head[0] & 15) * 4
        ends = head[12:16], head[16:20]
    elif kind == b"\x86\xdd" and len(head) >= 40:
        size, protocol, at = struct.unpack_from(">H", head, 4)[0] + 40, head[6], 40
        ends = head[8:24], head[24:40]
    else:
        return None
    if protocol not in (_TCP, _UDP) or len(head) < at + 8:
        return Packet(size, str(protocol), (*ends, 0, 0), size - at, None)
    ports = struct.unpack_from(">HH", head, at)
    if protocol == _UDP:
        return Packet(size, "udp", (*ends, *ports), size - at - 8, None)
    offset = (head[at + 12] >> 4) * 4 if len(head) > at + 12 else 20
    stamps = _stamps(head[at + 20 : at + offset])
    return Packet(size, "tcp", (*ends, *ports), size - at - offset, stamps)


def _stamps(options: bytes) -> tuple[int, int] | None:
    """The timestamps among the options of TCP (RFC 7323, 3)."""
    at = 0
    while at < len(options) and options[at]:
        if options[at] == 1:
            at += 1
            continue
        length = options[at + 1] if at + 1 < len(options) else 0
        if options[at] == 8 and length == 10 and at + 10 <= len(options):
            value, echo = struct.unpack_from(">II", options, at + 2)
            return value, echo
        at += max(length, 2)
    return None
