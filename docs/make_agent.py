"""Writes the tables of papers/lle-tcp.md about `lasthop agent` at Linux's own Wi-Fi, beside the simulation.

    python docs/make_agent.py [table]

Wants the kernel of `lasthop virtual`, and takes an hour. Each run is kept beside this file
(`agent-runs.json`); only what is missing there is measured. Runs with and without an agent have the same
random numbers.
With `table` it measures nothing, and the tables have the runs that are there.
"""

from __future__ import annotations

import json
import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import lasthop as lh
from lasthop.stats.intervals import interval

KEPT = Path(__file__).with_name("agent-runs.json")
PAGE = Path(__file__).resolve().parents[1] / "papers" / "lle-tcp.md"
ERRORS, RUNS = (0, 5, 10, 20), 5
# The other agents: at which node each sits, and the errors.
OTHERS = {"ack-filter": "receiver", "snoop": "sender", "proxy-tcp": "sender"}
OTHERS_ERROR = 5
PAYLOAD, FIRST_S, LAST_S = 1024, 3, 23
SCENARIO = """
[run]
duration = "{last} s"
warmup = "{first} s"

[nodes]
sender = {{{stack}}}
receiver = {{{stack}}}

[links.wlan]
kind = "wifi"
nodes = ["sender", "receiver"]
standard = "802.11"
rate = "1 Mbit/s"
rts-threshold = "0 B"
loss = {{ rate = "{error} %" }}

[flows.main]
from = "sender"
to = "receiver"
tcp = {{ profile = "modern", variant = "cubic", packet = "{payload} B", ack-every = {every} }}
"""
# A data frame with a field for QoS, where its packet begins, and a protocol.
_QOS_DATA, _IP, _TCP = 0x88, 34, 6
# The route decides whether Linux acknowledges each segment.
NODE = """
import socket, subprocess, sys, time
role, name, every, peer, payload, first, last = sys.argv[1:]
if every == "1":
    subprocess.run(["ip", "route", "change", "10.0.0.0/8", "dev", "wlan0", "quickack", "1"], check=True)
if name != "none":
    words = [sys.executable, "-m", "lasthop", "agent", name, "--dev", "wlan0", "-q"]
    subprocess.Popen(words)
    while not any(name.startswith("lasthop") for _, name in socket.if_nameindex()):
        time.sleep(0.01)
    if every == "1":
        for half in ("10.0.0.0/9", "10.128.0.0/9"):
            subprocess.run(["ip", "route", "change", half, "dev", "lasthop0", "quickack", "1"], check=True)
if role == "receiver":
    end, _ = socket.create_server(("", 80)).accept()
    begun, got, before = time.monotonic(), 0, None
    while (passed := time.monotonic() - begun) < int(last):
        got += len(end.recv(65536))
        if before is None and passed > int(first):
            before = passed, got
    print(8 * (got - before[1]) / (passed - before[0]))
else:
    while True:
        end = socket.socket()
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, int(payload) + 12)
        try:
            end.connect((peer, 80))
            break
        except OSError:
            time.sleep(0.05)
    while True:
        end.sendall(bytes(65536))
"""


def linux(error: int, every: int, agent: str, run: int) -> tuple[float, float]:
    """Goodput in Mbit/s, and acknowledgements on the air for each segment."""
    text = scenario(error, every, 'stack = "linux"')
    with tempfile.TemporaryDirectory() as folder:
        file, capture, node = (Path(folder) / name for name in ("air.toml", "air.pcap", "node.py"))
        file.write_text(text, encoding="utf-8")
        node.write_text(NODE, encoding="utf-8")
        words = [sys.executable, "-m", "lasthop", "virtual", str(file), "-q", "--pcap", str(capture)]
        words += ["--replication", str(run)]
        for number, role in enumerate(("sender", "receiver")):
            own = agent if OTHERS.get(agent, role) == role else "none"
            given = [role, own, every, f"10.0.0.{2 - number}", PAYLOAD, FIRST_S, LAST_S]
            words += ["--node", role, "--", sys.executable, str(node), *map(str, given)]
        done = subprocess.run(words, capture_output=True, text=True, check=True)
        (goodput,) = re.findall(r"^\[receiver\] ([\d.]+)$", done.stdout, re.MULTILINE)
        return float(goodput) / 1e6, _answers(capture)


def _answers(capture: Path) -> float:
    """Acknowledgements for each segment in a capture, of those that were sent at least once."""
    content, at = capture.read_bytes(), 24
    sent: dict[bool, set[bytes]] = {True: set(), False: set()}
    while at < len(content):
        length = struct.unpack_from("<I", content, at + 8)[0]
        record = content[at + 16 : at + 16 + length]
        frame = record[struct.unpack_from("<H", record, 2)[0] :]
        at += 16 + length
        if frame[0] == _QOS_DATA and frame[_IP + 9] == _TCP:
            sent[frame[15] == 1].add(frame[22:24] + frame[_IP : _IP + 40])
    return len(sent[False]) / len(sent[True])


def scenario(error: int, every: int, stack: str = "") -> str:
    """A sender and a receiver with these losses, and segments for an acknowledgement."""
    return SCENARIO.format(last=LAST_S, first=FIRST_S, stack=stack, error=error, every=every, payload=PAYLOAD)


def simulated(error: int, every: int, agent: str, run: int) -> float:
    """The same in the simulation: the goodput in Mbit/s."""
    nodes = f'node = "{OTHERS[agent]}"\nlink = "wlan"\n' if agent in OTHERS else ""
    text = scenario(error, every) + f'\n[agents.agent]\nkind = "{agent}"\n{nodes}'
    goodput = lh.Scenario.from_text(text, "air").run(replication=run).metrics["flows.main.goodput_bps"]
    assert goodput is not None
    return goodput / 1e6


def kept() -> dict[str, list[float]]:
    """The runs of Linux: goodput and acknowledgements, by name."""
    found: dict[str, list[float]] = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    return found


def _name(error: int, every: int, agent: str, run: int) -> str:
    return f"{agent}, {error} %, {every}, {run}"


def measure(error: int, every: int, agent: str, run: int) -> None:
    """Measure a run of Linux, unless it is kept."""
    every_one, name = kept(), _name(error, every, agent, run)
    if name in every_one:
        return
    every_one[name] = [*linux(error, every, agent, run)]
    lines = (f"  {json.dumps(one)}: {json.dumps(every_one[one])}" for one in sorted(every_one))
    KEPT.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(name, every_one[name], flush=True)


def pairs(error: int, every: int, agent: str) -> list[tuple[list[float], list[float]]]:
    """The runs of Linux without an agent and with it, with the same random numbers."""
    every_one = kept()
    names = ([_name(error, every, one, run) for one in ("none", agent)] for run in range(RUNS))
    return [
        (every_one[bare], every_one[with_it])
        for bare, with_it in names
        if {bare, with_it} <= every_one.keys()
    ]


def _mean(values: list[float], digits: int) -> str:
    found = interval(values)
    half = "" if found.half is None else f" ± {found.half:.{digits}f}"
    return f"{found.mean:.{digits}f}{half}"


def _gain(found: list[tuple[float, float]]) -> str:
    return f"{_mean([100 * (with_it / bare - 1) for bare, with_it in found], 1)} %"


def cells(error: int, every: int, agent: str) -> list[str]:
    """What an agent does at these errors: Linux, and the simulation."""
    found = pairs(error, every, agent)
    ours = [
        (simulated(error, every, "none", run), simulated(error, every, agent, run)) for run in range(RUNS)
    ]
    goodputs = [_mean([one[place][0] for one in found], 3) for place in (0, 1)]
    acks = ", ".join(f"{sum(one[place][1] for one in found) / len(found):.2f}" for place in (0, 1))
    gains = _gain([(bare[0], with_it[0]) for bare, with_it in found]), _gain(ours)
    simulations = [_mean([one[place] for one in ours], 3) for place in (0, 1)]
    return [f"{error} %", str(len(found)), *goodputs, gains[0], acks, *simulations, gains[1]]


def _write(mark: str, head: list[str], rows: list[list[str]]) -> None:
    lines = ["| " + " | ".join(one) + " |" for one in (head, ["---"] * len(head), *rows)]
    text = PAGE.read_text(encoding="utf-8")
    before, after = f"<!-- {mark} -->\n", f"<!-- end of {mark} -->"
    start, end = text.index(before) + len(before), text.index(after)
    PAGE.write_text(text[:start] + "\n" + "\n".join(lines) + "\n\n" + text[end:], encoding="utf-8")


def main() -> None:
    """Measure and write."""
    points = [(error, every) for every in (1, 2) for error in ERRORS]
    if sys.argv[1:] != ["table"]:
        for agent in OTHERS:
            measure(OTHERS_ERROR, 1, agent, 0)
        for run in range(RUNS):
            for error, every in points:
                for agent in ("none", "lle-tcp"):
                    measure(error, every, agent, run)
    head = ["frame errors", "runs", "Linux", "with the agent", "gain", "acknowledgements a segment"]
    head += ["simulated", "with the agent", "gain"]
    rows = [[str(every), *cells(error, every, "lle-tcp")] for error, every in points]
    _write("agent", ["segments for an acknowledgement", *head], rows)
    rows = [[agent, place, *cells(OTHERS_ERROR, 1, agent)] for agent, place in OTHERS.items()]
    _write("other agents", ["agent", "at the", *head], rows)


if __name__ == "__main__":
    main()
