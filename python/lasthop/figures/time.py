"""Flows over time: panels stacked vertically, each with a line for each flow and scheme."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lasthop.base.quantity import prefix, seconds
from lasthop.figures.page import Page
from lasthop.figures.style import Look, looks
from lasthop.stats.intervals import FEWEST, counts
from lasthop.views.names import names_of
from lasthop.views.timeline import PANELS, Line, lines

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lasthop.study.study import Study

# Inches per panel.
_HEIGHT = 1.75


def draw_study(study: Study, figure: Mapping[str, Any], page: Page | None = None) -> Figure:
    """Draw a figure of kind `time` of a study."""
    found, runs = lines(study, figure)
    until = seconds(str(figure["until"])) if "until" in figure else None
    since = seconds(str(figure["since"])) if "since" in figure else None
    title = figure.get("title") or study.scenario.title or figure["id"]
    labels = list(dict.fromkeys(line.label for every in found.values() for line in every))
    shown = looks(figure, labels, names_of(study.scenario, figure))
    return draw_panels(found, str(title), about(study, found, runs), until, shown, since, page)


def about(study: Study, found: Mapping[str, list[Line]], runs: int) -> str:
    """A description of the data behind the lines; `runs` is the number of runs behind the bins."""
    made = []
    if any(PANELS[name].channel for name in found):
        made.append(f"traces of replication 0 of seed {study.seed}")
    if runs:
        spread = "each run" if runs < FEWEST else "95 % confidence interval (Student t)"
        made.append(f"bins: mean and {spread}, {counts([runs])}")
    return "; ".join(made)


def draw_panels(
    found: Mapping[str, list[Line]],
    title: str,
    about: str,
    until: float | None,
    shown: Sequence[Look] | None = None,
    since: float | None = None,
    page: Page | None = None,
) -> Figure:
    """Draw panels that share their time axis, from time zero on unless `since` is given."""
    labels = list(dict.fromkeys(line.label for every in found.values() for line in every))
    look_of = dict(zip(labels, shown or looks({}, labels, {}), strict=True))
    end = until or 1.02 * max(line.times[-1] for every in found.values() for line in every)
    page = page or Page()
    with page.sheet(6.4, 0.9 + _HEIGHT * len(found), len(found)) as (drawn, stacked):
        for axes, (name, every) in zip(stacked, found.items(), strict=True):
            _panel(axes, name, [within(line, since, until) for line in every], look_of)
        stacked[-1].set_xlim(since or 0, end)
        stacked[-1].set_xlabel("simulated time (s)")
        page.finish(drawn, stacked, title, about)
    return drawn


def within(line: Line, since: float | None, until: float | None) -> Line:
    """The part of a traced line that a figure with `since` shows, plus one value at each end."""
    if since is None or len(line.times) != len(line.values):
        return line
    begin = max(bisect_left(line.times, since) - 1, 0)
    end = len(line.times) if until is None else bisect_right(line.times, until) + 1
    times, values, low, high = (c[begin:end] for c in (line.times, line.values, line.low, line.high))
    return replace(line, times=times, values=values, low=low, high=high)


def _panel(axes: Axes, name: str, every: list[Line], look_of: Mapping[str, Look]) -> None:
    panel = PANELS[name]
    values = [abs(v) for line in every for v in line.values if math.isfinite(v)]
    factor, unit = prefix(max(values, default=0.0), panel.unit)
    lowest = min((v for line in every for v in line.values if math.isfinite(v)), default=0.0)
    for line in every:
        look = look_of[line.label]
        colour, marker, dashes = look.colour, look.marker, look.dashes
        scaled, low, high = ([v / factor for v in column] for column in (line.values, line.low, line.high))
        if len(line.times) == len(line.values) + 1:
            axes.stairs(scaled, line.times, baseline=None, color=colour, linestyle=dashes, label=line.label)
            for run in line.runs if len(line.runs) > 1 else ():
                each = [v / factor for v in run]
                axes.stairs(each, line.times, baseline=None, color=colour, alpha=0.35, linewidth=0.6)
            if low:
                axes.fill_between(
                    line.times, [*low, low[-1]], [*high, high[-1]], step="post", **_band(colour)
                )
            continue
        if line.stands_alone:
            axes.plot(
                line.times,
                scaled,
                color=colour,
                linestyle="none",
                marker=marker,
                markersize=3.0,
                markeredgewidth=0,
                label=line.label,
            )
            continue
        style = "steps-post" if panel.holds or panel.steps else "default"
        axes.plot(
            line.times,
            scaled,
            color=colour,
            linestyle=dashes,
            linewidth=1.1,
            drawstyle=style,
            label=line.label,
        )
        for run in line.runs if len(line.runs) > 1 else ():
            axes.plot(line.times, [v / factor for v in run], color=colour, alpha=0.35, linewidth=0.6)
        if low:
            axes.fill_between(line.times, low, high, **_band(colour))
    axes.set_ylabel(f"{panel.words}\n({unit})" if unit else panel.words)
    if name == "sequence" and values:
        margin = 0.04 * (max(values) - min(values)) or 1.0
        axes.set_ylim(min(values) - margin, max(values) + margin)
        return
    axes.set_ylim(min(0.0, 1.08 * lowest / factor), 1.08 * max(values, default=1.0) / factor or 1.0)


def _band(colour: str) -> dict[str, Any]:
    return {"color": colour, "alpha": 0.18, "linewidth": 0}
