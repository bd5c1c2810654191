"""quinn's own client and server over `lasthop virtual` and `lasthop live`, beside the simulation.

    cargo build --release --manifest-path bench/peers/quinn/Cargo.toml
    python bench/quinn.py bench/peers/quinn/target/release/quinn-peer [--live] [--runs 5]

Prints a row of docs/quic.md for each point of `validation/quic`: the goodput of the simulation and of the
programs in Mbit/s, with 95 % intervals, and their ratio. `--live` adds runs in real time.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from pathlib import Path

import lasthop as lh
from lasthop.stats.intervals import interval

SCENARIO = "validation/quic"
PORT, WARMUP, SECONDS = 4433, 2, 12


def programs(command: str, peer: Path, point: dict[str, str], replication: int) -> float:
    """The bits per second that quinn's server has read."""
    server = [str(peer), "server", str(PORT), str(WARMUP), str(SECONDS)]
    client = [str(peer), "client", f"d:{PORT}", str(SECONDS), point["flows.main.quic.congestion"]]
    options = [f"--where={key}={value}" for key, value in point.items()]
    options += ["--replication", str(replication)]
    lasthop = [sys.executable, "-m", "lasthop", command, SCENARIO, *options]
    if command == "live":
        lasthop += ["--late", "1000"]
    words = [*lasthop, "--node", "d", "--", *server, "--node", "s", "--", *client]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    found = re.search(r"^\[d\] (\d+)$", done.stdout, re.MULTILINE)
    if found is None:
        raise SystemExit(f"{' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return float(found[1])


def shown(values: list[float]) -> str:
    found = interval([value / 1e6 for value in values])
    mean, high = found.mean or 0.0, found.high or found.mean or 0.0
    return f"{mean:.2f} ± {high - mean:.2f}" if len(values) > 1 else f"{mean:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("peer", type=lambda path: Path(path).resolve())
    parser.add_argument("--live", action="store_true")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--points", type=int, nargs="*")
    wanted = parser.parse_args()
    scenario = lh.load(SCENARIO)
    commands = ["virtual", "live"] if wanted.live else ["virtual"]
    for number, point in enumerate(scenario.points()):
        if wanted.points and number not in wanted.points:
            continue
        law = point["flows.main.quic.congestion"]
        runs = range(wanted.runs)
        simulated = [scenario.run(None, one, number).metrics["flows.main.goodput_bps"] or 0 for one in runs]
        cells = [law, point["links.path.rate"], point["links.path.loss.rate"], shown(simulated)]
        for command in commands:
            measured = [programs(command, wanted.peer, point, one) for one in runs]
            cells += [shown(measured), f"{sum(measured) / sum(simulated):.3f}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
