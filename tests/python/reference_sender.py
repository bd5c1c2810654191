"""The reference sender without a variant: its options, its timer, and what all variants share."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

from reference_path import NANO, Block, Link, Receiver, World

DUP_THRESH = 3

# Bytes of options, each padded to a multiple of four.
MSS_OPTION = 4
WINDOW_SCALE_OPTION = 4
SACK_PERMITTED_OPTION = 4
TIMESTAMPS_OPTION = 12

STAMP_TICK = 1_000
LARGEST_UNSCALED_WINDOW = 65_535


class Event(NamedTuple):
    """One line of the trace; `seq`, `len` and `ack` in bytes, windows in segments."""

    time_s: float
    event: str
    seq: int
    len: int
    ack: int
    cwnd: float
    ssthresh: float


@dataclass(frozen=True)
class Options:
    """The options of the sender; times in nanoseconds, windows in segments."""

    variant: str
    payload: int = 960
    window: int = 64
    initial_window: int = 2
    initial_ssthresh: float = math.inf
    limited_transmit: bool = False
    timestamps: bool = False
    retransmit_timer: str = "impatient"
    lost_retransmission: str = "timer"
    min_rto_ns: int = NANO
    max_rto_ns: int = 60 * NANO
    initial_rto_ns: int = 3 * NANO
    tick_ns: int = 0
    start_ns: int = 0


# The timer.


class Timer:
    """RFC 6298: the estimator, and one timer that is set, restarted and backed off."""

    def __init__(self, options: Options) -> None:
        self.o = options
        self.srtt: float | None = None
        self.rttvar = 0.0
        self.rto = float(options.initial_rto_ns)
        self.expires: int | None = None

    def sample(self, rtt: float) -> None:
        if self.srtt is None:  # (2.2)
            self.srtt, self.rttvar = rtt, rtt / 2
        else:  # (2.3), in this order
            self.rttvar = 0.75 * self.rttvar + 0.25 * abs(self.srtt - rtt)
            self.srtt = 0.875 * self.srtt + 0.125 * rtt
        rto = self.srtt + max(self.o.tick_ns, 4 * self.rttvar)
        self.rto = min(max(rto, self.o.min_rto_ns), self.o.max_rto_ns)  # (2.4), (2.5)

    def back_off(self) -> None:
        self.rto = min(2 * self.rto, self.o.max_rto_ns)  # (5.5)

    def restart(self, now: int) -> None:
        self.expires = now + round(self.rto)


# The senders.


class Sender(ABC):
    """What all variants share: the window, the timer, going back after a timeout."""

    first_recover = -1  # no gate before the first loss event
    uses_sack = False

    def __init__(self, options: Options, world: World, link: Link) -> None:
        self.o = options
        self.world = world
        self.link = link
        self.timer = Timer(options)
        self.receiver = Receiver(max_blocks=3 if options.timestamps else 4)
        self.back = Link(world, link.path)
        self.events: list[Event] = []
        self.header = 40 + (TIMESTAMPS_OPTION if options.timestamps else 0)
        self.crossed = 0

        self.una = 0  # oldest segment not acknowledged
        self.nxt = 0  # next segment to send; below `top` while going back
        self.top = 0  # one past the highest segment ever sent
        self.cwnd = float(min(options.initial_window, options.window))
        unset = math.isinf(options.initial_ssthresh)
        self.ssthresh = float(options.window if unset else options.initial_ssthresh)
        self.window_told = min(options.window * options.payload, LARGEST_UNSCALED_WINDOW)
        self.dupacks = 0
        self.limited = 0  # segments that limited transmit sent since the last new ACK
        self.in_recovery = False
        self.recover = self.first_recover  # one past the highest segment sent at the last loss
        self.timed: tuple[int, int] | None = None
        self.timed_out: int | None = None  # the segment of the last timeout

    # Sending.

    def open(self) -> None:
        """Three-way handshake: two packets, the first RTT measurement; the third carries the first data."""
        begun = self.world.now
        size = 40 + MSS_OPTION + WINDOW_SCALE_OPTION
        size += SACK_PERMITTED_OPTION if self.uses_sack else 0
        size += TIMESTAMPS_OPTION if self.o.timestamps else 0

        def established() -> None:
            self.timer.sample(self.elapsed(begun, self.o.tick_ns))
            self.fill()

        self.link.send(size, lambda: self.back.send(size, established))

    def transmit(self, segment: int) -> None:
        new = segment == self.top
        self.log("send" if new else "resend", segment, self.o.payload)
        self.top = max(self.top, segment + 1)
        self.nxt = max(self.nxt, segment + 1)
        if self.timed is not None and self.timed[0] == segment:
            self.timed = None  # RFC 6298 (3): Karn's algorithm
        elif new and self.timed is None:
            self.timed = segment, self.world.now
        if self.timer.expires is None:  # RFC 6298 (5.1)
            self.start_timer()
        self.crossed += 1
        stamp = self.world.now
        arrive = None if self.crossed in self.link.path.drops else lambda: self._deliver(segment, stamp)
        self.link.send(self.o.payload + self.header, arrive)

    def fast_retransmit(self) -> None:
        self.timed = None
        self.start_timer()
        self.transmit(self.una)

    def fill(self) -> None:
        """Send what the window allows (RFC 5681 (2): the definition of cwnd)."""
        while self.nxt < self.una + min(math.floor(self.cwnd), self.o.window):
            self.transmit(self.nxt)

    def window_open(self) -> bool:
        """Whether a segment never sent before may be sent, as far as the peer's window goes."""
        return self.nxt == self.top < self.una + self.o.window

    def limited_transmit(self) -> None:
        """RFC 3042 (2): one new segment for each of the first two duplicate ACKs."""
        flight = self.top - self.una
        if self.window_open() and flight + 1 <= self.cwnd + 2:
            self.limited += 1
            self.transmit(self.top)

    # Receiving.

    def _deliver(self, segment: int, stamp: int) -> None:
        ack, blocks, echo = self.receiver.packet(segment, stamp)
        if not self.uses_sack:
            blocks = []
        size = self.header + (4 + 8 * len(blocks) if blocks else 0)
        self.back.send(size, lambda: self.on_ack(ack, blocks, echo))

    def on_ack(self, ack: int, blocks: list[Block], echo: int) -> None:
        fresh = self.update_scoreboard(ack, blocks)
        window_told, self.window_told = self.window_told, self.o.window * self.o.payload
        if ack > self.una:
            acked = ack - self.una
            self.una, self.nxt = ack, max(self.nxt, ack)
            self.dupacks = self.limited = 0
            self.measure(echo)
            if self.restarts_timer():  # RFC 6298 (5.3)
                self.start_timer()
            self.advanced(acked)
        elif self.top > self.una and window_told == self.window_told:  # RFC 5681 (2)
            self.dupacks += fresh
            self.duplicate(fresh)
        self.fill()

    def update_scoreboard(self, ack: int, blocks: list[Block]) -> bool:
        """Whether this ACK, if it acknowledges nothing new, counts as a duplicate."""
        return True

    def measure(self, echo: int) -> None:
        if self.o.timestamps:
            self.timer.sample(self.elapsed(echo, max(self.o.tick_ns, STAMP_TICK)))
        elif self.timed is not None and self.una > self.timed[0]:
            self.timer.sample(self.elapsed(self.timed[1], self.o.tick_ns))
            self.timed = None

    def elapsed(self, since: int, tick: int) -> int:
        """What a clock that advances in ticks shows, at least one tick; 0 is a clock without ticks."""
        if tick == 0:
            return self.world.now - since
        return max(1, self.world.now // tick - since // tick) * tick

    def restarts_timer(self) -> bool:
        return True

    def advanced(self, acked: int) -> None:
        """An ACK of new data outside recovery: slow start or avoidance (RFC 5681 (3.1))."""
        step = 1.0 if self.cwnd < self.ssthresh else 1.0 / self.cwnd
        self.cwnd = min(self.cwnd + step, self.o.window)
        self.log("ack")

    @abstractmethod
    def duplicate(self, fresh: bool) -> None:
        """A duplicate ACK; `fresh` if its SACK blocks report something new."""

    def halve(self) -> None:
        """RFC 5681 (4), without what limited transmit sent, and with SACK no more than the window."""
        flight = self.top - self.una - self.limited
        if self.uses_sack:
            flight = min(flight, math.floor(self.cwnd))
        self.ssthresh = max(2.0, flight / 2)

    # The timer.

    def start_timer(self) -> None:
        self.timer.restart(self.world.now)
        expires = self.timer.expires
        assert expires is not None

        def fire() -> None:
            if self.timer.expires == expires == self.world.now:
                self.timeout()

        self.world.at(expires, fire)

    def timeout(self) -> None:
        if self.una != self.timed_out:  # RFC 5681 (3.1): held constant when backing off
            self.limited = 0
            self.halve()
        self.timed_out = self.una
        self.cwnd = 1.0
        self.recover = self.top
        self.in_recovery = False
        self.dupacks = self.limited = 0
        self.timed = None
        self.nxt = self.una
        self.timer.back_off()
        self.timer.expires = None
        self.log("timeout", self.una)
        self.fill()  # starts the timer again: RFC 6298 (5.6)

    def log(self, event: str, segment: int | None = None, length: int = 0) -> None:
        at = self.una if segment is None else segment
        where = at * self.o.payload, length, self.una * self.o.payload
        self.events.append(Event(self.world.now / NANO, event, *where, self.cwnd, self.ssthresh))
