"""Live runs that a signal ends at a random instant, the start included: nothing may be left."""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING

from ..draw import Draw

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL)
#: After so long nothing may be left.
PATIENCE_S = 2.0
#: Runs take about a second until their programs send.
LATEST_S = 1.6

SCENARIO = """
[run]
duration = "60 s"
[nodes]
phone = {}
server = {}
[links.air]
kind = "wifi"
nodes = ["phone", "server"]
[flows.down]
from = "server"
to = "phone"
tcp = {}
[agents.x]
kind = "lle-tcp"
"""
#: A server, and a client that starts another process and receives without end.
SERVER = """
import socket
sender, _ = socket.create_server(("", 80)).accept()
while True:
    sender.sendall(bytes(1000))
"""
CLIENT = """
import socket, subprocess, time
subprocess.Popen(["sleep", "300"], start_new_session=True)
while True:
    try:
        receiver = socket.create_connection(("server", 80))
        break
    except OSError:
        time.sleep(0.02)
while receiver.recv(1000):
    pass
"""
_MARK = "LASTHOP_TEST_MARK"


def as_on_a_terminal() -> None:
    """Have the signals do what they do to a program in the foreground, but a core would be a file."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for number in SIGNALS[:-1]:
        signal.signal(number, signal.SIG_DFL)


def left(number: signal.Signals, instant: int) -> list[str]:
    """What is left of a run that a signal ends at its n-th random instant."""
    draw = Draw(f"signals/{number}/{instant}")
    wait_s = draw.uniform(0, LATEST_S)
    further = ["--internet", "server"] if draw.chance(0.5) and shutil.which("slirp4netns") else []
    with tempfile.TemporaryDirectory(prefix="lasthop-signals-") as name:
        found = [*_left_in(Path(name), number, wait_s, further)]
    return [" ".join([number.name, f"after {wait_s:.3f} s:", one, *further]) for one in found]


def _left_in(folder: Path, number: signal.Signals, wait_s: float, further: Sequence[str]) -> Iterator[str]:
    (folder / "cell.toml").write_text(SCENARIO)
    mark = uuid.uuid4().hex
    words = [sys.executable, "-m", "lasthop", "live", "cell.toml", *further]
    for node, program in (("server", SERVER), ("phone", CLIENT)):
        words += ["--node", node, "--", sys.executable, "-c", program]
    before = _system()
    started = subprocess.Popen(
        words,
        cwd=folder,
        env={**os.environ, _MARK: mark, "TMPDIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        preexec_fn=as_on_a_terminal,  # noqa: PLW1509
    )
    time.sleep(wait_s)
    started.send_signal(number)
    until = time.monotonic() + PATIENCE_S
    try:
        started.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        yield "the run goes on"
        started.kill()
        started.wait()
    if started.returncode == 2:
        yield "the run was refused"
    while (marked := [*_marked(mark)]) and time.monotonic() < until:
        time.sleep(0.01)
    yield from (f"process {one}" for one in marked)
    after = _system()
    for what, is_now in after.items():
        yield from (f"{what} {one}" for one in sorted(is_now - before[what]))
    yield from (f"file {path.name}" for path in folder.iterdir() if path.name != "cell.toml")


def _system() -> dict[str, set[str]]:
    """What this namespace has of what a run could leave. Namespaces that nobody holds do not exist."""
    mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    interfaces = Path("/proc/self/net/dev").read_text().splitlines()[2:]
    return {
        "mount": {line.split()[4] for line in mounts if "nsfs" in line or "lasthop" in line},
        "interface": {line.partition(":")[0].strip() for line in interfaces},
        "route": set(Path("/proc/self/net/route").read_text().splitlines()),
    }


def _marked(mark: str) -> Iterator[str]:
    """The processes that a run has started, by what they inherit."""
    word = f"{_MARK}={mark}".encode()
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if word in (path / "environ").read_bytes().split(b"\0"):
                command = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                yield f"{path.name} {command[:80]}"
        except OSError:
            continue
