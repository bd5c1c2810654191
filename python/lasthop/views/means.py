"""The mean of a metric at every point of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lasthop.base.quantity import shown_unit
from lasthop.base.table import Table
from lasthop.stats.intervals import Interval, interval

if TYPE_CHECKING:
    from lasthop.study.study import Study


def means(study: Study, metric: str) -> Table:
    """Mean, 95 % interval and n of a metric at every point."""
    study.check_metric(metric)
    swept = list(study.points()[0])
    units = dict.fromkeys(("mean", "ci_low", "ci_high"), shown_unit(metric))
    table = Table([*swept, "mean", "ci_low", "ci_high", "n"], units=units)
    for planned, point in zip(study.plan, study.points(), strict=True):
        it = interval(list(study.values(planned.point, metric).values()))
        table.rows.append({**point, **_columns(it)})
    return table


def _columns(it: Interval) -> dict[str, Any]:
    return {"mean": it.mean, "ci_low": it.low, "ci_high": it.high, "n": it.n}
