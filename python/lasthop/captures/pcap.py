"""Files of captured frames: pcap and pcapng, also compressed with gzip.

The reader is our own: scapy is under the GPL and reads some ten thousand frames a second; dpkt lacks the
fields of 802.11n and later in radiotap, so that the larger part of the work would remain.

Source: draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng.
"""

from __future__ import annotations

import gzip
import struct
import zlib
from typing import TYPE_CHECKING, BinaryIO, NamedTuple, cast

from lasthop.base.errors import UsageError, reason

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RADIOTAP = 127
"""The link type of 802.11 frames with a radiotap header."""

_GZIP = b"\x1f\x8b"
_SECTION, _INTERFACE, _PACKET = 0x0A0D0D0A, 1, 6
_BYTE_ORDER = 0x1A2B3C4D
# Nanoseconds of a unit of time, by the first word.
_MAGIC = {0xA1B2C3D4: 1000, 0xA1B23C4D: 1}
# A longer record is damage: a frame has at most some 12 kB, and a block little more.
_LONGEST = 1 << 24


class Record(NamedTuple):
    """A frame as it is stored: its time in nanoseconds, its bytes, and how many it had."""

    time: int
    data: bytes
    size: int


def records(path: Path) -> Iterator[Record]:
    """The records of a capture.

    Raises:
        UsageError: It cannot be read, is not a capture with radiotap headers, or ends within a record.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP
            file.seek(0)
            yield from _read(cast("BinaryIO", gzip.GzipFile(fileobj=file)) if packed else file, path)
    except (OSError, EOFError, zlib.error) as e:
        raise UsageError(f"{path}: {reason(e)}; expected a capture with radiotap headers") from e


def _read(file: BinaryIO, path: Path) -> Iterator[Record]:
    first = file.read(4)
    if len(first) == 4 and struct.unpack("<I", first)[0] == _SECTION:
        yield from _Blocks(file, path).records()
        return
    for order in "<>":
        unit = _MAGIC.get(struct.unpack(f"{order}I", first)[0]) if len(first) == 4 else None
        if unit is not None:
            yield from _classic(file, path, order, unit)
            return
    found = f"begins with {repr(first)[1:]}" if first else "is empty"
    raise UsageError(f"{path}: {found}; expected a capture in pcap or pcapng")


def _classic(file: BinaryIO, path: Path, order: str, unit: int) -> Iterator[Record]:
    head = _exactly(file, 20, path, 0)
    # The upper bits say whether frames end with a check sequence, which radiotap says of each.
    _expect_radiotap(struct.unpack(f"{order}I", head[16:])[0] & 0xFFFF, path)
    word = struct.Struct(f"{order}IIII")
    for number in range(1, 1 << 62):
        head = file.read(16)
        if not head:
            return
        seconds, part, length, size = word.unpack(head + _exactly(file, 16 - len(head), path, number))
        yield Record(seconds * 10**9 + part * unit, _exactly(file, length, path, number), size)


class _Blocks:
    """The blocks of a pcapng file; each section has its own byte order and interfaces."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self.file, self.path = file, path
        self.order = "<"
        # Link type, and units of time per second.
        self.interfaces: list[tuple[int, int]] = []
        self.count = 0

    def records(self) -> Iterator[Record]:
        kind = struct.pack("<I", _SECTION)
        while kind:
            body = self._body(kind)
            number = struct.unpack(f"{self.order}I", kind)[0]
            if number == _INTERFACE:
                self._interface(body)
            elif number == _PACKET:
                yield self._packet(body)
            kind = self.file.read(4)
            if 0 < len(kind) < 4:
                _exactly(self.file, 4 - len(kind), self.path, self.count)

    def _body(self, kind: bytes) -> bytes:
        length = _exactly(self.file, 4, self.path, self.count)
        head = b""
        if kind == struct.pack("<I", _SECTION):
            head = _exactly(self.file, 4, self.path, self.count)
            self.order = "<" if struct.unpack("<I", head)[0] == _BYTE_ORDER else ">"
            self.interfaces = []
        rest = struct.unpack(f"{self.order}I", length)[0] - 8 - len(head)
        return head + _exactly(self.file, rest, self.path, self.count)[:-4]

    def _interface(self, body: bytes) -> None:
        kind = struct.unpack_from(f"{self.order}H", body)[0]
        units, place = 10**6, 8
        while place + 4 <= len(body):
            code, length = struct.unpack_from(f"{self.order}HH", body, place)
            if code == 9 and length:
                digit = body[place + 4]
                units = 2 ** (digit & 0x7F) if digit & 0x80 else 10**digit
            place += 4 + (length + 3) // 4 * 4
        self.interfaces.append((kind, units))

    def _packet(self, body: bytes) -> Record:
        self.count += 1
        if len(body) < 20:
            raise _cut(self.path, self.count)
        place, high, low, length, size = struct.unpack_from(f"{self.order}IIIII", body)
        if place >= len(self.interfaces) or length > len(body) - 20:
            raise _cut(self.path, self.count)
        kind, units = self.interfaces[place]
        _expect_radiotap(kind, self.path)
        return Record((high << 32 | low) * 10**9 // units, body[20 : 20 + length], size)


def _expect_radiotap(kind: int, path: Path) -> None:
    if kind != RADIOTAP:
        raise UsageError(
            f"{path}: frames of link type {kind}; expected {RADIOTAP}, 802.11 with radiotap headers"
        )


def _exactly(file: BinaryIO, length: int, path: Path, number: int) -> bytes:
    data = file.read(length) if 0 <= length <= _LONGEST else b""
    if len(data) != length:
        raise _cut(path, number)
    return data


def _cut(path: Path, number: int) -> UsageError:
    return UsageError(f"{path}: ends within record {number}, or is damaged there; expected a whole capture")
