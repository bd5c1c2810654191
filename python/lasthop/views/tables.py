"""The tables of a study: those of its figures, the loss classification of laws, and the results of users."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.jsontext import dumps
from lasthop.base.quantity import metric_unit
from lasthop.scenario.description import metrics_of
from lasthop.study.precision import figure_metrics
from lasthop.views import airtime, classes
from lasthop.views.groups import pivot
from lasthop.views.losses import of_study
from lasthop.views.matrix import matrix_sheet
from lasthop.views.means import means
from lasthop.views.names import names_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lasthop.base.table import Sheet
    from lasthop.study.study import Study


def study_text(
    study: Study, metrics: tuple[str, ...] = (), *, judgements: bool = False, form: str = "text"
) -> str:
    """The tables of the figures and of traffic classes, or the tables of the metrics named.

    `judgements` adds how laws classified losses. Forms other than text contain only the tables.
    """
    blocks = []
    for view in _views(study, metrics):
        sheet = _sheet(study, view, view.get("names"))
        if sheet is not None:
            title = view.get("title") or ""
            about = f"{title}\n{sheet.about}" if title and form != "markdown" else sheet.about
            block = replace(sheet, about=about).text(form)
            blocks.append(f"**{title}**\n\n{block}" if title and form == "markdown" else block)
    if form != "text":
        return "\n\n".join([*blocks, *_noted(study, form)])
    if not blocks:
        # The conditions of the figures select no point of this study.
        for name in metrics or tuple(figure_metrics(study)):
            study.check_metric(name)
            blocks.append(f"{name}\n{means(study, name)}")
    if judgements:
        judged = of_study(study) or "no law classifies losses"
        blocks.append(
            f"loss classification by laws against ground truth, means over the replications\n{judged}"
        )
    by_class = "" if metrics else classes.of_study(study)
    if by_class:
        blocks.append(f"traffic classes, means over the replications\n{by_class}")
    blocks.extend(study.labels())
    return "\n\n".join(blocks)


def study_json(study: Study, metrics: tuple[str, ...] = ()) -> str:
    """The same numbers as one JSON document: a table of points for every metric."""
    named = metrics or tuple(figure_metrics(study) if study.metrics() else ())
    return dumps(
        {
            "scenario": study.scenario.id,
            "version": _core.__version__,
            "model_version": _core.model_version,
            "seed": study.seed,
            "overrides": study.scenario.overrides,
            "runs": sum(1 for _ in study.results()),
            "failed": len(study.failures),
            "stopped": len(study.stopped),
            "airtime": airtime.study_json(study),
            "classes": classes.study_json(study),
            "notes": study.labels(),
            "tables": [
                {"metric": name, "unit": metric_unit(name), "rows": means(study, name).rows} for name in named
            ],
        }
    )


def sheets(study: Study, figure: Mapping[str, Any]) -> list[Sheet]:
    """The tables of a figure, one for each metric, with its names; none for figures over time."""
    names = names_of(study.scenario, figure)
    found = (_sheet(study, view, names) for view in _of_figure(figure))
    return [sheet for sheet in found if sheet is not None]


def _of_figure(figure: Mapping[str, Any]) -> list[dict[str, Any]]:
    # A figure over time has no table, and response times have a table of their own.
    if figure["kind"] in ("time", "cdf"):
        return []
    return [{**figure, "y": metric} if metric else {**figure} for metric in metrics_of(figure) or [""]]


def _sheet(study: Study, view: dict[str, Any], names: Mapping[str, str] | None = None) -> Sheet | None:
    """The contents of a figure as a table."""
    if view.get("kind") == "airtime":
        return airtime.study_sheet(study, view)
    study.check_metric(view["y"])
    if view.get("kind") == "matrix":
        return matrix_sheet(study, view)
    where = view.get("where") or {}
    return pivot(study, view.get("x"), view["y"], view.get("lines"), where, view.get("gain-over"), names)


def _noted(study: Study, form: str) -> list[str]:
    """The exceptions of a study, which accompany every table."""
    return [f"% {note}" if form == "latex" else note for note in study.labels()]


def _views(study: Study, metrics: tuple[str, ...]) -> list[dict[str, Any]]:
    """What to tabulate: the figures, or each metric in the layout of the first figure."""
    figures = study.scenario.figures()
    if metrics:
        first: dict[str, Any] = next((f for f in figures if "x" in f), {})
        layout: dict[str, Any] = {k: first[k] for k in ("x", "lines") if k in first}
        return [{**layout, "y": name} for name in metrics]
    shown = [view for figure in figures for view in _of_figure(figure)]
    return shown or [{"y": name} for name in study.metrics()[:1]]
