"""Measures how the cost of a run grows, prints the tables of speed.md, and draws figures/growth.svg.

    .venv/bin/python docs/make_growth.py            # some minutes
    .venv/bin/python docs/make_growth.py 1          # each point once, instead of the least of three

CPU time is that of the whole process less that of its start, and includes reading the scenario and its
metrics; memory is the peak of the process. Each point is run in a process of its own.
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lasthop as lh
from lasthop.base.quantity import digits
from lasthop.base.table import markdown

WIRE = """
[run]
duration = "{seconds} s"
max-memory = "16 GB"
[nodes]
a = {{}}
b = {{}}
[links.wire]
kind = "wired"
nodes = ["a", "b"]
rate = "{n} Mbit/s"
delay = "20 ms"
queue = "{queue} packets"
[flows.up]
from = "a"
to = "b"
count = {n}
app = {{ spread = "1 s" }}
sink = {{ buffer = "64 kB" }}
"""
CELL = {"nodes.hub.count": 1, "run.warmup": "0 s"}
MESH = {
    "flows.random.count": 5,
    "links.frn.frn.window": 5,
    "links.frn.frn.max-window": 17,
    "links.frn.frn.sense": "nothing",
    "links.frn.frn.carrier-sense-range": "550 m",
    "links.frn.frn.interference-range": "550 m",
    "links.frn.frn.remembered": 0,
    "links.frn.frn.wait-from": "transmission",
    "run.warmup": "0 s",
    "run.max-memory": "16 GB",
}


@dataclass(frozen=True)
class Series:
    """What grows, with the simulated seconds of each size."""

    title: str
    unit: str
    sizes: dict[int, float]


SERIES = {
    "flows": Series("flows on one wire", "event", {1: 1000, 10: 300, 100: 30, 1000: 5, 10_000: 3}),
    "stations": Series(
        "stations in one cell, each with a load",
        "frame",
        {2: 1000, 10: 400, 50: 100, 200: 20, 500: 5, 1000: 3},
    ),
    "shared": Series(
        "stations in one cell that share a load", "frame", dict.fromkeys((2, 10, 50, 200, 500, 1000), 100)
    ),
    "mesh": Series("nodes of a mesh", "frame", {19: 3000, 100: 1000, 1000: 300, 10_000: 100}),
    "time": Series("simulated seconds", "event", {n: n for n in (10, 100, 1000, 10_000, 100_000)}),
}


def scenario(series: str, size: int, seconds: float) -> lh.Scenario:
    """The scenario of a point."""
    duration = {"run.duration": f"{seconds} s"}
    if series == "flows":
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "wire.toml")
            file.write_text(WIRE.format(n=size, queue=10 * size + 10, seconds=seconds))
            return lh.load(file)
    if series == "stations":
        return lh.load("examples/cells").set({**CELL, "nodes.sta.count": size - 1, **duration})
    if series == "shared":
        rate = {"flows.up.app.poisson.rate": f"{1_600_000 // (size - 1)} bit/s"}
        return lh.load("examples/cells").set({**CELL, "nodes.sta.count": size - 1, **rate, **duration})
    if series == "mesh":
        return lh.load("load-adaptive/large").set({**MESH, "nodes.n.count": size, **duration})
    return lh.load("ejtcp/fig10-baselines").set({"run.warmup": "0 s", **duration})


def measure(series: str, size: int, seconds: float) -> None:
    """Run one point, and print its cost."""
    lh.load("ejtcp/fig10-baselines").set({"run.duration": "1 s"}).run()
    before = time.process_time()
    run = scenario(series, size, seconds).run()
    used = time.process_time() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    frames = sum(
        value or 0.0
        for name, value in run.metrics.items()
        if name.endswith((".frames_sent", ".transmissions", ".acks"))
    )
    count = frames if SERIES[series].unit == "frame" else run.events
    print(json.dumps({"count": count, "cpu_s": used, "peak_mb": peak}))


def least(series: str, size: int, seconds: float, times: int) -> dict[str, Any]:
    """The cheapest of some runs of one point."""
    command = [sys.executable, "-P", __file__, "--measure", series, str(size), str(seconds)]
    runs = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(times)]
    best: dict[str, Any] = min(runs, key=lambda run: run["cpu_s"])
    return best


def sweeps() -> list[list[str]]:
    """The cost of 10 000 runs with one worker and with two."""
    rows = []
    for jobs in (1, 2):
        with tempfile.TemporaryDirectory() as folder:
            settings = ["-s", "run.duration=5 s", "-s", "run.warmup=1 s", "-s", "run.replications=91"]
            command = [sys.executable, "-P", "-m", "lasthop", "sweep", "ejtcp/fig10-baselines", *settings]
            begun = time.perf_counter()
            process = subprocess.Popen(
                [*command, "-j", str(jobs), "-o", folder + "/study", "-q"], stdout=subprocess.DEVNULL
            )
            _, status, used = os.wait4(process.pid, 0)
            wall = time.perf_counter() - begun
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                raise SystemExit(f"a sweep failed: exit {process.returncode}")
            cpu = used.ru_utime + used.ru_stime
            rows.append([str(jobs), "10 010", digits(cpu, 3), digits(wall, 3), f"{used.ru_maxrss / 1e3:.0f}"])
    return rows


def draw(found: dict[str, dict[int, dict[str, Any]]]) -> None:
    """Draw what was measured, by series and size."""
    # Not in the processes whose memory is measured.
    import matplotlib.pyplot as plt
    from matplotlib.ticker import NullFormatter, StrMethodFormatter

    from lasthop.figures.style import save

    figure, axes = plt.subplots(1, 2, figsize=(8, 3.8), layout="constrained")
    for name, series in SERIES.items():
        sizes = list(found[name])
        each = [cost["cpu_s"] / cost["count"] * 1e9 for cost in found[name].values()]
        label = f"{series.title} (per {series.unit})"
        axes[0].loglog(sizes, each, marker="o", label=label)
        axes[1].loglog(sizes, [cost["peak_mb"] for cost in found[name].values()], marker="o")
    axes[0].set_ylabel("CPU time (ns)")
    axes[1].set_ylabel("peak memory (MB)")
    axes[1].set_yticks([25, 50, 100, 200])
    axes[1].yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes[1].yaxis.set_minor_formatter(NullFormatter())
    for ax in axes:
        ax.set_xlabel("number of flows, stations, nodes or seconds")
        ax.grid(visible=True, alpha=0.3)
    figure.legend(loc="outside upper center", ncols=2, fontsize="small", frameon=False)
    save(figure, Path(__file__).parent / "figures" / "growth.svg")


def main(times: int) -> None:
    found: dict[str, dict[int, dict[str, Any]]] = {}
    for name, series in SERIES.items():
        found[name] = {size: least(name, size, s, times) for size, s in series.sizes.items()}
        rows = []
        for size, cost in found[name].items():
            each = cost["cpu_s"] / cost["count"] * 1e9
            rows.append(
                [
                    str(size),
                    digits(series.sizes[size]),
                    f"{cost['count']:.0f}",
                    digits(cost["cpu_s"], 3),
                    digits(each, 3),
                    f"{cost['peak_mb']:.0f}",
                ]
            )
        unit = series.unit
        print(
            markdown([series.title, "simulated s", f"{unit}s", "CPU s", f"ns/{unit}", "peak MB"], rows),
            flush=True,
        )
        print()
    print(markdown(["workers", "runs", "CPU s", "wall s", "peak MB"], sweeps()))
    draw(found)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 3)
