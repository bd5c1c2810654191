"""A live run: programs on bound nodes, and the network of a scenario between them."""

from __future__ import annotations

import os
import platform
import select
import signal
import socket
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.errors import ScenarioError, UnavailableError, UsageError, nearest
from lasthop.realtime import system, tcp
from lasthop.realtime.internet import NAMES, Internet
from lasthop.realtime.programs import Command, Node, Programs
from lasthop.realtime.radios import Radios, Setting
from lasthop.scenario.description import fault, schemes_of
from lasthop.scenario.kept import keep
from lasthop.scenario.scenario import captures, ran

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lasthop.scenario.scenario import Scenario

#: The longest time that a live run may take if nothing is said.
LIMIT_S = 3600.0
#: How long a shell waits for the other programs to listen.
SERVERS_S = 2.0
#: The lateness at the 99th percentile beyond which results are not to be trusted.
LATE_S = 1e-3
#: The time between two samples of what watches a run.
EVERY_S = 0.5
_MTU = 1500
_FURTHER = (
    *("kernel", "congestion_control", "commands", "status", "length_s", "delivered", "refused"),
    *("late_p50_s", "late_p99_s", "late_p999_s", "late_max_s", "nodes"),
)
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
        status: The exit code of the last program of `lasthop live`; `None` if it was ended, and in Python.
        length_s: How many seconds the network ran.
        delivered: Packets that were delivered to bound nodes.
        refused: Packets that an interface did not take.
        late_p50_s: The median of the lateness of packets in seconds; `None` without packets, as below.
        late_p99_s: Its 99th percentile in seconds.
        late_p999_s: Its 99.9th percentile in seconds.
        late_max_s: The largest in seconds.
        nodes: What each bound node sent and received, by its name.
        metrics: The metrics of the scenario. Of a flow between bound nodes they are those of its packets.
        run: What `lasthop.Run.as_dict` gives of a run of the scenario.
    """

    scenario: str
    overrides: list[tuple[str, str]]
    point: int
    seed: int
    replication: int
    kernel: str
    congestion_control: str
    commands: list[tuple[str, tuple[str, ...]]]
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
    run: dict[str, Any]

    def as_dict(self) -> dict[str, Any]:
        """The outcome as plain data, as the command line prints it with `--json`.

        Returns:
            A mapping that JSON can carry.
        """
        further = {name: getattr(self, name) for name in _FURTHER}
        words = [{"node": node, "words": words} for node, words in self.commands]
        return self.run | further | {"commands": words}


def run(
    scenario: Scenario,
    commands: Sequence[Command],
    *,
    others: Sequence[str] = (),
    internet: str | None = None,
    point: int = 0,
    seed: int | None = None,
    replication: int = 0,
    limit_s: float = LIMIT_S,
    has_terminal: bool = False,
    servers_s: float = SERVERS_S,
    trace: Sequence[str] = (),
    pcap: str | Path | Mapping[str, str | Path] | None = None,
    out: Path | None = None,
    watch: Callable[[float, Mapping[str, float | None]], None] | None = None,
    ends: Sequence[int] = (),
    on_ready: Callable[[Sequence[Node]], None] | None = None,
) -> Outcome:
    """Run programs on nodes of a scenario until the last of them ends.

    The calling process moves to namespaces of its own and stays there, so it may call this once.

    Args:
        scenario: The scenario.
        commands: The programs, each with the name of its node.
        others: Nodes that are bound without a program.
        internet: The node through which all bound nodes reach the Internet.
        point: The number of the point.
        seed: The seed; `None` takes that of the scenario.
        replication: The replication.
        limit_s: The time in seconds after which the run ends.
        has_terminal: Whether the last program has the terminal of this process. Each line that other
            programs print begins with the name of their node.
        servers_s: How long that program waits for the others to listen.
        trace: The channels to record.
        pcap: A capture file for the first link, or one for each link in a mapping.
        out: A directory for what the run gave and its traces.
        watch: What takes the time and the metrics of the last half second, again and again.
        ends: Descriptors that end the run as soon as one of them can be read.
        on_ready: What to do with the bound nodes before the first packet.

    Raises:
        ScenarioError: The scenario has an agent that cannot run live.
        UsageError: A node does not exist, or a program cannot be started.
        UnavailableError: The system does not allow it, or lacks a program that it needs.
    """
    chosen = scenario.seed if seed is None else seed
    outlets = () if internet is None else (internet,)
    names = list(dict.fromkeys([*(command.node for command in commands), *others, *outlets]))
    channels = scenario.check_trace(trace, point)
    with (
        captures(scenario, pcap, point) as drafts,
        stopped_by_signals() as (stop, stops),
        select.epoll() as any_end,
        ExitStack() as held,
    ):
        live = _network(scenario, point, (chosen, replication), names, internet, channels, drafts)
        if channels:
            _load_numpy()
        way = held.enter_context(Internet()) if outlets else None
        try:
            nodes, radios = _bound(names, live, has_others=way is not None)
            if radios is not None:
                held.callback(radios.close)
            edges = [way.edge(live.join(node), _MTU) for node in outlets] if way else []
        except system.Refused as refused:
            raise UnavailableError(f"live: {refused}") from refused
        for end in (stop, *ends):
            any_end.register(end, select.EPOLLIN)
        try:
            started = commands if radios is None else radios.commands(names, commands)
            programs = Programs(nodes, started, stops, has_terminal=has_terminal, servers_s=servers_s)
        except OSError as error:
            text = f"{error.filename or 'node'}: {error.strerror}; expected a program that can be run"
            raise UsageError(text, argument="node") from error
        try:
            if on_ready is not None:
                on_ready(nodes)
            system.hurry(_PRIORITY)
            own = [node.interface for node in nodes] if radios is None else [radios.fileno()]
            interfaces = [*own, *(interface for _, interface in edges)]
            watches = None if watch is None else (EVERY_S, watch)
            opens = None if way is None else way.opens
            ended = live.run(interfaces, any_end.fileno(), (0.0, limit_s, system.early_s()), watches, opens)
            status = programs.status()
        finally:
            system.calm()
            programs.close()
            for held_by in (*(node[2:] for node in nodes), *edges):
                for descriptor in held_by:
                    os.close(descriptor)
    done = ran(scenario, ended.pop("run"), point, chosen, replication)
    outcome = Outcome(
        scenario=scenario.id,
        overrides=scenario.overrides,
        point=point,
        seed=chosen,
        replication=replication,
        kernel=platform.release(),
        congestion_control=tcp.default_law(),
        commands=list(commands),
        status=status,
        nodes=dict(zip(names, ended.pop("ends"), strict=True)),
        metrics=done.metrics,
        run=done.as_dict() | {"schemes": _schemes(scenario, point, names)},
        **ended,
    )
    if out is not None:
        keep(done, out, outcome.as_dict())
    return outcome


def _network(
    scenario: Scenario,
    point: int,
    seeds: tuple[int, int],
    names: Sequence[str],
    internet: str | None,
    trace: Sequence[str],
    pcap: Mapping[str, str] | None,
) -> _core.Live:
    """The network at its start: that of a point with these nodes bound."""
    known = [node["name"] for node in scenario.network(point)["nodes"]]
    for name in names:
        expect_node(name, known, "internet" if name == internet else "node")
    core = _core.Scenario.from_text(scenario.text, scenario.name, scenario.overrides)
    try:
        live = core.live(point, seeds, names, trace=trace, pcap=pcap)
    except ValueError as error:
        key, _, text = str(error).partition(": ")
        raise ScenarioError(fault(scenario, point, key, text)) from error
    if internet is not None and live.radios() is not None:
        text = 'the bound nodes have the stack "linux", and only radios; expected nodes without it'
        raise UsageError(text, argument="internet")
    for channel in trace:
        if (lacks := live.missing(channel)) is not None:
            text = f'"{channel}" records nothing between bound nodes; expected {lacks} between others'
            raise UsageError(text, argument="trace")
    return live


def expect_node(name: str, known: Sequence[str], argument: str) -> None:
    """Whether a node can be bound.

    Raises:
        UsageError: It does not exist, or programs cannot call it by its name.
    """
    if name not in known:
        raise UsageError(f"{name}: no such node; {nearest(name, known)}", argument=argument)
    if _is_address(name):
        raise UsageError(f"{name}: programs read this as an address; expected a name", argument=argument)


def _is_address(name: str) -> bool:
    """Whether a resolver takes a name for an IPv4 address, such as 2 or 0x1f."""
    try:
        socket.inet_aton(name)
    except OSError:
        return False
    return True


def _schemes(scenario: Scenario, point: int, bound: Sequence[str]) -> dict[str, str]:
    """The agents, links and TCP of a run without the flows that programs replace."""
    network = scenario.network(point)
    names = [node["name"] for node in network["nodes"]]
    simulated = {
        flow["table"]
        for flow in network["flows"]
        if not {names[flow["from"]], names[flow["to"]]} & set(bound)
    }
    schemes = schemes_of(scenario, point)
    return {
        key: value
        for key, value in schemes.items()
        if not key.startswith("flows.") or key.split(".")[1] in simulated
    }


def _load_numpy() -> None:
    """Load what reads traces, while this process may still start threads, and without any."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    import numpy  # noqa: F401, ICN001


def _bound(names: Sequence[str], live: _core.Live, *, has_others: bool) -> tuple[list[Node], Radios | None]:
    """The bound nodes, and their radios if they have some."""
    addresses = live.addresses()
    hosts = "".join(f"{address} {name}\n" for address, name in zip(addresses, names, strict=True))
    system.own_user()
    # Many servers look up the name of the machine, which a node may have.
    own = [name for name in ("localhost", platform.node()) if name not in names]
    hosts += f"127.0.0.1 {' '.join(own)}\n" if own else ""
    system.own_names(hosts, f"nameserver {NAMES}\n" if has_others else "")
    if (asked := live.radios()) is not None:
        radios = Radios(Setting(*asked))
        live.join_radios(radios.family)
        return radios.nodes(names, addresses), radios
    nodes = []
    for name, address in zip(names, addresses, strict=True):
        nodes.append(Node(name, address, *system.node(address, _MTU)))
        if has_others:
            system.send_all()
    return nodes, None


@contextmanager
def stopped_by_signals() -> Iterator[tuple[int, int]]:
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
