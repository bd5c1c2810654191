"""The flows in a capture: who sends to whom, over TCP or UDP, and how much."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from statistics import mean, variance
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lasthop.captures.frames import Frame, Packet
    from lasthop.captures.network import Network

    Key = tuple[str, tuple[bytes, bytes, int, int] | tuple[str, str]]

SERVER = "server"
"""The node that stands for all that is behind the access point."""

# A flow with a smaller share of the payload is not a flow of the scenario.
_LEAST = 0.01
_MOST_FLOWS = 50
# Packets per window on average, the fewest windows, and the ratio of variance to mean of their counts below
# which a flow has constant intervals. A Poisson process has a ratio of 1.
_EACH, _WINDOWS, _EVEN = 20, 20, 0.4
# LLC and SNAP, and the headers of IPv4 and UDP, where they are encrypted.
_HEADERS = 8 + 28


@dataclass(slots=True)
class Flow:
    """One direction of a connection.

    Attributes:
        source: The name of the node that sends.
        target: The name of the node that receives.
        transport: `tcp` or `udp`.
        sender: The address of the station that sends its frames.
        sizes: How many packets it has of each payload.
        starts: When the first attempt of each packet began, in microseconds.
    """

    source: str
    target: str
    transport: str
    sender: bytes | None
    sizes: Counter[int] = field(default_factory=Counter)
    starts: list[float] = field(default_factory=list)

    @property
    def packets(self) -> int:
        """The number of packets."""
        return self.sizes.total()

    @property
    def payload(self) -> int:
        """The bytes of all packets, without headers."""
        return sum(size * count for size, count in self.sizes.items())

    @property
    def usual(self) -> int:
        """The payload of most packets."""
        return self.sizes.most_common(1)[0][0]

    @property
    def is_even(self) -> bool:
        """Whether its packets come at intervals more constant than those of a Poisson process."""
        windows = len(self.starts) // _EACH
        if windows < _WINDOWS:
            return False
        # A capture may lack times, or have them out of order.
        first, last = min(self.starts), max(self.starts)
        if first == last:
            return False
        counts = [0] * windows
        for start in self.starts:
            counts[min(int((start - first) / (last - first) * windows), windows - 1)] += 1
        return variance(counts) < _EVEN * mean(counts)


@dataclass(frozen=True)
class Traffic:
    """The flows of a capture.

    Attributes:
        flows: Those with at least 1 % of the payload, the largest first.
        left_out: The share of the payload of the others.
        beyond_s: The least time from a timestamp at the access point to its echo in seconds, if known.
        echoes: From how many timestamps that was found.
    """

    flows: tuple[Flow, ...]
    left_out: float
    beyond_s: float | None
    echoes: int


def traffic(network: Network) -> Traffic:
    """Find the flows by the first attempt of each frame."""
    found: dict[Key, Flow] = {}
    beyond = _Beyond()
    for ppdu in network.data:
        for frame in ppdu.frames:
            if frame.packet is not None and frame.packet.stamps is not None:
                beyond.see(frame, frame.packet, ppdu.start, ppdu.end)
            # What the access point passes on from another station has been counted when it came.
            is_relayed = frame.via == "down" and frame.source in network.names
            if frame.is_retry or (is_relayed and frame.source != network.access_point):
                continue
            _count(found, frame, ppdu.start, network)
    flows = sorted(_one_way(found), key=lambda flow: -flow.payload)
    whole = sum(flow.payload for flow in flows)
    kept = tuple(flow for flow in flows if flow.payload >= _LEAST * whole and flow.usual)[:_MOST_FLOWS]
    left_out = 1 - sum(flow.payload for flow in kept) / whole if whole else 0.0
    return Traffic(kept, left_out, min(beyond.times, default=None), len(beyond.times))


def _count(found: dict[Key, Flow], frame: Frame, start: float, network: Network) -> None:
    packet = frame.packet
    source, target = (network.names.get(it or b"", SERVER) for it in (frame.source, frame.target))
    if source == target:
        return
    is_known = packet is not None and packet.transport in ("tcp", "udp")
    transport = packet.transport if packet is not None and is_known else "udp"
    key = packet.ends if packet is not None and is_known else (source, target)
    flow = found.setdefault((transport, key), Flow(source, target, transport, frame.sender))
    flow.sizes[packet.payload if packet is not None else max(frame.body - _HEADERS, 0)] += 1
    flow.starts.append(start)


def _one_way(found: dict[Key, Flow]) -> list[Flow]:
    """Of each connection of TCP the direction with more payload; the other has its acknowledgements."""
    kept = []
    for (transport, ends), flow in found.items():
        if transport == "tcp" and len(ends) == 4:
            back = found.get((transport, (ends[1], ends[0], ends[3], ends[2])))
            if back is not None and back.payload > flow.payload:
                continue
        kept.append(flow)
    return kept


class _Beyond:
    """The time that hosts behind the access point take to echo a timestamp of TCP."""

    def __init__(self) -> None:
        self.sent: dict[object, float] = {}
        self.times: list[float] = []

    def see(self, frame: Frame, packet: Packet, start: float, end: float) -> None:
        value, echo = packet.stamps or (0, 0)
        a, b, p, q = packet.ends
        if frame.via == "up":
            self.sent.setdefault((a, b, p, q, value), end)
        elif frame.via == "down" and frame.source != frame.sender:
            asked = self.sent.pop((b, a, q, p, echo), None)
            if asked is not None and start > asked:
                self.times.append((start - asked) / 1e6)
