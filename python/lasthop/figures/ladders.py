"""A ladder of one or two runs, in memory or stored, as text, SVG, HTML and matplotlib figures."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lasthop.base.arguments import nonblank, place, whole
from lasthop.base.errors import UsageError, nearest
from lasthop.base.files import is_stream, put, replacing
from lasthop.base.paths import expect_folder
from lasthop.figures import ladder as drawing
from lasthop.figures import style
from lasthop.figures.ladder_page import page
from lasthop.figures.page import inches
from lasthop.figures.scene import figure, svg
from lasthop.views import ladder_text
from lasthop.views.ladder import LAYERS, panel
from lasthop.views.sources import checked, chosen_flows, remarks, schemes, title, titles

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from lasthop.figures.scene import Scene
    from lasthop.views.arrows import Panel
    from lasthop.views.sources import Period, Source

FORMATS = ("svg", "html", "png", "pdf", "txt")
_COLUMNS = 100


@dataclass(slots=True)
class Ladder:
    """What passed between the nodes of one run, or of two runs side by side, over the same time.

    Time goes downwards, each node has a line, and each segment or frame an arrow. `str` returns it as text
    for a terminal; a notebook shows it as SVG.

    Attributes:
        title: The title.
        period: Begin and end in seconds.
        notes: Notes, for example that two runs have different random numbers.
    """

    title: str
    period: tuple[float, float]
    notes: list[str]
    _panels: list[Panel] = field(repr=False)

    def to_text(self, width: int = _COLUMNS) -> str:
        """The ladder as text, one line per arrow.

        Args:
            width: Columns of the terminal; two ladders are side by side if they fit.

        Returns:
            Lines without colours.

        Raises:
            UsageError: The width is below 40 columns.
        """
        return ladder_text.text(self._panels, self.title, whole("width", width, 40))

    def to_svg(self, width: str | float | None = None) -> str:
        """The ladder as SVG; pointing at an arrow shows its details.

        Args:
            width: `column` (3.5 inches), `page` (7.16 inches), or millimetres; by default, it fits the
            contents.

        Returns:
            A complete SVG document.

        Raises:
            UsageError: The width is not valid.
        """
        return svg(self._scene(_points(width)))

    def to_html(self) -> str:
        """The ladder as one HTML file, readable without a network, whose drawing can be zoomed and moved.

        Returns:
            A complete HTML document, for light and dark screens.
        """
        scene = self._scene(None)
        scene.groups = [group for group in scene.groups if group.kind != "title"]
        return page(scene)

    def figure(self, width: str | float | None = None) -> Figure:
        """The ladder as a matplotlib figure.

        Args:
            width: As for `to_svg`.

        Returns:
            A matplotlib figure.

        Raises:
            UsageError: The width is not valid.
        """
        return figure(self._scene(_points(width)))

    def save(self, path: str | Path, width: str | float | None = None) -> None:
        """Write the ladder to a file in the format given by its suffix.

        Args:
            path: A file ending in svg, html, png, pdf or txt, in an existing directory.
            width: As for `to_svg`; not for html and txt.

        Raises:
            UsageError: The suffix or the width is not known, or the directory does not exist.
            StudyError: The file cannot be written.
        """
        write(self, place("path", path, "a file to write"), width)

    def _scene(self, points: float | None) -> Scene:
        return drawing.scene(self._panels, self.period, self.title, points)

    def _repr_html_(self) -> str:
        return self.to_svg()

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        begin, end = self.period
        arrows = sum(len(panel.arrows) for panel in self._panels)
        return f"<Ladder {self.title}: {arrows} arrows from {begin:g} s to {end:g} s>"


def _points(width: str | float | None) -> float | None:
    return None if width is None else 72.0 * inches(width)


def write(drawn: Ladder, file: Path, width: str | float | None = None, *, argument: str = "path") -> None:
    """Write a ladder; in error messages `argument` names the argument that gave the file."""
    kind = form_of(file, argument)
    if kind in ("png", "pdf"):
        with replacing(file) as draft:
            style.put(drawn.figure(width), draft, kind)
    else:
        texts = {"svg": lambda: drawn.to_svg(width), "html": drawn.to_html, "txt": drawn.to_text}
        put(file, texts[kind]().rstrip("\n") + "\n")


def form_of(file: Path, argument: str) -> str:
    """The format of a file, by its suffix, and text into a device; raises an error if it has no directory."""
    kind = file.suffix.removeprefix(".")
    if kind not in FORMATS and is_stream(file):
        return "txt"
    if kind not in FORMATS:
        endings = ", ".join(f".{known}" for known in FORMATS)
        raise UsageError(f'"{file}"; expected a name ending in one of {endings}', argument=argument)
    expect_folder(file.parent, argument)
    return kind


def ladder(
    sources: Sequence[Source], between: Period | None, layers: str, flows: Sequence[str] | None
) -> Ladder:
    """The ladder of several runs side by side; the period of the first applies to all."""
    if nonblank("layers", layers, "tcp or frames") not in LAYERS:
        raise UsageError(f'"{layers}" is not a layer; {nearest(layers, LAYERS)}', argument="layers")
    period = checked(between)
    chosen = chosen_flows(sources, flows)
    panels = []
    for source, name in zip(sources, titles(sources), strict=True):
        found, period = panel(source.read, name, period, layers, chosen)
        panels.append(found)
    begin, end = period
    if begin is None or end is None or not any(panel.arrows for panel in panels):
        raise UsageError(
            f"nothing was sent from {begin:g} s to {end:g} s; expected another period", argument="between"
        )
    # Two panels have headings with their schemes.
    shown = schemes(sources[0]) if len(sources) == 1 else []
    name = ": ".join([title(sources), *([", ".join(shown)] if shown else [])])
    return Ladder(name, (begin, end), remarks(sources), panels)
