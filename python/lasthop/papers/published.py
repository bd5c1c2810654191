"""The published values that a figure shows: those of claims about its metric at its points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lasthop.base.errors import ScenarioError, UsageError
from lasthop.base.paths import shipped_file
from lasthop.figures.lines import Mark
from lasthop.papers.claims import OURS, read
from lasthop.papers.paper import known
from lasthop.scenario.description import metrics_of
from lasthop.scenario.overrides import as_text, same
from lasthop.scenario.scenario import load
from lasthop.views.groups import groups
from lasthop.views.names import names_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lasthop.papers.claims import Claim
    from lasthop.scenario.scenario import Scenario
    from lasthop.study.study import Study

# Settings that change how long and how often a run is made, but not what is measured.
_EFFORT = "run."


def claims_of(scenario: Scenario) -> list[Claim]:
    """The claims of all papers about this scenario, as far as its settings are those of the paper's study."""
    found: list[Claim] = []
    for file in known().values():
        # To read the claims takes longer than to see that none is about the scenario.
        if f'"{scenario.id}"' not in file.read_text(encoding="utf-8"):
            continue
        head, claims = read(file)
        for name, settings in head["studies"].items():
            if settings["scenario"] == scenario.id and _is_set_alike(scenario, settings.get("set", {})):
                found += [claim for claim in claims if claim.study == name]
    return found


def _is_set_alike(scenario: Scenario, changes: Mapping[str, Any]) -> bool:
    """Whether a scenario differs from its file with these changes in swept keys and effort only."""
    try:
        file = load(shipped_file(scenario.id), [(key, as_text(value)) for key, value in changes.items()])
    except (UsageError, ScenarioError):
        # A scenario of the same id that lasthop does not have.
        return False
    swept = {key for one in (scenario, file) for keys, _ in one.axes() for key in keys}
    ours, theirs = (
        {
            key: entry["value"]
            for key, entry in one.resolved(0).items()
            if key not in swept and not key.startswith(_EFFORT)
        }
        for one in (scenario, file)
    )
    return ours == theirs


def published(claims: Iterable[Claim], figure: Mapping[str, Any], study: Study) -> list[Mark]:
    """The published values in a figure of lines, each at its x and line, with the accepted range.

    A claim of a mean or of a gain is shown if it states a value for exactly one point of the figure.
    """
    if figure["kind"] not in ("lines", "bar"):
        return []
    x, over = str(figure["x"]), figure.get("gain-over") or {}
    shown = groups(
        study, x, figure.get("lines"), figure.get("where") or {}, over, names_of(study.scenario, figure)
    )
    every = study.scenario.points()
    found: dict[tuple[str, str, str, float], Mark] = {}
    for claim in claims:
        if claim.role == OURS or claim.metric not in metrics_of(figure) or claim.among or claim.each:
            continue
        if claim.paper is None or claim.band.tolerance is None or not _is_drawn(claim, over, study):
            continue
        pinned = {
            **claim.at,
            **{k: (v,) for k, v in claim.this.items()},
        }
        at = [
            (group.label, text)
            for group in shown
            for text, point in zip(group.xs, group.points, strict=True)
            if _meets(every[point], pinned, study)
        ]
        if len(at) == 1:
            ((label, text),) = at
            value = claim.paper * claim.scale
            mark = Mark(claim.metric, label, text, value, claim.band.tolerance)
            found.setdefault((claim.metric, label, text, value), mark)
    return list(found.values())


def _is_drawn(claim: Claim, over: Mapping[str, Any], study: Study) -> bool:
    """Whether a claim measures what the figure draws: the metric, or its gain over the same points."""
    if claim.kind == "mean":
        return not over
    numeric = study.scenario.numeric
    return (
        claim.kind == "gain"
        and bool(over)
        and over.keys() <= claim.that.keys()
        and all(same(key, claim.that[key], str(value), numeric) for key, value in over.items())
    )


def _meets(point: Mapping[str, str], pinned: Mapping[str, tuple[str, ...]], study: Study) -> bool:
    numeric = study.scenario.numeric
    return all(
        key in point and any(same(key, point[key], value, numeric) for value in values)
        for key, values in pinned.items()
    )
