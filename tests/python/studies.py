"""What the tests of studies share: an export to compare, a study without runs, and a worker that fails."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lasthop.study.export import text, tidy
from lasthop.study.ledger import Planned
from lasthop.study.rows import checksum, sum_of
from lasthop.study.work import execute

if TYPE_CHECKING:
    import sqlite3

    import lasthop as lh


METRIC = "flows.main.goodput_bps"


class FakeStudy:
    """The part of a study that its readers use: points with given values of one metric."""

    def __init__(self, points: list[tuple[dict[str, str], list[float]]]) -> None:
        self._points = points
        self.path = "fake"
        self.scenario = self
        self.plan = [Planned(i, str(i), len(values)) for i, (_, values) in enumerate(points)]

    def numeric(self, key: str, text: str) -> float | None:
        number, _, unit = text.partition(" ")
        try:
            return float(number) * (0.01 if unit == "%" else 1.0)
        except ValueError:
            return None

    def points(self) -> list[dict[str, str]]:
        return [point for point, _ in self._points]

    def axes(self) -> list[tuple[list[str], list[list[str]]]]:
        keys = list(self._points[0][0])
        return [([k], [[v] for v in dict.fromkeys(p[k] for p, _ in self._points)]) for k in keys]

    def values(self, point: int, metric: str) -> dict[int, float | None]:
        return dict(enumerate(self._points[point][1]))

    def check_metric(self, metric: str) -> None:
        return


def csv(study: lh.Study) -> str:
    return text(study, "csv", tidy(study))


def failing(task: Any, cancel: Any = None) -> Any:
    row = execute(task)
    if (task.point, task.replication) != (1, 0):
        return row
    return replace(row, error="x: it failed; expected it to work", metrics=None)


def resum(db: sqlite3.Connection) -> None:
    """Renew all sums, as one would who makes a ledger by hand."""
    db.text_factory = lambda raw: str(raw, "utf-8", "surrogateescape")
    rows = db.execute(
        "select r.rowid_, point_key, replication, n.names, seed, model_version, limits, stopped, error,"
        " metrics, series, transfers, events, simulated_s, cpu_s, wall_s from"
        " (select *, point || ' ' || replication || ' ' || seed || ' ' || model_version rowid_ from runs) r"
        " left join points p on p.id = r.point left join names n on n.id = r.names"
    ).fetchall()
    for place, key, replication, names, *kept in rows:
        db.execute(
            "update runs set sum = ?"
            " where point || ' ' || replication || ' ' || seed || ' ' || model_version = ?",
            (checksum(key, replication, 0 if names is None else sum_of(str(names)), kept), place),
        )
    facts = db.execute("select * from meta where key != 'sum' order by key").fetchall()
    plan = db.execute("select * from plan order by point").fetchall()
    total = zlib.crc32(repr((facts, plan)).encode("utf-8", "surrogateescape"))
    db.execute("insert or replace into meta values ('sum', ?)", (str(total),))
