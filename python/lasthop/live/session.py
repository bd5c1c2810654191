"""A live run: programs on bound nodes, and the network of a scenario between them."""

from __future__ import annotations

import os
import platform
import signal
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.errors import ScenarioError, UnavailableError, UsageError, nearest
from lasthop.live import system
from lasthop.live.programs import Command, Node, Programs
from lasthop.scenario.description import fault

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lasthop.scenario.scenario import Scenario

#: The longest time that a live run may take if nothing is said.
LIMIT_S = 3600.0
#: The lateness at the 99th percentile beyond which results are not to be trusted.
LATE_S = 1e-3
_MTU = 1500
_PRIORITY = 2


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a live run gave.

    Attributes:
        scenario: The id of the scenario.
        overrides: The keys that were set, with their values.
        point: The number of the point.
        seed: The seed.
        replication: The replication.
        kernel: The release of the kernel whose TCP the programs used.
        congestion_control: Its congestion control.
        commands: The programs, each with its node.
        status: The exit code of the last program; `None` if it was ended.
        length_s: How long the network ran.
        delivered: Packets that were delivered to bound nodes.
        refused: Packets that an interface did not take.
        late_p50_s: The median of the lateness of packets; `None` without packets, as below.
        late_p99_s: Its 99th percentile.
        late_p999_s: Its 99.9th percentile.
        late_max_s: The largest.
        nodes: What each bound node sent and received, by its name.
        metrics: The metrics of the scenario. Of a flow between bound nodes they are those of its packets.
    """

    scenario: str
    overrides: list[tuple[str, str]]
    point: int
    seed: int
    replication: int
    kernel: str
    congestion_control: str
    commands: list[Command]
    status: int | None
    length_s: float
    delivered: int
    refused: int
    late_p50_s: float | None
    late_p99_s: float | None
    late_p999_s: float | None
    late_max_s: float
    nodes: dict[str, dict[str, int]]
    metrics: dict[str, float | None]

    def as_dict(self) -> dict[str, Any]:
        """The same as plain data."""
        return asdict(self) | {"commands": [{"node": c.node, "words": list(c.words)} for c in self.commands]}


def run(
    scenario: Scenario,
    commands: Sequence[Command],
    *,
    others: Sequence[str] = (),
    point: int = 0,
    seed: int | None = None,
    replication: int = 0,
    limit_s: float = LIMIT_S,
    is_labelled: bool = True,
    on_ready: Callable[[Sequence[Node]], None] | None = None,
) -> Outcome:
    """Run programs on nodes of a scenario until the last of them ends.

    The calling process moves to namespaces of its own and stays there, so it may call this once.

    Args:
        scenario: The scenario.
        commands: The programs, each with the name of its node.
        others: Nodes that are bound without a program.
        point: The number of the point.
        seed: The seed; `None` takes that of the scenario.
        replication: The replication.
        limit_s: The time in seconds after which the run ends.
        is_labelled: Whether each line that a program prints begins with the name of its node. Otherwise
            programs use the terminal of this process.
        on_ready: What to do with the bound nodes before the first packet.

    Raises:
        ScenarioError: The scenario has an agent that cannot run live.
        UsageError: A node does not exist, or a program cannot be started.
        UnavailableError: The system does not allow it.
    """
    chosen = scenario.seed if seed is None else seed
    names = list(dict.fromkeys([*(command.node for command in commands), *others]))
    known = [node["name"] for node in scenario.network(point)["nodes"]]
    for name in names:
        if name not in known:
            raise UsageError(f"{name}: no such node; {nearest(name, known)}", argument="node")
    core = _core.Scenario.from_text(scenario.text, scenario.name, scenario.overrides)
    try:
        live = core.live(point, chosen, replication, names)
    except ValueError as error:
        key, _, text = str(error).partition(": ")
        raise ScenarioError(fault(scenario, point, key, text)) from error
    nodes = _bound(names, live.addresses())
    with _stopped_by_signals() as (stop, stops):
        try:
            programs = Programs(nodes, commands, stops, is_labelled=is_labelled)
        except OSError as error:
            raise UsageError(f"{error.filename or 'node'}: {error.strerror}", argument="node") from error
        try:
            if on_ready is not None:
                on_ready(nodes)
            system.hurry(_PRIORITY)
            ended = live.run([node.interface for node in nodes], stop, (0.0, limit_s))
            status = programs.status()
        finally:
            system.calm()
            programs.close()
            for node in nodes:
                os.close(node.namespace)
                os.close(node.interface)
    return Outcome(
        scenario=scenario.id,
        overrides=scenario.overrides,
        point=point,
        seed=chosen,
        replication=replication,
        kernel=platform.release(),
        congestion_control=system.default_law(),
        commands=list(commands),
        status=status,
        nodes=dict(zip(names, ended.pop("ends"), strict=True)),
        metrics=ended.pop("run").metrics,
        **ended,
    )


def _bound(names: Sequence[str], addresses: Sequence[str]) -> list[Node]:
    try:
        system.own_user()
        return [
            Node(name, address, *system.node(address, _MTU))
            for name, address in zip(names, addresses, strict=True)
        ]
    except system.Refused as refused:
        raise UnavailableError(f"live: {refused}") from refused


@contextmanager
def _stopped_by_signals() -> Iterator[tuple[int, int]]:
    """A pipe whose first end can be read once a signal asks this process to end, or its second is written."""
    stop, stops = os.pipe()
    os.set_blocking(stops, False)
    # What this process was started to ignore, as by nohup, it goes on ignoring.
    heard = (number for number in system.ENDING if signal.getsignal(number) != signal.SIG_IGN)
    before = {number: signal.signal(number, lambda *_: None) for number in heard}
    woken = signal.set_wakeup_fd(stops, warn_on_full_buffer=False)
    try:
        yield stop, stops
    finally:
        signal.set_wakeup_fd(woken)
        for number, handler in before.items():
            signal.signal(number, handler)
        for end in (stop, stops):
            with suppress(OSError):
                os.close(end)
