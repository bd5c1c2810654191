"""A number makes a case: a network with an agent, what disturbs it, and the connections over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import lasthop as lh
from lasthop import _core

from ..draw import Draw
from ..networks import record
from ..tree import text
from .traffic import BY_HOSTS, BY_PROGRAMS, draw_plan, longest_s

if TYPE_CHECKING:
    from ..tree import Tree

LAWS = ("reno", "cubic", "bbr")
LOSSES = ("loss", "loss above the mac")
BY_NETWORK = (*LOSSES, "outage", "hand-off", "restart", "disorder", "stations")
DISTURBANCES = (*BY_NETWORK, *BY_PROGRAMS, *BY_HOSTS)
#: Each agent with a kind, and whether it needs an 802.11 link.
AGENTS = {
    "none": ("none", False),
    "lle-tcp": ("lle-tcp", True),
    "lle-tcp, other options": ("lle-tcp", True),
    "snoop": ("snoop", False),
    "wtcp": ("wtcp", False),
    "proxy-tcp": ("proxy-tcp", True),
    "ack-filter": ("ack-filter", True),
    "hack": ("hack", True),
    "arq-proxy": ("arq-proxy", True),
    "two agents": ("snoop", True),
}
WIRES = ("wired", "802.16", "slotted", "recorded")
RADIOS = ("802.11", "802.11 with aggregation")
MOST_DRAFTS = 60
#: Cases from this number on are by QUIC, and what disturbs them is what can.
QUIC_FROM = 10_000
QUIC_LAWS = ("reno", "cubic")
# One takes Python up to a second on a busy machine.
MOST_HANDSHAKES = 8
BY_QUIC = (*BY_NETWORK, "server first", "request", "many short", "both ways")


@dataclass
class Case:
    """A case, and how it counts."""

    number: int
    tree: Tree
    plan: dict[str, Any]
    agent: str
    law: str
    link: str
    disturbances: list[str]
    mobile_connects: bool

    @property
    def text(self) -> str:
        return text(self.tree)

    @property
    def label(self) -> str:
        side = ["mobile connects"] if self.mobile_connects else []
        met = ", ".join(self.disturbances + side)
        return f"case {self.number}: {self.agent}, {self.law}, {self.link}; {met}"


def case(number: int) -> Case:
    """The case of this number. Agents, laws and disturbances take turns, so that few cases meet all."""
    for attempt in range(MOST_DRAFTS):
        draft = _draft(number, Draw(f"live/{number}/{attempt}"))
        if draft is not None and _is_accepted(draft):
            return draft
    raise AssertionError(f"case {number}: {MOST_DRAFTS} drafts were refused")


def _is_accepted(draft: Case) -> bool:
    try:
        _core.Scenario.from_text(draft.text, "case.toml")
    except lh.ScenarioError:
        return False
    return True


def _draft(number: int, draw: Draw) -> Case | None:
    turn, place = divmod(number, len(AGENTS))
    agent = list(AGENTS)[place]
    law = LAWS[(turn + turn // len(DISTURBANCES)) % len(LAWS)]
    disturbances = [DISTURBANCES[(turn + 5 * place) % len(DISTURBANCES)]]
    for _ in range(draw.one([0, 1, 1, 2, 3])):
        more = draw.one(DISTURBANCES)
        if more not in disturbances:
            disturbances.append(more)
    # Agents have more to do where packets are lost.
    if agent != "none" and not set(disturbances) & set(LOSSES) and draw.chance(0.6):
        disturbances.append(draw.one(LOSSES))
    kind, on_air = AGENTS[agent]
    # A station with LLE-TCP loses its copies when it restarts (docs/live.md, limits).
    if kind == "lle-tcp" and {"restart", "loss above the mac"} <= set(disturbances):
        disturbances.remove("loss above the mac")
    needs_air = on_air or set(disturbances) & {"loss above the mac", "stations"}
    link = draw.one(RADIOS if needs_air else [*RADIOS, *WIRES, *WIRES])
    network = _Network(draw, link, disturbances)
    network.agents(agent, kind)
    tree = {"title": f"Live case {number}"} | network.tree
    tree["run"] = {"duration": "60 s", "seed": number % 1000 + 1}
    if number >= QUIC_FROM:
        disturbances = [what for what in disturbances if what in BY_QUIC]
        law = "quic"
    plan = draw_plan(draw, disturbances, network.rate_bps)
    plan["quic"] = QUIC_LAWS[turn % len(QUIC_LAWS)] if law == "quic" else None
    if plan["quic"]:
        plan["lanes"] = [lane[:MOST_HANDSHAKES] for lane in plan["lanes"]]
    plan |= {"seed": f"live/{number}", "law": law}
    plan["limit_s"] = longest_s(plan, network.rate_bps, network.away_s)
    return Case(number, tree, plan, agent, law, link, disturbances, mobile_connects=draw.chance(0.5))


class _Network:
    """A server behind a wire, a base station, and a mobile behind a link of some kind."""

    def __init__(self, draw: Draw, link: str, disturbances: list[str]) -> None:
        self.draw, self.is_air, self.disturbances = draw, link in RADIOS, disturbances
        self.away_s = 0.0
        self.tree: Tree = {
            "run": {},
            "nodes": {"phone": {}, "base": {}, "server": {}},
            "links": {},
            "flows": {"main": {"from": "server", "to": "phone", "tcp": {}}},
        }
        made = {
            "wired": self._wired,
            "802.16": self._wimax,
            "slotted": self._slots,
            "recorded": self._record,
            "802.11": self._legacy,
            "802.11 with aggregation": self._today,
        }
        air, self.rate_bps = made[link]()
        self.tree["links"]["air"] = air
        wire = {"kind": "lossy", "nodes": ["base", "server"], "queue": "200 packets"}
        wire |= {"rate": draw.one(["10 Mbit/s", "100 Mbit/s"]), "delay": draw.time(0.0005, 0.04)}
        if "disorder" in disturbances:
            wire["jitter"] = {
                "spread": draw.time(1e-3, 0.02),
                "distribution": "uniform",
                "keeps-order": draw.chance(0.5),
            }
            wire["reorder"] = {"rate": draw.percent(0.5, 20)}
            wire["duplicate"] = {"rate": draw.percent(0.5, 10)}
        self.tree["links"]["wire"] = wire
        self.stations = {"base": "air"}
        if "outage" in disturbances:
            self._outage(air)
        if "hand-off" in disturbances:
            self._handoff(air)
        if "restart" in disturbances:
            self._restarts()
        if "stations" in disturbances:
            self._others(air)

    def _instant(self, first_s: float = 0.3) -> str:
        return f"{self.draw.uniform(first_s, 2.5) * 1e3:.0f} ms"

    def _loss(self, most: float) -> Tree:
        rate = self.draw.percent(0.5, most) if "loss" in self.disturbances else "0 %"
        return {"model": "packet", "rate": rate, "direction": "both"}

    def _wired(self) -> tuple[Tree, float]:
        rate_bps = self.draw.log(5e5, 2e7)
        link = {
            "kind": "lossy",
            "rate": f"{rate_bps / 1e3:.0f} kbit/s",
            "delay": self.draw.time(0.0005, 0.05),
        }
        link["queue"] = self.draw.one(["10 packets", "50 packets", "200 packets"])
        return {"nodes": ["phone", "base"], "loss": self._loss(8)} | link, rate_bps

    def _wimax(self) -> tuple[Tree, float]:
        low = self.draw.log(8e5, 4e6)
        rates = {
            name: f"{low * k / 1e3:.0f} kbit/s" for name, k in (("qpsk", 1), ("16-qam", 2), ("64-qam", 3))
        }
        link: Tree = {"kind": "wimax", "nodes": ["base", "phone"], "rates": rates}
        link["modulation"] = {"law": "markov", "start": "16-qam", "markov": {"mean": self.draw.time(0.1, 2)}}
        link["frame"] = {"length": self.draw.one(["2 ms", "5 ms"]), "downlink": "60 %"}
        return link | {"queue": "100 packets", "loss": self._loss(8)}, low * 0.4

    def _slots(self) -> tuple[Tree, float]:
        self.tree["nodes"] |= {
            "phone": {"position": ["0 m", "0 m"]},
            "base": {"position": ["200 m", "0 m"]},
        }
        frn = {"slot-length": self.draw.one(["500 us", "1 ms"]), "error-rate": self._loss(8)["rate"]}
        frn["interval"] = self.draw.one(["fixed", "load-adaptive"])
        return {"kind": "frn", "nodes": ["phone", "base"], "frn": frn}, 5e5

    def _record(self) -> tuple[Tree, float]:
        rate_bps = self.draw.log(1e6, 1e7)
        link = {"kind": "trace", "nodes": ["base", "phone"], "delay": self.draw.time(0.001, 0.03)}
        link |= {
            "queue": "100 packets",
            "trace": {"file": record(self.draw, rate_bps)},
            "loss": self._loss(8),
        }
        return link | {"reverse": {"trace": {"file": record(self.draw, rate_bps)}}}, rate_bps

    def _legacy(self) -> tuple[Tree, float]:
        standard, rate, goodput_bps = self.draw.one(
            [
                ("802.11", "2 Mbit/s", 1.2e6),
                ("802.11b", "11 Mbit/s", 4e6),
                ("802.11a", "6 Mbit/s", 4e6),
                ("802.11a", "54 Mbit/s", 2e7),
                ("802.11g", "24 Mbit/s", 1.2e7),
            ]
        )
        return self._radio({"standard": standard, "rate": rate}), goodput_bps

    def _today(self) -> tuple[Tree, float]:
        link = {"standard": self.draw.one(["802.11n", "802.11ac", "802.11ax"]), "mcs": self.draw.whole(0, 7)}
        link["aggregate"] = {"count": self.draw.one([4, 16, 64])}
        link["block-ack"] = {"reorder-timeout": self.draw.one(["5 ms", "100 ms"])}
        return self._radio(link), 6e6

    def _radio(self, link: Tree) -> Tree:
        link = {"kind": "wifi", "nodes": ["phone", "base"], "access-point": "base"} | link
        link |= {"queue": self.draw.one(["10 packets", "50 packets", "200 packets"])}
        loss = self._loss(40)
        del loss["direction"]
        if "loss above the mac" in self.disturbances:
            loss |= {"rate": self.draw.percent(0.5, 10), "above-mac": True}
        elif "loss" in self.disturbances and self.draw.chance(0.4):
            loss |= {"rate": self.draw.percent(0.5, 10), "repaired-by-arq": False}
        return link | {"loss": loss}

    def _outage(self, link: Tree) -> None:
        lasts = [self.draw.log(0.05, 2.0) for _ in range(self.draw.whole(1, 2))]
        begins = [self.draw.uniform(0.2, 1.5), self.draw.uniform(4.0, 5.0)]
        script = [
            f"{last * 1e3:.0f} ms at {at * 1e3:.0f} ms" for last, at in zip(lasts, begins, strict=False)
        ]
        link["outages"] = {"law": "script", "script": ", ".join(script)}
        self.away_s += sum(lasts)

    def _handoff(self, air: Tree) -> None:
        """A second base station beside the first, between which the mobile changes."""
        nodes = self.tree["nodes"]
        nodes |= {"other": {}, "gate": {}}
        if "position" in nodes["base"]:
            nodes["other"]["position"] = nodes["base"]["position"]
        second = {name: value for name, value in air.items() if name != "outages"}
        second["nodes"] = ["other" if node == "base" else node for node in air["nodes"]]
        if "access-point" in air:
            second["access-point"] = "other"
        self.tree["links"]["second"] = second
        self.tree["links"]["wire"]["nodes"] = ["gate", "server"]
        for node in ("base", "other"):
            wire = {"kind": "wired", "nodes": [node, "gate"], "rate": "100 Mbit/s", "delay": "2 ms"}
            self.tree["links"][f"{node}-gate"] = wire
        first = self.draw.uniform(0.3, 1.2)
        gap = self.draw.one([0.0, 0.05, 0.5])
        every = gap + self.draw.uniform(0.3, 2.0)
        handoff: Tree = {"law": "script", "from": "air", "to": "second", "gap": f"{gap * 1e3:.0f} ms"}
        handoff["script"] = ", ".join(f"{(first + place * every) * 1e3:.0f} ms" for place in range(3))
        handoff["late"] = self.draw.one(["dropped", "forwarded"])
        nodes["phone"]["handoff"] = handoff
        self.stations["other"] = "second"
        self.away_s += 3 * gap

    def _restarts(self) -> None:
        nodes = [*self.stations, "phone"]
        for node in self.draw.some(nodes, self.draw.whole(1, len(nodes))):
            self.tree["nodes"][node]["restart"] = self._instant()

    def _others(self, air: Tree) -> None:
        """Stations with simulated flows of their own."""
        self.tree["nodes"]["laptop"] = {"count": self.draw.whole(1, 3)}
        air["nodes"] = [*air["nodes"], "laptop"]
        app = {"kind": "cbr", "cbr": {"rate": "200 kbit/s"}}
        self.tree["flows"]["others"] = {"from": "server", "to": "laptop", "app": app, "udp": {}}
        self.rate_bps /= 2

    def agents(self, agent: str, kind: str) -> None:
        if agent == "none":
            return
        kinds = [kind, "ack-filter"] if agent == "two agents" else [kind]
        found: Tree = {}
        if kind == "wtcp":
            self.tree["flows"]["main"]["tcp"] = {"timestamps": True}
        for name in kinds:
            settings = self._options(name) if agent not in ("lle-tcp", "hack") else {}
            table = {"kind": name} | ({name: settings} if settings else {})
            if self.is_air and name != "ack-filter":
                found[name] = table
                continue
            for place, (node, link) in enumerate(self.stations.items()):
                found[f"{name}-{place}"] = table | {"node": node, "link": link}
        self.tree["agents"] = found
        if "handoff" in self.tree["nodes"]["phone"]:
            self.tree["nodes"]["phone"]["handoff"]["state-delay"] = self.draw.time(0.001, 0.1)

    def _options(self, kind: str) -> Tree:
        draw = self.draw
        if kind == "lle-tcp":
            options: Tree = {"acknowledge": draw.one(["every-packet", "delayed"])}
            options["on-undelivered"] = draw.one(["nothing", "resubmit-once", "three-duplicates"])
            options |= {"hold": draw.one(["10 ms", "40 ms"]), "repair": draw.one(["50 ms", "200 ms"])}
            return options | {"max-kept": draw.one(["20 kB", "8 MB"]), "max-flows": draw.one([2, 16384])}
        if kind == "proxy-tcp":
            return {"duplicates": draw.one(["while-trying", "held", "resend"])}
        if kind == "snoop":
            return {"cache": draw.one([10, 100]), "ahead": draw.chance(0.5), "eln": draw.chance(0.5)}
        if kind == "wtcp":
            return {"buffer": draw.one([10, 100]), "ahead": draw.chance(0.5), "hide-time": draw.chance(0.5)}
        if kind == "arq-proxy":
            return {"wait": draw.one(["1 ms", "5 ms"]), "prepared": draw.one([4, 16384])}
        return {"count": draw.one([2, 32]), "delay": draw.one(["1 ms", "10 ms"])}
