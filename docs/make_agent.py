"""Writes the table of papers/lle-tcp.md about `lasthop agent` at Linux's own Wi-Fi, beside the simulation.

    python docs/make_agent.py

Wants the kernel of `lasthop virtual`, and takes ten minutes.
"""

from __future__ import annotations

import re
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import lasthop as lh

PAGE = Path(__file__).resolve().parents[1] / "papers" / "lle-tcp.md"
BEFORE, AFTER = "<!-- agent -->\n", "<!-- end of agent -->"
ERRORS = (0, 5, 10, 20)
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


def linux(error: int, every: int, agent: str) -> tuple[float, float]:
    """Goodput in Mbit/s, and acknowledgements on the air for each segment."""
    text = scenario(error, every, 'stack = "linux"')
    with tempfile.TemporaryDirectory() as folder:
        file, capture, node = (Path(folder) / name for name in ("air.toml", "air.pcap", "node.py"))
        file.write_text(text, encoding="utf-8")
        node.write_text(NODE, encoding="utf-8")
        words = [sys.executable, "-m", "lasthop", "virtual", str(file), "-q", "--pcap", str(capture)]
        for number, role in enumerate(("sender", "receiver")):
            given = [role, agent, every, f"10.0.0.{2 - number}", PAYLOAD, FIRST_S, LAST_S]
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


def simulated(error: int, every: int, agent: str) -> float:
    """The same in the simulation: the goodput in Mbit/s."""
    text = scenario(error, every) + f'\n[agents.agent]\nkind = "{agent}"\n'
    goodput = lh.Scenario.from_text(text, "air").run().metrics["flows.main.goodput_bps"]
    assert goodput is not None
    return goodput / 1e6


def main() -> None:
    """Measure and write."""
    lines = [
        "| segments for an acknowledgement | frame errors | Linux | with the agent | gain "
        "| acknowledgements a segment | simulated | with LLE-TCP | gain |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for every in (1, 2):
        for error in ERRORS:
            (bare, all_acks), (with_it, few) = (linux(error, every, name) for name in ("none", "lle-tcp"))
            ours, ours_with = (simulated(error, every, name) for name in ("none", "lle-tcp"))
            cells = [
                str(every),
                f"{error} %",
                f"{bare:.3f}",
                f"{with_it:.3f}",
                f"{100 * (with_it / bare - 1):+.1f} %",
                f"{all_acks:.2f}, {few:.2f}",
                f"{ours:.3f}",
                f"{ours_with:.3f}",
                f"{100 * (ours_with / ours - 1):+.1f} %",
            ]
            lines.append("| " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    text = PAGE.read_text(encoding="utf-8")
    start, end = text.index(BEFORE) + len(BEFORE), text.index(AFTER)
    PAGE.write_text(text[:start] + "\n" + "\n".join(lines) + "\n\n" + text[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
