"""The pages of a paper: its statements at the top of `papers/<id>.md`, every number in `<id>.details.md`.

Both are generated from the claims file and the recorded results only; the rest of `papers/<id>.md` is
written by hand. There the recorded number of a claim stands between `<!-- CLAIM -->` and `<!-- -->`, its
negative after `<!-- -CLAIM -->`, that under a reading after `<!-- CLAIM@READING -->`; it is made anew, too.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lasthop.base.files import put
from lasthop.base.quantity import digits, metric_words
from lasthop.base.table import markdown
from lasthop.papers import results
from lasthop.papers.claims import AGREES, CANNOT_TELL, DIFFERS, OURS, PAPER, READING
from lasthop.papers.readings import recorded
from lasthop.papers.statements import BY_READING, STATEMENT_VERDICTS, best, counts, named
from lasthop.papers.switches import concerning
from lasthop.stats.power import runs_needed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from lasthop.papers.claims import Claim
    from lasthop.papers.paper import Paper
    from lasthop.papers.results import Outcome
    from lasthop.papers.statements import Row

BEGIN = "<!-- statements: written by `lasthop reproduce --record` -->"
END = "<!-- end of statements -->"
_FEW = 3
_IN_TEXT = re.compile(r"<!-- (-?)(\S+) -->.*?<!-- -->")
_QUANTITIES = {
    "mean": "{}",
    "difference": "difference in {}",
    "ratio": "ratio of {}",
    "gain": "gain in {}",
    "saving": "saving in {}",
    "order": "order by {}",
    "best": "gain of the best in {}",
}


def record(paper: Paper) -> list[Path]:
    """Write the recorded results and regenerate both pages; text written by hand is preserved."""
    results.write(paper.data, paper.results)
    page = paper.report
    text = page.read_text(encoding="utf-8") if page.is_file() else f"# {paper.title}\n"
    texts = {page: with_statements(text, paper), paper.details: details(paper)}
    for path, whole in texts.items():
        put(path, whole)
    return [paper.data, *texts]


def with_statements(text: str, paper: Paper) -> str:
    """A page with new statements, which replace the existing ones or follow the title, and new numbers."""
    text = with_numbers(text, paper)
    block = f"{BEGIN}\n\n{statements(paper)}\n\n{END}"
    if BEGIN in text and END in text:
        return re.sub(
            f"{re.escape(BEGIN)}.*?{re.escape(END)}", lambda _: block, text, count=1, flags=re.DOTALL
        )
    title, _, rest = text.partition("\n")
    return f"{title}\n\n{block}\n\n{rest.lstrip()}".rstrip() + "\n"


def with_numbers(text: str, paper: Paper) -> str:
    """A text with the recorded numbers of the claims that it names."""

    def number(found: re.Match[str]) -> str:
        sign, ident = found.groups()
        shown = paper.number(ident, paper.report.name, negative=bool(sign), half=True)
        return f"<!-- {sign}{ident} -->{shown}<!-- -->"

    return _IN_TEXT.sub(number, text)


def statements(paper: Paper) -> str:
    """The table of statements, and the reading that meets most of them."""
    every = paper.rows()
    head = ["where", "what is said", "published", "ours", "over all readings, least to greatest", "verdict"]
    body = [
        [
            row.statement.where,
            row.statement.says,
            published(row.figures.claim),
            f"{quantity(row.figures.claim)}: {ours(row)}",
            extremes(row),
            verdict(row, paper),
        ]
        for row in every
    ]
    link = f"[Every number]({paper.id}.details.md)."
    return f"{markdown(head, body)}\n\n{summary(every)}\n\n{most_met(paper, every)} {link}"


def summary(every: Sequence[Row]) -> str:
    """The number of statements by verdict.

    >>> summary([])
    '0 statements: 0 agree, 0 by reading, 0 cannot be told, 0 differ.'
    """
    agree, by_reading, cannot, differ = counts(every).values()
    told = f"{agree} agree, {by_reading} by reading, {cannot} cannot be told, {differ} differ"
    return f"{len(every)} statements: {told}."


def tally(found: Mapping[str, int]) -> str:
    """Verdicts counted in words, without those that nothing has.

    >>> tally({"agrees": 1, "by reading": 0, "cannot tell": 2, "differs": 1})
    '4 statements: 1 agrees, 2 cannot be told, 1 differs'
    >>> tally({"agrees": 1}), tally({})
    ('1 statement: 1 agrees', 'no statements')
    """
    parts = [_counted(number, verdict) for verdict, number in found.items() if number]
    total = sum(found.values())
    return f"{total} statement{'' if total == 1 else 's'}: {', '.join(parts)}" if total else "no statements"


def _counted(number: int, verdict: str) -> str:
    one, many = {
        AGREES: ("agrees", "agree"),
        BY_READING: ("agrees by another reading", "agree by another reading"),
        CANNOT_TELL: ("cannot be told", "cannot be told"),
        DIFFERS: ("differs", "differ"),
    }[verdict]
    return f"{number} {one if number == 1 else many}"


def quantity(claim: Claim) -> str:
    """What a claim measures, in words."""
    words = metric_words(claim.metric)
    if claim.among:
        words = f"share of {words}"
    return _QUANTITIES[claim.kind].format(words)


def published(claim: Claim) -> str:
    """What the paper published of a claim, with its unit and without what is accepted."""
    if claim.kind == "order":
        return ""
    expected = claim.expected.partition(" ± ")[0]
    return f"{expected} {claim.unit}".rstrip()


def most_met(paper: Paper, every: Sequence[Row]) -> str:
    """The reading that meets most statements, in words."""
    name, met, judged = best(every)
    of = len(every) if judged == len(every) else f"the {judged} that were judged under it"
    single = "The reading of the figures" if name == named({}) else f"The reading `{name}`"
    if name.startswith("search "):
        entry = paper.results.search["reading"][int(name.removeprefix("search ")) - 1]
        single += f" ({named(entry['departs'])})"
    searched = _searched(paper)
    return f"{single} is the single one that meets most statements: {met} of {of}. {searched}"


def _searched(paper: Paper) -> str:
    search = paper.results.search
    if not paper.head.get("switches"):
        return "The claims file lists no readings to combine."
    if not search:
        return "Combinations of readings have not been searched yet."
    confirmed = sum(bool(entry["confirmed"]) for entry in search["reading"])
    possible = f" of {search['possible']} possible" if "possible" in search else ""
    drawn = f"{len(search['reading'])}{possible} combinations of readings were drawn"
    return f"{drawn}, and {confirmed} of them judged by fresh seeds; what the others meet is not known."


def ours(row: Row) -> str:
    """The result under the reading of the figures; of several claims, that of the worst one."""
    shown = number(row.figures.claim, row.figures.outcome)
    if row.claims == 1 or not row.figures.outcome:
        return shown
    return f"{shown} (worst of {row.claims} claims: `{row.figures.claim.id}`)"


def extremes(row: Row) -> str:
    """The least and the greatest number over all readings, for each unit."""
    found: dict[str, list[float]] = {}
    for judged in (row.figures, *row.others.values()):
        if judged.outcome and judged.outcome.mean is not None:
            found.setdefault(judged.claim.unit, []).append(judged.outcome.mean)
    if not row.others:
        return ""
    return "; ".join(
        f"{digits(min(means), 3)} to {digits(max(means), 3)} {unit}".rstrip() for unit, means in found.items()
    )


def verdict(row: Row, paper: Paper) -> str:
    """The verdict, with the readings that meet the statement if they are few."""
    if row.verdict != BY_READING:
        return row.verdict
    under = [_what_changes(name, row, paper) for name in row.agrees_under]
    few = "; ".join(under[:_FEW]) + (f" and {len(under) - _FEW} more" if len(under) > _FEW else "")
    return f"{row.verdict} ({few})"


def _what_changes(name: str, row: Row, paper: Paper) -> str:
    """A reading by its name, and one of a search by what it changes for a statement."""
    if not name.startswith("search "):
        return name
    departs = paper.results.search["reading"][int(name.removeprefix("search ")) - 1]["departs"]
    claims = [claim for claim in paper.claims if claim.statement == row.statement.id]
    return f"{name}, {named(concerning(paper, departs, claims))}"


def number(claim: Claim, outcome: Outcome | None) -> str:
    """A measured number with its interval and unit; without one where all runs are equal."""
    if outcome is None or outcome.mean is None:
        return "–"
    interval = ""
    if outcome.low is not None and outcome.high is not None and outcome.low < outcome.high:
        interval = f" [{digits(outcome.low)}, {digits(outcome.high)}]"
    return f"{digits(outcome.mean)}{interval} {claim.unit}".rstrip()


def cells(claim: Claim, outcome: Outcome | None) -> list[str]:
    """The row of a claim: id, what is expected, ours, runs, verdict, note."""
    expected = claim.expected if claim.kind == "order" else f"{claim.expected} {claim.unit}".rstrip()
    if outcome is None:
        return [claim.id, expected, "–", "0", "not recorded", claim.note]
    return [claim.id, expected, number(claim, outcome), str(outcome.n), outcome.verdict, outcome.note]


CELLS = ("claim", "expected", "ours (95 % CI)", "n", "verdict", "note")


def details(paper: Paper) -> str:
    """The page of details: statements by claim, our own experiments, readings, claims that need more runs."""
    parts = [
        f"# {paper.title}: every number",
        f"Written by `lasthop reproduce {paper.id} --record` from [the claims]({paper.id}.claims.toml) and "
        f"[the results on record]({paper.id}.results.toml). What they mean is on [the page]({paper.id}.md).",
        *([told] if (told := models(paper)) else []),
        "## The statements, claim by claim",
        *_by_statement(paper),
    ]
    if own := [claim for claim in paper.claims if claim.role == OURS]:
        parts += [
            "## Our own experiments",
            "They judge no statement and are counted nowhere.",
            markdown(CELLS, (cells(claim, paper.results.claims.get(claim.id)) for claim in own)),
        ]
    parts += [*_readings(paper), *_search(paper), *_too_few(paper)]
    return "\n\n".join(parts) + "\n"


def models(paper: Paper) -> str:
    """The versions of the model at which the parts of the record were made, in one sentence."""
    one = paper.results
    studies = [
        name for name in paper.studies if any(c.study == name and c.id in one.claims for c in paper.claims)
    ]
    parts = {
        "claims": {name: one.models.get(f"claims.{name}") for name in studies},
        "readings": {name: one.models.get(f"readings.{name}") for name in one.readings},
        "quick runs": {"": one.models.get("quick")} if one.quick else {},
        "search": {"": one.models.get("search")} if one.search else {},
    }
    told = [f"{part} {_versions(found)}" for part, found in parts.items() if found]
    return f"Recorded at model version: {'; '.join(told)}." if told else ""


def _versions(found: Mapping[str, str | None]) -> str:
    """The versions of a part of the record, with the names of what has each if they differ.

    >>> _versions({"a": "4", "b": "4"}), _versions({"": None})
    ('4', 'not noted')
    >>> _versions({"a": "4", "b": None, "c": "4"})
    '4 (a, c), not noted (b)'
    """
    by: dict[str, list[str]] = {}
    for name, version in found.items():
        by.setdefault(version or "not noted", []).append(name)
    if len(by) == 1:
        return next(iter(by))
    return ", ".join(f"{version} ({', '.join(by[version])})" for version in sorted(by))


def _by_statement(paper: Paper) -> list[str]:
    parts = []
    for row in paper.rows():
        claims = [c for c in paper.claims if c.statement == row.statement.id and c.role in (PAPER, READING)]
        body = [
            [*cells(claim, paper.results.claims.get(claim.id)), named(claim.reading) if claim.reading else ""]
            for claim in claims
        ]
        place = f"{row.statement.where}: " if row.statement.where else ""
        parts += [f"**{place}{row.statement.says}** {row.verdict}", markdown([*CELLS, "reading"], body)]
    return parts


def _readings(paper: Paper) -> list[str]:
    found = recorded(paper)
    if not found.found:
        return []
    tables = [markdown(*one) for one in (found.by_reading(), found.by_claim())]
    return ["## Each reading by itself", *tables]


def _search(paper: Paper) -> list[str]:
    search = paper.results.search
    if not search:
        return []
    entries = sorted(
        enumerate(search["reading"], 1), key=lambda one: (not one[1]["confirmed"], -one[1]["met"], one[0])
    )
    body = [
        [str(i), named(entry["departs"]), str(entry["met"]), "yes" if entry["confirmed"] else ""]
        for i, entry in entries
    ]
    decides = [[ident, text] for ident, text in search.get("decides", {}).items()]
    return [
        "## Combinations of readings",
        f"Drawn with seed {search['seed']}, with a budget of {search['budget']} runs; {search['runs']} "
        f"were made; chosen by runs of seed {search['choice-seed']}, "
        f"confirmed by runs of seed {search['confirmation-seed']}.",
        markdown(["search", "reading", "statements met", "confirmed"], body),
        *(["What decides which statement:", markdown(["statement", "by"], decides)] if decides else []),
    ]


def _too_few(paper: Paper) -> list[str]:
    """The claims of an effect that lies within the half-width of its interval."""
    body = []
    for claim in paper.claims:
        outcome = paper.results.claims.get(claim.id)
        effect = claim.effect
        if effect is None or outcome is None or outcome.low is None or outcome.high is None:
            continue
        half = (outcome.high - outcome.low) / 2
        if half > effect:
            body.append(
                [
                    claim.id,
                    f"{digits(effect)} {claim.unit}".rstrip(),
                    f"± {digits(half)}",
                    str(outcome.n),
                    str(runs_needed(half, effect, outcome.n) * (2 if claim.halves else 1)),
                ]
            )
    if not body:
        return []
    head = ["claim", "claimed effect", "half-width", "n", "runs that would tell"]
    return ["## Where the runs cannot tell the claimed effect from none", markdown(head, body)]


def paint(text: str) -> str:
    """The colour of a verdict on a terminal."""
    colours = dict(zip(STATEMENT_VERDICTS, ("green", "cyan", "yellow", "red"), strict=True))
    return colours.get(text, "yellow")
