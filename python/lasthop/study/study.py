"""A study: a directory with the scenario as given, every run in a ledger, and the figures.

>>> import tempfile
>>> from lasthop.scenario.scenario import load
>>> sc = load("ejtcp/fig10-baselines").set(
...     {"run.duration": "2 s", "links.r1-r2.rate": "5 Mbit/s", "links.r2-d.loss.rate": "1 %"}
... )
>>> study = Study.create(sc, tempfile.mkdtemp() + "/study", replications=2)
>>> study.size, len(study.runs)
(10, 0)
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from lasthop.base.arguments import MOST_REPLICATIONS, MOST_SEED, flag, instance, nonblank, place, whole
from lasthop.base.errors import StudyError, UsageError, listing, nearest
from lasthop.base.jsontext import clean
from lasthop.base.paths import LEDGER, build
from lasthop.scenario.facts import RuleException, labels
from lasthop.scenario.scenario import Scenario
from lasthop.study import directory
from lasthop.study.ledger import Ledger, Planned
from lasthop.study.rows import Row, is_finite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Self


# Damaged runs that a message names.
_FEW = 5
METRIC = "a metric such as flows.main.goodput_bps"


@dataclass(frozen=True, slots=True)
class Result:
    """One run of a study with the point it belongs to.

    Attributes:
        point: The number of the point.
        row: The entry of the run in the ledger.
    """

    point: int
    row: Row


class Study:
    """A study directory; `create` makes one or continues one, `open` reads one."""

    # The class of its scenario when a study is opened.
    _scenario_class: ClassVar[type[Scenario]] = Scenario

    def __init__(self, path: Path, scenario: Scenario, seed: int, plan: list[Planned]) -> None:
        self.path = path
        self.scenario = scenario
        self.seed = seed
        self.plan = plan
        self.where: tuple[str, ...] = ()
        self.build = ""
        # The part of the plan that it has, as in `--shard`.
        self.shard = ""
        # Made by a version with other keys: it can be shown and exported, not continued.
        self.is_older = False
        self.notes: list[str] = []
        # Runs that could not be read, in words; the next sweep makes them again.
        self.damaged: list[str] = []
        self._rows: dict[tuple[str, int], Row] = {}
        self._by_point: dict[str, dict[int, Row]] = {}

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Read the study in a directory.

        Args:
            path: The directory.

        Returns:
            The study with all its runs; `run` of it continues it.

        Raises:
            UsageError: The path is not one.
            StudyError: The directory has no study, or it cannot be read.
            ScenarioError: Its scenario is not one of this version.
        """
        folder = place("path", path, "the directory of a study")
        ledger = Ledger(folder, write=False)
        try:
            ledger.check_facts()
            scenario = directory.remembered(ledger, cls._scenario_class)
            study = cls(folder, scenario, directory.seed(ledger), ledger.plan())
            study.where = directory.conditions(ledger)
            study.build = ledger.meta("build")
            study.shard = ledger.meta("shard", "")
            study._check_plan()
            study.take(ledger.rows(study.seed))
            study._note_damage(ledger)
        finally:
            ledger.close()
        return study

    @classmethod
    def create(
        cls,
        scenario: Scenario,
        path: str | Path | None = None,
        *,
        replications: int | None = None,
        seed: int | None = None,
        where: Sequence[str] = (),
        fresh: bool = False,
        argument: str = "path",
    ) -> Self:
        """Make a study of a scenario in a directory, or continue the one that is there.

        Stored runs of a point are reused if everything that can
        change their result is the same, even if other parts of the scenario have changed.

        Args:
            scenario: What is run.
            path: The directory; default: `studies/ID`.
            replications: Runs per point; default: the scenario's number.
            seed: Seed of all random streams; default: the scenario's seed.
            where: Conditions such as `links.a.loss.rate<=2 %`, that select the points to run.
            fresh: Whether to delete the runs of a study in this directory.
            argument: The name of the `path` argument in messages.

        Returns:
            The study; no run has started.

        Raises:
            UsageError: An argument is invalid for this scenario.
            StudyError: The directory cannot be used.
        """
        instance("scenario", scenario, Scenario, "a Scenario")
        instance("argument", argument, str, "the name of an argument")
        default = Path("studies") / scenario.id
        folder = default if path is None else place(argument, path, "the directory of the study")
        seed = scenario.seed if seed is None else whole("seed", seed, 0, MOST_SEED)
        count = scenario.replications if replications is None else replications
        count = whole("replications", count, 1, MOST_REPLICATIONS)
        chosen = scenario.select(where)
        plan = [Planned(point, scenario.point_key(point), count) for point in chosen]
        meta = directory.entries(scenario, seed, where)
        directory.admit(folder, fresh=flag("fresh", fresh))
        if not (folder / LEDGER).exists():
            Ledger.create(folder, meta)
        study = cls(folder, scenario, seed, plan)
        study.where = tuple(where)
        ledger = Ledger(folder, write=True)
        try:
            study._continue(ledger, meta)
        finally:
            ledger.close()
        return study

    def _continue(self, ledger: Ledger, meta: dict[str, str]) -> None:
        old: list[Planned] = []
        try:
            ledger.check_facts()
            old = ledger.plan()
            is_whole = True
        except StudyError as e:
            # What it says of itself is written anew, below.
            self.notes.append(str(e))
            is_whole = False
        before = ledger.meta("scenario")
        if before != self.scenario.id and is_whole:
            raise StudyError(
                f"{self.path}: a study of {before}; expected one of {self.scenario.id} "
                "(or another directory; --fresh deletes its runs)"
            )
        if old and any(ledger.meta(k) != meta[k] for k in ("text", "overrides", "seed")):
            self.take(ledger.rows(self.seed))
            kept = sum((planned.point_key, 0) in self.runs for planned in self.plan)
            self.notes.append(
                f"scenario, settings or seed changed since the last sweep in {self.path}: "
                f"{kept} of {len(self.plan)} points have runs that can be reused"
            )
        ledger.set_meta(meta)
        ledger.set_plan(self.plan)
        self.take(ledger.rows(self.seed))
        if ledger.damaged:
            self.notes.append(f"{len(ledger.damaged)} runs in {self.path} are damaged, and are made again")
            ledger.mend()
        directory.fill(self.path, self.scenario, self.plan, self.seed)

    def _note_damage(self, ledger: Ledger) -> None:
        """Say which runs of the ledger cannot be read; raise if none can."""
        if not ledger.damaged:
            return
        points = {planned.point_key: planned.point for planned in self.plan}
        for damage in ledger.damaged:
            known = damage.point_key in points and damage.replication is not None
            place = f"point {points.get(damage.point_key)}, replication {damage.replication}"
            self.damaged.append(f"{place if known else 'a run'}: {damage.fault}")
        first = "; ".join(self.damaged[:_FEW])
        more = f"; and {len(self.damaged) - _FEW} more" if len(self.damaged) > _FEW else ""
        found = f"{ledger.path}: damaged ({first}{more})"
        if not self._rows:
            raise StudyError(f"{found}; expected a complete ledger")
        these = "this run is" if len(self.damaged) == 1 else f"these {len(self.damaged)} runs are"
        self.notes.append(f"{found}; {these} left out, and the same sweep makes what is missing")

    def _check_plan(self) -> None:
        known, count = self.scenario.point_key, len(self.scenario.points())
        for planned in self.plan:
            if planned.point >= count:
                raise StudyError(
                    f"{self.path}: damaged (its plan has point {planned.point}); expected one of the "
                    f"{count} points of its scenario"
                )
        self.is_older = any(known(planned.point) != planned.point_key for planned in self.plan)
        if self.is_older and self.build == build():
            raise StudyError(f"{self.path}: its points differ from its scenario; expected the same points")

    def take(self, rows: Iterable[Row]) -> None:
        """Replace what is known of the runs.

        Args:
            rows: The runs that the ledger has for the seed.

        Raises:
            UsageError: These are not runs.
        """
        given: object = rows
        found = list(given) if isinstance(given, Iterable) else [given]
        every = [instance("rows", row, Row, "a Row for each run") for row in found]
        self._rows, self._by_point = {}, {}
        for row in every:
            self._keep(row)

    def _keep(self, row: Row) -> None:
        self._rows[row.point_key, row.replication] = row
        self._by_point.setdefault(row.point_key, {})[row.replication] = row

    def _planned_runs(self, planned: Planned) -> Iterator[Row]:
        """The runs of a point that are planned and there, by replication, however many are planned."""
        there = self._by_point.get(planned.point_key, {})
        return (there[number] for number in sorted(there) if number < planned.replications)

    def add(self, rows: Iterable[Row]) -> None:
        """Add runs that have just been recorded, as the ledger has them.

        Args:
            rows: The runs.

        Raises:
            UsageError: These are not runs.
        """
        given: object = rows
        found = list(given) if isinstance(given, Iterable) else [given]
        for row in found:
            kept = instance("rows", row, Row, "a Row for each run")
            if kept.metrics is not None and not is_finite(kept.metrics.values()):
                kept = replace(kept, metrics=clean(kept.metrics))
            self._keep(kept)

    @property
    def runs(self) -> dict[tuple[str, int], Row]:
        """All runs the ledger has for the seed, also of points that are not in the plan.

        Returns:
            The runs by point key and replication.
        """
        return self._rows

    def results(self) -> Iterator[Result]:
        """The runs behind the tables, as far as they are in the ledger.

        Yields:
            One after the other, by point and replication.
        """
        for planned in self.plan:
            for row in self._planned_runs(planned):
                yield Result(planned.point, row)

    @property
    def failures(self) -> list[Result]:
        """The failed runs; the next `run` repeats them.

        Returns:
            The runs with their points; `row.error` says why.
        """
        return [r for r in self.results() if r.row.error is not None]

    @property
    def stopped(self) -> list[Result]:
        """The runs that a limit stopped early; means exclude them.

        Returns:
            The runs with their points; `row.stopped` names the limit.
        """
        return [r for r in self.results() if r.row.stopped]

    @property
    def exceptions(self) -> list[RuleException]:
        """Exceptions to realism at the points of the study: what a real protocol could not have.

        Returns:
            Key, label and meaning of each, in the order of the scenario.
        """
        here: set[RuleException] = set()
        for planned in self.plan:
            if len(here) == len(self.scenario.exceptions):
                break
            here.update(self.scenario.exceptions_at(planned.point))
        return [exception for exception in self.scenario.exceptions if exception in here]

    def labels(self) -> list[str]:
        """The labels that must accompany every table and figure of the study.

        Returns:
            Each label once; empty without exceptions.
        """
        return labels(self.exceptions)

    @property
    def size(self) -> int:
        """The number of runs in the plan.

        Returns:
            The number when all are done.
        """
        return sum(planned.replications for planned in self.plan)

    def points(self) -> list[dict[str, str]]:
        """The points of the study, in the order of `plan`.

        Returns:
            For each point the swept keys with their values.
        """
        every = self.scenario.points()
        return [every[planned.point] for planned in self.plan]

    def metrics(self) -> list[str]:
        """The names of the metrics at all points; points may have different metrics.

        Returns:
            Names such as `flows.main.goodput_bps`; none before a run has finished.
        """
        names: dict[str, None] = {}
        seen: set[int] = set()
        for result in self.results():
            if result.row.metrics is not None and result.point not in seen:
                seen.add(result.point)
                names.update(dict.fromkeys(result.row.metrics))
        return list(names)

    def _planned(self, point: int) -> Planned:
        # All points are listed only where that is needed: a table reads each of them.
        def known() -> str:
            return listing(str(planned.point) for planned in self.plan)

        number = point
        if type(point) is not int:
            number = whole("point", point, hint=f", one of the points of {self.path}: {known()}")
        at = bisect_left(self.plan, number, key=attrgetter("point"))
        if at == len(self.plan) or self.plan[at].point != number:
            raise UsageError(f"{point!r}; expected a point of {self.path}: {known()}", argument="point")
        return self.plan[at]

    def values(self, point: int, metric: str) -> dict[int, float | None]:
        """The values of a metric at a point, by replication.

        Runs that a limit stopped early are excluded, because they cover less time.

        Args:
            point: The number of the point among those of the scenario.
            metric: The name of the metric.

        Returns:
            By replication the value in the unit of the metric; `None` if the metric has no value.

        Raises:
            UsageError: The study has no such point.
        """
        planned = self._planned(point)
        instance("metric", metric, str, METRIC)
        return {
            row.replication: row.metrics.get(metric)
            for row in self._planned_runs(planned)
            if row.metrics is not None and not row.stopped
        }

    def replications(self, point: int) -> list[int]:
        """The completed replications of a point.

        Args:
            point: The number of the point among those of the scenario.

        Returns:
            Their numbers, from 0 on.

        Raises:
            UsageError: The study has no such point.
        """
        return list(self.values(point, ""))

    def run_at(self, point: int, replication: int) -> Row | None:
        """The run of a replication of a point.

        Args:
            point: The number of the point among those of the scenario.
            replication: The number of the replication, from 0 on.

        Returns:
            The run; `None` if it is not in the ledger.

        Raises:
            UsageError: The study has no such point.
        """
        return self.runs.get((self._planned(point).point_key, whole("replication", replication)))

    def runs_at(self, point: int) -> list[Row]:
        """The planned runs of a point, also those that failed or were stopped.

        Args:
            point: The number of the point among those of the scenario.

        Returns:
            The runs that are in the ledger, by replication.

        Raises:
            UsageError: The study has no such point.
        """
        return list(self._planned_runs(self._planned(point)))

    def series(self, point: int, name: str) -> dict[int, list[float]]:
        """Goodput over time in the bins of the scenario; `values` says which replications count.

        Args:
            point: The number of the point among those of the scenario.
            name: The name of the series, such as `flows.main.goodput_bps`.

        Returns:
            By replication the values in bit/s, one for each bin.

        Raises:
            UsageError: The study has no such point.
        """
        nonblank("name", name, "a series such as flows.main.goodput_bps")
        found: dict[int, list[float]] = {}
        for replication in self.values(point, name):
            row = self.run_at(point, replication)
            if row is not None and name in row.series:
                found[replication] = row.series[name]
        return found

    def rows(self, point: int) -> list[Row]:
        """The runs of a point that count in its means.

        Args:
            point: The number of the point among those of the scenario.

        Returns:
            The completed runs that no limit stopped, by replication.

        Raises:
            UsageError: The study has no such point.
        """
        found = self._planned_runs(self._planned(point))
        return [row for row in found if row.metrics is not None and not row.stopped]

    def check_metric(self, metric: str) -> None:
        """Raise unless the metric was measured.

        Args:
            metric: The name of the metric.

        Raises:
            UsageError: No finished run has the metric.
        """
        nonblank("metric", metric, METRIC)
        known = self.metrics()
        if not known:
            raise UsageError(f"{self.path}: no finished run; expected at least one")
        if metric not in known:
            raise UsageError(f"{metric}: no such metric in {self.path}; {nearest(metric, known)}")

    def __repr__(self) -> str:
        done = sum(1 for _ in self.results())
        return f"<Study {self.path}: {done} of {self.size} runs>"
