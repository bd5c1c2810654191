"""What a paper states, one row for each statement, and whether it holds.

`[[statement]]` of a claims file has an `id`, `where` in the paper it stands, and what it `says`, in one
sentence. Its claims are those that name it. Those of the role `paper` judge it under the reading of the
figures, and it holds if all of them agree: a range, or a comparison with several others, is one statement.
Those of the role `reading` judge it under other readings. A claim of the paper that names no statement is
one by itself.

agrees       every claim agrees under the reading of the figures
by reading   not there, but under another reading on record that does as well by the text
cannot tell  under the reading of the figures nothing differs, but not everything agrees
differs      a claim differs under the reading of the figures, and no reading on record meets the statement
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
    """A statement under one reading: the verdict, and the least favourable claim."""

    verdict: str
    claim: Claim
    outcome: Outcome | None


@dataclass(frozen=True, slots=True)
class Row:
    """A statement with its outcomes: under the reading of the figures, and under the others by name."""

    statement: Statement
    figures: Judged
    others: Mapping[str, Judged]
    claims: int

    @property
    def verdict(self) -> str:
        """The verdict over all readings on record."""
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
    """The statements that a claims file lists, and those that its claims are by themselves."""
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
            raise UsageError(f"{path}: {ident}: no claim of the paper judges it; expected one or more")
    return list(found.values())


def together(claims: Iterable[Claim], outcomes: Mapping[str, Outcome]) -> Judged:
    """The verdict on claims that must all hold, with the least favourable one."""
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
    """Every statement with what is on record."""
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
        # A combination without changes is the reading of the figures, with fewer runs.
        if statement.id in entry["statements"] and entry["confirmed"] and entry["departs"]:
            others[f"search {number}"] = _searched(entry["statements"][statement.id], claims)
    return Row(statement, together(paper, results.claims), others, len(paper))


def _searched(entry: Mapping[str, Any], claims: list[Claim]) -> Judged:
    from lasthop.papers.results import outcome

    claim = next((claim for claim in claims if claim.id == entry.get("claim")), claims[0])
    return Judged(entry["verdict"], claim, outcome(entry))


def readings(claims: Iterable[Claim]) -> dict[str, list[Claim]]:
    """The claims of other readings, by reading: those that set the same switches in the same way."""
    found: dict[str, list[Claim]] = {}
    for claim in claims:
        if claim.reading:
            found.setdefault(named(claim.reading), []).append(claim)
    return found


def named(reading: Mapping[str, str]) -> str:
    """A reading in words.

    >>> named({"floor": "1 s", "rate": "2 Mbit/s"}), named({})
    ('floor: 1 s, rate: 2 Mbit/s', 'that of the figures')
    """
    return ", ".join(f"{switch}: {option}" for switch, option in reading.items()) or "that of the figures"


def counts(every: Iterable[Row]) -> dict[str, int]:
    """How many statements have each verdict."""
    verdicts = [row.verdict for row in every]
    return {verdict: verdicts.count(verdict) for verdict in STATEMENT_VERDICTS}


def best(every: Iterable[Row]) -> tuple[str, int, int]:
    """The single reading that meets most statements, how many, and of how many that were judged under it.

    A reading that was judged on some statements only counts with these; of equals the figures' comes first.
    """
    met: dict[str, list[bool]] = {}
    for row in every:
        met.setdefault(named({}), []).append(row.figures.verdict == AGREES)
        for name, judged in row.others.items():
            met.setdefault(name, []).append(judged.verdict == AGREES)
    name = max(met, key=lambda it: sum(met[it]))
    return name, sum(met[name]), len(met[name])


def worse(now: Mapping[str, str], before: Mapping[str, str], order: tuple[str, ...]) -> list[str]:
    """What has a worse verdict now than before."""
    return [
        ident
        for ident, verdict in now.items()
        if ident in before and order.index(verdict) > order.index(before[ident])
    ]
