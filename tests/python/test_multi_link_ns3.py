"""Goodputs of cells of 802.11be with one and two links, or one radio for two, by ns-3, beside those here."""

from __future__ import annotations

import statistics
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

import lasthop as lh

FILE = Path(__file__).resolve().parents[2] / "bench" / "peers" / "ns3" / "links.toml"
# By links, MPDUs, stations, direction, and delays of a single radio.
GROUPS: dict[tuple[int, int, int, str, str], list[float]] = defaultdict(list)
for entry in tomllib.loads(FILE.read_text(encoding="utf-8"))["cells"]:
    radio = "{padding}-{transition}".format(**entry) if "emlsr" in entry else ""
    key = (entry["links"], entry["mpdus"], entry["stations"], entry["direction"], radio)
    GROUPS[key].append(entry["goodput_mbps"])

LINK = """
[links.{name}]
kind         = "wifi"
nodes        = ["ap", "sta"]
access-point = "ap"
standard     = "802.11be"
queue        = "4000 packets"
aggregate    = {{ count = {mpdus} }}
edca         = {{ lifetime = "500 ms" }}
reception    = {{ preamble = "4 dB" }}
{more}
"""
REST = """
[run]
duration     = "600 ms"
warmup       = "100 ms"
replications = 1
[nodes]
ap  = {{}}
sta = {{ count = {stations}{radio} }}
[flows.f]
from = "{source}"
to   = "{target}"
udp  = {{}}
app  = {{ kind = "cbr", cbr = {{ packet = "1472 B", rate = "{rate} Mbit/s" }} }}
"""
# In ns-3 others listen to the link that the one radio has left.
RADIO = (
    ', wifi = {{ multi-link = "emlsr", emlsr = {{ padding-delay = "{} us", transition-delay = "{} us", '
    'medium-sync-delay = "0 us" }} }}'
)


@pytest.mark.parametrize("cell", GROUPS, ids=lambda cell: "{}-links-{}-mpdus-{}-{}-{}".format(*cell))
def test_links_carry_what_they_carry_in_ns3(cell: tuple[int, int, int, str, str]) -> None:
    links, mpdus, stations, direction, delays = cell
    ends = ("ap", "sta") if direction == "down" else ("sta", "ap")
    rate = 1.8 * 720 * links / stations
    radio = RADIO.format(*delays.split("-")) if delays else ""
    text = REST.format(stations=stations, radio=radio, source=ends[0], target=ends[1], rate=rate)
    text += LINK.format(name="low", mpdus=mpdus, more="")
    if links == 2:
        text += LINK.format(name="high", mpdus=mpdus, more='multi-link = "low"')
    seeds = range(1, 1 + len(GROUPS[cell]))
    runs = [lh.Scenario.from_text(text, "cell.toml").set({"run.seed": str(seed)}).run() for seed in seeds]
    found = statistics.mean((run.metrics["flows.f.goodput_bps"] or 0.0) / 1e6 for run in runs)
    assert found == pytest.approx(statistics.mean(GROUPS[cell]), rel=0.03)
