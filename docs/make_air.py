"""Writes the tables of docs/air.md about Linux's Minstrel over 802.11n, beside the simulation.

    .venv/bin/python docs/make_air.py

Wants the kernel of `lasthop virtual`, hostapd and wpa_supplicant, and takes a quarter of an hour.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import lasthop as lh
from lasthop.captures.network import network
from lasthop.stats.intervals import interval

PAGE = Path(__file__).with_name("air.md")
RUNS, LINUX_S, OURS_S = 3, 2, 6
DISTANCES = (20, 26, 32, 40, 50)
SCENARIO = """
[run]
duration = "{duration} s"
warmup = "1 s"

[nodes]
ap = {{ {stack}position = ["0 m", "0 m"] }}
sta = {{ {stack}count = {stations}, position = {positions} }}

[links.air]
kind = "wifi"
standard = "802.11n"
nodes = ["ap", "sta"]
access-point = "ap"
mcs = {mcs}
queue = "190 packets"
rate-control.kind = "{control}"
{radio}

[flows.up]
from = "sta"
to = "ap"
{transport}
"""
# Frames are lost by the ratio of signal to noise, and by collisions.
RADIO = 'radio = "ns3"\nloss.model = "snr"'
UDP = 'app = { kind = "cbr", cbr = { rate = "80 Mbit/s", packet = "1000 B" } }\nudp = {}'
TCP = 'tcp = { profile = "modern", variant = "reno" }'
# The receiver counts from a second after it has heard all senders, and then ends them.
NODE = """
import selectors, socket, sys, time
role, kind, count, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
datagrams = kind == "udp"
if role == "receiver":
    heard, waiting = {}, selectors.DefaultSelector()
    if datagrams:
        end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        end.bind(("", 80))
    else:
        end = socket.create_server(("", 80))
    waiting.register(end, selectors.EVENT_READ)
    begun = None
    while begun is None or time.monotonic() < begun + seconds:
        for key, _ in waiting.select(0.01):
            if key.fileobj is end and not datagrams:
                waiting.register(end.accept()[0], selectors.EVENT_READ)
                continue
            data, source = key.fileobj.recvfrom(65536) if datagrams else (key.fileobj.recv(65536), key.fd)
            heard.setdefault(source, 0)
            if begun is not None and time.monotonic() >= begun:
                heard[source] += len(data)
        if begun is None and len(heard) == count:
            begun = time.monotonic() + 1
    print(8 * sum(heard.values()) / seconds, flush=True)
    for source in heard if datagrams else ():
        for _ in range(20):
            end.sendto(b"stop", source)
else:
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if datagrams else socket.SOCK_STREAM)
    if not datagrams:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"reno")
    while True:
        try:
            end.connect(("ap", 80))
            break
        except OSError:
            time.sleep(0.05)
    while True:
        try:
            end.send(bytes(1000 if datagrams else 65536))
            if datagrams and end.recv(4, socket.MSG_DONTWAIT):
                break
        except (BlockingIOError, ConnectionRefusedError):
            continue
        except OSError:
            break
"""


def scenario(stations: int, metres: float, transport: str, control: str, mcs: int, *, is_linux: bool) -> str:
    """Stations at a distance of the access point that send to it, by the stack of Linux or by ours."""
    positions = [[f"{metres} m", f"{0.1 * number:g} m"] for number in range(stations)]
    return SCENARIO.format(
        duration=30 if is_linux else OURS_S + 1,
        stack='stack = "linux", ' if is_linux else "",
        stations=stations,
        positions=str(positions if stations > 1 else positions[0]).replace("'", '"'),
        mcs=mcs,
        control=control,
        radio=RADIO,
        transport=UDP if transport == "udp" else TCP,
    )


Seen = tuple[float, Counter[int]]


def linux(stations: int, metres: float, transport: str, control: str, mcs: int, run: int) -> Seen:
    """Goodput of Linux in Mbit/s, and the frames of data by their MCS."""
    text = scenario(stations, metres, transport, control, mcs, is_linux=True)
    with tempfile.TemporaryDirectory() as folder:
        file, capture, node = (Path(folder) / name for name in ("air.toml", "air.pcap", "node.py"))
        file.write_text(text, encoding="utf-8")
        node.write_text(NODE, encoding="utf-8")
        words = [sys.executable, "-m", "lasthop", "virtual", str(file), "-q", "--pcap", str(capture)]
        words += ["--replication", str(run)]
        for name in ("ap", *(f"sta{number + 1}" for number in range(stations))):
            role = "receiver" if name == "ap" else "sender"
            given = [role, transport, str(stations), str(LINUX_S)]
            words += ["--node", name, "--", sys.executable, str(node), *given]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        (goodput,) = re.findall(r"^\[ap\] ([\d.]+)$", done.stdout, re.MULTILINE)
        return float(goodput) / 1e6, modes(capture, LINUX_S)


def ours(stations: int, metres: float, transport: str, control: str, mcs: int, run: int) -> Seen:
    """The same in the simulation."""
    text = scenario(stations, metres, transport, control, mcs, is_linux=False)
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "air.pcap"
        done = lh.Scenario.from_text(text, "air").run(replication=run, pcap={"air": capture})
        return (done.metrics["goodput_bps"] or 0.0) / 1e6, modes(capture, OURS_S)


def modes(capture: Path, seconds: float) -> Counter[int]:
    """The frames of data in the last seconds of a capture by their MCS."""
    found: Counter[int] = Counter()
    seen = network(capture)
    for ppdu in seen.between(seen.span_s - seconds, seen.span_s).data:
        found[ppdu.first.mode.mcs] += len(ppdu.frames)
    return found


def shares(runs: list[Seen]) -> str:
    """The MCS of frames, the most frequent first, with the shares of those above a tenth."""
    total: Counter[int] = sum((found for _, found in runs), Counter())
    whole = total.total()
    few = 0.1 * whole
    return ", ".join(
        f"{mcs} ({100 * n / whole:.0f} %)" if few < n < whole else str(mcs) for mcs, n in total.most_common()
    )


def mean(runs: list[Seen]) -> float:
    """The mean goodput."""
    return sum(goodput for goodput, _ in runs) / len(runs)


def by_distance() -> str:
    """One station that sends datagrams from some distance."""
    rows = [
        "| distance | Linux's Minstrel | MCS | ours | MCS | best MCS |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for metres in DISTANCES:
        given = (1, metres, "udp", "minstrel-ht", 7)
        theirs = [linux(*given, run) for run in range(RUNS)]
        mine = [ours(*given, run) for run in range(RUNS)]
        best, mcs = max(
            (mean([ours(1, metres, "udp", "constant", mcs, run) for run in range(RUNS)]), mcs)
            for mcs in range(8)
        )
        cells = (
            f"{mean(theirs):.1f}",
            shares(theirs),
            f"{mean(mine):.1f}",
            shares(mine),
            f"{best:.1f} ({mcs})",
        )
        rows.append(f"| {metres} m | {' | '.join(cells)} |")
        print(rows[-1], flush=True)
    return "\n".join(rows)


def by_stations() -> str:
    """Stations near the access point."""
    rows = [
        "| 802.11n, stations | UDP | ours | | TCP | ours | |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for control, stations in (("minstrel-ht", 1), ("minstrel-ht", 4), ("constant", 4)):
        cells = []
        for transport in ("udp", "tcp"):
            given = (stations, 5, transport, control, 7)
            both = [interval([side(*given, run)[0] for run in range(RUNS)]) for side in (linux, ours)]
            cells += [f"{one.mean:.1f} ± {one.half:.1f}" for one in both]
            difference = 100 * ((both[0].mean or 0.0) / (both[1].mean or 1.0) - 1)
            cells.append(f"{difference:+.1f} %".replace("-", "−"))
        name = "Minstrel" if control == "minstrel-ht" else "MCS 7"
        rows.append(f"| {name}, {stations} | {' | '.join(cells)} |")
        print(rows[-1], flush=True)
    return "\n".join(rows)


TABLES = {"by distance": by_distance, "by stations": by_stations}


def main() -> None:
    """Write the tables."""
    page = PAGE.read_text("utf-8")
    for name, make in TABLES.items():
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n{make()}\n\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
