"""The pages that `reproduce` writes: one for each paper, and the one that lists all of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from lasthop.papers.confirm import CONFIRMS, CONTRADICTS
from lasthop.papers.paper import known, paper
from lasthop.report import index
from lasthop.report.document import of_paper
from lasthop.report.page import write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from lasthop.papers.paper import Paper
    from lasthop.papers.results import Outcome


@dataclass(frozen=True, slots=True)
class Ran:
    """A paper that has been run.

    Attributes:
        paper: The paper with its recorded results.
        outcomes: What the runs gave, by claim; the page shows these if the runs were not quick.
        is_quick: Whether the runs were quick.
        folder: The directory of its studies.
        said: What quick runs say of each statement, by its id.
    """

    paper: Paper
    outcomes: Mapping[str, Outcome]
    is_quick: bool
    folder: Path
    said: Mapping[str, str] = field(default_factory=dict)

    def shown(self) -> Paper:
        """The paper with the results that its page shows: those on record, after full runs the new ones."""
        if self.is_quick:
            return self.paper
        results = replace(self.paper.results, claims={**self.paper.results.claims, **self.outcomes})
        return replace(self.paper, results=results)


def pages(every: Sequence[Ran], out: Path, say: Callable[[str], object] = lambda text: None) -> Path:
    """Write a page for each paper that has been run, and the index.

    Args:
        every: The papers that have been run.
        out: The directory of the pages and of the papers' studies.
        say: Called with the id of each paper before its page is made.

    Returns:
        The index.
    """
    entries = {}
    for ran in every:
        say(ran.paper.id)
        shown = ran.shown()
        document = of_paper(shown, out, kinds=["-quick" if ran.is_quick else ""])
        document.is_new, document.index = not ran.is_quick, index.NAME
        document.said = dict(ran.said)
        write(document, out / f"{shown.id}.html")
        study, ident = shown.figure
        titles = {
            (part.name, str(figure["id"])): str(figure.get("title") or part.study.scenario.title or ident)
            for part in document.parts
            for figure in part.study.scenario.figures()
        }
        place = (study, ident) if (study, ident) in titles else next(iter(titles), ("", ""))
        entries[shown.id] = index.Entry(
            shown,
            has_page=True,
            figure=ran.folder / place[0] / "figures" / f"{place[1]}.svg" if any(place) else None,
            caption=titles.get(place, ""),
            runs=_runs(ran.said),
        )
    for ident in known():
        if ident not in entries:
            entries[ident] = _earlier(paper(ident), out)
    path = out / index.NAME
    index.write(list(entries.values()), path, _notes(every))
    return path


def _earlier(one: Paper, out: Path) -> index.Entry:
    """A paper that was not run now, with the page and the figure of an earlier run, if there are any."""
    has_page = (out / f"{one.id}.html").is_file()
    study, ident = one.figure
    drawn = (out / f"{one.id}{kind}" / study / "figures" / f"{ident}.svg" for kind in ("", "-quick"))
    figure = next((place for place in drawn if place.is_file()), None) if has_page else None
    return index.Entry(one, has_page, figure, ident)


def _runs(said: Mapping[str, str]) -> str:
    """What quick runs say of the record, in words."""
    if not said:
        return ""
    yes, no = (sum(text.startswith(one) for text in said.values()) for one in (CONFIRMS, CONTRADICTS))
    return f"These runs confirm {yes} of {len(said)}" + (f" and contradict {no}" if no else "")


def _notes(every: Sequence[Ran]) -> list[str]:
    if not any(ran.is_quick for ran in every):
        return []
    return [
        "The figures are of quick runs, with fewer points and replications; "
        "the verdicts and numbers are on record."
    ]
