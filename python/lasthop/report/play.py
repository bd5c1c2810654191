"""A run as one HTML page that plays it: packets move along links, with queues, windows and airtime."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from lasthop.base.arguments import place
from lasthop.base.errors import UsageError
from lasthop.base.files import is_stream, put
from lasthop.base.paths import expect_folder
from lasthop.figures.ladder import KINDS
from lasthop.figures.style import COLOURS, DARK
from lasthop.report.markup import notices
from lasthop.report.numbers import column, embedded, number
from lasthop.report.sheet import LIMIT, sheet
from lasthop.views.events import period_of
from lasthop.views.film import film
from lasthop.views.places import plan
from lasthop.views.sources import checked, chosen_flows, remarks, schemes, title, titles

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from lasthop.views.film import Film
    from lasthop.views.places import Spot
    from lasthop.views.sources import Period, Source

# Segments that are played where the period has no end.
FIRST = 1000
# Times are whole numbers of these, from the begin of the period on.
_PER_S = 10_000_000
SCRIPTS = ("format.js", "looks.js", "theme.js", "film.js", "stage.js", "plan.js", "strips.js", "play.js")


@dataclass(slots=True)
class Play:
    """One run, or two next to each other, to be played over the same time.

    A page shows the packets on their way between the nodes, what agents make, and queues, windows and
    airtime; a notebook shows the page.

    Attributes:
        title: What is shown.
        period: Begin and end in seconds.
        notes: Remarks, such as that the page holds less than was requested.
    """

    title: str
    period: tuple[float, float]
    notes: list[str]
    _html: str = field(repr=False)

    def to_html(self) -> str:
        """The page, which needs no network.

        Returns:
            A whole HTML document, for light and dark screens, smaller than two megabytes.
        """
        return self._html

    def save(self, path: str | Path) -> None:
        """Write the page to a file.

        Args:
            path: The file to write, in an existing directory; it is written completely or not at all.

        Raises:
            UsageError: The directory does not exist, or the file is not an HTML file.
            StudyError: The file cannot be written.
        """
        write(self, place("path", path, "a file to write"))

    def _repr_html_(self) -> str:
        style = "width:100%;height:760px;border:1px solid #8884"
        return (
            f'<iframe title="{escape(self.title)}" sandbox="allow-scripts" style="{style}" '
            f'srcdoc="{escape(self._html)}"></iframe>'
        )

    def __repr__(self) -> str:
        begin, end = self.period
        return f"<Play {self.title}: from {begin:g} s to {end:g} s>"


def write(played: Play, file: Path) -> None:
    """Write a page, completely or not at all."""
    form_of(file, "path")
    put(file, played.to_html())


def form_of(file: Path, argument: str) -> None:
    """Check the name of a file to write; `argument` is the name in messages of what gave it."""
    if file.suffix != ".html" and not is_stream(file):
        raise UsageError(f'"{file}"; expected a name ending in .html', argument=argument)
    expect_folder(file.parent, argument)


def play(
    sources: Sequence[Source], between: Period | None, flows: Sequence[str] | None, limit: int = LIMIT
) -> Play:
    """The page of runs next to each other; the period of the first holds for all.

    Args:
        sources: One run or two.
        between: Begin and end in seconds; either may be open.
        flows: The flows to show; all if none.
        limit: The bytes that the page may have; the period ends where it is full.
    """
    begin, end = checked(between)
    chosen = chosen_flows(sources, flows)
    begin, end = period_of(sources[0].read, (begin, end), chosen, FIRST)
    names = titles(sources) if len(sources) > 1 else [", ".join(schemes(sources[0]))]
    notes = remarks(sources)
    wanted = end
    while True:
        films = [
            film(source.read(), name, (begin, end), chosen)
            for source, name in zip(sources, names, strict=True)
        ]
        if not any(made.flights for made in films):
            raise UsageError(
                f"nothing was sent from {begin:g} s to {end:g} s; expected another period",
                argument="between",
            )
        cut = [f"the page is full at {end:.6g} s; --between shows another period"] if end < wanted else []
        places = [plan(made.nodes, source.positions) for made, source in zip(films, sources, strict=True)]
        text = _page(title(sources), (begin, end), [*notes, *cut], films, places)
        size = len(text.encode())
        if size < limit:
            return Play(title(sources), (begin, end), [*notes, *cut], text)
        end = begin + 0.95 * (end - begin) * min(limit / size, 1.0)


def _page(
    name: str,
    period: tuple[float, float],
    notes: Sequence[str],
    films: Sequence[Film],
    places: Sequence[list[Spot | None] | None],
) -> str:
    begin, end = period
    data = {
        "period": [begin, end],
        "perSecond": _PER_S,
        **looks(),
        **_runs(films, places, begin),
    }
    said = [f"{note[:1].upper()}{note[1:]}." for note in notes]
    return _sheet(escape(name), escape(f"{begin:.6g} s to {end:.6g} s"), notices(said), embedded(data))


def blank() -> str:
    """A page without a film, for a page that makes films itself: each slot has its name."""
    return _sheet("<!--film:title-->", "<!--film:about-->", "", "<!--film:data-->")


def _sheet(title: str, about: str, notes: str, data: str) -> str:
    slots = {"title": title, "about": about, "notes": notes, "data": data}
    return sheet("play.html", ("report.css", "play.css"), SCRIPTS, slots)


def looks() -> dict[str, Any]:
    """The colours of kinds of packets, of agents and of windows."""
    return {
        "kinds": [
            {
                "id": kind,
                "name": words,
                "light": colour,
                "dark": DARK[COLOURS.index(colour)],
            }
            for kind, (colour, _, _, words) in KINDS.items()
        ],
        "agent": {"light": COLOURS[3], "dark": DARK[3]},
        "lines": [{"light": COLOURS[i], "dark": DARK[i]} for i in (0, 1, 2, 4, 5)],
    }


class _Texts:
    """Texts by their place in a list, each once."""

    def __init__(self) -> None:
        self.every: dict[str, int] = {"": 0}

    def place(self, text: str) -> int:
        return self.every.setdefault(text, len(self.every))


def _runs(films: Sequence[Film], places: Sequence[list[Spot | None] | None], begin: float) -> dict[str, Any]:
    texts = _Texts()
    runs = [{**_run(made, begin, texts), "places": spots} for made, spots in zip(films, places, strict=True)]
    return {"runs": runs, "texts": list(texts.every)}


def _run(made: Film, begin: float, texts: _Texts) -> dict[str, Any]:
    """A film as columns; times are differences to the one before."""

    def ticks(time_s: float) -> int:
        return round((time_s - begin) * _PER_S)

    def span(begin_s: float, end_s: float) -> int:
        return ticks(end_s) - ticks(begin_s)

    nodes = {name: at for at, name in enumerate(made.nodes)}
    kinds = {name: at for at, name in enumerate(KINDS)}
    ways = list(dict.fromkeys((f.source, f.target, f.link) for f in made.flights))
    way_of = {way: at for at, way in enumerate(ways)}
    told = made.happenings
    sorts = ["tcp", "agent", "frame", "link", "loss", "timeout"]
    return {
        "title": made.title,
        "nodes": made.nodes,
        "agents": sorted(nodes[name] for name in made.agents if name in nodes),
        "hosts": sorted(nodes[name] for name in made.hosts if name in nodes),
        "links": [
            {"name": name, "medium": name in made.media, "pairs": [[nodes[a], nodes[b]] for a, b in pairs]}
            for name, pairs in made.links.items()
        ],
        "ways": [[nodes[a], nodes[b], list(made.links).index(link)] for a, b, link in ways],
        "flights": {
            "t": _steps(ticks(f.begin_s) for f in made.flights),
            "d": [span(f.begin_s, f.end_s) for f in made.flights],
            "air": [round(f.air_s * _PER_S) for f in made.flights],
            "way": [way_of[f.source, f.target, f.link] for f in made.flights],
            "kind": [kinds[f.kind] for f in made.flights],
            "what": [texts.place(f.what) for f in made.flights],
            "n": [f.number for f in made.flights],
            "lost": [texts.place(f.lost) for f in made.flights],
            "attempt": [f.attempt for f in made.flights],
            "state": [f.again + 2 * f.made for f in made.flights],
        },
        "waits": {
            "t": _steps(ticks(w.begin_s) for w in made.waits),
            "d": [span(w.begin_s, w.end_s) for w in made.waits],
            "node": [nodes.get(w.node, 0) for w in made.waits],
            "kind": [kinds[w.kind] for w in made.waits],
        },
        "events": {
            "t": _steps(ticks(h.time_s) for h in told),
            "node": [nodes.get(h.node, 0) for h in told],
            "sort": [sorts.index(h.kind) for h in told],
            "text": [texts.place(h.text) for h in told],
            "why": [texts.place(h.why) for h in told],
            "n": [h.number for h in told],
        },
        "sorts": sorts,
        "windows": {
            flow: {
                "t": _steps(ticks(step.time_s) for step in steps),
                "cwnd": column((step.cwnd for step in steps), 4),
                "ssthresh": [number(step.ssthresh, 4) for step in steps],
            }
            for flow, steps in made.windows.items()
        },
        "received": {
            "t": _steps(ticks(time_s) for time_s, _ in made.received),
            "b": [length for _, length in made.received],
        },
    }


def _steps(values: Iterable[int]) -> list[int]:
    """The differences of numbers to those before them."""
    found, before = [], 0
    for value in values:
        found.append(value - before)
        before = value
    return found
