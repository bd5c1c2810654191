"""Whether a scenario fits the machine, said before anything starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.base.errors import UsageError
from lasthop.base.quantity import human
from lasthop.scenario.description import allowed_memory
from lasthop.scenario.facts import Estimate

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lasthop.scenario.scenario import Scenario


def largest(scenario: Scenario, points: Iterable[int]) -> Estimate:
    """The largest upper bounds of events and memory over the points."""
    every = [scenario.estimate(point) for point in points]
    return Estimate(
        max((it.events for it in every), default=0),
        max((it.memory_bytes for it in every), default=0),
    )


def admit(scenario: Scenario, points: Iterable[int]) -> None:
    """Raise if a run could need more memory than `run.max-memory` allows."""
    for point in points:
        needed = scenario.estimate(point).memory_bytes
        allowed = allowed_memory(scenario, point)
        if needed > allowed:
            raise UsageError(
                f"{scenario.name}: run.max-memory: point {point} may need {human(needed, 'B')}; "
                f"expected at most {human(allowed, 'B')} (raise run.max-memory, or reduce windows "
                "and queues)"
            )
