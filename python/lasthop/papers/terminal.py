"""What `reproduce` prints: some lines for each paper, a row for each statement, a table of all papers."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from lasthop.base.quantity import digits
from lasthop.base.table import folded, grid
from lasthop.papers import page
from lasthop.papers.claims import PAPER
from lasthop.papers.confirm import CONFIRMS, CONTRADICTS, NOT_COMPARED
from lasthop.papers.reproduce import FEWEST_FOR_INTERVAL
from lasthop.papers.statements import STATEMENT_VERDICTS, counts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from lasthop.papers.claims import Finding
    from lasthop.papers.reproduce import Reproduction
    from lasthop.papers.statements import Row

    Paint = Callable[[str, str], str]

_BAR = 24
# Without colour the parts of a bar differ by their signs.
_SIGNS = dict(zip(STATEMENT_VERDICTS, "█▓?░", strict=True))
_MOST_LINES = 8


def paragraph(result: Reproduction, width: int, paint: Paint) -> str:
    """A paper in at most eight lines: title, verdicts, the finding, and what is worse than recorded."""
    paper = result.paper
    found = counts(result.rows())
    labels = "".join(f" ({label})" for label in result.exceptions)
    title = textwrap.shorten(f"{paper.id}: {paper.title}{labels}", width, placeholder=" …")
    lines = [title, *textwrap.wrap(f"{bar(found, paint)}  {_verdicts(found)}", width + 99)]
    lines += textwrap.wrap(paper.finding, width)
    if result.quick:
        lines.append(confirmed(result))
    if worse := result.worse():
        room = _MOST_LINES - len(lines)
        told = f"worse than recorded: {', '.join(worse)}"
        lines += [
            paint(line, "red")
            for line in textwrap.wrap(told, width, max_lines=max(1, room), placeholder=" …")
        ]
    return "\n".join(lines)


def bar(found: Mapping[str, int], paint: Paint) -> str:
    """The verdicts as a bar; each that occurs has at least one sign."""
    total = sum(found.values())
    return "".join(
        paint(_SIGNS[verdict] * max(1, round(_BAR * number / total)), page.paint(verdict))
        for verdict, number in found.items()
        if number
    )


def _verdicts(found: Mapping[str, int]) -> str:
    return page.tally(found).partition(": ")[2] or page.tally(found)


def confirmed(result: Reproduction) -> str:
    """What a quick run says of the record, in one line."""
    said = list(result.confirmed().values())
    if not said:
        return ""
    unlike = [ident for ident, one in result.confirmed().items() if one == CONTRADICTS]
    parts = [f"{said.count(CONFIRMS)} of {len(said)} confirmed"]
    if unlike:
        parts.append(
            f"not confirmed: {', '.join(unlike[:3])}" + (f" and {len(unlike) - 3} more" if unlike[3:] else "")
        )
    if other := said.count(NOT_COMPARED):
        parts.append(f"{other} not compared")
    return f"these runs: {', '.join(parts)}"


def statements(result: Reproduction, width: int, paint: Paint) -> str:
    """A row for each statement, wrapped to the width."""
    rows = result.rows()
    verdict = "verdict"
    if result.quick:
        verdict = "verdict (on record, n runs)"
    head = ["where", "what the paper says", "published", "ours", verdict]
    widths = [13, 0, 11, 17, 15]
    if result.quick:
        head.append("these runs")
        widths.append(15)
    worse = set(result.worse())
    recorded = {row.statement.id: row.verdict for row in result.paper.rows()}
    body = []
    for row in rows:
        claim, outcome = row.figures.claim, row.figures.outcome
        told = row.verdict
        if result.quick and outcome is not None:
            told = f"{told} (n = {outcome.n})"
        elif row.statement.id in worse:
            told = f"{told}, worse than recorded: {recorded[row.statement.id]}"
        cells = [
            row.statement.where,
            row.statement.says,
            page.published(claim),
            page.number(claim, outcome),
            told,
        ]
        if result.quick:
            cells.append(these(result, row))
        body.append(cells)
    return folded(head, body, widths, width, lambda text: _painted(text, paint))


def these(result: Reproduction, row: Row) -> str:
    """What a quick run says of a statement: of a claim that it contradicts, or else of the one shown."""
    told = result.compared()
    own = [f for f in result.findings if f.claim.statement == row.statement.id and f.claim.role == PAPER]
    worst = next((f for f in own if told[f.claim.id] == CONTRADICTS), None)
    one = worst or next((f for f in own if f.claim.id == row.figures.claim.id), None)
    said = result.confirmed()[row.statement.id]
    return f"{said}: {measured(one)}" if one else said


def measured(finding: Finding) -> str:
    """What runs gave: the mean with its interval, or of fewer than five runs the range and their number."""
    claim, ours = finding.claim, finding.ours
    if ours.mean is None:
        return "–"
    mean = digits(ours.mean / claim.scale)
    unit = f" {claim.unit}".rstrip()
    if ours.n >= FEWEST_FOR_INTERVAL and ours.low is not None and ours.high is not None:
        low, high = (digits(v / claim.scale) for v in (ours.low, ours.high))
        return f"{mean} [{low}, {high}]{unit}"
    least, most = (digits(f(finding.each) / claim.scale) if finding.each else "" for f in (min, max))
    runs = f"{least} to {most}" if least != most else ""
    return f"{mean}{unit} ({runs}{', ' if runs else ''}n = {ours.n})"


def _painted(text: str, paint: Paint) -> str:
    verdict = next((one for one in STATEMENT_VERDICTS if text.startswith(one)), "")
    if text.startswith(CONTRADICTS):
        return paint(text, "red")
    return paint(text, page.paint(verdict)) if verdict else text


def overview(results: Sequence[Reproduction]) -> str:
    """One table of all papers."""
    quick = any(result.quick for result in results)
    head = ["paper", "statements", *STATEMENT_VERDICTS, *(["confirmed", "not"] if quick else []), "worse"]
    body = []
    for result in results:
        found = counts(result.rows())
        said = list(result.confirmed().values()) if quick else []
        new = [str(said.count(CONFIRMS)), str(said.count(CONTRADICTS))] if quick else []
        body.append(
            [
                result.paper.id,
                str(sum(found.values())),
                *map(str, found.values()),
                *new,
                str(len(result.worse())),
            ]
        )
    return grid(head, body)
