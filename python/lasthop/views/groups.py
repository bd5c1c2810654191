"""The points of a study as the lines of a figure, and as text with one row per x and one column per line."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lasthop.base.errors import UsageError
from lasthop.base.quantity import digits, labelled, metric_unit, metric_words, prefix
from lasthop.base.table import Sheet
from lasthop.scenario.overrides import same
from lasthop.stats.intervals import FEWEST, Interval, counts, interval, ratio

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from lasthop.study.study import Study


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a figure: its label, the point and interval at each x, keys of the label, and metric."""

    label: str
    xs: list[str]
    points: list[int]
    intervals: list[Interval]
    keys: list[str] = field(default_factory=list)
    metric: str = ""


def series(
    study: Study,
    x: str,
    y: str,
    lines: str | None,
    where: Mapping[str, str],
    gain_over: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
) -> list[Series]:
    """The lines of a figure, each with the values of y along x.

    With `gain_over` each value is the ratio of y to y at the point where those keys have those values, minus
    one; the points of comparison form no line themselves.
    """
    study.check_metric(y)
    found = []
    for group in groups(study, x, lines, where, gain_over, names):
        if gain_over:
            intervals = [gain(study, index, y, gain_over) for index in group.points]
        else:
            intervals = [_level(study, index, y) for index in group.points]
        found.append(Series(group.label, group.xs, group.points, intervals, group.keys, y))
    return found


@dataclass(frozen=True, slots=True)
class Group:
    """The points of one line of a figure: their label, the point at each x, and the keys of the label."""

    label: str
    xs: list[str]
    points: list[int]
    keys: list[str]


def groups(
    study: Study,
    x: str,
    lines: str | None,
    where: Mapping[str, str],
    without: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
) -> list[Group]:
    """The points of a figure: one group for each combination of the keys swept besides x.

    Keys that advance together with x (a zip or a list) belong to x and form no groups, unless several points
    would have the same x. Points where the keys of `without` have those values are omitted; `names` replace
    swept values.
    """
    numeric = study.scenario.numeric
    axes = study.scenario.axes()
    beside = [[k for k in keys if k != x] for keys, _ in axes if x not in keys]
    if lines is not None and any(x in keys and lines in keys for keys, _ in axes):
        beside.append([lines])
    chosen = [
        (planned.point, point)
        for planned, point in zip(study.plan, study.points(), strict=True)
        if matches(study, planned.point, point, where)
        and not (without and matches(study, planned.point, point, without))
    ]
    places = {(point.get(x), *(point[k] for keys in beside for k in keys)) for _, point in chosen}
    if len(places) < len(chosen):
        beside.extend([k for k in keys if k not in (x, lines)] for keys, _ in axes if x in keys)
    beside.sort(key=lambda keys: lines not in keys)
    cells: dict[tuple[str, ...], list[tuple[str, int]]] = {}
    owns: dict[tuple[str, ...], dict[str, str]] = {}
    for index, point in chosen:
        own = {k: point[k] for keys in beside for k in keys}
        place = tuple(own.values())
        owns[place] = own
        cells.setdefault(place, []).append((point.get(x, ""), index))
    for column in cells.values():
        numbers = {text: numeric(x, text) for text, _ in column}
        if None not in numbers.values():
            column.sort(key=lambda cell: numbers[cell[0]] or 0.0)
    shown = _differing(beside, lines, where, owns.values())
    return [
        Group(
            _label([owns[place][k] for k in shown], names or {}),
            [text for text, _ in column],
            [index for _, index in column],
            shown,
        )
        for place, column in cells.items()
    ]


def _label(values: Sequence[str], names: Mapping[str, str]) -> str:
    """The label of a line: the name of its values together, or the name of each.

    >>> _label(["dynamic", "oracle"], {"dynamic, oracle": "as if all were known", "fixed": "three tries"})
    'as if all were known'
    >>> _label(["fixed", "oracle"], {"fixed": "three tries"})
    'three tries, oracle'
    """
    whole = ", ".join(values)
    return names.get(whole) or ", ".join(names.get(value, value) for value in values)


def _level(study: Study, index: int, y: str) -> Interval:
    return interval(list(study.values(index, y).values()))


def runs(study: Study, index: int, y: str, gain_over: Mapping[str, str] | None) -> list[float]:
    """The y of each run at a point, or its gain over the run of the same replication."""
    values = study.values(index, y)
    if not gain_over:
        return [v for v in values.values() if v is not None]
    over = _rival(study, index, gain_over)
    below = {} if over is None else study.values(over, y)
    return [v / w - 1 for k, v in values.items() if v is not None and (w := below.get(k))]


def gain(study: Study, index: int, y: str, over: Mapping[str, str]) -> Interval:
    """The ratio of y at a point to y where the keys of `over` have those values, minus one."""
    rival = _rival(study, index, over)
    if rival is None:
        return Interval(None, None, None, 0)
    return ratio([(study.values(index, y), study.values(rival, y))]).less(1.0)


def _rival(study: Study, index: int, over: Mapping[str, str]) -> int | None:
    """The point with which a point is compared: the one where the keys of `over` have those values."""
    exact = {**study.scenario.points()[index], **over}
    # A key that advances together with a key of `over` may not have the same value at the point of
    # comparison.
    bound = {k for keys, _ in study.scenario.axes() if not over.keys().isdisjoint(keys) for k in keys}
    loose = {k: v for k, v in exact.items() if k in over or k not in bound}
    for wanted in (exact, loose):
        found = _having(study, wanted)
        if len(found) == 1:
            return found[0]
    return None


def _having(study: Study, wanted: Mapping[str, str]) -> list[int]:
    """The points of a study at which keys, swept or fixed, have these values."""
    return [
        planned.point
        for planned, point in zip(study.plan, study.points(), strict=True)
        if matches(study, planned.point, point, wanted)
    ]


def matches(study: Study, index: int, point: Mapping[str, str], where: Mapping[str, str]) -> bool:
    """Whether keys, swept or fixed, have these values at a point."""
    for key, wanted in where.items():
        have = point.get(key)
        if have is None:
            entry = study.scenario.resolved(index).get(key)
            if entry is None and any(key in study.scenario.resolved(at) for at in range(len(study.points()))):
                return False
            if entry is None:
                raise UsageError(f"where: {key}: unknown key; expected a key of {study.scenario.id}")
            have = entry["value"]
        if not same(key, have, str(wanted), study.scenario.numeric):
            return False
    return True


def _differing(
    beside: list[list[str]],
    lines: str | None,
    where: Mapping[str, str],
    owns: Collection[Mapping[str, str]],
) -> list[str]:
    """The keys that distinguish one line from another, without those that are equal in all lines."""
    shown = [k for keys in beside for k in ([k for k in keys if k == lines] or keys) if k not in where]
    if len({tuple(own[k] for k in shown) for own in owns}) < len(owns):
        # Keys that advance together with the key of the lines distinguish them.
        shown = [k for keys in beside for k in keys if k not in where]
    if len(owns) < 2:
        return shown
    return [k for k in shown if k == lines or len({own[k] for own in owns}) > 1]


def pivot(
    study: Study,
    x: str | None,
    y: str,
    lines: str | None,
    where: Mapping[str, str],
    gain_over: Mapping[str, str] | None = None,
    names: Mapping[str, str] | None = None,
) -> Sheet | None:
    """A metric, or its gain: x down the side, one column per line; none without points."""
    swept = list(study.points()[0])
    x = x if x in swept else next((k for k in reversed(swept) if k != lines), "")
    every = series(study, x, y, lines, where, gain_over, names)
    known = [it for line in every for it in line.intervals]
    if not known:
        return None
    factor, unit = prefix(max((abs(it.mean or 0.0) for it in known), default=0.0), metric_unit(y))
    name = metric_words(y)
    if gain_over:
        factor, unit, name = 0.01, "%", f"gain in {name}"
    places = list(dict.fromkeys(text for line in every for text in line.xs))
    cells = [dict(zip(line.xs, line.intervals, strict=True)) for line in every]
    body = [
        [
            text or "the only point",
            *(cell_text(column[text], factor) if text in column else "" for column in cells),
        ]
        for text in places
    ]
    spread = "mean ± half-width of the 95 % interval" if any(it.n >= FEWEST for it in known) else "mean"
    head = f"{y}: {labelled(name, unit)}, {spread}, {counts(it.n for it in known)}"
    return Sheet(head, [x or "point", *(line.label or "mean" for line in every)], body)


def cell_text(it: Interval | None, factor: float) -> str:
    """A number with its half-width, if it has one; from fewer than four runs the mean alone.

    >>> cell_text(Interval(2.1, 0.8, 3.4, 2), 1.0), cell_text(Interval(2.1, 1.9, 2.3, 10), 1.0)
    ('2.100', '2.10 ± 0.20')
    """
    if it is None or it.mean is None:
        return "–"
    if it.n < FEWEST or not it.half:
        return digits(it.mean / factor)
    half = digits(it.half / factor, 2)
    return f"{it.mean / factor:.{len(half.partition('.')[2])}f} ± {half}"
