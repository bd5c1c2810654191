"""What an agent of an access point costs by the number of its flows (lle-tcp/II.E).

Packets of all flows pass in turn, with the agent and without it. The difference of the times is the cost of
the agent. The mode "interface" is what `lasthop agent` does with the bytes of packets, without its sockets.
Each of the two is timed several times and the least taken, since other load of the machine only adds time.
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

_TIMES = 5
_ROUNDS_BEFORE = 20


@dataclass(frozen=True, slots=True)
class AgentCase:
    """Modes and numbers of flows to measure, with this many packets each time."""

    name: str
    title: str
    modes: tuple[str, ...]
    flows: tuple[int, ...]
    packets: int

    def measure(self) -> Iterator[Cost]:
        """Every mode with every number of flows."""
        for mode in self.modes:
            for flows in self.flows:
                yield _cost(self, mode, flows)


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of the agent per packet and per flow."""

    case: str
    mode: str
    flows: int
    packets: int
    ns_per_packet: float
    state_bytes_idle: int
    state_bytes_max: int

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return asdict(self)


def _cost(case: AgentCase, mode: str, flows: int) -> Cost:
    without = "bytes" if mode == "interface" else "none"
    agent, bare = _core.AgentLoad(mode, flows), _core.AgentLoad(without, flows)
    idle = agent.state_bytes
    # What is allocated only once is allocated before.
    agent.run(flows * _ROUNDS_BEFORE)
    bare.run(flows * _ROUNDS_BEFORE)
    times = [(_timed(agent, case.packets), _timed(bare, case.packets)) for _ in range(_TIMES)]
    spent = min(t for t, _ in times) - min(t for _, t in times)
    each = spent / case.packets * 1e9
    return Cost(case.name, mode, flows, case.packets, each, idle, agent.state_bytes_max)


def _timed(load: _core.AgentLoad, packets: int) -> float:
    before = time.thread_time()
    load.run(packets)
    return time.thread_time() - before


def text(costs: list[Cost]) -> str:
    """A table of what was measured."""
    rows = [
        [
            cost.case,
            cost.mode,
            str(cost.flows),
            digits(cost.ns_per_packet, 3),
            str(cost.state_bytes_idle),
            str(cost.state_bytes_max),
            digits(cost.state_bytes_max / cost.flows, 4),
        ]
        for cost in costs
    ]
    head = "case|mode|flows|ns/packet|bytes idle|most bytes|most bytes/flow"
    return grid(head.split("|"), rows)
