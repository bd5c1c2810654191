"""Elements shared by all figures: colours, markers, dashes, display names, fonts, and reproducible files.

Every line differs from the others in colour, marker and dashes. Entries of the registry (TCP variants, agents
and others) have the same look and name in all figures; other lines take theirs by their position. The colours
are those of Okabe and Ito, which readers with any colour vision can distinguish; the light ones are darkened
to a contrast of 3:1 on white.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError
from lasthop.base.files import make_folder, replacing
from lasthop.base.paths import expect_folder
from lasthop.views.names import registered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

FORMATS = ("svg", "png", "pdf")

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#C46A9C", "#B97F00", "#3492D0", "#000000", "#767676")
# The same colours on a dark page, in the same order.
DARK = ("#3E9BDC", "#F0742B", "#1FB88B", "#E08DBB", "#E0A526", "#86C9F2", "#F2F2F2", "#A3A3A3")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*", "<", ">", "h", "p", "d")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 3)))

STYLE: dict[Any, Any] = {
    "svg.hashsalt": "lasthop",
    # Text remains text in SVG, and fonts are embedded as TrueType in PDF: journals reject Type 3.
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "0.9",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    # A title, label or name is literal text, even if it contains a $.
    "text.parse_math": False,
    "figure.dpi": 100.0,
    "savefig.dpi": 300.0,
}


@dataclass(frozen=True, slots=True)
class Look:
    """The appearance of a line: a colour, a marker and dashes of matplotlib."""

    colour: str
    marker: str
    dashes: Any


def _look(colour: int, marker: int, dashes: int) -> Look:
    return Look(COLOURS[colour % len(COLOURS)], MARKERS[marker % len(MARKERS)], DASHES[dashes % len(DASHES)])


def looks(figure: Mapping[str, Any], labels: Sequence[str], names: Mapping[str, str]) -> list[Look]:
    """The look of each line.

    Args:
        figure: The figure; `lines` is the swept key of its lines, which `where` may fix.
        labels: Their labels; the value of the key is the first part of each.
        names: Display names of swept values.
    """
    key = str(figure.get("lines", ""))
    fixed = (figure.get("where") or {}).get(key)
    known = _known(key)
    values = {shown: value for value, shown in names.items()}
    found: list[Look] = []
    for place, label in enumerate(labels):
        first = label if label in values else label.split(", ")[0]
        own = known.get(fixed or values.get(first, first))
        if own is None or own[0] >= len(COLOURS):
            found.append(_look(place, place, place))
            continue
        # Several lines of one scheme share its colour.
        before = sum(look.colour == COLOURS[own[0]] for look in found)
        found.append(_look(own[0], own[1] + before, own[2] + before))
    return found


def _known(key: str) -> dict[str, tuple[int, int, int]]:
    """Colour, marker and dashes of the entries from which a key selects, if the registry lists them."""
    styles = {name: entry["style"] for name, entry in registered("tcp.variant").items()}
    return {
        name: tuple(entry.get("style") or styles.get(name) or (place, place, place))
        for place, (name, entry) in enumerate(registered(key).items())
    }


def leaves_gaps(line: Line2D) -> bool:
    """Whether a line is drawn with markers only."""
    return line.get_linestyle() in ("None", "none", "", " ")


def whole_ticks(axis: Axis, values: Iterable[float]) -> None:
    """Avoid ticks between whole numbers on a linear axis whose values are all whole numbers."""
    from matplotlib.ticker import MaxNLocator

    known = [value for value in values if math.isfinite(value)]
    if known and all(float(value).is_integer() for value in known):
        axis.set_major_locator(MaxNLocator(nbins="auto", integer=True, min_n_ticks=2))


def plain_ticks(axis: Axis) -> None:
    """Label a logarithmic axis 0.2, 0.5, 1, 2, 5, or at equal distances if it spans less than a decade."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    low, high = sorted(axis.get_view_interval())
    if low > 0 and high / low < 8:
        axis.set_major_locator(MaxNLocator(nbins=5, steps=[1, 2, 5, 10]))
        axis.set_minor_locator(NullLocator())
    else:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def decades(axis: Axis) -> None:
    """Label a logarithmic axis with powers of ten, written out if none is small or large."""
    from matplotlib.ticker import FuncFormatter, NullFormatter

    low, high = sorted(axis.get_view_interval())
    plain = low >= 5e-4 and high < 2e5
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}" if plain else power(value)))
    axis.set_minor_formatter(NullFormatter())


def power(value: float) -> str:
    """A power of ten.

    >>> power(1e-6), power(100.0)
    ('10⁻⁶', '10²')
    """
    exponent = f"{math.log10(value):.0f}" if value > 0 else ""
    return "10" + exponent.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")) if exponent else ""


_DATES: dict[str, dict[str, Any]] = {
    "svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {"Software": None},
}  # fmt: skip


def put(drawn: Figure, draft: Path, kind: str) -> None:
    """Write a figure into the draft of a file, without a date; matplotlib wants a right one all the same."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "0")
    if not (given.isascii() and given.isdecimal() and len(given) <= 11):
        raise UsageError(f'SOURCE_DATE_EPOCH: "{given}"; expected a number of seconds such as 0')
    drawn.savefig(draft, format=kind, metadata=_DATES[kind])


def save(drawn: Figure, path: Path) -> None:
    """Write a figure in the format given by the suffix. The same figure yields the same bytes.

    The directory of the figures is created if its parent exists.
    """
    kind = path.suffix.removeprefix(".")
    expect_folder(path.parent.parent)
    make_folder(path.parent)
    with replacing(path) as draft:
        put(drawn, draft, kind)
