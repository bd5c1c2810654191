"""Reproduces the figures of papers and compares them with the published results.

An id such as `baselines` stands for the file `papers/<id>.claims.toml`. `papers/<id>.results.toml` has the
recorded results, which the pages `papers/<id>.md` and `papers/<id>.details.md` show.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import UsageError
from lasthop.base.quantity import duration
from lasthop.base.table import grid
from lasthop.papers import page, statements
from lasthop.papers.claims import CANNOT_TELL, PAPER, READING, VERDICTS, Finding
from lasthop.papers.measure import is_stale, judge
from lasthop.papers.published import published
from lasthop.papers.results import Outcome
from lasthop.papers.statements import STATEMENT_VERDICTS, Judged, Row
from lasthop.scenario.overrides import as_text
from lasthop.scenario.scenario import load
from lasthop.study.study import Study
from lasthop.study.sweep import Listener, Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from lasthop.papers.paper import Paper
    from lasthop.scenario.scenario import Scenario


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

    @property
    def outcomes(self) -> dict[str, Outcome]:
        """The outcomes by claim."""
        return {finding.claim.id: Outcome.of(finding) for finding in self.findings}

    def rows(self) -> list[Row]:
        """The statements with the new outcomes, and with the recorded ones under other readings."""
        return self.paper.rows(self.outcomes)

    def worse(self) -> list[str]:
        """The statements and claims whose verdict is worse than the recorded one.

        A quick run has fewer replications, so changes from or to "cannot tell" are not reported.
        """
        now = {row.statement.id: row for row in self.rows()}
        before = {row.statement.id: row for row in self.paper.rows() if self._is_on_record(row)}
        silent = {k for k in now if k in before and self._is_silent(now[k].figures, before[k].figures)}
        claims = {one.claim.id: one.verdict for one in self.findings}
        recorded = self.paper.results.verdicts
        quiet = {k for k in claims if self.quick and CANNOT_TELL in {claims[k], recorded.get(k)}}
        found = [
            *statements.worse(_verdicts(now, silent), _verdicts(before, set()), STATEMENT_VERDICTS),
            *statements.worse({k: v for k, v in claims.items() if k not in quiet}, recorded, VERDICTS),
        ]
        return list(dict.fromkeys(found))

    def _is_on_record(self, row: Row) -> bool:
        own = [c for c in self.paper.claims if c.statement == row.statement.id and c.role == PAPER]
        return all(claim.id in self.paper.results.claims for claim in own)

    def _is_silent(self, now: Judged, before: Judged) -> bool:
        return self.quick and CANNOT_TELL in {now.verdict, before.verdict}

    def as_dict(self) -> dict[str, Any]:
        """The document for `--json`."""
        return {
            "paper": self.paper.id,
            "statements": [row.as_dict() for row in self.rows()],
            "claims": [f.as_dict() for f in self.findings],
            "notes": self.notes(),
        }

    def text(self, paint: Callable[[str, str], str] = lambda text, _: text, *, claims: bool = False) -> str:
        """One line per statement or per claim."""
        rows = self._of_claims() if claims else self._of_statements()
        head = list(page.CELLS) if claims else ["statement", "where", "ours (95 % CI)", "verdict", "note"]
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

    def _of_statements(self) -> list[list[str]]:
        before = {row.statement.id: row.verdict for row in self.paper.rows()}
        worse = set(self.worse())
        rows = []
        for row in self.rows():
            ident, note = row.statement.id, ""
            if ident in worse and row.verdict != before[ident]:
                note = _than(before[ident], note)
            elif lost := [c.id for c in self.paper.claims if c.statement == ident and c.id in worse]:
                note = f"worse than recorded: {', '.join(lost)}"
            rows.append([ident, row.statement.where, page.ours(row), row.verdict, note])
        return rows

    def notes(self) -> list[str]:
        """The labels of exceptions to realism, each with the studies that have it."""
        return [f"{label}: {', '.join(studies)}" for label, studies in self.exceptions.items()]

    def summary(self) -> str:
        """The result in one sentence."""
        worse = len(self.worse()) or "none"
        return f"{self.paper.id}: {page.summary(self.rows())} Worse than recorded: {worse}."


def _verdicts(rows: Mapping[str, Row], but: set[str]) -> dict[str, str]:
    return {ident: row.verdict for ident, row in rows.items() if ident not in but}


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
    runs, seconds, unknown = 0, 0.0, []
    for one in wanted:
        for name, (count, simulated) in planned(one, quick=quick).items():
            runs += count
            if name in one.results.cost:
                seconds += one.results.cost[name] * simulated / jobs + one.results.drawing.get(name, 0.0)
            else:
                unknown.append(f"{one.id}/{name}")
    least = " or more" if unknown else ""
    return f"{runs} runs, expected to take {duration(seconds)}{least} with {jobs} workers"


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
) -> Reproduction:
    """Run the paper's studies, draw their figures and judge its claims."""
    from lasthop.figures.draw import draw
    from lasthop.figures.style import save

    result = Reproduction(one, quick, out / (one.id + ("-quick" if quick else "")))
    for name in _wanted(one, quick=quick):
        scenario, replications, where = _set_up(one, name, quick=quick)
        folder = result.folder / name
        study = Study.create(scenario, folder, replications=replications, where=where, fresh=is_stale(folder))
        Sweep(study, jobs=jobs, listener=progress()).run()
        if not study.metrics():
            raise UsageError(f"{folder}: every run failed; expected at least one to finish")
        begun = time.monotonic()
        claims = [c for c in one.claims if c.study == name]
        for figure in scenario.figures():
            marks = published(claims, figure, study)
            save(draw(study, figure, marks), folder / "figures" / f"{figure['id']}.svg")
        # A quick run judges the reading of the figures only; for the others there is the record.
        result.findings += [judge(c, study) for c in claims if not (quick and c.role == READING)]
        result.folders.append(folder)
        result.cost[name] = _cost(study)
        result.drawing[name] = time.monotonic() - begun
        for label in study.labels():
            result.exceptions.setdefault(label, []).append(name)
    order = {claim.id: place for place, claim in enumerate(one.claims)}
    result.findings.sort(key=lambda f: order[f.claim.id])
    return result


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
    return page.record(one)
