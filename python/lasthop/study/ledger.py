"""The ledger of a study: one SQLite file, one row per run, written soon after the run ends.

The file is created under another name and moved into place complete, so that a ledger that exists can always
be read. While it is written, the runs that ended together are one committed transaction in WAL mode. A
process killed at any moment loses no more than the batches it was in the middle of; one that ends leaves one
file.

What many runs share is kept once: the keys of points, and the names of metrics. The values of a run are one
blob of numbers. `rows` has the form of a row and its checksum; facts and plan have one together. A ledger may
come from elsewhere: its tables have to be those of lasthop, and each field is checked when it is read.
"""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import astuple, dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.arguments import MOST_REPLICATIONS
from lasthop.base.errors import StudyError, reason
from lasthop.base.files import put
from lasthop.base.paths import LEDGER
from lasthop.study import older
from lasthop.study.rows import Names, Row, cells, checksum, plain_row_of, row_of, sum_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

APPLICATION = 0x4C486F70  # "LHop", so that another program's SQLite file is recognised
SCHEMA = 5
PLAIN, OLDER = 4, 3
"""The formats before, without sums and with all of a run as text: read, and renewed by whatever writes."""

UNREADABLE = (sqlite3.Error, UnicodeError)
"""What reading a damaged file raises: SQLite quotes it in its messages, and that may not be text."""
SUM = "sum"
"""The fact that is a checksum of the others and of the plan."""

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
    sum integer not null,
    primary key (point, replication, seed, model_version)
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
class Damage:
    """A run that was left out when a ledger was read.

    Attributes:
        point_key: The key of its point, as far as it is known.
        replication: The number of the run, as far as it is known.
        fault: What is wrong with it.
    """

    point_key: str
    replication: int | None
    fault: str


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
        self._names: dict[tuple[str, ...], tuple[int, int]] = {}
        self.damaged: list[Damage] = []
        """What the last reading of all runs has left out."""
        try:
            if write:
                self._closing.enter_context(locked(directory))
            self._db = self._closing.enter_context(closing(opened(self.path, write=write)))
            # A damaged cell must not keep the rest from being read.
            self._db.text_factory = _lenient
            self._check()
            if not of_any_model:
                self._check_model()
            if write:
                self._db.execute("pragma journal_mode = wal")
                self._db.execute("pragma synchronous = normal")
                self._db.execute("begin immediate")
                self._db.execute("rollback")
                self._writes = True
                if self._format != SCHEMA:
                    self._renew()
        except UNREADABLE as e:
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
        if schema not in {SCHEMA, PLAIN, OLDER}:
            raise StudyError(
                f"{self.path}: ledger format {schema}; expected format {SCHEMA} "
                "(use the lasthop that wrote it, fresh, or another out)"
            )
        self._format = int(str(schema))
        self._check_tables()
        verdict = " ".join(str(self._one("pragma quick_check(1)")).split())
        if verdict != "ok":
            raise StudyError(f"{self.path}: damaged ({verdict}); expected a complete ledger")

    def _check_tables(self) -> None:
        """Raise unless the tables are those of lasthop, with nothing that computes what is read."""
        found = {}
        for kind, name, text in self._db.execute("select type, name, sql from sqlite_master"):
            if kind == "index" and str(name).startswith("sqlite_autoindex_"):
                continue
            found[str(name)] = kind == "table" and str(text).lower().startswith("create table")
        columns = _columns(self._format)
        odd = [name for name, is_plain in found.items() if name not in columns or not is_plain]
        odd += [name for name in columns if name not in found]
        for name in columns if not odd else ():
            there = [(c[1], c[6]) for c in self._db.execute(f"pragma table_xinfo({name})")]
            if there != [(column, 0) for column in columns[name]]:
                odd.append(name)
        if odd:
            what = f'"{odd[0]}" is not as lasthop makes it'
            raise StudyError(f"{self.path}: damaged ({what}); expected the tables of a ledger")

    def check_facts(self) -> None:
        """Raise if facts or plan are not what was written last."""
        if self._format == SCHEMA and self.meta(SUM, "") != str(self._sum()):
            raise StudyError(
                f"{self.path}: damaged (the checksum of its scenario, settings and plan differs); expected a "
                "complete ledger (the same sweep writes it anew)"
            )

    def _sum(self) -> int:
        facts = self._db.execute("select * from meta where key != ? order by key", (SUM,)).fetchall()
        plan = self._db.execute("select * from plan order by point").fetchall()
        return zlib.crc32(repr((facts, plan)).encode("utf-8", "surrogateescape"))

    def _seal(self) -> None:
        """Renew the sum over facts and plan, in the transaction that changes them."""
        self._db.execute("insert or replace into meta values (?, ?)", (SUM, str(self._sum())))

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
                total = zlib.crc32(repr((sorted(meta.items()), [])).encode())
                db.execute("insert into meta values (?, ?)", (SUM, str(total)))
                db.commit()
                whole = db.serialize()
        except (OSError, *UNREADABLE) as e:
            raise StudyError(f"{directory}: {reason(e)}; expected a writable directory") from e
        put(directory / LEDGER, whole, is_own=True, expected="a writable directory")

    def meta(self, key: str, default: str | None = None) -> str:
        """A remembered fact about the study."""
        found = self._db.execute("select value from meta where key = ?", (key,)).fetchone()
        if found is None and default is not None:
            return default
        if found is None:
            raise StudyError(f'{self.path}: no entry "{key}"; expected a complete ledger')
        text = found[0]
        try:
            if not isinstance(text, str):
                raise TypeError
            text.encode()
        except (TypeError, UnicodeEncodeError) as e:
            raise StudyError(f'{self.path}: damaged (its entry "{key}" is not text); expected a text') from e
        return text

    def set_meta(self, values: dict[str, str]) -> None:
        """Remember facts about the study, all at once."""
        try:
            with self._db:
                self._db.executemany("insert or replace into meta values (?, ?)", values.items())
                self._seal()
        except UNREADABLE as e:
            raise StudyError(f"{self.path}: {reason(e)}; expected a writable ledger") from e

    def plan(self) -> list[Planned]:
        """The points of the study, in order."""
        found = []
        try:
            for point, key, count in self._db.execute("select * from plan order by point"):
                is_counted = isinstance(count, int) and 1 <= count <= MOST_REPLICATIONS
                if not isinstance(point, int) or point < 0 or not isinstance(key, str) or not is_counted:
                    raise StudyError(
                        f"{self.path}: damaged (its plan has {count!r} runs of point {point!r}); expected "
                        f"1 to {MOST_REPLICATIONS} runs of each"
                    )
                found.append(Planned(point, key, count))
        except UNREADABLE as e:
            raise StudyError(f"{self.path}: {reason(e)}; expected a readable, complete ledger") from e
        return found

    def set_plan(self, plan: Iterable[Planned]) -> None:
        """Replace the plan."""
        try:
            with self._db:
                self._db.execute("delete from plan")
                self._db.executemany("insert into plan values (?, ?, ?)", map(astuple, plan))
                self._seal()
        except UNREADABLE as e:
            raise StudyError(f"{self.path}: {reason(e)}; expected a writable ledger") from e

    def put(self, rows: Iterable[Row]) -> None:
        """Record finished runs in one transaction."""
        try:
            with self._db:
                self._put((_core.model_version, row) for row in rows)
        except UNREADABLE as e:
            # What the transaction had added to the lists is not there.
            self._points.clear()
            self._names.clear()
            raise StudyError(f"{self.path}: {reason(e)}; expected a writable ledger") from e

    def _put(self, rows: Iterable[tuple[str, Row]]) -> None:
        marks = ", ".join("?" * len(_columns(SCHEMA)["runs"]))
        statement = f"insert or replace into runs values ({marks})"  # noqa: S608
        self._db.executemany(statement, [self._cells(row, model) for model, row in rows])

    def _cells(self, row: Row, model: str) -> tuple[Any, ...]:
        """The row of a run, with the numbers under which its point and its names are kept."""
        kept = cells(row, model)
        number, names = (None, 0) if row.metrics is None else self._list(tuple(row.metrics))
        total = checksum(row.point_key, row.replication, names, kept)
        return (self._point(row.point_key), row.replication, *kept[:5], number, *kept[5:], total)

    def _point(self, key: str) -> int:
        """The number under which the key of a point is kept once."""
        if key not in self._points:
            self._db.execute("insert or ignore into points (point_key) values (?)", (key,))
            found = self._db.execute("select id from points where point_key = ?", (key,))
            self._points[key] = int(found.fetchone()[0])
        return self._points[key]

    def _list(self, names: tuple[str, ...]) -> tuple[int, int]:
        """The number under which a list of names of metrics is kept once, and its sum."""
        if names not in self._names:
            text = json.dumps(names)
            self._db.execute("insert or ignore into names (names) values (?)", (text,))
            found = self._db.execute("select id from names where names = ?", (text,))
            self._names[names] = int(found.fetchone()[0]), sum_of(text)
        return self._names[names]

    def rows(self, seed: int) -> Iterator[Row]:
        """All whole runs of a seed that the current model made; `damaged` then has the others of any seed."""
        try:
            for model, row in self._read():
                if model == _core.model_version and row.seed == seed:
                    yield row
        except UNREADABLE as e:
            raise StudyError(f"{self.path}: damaged ({reason(e)}); expected a complete ledger") from e

    def _read(self, before: str = "") -> Iterator[tuple[str, Row]]:
        """All whole runs with the versions of their models, from tables with a prefix."""
        self.damaged = []
        if self._format == OLDER:
            for found in older.runs(self._db, f"{before}runs"):
                try:
                    yield plain_row_of(found)
                except ValueError as e:
                    self._leave_out(found[0], found[1], e)
            return
        is_summed = self._format == SCHEMA
        query = f"""
            select point_key, replication, r.names, seed, model_version, limits, stopped, error, metrics,
                   series, transfers, events, simulated_s, cpu_s, wall_s, {"sum" if is_summed else "null"}
            from {before}runs r left join {before}points p on p.id = r.point
        """  # noqa: S608
        lists = self._lists(before)
        sought: set[object] = set()
        for found in self._db.execute(query):
            number = found[2]
            if number not in lists and number not in sought:
                # Another process has added a list and its rows since.
                sought.add(number)
                lists = self._lists(before)
            try:
                yield row_of(found, lists, is_summed=is_summed)
            except ValueError as e:
                self._leave_out(found[0], found[1], e)

    def _lists(self, before: str) -> dict[int, Names]:
        """The lists of names of metrics by their numbers."""
        every = self._db.execute(f"select id, names from {before}names")  # noqa: S608
        return {number: Names.of(text) for number, text in every}

    def _leave_out(self, key: object, replication: object, error: ValueError) -> None:
        number = replication if isinstance(replication, int) else None
        self.damaged.append(Damage(key if isinstance(key, str) else "", number, reason(error)))

    def mend(self) -> None:
        """Leave out permanently the rows that the last reading has left out."""
        if self.damaged:
            try:
                self._renew()
            except UNREADABLE as e:
                raise StudyError(f"{self.path}: damaged ({reason(e)}); expected a complete ledger") from e

    def _renew(self) -> None:
        """Write all whole runs anew, in the format of today, all at once."""
        tables = ("runs",) if self._format == OLDER else ("points", "names", "runs")
        self._db.execute("begin immediate")
        with self._db:
            for name in tables:
                self._db.execute(f"alter table {name} rename to older_{name}")
            for statement in filter(None, map(str.strip, _RUNS.split(";"))):
                self._db.execute(statement)
            self._points.clear()
            self._names.clear()
            self._put(self._read("older_"))
            for name in reversed(tables):
                self._db.execute(f"drop table older_{name}")
            self._db.execute(f"pragma user_version = {SCHEMA}")
            self._seal()
        self._format = SCHEMA

    def close(self) -> None:
        """Close the file; what was recorded is on disk, in one file unless another process has it open."""
        if self._writes:
            # If another process reads or the disk is full, the log remains and is read with the ledger.
            with suppress(sqlite3.Error):
                self._db.execute("pragma busy_timeout = 0")
                self._db.execute("pragma wal_checkpoint(truncate)")
        self._closing.close()


@cache
def _columns(schema: int) -> dict[str, list[str]]:
    """The tables of a format, with their columns."""
    with closing(sqlite3.connect(":memory:")) as db:
        db.executescript(_TABLES + (older.TABLE if schema == OLDER else _RUNS))
        names = [str(name) for (name,) in db.execute("select name from sqlite_master where type = 'table'")]
        found = {name: [str(c[1]) for c in db.execute(f"pragma table_info({name})")] for name in names}
    if schema == PLAIN:
        found["runs"].remove("sum")
    return found


def _lenient(raw: bytes) -> str:
    return str(raw, "utf-8", "surrogateescape")


def opened(path: Path, *, write: bool) -> sqlite3.Connection:
    """A connection to a ledger, also to one in a directory that cannot be written."""
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
