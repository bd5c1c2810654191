"""The statements of a paper as a table with filters, and the claims behind each."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from lasthop.papers import page
from lasthop.papers.claims import PAPER, READING
from lasthop.papers.statements import counts, named
from lasthop.report.headline import counted
from lasthop.report.markup import badge_class, scrolling, unbroken

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping

    from lasthop.papers.claims import Claim
    from lasthop.papers.paper import Paper
    from lasthop.papers.statements import Row

_HEADS = ("where", "what the paper says", "published", "ours", "over all readings", "verdict")


def statements(
    paper: Paper, studies: Container[str], said: Mapping[str, str], *, is_new: bool = False
) -> str:
    """The statements with their verdicts, filters for the verdicts, and the claims behind each.

    Args:
        paper: The paper with its recorded results.
        studies: The names of its studies that are on the page.
        said: What quick runs say of each statement, by its id; empty if there are none.
        is_new: Whether the results are those of new runs, and not the recorded ones.

    Returns:
        A section of HTML.
    """
    rows = paper.rows()
    chips = "".join(
        f'<button type="button" class="chip {badge_class(verdict)}" data-verdict="{verdict}" '
        f'aria-pressed="false"><b>{number}</b> {verdict}</button>'
        for verdict, number in counts(rows).items()
    )
    body = "".join(_statement(paper, place, row, studies, said) for place, row in enumerate(rows))
    source = (
        "As measured by these runs; other readings as recorded."
        if is_new
        else f"As recorded by <code>lasthop reproduce {escape(paper.id)} --record</code>."
    )
    heads = _heads((*_HEADS, "these runs") if said else _HEADS)
    table = f'<table class="statements"><thead>{heads}</thead>{body}</table>'
    return (
        f'<section id="statements"><h2>Statements</h2><p class="about">{source} A statement is by reading '
        "if it agrees under another reading of the text than that of the figures.</p>"
        f'<div class="filters" role="group" aria-label="Filter statements">{chips}'
        '<label class="find"><span class="unseen">Find in statements</span>'
        '<input type="search" id="find-statement" placeholder="Find …"></label></div>'
        '<p class="unseen" role="status" id="statements-shown"></p>'
        f"{scrolling('Statements', table)}</section>"
    )


def _heads(texts: Iterable[str]) -> str:
    cells = "".join(f'<th scope="col">{text}</th>' for text in texts)
    return f"<tr>{cells}</tr>"


def _statement(paper: Paper, place: int, row: Row, studies: Container[str], said: Mapping[str, str]) -> str:
    """A statement, and the claims that determine its verdict, initially hidden."""
    claims = [c for c in paper.claims if c.statement == row.statement.id and c.role in (PAPER, READING)]
    under = page.verdict(row, paper).removeprefix(row.verdict).strip(" ()")
    more = (
        f'<button type="button" class="more" aria-expanded="false" aria-controls="claims-{place}">'
        f"{counted(len(claims), 'claim')}</button>"
    )
    of_worst = (
        f"<small>worst of {row.claims} claims: <code>{escape(row.figures.claim.id)}</code></small>"
        if row.claims > 1 and row.figures.outcome
        else ""
    )
    cells = {
        "where": escape(row.statement.where),
        "says": f"{escape(row.statement.says)} {more}",
        "published": escape(page.published(row.figures.claim)),
        "ours": unbroken(page.number(row.figures.claim, row.figures.outcome)) + of_worst,
        "readings": escape(page.extremes(row)),
        "verdict": _badge(row.verdict) + (f"<small>{escape(under)}</small>" if under else ""),
    }
    if said:
        outcome = row.figures.outcome
        cells["verdict"] += f"<small>on record, {counted(outcome.n, 'run')}</small>" if outcome else ""
        cells["runs"] = unbroken(said.get(row.statement.id, ""))
    shown = "".join(f'<td class="{name}">{text}</td>' for name, text in cells.items())
    lines = "".join(_claim(paper, claim, studies) for claim in claims)
    heads = _heads((*page.CELLS, "reading", "study"))
    table = scrolling(
        "Claims of the statement", f"<table><thead>{heads}</thead><tbody>{lines}</tbody></table>"
    )
    return (
        f'<tbody data-verdict="{row.verdict}"><tr>{shown}</tr>'
        f'<tr id="claims-{place}" class="claims" hidden><td colspan="{len(cells)}">{table}</td></tr></tbody>'
    )


def _badge(verdict: str) -> str:
    return f'<span class="badge {badge_class(verdict)}">{escape(verdict)}</span>'


def _claim(paper: Paper, claim: Claim, studies: Container[str]) -> str:
    """A claim, linked to the figures of its study if they are on the page."""
    ident, expected, ours, n, verdict, note = page.cells(claim, paper.results.claims.get(claim.id))
    reading = named(claim.reading) if claim.reading else ""
    study = escape(claim.study)
    texts = [
        f"<code>{escape(ident)}</code>",
        *map(escape, (expected, ours, n)),
        _badge(verdict),
        *map(escape, (note, reading)),
        f'<a href="#part-{study}">{study}</a>' if claim.study in studies else study,
    ]
    return f"<tr>{''.join(f'<td>{text}</td>' for text in texts)}</tr>"
