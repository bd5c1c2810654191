"""A matrix as a figure: numbers on coloured cells.

A share is coloured by its distance from one half; other numbers by their distance from the first row of their
column. Blue means more and orange less, which readers with any colour vision can distinguish.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lasthop.figures.page import Page
from lasthop.figures.style import counts
from lasthop.views.matrix import Matrix, cell_text, matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from lasthop.stats.intervals import Interval
    from lasthop.study.study import Study

# Inches per row, per column, and per letter of a row's name.
_ROW, _COLUMN, _LETTER = 0.34, 1.05, 0.075
# Numbers on colours stronger than this are white.
_STRONG = 0.75


def draw_matrix(study: Study, figure: Mapping[str, Any], page: Page | None = None) -> Figure:
    """Draw a figure of kind `matrix` of a study."""
    from matplotlib.colors import LinearSegmentedColormap

    page = page or Page()
    found = matrix(study, figure)
    factor, _ = found.scale()
    map_ = LinearSegmentedColormap.from_list("less and more", ["#D55E00", "#FFFFFF", "#0072B2"])
    width = 1.0 + _LETTER * max(map(len, found.rows)) + _COLUMN * len(found.columns)
    with page.sheet(max(5.0, width), 1.7 + _ROW * len(found.rows)) as (drawn, (axes,)):
        squeezed = min(1.0, drawn.get_figwidth() / max(5.0, width))
        shade = shades(found)
        axes.imshow(shade, cmap=map_, vmin=-1.0, vmax=1.0, aspect="auto")
        for y, row in enumerate(found.cells):
            for x, it in enumerate(row):
                strong = abs(shade[y][x]) > _STRONG
                axes.text(
                    x,
                    y,
                    cell_text(it, factor),
                    ha="center",
                    va="center",
                    fontsize=max(8.0 * squeezed, 5.0),
                    color="white" if strong else "black",
                )
        axes.set_xticks(range(len(found.columns)), found.columns)
        axes.set_yticks(range(len(found.rows)), found.rows)
        axes.grid(visible=False)
        axes.tick_params(length=0)
        n = counts(it.n for it in found.known())
        title = figure.get("title") or study.scenario.title or figure["id"]
        made = f"{found.words()}, mean ± half-width of the 95 % interval, {n}"
        page.finish(drawn, [axes], str(title), f"{made}; {found.colours()}")
    return drawn


def shades(found: Matrix) -> list[list[float]]:
    """The distance of each cell from its reference, from -1 to 1; nan if there is none."""
    if found.is_gain:
        most = max((abs(it.mean or 0.0) for it in found.known()), default=0.0)
        return [[_of(it, lambda mean: mean / min(1.0, max(most, 0.2))) for it in row] for row in found.cells]
    if found.is_share:
        return [[_of(it, lambda mean: 2.0 * mean - 1.0) for it in row] for row in found.cells]
    first = [it.mean if it is not None else None for it in found.cells[0]]
    away = [
        [
            _of(it, lambda mean, base=base: mean / base - 1.0) if base else math.nan
            for it, base in zip(row, first, strict=True)
        ]
        for row in found.cells
    ]
    most = max((abs(shade) for row in away for shade in row if not math.isnan(shade)), default=0.0)
    # Twice the reference or more has the strongest colour; small differences stay pale.
    scale = min(1.0, max(most, 0.2))
    return [[max(-1.0, min(1.0, shade / scale)) for shade in row] for row in away]


def _of(it: Interval | None, shade: Any) -> float:
    return math.nan if it is None or it.mean is None else float(shade(it.mean))
