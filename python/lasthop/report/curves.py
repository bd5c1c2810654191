"""Lines over time as data for the page: quantities of flows, and the share of completed transfers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError
from lasthop.base.quantity import prefix, seconds
from lasthop.figures.cdf import responses
from lasthop.figures.style import Look, looks
from lasthop.figures.time import about, within
from lasthop.report.numbers import column, look, number, thinned
from lasthop.stats.intervals import counts
from lasthop.stats.survival import kaplan_meier
from lasthop.views.names import names_of
from lasthop.views.timeline import PANELS, Line, lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lasthop.figures.lines import Mark
    from lasthop.study.study import Study

Chart = dict[str, Any]


def over_time(study: Study, figure: dict[str, Any], marks: Sequence[Mark], most: int) -> Chart:
    """Quantities of flows over simulated time."""
    found, runs = lines(study, figure)
    until = seconds(str(figure["until"])) if "until" in figure else None
    since = seconds(str(figure["since"])) if "since" in figure else None
    labels = list(dict.fromkeys(line.label for every in found.values() for line in every))
    look_of = dict(zip(labels, looks(figure, labels, names_of(study.scenario, figure)), strict=True))
    end = until or 1.02 * max(line.times[-1] for every in found.values() for line in every)
    panels: list[dict[str, Any]] = []
    for name, every in found.items():
        panel = PANELS[name]
        largest = max((abs(v) for line in every for v in line.values if math.isfinite(v)), default=0.0)
        factor, unit = prefix(largest, panel.unit)
        cut = [within(line, since, until) for line in every]
        panels.append(
            {
                "label": f"{panel.words} ({unit})" if unit else panel.words,
                "unit": unit,
                "log": False,
                "floats": name == "sequence",
                "series": [
                    curve(line, factor, look_of[line.label], most, steps=panel.holds or panel.steps)
                    for line in cut
                ],
            }
        )
    kept = [len(s["x"]) for panel in panels for s in panel["series"]]
    given = [len(line.times) for every in found.values() for line in every]
    made = about(study, found, runs)
    less = f"; thinned to at most {most} values per line" if max(given) > most >= max(kept) else ""
    return curves(made + less, ("simulated time (s)", "s"), (since or 0, end), panels)


def curves(
    caption: str,
    x: tuple[str, str],
    ends: tuple[Any, Any],
    panels: list[dict[str, Any]],
    *,
    log: bool = False,
) -> Chart:
    """Panels of curves over one quantity, given by its label and unit, from one end to another."""
    (label, unit), (begin, end) = x, ends
    return {
        "form": "curve",
        "caption": caption,
        "legend": "",
        "x": {"label": label, "unit": unit, "words": [], "log": log, "from": begin, "to": end},
        "panels": panels,
    }


def curve(line: Line, factor: float, own: Look, most: int, *, steps: bool) -> dict[str, Any]:
    """A line over time; a binned value holds until the next edge."""
    is_binned = len(line.times) == len(line.values) + 1
    values = [*line.values, line.values[-1]] if is_binned else line.values
    scaled = [v / factor for v in values]
    bands = [
        [v / factor for v in [*side, side[-1]]] if is_binned and side else []
        for side in (line.low, line.high)
    ]
    if not is_binned:
        bands = [[v / factor for v in side] for side in (line.low, line.high)]
    each = [
        [v / factor for v in ([*run, run[-1]] if is_binned else run)]
        for run in line.runs
        if len(line.runs) > 1
    ]
    keep = thinned(scaled, most)
    found: dict[str, Any] = {
        "name": line.label,
        "look": look(own),
        "x": column((line.times[i] for i in keep), 6),
        "y": column((scaled[i] for i in keep), 5),
        "step": is_binned or (steps and not line.stands_alone),
        "dots": line.stands_alone,
    }
    if bands[0]:
        found |= {
            name: column((side[i] for i in keep), 5)
            for name, side in zip(("low", "high"), bands, strict=True)
        }
    if each:
        found["each"] = [column((run[i] for i in keep), 5) for run in each]
    return found


def response_times(study: Study, figure: dict[str, Any], marks: Sequence[Mark], most: int) -> Chart:
    """The share of transfers completed within a time."""
    found, runs = responses(study, figure)
    if not any(found.values()):
        raise UsageError(f"figure {figure['id']}: no transfers in {study.path}; expected at least one")
    longest = max(it.time for every in found.values() for it in every)
    factor, unit = prefix(longest, "s")
    series = []
    shown = looks(figure, list(found), names_of(study.scenario, figure))
    for (label, every), own in zip(found.items(), shown, strict=True):
        curve = kaplan_meier(every)
        times = [0.0, *curve.times, curve.until]
        done = [0.0, *(1.0 - share for share in curve.shares)]
        done.append(done[-1])
        unfinished = sum(not it.ended for it in every)
        counted = f"{curve.n - unfinished} completed, {unfinished} unfinished"
        keep = thinned(done, most)
        series.append(
            {
                "name": f"{label} ({counted})" if label else counted,
                "look": look(own),
                "x": column((times[i] / factor for i in keep), 6),
                "y": column((done[i] for i in keep), 5),
                "step": True,
                "dots": False,
            }
        )
    return curves(
        f"Kaplan-Meier, unfinished transfers censored, {counts(runs)}",
        (f"response time of {figure['class']} ({unit})", unit),
        (0, number(1.02 * longest / factor)),
        [{"label": "share completed", "unit": "", "log": False, "to": 1.02, "series": series}],
        log=figure.get("x-scale") == "log",
    )


def thin(drawn: Chart, most: int) -> Chart:
    """A chart with at most `most` values per line over time; other charts are returned unchanged."""
    if drawn["form"] != "curve":
        return drawn
    panels = [
        {**panel, "series": [_thinned(series, most) for series in panel["series"]]}
        for panel in drawn["panels"]
    ]
    caption = drawn["caption"].partition("; thinned")[0]
    return {**drawn, "panels": panels, "caption": f"{caption}; thinned to at most {most} values per line"}


def _thinned(series: dict[str, Any], most: int) -> dict[str, Any]:
    keep = thinned([math.nan if v is None else v for v in series["y"]], most)
    found = dict(series)
    for name in ("x", "y", "low", "high"):
        if name in series:
            found[name] = [series[name][i] for i in keep]
    if "each" in series:
        found["each"] = [[run[i] for i in keep] for run in series["each"]]
    return found
