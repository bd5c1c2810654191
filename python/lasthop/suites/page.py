"""The page of a suite: the verdicts of all laws, and for each case their values beside what is demanded."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from lasthop.base.files import put
from lasthop.base.quantity import digits
from lasthop.report.markup import badge_class, coded, scrolling, unbroken
from lasthop.report.sheet import admit, sheet
from lasthop.suites import tables
from lasthop.suites.cases import PASSES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from lasthop.papers.results import Outcome
    from lasthop.suites.cases import Case, Suite
    from lasthop.suites.measured import Results

# A drawing: its width, the room of the names of laws and of the values, and the height of a row.
_WIDTH, _NAMES, _VALUES, _ROW = 560, 104, 120, 20


def write(chosen: Suite, found: Results, file: Path, known: Results | None = None) -> None:
    """Write the page, completely or not at all: the measured laws first, then those of `known`."""
    admit(file)
    put(file, html(chosen, found, known))


def html(chosen: Suite, found: Results, known: Results | None = None) -> str:
    """The page of some results, with those of `known` beside them."""
    measured, found = found.laws, found.beside(known) if known else found
    headline = tables.summary(found, measured[0]) if len(measured) == 1 else f"{len(measured)} laws"
    hero = (
        f'<p class="eyebrow">lasthop suite {escape(chosen.id)}, version {chosen.version}</p>'
        f"<h1>{escape(chosen.title)}</h1>"
        f'<p class="headline">{escape(headline)}</p>'
        f'<p class="about">{len(chosen.cases)} cases; a law is compared with {escape(chosen.standard)} '
        "over the same random numbers. Intervals are of 95 %; a case passes if the whole interval meets the "
        "demand.</p>"
        f"{scrolling('Verdicts', _matrix(chosen, found))}"
        f"<ul>{''.join(f'<li>{coded(text)}</li>' for text in chosen.left_out)}</ul>"
    )
    parts = {
        "title": f"{chosen.id}: {', '.join(measured)}",
        "links": "".join(
            f'<a href="#{escape(case.id)}">{escape(case.section)}</a>' for case in _firsts(chosen)
        ),
        "hero": hero,
        "cards": "".join(_card(case, chosen, found.outcomes[case.id]) for case in chosen.cases),
    }
    return sheet("index.html", ("report.css", "index.css", "suite.css"), ("format.js", "theme.js"), parts)


def _firsts(chosen: Suite) -> list[Case]:
    """The first case of each section."""
    return list({case.section: case for case in reversed(chosen.cases)}.values())[::-1]


def _matrix(chosen: Suite, found: Results) -> str:
    """The verdicts: a row for each case, a column for each law."""
    head = "".join(f'<th scope="col">{escape(law)}</th>' for law in found.laws)
    rows = "".join(
        f"<tr><td>{escape(case.section)}</td>"
        f'<th scope="row"><a href="#{escape(case.id)}">{escape(case.id)}</a></th>'
        + "".join(_cell(found.outcomes[case.id][law]) for law in found.laws)
        + "</tr>"
        for case in chosen.cases
    )
    passed = "".join(f"<td>{tables.count(found, law, PASSES)}</td>" for law in found.laws)
    return (
        '<table class="suite"><thead><tr><th scope="col">section</th><th scope="col">case</th>'
        f'{head}</tr></thead><tbody>{rows}<tr class="sum"><td></td><th scope="row">passed</th>'
        f"{passed}</tr></tbody></table>"
    )


def _cell(one: Outcome) -> str:
    word = tables.verdict(one)
    return f'<td class="{badge_class(one.verdict)}" title="{word}"><span>{tables.sign(one)}</span></td>'


def _card(case: Case, chosen: Suite, outcomes: Mapping[str, Outcome]) -> str:
    metric = escape(str(case.parts["metric"]))
    return (
        f'<article class="paper" id="{escape(case.id)}"><h2>{escape(case.section)} {escape(case.id)}</h2>'
        f'<p class="answer">{unbroken(case.says)}</p>'
        f'<p class="told">{escape(tables.demand(case, chosen))} in {metric}</p>'
        f"{_drawn(case, chosen, outcomes)}"
        f'<p class="to"><code>lasthop sweep {escape(case.scenario)}</code></p></article>'
    )


def _drawn(case: Case, chosen: Suite, outcomes: Mapping[str, Outcome]) -> str:
    """The values of the laws with their intervals, over the band that is demanded."""
    claim = case.claim(chosen.standard, chosen.standard)
    low, high = (
        end / claim.scale if math.isfinite(end) else None for end in (claim.band.low, claim.band.high)
    )
    ends = [end for one in outcomes.values() for end in (one.mean, one.low, one.high) if end is not None]
    every = [*ends, *(end for end in (low, high) if end is not None)]
    least, most = min(every), max(every)
    span = (most - least) or 1.0
    room = _WIDTH - _NAMES - _VALUES

    def at(number: float | None, otherwise: float) -> float:
        if number is None:
            return otherwise
        return _NAMES + 8 + (room - 16) * (number - least) / span

    begin, end = at(low, _NAMES), at(high, _NAMES + room)
    height = _ROW * len(outcomes) + 4
    band = f'<rect class="band" x="{begin:.1f}" y="0" width="{max(end - begin, 1):.1f}" height="{height}"/>'
    rows = "".join(
        _row(law, one, _ROW * number + _ROW / 2 + 2, [at(end, 0.0) for end in (one.low, one.mean, one.high)])
        for number, (law, one) in enumerate(outcomes.items())
    )
    label = escape("; ".join(f"{law} {tables.value(case, chosen, one)}" for law, one in outcomes.items()))
    size = f'viewBox="0 0 {_WIDTH} {height}"'
    return f'<svg class="cases" {size} role="img" aria-label="{label}">{band}{rows}</svg>'


def _row(law: str, one: Outcome, y: float, ends: list[float]) -> str:
    low, mean, high = ends
    drawn = ""
    if one.mean is not None:
        if one.low is not None and one.high is not None:
            drawn = f'<path d="M{low:.1f} {y}H{high:.1f}"/>'
        drawn += f'<circle cx="{mean:.1f}" cy="{y}" r="3.5"/>'
    told = f"{digits(one.mean, 3)} {tables.sign(one)}"
    return (
        f'<g class="{badge_class(one.verdict)}"><text x="0" y="{y + 4}">{escape(law)}</text>{drawn}'
        f'<text class="value" x="{_WIDTH}" y="{y + 4}">{told}</text></g>'
    )
