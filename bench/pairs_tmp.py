"""Whether two builds give the same results, and how their CPU times compare.

    python bench/pairs.py OLD/_core.abi3.so NEW/_core.abi3.so
    python bench/pairs.py OLD NEW --rounds 20 newreno-clean flows-1000

Runs each case in turn with one build of the extension module and with the other, each in a process of its
own. Prints whether all metrics are equal, by their hash, and the ratio of the CPU times: of the shortest run
of each, and the median over the pairs. On a machine with other load only these ratios mean something. Without
names, it runs every case; with `--hash` it compares only the results. Exit status 1 if any result differs.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.util
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

# Scenario, point, settings; durations such that a run takes about a tenth of a second.
WIRE = """
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
CELL = {"nodes.hub.count": "1", "run.warmup": "0 s"}
CASES: dict[str, tuple[str, int, dict[str, str]]] = {
    "newreno-1pct": ("bench", 0, {"run.duration": "2500 s"}),
    "newreno-clean": ("bench", 0, {"run.duration": "800 s"}),
    "quic-clean": ("bench", 0, {"run.duration": "20 s"}),
    "wifi-rts": ("bench", 0, {"run.duration": "500 s"}),
    "wifi-lle": ("bench", 0, {"run.duration": "100 s"}),
    "access-point-15": ("bench", 0, {"run.duration": "60 s"}),
    "ap-15-ax": ("bench", 0, {"run.duration": "3 s"}),
    "chain-8": ("bench", 0, {"run.duration": "200 s"}),
    "cell-20": ("bench", 0, {"run.duration": "500 s"}),
    "cell-200": ("bench", 0, {"run.duration": "20 s"}),
    "cells-10x20": ("bench", 0, {"run.duration": "50 s"}),
    "dynamic-arq-15": ("bench", 0, {"run.duration": "20 s"}),
    "mesh-19": ("bench", 0, {"run.duration": "2000 s"}),
    "mesh-1000": ("bench", 0, {"run.duration": "50 s"}),
    "cell-1000": ("examples/cells", 0, {**CELL, "nodes.sta.count": "1000", "run.duration": "3 s"}),
    "ejtcp": ("ejtcp/fig10", 3, {"run.duration": "500 s"}),
    "modulation": ("ejtcp/modulation", 1, {}),
    "acks": ("examples/acks", 5, {}),
    "acks-by-time": ("examples/acks", 30, {}),
    "queues": ("examples/queues", 4, {}),
    "recorded": ("examples/trace", 0, {"run.duration": "600 s"}),
    "moving-cell": ("examples/moving-cell", 0, {}),
    "proxy-tcp": ("examples/proxy-tcp", 1, {}),
    "reverse": ("examples/reverse-traffic", 2, {}),
    "slow-reader": ("examples/slow-reader", 0, {}),
    "udp": ("examples/udp-cross", 1, {}),
    "today": ("today/lle-tcp", 3, {}),
    "disconnections": ("table1/disconnections", 2, {}),
    "moves": ("i-tcp/moves", 1, {}),
    "pcf": ("lle-tcp/pcf", 1, {}),
    "jersey": ("jersey/goodput", 2, {}),
    "classes": ("dynamic-arq/classes", 1, {"run.duration": "20 s"}),
}
for _count, _seconds in (
    ("1", "1000 s"),
    ("10", "100 s"),
    ("100", "20 s"),
    ("1000", "5 s"),
    ("10000", "2 s"),
):
    CASES[f"flows-{_count}"] = ("wire", int(_count), {"run.duration": _seconds})


def worker(core: str, name: str) -> None:
    """Answer each line of the input by one run: its hash and its CPU time."""
    spec = importlib.util.spec_from_file_location("lasthop._core", core)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["lasthop._core"] = module
    spec.loader.exec_module(module)
    import lasthop

    vars(lasthop)["_core"] = module
    from lasthop.base.paths import checkout
    from lasthop.scenario.overrides import as_text
    from lasthop.tools import bench

    source, point, settings = CASES[name]
    top = checkout()
    assert top is not None
    if source == "wire":
        text = WIRE.format(n=point, queue=10 * point + 10)
        pairs = list(settings.items())
        scenario, point = module.Scenario.from_text(text, "wire.toml", pairs), 0
    else:
        if source == "bench":
            case = bench.cases((name,))[0]
            assert isinstance(case, bench.Case)
            source = case.scenario
            settings = {**{k: as_text(v) for k, v in case.settings.items()}, **settings}
        path = str(top / "scenarios" / f"{source}.toml")
        scenario = module.Scenario.from_file(path, list(settings.items()))
    for _ in sys.stdin:
        begun = time.process_time()
        run = scenario.run(point, 1, 0)
        used = time.process_time() - begun
        digest = hashlib.sha256(repr((sorted((k, v) for k, v in run.metrics.items() if not k.endswith(("ofdma_uplink_triggers", "ofdma_uplink_parts", "ofdma_report_requests", "uplink_airtime_s"))), run.events)).encode()).hexdigest()
        print(digest[:16], used, run.events, flush=True)


def runs(core: str, name: str) -> Iterator[tuple[str, float, int]]:
    """The hash, CPU time and events of one run after another."""
    command = [sys.executable, "-P", __file__, "--worker", core, name]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            while True:
                process.stdin.write("\n")
                process.stdin.flush()
                digest, used, events = process.stdout.readline().split()
                yield digest, float(used), int(events)
        finally:
            process.stdin.close()


def compare(cores: list[str], name: str, rounds: int) -> bool:
    """Print one line about a case; whether both builds give the same."""
    both = [runs(core, name) for core in cores]
    found = [[next(one) for one in both] for _ in range(rounds)]
    for one in both:
        one.close()  # type: ignore[attr-defined]
    equal = len({digest for pair in found for digest, _, _ in pair}) == 1
    old, new = ([pair[place][1] for pair in found] for place in (0, 1))
    median = statistics.median(pair[1][1] / pair[0][1] for pair in found)
    events = found[0][0][2]
    print(
        f"{name:<16} {'equal' if equal else 'DIFFERS'} {min(old):8.4f} s {min(new):8.4f} s"
        f" {min(new) / events * 1e9:8.1f} ns/event  least {min(new) / min(old):.3f}  median {median:.3f}",
        flush=True,
    )
    return equal


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("old")
    parser.add_argument("new")
    parser.add_argument("names", nargs="*", metavar="CASE")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--hash", action="store_true", help="compare the results of one run only")
    wanted = parser.parse_args()
    cores = [str(Path(wanted.old).resolve()), str(Path(wanted.new).resolve())]
    rounds = 1 if wanted.hash else wanted.rounds
    equal = [compare(cores, name, rounds) for name in wanted.names or CASES]
    return int(not all(equal))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--worker"]:
        worker(sys.argv[2], sys.argv[3])
    else:
        sys.exit(main())
