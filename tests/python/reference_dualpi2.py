"""DualPI2 by the pseudocode of RFC 9332, appendix A, beside which the queue of the simulator is held.

`LinuxDualPI2` has the rules of Linux where they differ.

Written from the RFC alone, without the simulator: `p'` and what follows from it (A.1: `dualpi2_update`), the
ramp of the L queue (`laqm`), the selection by sums of probabilities (`recur`), and the switch to drops under
overload (A.2). The RFC leaves the scheduler open; this one is a weighted round robin whose credit is that of
bytes beyond the weights. The L queue does not mark for its own delay while nothing is behind the packet.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from itertools import accumulate, chain
from random import Random

NOT_ECT, ECT_1, ECT_0, CE = range(4)


@dataclass(frozen=True)
class Packet:
    """A packet: its number, bytes and codepoint, and when it arrived, in ns."""

    number: int
    size: int
    ecn: int
    came: int


@dataclass(frozen=True)
class Parameters:
    """The parameters of A.1 with their defaults; times in s."""

    target: float = 0.015
    rtt_max: float = 0.1
    k: float = 2.0
    min_th: float = 0.0008
    range: float = 0.0004
    classic_share: float = 0.1

    @property
    def update_ns(self) -> int:
        """`Tupdate`: the smaller of the target and a third of the longest round trip."""
        return min(round(self.target * 1e9), round(self.rtt_max * 1e9) // 3)


@dataclass
class Queue:
    """One of the two queues, with the sum of `recur`."""

    packets: deque[Packet] = field(default_factory=deque)
    count: float = 0.0

    def time(self, now: int) -> float:
        """How long the first packet has waited."""
        return (now - self.packets[0].came) / 1e9 if self.packets else 0.0

    def recur(self, likelihood: float) -> bool:
        """Whether the next packet is selected."""
        self.count += likelihood
        if self.count > 1:
            self.count -= 1
            return True
        return False


class DualPI2:
    """The two queues: what leaves, with its codepoint and time, is in `sent`, what does not in `dropped`."""

    def __init__(self, parameters: Parameters) -> None:
        self.parameters = parameters
        self.lq, self.cq = Queue(), Queue()
        self.p = self.p_cl = self.p_c = 0.0
        self.prevq = 0.0
        self.next_update = parameters.update_ns
        self.credit = 0.0
        self.sent: list[tuple[int, int, int]] = []
        self.dropped: list[int] = []
        self.overloads = 0

    def update(self, now: int) -> None:
        """`dualpi2_update`, with `p'` held between 0 and 1."""
        par = self.parameters
        alpha = 0.1 * (par.update_ns / 1e9) / (par.rtt_max * par.rtt_max)
        beta = 0.3 / par.rtt_max
        curq = max(self.cq.time(now), self.lq.time(now))
        self.p = min(max(self.p + alpha * (curq - par.target) + beta * (curq - self.prevq), 0.0), 1.0)
        self.p_cl = par.k * self.p
        self.p_c = self.p**2
        self.prevq = curq

    def advance(self, now: int) -> None:
        """The updates up to now."""
        while self.next_update <= now:
            self.update(self.next_update)
            self.next_update += self.parameters.update_ns

    def enqueue(self, packet: Packet) -> None:
        """The classifier: ECT(1) and CE are L4S."""
        self.advance(packet.came)
        queue = self.lq if packet.ecn in (ECT_1, CE) else self.cq
        queue.packets.append(packet)

    def laqm(self, delay: float) -> float:
        """The probability of a mark for the L queue's own delay."""
        par = self.parameters
        if delay <= par.min_th:
            return 0.0
        if delay >= par.min_th + par.range:
            return 1.0
        return (delay - par.min_th) / par.range

    def scheduler(self) -> Queue:
        """The queue that is next."""
        if not (self.lq.packets and self.cq.packets):
            self.credit = 0.0
            return self.lq if self.lq.packets else self.cq
        share = self.parameters.classic_share
        if self.credit <= 0:
            self.credit += share * self.lq.packets[0].size
            return self.lq
        self.credit -= (1 - share) * self.cq.packets[0].size
        return self.cq

    def dequeue(self, now: int) -> Packet | None:
        """`dualpi2_dequeue` of A.2: the packet that leaves."""
        self.advance(now)
        while self.lq.packets or self.cq.packets:
            queue = self.scheduler()
            packet = queue.packets.popleft()
            is_overloaded = self.p_cl >= 1
            self.overloads += is_overloaded
            is_marked = packet.ecn == CE
            if queue is self.lq:
                if is_overloaded:
                    if queue.recur(self.p_c):
                        self.dropped.append(packet.number)
                        continue
                    is_marked = True
                else:
                    own = self.laqm((now - packet.came) / 1e9) if queue.packets else 0.0
                    # `recur` with a probability of 1 always selects, whatever the sum.
                    is_marked |= own >= 1 or queue.recur(max(own, self.p_cl))
            elif queue.recur(self.p_c):
                if packet.ecn == NOT_ECT or is_overloaded:
                    self.dropped.append(packet.number)
                    continue
                is_marked = True
            self.sent.append((packet.number, CE if is_marked else packet.ecn, now))
            return packet
        return None


class LinuxDualPI2(DualPI2):
    """The same by the rules of Linux 6.17 (`sch_dualpi2`), where they differ from the pseudocode.

    `p'` is an integer of 32 bits, alpha and beta are multiples of 1/256 Hz; packets are selected at random,
    for a classic drop twice; `p'` marks and drops nothing while less than two packets wait; the L queue has a
    step; the credit stays while one queue is empty, begins for L, and does not change for a packet dropped.
    """

    ALL = 2**32 - 1
    MTU = 1514

    def __init__(self, parameters: Parameters, seed: int, step: float = 0.001) -> None:
        super().__init__(parameters)
        self.random = Random(seed)
        self.step = step
        self.prob = 0
        alpha = 0.1 * parameters.update_ns / 1e9 / parameters.rtt_max**2
        self.alpha, self.beta = (
            (max(1, int(gain * 256)) * self.ALL >> 2) // 10**9 for gain in (alpha, 0.3 / parameters.rtt_max)
        )
        self.first_credit = self.MTU * (2 * round(100 * parameters.classic_share) - 100)
        self.credit = self.first_credit

    def update(self, now: int) -> None:
        """`calculate_probability`."""
        heads = [now - queue.packets[0].came for queue in (self.lq, self.cq) if queue.packets]
        delay, target = max(heads, default=0), round(self.parameters.target * 1e9)
        last = round(self.prevq * 1e9)
        delta = (delay - target) * self.alpha + (delay - last) * self.beta
        scaled = abs(delta) // 64
        self.prob = min(max(self.prob + (scaled if delta > 0 else -scaled), 0), self.ALL)
        self.prevq = delay / 1e9
        self.p = self.prob / self.ALL

    def roll(self, prob: float) -> bool:
        """Whether a random number is not above it."""
        return self.random.getrandbits(32) <= prob

    def dequeue(self, now: int) -> Packet | None:
        """`dualpi2_qdisc_dequeue`."""
        self.advance(now)
        share = round(100 * self.parameters.classic_share)
        while self.lq.packets or self.cq.packets:
            is_low = bool(self.lq.packets) and (not self.cq.packets or self.credit <= 0)
            queue, other = (self.lq, self.cq) if is_low else (self.cq, self.lq)
            packet = queue.packets.popleft()
            change = (share if is_low else share - 100) * packet.size if other.packets else 0
            local = self.prob * self.parameters.k
            is_overloaded = local > self.ALL
            self.overloads += is_overloaded
            sizes = (one.size for one in chain(queue.packets, other.packets))
            is_long = any(total >= 2 * self.MTU for total in accumulate(sizes))
            is_marked = packet.ecn == CE
            if is_long:
                if (is_overloaded or not is_low) and self.roll(self.prob) and self.roll(self.prob):
                    if is_overloaded or packet.ecn == NOT_ECT:
                        self.dropped.append(packet.number)
                        continue
                    is_marked = True
                is_marked |= is_low and (is_overloaded or self.roll(local))
            is_marked |= is_low and (now - packet.came) / 1e9 > self.step
            self.credit += change
            self.sent.append((packet.number, CE if is_marked else packet.ecn, now))
            return packet
        self.credit = self.first_credit
        return None


def serve(queue: DualPI2, arrivals: list[Packet], rate_bps: int) -> DualPI2:
    """The queue in front of a wire, which asks for a packet when it has sent the one before."""
    free = 0
    for packet in arrivals:
        while free < packet.came and (taken := queue.dequeue(free)):
            free += taken.size * 8 * 1_000_000_000 // rate_bps
        queue.enqueue(packet)
        if free <= packet.came and (taken := queue.dequeue(packet.came)):
            free = packet.came + taken.size * 8 * 1_000_000_000 // rate_bps
    return queue
