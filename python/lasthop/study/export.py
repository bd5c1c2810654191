"""A study as a tidy table: one row per run, or one per point with means and intervals.

Swept keys come twice, as the text of the scenario and, with `_si` after the name, as a number in
SI units where they are quantities. Rows are in the order of points and replications, and hold
nothing that depends on the machine, so the same study gives the same bytes everywhere.
"""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.errors import LasthopError, UsageError, nearest, reason
from lasthop.base.files import put, replacing
from lasthop.base.jsontext import dumps
from lasthop.base.quantity import metric_unit
from lasthop.base.table import Table
from lasthop.stats.intervals import interval

if TYPE_CHECKING:
    from pathlib import Path

    from lasthop.study.study import Study

FORMATS = ("csv", "json", "parquet")


def tidy(study: Study) -> Table:
    """One row per run."""
    swept = _swept(study)
    metrics = study.metrics()
    table = Table(["point", *swept, "replication", "seed", "status", "events", *metrics])
    points = study.scenario.points()
    for result in study.results():
        row = result.row
        status = "failed" if row.error is not None else row.stopped or "done"
        line = {"point": result.point, **_place(study, points[result.point], swept)}
        line.update(replication=row.replication, seed=row.seed, status=status, events=row.events)
        found = row.metrics or {}
        table.rows.append({**line, **{name: found.get(name) for name in metrics}})
    return table


def summary(study: Study) -> Table:
    """One row per point, metric by metric: mean, interval and n."""
    swept = _swept(study)
    metrics = study.metrics()
    suffixes = ("mean", "ci_low", "ci_high", "n")
    table = Table(["point", *swept, *(f"{m}.{s}" for m in metrics for s in suffixes)])
    points = study.scenario.points()
    for planned in study.plan:
        line: dict[str, Any] = {"point": planned.point, **_place(study, points[planned.point], swept)}
        for name in metrics:
            it = interval(list(study.values(planned.point, name).values()))
            numbers = (it.mean, it.low, it.high, it.n)
            line.update({f"{name}.{s}": v for s, v in zip(suffixes, numbers, strict=True)})
        table.rows.append(line)
    return table


def _swept(study: Study) -> dict[str, bool]:
    """The columns for swept keys: name to whether it holds the SI number."""
    numeric = study.scenario.numeric
    columns: dict[str, bool] = {}
    for key in study.points()[0]:
        columns[key] = False
        if all(numeric(key, point[key]) is not None for point in study.points()):
            columns[f"{key}_si"] = True
    return columns


def _place(study: Study, point: dict[str, str], swept: dict[str, bool]) -> dict[str, Any]:
    place: dict[str, Any] = {}
    for name, is_number in swept.items():
        key = name.removesuffix("_si") if is_number else name
        place[name] = study.scenario.numeric(key, point[key]) if is_number else point[key]
    return place


def text(study: Study, kind: str, table: Table) -> str:
    """The table as CSV or JSON text."""
    if kind == "json":
        units = {name: metric_unit(name) for name in study.metrics()}
        head = {
            "scenario": study.scenario.id,
            "version": _core.__version__,
            "model_version": _core.model_version,
            "seed": study.seed,
            "overrides": study.scenario.overrides,
            "units": units,
        }
        return dumps({**head, "columns": table.columns, "rows": table.rows}) + "\n"
    sheet = io.StringIO()
    writer = csv.writer(sheet, lineterminator="\n")
    writer.writerow(table.columns)
    for row in table.rows:
        writer.writerow(["" if row[c] is None else row[c] for c in table.columns])
    return sheet.getvalue()


def write(study: Study, path: Path, kind: str, *, summarise: bool = False) -> None:
    """Write the study to a file in one of `FORMATS`, completely or not at all."""
    if kind not in FORMATS:
        raise UsageError(f"export: {kind}: unknown format; {nearest(kind, FORMATS)}")
    table = summary(study) if summarise else tidy(study)
    if kind != "parquet":
        put(path, text(study, kind, table))
        return
    with replacing(path) as draft:
        _parquet(table, draft)


def _parquet(table: Table, path: Path) -> None:
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as e:
        raise LasthopError(
            'export: pyarrow is not installed; expected it for Parquet (pip install "lasthop[parquet]")'
        ) from e
    except ImportError as e:
        # Such as one that needs a newer numpy.
        raise LasthopError(f"export: pyarrow: {reason(e)}; expected one that can be imported") from e
    columns = {name: [row[name] for row in table.rows] for name in table.columns}
    kinds = {name: _kind(values) for name, values in columns.items()}
    arrays = {name: pa.array(values, type=getattr(pa, kinds[name])()) for name, values in columns.items()}
    pq.write_table(pa.table(arrays), path)


def _kind(values: list[Any]) -> str:
    known = [v for v in values if v is not None]
    if known and all(isinstance(v, str) for v in known):
        return "string"
    return "int64" if known and all(isinstance(v, int) for v in known) else "float64"
