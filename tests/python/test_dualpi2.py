"""DualPI2 beside the pseudocode of RFC 9332 (appendix A), packet by packet, on the same arrivals."""

from __future__ import annotations

import json
import struct
import tomllib
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from kernel_dualpi2 import Bucket
from reference_dualpi2 import CE, ECT_0, ECT_1, NOT_ECT, DualPI2, LinuxDualPI2, Packet, Parameters, serve

if TYPE_CHECKING:
    from collections.abc import Iterator

Left = tuple[int, int, int]
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
STEP = {"ramp-from": "1 ms", "ramp-range": "0 s"}
"""The L queue of Linux."""
LOADS = {
    "one classic flow": (STEP, {"flows.l4s.app.start": "1 h", "flows.cross.app.start": "1 h"}),
    "one scalable flow": (STEP, {"flows.classic.app.start": "1 h", "flows.cross.app.start": "1 h"}),
    "both, and datagrams": (STEP, {}),
    "both, a classic share of 30 %": (STEP | {"classic-share": "30 %"}, {}),
    "overload by datagrams": (STEP, {"flows.cross.app.cbr.rate": "30 Mbit/s"}),
}
"""What `docs/make_l4s.py --kernel` compares with a kernel."""

CALM = Parameters(rtt_max=30.0, min_th=0.001, range=0.0)
"""With these gains `p'` stays near 0: what a kernel does follows from its scheduler and step alone."""
KERNEL = Path(__file__).with_name("dualpi2_kernel.json")
"""What `sch_dualpi2` sent of `calm()`, by `docs/make_l4s.py --kernel`: numbers, marks, and times in us."""


def calm() -> list[Packet]:
    """Arrivals at nine tenths of the rate, in bursts, half of them L4S."""
    draw, came = Random(1), 1_000_000
    packets = []
    for number in range(2000):
        came += round(draw.expovariate(1 / 455)) * 1000
        size, ecn = draw.choice((600, 1500)), draw.choice((ECT_1, ECT_1, ECT_0, NOT_ECT))
        packets.append(Packet(number, size, ecn, came))
    return packets


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


def recorded(name: str, folder: Path, seconds: int = 4) -> tuple[lh.Run, list[Packet], list[Left]]:
    """A run of a case: what arrived at the queue, and what left it."""
    law, more = (CASES | LOADS)[name]
    settings = {f"links.access.aqm.dualpi2.{key}": value for key, value in law.items()} | more
    scenario = lh.from_dict(tomllib.loads(NETWORK)).set(settings | {"run.duration": f"{seconds} s"})
    files = {link: folder / f"{link}.pcap" for link in ("core", "access")}
    run = scenario.run(pcap=files, trace=["events"])
    # A capture has no packet whose transmission has not ended.
    arrivals = [
        Packet(number, size, ecn, at + size * 8 * 10**9 // CORE + DELAY_NS)
        for (number, at), (size, ecn) in zip(
            sent(run, "core", "server"), captured(files["core"]), strict=False
        )
    ]
    departures = zip(sent(run, "access", "router"), captured(files["access"]), strict=False)
    return run, arrivals, [(number, ecn, at) for (number, at), (_, ecn) in departures]


def shares(queue: DualPI2, arrivals: list[Packet]) -> dict[str, float]:
    """The share of each queue that was marked or dropped, and the mean waits in ms."""
    packets = {packet.number: packet for packet in arrivals}
    found = {}
    for name, codepoints in {"l": (ECT_1, CE), "c": (NOT_ECT, ECT_0)}.items():
        left = [one for one in queue.sent if packets[one[0]].ecn in codepoints]
        dropped = sum(packets[number].ecn in codepoints for number in queue.dropped)
        found[f"{name}_marked"] = sum(ecn == CE for _, ecn, _ in left) / (len(left) + dropped)
        found[f"{name}_dropped"] = dropped / (len(left) + dropped)
        found[f"{name}_ms"] = sum(at - packets[number].came for number, _, at in left) / len(left) / 1e6
    return found


@pytest.mark.parametrize("name", CASES)
def test_each_packet_has_the_fate_of_the_pseudocode(name: str, tmp_path: Path) -> None:
    run, arrivals, left = recorded(name, tmp_path)
    expected = serve(DualPI2(parameters(CASES[name][0])), arrivals, RATE)
    assert len(left) > 5_000
    assert left == expected.sent[: len(left)]
    assert len(expected.sent) - len(left) <= 400
    assert sum(ecn == CE for _, ecn, _ in left) == run.metrics["links.access.marks"] > 50
    assert len(expected.dropped) >= (run.metrics["links.access.drops_aqm"] or 0)
    assert (expected.overloads > 0) == (name == "overload")


def test_under_overload_the_rules_of_linux_give_the_same_drops_and_waits(tmp_path: Path) -> None:
    _, arrivals, _ = recorded("overload", tmp_path)
    law = parameters(CASES["overload"][0])
    ours = shares(serve(DualPI2(law), arrivals, RATE), arrivals)
    linux = shares(serve(LinuxDualPI2(law, seed=1), arrivals, RATE), arrivals)
    assert linux["c_dropped"] == pytest.approx(ours["c_dropped"], rel=0.01)
    assert linux["c_ms"] == pytest.approx(ours["c_ms"], rel=0.03)
    assert linux["l_ms"] == pytest.approx(ours["l_ms"], rel=0.1)


def test_without_chance_each_packet_has_the_place_mark_and_time_that_a_kernel_gave_it() -> None:
    kernel = json.loads(KERNEL.read_text("ascii"))
    left = Bucket(LinuxDualPI2(CALM, 1, CALM.min_th), RATE).serve(calm())
    assert [number for number, _, _ in left] == kernel["numbers"]
    assert [number for number, ecn, _ in left if ecn == CE] == kernel["marked"]
    assert 100 < len(kernel["marked"]) < 900
    assert max(abs(at / 1000 - us) for (_, _, at), us in zip(left, kernel["us"], strict=True)) < 20
