"""Where the instructions of a case go, by part of the simulator.

    python bench/profile.py                     # every case of bench/, 500 simulated seconds each
    python bench/profile.py newreno-1pct 100

Runs one case in this Python under valgrind's callgrind and adds up the instructions of the simulator
by the source file they came from. What was inlined from the standard library counts for the function
it was inlined into. Reading the scenario and Python's own work are left out. Instructions are counted,
not timed, so the shares repeat exactly.
"""

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

from lasthop.scenario.overrides import as_text
from lasthop.tools import bench

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


def profile(case: bench.Case, seconds: str) -> Counter[str]:
    """Run a case under callgrind."""
    settings = {**case.settings, "run.duration": f"{seconds} s"}
    set_all = [word for key, value in settings.items() for word in ("-s", f"{key}={as_text(value)}")]
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        valgrind = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--quiet"]
        run = [sys.executable, "-P", "-m", "lasthop", "run", case.scenario, "--quiet", *set_all]
        subprocess.run([*valgrind, *run], check=True, stdout=subprocess.DEVNULL)
        return count(out)


def main(name: str = "", seconds: str = "500") -> None:
    for case in bench.cases((name,) if name else ()):
        found = profile(case, seconds)
        print(f"{case.name}: {found.total() / 1e6:.1f} million instructions in {seconds} simulated seconds")
        for owner, cost in found.most_common():
            print(f"  {owner:<15}{cost / found.total():6.1%}")


if __name__ == "__main__":
    main(*sys.argv[1:])
