"""Nodes and links of every kind: the basis of a random scenario.

Each network is drawn with the pairs of nodes between which flows may go, and with how fast it can be, so
that a run may be made short enough. Details (queues, losses, thresholds) are drawn here where a run would
hardly meet them otherwise, and by `twists` for every other key.
"""

from __future__ import annotations

import tempfile
import zlib
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .draw import Draw
    from .tree import Tree

WIFI_RATES = {
    "802.11": ["1 Mbit/s", "2 Mbit/s"],
    "802.11b": ["1 Mbit/s", "2 Mbit/s", "5.5 Mbit/s", "11 Mbit/s"],
    "802.11b-short": ["2 Mbit/s", "5.5 Mbit/s", "11 Mbit/s"],
    "802.11a": ["6 Mbit/s", "12 Mbit/s", "24 Mbit/s", "54 Mbit/s"],
    "802.11g": ["6 Mbit/s", "12 Mbit/s", "24 Mbit/s", "54 Mbit/s"],
}


@dataclass
class Network:
    """What flows may use: pairs of ends, and whether packets may cross an 802.11 link, or slots only."""

    tree: Tree
    ends: list[tuple[str, str]] = field(default_factory=list)
    wifi: bool = False
    frn: bool = False
    fastest_bps: float = 2e6
    agents: bool = False
    #: A node before a last hop over a wire, and that link.
    station: tuple[str, str] | None = None

    def link(self, name: str, **table: object) -> None:
        self.tree["links"][name] = table


def draw_network(draw: Draw) -> Network:
    """A network of some kind."""
    network = Network({"run": {}, "nodes": {}, "links": {}, "flows": {}})
    kind: Callable[[Draw, Network], None] = draw.one(
        [_chain, _infrastructure] * 3 + [_cell, _slotted] * 2 + [_dumbbell, _hops, _mixed]
    )
    kind(draw, network)
    return network


def _loss(draw: Draw) -> Tree:
    """A loss process of a lossy wire, or of an 802.16 link."""
    model = draw.one(["packet", "packet", "bit", "gilbert-elliott", "list", "none"])
    loss: Tree = {"model": model, "direction": draw.one(["forward", "reverse", "both"])}
    if model == "packet":
        loss["rate"] = draw.percent(0.01, 30)
    elif model == "bit":
        loss["bit"] = {"ber": draw.one([1e-7, 1e-6, 1e-5, 3e-5])}
    elif model == "gilbert-elliott":
        loss["gilbert-elliott"] = {
            "good-to-bad": draw.percent(0.01, 5),
            "bad-to-good": draw.percent(5, 60),
            "loss-bad": draw.percent(20, 100),
        }
    elif model == "list":
        drops = sorted({draw.whole(1, draw.one([10, 60, 400])) for _ in range(draw.whole(1, 9))})
        loss["list"] = {"drop": drops, "of": draw.one(["data", "ack", "all"])}
    return loss


def record(draw: Draw, rate_bps: float) -> str:
    """A file with delivery opportunities of about this rate, named by its content."""
    last = draw.whole(1, draw.one([3, 40, 2000]))
    count = max(1, round(rate_bps * last / 1e3 / (1504 * 8)))
    times = sorted(draw.whole(0, last) for _ in range(min(count, 4000)))
    text = "".join(f"{ms}\n" for ms in [*times[:-1], last])
    file = Path(tempfile.gettempdir()) / "lasthop-records" / f"{zlib.crc32(text.encode()):08x}"
    file.parent.mkdir(exist_ok=True)
    if not file.exists():
        file.write_text(text, encoding="utf-8")
    return str(file)


def _wire(draw: Draw, network: Network, name: str, ends: tuple[str, str], rate_bps: float) -> None:
    """A point-to-point link of any kind between two nodes."""
    kind = draw.one(["wired", "wired", "lossy", "lossy", "wimax", "trace"])
    table: Tree = {"kind": kind, "nodes": list(ends), "delay": draw.time(1e-5, 0.3)}
    table["queue"] = draw.one(
        [f"{draw.whole(1, 12)} packets", f"{draw.whole(10, 200)} packets", draw.size(1500, 2e5), "unlimited"]
    )
    if kind == "wimax":
        script = ["qpsk at 300 ms, 64-qam at 900 ms", "64-qam at 1 s", "qpsk at 2 s, 16-qam at 3 s"]
        low = draw.log(0.3, 2) * rate_bps
        factors = {"qpsk": 1, "16-qam": 2, "64-qam": 3}
        table["rates"] = {name: f"{low * factor / 1e3:.0f} kbit/s" for name, factor in factors.items()}
        law = draw.one(["fixed", "script", "markov", "snr"])
        table["modulation"] = {"law": law, "start": draw.one(["qpsk", "16-qam", "64-qam"])}
        if law == "script":
            table["modulation"]["script"] = draw.one(script)
        if law == "markov":
            table["modulation"]["markov"] = {"mean": draw.time(0.02, 3)}
        table["frame"] = {"length": draw.one(["1 ms", "2 ms", "5 ms"]), "downlink": draw.percent(30, 70)}
    elif kind == "trace":
        table["trace"] = {"file": record(draw, rate_bps)}
        if draw.chance(0.5):
            table["reverse"] = {"trace": {"file": record(draw, rate_bps)}, "delay": draw.time(1e-5, 0.2)}
        table["aqm"] = {"law": draw.one(["red", "codel", "fq-codel", "pie", "dualpi2"])}
        if draw.chance(0.5):
            del table["aqm"]
    else:
        table["rate"] = f"{rate_bps / 1e3:.0f} kbit/s"
        if draw.chance(0.3):
            table["reverse"] = {"rate": draw.rate(rate_bps / 20, rate_bps), "delay": draw.time(1e-5, 0.2)}
        if draw.chance(0.2):
            longest = draw.log(0.01, 0.3)
            low, high = f"{longest * 100:.1f} ms", f"{longest * 1000:.1f} ms"
            table["rtt"] = draw.one(
                [
                    {"law": "uniform", "uniform": {"min": low, "max": high}},
                    {"law": "normal", "normal": {"mean": high, "deviation": low}},
                    {"law": "exponential", "exponential": {"mean": high, "min": low}},
                ]
            )
    if kind != "wired":
        table["loss"] = _loss(draw)
    network.link(name, **table)


def _chain(draw: Draw, network: Network) -> None:
    """One to four links in a row, of kinds that differ."""
    names = [f"n{place}" for place in range(draw.whole(2, 5))]
    network.tree["nodes"] = {name: {} for name in names}
    rate_bps = draw.log(5e4, 2e7)
    for left, right in pairwise(names):
        _wire(draw, network, f"{left}-{right}", (left, right), rate_bps * draw.one([1, 1, 1, 4, 10]))
    network.fastest_bps = 2 * rate_bps
    network.station = (names[-2], f"{names[-2]}-{names[-1]}")
    network.ends = [
        (names[0], names[-1]),
        (names[-1], names[0]),
        (names[0], names[1]),
        (names[-2], names[-1]),
    ]


def _dumbbell(draw: Draw, network: Network) -> None:
    """Groups of senders and receivers on both sides of one link."""
    count = draw.whole(1, 4)
    network.tree["nodes"] = {"s": {"count": count}, "l": {}, "r": {}, "d": {"count": count}}
    rate_bps = draw.log(2e5, 1e7)
    outer = f"{rate_bps * draw.one([1, 2, 10]) / 1e3:.0f} kbit/s"
    network.link("in", kind="wired", nodes=["s", "l"], rate=outer, delay=draw.time(1e-4, 0.05))
    _wire(draw, network, "middle", ("l", "r"), rate_bps)
    network.link("out", kind="wired", nodes=["r", "d"], rate=outer, delay=draw.time(1e-4, 0.05))
    network.fastest_bps = 2 * rate_bps
    network.ends = [("s", "d"), ("d", "s"), ("l", "r")]


# Of each standard with EDCA the highest MCS, the widths and the guard intervals.
MODES: dict[str, tuple[int, list[str], list[str]]] = {
    "802.11n": (7, ["20 MHz", "40 MHz"], ["0.4 us", "0.8 us"]),
    "802.11ac": (8, ["20 MHz", "80 MHz", "160 MHz"], ["0.4 us", "0.8 us"]),
    "802.11ax": (11, ["20 MHz", "80 MHz", "160 MHz"], ["0.8 us", "1.6 us", "3.2 us"]),
    "802.11be": (13, ["20 MHz", "80 MHz", "320 MHz"], ["0.8 us", "1.6 us", "3.2 us"]),
}


def _losses(draw: Draw, *models: str) -> Tree:
    """The losses of an 802.11 link, by one of these models."""
    model = draw.one(list(models))
    loss: Tree = {"model": model}
    if model == "packet":
        loss["rate"] = draw.percent(0.1, 40)
    if model == "bit":
        loss["bit"] = {"ber": draw.one([1e-6, 1e-5, 1e-4])}
    if model == "gilbert-elliott":
        loss["gilbert-elliott"] = {"mean-good": draw.time(0.05, 2), "mean-bad": draw.time(0.005, 0.3)}
    if model in {"packet", "bit"} and draw.chance(0.5):
        place = draw.one(["above-mac", "for-good", "of"])
        if place == "above-mac":
            loss["above-mac"] = True
        elif place == "for-good":
            loss["repaired-by-arq"] = False
        else:
            loss["of"] = draw.one(["all", "packets", "data"])
    return loss


def _wifi_of_today(draw: Draw, *nodes: str, access_point: str | None = None) -> tuple[Tree, float]:
    """An 802.11n, ac, ax or be link between these stations, and a rate that it carries."""
    standard = draw.one(list(MODES))
    highest, widths, guards = MODES[standard]
    table: Tree = {"kind": "wifi", "nodes": list(nodes), "standard": standard}
    table |= {"mcs": draw.whole(0, highest), "width": draw.one(widths), "guard-interval": draw.one(guards)}
    table["streams"] = draw.one([1, 1, 2])
    if draw.chance(0.6):
        aggregate: Tree = {"count": draw.one([1, 2, 16, 64])}
        if draw.chance(0.3):
            aggregate["time"] = draw.one(["300 us", "2 ms"])
        table["aggregate"] = aggregate
    table["block-ack"] = {"after-loss": draw.one(["request", "data"])}
    table["block-ack"]["reorder-timeout"] = draw.one(["5 ms", "100 ms"])
    if standard == "802.11be":
        table["block-ack"]["window"] = draw.one([64, 512, 1024])
        table.setdefault("aggregate", {"count": table["block-ack"]["window"]})
    if draw.chance(0.3):
        table["edca"] = {"best-effort": {"cw-min": draw.one([1, 7, 31]), "txop": draw.one(["0 s", "2 ms"])}}
    if draw.chance(0.4):
        table["rts-threshold"] = draw.one(["0 B", "3000 B"])
    table["queue"] = f"{draw.whole(1, 200)} packets"
    if access_point:
        table["access-point"] = access_point
        if standard in {"802.11ax", "802.11be"} and draw.chance(0.6):
            table["ofdma"] = _ofdma(draw)
    table["loss"] = _losses(draw, "none", "packet", "packet", "bit", "gilbert-elliott")
    return table, 6e6


def _ofdma(draw: Draw) -> Tree:
    """PPDUs to several stations, from several, or both."""
    way = draw.one(["down", "up", "both"])
    table: Tree = {}
    if way != "up":
        table["scheduler"] = draw.one(["round-robin", "longest-queue"])
        table["acknowledgement"] = draw.one(["requests", "trigger", "aggregated-trigger"])
    if way != "down":
        table["uplink"] = draw.one(["round-robin", "longest-queue"])
        table["report-interval"] = draw.one(["none", "0.5 ms", "5 ms", "40 ms"])
        if draw.chance(0.5):
            table["edca"] = "mu"
            aifsn, timer = draw.whole(0, 15), draw.one(["8.192 ms", "81.92 ms", "2088.96 ms"])
            table["mu-edca"] = {"aifsn": aifsn, "timer": timer}
    if draw.chance(0.3):
        table["stations"] = draw.whole(2, 5)
    return table


def _wifi(draw: Draw, *nodes: str, access_point: str | None = None) -> tuple[Tree, float]:
    """An 802.11 link between these stations, and its rate."""
    if draw.chance(0.35):
        return _wifi_of_today(draw, *nodes, access_point=access_point)
    standard = draw.one(list(WIFI_RATES))
    rate = draw.one(WIFI_RATES[standard])
    table: Tree = {"kind": "wifi", "nodes": list(nodes), "standard": standard, "rate": rate}
    table["flavour"] = draw.one(["standard", "ns2"])
    table["basic-rates"] = [WIFI_RATES[standard][0]]
    if draw.chance(0.5):
        table["rts-threshold"] = draw.one(["0 B", "500 B", "never"])
    if draw.chance(0.3):
        table["fragment-threshold"] = draw.one(["256 B", "320 B", "600 B"])
    table["queue"] = draw.one([f"{draw.whole(1, 60)} packets", draw.size(3000, 64000)])
    if access_point:
        table["access-point"] = access_point
        if draw.chance(0.25):
            table["coordination"] = "pcf"
        elif draw.chance(0.6):
            table["arq"] = {"kind": draw.one(["dynamic", "dynamic", "fixed"])}
            if table["arq"]["kind"] == "dynamic":
                table["arq"]["timing"] = draw.one(["oracle", "estimate"])
    loss = _losses(draw, "none", "packet", "packet", "bit", "gilbert-elliott", "snr")
    table["loss"] = loss
    if loss["model"] == "snr" and draw.chance(0.5):
        table["fec"] = {"rate": draw.one([0.5, 0.75, 0.9])}
    return table, float(rate.split()[0]) * 1e6


def _air(draw: Draw, table: Tree, moves: bool) -> None:
    """Propagation for stations that have places."""
    if draw.chance(0.4):
        table["radio"] = draw.one(["ns2", "ns3"])
    propagation: Tree = {}
    if draw.chance(0.3):
        propagation["shadowing"] = {"model": "log-normal", "deviation": draw.one(["2 dB", "6 dB"])}
    if draw.chance(0.3):
        model = draw.one(["rayleigh", "rician"])
        propagation["fading"] = {"model": model, "coherence": draw.time(0.002, 0.1)}
        if moves and draw.chance(0.5):
            del propagation["fading"]["coherence"]
        if model == "rician":
            propagation["fading"]["k-factor"] = draw.one(["3 dB", "10 dB"])
    if propagation:
        table["propagation"] = propagation


def _place(draw: Draw, radius_m: float) -> Tree:
    """The place of a group around a node, or its movement."""
    radius = f"{radius_m:.0f} m"
    kind = draw.one(["circle", "disc", "move-circle", "move-waypoint"])
    speed = draw.one(["1 m/s", "5 m/s", "30 m/s"])
    if kind == "move-circle":
        return {"move": {"kind": "circle", "speed": speed, "circle": {"radius": radius}}}
    if kind == "move-waypoint":
        waypoint = {"radius": radius, "pause": draw.one(["0 s", "500 ms"])}
        return {"move": {"kind": "waypoint", "speed": speed, "waypoint": waypoint}}
    return {"place": {"kind": kind, kind: {"radius": radius}}}


def _cell(draw: Draw, network: Network) -> None:
    """Stations that all may hear each other, without an access point."""
    table, rate_bps = _wifi(draw, "hub", "sta")
    count = draw.whole(1, 5)
    if draw.chance(0.3):
        network.tree["nodes"] = {"hub": {}, "sta": {"count": count}}
    else:
        around = _place(draw, draw.one([5, 30, 120]))
        network.tree["nodes"] = {
            "hub": {"position": ["0 m", "0 m"]},
            "sta": {"count": count, "around": "hub"} | around,
        }
        _air(draw, table, "move" in around)
    network.link("air", **table)
    network.wifi = network.agents = True
    network.fastest_bps = rate_bps
    network.ends = [("hub", "sta"), ("sta", "hub"), ("hub", "sta1")]


def _infrastructure(draw: Draw, network: Network) -> None:
    """Hosts behind wires, an access point, its clients."""
    table, rate_bps = _wifi(draw, "ap", "sta", access_point="ap")
    count = draw.whole(1, 4)
    around = _place(draw, draw.one([5, 30, 60]))
    placed = draw.chance(0.8)
    network.tree["nodes"] = {
        "ap": {"position": ["0 m", "0 m"]} if placed else {},
        "sta": {"count": count, "around": "ap"} | around if placed else {"count": count},
        "host": {},
    }
    if placed:
        _air(draw, table, "move" in around)
    network.link("air", **table)
    _wire(draw, network, "wire", ("host", "ap"), rate_bps * draw.one([0.3, 1, 5]))
    network.wifi = network.agents = True
    network.fastest_bps = rate_bps
    network.ends = [("host", "sta"), ("sta", "host"), ("ap", "sta"), ("sta", "ap"), ("host", "sta1")]
    if count > 1:
        network.ends.append(("sta1", "sta2"))


def _hops(draw: Draw, network: Network) -> None:
    """A row of stations each of which hears only its neighbours, or not even these."""
    table, rate_bps = _wifi(draw, "n")
    count = draw.whole(3, 6)
    step = draw.one([100, 150, 200, 240])
    line = {"kind": "line", "line": {"step": [f"{step} m", "0 m"]}}
    network.tree["nodes"] = {"n": {"count": count, "place": line}}
    network.link("air", **table)
    network.wifi = network.agents = True
    network.fastest_bps = rate_bps
    network.ends = [("n1", f"n{count}"), (f"n{count}", "n1"), ("n2", "n1")]


def _slotted(draw: Draw, network: Network) -> None:
    """A slotted network as a row, a grid or a mesh, with a host behind it now and then."""
    count = draw.whole(3, 12)
    place = draw.one(
        [
            {"kind": "line", "line": {"step": ["200 m", "0 m"]}},
            {"kind": "grid", "grid": {"columns": 3, "step": ["200 m", "200 m"]}},
            {"kind": "hexagon", "hexagon": {"spacing": "200 m"}},
        ]
    )
    network.tree["nodes"] = {"n": {"count": count, "place": place}}
    frn: Tree = {
        "slot-length": draw.one(["1 ms", "10 ms"]),
        "sense": draw.one(["committed", "random", "nothing"]),
        "interval": draw.one(["fixed", "backoff", "blind", "load-adaptive"]),
        "discard": draw.one(["count", "lifetime"]),
        "error-rate": draw.percent(0.1, 40),
    }
    if draw.chance(0.4):
        frn["remembered"] = draw.whole(1, 20) if draw.chance(0.5) else "unlimited"
    if frn["interval"] == "fixed" and draw.chance(0.3):
        frn["windows"] = [draw.whole(3, 30) for _ in range(count)]
    network.link("frn", kind="frn", nodes=["n"], frn=frn)
    network.frn = True
    network.fastest_bps = 1e6
    last = f"n{count}"
    network.ends = [("n1", last), (last, "n1"), ("n2", last), ("n1", "n2")]
    if draw.chance(0.3):
        network.tree["nodes"]["host"] = {}
        _wire(draw, network, "wire", ("host", "n1"), draw.log(1e5, 1e6))
        network.ends += [("host", last), (last, "host")]


def _mixed(draw: Draw, network: Network) -> None:
    """Two media that share a node."""
    table, rate_bps = _wifi(draw, "a", "gate")
    network.tree["nodes"] = {"a": {}, "gate": {}, "b": {}}
    network.link("air", **table)
    network.wifi = network.agents = True
    network.fastest_bps = rate_bps
    if draw.chance(0.5):
        other, _ = _wifi(draw, "gate", "b")
        network.link("air2", **other)
    else:
        _wire(draw, network, "gate-b", ("gate", "b"), rate_bps)
    network.ends = [("a", "b"), ("b", "a"), ("a", "gate")]
