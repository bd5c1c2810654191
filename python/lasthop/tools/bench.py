"""Measuring speed and memory on fixed cases, compared with ns-2 or ns-3 where it is installed.

A case is a file `bench/<name>.toml`: a scenario, settings, and simulated durations from short to
long; or an agent and numbers of flows; or congestion laws. Events and packets per CPU second come from the
longest. Memory must not grow from the shortest to the longest, since nothing in a run may depend on how long
it lasts.

The peer does the same work: goodput and frames on the air are listed with its time, to show that it does.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base import paths
from lasthop.base.errors import LasthopError, UsageError, nearest, reason
from lasthop.base.quantity import digits
from lasthop.base.table import grid
from lasthop.scenario.overrides import as_text
from lasthop.scenario.scenario import Scenario, load
from lasthop.tools import ns3
from lasthop.tools.agentcost import AgentCase
from lasthop.tools.gymcost import GymCase
from lasthop.tools.lawcost import LawCase
from lasthop.tools.process import peak as peak_of
from lasthop.tools.process import timed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_PARTS = {"title", "scenario", "set", "flow", "durations", "peer"}
_AGENT_PARTS = {"modes", "flows", "packets"}
_LAW_PARTS = {"names", "acks"}

# The simulators that a case may be compared with, by the words of `--peer`, with what each is run as.
PEERS = {"ns2": ("ns-2", "ns-2 List"), "ns3": (ns3.NAME,)}

# Those of ns-2 for these cases: its default, a calendar queue, and the fastest where few events wait.
_SCHEDULERS = {"ns-2": "Calendar", "ns-2 List": "List"}

# What 802.11 stations send, and the nodes of a slotted network: packets and FRN ACKs.
_FRAMES = (".frames_sent", ".transmissions", ".acks")


# Bytes of a datagram of QUIC beside its data: short header, head of a stream frame, and tag.
_QUIC_HEADS = 33


@dataclass(frozen=True, slots=True)
class Case:
    """One thing to measure."""

    name: str
    title: str
    scenario: str
    settings: dict[str, Any]
    flow: str
    durations: tuple[str, ...]
    peer: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Measured:
    """The cost of one run of a case."""

    case: str
    simulator: str
    simulated_s: float
    cpu_s: float
    packets: float
    packet_bytes: float
    frames: int | None
    events: int | None
    peak_bytes: int | None
    slots: int | None = None

    @property
    def goodput_bps(self) -> float:
        """Payload delivered to the application, in bits per simulated second."""
        return self.packets * self.packet_bytes * 8 / self.simulated_s

    @property
    def ns_per_event(self) -> float | None:
        """CPU time for one event."""
        return self._each(self.events)

    @property
    def ns_per_packet(self) -> float | None:
        """CPU time for one packet delivered to the application."""
        return self._each(self.packets)

    @property
    def ns_per_frame(self) -> float | None:
        """CPU time for one frame on the air, control frames and repetitions included."""
        return self._each(self.frames)

    @property
    def ns_per_slot(self) -> float | None:
        """CPU time for one slot of a slotted network in which some node sends."""
        return self._each(self.slots)

    @property
    def slots_per_s(self) -> float | None:
        """Such slots in a second of CPU time."""
        return self.slots / self.cpu_s if self.slots and self.cpu_s else None

    def _each(self, count: float | None) -> float | None:
        return self.cpu_s / count * 1e9 if count else None

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            **asdict(self),
            "goodput_bps": self.goodput_bps,
            "ns_per_event": self.ns_per_event,
            "ns_per_packet": self.ns_per_packet,
            "ns_per_frame": self.ns_per_frame,
            "ns_per_slot": self.ns_per_slot,
            "slots_per_s": self.slots_per_s,
        }


def folder() -> Path:
    """The folder of the cases; only a checkout has one."""
    top = paths.checkout()
    if top is None:
        raise UsageError("bench: lasthop does not run from a checkout; expected ./lasthop bench inside one")
    return top / "bench"


def cases(names: tuple[str, ...] = ()) -> list[Case | AgentCase | LawCase | GymCase]:
    """The cases of that name, or all."""
    files = {f.stem: f for f in sorted(folder().glob("*.toml"))}
    for name in names:
        if name not in files:
            raise UsageError(f"bench: {name}: unknown case; {nearest(name, files)}")
    return [_case(files[name]) for name in names or files]


def _case(path: Path) -> Case | AgentCase | LawCase | GymCase:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as e:
        raise UsageError(f"{path}: {reason(e)}; expected a readable case") from e
    if "agent" in found:
        return _agent_case(path, found)
    if "laws" in found:
        return _law_case(path, found)
    if "gym" in found:
        return _gym_case(path, found)
    _refuse_unknown(path, "", found, _PARTS)
    return Case(
        path.stem,
        found["title"],
        found["scenario"],
        found.get("set", {}),
        found["flow"],
        tuple(found["durations"]),
        found.get("peer", {}),
    )


def _agent_case(path: Path, found: dict[str, Any]) -> AgentCase:
    _refuse_unknown(path, "", found, {"title", "agent"})
    part = found["agent"]
    _refuse_unknown(path, "agent.", part, _AGENT_PARTS)
    return AgentCase(path.stem, found["title"], tuple(part["modes"]), tuple(part["flows"]), part["packets"])


def _law_case(path: Path, found: dict[str, Any]) -> LawCase:
    _refuse_unknown(path, "", found, {"title", "laws"})
    part = found["laws"]
    _refuse_unknown(path, "laws.", part, _LAW_PARTS)
    for law in part["names"]:
        try:
            _core.LawLoad(law)
        except ValueError as e:
            raise UsageError(f"{path}: laws.names: {e}") from e
    return LawCase(path.stem, found["title"], tuple(part["names"]), part["acks"])


def _gym_case(path: Path, found: dict[str, Any]) -> GymCase:
    _refuse_unknown(path, "", found, {"title", "gym"})
    part = found["gym"]
    _refuse_unknown(path, "gym.", part, {"scenario", "set", "every", "environments", "steps"})
    return GymCase(
        path.stem,
        found["title"],
        part["scenario"],
        part.get("set", {}),
        tuple(part["every"]),
        tuple(part["environments"]),
        part["steps"],
    )


def _refuse_unknown(path: Path, prefix: str, found: dict[str, Any], known: set[str]) -> None:
    for key in found:
        if key not in known:
            raise UsageError(f"{path}: {prefix}{key}: unknown key; {nearest(key, sorted(known))}")


def measure(case: Case) -> Iterator[Measured]:
    """Run a case in this process, once for each of its durations."""
    settings = [(k, as_text(v)) for k, v in case.settings.items()]
    for duration in case.durations:
        yield _run(case, load(case.scenario, [*settings, ("run.duration", duration)]))


def _run(case: Case, scenario: Scenario) -> Measured:
    _forget_peak()
    done = scenario.run()
    goodput = done.metrics[f"flows.{case.flow}.goodput_bps"] or 0.0
    packet = _packet_bytes(case, scenario)
    frames = _total(done.metrics, *_FRAMES)
    return Measured(
        case.name,
        "lasthop",
        done.simulated_s,
        done.cpu_s,
        goodput * done.simulated_s / 8 / packet,
        packet,
        frames,
        done.events,
        peak_of(),
        _total(done.metrics, ".slots_used"),
    )


def _total(metrics: Mapping[str, float | None], *ends: str) -> int | None:
    """The sum of the metrics with these endings; `None` if there are none."""
    found = [count for name, count in metrics.items() if name.endswith(ends)]
    return int(sum(count or 0.0 for count in found)) if found else None


def _packet_bytes(case: Case, scenario: Scenario) -> float:
    """The payload of a packet of the case's flows."""
    values = scenario.resolved()
    of = f"flows.{case.flow}"
    kind = values[f"{of}.app.kind"]["value"]
    keys = (f"{of}.tcp.packet", f"{of}.quic.packet", f"{of}.app.{kind}.packet")
    key = next(key for key in keys if key in values)
    heads = _QUIC_HEADS if key == f"{of}.quic.packet" else 0
    return (scenario.numeric(key, values[key]["value"]) or 1.0) - heads


def _forget_peak() -> None:
    """Let the peak start again from what is resident now, where the system can do that."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def no_peer(case: Case, simulator: str = "ns2") -> str | None:
    """Why ns-2 or ns-3 cannot be run on a case; `None` if it can."""
    if simulator == "ns3":
        return ns3.missing(folder(), case.peer)
    if "ns2" not in case.peer:
        return str(case.peer.get("none", "the case has no script"))
    return None if shutil.which("ns") else "ns is not installed"


def peers(case: Case, word: str) -> Iterator[Measured]:
    """Run a case in ns-2, with each scheduler, or in ns-3."""
    for simulator in PEERS[word]:
        yield peer(case, simulator)


def peer(case: Case, simulator: str = "ns-2") -> Measured:
    """Run a case in ns-2 or ns-3 and take CPU time and memory of that process."""
    word = next(word for word, names in PEERS.items() if simulator in names)
    why = no_peer(case, word)
    if why is not None:
        raise LasthopError(
            f"bench: {case.name}: cannot be compared with {simulator}: {why}; expected {simulator}"
        )
    scenario = load(case.scenario, [(k, as_text(v)) for k, v in case.settings.items()])
    if word == "ns2":
        seconds, delivered, cpu, frames, peak = _ns2(case, _SCHEDULERS[simulator])
    else:
        seconds, delivered, cpu, frames, peak = ns3.run(folder(), case.peer)
    size = _packet_bytes(case, scenario)
    return Measured(case.name, simulator, seconds, cpu, float(delivered), size, frames, None, peak)


def _ns2(case: Case, scheduler: str) -> tuple[float, int, float, int | None, int | None]:
    """Run a case's ns-2 script: seconds, packets delivered, CPU time, frames, peak memory.

    Where there are frames to count, the script runs once more for that: a trace of them takes time of
    its own, and the same seed gives the same frames.
    """
    script = folder() / "peers" / "ns2" / case.peer["ns2"]
    duration = str(case.peer["duration"])
    command = ["ns", str(script), duration, *(str(a) for a in case.peer.get("arguments", []))]
    output, cpu, peak = timed(command, script, {"SCHEDULER": scheduler})
    delivered = re.search(r"delivered (\d+)", output)
    if delivered is None:
        raise LasthopError(f'{script}: printed "{output.strip()}"; expected "delivered N"')
    frames = _frames(command) if case.peer.get("frames") else None
    return float(duration), int(delivered[1]), cpu, frames, peak


def _frames(command: list[str]) -> int:
    """How many frames a script's stations send."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={**os.environ, "FRAMES": "1"}
    ) as process:
        assert process.stdout is not None
        return sum(1 for line in process.stdout if line.startswith(b"s ") and b" MAC " in line)


def text(lines: list[Measured]) -> str:
    """A table of what was measured, with the ratio to each peer where that was run.

    The ratio is of time for a packet delivered.
    """
    known = [name for names in PEERS.values() for name in names]
    theirs = {(m.case, m.simulator): m.ns_per_packet for m in lines if m.simulator in known}
    compared = [name for name in known if any(simulator == name for _, simulator in theirs)]
    is_slotted = any(m.slots is not None for m in lines)
    rows = []
    for m in lines:
        each = m.ns_per_packet
        others = [theirs.get((m.case, name)) if m.simulator not in known else None for name in compared]
        rows.append(
            [
                m.case,
                m.simulator,
                f"{m.simulated_s:g}",
                digits(m.cpu_s, 3),
                digits(m.goodput_bps / 1e6, 4),
                f"{m.packets:.0f}",
                digits(each, 3),
                _count(m.frames),
                digits(m.ns_per_frame, 3),
                *(
                    [_count(m.slots), digits(m.ns_per_slot, 3), digits(m.slots_per_s, 3)]
                    if is_slotted
                    else []
                ),
                _count(m.events),
                digits(m.ns_per_event, 3),
                f"{m.peak_bytes / 1e6:.2f}" if m.peak_bytes is not None else "–",
                *(f"{other / each:.1f}" if other and each else "" for other in others),
            ]
        )
    slots = "|slots|ns/slot|slots/s" if is_slotted else ""
    head = (
        f"case|simulator|simulated s|CPU s|Mbit/s|packets|ns/packet|frames|ns/frame{slots}"
        "|events|ns/event|peak MB"
    )
    return grid([*head.split("|"), *(f"{name} / ours" for name in compared)], rows)


def _count(number: int | None) -> str:
    return "–" if number is None else str(number)
