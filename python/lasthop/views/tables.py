"""The tables of a study: what its figures show, what laws took losses for, and what users got."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.jsontext import dumps
from lasthop.base.quantity import metric_unit
from lasthop.study.sweep import figure_metrics
from lasthop.views import airtime, classes
from lasthop.views.groups import pivot
from lasthop.views.losses import of_study
from lasthop.views.matrix import matrix_text
from lasthop.views.means import means

if TYPE_CHECKING:
    from lasthop.study.study import Study


def study_text(study: Study, metrics: tuple[str, ...] = (), *, judgements: bool = False) -> str:
    """The figures' tables and the results of users, or the tables of the metrics named.

    With `judgements`, also how laws classified losses.
    """
    blocks = []
    for view in _views(study, metrics):
        if view.get("kind") == "airtime":
            block = airtime.study_text(study, view)
        elif view.get("kind") == "matrix":
            study.check_metric(view["y"])
            block = matrix_text(study, view)
        else:
            study.check_metric(view["y"])
            block = pivot(
                study,
                view.get("x"),
                view["y"],
                view.get("lines"),
                view.get("where") or {},
                view.get("gain-over"),
            )
        if block:
            title = view.get("title") or ""
            blocks.append(f"{title}\n{block}" if title else block)
    if not blocks:
        # The figures' own conditions leave no point of this study.
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
    blocks.extend(study.scenario.notes())
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
            "overrides": dict(study.scenario.overrides),
            "runs": sum(1 for _ in study.results()),
            "failed": len(study.failures),
            "stopped": len(study.stopped),
            "airtime": airtime.study_json(study),
            "classes": classes.study_json(study),
            "notes": study.scenario.notes(),
            "tables": [
                {"metric": name, "unit": metric_unit(name), "rows": means(study, name).rows} for name in named
            ],
        }
    )


def _views(study: Study, metrics: tuple[str, ...]) -> list[dict[str, Any]]:
    """What to tabulate: the figures, or each metric laid out like the first figure."""
    figures = study.scenario.figures()
    if metrics:
        first: dict[str, Any] = next((f for f in figures if "x" in f), {})
        layout: dict[str, Any] = {k: first[k] for k in ("x", "lines") if k in first}
        return [{**layout, "y": name} for name in metrics]
    # A figure over time is not a table, and response times have a table of their own.
    shown = [figure for figure in figures if figure["kind"] not in ("time", "cdf")]
    return shown or [{"y": name} for name in study.metrics()[:1]]
