"""Writes the tables of docs/live.md: what docs/live/*.py print, and a kernel beside the simulation.

    python docs/make_live.py

Wants root, what `lasthop live` wants, aioquic and iperf3, and takes ten minutes.
"""

from __future__ import annotations

import platform
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import lasthop as lh
from lasthop.stats.intervals import interval

PAGE = Path(__file__).with_name("live.md")
SCENARIO = "lle-tcp/fig08"
AGENTS = {
    "without an agent": {"agents.snoop.kind": "none"},
    "LLE-TCP (safe)": {"agents.snoop.kind": "lle-tcp", "agents.snoop.lle-tcp.mode": "safe"},
}
# What the kernel does, for our sender; the transfer begins at 3 s.
MODERN = {
    "flows.main.tcp.profile": "modern",
    "flows.main.tcp.variant": "cubic",
    "flows.main.tcp.packet": "1448 B",
    "flows.main.tcp.extra-header": "0 B",
    "flows.main.app.kind": "bulk",
    "run.warmup": "6 s",
    "run.duration": "28 s",
}
SENDER = """
import socket, time
while True:
    end = socket.socket()
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
    try:
        end.connect(("receiver", 80))
        break
    except OSError:
        time.sleep(0.05)
while True:
    end.sendall(bytes(65536))
"""
# Bits a second from the fourth to the 25th second.
RECEIVER = """
import socket, time
end, _ = socket.create_server(("", 80)).accept()
begun, got, before = time.monotonic(), 0, None
while (passed := time.monotonic() - begun) < 25:
    got += len(end.recv(65536))
    if before is None and passed > 3:
        before = passed, got
print(8 * (got - before[1]) / (passed - before[0]))
"""


# More than this at the 99th percentile, in ms, and a run is not of use.
LATE_MS = 1.0
RUNS = 6
EXAMPLES = ("player", "laws", "game", "quic", "stations")


def live(settings: dict[str, str], replication: int) -> float:
    """The goodput of the kernel."""
    sets = [word for key, value in settings.items() for word in ("-s", f"{key}={value}")]
    sender = ("--node", "sender", "--", sys.executable, "-c", SENDER)
    receiver = ("--node", "receiver", "--", sys.executable, "-c", RECEIVER)
    late = ("--late", str(LATE_MS), "--replication", str(replication))
    command = [sys.executable, "-m", "lasthop", "live", SCENARIO, *sets, *late]
    done = subprocess.run(
        [*command, "-q", *sender, *receiver], stdout=subprocess.PIPE, text=True, check=True, timeout=60
    )
    return float(re.search(r"^\[receiver\] (\S+)$", done.stdout, re.MULTILINE)[1])


def simulated(settings: dict[str, str], replication: int) -> float:
    """Ours."""
    scenario = lh.load(SCENARIO).set({**settings, **MODERN})
    return scenario.run(replication=replication).metrics["flows.main.goodput_bps"]


def main() -> None:
    """Measure, and write the table."""
    with ThreadPoolExecutor(2) as crew:
        found = {
            name: [list(crew.map(partial(run, settings), range(RUNS))) for run in (live, simulated)]
            for name, settings in AGENTS.items()
        }
    release = platform.release().partition("-")[0]
    lines = [f"| | Linux {release}, live | simulated |", "| --- | --- | --- |"]
    for name, sides in found.items():
        both = (interval([value / 1e6 for value in side]) for side in sides)
        lines.append(f"| {name} | " + " | ".join(f"{i.mean:.3f} ± {i.half:.3f} Mbit/s" for i in both) + " |")
    gains = (
        interval([100 * (after / before - 1) for before, after in zip(*sides, strict=True)])
        for sides in zip(*found.values(), strict=True)
    )
    lines.append("| gain | " + " | ".join(f"{gain.mean:.1f} ± {gain.half:.1f} %" for gain in gains) + " |")
    page = with_table(PAGE.read_text("utf-8"), "| | Linux ", "\n".join(lines))
    for name in EXAMPLES:
        command = [sys.executable, str(PAGE.with_name("live") / f"{name}.py")]
        printed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
        page = with_table(page, printed.partition("\n")[0], printed)
    PAGE.write_text(page, "utf-8")


def with_table(page: str, start: str, table: str) -> str:
    """A page with this in place of the table that starts so."""
    return re.sub(rf"{re.escape(start)}.*?(?=\n\n)", lambda _: table, page, count=1, flags=re.DOTALL)


if __name__ == "__main__":
    main()
