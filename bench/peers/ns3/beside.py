"""Run the cells of `wifi-today.toml` in lasthop, and print both goodputs as a table in Markdown.

Usage: python beside.py [WORD=VALUE]...; words of a cell choose, such as `transport=udp stations=20`.
Cells that differ in the seed alone make one row, with the half-widths of the 95 % intervals of their means.
"""

from __future__ import annotations

import math
import statistics
import sys
import tomllib
from pathlib import Path
from typing import Any

import lasthop as lh

FILE = Path(__file__).with_name("wifi-today.toml")

# The TCP of ns-3 in these cells: SACK, a least timeout of 1 s, an acknowledgement for every second segment.
TCP = """\
[flows.f.tcp]
profile    = "rfc"
congestion = "%s"
packet     = "1448 B"
ack-every  = 2
min-rto    = "1 s"
window     = "16000 segments"
"""
# Half as much again as the fastest of these links carries, shared by all stations.
UDP = """\
udp = {}
app = { kind = "cbr", cbr = { packet = "1472 B", rate = "%g Mbit/s" } }
"""
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
short-retry    = {retries}
long-retry     = {retries}
rts-threshold  = "{threshold}"
aggregate      = {{ count = {mpdus} }}
block-ack      = {{ after-loss = "{after}", window = {window} }}
loss           = {{ rate = "{percent} %", of = "packets", repaired-by-arq = true }}
reception      = {{ preamble = "4 dB" }}
[flows.f]
from = "{source}"
to   = "{target}"
{traffic}"""


def scenario(cell: dict[str, Any]) -> lh.Scenario:
    """The scenario of a cell of ns-3."""
    ends = ("ap", "sta") if cell["direction"] == "down" else ("sta", "ap")
    laws = {"newreno": "reno", "cubic": "cubic", "bbr": "bbr"}
    is_udp = cell["transport"] == "udp"
    traffic = UDP % (900 / cell["stations"]) if is_udp else TCP % laws[cell["transport"]]
    return lh.Scenario.from_text(
        TEXT.format(
            **cell,
            end=cell["warmup"] + cell["duration"],
            threshold="0 B" if cell["rts"] else "never",
            after="request" if cell["bar"] else "data",
            window=256 if cell["mpdus"] > 64 else 64,
            percent=100 * cell["errors"],
            source=ends[0],
            target=ends[1],
            traffic=traffic,
        ),
        "cell of ns-3",
    )


def cells(**chosen: object) -> list[dict[str, Any]]:
    """The cells of ns-3 that have these words."""
    every = tomllib.loads(FILE.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in every if all(str(cell[word]) == str(value) for word, value in chosen.items())]


def goodput_mbps(cell: dict[str, Any]) -> float:
    """The goodput of all stations of a cell in lasthop."""
    return (scenario(cell).run().metrics["flows.f.goodput_bps"] or 0.0) / 1e6


def groups(found: list[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The cells that differ in the seed alone, together."""
    together: dict[tuple[object, ...], list[dict[str, Any]]] = {}
    for cell in found:
        settings = (value for key, value in cell.items() if key != "seed" and not key.endswith("_mbps"))
        together.setdefault(tuple(settings), []).append(cell)
    return list(together.values())


def mean(values: list[float]) -> str:
    """The mean, with the half-width of its interval where there are several."""
    if len(values) == 1:
        return f"{values[0]:.1f}"
    # Student's t for 95 % and six values.
    half = 2.571 * statistics.stdev(values) / math.sqrt(len(values))
    return f"{statistics.mean(values):.1f} ± {half:.1f}"


def main(words: list[str]) -> None:
    """Print the table."""
    print(
        "| standard | MPDUs | stations | flows | RTS | after a loss | errors | lasthop | ns-3 | difference |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for together in groups(cells(**dict(word.split("=", 1) for word in words))):
        cell = together[0]
        ours = [goodput_mbps(cell) for cell in together]
        theirs = [float(cell["goodput_mbps"]) for cell in together]
        mode = f"{cell['standard']}, {cell['width']} MHz, MCS {cell['mcs']}"
        off = f"{sum(ours) / sum(theirs) - 1:+.1%}"
        rts, after = "yes" if cell["rts"] else "no", "request" if cell["bar"] else "data"
        print(
            f"| {mode} | {cell['mpdus']} | {cell['stations']} | {cell['transport']} {cell['direction']} "
            f"| {rts} | {after} | {cell['errors']:.0%} | {mean(ours)} | {mean(theirs)} | {off} |",
            flush=True,
        )


if __name__ == "__main__":
    main(sys.argv[1:])
