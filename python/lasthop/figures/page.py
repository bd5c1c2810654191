"""The page for which a figure is drawn: its width, title, caption and legend, and the limits of its axes.

By default a figure has the width that its kind needs; it can have that of a journal column. Text is wrapped,
and the legend moves above the axes if it would cover lines or does not fit inside.
"""

from __future__ import annotations

import math
import re
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.arguments import flag, instance, nonblank
from lasthop.base.errors import UsageError, nearest
from lasthop.figures.style import STYLE, leaves_gaps

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Inches: one and two columns of the journals of IEEE and ACM.
WIDTHS = {"column": 3.5, "page": 7.16}
_NARROWEST, _WIDEST = 40.0, 1000.0
_INCH = 25.4
INSIDE = (
    *("upper right", "upper left", "lower left", "lower right", "right", "center left"),
    *("center right", "lower center", "upper center", "center"),
)
LEGENDS = ("best", "above", "outside", "none", *INSIDE)
# Points: the text of figures, and that of figures not wider than a column and a half.
_SIZE, _SMALL = 9.0, 8.0
# Entries of a legend that may be in one column above the axes.
_LONG = 4
_CAPTION = "caption"
# Inches: the least width and the height of a panel of a grid.
_CELL, _CELL_HEIGHT = 1.45, 1.35
# The space between a number and its unit.
_UNITS = re.compile(r"(?<=\d) (?=(?:%|[kMG]?bit/s|[mµ]?s|[kM]?B|m)\b|%)")
Limits = tuple["float | None", "float | None"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """The format for which a figure is drawn; by default the size of its kind, with all parts.

    Attributes:
        width: Inches; None for the width of the kind.
        title: Whether it has a title.
        caption: Whether a caption below states its data.
        legend: The position of the legend: `best` is inside if it covers no line, or else above.
        x_limits: Lower and upper limit of the horizontal axis in its unit; None for a limit that follows the
            data.
        y_limits: The same for the vertical axis.
        axes: Axes of another figure in which to draw; only for kinds with a single panel.
    """

    width: float | None = None
    title: bool = True
    caption: bool = True
    legend: str = "best"
    x_limits: Limits = (None, None)
    y_limits: Limits = (None, None)
    axes: Axes | None = None

    @property
    def size(self) -> float:
        """The size of text in points."""
        return _SMALL if self.width is not None and self.width < 1.5 * WIDTHS["column"] else _SIZE

    @contextmanager
    def sheet(
        self, width: float, height: float, rows: int = 1, added: float = 0.0
    ) -> Iterator[tuple[Figure, list[Axes]]]:
        """An empty figure in the common style with panels that share their x axis.

        A given width scales both sides, but never makes a panel lower than half its allowed width; `added` is
        height that is not scaled.
        """
        if self.axes is not None:
            if rows > 1:
                raise UsageError(
                    f"{rows} panels; expected a figure with one panel for the axes given", argument="ax"
                )
            own: Any = self.axes.figure
            # Axes may belong to a subfigure.
            yield getattr(own, "figure", own), [self.axes]
            return
        if self.width is not None:
            height *= max(self.width / width, 0.72)
            width = self.width
        with self._empty(width, height + added) as empty:
            yield empty, list(empty.subplots(rows, 1, sharex=True, squeeze=False)[:, 0])

    @contextmanager
    def grid(self, count: int, x_label: str, y_label: str) -> Iterator[tuple[Figure, list[Axes]]]:
        """An empty figure with this many small panels of equal axes, and one label for each direction."""
        width = self.width or 6.0
        columns = max(2, min(4, int(width / _CELL)))
        columns = -(-count // -(-count // columns))
        rows = -(-count // columns)
        with self._empty(width, 0.9 + _CELL_HEIGHT * rows) as empty:
            # The caption is the label of the figure itself.
            body: Any = empty.subfigures(1, 1)
            cells = list(body.subplots(rows, columns, sharex=True, sharey=True, squeeze=False).flat)
            for spare in cells[count:]:
                spare.remove()
            for last in cells[max(0, count - columns) : count]:
                last.tick_params(labelbottom=True)
            body.supxlabel(x_label, fontsize=self.size)
            body.supylabel(wrapped(y_label, self.size, 0.8 * empty.get_figheight()), fontsize=self.size)
            yield empty, cells[:count]

    @contextmanager
    def _empty(self, width: float, height: float) -> Iterator[Figure]:
        """An empty figure in the common style."""
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg

        from lasthop.figures.shown import ShownFigure

        sizes: dict[Any, Any] = {"font.size": self.size, "axes.titlesize": self.size + 1.0}
        with mpl.rc_context({**STYLE, **sizes}):
            empty = ShownFigure(figsize=(width, height), layout="constrained")
            FigureCanvasAgg(empty)
            yield empty

    def finish(
        self,
        drawn: Figure,
        panels: Sequence[Axes],
        title: str,
        about: str,
        *,
        legend: bool = True,
        legend_title: str | None = None,
        above_axes: float = 0.0,
    ) -> None:
        """Complete a drawn figure with limits, title, caption and, unless its kind draws its own, a legend.

        `above_axes` is the distance, in points, that title and legend keep for what a kind writes above its
        axes.
        """
        self._bound(drawn, panels, about)
        if self.title:
            self._entitle(drawn, panels[0], title, above_axes)
        if legend:
            self._place_legend(drawn, panels, legend_title, above_axes)

    def finish_grid(self, drawn: Figure, cells: Sequence[Axes], title: str, about: str) -> None:
        """Complete a drawn grid with limits, title and caption."""
        self._bound(drawn, cells, about)
        if self.title:
            size = self.size + 1.0
            drawn.suptitle(wrapped(title, size, 0.95 * drawn.get_figwidth()), fontsize=size)

    def _bound(self, drawn: Figure, panels: Sequence[Axes], about: str) -> None:
        """Set the caption and the limits given."""
        if self.axes is None and self.caption:
            caption(drawn, about)
        for axes in panels:
            axes.set_xlim(
                *(
                    given if given is not None else now
                    for given, now in _pairs(self.x_limits, axes.get_xlim())
                )
            )
            axes.set_ylim(
                *(
                    given if given is not None else now
                    for given, now in _pairs(self.y_limits, axes.get_ylim())
                )
            )

    def _entitle(self, drawn: Figure, top: Axes, title: str, above_axes: float) -> None:
        """Centre a title over some axes, in lines that end before the nearer edge."""
        if self.axes is None:
            drawn.draw_without_rendering()
        box = top.get_position()
        middle = (box.x0 + box.x1) / 2
        room = 1.9 * min(middle, 1.0 - middle) * drawn.get_figwidth()
        top.set_title(wrapped(title, self.size + 1.0, room), pad=6.0 + above_axes)

    def _place_legend(
        self, drawn: Figure, panels: Sequence[Axes], legend_title: str | None, above_axes: float
    ) -> None:
        """Place one legend for all panels, if there is more than one entry."""
        known: dict[str, Any] = {}
        for axes in panels:
            for handle, text in zip(*axes.get_legend_handles_labels(), strict=True):
                known.setdefault(text, handle)
        known = {text: handle for text, handle in known.items() if text}
        if len(known) < 2 or self.legend == "none":
            return
        handles, texts, top = list(known.values()), list(known), panels[0]
        if self.legend == "outside":
            top.legend(handles, texts, title=legend_title, loc="upper left", bbox_to_anchor=(1.01, 1.0))
            return
        if self.legend != "above" and len(panels) == 1:
            place: dict[str, Any] = {"loc": self.legend}
            inside = top.legend(handles, texts, title=legend_title, **place)
            if self.legend != "best" or _is_free(drawn, top, inside):
                return
            inside.remove()
        size, columns = self.size, _columns(texts, self.size, 0.86 * drawn.get_figwidth())
        if columns == 1 and len(texts) > _LONG:
            # One long column would be higher than the axes; smaller text may leave room for two.
            size = self.size - 1.5
            columns = _columns(texts, size, 0.97 * drawn.get_figwidth())
        rows = -(-len(texts) // columns)
        room = rows * size * 1.65
        if self.axes is None:
            drawn.set_figheight(drawn.get_figheight() + room / 72)
        place = {
            "loc": "lower center",
            "bbox_to_anchor": (0.5, 1.0),
            "borderaxespad": 0.2 + above_axes / self.size,
        }
        top.legend(handles, texts, ncols=columns, fontsize=size, columnspacing=1.2, **place)
        top.set_title(top.get_title(), pad=6.0 + above_axes + room)


def _pairs(given: Limits, now: tuple[float, float]) -> Iterator[tuple[float | None, float]]:
    yield from zip(given, now, strict=True)


def _is_free(drawn: Figure, axes: Axes, legend: Any) -> bool:
    """Whether a legend lies within its axes and covers no line and no error bar."""
    from matplotlib.collections import LineCollection

    drawn.draw_without_rendering()
    box, within = legend.get_window_extent(), axes.get_window_extent()
    if box.width > 0.95 * within.width or box.height > 0.6 * within.height:
        return False
    for line in axes.get_lines():
        path = line.get_path().transformed(line.get_transform())
        if leaves_gaps(line):
            if box.count_contains(path.vertices):
                return False
        elif path.intersects_bbox(box, filled=False):
            return False
    for bars in axes.collections:
        # The bars of intervals; bands may lie under the legend.
        if isinstance(bars, LineCollection):
            paths = (path.transformed(bars.get_transform()) for path in bars.get_paths())
            if any(path.intersects_bbox(box, filled=False) for path in paths):
                return False
    return not any(patch.get_window_extent().overlaps(box) for patch in axes.patches)


def _columns(texts: Sequence[str], size: float, inches: float) -> int:
    """The number of legend columns that fit into a width."""
    widest = max(text_width(text, size) for text in texts) + size * 4.0 / 72
    return max(1, min(len(texts), int(inches / widest)))


def text_width(text: str, size: float) -> float:
    """The width of a line of text in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(family=STYLE["font.family"], size=size)
    return float(text_to_path.get_text_width_height_descent(text, font, ismath=False)[0]) / 72


def wrapped(text: str, size: float, inches: float) -> str:
    r"""A text broken into lines that fit into a width.

    >>> wrapped("goodput over loss", 9.0, 0.8)
    'goodput\nover loss'
    """
    lines: list[str] = []
    # A number and its unit are not separated.
    for given in _UNITS.sub("\u00a0", text).split("\n"):
        line = ""
        for word in given.split(" "):
            longer = f"{line} {word}" if line else word
            if line and text_width(longer, size) > inches:
                lines.append(line)
                longer = word
            line = longer
        lines.append(line)
    return "\n".join(lines)


def page(
    *,
    width: str | float | None = None,
    title: bool = True,
    caption: bool = True,
    legend: str = "best",
    x_limits: Limits | None = None,
    y_limits: Limits | None = None,
    ax: Axes | None = None,
) -> Page:
    """A page from user arguments; the width is a word of `WIDTHS` or a number of millimetres."""
    if nonblank("legend", legend, "a place such as above") not in LEGENDS:
        raise UsageError(f'"{legend}" is not a place; {nearest(legend, LEGENDS)}', argument="legend")
    if ax is not None:
        from matplotlib.axes import Axes

        instance("ax", ax, Axes, "axes of matplotlib")
    return Page(
        width=None if width is None else inches(width),
        title=flag("title", title),
        caption=flag("caption", caption),
        legend=legend,
        x_limits=_limits("x_limits", x_limits),
        y_limits=_limits("y_limits", y_limits),
        axes=ax,
    )


def inches(width: str | float) -> float:
    """A width in inches, from a word of `WIDTHS` or a number of millimetres."""
    if str(width) in WIDTHS:
        return WIDTHS[str(width)]
    try:
        millimetres = float(str(width).removesuffix("mm"))
    except ValueError:
        millimetres = float("nan")
    if not _NARROWEST <= millimetres <= _WIDEST:
        expected = f"{', '.join(WIDTHS)}, or {_NARROWEST:g} to {_WIDEST:g} mm"
        raise UsageError(f'"{width}" is not a width; expected {expected}', argument="width")
    return millimetres / _INCH


def _is_limit(value: object) -> bool:
    known = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return value is None or known


def _limits(argument: str, given: object) -> Limits:
    if given is None:
        return (None, None)
    if not isinstance(given, (tuple, list)) or len(given) != 2 or not all(map(_is_limit, given)):
        raise UsageError(
            f"{given!r}; expected two numbers such as (0, 5), either of which may be None", argument=argument
        )
    low, high = given
    if low is not None and high is not None and low >= high:
        raise UsageError(
            f"{low:g} to {high:g}; expected a lower limit below the upper one", argument=argument
        )
    return low, high


def caption(drawn: Figure, text: str) -> None:
    """Write below a figure what its data are."""
    _set_caption(drawn, f"{text} · lasthop\u00a0{_core.__version__}")


def add_to_caption(drawn: Figure, text: str) -> None:
    """Extend the caption of a figure, or add one if there is none, because exceptions must be stated."""
    before = caption_of(drawn)
    _set_caption(drawn, f"{before} · {text}" if before else text)


def caption_of(drawn: Figure) -> str:
    """The caption of a figure, in one line."""
    # Before 3.8 matplotlib does not return the label that was set.
    found = next((text.get_text() for text in drawn.texts if text.get_label() == _CAPTION), "")
    return found.replace("\n", " ").replace("\u00a0", " ")


def _set_caption(drawn: Figure, text: str) -> None:
    size = 6.5 if drawn.get_figwidth() < 1.5 * WIDTHS["column"] else 7.5
    label = drawn.supxlabel(wrapped(text, size, 0.9 * drawn.get_figwidth()), fontsize=size, color="0.35")
    label.set_label(_CAPTION)
