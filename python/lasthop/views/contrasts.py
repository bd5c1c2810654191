"""Paired contrasts: the effect of changing one key of a study."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

from lasthop.base.arguments import instance, nonblank
from lasthop.base.errors import UsageError, nearest
from lasthop.base.quantity import shown_unit
from lasthop.base.table import Table
from lasthop.scenario.overrides import same
from lasthop.stats.intervals import difference, interval

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lasthop.study.study import Study


def contrasts(study: Study, metric: str, key: str, baseline: str | None = None) -> Table:
    """The effect of changing one key, with everything else and the random numbers equal.

    Each row is the value at `key` minus the value at the baseline, by default the first value of the key. It
    is averaged over the replications that both have, with its 95 % interval. `relative` is the mean
    difference divided by the mean at the baseline. If other keys advance together with this one, a label
    shows their values in parentheses: they contribute to the difference. If the study lacks the baseline, the
    row has no difference.
    """
    study.check_metric(metric)
    nonblank("key", key, "a swept key")
    if baseline is not None:
        instance("baseline", baseline, str, 'a value of the key as text, such as "1 %"')
    points = study.points()
    if key not in points[0]:
        raise UsageError(f"{key} is not swept in {study.path}; {nearest(key, points[0])}", argument="key")
    together = next(keys for keys, _ in study.scenario.axes() if key in keys)
    labels = row_labels(study, key, together)
    base = _baseline(study, key, together.index(key), labels, baseline)
    others = [k for k in points[0] if k not in together]
    cells: dict[tuple[str, ...], dict[str, dict[int, float | None]]] = {}
    for planned, point in zip(study.plan, points, strict=True):
        place = tuple(point[k] for k in others)
        label = labels[tuple(point[k] for k in together)]
        cells.setdefault(place, {})[label] = study.values(planned.point, metric)
    units = {**dict.fromkeys(("difference", "ci_low", "ci_high"), shown_unit(metric)), "relative": "%"}
    table = Table([*others, key, "minus", "difference", "ci_low", "ci_high", "n", "relative"], units=units)
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


def worded(table: Table) -> Table:
    """Contrasts for readers: a difference that does not vary has no interval and no number of runs.

    >>> row = {"ci_low": 3.0, "ci_high": 3.0, "n": 702}
    >>> print(worded(Table(list(row), [row, {"ci_low": 2.0, "ci_high": 4.0, "n": 10}])))
    ci_low         ci_high        n
    does not vary  does not vary  –
    2.000          4.000          10
    """
    constant = {"ci_low": "does not vary", "ci_high": "does not vary", "n": None}
    same_in_all = (row["n"] > 1 and row["ci_low"] == row["ci_high"] for row in table.rows)
    rows = [
        {**row, **constant} if is_same else row for row, is_same in zip(table.rows, same_in_all, strict=True)
    ]
    return Table(table.columns, rows, table.units)


def row_labels(study: Study, key: str, together: Sequence[str]) -> dict[tuple[str, ...], str]:
    """A label for each row of values of keys that advance together, as seen from one of the keys."""
    return _labels(key, together, _rows(study, together))


def _rows(study: Study, together: Sequence[str]) -> dict[tuple[str, ...], list[bool]]:
    """The values of keys that advance together, and which of the keys apply there."""
    rows: dict[tuple[str, ...], list[bool]] = {}
    for planned, point in zip(study.plan, study.points(), strict=True):
        row = tuple(point[k] for k in together)
        if row not in rows:
            found = study.scenario.resolved(planned.point) if len(together) > 1 else point
            rows[row] = [k in found for k in together]
    return rows


def _labels(
    key: str, together: Sequence[str], rows: Mapping[tuple[str, ...], Sequence[bool]]
) -> dict[tuple[str, ...], str]:
    """A label for each row of values of keys that advance together, as seen from the contrasted key.

    >>> rows = {("off", "1"): [True, False], ("on", "1"): [True, True], ("on", "2"): [True, True]}
    >>> list(_labels("a", ["a", "b"], rows).values())
    ['off', 'on (1)', 'on (2)']
    >>> both = [True, True]
    >>> list(_labels("a", ["a", "b"], {("1 ms", "9 %"): both, ("2 ms", "8 %"): both}).values())
    ['1 ms (9 %)', '2 ms (8 %)']
    """
    own = together.index(key)
    varies = [len({row[place] for row in rows}) > 1 and place != own for place in range(len(together))]
    labels = {}
    for row, has_meaning in rows.items():
        shown = zip(row, varies, has_meaning, strict=True)
        others = ", ".join(_listed(text) for text, *shows in shown if all(shows))
        labels[row] = f"{row[own]} ({others})" if others else row[own]
    return labels


def _listed(text: str) -> str:
    """A value in the words of a sentence: the members of a list, joined.

    >>> _listed('["jtcp", "ejtcp"]'), _listed("1 ms"), _listed("[]")
    ('jtcp and ejtcp', '1 ms', 'none')
    """
    if not text.startswith("["):
        return text
    *first, last = [str(member) for member in tomllib.loads(f"members = {text}")["members"]] or ["none"]
    return f"{', '.join(first)} and {last}" if first else last


def _baseline(
    study: Study, key: str, own: int, labels: Mapping[tuple[str, ...], str], wanted: str | None
) -> str:
    """The label of a baseline: the first of all, an exact label, or the only label with this value."""
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
