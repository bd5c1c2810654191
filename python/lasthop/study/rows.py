"""A run as a row of the ledger: what is kept of it, and how it is checked when it is read.

Each row has a checksum over its contents, with the names of its metrics and the key of its point, which other
tables hold. A row is damaged if its sum differs, or one of its fields is not of the required type and range:
reading leaves it out and reports it.
"""

from __future__ import annotations

import json
import math
import struct
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.arguments import MOST, MOST_SEED
from lasthop.base.jsontext import loads

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

LONG = 512
"""Bytes of numbers above which a run is kept compressed."""
_MOST_COUNT = 2**63 - 1


@dataclass(frozen=True, slots=True)
class Row:
    """One run in the ledger.

    Attributes:
        point_key: A hash of everything at its point that can change its results.
        replication: The number of the run for its seed.
        seed: Seed of its random streams.
        limits: The limits of the run, as text; empty without limits.
        stopped: The limit that stopped it early, such as `max-events`; `None` for a complete run.
        error: The reason of a failure; `None` if the run did not fail.
        metrics: Metrics by name, in SI units; `None` if the run failed.
        series: Goodput of each flow over time in bit/s, in bins of `run.bin`; empty without bins.
        transfers: Transfers of users, as columns; empty without users.
        events: The number of events processed.
        simulated_s: The simulated time reached, in seconds.
        cpu_s: The CPU time of the run, in seconds.
        wall_s: The wall-clock time of the run, in seconds.
    """

    point_key: str
    replication: int
    seed: int
    limits: str
    stopped: str | None
    error: str | None
    metrics: dict[str, float | None] | None
    series: dict[str, list[float]]
    transfers: dict[str, list[Any]]
    events: int
    simulated_s: float
    cpu_s: float
    wall_s: float


@dataclass(frozen=True, slots=True)
class Names:
    """A list of names of metrics, as the ledger keeps it once, and what is wrong with it."""

    total: int
    names: tuple[str, ...]
    fault: str | None = None

    @classmethod
    def of(cls, text: object) -> Names:
        """The list in a cell."""
        try:
            names = _words(loads(_text(text, "names of metrics")), "names of metrics")
            return cls(sum_of(str(text)), tuple(names))
        except ValueError as e:
            return cls(sum_of(str(text)), (), str(e))


_NONE, _MISSING = Names(0, ()), Names(0, (), "its names are missing")


def cells(row: Row, model: str) -> tuple[Any, ...]:
    """What is kept of a run in its row, beside the numbers of its point and of its list of names.

    Seed, version of the model, limits, limit reached, error, metrics, series, transfers, events, three times.
    """
    return (
        str(row.seed),
        model,
        row.limits,
        row.stopped,
        None if row.error is None else row.error.encode("utf-8", "replace").decode(),
        None if row.metrics is None else packed(row.metrics.values()),
        json.dumps(row.series, allow_nan=False) if row.series else None,
        json.dumps(row.transfers, allow_nan=False) if row.transfers else None,
        int(row.events),
        float(row.simulated_s),
        float(row.cpu_s),
        float(row.wall_s),
    )


def sum_of(names: str) -> int:
    """The sum over a list of names, which those of its rows contain."""
    return zlib.crc32(names.encode("utf-8", "surrogateescape"))


def checksum(point_key: object, replication: object, names: int, kept: Sequence[Any]) -> int:
    """The sum over all that a row says; `kept` is what `cells` gives, `names` the sum of its names."""
    seed, model, limits, stopped, error, metrics, series, transfers, *costs = kept
    # Longer parts follow; what is missing differs from what is empty, and text from numbers.
    forms = [type(part).__name__ for part in (metrics, series, transfers)]
    head = repr((point_key, replication, names, seed, model, limits, stopped, error, costs, forms))
    found = zlib.crc32(head.encode())
    for part in (metrics, series, transfers):
        if isinstance(part, str):
            found = zlib.crc32(part.encode("utf-8", "surrogateescape"), found)
        elif isinstance(part, bytes):
            found = zlib.crc32(part, found)
    return found


def row_of(found: Sequence[Any], lists: Mapping[int, Names], *, is_summed: bool) -> tuple[str, Row]:
    """A run from its row, with the version of its model: key, replication, names, `cells`, sum.

    Raises:
        ValueError: The row is damaged; the text says in which way.
    """
    key, replication, number, *kept, total = found
    named = _NONE if number is None else lists.get(number, _MISSING)
    if is_summed and total != checksum(key, replication, named.total, kept):
        raise ValueError("its checksum differs")
    if named.fault:
        raise ValueError(named.fault)
    seed, model, limits, stopped, error, metrics, series, transfers, events, *times = kept
    values = None if metrics is None else unpacked(_blob(metrics), len(named.names))
    measured = None if values is None else dict(zip(named.names, values, strict=True))
    head = (key, replication, seed, limits, stopped, error)
    return _text(model, "model"), _checked(head, measured, series, transfers, (events, *times))


def plain_row_of(found: Sequence[Any]) -> tuple[str, Row]:
    """A run from its row of the format that had all of it as text, with the version of its model.

    Raises:
        ValueError: The row is damaged; the text says in which way.
    """
    key, replication, seed, limits, stopped, error, metrics, series, transfers, *costs, model = found
    measured = None if metrics is None else loads(_text(metrics, "metrics"))
    if metrics is not None and not isinstance(measured, dict):
        raise ValueError("metrics: not a table")
    for value in (measured or {}).values():
        if value is not None:
            _number(value, "metrics")
    head = (key, replication, seed, limits, stopped, error)
    return _text(model, "model"), _checked(head, measured, series, transfers, costs)


def _checked(
    head: Sequence[Any],
    measured: dict[str, float | None] | None,
    series: object,
    transfers: object,
    costs: Sequence[Any],
) -> Row:
    """A run, if each of its fields has the required type and range."""
    key, replication, seed, limits, stopped, error = head
    events, simulated, cpu, wall = costs
    return Row(
        _text(key, "point"),
        _count(replication, "replication", MOST),
        _seed(seed),
        _text(limits, "limits"),
        None if stopped is None else _text(stopped, "limit reached"),
        None if error is None else _text(error, "error"),
        measured,
        {} if series is None else _series(loads(_text(series, "series"))),
        {} if transfers is None else _columns(loads(_text(transfers, "transfers"))),
        _count(events, "events", _MOST_COUNT),
        *(_seconds(value) for value in (simulated, cpu, wall)),
    )


def _text(value: object, what: str) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{what}: not a text")
    value.encode()
    return value


def _blob(value: object) -> bytes:
    if not isinstance(value, bytes):
        raise ValueError("metrics: not numbers")
    return value


def _count(value: object, what: str, most: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ValueError(f"{what}: not a number from 0 to {most}")
    return value


def _seed(value: object) -> int:
    text = _text(value, "seed")
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(MOST_SEED))):
        raise ValueError(f"seed: not a number from 0 to {MOST_SEED}")
    return int(text)


def _number(value: object, what: str) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise ValueError(f"{what}: not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{what}: not finite")
    return number


def _seconds(value: object) -> float:
    number = _number(value, "times")
    if number < 0:
        raise ValueError("times: below 0")
    return number


def _words(value: object, what: str) -> list[str]:
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise ValueError(f"{what}: not a list of texts")
    if len(set(value)) < len(value):
        raise ValueError(f"{what}: one is there twice")
    return value


_TRANSFERS: dict[str, type | tuple[type, ...]] = {
    "flow": int, "class": str, "begun_s": (int, float), "lasted_s": (int, float), "done": bool, "bytes": int,
}  # fmt: skip


def _columns(value: object) -> dict[str, list[Any]]:
    if not isinstance(value, dict) or not value.keys() <= _TRANSFERS.keys():
        raise ValueError("transfers: not columns of transfers")
    if not _TRANSFERS.keys() - {"bytes"} <= value.keys():
        raise ValueError("transfers: a column is missing")
    for name, column in value.items():
        if not isinstance(column, list) or len(column) != len(value["flow"]):
            raise ValueError(f"transfers: {name}: not a column as long as the others")
        for cell in column:
            if not isinstance(cell, _TRANSFERS[name]):
                raise ValueError(f"transfers: {name}: not what it has to be")
            if name not in {"class", "done"} and not _number(cell, f"transfers: {name}") >= 0:
                raise ValueError(f"transfers: {name}: below 0")
    return value


def _series(value: object) -> dict[str, list[float]]:
    if not isinstance(value, dict) or not all(isinstance(bins, list) for bins in value.values()):
        raise ValueError("series: not lists of numbers")
    return {name: [_number(v, "series") for v in bins] for name, bins in value.items()}


def packed(values: Iterable[float | None]) -> bytes:
    """Numbers as eight bytes each, or these compressed if that is shorter; what is not finite is not kept.

    >>> unpacked(packed([1.5, None, float("inf")]), 3), len(packed([0.0] * 100)) < 40
    ([1.5, None, None], True)
    """
    known = [math.nan if v is None else v for v in values]
    if not is_finite(known):
        known = [v if math.isfinite(v) else math.nan for v in known]
    plain = struct.pack(f"<{len(known)}d", *known)
    # Compressing takes longer than a short run.
    short = zlib.compress(plain, 1) if len(plain) > LONG else plain
    return short if len(short) < len(plain) else plain


def is_finite(values: Iterable[float | None]) -> bool:
    """Whether all values are finite, or missing; a sum that overflows counts as not finite.

    >>> is_finite([1.0, None]), is_finite([math.inf, 1.0]), is_finite([math.nan])
    (True, False, False)
    """
    return math.isfinite(sum(filter(None, values)))


def unpacked(stored: bytes, count: int) -> list[float | None]:
    """The numbers again; never more than they are, whatever the bytes would unpack to.

    Raises:
        ValueError: These are not so many numbers.
    """
    plain = stored
    if len(stored) != 8 * count:
        try:
            # No limit at all would be 0.
            plain = zlib.decompressobj().decompress(stored, 8 * count + 1)
        except zlib.error as e:
            raise ValueError(f"metrics: {e}") from e
    if len(plain) != 8 * count:
        raise ValueError(f"metrics: not {count} numbers")
    found = struct.unpack(f"<{count}d", plain)
    if any(map(math.isinf, found)):
        raise ValueError("metrics: not finite")
    return [None if v != v else v for v in found]  # noqa: PLR0124
