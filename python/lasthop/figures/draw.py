"""Figures of a study, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lasthop.base.arguments import nonblank
from lasthop.base.errors import UsageError, nearest
from lasthop.figures.airtime import draw_bars
from lasthop.figures.cdf import draw_responses
from lasthop.figures.lines import Mark, draw_lines
from lasthop.figures.matrix import draw_matrix
from lasthop.figures.page import Page, add_to_caption
from lasthop.figures.scatter import draw_scatter
from lasthop.figures.time import draw_study
from lasthop.views.groups import matches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from lasthop.scenario.scenario import Scenario
    from lasthop.study.study import Study

# A figure available for any study of an 802.11 link, without a [[figure]].
AIRTIME: dict[str, Any] = {"id": "airtime", "kind": "airtime"}


def figure_named(scenario: Scenario, name: str | None) -> dict[str, Any]:
    """The `[[figure]]` with this id, or the airtime of every point; without a name, the first figure."""
    if name is not None:
        nonblank("figure", name, "the id of a figure")
    figures = {str(f["id"]): f for f in scenario.figures()}
    if name == AIRTIME["id"] and name not in figures:
        return AIRTIME
    if not figures:
        raise UsageError(f"{scenario.id}: no [[figure]]; expected one, or the name {AIRTIME['id']}")
    if name is None:
        return next(iter(figures.values()))
    if name not in figures:
        raise UsageError(f"{scenario.id}: {name}: no such figure; {nearest(name, figures)}")
    return figures[name]


def draw(
    study: Study, figure: dict[str, Any], marks: Sequence[Mark] = (), page: Page | None = None
) -> Figure:
    """Draw a figure of the study, with published values if its kind supports them; no file is written."""
    _check_where(study, figure)
    drawn = _draw(study, figure, marks, page)
    for note in study.labels():
        if page is not None and page.axes is not None:
            # At the right edge, where a figure has neither lines nor ticks.
            page.axes.annotate(
                note,
                (1.0, 0.0),
                (2.0, 0.0),
                xycoords="axes fraction",
                textcoords="offset points",
                fontsize=6.5,
                color="0.35",
                rotation=90,
                va="bottom",
            )
        else:
            add_to_caption(drawn, note)
    return drawn


def _check_where(study: Study, figure: dict[str, Any]) -> None:
    """Raise unless the conditions of the figure select a point, as they do in the sweep of the file."""
    where = figure.get("where") or {}
    points = zip(study.plan, study.points(), strict=True)
    if where and not any(matches(study, planned.point, point, where) for planned, point in points):
        wanted = " and ".join(f"{key} = {value}" for key, value in where.items())
        raise UsageError(f"figure {figure['id']}: no point in {study.path} has {wanted}; expected one")


def _draw(study: Study, figure: dict[str, Any], marks: Sequence[Mark], page: Page | None) -> Figure:
    kind = figure["kind"]
    if kind == "airtime":
        return draw_bars(study, figure, page)
    if kind == "time":
        return draw_study(study, figure, page)
    if kind == "cdf":
        return draw_responses(study, figure, page)
    if kind == "matrix":
        return draw_matrix(study, figure, page)
    if kind == "scatter":
        return draw_scatter(study, figure, page)
    return draw_lines(study, figure, marks, page)
