"""Writes the tables of docs/virtual.md: what a virtual second costs, and all laws of the guest beside ours.

    python docs/make_virtual.py [speed|laws]

Wants the kernel that `lasthop virtual --build-kernel` makes, and takes half an hour on two cores. What the
guest's laws gave is kept beside the page (`virtual-runs.json`); only what is missing there is measured.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from itertools import product
from pathlib import Path

import lasthop as lh
from lasthop.base.quantity import digits
from lasthop.peer.beside import Line
from lasthop.peer.crew import Crew
from lasthop.peer.habits import habits
from lasthop.peer.path import path
from lasthop.virtual import kernel

PAGE = Path(__file__).with_name("virtual.md")
KEPT = Path(__file__).with_name("virtual-runs.json")
PATH = """
[run]
duration = "25 s"
warmup = "5 s"

[nodes]
s = {}
d = {}

[links.path]
kind = "lossy"
nodes = ["s", "d"]
rate = "10 Mbit/s"
delay = "20 ms"
queue = "35 packets"
loss = { rate = "0 %" }

[flows.main]
from = "s"
to = "d"
app = { kind = "bulk" }
tcp = { profile = "modern", receive-autotuning = true, sack-wait = "1 ms" }
"""
RATES = (1, 10, 50, 100)
LOSSES = ("0.1 %", "1 %")
# The tick of the guest's clock.
TICK_S = 0.001
# Runs of each law, and of one of ours whose difference five runs leave open by more than this.
REPLICATIONS, MORE, OPEN = 5, 20, 0.01
# Each law of the kernel, and the name of ours.
LAWS = {
    **{law: law for law in ("reno", "cubic", "bbr", "vegas", "veno")},
    "westwood": "westwood-plus",
    **dict.fromkeys(("bic", "htcp", "illinois", "yeah", "dctcp", "cdg")),
    **dict.fromkeys(("scalable", "highspeed", "hybla", "lp", "nv")),
}
SENDER = """
import socket, sys, time
while True:
    end = socket.socket()
    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, sys.argv[1].encode())
    try:
        end.connect(("d", 80))
        break
    except ConnectionRefusedError:
        time.sleep(0.01)
while True:
    end.send(bytes(65536))
"""
# Bits a second of what comes in the measured time.
RECEIVER = """
import socket, time
end, _ = socket.create_server(("", 80)).accept()
begun, got, before = time.monotonic(), 0, 0
while (passed := time.monotonic() - begun) < 25:
    got += len(end.recv(1 << 18))
    before = got if passed < 5 else before
print(8 * (got - before) / 20)
"""


def transfer(law: str, replication: int, **keys: str) -> tuple[float, int, float]:
    """The goodput of a law in a guest, the packets that the network took, and seconds of processors."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = Path(folder) / "path.toml"
        scenario.write_text(PATH)
        settings = [word for key, value in keys.items() for word in ("-s", f"links.path.{key}={value}")]
        sender = ("--node", "s", "--", sys.executable, "-c", SENDER, law)
        receiver = ("--node", "d", "--", sys.executable, "-c", RECEIVER)
        command = ("virtual", str(scenario), *settings, "--replication", str(replication), "-o", folder)
        process = subprocess.Popen(
            [sys.executable, "-m", "lasthop", *command, *sender, *receiver], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        said = process.stdout.read()
        used = os.wait4(process.pid, 0)[2]
        packets = sum(map(int, re.findall(r'"packets": (\d+)', (Path(folder) / "run.json").read_text())))
    print(law, replication, keys, said.strip(), flush=True)
    return float(said.split()[1]), packets, used.ru_utime + used.ru_stime


def speed() -> str:
    """What a virtual second costs, by the rate of the link."""
    lines = ["| rate | goodput | packets a second | processor, for a second | for a packet |\n"]
    lines += ["| --- | --- | --- | --- | --- |\n"]
    for rate in RATES:
        goodput, packets, used = transfer(
            "cubic", 0, rate=f"{rate} Mbit/s", queue=f"{max(20, 3 * rate)} packets"
        )
        row = [f"{rate} Mbit/s", f"{goodput / 1e6:.3g} Mbit/s", f"{packets / 25:.0f}", f"{used / 25:.2g} s"]
        lines.append(f"| {' | '.join([*row, f'{1e3 * used / packets:.2g} ms'])} |\n")
        print(lines[-1], end="", flush=True)
    return "".join(lines)


def laws() -> str:
    """The goodput of each law of the guest, and of ours."""
    kept = measured()
    lines = [f"| law | {' | '.join(f'{loss} loss' for loss in LOSSES)} |\n", "| --- | --- | --- |\n"]
    for law in LAWS:
        row = [_beside(law, loss, kept[f"{law}, {loss}"]) for loss in LOSSES]
        lines.append(f"| {law} | {' | '.join(row)} |\n")
    return "".join(lines)


def measured() -> dict[str, list[float]]:
    """The goodput of each law of the guest and each loss, by replication."""
    kept: dict[str, list[float]] = json.loads(KEPT.read_text()) if KEPT.exists() else {}
    with Crew(1, kernel.find()) as crew:
        for loss, law in product(LOSSES, LAWS):
            found = kept.setdefault(f"{law}, {loss}", [])
            _measure(crew, law, loss, found, REPLICATIONS)
            if LAWS[law] and (_line(law, loss, found).off_half or 0.0) > OPEN:
                _measure(crew, law, loss, found, MORE)
            KEPT.write_text(json.dumps(kept, indent=1) + "\n")
    return kept


def _measure(crew: Crew, law: str, loss: str, found: list[float], runs: int) -> None:
    """Add runs of the guest until a law has this number at this loss."""
    of = scenario(law, loss)
    jobs = [path(of, 0).job(of, r, 0.0) for r in range(len(found), runs)]
    for job in jobs:
        job["flows"][0]["law"] = law
    results: dict[int, float] = {}
    crew.run(jobs, lambda n, result: results.update({n: result["flows"][0]["bytes"] * 8 / 20}))
    found += [results[n] for n in range(len(jobs))]
    print(law, loss, found, flush=True)


def scenario(law: str, loss: str) -> lh.Scenario:
    """The path with a law of ours: Reno for one that we do not have."""
    keys = {"flows.main.tcp.congestion": LAWS[law] or "reno", "links.path.loss.rate": loss}
    of = lh.Scenario.from_text(PATH, "path").set(keys)
    return of.set(habits(of, path(of, 0), kernel.find().name, TICK_S))


def _line(law: str, loss: str, theirs: list[float]) -> Line:
    """A law of the guest, and ours if we have it."""
    line = Line({}, "main", law, "goodput_bps", theirs=dict(enumerate(theirs)))
    if LAWS[law]:
        of = scenario(law, loss)
        line.ours = {r: of.run(replication=r).metrics["flows.main.goodput_bps"] for r in line.theirs}
    return line


def _beside(law: str, loss: str, theirs: list[float]) -> str:
    """Our goodput, that of the guest, and by how much ours is more, in Mbit/s, with intervals."""
    line = _line(law, loss, theirs)
    ours, guest = line.means
    if not LAWS[law]:
        return f"{digits(guest.mean / 1e6, 3)} ± {digits(guest.half / 1e6, 2)}"
    share = f"{100 * line.off:+.1f} ± {100 * line.off_half:.1f} %".replace("-", "−")
    return f"{digits(ours.mean / 1e6, 3)} / {digits(guest.mean / 1e6, 3)}, {share}"


def main(*chosen: str) -> None:
    for name, make in (("speed", speed), ("laws", laws)):
        if not chosen or name in chosen:
            begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->\n"
            before, rest = PAGE.read_text(encoding="utf-8").split(begin)
            PAGE.write_text(f"{before}{begin}\n{make()}\n{end}{rest.split(end)[1]}", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
