"""The cases of the benchmark in ns-3, where the Python wheel `ns3` is installed.

`bench/peers/ns3/build.py` compiles programs of that folder against the wheel, once per version of a source.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from lasthop.base.errors import LasthopError
from lasthop.tools.process import timed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path
    from typing import Any

NAME = "ns-3"


def missing(folder: Path, peer: Mapping[str, Any]) -> str | None:
    """Why ns-3 cannot be run on a case of the bench in this folder; `None` if it can."""
    if "ns3" not in peer:
        return "the case has no program"
    try:
        _program(folder)
    except LasthopError as e:
        return str(e)
    return None


def run(folder: Path, peer: Mapping[str, Any]) -> tuple[float, int, float, int | None, int | None]:
    """Run a case: simulated seconds, packets delivered, seconds of CPU, frames, and peak memory in bytes."""
    program, case = _program(folder), peer["ns3"]
    command = [str(program), str(case["duration"]), *(str(a) for a in case["arguments"])]
    output, cpu, peak = timed(command, program)
    frames = None
    if case.get("frames"):
        # Counting them takes time of its own, and the same seed gives the same frames.
        done = subprocess.run(
            command, env={**os.environ, "FRAMES": "1"}, capture_output=True, text=True, check=True
        )
        frames = _number("frames", done.stdout, program)
    return float(case["duration"]), _number("delivered", output, program), cpu, frames, peak


def _number(word: str, output: str, program: Path) -> int:
    found = re.search(rf"^{word} (\d+)", output, re.MULTILINE)
    if found is None:
        raise LasthopError(f'{program}: printed "{output.strip()}"; expected "{word} N"')
    return int(found[1])


def _program(folder: Path) -> Path:
    """The program that runs the cases, compiled if necessary."""
    peers = folder / "peers" / "ns3"
    target = folder.parent / "target" / "ns3"
    done = subprocess.run(
        [sys.executable, str(peers / "build.py"), "legacy", str(target)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise LasthopError(lines[-1] if lines else f"{peers / 'build.py'}: exit {done.returncode}")
    return target / "legacy"
