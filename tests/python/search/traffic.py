"""Flows of every kind: what a random scenario sends."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .draw import Draw
    from .networks import Network
    from .tree import Tree

RECOVERIES = ["tahoe", "reno", "newreno", "sack", "fack", "uninflated"]
LAWS = ["reno", "vegas", "veno", "westwood", "westwood-plus", "cubic", "bbr", "bbr3", "dctcp", "prague"]
LAWS += ["jtcp", "ejtcp", "jersey"]
VARIANTS = [*RECOVERIES[:-1], *LAWS[1:]]
STAMPS = {"jtcp", "ejtcp"}


def draw_flows(draw: Draw, network: Network, duration_s: float) -> None:
    """One to five flows, and an agent where one can serve them."""
    for number in range(draw.one([1, 1, 2, 2, 3, 5])):
        network.tree["flows"][f"f{number}"] = _flow(draw, network, duration_s)
    over_tcp = [name for name, flow in network.tree["flows"].items() if "udp" not in flow]
    if network.station and over_tcp and draw.chance(0.5):
        node, link = network.station
        station: Tree = _station(draw, network, over_tcp) | {"node": node, "link": link}
        network.tree["agents"] = {"agent": station}
    if network.agents and over_tcp and draw.chance(0.5):
        agent: Tree = {"kind": draw.one(["lle-tcp", "lle-tcp", "proxy-tcp", "arq-proxy", "station"])}
        if agent["kind"] == "station":
            agent = _station(draw, network, over_tcp)
        if agent["kind"] == "lle-tcp":
            agent["lle-tcp"] = {
                "mode": draw.one(["safe", "safe", "paper"]),
                "on-undelivered": draw.one(["nothing", "resubmit-once", "three-duplicates"]),
                "acknowledge": draw.one(["every-packet", "delayed"]),
            }
        network.tree["agents"] = {"agent": agent}
    if "agents" in network.tree:
        # An agent makes, ends or follows acknowledgements of which it knows the law.
        for name in over_tcp:
            for key in ("acks", "tack", "requested"):
                network.tree["flows"][name]["tcp"].pop(key, None)


def _station(draw: Draw, network: Network, over_tcp: list[str]) -> Tree:
    """An agent of a base station, and flows that it can serve."""
    kind: str = draw.one(["snoop", "wtcp"])
    for name in over_tcp:
        tcp = network.tree["flows"][name]["tcp"]
        if kind == "wtcp" and tcp.get("timestamps") is False:
            kind = "snoop"
    for name in over_tcp:
        tcp = network.tree["flows"][name]["tcp"]
        if kind == "wtcp":
            tcp["timestamps"] = True
        elif draw.chance(0.5):
            tcp["eln"] = True
    settings: Tree = {"ahead": draw.chance(0.7)}
    if draw.chance(0.5):
        settings["threshold"] = draw.whole(0, 3)
    if draw.chance(0.3):
        settings["cache" if kind == "snoop" else "buffer"] = draw.whole(1, 20)
    return {"kind": kind, kind: settings}


def _flow(draw: Draw, network: Network, duration_s: float) -> Tree:
    sender, receiver = draw.one(network.ends)
    flow: Tree = {"from": sender, "to": receiver}
    if draw.chance(0.2):
        flow["app"] = _ping(draw) if draw.chance(0.3) else _packets(draw, network.fastest_bps)
        flow["udp"] = {}
        _timed(draw, flow["app"], duration_s)
        return flow
    kind = draw.one(["bulk", "bulk", "file", "file", "file", "packets", "user"])
    size = f"{draw.log(1, 2000):.0f} packets" if draw.chance(0.3) else draw.size(100, 3e6)
    if kind == "bulk":
        flow["app"] = {"kind": "bulk"}
    elif kind == "file":
        flow["app"] = {"kind": "file", "file": {"size": size}}
    elif kind == "packets":
        flow["app"] = _packets(draw, network.fastest_bps)
    else:
        flow["app"] = _user(draw)
    _timed(draw, flow["app"], duration_s)
    if kind != "user":
        if draw.chance(0.25):
            flow["sink"] = _sink(draw, network, duration_s)
        if draw.chance(0.2):
            _reverse(draw, flow, network, duration_s)
    flow["tcp"] = _tcp(draw)
    return flow


def _timed(draw: Draw, app: Tree, duration_s: float) -> None:
    start = 0.0
    if draw.chance(0.3):
        start = draw.uniform(0, 0.5) * duration_s
        app["start"] = f"{start * 1e3:.0f} ms"
    if draw.chance(0.25):
        app["stop"] = f"{(start + draw.uniform(0.01, 0.6) * duration_s) * 1e3 + 1:.0f} ms"


def _packets(draw: Draw, fastest_bps: float) -> Tree:
    """A source of packets, of at most four thousand a second."""
    kind = draw.one(["cbr", "poisson", "on-off"])
    packet = round(draw.log(20, 1400))
    rate_bps = min(draw.log(0.01, 1.2) * fastest_bps, 4000 * 8 * packet)
    source: Tree = {"rate": f"{max(1.0, rate_bps / 1e3):.0f} kbit/s", "packet": f"{packet} B"}
    if kind == "on-off":
        source |= {"on": draw.time(0.01, 1), "off": draw.time(0.01, 1)}
        source["law"] = draw.one(["exponential", "pareto", "fixed"])
    return {"kind": kind, kind: source}


def _ping(draw: Draw) -> Tree:
    """A probe of at most five hundred requests a second."""
    ping = {"interval": draw.time(0.002, 1), "packet": f"{draw.log(1, 1400):.0f} B"}
    return {"kind": "ping", "ping": ping if draw.chance(0.7) else {}}


def _user(draw: Draw) -> Tree:
    kind = draw.one(["ftp", "web", "mail", "mix"])
    user: Tree = {"kind": kind, "pauses": draw.one(["exponential", "fixed"])}
    if kind in {"ftp", "mix"}:
        user["ftp"] = {"size": draw.size(100, 2e5), "pause": draw.time(0.05, 3)}
    if kind in {"web", "mix"}:
        user["web"] = {"reading": draw.time(0.05, 3), "pages": draw.whole(1, 3)}
    if kind in {"mail", "mix"}:
        user["mail"] = {"size": draw.size(50, 2e4), "pause": draw.time(0.05, 3)}
    if kind == "mix":
        user["mix"] = {"by": draw.one(["session", "client", "bytes"])}
    return user


def _sink(draw: Draw, network: Network, duration_s: float) -> Tree:
    sink: Tree = {}
    if draw.chance(0.7):
        sink["buffer"] = draw.size(1500, 1e5)
    if draw.chance(0.4):
        sink["read-rate"] = draw.rate(0.02 * network.fastest_bps, 2 * network.fastest_bps)
    if draw.chance(0.5):
        sink["pause-at"] = f"{draw.uniform(0, 0.7) * duration_s * 1e3:.0f} ms"
        sink["pause"] = draw.time(0.01, 5)
    return sink


def _reverse(draw: Draw, flow: Tree, network: Network, duration_s: float) -> None:
    kind = draw.one(["bulk", "file", "packets"])
    reverse = {"kind": kind} if kind != "packets" else _packets(draw, network.fastest_bps)
    if kind == "file":
        reverse["file"] = {"size": draw.size(100, 1e6)}
    flow["app"]["reverse"] = reverse
    if draw.chance(0.2):
        flow.setdefault("sink", {})["reverse"] = _sink(draw, network, duration_s)


def _tcp(draw: Draw) -> Tree:
    tcp: Tree = {"variant": draw.one(VARIANTS)}
    if draw.chance(0.4):
        tcp["profile"] = "ns2-2004"
    law = tcp["variant"]
    if draw.chance(0.3):
        tcp["recovery"], tcp["congestion"] = draw.one(RECOVERIES), draw.one(LAWS)
        law = tcp["congestion"]
    if draw.chance(0.6):
        tcp["packet"] = draw.size(40, 1460)
    if draw.chance(0.6):
        tcp["window"] = f"{draw.log(1, 300):.0f} segments"
    if draw.chance(0.4):
        tcp["min-rto"] = draw.time(0.05, 1)
    if draw.chance(0.1) and law not in STAMPS:
        tcp["judges"] = draw.some(["veno", "jtcp", "ejtcp", "jersey"], draw.whole(1, 2))
    if law in STAMPS or "judges" in tcp:
        # Three options that are too long for one header.
        tcp["timestamps"] = False
    if draw.chance(0.4):
        _acks(draw, tcp)
    return tcp


def _acks(draw: Draw, tcp: Tree) -> None:
    """A law of acknowledgement that the flow can have."""
    law = draw.one(["delayed", "requested", "tack"])
    tcp["acks"] = law
    if law == "tack":
        # It needs a recovery that reads SACK.
        for key in ("profile", "recovery", "congestion"):
            tcp.pop(key, None)
        tcp["variant"] = draw.one(["sack", "cubic", "bbr"])
        tcp["tack"] = {"segments": draw.one([1, 2, 8]), "per-round-trip": draw.one([1, 4, 16])}
        return
    tcp["ack-every"] = draw.one([1, 2, 4, 8])
    if law == "requested":
        tcp["requested"] = {"most": f"{draw.one([1, 2, 8, 127])} segments"}
    if draw.chance(0.5):
        tcp["ack-delay"] = draw.time(0.001, 0.5)
