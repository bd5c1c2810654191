"""The command line: `lasthop COMMAND`, one module per group of commands.

Calling it imports click and nothing else, so that help answers at once; a command imports what it needs when
it runs.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line and leave the process with its exit code."""
    try:
        from lasthop.cli.main import main as run
    except KeyboardInterrupt:
        print("error: interrupted", file=sys.stderr)
        sys.exit(130)
    run()
