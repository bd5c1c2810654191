"""The ledger of airtime: how the time of an 802.11 medium was used, as one station observed it.

Every second measured is in exactly one class, so that the classes of a ledger add up to the run
without its warm-up. Concurrent airtime is that of frames on the air at the same time as another,
or out of the observer's hearing; it is not part of the sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from lasthop.base.quantity import human
from lasthop.base.table import flushed, html

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# In the order in which they are shown and stacked, with what readers call them. Only links with block
# acknowledgement have `block_ack`.
CLASSES = {
    "data_payload": "data",
    "tcp_ack_payload": "TCP ACK",
    "headers": "headers, preambles",
    "rts_cts": "RTS, CTS",
    "mac_ack": "MAC ACK",
    "block_ack": "BlockAck",
    "interframe": "interframe spaces",
    "backoff": "backoff",
    "collision": "collisions",
    "errored": "errored frames",
    "idle": "idle",
}


def metric(link: str, name: str) -> str:
    """The metric of a class, or of `concurrent`.

    >>> metric("wlan", "idle")
    'links.wlan.airtime_idle_s'
    """
    return f"links.{link}.airtime_{name}_s"


@dataclass(frozen=True, slots=True)
class Airtime:
    """One ledger: how the time of an 802.11 link was used, as one station observed it.

    Attributes:
        link: The name of the link.
        observer: The node that observed it.
        seconds: For each class, such as `backoff`, the time in seconds; these add up to the time measured.
        concurrent: Seconds of frames on the air at the same time as another, which are not part of the sum.
    """

    link: str
    observer: str
    seconds: dict[str, float]
    concurrent: float

    @property
    def measured(self) -> float:
        """The time measured.

        Returns:
            The seconds of all classes together.
        """
        return math.fsum(self.seconds.values())

    def share(self, seconds: float) -> float | None:
        """A time as a share of the time measured.

        Args:
            seconds: The time in seconds.

        Returns:
            A share from 0 to 1; `None` if no time was measured.
        """
        return seconds / self.measured if self.measured else None

    def as_dict(self) -> dict[str, Any]:
        """The ledger as plain data, as `run --json` prints it.

        Returns:
            A mapping that JSON can carry, times in seconds.
        """
        return {
            "link": self.link,
            "observer": self.observer,
            "measured_s": self.measured,
            "classes": {
                name: {"time_s": seconds, "share": self.share(seconds)}
                for name, seconds in self.seconds.items()
            },
            "concurrent_s": self.concurrent,
        }

    def __str__(self) -> str:
        return f"{self._title}\n" + flushed(self._HEADS, self._rows())

    def _repr_html_(self) -> str:
        from html import escape

        return f"<div>{escape(self._title)}</div>" + html(self._HEADS, self._rows())

    _HEADS: ClassVar = ["class", "time", "share"]

    @property
    def _title(self) -> str:
        return f"airtime of {self.link} as observed by {self.observer}"

    def _rows(self) -> list[list[str]]:
        rows = [[CLASSES[name], *self._cells(seconds)] for name, seconds in self.seconds.items()]
        rows.append(["sum", *self._cells(self.measured)])
        rows.append(["concurrent, not in the sum", *self._cells(self.concurrent)])
        return rows

    def _cells(self, seconds: float) -> list[str]:
        share = self.share(seconds)
        return [human(seconds, "s"), "–" if share is None else f"{100 * share:.2f} %"]


def ledgers(metrics: Mapping[str, float | None], observers: Iterable[tuple[str, str]]) -> list[Airtime]:
    """The ledgers that the metrics of a run hold, one for each 802.11 link and its observer."""
    return [ledger(metrics, link, observer) for link, observer in observers]


def ledger(metrics: Mapping[str, float | None], link: str, observer: str) -> Airtime:
    """The ledger of a link, from the metrics of a run."""
    seconds = {name: metrics[metric(link, name)] or 0.0 for name in CLASSES if metric(link, name) in metrics}
    return Airtime(link, observer, seconds, metrics[metric(link, "concurrent")] or 0.0)


def from_dict(found: Mapping[str, Any]) -> Airtime:
    """A ledger as `as_dict` wrote it."""
    seconds = {name: float(entry["time_s"]) for name, entry in found["classes"].items()}
    return Airtime(str(found["link"]), str(found["observer"]), seconds, float(found["concurrent_s"]))
