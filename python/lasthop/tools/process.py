"""The cost of another program."""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.base.errors import LasthopError

if TYPE_CHECKING:
    from collections.abc import Mapping


def timed(
    command: list[str], script: Path, settings: Mapping[str, str] | None = None
) -> tuple[str, float, int | None]:
    """What a command prints, its CPU time in seconds, and the most memory it held in bytes."""
    highest = None
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, env={**os.environ, **(settings or {})})
        done = 0
        while not done:
            # The system's own record counts what this process held when it started the other.
            highest = peak(str(process.pid)) or highest
            done, status, used = os.wait4(process.pid, os.WNOHANG)
            time.sleep(0.0 if done else 0.01)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode:
            told = err.read().decode(errors="replace").strip()
            raise LasthopError(f"{script}: {told or f'exit {process.returncode}'}; expected it to finish")
        output = out.read().decode(errors="replace")
    return output, used.ru_utime + used.ru_stime, highest


def peak(process: str = "self") -> int | None:
    """The largest resident memory of a process, of this one since it was reset; Linux only."""
    try:
        text = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    except OSError:
        return None
    match = re.search(r"^VmHWM:\s+(\d+) kB", text, re.MULTILINE)
    return int(match[1]) * 1024 if match else None
