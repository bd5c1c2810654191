"""The world of the reference model: a clock, a link, and a receiver that acknowledges every packet."""

from __future__ import annotations

import heapq
import itertools
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

NANO = 1_000_000_000

Block = tuple[int, int]


@dataclass(frozen=True)
class Path:
    """Two nodes and one link of unlimited queue; `drops` are ordinals of data packets, from 1."""

    rate_bps: int = 8_000_000
    delay_ns: int = 49_480_000
    drops: frozenset[int] = frozenset()


class World:
    """Runs callbacks in order of time, and in order of scheduling within one instant."""

    def __init__(self) -> None:
        self.now = 0
        self._heap: list[tuple[int, int, Callable[[], None]]] = []
        self._order = itertools.count()

    def at(self, time_ns: int, action: Callable[[], None]) -> None:
        heapq.heappush(self._heap, (time_ns, next(self._order), action))

    def run(self, until_ns: int) -> None:
        while self._heap and self._heap[0][0] <= until_ns:
            self.now, _, action = heapq.heappop(self._heap)
            action()


@dataclass
class Link:
    """One direction: packets leave one after the other and arrive a fixed delay later."""

    world: World
    path: Path
    free_at: int = 0

    def send(self, size: int, arrive: Callable[[], None] | None) -> None:
        """Carry `size` bytes; a packet to be dropped (`arrive` is None) still takes its time."""
        transmission = -(-size * 8 * NANO // self.path.rate_bps)
        self.free_at = max(self.free_at, self.world.now) + transmission
        if arrive is not None:
            self.world.at(self.free_at + self.path.delay_ns, arrive)


@dataclass
class Receiver:
    """Acknowledges every packet; reports what it holds out of order (RFC 2018 (4))."""

    max_blocks: int
    expected: int = 0
    echo: int = 0
    held: set[int] = field(default_factory=set)
    recent: list[int] = field(default_factory=list)

    def packet(self, segment: int, stamp: int) -> tuple[int, list[Block], int]:
        """Take one segment; answer with the ACK, its SACK blocks and the echoed time stamp."""
        if segment <= self.expected:
            self.echo = stamp  # RFC 7323 (4.3): only a segment at the left edge is echoed.
        if segment >= self.expected:
            self.held.add(segment)
            self.recent.insert(0, segment)
        while self.expected in self.held:
            self.held.remove(self.expected)
            self.expected += 1
        blocks: list[Block] = []
        for latest in self.recent:
            if latest in self.held and not any(lo <= latest < hi for lo, hi in blocks):
                blocks.append(self._run_around(latest))
        self.recent = [lo for lo, _ in blocks]
        return self.expected, blocks[: self.max_blocks], self.echo

    def _run_around(self, segment: int) -> Block:
        lo = hi = segment
        while lo - 1 in self.held:
            lo -= 1
        while hi in self.held:
            hi += 1
        return lo, hi
