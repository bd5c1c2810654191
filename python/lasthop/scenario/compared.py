"""Two laws on the same events: the port of a law, compared with the law."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from lasthop import _core
from lasthop.base.arguments import instance, nonblank
from lasthop.base.errors import UsageError, nearest
from lasthop.laws.registered import forget
from lasthop.scenario.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Sequence

# The law of a comparison, which no scenario names.
PAIR = "comparison"
_ONE_AT_A_TIME = Lock()


@dataclass(frozen=True, slots=True)
class Comparison:
    """What two laws did with the same events.

    Attributes:
        events: The number of events that both received.
        number: The number of the first event that they answered differently, from 1; `None` if none did.
        method: The event, such as `on_ack`.
        now_s: Its time, in seconds.
        event: What the laws received.
        first: Window and threshold that the first law set, in segments.
        second: The same of the second law.
    """

    events: int
    number: int | None = None
    method: str = ""
    now_s: float = 0.0
    event: str = ""
    first: tuple[float, float] = (0.0, 0.0)
    second: tuple[float, float] = (0.0, 0.0)

    def __bool__(self) -> bool:
        """Whether the two laws did the same."""
        return self.number is None

    def __str__(self) -> str:
        if self.number is None:
            return f"the same decisions at {self.events} events"
        windows = (f"window {cwnd:g}, threshold {ssthresh:g}" for cwnd, ssthresh in (self.first, self.second))
        return (
            f"event {self.number} of {self.events}, {self.method} at {self.now_s:.9g} s: "
            f"{' against '.join(windows)}, for {self.event}"
        )


def compare_laws(
    scenario: Scenario,
    first: str,
    second: str,
    *,
    flows: Sequence[str] = ("main",),
    seed: int | None = None,
    replication: int = 0,
    point: int = 0,
) -> Comparison:
    """Run a scenario with two laws that receive the same events, and report the first difference.

    The first law governs the flows. At each event the second law gets the window that the first one got, and
    both windows are compared after it, as are their answers to a loss.

    Args:
        scenario: What is run.
        first: The law that governs, by its name: one of lasthop with its default parameters, or
            a registered one.
        second: The law that is compared with it.
        flows: The names of the flows, or of the tables of groups of flows.
        seed: Seed of all random streams; default: the scenario's seed.
        replication: The number of the run for this seed.
        point: The number of the point.

    Returns:
        The comparison, which is true if the laws did the same.

    Raises:
        UsageError: An argument is invalid for this scenario.
        ScenarioError: There is no such law, or the flows cannot have one.
        RunError: The simulation failed, or a law in Python raised an exception.
    """
    instance("scenario", scenario, Scenario, "a Scenario")
    laws = (nonblank("first", first, "a law"), nonblank("second", second, "a law"))
    if isinstance(flows, str):
        raise UsageError(f'{flows!r}; expected a list of names such as ["main"]', argument="flows")
    known = sorted(set(scenario.flows(point).values()))
    for flow in flows:
        if flow not in known:
            raise UsageError(
                f"{flow!r} is not a flow of {scenario.id}; {nearest(str(flow), known)}", argument="flows"
            )
    with _ONE_AT_A_TIME:
        found = _core.register_pair(PAIR, *laws)
        try:
            pair = scenario.set({f"flows.{flow}.tcp.congestion": PAIR for flow in flows})
            pair.run(seed, replication, point)
        finally:
            forget(PAIR)
    if found.difference is None:
        return Comparison(found.events)
    return Comparison(found.events, *found.difference)
