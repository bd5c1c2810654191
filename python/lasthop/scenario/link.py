"""The scenario of a link between two nodes, made from what users of Mahimahi and netem write.

>>> quantity("rate", "20Mbit"), quantity("time", "30ms"), quantity("queue", "100p"), quantity("share", "1%")
('20 Mbit/s', '30 ms', '100 packets', '1 %')
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING, Any, Literal

from lasthop.base.errors import UsageError
from lasthop.base.quantity import split

if TYPE_CHECKING:
    from collections.abc import Mapping

    Kind = Literal["rate", "time", "share", "queue"]

#: The nodes of the link.
NEAR, FAR = "client", "server"
#: The rate of a link whose rate is not given.
FAST = "1 Gbit/s"

_ONCE = {"": "", "k": "k", "m": "M", "g": "G"}
_RATES = {
    f"{small}{end}": f"{prefix}bit/s"
    for small, prefix in _ONCE.items()
    for end in ("bit", "bit/s", "bits/s", "bps", "b/s")
}
_SIZES = {f"{small}{end}": f"{prefix}B" for small, prefix in _ONCE.items() for end in ("b", "byte", "bytes")}
_TIMES = {
    f"{small}{end}": f"{small}s"
    for small in ("", "m", "u")
    for end in ("s", "sec", "secs", "second", "seconds")
}
_UNITS: dict[Kind, Mapping[str, str]] = {
    "rate": _RATES,
    "time": _TIMES,
    "share": {"%": "%"},
    "queue": {**_SIZES, **dict.fromkeys(("p", "packet", "packets", "pkts"), "packets")},
}
EXAMPLES: dict[Kind, str] = {
    "rate": "a rate such as 20Mbit",
    "time": "a time such as 30ms",
    "share": "a percentage such as 1%",
    "queue": "packets or bytes such as 100p or 64kB, or unlimited",
}


def quantity(kind: Kind, text: str) -> str | None:
    """A quantity as a scenario has it; `None` if the text is not one.

    The case of a unit does not matter, but a capital B is never a bit.

    >>> [quantity("rate", text) for text in ("20mbit", "20Mbps", "20MB/s", "20")]
    ['20 Mbit/s', '20 Mbit/s', None, None]
    >>> quantity("time", "250usec"), quantity("queue", "64kb"), quantity("queue", "unlimited")
    ('250 us', '64 kB', 'unlimited')
    >>> quantity("rate", "12345678bit"), quantity("rate", "1e400bit")
    ('12345678 bit/s', None)
    """
    if kind == "queue" and text == "unlimited":
        return text
    parts = split(text)
    if parts is None or parts[0] < 0 or (kind == "share" and parts[0] > 100):
        return None
    if kind == "rate" and "B" in parts[1]:
        return None
    unit = _UNITS[kind].get(parts[1].lower())
    return f"{parts[0]:.15g} {unit}" if unit and isfinite(parts[0]) else None


@dataclass(frozen=True, kw_only=True)
class Link:
    """What a link is to be; of two values the first is for what the client sends."""

    rate: tuple[str, str] = (FAST, FAST)
    delay: str = "0 ms"
    jitter: str | None = None
    loss: tuple[str, str] = ("0 %", "0 %")
    queue: tuple[str, str] | None = None
    aqm: str | None = None
    agent: str | None = None
    #: Files of Mahimahi in place of rates.
    trace: tuple[str, str] | None = None
    #: The standard of a cell that the client is in; the link is then the wire behind its access point.
    wifi: str | None = None
    stations: int = 1
    busy: int = 0

    def __post_init__(self) -> None:
        wanted = {"stations": self.stations != 1, "busy": self.busy > 0}
        for name in (name for name, is_given in wanted.items() if is_given and self.wifi is None):
            raise UsageError("a cell has stations; expected wifi as well", argument=name)
        if self.busy >= self.stations and self.busy:
            text = f"{self.busy} of {self.stations} stations; expected fewer, because the client is one"
            raise UsageError(text, argument="busy")
        if self.trace is not None and self.rate != (FAST, FAST):
            raise UsageError("a trace has its own rates; expected one of both", argument="rate")
        if self.wifi is not None and self.queue is not None and len(set(self.queue)) > 1:
            text = f"{','.join(self.queue)}; expected one value, which holds for each station of a cell"
            raise UsageError(text, argument="queue")
        if len({share for share in self.loss if not _is_zero(share)}) > 1:
            text = f"{','.join(self.loss)}; expected the same for both directions, or 0 % for one"
            raise UsageError(text, argument="loss")

    def values(self) -> dict[str, Any]:
        """The scenario, as `Scenario.from_dict` takes it; without programs a file goes to the client."""
        nodes: dict[str, Any] = {NEAR: {}, FAR: {}}
        links = {"link": self._wire([NEAR, FAR])}
        flows = {"file": {"from": FAR, "to": NEAR, "tcp": {"variant": "cubic"}}}
        managed = links["link"]
        if self.wifi is not None:
            others = {"busy": self.busy, "idle": self.stations - 1 - self.busy}
            groups = {name: {"count": count} for name, count in others.items() if count > 0}
            nodes = {NEAR: {}, **groups, "ap": {}, FAR: {}}
            stations = ["ap", NEAR, *groups]
            managed = {"kind": "wifi", "nodes": stations, "access-point": "ap", "standard": self.wifi}
            links = {"air": managed, "link": self._wire(["ap", FAR])}
            if self.busy:
                # A flow of the far side would be left out, because programs run there.
                flows["busy"] = {"from": "ap", "to": "busy", "tcp": {"variant": "cubic"}}
        self._manage(managed)
        agents = {self.agent: {"kind": self.agent, "flows": ["file"], **self._place()}} if self.agent else {}
        tables = {"nodes": nodes, "links": links, "flows": flows, "agents": agents}
        return {"run": {"duration": "60 s"}, **{name: table for name, table in tables.items() if table}}

    def _wire(self, nodes: list[str]) -> dict[str, Any]:
        up, down = self.rate
        wire: dict[str, Any] = {"kind": "lossy", "nodes": nodes, "rate": up, "delay": self.delay}
        back: dict[str, Any] = {"rate": down} if up != down else {}
        if self.trace is not None:
            up, down = self.trace
            wire = {"kind": "trace", "nodes": nodes, "trace": {"file": up}, "delay": self.delay}
            back = {"trace": {"file": down}}
        if back:
            wire["reverse"] = back
        if self.jitter is not None:
            wire["jitter"] = {"spread": self.jitter}
        lossy = [not _is_zero(share) for share in self.loss]
        if any(lossy):
            direction = "both" if all(lossy) else "forward" if lossy[0] else "reverse"
            rate = self.loss[lossy.index(True)]
            wire["loss"] = {"model": "packet", "direction": direction, "rate": rate}
        return wire

    def _manage(self, link: dict[str, Any]) -> None:
        if self.queue is not None:
            up, down = self.queue
            link["queue"] = up
            if down != up:
                link.setdefault("reverse", {})["queue"] = down
        if self.aqm is not None:
            link["aqm"] = {"law": self.aqm}

    def _place(self) -> dict[str, str]:
        return {"node": FAR, "link": "link"} if self.wifi is None else {}


def _is_zero(share: str) -> bool:
    parts = split(share)
    return parts is not None and parts[0] == 0
