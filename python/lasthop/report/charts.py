"""The figures of a study as data for the page: numbers in the unit of their axis, and line styles.

The `form` of a chart selects how the page draws it. The forms are `xy` (lines, dots, bars and boxes over a
swept key), `curve` (quantities over time, and the share of completed transfers), `scatter`, `stack` (airtime)
and `matrix`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lasthop.base.errors import RunError, StudyError, UsageError
from lasthop.base.quantity import metric_unit, metric_words, prefix, united
from lasthop.figures import airtime as bars_drawn
from lasthop.figures.axis import KeyAxis
from lasthop.figures.lines import SPREAD, Mark, axis_of, bounds, heading_of, is_crowded, looks_of, panel_of
from lasthop.figures.matrix import shades
from lasthop.figures.scatter import middle_of, pairs_of, spread_of
from lasthop.figures.style import Look, looks
from lasthop.report.curves import over_time, response_times
from lasthop.report.numbers import column, look, number
from lasthop.scenario.airtime import CLASSES
from lasthop.scenario.description import panels_of
from lasthop.stats.intervals import FEWEST, counts
from lasthop.views.airtime import bars, heard_by, link_of
from lasthop.views.groups import matches
from lasthop.views.matrix import matrix
from lasthop.views.names import key_words, names_of
from lasthop.views.tables import sheets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lasthop.figures.lines import Panel
    from lasthop.stats.intervals import Interval
    from lasthop.study.study import Study
    from lasthop.views.airtime import Bar
    from lasthop.views.groups import Series

Chart = dict[str, Any]


def chart(study: Study, figure: dict[str, Any], marks: Sequence[Mark], most: int) -> Chart:
    """A figure as data, with published values if its kind has them.

    Args:
        study: The study.
        figure: The figure, of any kind.
        marks: The published values.
        most: The maximum number of values per line over time.

    Returns:
        The data; if a figure cannot be drawn, `error` contains the reason.
    """
    title = str(figure.get("title") or study.scenario.title or figure["id"])
    head = {"id": str(figure["id"]), "kind": figure["kind"], "title": title}
    try:
        drawn = FORMS[figure["kind"]](study, figure, marks, most)
        tables = [
            {"about": sheet.about, "columns": sheet.columns, "rows": sheet.rows}
            for sheet in sheets(study, figure)
        ]
    except (UsageError, StudyError, RunError) as e:
        return {**head, "form": "none", "error": str(e).replace(str(study.path), "the study")}
    return {**head, **drawn, "notes": study.labels(), "tables": tables}


def _over_key(study: Study, figure: dict[str, Any], marks: Sequence[Mark], most: int) -> Chart:
    """Lines, bars and boxes over a swept key."""
    x, kind = str(figure["x"]), str(figure["kind"])
    if x not in study.points()[0]:
        raise UsageError(f"figure {figure['id']}: {x} is not swept in {study.path}; expected it to vary")
    names = names_of(study.scenario, figure)
    panels = [panel_of(study, figure, metrics, names) for metrics in panels_of(figure)]
    first = panels[0].every
    axis = axis_of(study, figure, first)
    shown = looks_of(figure, panels, names)
    known = [it for panel in panels for line in panel.every for it in line.intervals]
    few = all(it.n < FEWEST for it in known)
    spread = "mean and each run" if few and kind != "box" else SPREAD[kind]
    crowded = is_crowded(figure, panels, axis)
    grey = "; grey: the other lines" if crowded else ""
    accepted = "; bars at published values: what is accepted" if marks else ""
    heading = heading_of(study, figure, first)
    style = {"bar": "bar", "box": "box"}.get(kind, "dots" if axis.words else "lines")
    return {
        "form": "xy",
        "style": style,
        "caption": f"{spread}, {counts(it.n for it in known)}{grey}{accepted}",
        "legend": heading or "",
        "crowded": crowded,
        "x": {
            "label": axis.label,
            "words": [_word(study, x, text, names, axis) for text in axis.words],
            "log": axis.spans_decades,
        },
        "panels": [
            {
                "label": panel.label(),
                "unit": panel.unit,
                "log": figure.get("y-scale") == "log",
                "share": panel.is_share and not panel.gain_over,
                "series": [
                    _series(panel, line, shown[line.label], axis, kind, marks) for line in panel.every
                ],
            }
            for panel in panels
        ],
    }


def _word(study: Study, key: str, text: str, names: Mapping[str, str], axis: KeyAxis) -> str:
    numeric = study.scenario.numeric(key, text)
    return names.get(text, text if numeric is None else f"{numeric / axis.factor:g}")


def _series(
    panel: Panel, line: Series, own: Look, axis: KeyAxis, kind: str, marks: Sequence[Mark]
) -> dict[str, Any]:
    low, high = bounds(panel, line)
    found: dict[str, Any] = {
        "name": line.label,
        "look": look(own),
        "points": line.points,
        "x": column(axis.at(text) for text in line.xs),
        "y": column(None if it.mean is None else it.mean / panel.factor for it in line.intervals),
        "low": column(low),
        "high": column(high),
        "n": [it.n for it in line.intervals],
    }
    runs = {point: panel.runs(line, point) for point in line.points}
    if kind == "box":
        found["boxes"] = [box(runs[point]) for point in line.points]
    elif any(it.n < FEWEST for it in line.intervals):
        found["each"] = [
            column(runs[point]) if it.n < FEWEST else []
            for point, it in zip(line.points, line.intervals, strict=True)
        ]
    here = [m for m in marks if (m.metric, m.label) == (line.metric, line.label) and m.x in line.xs]
    if here:
        found["marks"] = [
            [line.xs.index(m.x), number(m.value / panel.factor), number(m.tolerance / panel.factor)]
            for m in here
        ]
    return found


def box(values: Sequence[float]) -> list[Any]:
    """The elements of a box plot: lower whisker, quartiles, upper whisker, and the outliers.

    >>> box([1.0, 2.0, 3.0, 4.0, 10.0])
    [1, 2, 3, 4, 4, [10]]
    """
    ordered = sorted(values)
    if not ordered:
        return []

    def quantile(share: float) -> float:
        place = share * (len(ordered) - 1)
        below = min(int(place), max(len(ordered) - 2, 0))
        above = min(below + 1, len(ordered) - 1)
        return ordered[below] + (place - below) * (ordered[above] - ordered[below])

    first, half, third = (quantile(share) for share in (0.25, 0.5, 0.75))
    reach = 1.5 * (third - first)
    within = [v for v in ordered if first - reach <= v <= third + reach]
    beyond = [v for v in ordered if not first - reach <= v <= third + reach]
    ends = (min(within[0], first), first, half, third, max(within[-1], third))
    return [*column(ends), column(beyond)]


def _scatter(study: Study, figure: dict[str, Any], marks: Sequence[Mark], most: int) -> Chart:
    """A metric against another."""
    across, up = str(figure["against"]), str(figure["y"])
    names = names_of(study.scenario, figure)
    found: dict[str, list[tuple[int, list[tuple[float, float]]]]] = {}
    for planned, point in zip(study.plan, study.points(), strict=True):
        if matches(study, planned.point, point, figure.get("where") or {}):
            value = point.get(str(figure.get("lines")), "")
            pairs = pairs_of(study, planned.point, across, up)
            found.setdefault(names.get(value, value), []).extend([(planned.point, pairs)] if pairs else [])
    every = [pairs for points in found.values() for _, pairs in points]
    if not every:
        raise UsageError(f"figure {figure['id']}: no finished run in {study.path}; expected at least one")
    (x_factor, x_unit), (y_factor, y_unit) = (
        prefix(max(abs(pair[i]) for pairs in every for pair in pairs), metric_unit(metric))
        for i, metric in enumerate((across, up))
    )
    n = [len(pairs) for pairs in every]
    spread = "mean and each run" if max(n) < FEWEST else "mean and ellipse of one standard deviation"
    series = []
    for (label, points), own in zip(found.items(), looks(figure, list(found), names), strict=True):
        scaled = [[(x / x_factor, y / y_factor) for x, y in pairs] for _, pairs in points]
        middles = [middle_of(pairs) for pairs in scaled]
        series.append(
            {
                "name": label,
                "look": look(own),
                "points": [point for point, _ in points],
                "x": column(x for x, _ in middles),
                "y": column(y for _, y in middles),
                "n": [len(pairs) for pairs in scaled],
                "spread": [column(spread_of(pairs)) if len(pairs) >= FEWEST else [] for pairs in scaled],
                "each": [[column(pair) for pair in pairs] if len(pairs) < FEWEST else [] for pairs in scaled],
            }
        )
    return {
        "form": "scatter",
        "caption": f"{spread}, {counts(n)}",
        "legend": "",
        "x": {
            "label": united(str(figure.get("x-label") or metric_words(across)), x_unit),
            "unit": x_unit,
            "words": [],
            "log": figure.get("x-scale") == "log",
        },
        "panels": [
            {
                "label": united(str(figure.get("y-label") or metric_words(up)), y_unit),
                "unit": y_unit,
                "log": figure.get("y-scale") == "log",
                "series": series,
            }
        ],
    }


def _airtime(study: Study, figure: dict[str, Any], marks: Sequence[Mark], most: int) -> Chart:
    """Stacked bars of airtime, in per cent."""
    every = bars(study, figure)
    key = str(figure.get("x", ""))
    classes = [
        {"name": words, "light": bars_drawn.COLOURS[name], "dark": bars_drawn.DARK[name]}
        for name, words in CLASSES.items()
        if any(bar.shares[name].mean for bar in every)
    ]
    shown = [name for name in CLASSES if any(bar.shares[name].mean for bar in every)]
    default = f"{study.scenario.title or study.scenario.id}: airtime of {link_of(study, figure)}"
    n = counts(bar.shares["idle"].n for bar in every)
    return {
        "form": "stack",
        "title": str(figure.get("title") or default),
        "caption": f"{heard_by(every)}, mean, {n}",
        "legend": "",
        "x": {
            "label": str(figure.get("x-label") or key_words(key)),
            "words": [],
        },
        "panels": [{"label": "share of the time (%)", "unit": "%", "log": False, "series": []}],
        "classes": classes,
        "bars": [_bar(bar, shown) for bar in every],
    }


def _bar(bar: Bar, shown: Sequence[str]) -> dict[str, Any]:
    return {
        "x": bar.x,
        "label": bar.label,
        "point": bar.point,
        "n": bar.shares["idle"].n,
        "shares": [_percent(bar.shares[name]) for name in shown],
        "concurrent": _percent(bar.concurrent),
    }


def _percent(it: Interval) -> list[float | None]:
    """Mean and bounds in per cent."""
    return column(None if v is None else 100.0 * v for v in (it.mean, it.low, it.high))


def _matrix(study: Study, figure: dict[str, Any], marks: Sequence[Mark], most: int) -> Chart:
    found = matrix(study, figure)
    factor, unit = found.scale()
    n = counts(it.n for it in found.known())
    return {
        "form": "matrix",
        "caption": f"{found.words()}, {found.spread()}, {n}; {found.colours()}",
        "unit": unit,
        "rows": found.rows,
        "columns": found.columns,
        "shades": [column(row) for row in shades(found)],
        "cells": [
            [_cell(it, text, factor) for it, text in zip(*pair, strict=True)]
            for pair in zip(found.cells, found.texts(), strict=True)
        ],
    }


def _cell(it: Interval | None, text: str, factor: float) -> list[Any] | None:
    """The text of a cell, its mean and bounds, and the number of runs."""
    if it is None or it.mean is None:
        return None
    numbers = column(None if v is None else v / factor for v in (it.mean, it.low, it.high))
    return [text, *numbers, it.n]


FORMS: dict[str, Callable[[Study, dict[str, Any], Sequence[Mark], int], Chart]] = {
    "lines": _over_key,
    "bar": _over_key,
    "box": _over_key,
    "scatter": _scatter,
    "airtime": _airtime,
    "matrix": _matrix,
    "time": over_time,
    "cdf": response_times,
}
