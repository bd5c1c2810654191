"""The ledger of a study: one SQLite file, one row per run, written soon after the run ends.

The file is created under another name and moved into place complete, so that a ledger that
exists can always be read; while it is written, the runs that ended together are one committed transaction
in WAL mode. A process killed at any moment loses no more than the batches it was in the middle of; one that
ends leaves one file.

What many runs share is kept once: the keys of points, and the names of metrics. The values of a run are one
blob of numbers.
"""

from __future__ import annotations

import json
import math
import os
import sqlite3
import struct
import zlib
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.errors import StudyError, reason
from lasthop.base.files import put
from lasthop.base.paths import LEDGER
from lasthop.study import older

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

APPLICATION = 0x4C486F70  # "LHop", so that another program's SQLite file is recognised
SCHEMA = 4
OLDER = 3
"""The format before, which is read, and renewed by whatever writes."""

_TABLES = """
create table meta (key text primary key, value text not null) without rowid;
create table plan (
    point integer primary key,
    point_key text not null,
    replications integer not null
);
"""
_RUNS = """
create table points (id integer primary key, point_key text not null unique);
create table names (id integer primary key, names text not null unique);
create table runs (
    point integer not null references points,
    replication integer not null,
    seed text not null,
    model_version text not null,
    limits text not null,
    stopped text,
    error text,
    names integer references names,
    metrics blob,
    series text,
    transfers text,
    events integer,
    simulated_s real,
    cpu_s real,
    wall_s real,
    primary key (point, replication, seed, model_version)
) without rowid;
"""

LONG = 512
"""Bytes of numbers above which a run is kept compressed."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One point of a study with its number of replications.

    Attributes:
        point: The number of the point among all points of the scenario.
        point_key: A hash of everything at the point that can change its results.
        replications: The number of runs of the point.
    """

    point: int
    point_key: str
    replications: int


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


class Ledger:
    """An open ledger. Only the thread that opened it may use it."""

    def __init__(self, directory: Path, *, write: bool, of_any_model: bool = False) -> None:
        self.path = directory / LEDGER
        if not self.path.exists():
            raise StudyError(f"{directory}: no {LEDGER}; expected a study directory")
        self._closing = ExitStack()
        self._writes = False
        # What is kept once, by its number.
        self._points: dict[str, int] = {}
        self._names: dict[tuple[str, ...], int] = {}
        try:
            if write:
                self._closing.enter_context(locked(directory))
            self._db = self._closing.enter_context(closing(_open(self.path, write=write)))
            self._check()
            if not of_any_model:
                self._check_model()
            if write:
                self._db.execute("pragma journal_mode = wal")
                self._db.execute("pragma synchronous = normal")
                self._db.execute("begin immediate")
                self._db.execute("rollback")
                self._writes = True
                if self._is_older:
                    self._renew()
        except sqlite3.Error as e:
            self.close()
            raise StudyError(f"{self.path}: {reason(e)}; expected a readable, complete ledger") from e
        except StudyError:
            self.close()
            raise

    def _check(self) -> None:
        application = self._one("pragma application_id")
        schema = self._one("pragma user_version")
        if application != APPLICATION:
            raise StudyError(f"{self.path}: not a ledger of lasthop; expected a study of lasthop")
        self._is_older = schema == OLDER
        if schema not in {SCHEMA, OLDER}:
            raise StudyError(
                f"{self.path}: ledger format {schema}; expected format {SCHEMA} "
                "(use the lasthop that wrote it, fresh, or another out)"
            )
        verdict = " ".join(str(self._one("pragma quick_check(1)")).split())
        if verdict != "ok":
            raise StudyError(f"{self.path}: damaged ({verdict}); expected a complete ledger")

    def _check_model(self) -> None:
        model = self.meta("model_version")
        if model != _core.model_version:
            raise StudyError(
                f"{self.path}: results of model version {model}; expected version "
                f"{_core.model_version} (use the lasthop that wrote it, fresh, or another out)"
            )

    def _one(self, query: str) -> object:
        row = self._db.execute(query).fetchone()
        return row[0] if row else None

    @staticmethod
    def create(directory: Path, meta: dict[str, str]) -> None:
        """Put an empty ledger into a directory, complete from the first moment it is seen."""
        try:
            directory.mkdir(parents=True, exist_ok=True)
            with closing(sqlite3.connect(":memory:")) as db:
                db.executescript(
                    f"pragma application_id = {APPLICATION}; pragma user_version = {SCHEMA};"
                    f"begin; {_TABLES} {_RUNS}"
                )
                db.executemany("insert into meta values (?, ?)", meta.items())
                db.commit()
                whole = db.serialize()
        except (OSError, sqlite3.Error) as e:
            raise StudyError(f"{directory}: {reason(e)}; expected a writable directory") from e
        put(directory / LEDGER, whole, is_own=True, expected="a writable directory")

    def meta(self, key: str, default: str | None = None) -> str:
        """A remembered fact about the study."""
        found = self._db.execute("select value from meta where key = ?", (key,)).fetchone()
        if found is None and default is not None:
            return default
        if found is None:
            raise StudyError(f'{self.path}: no entry "{key}"; expected a complete ledger')
        return str(found[0])

    def set_meta(self, values: dict[str, str]) -> None:
        """Remember facts about the study, all at once."""
        self._write("insert or replace into meta values (?, ?)", values.items())

    def plan(self) -> list[Planned]:
        """The points of the study, in order."""
        return [Planned(*row) for row in self._db.execute("select * from plan order by point")]

    def set_plan(self, plan: Iterable[Planned]) -> None:
        """Replace the plan."""
        try:
            with self._db:
                self._db.execute("delete from plan")
                self._db.executemany("insert into plan values (?, ?, ?)", map(astuple, plan))
        except sqlite3.Error as e:
            raise StudyError(f"{self.path}: {reason(e)}; expected a writable ledger") from e

    def put(self, rows: Iterable[Row]) -> None:
        """Record finished runs in one transaction."""
        try:
            with self._db:
                self._put((_core.model_version, row) for row in rows)
        except sqlite3.Error as e:
            # What the transaction had added to the lists is not there.
            self._points.clear()
            self._names.clear()
            raise StudyError(f"{self.path}: {reason(e)}; expected a writable ledger") from e

    def _put(self, rows: Iterable[tuple[str, Row]]) -> None:
        self._db.executemany(
            "insert or replace into runs values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (
                    self._point(r.point_key),
                    r.replication,
                    str(r.seed),
                    model,
                    r.limits,
                    r.stopped,
                    r.error,
                    None if r.metrics is None else self._list(tuple(r.metrics)),
                    None if r.metrics is None else packed(r.metrics.values()),
                    json.dumps(r.series, allow_nan=False) if r.series else None,
                    json.dumps(r.transfers, allow_nan=False) if r.transfers else None,
                    r.events,
                    r.simulated_s,
                    r.cpu_s,
                    r.wall_s,
                )
                for model, r in rows
            ],
        )

    def _point(self, key: str) -> int:
        """The number under which the key of a point is kept once."""
        if key not in self._points:
            self._db.execute("insert or ignore into points (point_key) values (?)", (key,))
            found = self._db.execute("select id from points where point_key = ?", (key,))
            self._points[key] = int(found.fetchone()[0])
        return self._points[key]

    def _list(self, names: tuple[str, ...]) -> int:
        """The number under which a list of names of metrics is kept once."""
        if names not in self._names:
            text = json.dumps(names)
            self._db.execute("insert or ignore into names (names) values (?)", (text,))
            found = self._db.execute("select id from names where names = ?", (text,))
            self._names[names] = int(found.fetchone()[0])
        return self._names[names]

    def _write(self, statement: str, values: Iterable[tuple[object, ...]]) -> None:
        try:
            with self._db:
                self._db.executemany(statement, values)
        except sqlite3.Error as e:
            raise StudyError(f"{self.path}: {reason(e)}; expected a writable ledger") from e

    def rows(self, seed: int) -> Iterator[Row]:
        """All runs of a seed that the current model made."""
        try:
            yield from self._read(seed)
        except (sqlite3.Error, zlib.error, struct.error, ValueError, TypeError) as e:
            # SQLite checks the structure of a file and not what is in its cells.
            what = " ".join(str(e).split())
            raise StudyError(f"{self.path}: damaged ({what}); expected a complete ledger") from e

    def _read(self, seed: int) -> Iterator[Row]:
        if self._is_older:
            yield from (row for model, row in older.runs(self._db, Row) if _is(model, row, seed))
            return
        query = """
            select point_key, replication, limits, stopped, error, runs.names, metrics, series, transfers,
                   events, simulated_s, cpu_s, wall_s
            from runs join points on points.id = point where model_version = ? and seed = ?
        """
        lists = {number: json.loads(names) for number, names in self._db.execute("select * from names")}
        for row in self._db.execute(query, (_core.model_version, str(seed))):
            key, replication, limits, stopped, error, names, metrics, series, transfers, *rest = row
            named = lists.get(names, [])
            values = None if metrics is None else unpacked(metrics, len(named))
            found = None if values is None else dict(zip(named, values, strict=True))
            over_time = {} if series is None else json.loads(series)
            asked = {} if transfers is None else json.loads(transfers)
            yield Row(key, replication, seed, limits, stopped, error, found, over_time, asked, *rest)

    def _renew(self) -> None:
        """Write the runs of an older format in this one, all at once."""
        self._db.execute("begin immediate")
        with self._db:
            self._db.execute("alter table runs rename to older_runs")
            for statement in filter(None, map(str.strip, _RUNS.split(";"))):
                self._db.execute(statement)
            self._put(older.runs(self._db, Row, "older_runs"))
            self._db.execute("drop table older_runs")
            self._db.execute(f"pragma user_version = {SCHEMA}")
        self._is_older = False

    def close(self) -> None:
        """Close the file; what was recorded is on disk, in one file unless another process has it open."""
        if self._writes:
            # If another process reads or the disk is full, the log remains and is read with the ledger.
            with suppress(sqlite3.Error):
                self._db.execute("pragma busy_timeout = 0")
                self._db.execute("pragma wal_checkpoint(truncate)")
        self._closing.close()


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
    """The numbers again."""
    plain = stored if len(stored) == 8 * count else zlib.decompress(stored)
    return [None if v != v else v for v in struct.unpack(f"<{count}d", plain)]  # noqa: PLR0124


def _is(model: str, row: Row, seed: int) -> bool:
    return model == _core.model_version and row.seed == seed


def _open(path: Path, *, write: bool) -> sqlite3.Connection:
    if write:
        return sqlite3.connect(path, timeout=30)
    # Not in mode ro: the last one to close a ledger takes its log away, which a reader in that mode cannot.
    uri = path.resolve().as_uri()
    db = sqlite3.connect(f"{uri}?mode=rw", uri=True, timeout=30)
    try:
        db.execute("pragma query_only = on")
        db.execute("select 1 from sqlite_master").fetchone()
    except sqlite3.OperationalError:
        # A WAL file cannot be opened for reading in a directory that cannot be written.
        db.close()
        db = sqlite3.connect(f"{uri}?mode=ro&immutable=1", uri=True)
    return db


def foreign(path: Path) -> bool:
    """Whether a file is another program's SQLite database."""
    with path.open("rb") as file:
        head = file.read(72)
    return head.startswith(b"SQLite format 3\0") and int.from_bytes(head[68:72]) != APPLICATION


@contextmanager
def locked(directory: Path) -> Iterator[None]:
    """Keep other processes from writing the same study; a killed process holds nothing."""
    try:
        import fcntl
    except ImportError:  # No such locks on this system; SQLite still serialises the writes.
        yield
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as e:
            raise StudyError(
                f"{directory}: another lasthop is writing here; expected no other writer "
                "(wait for it, or use another out)"
            ) from e
        yield
    finally:
        os.close(handle)
