"""What a step of `lasthop.gym` costs: steps in a second of CPU time, by ACK and by round trip."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.base.quantity import digits
from lasthop.base.table import grid

if TYPE_CHECKING:
    from collections.abc import Iterator

_TIMES = 5


@dataclass(frozen=True, slots=True)
class GymCase:
    """Environments to measure: each way of deciding, with each number of environments."""

    name: str
    title: str
    scenario: str
    settings: dict[str, str]
    every: tuple[str, ...]
    counts: tuple[int, ...]
    steps: int

    def measure(self) -> Iterator[GymCost]:
        """Every way, with every number; the least of several times."""
        from lasthop.gym import make_vec

        for every in self.every:
            for count in self.counts:
                env = make_vec(self.scenario, count, every=every, set=self.settings)
                env.reset(seed=1)
                # What a window of two to five segments a round trip needs, and no decision of a policy.
                action = np.tile([0.5, 8.0], (count, 1))
                rounds = max(1, self.steps // count)
                spent = min(_timed(env, action, rounds) for _ in range(_TIMES))
                yield GymCost(self.name, every, count, rounds * count, spent / (rounds * count) * 1e6)


@dataclass(frozen=True, slots=True)
class GymCost:
    """The cost of a step, the simulation up to the next decision included."""

    case: str
    every: str
    environments: int
    steps: int
    us_per_step: float

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {**asdict(self), "steps_per_s": 1e6 / self.us_per_step}


def is_possible() -> bool:
    """Whether the optional package is there."""
    return find_spec("gymnasium") is not None


def _timed(env: Any, action: Any, rounds: int) -> float:
    before = time.process_time()
    for _ in range(rounds):
        env.step(action)
    return time.process_time() - before


def text(costs: list[GymCost]) -> str:
    """A table of what was measured."""
    rows = [
        [
            cost.case,
            cost.every,
            str(cost.environments),
            digits(cost.us_per_step, 3),
            digits(1e6 / cost.us_per_step, 3),
        ]
        for cost in costs
    ]
    return grid(["case", "step", "environments", "us/step", "steps/s and core"], rows)
