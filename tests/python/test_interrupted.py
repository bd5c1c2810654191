"""Ctrl-C in a script ends the run that it waits for."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

LONG = 'scenario = lh.load("validation/linux-bulk").set({"run.duration": "1000000 s"})'
HANGS = """
from lasthop.laws import Reno
class Hangs(Reno):
    def on_ack(self, ack, window):
        while True:
            pass
lh.law("hangs", Hangs)
scenario = lh.load("validation/linux-bulk").set({"flows.main.tcp.congestion": "hangs"})
"""
# Where tests run in the background, children ignore Ctrl-C unless they request it.
SCRIPT = """
import signal
import lasthop as lh
signal.signal(signal.SIGINT, signal.default_int_handler)
{scenario}
print("begins", flush=True)
try:
    scenario.run()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("times", [1, 3])
@pytest.mark.parametrize("scenario", [LONG, HANGS])
def test_ctrl_c_ends_a_run_of_a_script(scenario: str, times: int) -> None:
    interrupt([sys.executable, "-c", SCRIPT.format(scenario=scenario)], times)


def interrupt(command: list[str | Path], times: int, **settings: Any) -> None:
    """Start a script and send it this many Ctrl-C: it ends by itself, and says so."""
    script = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **settings)
    assert script.stdout is not None
    assert script.stdout.readline() == "begins\n"
    time.sleep(0.5)
    for _ in range(times):
        script.send_signal(signal.SIGINT)
    try:
        assert script.communicate(timeout=20)[0] == "interrupted\n"
    finally:
        script.kill()
    assert script.returncode == 0


def test_ctrl_c_while_commands_are_imported_is_one_line() -> None:
    script = (
        "import sys\n"
        "class Interrupts:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'lasthop.cli.main':\n"
        "            raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupts())\n"
        "from lasthop.cli import main\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "error: interrupted\n")
