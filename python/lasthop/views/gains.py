"""The gain of each alternative of a figure over the first one, averaged over the points of the figure.

A gain is a ratio of means minus one, averaged over the places where both alternatives have a point. A place
is a combination of values of all other swept keys. Runs are paired by replication, because they draw the same
random numbers. If the means of the first alternative are zero, a ratio is undefined, and the gain is a
difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.stats.intervals import Interval, interval, ratio
from lasthop.views.contrasts import row_labels
from lasthop.views.groups import matches
from lasthop.views.matrix import named_rows
from lasthop.views.names import names_of, registered

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from lasthop.study.study import Study

# The values measured at a point, by replication.
Values = dict[int, "float | None"]


@dataclass(frozen=True, slots=True)
class Gain:
    """The gain of an alternative over the first one.

    Attributes:
        key: The swept key whose values are the alternatives.
        label: The label of the alternative.
        over: The label of the first one.
        value: The value of the key.
        is_named: Whether the labels are names rather than values of the key.
        metric: The metric compared.
        is_ratio: Whether the gain is relative, rather than a difference in the unit of the metric.
        gain: The gain with its interval.
        places: The number of places over which it is averaged.
        least: The place with the smallest gain, and that gain; `None` if there is only one place.
        most: The place with the greatest gain, and that gain; `None` if there is only one place.
    """

    key: str
    label: str
    over: str
    value: str
    is_named: bool
    metric: str
    is_ratio: bool
    gain: Interval
    places: int
    least: tuple[str, float] | None = None
    most: tuple[str, float] | None = None


def gains(study: Study, figure: Mapping[str, Any], metric: str) -> list[Gain]:
    """The gain of each alternative of a figure over the first; empty if the figure compares none."""
    where = figure.get("where") or {}
    chosen = [
        (planned.point, point)
        for planned, point in zip(study.plan, study.points(), strict=True)
        if matches(study, planned.point, point, where)
    ]
    names = names_of(study.scenario, figure)
    key = compared(figure, [point for _, point in chosen], names)
    if key is None:
        return []
    together = next(keys for keys, _ in study.scenario.axes() if key in keys)
    # If keys advance together, the figure determines which one names the alternatives.
    key = next((str(figure[part]) for part in ("lines", "rows") if figure.get(part) in together), key)
    x = str(figure.get("x", figure.get("columns", "")))
    # A key that is swept together with the horizontal axis varies along a line.
    own = [key] if x in together and x != key else together
    cells: dict[tuple[str, ...], dict[tuple[str, ...], int]] = {}
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for number, point in chosen:
        row = tuple(point[k] for k in own)
        rows.setdefault(row, point)
        cell = cells.setdefault(tuple(v for k, v in point.items() if k not in own), {})
        if row in cell:
            return []
        cell[row] = number
    labels = _labels(study, figure, key, own, list(rows))
    base = _base(figure, own, list(rows))
    is_named = all(labels[row] == names.get(row[own.index(key)]) for row in rows) or (
        bool(registered(key)) and figure.get("rows") != key
    )
    found = []
    for row in rows:
        both = {place: cell for place, cell in cells.items() if row in cell and base in cell}
        pairs = {place: (cell[row], cell[base]) for place, cell in both.items()}
        if row == base or not pairs:
            continue
        words = _places(pairs, chosen, own)
        gain = _gain(study, metric, pairs, words)
        if gain is not None:
            is_ratio, it, ends = gain
            value = row[own.index(key)]
            found.append(
                Gain(key, labels[row], labels[base], value, is_named, metric, is_ratio, it, len(pairs), *ends)
            )
    return found


def compared(figure: Mapping[str, Any], points: list[dict[str, str]], names: Mapping[str, str]) -> str | None:
    """The swept key whose values a figure compares: one that selects a scheme, or that of its lines."""
    varies = [key for key in (points[0] if points else ()) if len({point[key] for point in points}) > 1]
    over = figure.get("gain-over") or {}
    candidates = [*over, *(str(figure[part]) for part in ("lines", "rows", "x") if part in figure), *varies]
    schemes = [key for key in candidates if registered(key)]
    worded = [key for key in candidates if all(point.get(key) in names for point in points)]
    beside = [key for key in candidates if key != figure.get("x")]
    return next((key for key in [*over, *schemes, *worded, *beside] if key in varies), None)


def _labels(
    study: Study, figure: Mapping[str, Any], key: str, own: list[str], rows: list[tuple[str, ...]]
) -> dict[tuple[str, ...], str]:
    """The labels of the alternatives: the names of their values, with differences if values are equal."""
    names = names_of(study.scenario, figure)
    place = own.index(key)
    if figure.get("rows") == key:
        shown = named_rows(own, place, rows, names, figure.get("names") or {})
        return dict(zip(rows, shown, strict=True))
    given = row_labels(study, key, own)
    is_unique = len({row[place] for row in rows}) == len(rows)
    found = {}
    for row in rows:
        name = names.get(row[place], row[place])
        others = "" if is_unique else given[row].removeprefix(row[place])
        found[row] = names.get(", ".join(row)) or name + others
    return found


def _base(figure: Mapping[str, Any], own: list[str], rows: list[tuple[str, ...]]) -> tuple[str, ...]:
    over = figure.get("gain-over") or {}
    wanted = (row for row in rows if all(over.get(k, v) == v for k, v in zip(own, row, strict=True)))
    return next(wanted, rows[0])


def _places(
    pairs: Mapping[tuple[str, ...], tuple[int, int]], chosen: list[tuple[int, dict[str, str]]], own: list[str]
) -> list[str]:
    """Descriptions of the places, by the keys in which they differ."""
    every = dict(chosen)
    points = [every[this] for this, _ in pairs.values()]
    varies = [k for k in points[0] if k not in own and len({point[k] for point in points}) > 1]
    return [", ".join(f"{short(k)} {point[k]}" for k in varies) for point in points]


def short(key: str) -> str:
    """The last words of a key, without its owner.

    >>> short("links.r2-d.loss.rate"), short("flows.main.tcp.packet"), short("links.a.rate")
    ('loss rate', 'packet', 'rate')
    """
    last = key.split(".")[2:] or key.split(".")
    words = last[-2:] if last[-1] in ("rate", "kind", "mode", "model", "share") else last[-1:]
    return " ".join(words).replace("-", " ")


def _gain(
    study: Study, metric: str, pairs: Mapping[tuple[str, ...], tuple[int, int]], words: list[str]
) -> tuple[bool, Interval, list[tuple[str, float] | None]] | None:
    values = [(study.values(this, metric), study.values(that, metric)) for this, that in pairs.values()]
    it = ratio(values).less(1.0)
    is_ratio = it.mean is not None
    if not is_ratio:
        it = _difference(values)
    if it.mean is None:
        return None
    each = [ratio([pair]).less(1.0).mean if is_ratio else _difference([pair]).mean for pair in values]
    known = sorted((mean, word) for mean, word in zip(each, words, strict=True) if mean is not None)
    if len(known) < 2:
        return is_ratio, it, [None, None]
    return is_ratio, it, [(known[0][1], known[0][0]), (known[-1][1], known[-1][0])]


def _difference(values: list[tuple[Values, Values]]) -> Interval:
    """The mean difference over the places, paired by replication."""
    runs = list(_shared(values))
    return interval(runs)


def _shared(values: list[tuple[Values, Values]]) -> Iterator[float]:
    common = set.intersection(*(set(a.keys() & b.keys()) for a, b in values))
    for k in sorted(common):
        differences = [x - y for a, b in values if (x := a[k]) is not None and (y := b[k]) is not None]
        if len(differences) == len(values):
            yield math.fsum(differences) / len(differences)
