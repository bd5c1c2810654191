"""The statements of a paper, and whether they hold.

`[[statement]]` of a claims file has an `id`, its place in the paper (`where`), and its content in one
sentence (`says`). The claims with this id as their `statement` judge it. Those of the role `paper` do so
under the reading of the figures, where all of them must agree (a range, or a comparison with several others,
is one statement). Those of the role `reading` do so under other readings. A claim of the paper without a
`statement` is a statement of its own.

agrees       every claim agrees under the reading of the figures
by reading   otherwise, if every claim agrees under another recorded reading that fits the text as well
cannot tell  under the reading of the figures no claim differs, but not all agree
differs      a claim differs under the reading of the figures, and no recorded reading meets the statement;
             one that was not tried may
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError, nearest
from lasthop.papers.claims import AGREES, CANNOT_TELL, DIFFERS, PAPER, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from lasthop.papers.claims import Claim
    from lasthop.papers.results import Outcome, Results

BY_READING = "by reading"
STATEMENT_VERDICTS = (AGREES, BY_READING, CANNOT_TELL, DIFFERS)
MOST = 60

Switches = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Statement:
    """One published statement."""

    id: str
    where: str
    says: str


@dataclass(frozen=True, slots=True)
class Judged:
    """A statement under one reading: the verdict, and its worst claim."""

    verdict: str
    claim: Claim
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Row:
    """A statement with its results: under the reading of the figures, and under the others by name."""

    statement: Statement
    figures: Judged
    others: Mapping[str, Judged]
    claims: int

    @property
    def verdict(self) -> str:
        """The verdict over all recorded readings."""
        if self.figures.verdict == AGREES:
            return AGREES
        return BY_READING if self.agrees_under else self.figures.verdict

    @property
    def agrees_under(self) -> list[str]:
        """The other readings that meet the statement."""
        return [name for name, judged in self.others.items() if judged.verdict == AGREES]

    def as_dict(self) -> dict[str, Any]:
        """The statement as `reproduce --json` prints it."""
        ours = self.figures.outcome
        return {
            "id": self.statement.id,
            "where": self.statement.where,
            "says": self.statement.says,
            "verdict": self.verdict,
            "agrees_under": self.agrees_under,
            "ours": {**(ours.as_dict() if ours else {}), "unit": self.figures.claim.unit},
        }


def read(path: Path, entries: Iterable[Mapping[str, Any]], claims: Iterable[Claim]) -> list[Statement]:
    """The statements listed in a claims file, and those that are single claims."""
    found: dict[str, Statement] = {}
    for entry in entries:
        where = f"{path}: {entry.get('id', 'statement')}"
        for name in ("id", "where", "says"):
            if not isinstance(entry.get(name), str):
                raise UsageError(f"{where}: no {name}; expected text")
        if unknown := sorted(set(entry) - {"id", "where", "says"}):
            raise UsageError(f"{where}: {unknown[0]}: unknown key; expected id, where, says")
        if entry["id"] in found:
            raise UsageError(f"{where}: listed twice; expected unique ids")
        found[entry["id"]] = Statement(entry["id"], entry["where"], entry["says"])
    for claim in claims:
        if claim.statement and claim.statement not in found:
            if claim.statement != claim.id:
                raise UsageError(f"{path}: {claim.id}: statement: {nearest(claim.statement, found)}")
            found[claim.id] = Statement(claim.id, "", claim.text)
    judged = {claim.statement for claim in claims if claim.role == PAPER}
    for ident in found:
        if ident not in judged:
            raise UsageError(
                f"{path}: {ident}: no claim of the role paper has this statement; expected at least one"
            )
    return list(found.values())


def together(claims: Iterable[Claim], outcomes: Mapping[str, Outcome]) -> Judged:
    """The verdict on claims that must all hold, with the worst claim."""
    every = [(claim, outcomes.get(claim.id)) for claim in claims]

    def badness(one: tuple[Claim, Outcome | None]) -> tuple[int, float]:
        claim, outcome = one
        if outcome is None:
            return VERDICTS.index(CANNOT_TELL), 0.0
        mean = None if outcome.mean is None else outcome.mean * claim.scale
        return VERDICTS.index(outcome.verdict), claim.band.shortfall(mean)

    claim, outcome = max(every, key=badness)
    return Judged(outcome.verdict if outcome else CANNOT_TELL, claim, outcome)


def rows(statements: Iterable[Statement], claims: Iterable[Claim], results: Results) -> list[Row]:
    """Every statement with its recorded results."""
    of: dict[str, list[Claim]] = {}
    for claim in claims:
        of.setdefault(claim.statement, []).append(claim)
    return [_row(statement, of[statement.id], results) for statement in statements]


def _row(statement: Statement, claims: list[Claim], results: Results) -> Row:
    paper = [claim for claim in claims if claim.role == PAPER]
    others: dict[str, Judged] = {}
    for name, under in readings(claims).items():
        if any(claim.id in results.claims for claim in under):
            others[name] = together(under, results.claims)
    for name, outcomes in results.readings.items():
        if all(claim.id in outcomes for claim in paper):
            others[name] = together(paper, outcomes)
    for number, entry in enumerate(results.search.get("reading", ()), 1):
        # Without departures it is the reading of the figures, with fewer runs than are recorded for it.
        if statement.id in entry["statements"] and entry["confirmed"] and entry["departs"]:
            others[f"search {number}"] = _searched(entry["statements"][statement.id], claims)
    return Row(statement, together(paper, results.claims), others, len(paper))


def _searched(entry: Mapping[str, Any], claims: list[Claim]) -> Judged:
    from lasthop.papers.results import outcome

    claim = next((claim for claim in claims if claim.id == entry.get("claim")), claims[0])
    return Judged(entry["verdict"], claim, outcome(entry))


def readings(claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    """The claims of other readings, by reading: those with the same options of the same switches."""
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        if claim.reading:
            found.setdefault(named(claim.reading), []).append(claim)
    return found


def named(reading: Mapping[str, str]) -> str:
    """A reading as text.

    >>> named({"floor": "1 s", "rate": "2 Mbit/s"}), named({})
    ('floor: 1 s, rate: 2 Mbit/s', 'that of the figures')
    """
    return ", ".join(f"{switch}: {option}" for switch, option in reading.items()) or "that of the figures"


def counts(every: Iterable[Row]) -> dict[str, int]:
    """The number of statements with each verdict."""
    verdicts = [row.verdict for row in every]
    return {verdict: verdicts.count(verdict) for verdict in STATEMENT_VERDICTS}


def best(every: Iterable[Row]) -> tuple[str, int, int]:
    """The single reading that meets most statements, their number, and the number judged under it.

    A reading under which only some statements were judged counts with these; the reading of the figures wins
    a tie.
    """
    met: dict[str, list[bool]] = {}
    for row in every:
        met.setdefault(named({}), []).append(row.figures.verdict == AGREES)
        for name, judged in row.others.items():
            met.setdefault(name, []).append(judged.verdict == AGREES)
    name = max(met, key=lambda it: sum(met[it]))
    return name, sum(met[name]), len(met[name])


def worse(now: Mapping[str, str], before: Mapping[str, str], order: tuple[str, ...]) -> list[str]:
    """The ids whose verdict is worse now than before."""
    return [
        ident
        for ident, verdict in now.items()
        if ident in before and order.index(verdict) > order.index(before[ident])
    ]
