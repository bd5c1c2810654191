"""Measuring speed and memory on fixed cases, and beside ns-2 where it is installed.

A case is a file `bench/<name>.toml`: a scenario, settings, and simulated durations from short to
long; or an agent and numbers of flows. Events and packets per CPU second come from the longest;
memory must not grow from the shortest to the longest, since nothing in a run may depend on how long
it lasts.
"""

from __future__ import annotations

import re
import resource
import shutil
import subprocess
import tomllib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lasthop import paths
from lasthop.agentcost import AgentCase
from lasthop.errors import LasthopError, UsageError, nearest
from lasthop.overrides import as_text
from lasthop.quantity import digits
from lasthop.scenario import Scenario, load
from lasthop.table import grid

if TYPE_CHECKING:
    from collections.abc import Iterator

_PARTS = {"title", "scenario", "set", "flow", "durations", "peer"}
_AGENT_PARTS = {"modes", "flows", "packets"}


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
    """What one run of a case cost."""

    case: str
    simulator: str
    simulated_s: float
    cpu_s: float
    packets: float
    events: int | None
    peak_bytes: int | None

    @property
    def ns_per_event(self) -> float | None:
        """CPU time for one event."""
        return self.cpu_s / self.events * 1e9 if self.events else None

    @property
    def ns_per_packet(self) -> float | None:
        """CPU time for one packet delivered to the application."""
        return self.cpu_s / self.packets * 1e9 if self.packets else None

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            **asdict(self),
            "ns_per_event": self.ns_per_event,
            "ns_per_packet": self.ns_per_packet,
        }


def cases(names: tuple[str, ...] = ()) -> list[Case | AgentCase]:
    """The cases of that name, or all."""
    base = paths.folder("bench")
    files = {f.stem: f for f in sorted(base.glob("*.toml"))} if base else {}
    for name in names:
        if name not in files:
            raise UsageError(f"bench: {name}: unknown case; {nearest(name, files)}")
    return [_case(files[name]) for name in names or files]


def _case(path: Path) -> Case | AgentCase:
    try:
        found = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError) as e:
        raise UsageError(f"{path}: {e}; expected a readable case") from e
    if "agent" in found:
        return _agent_case(path, found)
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
    key = f"flows.{case.flow}.tcp.packet"
    packet = scenario.numeric(key, scenario.resolved()[key]["value"]) or 1.0
    return Measured(
        case.name,
        "lasthop",
        done.simulated_s,
        done.cpu_s,
        goodput * done.simulated_s / 8 / packet,
        done.events,
        _peak(),
    )


def _peak() -> int | None:
    """The largest resident memory of this process since `_forget_peak`; Linux only."""
    try:
        text = Path("/proc/self/status").read_text(encoding="ascii")
    except OSError:
        return None
    match = re.search(r"^VmHWM:\s+(\d+) kB", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else None


def _forget_peak() -> None:
    """Let the peak start again from what is resident now, where the system can do that."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError:
        return


def peer(case: Case) -> Measured:
    """Run a case's ns-2 script and take the CPU time of that process."""
    if "ns2" not in case.peer:
        raise UsageError(f"bench: {case.name}: no ns-2 script; expected [peer] in its file")
    if shutil.which("ns") is None:
        raise LasthopError("bench: ns is not installed; expected ns-2 on the path for --peer ns2")
    base = paths.folder("bench")
    assert base is not None
    script = base / "peers" / "ns2" / case.peer["ns2"]
    duration = str(case.peer["duration"])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = ["ns", str(script), duration, *(str(a) for a in case.peer.get("arguments", []))]
    try:
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    except subprocess.CalledProcessError as e:
        raise LasthopError(f"{script}: {e.stderr.strip() or e}; expected it to finish") from e
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    delivered = re.search(r"delivered (\d+)", output)
    if delivered is None:
        raise LasthopError(f'{script}: printed "{output.strip()}"; expected "delivered N"')
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Measured(case.name, "ns-2", float(duration), cpu, float(delivered[1]), None, None)


def text(lines: list[Measured]) -> str:
    """A table of what was measured, with the ratio to ns-2 where that was run."""
    theirs = {m.case: m.ns_per_packet for m in lines if m.simulator == "ns-2"}
    rows = []
    for m in lines:
        other = theirs.get(m.case)
        each = m.ns_per_packet
        rows.append(
            [
                m.case,
                m.simulator,
                f"{m.simulated_s:g}",
                digits(m.cpu_s, 3),
                f"{m.packets:.0f}",
                str(m.events) if m.events is not None else "–",
                digits(m.ns_per_event, 3),
                digits(each, 3),
                f"{m.peak_bytes / 1e6:.2f}" if m.peak_bytes is not None else "–",
                f"{other / each:.1f}" if other and each and m.simulator != "ns-2" else "",
            ]
        )
    head = "case|simulator|simulated s|CPU s|packets|events|ns/event|ns/packet|peak MB|ns-2 / ours"
    return grid(head.split("|"), rows)
