"""A reference model of one bulk TCP sender, its receiver and the path between them.

It is written from the RFCs and the FACK paper alone, shares no code with lasthop, and prefers
the words of those texts to speed. `simulate` returns the events of the sender in order.

Sources: RFC 5681 (congestion control), RFC 6582 (NewReno), RFC 6675 (SACK), RFC 2018 (SACK
blocks), RFC 3042 (limited transmit), RFC 6298 (timer), RFC 7323 (timestamps). FACK: Mathis and Mahdavi,
"Forward Acknowledgement", SIGCOMM 1996.

Decisions of the project where those texts leave a choice:

- `cwnd` is a real number of segments, and floor(cwnd) segments may be outstanding. Growth counts
  ACKs, not bytes. Slow start runs while cwnd < ssthresh.
- A halved window is flight / 2, not rounded, and at least 2 segments. Segments that limited
  transmit sent are left out of the flight, as RFC 5681 (3.2 step 2) demands. With SACK the flight is at
  most the window, since segments leave for those that were SACKed: a loss leaves no more than there was.
- After a timeout, and after Tahoe's fast retransmit, the sender performs a go-back: it sends again all that
  is not acknowledged, in order, but for segments the receiver has SACKed. The SACK scoreboard
  survives a timeout (RFC 6675 (5.1) describes both views; this receiver never reneges).
- Duplicate ACKs start no fast retransmit until the ACK passes `recover`, the highest segment sent
  at the last timeout, or, for Tahoe and NewReno, at the last loss event. Reno has no such gate
  after a fast retransmit. The gate of RFC 6582 (3.2 step 2) is strict, that of RFC 6675 (5.1) is not.
  Before the first loss there is no gate: RFC 6582 (3.2 step 1), taken at its word, would leave a loss of
  the very first segment to the timer.
- The handshake gives the first RTT measurement. A fast retransmit or a timeout cancels a measurement
  under way, as does a retransmission of the timed segment (Karn, RFC 6298 (3)).
- Time stamps tick every microsecond, or with the clock's granularity if that is coarser.
- The SYN cannot tell a window above 65535 bytes (RFC 7323 (2.2)). If the real one is larger, the first
  ACK after the handshake changes the window and so is not a duplicate (RFC 5681 (2)).
- The timer restarts at an ACK of new data (RFC 6298 (5.3)) and at a fast retransmit. No segment may be
  sent again less than one RTO after it was last sent (RFC 6298 (5)). Other retransmissions leave it
  alone, and the impatient NewReno restarts it at the first partial ACK only.
- A clock of granularity G measures whole ticks, at least one.
- The window grows no further than the limit on what may be outstanding; "no" initial ssthresh is that limit.
- The third packet of the handshake carries the first data, as RFC 9293 (3.10.7.3) permits.
- FACK sends whenever awnd < cwnd: in recovery, before it, with limited transmit or without, and after a
  timeout. Segments sent before recovery are left out of the flight just the same. Its first retransmission
  does not wait for awnd < cwnd; no timeout is forced when a retransmission is lost again; overdamping
  and rampdown are off.
- The rescue of RFC 6675 (4, NextSeg rule 4), a SHOULD, waits until a segment has arrived that left after
  the one to be rescued. Before that the last segment may just be in transit.
- RACK.min_RTT (RFC 8985 (6.2 step 1)) is the least round trip of the connection, of segments sent once.
- The duplicate ACK that starts recovery is logged with the windows before, `enter` with those after it.

Segments are counted from 0 inside and reported in bytes. Times inside are whole nanoseconds.
"""

from __future__ import annotations

import math

from reference_path import NANO, Block, Link, Path, World
from reference_sender import DUP_THRESH, Event, Options, Sender


class Tahoe(Sender):
    """Fast retransmit without fast recovery: a window of one segment, and go back."""

    def duplicate(self, fresh: bool) -> None:
        self.log("dupack")
        if self.dupacks == DUP_THRESH and self.una > self.recover:
            self.halve()
            self.cwnd = 1.0
            self.recover = self.top
            self.nxt = self.una
            self.log("enter")
            self.fast_retransmit()
        elif self.o.limited_transmit and self.dupacks < DUP_THRESH:
            self.limited_transmit()


class Reno(Sender):
    """RFC 5681 (3.2)."""

    def duplicate(self, fresh: bool) -> None:
        if self.in_recovery:
            self.cwnd += 1.0  # step 4
            self.log("dupack")
            return
        self.log("dupack")
        if self.dupacks == DUP_THRESH and self.una > self.recover:
            self.halve()  # step 2
            self.cwnd = self.ssthresh + DUP_THRESH  # step 3
            self.in_recovery = True
            self.entered()
            self.log("enter")
            self.fast_retransmit()
        elif self.o.limited_transmit and self.dupacks < DUP_THRESH:
            self.limited_transmit()  # step 1

    def entered(self) -> None:
        """Reno remembers nothing of where recovery began."""

    def advanced(self, acked: int) -> None:
        if not self.in_recovery:
            super().advanced(acked)
        else:  # step 6
            self.leave(self.ssthresh)

    def leave(self, cwnd: float) -> None:
        self.cwnd = cwnd
        self.in_recovery = False
        self.log("ack")
        self.log("exit")


class NewReno(Reno):
    """RFC 6582 (3.2)."""

    def entered(self) -> None:
        self.recover = self.top  # step 2
        self.partials = 0

    def restarts_timer(self) -> bool:
        partial = self.in_recovery and self.una < self.recover
        if not partial:
            return True
        self.partials += 1
        return self.partials == 1 or self.o.retransmit_timer == "slow-but-steady"

    def advanced(self, acked: int) -> None:
        if self.in_recovery and self.una < self.recover:  # step 3, partial ACK
            self.cwnd = max(1.0, self.cwnd - acked + 1)
            self.log("partial")
            self.transmit(self.una)
        elif self.in_recovery:  # step 3, full ACK, its first option
            self.leave(min(self.ssthresh, max(self.top - self.una, 1) + 1.0))
        else:
            super().advanced(acked)


class Sack(Sender):
    """RFC 6675. `high_rxt`, `rescue_rxt` name the highest segment, as in section 2."""

    first_recover = 0
    uses_sack = True

    def __init__(self, options: Options, world: World, link: Link) -> None:
        super().__init__(options, world, link)
        self.sacked: set[int] = set()
        self.high_rxt = self.rescue_rxt = -1
        self.departures: dict[int, list[int]] = {}
        self.latest_arrived = -1  # RACK.xmit_ts
        self.min_rtt = math.inf
        self.copies: set[int] = set()

    def transmit(self, segment: int) -> None:
        self.departures.setdefault(segment, []).append(self.world.now)
        if self.in_recovery and len(self.departures[segment]) > 1:
            self.copies.add(segment)
        super().transmit(segment)

    def overtaken(self) -> list[int]:
        """RFC 8985 (6.2 step 5), with no reordering: copies that left before a segment that has arrived."""
        if self.o.lost_retransmission == "timer":
            return []
        waiting = [s for s in self.copies if s >= self.una and s not in self.sacked]
        old = [s for s in waiting if self.departures[s][-1] < self.latest_arrived]
        return sorted(old, key=lambda s: (self.departures[s][-1], s))

    def timeout(self) -> None:
        self.copies.clear()
        super().timeout()

    def update_scoreboard(self, ack: int, blocks: list[Block]) -> bool:
        """Update() of section 4; a duplicate ACK is one that SACKs something new (section 2)."""
        told = {s for lo, hi in blocks for s in range(lo, hi) if s >= ack}
        arrived = (told | set(range(self.una, ack))) - self.sacked
        self.rack_update(arrived)
        fresh = bool(told - self.sacked)
        self.sacked = {s for s in self.sacked | told if s >= ack}
        return fresh

    def rack_update(self, arrived: set[int]) -> None:
        """RFC 8985 (6.2 steps 1 and 2), without time stamps."""
        rtts = {s: self.world.now - self.departures[s][-1] for s in arrived}
        once = [rtts[s] for s in arrived if len(self.departures[s]) == 1]
        self.min_rtt = min([self.min_rtt, *once])
        for s in arrived:
            if len(self.departures[s]) > 1 and rtts[s] < self.min_rtt:
                continue  # an earlier transmission has arrived
            self.latest_arrived = max(self.latest_arrived, self.departures[s][-1])

    def is_lost(self, segment: int) -> bool:
        """IsLost(): all segments are full, so three SACKed above are "more than 2 * SMSS"."""
        return sum(s > segment for s in self.sacked) >= DUP_THRESH

    def pipe(self) -> int:
        """SetPipe()."""
        gone = {*self.sacked, *self.overtaken()}
        unsacked = [s for s in range(self.una, self.top) if s not in gone]
        return sum(not self.is_lost(s) for s in unsacked) + sum(s <= self.high_rxt for s in unsacked)

    def duplicate(self, fresh: bool) -> None:
        if not fresh:  # section 2
            return
        self.log("dupack")
        if self.in_recovery:
            return
        if not self.loss_detected():
            self.before_loss()
        elif self.una >= self.recover:  # section 5.1
            self.enter()

    def before_loss(self) -> None:
        if self.o.limited_transmit:  # (3)
            self.limited_transmit()

    def loss_detected(self) -> bool:
        return self.dupacks >= DUP_THRESH or self.is_lost(self.una)  # (1), (2)

    def limited_transmit(self) -> None:
        self.high_rxt = self.una - 1  # (3.1)
        while self.cwnd - self.pipe() >= 1 and self.window_open():  # (3.2), (3.3)
            self.limited += 1
            self.transmit(self.top)

    def enter(self) -> None:
        self.recover = self.top  # (4.1)
        self.halve()
        self.cwnd = self.ssthresh  # (4.2)
        self.in_recovery = True
        self.copies.clear()
        self.log("enter")
        self.high_rxt = self.rescue_rxt = self.una  # (4.3)
        self.fast_retransmit()

    def advanced(self, acked: int) -> None:
        if not self.in_recovery:
            super().advanced(acked)
        elif self.una < self.recover:  # (B)
            self.log("partial")
        else:  # (A)
            self.in_recovery = False
            self.log("ack")
            self.log("exit")

    def fill(self) -> None:
        if self.in_recovery:
            self.fill_recovery()
            return
        while self.outstanding() < math.floor(self.cwnd) and self.nxt < self.una + self.o.window:
            if self.nxt in self.sacked:
                self.nxt += 1
            else:
                self.transmit(self.nxt)

    def outstanding(self) -> int:
        """Outside recovery the window counts from the cumulative ACK (RFC 5681 (2))."""
        return self.nxt - self.una

    def fill_recovery(self) -> None:
        """Step (C)."""
        pipe = self.pipe()
        while self.cwnd - pipe >= 1:
            segment = self.next_seg()
            if segment is None:
                return
            self.transmit(segment)
            pipe += 1

    def next_seg(self) -> int | None:
        """NextSeg() of section 4, with the bookkeeping of (C.2)."""
        for segment in self.overtaken():
            return segment
        highest = max(self.sacked, default=-1)
        holes = [s for s in range(max(self.una, self.high_rxt + 1), highest) if s not in self.sacked]
        lost = [s for s in holes if self.is_lost(s)]
        if lost:  # rule (1)
            self.high_rxt = lost[0]
            return lost[0]
        if self.window_open():  # rule (2)
            return self.top
        if holes:  # rule (3)
            self.high_rxt = holes[0]
            return holes[0]
        unsacked = [s for s in range(self.una, self.top) if s not in self.sacked]
        may_rescue = self.una - 1 > self.rescue_rxt
        if unsacked and may_rescue and self.departures[unsacked[-1]][-1] < self.latest_arrived:  # rule (4)
            self.rescue_rxt = self.recover - 1
            return unsacked[-1]
        return None


class Fack(Sack):
    """Mathis and Mahdavi 1996: what is below the forward-most SACK has left the network."""

    def __init__(self, options: Options, world: World, link: Link) -> None:
        super().__init__(options, world, link)
        self.retransmitted: set[int] = set()

    def fack(self) -> int:
        """snd.fack: one past the forward-most segment the receiver is known to hold."""
        return max(self.sacked, default=self.una - 1) + 1

    def awnd(self) -> int:
        """awnd = snd.nxt - snd.fack + retran_data; snd.nxt may lie below snd.fack while going back."""
        out = {s for s in self.retransmitted if s >= self.una and s not in self.sacked}
        return max(0, self.nxt - self.fack()) + len(out)

    def outstanding(self) -> int:
        return self.awnd()

    def loss_detected(self) -> bool:
        return self.fack() - self.una > DUP_THRESH or self.dupacks >= DUP_THRESH

    def before_loss(self) -> None:
        while self.awnd() < math.floor(self.cwnd) and self.window_open():
            self.limited += 1
            self.transmit(self.top)

    def transmit(self, segment: int) -> None:
        # What a go-back sends again beyond snd.fack lies within snd.nxt - snd.fack and is not counted twice.
        if segment < self.fack() or segment == self.una < self.top == self.nxt:
            self.retransmitted.add(segment)
        super().transmit(segment)

    def timeout(self) -> None:
        self.retransmitted.clear()
        super().timeout()

    def fill_recovery(self) -> None:
        while self.awnd() < math.floor(self.cwnd):
            segment = self.next_seg()
            if segment is None:
                return
            self.transmit(segment)

    def next_seg(self) -> int | None:
        """Holes below snd.fack first, then new data."""
        for segment in range(self.una, self.fack()):
            if segment not in self.sacked and segment not in self.retransmitted:
                return segment
        return self.top if self.window_open() else None


VARIANTS: dict[str, type[Sender]] = {
    "tahoe": Tahoe,
    "reno": Reno,
    "newreno": NewReno,
    "sack": Sack,
    "fack": Fack,
}


def simulate(options: Options, path: Path, until_s: float) -> list[Event]:
    """All events of one sender from the start until `until_s`."""
    world = World()
    sender = VARIANTS[options.variant](options, world, Link(world, path))
    world.at(options.start_ns, sender.open)
    world.run(round(until_s * NANO))
    return sender.events
