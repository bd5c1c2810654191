"""Where the instructions and the time of a case go, by part of the simulator.

    python bench/profile.py                     # every case of bench/, 500 simulated seconds each
    python bench/profile.py newreno-1pct 100

Runs one case in this Python under valgrind's callgrind and adds up the instructions of the simulator by the
source file they came from. Runs it again under `perf record -e cpu-clock`, which samples where the processor
is, by part and, for the lines with most samples, by line. A line with far more samples than its neighbours
waits, as for a value read wider than it was written or for a mispredicted branch. What was inlined from the
standard library counts for the function it was inlined into. Reading the scenario and Python's own work are
left out. Instructions are counted, not timed, so their shares repeat exactly. But they say little about time:
a load that misses the cache is one instruction. Each is left out if its tool is not installed.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from lasthop.scenario.overrides import as_text
from lasthop.tools import bench

HOTTEST = 8
"""Lines shown."""

PARTS = {
    "event queue": ("sim/src/engine/queue.rs", "sim::engine::queue"),
    "links": ("sim/src/net/", "sim/src/medium/", "stack/src/link/", "sim::net", "sim::medium", "stack::link"),
    "random numbers": ("sim/src/engine/streams.rs", "sim::engine::streams"),
    "TCP sender": (
        *(f"stack/src/transport/tcp/{name}.rs" for name in ("sender", "scoreboard", "rtt")),
        *("stack/src/transport/recovery/", "stack/src/transport/congestion/", "stack/src/hooks.rs"),
        *("tcp::sender", "tcp::scoreboard", "tcp::rtt", "transport::recovery", "transport::congestion"),
    ),
    "TCP receiver": (
        *(f"stack/src/transport/tcp/{name}.rs" for name in ("receiver", "ranges")),
        *("tcp::receiver", "tcp::ranges"),
    ),
    "TCP segments": ("stack/src/transport/tcp/connection.rs", "stack/src/packet.rs", "tcp::connection"),
    "run loop": ("sim/src/run/", "sim/src/traffic/", "sim/src/probe/", "sim::run", "sim::traffic"),
}


def part(file: str, function: str) -> str | None:
    """The part that an instruction of this file belongs to, inlined into this function."""
    for where in (file, function):
        for name, marks in PARTS.items():
            if any(mark in where for mark in marks):
                return name
    return None


def count(profile: Path) -> Counter[str]:
    """The instructions of every part, from callgrind's own format."""
    names: dict[tuple[str, str], str] = {}

    def name(kind: str, text: str) -> str:
        number, _, told = text.partition(" ")
        return names.setdefault((kind, number), told)

    found: Counter[str] = Counter()
    file = function = ""
    inclusive = False
    for line in profile.read_text().splitlines():
        key, sign, value = line.partition("=")
        if not sign and line[:1] in tuple("+-*0123456789"):
            owner = part(file, function)
            if owner and not inclusive:
                found[owner] += int(line.split()[1])
            inclusive = False
        elif key in {"fl", "fi", "fe"}:
            file = name("file", value)
        elif key in {"cfi", "cfl"}:
            name("file", value)
        elif key == "fn":
            function = name("function", value)
        elif key == "cfn":
            name("function", value)
        elif key == "calls":
            # The next line is the cost of the function called, which is counted there.
            inclusive = True
    return found


def command(case: bench.Case, seconds: str) -> list[str]:
    """What runs a case in a process of its own."""
    settings = {**case.settings, "run.duration": f"{seconds} s"}
    set_all = [word for key, value in settings.items() for word in ("-s", f"{key}={as_text(value)}")]
    return [sys.executable, "-P", "-m", "lasthop", "run", case.scenario, "--quiet", *set_all]


def instructions(case: bench.Case, seconds: str) -> Counter[str]:
    """Run a case under callgrind."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--quiet"]
        subprocess.run([*valgrind, *command(case, seconds)], check=True, stdout=subprocess.DEVNULL)
        return count(out)


def samples(case: bench.Case, seconds: str) -> tuple[Counter[str], Counter[str]]:
    """Run a case under perf; the samples of every part, and of every line of the crates."""
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder, "perf.data"))
        record = ["perf", "record", "-q", "-e", "cpu-clock", "-F", "4000", "-o", out]
        subprocess.run([*record, *command(case, seconds)], check=True, stdout=subprocess.DEVNULL)
        # The line that an address comes from names its file also where the function was inlined.
        report = [
            "perf",
            "report",
            "-i",
            out,
            "--stdio",
            "-q",
            "-n",
            "-F",
            "sample,srcline,symbol",
            "--full-source-path",
        ]
        lines = subprocess.run(report, check=True, capture_output=True, text=True).stdout.splitlines()
    parts: Counter[str] = Counter()
    places: Counter[str] = Counter()
    for line in lines:
        sample = re.match(r"\s*(\d+)\s+(\S+)\s+(.*)", line)
        owner = part(sample[2], sample[3]) if sample else None
        if sample and owner:
            parts[owner] += int(sample[1])
            if "crates/" in sample[2]:
                places[sample[2].rpartition("crates/")[2]] += int(sample[1])
    return parts, places


def main(name: str = "", seconds: str = "500") -> None:
    for case in bench.cases((name,) if name else ()):
        if not isinstance(case, bench.Case):
            continue
        counted = instructions(case, seconds) if shutil.which("valgrind") else Counter[str]()
        empty = Counter[str](), Counter[str]()
        timed, lines = samples(case, seconds) if shutil.which("perf") else empty
        print(f"{case.name}: {counted.total() / 1e6:.1f} million instructions in {seconds} simulated seconds")
        print(f"  {'part':<16}{'instructions':>13}{'time':>9}")
        for owner, _ in (timed or counted).most_common():
            shares = [found[owner] / (found.total() or 1) for found in (counted, timed)]
            print(f"  {owner:<16}{shares[0]:13.1%}{shares[1]:9.1%}")
        for place, found in lines.most_common(HOTTEST):
            print(f"  {place:<52}{found / timed.total():9.1%}")


if __name__ == "__main__":
    main(*sys.argv[1:])
