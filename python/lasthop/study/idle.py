"""Swept keys that change nothing: a sign that a scenario does not use them as its author expects."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lasthop.study.study import Study


def idle_keys(study: Study) -> list[str]:
    """The swept keys for which each run has the same metrics, whichever of their values it has.

    Args:
        study: A study with some of its runs.

    Returns:
        The keys, in the order of the sweep. A key without two runs that differ in it alone is left out.
    """
    points = study.scenario.points()
    planned = [planned.point for planned in study.plan]
    runs = {point: {row.replication: row.metrics for row in study.runs_at(point)} for point in planned}
    found = []
    for key in points[planned[0]] if planned else ():
        alike: dict[tuple[str, ...], list[int]] = {}
        for point in planned:
            others = tuple(value for name, value in points[point].items() if name != key)
            alike.setdefault(others, []).append(point)
        pairs = [
            metrics == runs[group[0]][replication]
            for group in alike.values()
            for point in group[1:]
            for replication, metrics in runs[point].items()
            if metrics is not None and runs[group[0]].get(replication) is not None
        ]
        if pairs and all(pairs):
            found.append(key)
    return found
