"""DualPI2 beside the pseudocode of RFC 9332 (appendix A), packet by packet, on the same arrivals."""

from __future__ import annotations

import struct
import tomllib
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from reference_dualpi2 import CE, Packet, Parameters, serve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

RATE, CORE = 20_000_000, 200_000_000
DELAY_NS = 5_000_000
NETWORK = f"""
[run]
duration = "4 s"
[nodes]
server = {{}}
router = {{}}
home = {{}}
[links.core]
kind = "wired"
nodes = ["server", "router"]
rate = "{CORE} bit/s"
delay = "{DELAY_NS} ns"
queue = "4000 packets"
[links.access]
kind = "wired"
nodes = ["router", "home"]
rate = "{RATE} bit/s"
delay = "1 ms"
queue = "9000 packets"
aqm.law = "dualpi2"
[flows.l4s]
from = "server"
to = "home"
tcp = {{ profile = "modern", variant = "prague" }}
[flows.classic]
from = "server"
to = "home"
tcp = {{ profile = "modern", variant = "cubic", ecn = "classic" }}
[flows.cross]
from = "server"
to = "home"
udp = {{}}
app = {{ kind = "cbr", cbr = {{ rate = "2 Mbit/s", packet = "600 B" }} }}
"""


CASES = {
    "defaults": ({}, {}),
    "a step": (
        {
            "ramp-from": "1 ms",
            "ramp-range": "0 s",
            "target": "5 ms",
            "coupling": "3",
            "classic-share": "30 %",
        },
        {},
    ),
    "a long round trip": ({"rtt-max": "30 ms", "target": "40 ms"}, {}),
    "overload": ({}, {"flows.cross.app.cbr.rate": "30 Mbit/s"}),
}


def parameters(law: dict[str, str]) -> Parameters:
    """The same parameters for the reference."""
    seconds = {"s": 1.0, "ms": 1e-3, "us": 1e-6}
    values = {}
    for name, text in law.items():
        number, _, unit = text.partition(" ")
        values[name] = float(number) * (0.01 if unit == "%" else seconds.get(unit, 1.0))
    names = {"ramp-from": "min_th", "ramp-range": "range", "coupling": "k"}
    return Parameters(**{names.get(name, name.replace("-", "_")): value for name, value in values.items()})


def captured(path: Path) -> Iterator[tuple[int, int]]:
    """The bytes and the codepoint of each packet of the server, in the order in which a link sent them."""
    data, at = path.read_bytes(), 24
    while at < len(data):
        (length,) = struct.unpack_from("<I", data, at + 8)
        ip = at + 16
        if data[ip + 12 : ip + 16] == bytes([10, 0, 0, 1]):
            yield int.from_bytes(data[ip + 2 : ip + 4]), data[ip + 1] & 3
        at = ip + length


def sent(run: lh.Run, link: str, node: str) -> Iterator[tuple[int, int]]:
    """The number of each packet that a node sent on a link, and when it began to, in ns."""
    events = run.trace("events")
    columns = (events[name] for name in ("layer", "event", "link", "node", "packet", "time_s"))
    for layer, event, at, by, number, time in zip(*columns, strict=True):
        if (layer, event, at, by) == ("frame", "send", link, node):
            yield int(number), round(time * 1e9)


@pytest.mark.parametrize("name", CASES)
def test_each_packet_has_the_fate_of_the_pseudocode(name: str, tmp_path: Path) -> None:
    law, more = CASES[name]
    settings = {f"links.access.aqm.dualpi2.{key}": value for key, value in law.items()} | more
    files = {link: tmp_path / f"{link}.pcap" for link in ("core", "access")}
    run = lh.from_dict(tomllib.loads(NETWORK)).set(settings).run(pcap=files, trace=["events"])
    arrivals = [
        Packet(number, size, ecn, at + size * 8 * 10**9 // CORE + DELAY_NS)
        for (number, at), (size, ecn) in zip(
            sent(run, "core", "server"), captured(files["core"]), strict=False
        )
    ]
    expected = serve(parameters(law), arrivals, RATE)
    departures = zip(sent(run, "access", "router"), captured(files["access"]), strict=False)
    left = [(number, ecn, at) for (number, at), (_, ecn) in departures]
    assert len(left) > 5_000
    assert left == expected.sent[: len(left)]
    assert len(expected.sent) - len(left) <= 400
    marks = sum(ecn == CE for _, ecn, _ in left)
    assert marks == run.metrics["links.access.marks"] > 50
    assert len(expected.dropped) >= (run.metrics["links.access.drops_aqm"] or 0)
    assert (expected.overloads > 0) == (name == "overload")
