"""The page that lists all papers: for each its question, the answer, a bar of verdicts and a figure."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from lasthop.base.files import put
from lasthop.papers import page
from lasthop.papers.statements import STATEMENT_VERDICTS, counts
from lasthop.report.markup import badge_class, notices, unbroken
from lasthop.report.sections import verdicts
from lasthop.report.sheet import LIMIT, admit, sheet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from lasthop.papers.paper import Paper

NAME = "index.html"
_MEANING = {
    "agrees": "under the reading of the figures",
    "by reading": "agrees under another reading of the text",
    "cannot tell": "the runs are too few",
    "differs": "under every reading on record",
}


@dataclass(frozen=True, slots=True)
class Entry:
    """A paper on the page.

    Attributes:
        paper: The paper with the results to show.
        has_page: Whether its page has been written.
        figure: The drawn figure, or `None`.
        caption: What the figure shows.
        runs: What these runs say of the record; empty if nothing.
    """

    paper: Paper
    has_page: bool
    figure: Path | None = None
    caption: str = ""
    runs: str = ""


def html(entries: Sequence[Entry], notes: Sequence[str] = ()) -> str:
    """The page; papers with most statements come first, those without a page last."""
    ordered = sorted(entries, key=lambda one: (not one.has_page, -len(one.paper.statements)))
    found = [counts(one.paper.rows()) for one in ordered]
    total = {verdict: sum(one[verdict] for one in found) for verdict in STATEMENT_VERDICTS}
    key = "".join(
        f'<span><span class="badge {badge_class(verdict)}">{verdict}</span> {_MEANING[verdict]}</span>'
        for verdict in STATEMENT_VERDICTS
    )
    papers = "1 paper" if len(ordered) == 1 else f"{len(ordered)} papers"
    hero = (
        f'<p class="eyebrow">lasthop reproduce</p><h1>What {papers} said, and what was found</h1>'
        f'<p class="headline"><em>{total["agrees"]} of {sum(total.values())}</em> published statements agree'
        "</p>"
        f'{verdicts(total)}<p class="about">{escape(page.tally(total))}.</p>'
        f'<p class="key">{key}</p>{notices(notes)}'
    )
    room = LIMIT // max(1, len(ordered))
    parts = {
        "title": "Papers reproduced by lasthop",
        "links": "".join(f'<a href="#{escape(one.paper.id)}">{escape(one.paper.id)}</a>' for one in ordered),
        "hero": hero,
        "cards": "".join(_card(one, told, room) for one, told in zip(ordered, found, strict=True)),
    }
    return sheet("index.html", ("report.css", "index.css"), ("format.js", "theme.js"), parts)


def write(entries: Sequence[Entry], path: Path, notes: Sequence[str] = ()) -> None:
    """Write the page, completely or not at all."""
    admit(path)
    put(path, html(entries, notes))


def _card(one: Entry, found: Mapping[str, int], room: int) -> str:
    paper, name = one.paper, escape(one.paper.id)
    question = f'<p class="question">{escape(paper.question)}</p>' if paper.question else ""
    answer = f'<p class="answer">{unbroken(paper.finding)}</p>' if paper.finding else ""
    runs = f" {escape(one.runs)}." if one.runs else ""
    to = (
        f'<a href="{name}.html">All figures and numbers of {name}</a>'
        if one.has_page
        else f"Not run here: <code>lasthop reproduce {name}</code>"
    )
    return (
        f'<article class="paper" id="{name}"><h2>{escape(paper.title)}</h2>{question}{answer}'
        f'{verdicts(found)}<p class="told">{escape(page.tally(found))}.{runs}</p>'
        f'{_figure(one, room)}<p class="to">{to}</p></article>'
    )


def _figure(one: Entry, room: int) -> str:
    """The drawing in the page itself, unless it is too large."""
    if one.figure is None or not one.figure.is_file():
        return ""
    drawn = b64encode(one.figure.read_bytes()).decode()
    if len(drawn) > room:
        return ""
    alt = escape(f"Figure: {one.caption}")
    return f'<figure><img alt="{alt}" src="data:image/svg+xml;base64,{drawn}"></figure>'
