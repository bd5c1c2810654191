"""Each run of a study as one long run: where its warm-up ends, and its mean by batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.base.arguments import instance, nonblank
from lasthop.base.errors import UsageError, nearest
from lasthop.base.quantity import seconds, shown_unit
from lasthop.base.table import Table
from lasthop.stats.steady import steady, warm_up

if TYPE_CHECKING:
    from lasthop.study.study import Study

BIN = "run.bin"
WARM_UP = "run.warmup"


def steady_runs(study: Study, metric: str | None = None, *, cut: bool = False) -> Table:
    """Each run with the warm-up that MSER-5 finds in its bins, and its mean with the interval of batch means.

    The mean begins after the warm-up of the scenario; with `cut`, after the longer of that and the one found.
    """
    if metric is not None:
        nonblank("metric", metric, "a series such as flows.main.goodput_bps")
    instance("cut", cut, bool, "True or False")
    names = binned(study)
    if metric is not None and metric not in names:
        raise UsageError(f"{metric} has no bins in {study.path}; {nearest(metric, names)}", argument="metric")
    table = Table(
        [
            *study.points()[0],
            "replication",
            "warmup_s",
            "found_s",
            "mean",
            "ci_low",
            "ci_high",
            "batches",
            "batch_s",
            "linked",
            "is_linked",
        ],
        units=dict.fromkeys(("mean", "ci_low", "ci_high"), shown_unit(metric or names[0])),
    )
    for planned, point in zip(study.plan, study.points(), strict=True):
        width, warmup = _times(study, planned.point)
        for replication, values in study.series(planned.point, metric or names[0]).items():
            found = warm_up(values)
            first = -int(-warmup // width)
            one = steady(values, max(first, found or 0) if cut else first)
            table.rows.append(
                {
                    **point,
                    "replication": replication,
                    "warmup_s": warmup,
                    "found_s": None if found is None else found * width,
                    "mean": one.mean.mean,
                    "ci_low": one.mean.low,
                    "ci_high": one.mean.high,
                    "batches": one.mean.n,
                    "batch_s": one.batch * width,
                    "linked": one.linked,
                    "is_linked": one.is_linked,
                }
            )
    return table


def binned(study: Study) -> list[str]:
    """The metrics that a study has in bins."""
    names = list(dict.fromkeys(name for result in study.results() for name in result.row.series))
    if not names:
        raise UsageError(f'{study.path}: no bins; expected finished runs with {BIN}, such as {BIN} = "1 s"')
    return names


def remarks(table: Table) -> list[str]:
    """What a reader of the table has to know: nothing is cut on its own, and runs that are too short."""
    rows = table.rows
    longer = sum(row["found_s"] is not None and row["found_s"] > row["warmup_s"] for row in rows)
    unknown = sum(row["found_s"] is None for row in rows)
    dependent = sum(row["is_linked"] for row in rows)
    said = []
    if longer:
        said.append(
            f"{longer} of {len(rows)} runs warm up longer than {WARM_UP}; --cut leaves out what was found"
        )
    if unknown:
        said.append(f"{unknown} of {len(rows)} runs: no end of the warm-up in the first half; run longer")
    if dependent:
        said.append(
            f"{dependent} of {len(rows)} runs: neighbouring batches depend on each other, "
            "so the interval is too narrow; run longer"
        )
    return said


def _times(study: Study, point: int) -> tuple[float, float]:
    """The width of a bin and the warm-up, in seconds."""
    found = study.scenario.resolved(point)
    width, warmup = (seconds(str(found.get(key, {}).get("value", "0 s"))) for key in (BIN, WARM_UP))
    return width or 1.0, warmup or 0.0
