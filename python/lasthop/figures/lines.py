"""A metric over a swept key: lines with error bands, or with bars at words; fewer than four runs as dots.

Published values are hollow markers with bars as long as what is accepted, in the colour of their line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError
from lasthop.base.quantity import labelled, metric_unit, metric_words, prefix, split
from lasthop.figures.style import caption, counts, decades, plain_ticks, sheet, styles
from lasthop.stats.intervals import FEWEST
from lasthop.views.groups import Series, runs, series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lasthop.scenario.scenario import Scenario
    from lasthop.study.study import Study


@dataclass(frozen=True, slots=True)
class Mark:
    """A published value in SI units: its line, the text of its x, and the half-width of what is accepted."""

    label: str
    x: str
    value: float
    tolerance: float


def draw_lines(study: Study, figure: dict[str, Any], marks: Sequence[Mark] = ()) -> Figure:
    """Draw a figure of a study that has lines: a metric over a swept key, with published values."""
    x, y = str(figure["x"]), str(figure["y"])
    if x not in study.points()[0]:
        raise UsageError(f"figure {figure['id']}: {x} is not swept in {study.path}; expected it to vary")
    lines = figure.get("lines")
    over = figure.get("gain-over")
    every = series(study, x, y, lines, figure.get("where") or {}, over, figure.get("names"))
    if not any(it.mean is not None for line in every for it in line.intervals):
        raise UsageError(f"figure {figure['id']}: no finished run in {study.path}; expected at least one")
    with sheet(6.0, 4.0) as drawn:
        axes = drawn.add_subplot()
        _lines(axes, study, figure, every, marks)
        axes.set_title(figure.get("title") or study.scenario.title or figure["id"])
        if len(every) > 1:
            axes.legend(title=None if figure.get("names") else _legend_title(lines))
        made = counts(it.n for line in every for it in line.intervals)
        few = all(it.n < FEWEST for line in every for it in line.intervals)
        spread = "each run" if few else "95 % confidence interval (Student t)"
        hollow = "; hollow: published, with what is accepted" if marks else ""
        caption(drawn, f"mean and {spread}, {made}{hollow}")
    return drawn


def _lines(
    axes: Axes, study: Study, figure: dict[str, Any], every: list[Series], marks: Sequence[Mark]
) -> None:
    x, y = str(figure["x"]), str(figure["y"])
    means = [it.mean for line in every for it in line.intervals if it.mean is not None]
    factor, unit = prefix(max(map(abs, means)), metric_unit(y))
    gain_over = figure.get("gain-over")
    if gain_over:
        factor, unit = 0.01, "%"
    # No metric is negative: no interval of one is drawn below zero, and none of a gain below -100 %.
    least = -100.0 if gain_over else 0.0
    axis = _Axis(study.scenario, x, [text for line in every for text in line.xs])
    looks = styles(str(figure.get("lines", "")), [line.label for line in every])
    for line, (colour, marker, dashes) in zip(every, looks, strict=True):
        xs = [axis.at(text) for text in line.xs]
        middle = [math.nan if it.mean is None else it.mean / factor for it in line.intervals]
        axes.plot(xs, middle, color=colour, marker=marker, linestyle=dashes, label=line.label)
        _spread(axes, axis, study, line, figure, (colour, factor, least))
        own = [mark for mark in marks if mark.label == line.label and mark.x in line.xs]
        if own:
            axes.errorbar(
                [axis.at(mark.x) for mark in own],
                [mark.value / factor for mark in own],
                yerr=[mark.tolerance / factor for mark in own],
                color=colour,
                marker=marker,
                linestyle="none",
                capsize=3,
                zorder=3,
                **HOLLOW,
            )
    if axis.words:
        names: Mapping[str, str] = figure.get("names") or {}
        axes.set_xticks(range(len(axis.words)), [names.get(word, word) for word in axis.words])
    axes.set_xlabel(figure.get("x-label") or axis.label)
    name = f"gain in {metric_words(y)}" if gain_over else metric_words(y)
    axes.set_ylabel(figure.get("y-label") or labelled(name, unit))
    if axis.spans_decades:
        axes.set_xscale("log")
        decades(axes.xaxis)
    if figure.get("y-scale") == "log":
        axes.set_yscale("log")
        plain_ticks(axes.yaxis)
    else:
        # From zero on, nearly equal values would lie on the upper edge.
        bottom, top = axes.get_ylim()
        axes.set_ylim(min(0.0, bottom), max(top, 1.04 * max(means) / factor))


HOLLOW: dict[str, Any] = {
    "markerfacecolor": "none",
    "markersize": 7,
    "markeredgewidth": 1.2,
    "elinewidth": 0.8,
}


def _spread(
    axes: Axes,
    axis: _Axis,
    study: Study,
    line: Series,
    figure: Mapping[str, Any],
    look: tuple[str, float, float],
) -> None:
    """What is drawn around the means of a line: intervals, or the runs where there are fewer than four."""
    colour, factor, least = look
    xs = [axis.at(text) for text in line.xs]
    for x, point, it in zip(xs, line.points, line.intervals, strict=True):
        if it.n < FEWEST:
            values = [v / factor for v in runs(study, point, str(figure["y"]), figure.get("gain-over"))]
            axes.scatter([x] * len(values), values, s=4, color=colour, linewidths=0)
    bounds = [
        (math.nan, math.nan)
        if it.low is None or it.high is None or it.n < FEWEST
        else (max(it.low / factor, least), it.high / factor)
        for it in line.intervals
    ]
    low, high = [a for a, _ in bounds], [b for _, b in bounds]
    if axis.words:
        middle = [math.nan if it.mean is None else it.mean / factor for it in line.intervals]
        down = [m - a for m, a in zip(middle, low, strict=True)]
        up = [b - m for m, b in zip(middle, high, strict=True)]
        axes.errorbar(xs, middle, yerr=[down, up], color=colour, fmt="none", capsize=2)
    else:
        axes.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0)


class _Axis:
    """The x axis: numbers in one unit, or words at equal distances."""

    def __init__(self, scenario: Scenario, key: str, texts: Sequence[str]) -> None:
        self._scenario, self._key = scenario, key
        numbers = {text: scenario.numeric(key, text) for text in texts}
        self.words: list[str] = []
        self.factor, unit = 1.0, ""
        if any(n is None for n in numbers.values()):
            self.words = list(dict.fromkeys(texts))
        else:
            self.factor, unit = _unit(numbers)
        found = [n for n in numbers.values() if n is not None]
        _, *rest = key.split(".")
        name = " ".join([*rest[:1], *(word.replace("-", " ") for word in rest[1:])]) or key
        self.label = f"{name} ({unit})" if unit else name
        low, high = min(found, default=0.0), max(found, default=0.0)
        self.spans_decades = not self.words and low > 0 and high / low >= 1000

    def at(self, text: str) -> float:
        if self.words:
            return float(self.words.index(text))
        return (self._scenario.numeric(self._key, text) or 0.0) / self.factor


def _unit(numbers: dict[str, float | None]) -> tuple[float, str]:
    """The SI size and the name of the unit in which the largest value is written."""
    text = max(numbers, key=lambda t: numbers[t] or 0.0)
    parts = split(text)
    value = numbers[text]
    if parts is None or not parts[0] or not value:
        return 1.0, parts[1] if parts else ""
    return value / parts[0], parts[1]


def _legend_title(lines: object) -> str | None:
    return " ".join(str(lines).split(".")[2:]).replace("-", " ") or None if lines else None
