"""A metric, or several in panels or on one axis, over a swept key: lines with error bands, bars, or boxes.

Over words, lines become dots with error bars, side by side. Fewer than four runs are shown as dots without an
interval. Published values are hollow markers in the colour of their line, with bars that show the accepted
range. Many lines are drawn in a panel each, with the others in grey.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError
from lasthop.base.quantity import labelled, metric_unit, metric_words, prefix, united
from lasthop.figures.axis import KeyAxis
from lasthop.figures.page import Page, wrapped
from lasthop.figures.style import Look, looks, plain_ticks, whole_ticks
from lasthop.scenario.description import panels_of
from lasthop.stats.intervals import FEWEST, counts
from lasthop.views.groups import Series, runs, series
from lasthop.views.names import key_words, metric_labels, names_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lasthop.study.study import Study


@dataclass(frozen=True, slots=True)
class Mark:
    """A published value in SI units: metric, line, text of its x, and half-width of the accepted range."""

    metric: str
    label: str
    x: str
    value: float
    tolerance: float


HOLLOW: dict[str, Any] = {
    "markerfacecolor": "none",
    "markersize": 7,
    "markeredgewidth": 1.2,
    "elinewidth": 0.8,
}
# The entry of the legend for published values.
PUBLISHED = "published"
# Figures with this many lines draw each in a panel of its own; fewer share one.
MANY = 6
# The share of the space of a word that its bars, boxes or dots take.
_ROOM = 0.8
SPREAD = {
    "lines": "mean and 95 % confidence interval (Student t)",
    "bar": "mean and 95 % confidence interval (Student t)",
    "box": "median, quartiles, and the runs within 1.5 quartile distances",
}
# Metrics that are shares cannot exceed one.
_SHARES = ("share", "utilisation", "jain_index")


@dataclass(frozen=True, slots=True)
class Panel:
    """The metrics of one axis: their lines, and the conversion of numbers to positions on the axis."""

    study: Study
    figure: Mapping[str, Any]
    metrics: list[str]
    every: list[Series]
    factor: float
    unit: str

    @property
    def gain_over(self) -> Mapping[str, str] | None:
        """The point with which each point is compared; `None` if levels are drawn."""
        over: Mapping[str, str] | None = self.figure.get("gain-over")
        return over

    def bounded(self, low: float, high: float) -> tuple[float, float]:
        """An interval cut to the possible range: metrics from 0, gains from -100 %, shares up to 1."""
        if self.gain_over:
            return max(low / self.factor, -100.0), high / self.factor
        most = 1.0 if self.is_share else math.inf
        return max(low / self.factor, 0.0), min(high / self.factor, most / self.factor)

    @property
    def is_share(self) -> bool:
        """Whether its metrics are shares of one."""
        return all(metric.endswith(_SHARES) for metric in self.metrics)

    def runs(self, line: Series, point: int) -> list[float]:
        """The drawn values of the runs of a line at a point, in the unit of the axis."""
        return [value / self.factor for value in runs(self.study, point, line.metric, self.gain_over)]

    def label(self) -> str:
        """The label of the vertical axis; with what tells its metric from those of other panels."""
        panels = panels_of(self.figure)
        own = self.figure.get("y-label") if len(panels) == 1 else None
        if own:
            return united(str(own), self.unit)
        name = ", ".join(dict.fromkeys(metric_words(metric) for metric in self.metrics))
        if len(self.metrics) == 1:
            metric = self.metrics[0]
            like = [panel[0] for panel in panels if len(panel) == 1 and metric_words(panel[0]) == name]
            if len(like) > 1:
                name = f"{name} of {metric_labels(like)[like.index(metric)]}"
            name = (self.figure.get("names") or {}).get(metric, name)
        return labelled(f"gain in {name}" if self.gain_over else name, self.unit)


def draw_lines(
    study: Study, figure: dict[str, Any], marks: Sequence[Mark] = (), page: Page | None = None
) -> Figure:
    """Draw a figure of kind `lines`, `bar` or `box` of a study, with published values."""
    page = page or Page()
    x, kind = str(figure["x"]), str(figure.get("kind", "lines"))
    if x not in study.points()[0]:
        raise UsageError(f"figure {figure['id']}: {x} is not swept in {study.path}; expected it to vary")
    names = names_of(study.scenario, figure)
    panels = [panel_of(study, figure, metrics, names) for metrics in panels_of(figure)]
    first = panels[0].every
    shown = looks_of(figure, panels, names)
    axis = axis_of(study, figure, first)
    known = [it for panel in panels for line in panel.every for it in line.intervals]
    few = all(it.n < FEWEST for it in known)
    spread = "mean and each run" if few and kind != "box" else SPREAD[kind]
    hollow = "; hollow: published, with what is accepted" if marks else ""
    about = f"{spread}, {counts(it.n for it in known)}{hollow}"
    title = figure.get("title") or study.scenario.title or figure["id"]
    if is_crowded(figure, panels, axis) and page.axes is None and page.legend == "best":
        (panel,) = panels
        with page.grid(len(first), axis.label, panel.label()) as (drawn, cells):
            looks_of_lines = [shown[line.label] for line in panel.every]
            _draw_each(cells, panel, axis, looks_of_lines, marks, page.size + 1.0)
            axis.label_ticks(cells[0], names, drawn.get_figwidth())
            page.finish_grid(drawn, cells, title, f"{about}; grey: the other lines")
        return drawn
    with page.sheet(6.0, 4.0 if len(panels) == 1 else 0.9 + 2.1 * len(panels), len(panels)) as (
        drawn,
        stacked,
    ):
        for axes, panel in zip(stacked, panels, strict=True):
            _draw(axes, panel, axis, [shown[line.label] for line in panel.every], marks, kind)
            axis.label_ticks(axes, names, drawn.get_figwidth())
            axes.set_ylabel(panel.label())
        stacked[-1].set_xlabel(axis.label)
        page.finish(drawn, stacked, title, about, legend_title=heading_of(study, figure, first))
    return drawn


def is_crowded(figure: Mapping[str, Any], panels: Sequence[Panel], axis: KeyAxis) -> bool:
    """Whether a figure has too many lines for one panel, so that each has a panel of its own."""
    is_lines = figure.get("kind", "lines") == "lines" and not axis.words
    return is_lines and len(panels) == 1 and len(panels[0].every) >= MANY


def looks_of(figure: Mapping[str, Any], panels: Sequence[Panel], names: Mapping[str, str]) -> dict[str, Look]:
    """The look of each line by its label, equal in all panels."""
    labels = list(dict.fromkeys(line.label for panel in panels for line in panel.every))
    return dict(zip(labels, looks(figure, labels, names), strict=True))


def panel_of(study: Study, figure: Mapping[str, Any], metrics: list[str], names: Mapping[str, str]) -> Panel:
    """What a figure draws on one axis."""
    over = figure.get("gain-over")
    where = figure.get("where") or {}
    every = []
    for metric, told in zip(metrics, metric_labels(metrics), strict=True):
        lines = series(study, str(figure["x"]), metric, figure.get("lines"), where, over, names)
        own = names.get(metric, told)
        if len(metrics) > 1:
            # The scheme comes first: it gives the line its colour.
            lines = [replace(line, label=f"{line.label}, {own}" if line.label else own) for line in lines]
        elif any(len(panel) > 1 for panel in panels_of(figure)):
            # Beside lines with labels a line has one, too.
            lines = [replace(line, label=line.label or own) for line in lines]
        every += lines
    means = [it.mean for line in every for it in line.intervals if it.mean is not None]
    if not means:
        raise UsageError(f"figure {figure['id']}: no finished run in {study.path}; expected at least one")
    factor, unit = (0.01, "%") if over else prefix(max(map(abs, means)), metric_unit(metrics[0]))
    return Panel(study, figure, metrics, every, factor, unit)


def axis_of(study: Study, figure: Mapping[str, Any], every: Sequence[Series]) -> KeyAxis:
    """The horizontal axis of a figure with these lines."""
    return KeyAxis(
        study.scenario,
        str(figure["x"]),
        [text for line in every for text in line.xs],
        even=figure.get("kind", "lines") != "lines",
        label=figure.get("x-label"),
        scale=figure.get("x-scale"),
    )


def heading_of(study: Study, figure: Mapping[str, Any], every: Sequence[Series]) -> str | None:
    """The heading of the legend: the keys of the lines in words; none if the figure names each line."""
    given = figure.get("names") or {}
    keys = every[0].keys
    if len({line.metric for line in every}) > 1:
        return None
    if not keys or all(line.label in given.values() for line in every):
        return None
    swept = [key for each, _ in study.scenario.axes() for key in each]
    return ", ".join(key_words(key, swept) for key in keys)


def _draw(
    axes: Axes, panel: Panel, axis: KeyAxis, shown: list[Look], marks: Sequence[Mark], kind: str
) -> None:
    if kind != "box":
        _whole_ticks(axes, panel)
    for number, (line, look) in enumerate(zip(panel.every, shown, strict=True)):
        # Over words, the items of one word lie side by side.
        aside = (number - (len(panel.every) - 1) / 2) * _ROOM / len(panel.every) if axis.words else 0.0
        xs = [axis.at(text) + aside for text in line.xs]
        width = _ROOM / len(panel.every)
        if kind == "bar":
            _bars(axes, panel, line, look, xs, width)
        elif kind == "box":
            _boxes(axes, panel, line, look, xs, width)
        else:
            _line(axes, panel, axis, line, look, xs)
        _published(axes, panel, line, xs, marks, look.colour if kind == "lines" else "black", look.marker)
    if any(mark.metric in panel.metrics for mark in marks):
        # One entry of the legend for the markers of all lines.
        style = {key: HOLLOW[key] for key in ("markerfacecolor", "markersize", "markeredgewidth")}
        axes.plot([], [], color="0.35", marker="o", linestyle="none", label=PUBLISHED, **style)
    _scale(axes, panel, kind)


def _draw_each(
    cells: Sequence[Axes],
    panel: Panel,
    axis: KeyAxis,
    shown: list[Look],
    marks: Sequence[Mark],
    size: float,
) -> None:
    """Draw each line in a panel of its own, entitled in this size, with the others in grey behind it."""
    whole: Any = cells[0].figure
    room = 0.9 * cells[0].get_position().width * whole.bbox.width / whole.dpi
    _whole_ticks(cells[0], panel)
    for axes, line, look in zip(cells, panel.every, shown, strict=True):
        for other in panel.every:
            if other is not line:
                at = [axis.at(text) for text in other.xs]
                axes.plot(at, _means(panel, other), color="0.82", linewidth=0.8, zorder=1)
        xs = [axis.at(text) for text in line.xs]
        _line(axes, panel, axis, line, look, xs)
        _published(axes, panel, line, xs, marks, look.colour, look.marker)
        name = wrapped(line.label, size, room)
        axes.set_title(name, loc="left", color=look.colour, fontweight="bold", fontsize=size, pad=3.0)
    _scale(cells[0], panel, "lines")


def _whole_ticks(axes: Axes, panel: Panel) -> None:
    means = [it.mean / panel.factor for line in panel.every for it in line.intervals if it.mean is not None]
    whole_ticks(axes.yaxis, [0.5] if panel.unit in ("", "%", "bit/s", "s") else means)


def _published(
    axes: Axes,
    panel: Panel,
    line: Series,
    xs: list[float],
    marks: Sequence[Mark],
    colour: str,
    marker: str,
) -> None:
    """Draw the published values of a line."""
    own = [
        (mark, xs[line.xs.index(mark.x)])
        for mark in marks
        if (mark.metric, mark.label) == (line.metric, line.label) and mark.x in line.xs
    ]
    if own:
        axes.errorbar(
            [at for _, at in own],
            [mark.value / panel.factor for mark, _ in own],
            yerr=[mark.tolerance / panel.factor for mark, _ in own],
            color=colour,
            marker=marker,
            linestyle="none",
            capsize=3,
            zorder=3,
            **HOLLOW,
        )


def _scale(axes: Axes, panel: Panel, kind: str) -> None:
    if panel.figure.get("y-scale") == "log":
        axes.set_yscale("log")
        plain_ticks(axes.yaxis)
        return
    if kind == "box":
        return
    # With an axis from zero, nearly equal values would lie at the upper edge.
    bottom, top = axes.get_ylim()
    means = [it.mean / panel.factor for line in panel.every for it in line.intervals if it.mean is not None]
    lowest = min(_lowest(panel, line) for line in panel.every)
    axes.set_ylim(bottom if lowest < 0 else 0.0, max(top, 1.04 * max(means)) if any(means) else 1.0)


def _lowest(panel: Panel, line: Series) -> float:
    """The lowest value drawn of a line: of its means, intervals and single runs."""
    low, _ = bounds(panel, line)
    single = [
        value
        for point, it in zip(line.points, line.intervals, strict=True)
        if it.n < FEWEST
        for value in panel.runs(line, point)
    ]
    return min(
        (value for value in [*_means(panel, line), *low, *single] if math.isfinite(value)), default=0.0
    )


def _means(panel: Panel, line: Series) -> list[float]:
    return [math.nan if it.mean is None else it.mean / panel.factor for it in line.intervals]


def bounds(panel: Panel, line: Series) -> tuple[list[float], list[float]]:
    """The ends of the intervals of a line; nan if there are fewer than four runs."""
    pairs = [
        (math.nan, math.nan)
        if it.low is None or it.high is None or it.n < FEWEST
        else panel.bounded(it.low, it.high)
        for it in line.intervals
    ]
    return [low for low, _ in pairs], [high for _, high in pairs]


def _few(axes: Axes, panel: Panel, line: Series, look: Look, xs: Sequence[float]) -> None:
    """Draw each run if there are fewer than four."""
    for x, point, it in zip(xs, line.points, line.intervals, strict=True):
        if it.n < FEWEST:
            values = panel.runs(line, point)
            axes.scatter([x] * len(values), values, s=4, color=look.colour, linewidths=0)


def _line(axes: Axes, panel: Panel, axis: KeyAxis, line: Series, look: Look, xs: list[float]) -> None:
    middle = _means(panel, line)
    low, high = bounds(panel, line)
    style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "label": line.label}
    if axis.words:
        axes.plot(xs, middle, linestyle="none", **style)
        _error_bars(axes, xs, middle, low, high, look.colour)
    else:
        axes.plot(xs, middle, linestyle=look.dashes, **style)
        axes.fill_between(xs, low, high, color=look.colour, alpha=0.18, linewidth=0)
    _few(axes, panel, line, look, xs)


def _error_bars(
    axes: Axes, xs: list[float], middle: list[float], low: list[float], high: list[float], colour: str
) -> None:
    """Draw the known intervals."""
    known = [
        (x, m, m - a, b - m) for x, m, a, b in zip(xs, middle, low, high, strict=True) if math.isfinite(a)
    ]
    if known:
        at, centres, down, up = (list(column) for column in zip(*known, strict=True))
        sides = [[max(side, 0.0) for side in down], [max(side, 0.0) for side in up]]
        axes.errorbar(at, centres, yerr=sides, color=colour, fmt="none", capsize=2, elinewidth=1.0)


# Hatches of bars and boxes, so that they also differ in greyscale.
_HATCHES = ("", "///", "...", "\\\\\\", "xxx", "++", "---", "ooo")


def _fill(look: Look, number: int) -> dict[str, Any]:
    return {"facecolor": look.colour, "hatch": _HATCHES[number % len(_HATCHES)], "edgecolor": "white"}


def _bars(axes: Axes, panel: Panel, line: Series, look: Look, xs: list[float], width: float) -> None:
    number = panel.every.index(line)
    middle = _means(panel, line)
    axes.bar(xs, middle, width=0.94 * width, label=line.label, linewidth=0.0, **_fill(look, number))
    _error_bars(axes, xs, middle, *bounds(panel, line), "black")
    _few(axes, panel, line, Look("black", look.marker, look.dashes), xs)


def _boxes(axes: Axes, panel: Panel, line: Series, look: Look, xs: list[float], width: float) -> None:
    number = panel.every.index(line)
    drawn = axes.boxplot(
        [panel.runs(line, point) for point in line.points],
        positions=xs,
        widths=0.86 * width,
        patch_artist=True,
        manage_ticks=False,
        medianprops={"color": "black", "linewidth": 1.4},
        flierprops={"marker": look.marker, "markersize": 3, "markeredgecolor": look.colour},
        whiskerprops={"color": look.colour},
        capprops={"color": look.colour},
    )
    for box in drawn["boxes"]:
        box.set(**_fill(look, number), linewidth=0.6)
    drawn["boxes"][0].set_label(line.label)
