"""The parts of a page that are text: the result, the statements, how to repeat it, how to cite it."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from lasthop.papers import page
from lasthop.papers.claims import PAPER, READING
from lasthop.papers.statements import STATEMENT_VERDICTS, counts, named
from lasthop.report.headline import counted, percent
from lasthop.views.gains import Gain

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lasthop.papers.paper import Paper
    from lasthop.papers.statements import Row
    from lasthop.report.document import Document, Part
    from lasthop.report.headline import Headline

# The number of a sentence that a reader looks for.
_NUMBER = re.compile(r"(?<![\w.])\d[\d.]* (?:%|times|[kMG]?bit/s|[mµn]?s)(?: (?:more|less|sooner|later))?")
# Gains that are listed below a headline.
_MOST_GAINS = 14


def hero(document: Document) -> str:
    """The title and the result."""
    if document.paper is not None:
        return _paper_hero(document, document.paper)
    (part,) = document.parts
    result = part.headline
    return (
        _opening("Study", part.study.scenario.id, document.title, result)
        + gains(result)
        + _facts(part)
        + notices([*part.study.labels(), *_shortfalls(part)])
    )


def _opening(what: str, ident: str, title: str, result: Headline) -> str:
    about = f'<p class="about">{escape(result.about)}</p>' if result.about else ""
    of = f'<p class="about">Of the figure “{escape(result.title)}”.</p>' if result.title else ""
    return (
        f'<p class="eyebrow">{what} <code>{escape(ident)}</code></p><h1>{escape(title)}</h1>'
        f'<p class="headline">{_emphasised(result.text)}</p>{about}{of}'
    )


def _emphasised(text: str) -> str:
    """A sentence with its first number marked.

    >>> _emphasised("A <b> carries 18 % more than B, 17 to 19, n = 10")
    'A &lt;b&gt; carries <em>18 % more</em> than B, 17 to 19, n = 10'
    """
    found = _NUMBER.search(text)
    if found is None:
        return escape(text)
    return f"{escape(text[: found.start()])}<em>{escape(found[0])}</em>{escape(text[found.end() :])}"


def gains(result: Headline) -> str:
    """Every alternative over the first one: its interval on a scale, and the numbers."""
    every = result.gains
    if len(every) < 1:
        return ""
    shown = every[:_MOST_GAINS]
    ends = [v for one in shown for v in (one.gain.low, one.gain.high, one.gain.mean) if v is not None]
    low, high = min(0.0, *ends), max(0.0, *ends)
    margin = 0.04 * (high - low) or 1.0
    low, high = low - margin, high + margin

    def at(value: float) -> str:
        return f"{100 * (value - low) / (high - low):.2f}%"

    def span(one: Gain) -> str:
        mean = one.gain.mean or 0.0
        first, last = (mean if v is None else v for v in (one.gain.low, one.gain.high))
        return (
            f'<span class="zero" style="left:{at(0.0)}"></span>'
            f'<span class="stem" style="left:{at(min(0.0, mean))};width:calc({at(max(0.0, mean))} - {at(min(0.0, mean))})">'
            f'</span><span class="span" style="left:{at(first)};width:calc({at(last)} - {at(first)})"></span>'
            f'<span class="dot" style="left:{at(mean)}"></span>'
        )

    rows = "".join(
        f'<tr{" class=chosen" if place == result.chosen else ""}><th scope="row">{escape(one.label)}</th>'
        f'<td class="track" aria-hidden="true"><div>{span(one)}</div></td>'
        f"<td>{escape(percent(one))}</td><td>{one.gain.n}</td></tr>"
        for place, one in enumerate(shown)
    )
    more = f"<p class=about>{len(every) - len(shown)} more.</p>" if len(every) > len(shown) else ""
    over = escape(every[0].over)
    return (
        f'<table class="gains"><caption>Gain over {over}, with its 95 % interval</caption><thead><tr>'
        f'<th scope="col">against {over}</th><td></td><th scope="col">gain</th><th scope="col">n</th></tr></thead>'
        f"<tbody>{rows}</tbody></table>{more}"
    )


def _facts(part: Part) -> str:
    study = part.study
    done = sum(1 for _ in study.results())
    replications = sorted({planned.replications for planned in study.plan})
    each = str(replications[0]) if len(replications) == 1 else f"{replications[0]} to {replications[-1]}"
    runs = f"{done}" if done == study.size else f"{done} of {study.size}"
    return facts(
        [
            ("points", str(len(study.plan))),
            ("runs", runs),
            ("replications", each),
            ("metrics", str(len(study.metrics()))),
            ("seed", str(study.seed)),
        ]
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """Numbers with what they count."""
    entries = "".join(f"<div><dt>{escape(name)}</dt><dd>{escape(value)}</dd></div>" for name, value in pairs)
    return f'<dl class="facts">{entries}</dl>'


def _shortfalls(part: Part) -> list[str]:
    """What of a study is missing or does not count."""
    study = part.study
    done, failed, early = sum(1 for _ in study.results()), len(study.failures), len(study.stopped)
    found = []
    if done < study.size:
        found.append(f"{study.size - done} of {study.size} runs are missing; sweep again to run them.")
    if failed:
        found.append(f"{counted(failed, 'run')} failed and {'do' if failed > 1 else 'does'} not count.")
    if early:
        found.append(
            f"{counted(early, 'run')} stopped early at a limit and {'do' if early > 1 else 'does'} not count."
        )
    return found


def notices(texts: Iterable[str]) -> str:
    """Remarks that a reader must see; text in backticks is code."""
    return "".join(f'<p class="notice" role="note">{_coded(text)}</p>' for text in texts)


def _coded(text: str) -> str:
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def _paper_hero(document: Document, paper: Paper) -> str:
    rows = paper.rows()
    found = counts(rows)
    agree = found[STATEMENT_VERDICTS[0]]
    total = len(rows)
    text = f"{agree} of {counted(total, 'statement')} agree"
    others = ", ".join(f"{number} {verdict}" for verdict, number in list(found.items())[1:])
    bar = "".join(
        f'<span class="{_slug(verdict)}" style="flex-grow:{number}" title="{verdict}: {number}"></span>'
        for verdict, number in found.items()
        if number
    )
    runs = sum(1 for part in document.parts for _ in part.study.results())
    cited = next((work.text() for work in document.works if work.id == paper.id), "")
    return (
        f'<p class="eyebrow">Paper <code>{escape(paper.id)}</code></p><h1>{escape(document.title)}</h1>'
        f'<p class="headline"><em>{escape(text)}</em>, {escape(others)}</p>'
        f'<div class="verdicts" role="img" aria-label="{escape(page.summary(rows))}">{bar}</div>'
        f'<p class="about">{_coded(page.most_met(paper, rows))}</p>'
        + (f'<p class="about">{escape(cited)}</p>' if cited else "")
        + facts(
            [
                ("statements", str(total)),
                ("claims", str(len(paper.claims))),
                ("studies", f"{len(document.parts)} of {len(paper.studies)}"),
                ("runs", str(runs)),
            ]
        )
        + notices(
            [
                *dict.fromkeys(label for part in document.parts for label in part.study.labels()),
                *document.missing,
            ]
        )
    )


def _slug(verdict: str) -> str:
    return f"verdict-{verdict.replace(' ', '-')}"


def statements(paper: Paper) -> str:
    """The statements with their verdicts, filters for these, and the claims behind each."""
    rows = paper.rows()
    found = counts(rows)
    chips = "".join(
        f'<button type="button" class="chip {_slug(verdict)}" data-verdict="{verdict}" aria-pressed="false">'
        f"<b>{number}</b> {verdict}</button>"
        for verdict, number in found.items()
    )
    body = "".join(_statement(paper, place, row) for place, row in enumerate(rows))
    heads = ("where", "what the paper says", "ours", "over all readings", "verdict")
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    return (
        '<section id="statements"><h2>Statements</h2>'
        '<p class="about">As recorded by <code>lasthop reproduce '
        f"{escape(paper.id)} --record</code>. A statement is by reading if it agrees under another reading of the text "
        "than that of the figures.</p>"
        f'<div class="filters" role="group" aria-label="Filter statements">{chips}'
        '<label class="find"><span class="unseen">Find in statements</span>'
        '<input type="search" id="find-statement" placeholder="Find …"></label></div>'
        f'<p class="unseen" role="status" id="statements-shown"></p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="Statements"><table class="statements"><thead><tr>{head}</tr></thead>{body}</table></div>'
        "</section>"
    )


def _statement(paper: Paper, place: int, row: Row) -> str:
    ident = f"statement-{place}"
    claims = [c for c in paper.claims if c.statement == row.statement.id and c.role in (PAPER, READING)]
    verdict = row.verdict
    details = page.verdict(row).removeprefix(verdict).strip(" ()")
    under = f"<small>{escape(details)}</small>" if details else ""
    cells = (
        ("where", escape(row.statement.where)),
        (
            "says",
            f"{escape(row.statement.says)} <button type=button class=more aria-expanded=false "
            f'aria-controls="{ident}">{counted(len(claims), "claim")}</button>',
        ),
        ("ours", _coded(page.ours(row))),
        ("readings", escape(page.extremes(row))),
        ("verdict", f'<span class="badge {_slug(verdict)}">{verdict}</span>{under}'),
    )
    tds = "".join(f'<td class="{name}" data-label="{name}">{text}</td>' for name, text in cells)
    head = "".join(f'<th scope="col">{text}</th>' for text in (*page.CELLS, "reading", "study"))
    lines = "".join(
        _claim(
            page.cells(claim, paper.results.claims.get(claim.id)),
            named(claim.reading) if claim.reading else "",
            claim.study,
        )
        for claim in claims
    )
    return (
        f'<tbody data-verdict="{verdict}"><tr>{tds}</tr><tr id="{ident}" class="claims" hidden><td colspan="5">'
        f'<div class="scroll" tabindex="0" role="region" aria-label="Claims of the statement"><table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table></div></td></tr></tbody>'
    )


def _claim(cells: Sequence[str], reading: str, study: str) -> str:
    ident, expected, ours, n, verdict, note = cells
    badge = f'<span class="badge {_slug(verdict)}">{escape(verdict)}</span>'
    texts = [
        f"<code>{escape(ident)}</code>",
        escape(expected),
        escape(ours),
        escape(n),
        badge,
        escape(note),
        escape(reading),
    ]
    texts.append(f'<a href="#part-{escape(study)}">{escape(study)}</a>')
    return f"<tr>{''.join(f'<td>{text}</td>' for text in texts)}</tr>"


def figures(document: Document) -> str:
    """A place for each figure, with its title and what it is made of."""
    places = []
    for number, part in enumerate(document.parts):
        if document.paper is not None and part.charts:
            places.append(
                f'<h3 id="part-{escape(part.name)}" class="part">{escape(part.study.scenario.title or part.name)} '
                f'<code>{escape(part.name)}</code></h3><p class="about">{escape(part.headline.text)}.</p>'
            )
        elif document.paper is not None:
            places.append(f'<span id="part-{escape(part.name)}"></span>')
        for place, chart in enumerate(part.charts):
            title = escape(str(chart["title"]))
            body = (
                f'<p class="notice" role="note">This figure cannot be drawn: {escape(str(chart["error"]))}</p>'
                if chart["form"] == "none"
                else '<div class="drawing"></div>'
            )
            about = " · ".join([str(chart.get("caption", "")), *chart.get("notes", [])])
            places.append(
                f'<figure class="card" id="figure-{number}-{place}" data-study="{number}" data-chart="{place}">'
                f"<h3>{title}</h3>{body}<figcaption>{escape(about)}</figcaption></figure>"
            )
    return "".join(places)


def versions(document: Document) -> str:
    """The versions behind the numbers, and the commands that repeat them."""
    blocks = []
    if document.paper is not None:
        blocks.append(
            code("Repeat all studies and judge the statements", f"lasthop reproduce {document.paper.id}")
        )
    software = document.works[0].fields
    about = [
        ("lasthop", software.get("version", "")),
        ("model", software.get("note", "").removeprefix("model ")),
    ]
    if document.paper is None:
        (part,) = document.parts
        if part.file != part.study.scenario.id:
            blocks.append(
                "<p>The scenario is not one that lasthop ships: save it as <code>scenario.toml</code> first. "
                '<button type="button" id="save-scenario">Save scenario.toml</button></p>'
            )
        blocks.append(code("Repeat the study", part.command))
        build = part.study.build[:12]
        about += [("build", build)] if build else []
        about += [("seed", str(part.study.seed))]
    return facts(about) + "".join(blocks)


def code(label: str, text: str) -> str:
    """Code with a button that copies it."""
    return (
        f'<div class="code"><h3>{escape(label)}</h3><pre tabindex="0" aria-label="{escape(label)}">{escape(text)}</pre>'
        f'<button type="button" class="copy" aria-label="Copy: {escape(label)}">Copy</button></div>'
    )


def references(document: Document) -> str:
    """References as text, and for BibTeX."""
    texts = "".join(f"<li>{escape(work.text())}</li>" for work in document.works)
    entries = "\n\n".join(work.bibtex() for work in document.works)
    return f"<ul>{texts}</ul>{code('BibTeX', entries)}"
