"""Radiotap headers: when a frame was sent, in which mode, and how strong it was.

Source: radiotap.org, the fields that are defined there.
"""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import NamedTuple

# Alignment and size of each field, by its bit.
_FIELDS = (
    *((8, 8), (1, 1), (1, 1), (2, 4), (1, 2), (1, 1), (1, 1), (2, 2), (2, 2), (2, 2), (1, 1), (1, 1)),
    *((1, 1), (1, 1), (2, 2), (2, 2), (1, 1), (1, 1), (4, 8), (1, 3), (4, 8), (2, 12), (8, 12), (2, 12)),
    *((2, 12), (2, 6), (1, 1), (2, 4)),
)
_TSFT, _FLAGS, _RATE, _CHANNEL, _SIGNAL, _MCS, _AGGREGATE, _VHT, _HE = 0, 1, 2, 3, 5, 19, 20, 21, 23
_MORE = 1 << 31
_SHORT_PREAMBLE, _HAS_FCS, _BAD_FCS = 0x02, 0x10, 0x40
_DSSS = (2, 4, 11, 22)
_VHT_WIDTHS = {1: 40, 4: 80, 5: 40, 6: 40, 11: 160}


class Mode(NamedTuple):
    """How a PPDU is sent.

    >>> Mode("802.11n", mcs=7, width=40).named, Mode("ofdm", rate=54.0).named
    ('MCS 7, 40 MHz', '54 Mbit/s')
    """

    form: str
    """A standard with aggregation, or `ofdm` or `dsss`."""
    rate: float = 0.0
    """Mbit/s, of the two older ones."""
    mcs: int = 0
    width: int = 20
    streams: int = 1
    guard: float = 0.8
    is_short: bool = False
    """Whether it has the short preamble of DSSS."""

    @property
    def is_legacy(self) -> bool:
        """Whether it is older than 802.11n."""
        return self.form in ("ofdm", "dsss")

    @property
    def named(self) -> str:
        """The mode in words."""
        if self.is_legacy:
            return f"{self.rate:g} Mbit/s"
        streams = f", {self.streams} streams" if self.streams > 1 else ""
        guard = f", {self.guard:g} us" if self.guard != 0.8 else ""
        return f"MCS {self.mcs}, {self.width} MHz{streams}{guard}"


class Heard(NamedTuple):
    """What a radiotap header says.

    Attributes:
        length: Its bytes.
        tsft: The time of the first bit after the preamble in microseconds, if known.
        mode: The mode; `None` if it is not said.
        aggregate: The number of the A-MPDU, if it is a part of one.
        signal: The power in dBm, if known.
        has_fcs: Whether the frame ends with its check sequence.
        is_damaged: Whether the receiver found it wrong.
        is_low_band: Whether it is in the band of 2.4 GHz.
        is_shared: Whether it is a part of a PPDU to or from several stations.
    """

    length: int
    tsft: int | None
    mode: Mode | None
    aggregate: int | None
    signal: int | None
    has_fcs: bool
    is_damaged: bool
    is_low_band: bool
    is_shared: bool


@lru_cache(maxsize=256)
def _layout(words: bytes) -> dict[int, int]:
    """Where the fields of a header with these presence words are; repeated words are of single antennas."""
    present = struct.unpack_from("<I", words)[0]
    place = 4 + len(words)
    found = {}
    for bit, (align, size) in enumerate(_FIELDS):
        if present >> bit & 1:
            place = -(-place // align) * align
            found[bit] = place
            place += size
    return found


def header(data: bytes) -> Heard | None:
    """Read the header of a frame; `None` if it is not one."""
    if len(data) < 8 or data[0] != 0:
        return None
    length = struct.unpack_from("<H", data, 2)[0]
    end = 8
    while end <= min(len(data), length) and struct.unpack_from("<I", data, end - 4)[0] & _MORE:
        end += 4
    if end > length or length > len(data):
        return None
    at = _layout(data[4:end])
    if any(place + _FIELDS[bit][1] > length for bit, place in at.items()):
        return None
    flags = data[at[_FLAGS]] if _FLAGS in at else 0
    mode, is_shared = _mode(data, at, flags)
    return Heard(
        length,
        struct.unpack_from("<Q", data, at[_TSFT])[0] if _TSFT in at else None,
        mode,
        struct.unpack_from("<I", data, at[_AGGREGATE])[0] if _AGGREGATE in at else None,
        struct.unpack_from("b", data, at[_SIGNAL])[0] if _SIGNAL in at else None,
        bool(flags & _HAS_FCS),
        bool(flags & _BAD_FCS),
        _CHANNEL in at and struct.unpack_from("<H", data, at[_CHANNEL])[0] < 3000,
        is_shared,
    )


def _mode(data: bytes, at: dict[int, int], flags: int) -> tuple[Mode | None, bool]:
    if _HE in at:
        return _he(data[at[_HE] : at[_HE] + 12])
    if _VHT in at:
        return _vht(data[at[_VHT] : at[_VHT] + 5]), False
    if _MCS in at:
        return _ht(data[at[_MCS] : at[_MCS] + 3]), False
    return (_legacy(data[at[_RATE]], bool(flags & _SHORT_PREAMBLE)) if _RATE in at else None), False


@lru_cache(maxsize=256)
def _legacy(half: int, is_short: bool) -> Mode | None:
    is_dsss = half in _DSSS
    return Mode("dsss" if is_dsss else "ofdm", half / 2, is_short=is_short and is_dsss) if half else None


@lru_cache(maxsize=1024)
def _ht(field: bytes) -> Mode:
    _, flags, index = field
    guard = 0.4 if flags & 4 else 0.8
    return Mode("802.11n", 0, index % 8, 40 if flags & 3 == 1 else 20, index // 8 + 1, guard)


@lru_cache(maxsize=1024)
def _vht(field: bytes) -> Mode:
    guard = 0.4 if field[2] & 4 else 0.8
    return Mode("802.11ac", 0, field[4] >> 4, _VHT_WIDTHS.get(field[3], 20), field[4] & 15 or 1, guard)


@lru_cache(maxsize=1024)
def _he(field: bytes) -> tuple[Mode, bool]:
    data = struct.unpack("<6H", field)
    width = (20, 40, 80, 160)[data[4] & 15] if data[4] & 15 < 4 else 20
    guard = (0.8, 1.6, 3.2, 3.2)[data[4] >> 4 & 3]
    return Mode("802.11ax", 0, data[2] >> 8 & 15, width, data[5] & 15 or 1, guard), data[0] & 3 > 1
