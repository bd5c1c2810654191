"""Paired contrasts: what changing one key of a study does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.base.errors import UsageError, nearest
from lasthop.base.table import Table
from lasthop.scenario.overrides import same
from lasthop.stats.intervals import difference, interval

if TYPE_CHECKING:
    from lasthop.study.study import Study


def contrasts(study: Study, metric: str, key: str, baseline: str | None = None) -> Table:
    """What changing one key does, everything else and the random numbers being equal.

    Each row is the value at `key` minus the value at the baseline (the key's first value unless
    named), averaged over the replications both have, with its 95 % interval; `relative` is the
    mean difference over the baseline's mean.
    """
    study.check_metric(metric)
    points = study.points()
    if key not in points[0]:
        raise UsageError(f"contrast: {key} is not swept in {study.path}; {nearest(key, points[0])}")
    values = list(dict.fromkeys(point[key] for point in points))
    base = values[0] if baseline is None else baseline
    base = next((v for v in values if same(key, v, base, study.scenario.numeric)), base)
    if base not in values:
        raise UsageError(f'contrast: {key} = "{base}" is not in the study; {nearest(base, values)}')
    together = next(keys for keys, _ in study.scenario.axes() if key in keys)
    others = [k for k in points[0] if k not in together]
    cells: dict[tuple[str, ...], dict[str, dict[int, float | None]]] = {}
    for planned, point in zip(study.plan, points, strict=True):
        place = tuple(point[k] for k in others)
        cells.setdefault(place, {})[point[key]] = study.values(planned.point, metric)
    table = Table([*others, key, "minus", "difference", "ci_low", "ci_high", "n", "relative"])
    for place, cell in cells.items():
        for value in values:
            if value == base or value not in cell or base not in cell:
                continue
            it = difference(cell[value], cell[base])
            level = interval(list(cell[base].values())).mean
            table.rows.append(
                {
                    **dict(zip(others, place, strict=True)),
                    key: value,
                    "minus": base,
                    "difference": it.mean,
                    "ci_low": it.low,
                    "ci_high": it.high,
                    "n": it.n,
                    "relative": it.mean / level if it.mean is not None and level else None,
                }
            )
    return table
