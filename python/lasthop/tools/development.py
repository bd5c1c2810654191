"""`./lasthop --dev COMMAND …`: a command on the profile `quick`; only what changed is compiled anew."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from lasthop.tools import extension

ROOT = Path(__file__).resolve().parents[3]


def main(*words: str) -> int:
    """Build what changed, and become the command. Returns 2 if it cannot be compiled."""
    build = [*extension.build(ROOT, "quick"), "--quiet"]
    if subprocess.call(build, cwd=ROOT, env=extension.environment(), stdout=sys.stderr):
        return 2
    extension.take_out(ROOT, "quick")
    command = [sys.executable, "-P", "-m", "lasthop", *words]
    env = os.environ | extension.environment_of(ROOT, "quick")
    return os.execve(sys.executable, command, env)  # noqa: S606 - it replaces this process, as the launcher does


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
