"""The closed form of one saturated station with EDCA and aggregation, and Bianchi's model with its windows.

An exchange of one station takes AIFS, on average CWmin / 2 slots, a PPDU of N MPDUs, SIFS, and an Ack
or BlockAck. N is the least of the limits by count, bytes and time. The arithmetic of the PPDU is
written here once more, from the standard, and not taken from the simulator.

Source: IEEE 802.11-2020, 19.4.3, 21.4.3, 10.23.2; 802.11ax-2021, 27.4.3; 802.11be-2024, 36.3.12, 36.5;
Bianchi 2000.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

# Data subcarriers by family and width in MHz.
_SUBCARRIERS = {
    "802.11n": {20: 52, 40: 108},
    "802.11ac": {20: 52, 40: 108, 80: 234, 160: 468},
    "802.11ax": {20: 234, 40: 468, 80: 980, 160: 1960},
    "802.11be": {20: 234, 40: 468, 80: 980, 160: 1960, 320: 3920},
}
# Coded bits of a subcarrier and the rate of the code, by MCS.
_CODED = (1, 2, 2, 4, 4, 6, 6, 6, 8, 8, 10, 10, 12, 12)
_CODE = ((1, 2), (1, 2), (3, 4), (1, 2), (3, 4), (2, 3), (3, 4), *3 * ((5, 6), (3, 4)), (5, 6))
# The rate of the response, from the mandatory rates 6, 12 and 24 Mbit/s: data bits of its symbol.
_RESPONSE_BITS = (24, 48, 48, *11 * (96,))
MOST_BYTES = {"802.11n": 65_535, "802.11ac": 1_048_575, "802.11ax": 6_500_631, "802.11be": 15_523_200}
"""The largest PSDU by family."""
# MPDUs of the largest block-ack window; a BlockAck has a bit for each.
_WINDOWS = {"802.11n": 64, "802.11ac": 64, "802.11ax": 256, "802.11be": 1024}
LONGEST_PPDU = 5484.0
"""The longest PPDU in microseconds."""
_SLOT, _SIFS = 9.0, 16.0
_OVERHEAD = 26 + 4 + 8
# IP packets of TCP with timestamps: payload of 1500 bytes, and an acknowledgement.
_SEGMENT, _TCP_ACK = 1448, 52


@dataclass(frozen=True, slots=True)
class Cell:
    """One mode and the limits of its aggregates; times in microseconds.

    Responses and RTS have the mandatory rate of the MCS `basic`, if it is not that of the data.
    """

    standard: str
    mcs: int
    width: int
    guard: float = 0.8
    streams: int = 1
    count: int = 64
    packet: int = 1500
    payload: int = 1472
    aifsn: int = 3
    cw_min: int = 15
    cw_max: int = 1023
    window: int | None = None
    most_bytes: float = math.inf
    longest: float = LONGEST_PPDU
    basic: int | None = None
    rts: bool = False

    @property
    def bits(self) -> int:
        """Data bits of a symbol."""
        data, coded = _CODE[self.mcs]
        return _SUBCARRIERS[self.standard][self.width] * _CODED[self.mcs] * self.streams * data // coded

    @property
    def symbol(self) -> float:
        """The length of a symbol."""
        return (12.8 if self.standard in ("802.11ax", "802.11be") else 3.2) + self.guard

    @property
    def preamble(self) -> float:
        """The length of what is before the data field."""
        fields = (1, 2, 4, 4)[self.streams - 1]
        if self.standard == "802.11n":
            return 32.0 + 4 * fields
        if self.standard == "802.11ac":
            return 36.0 + 4 * fields
        signal = 0 if self.standard == "802.11ax" else 8 if self.mcs == 0 else 4
        return 36.0 + signal + fields * ((12.8 if self.guard == 3.2 else 6.4) + self.guard)

    def ppdu(self, size: int) -> float:
        """The length of a PPDU with this many bytes."""
        data = math.ceil((8 * size + 22) / self.bits) * self.symbol
        if self.guard == 0.4:
            data = math.ceil(round(data / 4, 9)) * 4.0
        return self.preamble + data

    def size(self, mpdus: int) -> int:
        """Bytes of an A-MPDU, or of a single MPDU."""
        mpdu = self.packet + _OVERHEAD
        if mpdus == 1:
            return mpdu if self.standard == "802.11n" else mpdu + 4
        padded = -(-(mpdu + 4) // 4) * 4
        return (mpdus - 1) * padded + mpdu + 4

    @property
    def mpdus(self) -> int:
        """How many MPDUs an A-MPDU has."""

        def fits(mpdus: int) -> bool:
            size = self.size(mpdus)
            most = min(MOST_BYTES[self.standard], self.most_bytes)
            return size <= most and self.ppdu(size) <= min(LONGEST_PPDU, self.longest)

        return next((n for n in range(self.count, 1, -1) if fits(n)), 1)

    def control(self, size: int) -> float:
        """The length of a response."""
        bits = _RESPONSE_BITS[self.mcs if self.basic is None else self.basic]
        return 20 + 4 * math.ceil((8 * size + 22) / bits)

    @property
    def response(self) -> float:
        """The length of the Ack or BlockAck."""
        window = self.window or _WINDOWS[self.standard]
        return self.control(14 if self.mpdus == 1 else 24 + window // 8)

    @property
    def aifs(self) -> float:
        """The time before the first slot of a backoff."""
        return _SIFS + self.aifsn * _SLOT

    @property
    def protection(self) -> float:
        """The time of RTS and CTS."""
        return self.control(20) + self.control(14) + 2 * _SIFS if self.rts else 0.0

    @property
    def exchange(self) -> float:
        """The mean time of one exchange of a saturated station."""
        ppdu = self.ppdu(self.size(self.mpdus))
        return self.aifs + self.cw_min / 2 * _SLOT + self.protection + ppdu + _SIFS + self.response

    @property
    def goodput_bps(self) -> float:
        """Payload per second of one saturated station."""
        return self.mpdus * self.payload * 8e6 / self.exchange

    @property
    def tcp_goodput_bps(self) -> float:
        """Payload per second of TCP over one hop: each A-MPDU is acknowledged by another.

        Segments of 1448 bytes, an acknowledgement of 52 bytes for every second one, and no collisions.
        """
        acks = replace(self, packet=_TCP_ACK, count=max(self.mpdus // 2, 1))
        return self.mpdus * _SEGMENT * 8e6 / (self.exchange + acks.exchange)

    def single_radio_bps(self, padding: float, transition: float) -> float:
        """Payload per second to a saturated station with one radio for several links (EMLSR), sent here.

        Another link is ready when the station listens, and begins at its next slot boundary. So an exchange
        takes the transition delay, half a slot, MU-RTS, CTS, A-MPDU and BlockAck, with SIFS between them.
        The MU-RTS has 38 bytes and the padding, at the rate of a response, and the CTS goes at 6 Mbit/s.

        Args:
            padding: Of the MU-RTS, in us.
            transition: From the end of an exchange until the station listens on all links, in us.
        """
        bits = _RESPONSE_BITS[self.mcs if self.basic is None else self.basic]
        initial = self.control(38 + math.ceil(padding * bits / 32))
        cts = 20 + 4 * 6
        exchange = transition + _SLOT / 2 + initial + cts + self.ppdu(self.size(self.mpdus)) + self.response
        return self.mpdus * self.payload * 8e6 / (exchange + 3 * _SIFS)


def bianchi(cell: Cell, stations: int) -> tuple[float, float]:
    """Goodput in bit/s of all of `stations` saturated stations, and the probability that an attempt collides.

    Bianchi's chain with the windows of EDCA, without a retry limit. A collision lasts as a PPDU, and the
    timeout of its senders or the EIFS of the others, whichever is longer, here AIFS after a BlockAck's time.
    """
    window, stages = cell.cw_min + 1, round(math.log2((cell.cw_max + 1) / (cell.cw_min + 1)))

    def tau_of(p: float) -> float:
        doubling = sum((2 * p) ** k for k in range(stages))
        return 2 / (1 + window + p * window * doubling)

    low, high = 0.0, 1.0
    for _ in range(100):
        p = (low + high) / 2
        if 1 - (1 - tau_of(p)) ** (stations - 1) > p:
            low = p
        else:
            high = p
    tau = tau_of(p)
    some = 1 - (1 - tau) ** stations
    one = stations * tau * (1 - tau) ** (stations - 1)
    ppdu = cell.ppdu(cell.size(cell.mpdus))
    success = ppdu + _SIFS + cell.response + cell.aifs
    # EIFS - DIFS is SIFS and an Ack at 6 Mbit/s, 60 us; the senders wait 45 us.
    collision = ppdu + 60.0 + cell.aifs
    time = (1 - some) * _SLOT + one * success + (some - one) * collision
    return one * cell.mpdus * cell.payload * 8e6 / time, p


def anomaly(
    rates: Sequence[float], sizes: Sequence[float], *, is_fair: bool, packet: int = 1500
) -> tuple[list[float], list[float]]:
    """The model of "Ending the Anomaly" (Høiland-Jørgensen et al., USENIX ATC 2017) of an access point.

    Args:
        rates: The rate of each station in Mbit/s.
        sizes: The mean number of MPDUs in an A-MPDU for each station.
        is_fair: Whether stations share the airtime equally, in place of turns of an A-MPDU.
        packet: Bytes of a packet that count; the model adds 44 bytes to 1500.

    Returns:
        The share of the airtime and the goodput in Mbit/s of each station.
    """
    data = [32 + 8 * size * (1500 + 44) / rate for rate, size in zip(rates, sizes, strict=True)]
    times = [time + 34 + 16 + (16 + 8 * 58 / rate) + 68 for rate, time in zip(rates, data, strict=True)]
    shares = [1 / len(data) if is_fair else time / sum(data) for time in data]
    goodputs = [
        share * 8 * size * packet / time for share, size, time in zip(shares, sizes, times, strict=True)
    ]
    return shares, goodputs
