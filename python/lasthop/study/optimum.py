"""The values of keys at which a metric is best: trials that optuna proposes, confirmed with other seeds.

A trial is the scenario with other values. Its objective is the mean of the metric over the points and
replications, which are the same in all trials. All runs are in the ledger of one study, and the proposals
follow from the seed and the objectives before them. The same command repeats a search from its ledger, so one
that was interrupted continues, and one with more trials extends it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop.base.arguments import MOST_SEED, flag, instance, nonblank, place, whole, words
from lasthop.base.errors import LasthopError, ScenarioError, UsageError, listing
from lasthop.base.quantity import human, metric_unit, prefix, united
from lasthop.base.table import grid
from lasthop.scenario.overrides import as_text
from lasthop.scenario.scenario import Scenario, under
from lasthop.stats.intervals import Interval, difference, interval
from lasthop.study.study import Study
from lasthop.study.sweep import Listener, Sweep

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

NUMBER = r"-?\d+(?:\.\d+)?(?:[eE]-?\d+)?"
RANGE = re.compile(rf"(log:)?\s*({NUMBER})\s*([^\d\s.][^.]*?)?\s*\.\.\s*({NUMBER})\s*(.*?)\s*")
FORMS = '0.1..2, "10 ms..200 ms", log:0.01..1 or red|codel'
NOT_OF_THE_SCHEME = ("title", "summary", "paper", "format", "run.seed", "run.replications")
CONFIRM_SEED = 1_000_003
"""The distance from the seed of the choice to that of the confirmation."""
FIRST = 10
"""Trials at random before the sampler learns from them."""


@dataclass(frozen=True, slots=True)
class Range:
    """The values of a key among which a search chooses.

    Attributes:
        key: The key.
        low: The least number, in `unit`.
        high: The largest number.
        unit: The unit of both, or nothing.
        is_log: Whether the logarithm is searched evenly.
        is_whole: Whether only whole numbers are proposed.
        choices: The values instead of numbers.
    """

    key: str
    low: float = 0.0
    high: float = 0.0
    unit: str = ""
    is_log: bool = False
    is_whole: bool = False
    choices: tuple[str, ...] = ()

    @classmethod
    def of(cls, key: str, text: str) -> Range:
        """Read a range.

        >>> Range.of("k", "10 ms..200 ms")
        Range(key='k', low=10.0, high=200.0, unit='ms', is_log=False, is_whole=True, choices=())
        >>> Range.of("k", "log:0.01..1").is_log, Range.of("k", "a|b").choices
        (True, ('a', 'b'))
        """
        found = RANGE.fullmatch(text.strip())
        if found:
            log, low, unit, high, last = found.groups()
            if unit and last and unit != last:
                raise UsageError(f'{key}: "{text}" has two units; expected one', argument="over")
            made = cls(
                key,
                float(low),
                float(high),
                last or unit or "",
                is_log=bool(log),
                is_whole=all(re.fullmatch(r"-?\d+", end) for end in (low, high)),
            )
            if not made.low < made.high or (made.is_log and made.low <= 0):
                least = "0 < LOW < HIGH" if made.is_log else "LOW < HIGH"
                raise UsageError(f'{key}: "{text}"; expected {least}', argument="over")
            return made
        choices = tuple(part.strip() for part in text.split("|"))
        if len(choices) < 2 or not all(choices) or len(set(choices)) < len(choices):
            raise UsageError(f'{key}: "{text}"; expected a range such as {FORMS}', argument="over")
        return cls(key, choices=choices)

    def ends(self) -> tuple[str, ...]:
        """The values whose legality is that of all."""
        return self.choices or (self.text(self.low), self.text(self.high))

    def text(self, number: float) -> str:
        """A number as a value of the key."""
        shown = str(int(number)) if self.is_whole else f"{number:.6g}"
        return f"{shown} {self.unit}".strip()

    def distribution(self, optuna: Any) -> Any:
        """What optuna calls it."""
        d = optuna.distributions
        if self.choices:
            return d.CategoricalDistribution(self.choices)
        if self.is_whole:
            return d.IntDistribution(int(self.low), int(self.high), log=self.is_log)
        return d.FloatDistribution(self.low, self.high, log=self.is_log)

    def number(self, text: str) -> float | str | None:
        """A value of the key in the unit of the range, if it is inside and has this unit."""
        if self.choices:
            return text if text in self.choices else None
        found = re.fullmatch(rf"({NUMBER})\s*(.*)", text)
        if not found or found[2] != self.unit:
            return None
        value = float(found[1])
        is_inside = self.low <= value <= self.high and (not self.is_whole or value == int(value))
        return value if is_inside else None


@dataclass(frozen=True, slots=True)
class Trial:
    """One proposal.

    Attributes:
        values: The values by key.
        objective: The mean of the metric over points and replications; `None` without a value.
        replications: How many of them have a value at all points; the objective is the mean of these.
    """

    values: dict[str, str]
    objective: float | None
    replications: int


@dataclass(frozen=True, slots=True)
class Confirmed:
    """What the best values are worth with other seeds, at one place.

    Attributes:
        place: `here`, or what differs from the scenario.
        default: The metric with the values of the scenario.
        best: The metric with the best values.
        difference: Best less default, paired by replication.
        controls: The metric of each control.
    """

    place: str
    default: Interval
    best: Interval
    difference: Interval
    controls: dict[str, Interval]


@dataclass(frozen=True, slots=True)
class Optimum:
    """The result of a search.

    Attributes:
        metric: The metric.
        trials: All trials in their order; the first has the values of the scenario that are in the ranges.
        best: The values of the best of the trials with the most replications that have a value.
        chosen: Its objective.
        default: The objective of the scenario as it is, with the runs of the choice.
        is_maximum: Whether large values of the metric are good.
        confirmed: The confirmation here and elsewhere.
        path: The study that contains all runs.
    """

    metric: str
    trials: list[Trial]
    best: dict[str, str]
    chosen: float
    default: float | None
    is_maximum: bool
    confirmed: list[Confirmed]
    path: Path

    @property
    def shrinkage(self) -> float | None:
        """How much of the gain is lost from choice to confirmation, as a share of it.

        Returns:
            0 if nothing is lost and 1 if all is; `None` if no trial is better than the scenario itself.
        """
        gain = self.chosen - self.default if self.default is not None else 0.0
        confirmed = self.confirmed[0].difference.mean if self.confirmed else None
        is_better = gain > 0 if self.is_maximum else gain < 0
        return 1 - confirmed / gain if is_better and confirmed is not None else None

    def text(self) -> str:
        """The result as text, as `lasthop search` prints it.

        Returns:
            Lines: the best values, the objective, and a table of the confirmation.
        """
        columns = [[one.default, one.best, one.difference, *one.controls.values()] for one in self.confirmed]
        sizes = [abs(it.mean or 0.0) for row in columns for it in row]
        factor, unit = prefix(max(sizes, default=abs(self.chosen)), metric_unit(self.metric))
        full = max((it.n for row in columns for it in row), default=0)
        rows = [
            [one.place, *(_text(it, factor, full) for it in row)]
            for one, row in zip(self.confirmed, columns, strict=True)
        ]
        head = ["where", "default", "best", "difference"]
        head += list(self.confirmed[0].controls) if self.confirmed else []
        lines = [f"{united(self.metric, unit)}, best of {len(self.trials)} trials:"]
        lines += [f"  {key} = {value}" for key, value in self.best.items()]
        share = self.shrinkage
        lost = "; no trial is better" if self.default is not None else ""
        if share is not None:
            part = f"{100 * share:.0f} %" if share >= 0.005 else "nothing"
            lost = f"; {part} of the gain is lost in the confirmation"
        base = "" if self.default is None else f", default {self.default / factor:.4g}"
        lines.append(f"in the choice: best {self.chosen / factor:.4g}{base}{lost}")
        return "\n".join([*lines, grid(head, rows)]) if rows else "\n".join(lines)

    def as_dict(self) -> dict[str, Any]:
        """The result as plain data, as `lasthop search --json` prints it.

        Returns:
            A mapping that JSON can carry.
        """

        def plain(it: Interval) -> dict[str, Any]:
            return {"mean": it.mean, "ci_low": it.low, "ci_high": it.high, "n": it.n}

        return {
            "metric": self.metric,
            "best": self.best,
            "chosen": self.chosen,
            "default": self.default,
            "shrinkage": self.shrinkage,
            "is_maximum": self.is_maximum,
            "trials": [
                {"values": one.values, "objective": one.objective, "replications": one.replications}
                for one in self.trials
            ],
            "confirmed": [
                {
                    "place": one.place,
                    **{name: plain(getattr(one, name)) for name in ("default", "best", "difference")},
                    "controls": {name: plain(it) for name, it in one.controls.items()},
                }
                for one in self.confirmed
            ],
            "study": str(self.path),
        }


@dataclass(frozen=True, slots=True)
class Plan:
    """How a search goes.

    Attributes:
        trials: The number of trials.
        replications: Runs of each point in a trial.
        confirm: Runs of each point in the confirmation.
        seed: Seed of the choice: of the runs and of the proposals. The confirmation has another.
        where: Conditions that select the points.
        elsewhere: Other places at which the best values are confirmed: for each, settings by key, as texts
            of `-s`, or another scenario.
        against: Controls: settings by key for each, as texts of `-s`.
        jobs: Number of workers; default: all cores.
    """

    trials: int = 40
    replications: int = 5
    confirm: int = 20
    seed: int | None = None
    where: Sequence[str] = ()
    elsewhere: Sequence[Mapping[str, str] | Scenario] = ()
    against: Sequence[Mapping[str, str]] = ()
    jobs: int | None = None

    def __post_init__(self) -> None:
        whole("trials", self.trials, 1)
        words("where", self.where, "links.a.loss.rate<=2 %")
        whole("replications", self.replications, 1)
        whole("confirm", self.confirm, 2)
        if self.seed is not None:
            whole("seed", self.seed, 0, MOST_SEED - CONFIRM_SEED)
        if self.jobs is not None:
            whole("jobs", self.jobs, 1)
        for name in ("elsewhere", "against"):
            given = getattr(self, name)
            known = given if isinstance(given, tuple) else instance(name, given, list, "a list of settings")
            for one in known:
                if name == "against" or not isinstance(one, Scenario):
                    instance(name, one, dict, 'settings by key such as {"links.a.delay": "50 ms"}')


def search(
    scenario: Scenario,
    metric: str,
    over: Mapping[str, str],
    *,
    maximise: bool = True,
    plan: Plan | None = None,
    out: str | Path | None = None,
    listener: Callable[[], Listener] = Listener,
    say: Callable[[str], None] = lambda _: None,
) -> Optimum:
    """Choose the values of keys at which a metric is best, and confirm them with other seeds."""
    nonblank("metric", metric, "a metric such as flows.main.goodput_bps")
    flag("maximise", maximise)
    plan = plan or Plan()
    seed = scenario.seed if plan.seed is None else plan.seed
    plan = replace(plan, seed=seed)
    ranges = _ranges(scenario, over)
    folder = Path("studies") / f"search-{scenario.id}" if out is None else place("out", out, "a directory")
    optuna = _optuna()
    runner = _Runner(scenario.id, folder, metric, plan, listener)
    book = optuna.create_study(direction="maximize" if maximise else "minimize")
    own = _own(scenario, ranges)
    trials: list[Trial] = []
    distributions = {one.key: one.distribution(optuna) for one in ranges}
    for number in range(plan.trials):
        if number == 0 and own:
            book.enqueue_trial(own)
        # The proposals of a search that is repeated depend on nothing but the trials before.
        book.sampler = optuna.samplers.TPESampler(seed=(seed + number) % (1 << 32), n_startup_trials=FIRST)
        proposed = book.ask(distributions)
        values = {
            one.key: proposed.params[one.key] if one.choices else one.text(proposed.params[one.key])
            for one in ranges
        }
        here = _under(scenario, values)
        found = interval(list(runner.means(here, plan.replications, seed).values()))
        trials.append(Trial(values, found.mean, found.n))
        # The mean of fewer replications is not comparable: those that lack the value may be the worst.
        if found.mean is None or found.n < max(one.replications for one in trials):
            book.tell(proposed, state=optuna.trial.TrialState.FAIL)
        else:
            book.tell(proposed, found.mean)
        value = "no value" if found.mean is None else human(found.mean, metric_unit(metric))
        part = f" in {found.n} of {plan.replications} replications" if 0 < found.n < plan.replications else ""
        say(f"trial {number + 1} of {plan.trials}: {value}{part} with {_settings(values)}")
    known = [one for one in trials if one.replications == max(it.replications for it in trials)]
    if known[0].objective is None:
        raise LasthopError(f"{folder}: {metric} has no value in any trial; expected one")
    best = (max if maximise else min)(known, key=lambda one: _finite(one.objective))
    default = interval(list(runner.means(scenario, plan.replications, seed).values())).mean
    confirmed = _confirm(scenario, best.values, plan, runner)
    chosen = _finite(best.objective)
    return Optimum(metric, trials, best.values, chosen, default, maximise, confirmed, folder)


def _confirm(scenario: Scenario, best: dict[str, str], plan: Plan, runner: _Runner) -> list[Confirmed]:
    seed = (plan.seed or 0) + CONFIRM_SEED
    found = []
    for other in ({}, *plan.elsewhere):
        if isinstance(other, Scenario):
            there, name = other, other.id
        else:
            there, name = _under(scenario, other), _settings(other) or "here"

        def means(values: Mapping[str, str], there: Scenario = there) -> dict[int, float | None]:
            return runner.means(_under(there, values), plan.confirm, seed)

        base, new = means({}), means(best)
        controls = {_settings(control): interval(list(means(control).values())) for control in plan.against}
        found.append(
            Confirmed(
                name,
                interval(list(base.values())),
                interval(list(new.values())),
                difference(new, base),
                controls,
            )
        )
    return found


class _Runner:
    """The runs of a search, in one study; those of other scenarios in studies of their own below it."""

    def __init__(
        self, name: str, folder: Path, metric: str, plan: Plan, listener: Callable[[], Listener]
    ) -> None:
        self.name, self.folder, self.metric, self.plan, self.listener = name, folder, metric, plan, listener

    def means(self, scenario: Scenario, replications: int, seed: int) -> dict[int, float | None]:
        """The mean of the metric over all points, by replication; `None` where a point lacks it."""
        is_own = scenario.id == self.name
        study = Study.create(
            scenario,
            self.folder if is_own else self.folder / "elsewhere" / scenario.id,
            replications=replications,
            seed=seed,
            where=self.plan.where if is_own else (),
            argument="out",
        )
        Sweep(study, jobs=self.plan.jobs, listener=self.listener()).run()
        for failure in study.failures:
            raise LasthopError(str(failure.row.error))
        study.check_metric(self.metric)
        values = [study.values(planned.point, self.metric) for planned in study.plan]
        return {k: _mean([one.get(k) for one in values]) for k in range(replications)}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return math.fsum(known) / len(known) if known and len(known) == len(values) else None


def _finite(value: float | None) -> float:
    if value is None:
        raise AssertionError("a trial that counts has an objective")
    return value


def _under(scenario: Scenario, values: Mapping[str, object]) -> Scenario:
    pairs = [(key, value if isinstance(value, str) else as_text(value, key)) for key, value in values.items()]
    return under(scenario, pairs) if pairs else scenario


def _ranges(scenario: Scenario, over: Mapping[str, str]) -> list[Range]:
    instance("over", over, dict, 'ranges by key such as {"flows.main.tcp.window": "4..64 segments"}')
    if not over:
        raise UsageError(f"no key; expected at least one, with a range such as {FORMS}", argument="over")
    for key in over:
        if key in NOT_OF_THE_SCHEME:
            raise UsageError(f"{key} is not part of what runs; expected a key that is", argument="over")
    ranges = [Range.of(key, text) for key, text in over.items()]
    for one in ranges:
        for end in one.ends():
            try:
                _under(scenario, {one.key: end})
            except ScenarioError as e:
                raise UsageError(str(e).removeprefix("set "), argument="over") from e
    return ranges


def _own(scenario: Scenario, ranges: Sequence[Range]) -> dict[str, float | str]:
    """The values of the scenario itself that are in the ranges."""
    known = scenario.resolved(0)
    own = {one.key: one.number(known[one.key]["value"]) for one in ranges if one.key in known}
    return {key: value for key, value in own.items() if value is not None}


def _settings(values: Mapping[str, str]) -> str:
    return listing([f"{key}={value}" for key, value in values.items()]) if values else ""


def _text(it: Interval, factor: float, full: int) -> str:
    """A mean with its interval; and n where others of the table have more values."""
    if it.mean is None:
        return "–"
    half = "" if it.half is None else f" ± {it.half / factor:.2g}"
    return f"{it.mean / factor:.4g}{half}" + (f" (n = {it.n})" if it.n < full else "")


def _optuna() -> Any:
    try:
        import optuna
    except ModuleNotFoundError as e:
        raise UsageError(
            'optuna is not installed; expected it for searches (pip install "lasthop[search]")'
        ) from e
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
