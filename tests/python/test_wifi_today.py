"""802.11n, ac and ax: the closed form of one station and Bianchi's model beside simulations."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop.scenario import check
from lasthop.stats.wifi_today import Cell, bianchi

if TYPE_CHECKING:
    from pathlib import Path

# Goodput in Mbit/s for 1, 8, 32, 64 and 256 MPDUs, computed by hand from the constants of the standards.
TABLE = {
    ("802.11n", 7, 20, 0.8): [30.79, 54.82, 59.75, 59.75],
    ("802.11n", 7, 40, 0.8): [41.68, 101.24, 120.68, 122.47],
    ("802.11ac", 9, 80, 0.4): [51.99, 218.83, 338.12, 371.90],
    ("802.11ax", 11, 80, 0.8): [52.36, 243.75, 430.12, 492.95, 549.47],
}
COUNTS = [1, 8, 32, 64, 256]
# A call and a file, from a server to a station.
MARKED = """
[run]
duration = "200 ms"
[nodes]
server = {}
ap     = {}
sta    = {}
[links.wire]
kind  = "wired"
nodes = ["server", "ap"]
rate  = "100 Mbit/s"
delay = "1 ms"
[links.air]
kind         = "wifi"
nodes        = ["ap", "sta"]
access-point = "ap"
standard     = "802.11ax"
mcs          = 7
[flows.call]
from = "server"
to   = "sta"
dscp = 46
udp  = {}
app  = { kind = "cbr", cbr = { packet = "160 B", rate = "64 kbit/s" } }
[flows.file]
from = "server"
to   = "sta"
dscp = 8
"""


def goodput(scenario: lh.Scenario) -> float:
    """The goodput of all stations."""
    return scenario.run().metrics["flows.up.goodput_bps"] or 0.0


def simulated(cell: Cell) -> float:
    """The goodput of one saturated station."""
    scenario = lh.load("validation/wifi-today-one").set(
        {
            "links.air.standard": cell.standard,
            "links.air.width": f"{cell.width} MHz",
            "links.air.guard-interval": f"{cell.guard} us",
            "links.air.mcs": str(cell.mcs),
            "links.air.aggregate.count": str(cell.count),
        }
    )
    return goodput(scenario)


@pytest.mark.parametrize("mode", TABLE)
def test_the_closed_form_gives_the_numbers_computed_by_hand(mode: tuple[str, int, int, float]) -> None:
    standard, mcs, width, guard = mode
    for count, expected in zip(COUNTS, TABLE[mode], strict=False):
        cell = Cell(standard, mcs, width, guard, count=count)
        assert round(cell.goodput_bps / 1e6, 2) == expected


@pytest.mark.parametrize(
    ("standard", "width", "guard", "most"),
    [
        ("802.11n", 20, 0.8, 64),
        ("802.11n", 40, 0.4, 64),
        ("802.11ac", 80, 0.4, 64),
        ("802.11ax", 80, 0.8, 256),
    ],
)
def test_one_station_has_the_goodput_of_the_closed_form(
    standard: str, width: int, guard: float, most: int
) -> None:
    for mcs in {"802.11n": (0, 4, 7), "802.11ac": (0, 4, 9), "802.11ax": (0, 5, 11)}[standard]:
        for count in (count for count in COUNTS if count <= most):
            cell = Cell(standard, mcs, width, guard, count=count)
            assert simulated(cell) == pytest.approx(cell.goodput_bps, rel=0.01), cell


@pytest.mark.parametrize("stations", [2, 5, 10, 20])
@pytest.mark.parametrize("count", [1, 64])
def test_stations_that_repeat_data_after_a_loss_follow_bianchis_model(stations: int, count: int) -> None:
    scenario = lh.load("validation/wifi-today-cell").set(
        {
            "nodes.sta.count": str(stations),
            "links.air.aggregate.count": str(count),
            "links.air.block-ack.after-loss": "data",
        }
    )
    found = goodput(scenario)
    expected, _ = bianchi(Cell("802.11ax", 11, 80, count=count), stations)
    assert found == pytest.approx(expected, rel=0.04)


def test_a_block_ack_request_whose_success_resets_the_window_costs_a_fifth_with_20_stations() -> None:
    cell = lh.load("validation/wifi-today-cell")
    data, request = (
        goodput(cell.set({"nodes.sta.count": "20", "links.air.block-ack.after-loss": after}))
        for after in ("data", "request")
    )
    assert 0.75 < request / data < 0.87


@pytest.mark.parametrize(
    ("protection", "before_data"),
    [("none", 0), ("cts-to-self", 192 + 11 + 10), ("rts-cts", 192 + 15 + 10 + 192 + 11 + 10)],
)
def test_protection_at_a_rate_of_dsss_costs_its_frames_and_leaves_dsss_alone(
    protection: str, before_data: int
) -> None:
    mixed = lh.load("validation/wifi-mixed").set({"run.duration": "3 s"})
    if protection == "none":
        mixed = mixed.set({"links.air.rts-threshold": "never"})
    else:
        mixed = mixed.set({"links.air.rts-threshold": "0 B", "links.air.protection": protection})
    # DIFS, half of the window; data of 57 symbols, SIFS, an ACK at 24 Mbit/s, with signal extensions.
    cycle = 50 + 310 + before_data + (20 + 228 + 6) + 10 + (20 + 8 + 6)
    alone = mixed.set({"flows.b.app.start": "1 h"}).run().metrics["flows.g.goodput_bps"]
    assert alone == pytest.approx(1472 * 8 / cycle * 1e6, rel=0.01)
    # A frame at 11 Mbit/s, 1536 bytes long, and an ACK at 11 Mbit/s.
    cycle = 50 + 310 + (192 + 1118) + 10 + (192 + 11)
    alone = mixed.set({"flows.g.app.start": "1 h"}).run().metrics["flows.b.goodput_bps"]
    assert alone == pytest.approx(1472 * 8 / cycle * 1e6, rel=0.01)


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
@pytest.mark.parametrize(("standard", "phy"), [("802.11n", "7"), ("802.11ac", "8"), ("802.11ax", "11")])
def test_tshark_reads_frames_aggregates_and_block_acks(standard: str, phy: str, tmp_path: Path) -> None:
    cell = lh.load("validation/wifi-today-one").set(
        {
            "links.air.standard": standard,
            "links.air.mcs": "5",
            "links.air.aggregate.count": "8",
            "run.duration": "300 ms",
        }
    )
    capture = tmp_path / "air.pcap"
    metrics = cell.run(pcap=capture).metrics
    words = ["wlan.fc.type_subtype", "wlan_radio.phy", "radiotap.ampdu.reference", "_ws.expert.severity"]
    fields = [part for word in words for part in ("-e", word)]
    done = subprocess.run(
        ["tshark", "-r", capture, "-T", "fields", *fields], capture_output=True, text=True, check=True
    )
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    data = [row for row in rows if int(row[0], 0) == 40]
    assert {row[1] for row in data} == {phy}
    assert all(row[2] for row in data[10:])
    block_acks = sum(int(row[0], 0) == 25 for row in rows)
    assert block_acks == pytest.approx(len({row[2] for row in data if row[2]}), abs=1)
    assert metrics["links.air.block_acks_missing"] == 0
    assert not any(row[3] for row in rows)


def test_what_is_too_long_in_the_mac_is_discarded_and_counted() -> None:
    cell = lh.load("validation/wifi-today-one").set({"links.air.mcs": "0", "run.duration": "1 s"})
    without, within = (
        cell.set({"links.air.edca.lifetime": lifetime}).run() for lifetime in ("none", "20 ms")
    )
    assert without.metrics["links.air.drops_lifetime"] == 0
    assert (within.metrics["links.air.drops_lifetime"] or 0) > 100
    # A packet at the end of its lifetime is still on the air for a PPDU and its BlockAck.
    assert (without.metrics["flows.up.delay_mean_s"] or 0) > 0.05
    assert (within.metrics["flows.up.delay_mean_s"] or 1) < 0.027


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_a_cts_to_self_has_the_address_of_its_sender_and_nobody_answers_it(tmp_path: Path) -> None:
    capture = tmp_path / "air.pcap"
    cell = lh.load("validation/wifi-today-one").set({"links.air.protection": "cts-to-self"})
    cell.set({"links.air.rts-threshold": "0 B", "run.duration": "300 ms"}).run(pcap=capture)
    fields = ["-T", "fields", "-e", "wlan.fc.type_subtype", "-e", "wlan.ra", "-e", "wlan.ta"]
    done = subprocess.run(["tshark", "-r", capture, *fields], capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    kinds = {int(row[0], 0) for row in rows}
    # CTS, BlockAck, Ack and QoS data; no RTS (27).
    assert kinds <= {25, 28, 29, 40}
    assert {row[1] for row in rows if int(row[0], 0) == 28} == {
        row[2] for row in rows if int(row[0], 0) == 40
    }


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
@pytest.mark.parametrize("link", ["wire", "air"])
def test_packets_in_captures_have_the_code_point_of_their_flow_in_both_directions(
    link: str, tmp_path: Path
) -> None:
    capture = tmp_path / "link.pcap"
    lh.Scenario.from_text(MARKED, "marked.toml").run(pcap={link: capture})
    fields = ["-e", "ip.src", "-e", "ip.proto", "-e", "ip.dsfield.dscp", "-e", "ip.checksum.status"]
    options = ["-o", "ip.check_checksum:TRUE", "-Y", "ip", "-T", "fields"]
    done = subprocess.run(
        ["tshark", "-r", capture, *options, *fields], capture_output=True, text=True, check=True
    )
    rows = {tuple(line.split("\t")) for line in done.stdout.splitlines()}
    server, station = "10.0.0.1", "10.0.0.3"
    # Flow, its protocol and its code point; a checksum is good (1).
    expected = {(server, "17", "46", "1"), (server, "6", "8", "1"), (station, "6", "8", "1")}
    assert rows == expected


@pytest.mark.parametrize(
    ("standard", "width", "line"),
    [
        ("802.11ax", "80 MHz", "495.5 Mbit/s of UDP payload in A-MPDUs of 64"),
        ("802.11n", "20 MHz", "59.75 Mbit/s of UDP payload in A-MPDUs of 28"),
    ],
)
def test_check_gives_the_closed_form_of_a_link_and_tcp_comes_near_it(
    standard: str, width: str, line: str
) -> None:
    settings = {"standard": standard, "width": width, "guard-interval": "0.8 us", "aggregate.count": "64"}
    settings["mcs"] = "11" if standard == "802.11ax" else "7"
    scenario = lh.load("validation/wifi-today-ap").set({f"links.air.{k}": v for k, v in settings.items()})
    scenario = scenario.set({"links.air.block-ack.window": "64", "nodes.sta.count": "1"})
    found = check.validate(scenario)
    assert line in found.text()
    (ceiling,) = found.ceilings
    goodput = scenario.run().metrics["flows.down.goodput_bps"]
    assert goodput == pytest.approx(ceiling.tcp_bps, rel=0.06)


def test_a_link_with_a_txop_or_without_edca_has_no_closed_form_in_check() -> None:
    scenario = lh.load("validation/wifi-today-ap").set({"links.air.edca.best-effort.txop": "2528 us"})
    assert check.validate(scenario).ceilings == ()
    assert check.validate(lh.load("ejtcp/control")).ceilings == ()
