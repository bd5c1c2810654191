"""One metric against another: each point of a study as its mean and an ellipse of one standard deviation.

Points with the same value of `lines` share a colour and are joined in the order of the sweep.

The ellipse is that of the covariance of both metrics over the runs of the point; with fewer than four runs,
each run is a dot instead.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError
from lasthop.base.quantity import metric_unit, metric_words, prefix, united
from lasthop.figures.page import Page
from lasthop.figures.style import looks, plain_ticks
from lasthop.stats.intervals import FEWEST, counts
from lasthop.views.groups import matches
from lasthop.views.names import names_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lasthop.study.study import Study

Pairs = list[tuple[float, float]]


def draw_scatter(study: Study, figure: Mapping[str, Any], page: Page | None = None) -> Figure:
    """Draw a figure of kind `scatter` of a study."""
    page = page or Page()
    across, up = str(figure["against"]), str(figure["y"])
    names = names_of(study.scenario, figure)
    found: dict[str, list[Pairs]] = {}
    for planned, point in zip(study.plan, study.points(), strict=True):
        if matches(study, planned.point, point, figure.get("where") or {}):
            value = point.get(str(figure.get("lines")), "")
            pairs = pairs_of(study, planned.point, across, up)
            found.setdefault(names.get(value, value), []).extend([pairs] if pairs else [])
    every = [pairs for points in found.values() for pairs in points]
    if not every:
        raise UsageError(f"figure {figure['id']}: no finished run in {study.path}; expected at least one")
    shown = looks(figure, list(found), names)
    xs, ys = ([abs(pair[i]) for pairs in every for pair in pairs] for i in (0, 1))
    x_factor, x_unit = prefix(max(xs), metric_unit(across))
    y_factor, y_unit = prefix(max(ys), metric_unit(up))
    with page.sheet(6.0, 4.4) as (drawn, (axes,)):
        for (label, points), look in zip(found.items(), shown, strict=True):
            scaled = [[(x / x_factor, y / y_factor) for x, y in pairs] for pairs in points]
            middles = [middle_of(pairs) for pairs in scaled]
            axes.plot(
                [x for x, _ in middles],
                [y for _, y in middles],
                color=look.colour,
                marker=look.marker,
                linestyle=look.dashes,
                linewidth=0.8,
                label=label,
            )
            for pairs, middle in zip(scaled, middles, strict=True):
                if len(pairs) < FEWEST:
                    axes.scatter(
                        [x for x, _ in pairs], [y for _, y in pairs], s=5, color=look.colour, linewidths=0
                    )
                else:
                    _ellipse(axes, pairs, middle, look.colour)
        axes.set_xlabel(united(str(figure.get("x-label") or metric_words(across)), x_unit))
        axes.set_ylabel(united(str(figure.get("y-label") or metric_words(up)), y_unit))
        for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            if figure.get(f"{name}-scale") == "log":
                getattr(axes, f"set_{name}scale")("log")
                plain_ticks(axis)
        axes.autoscale_view()
        n = [len(pairs) for pairs in every]
        spread = "mean and each run" if max(n) < FEWEST else "mean and ellipse of one standard deviation"
        title = figure.get("title") or study.scenario.title or figure["id"]
        page.finish(drawn, [axes], str(title), f"{spread}, {counts(n)}")
    return drawn


def pairs_of(study: Study, point: int, across: str, up: str) -> Pairs:
    """Both metrics of each run at a point, for runs that have both."""
    xs, ys = study.values(point, across), study.values(point, up)
    return [(x, y) for run, x in xs.items() if x is not None and (y := ys.get(run)) is not None]


def middle_of(pairs: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """The means of both numbers."""
    return sum(x for x, _ in pairs) / len(pairs), sum(y for _, y in pairs) / len(pairs)


def covariance(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float]:
    """The variances of both numbers, and their covariance.

    >>> covariance([(0.0, 0.0), (2.0, 4.0)])
    (2.0, 8.0, 4.0)
    """
    middle = middle_of(pairs)
    away = [(x - middle[0], y - middle[1]) for x, y in pairs]
    n = len(pairs) - 1
    return sum(x * x for x, _ in away) / n, sum(y * y for _, y in away) / n, sum(x * y for x, y in away) / n


def spread_of(pairs: Pairs) -> tuple[float, float, float]:
    """The ellipse of one standard deviation: x varies by a cos t, and y by b cos t + c sin t.

    >>> spread_of([(0.0, 0.0), (2.0, 0.0), (0.0, 4.0), (2.0, 4.0)])
    (1.1547005383792515, 0.0, 2.309401076758503)
    """
    xx, yy, xy = covariance(pairs)
    # The Cholesky factor of the covariance takes the unit circle to the ellipse.
    a = math.sqrt(xx)
    b = xy / a if a else 0.0
    return a, b, math.sqrt(max(yy - b * b, 0.0))


def _ellipse(axes: Axes, pairs: Pairs, middle: tuple[float, float], colour: str) -> None:
    """The ellipse of one standard deviation, drawn as a polygon so that it is correct on any scale."""
    a, b, c = spread_of(pairs)
    turns = [2.0 * math.pi * i / 72 for i in range(73)]
    xs = [middle[0] + a * math.cos(t) for t in turns]
    ys = [middle[1] + b * math.cos(t) + c * math.sin(t) for t in turns]
    axes.fill(xs, ys, facecolor=colour, alpha=0.2, linewidth=0)
    axes.plot(xs, ys, color=colour, linewidth=0.8)
