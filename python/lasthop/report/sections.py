"""The text parts of a page: the result, slots for the figures, and how to repeat and cite it."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from lasthop.papers import page
from lasthop.papers.claims import AGREES
from lasthop.papers.statements import counts
from lasthop.report.headline import counted, percent
from lasthop.report.markup import badge_class, code, coded, facts, notices, unbroken
from lasthop.report.topology import topology
from lasthop.study.merge import shortfall

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lasthop.papers.paper import Paper
    from lasthop.report.charts import Chart
    from lasthop.report.document import Document, Part
    from lasthop.report.headline import Headline
    from lasthop.views.gains import Gain

# The most important number of a sentence, and the interval and n that follow the sentence.
_NUMBER = re.compile(r"(?<![\w.])\d[\d.]* (?:%|times|[kMG]?bit/s|[mµn]?s)(?: (?:more|less|sooner|later))?")
_SPREAD = re.compile(r", ((?:[−\d.]+ to [−\d.]+, )?n = .*)$")
# Maximum number of gains listed below a headline.
_MOST_GAINS = 14
# A matrix with this many columns, or more bars of airtime than this, takes the full width of the page.
_WIDE = 5


def hero(document: Document) -> str:
    """The title and the result."""
    if document.paper is not None:
        return _paper(document, document.paper)
    (part,) = document.parts
    result = part.headline
    about = f'<p class="about">{unbroken(result.about)}</p>' if result.about else ""
    of = f'<p class="about">Of the figure “{escape(result.title)}”.</p>' if result.title else ""
    return (
        f'<p class="eyebrow">Study <code>{escape(part.study.scenario.id)}</code></p>'
        f"<h1>{escape(document.title)}</h1>"
        f'<p class="headline">{emphasised(result.text)}</p>{about}{of}'
        f"{gains(result)}{_numbers(part)}{notices([*_exceptions(document), *_shortfalls(part)])}"
        f"{topology(part.study.scenario)}"
    )


def emphasised(text: str) -> str:
    r"""A sentence with its first number emphasised, and its interval and n below it.

    >>> emphasised("A <b> carries 18 % more than B, 17 to 19, n = 10")
    'A &lt;b&gt; carries <em>18\xa0% more</em> than B<small>17 to 19, n\xa0=\xa010</small>'
    """
    spread = _SPREAD.search(text)
    main = text[: spread.start()] if spread else text
    found = _NUMBER.search(main)
    begin, end = found.span() if found else (0, 0)
    number = f"<em>{unbroken(main[begin:end])}</em>" if found else ""
    below = f"<small>{unbroken(spread[1])}</small>" if spread else ""
    return f"{escape(main[:begin])}{number}{escape(main[end:])}{below}"


def gains(result: Headline) -> str:
    """The gain of every alternative over the first one: its interval on a scale, and the numbers."""
    shown = result.gains[:_MOST_GAINS]
    if not shown:
        return ""
    ends = [v for one in shown for v in (one.gain.low, one.gain.high, one.gain.mean) if v is not None]
    least, most = min(0.0, *ends), max(0.0, *ends)
    room = 0.04 * (most - least) or 1.0
    rows = "".join(
        f'<tr{" class=chosen" if place == result.chosen else ""}><th scope="row">{escape(one.label)}</th>'
        f'<td class="track" aria-hidden="true"><div>{_span(one, least - room, most + room)}</div></td>'
        f"<td>{escape(percent(one))}</td><td>{one.gain.n}</td></tr>"
        for place, one in enumerate(shown)
    )
    left = len(result.gains) - len(shown)
    more = f'<p class="about">{left} more are in the figures.</p>' if left else ""
    over = escape(shown[0].over)
    heads = f'<th scope="col">against {over}</th><td></td><th scope="col">gain</th><th scope="col">n</th>'
    return (
        f'<table class="gains"><caption>Gain over {over}, with its 95 % interval</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{more}"
    )


def _span(one: Gain, least: float, most: float) -> str:
    """A gain on a scale: a bar from zero to its mean, with its interval."""

    def at(value: float) -> float:
        return 100 * (value - least) / (most - least)

    def part(name: str, left: float, right: float) -> str:
        return f'<span class="{name}" style="left:{left:.2f}%;width:{right - left:.2f}%"></span>'

    mean = one.gain.mean or 0.0
    low, high = (mean if v is None else v for v in (one.gain.low, one.gain.high))
    zero = f'<span class="zero" style="left:{at(0.0):.2f}%"></span>'
    dot = f'<span class="dot" style="left:{at(mean):.2f}%"></span>'
    stem = part("stem", at(min(0.0, mean)), at(max(0.0, mean)))
    return f"{zero}{stem}{part('span', at(low), at(high))}{dot}"


def _numbers(part: Part) -> str:
    study = part.study
    done = sum(1 for _ in study.results())
    replications = sorted({planned.replications for planned in study.plan})
    each = str(replications[0]) if len(replications) == 1 else f"{replications[0]} to {replications[-1]}"
    return facts(
        [
            ("points", str(len(study.plan))),
            ("runs", str(done) if done == study.size else f"{done} of {study.size}"),
            ("replications", each),
            ("metrics", str(len(study.metrics()))),
            ("seed", str(study.seed)),
        ]
    )


def _exceptions(document: Document) -> list[str]:
    """Notices about features of the schemes in these studies that a real protocol could not have."""
    labels = dict.fromkeys(label for part in document.parts for label in part.study.labels())
    which = "Some figures are" if len(document.parts) > 1 else "This study is"
    return [f"{which} made with an exception to realism: {label}." for label in labels]


def _shortfalls(part: Part) -> list[str]:
    """Notices about runs of a study that are missing or do not count."""
    study = part.study
    lacking = shortfall(study)
    found = [f"{lacking}."] if lacking else []
    for runs, what in ((study.failures, "failed"), (study.stopped, "stopped early at a limit")):
        if runs:
            verb = "does" if len(runs) == 1 else "do"
            found.append(f"{counted(len(runs), 'run')} {what} and {verb} not count.")
    return found


def _paper(document: Document, paper: Paper) -> str:
    rows = paper.rows()
    found = counts(rows)
    told = page.tally(found)
    runs = sum(1 for part in document.parts for _ in part.study.results())
    cited = "".join(f'<p class="about">{escape(w.text())}</p>' for w in document.works if w.id == paper.id)
    numbers = [
        ("statements", str(len(rows))),
        ("claims", str(len(paper.claims))),
        ("studies", f"{len(document.parts)} of {len(paper.studies)}"),
        ("runs", str(runs)),
    ]
    return (
        f'<p class="eyebrow">Paper <code>{escape(paper.id)}</code></p><h1>{escape(document.title)}</h1>'
        f"{_found(paper, found)}"
        f'{verdicts(found)}<p class="about">{escape(told)}. {coded(page.most_met(paper, rows))}</p>{cited}'
        f"{facts(numbers)}{notices([*_exceptions(document), *document.missing])}"
    )


def _found(paper: Paper, found: Mapping[str, int]) -> str:
    """What the paper asks, and what was found; without these the number of statements that agree."""
    if not paper.finding:
        agree, total = found[AGREES], sum(found.values())
        return f'<p class="headline"><em>{agree} of {total}</em> statements agree</p>'
    return (
        f'<p class="question">{escape(paper.question)}</p>'
        f'<p class="headline sentence">{unbroken(paper.finding)}</p>'
        f'<p class="account">{unbroken(paper.account)}</p>'
    )


def verdicts(found: Mapping[str, int]) -> str:
    """A bar of verdicts."""
    bar = "".join(
        f'<span class="{badge_class(verdict)}" style="flex-grow:{n}" title="{verdict}: {n}"></span>'
        for verdict, n in found.items()
        if n
    )
    return f'<div class="verdicts" role="img" aria-label="{escape(page.tally(found))}">{bar}</div>'


def figures(document: Document) -> str:
    """A slot for each figure, with its title and caption; those of one study are side by side."""
    groups = []
    for number, part in enumerate(document.parts):
        head = ""
        if document.paper is not None:
            title = escape(part.study.scenario.title or part.name)
            name = escape(part.name)
            head = (
                f'<h3 id="part-{name}" class="part">{title} <code>{name}</code></h3>'
                f'<p class="about">{unbroken(part.headline.text)}</p>'
            )
        cards = "".join(card(number, place, chart) for place, chart in enumerate(part.charts))
        groups.append(f'{head}<div class="figures">{cards}</div>')
    return "".join(groups) or '<p class="about">There are no figures.</p>'


def card(study: int, place: int, chart: Chart) -> str:
    """The place of a figure, with its title and what it is made of."""
    if chart["form"] == "none":
        body = notices([f"This figure cannot be drawn: {chart['error']}"])
    else:
        body = '<div class="drawing"></div>'
    about = " · ".join([str(chart.get("caption", "")), *chart.get("notes", [])])
    wide = (
        chart.get("crowded") or len(chart.get("columns", ())) >= _WIDE or len(chart.get("bars", ())) > _WIDE
    )
    return (
        f'<figure class="card{" wide" if wide else ""}" id="figure-{study}-{place}" data-study="{study}" '
        f'data-chart="{place}"><div class="head"><h3>{escape(str(chart["title"]))}</h3></div>{body}'
        f"<figcaption>{unbroken(about)}</figcaption></figure>"
    )


def versions(document: Document) -> str:
    """The versions behind the numbers, and the commands that repeat them."""
    software = document.works[0].fields
    about = [
        ("lasthop", software.get("version", "")),
        ("model", software.get("note", "").removeprefix("model ")),
    ]
    blocks = []
    if document.paper is not None:
        again = f"lasthop reproduce {document.paper.id}"
        blocks.append(code("Repeat all studies and judge the statements", again))
    for part in document.parts:
        if document.paper is None:
            about += [("build", document.build[:12])] if document.build else []
            about += [("seed", str(part.study.seed))]
            if part.is_own:
                blocks.append(
                    "<p>lasthop does not ship this scenario: save it as <code>scenario.toml</code> first. "
                    '<button type="button" id="save-scenario">Save scenario.toml</button></p>'
                )
            blocks.append(code("Repeat the study", part.command))
    return facts(about) + "".join(blocks)


def references(document: Document) -> str:
    """References as text, and for BibTeX."""
    texts = "".join(f"<li>{escape(work.text())}</li>" for work in document.works)
    entries = "\n\n".join(work.bibtex() for work in document.works)
    return f"<ul>{texts}</ul>{code('BibTeX', entries)}"
