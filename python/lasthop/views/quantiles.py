"""A quantile of a metric at every point of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.base.arguments import above_zero
from lasthop.base.errors import UsageError
from lasthop.base.quantity import shown_unit
from lasthop.base.table import Table
from lasthop.stats.quantiles import quantile

if TYPE_CHECKING:
    from lasthop.study.study import Study


def quantiles(study: Study, metric: str, share: float = 0.5) -> Table:
    """A quantile, its 95 % interval and n of a metric at every point."""
    study.check_metric(metric)
    if above_zero("share", share, "share such as 0.9") >= 1:
        raise UsageError(f"{share:g}; expected a share between 0 and 1", argument="share")
    swept = list(study.points()[0])
    units = dict.fromkeys(("quantile", "ci_low", "ci_high"), shown_unit(metric))
    table = Table([*swept, "quantile", "ci_low", "ci_high", "n"], units=units)
    for planned, point in zip(study.plan, study.points(), strict=True):
        it = quantile(list(study.values(planned.point, metric).values()), share)
        table.rows.append({**point, "quantile": it.mean, "ci_low": it.low, "ci_high": it.high, "n": it.n})
    return table
