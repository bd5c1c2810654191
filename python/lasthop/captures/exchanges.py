"""PPDUs with their answers: what was sent, how long it lasted, what of it arrived, and what it collided with.

A PPDU is answered by an Ack or BlockAck to its sender that begins after SIFS. What a BlockAck does not name,
and all of a PPDU without an answer, has failed. A capture shows what is sent; an answer that its receiver
missed is known by what is sent again.

Source: IEEE 802.11-2020, 10.3.2 and 10.25; the lengths of PPDUs as in `lasthop.stats.wifi_today`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from lasthop.stats.wifi_today import LONGEST_PPDU, MOST_BYTES, Cell

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lasthop.captures.frames import Frame
    from lasthop.captures.radiotap import Mode

_SIFS_LOW, _SIFS = 10.0, 16.0
# Where times are those of records, an answer may be this much late, in microseconds.
_TOLERANCE, _UNTIMED = 12.0, 300.0
# After 802.11g's and later frames in the low band nothing is sent for so long (18.3.2.4).
_EXTENSION = 6.0
_ANSWERS = ("ack", "ba")


class Fate(IntEnum):
    """What became of a frame of data in one PPDU."""

    LOST = 0
    ARRIVED = 1
    REPEATED = 2
    """It had arrived before, so that a BlockAck says nothing about this time."""


@dataclass(slots=True)
class Ppdu:
    """One transmission; times in microseconds.

    Attributes:
        start: When it begins.
        end: When it ends.
        frames: Its frames.
        fates: What became of each of them; empty of what needs no answer.
        answer: The Ack or BlockAck that follows it.
        is_missed: Whether the sender has missed this answer.
        has_collided: Whether another one was on the air meanwhile.
    """

    start: float
    end: float
    frames: list[Frame]
    fates: list[Fate] = field(default_factory=list)
    answer: Ppdu | None = None
    is_missed: bool = False
    has_collided: bool = False

    @property
    def first(self) -> Frame:
        """The first frame."""
        return self.frames[0]

    @property
    def succeeds(self) -> bool:
        """Whether its sender has learnt that it arrived."""
        return self.answer is not None and not self.is_missed

    @property
    def is_data(self) -> bool:
        """Whether it carries data to one station."""
        return self.first.kind == "data" and not self.first.receiver[0] & 1


def sifs(frame: Frame) -> float:
    """The time between a frame and its answer in microseconds."""
    return _SIFS_LOW if frame.is_low_band else _SIFS


@lru_cache(maxsize=4096)
def duration(mode: Mode, size: int, is_low_band: bool) -> float:
    """How long a PPDU with this many bytes lasts, in microseconds.

    >>> from lasthop.captures.radiotap import Mode
    >>> duration(Mode("ofdm", rate=24.0), 14, False), duration(Mode("dsss", rate=2.0), 14, True)
    (28.0, 248.0)
    >>> duration(Mode("802.11n", mcs=7), 1538, False)
    228.0
    """
    if mode.form == "dsss":
        return (96.0 if mode.is_short else 192.0) + 8 * size / mode.rate
    extension = _EXTENSION if is_low_band else 0.0
    if mode.form == "ofdm":
        return 20.0 + 4 * math.ceil((22 + 8 * size) / (4 * mode.rate)) + extension
    return _cell(mode).ppdu(size) + extension


def preamble(mode: Mode) -> float:
    """What of a PPDU is before its first frame, in microseconds."""
    if mode.form == "dsss":
        return 96.0 if mode.is_short else 192.0
    return 20.0 if mode.form == "ofdm" else _cell(mode).preamble


@lru_cache(maxsize=1024)
def _cell(mode: Mode) -> Cell:
    return Cell(mode.form, min(mode.mcs, 11), mode.width, mode.guard, min(mode.streams, 4))


def exchanges(frames: Iterable[Frame]) -> list[Ppdu]:
    """The PPDUs of a capture in the order of their beginnings."""
    found: list[Ppdu] = []
    for frame in frames:
        last = found[-1] if found else None
        if last is not None and _continues(last.frames[-1], frame):
            last.frames.append(frame)
        else:
            found.append(Ppdu(frame.time, frame.time, [frame]))
    for ppdu in found:
        _place(ppdu)
    found.sort(key=lambda ppdu: ppdu.start)
    _collide(found)
    _answer(found)
    # The capture may have ended before the answer.
    while found and found[-1].is_data and found[-1].answer is None:
        found.pop()
    _miss(found)
    return found


def _continues(last: Frame, frame: Frame) -> bool:
    """Whether a frame is in the A-MPDU of the one before it."""
    if frame.aggregate is None or last.aggregate != frame.aggregate:
        return False
    return last.sender == frame.sender and last.mode == frame.mode


def _psdu(mode: Mode, sizes: Sequence[int]) -> int:
    """The bytes of a PPDU with frames of these sizes."""
    if len(sizes) == 1 and mode.form not in ("802.11ac", "802.11ax"):
        return sizes[0]
    # Each MPDU has a delimiter, and all but the last are padded.
    return sum(-(-(it + 4) // 4) * 4 for it in sizes[:-1]) + sizes[-1] + 4


def has_room(ppdu: Ppdu) -> bool:
    """Whether its size and duration would allow another frame as large as its largest."""
    mode = ppdu.first.mode
    sizes = [frame.size for frame in ppdu.frames]
    size = _psdu(mode, [*sizes, max(sizes)])
    return size <= MOST_BYTES.get(mode.form, 0) and duration(mode, size, False) <= LONGEST_PPDU


def _place(ppdu: Ppdu) -> None:
    """Set begin and end."""
    first = ppdu.first
    size = _psdu(first.mode, [frame.size for frame in ppdu.frames])
    ppdu.start = first.time - preamble(first.mode) if first.is_timed else first.time
    ppdu.end = ppdu.start + duration(first.mode, size, first.is_low_band)


def _collide(ppdus: Sequence[Ppdu]) -> None:
    """Mark what overlaps; times are rounded to microseconds."""
    longest: Ppdu | None = None
    for ppdu in ppdus:
        if longest is not None and ppdu.start < longest.end - 2 and ppdu.first.is_timed:
            longest.has_collided = ppdu.has_collided = True
        if longest is None or ppdu.end > longest.end:
            longest = ppdu


def _answer(ppdus: Sequence[Ppdu]) -> None:
    """Find the answers, and what they say."""
    known: dict[tuple[bytes | None, bytes, int, int], bool] = {}
    for place, ppdu in enumerate(ppdus):
        if not ppdu.is_data:
            continue
        ppdu.answer = _next_answer(ppdus, place)
        for frame in ppdu.frames:
            key = (frame.sender, frame.receiver, frame.tid, frame.sequence)
            before = frame.is_retry and known.get(key, False)
            known[key] = before or _names(ppdu.answer, frame)
            ppdu.fates.append(Fate.REPEATED if before else Fate(known[key]))


def _next_answer(ppdus: Sequence[Ppdu], place: int) -> Ppdu | None:
    ppdu = ppdus[place]
    late = _TOLERANCE if ppdu.first.is_timed else _UNTIMED
    for other in ppdus[place + 1 : place + 9]:
        if other.start > ppdu.end + sifs(ppdu.first) + late:
            return None
        if other.first.kind in _ANSWERS and other.first.receiver == ppdu.first.sender:
            return other
    return None


def _names(answer: Ppdu | None, frame: Frame) -> bool:
    """Whether an answer acknowledges a frame."""
    if answer is None:
        return False
    block = answer.first.block
    if block is None:
        return True
    ahead = (frame.sequence - block[0]) % 4096
    return ahead >= 2048 or bool(block[1] >> ahead & 1)


def _miss(ppdus: Sequence[Ppdu]) -> None:
    """Find answers that were missed: what they name is sent or asked for again."""
    waiting: dict[tuple[bytes | None, bytes], Ppdu] = {}
    for ppdu in ppdus:
        first = ppdu.first
        if not (ppdu.is_data or first.kind == "bar"):
            continue
        last = waiting.pop((first.sender, first.receiver), None)
        if last is not None and last.answer is not None:
            named = {f.sequence for f, fate in zip(last.frames, last.fates, strict=True) if fate}
            again = first.kind == "bar" or any(f.is_retry and f.sequence in named for f in ppdu.frames)
            last.is_missed = again
        if ppdu.is_data:
            waiting[first.sender, first.receiver] = ppdu
