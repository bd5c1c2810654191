"""A paper's claims under other readings of its open choices.

`[readings.ID]` of a claims file has a `title` and the settings (`set`) for every study of the paper, or for
those in `only`. A `*` in a key stands for every flow. `per.STUDY` has further settings for one study, and
`instead.STUDY` is another scenario for it, with the same sweep. `[readings-of]` has the `replications` of
each point, settings for all readings (`set`), and the claims whose numbers are `shown` for every reading. A
study excludes points by `readings = { where = [...] }`, or all of them by `readings = { skip = true }`.

One table has the verdicts by reading and another by claim, so that a claim that agrees under one reading
only is visible as such. Readings with `beside = true` have a column of their own in the latter. `search`
combines readings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import UsageError, nearest
from lasthop.base.quantity import digits
from lasthop.base.table import grid
from lasthop.papers.claims import AGREES, PAPER, VERDICTS, Claim
from lasthop.papers.measure import is_stale, judge
from lasthop.papers.results import Outcome
from lasthop.scenario.overrides import Pairs, as_text
from lasthop.scenario.scenario import load
from lasthop.study.study import Study
from lasthop.study.sweep import Listener, Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from lasthop.papers.paper import Paper
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
        """Whether it changes a study."""
        return not self.only or study in self.only


@dataclass(slots=True)
class Readings:
    """The findings on a paper under each of its readings."""

    paper: Paper
    shown: tuple[str, ...]
    found: list[tuple[Reading, dict[str, Outcome]]] = field(default_factory=list)

    def by_reading(self) -> tuple[list[str], list[list[str]]]:
        """The number of claims by verdict under each reading, and the numbers of the shown claims."""
        rows = []
        claims = {claim.id: claim for claim in self.paper.claims}
        for reading, findings in self.found:
            verdicts = [outcome.verdict for outcome in findings.values()]
            counts = [str(verdicts.count(verdict)) for verdict in VERDICTS]
            numbers = [_number(claims[claim], findings.get(claim)) for claim in self.shown]
            rows.append([reading.id, reading.title, *counts, *numbers])
        return ["reading", "what is read", *VERDICTS, *self.shown], rows

    def by_claim(self) -> tuple[list[str], list[list[str]]]:
        """The verdicts on each claim: under the readings with a column, and the counts over all readings."""
        beside = [(reading, findings) for reading, findings in self.found if reading.beside]
        rows = []
        for claim in self.paper.claims:
            under = {r.id: found[claim.id].verdict for r, found in self.found if claim.id in found}
            if not under:
                continue
            cells = [_cell(claim, findings.get(claim.id)) for _, findings in beside]
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
                    "claims": [{"id": ident, **outcome.as_dict()} for ident, outcome in findings.items()],
                }
                for reading, findings in self.found
            ],
        }

    def text(self) -> str:
        """Both tables."""
        return "\n\n".join(grid(*table) for table in (self.by_reading(), self.by_claim()))


def _number(claim: Claim, outcome: Outcome | None) -> str:
    if outcome is None:
        return ""
    if outcome.mean is None:
        return "–"
    half = ""
    if outcome.low is not None and outcome.high is not None:
        half = f" ± {digits((outcome.high - outcome.low) / 2, 2)}"
    return f"{digits(outcome.mean, 3)}{half} {claim.unit}".rstrip()


def _cell(claim: Claim, outcome: Outcome | None) -> str:
    return f"{_number(claim, outcome)}: {outcome.verdict}" if outcome else ""


def _where(under: Mapping[str, str]) -> str:
    """The readings under which a claim agrees, by name if they are few."""
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
    """The readings of a paper's claims file, or those of these names."""
    given = paper.head.get("readings", {})
    if not given:
        raise UsageError(
            f"reproduce --readings: {paper.id} has no readings; expected [readings.ID] in its claims file"
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
    result = Readings(paper, _shown(paper))
    for reading in readings(paper, names):
        found: dict[str, Outcome] = {}
        for name, study in paper.studies.items():
            own = study.get("readings", {})
            if own.get("skip") or not reading.concerns(name):
                continue
            folder = out / f"{paper.id}-readings" / reading.id / name
            run = _run(reading, name, study, folder, head.get("replications"), jobs, progress)
            found |= {
                c.id: Outcome.of(judge(c, run)) for c in paper.claims if c.study == name and c.role == PAPER
            }
        result.found.append((reading, {ident: found[ident] for ident in known if ident in found}))
    return result


def scenario_of(reading: Reading, name: str, study: Mapping[str, Any]) -> Scenario:
    """The scenario of a study under a reading."""
    source = reading.instead.get(name, study["scenario"])
    return with_settings(source, study.get("set", {}), {**reading.settings, **reading.per.get(name, {})})[0]


def with_settings(
    source: str, first: Mapping[str, object], then: Mapping[str, object]
) -> tuple[Scenario, set[str]]:
    """A scenario with settings and further settings, in whose keys `*` stands for every flow; these keys."""
    file = paths.shipped_file(source)
    base = load(file, [(k, as_text(v)) for k, v in first.items()])
    flows = list(dict.fromkeys(base.flows().values()))
    pairs = _spelt_out(then, flows)
    return load(file, [*base.overrides, *pairs]), {key for key, _ in pairs}


def _run(
    reading: Reading,
    name: str,
    settings: Mapping[str, Any],
    folder: Path,
    replications: int | None,
    jobs: int | None,
    progress: Callable[[Reading], Listener],
) -> Study:
    study = Study.create(
        scenario_of(reading, name, settings),
        folder,
        replications=replications,
        where=[*settings.get("where", ()), *settings.get("readings", {}).get("where", ())],
        fresh=is_stale(folder),
    )
    Sweep(study, jobs=jobs, listener=progress(reading)).run()
    if not study.metrics():
        raise UsageError(f"{folder}: every run failed; expected at least one to finish")
    return study


def _spelt_out(settings: Mapping[str, object], flows: list[str]) -> Pairs:
    pairs: Pairs = []
    for key, value in settings.items():
        for flow in flows if "*" in key else [""]:
            pairs.append((key.replace("*", flow), as_text(value)))
    return pairs


def _shown(paper: Paper) -> tuple[str, ...]:
    shown = tuple(paper.head.get("readings-of", {}).get("shown", ()))
    known = [claim.id for claim in paper.claims]
    for claim in shown:
        if claim not in known:
            raise UsageError(f"{paper.id}.claims.toml: readings-of.shown: {claim}; {nearest(claim, known)}")
    return shown


def recorded(paper: Paper) -> Readings:
    """The recorded results of the paper under its readings."""
    result = Readings(paper, _shown(paper))
    if paper.results.readings:
        result.found = [
            (r, paper.results.readings[r.id]) for r in readings(paper) if r.id in paper.results.readings
        ]
    return result
