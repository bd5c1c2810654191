"""Who is in a capture: the access point with the most data, its stations, and what else is on the channel."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lasthop.base.errors import UsageError
from lasthop.captures.exchanges import exchanges
from lasthop.captures.frames import Seen, frames

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lasthop.captures.exchanges import Ppdu
    from lasthop.captures.radiotap import Mode

FEWEST = 20
"""Fewer PPDUs of data are not enough to halve."""


@dataclass(frozen=True)
class Network:
    """The PPDUs of a capture, and the stations of one network.

    Attributes:
        ppdus: All PPDUs in the order of their beginnings.
        data: Those with data of the network, to one station.
        access_point: The address of its access point; `None` of an ad hoc network.
        names: The name of each station by its address, that of the access point first.
        standard: Its standard as scenarios name it.
        seen: How many frames the capture has.
    """

    ppdus: Sequence[Ppdu]
    data: Sequence[Ppdu]
    access_point: bytes | None
    names: dict[bytes, str]
    standard: str
    seen: Seen

    @property
    def span_s(self) -> float:
        """The time from the first PPDU to the end of the last in seconds."""
        return (max(ppdu.end for ppdu in self.ppdus[-9:]) - self.ppdus[0].start) / 1e6

    @property
    def is_timed(self) -> bool:
        """Whether the receiver gives the times of frames."""
        return all(ppdu.first.is_timed for ppdu in self.data)

    @property
    def slot(self) -> float:
        """The slot in microseconds."""
        return 20.0 if self.standard.startswith("802.11b") else 9.0

    @property
    def has_aggregates(self) -> bool:
        """Whether the standard has aggregation, and EDCA."""
        return self.standard in ("802.11n", "802.11ac", "802.11ax")

    def between(self, first_s: float, last_s: float) -> Network:
        """The same network in a part of the time."""
        begin = self.ppdus[0].start
        low, high = begin + first_s * 1e6, begin + last_s * 1e6
        ppdus = [ppdu for ppdu in self.ppdus if low <= ppdu.start < high]
        data = [ppdu for ppdu in self.data if low <= ppdu.start < high]
        return Network(ppdus, data, self.access_point, self.names, self.standard, self.seen)

    def is_own(self, ppdu: Ppdu) -> bool:
        """Whether a PPDU belongs to the network: both its ends do, as far as it names them."""
        first = ppdu.first
        return first.receiver in self.names and (first.sender is None or first.sender in self.names)


def network(path: Path, fewest: int = FEWEST) -> Network:
    """Read a capture.

    Raises:
        UsageError: It is not one with radiotap headers, or has too few frames of data.
    """
    seen = Seen()
    ppdus = exchanges(frames(path, seen))
    data = [ppdu for ppdu in ppdus if ppdu.is_data]
    if not data:
        raise UsageError(f"{path}: {_why_empty(seen)}; expected frames of data")
    access_point = _access_point(data)
    chosen = [ppdu for ppdu in data if _is_of(ppdu, access_point)]
    if len(chosen) < fewest:
        raise UsageError(f"{path}: {len(chosen)} transmissions of data; expected at least {fewest}")
    names = _names(chosen, access_point)
    return Network(ppdus, chosen, access_point, names, _standard(chosen), seen)


def _why_empty(seen: Seen) -> str:
    left_out = seen.damaged + seen.shared + seen.modeless
    what = "damaged, of several stations, of 802.11be, or without a rate"
    more = f" ({left_out} are {what})" if left_out else ""
    return f"none of {seen.frames} frames is one of data{more}"


def _access_point(data: Sequence[Ppdu]) -> bytes | None:
    found: Counter[bytes | None] = Counter()
    for ppdu in data:
        first = ppdu.first
        point = {"up": first.receiver, "down": first.sender}.get(first.via)
        found[point] += sum(frame.body for frame in ppdu.frames)
    return found.most_common(1)[0][0]


def _is_of(ppdu: Ppdu, access_point: bytes | None) -> bool:
    first = ppdu.first
    ends = (first.sender, first.receiver) if first.via else (None,)
    return access_point in ends


def _names(data: Sequence[Ppdu], access_point: bytes | None) -> dict[bytes, str]:
    names = {} if access_point is None else {access_point: "ap"}
    for ppdu in data:
        for address in (ppdu.first.sender, ppdu.first.receiver):
            if address is not None and address not in names:
                number = len(names) + (access_point is None)
                names[address] = f"sta{number}"
    return names


def _standard(data: Sequence[Ppdu]) -> str:
    modes: Counter[Mode] = Counter(ppdu.first.mode for ppdu in data)
    forms = {mode.form for mode in modes}
    newest = [form for form in ("802.11ax", "802.11ac", "802.11n") if form in forms]
    if newest:
        return newest[0]
    is_low_band = data[0].first.is_low_band
    if "ofdm" in forms:
        return "802.11g" if is_low_band else "802.11a"
    return "802.11b-short" if any(mode.is_short for mode in modes) else "802.11b"
