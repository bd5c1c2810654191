"""The rows of a trace of events, and the period of them that is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from lasthop.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from lasthop.scenario.recorded import Columns

CHANNEL = "events"
# Segments shown if no period is given.
FIRST = 30
TRANSPORTS = ("tcp", "udp")


class Event(NamedTuple):
    """A row of the trace; the fields are its columns."""

    time_s: float
    duration_s: float
    layer: str
    event: str
    what: str
    why: str
    node: str
    peer: str
    link: str
    flow: str
    packet: int
    frame: int
    seq: int
    len: int
    ack: int
    window: int
    attempt: int
    slots: int
    cwnd: float
    ssthresh: float


def events(chunks: Iterable[Columns]) -> Iterator[Event]:
    """The rows of a trace of events, chunk by chunk."""
    for columns in chunks:
        values = [c if isinstance(c, list) else c.tolist() for c in (columns[n] for n in Event._fields)]
        yield from (Event(*row) for row in zip(*values, strict=True))


def is_of(row: Event, flows: Sequence[str]) -> bool:
    """Whether a row belongs to one of these flows, to any if there are none, or to no flow."""
    return not flows or not row.flow or row.flow.removesuffix(".reverse") in flows


def period_of(
    read: Callable[[], Iterable[Event]],
    between: tuple[float | None, float | None],
    flows: Sequence[str],
    count: int = FIRST,
) -> tuple[float, float]:
    """The period that is shown: from the first segment on, and as long as `count` of them take."""
    begin, end = between
    if begin is not None and end is not None:
        return begin, end
    first, last, _ = _first_segments(read, begin, end, flows, count)
    if first is None or last is None:
        raise UsageError("the trace has no segment in this period; expected a period in which some are sent")
    return (first if begin is None else begin), (last if end is None else end)


def reaches(
    read: Callable[[], Iterable[Event]],
    between: tuple[float | None, float | None],
    flows: Sequence[str],
    simulated_s: float,
    count: int = FIRST,
) -> bool:
    """Whether a run that has come to a time has all that is shown of it."""
    begin, end = between
    if end is not None:
        return simulated_s > end
    first, last, segments = _first_segments(read, begin, end, flows, count)
    return segments > count and first != last


def _first_segments(
    read: Callable[[], Iterable[Event]],
    begin: float | None,
    end: float | None,
    flows: Sequence[str],
    count: int,
) -> tuple[float | None, float | None, int]:
    """The time of the first segment, that of the last event before one too many, and how many segments.

    Many flows can send more at one instant: then it is that of the event after them.
    """
    first = last = None
    segments = 0
    for row in read():
        if begin is not None and row.time_s < begin:
            continue
        if end is not None and row.time_s > end:
            break
        if flows and row.flow.removesuffix(".reverse") not in flows:
            continue
        if row.layer in TRANSPORTS and row.event == "send":
            first = row.time_s if first is None else first
            segments += 1
        if segments > count and end is None and first != last:
            break
        last = row.time_s
    return first, last, segments
