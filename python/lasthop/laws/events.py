"""What a law in Python receives: typed tuples, and the window that it edits.

Times are seconds since the start of the run, windows segments, offsets bytes of the stream. An event has a
default for each field but the time, so that a test of a law makes one with what the law reads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Start(NamedTuple):
    """The connection is established.

    Attributes:
        now_s: The time, in seconds.
        srtt_s: The round trip that the handshake measured, in seconds; `None` if it measured none.
        segment_bytes: Payload of a full segment, in bytes.
        draw: A random number of 32 bits for the law's own decisions, from the streams of the run.
    """

    now_s: float
    srtt_s: float | None = None
    segment_bytes: int = 1448
    draw: int = 0


class Ack(NamedTuple):
    """An acknowledgement.

    Attributes:
        now_s: When it arrived, in seconds.
        progress: `"open"` if it advanced outside recovery while the window was the limit, so that the window
            may grow. `"unlimited"` if something else was the limit, `"recovering"` if it advanced in
            recovery, `"duplicate"` if it did not advance.
        acked: Segments by which it advanced.
        counted: Segments that it counts for where the window grows (RFC 3465).
        rtt_s: The round trip of the newest segment that it acknowledged, in seconds; `None` if one was sent
            more than once.
        srtt_s: The smoothed round trip, in seconds; `None` before the first measurement.
        newest_sent_s: When the newest segment that it acknowledged was last sent, in seconds; `None` if it
            acknowledged none.
        una: First byte not yet acknowledged.
        sent_end: First byte never sent.
        flight: Segments outstanding before it.
        pipe: Segments estimated to be in the network after it (RFC 6675).
        delivered: Segments that it newly reports as delivered, also selectively.
        delivered_bytes: The same in bytes.
        marks: Packets that it reports as marked: without accurate ECN 0 or 1.
    """

    now_s: float
    progress: str = "open"
    acked: int = 1
    counted: int = 1
    rtt_s: float | None = None
    srtt_s: float | None = None
    newest_sent_s: float | None = None
    una: int = 0
    sent_end: int = 0
    flight: int = 0
    pipe: int = 0
    delivered: int = 0
    delivered_bytes: int = 0
    marks: int = 0


class Loss(NamedTuple):
    """Acknowledgements show that a segment is lost, or a queue has marked one.

    Attributes:
        now_s: When the sender declared it lost, in seconds.
        una: First byte of the segment.
        base: Segments that a reduction starts from: the flight, or the window where the scenario says so.
        pipe: Segments estimated to be in the network (RFC 6675).
        sent: Distinct segments sent so far.
        sent_end: First byte never sent.
        sent_at_s: When the segment was last sent, in seconds.
        times: How often it was sent.
        srtt_s: The smoothed round trip, in seconds; `None` before the first measurement.
        least: The least window after it, in segments: 2, or 1 where the window is the base.
    """

    now_s: float
    una: int = 0
    base: float = 0.0
    pipe: int = 0
    sent: int = 0
    sent_end: int = 0
    sent_at_s: float = 0.0
    times: int = 1
    srtt_s: float | None = None
    least: float = 2.0


class Timeout(NamedTuple):
    """The retransmission timer has expired.

    Attributes:
        now_s: The time, in seconds.
        una: First byte of the first unacknowledged segment.
        base: Segments that a reduction starts from: the flight, or the window where the scenario says so.
        pipe: Segments estimated to be in the network (RFC 6675).
        sent: Distinct segments sent so far.
        sent_end: First byte never sent.
        sent_at_s: When the segment was last sent, in seconds.
        times: How often it was sent.
        srtt_s: The smoothed round trip, in seconds; `None` before the first measurement.
        is_repeated: Whether the timer has already resent this segment.
    """

    now_s: float
    una: int = 0
    base: float = 0.0
    pipe: int = 0
    sent: int = 0
    sent_end: int = 0
    sent_at_s: float = 0.0
    times: int = 1
    srtt_s: float | None = None
    is_repeated: bool = False


class Departure(NamedTuple):
    """A segment has been sent.

    Attributes:
        now_s: The time, in seconds.
        number: Its number; a retransmission keeps the number.
        base: The number of the first segment outstanding.
        pipe: Segments in the network before it was sent.
        outstanding_bytes: Bytes outstanding, its own included.
        backlog_bytes: Bytes that wait to be sent after it.
    """

    now_s: float
    number: int = 0
    base: int = 0
    pipe: int = 0
    outstanding_bytes: int = 0
    backlog_bytes: int = 0


@dataclass(slots=True)
class Window:
    """The congestion window, which a law edits; the sender holds it between 1 and its limit.

    Attributes:
        cwnd: The window, in segments.
        ssthresh: The slow-start threshold, in segments.
        limit: The largest window, in segments; setting it has no effect.
        pacing_bps: Payload bit/s at which segments leave, for a law whose class says `paces = True`.
        credit: Segments acknowledged towards the next one, where the window is a whole number, as Linux's;
            `None` where it is a real number.
    """

    cwnd: float
    ssthresh: float
    limit: float
    pacing_bps: float | None = None
    credit: int | None = None

    def grow(self, acked: int, every: float) -> None:
        """Grow by one segment for each `every` acknowledged: by shares, or by whole segments."""
        if self.credit is None:
            self.cwnd += acked / every
            return
        step = max(int(every), 1)
        if self.credit >= step:
            self.credit = 0
            self.cwnd += 1.0
        grown, self.credit = divmod(self.credit + acked, step)
        self.cwnd += grown

    def slow_start(self, counted: int) -> int:
        """Grow by `counted` segments up to the threshold; the result is how many of them are left there."""
        if self.cwnd >= self.ssthresh:
            return counted
        grown = min(float(counted), float(math.ceil(self.ssthresh - self.cwnd)))
        self.cwnd += grown
        return counted - int(grown)


class Law(Protocol):
    """The methods required of a law; `on_start(start, window)` and `on_sent(departure)` are optional.

    A connection makes an object without arguments. `on_loss` and `on_timeout` may return `False`: the loss
    was not congestion, and the window is as it was.
    """

    def on_ack(self, ack: Ack, window: Window) -> None:
        """An acknowledgement arrived; only one whose progress is `"open"` lets the window grow."""

    def on_loss(self, loss: Loss, window: Window) -> bool | None:
        """A segment is lost: set the window that applies after recovery."""

    def on_timeout(self, timeout: Timeout, window: Window) -> bool | None:
        """The retransmission timer has expired."""
