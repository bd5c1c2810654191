"""Results by traffic class: goodput, transfers, and response times with their censoring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.quantity import human, seconds
from lasthop.base.table import grid
from lasthop.stats.intervals import FEWEST, Interval, interval
from lasthop.stats.survival import Lasted, common_limit, kaplan_meier, restricted_mean
from lasthop.views.matrix import named_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from lasthop.scenario.scenario import Run, Scenario
    from lasthop.study.study import Study

# The columns of a run's transfers, equally long.
Transfers = dict[str, list[Any]]

COUNTS = ("transfers_begun", "transfers_done", "transfers_unfinished")
HEADINGS = (
    "flows",
    "class",
    "goodput",
    "begun",
    "done",
    "unfinished",
    "median response",
    "mean response",
    "within",
    "runs",
)
NOTE = (
    "response times are Kaplan-Meier estimates with unfinished transfers censored; means are restricted to "
    "the time up to which all points of a class are observed"
)


@dataclass(frozen=True, slots=True)
class Class:
    """One class of a flow or of a group of flows: metrics and transfer durations of each run."""

    flow: str
    name: str
    metrics: Sequence[Mapping[str, float | None]]
    runs: Sequence[Sequence[Lasted]]

    def mean(self, name: str) -> Interval:
        """The mean over the runs of one of its metrics."""
        metric = f"flows.{self.flow}.class.{self.name}.{name}"
        return interval([run.get(metric) for run in self.metrics])

    @property
    def together(self) -> list[Lasted]:
        """The transfers of all runs."""
        return [it for run in self.runs for it in run]

    def cells(self, within: float) -> list[str]:
        """A row of the table."""
        return [
            self.flow,
            self.name,
            _text(self.mean("goodput_bps"), "bit/s"),
            *(_text(self.mean(name), "") for name in COUNTS),
            human(kaplan_meier(self.together).median, "s"),
            _text(restricted_mean(self.runs, within), "s"),
            human(within, "s") if self.together else "–",
            str(len(self.metrics)),
        ]

    def as_dict(self, within: float) -> dict[str, Any]:
        """The same in SI units."""
        row: dict[str, Any] = {"flows": self.flow, "class": self.name, "runs": len(self.metrics)}
        for name in ("goodput_bps", "bytes", *COUNTS):
            it = self.mean(name)
            row |= {name: it.mean, f"{name}_low": it.low, f"{name}_high": it.high}
        mean = restricted_mean(self.runs, within)
        return row | {
            "response_median_s": kaplan_meier(self.together).median,
            "response_mean_s": mean.mean,
            "response_mean_s_low": mean.low,
            "response_mean_s_high": mean.high,
            "response_within_s": within if self.together else None,
        }


def lengths(
    scenario: Scenario, point: int, transfers: Transfers, flow: str | None, class_: str
) -> list[Lasted]:
    """The durations of the transfers of one class that began in the measured time.

    They belong to a flow, to a group of flows, or to all flows if none is named.
    """
    if not transfers:
        return []
    named = [flow in (None, name, table) for name, table in scenario.flows(point).items()]
    warmup = seconds(scenario.resolved(point)["run.warmup"]["value"])
    columns = (transfers[name] for name in ("flow", "class", "begun_s", "lasted_s", "done"))
    return [
        Lasted(lasted, done)
        for place, kind, begun, lasted, done in zip(*columns, strict=True)
        if place < len(named) and named[place] and kind == class_ and begun >= warmup
    ]


def of_run(run: Run) -> str:
    """The classes of one run; empty if it has no users."""
    found = list(_classes(run.scenario, run.point, [run.metrics], [run.transfers]))
    return _table([], [([], it) for it in found])


def of_study(study: Study) -> str:
    """The classes at each point of a study, over its replications."""
    found = list(_at(study))
    columns = [axis_column(study, keys, [point for point, _ in found]) for keys, _ in study.scenario.axes()]
    return _table(
        [head for head, _ in columns],
        [([texts[at] for _, texts in columns], it) for at, (_, it) in enumerate(found)],
    )


def axis_column(study: Study, keys: list[str], points: list[dict[str, str]]) -> tuple[str, list[str]]:
    """The heading of an axis of the sweep, and its text at each point.

    Keys that advance together are one column: the first of them if its values distinguish all, or else the
    names of figures, or what differs from the first.
    """
    places = [tuple(point[key] for key in keys) for point in points]
    rows = list(dict.fromkeys(places))
    if len({row[0] for row in rows}) == len(rows):
        return keys[0], [place[0] for place in places]
    figures = (figure.get("names") or {} for figure in study.scenario.figures())
    given = {text: name for names in figures for text, name in names.items() if ", " in text}
    labels = dict(zip(rows, named_rows(keys, 0, rows, {}, given), strict=True))
    return f"{keys[0]}, …", [labels[place] for place in places]


def study_json(study: Study) -> list[dict[str, Any]]:
    """The same numbers in SI units."""
    found = list(_at(study))
    limits = _limits(it for _, it in found)
    return [{**point, **it.as_dict(limits[it.flow, it.name])} for point, it in found]


def _table(swept: list[str], rows: list[tuple[list[str], Class]]) -> str:
    limits = _limits(it for _, it in rows)
    cells = [[*place, *it.cells(limits[it.flow, it.name])] for place, it in rows]
    return f"{grid([*swept, *HEADINGS], cells)}\n{NOTE}" if cells else ""


def _limits(classes: Iterable[Class]) -> dict[tuple[str, str], float]:
    """For each class, the time to which its means are restricted; it is the same at every point."""
    every: dict[tuple[str, str], list[list[Lasted]]] = {}
    for it in classes:
        every.setdefault((it.flow, it.name), []).append(it.together)
    return {key: common_limit(groups) for key, groups in every.items()}


def _at(study: Study) -> Iterator[tuple[dict[str, str], Class]]:
    """Each class at each point, over the runs that count."""
    for planned, point in zip(study.plan, study.points(), strict=True):
        rows = study.rows(planned.point)
        metrics = [row.metrics for row in rows if row.metrics is not None]
        for it in _classes(study.scenario, planned.point, metrics, [row.transfers for row in rows]):
            yield point, it


def _classes(
    scenario: Scenario,
    point: int,
    metrics: Sequence[Mapping[str, float | None]],
    transfers: Sequence[Transfers],
) -> Iterator[Class]:
    """The flows with users, by class; for a group, only the group as a whole."""
    flows = scenario.flows(point)
    for metric in metrics[0] if metrics else ():
        parts = metric.split(".")
        is_class = len(parts) == 5 and parts[2] == "class" and parts[4] == "goodput_bps"
        if is_class and flows.get(parts[1], parts[1]) == parts[1]:
            flow, name = parts[1], parts[3]
            runs = [lengths(scenario, point, run, flow, name) for run in transfers]
            yield Class(flow, name, metrics, runs)


def _text(it: Interval, unit: str) -> str:
    text = human(it.mean, unit)
    return f"{text} ± {human(it.half, unit, 2)}" if it.half and it.n >= FEWEST else text
