"""The points of a study with their runs, as many as fit into a page.

The amount of detail follows from a number of bytes. All metrics of all runs are included if they fit.
Otherwise the page has the most informative metrics, then the first replications only, then means alone, and
finally only every second, fifth, ... point. `omitted` describes what is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.quantity import metric_unit, metric_words
from lasthop.report.numbers import column, embedded, number
from lasthop.stats.intervals import interval
from lasthop.study.precision import figure_metrics
from lasthop.study.repeat import command
from lasthop.views.gains import short
from lasthop.views.summary import telling

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from lasthop.study.study import Study

# Significant digits of the metrics of single runs.
_DIGITS = 6
# Details whose estimated size exceeds the space by this factor are not tried.
_SLACK = 1.2
# The columns of the table of points that are shown initially.
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class _Detail:
    """A level of detail: which metrics, how many replications, and every how many points."""

    metrics: Sequence[str]
    replications: int | None
    every: int = 1


def points(
    study: Study, room: int, metrics: Iterable[str] = (), file: str = "scenario.toml"
) -> dict[str, Any]:
    """The points of a study, and their runs.

    Args:
        study: The study.
        room: The maximum number of bytes.
        metrics: Metrics that are included with those shown initially.
        file: The name of the scenario in the commands that repeat a run.

    Returns:
        The table: `keys` with their values, `metrics`, and the points. Each point has the indices of its
        values, its means with their intervals and the number of runs, and the metrics of each run.
    """
    known = study.metrics()
    every = [metric for metric in dict.fromkeys([*_first(study), *metrics]) if metric in known]
    few = list(dict.fromkeys([*every, *_telling(study)]))
    for detail in _details(known, few, every, len(study.plan)):
        if _size(study, detail) <= _SLACK * room:
            found = _table(study, detail, _first(study), file)
            if len(embedded(found)) <= room:
                return found
    return _table(
        study, _Detail(_first(study)[:1], 0, max(1, len(study.plan) // 20)), _first(study)[:1], file
    )


def _details(known: list[str], few: list[str], every: list[str], count: int) -> Iterable[_Detail]:
    """Levels of detail, from everything to little."""
    yield _Detail(known, None)
    for metrics in (few, every):
        for most in (None, 20, 10, 5, 3):
            yield _Detail(metrics, most)
    yield _Detail(few, 0)
    for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000):
        if step < max(count, 2):
            yield _Detail(every[:_SHOWN], 0, step)


def _first(study: Study) -> list[str]:
    """The metrics shown initially: those of the figures, or else the most informative ones."""
    known = study.metrics()
    found = [metric for metric in dict.fromkeys(figure_metrics(study)) if metric in known]
    return (found or _telling(study))[:_SHOWN]


def _telling(study: Study) -> list[str]:
    return telling(next((result.row.metrics for result in study.results() if result.row.metrics), {}))


def _size(study: Study, detail: _Detail) -> float:
    """An estimate of the bytes needed, from three of the points."""
    kept = study.plan[:: detail.every]
    some = [kept[0], kept[len(kept) // 2], kept[-1]]
    sample = [_measured(study, one.point, one.replications, detail.metrics, detail) for one in some]
    return len(embedded(sample)) / len(some) * len(kept)


def _kept(replications: int, detail: _Detail) -> int:
    return replications if detail.replications is None else min(replications, detail.replications)


def _table(study: Study, detail: _Detail, first: Sequence[str], file: str) -> dict[str, Any]:
    swept = list(study.points()[0])
    numeric = study.scenario.numeric
    kept = study.plan[:: detail.every]
    every = study.scenario.points()
    metrics = list(detail.metrics)
    texts = {key: list(dict.fromkeys(every[planned.point][key] for planned in kept)) for key in swept}
    return {
        "keys": [
            {
                "name": key,
                "short": _short(key, swept),
                "values": texts[key],
                "numbers": [number(numeric(key, text)) for text in texts[key]],
            }
            for key in swept
        ],
        "metrics": [{"name": m, "unit": metric_unit(m), "words": metric_words(m)} for m in metrics],
        "first": [metrics.index(metric) for metric in first if metric in metrics],
        "seed": study.seed,
        "omitted": _omitted(study, detail),
        "command": command(study, kept[0].point, 0, file=file) if kept else "",
        "points": [
            {
                "point": planned.point,
                "values": [texts[key].index(every[planned.point][key]) for key in swept],
                **_measured(study, planned.point, planned.replications, metrics, detail),
            }
            for planned in kept
        ],
    }


def _short(key: str, swept: Sequence[str]) -> str:
    """The last words of a key, prefixed by its owner if another key has the same."""
    same = [other for other in swept if short(other) == short(key)]
    return short(key) if len(same) == 1 else f"{' '.join(key.split('.')[:2])} {short(key)}"


def _measured(
    study: Study, point: int, replications: int, metrics: Sequence[str], detail: _Detail
) -> dict[str, Any]:
    """Means with intervals, the metrics of each run, and the runs that do not count."""
    count = _kept(replications, detail)
    rows = {row.replication: row for row in study.runs_at(point) if row.replication < replications}
    status = {
        k: f"failed: {row.error}".replace(str(study.path), "the study")
        if row.error
        else f"stopped: {row.stopped}"
        for k, row in rows.items()
        if row.error is not None or row.stopped
    }
    done = [k for k, row in rows.items() if row.metrics is not None]
    shown = done[:count]
    means, runs = [], []
    for metric in metrics:
        it = interval(list(study.values(point, metric).values()))
        means.append([*column((it.mean, it.low, it.high)), it.n])
        runs.append(column(((rows[k].metrics or {}).get(metric) for k in shown), _DIGITS))
    found: dict[str, Any] = {"n": len(study.rows(point)), "means": means}
    if shown:
        found |= {"replications": shown, "runs": runs}
    return found | ({"status": status} if status else {})


def _omitted(study: Study, detail: _Detail) -> str:
    """A description of what the page omits."""
    known, most = len(study.metrics()), max((planned.replications for planned in study.plan), default=0)
    parts = []
    if detail.every > 1:
        kept = len(study.plan[:: detail.every])
        parts.append(f"{kept} of {len(study.plan)} points")
    if len(detail.metrics) < known:
        parts.append(f"{len(detail.metrics)} of {known} metrics")
    if detail.replications == 0:
        parts.append("means without the single runs")
    elif detail.replications is not None and detail.replications < most:
        parts.append(f"the first {detail.replications} of {most} replications")
    if not parts:
        return ""
    return f"To stay small this page has {', '.join(parts)}. Means and intervals are over all runs."
