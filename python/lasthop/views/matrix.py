"""A metric as a matrix: one row for each value of one swept key, one column for each value of another.

With `among` a cell holds the share of the metric in the sum of the two metrics, by replication. If the key of
a row or column is swept together with others (a zip or a list), its label is the name of its value. Without a
name, the label is its differences from the first row or column, with which all others are compared.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError
from lasthop.base.quantity import labelled, metric_unit, metric_words, prefix
from lasthop.base.table import Sheet
from lasthop.stats.intervals import FEWEST, Interval, counts, interval, share_in_sum
from lasthop.views.groups import cell_text, gain, matches
from lasthop.views.names import key_words, names_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lasthop.study.study import Study

FIRST = "unchanged"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Cells in rows and columns, in SI units or as shares; `None` if there is no point."""

    rows: list[str]
    columns: list[str]
    cells: list[list[Interval | None]]
    is_share: bool
    is_gain: bool
    metric: str
    across: str

    def known(self) -> list[Interval]:
        """The cells with a measured value."""
        return [it for row in self.cells for it in row if it is not None and it.mean is not None]

    def texts(self) -> list[list[str]]:
        """The cells as text; means without a half-width have the same decimals everywhere."""
        factor, _ = self.scale()
        largest = max(abs((it.mean or 0.0) / factor) for it in self.known())
        decimals = max(1, 2 - math.floor(math.log10(largest))) if largest else 1

        def text(it: Interval | None) -> str:
            if it is None or it.mean is None or (it.half and it.n >= FEWEST) or it.mean == 0.0:
                return cell_text(it, factor)
            return f"{it.mean / factor:.{decimals}f}"

        return [[text(it) for it in row] for row in self.cells]

    def scale(self) -> tuple[float, str]:
        """The divisor of the numbers, and their unit after the division."""
        if self.is_share or self.is_gain:
            return 0.01, "%"
        return prefix(max(abs(it.mean or 0.0) for it in self.known()), metric_unit(self.metric))

    def words(self) -> str:
        """A description of the numbers."""
        unit = self.scale()[1]
        kind = "share of " if self.is_share else "gain in " if self.is_gain else ""
        name = kind + metric_words(self.metric)
        return labelled(name, unit)

    def spread(self) -> str:
        """What the cells hold: the mean, and the half-width of its interval where it has one to show."""
        many = any(it.n >= FEWEST for it in self.known())
        return "mean ± half-width of the 95 % interval" if many else "mean"

    def colours(self) -> str:
        """A description of the colours."""
        if self.is_gain:
            return "colour: the gain"
        return "colour: from one half" if self.is_share else "colour: against the first row of the column"


def matrix(study: Study, figure: Mapping[str, Any]) -> Matrix:
    """The contents of a figure of kind `matrix` for a study."""
    rows, columns, metric = str(figure["rows"]), str(figure["columns"]), str(figure["y"])
    among: str | None = figure.get("among")
    over: Mapping[str, str] = figure.get("gain-over") or {}
    names = names_of(study.scenario, figure)
    points = [
        (planned.point, point)
        for planned, point in zip(study.plan, study.points(), strict=True)
        if matches(study, planned.point, point, figure.get("where") or {})
        and not (over and matches(study, planned.point, point, over))
    ]
    for key in (rows, columns):
        if points and key not in points[0][1]:
            raise UsageError(
                f"figure {figure['id']}: {key} is not swept in {study.path}; expected it to vary"
            )
    down, across = (next(keys for keys, _ in study.scenario.axes() if key in keys) for key in (rows, columns))

    def level(index: int) -> Interval:
        values = study.values(index, metric)
        if among is not None:
            values = share_in_sum(values, study.values(index, among))
        return interval(list(values.values()))

    cells: dict[tuple[str, ...], dict[tuple[str, ...], Interval]] = {}
    for index, point in points:
        row = cells.setdefault(tuple(point[key] for key in down), {})
        column = tuple(point[key] for key in across)
        if column in row:
            raise UsageError(
                f"figure {figure['id']}: several points in one cell; expected where to select one"
            )
        row[column] = gain(study, index, metric, over) if over else level(index)
    places = list(dict.fromkeys(tuple(point[key] for key in across) for _, point in points))
    given = figure.get("names") or {}
    found = Matrix(
        named_rows(down, down.index(rows), list(cells), names, given),
        named_rows(across, across.index(columns), places, names, given),
        [[row.get(place) for place in places] for row in cells.values()],
        among is not None,
        bool(over),
        metric,
        key_words(columns, [key for keys, _ in study.scenario.axes() for key in keys]),
    )
    if not found.known():
        raise UsageError(f"figure {figure['id']}: no finished run in {study.path}; expected at least one")
    return found


def named_rows(
    keys: Sequence[str],
    own: int,
    rows: list[tuple[str, ...]],
    names: Mapping[str, str],
    given: Mapping[str, str],
) -> list[str]:
    """The labels of the rows or columns; `own` is the index of their key among the keys.

    If several keys advance together, only names given by the figure represent them all.

    >>> named_rows(["a.kind"], 0, [("reno",), ("bbr",)], {"bbr": "BBR"}, {})
    ['reno', 'BBR']
    >>> named_rows(["a.x", "a.y"], 0, [("1", "on"), ("2", "off")], {}, {"1": "one", "2": "two"})
    ['one', 'two']
    >>> named_rows(["a.x", "a.y"], 0, [("1", "on"), ("1", "off")], {}, {"1, off": "one without y"})
    ['unchanged', 'one without y']
    >>> named_rows(["a.x", "a.y"], 0, [("1", "on"), ("2", "on"), ("1", "off")], {"on": "On"}, {})
    ['unchanged', 'x = 2', 'y = off']
    """
    if len(keys) == 1:
        return [names.get(text, text) for (text,) in rows]
    labels = []
    for row in rows:
        name = given.get(", ".join(row)) or given.get(row[own])
        if name:
            labels.append(name)
            continue
        differing = [
            f"{short} = {names.get(text, text)}"
            for short, text, first in zip(_short(keys), row, rows[0], strict=True)
            if text != first
        ]
        labels.append(", ".join(differing) or FIRST)
    return labels


def _short(keys: Sequence[str]) -> list[str]:
    """The keys shortened to the fewest last words that distinguish them.

    >>> _short(["flows.a.app.start", "flows.b.app.start"]), _short(["a.x", "a.y"])
    (['a.app.start', 'b.app.start'], ['x', 'y'])
    """
    for words in range(1, max(key.count(".") for key in keys) + 2):
        short = [".".join(key.split(".")[-words:]) for key in keys]
        if len(set(short)) == len(short):
            return short
    return list(keys)


def matrix_sheet(study: Study, figure: Mapping[str, Any]) -> Sheet:
    """The matrix as a table with cells of mean ± half-width."""
    found = matrix(study, figure)
    body = [[label, *row] for label, row in zip(found.rows, found.texts(), strict=True)]
    head = f"{found.metric}: {found.words()}, {found.spread()}, {counts(it.n for it in found.known())}"
    return Sheet(head, [str(figure["rows"]), *found.columns], body)
