"""Reproduces the figures of papers and compares them with the published results.

An id such as `baselines` stands for the file `papers/<id>.claims.toml`. `papers/<id>.results.toml` has the
recorded results, which the pages `papers/<id>.md` and `papers/<id>.details.md` show.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import UsageError
from lasthop.base.quantity import duration
from lasthop.base.table import grid
from lasthop.papers import page, statements
from lasthop.papers.claims import AGREES, DIFFERS, PAPER, READING, VERDICTS, Finding
from lasthop.papers.confirm import CONFIRMS, CONTRADICTS, NOT_COMPARED, REPEATS, compared, lost
from lasthop.papers.measure import in_parts, is_stale, judge, single_runs
from lasthop.papers.published import published
from lasthop.papers.results import Outcome, Repeated
from lasthop.papers.statements import STATEMENT_VERDICTS, Row
from lasthop.scenario.overrides import as_text
from lasthop.scenario.scenario import load
from lasthop.study.study import Study
from lasthop.study.sweep import Listener, Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from lasthop.papers.claims import Claim
    from lasthop.papers.paper import Paper
    from lasthop.scenario.scenario import Scenario


# No interval is shown of fewer runs.
FEWEST_FOR_INTERVAL = 5


@dataclass(slots=True)
class Reproduction:
    """The findings on one paper, and the directories of its studies and figures."""

    paper: Paper
    quick: bool
    folder: Path
    findings: list[Finding] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    exceptions: dict[str, list[str]] = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)
    drawing: dict[str, float] = field(default_factory=dict)
    # The number of claims that are compared together with these.
    among: int = 0

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """The outcomes by claim."""
        return {finding.claim.id: Outcome.of(finding) for finding in self.findings}

    def rows(self) -> list[Row]:
        """The statements with the new outcomes, and with the recorded ones under other readings.

        Those of a quick run are as recorded: it has too few runs for a verdict.
        """
        on_record = self.quick and self.paper.results.claims
        return self.paper.rows({} if on_record else self.outcomes)

    def worse(self) -> list[str]:
        """The statements and claims whose verdict is worse than the recorded one.

        The verdict of a quick run is that of the record. A claim is worse, and its statement with it, if the
        runs do not confirm that it agrees and their mean lies outside the accepted band.
        """
        if self.quick:
            return self._lost()
        now = {row.statement.id: row for row in self.rows()}
        before = {row.statement.id: row for row in self.paper.rows() if self._is_on_record(row)}
        claims = {one.claim.id: one.verdict for one in self.findings}
        found = [
            *statements.worse(_verdicts(now), _verdicts(before), STATEMENT_VERDICTS),
            *statements.worse(claims, self.paper.results.verdicts, VERDICTS),
        ]
        return list(dict.fromkeys(found))

    def _lost(self) -> list[str]:
        on_record = {row.statement.id: row.verdict for row in self.paper.rows()}
        compared, found = self.compared(), []
        for one in self.findings:
            claim, recorded, now = one.claim, self.paper.results.claims.get(one.claim.id), Outcome.of(one)
            if recorded is None:
                continue
            told = compared[claim.id]
            # What cannot be compared is judged by its own verdict, if the runs suffice for one.
            is_worse = told == NOT_COMPARED and (recorded.verdict, now.verdict) == (AGREES, DIFFERS)
            if is_worse or (told == CONTRADICTS and lost(claim, recorded, now)):
                found += [claim.statement] if on_record.get(claim.statement) == AGREES else []
                found.append(claim.id)
        return list(dict.fromkeys(found))

    def compared(self) -> dict[str, str]:
        """What these runs say of the record of each claim: see `confirm`."""
        recorded, among = self.paper.results.quick, self.among or len(self.findings)
        return {
            ident: compared(recorded.get(ident), now.mean, among=among)
            for ident, now in self.outcomes.items()
        }

    def confirmed(self) -> dict[str, str]:
        """What these runs say of each statement: of its claims, the worst that is said of any."""
        told = self.compared()
        found: dict[str, str] = {}
        for statement in self.paper.statements:
            claims = [c for c in self.paper.claims if c.statement == statement.id and c.role == PAPER]
            said = {told.get(claim.id, NOT_COMPARED) for claim in claims}
            found[statement.id] = next(it for it in (CONTRADICTS, CONFIRMS, NOT_COMPARED) if it in said)
        return found

    def _is_on_record(self, row: Row) -> bool:
        own = [c for c in self.paper.claims if c.statement == row.statement.id and c.role == PAPER]
        return all(claim.id in self.paper.results.claims for claim in own)

    def as_dict(self) -> dict[str, Any]:
        """The document for `--json`."""
        return {
            "paper": self.paper.id,
            "statements": [row.as_dict() for row in self.rows()],
            "claims": [f.as_dict() for f in self.findings],
            "notes": self.notes(),
        }

    def text(self, paint: Callable[[str, str], str] = lambda text, _: text) -> str:
        """One line per claim."""
        rows = self._of_claims()
        head = list(page.CELLS)
        place = head.index("verdict")
        lines = grid(head, rows).split("\n")
        for i, row in enumerate(rows, 1):
            told = row[place]
            lines[i] = lines[i].replace(f"  {told}", f"  {paint(told, page.paint(told))}", 1)
        return "\n".join([*lines, *(f"\n{note}" for note in self.notes())])

    def _of_claims(self) -> list[list[str]]:
        before, worse = self.paper.results.verdicts, set(self.worse())
        rows = []
        for finding in self.findings:
            row = page.cells(finding.claim, Outcome.of(finding))
            if finding.claim.id in worse and finding.claim.id in before:
                row[-1] = _than(before[finding.claim.id], row[-1])
            rows.append(row)
        return rows

    def notes(self) -> list[str]:
        """The labels of exceptions to realism, each with the studies that have it."""
        return [f"{label}: {', '.join(studies)}" for label, studies in self.exceptions.items()]


def _verdicts(rows: Mapping[str, Row]) -> dict[str, str]:
    return {ident: row.verdict for ident, row in rows.items()}


def _than(before: str, note: str) -> str:
    return f"worse than recorded: {before}" + (f"; {note}" if note else "")


def planned(one: Paper, *, quick: bool) -> dict[str, tuple[int, float]]:
    """For each study of a paper the number of runs, and their simulated time in seconds."""
    found = {}
    for name in _wanted(one, quick=quick):
        scenario, replications, where = _set_up(one, name, quick=quick)
        chosen = scenario.select(where)
        count = scenario.replications if replications is None else replications
        lasting = [
            scenario.numeric("run.duration", scenario.resolved(i)["run.duration"]["value"]) for i in chosen
        ]
        found[name] = len(chosen) * count, sum(one or 0.0 for one in lasting) * count
    return found


def expected(wanted: list[Paper], *, quick: bool, jobs: int) -> str:
    """The expected duration, from the recorded cost of earlier runs."""
    found = [cost(one, quick=quick, jobs=jobs) for one in wanted]
    runs, seconds = sum(it[0] for it in found), sum(it[1] for it in found)
    least = "" if all(it[2] for it in found) else " or more"
    return f"{runs} runs, expected to take {duration(seconds)}{least} with {jobs} workers"


def cost(one: Paper, *, quick: bool, jobs: int) -> tuple[int, float, bool]:
    """The runs of a paper, their expected duration in seconds, and whether all of it is on record."""
    runs, seconds, known = 0, 0.0, True
    for name, (count, simulated) in planned(one, quick=quick).items():
        runs += count
        known = known and name in one.results.cost
        seconds += one.results.cost.get(name, 0.0) * simulated / jobs + one.results.drawing.get(name, 0.0)
    return runs, seconds, known


def _wanted(one: Paper, *, quick: bool) -> list[str]:
    """The studies to run; a quick run omits those that only other readings need."""
    if not quick:
        return list(one.studies)
    only = {name for name in one.studies if all(c.role == READING for c in one.claims if c.study == name)}
    return [name for name in one.studies if name not in only]


def _set_up(one: Paper, name: str, *, quick: bool) -> tuple[Scenario, int | None, list[str]]:
    """The scenario of a study, its replications, and the conditions on its points."""
    settings = one.studies[name]
    own = settings.get("quick", {}) if quick else {}
    changes = {**settings.get("set", {}), **own.get("set", {})}
    source = paths.shipped_file(settings["scenario"])
    scenario = load(source, [(k, as_text(v)) for k, v in changes.items()])
    replications = own.get("replications", settings.get("replications"))
    return scenario, replications, [*settings.get("where", ()), *own.get("where", ())]


def reproduce(
    one: Paper,
    out: Path,
    *,
    quick: bool,
    jobs: int | None,
    progress: Callable[[], Listener],
    among: int = 0,
) -> Reproduction:
    """Run the paper's studies, draw their figures and judge its claims.

    Args:
        one: The paper.
        out: The directory of the studies of all papers.
        quick: Whether to run fewer points and replications.
        jobs: The number of workers; all cores if `None`.
        progress: Makes a listener for each study.
        among: The number of claims that a quick run compares, over all papers that are run together.
    """
    from lasthop.figures.draw import draw
    from lasthop.figures.style import save

    result = Reproduction(one, quick, out / (one.id + ("-quick" if quick else "")), among=among)
    for name in _wanted(one, quick=quick):
        folder = result.folder / name
        study = _swept(one, name, folder, jobs, progress(), quick=quick)
        begun = time.monotonic()
        claims = [c for c in one.claims if c.study == name]
        for figure in study.scenario.figures():
            marks = published(claims, figure, study)
            save(draw(study, figure, marks), folder / "figures" / f"{figure['id']}.svg")
        judged = _claims(one, name, quick=quick)
        result.findings += [_judged(c, study) if quick else judge(c, study) for c in judged]
        result.folders.append(folder)
        result.cost[name] = _cost(study)
        result.drawing[name] = time.monotonic() - begun
        for label in study.labels():
            result.exceptions.setdefault(label, []).append(name)
    order = {claim.id: place for place, claim in enumerate(one.claims)}
    result.findings.sort(key=lambda f: order[f.claim.id])
    return result


def _swept(
    one: Paper,
    name: str,
    folder: Path,
    jobs: int | None,
    listener: Listener,
    *,
    quick: bool,
    repeats: int = 1,
) -> Study:
    """A study of a paper with all its runs done, `repeats` times as many as it has."""
    scenario, replications, where = _set_up(one, name, quick=quick)
    if repeats > 1:
        replications = repeats * (scenario.replications if replications is None else replications)
    study = Study.create(scenario, folder, replications=replications, where=where, fresh=is_stale(folder))
    Sweep(study, jobs=jobs, listener=listener).run()
    if not study.metrics():
        raise UsageError(f"{folder}: every run failed; expected at least one to finish")
    return study


def _claims(one: Paper, name: str, *, quick: bool) -> list[Claim]:
    """The claims that a study judges; a quick run those under the reading of the figures only."""
    return [c for c in one.claims if c.study == name and not (quick and c.role == READING)]


def _judged(claim: Claim, study: Study) -> Finding:
    """A claim judged, with the values of single runs if they are too few for an interval."""
    found = judge(claim, study)
    return replace(found, each=single_runs(claim, study)) if found.ours.n < FEWEST_FOR_INTERVAL else found


def _cost(study: Study) -> float:
    """CPU time per simulated second, in seconds."""
    rows = [found.row for found in study.results()]
    simulated = sum(row.simulated_s for row in rows)
    return sum(row.cpu_s for row in rows) / simulated if simulated else 0.0


def record(result: Reproduction) -> list[Path]:
    """Record the outcomes and regenerate the pages; claims that no longer exist are removed."""
    one = result.paper
    found = {**one.results.claims, **result.outcomes}
    one.results.claims = {claim.id: found[claim.id] for claim in one.claims if claim.id in found}
    one.results.cost = {**one.results.cost, **result.cost}
    one.results.drawing = {**one.results.drawing, **result.drawing}
    one.results.noted(f"claims.{study}" for study in result.cost)
    return page.record(one)


def record_quick(one: Paper, out: Path, *, jobs: int | None, progress: Callable[[], Listener]) -> Path:
    """Record what quick runs give for each claim with several seeds.

    Args:
        one: The paper.
        out: The directory of the studies of all papers.
        jobs: The number of workers; all cores if `None`.
        progress: Makes a listener for each study.

    Returns:
        The file of results.
    """
    one.results.quick = {}
    for name in _wanted(one, quick=True):
        folder = out / f"{one.id}-quick-repeated" / name
        study = _swept(one, name, folder, jobs, progress(), quick=True, repeats=REPEATS)
        runs = max(len(study.replications(planned.point)) for planned in study.plan)
        parts = in_parts(study, max(1, runs // REPEATS))
        for claim in _claims(one, name, quick=True):
            values = [judge(claim, part).ours.mean for part in parts]
            if known := [value / claim.scale for value in values if value is not None]:
                one.results.quick[claim.id] = Repeated.of(known)
    one.results.noted(["quick"])
    page.record(one)
    return one.data
