"""Single packets from a TCP trace: their sequence, how many left at once, and how holes were filled.

Packets are numbered from 1; the size of a packet is the maximum that was sent.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lasthop.base.table import grid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

_ACKS = ("ack", "partial", "dupack")


@dataclass(frozen=True, slots=True)
class Event:
    """One event of a sender; `packet` is a packet number, `acknowledged` that of the last packet in order.

    `limit` is the highest number that the window, inflated by duplicates, allows to be sent.
    """

    time_s: float
    what: str
    packet: int
    acknowledged: int
    limit: float


@dataclass(frozen=True, slots=True)
class Hole:
    """A packet declared lost because of duplicates, and its fate.

    `duplicates` is the number received before the acknowledgement that filled the hole, `after` the number of
    them after the retransmission. `limit` and `last_sent` are the values after the last duplicate,
    `filled_to` is the number that the filling acknowledgement acknowledged, and `released` the number of
    packets that it released.
    """

    packet: int
    duplicates: int
    after: int
    limit: int
    last_sent: int
    filled_to: int
    released: int


_ROW = ("time_s", "flow", "event", "seq", "len", "ack", "cwnd")


def events(trace: Mapping[str, Any], flow: str) -> list[Event]:
    """The events of one sender, from the trace `tcp`."""
    rows = [row for row in zip(*(trace[name] for name in _ROW), strict=True) if row[1] == flow]
    size = max((float(row[4]) for row in rows), default=0.0) or 1.0
    return [_event(row, size) for row in rows]


def _event(row: tuple[Any, ...], size: float) -> Event:
    t, _, what, seq, _, ack, cwnd = row
    limit = (float(ack) + float(cwnd) * size) / size
    return Event(float(t), str(what), int(float(seq) // size) + 1, int(float(ack) // size), limit)


def released(found: Sequence[Event]) -> Iterator[tuple[Event, int]]:
    """Each acknowledgement with the number of packets sent at the same time.

    >>> acks = [Event(t, "ack", 1, 1, 9.0) for t in (1.0, 2.0)]
    >>> sends = [Event(1.0, "send", n, 1, 9.0) for n in (2, 3)]
    >>> [count for _, count in released([acks[0], *sends, acks[1]])]
    [2, 0]
    """
    places = [i for i, event in enumerate(found) if event.what in _ACKS]
    for place, following in pairwise([*places, len(found)]):
        ack = found[place]
        sent = [event for event in found[place + 1 : following] if event.what in ("send", "resend")]
        yield ack, sum(event.time_s == ack.time_s for event in sent)


def holes(found: Iterable[Event]) -> list[Hole]:
    """The packets retransmitted because of duplicates whose holes were filled before a timeout, in order."""
    finder = _Finder()
    for event in found:
        finder.take(event)
    return finder.every


def holes_by_flow(chunks: Callable[[], Iterable[Mapping[str, Any]]]) -> dict[str, list[Hole]]:
    """The same for each sender, from the trace `tcp`; each call of `chunks` yields all parts in order."""
    sizes: dict[str, float] = {}
    for part in chunks():
        for flow, size in zip(part["flow"], part["len"], strict=True):
            sizes[flow] = max(sizes.get(flow, 0.0), float(size))
    finders = {flow: _Finder() for flow in sizes}
    for part in chunks():
        for row in zip(*(part[name] for name in _ROW), strict=True):
            finders[row[1]].take(_event(row, sizes[row[1]] or 1.0))
    return {flow: finder.every for flow, finder in finders.items()}


class _Finder:
    """Finds holes in the events of one sender, taken one by one."""

    def __init__(self) -> None:
        self.every: list[Hole] = []
        self._begun: Event | None = None
        self._duplicates, self._after, self._limit, self._last = 0, 0, 0, 0
        # When the last hole was filled, until the next acknowledgement.
        self._filled_at: float | None = None

    def take(self, event: Event) -> None:
        if event.what in _ACKS:
            self._filled_at = None
        if event.what in ("send", "resend"):
            self._last = max(self._last, event.packet)
            if event.time_s == self._filled_at:
                self.every[-1] = replace(self.every[-1], released=self.every[-1].released + 1)
        elif event.what == "dupack":
            self._duplicates, self._limit = self._duplicates + 1, int(event.limit)
            self._after += self._begun is not None
        elif event.what == "enter" and self._begun is None:
            self._begun = event
        elif event.what == "timeout":
            self._begun = None
        elif event.what in ("ack", "partial"):
            if self._begun is not None:
                self._fill(self._begun.acknowledged + 1, event)
            self._begun, self._duplicates, self._after = None, 0, 0

    def _fill(self, packet: int, ack: Event) -> None:
        told = (self._duplicates, self._after, self._limit, self._last)
        self.every.append(Hole(packet, *told, ack.acknowledged, 0))
        self._filled_at = ack.time_s


def metric(name: str) -> tuple[str, int, str] | None:
    """The flow, hole number and field of a name such as `flows.main.holes.1.after`.

    >>> metric("flows.main.holes.1.after"), metric("flows.main.goodput_bps")
    (('main', 1, 'after'), None)
    """
    first, _, rest = name.partition(".")
    flow, between, which = rest.rpartition(".holes.")
    number, _, part = which.partition(".")
    if first != "flows" or not between or not number.isdigit() or part not in _FIELDS:
        return None
    return flow, int(number), part


_FIELDS = tuple(field.name for field in fields(Hole))
_MOST = 20


def table(found: Sequence[Hole]) -> str:
    """Holes as a table, limited to the first ones."""
    rows = [[str(getattr(hole, name)) for name in _FIELDS] for hole in found[:_MOST]]
    head = "packet lost|duplicates|after the resend|may send to|last sent|filled to|released at once"
    more = f"\n… and {len(found) - _MOST} more" if len(found) > _MOST else ""
    return grid(head.split("|"), rows) + more
