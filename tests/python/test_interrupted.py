"""Ctrl-C in a script ends the run that it waits for."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

SCRIPT = """
import lasthop as lh
scenario = lh.load("validation/linux-bulk").set({"run.duration": "1000000 s"})
print("begins", flush=True)
try:
    scenario.run()
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_run_of_a_script() -> None:
    script = subprocess.Popen([sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, text=True)
    assert script.stdout is not None
    assert script.stdout.readline() == "begins\n"
    time.sleep(0.5)
    script.send_signal(signal.SIGINT)
    try:
        assert script.communicate(timeout=20)[0] == "interrupted\n"
    finally:
        script.kill()
    assert script.returncode == 0
