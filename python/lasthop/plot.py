"""Figures of a study: lines with error bands, readable in grey, the same bytes every time.

Every line differs from the others in colour, marker and dashes. TCP variants keep the colour
and marker of the registry in all figures; other lines take the palette of Okabe and Ito, which
readers with any colour vision can tell apart.
"""

from __future__ import annotations

import json
import math
from functools import cache
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.errors import StudyError, UsageError, nearest
from lasthop.quantity import metric_unit, metric_words, prefix, split
from lasthop.table import Series, series

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lasthop.scenario import Scenario
    from lasthop.study import Study

FORMATS = ("svg", "png", "pdf")

_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#8C8C00")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
_DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))

_STYLE: dict[Any, Any] = {
    "svg.hashsalt": "lasthop",
    "font.family": "DejaVu Sans",
    "font.size": 9.0,
    "axes.titlesize": 10.0,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "figure.dpi": 100.0,
    "savefig.dpi": 200.0,
}


def figure_named(scenario: Scenario, name: str | None) -> dict[str, Any]:
    """The `[[figure]]` of that id; the first one without a name."""
    figures = {str(f["id"]): f for f in scenario.figures()}
    if not figures:
        raise UsageError(f"{scenario.id}: no [[figure]]; expected one that names x and y")
    if name is None:
        return next(iter(figures.values()))
    if name not in figures:
        raise UsageError(f"{scenario.id}: {name}: no such figure; {nearest(name, figures)}")
    return figures[name]


def draw(study: Study, figure: dict[str, Any]) -> Figure:
    """Draw a figure of the study; nothing is written."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    x, y = str(figure["x"]), str(figure["y"])
    if x not in study.points()[0]:
        raise UsageError(f"figure {figure['id']}: {x} is not swept in {study.path}; expected it to vary")
    lines = figure.get("lines")
    over = figure.get("gain-over")
    every = series(study, x, y, lines, figure.get("where") or {}, over)
    if not any(it.mean is not None for line in every for it in line.intervals):
        raise UsageError(f"figure {figure['id']}: no finished run in {study.path}; expected some")
    with mpl.rc_context(_STYLE):
        sheet = Figure(figsize=(6.0, 4.0), layout="constrained")
        FigureCanvasAgg(sheet)
        axes = sheet.add_subplot()
        _lines(axes, study, figure, every)
        axes.set_title(figure.get("title") or study.scenario.title or figure["id"])
        if len(every) > 1:
            axes.legend(title=_legend_title(lines))
        sheet.supxlabel(_caption(every), fontsize=7.5, color="0.35")
    return sheet


def _lines(axes: Axes, study: Study, figure: dict[str, Any], every: list[Series]) -> None:
    x, y = str(figure["x"]), str(figure["y"])
    means = [it.mean for line in every for it in line.intervals if it.mean is not None]
    factor, unit = prefix(max(map(abs, means)), metric_unit(y))
    if figure.get("gain-over"):
        factor, unit = 0.01, "%"
    axis = _Axis(study.scenario, x, [text for line in every for text in line.xs])
    styles = _styles(str(figure.get("lines", "")), [line.label for line in every])
    for line, (colour, marker, dashes) in zip(every, styles, strict=True):
        xs = [axis.at(text) for text in line.xs]
        middle = [math.nan if it.mean is None else it.mean / factor for it in line.intervals]
        low = [math.nan if it.low is None else it.low / factor for it in line.intervals]
        high = [math.nan if it.high is None else it.high / factor for it in line.intervals]
        axes.plot(xs, middle, color=colour, marker=marker, linestyle=dashes, label=line.label)
        if axis.words:
            down = [m - a for m, a in zip(middle, low, strict=True)]
            axes.errorbar(xs, middle, yerr=down, color=colour, fmt="none", capsize=2)
        else:
            axes.fill_between(xs, low, high, color=colour, alpha=0.18, linewidth=0)
    if axis.words:
        axes.set_xticks(range(len(axis.words)), axis.words)
    axes.set_xlabel(figure.get("x-label") or axis.label)
    name = f"gain in {metric_words(y)}" if figure.get("gain-over") else metric_words(y)
    axes.set_ylabel(figure.get("y-label") or name + (f" ({unit})" if unit else ""))
    if axis.spans_decades:
        axes.set_xscale("log")
    if figure.get("y-scale") == "log":
        axes.set_yscale("log")
        _plain_ticks(axes)
    else:
        # From zero on, nearly equal values would lie on the upper edge.
        bottom, top = axes.get_ylim()
        axes.set_ylim(min(0.0, bottom), max(top, 1.04 * max(means) / factor))


def _plain_ticks(axes: Axes) -> None:
    """Label a logarithmic axis 0.2, 0.5, 1, 2, 5 rather than by powers of ten."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())


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


@cache
def _registered() -> dict[str, tuple[str, str]]:
    """Colour and marker of everything in the registry that has them."""
    found: dict[str, tuple[str, str]] = {}
    for entries in json.loads(_core.registry()).values():
        for entry in entries:
            if entry.get("colour") and entry.get("marker"):
                found.setdefault(str(entry["name"]), (str(entry["colour"]), str(entry["marker"])))
    return found


def _styles(lines: str, labels: Sequence[str]) -> list[tuple[str, str, Any]]:
    """Colour, marker and dashes for each line."""
    registered = _registered() if lines.rsplit(".", 1)[-1] in ("variant", "recovery", "congestion") else {}
    styles = []
    for i, label in enumerate(labels):
        fresh = (_COLOURS[i % len(_COLOURS)], _MARKERS[i % len(_MARKERS)])
        colour, marker = registered.get(label, fresh)
        styles.append((colour, marker, _DASHES[i % len(_DASHES)]))
    return styles


def _legend_title(lines: object) -> str | None:
    return " ".join(str(lines).split(".")[2:]).replace("-", " ") or None if lines else None


def _caption(every: list[Series]) -> str:
    counts = sorted({it.n for line in every for it in line.intervals})
    n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"mean and 95 % confidence interval (Student t), n = {n} · lasthop {_core.__version__}"


def save(sheet: Figure, path: Path) -> None:
    """Write a figure; the suffix is the format. The same figure gives the same bytes."""
    import matplotlib as mpl

    dates = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None}}
    kind = path.suffix.removeprefix(".")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with mpl.rc_context(_STYLE):
            sheet.savefig(path, format=kind, metadata=dates[kind])
    except OSError as e:
        raise StudyError(f"{path}: {e.strerror}; expected a writable directory") from e
