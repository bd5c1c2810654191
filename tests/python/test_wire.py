"""Captured packets as scapy, another implementation of the protocols, reads and writes them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

inet = pytest.importorskip("scapy.layers.inet")

#: Link, scenario and what is set of it, by what its packets show.
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "sack and timestamps": ("path", "examples/slow-reader", {}),
    "data both ways": ("r1-r2", "examples/reverse-traffic", {}),
    "udp": ("r1-r2", "examples/udp-cross", {}),
    "stamps of ejtcp": ("r1-r2", "ejtcp/header", {"flows.main.tcp.ejtcp.header": "option"}),
    "a routing header": ("path", "examples/slow-reader", {"flows.file.tcp.extra-header": "20 B"}),
    "an odd payload": ("path", "examples/slow-reader", {"flows.file.tcp.packet": "999 B"}),
}


def packets(capture: bytes) -> Iterator[bytes]:
    at = 24
    while at < len(capture):
        (length,) = struct.unpack_from("<I", capture, at + 8)
        yield capture[at + 16 : at + 16 + length]
        at += 16 + length


@pytest.fixture(params=CASES)
def captured(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, list[bytes]]:
    link, name, settings = CASES[request.param]
    scenario = lh.load(name).set({"run.duration": "2 s", "run.warmup": "0 s", **settings})
    file = tmp_path / "x.pcap"
    scenario.run(1, 0, 0, pcap={link: file})
    found = list(packets(file.read_bytes()))
    # All of the beginning, and a sample of the rest.
    return request.param, found[:200] + found[200:20_000:97]


def test_scapy_computes_the_lengths_and_checksums_that_stand_in_a_capture(
    captured: tuple[str, list[bytes]],
) -> None:
    _, found = captured
    assert len(found) > 100
    for packet in found:
        again = inet.IP(packet)
        body = again[inet.UDP] if inet.UDP in again else again[inet.TCP]
        del again.len, again.ihl, again.chksum, body.chksum
        if inet.UDP in again:
            del body.len
        else:
            del body.dataofs
        assert bytes(again) == packet


def test_scapy_reads_the_options_that_were_written(captured: tuple[str, list[bytes]]) -> None:
    case, found = captured
    options: dict[Any, Any] = {}
    protocols = set()
    for packet in map(inet.IP, found):
        protocols.add(packet.proto)
        assert packet.src.startswith("10.0.0.")
        assert len(packet.options) == (case == "a routing header")
        if inet.TCP in packet:
            options |= dict(packet[inet.TCP].options)
    assert {"MSS", "WScale"} <= options.keys()
    if case == "an odd payload":
        assert options["MSS"] == 999
    if case == "sack and timestamps":
        assert {"SAckOK", "Timestamp"} <= options.keys()
    assert (253 in options) == (case == "stamps of ejtcp")
    if case == "stamps of ejtcp":
        assert options[253][:2] == b"\x4a\x54"
        assert len(options[253]) == 15
    assert protocols == ({6, 17} if case == "udp" else {6})
