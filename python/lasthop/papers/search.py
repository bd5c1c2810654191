"""Random combinations of readings, and the one that meets most of a paper's statements.

`[search]` of a claims file has a `seed` and a budget (`runs`). It has the replications of each point for the
choice (`replications`) and for the confirmation (`confirmed`), and the number of combinations to confirm: of
those that met most statements (`best`), and of those that met a statement that the figures did not (`each`).
Its `set` has settings for all runs, such as a shorter duration. A study may have `search = { skip = true }`
or its own `set` and `where`; otherwise those of its quick run apply.

Half of the budget is for the choice: combinations are drawn and run a few times, and the statements whose
means lie in their bands are counted. The other half is for the confirmation with runs of another seed,
because the best of many combinations after few runs is the best partly by chance. Confirmed are those that
met most statements, and for each statement that the reading of the figures did not meet several that did, as
far as the budget suffices. No other combination is judged. Combinations with the same settings for a study
share its runs.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError, nearest
from lasthop.base.table import grid
from lasthop.papers import page
from lasthop.papers.claims import AGREES
from lasthop.papers.measure import is_stale, judge
from lasthop.papers.readings import with_settings
from lasthop.papers.results import Outcome
from lasthop.papers.statements import named, together
from lasthop.papers.switches import Switch, answering, changes, combinations, switches, without
from lasthop.scenario.overrides import parse_where, same
from lasthop.study.study import Study
from lasthop.study.sweep import Listener, Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from lasthop.papers.claims import Claim, Finding
    from lasthop.papers.paper import Paper
    from lasthop.papers.statements import Judged
    from lasthop.scenario.scenario import Scenario

CHOICE, CONFIRMATION = "choice", "confirmation"
_PARTS = {"seed": 1, "runs": 2000, "replications": 2, "confirmed": 20, "best": 5, "each": 3, "set": {}}
# Far from the seeds of the scenarios, and from each other.
_SEEDS = {CHOICE: 1_000_000, CONFIRMATION: 2_000_000}


@dataclass(slots=True)
class Drawn:
    """A combination: the statements that it met in the choice, and the verdicts of its confirmation."""

    switches: dict[str, str]
    chosen: dict[str, bool]
    confirmed: dict[str, Judged] = field(default_factory=dict)

    @property
    def met(self) -> int:
        """The number of statements that it meets: by the confirmation, or else by the choice."""
        if self.confirmed:
            return sum(judged.verdict == AGREES for judged in self.confirmed.values())
        return sum(self.chosen.values())


@dataclass(slots=True)
class Search:
    """The result of a search."""

    paper: Paper
    switches: dict[str, Switch]
    seed: int
    budget: int
    runs: int = 0
    drawn: list[Drawn] = field(default_factory=list)

    def ranked(self) -> list[Drawn]:
        """The combinations: confirmed ones first, then by the number of statements that they meet."""
        return sorted(self.drawn, key=lambda one: (not one.confirmed, -one.met))

    def decides(self) -> dict[str, str]:
        """For each statement that only some combinations met, the switch with the largest effect on it."""
        found = {}
        for statement in self.paper.statements:
            met = [one.chosen.get(statement.id, False) for one in self.drawn]
            if any(met) and not all(met):
                found[statement.id] = _telling(statement.id, self.switches, self.drawn)
        return {ident: text for ident, text in found.items() if text}

    def departures(self, one: Drawn) -> str:
        """The options of a combination that are not those of the figures."""
        return named(self._departs(one))

    def _departs(self, one: Drawn) -> dict[str, str]:
        return {k: v for k, v in one.switches.items() if v != self.switches[k].first}

    def as_dict(self) -> dict[str, Any]:
        """The search as recorded and as printed by `--json`."""
        entries = []
        for one in self.ranked():
            entry: dict[str, Any] = {
                "switches": one.switches,
                "departs": self._departs(one),
                "met": one.met,
                "confirmed": bool(one.confirmed),
            }
            entry["chosen-by"] = sum(one.chosen.values())
            entry["statements"] = {
                ident: {"claim": judged.claim.id, **judged.outcome.as_dict(), "verdict": judged.verdict}
                for ident, judged in one.confirmed.items()
                if judged.outcome
            }
            entries.append(entry)
        return {
            "seed": self.seed,
            "budget": self.budget,
            "runs": self.runs,
            "choice-seed": _SEEDS[CHOICE] + self.seed,
            "confirmation-seed": _SEEDS[CONFIRMATION] + self.seed,
            "possible": math.prod(len(switch.options) for switch in self.switches.values()),
            "decides": self.decides(),
            "reading": entries,
        }

    def text(self) -> str:
        """The combinations that meet most statements, and the switches that decide about statements."""
        of = len(self.drawn[0].chosen)
        rows = [
            [
                self.departures(one),
                f"{sum(one.chosen.values())} of {of}",
                f"{one.met} of {of}" if one.confirmed else "",
            ]
            for one in self.ranked()[:20]
        ]
        tables = [grid(["reading", "by the choice", "confirmed"], rows)]
        if decides := self.decides():
            tables.append(grid(["statement", "decided by"], [list(pair) for pair in decides.items()]))
        return "\n\n".join(tables)

    def summary(self) -> str:
        """The result in one sentence."""
        best = self.ranked()[0]
        done = f"{self.paper.id}: {len(self.drawn)} combinations in {self.runs} runs"
        meets = f"{best.met} of {len(best.chosen)} statements{', confirmed' if best.confirmed else ''}"
        return f"{done}; best is {self.departures(best)} with {meets}."


def _telling(statement: str, every: Mapping[str, Switch], drawn: list[Drawn]) -> str:
    """The switch whose options differ most in the share of combinations that met a statement."""
    best, text = 0.0, ""
    for name, switch in every.items():
        shares: dict[str, tuple[int, int]] = {}
        for option in switch.options:
            met = [one.chosen.get(statement, False) for one in drawn if one.switches[name] == option]
            if met:
                shares[option] = sum(met), len(met)
        parts = [a / b for a, b in shares.values()]
        if len(parts) > 1 and max(parts) - min(parts) > best:
            best = max(parts) - min(parts)
            told = ", ".join(f"{option} {a} of {b}" for option, (a, b) in shares.items())
            text = f"{name}: {told}"
    return text


def search(
    paper: Paper,
    out: Path,
    *,
    jobs: int | None,
    seed: int | None = None,
    runs: int | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> Search:
    """Draw combinations, choose the best after a few runs of each, and confirm these with other seeds."""
    every = switches(paper)
    if not every:
        raise UsageError(
            f"reproduce --search: {paper.id} has no switches; expected [switches.NAME] in its claims file"
        )
    settings = _settings(paper)
    result = Search(
        paper, every, settings["seed"] if seed is None else seed, settings["runs"] if runs is None else runs
    )
    trial = _Trial(paper, every, out / f"{paper.id}-search", jobs, settings["set"])
    stage = _Stage(CHOICE, _SEEDS[CHOICE] + result.seed, settings["replications"])
    for chosen in combinations(every, result.seed):
        cost = trial.cost(chosen, stage)
        if result.drawn and result.runs + cost > result.budget / 2:
            break
        result.runs += cost
        met = {ident: _meets(found) for ident, found in trial.judge(chosen, stage).items()}
        result.drawn.append(Drawn(chosen, met))
        say(
            f"{result.departures(result.drawn[-1])}: {sum(met.values())} "
            f"({result.runs} of {result.budget} runs)"
        )
    stage = _Stage(CONFIRMATION, _SEEDS[CONFIRMATION] + result.seed, settings["confirmed"])
    for one in _worth(result, settings["best"], settings["each"]):
        cost = trial.cost(one.switches, stage)
        if result.runs + cost > result.budget:
            missing = result.runs + cost - result.budget
            say(f"{result.departures(one)}: not confirmed; {missing} runs above the budget")
            continue
        result.runs += cost
        findings = trial.judge(one.switches, stage)
        one.confirmed = {
            ident: together((f.claim for f in found), {f.claim.id: Outcome.of(f) for f in found})
            for ident, found in findings.items()
        }
        say(f"{result.departures(one)}: {one.met} confirmed ({result.runs} of {result.budget} runs)")
    return result


def record(result: Search) -> list[Path]:
    """Record a search and regenerate the pages."""
    result.paper.results.search = result.as_dict()
    result.paper.results.noted(["search"])
    return page.record(result.paper)


def _settings(paper: Paper) -> dict[str, Any]:
    given = paper.head.get("search", {})
    for part, value in given.items():
        where = f"{paper.id}.claims.toml: search.{part}"
        if part not in _PARTS:
            raise UsageError(f"{where}: unknown key; {nearest(part, sorted(_PARTS))}")
        if type(value) is not type(_PARTS[part]) or (isinstance(value, int) and value < 1):
            raise UsageError(
                f"{where}: {value}; expected {'a table' if part == 'set' else 'a number above zero'}"
            )
    return {**_PARTS, **given}


def _meets(findings: Iterable[Finding]) -> bool:
    """Whether every mean lies in its band; with two runs, intervals are too wide to judge."""
    return all(f.ours.mean is not None and f.claim.band.holds(f.ours.mean) for f in findings)


def _worth(result: Search, best: int, each: int) -> list[Drawn]:
    """The combinations to confirm: that of the figures, the best, and some for each statement it misses."""
    figures, ranked = result.drawn[0], result.ranked()
    chosen = [figures, *(one for one in ranked if one is not figures)][: best + 1]
    for statement in result.paper.statements:
        if not figures.chosen.get(statement.id):
            meeting = [one for one in ranked if one.chosen.get(statement.id)]
            chosen += [one for one in meeting[:each] if one not in chosen]
    return chosen


@dataclass(frozen=True, slots=True)
class _Stage:
    name: str
    seed: int
    replications: int


class _Trial:
    """Runs a paper's studies under combinations; equal settings of a study are run once."""

    def __init__(
        self,
        paper: Paper,
        every: Mapping[str, Switch],
        folder: Path,
        jobs: int | None,
        settings: Mapping[str, Any],
    ) -> None:
        self._paper, self._every, self._folder, self._jobs, self._set = paper, every, folder, jobs, settings
        self._done: set[tuple[str, str, int]] = set()

    def cost(self, chosen: Mapping[str, str], stage: _Stage) -> int:
        """The number of runs that a combination needs in addition to those of earlier ones."""
        runs = 0
        for name, claims in self._claims(chosen).items():
            scenario, keys, digest = self._scenario(name, chosen)
            needed = _needed(scenario, [without(c, keys) for c in claims], self._where(name, keys))
            runs += (
                sum((digest, stage.name, point) not in self._done for point in needed) * stage.replications
            )
        return runs

    def judge(self, chosen: Mapping[str, str], stage: _Stage) -> dict[str, list[Finding]]:
        """The findings on each statement under a combination."""
        found: dict[str, list[Finding]] = {statement.id: [] for statement in self._paper.statements}
        for name, claims in self._claims(chosen).items():
            scenario, keys, digest = self._scenario(name, chosen)
            own = [without(claim, keys) for claim in claims]
            folder = self._folder / stage.name / f"{name}-{digest}"
            study = Study.create(
                scenario,
                folder,
                replications=stage.replications,
                seed=stage.seed,
                where=self._where(name, keys),
                fresh=is_stale(folder),
            )
            needed = _needed(scenario, own, self._where(name, keys))
            study.plan = [planned for planned in study.plan if planned.point in needed]
            Sweep(study, jobs=self._jobs, listener=Listener()).run()
            self._done |= {(digest, stage.name, point) for point in needed}
            for claim in own:
                found[claim.statement].append(judge(claim, study))
        return {ident: findings for ident, findings in found.items() if findings}

    def _claims(self, chosen: Mapping[str, str]) -> dict[str, list[Claim]]:
        """The claims that judge the statements under a combination, by study."""
        of: dict[str, list[Claim]] = {}
        for claim in self._paper.claims:
            of.setdefault(claim.statement, []).append(claim)
        found: dict[str, list[Claim]] = {}
        for statement in self._paper.statements:
            claims = answering(self._every, of[statement.id], chosen)
            # A statement is judged only if all of its studies are run.
            if not any(self._own(claim.study).get("skip") for claim in claims):
                for claim in claims:
                    found.setdefault(claim.study, []).append(claim)
        return found

    def _own(self, name: str) -> Mapping[str, Any]:
        study = self._paper.studies[name]
        own: Mapping[str, Any] = study.get("search", study.get("quick", {}))
        return own

    def _where(self, name: str, keys: set[str]) -> list[str]:
        """The conditions on the points of a study, without those on keys that a combination sets."""
        given = [*self._paper.studies[name].get("where", ()), *self._own(name).get("where", ())]
        parts = [part for item in given for part in item.split(" and ")]
        return [part for part in parts if parse_where([part])[0].key not in keys]

    def _scenario(self, name: str, chosen: Mapping[str, str]) -> tuple[Scenario, set[str], str]:
        """The scenario of a study under a combination, the keys that this sets, and a digest of both."""
        study = self._paper.studies[name]
        settings, instead = changes(self._every, chosen, name)
        first = {**study.get("set", {}), **self._set, **self._own(name).get("set", {})}
        source = instead or study["scenario"]
        scenario, keys = with_settings(source, first, settings)
        told = json.dumps([source, scenario.overrides], sort_keys=True)
        return scenario, keys, blake2b(told.encode(), digest_size=6).hexdigest()


def _needed(scenario: Scenario, claims: Iterable[Claim], where: list[str]) -> list[int]:
    """The points that the claims use, among those that satisfy the conditions."""
    points, chosen = scenario.points(), scenario.select(where)
    every = list(claims)
    return [i for i in chosen if any(_concerns(claim, points[i], scenario) for claim in every)]


def _concerns(claim: Claim, point: Mapping[str, str], scenario: Scenario) -> bool:
    numeric = scenario.numeric

    def has(wanted: Mapping[str, str]) -> bool:
        return all(key in point and same(key, point[key], value, numeric) for key, value in wanted.items())

    if not all(any(has({key: value}) for value in values) for key, values in claim.at.items()):
        return False
    if claim.best:
        sides = (claim.best, claim.over)
        return any(all(one.holds(point, numeric) for one in parse_where([side])) for side in sides)
    if claim.key and not any(has({claim.key: value}) for value in claim.order):
        return False
    return has(claim.this) or has(claim.that)
