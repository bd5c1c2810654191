"""The congestion windows of both over time: ours and the kernel's, a panel for each flow and point."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.base.errors import UsageError
from lasthop.figures.page import Page
from lasthop.figures.style import COLOURS, FORMATS, save

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lasthop.peer.beside import Beside, Line

# Inches for a panel, and the most of them on a page.
_HEIGHT = 1.75
_MOST = 12


def expect(path: Path) -> None:
    """Check the name of a file that is to have the figure.

    Raises:
        UsageError: The ending is not one of a figure.
    """
    if path.suffix.removeprefix(".") not in FORMATS:
        raise UsageError(f'"{path}"; expected a name that ends in .svg, .png or .pdf', argument="window")


def draw(found: Beside) -> Figure:
    """Draw a panel for each flow and point whose windows were sampled."""
    lines = [line for line in found.lines if line.windows is not None]
    if len(lines) > _MOST:
        raise UsageError(f"{len(lines)} panels; expected at most {_MOST}, see --where", argument="window")
    with Page().sheet(6.4, 0.9 + _HEIGHT * len(lines), len(lines)) as (drawn, stacked):
        for axes, line in zip(stacked, lines, strict=True):
            _panel(axes, line)
        stacked[-1].set_xlabel("time since the connection was opened (s)")
        title = f"{found.scenario} beside Linux {found.release}"
        Page().finish(drawn, stacked, title, "replication 0; dotted: the slow-start threshold once it is set")
    return drawn


def _panel(axes: Axes, line: Line) -> None:
    assert line.windows is not None
    both = zip(line.windows, ("lasthop", "Linux"), COLOURS, strict=False)
    most = max((value for window in line.windows for value in window.cwnd), default=1.0)
    for window, name, colour in both:
        axes.step(window.times, window.cwnd, where="post", color=colour, linewidth=1.1, label=name)
        known = [(at, value) for at, value in zip(window.times, window.ssthresh, strict=True) if value]
        if known:
            axes.step(*zip(*known, strict=True), where="post", color=colour, linewidth=0.8, linestyle=":")
    axes.set_ylim(0.0, 1.08 * most)
    axes.set_ylabel("window\n(segments)")
    place = ", ".join(line.point.values())
    axes.text(0.99, 0.95, place, transform=axes.transAxes, ha="right", va="top", size="small")


def write(found: Beside, path: Path) -> None:
    """Draw, and write the figure; the ending of the name is its format."""
    save(draw(found), path)
