"""What the kernel is to do at a point of a scenario; what it cannot do is refused by its key.

The links must form one chain of wires and recorded links between two nodes, and the flows must send from one
end to the other by themselves. Keys of `tcp` describe our TCP. Of these the kernel gets the law, the size of
a segment, the window and the pace. It also gets whether timestamps, SACK, ECN and Nagle's algorithm are used,
and whether the window restarts after an idle time.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import ScenarioError
from lasthop.kernel.notes import note
from lasthop.kernel.parameters import NAMES, differing
from lasthop.realtime.tcp import ACCURATE_ECN
from lasthop.scenario.description import fault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from lasthop.scenario.scenario import Scenario

#: What the kernel calls our laws.
LAWS = {
    "reno": "reno",
    "cubic": "cubic",
    "bbr": "bbr",
    "vegas": "vegas",
    "veno": "veno",
    "westwood-plus": "westwood",
    "jtcp": "lasthop_jtcp",
    "ejtcp": "lasthop_ejtcp",
}
# Those that `lasthop kernel load` brings read timestamps, where ours have an option.
_LOADED = ("lasthop_jtcp", "lasthop_ejtcp")
_HEADERS, _TIMESTAMPS = 40, 12
# The relay reads packets of at most 16 KiB.
_LARGEST_PACKET = 16_000
STATED = ("file", "set", "sweep")
# Keys that a relay has, below the name of a link and of a flow.
_WIRE = ("policer.", "jitter.", "reorder.", "duplicate.")
_LINK = ("kind", "nodes", "rate", "delay", "queue", "reverse.", "loss.", "trace.", "aqm.", *_WIRE)
_FLOW = (
    "from",
    "to",
    "app.kind",
    "app.start",
    "app.stop",
    "app.file.size",
    "app.cbr.",
    "app.poisson.",
    "app.on-off.",
    "tcp.",
)
# Sources whose writes have times of their own.
_TIMED = ("cbr", "poisson", "on-off")
# What a scenario without it is.
_CHAIN = "a chain of wired, lossy and trace links without it"
# What these may not be set to anything else than.
_NEUTRAL = {
    "app.spread": "0 s",
    "sink.buffer": "none",
    "sink.read-rate": "unlimited",
    "sink.pause-at": "none",
    "sink.pause": "0 s",
    "tcp.extra-header": "0 B",
    "tcp.reaction": "none",
    "tcp.small-queue": "none",
}
_RULES = (
    ("kind", ("wired", "lossy", "trace"), "a wired, lossy or trace link"),
    (
        "aqm.law",
        ("none", "red", "codel", "fq-codel", "pie", "dualpi2"),
        "red, codel, fq-codel, pie or dualpi2",
    ),
    ("app.kind", ("bulk", "file", *_TIMED), f"bulk, file, {', '.join(_TIMED[:-1])} or {_TIMED[-1]}"),
    ("tcp.acks", ("delayed",), "delayed: the kernel has no other law of acknowledgement"),
)
# One setting of a namespace, so one for all flows.
_COMMON = (
    "tcp.packet",
    "tcp.timestamps",
    "tcp.sack",
    "tcp.ecn",
    "tcp.idle-restart",
    "tcp.pacing-slow-start",
    "tcp.pacing-avoidance",
)
# The kernel's `tcp_ecn` for each of ours.
_ECN = {"off": 0, "classic": 1, "accurate": ACCURATE_ECN}


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow for the kernel.

    Attributes:
        name: Its name.
        law: What the kernel calls its law.
        start_s: When it connects.
        size: The bytes of its file; `None` of a bulk flow.
        window: The bytes of its largest window.
        sender: The end of the chain that sends: 0 or 1.
        is_paced: Whether the kernel paces it, whatever its law is.
        has_nagle: Whether small segments wait for acknowledgements.
    """

    name: str
    law: str
    start_s: float
    size: int | None
    window: int
    sender: int
    is_paced: bool
    has_nagle: bool


@dataclass(frozen=True, slots=True)
class Path:
    """What the kernel is to do at a point.

    Attributes:
        point: The number of the point.
        ends: The nodes at both ends of the chain.
        steps: The links from the first end to the other, each with whether it is crossed backwards.
        flows: The flows.
        settings: What both namespaces are set to.
        warmup_s: The time after which bytes count.
        duration_s: The time at which the run ends.
    """

    point: int
    ends: tuple[str, str]
    steps: tuple[tuple[str, bool], ...]
    flows: tuple[Flow, ...]
    settings: Mapping[str, Any]
    warmup_s: float
    duration_s: float

    def job(self, scenario: Scenario, replication: int, sample_s: float) -> dict[str, Any]:
        """One run of it for a worker, as plain data."""
        return {
            "text": scenario.text,
            "name": scenario.name,
            "overrides": scenario.overrides,
            "point": self.point,
            "seed": scenario.seed,
            "replication": replication,
            "ends": self.ends,
            "settings": self.settings,
            "flows": [
                {
                    "from": f.sender,
                    "law": f.law,
                    "start_s": f.start_s,
                    "size": f.size,
                    "window": f.window,
                    "is_paced": f.is_paced,
                    "has_nagle": f.has_nagle,
                }
                for f in self.flows
            ],
            "warmup_s": self.warmup_s,
            "duration_s": self.duration_s,
            "sample_s": sample_s,
        }


def path(scenario: Scenario, point: int) -> Path:
    """What the kernel is to do at a point.

    Raises:
        ScenarioError: The kernel or the relay cannot do it; the message has file, line and key.
    """
    return _Reader(scenario, point).path()


class _Reader:
    """A point of a scenario, by table."""

    def __init__(self, scenario: Scenario, point: int) -> None:
        self.scenario = scenario
        self.point = point
        self.entries = scenario.resolved(point)
        self.tables: dict[str, dict[str, dict[str, dict[str, str]]]] = {}
        for key, entry in self.entries.items():
            section, _, rest = key.partition(".")
            name, _, below = rest.partition(".")
            self.tables.setdefault(section, {}).setdefault(name, {})[below] = entry

    def refused(self, key: str, expected: str, found: str | None = None) -> ScenarioError:
        """The error about a key."""
        entry = self.entries.get(key)
        value = found or (entry["value"] if entry else "absent")
        if not found and entry and not value.startswith("["):
            value = f'"{value}"'
        text = f"{value} is not possible with the peer linux; expected {expected}"
        return ScenarioError(fault(self.scenario, self.point, key, text))

    def path(self) -> Path:
        for section in self.tables:
            if section not in ("run", "nodes", "links", "flows", "agents"):
                self._refuse_table(section)
        for name, table in self.tables.get("agents", {}).items():
            if table.get("kind", {}).get("value") != "none":
                raise self.refused(f"agents.{name}.kind", "none: the kernel's path has no agents")
        self._refuse_others("nodes", ("position",))
        self._refuse_others("links", _LINK)
        self._refuse_others("flows", _FLOW)
        flows = self.tables.get("flows", {})
        ends = self._ends(flows)
        found = tuple(self._flow(name, table, ends) for name, table in flows.items())
        first = next(iter(flows))
        for key in _COMMON:
            for name in flows:
                ours, theirs = f"flows.{name}.{key}", f"flows.{first}.{key}"
                if self._value(ours) != self._value(theirs):
                    raise self.refused(ours, f"{self._value(theirs)}, as {theirs}")
        of = f"flows.{first}.tcp"
        reads_timestamps = any(flow.law in _LOADED for flow in found)
        has_timestamps = reads_timestamps or self._value(f"{of}.timestamps") == "true"
        packet = int(self._number(f"{of}.packet"))
        mtu = packet + _HEADERS + (_TIMESTAMPS if has_timestamps else 0)
        if mtu > _LARGEST_PACKET:
            raise self.refused(f"{of}.packet", f"at most {_LARGEST_PACKET - mtu + packet} B")
        return Path(
            self.point,
            ends,
            self._chain(*ends),
            found,
            {
                "mtu": mtu,
                "timestamps": has_timestamps,
                "microseconds": reads_timestamps,
                "sack": self._value(f"{of}.sack") == "true",
                "ecn": _ECN[self._value(f"{of}.ecn")],
                "window": max(flow.window for flow in found),
                "idle_restart": self._value(f"{of}.idle-restart") == "true",
                "pacing": [
                    round(100 * self._number(f"{of}.pacing-{stage}")) for stage in ("slow-start", "avoidance")
                ],
            },
            self._number("run.warmup"),
            self._number("run.duration"),
        )

    def _refuse_table(self, section: str) -> None:
        for name, table in self.tables[section].items():
            for below, entry in table.items():
                if entry["from"] in STATED:
                    key = ".".join(part for part in (section, name, below) if part)
                    raise self.refused(key, _CHAIN)

    def _refuse_others(self, section: str, known: Sequence[str]) -> None:
        """Refuse the keys of a section that are set and that the relay and the kernel do not have."""
        for name, table in self.tables.get(section, {}).items():
            for below, entry in table.items():
                key = f"{section}.{name}.{below}"
                for word, allowed, expected in _RULES:
                    if below == word and entry["value"] not in allowed:
                        raise self.refused(key, expected)
                if below in _NEUTRAL:
                    if entry["value"] != _NEUTRAL[below]:
                        raise self.refused(key, _NEUTRAL[below])
                elif entry["from"] in STATED and not any(
                    below == one or (one.endswith(".") and below.startswith(one)) for one in known
                ):
                    raise self.refused(key, _CHAIN)

    def _ends(self, flows: Mapping[str, Any]) -> tuple[str, str]:
        """The ends of the chain: those of the first flow."""
        if not flows:
            raise self.refused("flows", "at least one bulk or file flow")
        first = next(iter(flows))
        ends = (self._value(f"flows.{first}.from"), self._value(f"flows.{first}.to"))
        for name in flows:
            for word in ("from", "to"):
                if self._value(f"flows.{name}.{word}") not in ends:
                    raise self.refused(f"flows.{name}.{word}", f"{ends[0]} or {ends[1]}, as flows.{first}")
        return ends

    def _flow(self, name: str, table: Mapping[str, Any], ends: tuple[str, str]) -> Flow:
        of = f"flows.{name}"
        if "tcp.congestion" not in table:
            raise self.refused(f"{of}.udp.extra-header", "a flow over TCP", "UDP")
        law = self._value(f"{of}.tcp.congestion")
        if law not in LAWS:
            raise self.refused(f"{of}.tcp.congestion", f"one of {', '.join(LAWS)}")
        kind, pacing = self._value(f"{of}.app.kind"), self._value(f"{of}.tcp.pacing")
        if kind not in _TIMED and self._value(f"{of}.app.stop") != "none":
            raise self.refused(f"{of}.app.stop", "none")
        if law == "bbr" and pacing == "off":
            raise self.refused(f"{of}.tcp.pacing", "auto or on: the kernel's bbr paces itself")
        packet = int(self._number(f"{of}.tcp.packet"))
        size = None
        if kind == "file":
            text = self._value(f"{of}.app.file.size")
            size = int(self._number(f"{of}.app.file.size")) * (packet if "packet" in text else 1)
        window = int(self._number(f"{of}.tcp.window")) * packet
        sender = ends.index(self._value(f"{of}.from"))
        start = self._number(f"{of}.app.start")
        has_nagle = self._value(f"{of}.tcp.nagle") == "true"
        return Flow(name, LAWS[law], start, size, window, sender, pacing == "on", has_nagle)

    def _chain(self, here: str, there: str) -> tuple[tuple[str, bool], ...]:
        """The links from one node to the other; all links must be on the way."""
        left = {name: json.loads(table["nodes"]["value"]) for name, table in self.tables["links"].items()}
        steps = []
        while here != there:
            near = [name for name, nodes in left.items() if here in nodes]
            if len(near) != 1:
                break
            nodes = left.pop(near[0])
            steps.append((near[0], nodes[1] == here))
            here = nodes[0] if nodes[1] == here else nodes[1]
        if here != there or left:
            astray = [*left, *(name for name, _ in steps)][0]
            raise self.refused(f"links.{astray}.nodes", "one chain of links between the ends of the flows")
        return tuple(steps)

    def _value(self, key: str) -> str:
        return self.entries[key]["value"]

    def _number(self, key: str) -> float:
        number = self.scenario.numeric(key, self._value(key))
        assert number is not None, key
        return number


def with_known_laws(
    path: Path, scenario: Scenario, laws: Sequence[str], *, has_accurate_ecn: bool = True
) -> Path:
    """The same path, whose laws this kernel has.

    Raises:
        ScenarioError: This kernel does not have a law, or the kind of ECN.
    """
    reader = _Reader(scenario, path.point)
    known = [name for name, theirs in LAWS.items() if theirs in laws]
    for flow in path.flows:
        of = f"flows.{flow.name}.tcp"
        if flow.law not in laws and flow.law in _LOADED:
            ours = flow.law.removeprefix("lasthop_")
            raise reader.refused(f"{of}.congestion", f"a law that `lasthop kernel load {ours}` has loaded")
        if flow.law not in laws:
            raise reader.refused(f"{of}.congestion", f"one of {', '.join(known)}, which this kernel has")
        if path.settings["ecn"] == ACCURATE_ECN and not has_accurate_ecn:
            raise reader.refused(f"{of}.ecn", "off or classic, which this kernel has")
    return path


def loaded_otherwise(path: Path, scenario: Scenario) -> list[str]:
    """What the laws that `lasthop kernel load` brought do not have as the flows, and cannot have.

    Raises:
        ScenarioError: A law was loaded with other parameters.
    """
    said = []
    for flow in path.flows:
        if flow.law not in _LOADED:
            continue
        law = flow.law.removeprefix("lasthop_")
        noted = note(law)
        if noted is None:
            said.append(f"{flow.name}: the parameters of {flow.law} in the kernel are not known")
            continue
        for name, ours, theirs in differing(scenario, path.point, flow.name, law, noted):
            if name in NAMES[law]:
                key = f"flows.{flow.name}.tcp.{law}.{name}"
                expected = f"{theirs}, or `lasthop kernel load {law} -s {name}={ours}`"
                raise _Reader(scenario, path.point).refused(key, expected)
            said.append(f"{flow.name}: {law}.{name} is {ours} here and {theirs} in the kernel")
    return said
