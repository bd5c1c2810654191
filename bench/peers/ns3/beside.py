"""Run the cells of `wifi-today.toml` in lasthop, and print both goodputs as a table in Markdown.

Usage: python beside.py [WORD=VALUE]...; words of a cell choose, such as `transport=udp stations=20`.
A row has the cells that differ in the number of stations: goodput here and there in Mbit/s, difference in per
cent. Of cells that differ in the seed alone it has the means, with the half-widths of their 95 % intervals.
The last number is the CPU time of ns-3 for a simulated second in relation to that here, where it is known.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
import tomllib
from pathlib import Path
from typing import Any

import lasthop as lh

FILE = Path(__file__).with_name("wifi-today.toml")

# The TCP of ns-3 in these cells: SACK without RACK and tail loss probes, a least timeout of 1 s, an
# acknowledgement for every second segment.
TCP = """\
[flows.f.tcp]
profile        = "rfc"
congestion     = "%s"
loss-detection = "rfc6675"
packet         = "1448 B"
ack-every      = 2
min-rto        = "1 s"
window         = "16000 segments"
"""
LAWS = {
    "newreno": TCP % "reno" + 'slow-start     = "standard"\n',
    "cubic": TCP % "cubic" + 'slow-start     = "hystart"\n',
    "bbr": TCP % "bbr",
}
# Half as much again as the fastest of these links carries, shared by all stations.
UDP = """\
udp = {}
app = { kind = "cbr", spread = "%g ms", cbr = { packet = "1472 B", rate = "%g Mbit/s" } }
"""
# The sum of the rates in ns-3, Mbit/s: of the PHY, and 30 % more. Where much more comes than a full queue
# takes, flows with constant intervals get unequal shares of its places.
OFFERED = {20: 1.3 * 86.0, 40: 1.3 * 172.1, 80: 1.3 * 600.5, 160: 1.3 * 1201.0}
SHARED = 'scheduler = "round-robin", acknowledgement = "{ofdma}"'
TRIGGERED = SHARED + ', uplink = "round-robin", report-interval = "{interval}", {contention}'
# How stations contend beside triggers.
CONTENTION = {
    "contend": 'edca = "contend"',
    "mu": 'edca = "mu", mu-edca = { aifsn = 8, cw-min = 511, cw-max = 1023 }',
    "silent": 'edca = "mu", mu-edca = { aifsn = 0, cw-min = 511, cw-max = 1023 }',
}
TEXT = """\
[run]
duration     = "{end} s"
warmup       = "{warmup} s"
seed         = {seed}
replications = 1
[nodes]
ap  = {{}}
sta = {{ count = {stations} }}
[links.air]
kind           = "wifi"
nodes          = ["ap", "sta"]
access-point   = "ap"
standard       = "802.11{standard}"
mcs            = {mcs}
width          = "{width} MHz"
guard-interval = "{gi} ns"
streams        = {streams}
queue          = "{queue} packets"
edca           = {{ lifetime = "500 ms", best-effort.txop = "{txop} us" }}
short-retry    = {attempts}
rts-threshold  = "{threshold}"
aggregate      = {{ count = {mpdus} }}
block-ack      = {{ after-loss = "{after}", window = {window} }}
loss           = {{ rate = "{percent} %", of = "packets", repaired-by-arq = true }}
reception      = {{ preamble = "4 dB" }}
ofdma          = {{ {shared} }}
[flows.f]
from = "{source}"
to   = "{target}"
{traffic}"""


def shared(cell: dict[str, Any]) -> str:
    """What the access point does with PPDUs to several stations, and from several."""
    if "ofdma" not in cell:
        return ""
    if "uplink" not in cell:
        return SHARED.format(**cell)
    # In ns-3 a request for reports precedes each trigger, or none does. Silent stations that have reported an
    # empty queue at first need some here.
    interval = "0.1 ms" if cell["reports"] else "400 ms"
    return TRIGGERED.format(**cell, interval=interval, contention=CONTENTION[cell["uplink"]])


def times(cell: dict[str, Any]) -> tuple[float, float]:
    """The warm-up and the measured time here."""
    if "uplink" not in cell:
        return cell["warmup"], cell["duration"]
    # Silent stations that were not asked contend again after two seconds. Long runs scatter less.
    longer = cell["uplink"] == "contend" and cell["transport"] == "udp"
    return max(5.0, cell["warmup"]), cell["duration"] * (3 if longer else 1)


def scenario(cell: dict[str, Any]) -> lh.Scenario:
    """The scenario of a cell of ns-3."""
    ends = ("ap", "sta") if cell["direction"] == "down" else ("sta", "ap")
    is_udp = cell["transport"] == "udp"
    offered = OFFERED[cell["width"]] if "ofdma" in cell else 900
    warmup, duration = times(cell)
    # An access point triggers stations from which it has had data: they begin one after the other.
    spread = 300 if "uplink" in cell else 0
    traffic = UDP % (spread, offered / cell["stations"]) if is_udp else LAWS[cell["transport"]]
    return lh.Scenario.from_text(
        TEXT.format(
            **{"txop": 0, **cell, "warmup": warmup},
            end=warmup + duration,
            threshold="0 B" if cell["rts"] else "never",
            after="request" if cell["bar"] else "data",
            window=256 if cell["mpdus"] > 64 else 64,
            percent=100 * cell["errors"],
            shared=shared(cell),
            # A packet that a BlockAck does not report is not counted in ns-3.
            attempts='"none"' if cell["errors"] else cell["retries"],
            source=ends[0],
            target=ends[1],
            traffic=traffic,
        ),
        "cell of ns-3",
    )


def cells(**chosen: object) -> list[dict[str, Any]]:
    """The cells of ns-3 that have these words."""
    every = tomllib.loads(FILE.read_text(encoding="utf-8"))["cells"]
    return [
        cell for cell in every if all(str(cell.get(word)) == str(value) for word, value in chosen.items())
    ]


def goodput_mbps(cell: dict[str, Any]) -> float:
    """The goodput of all stations of a cell in lasthop."""
    return (scenario(cell).run().metrics["flows.f.goodput_bps"] or 0.0) / 1e6


# What differs between cells that differ in the seed alone.
RESULTS = {"seed", "cpu_s", "goodput_mbps", "stations_mbps"}


def groups(found: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The cells that differ in the seed alone, together."""
    together: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for cell in found:
        settings = (value for key, value in cell.items() if key not in RESULTS)
        together.setdefault(tuple(settings), []).append(cell)
    return list(together.values())


def mean(values: list[float]) -> str:
    """The mean, with the half-width of its interval where there are several."""
    if len(values) == 1:
        return f"{values[0]:.1f}"
    # Student's t for 95 % and six values.
    half = 2.571 * statistics.stdev(values) / math.sqrt(len(values))
    return f"{statistics.mean(values):.1f} ± {half:.1f}"


def both(together: list[dict[str, Any]]) -> str:
    """The goodput here, that of ns-3, the difference, and the ratio of CPU times."""
    there = sum(cell["warmup"] + cell["duration"] for cell in together)
    here = sum(sum(times(cell)) for cell in together)
    began = time.process_time()
    ours = [goodput_mbps(cell) for cell in together]
    cpu = time.process_time() - began
    theirs = [float(cell["goodput_mbps"]) for cell in together]
    slower = sum(cell.get("cpu_s", 0.0) for cell in together) / there / (cpu / here)
    ratio = f", {slower:.0f}x" if slower else ""
    return f"{mean(ours)} / {mean(theirs)}, {100 * (sum(ours) / sum(theirs) - 1):+.1f}{ratio}"


def main(words: list[str]) -> None:
    """Print the table."""
    # The first run of a process takes longer.
    goodput_mbps(cells()[0])
    rows: dict[str, dict[int, str]] = {}
    for together in groups(cells(**dict(word.split("=", 1) for word in words))):
        cell = together[0]
        mode = f"{cell['standard']}, {cell['width']} MHz, MCS {cell['mcs']}, {cell['mpdus']}"
        rts, after = "RTS" if cell["rts"] else "", "request" if cell["bar"] else "data"
        words = [str(cell[key]) for key in ("ofdma", "uplink") if key in cell]
        words += ["reports"] if cell.get("reports") else []
        shared = "".join(f", {word}" for word in words)
        flows = f"{cell['transport']} {cell['direction']}{shared}"
        row = f"| {mode} | {flows} | {rts} | {after} | {cell['errors']:.0%} |"
        rows.setdefault(row, {})[cell["stations"]] = both(together)
    counts = sorted({stations for row in rows.values() for stations in row})
    print("| mode, MPDUs | flows | | after a loss | errors |", *(f"{count} |" for count in counts))
    print("| --- | --- | --- | --- | --- |", *("--- |" for _ in counts))
    for row, found in rows.items():
        print(row, *(f"{found.get(count, '')} |" for count in counts))


if __name__ == "__main__":
    main(sys.argv[1:])
