"""Ledgers that are not as lasthop wrote them: a bit has changed, or somebody has made them by hand."""

from __future__ import annotations

import shutil
import sqlite3
import subprocess
import time
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from conftest import SMALL
from lasthop.study.export import text, tidy
from lasthop.study.ledger import Ledger
from studies import csv, resum

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with bins."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "small.toml").write_text(SMALL)
    return lh.load(folder / "small.toml").set({"run.bin": "500 ms"}).sweep(3, folder / "s").run().path


@pytest.fixture
def study(made: Path, small: Path, tmp_path: Path) -> lh.Study:
    """A copy of it, in `s`."""
    return lh.Study.open(shutil.copytree(made, tmp_path / "s"))


def change(folder: Path, *statements: str, is_resummed: bool = False) -> None:
    """Change a ledger by statements, with the sums of what it then says if asked."""
    with closing(sqlite3.connect(folder / "study.sqlite")) as db, db:
        for statement in statements:
            db.executescript(statement)
        # A view may have no end.
        if is_resummed and not db.execute("select 1 from sqlite_master where type = 'view'").fetchone():
            resum(db)


def flips(length: int, count: int) -> Iterator[tuple[int, int]]:
    """Bits of a file, spread over it."""
    for number in range(count):
        place = (number * 2_654_435_761 + 12_345) % (8 * length)
        yield place // 8, place % 8


def test_a_ledger_that_another_process_writes_meanwhile_is_not_damaged(
    study: lh.Study, tmp_path: Path
) -> None:
    file, whole = study.path / "study.sqlite", tmp_path / "whole.sqlite"
    shutil.copy(file, whole)
    change(study.path, "delete from runs", "delete from names")

    def write(statement: str) -> None:
        if "from runs" in statement:
            ledger._db.set_trace_callback(None)
            with closing(sqlite3.connect(file, isolation_level=None)) as db:
                db.execute("attach ? as whole", (str(whole),))
                db.executescript(
                    "begin; insert into names select * from whole.names;"
                    "insert into runs select * from whole.runs; commit"
                )

    with closing(Ledger(study.path, write=False)) as ledger:
        # The names are read before the runs.
        ledger._db.set_trace_callback(write)
        found = list(ledger.rows(study.seed))
    assert (len(found), ledger.damaged) == (18, [])


def test_no_flipped_bit_of_a_ledger_goes_unseen(study: lh.Study) -> None:
    file = study.path / "study.sqlite"
    whole, expected = file.read_bytes(), text(study, "json", tidy(study))
    seen = 0
    for byte, bit in flips(len(whole), 200):
        changed = bytearray(whole)
        changed[byte] ^= 1 << bit
        file.write_bytes(changed)
        try:
            found = lh.Study.open(study.path)
        except (lh.StudyError, lh.ScenarioError):
            seen += 1
            continue
        if found.damaged:
            seen += 1
            assert len(found.damaged) + len(found.runs) >= 18
            assert all(found.runs[key] == study.runs[key] for key in found.runs)
        else:
            # What SQLite does not use may change.
            assert text(found, "json", tidy(found)) == expected
            assert [row.series for row in found.runs.values()] == [row.series for row in study.runs.values()]
    assert seen > 30


@pytest.mark.parametrize(
    "statement",
    [
        "update runs set metrics = x'00' || substr(metrics, 2) where point = 2 and replication = 1",
        "update runs set events = events + 1 where point = 2 and replication = 1",
        "update runs set stopped = 'max-wall' where point = 2 and replication = 1",
        "update runs set replication = 77 where point = 2 and replication = 1",
        "update runs set model_version = '0' where point = 2 and replication = 1",
        "update runs set seed = '2' where point = 2 and replication = 1",
        "update runs set point = 77 where point = 2 and replication = 1",
        "update runs set error = cast(x'ff' as text) where point = 2 and replication = 1",
        "update runs set series = replace(series, '1', '2') where point = 2 and replication = 1",
        "update runs set sum = 7 where point = 2 and replication = 1",
    ],
)
def test_a_damaged_run_is_named_and_made_again_and_the_rest_is_kept(
    study: lh.Study, within: Cli, tmp_path: Path, statement: str
) -> None:
    before = csv(study)
    with closing(sqlite3.connect(study.path / "study.sqlite")) as db:
        query = "select plan.point from plan join points using (point_key) where id = 2"
        (point,) = db.execute(query).fetchone()
    change(study.path, statement)
    done = within("show", "s", "-q")
    assert done.returncode == 0
    assert "its checksum differs" in done.stderr
    if "set replication" in statement:
        assert ", replication 77: " in done.stderr
    elif "set point" not in statement:
        assert f"point {point}, replication 1: " in done.stderr, done.stderr
    assert "this run is left out, and the same sweep makes what is missing" in done.stderr
    assert "reno" in done.stdout
    assert len(within("export", "s").stdout.splitlines()) == 18
    refused = within("archive", "s", "--no-figures", "-o", "x.zip")
    assert refused.returncode == 4
    assert "1 of its runs are damaged" in refused.stderr
    assert within("plot", "s", "-q").returncode == 0
    assert within("sweep", "small.toml", "-s", "run.bin=500 ms", "-o", "s", "-q").returncode == 0
    again = lh.Study.open(study.path)
    assert (csv(again), again.damaged) == (before, [])


def test_facts_and_plan_that_changed_are_seen_and_written_anew(study: lh.Study, within: Cli) -> None:
    before = csv(study)
    for statement in (
        "update meta set value = replace(value, 'Two', 'Twp') where key = 'text'",
        "update meta set value = '3' where key = 'seed'",
        "update meta set value = 'smalk' where key = 'scenario'",
        "delete from meta where key = 'sum'",
        "update plan set replications = 2 where point = 1",
        "update plan set replications = 'many' where point = 1",
        "delete from plan where point = 1",
    ):
        change(study.path, statement)
        done = within("show", "s")
        assert done.returncode == 4, statement
        assert "the checksum of its scenario, settings and plan differs" in done.stderr
        assert within("sweep", "small.toml", "-s", "run.bin=500 ms", "-o", "s", "-q").returncode == 0
        assert csv(lh.Study.open(study.path)) == before


def test_a_ledger_of_the_format_without_sums_is_read_and_renewed(study: lh.Study, small: Path) -> None:
    change(
        study.path,
        "alter table runs drop column sum; delete from meta where key = 'sum'; pragma user_version = 4",
    )
    before = (study.path / "study.sqlite").read_bytes()
    assert csv(lh.Study.open(study.path)) == csv(study)
    assert (study.path / "study.sqlite").read_bytes() == before
    lh.load(small).set({"run.bin": "500 ms"}).sweep(3, study.path)
    with closing(sqlite3.connect(study.path / "study.sqlite")) as db:
        assert db.execute("pragma user_version").fetchone() == (5,)
    found = lh.Study.open(study.path)
    assert (found.runs, found.damaged) == (study.runs, [])


# ruff: noqa: E501
WRONG = [
    *(f"update plan set replications = {n}" for n in ("1000000000", "0", "-1", "1.5", "'x'", "x'00'", "9e18")),
    "update plan set replications = 1000000",
    *("update plan set point = 99 where point = 1", "update plan set point = -1 where point = 1"),
    "update plan set point_key = 7 where point = 1",
    *(f"update meta set value = {v} where key = 'seed'" for v in ("''", "'x'", "'-1'", "'٣'", "x'31'", "'" + "9" * 5000 + "'")),
    *(
        f"update meta set value = {v} where key = '{key}'"
        for key in ("overrides", "where")
        for v in ("'7'", "'{{}}'", "'[7]'", "'[[1,2,3]]'", "'nul'", f"'{'[' * 100_000}'", "cast(x'ff' as text)", "'[\"\\ud800\"]'", "null")
        if v != "null"
    ),
    *(f"update meta set value = {v} where key = 'text'" for v in ("''", "'x'", "x'00'", "cast(x'ff' as text)", f"'a = {'[' * 50_000}'")),
    "delete from meta where key = 'text'",
    *(
        f"update runs set {column} = {v} where point = 2"
        for column, values in {
            "metrics": ("'x'", "7", "x'00'", "x'789c030000000001'", "zeroblob(80000)", "null"),
            "series": ("7", "x'00'", "'7'", "'[]'", '\'{"a": 7}\'', '\'{"a": ["x"]}\'', '\'{"a": [NaN]}\'', f"'{'[' * 100_000}'", '\'{"a": [1e999]}\''),
            "transfers": ("'7'", "'[]'", '\'{"a": 7}\'', '\'{"flow": [1]}\'', f"'{'[' * 100_000}'", '\'{"flow": [99], "class": ["x"], "begun_s": [1], "lasted_s": [1], "done": [true]}\''),
            "names": ("null", "77", "'x'"),
            "events": ("-1", "'x'", "1.5", "null", "9e18"),
            "simulated_s": ("'x'", "-1", "9e999", "null"),
            "wall_s": ("'x'", "9e999"),
            "limits": ("7", "x'00'"),
            "stopped": ("7", "x'00'"),
            "error": ("7", "x'ff'", "'it failed'"),
            "seed": ("'x'", "'-1'", "7"),
            "model_version": ("x'00'",),
            "replication": ("-1", "'x'", "1.5", "1000000000"),
        }.items()
        for v in values
    ),
    *(f"update names set names = {v}" for v in ("'7'", "'[7]'", "'{}'", "'[]'", "'[\"a\", \"a\"]'", f"'{'[' * 100_000}'", "x'00'", "cast(x'ff' as text)")),
    *(f"update points set point_key = {v} where id = 2" for v in ("7", "x'00'", "cast(x'ff' as text)")),
    "drop table names",
    "alter table runs add column more",
    "create table more (x)",
    "create trigger t after insert on plan begin delete from runs; end",
    "alter table plan rename to p; create view plan as with recursive c(x) as (select 1 union all select x + 1 from c) select x as point, 'k' as point_key, 1 as replications from c",
    "alter table meta rename to m; create view meta as select * from m",
    "drop table names; create table names (id integer primary key, names text generated always as (zeroblob(900000000)))",
    "pragma user_version = 3",
    "pragma user_version = 4",
]  # fmt: skip


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_a_ledger_made_by_hand_is_read_or_refused_in_one_sentence_and_soon(
    study: lh.Study, within: Cli, tmp_path: Path, number: int
) -> None:
    with suppress(sqlite3.Error):
        # What SQLite refuses to hold needs no check.
        change(study.path, WRONG[number], is_resummed=True)
    began = time.monotonic()
    others = (("report", "s"), ("cite", "s"), ("plot", "s"), ("show", "s", "--json"), ("archive", "s"))
    for words in (("show", "s"), ("export", "s"), others[number % len(others)]):
        done = within(*words)
        assert done.returncode in {0, 2, 4}, done.stderr
        if done.returncode:
            assert done.stderr.splitlines()[-1].startswith("error: "), done.stderr
    assert time.monotonic() - began < 20
    if number % 4:
        return
    done = within("sweep", "small.toml", "-s", "run.bin=500 ms", "-o", "s", "-q")
    assert done.returncode in {0, 2, 4}
    if done.returncode == 0:
        assert lh.Study.open(study.path).damaged == []
