"""Replicating until intervals are narrow: what is made precise, and how many runs come next.

**Rule.** A point begins with `least` runs. While an interval is wider than the target, its number of runs is
multiplied by the square of width over target, at most by two, and looked at again. Looking favours a stop at
a small spread, so the intervals hold the truth less often than 95 %. From 20 runs on, the default, the loss
is at most two points where the values are about symmetric. Runs with rare long stalls lose more, because
Student's interval itself does (measured by `tests/python/test_coverage.py`; docs/sweeps-and-statistics.md).
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from lasthop.base.arguments import above_zero, nonblank, whole
from lasthop.base.errors import UsageError, nearest
from lasthop.scenario.description import metrics_of
from lasthop.stats.intervals import Interval, difference, interval
from lasthop.stats.quantiles import quantile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lasthop.study.ledger import Planned
    from lasthop.study.study import Study

LEAST = 20
"""Runs before the first look."""


@dataclass(frozen=True, slots=True)
class Precision:
    """Replicate until the intervals of the figures' metrics are narrow at every point.

    Attributes:
        target: Maximum half-width of a 95 % interval as a share of the mean: 0.02 is 2 %.
        most: Maximum replications per point.
        least: Minimum replications per point, not above `most`; default: 20, or `most` if that is less.
        of: The quantity of the interval: `mean`, `median`, a percentile such as `p90`, or a swept key. A key
            stands for the paired differences to its first value, as a share of the mean there.

    Raises:
        UsageError: A number is out of range, or `of` is empty.
    """

    target: float
    most: int
    least: int | None = None
    of: str = "mean"

    def __post_init__(self) -> None:
        above_zero("target", self.target, "share such as 0.02")
        whole("most", self.most, 1)
        if self.least is None:
            object.__setattr__(self, "least", min(LEAST, self.most))
        elif whole("least", self.least, 1) > self.most:
            raise UsageError(
                f"{self.least}; expected at most {self.most}, the value of most", argument="least"
            )
        nonblank("of", self.of, "mean, median, a percentile such as p90, or a swept key")


def share_of(of: str) -> float | None:
    """The share below a quantile by its name; `None` of another name.

    >>> share_of("median"), share_of("p90"), share_of("p0"), share_of("mean")
    (0.5, 0.9, None, None)
    """
    if of == "median":
        return 0.5
    found = re.fullmatch(r"p(\d{1,2}(?:\.\d+)?)", of)
    share = float(found[1]) / 100 if found else 0.0
    return share if share > 0 else None


def next_count(count: int, width: float, target: float, most: int) -> int:
    """The number of runs after a look at `count` of them; the same number if they are enough.

    >>> next_count(10, 0.03, 0.02, 100), next_count(10, 0.9, 0.02, 100), next_count(10, 0.01, 0.02, 100)
    (20, 20, 10)
    >>> next_count(10, 0.021, 0.02, 100), next_count(60, 0.9, 0.02, 100)
    (12, 100)
    """
    if width <= target or count >= most:
        return count
    guess = count * min((width / target) ** 2, 2.0)
    return min(max(math.ceil(guess), count + 1), most)


def figure_metrics(study: Study) -> list[str]:
    """The metrics that the figures of the scenario show; the first one of all if there are none."""
    shown = [metric for figure in study.scenario.figures() for metric in metrics_of(figure)]
    return list(dict.fromkeys(shown)) or study.metrics()[:1]


def check(study: Study, precision: Precision, argument: str = "of") -> None:
    """Raise unless the study has what is to be made precise."""
    known = ["mean", "median", *study.points()[0]]
    if precision.of != "mean" and share_of(precision.of) is None and precision.of not in known:
        raise UsageError(
            f"{precision.of} is not swept in {study.path}; {nearest(precision.of, known)}, or a percentile "
            "between p0 and p100 such as p90",
            argument=argument,
        )


def more(study: Study, precision: Precision) -> bool:
    """Raise the replications of points whose intervals are too wide; whether there are any.

    The next count follows from the runs counted so far and from nothing else, so a resumed
    study takes the same steps as one that was never interrupted.
    """
    counts = {planned.point: planned.replications for planned in study.plan}
    wanted = dict(counts)
    for points, it, scale in _intervals(study, precision.of):
        width = _relative(it, scale)
        for point in points:
            new = next_count(counts[point], width, precision.target, precision.most)
            wanted[point] = max(wanted[point], new)
    set_replications(study, wanted.__getitem__)
    return wanted != counts


def wide(study: Study, precision: Precision) -> list[int]:
    """The points with an interval that is still wider than the target."""
    found: set[int] = set()
    for points, it, scale in _intervals(study, precision.of):
        if not _relative(it, scale) <= precision.target:
            found.update(points)
    return sorted(found)


def _intervals(study: Study, of: str) -> Iterator[tuple[list[int], Interval, float | None]]:
    """Every interval that counts: the points whose runs narrow it, and what its width is a share of."""
    share = share_of(of)
    for metric in figure_metrics(study):
        values = {planned.point: study.values(planned.point, metric) for planned in study.plan}
        if of == "mean" or share is not None:
            for point, found in values.items():
                known = list(found.values())
                it = interval(known) if share is None else quantile(known, share)
                yield [point], it, it.mean
            continue
        for point, base in _pairs(study, of):
            level = interval(list(values[base].values())).mean
            yield [point, base], difference(values[point], values[base]), level


def _pairs(study: Study, key: str) -> Iterator[tuple[int, int]]:
    """Each point with the one at the first value of a key that is otherwise the same."""
    together = next(keys for keys, _ in study.scenario.axes() if key in keys)
    first: Mapping[str, str] = study.points()[0]
    base: dict[tuple[str, ...], int] = {}
    others: list[tuple[Planned, tuple[str, ...]]] = []
    for planned, point in zip(study.plan, study.points(), strict=True):
        place = tuple(text for k, text in point.items() if k not in together)
        if all(point[k] == first[k] for k in together):
            base[place] = planned.point
        else:
            others.append((planned, place))
    yield from ((planned.point, base[place]) for planned, place in others if place in base)


def _relative(it: Interval, scale: float | None) -> float:
    if it.half is None or scale is None:
        return math.inf
    if it.half == 0:
        return 0.0
    return abs(it.half / scale) if scale else math.inf


def set_replications(study: Study, count: Callable[[int], int]) -> None:
    """Plan another number of runs for each point."""
    study.plan = [replace(planned, replications=count(planned.point)) for planned in study.plan]
