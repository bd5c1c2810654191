"""Paired contrasts: what changing one key of a study does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.base.arguments import instance, nonblank
from lasthop.base.errors import UsageError, nearest
from lasthop.base.table import Table
from lasthop.scenario.overrides import same
from lasthop.stats.intervals import difference, interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from lasthop.study.study import Study


def contrasts(study: Study, metric: str, key: str, baseline: str | None = None) -> Table:
    """What changing one key does, everything else and the random numbers being equal.

    Each row is the value at `key` minus the value at the baseline (the key's first value unless
    named), averaged over the replications both have, with its 95 % interval; `relative` is the
    mean difference over the baseline's mean. A value that several points share, because other keys
    advance together with this one, has theirs in parentheses. Where the study lacks the baseline,
    there is a row without a difference.
    """
    study.check_metric(metric)
    nonblank("key", key, "a swept key")
    if baseline is not None:
        instance("baseline", baseline, str, 'a value of the key as text, such as "1 %"')
    points = study.points()
    if key not in points[0]:
        raise UsageError(f"{key} is not swept in {study.path}; {nearest(key, points[0])}", argument="key")
    together = next(keys for keys, _ in study.scenario.axes() if key in keys)
    labels = _labels(key, together, points)
    base = _baseline(study, key, together.index(key), labels, baseline)
    others = [k for k in points[0] if k not in together]
    cells: dict[tuple[str, ...], dict[str, dict[int, float | None]]] = {}
    for planned, point in zip(study.plan, points, strict=True):
        place = tuple(point[k] for k in others)
        label = labels[tuple(point[k] for k in together)]
        cells.setdefault(place, {})[label] = study.values(planned.point, metric)
    table = Table([*others, key, "minus", "difference", "ci_low", "ci_high", "n", "relative"])
    for place, cell in cells.items():
        for label in labels.values():
            if label == base or label not in cell:
                continue
            it = difference(cell[label], cell.get(base, {}))
            level = interval(list(cell.get(base, {}).values())).mean
            table.rows.append(
                {
                    **dict(zip(others, place, strict=True)),
                    key: label,
                    "minus": base,
                    "difference": it.mean,
                    "ci_low": it.low,
                    "ci_high": it.high,
                    "n": it.n,
                    "relative": it.mean / level if it.mean is not None and level else None,
                }
            )
    return table


def _labels(
    key: str, together: Sequence[str], points: Iterable[Mapping[str, str]]
) -> dict[tuple[str, ...], str]:
    """The values of keys that advance together, and what each row of them is called by the one contrasted.

    >>> rows = [{"a": "off", "b": "1"}, {"a": "on", "b": "1"}, {"a": "on", "b": "2"}]
    >>> list(_labels("a", ["a", "b"], rows).values()), list(_labels("b", ["b"], rows).values())
    (['off', 'on (1)', 'on (2)'], ['1', '2'])
    """
    rows = list(dict.fromkeys(tuple(point[k] for k in together) for point in points))
    own = together.index(key)
    labels = {}
    for row in rows:
        alike = [other for other in rows if other[own] == row[own]]
        apart = [text for place, text in enumerate(row) if len({other[place] for other in alike}) > 1]
        labels[row] = f"{row[own]} ({', '.join(apart)})" if apart else row[own]
    return labels


def _baseline(
    study: Study, key: str, own: int, labels: Mapping[tuple[str, ...], str], wanted: str | None
) -> str:
    """The label that a baseline means: the first of all, a label as it is, or the only one of a value."""
    every = list(labels.values())
    if wanted is None or wanted in every:
        return every[0] if wanted is None else wanted
    numeric = study.scenario.numeric
    meant = [label for row, label in labels.items() if same(key, row[own], wanted, numeric)]
    if len(meant) == 1:
        return meant[0]
    if meant:
        several = ", ".join(f'"{label}"' for label in meant)
        text = f'"{wanted}" has several points of {key}; expected one of {several}'
    else:
        text = f'"{wanted}" is not a value of {key} in the study; {nearest(wanted, every)}'
    raise UsageError(text, argument="baseline")
