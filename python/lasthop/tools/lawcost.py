"""What each congestion law costs per acknowledgement.

All laws receive the same acknowledgements, departures and losses. The excess over the time of the same events
without a law is the law's cost. Each is timed several times, in turn, and the least taken, since other load
of the machine only adds time.
"""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.quantity import digits
from lasthop.base.table import grid

if TYPE_CHECKING:
    from collections.abc import Iterator

_TIMES = 7
_BEFORE = 20_000


@dataclass(frozen=True, slots=True)
class LawCase:
    """Laws to measure, with this many acknowledgements each time."""

    name: str
    title: str
    laws: tuple[str, ...]
    acks: int

    def measure(self) -> Iterator[LawCost]:
        """Every law."""
        for law in self.laws:
            told, nobody = _core.LawLoad(law), _core.LawLoad("none")
            # What is allocated only once is allocated before.
            told.run(_BEFORE)
            times = [(_timed(told, self.acks), _timed(nobody, self.acks)) for _ in range(_TIMES)]
            spent = min(t for t, _ in times) - min(t for _, t in times)
            yield LawCost(self.name, law, self.acks, spent / self.acks * 1e9)


@dataclass(frozen=True, slots=True)
class LawCost:
    """The cost of a law per acknowledgement, with the departure it allows and its share of the losses."""

    case: str
    law: str
    acks: int
    ns_per_ack: float

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)


def _timed(load: _core.LawLoad, acks: int) -> float:
    before = time.thread_time()
    load.run(acks)
    return time.thread_time() - before


def text(costs: list[LawCost]) -> str:
    """A table of what was measured."""
    rows = [[cost.case, cost.law, digits(cost.ns_per_ack, 3)] for cost in costs]
    return grid(["case", "law", "ns/ACK"], rows)
