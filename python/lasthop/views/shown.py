"""Scenarios, runs and studies as HTML for notebooks."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from lasthop.base.quantity import duration, human, metric_unit
from lasthop.base.table import html
from lasthop.views.summary import telling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lasthop.scenario.scenario import Run, Scenario
    from lasthop.study.study import Study

# Maximum number of values shown per axis.
_VALUES = 12


def _headed(title: str, lines: Iterable[str]) -> str:
    return f"<div><b>{escape(title)}</b>{''.join(f'<br>{escape(line)}' for line in lines if line)}</div>"


def scenario_html(scenario: Scenario) -> str:
    """The title of a scenario, its sweep, and its notes."""
    points = len(scenario.points())
    about = f"{scenario.id}: {points} points, {scenario.replications} replications of each"
    axes = []
    for keys, rows in scenario.axes():
        values = [", ".join(row) for row in rows]
        more = f" … ({len(values)} in all)" if len(values) > _VALUES else ""
        axes.append([", ".join(keys), " | ".join(values[:_VALUES]) + more])
    sweep = html(["swept", "values"], axes) if axes else ""
    return _headed(scenario.title or scenario.id, [about, *scenario.notes(), *scenario.warnings]) + sweep


def run_html(run: Run) -> str:
    """The most informative metrics of a run, up to a dozen."""
    seed = f"seed {run.seed}, replication {run.replication}"
    about = f"{seed}, {run.simulated_s:g} s simulated in {duration(run.wall_s)}"
    place = ", ".join(f"{key} = {value}" for key, value in run.scenario.points()[run.point].items())
    stopped = f"stopped: {run.stopped}" if run.stopped else ""
    rows = [[name, human(run.metrics[name], metric_unit(name))] for name in telling(run.metrics)]
    more = len(run.metrics) - len(rows)
    note = f"{more} more in run.metrics" if more else ""
    traces = f"traces: {', '.join(run.traces())}" if run.traces() else ""
    head = _headed(run.scenario.title or run.scenario.id, [place, about, stopped, *run.notes()])
    return head + html(["metric", "value"], rows) + _headed("", [note, traces])


def study_html(study: Study) -> str:
    """The state of a study, and the means of the first metric of its figures."""
    from lasthop.study.precision import figure_metrics
    from lasthop.views.means import means

    done = sum(1 for _ in study.results())
    failed = len(study.failures)
    about = f"{study.path}: {done} of {study.size} runs" + (f", {failed} failed" if failed else "")
    head = _headed(study.scenario.title or study.scenario.id, [about, *study.labels()])
    metrics = figure_metrics(study) if study.metrics() else []
    return head + (
        f"<div>{escape(metrics[0])}</div>{means(study, metrics[0])._repr_html_()}" if metrics else ""
    )
