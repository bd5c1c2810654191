"""Response times as a figure: the share of transfers completed within a time.

There is one line per point, for all its replications together. A line ends at the longest time for which any
transfer was observed; if some were unfinished by then, it ends below one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError
from lasthop.base.quantity import prefix
from lasthop.figures.page import Page
from lasthop.figures.style import looks, plain_ticks
from lasthop.scenario.overrides import same
from lasthop.stats.intervals import counts
from lasthop.stats.survival import Lasted, kaplan_meier
from lasthop.views.classes import lengths
from lasthop.views.names import names_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from lasthop.study.study import Study


def draw_responses(study: Study, figure: Mapping[str, Any], page: Page | None = None) -> Figure:
    """Draw a figure of kind `cdf` of a study."""
    page = page or Page()
    found, runs = responses(study, figure)
    if not any(found.values()):
        raise UsageError(f"figure {figure['id']}: no transfers in {study.path}; expected at least one")
    longest = max(it.time for every in found.values() for it in every)
    factor, unit = prefix(longest, "s")
    shown = looks(figure, list(found), names_of(study.scenario, figure))
    with page.sheet(6.0, 4.0) as (drawn, (axes,)):
        for (label, every), look in zip(found.items(), shown, strict=True):
            curve = kaplan_meier(every)
            times = [0.0, *curve.times, curve.until]
            done = [0.0, *(1.0 - share for share in curve.shares)]
            unfinished = sum(not it.ended for it in every)
            counted = f"{curve.n - unfinished} completed, {unfinished} unfinished"
            axes.step(
                [t / factor for t in times],
                [*done, done[-1]],
                where="post",
                color=look.colour,
                linestyle=look.dashes,
                label=f"{label} ({counted})" if label else counted,
            )
        axes.set_ylim(0.0, 1.02)
        if figure.get("x-scale") == "log":
            axes.set_xscale("log")
            plain_ticks(axes.xaxis)
        else:
            axes.set_xlim(0.0, 1.02 * longest / factor)
        axes.set_xlabel(f"response time of {figure['class']} ({unit})")
        axes.set_ylabel("share completed")
        title = figure.get("title") or study.scenario.title or figure["id"]
        page.finish(drawn, [axes], str(title), f"Kaplan-Meier, unfinished transfers censored, {counts(runs)}")
    return drawn


def responses(study: Study, figure: Mapping[str, Any]) -> tuple[dict[str, list[Lasted]], list[int]]:
    """The data of each line, by label, and the number of runs behind each."""
    lines = figure.get("lines")
    where: Mapping[str, str] = figure.get("where") or {}
    names = names_of(study.scenario, figure)
    numeric = study.scenario.numeric
    found: dict[str, list[Lasted]] = {}
    runs = []
    for planned, point in zip(study.plan, study.points(), strict=True):
        if not all(same(key, point[key], value, numeric) for key, value in where.items()):
            continue
        # Swept keys that are fixed by neither `lines` nor `where` also distinguish points.
        keys = [lines] if lines else []
        keys += [
            key for key in point if key not in keys and key not in where and len(_values(study, key)) > 1
        ]
        label = ", ".join(names.get(point[key], point[key]) for key in keys)
        rows = study.rows(planned.point)
        every = [
            lengths(study.scenario, planned.point, row.transfers, figure.get("flow"), str(figure["class"]))
            for row in rows
        ]
        found.setdefault(label, []).extend(it for run in every for it in run)
        runs.append(len(rows))
    return found, runs


def _values(study: Study, key: str) -> set[str]:
    return {point[key] for point in study.points()}
