"""The open choices of a paper as switches, and combinations of their options.

`[switches.NAME]` of a claims file has a `title` and `options`. An option has settings, as a reading has:
`set` for every study or for those in `only`, `per.STUDY` for one study, and `instead.STUDY`, another
scenario for it. The first option is that of the figures and is empty. A switch whose options are all empty
is about the method of measurement: claims of other readings select its options by
`reading = { NAME = "OPTION" }`.

A constant that the paper states has no switch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError, nearest
from lasthop.papers.claims import OURS, PAPER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from lasthop.papers.claims import Claim
    from lasthop.papers.paper import Paper

_CHANGES = {"set", "only", "per", "instead"}


@dataclass(frozen=True, slots=True)
class Switch:
    """One open choice of a paper."""

    id: str
    title: str
    options: Mapping[str, Mapping[str, Any]]

    @property
    def first(self) -> str:
        """The option of the figures."""
        return next(iter(self.options))

    @property
    def is_measure(self) -> bool:
        """Whether it is about the method of measurement, and does not change any run."""
        return not any(self.options.values())


def switches(paper: Paper) -> dict[str, Switch]:
    """The switches of a claims file; raise if a claim uses a switch or option that does not exist."""
    found = {}
    for name, given in paper.head.get("switches", {}).items():
        where = f"{paper.id}.claims.toml: switches.{name}"
        options = given.get("options")
        if set(given) != {"title", "options"} or not isinstance(options, dict) or len(options) < 2:
            raise UsageError(
                f"{where}: {', '.join(given) or 'nothing'}; expected title and at least two options"
            )
        for option, changes in options.items():
            _check(f"{where}.{option}", changes, paper)
        found[name] = Switch(name, given["title"], options)
        if options[found[name].first]:
            raise UsageError(
                f"{where}.{found[name].first}: has settings; expected the first option to be empty"
            )
    for claim in paper.claims:
        for name, option in claim.reading.items():
            where = f"{paper.id}.claims.toml: {claim.id}: reading"
            if name not in found:
                raise UsageError(f"{where}: {nearest(name, found)}")
            if option not in list(found[name].options)[1:]:
                raise UsageError(f"{where}: {name}: {nearest(option, list(found[name].options)[1:])}")
    return found


def _check(where: str, changes: Any, paper: Paper) -> None:
    if not isinstance(changes, dict):
        raise UsageError(f"{where}: {changes}; expected a table")
    for part in changes:
        if part not in _CHANGES:
            raise UsageError(f"{where}.{part}: unknown key; {nearest(part, sorted(_CHANGES))}")
    for study in (*changes.get("only", ()), *changes.get("per", {}), *changes.get("instead", {})):
        if study not in paper.studies:
            raise UsageError(f"{where}: {study}: unknown study; {nearest(study, paper.studies)}")


def combinations(every: Mapping[str, Switch], seed: int) -> Iterator[dict[str, str]]:
    """The combination of the figures, then all others in random order."""
    from random import Random

    chance = Random(seed)  # noqa: S311 - not for security; the same sequence on every machine
    drawn = {name: switch.first for name, switch in every.items()}
    seen = {tuple(drawn.values())}
    yield drawn
    while len(seen) < math.prod(len(switch.options) for switch in every.values()):
        drawn = {
            name: list(switch.options)[int(chance.random() * len(switch.options))]
            for name, switch in every.items()
        }
        if tuple(drawn.values()) not in seen:
            seen.add(tuple(drawn.values()))
            yield drawn


def changes(
    every: Mapping[str, Switch], chosen: Mapping[str, str], study: str
) -> tuple[dict[str, Any], str | None]:
    """The settings of a combination for a study, and the scenario that replaces that of the study, if any."""
    settings: dict[str, Any] = {}
    instead = None
    for name, switch in every.items():
        option = switch.options[chosen[name]]
        if "only" not in option or study in option["only"]:
            settings |= option.get("set", {})
        settings |= option.get("per", {}).get(study, {})
        instead = option.get("instead", {}).get(study, instead)
    return settings, instead


def concerning(paper: Paper, departs: Mapping[str, str], claims: Collection[Claim]) -> dict[str, str]:
    """The options of a combination that change the runs of some claims, or how their numbers are taken."""
    every = {name: switch for name, switch in switches(paper).items() if name in departs}
    return {
        name: departs[name]
        for name, switch in every.items()
        if any(changes({name: switch}, departs, claim.study) != ({}, None) for claim in claims)
        or any(claim.reading.get(name) == departs[name] for claim in claims if switch.is_measure)
    }


def answering(
    every: Mapping[str, Switch], claims: Collection[Claim], chosen: Mapping[str, str]
) -> list[Claim]:
    """The claims that judge one statement under a combination.

    Options with settings change the runs, so the claims of the figures apply; for another method of
    measurement, those of that reading apply.
    """
    measures = {name for name, switch in every.items() if switch.is_measure}
    own = [claim for claim in claims if claim.role != OURS and claim.reading.keys() <= measures]
    named = {name for claim in own for name in claim.reading}
    found = [
        claim
        for claim in own
        if all(claim.reading.get(name, every[name].first) == chosen[name] for name in named)
    ]
    return found or [claim for claim in own if claim.role == PAPER]


def without(claim: Claim, keys: set[str]) -> Claim:
    """A claim about runs in which some keys are fixed and therefore not swept.

    The analytical bound of the claim holds only under the claim's own reading and is removed.
    """
    if not keys:
        return claim
    this, that = ({k: v for k, v in side.items() if k not in keys} for side in (claim.this, claim.that))
    if claim.key in keys or (this == that and claim.this != claim.that):
        compared = ", ".join(sorted(keys & {*claim.this, *claim.that, claim.key}))
        raise UsageError(
            f"{claim.id}: {compared}: the claim compares its values; expected no switch to set it"
        )
    at = {key: values for key, values in claim.at.items() if key not in keys}
    return replace(claim, at=at, this=this, that=that, ceiling=None)
