"""A ladder of one or two runs, in memory or stored, as text, SVG, HTML and matplotlib figures."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop.base.arguments import nonblank, place, whole, words
from lasthop.base.errors import StudyError, UsageError, nearest, reason
from lasthop.base.files import replacing
from lasthop.base.paths import expect_folder
from lasthop.figures import ladder as drawing
from lasthop.figures.ladder_page import page
from lasthop.figures.page import inches
from lasthop.figures.scene import figure, svg
from lasthop.scenario.kept import read
from lasthop.views import ladder_text
from lasthop.views.ladder import CHANNEL, LAYERS, Event, events, panel, reaches
from lasthop.views.names import registered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from lasthop.figures.scene import Scene
    from lasthop.scenario.scenario import Run
    from lasthop.views.ladder import Panel

FORMATS = ("svg", "html", "png", "pdf", "txt")
Period = tuple["float | None", "float | None"]
_COLUMNS = 100
# Number of events of a run before the first check whether they are enough.
_FIRST_EVENTS = 20_000
# Columns of the trace with integers.
_INTS = ("packet", "frame", "seq", "len", "ack", "window", "attempt", "slots")
_FLOATS = ("time_s", "duration_s", "cwnd", "ssthresh")


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
    try:
        with replacing(file) as draft:
            if kind in ("png", "pdf"):
                metadata: dict[str, Any] = {"CreationDate": None} if kind == "pdf" else {"Software": None}
                drawn.figure(width).savefig(draft, format=kind, metadata=metadata)
            else:
                texts = {"svg": lambda: drawn.to_svg(width), "html": drawn.to_html, "txt": drawn.to_text}
                draft.write_text(texts[kind]().rstrip("\n") + "\n", encoding="utf-8")
    except OSError as e:
        raise StudyError(f"{file}: {e.strerror}; expected a writable directory") from e


def form_of(file: Path, argument: str) -> str:
    """The format of a file, by its suffix; raises an error if its directory does not exist."""
    kind = file.suffix.removeprefix(".")
    if kind not in FORMATS:
        endings = ", ".join(f".{known}" for known in FORMATS)
        raise UsageError(f'"{file}"; expected a name ending in one of {endings}', argument=argument)
    expect_folder(file.parent, argument)
    return kind


@dataclass(frozen=True, slots=True)
class Source:
    """A run to draw: its rows, its settings, and its random numbers.

    Attributes:
        name: Its name, such as the title of its scenario.
        settings: Its overrides and swept values, by key.
        numbers: Its seed and replication.
        read: Returns its rows from the first on.
        remarks: The labels that must accompany its numbers.
    """

    name: str
    settings: dict[str, str]
    numbers: tuple[int, int]
    read: Callable[[], Iterator[Event]]
    remarks: tuple[str, ...] = ()


def of_run(run: Run) -> Source:
    """The source for a run in memory."""
    if CHANNEL not in run.traces():
        raise UsageError(f'the run has no trace of {CHANNEL}; expected one of run(trace=["{CHANNEL}"])')
    settings = {**dict(run.scenario.overrides), **run.scenario.points()[run.point]}
    name = run.scenario.title or run.scenario.id
    trace = run.trace(CHANNEL)
    return Source(
        name, settings, (run.seed, run.replication), lambda: events(trace.chunks()), tuple(run.notes())
    )


def of_folder(folder: Path) -> Source:
    """The source for a run stored by `run -o`."""
    run = read(folder)
    file = folder / "traces" / f"{CHANNEL}.csv"
    if not file.is_file():
        raise UsageError(
            f"{folder}: no trace of {CHANNEL}; expected a run of "
            f"lasthop run {run['scenario']} --trace {CHANNEL} -o {folder}"
        )
    settings = {**dict(run["overrides"]), **run["point"]}
    numbers = (int(run["seed"]), int(run["replication"]))
    return Source(str(run["scenario"]), settings, numbers, lambda: _rows(file), tuple(run.get("notes", ())))


def traced(run: Callable[[int], Run], between: Period | None, flows: Sequence[str] | None) -> Run:
    """A run that is long enough for a ladder, and not much longer.

    Args:
        run: Runs a scenario with tracing, up to a number of events.
        between: As for `ladder`.
        flows: As for `ladder`.
    """
    most = _FIRST_EVENTS
    while True:
        done = run(most)
        source = of_run(done)
        is_stopped = done.stopped == "max-events" and done.events == most
        if not is_stopped or reaches(source.read, _period(between), flows or (), done.simulated_s):
            return done
        most *= 8


def _rows(file: Path) -> Iterator[Event]:
    try:
        with file.open(newline="", encoding="utf-8") as opened:
            reader = csv.reader(opened)
            head = next(reader)
            kinds: list[Any] = [int if n in _INTS else float if n in _FLOATS else str for n in Event._fields]
            columns = [head.index(name) for name in Event._fields]
            for row in reader:
                values: list[Any] = [kind(row[at]) for kind, at in zip(kinds, columns, strict=True)]
                yield Event(*values)
    except (OSError, ValueError, StopIteration, IndexError) as e:
        raise StudyError(f"{file}: {reason(e)}; expected a trace written by lasthop run") from e


def ladder(
    sources: Sequence[Source], between: Period | None, layers: str, flows: Sequence[str] | None
) -> Ladder:
    """The ladder of several runs side by side; the period of the first applies to all."""
    if nonblank("layers", layers, "tcp or frames") not in LAYERS:
        raise UsageError(f'"{layers}" is not a layer; {nearest(layers, LAYERS)}', argument="layers")
    period = _period(between)
    chosen = words("flows", flows, "main") if flows is not None else []
    panels = []
    for source, title in zip(sources, _titles(sources), strict=True):
        _check_flows(source, chosen)
        found, period = panel(source.read, title, period, layers, chosen)
        panels.append(found)
    begin, end = period
    if begin is None or end is None or not any(panel.arrows for panel in panels):
        raise UsageError(
            f"nothing was sent from {begin:g} s to {end:g} s; expected another period", argument="between"
        )
    notes = list(dict.fromkeys(remark for source in sources for remark in source.remarks))
    if len({source.numbers for source in sources}) > 1:
        notes.append("the runs have different random numbers: their seeds or replications differ")
    names = list(dict.fromkeys(source.name for source in sources))
    return Ladder(", ".join(names), (begin, end), notes, panels)


def _period(between: object) -> Period:
    """Validates a period; by default both of its ends are open."""
    if between is None:
        return None, None
    if not isinstance(between, (tuple, list)) or len(between) != 2 or not all(map(_is_time, between)):
        raise UsageError(
            f"{between!r}; expected begin and end in seconds such as (0, 0.2)", argument="between"
        )
    begin, end = between
    if begin is not None and end is not None and begin >= end:
        raise UsageError(f"{begin:g}..{end:g}; expected a begin before the end", argument="between")
    return begin, end


def _is_time(value: object) -> bool:
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value is None or (known and math.isfinite(value) and value >= 0)  # type: ignore[arg-type, operator]


def _check_flows(source: Source, chosen: Iterable[str]) -> None:
    wanted = set(chosen)
    if not wanted:
        return
    known: dict[str, None] = {}
    for row in source.read():
        if row.flow:
            known.setdefault(row.flow.removesuffix(".reverse"))
        if wanted <= known.keys():
            return
    missing = next(name for name in chosen if name not in known)
    raise UsageError(f'"{missing}" sends nothing; {nearest(missing, known)}', argument="flows")


def _titles(sources: Sequence[Source]) -> list[str]:
    """A title for each run: the settings in which the runs differ, by their names in the registry."""
    if len(sources) == 1:
        return [""]
    keys = dict.fromkeys(key for source in sources for key in source.settings)
    differing = [key for key in keys if len({source.settings.get(key) for source in sources}) > 1]
    return [
        ", ".join(_named(key, source.settings[key]) for key in differing if key in source.settings)
        or source.name
        for source in sources
    ]


def _named(key: str, value: str) -> str:
    entry = registered(key).get(value)
    if entry is not None:
        return str(entry["title"])
    return f"{key.rsplit('.', 1)[-1]} = {value}"
