"""802.11be on one link: the closed form beside runs, windows, PPDUs to several stations, and captures."""

from __future__ import annotations

import shutil
import struct
import subprocess
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop.stats.wifi_today import Cell

if TYPE_CHECKING:
    from pathlib import Path

CELL = """
[run]
duration     = "600 ms"
warmup       = "100 ms"
replications = 1
[nodes]
ap  = {}
sta = { count = 2 }
[links.air]
kind         = "wifi"
nodes        = ["ap", "sta"]
access-point = "ap"
standard     = "802.11be"
[flows.down]
from = "ap"
to   = "sta"
udp  = {}
app  = { kind = "cbr", cbr = { packet = "1472 B", rate = "2 Gbit/s" } }
"""


@pytest.mark.parametrize(
    ("mcs", "width", "guard", "streams", "count", "window"),
    [
        (13, 80, 0.8, 1, 1024, 1024),
        (13, 160, 0.8, 1, 1024, 1024),
        (13, 320, 0.8, 1, 1024, 1024),
        (12, 320, 3.2, 2, 512, 512),
        (0, 20, 1.6, 1, 64, 64),
    ],
)
def test_one_saturated_station_has_the_goodput_of_the_closed_form(
    mcs: int, width: int, guard: float, streams: int, count: int, window: int
) -> None:
    cell = Cell("802.11be", mcs, width, guard, streams, count, window=window)
    scenario = lh.load("validation/wifi-today-one").set(
        {
            "links.air.standard": "802.11be",
            "links.air.mcs": str(mcs),
            "links.air.width": f"{width} MHz",
            "links.air.guard-interval": f"{guard} us",
            "links.air.streams": str(streams),
            "links.air.aggregate.count": str(count),
            "links.air.block-ack.window": str(window),
            "links.air.queue": "3000 packets",
            "flows.up.app.cbr.rate": "6 Gbit/s",
        }
    )
    found = scenario.run(replication=1).metrics["flows.up.goodput_bps"]
    assert found == pytest.approx(cell.goodput_bps, rel=0.005)


def test_a_block_ack_of_1024_costs_the_time_of_its_bits() -> None:
    # At 24 Mbit/s: 1238 and 534 bits are 13 and 6 symbols of 4 us.
    long, short = (Cell("802.11be", 13, 80, count=64, window=window) for window in (1024, 256))
    assert long.exchange - short.exchange == pytest.approx(32.0)


@pytest.mark.parametrize("how", ["requests", "trigger", "aggregated-trigger"])
def test_two_stations_share_320_mhz_in_rus_of_1992_tones(how: str) -> None:
    settings = {"links.air.width": "320 MHz", "links.air.ofdma.scheduler": "round-robin"}
    settings |= {"links.air.ofdma.acknowledgement": how, "links.air.queue": "3000 packets"}
    metrics = lh.Scenario.from_text(CELL, "be.toml").set(settings).run().metrics
    assert metrics["links.air.ofdma_parts"] == 2 * (metrics["links.air.ofdma_ppdus"] or 0) > 0
    # Each half of the channel carries more in a PPDU of 5.484 ms than the window of 802.11ax has.
    assert (metrics["links.air.aggregated_mpdus"] or 0) > 256 * (metrics["links.air.aggregates"] or 0)


def captured(folder: Path) -> Path:
    """A capture of PPDUs to two stations."""
    capture = folder / "air.pcap"
    settings = {"run.duration": "30 ms", "run.warmup": "0 s", "links.air.ofdma.scheduler": "round-robin"}
    lh.Scenario.from_text(CELL, "be.toml").set(settings).run(pcap=capture)
    return capture


def test_a_capture_has_u_sig_and_eht_as_values_with_type_and_length(tmp_path: Path) -> None:
    first = captured(tmp_path).read_bytes()[24 + 16 :]
    length, present = struct.unpack("<2xHI", first[:8])
    assert present >> 28 & 1
    # TSFT, flags, channel, signal and the status of the A-MPDU end at 32.
    values = first[32:length]
    assert struct.unpack("<2H", values[:4]) == (33, 12)
    common, value, _ = struct.unpack("<3I", values[4:16])
    # 80 MHz, down, OFDMA; EHT-SIG at MCS 3, which has code 2, in one symbol.
    assert (common >> 15 & 7, common >> 18 & 1, value >> 6 & 3) == (2, 0, 0)
    assert (value >> 15 & 3, value >> 17 & 31) == (2, 0)
    assert struct.unpack("<2H", values[16:20]) == (34, 44)
    known, data_0, data_1, *_, user = struct.unpack("<11I", values[20:])
    assert (known, data_0 >> 7 & 3, data_0 >> 9 & 3) == (0x00C0_0014, 0, 1)
    # 484 tones; station 2, MCS 13, one stream.
    assert (data_1 & 31, user >> 8 & 0x7FF, user >> 20 & 15, user >> 24 & 15) == (4, 2, 13, 0)


@pytest.mark.skipif(not shutil.which("tshark"), reason="tshark is not installed")
def test_tshark_reads_what_follows_the_radiotap_header(tmp_path: Path) -> None:
    fields = [
        part for word in ("wlan.fc.type_subtype", "udp.length", "_ws.malformed") for part in ("-e", word)
    ]
    command = ["tshark", "-r", captured(tmp_path), "-T", "fields", *fields]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    # Wireshark 4.0 takes the Special User Info of a trigger of EHT for a station.
    assert all(int(row[0], 0) == 18 for row in rows if row[2])
    data = [row for row in rows if int(row[0], 0) == 40]
    assert {row[1] for row in data} == {"1480"}
    assert {int(row[0], 0) for row in rows} == {18, 25, 40}
