"""Reno's law in Python: equal to the one in Rust, bit for bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lasthop.laws.events import Ack, Loss, Timeout, Window


class Reno:
    """Slow start, congestion avoidance and halving (RFC 5681): an example, and a base for other laws."""

    def on_ack(self, ack: Ack, window: Window) -> None:
        """Grow by a segment each in slow start, and by a segment a round trip after it."""
        if ack.progress == "open":
            left = window.slow_start(ack.counted)
            if left > 0:
                window.grow(left, window.cwnd)

    def on_loss(self, loss: Loss, window: Window) -> bool | None:
        """Halve."""
        half = loss.base / 2
        window.ssthresh = max(half, 2.0)
        window.cwnd = max(half, loss.least)
        return None

    def on_timeout(self, timeout: Timeout, window: Window) -> bool | None:
        """Start again from one segment; a repeated timeout leaves the threshold alone (RFC 5681, 3.1)."""
        if not timeout.is_repeated:
            window.ssthresh = max(timeout.base / 2, 2.0)
        window.cwnd = 1.0
        return None
