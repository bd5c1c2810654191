"""Measurement of a claim in a study: the number, its interval, and the verdict."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from lasthop.base import paths
from lasthop.base.errors import StudyError, UsageError, nearest
from lasthop.papers.claims import CANNOT_TELL, DIFFERS, Claim, Finding
from lasthop.scenario.overrides import parse_where, same
from lasthop.stats.intervals import Interval, difference, interval, middle, ratio, share_in_sum
from lasthop.study.study import Study
from lasthop.views import packets
from lasthop.views.timeline import retraced

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path


Place = dict[str, str]


def judge(claim: Claim, study: Study) -> Finding:
    """Measure a claim and compare the result with the expected value."""
    for metric in (claim.metric, *claim.among):
        if packets.metric(metric) is None:
            study.check_metric(metric)
    if claim.kind == "best":
        ours, chosen = _best(claim, study)
        return Finding(claim, ours, claim.band.judge(ours), _join(chosen, claim.note))
    places = _places(claim, study)
    if not places:
        nothing = Interval(None, None, None, 0)
        return Finding(claim, nothing, CANNOT_TELL, _join("not simulated", claim.note))
    if claim.one_run:
        ours = _single_runs(claim, study, places)
        note = _join("median and 5 to 95 % of single runs", claim.note)
        return Finding(claim, ours, claim.band.judge_runs(ours), note)
    if claim.kind == "order":
        ours = _order(claim, study, places)
    elif claim.each:
        every = [_measure(claim, study, [place]) for place in places]
        ours = max(every, key=lambda it: claim.band.shortfall(it.mean))
    else:
        ours = _measure(claim, study, places)
    if claim.is_out_of_reach:
        beyond = f"above its ceiling of {claim.ceiling} {claim.unit}".rstrip()
        return Finding(claim, ours, DIFFERS, _join(beyond, claim.note))
    return Finding(claim, ours, claim.band.judge(ours), claim.note)


def single_runs(claim: Claim, study: Study) -> tuple[float, ...]:
    """What each replication alone gives, in SI units; nothing for a claim that needs several."""
    if claim.one_run or claim.kind == "best":
        return ()
    found = (judge(claim, part).ours.mean for part in in_parts(study, 1))
    return tuple(value for value in found if value is not None)


def in_parts(study: Study, size: int) -> list[Study]:
    """The study as several, each with the next `size` replications of it."""
    every = sorted({run for planned in study.plan for run in study.replications(planned.point)})
    parts = (every[begin : begin + size] for begin in range(0, len(every), size))
    return [cast("Study", _Part(study, frozenset(part))) for part in parts]


class _Part:
    """A study as if it had these replications alone."""

    def __init__(self, study: Study, replications: frozenset[int]) -> None:
        self._study = study
        self._replications = replications

    def __getattr__(self, name: str) -> Any:
        return getattr(self._study, name)

    def values(self, point: int, metric: str) -> dict[int, float | None]:
        """The values of its replications."""
        found = self._study.values(point, metric)
        return {k: v for k, v in found.items() if k in self._replications}

    def replications(self, point: int) -> list[int]:
        """Its replications, of those that the point has."""
        return [run for run in self._study.replications(point) if run in self._replications]


def is_stale(folder: Path) -> bool:
    """Whether a study cannot be read or has another build, whose results must not be reused for a verdict."""
    if not paths.is_study(str(folder)):
        return False
    try:
        return Study.open(folder).build != paths.build()
    except StudyError:
        return True


def _join(*notes: str) -> str:
    return "; ".join(note for note in notes if note)


def _places(claim: Claim, study: Study) -> list[Place]:
    """The chosen points without the keys that the claim itself varies, and those swept together with them."""
    varied = {*claim.this, *claim.that, *([claim.key] if claim.key else [])}
    varied |= _together(varied, study.points())
    numeric = study.scenario.numeric
    found: list[Place] = []
    for point in study.points():
        for key in (*claim.at, *claim.this, *claim.that, *([claim.key] if claim.key else [])):
            if key not in point:
                raise UsageError(f"{claim.id}: {key} is not swept; {nearest(key, point)}")
        if all(any(same(k, point[k], v, numeric) for v in vs) for k, vs in claim.at.items()):
            place = {k: v for k, v in point.items() if k not in varied}
            if place not in found:
                found.append(place)
    return found


def _together(varied: set[str], points: Sequence[Place]) -> set[str]:
    """The other keys that have a value of their own for each value of a varied key, as in a zip."""
    found = set()
    for key in varied & points[0].keys() if points else ():
        for other in points[0].keys() - varied:
            pairs = {(point[key], point[other]) for point in points}
            values, others = ({pair[side] for pair in pairs} for side in (0, 1))
            if len(pairs) == len(values) == len(others) > 1:
                found.add(other)
    return found


def _values(claim: Claim, study: Study, wanted: Mapping[str, str]) -> dict[int, float | None]:
    numeric = study.scenario.numeric
    for planned, point in zip(study.plan, study.points(), strict=True):
        if all(same(k, point[k], v, numeric) for k, v in wanted.items()):
            of_hole = packets.metric(claim.metric)
            if of_hole is not None:
                return _of_hole(study, planned.point, *of_hole)
            values = study.values(planned.point, claim.metric)
            if claim.among:
                return share_in_sum(values, *(study.values(planned.point, metric) for metric in claim.among))
            return values
    return {}


def _of_hole(study: Study, point: int, flow: str, number: int, part: str) -> dict[int, float | None]:
    """One value of a hole in each replication, from new traces, because a study stores none."""
    found: dict[int, float | None] = {}
    for replication in study.replications(point):
        every = _holes(study, point, replication, flow)
        found[replication] = float(getattr(every[number - 1], part)) if 0 < number <= len(every) else None
    return found


@cache
def _holes(study: Study, point: int, replication: int, flow: str) -> list[packets.Hole]:
    tables = retraced(study, point, replication, ["tcp"])
    return packets.holes(packets.events(tables["tcp"], flow)) if tables else []


def _measure(claim: Claim, study: Study, places: list[Place]) -> Interval:
    if claim.kind == "mean":
        return _mean([_values(claim, study, place) for place in places])
    pairs = [
        (
            _values(claim, study, {**place, **claim.this}),
            _values(claim, study, {**place, **claim.that}),
        )
        for place in places
    ]
    if claim.kind == "difference":
        return difference(_average([a for a, _ in pairs]), _average([b for _, b in pairs]))
    found = ratio(pairs)
    if claim.kind == "gain":
        return found.less(1.0)
    if claim.kind == "saving" and found.mean is not None:
        low, high = found.low, found.high
        return Interval(
            1 - found.mean,
            None if high is None else 1 - high,
            None if low is None else 1 - low,
            found.n,
        )
    return found


def _single_runs(claim: Claim, study: Study, places: list[Place]) -> Interval:
    """The gains of single runs, each the mean over the places: their median, and the range of 5 to 95 %."""
    gains = [_gains(claim, study, place) for place in places]
    return middle(list(_average(gains).values()))


def _best(claim: Claim, study: Study) -> tuple[Interval, str]:
    """The gain of the best of some points over the best of others, and the names of both."""
    candidates = _candidates(claim, study, claim.best)
    rivals = _candidates(claim, study, claim.over)
    if not candidates or not rivals:
        return Interval(None, None, None, 0), "not simulated"
    if claim.each_run:
        every = [values for _, values in (*candidates, *rivals)]
        gains: list[float | None] = []
        for run in sorted(set.intersection(*(set(values) for values in every))):
            best = max(values[run] or 0.0 for _, values in candidates)
            over = max(values[run] or 0.0 for _, values in rivals)
            gains.append(best / over - 1 if over else None)
        return interval(gains), "the best in each run"
    chosen, kept = _halves(values for _, values in (*candidates, *rivals))
    (name, above), (other, below) = (
        max(side, key=lambda candidate: _level(candidate[1], chosen)) for side in (candidates, rivals)
    )
    above, below = ({run: values[run] for run in kept} for values in (above, below))
    return ratio([(above, below)]).less(1.0), f"{name} over {other}"


def _halves(columns: Iterable[Mapping[int, float | None]]) -> tuple[list[int], list[int]]:
    """The common replications in two halves: one for the choice, one for the comparison."""
    common = sorted(set.intersection(*(set(values) for values in columns)))
    middle = len(common) // 2
    return common[:middle], common[middle:]


def _candidates(claim: Claim, study: Study, condition: str) -> list[tuple[str, dict[int, float | None]]]:
    """The points of a claim that satisfy a condition: their other swept values, and the measured values."""
    numeric = study.scenario.numeric
    wanted = parse_where([condition])
    found = []
    for point in study.points():
        for key in (*claim.at, *(one.key for one in wanted)):
            if key not in point:
                raise UsageError(f"{claim.id}: {key} is not swept; {nearest(key, point)}")
        is_at = all(any(same(k, point[k], v, numeric) for v in vs) for k, vs in claim.at.items())
        if is_at and all(one.holds(point, numeric) for one in wanted):
            named = [key for one in wanted for key in (one.key, *one.values) if key in point]
            varied = dict.fromkeys(key for key in named if key not in claim.at)
            name = ", ".join(f"{key.rpartition('.')[2]} {point[key]}" for key in varied)
            found.append((name, _values(claim, study, point)))
    return found


def _level(values: Mapping[int, float | None], runs: Iterable[int]) -> float:
    mean = interval([values[run] for run in runs]).mean
    return -math.inf if mean is None else mean


def _average(columns: Iterable[Mapping[int, float | None]]) -> dict[int, float | None]:
    """The mean over points for each replication in which all points have a value."""
    every = [{k: v for k, v in c.items() if v is not None} for c in columns]
    if not every:
        return {}
    common = sorted(set.intersection(*(set(c) for c in every)))
    return {k: math.fsum(c[k] for c in every) / len(every) for k in common}


def _mean(columns: list[dict[int, float | None]]) -> Interval:
    return interval(list(_average(columns).values()))


def _order(claim: Claim, study: Study, places: list[Place]) -> Interval:
    """The smallest decrease along the listed order, over all places; positive if all are decreases."""
    steps = []
    for higher, lower in zip(claim.order, claim.order[1:], strict=False):
        columns = [
            (
                _along(claim, study, {**place, claim.key: higher}),
                _along(claim, study, {**place, claim.key: lower}),
            )
            for place in places
        ]
        if claim.each:
            steps += [difference(a, b) for a, b in columns]
        else:
            steps.append(difference(_average([a for a, _ in columns]), _average([b for _, b in columns])))
    return max(steps, key=lambda it: claim.band.shortfall(it.mean))


def _along(claim: Claim, study: Study, place: Place) -> dict[int, float | None]:
    """What falls along an order: the metric, or its gain of `this` over `that` in each replication."""
    return _gains(claim, study, place) if claim.this else _values(claim, study, place)


def _gains(claim: Claim, study: Study, place: Place) -> dict[int, float | None]:
    """The gain of `this` over `that` in each replication."""
    above = _values(claim, study, {**place, **claim.this})
    below = _values(claim, study, {**place, **claim.that})
    gains: dict[int, float | None] = {}
    for replication in sorted(above.keys() & below.keys()):
        a, b = above[replication], below[replication]
        gains[replication] = a / b - 1 if a is not None and b else None
    return gains
