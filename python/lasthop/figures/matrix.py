"""A matrix as a figure: numbers on coloured cells.

A share is coloured by its distance from one half; other numbers by their distance from the first row of their
column. Blue means more and orange less, which readers with any colour vision can distinguish.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lasthop.figures.page import Page, text_width, wrapped
from lasthop.stats.intervals import counts
from lasthop.views.matrix import Matrix, matrix

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from lasthop.stats.intervals import Interval, counts
    from lasthop.study.study import Study

# Inches per row, per column, and per letter of a row's name.
_ROW, _COLUMN, _LETTER = 0.34, 1.05, 0.075
# Inches above and below the cells, and the angle in degrees of long names of columns.
_AROUND, _ANGLE = 1.7, 40
# Inches beside the cells and their names.
_EDGE = 0.35
# Numbers on colours stronger than this are white.
_STRONG = 0.75
# Points: the smallest text, and that of numbers in a figure of natural width.
_LEAST, _NUMBER = 5.0, 8.0
# The share of a figure that names of rows take at most; longer ones are wrapped.
_NAMES = 0.4


def draw_matrix(study: Study, figure: Mapping[str, Any], page: Page | None = None) -> Figure:
    """Draw a figure of kind `matrix` of a study."""
    from matplotlib.colors import LinearSegmentedColormap

    page = page or Page()
    found = matrix(study, figure)
    map_ = LinearSegmentedColormap.from_list("less and more", ["#D55E00", "#FFFFFF", "#0072B2"])
    natural = max(5.0, 1.0 + _LETTER * max(map(len, found.rows)) + _COLUMN * len(found.columns))
    width = natural if page.width is None else page.width
    squeezed = min(1.0, width / natural)
    own, small = max(_NUMBER * squeezed, _LEAST), max(page.size * min(1.0, squeezed**0.4), 6.0)
    rows = [wrapped(text, small, _NAMES * width) for text in found.rows]
    beside = max(text_width(line, small) for text in rows for line in text.split("\n"))
    room = 0.92 * (width - beside - _EDGE) / len(found.columns)
    cells, lines = fitted(found.texts(), own, room)
    level = [wrapped(text, small, room) for text in found.columns]
    angled = _widest([found.columns], small) if _widest([level], small) > room else 0.0
    named = max(1 + text.count("\n") for text in rows)
    row_height = max(_ROW * squeezed, (1.3 * max(lines * own, named * small) + 4.0) / 72)
    below = angled * math.sin(math.radians(_ANGLE))
    with page.sheet(natural, _AROUND, added=row_height * len(rows) + below) as (drawn, (axes,)):
        shade = shades(found)
        axes.imshow(shade, cmap=map_, vmin=-1.0, vmax=1.0, aspect="auto")
        for y, row in enumerate(cells):
            for x, text in enumerate(row):
                colour = "white" if abs(shade[y][x]) > _STRONG else "black"
                axes.text(x, y, text, ha="center", va="center", fontsize=own, color=colour)
        axes.set_yticks(range(len(rows)), rows, fontsize=small)
        axes.set_xticks(range(len(level)), found.columns if angled else level, fontsize=small)
        if angled:
            axes.tick_params(axis="x", labelrotation=_ANGLE)
            for tick in axes.get_xticklabels():
                tick.set(horizontalalignment="right", rotation_mode="anchor")
        if not set(found.columns) <= set((figure.get("names") or {}).values()):
            axes.set_xlabel(found.across)
        axes.grid(visible=False)
        axes.tick_params(length=0)
        n = counts(it.n for it in found.known())
        title = figure.get("title") or study.scenario.title or figure["id"]
        spread = found.spread() if any("±" in text for row in cells for text in row) else "mean"
        page.finish(drawn, [axes], str(title), f"{found.words()}, {spread}, {n}; {found.colours()}")
    return drawn


def fitted(cells: list[list[str]], size: float, inches: float) -> tuple[list[list[str]], int]:
    r"""The text of cells as it fits into a column, and its number of lines.

    In a narrow column the half-width is below the mean; in a very narrow one only the mean remains.

    >>> fitted([["2.10 ± 0.20"]], 8.0, 1.0), fitted([["2.10 ± 0.20"]], 8.0, 0.5)
    (([['2.10 ± 0.20']], 1), ([['2.10\n± 0.20']], 2))
    >>> fitted([["2.10 ± 0.20"]], 8.0, 0.3)
    ([['2.10']], 1)
    """
    if _widest(cells, size) <= inches:
        return cells, 1
    stacked = [[text.replace(" ± ", "\n± ") for text in row] for row in cells]
    if _widest(stacked, size) <= inches:
        return stacked, 2
    return [[text.partition(" ± ")[0] for text in row] for row in cells], 1


def _widest(cells: list[list[str]], size: float) -> float:
    return max(text_width(line, size) for row in cells for text in row for line in text.split("\n"))


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
