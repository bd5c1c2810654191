"""Joining the shards of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.base import paths
from lasthop.base.errors import StudyError, UsageError
from lasthop.study.ledger import Ledger
from lasthop.study.study import Study

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def merge(out: Path, parts: Sequence[Path]) -> Study:
    """Join studies of the same scenario, settings and seed into one directory.

    A study that is in that directory already is continued only if the outcome has its plan, for
    another plan would hide runs that it has.
    """
    for part in parts:
        if part.resolve() == out.resolve():
            raise UsageError(f"merge: {out}: is one of the parts; expected another output directory")
    studies = [Study.open(part) for part in parts]
    first = studies[0]
    for other in studies[1:]:
        for what, a, b in (
            ("scenario text", first.scenario.text, other.scenario.text),
            ("settings", first.scenario.overrides, other.scenario.overrides),
            ("seed", first.seed, other.seed),
            ("points", _points(first), _points(other)),
        ):
            if a != b:
                raise StudyError(f"{other.path}: not the {what} of {first.path}; expected the same")
    most = max(planned.replications for study in studies for planned in study.plan)
    if (out / paths.LEDGER).exists():
        _check_same(Study.open(out), first, most)
    notes = [note for study in studies for note in study.notes]
    joined = Study.create(first.scenario, out, replications=most, seed=first.seed, where=first.where)
    ledger = Ledger(joined.path, write=True)
    try:
        for study in studies:
            ledger.put(study.runs.values())
        joined.take(ledger.rows(joined.seed))
    finally:
        ledger.close()
    joined.notes += notes
    return joined


def shortfall(study: Study) -> str | None:
    """What to do about runs of the plan that a study lacks; nothing if it has all."""
    missing = study.size - sum(1 for _ in study.results())
    if not missing:
        return None
    instead = "sweep again to run them"
    if study.shard:
        instead = f"this is shard {study.shard}; lasthop merge OUT {study.path} ... joins it with the others"
    return f"{missing} of {study.size} runs are missing; {instead}"


def _points(study: Study) -> list[tuple[int, str]]:
    return [(planned.point, planned.point_key) for planned in study.plan]


def _check_same(there: Study, part: Study, replications: int) -> None:
    """Raise unless merging would leave the study in the output directory planned as it is."""
    if not there.plan:
        return
    for what, a, b in (
        ("scenario text", there.scenario.text, part.scenario.text),
        ("settings", there.scenario.overrides, part.scenario.overrides),
        ("seed", there.seed, part.seed),
        ("points", _points(there), _points(part)),
        ("replications", {planned.replications for planned in there.plan}, {replications}),
    ):
        if a != b:
            raise StudyError(
                f"{there.path}: holds a study without the {what} of {part.path}; expected the same "
                "(merge into a new directory)"
            )
