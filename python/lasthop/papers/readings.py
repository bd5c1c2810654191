"""A paper's claims under other readings of what it leaves open.

`[readings.ID]` of a claims file has a `title` and the keys that it sets in every study of the paper, or
in those of `only`; `*` in a key stands for every flow, `per.STUDY` adds what is for one study, and
`instead.STUDY` names another scenario for it, with the same sweep. `[readings-of]` says how many
`replications` each point gets, what is `set` in all, and which claims are `shown` with their numbers
for every reading. A study may leave points out by `readings = { where = [...] }`, or all of them by
`readings = { skip = true }`.

A claim that agrees under one reading only must be known as such: one table has the verdicts by reading,
another by claim. Readings that are `beside` have a column of their own in the latter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import UsageError, nearest
from lasthop.base.quantity import digits
from lasthop.base.table import grid
from lasthop.papers.claims import AGREES, DIFFERS, VERDICTS, Finding
from lasthop.papers.measure import judge
from lasthop.papers.report import ReportTable, put
from lasthop.scenario.overrides import Pairs, as_text
from lasthop.scenario.scenario import load
from lasthop.study.study import Study
from lasthop.study.sweep import Listener, Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from lasthop.papers.reproduce import Paper
    from lasthop.scenario.scenario import Scenario

_PARTS = {"title", "set", "only", "per", "instead", "beside"}
_FEW = 3


@dataclass(frozen=True, slots=True)
class Reading:
    """One reading of a paper."""

    id: str
    title: str
    settings: Mapping[str, object]
    per: Mapping[str, Mapping[str, object]]
    instead: Mapping[str, str]
    only: tuple[str, ...]
    beside: bool

    def concerns(self, study: str) -> bool:
        """Whether it makes a difference to a study."""
        return not self.only or study in self.only


@dataclass(slots=True)
class Readings:
    """The findings on a paper under each of its readings."""

    paper: Paper
    shown: tuple[str, ...]
    found: list[tuple[Reading, dict[str, Finding]]] = field(default_factory=list)

    def by_reading(self) -> tuple[list[str], list[list[str]]]:
        """How many claims agree under each reading, and the numbers of those that are shown."""
        rows = []
        for reading, findings in self.found:
            verdicts = [finding.verdict for finding in findings.values()]
            counts = [str(verdicts.count(verdict)) for verdict in VERDICTS]
            numbers = [_number(findings.get(claim)) for claim in self.shown]
            rows.append([reading.id, reading.title, *counts, *numbers])
        return ["reading", "what is read", *VERDICTS, *self.shown], rows

    def by_claim(self) -> tuple[list[str], list[list[str]]]:
        """The verdicts on each claim: under the readings set beside, and under how many of all."""
        beside = [(reading, findings) for reading, findings in self.found if reading.beside]
        rows = []
        for claim in self.paper.claims:
            under = {r.id: found[claim.id].verdict for r, found in self.found if claim.id in found}
            if not under:
                continue
            cells = [_cell(findings.get(claim.id)) for _, findings in beside]
            counts = [str(list(under.values()).count(verdict)) for verdict in VERDICTS]
            rows.append([claim.id, *cells, *counts, _where(under)])
        head = ["claim", *(f"under {reading.id}" for reading, _ in beside), *VERDICTS, "agrees under"]
        return head, rows

    def as_dict(self) -> dict[str, Any]:
        """The document for `--json`."""
        return {
            "paper": self.paper.id,
            "readings": [
                {
                    "id": reading.id,
                    "title": reading.title,
                    "claims": [finding.as_dict() for finding in findings.values()],
                }
                for reading, findings in self.found
            ],
        }

    def text(self) -> str:
        """Both tables."""
        return "\n\n".join(grid(*table) for table in (self.by_reading(), self.by_claim()))


def _number(finding: Finding | None) -> str:
    if finding is None:
        return ""
    scale, ours = finding.claim.scale, finding.ours
    if ours.mean is None:
        return "–"
    half = f" ± {digits(ours.half / scale, 2)}" if ours.half is not None else ""
    return f"{digits(ours.mean / scale, 3)}{half} {finding.claim.unit}".rstrip()


def _cell(finding: Finding | None) -> str:
    return f"{_number(finding)}: {finding.verdict}" if finding else ""


def _where(under: Mapping[str, str]) -> str:
    """The readings under which a claim agrees, by name where they are few."""
    agrees = [ident for ident, verdict in under.items() if verdict == AGREES]
    others = [ident for ident, verdict in under.items() if verdict != AGREES]
    if not agrees:
        return "none"
    if not others:
        return "all"
    if len(agrees) <= _FEW:
        return f"{', '.join(agrees)} only"
    return f"all but {', '.join(others)}" if len(others) <= _FEW else f"{len(agrees)} of {len(under)}"


def readings(paper: Paper, names: tuple[str, ...] = ()) -> list[Reading]:
    """The readings that a paper's claims file lists, or those of these names."""
    given = paper.head.get("readings", {})
    if not given:
        raise UsageError(
            f"reproduce --readings: {paper.id} has no readings; expected some in its claims file"
        )
    for name in names:
        if name not in given:
            raise UsageError(f"{name}: unknown reading; {nearest(name, given)}", argument="reading")
    return [_reading(paper, name, given[name]) for name in names or given]


def _reading(paper: Paper, name: str, given: Mapping[str, Any]) -> Reading:
    where = f"{paper.id}.claims.toml: readings.{name}"
    for part in given:
        if part not in _PARTS:
            raise UsageError(f"{where}.{part}: unknown key; {nearest(part, sorted(_PARTS))}")
    if "title" not in given:
        raise UsageError(f"{where}: no title; expected one")
    only, per, instead = tuple(given.get("only", ())), given.get("per", {}), given.get("instead", {})
    for study in (*only, *per, *instead):
        if study not in paper.studies:
            raise UsageError(f"{where}: {study}: unknown study; {nearest(study, paper.studies)}")
    beside = bool(given.get("beside", False))
    settings = {**paper.head.get("readings-of", {}).get("set", {}), **given.get("set", {})}
    return Reading(name, given["title"], settings, per, instead, only, beside)


def judge_all(
    paper: Paper,
    out: Path,
    *,
    names: tuple[str, ...] = (),
    jobs: int | None,
    progress: Callable[[Reading], Listener],
) -> Readings:
    """Run the paper's studies under each reading and judge its claims."""
    head = paper.head.get("readings-of", {})
    known = [claim.id for claim in paper.claims]
    for claim in head.get("shown", ()):
        if claim not in known:
            raise UsageError(f"{paper.id}.claims.toml: readings-of.shown: {claim}; {nearest(claim, known)}")
    result = Readings(paper, tuple(head.get("shown", ())))
    for reading in readings(paper, names):
        found: dict[str, Finding] = {}
        for name, study in paper.studies.items():
            own = study.get("readings", {})
            if own.get("skip") or not reading.concerns(name):
                continue
            folder = out / f"{paper.id}-readings" / reading.id / name
            run = _run(reading, name, study, folder, head.get("replications"), jobs, progress)
            found |= {claim.id: judge(claim, run) for claim in paper.claims if claim.study == name}
        result.found.append((reading, {ident: found[ident] for ident in known if ident in found}))
    return result


def scenario_of(reading: Reading, name: str, study: Mapping[str, Any]) -> Scenario:
    """The scenario of a study under a reading."""
    source = paths.shipped_file(reading.instead.get(name, study["scenario"]))
    base = load(source, [(k, as_text(v)) for k, v in study.get("set", {}).items()])
    flows = list(dict.fromkeys(base.flows().values()))
    settings = {**reading.settings, **reading.per.get(name, {})}
    return load(source, [*base.overrides, *_spelt_out(settings, flows)])


def _run(
    reading: Reading,
    name: str,
    settings: Mapping[str, Any],
    folder: Path,
    replications: int | None,
    jobs: int | None,
    progress: Callable[[Reading], Listener],
) -> Study:
    from lasthop.papers.reproduce import is_stale

    study = Study.create(
        scenario_of(reading, name, settings),
        folder,
        replications=replications,
        where=[*settings.get("where", ()), *settings.get("readings", {}).get("where", ())],
        fresh=is_stale(folder),
    )
    Sweep(study, jobs=jobs, listener=progress(reading)).run()
    if not study.metrics():
        raise UsageError(f"{folder}: every run failed; expected some to finish")
    return study


def _spelt_out(settings: Mapping[str, object], flows: list[str]) -> Pairs:
    pairs: Pairs = []
    for key, value in settings.items():
        for flow in flows if "*" in key else [""]:
            pairs.append((key.replace("*", flow), as_text(value)))
    return pairs


def record(result: Readings) -> None:
    """Put both tables into the report, in the place of those that are there or at its end."""
    tables = [
        ReportTable(head, rows, rf"\| {head[0]} \|[^\n]*\| {DIFFERS} \|")
        for head, rows in (result.by_reading(), result.by_claim())
    ]
    put(result.paper.report, result.paper.title, tables)
