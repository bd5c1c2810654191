"""Loss classification by laws against ground truth: one row per judge and method of detection.

>>> print(of_run({"flows.a.judged.fast." + name: 1.0 for name in VERDICTS}))
judge          detected by     random as random  random as congestion  congestion as random  congestion as congestion  spurious
flows.a (law)  duplicate ACKs  1                 1                     1                     1                         1
"""  # noqa: E501

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.base.quantity import digits, human
from lasthop.base.table import grid
from lasthop.stats.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lasthop.study.study import Study

VERDICTS = (
    "random_as_random",
    "random_as_congestion",
    "congestion_as_random",
    "congestion_as_congestion",
    "spurious",
)
_TOLD = {"fast": "duplicate ACKs", "timeout": "timeout"}


def of_run(metrics: Mapping[str, float | None]) -> str:
    """The matrices of one run; empty if no law classified losses."""
    rows = [
        [judge, told, *(human(metrics.get(name), "") for name in names)]
        for judge, told, names in _rows(metrics)
    ]
    return grid(["judge", "detected by", *_headings()], rows) if rows else ""


def of_study(study: Study) -> str:
    """The matrices of a study, each count averaged over the replications of its point."""
    judged = list(_rows(study.metrics()))
    swept = list(study.points()[0])
    rows = []
    for planned, point in zip(study.plan, study.points(), strict=True):
        for judge, told, names in judged:
            counts = [interval(list(study.values(planned.point, name).values())).mean for name in names]
            if any(count is not None for count in counts):
                rows.append([*(point[key] for key in swept), judge, told, *map(digits, counts)])
    return grid([*swept, "judge", "detected by", *_headings()], rows) if rows else ""


def _headings() -> list[str]:
    return [name.replace("_", " ") for name in VERDICTS]


def _rows(metrics: Iterable[str]) -> Iterable[tuple[str, str, list[str]]]:
    """The judge, how the losses were detected, and the metrics of each row of a matrix."""
    for metric in metrics:
        prefix, _, verdict = metric.rpartition(".")
        if verdict != VERDICTS[0]:
            continue
        place, _, told = prefix.rpartition(".")
        flow, _, judge = place.rpartition(".")
        if judge == "judged":
            judge = "law"
        else:
            flow = flow.removesuffix(".judges")
            judge = f"{judge}, observing"
        yield f"{flow} ({judge})", _TOLD[told], [f"{prefix}.{name}" for name in VERDICTS]
