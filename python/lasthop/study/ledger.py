"""The ledger of a study: one SQLite file, one row per run, written as the run ends.

The file is created under another name and moved into place complete, so that a ledger that
exists can always be read; while it is written every run is one committed transaction in WAL mode.
A process killed at any moment loses no more than the runs it was in the middle of; one that ends
leaves one file.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import astuple, dataclass
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.errors import StudyError, reason
from lasthop.base.files import replacing
from lasthop.base.jsontext import clean
from lasthop.base.paths import LEDGER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

APPLICATION = 0x4C486F70  # "LHop", so that another program's SQLite file is recognised
SCHEMA = 3

_TABLES = """
create table meta (key text primary key, value text not null) without rowid;
create table plan (
    point integer primary key,
    point_key text not null,
    replications integer not null
);
create table runs (
    point_key text not null,
    replication integer not null,
    seed text not null,
    model_version text not null,
    limits text not null,
    stopped text,
    error text,
    metrics text,
    series text,
    transfers text,
    events integer,
    simulated_s real,
    cpu_s real,
    wall_s real,
    primary key (point_key, replication, seed, model_version)
) without rowid;
"""


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
        if schema != SCHEMA:
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
            with replacing(directory / LEDGER) as draft:
                draft.unlink(missing_ok=True)
                with closing(sqlite3.connect(draft)) as db:
                    # Kept in memory, so that a failure leaves no journal next to the draft.
                    db.execute("pragma journal_mode = memory")
                    db.executescript(
                        f"pragma application_id = {APPLICATION}; pragma user_version = {SCHEMA};"
                        f"begin; {_TABLES}"
                    )
                    db.executemany("insert into meta values (?, ?)", meta.items())
                    db.commit()
        except (OSError, sqlite3.Error) as e:
            raise StudyError(f"{directory}: {reason(e)}; expected a writable directory") from e

    def meta(self, key: str) -> str:
        """A remembered fact about the study."""
        found = self._db.execute("select value from meta where key = ?", (key,)).fetchone()
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
        self._write(
            "insert or replace into runs values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                (
                    r.point_key,
                    r.replication,
                    str(r.seed),
                    _core.model_version,
                    r.limits,
                    r.stopped,
                    r.error,
                    None if r.metrics is None else json.dumps(clean(r.metrics), allow_nan=False),
                    json.dumps(r.series, allow_nan=False) if r.series else None,
                    json.dumps(r.transfers, allow_nan=False) if r.transfers else None,
                    r.events,
                    r.simulated_s,
                    r.cpu_s,
                    r.wall_s,
                )
                for r in rows
            ),
        )

    def _write(self, statement: str, values: Iterable[tuple[object, ...]]) -> None:
        try:
            with self._db:
                self._db.executemany(statement, values)
        except sqlite3.Error as e:
            raise StudyError(f"{self.path}: {reason(e)}; expected a writable ledger") from e

    def rows(self, seed: int) -> Iterator[Row]:
        """All runs of a seed that the current model made."""
        query = """
            select point_key, replication, seed, limits, stopped, error, metrics, series, transfers, events,
                   simulated_s, cpu_s, wall_s
            from runs where model_version = ? and seed = ?
        """
        for row in self._db.execute(query, (_core.model_version, str(seed))):
            key, replication, _, limits, stopped, error, metrics, series, transfers, *rest = row
            found = None if metrics is None else json.loads(metrics)
            over_time = {} if series is None else json.loads(series)
            asked = {} if transfers is None else json.loads(transfers)
            yield Row(key, replication, seed, limits, stopped, error, found, over_time, asked, *rest)

    def close(self) -> None:
        """Close the file; what was recorded is on disk, in one file unless another process has it open."""
        if self._writes:
            # If another process reads or the disk is full, the log remains and is read with the ledger.
            with suppress(sqlite3.Error):
                self._db.execute("pragma busy_timeout = 0")
                self._db.execute("pragma wal_checkpoint(truncate)")
        self._closing.close()


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
