"""The command line: `lasthop COMMAND`, one module per group of commands.

Importing this module imports click and nothing else, so that help answers at once; a command
imports what it needs when it runs.
"""

from __future__ import annotations

from lasthop.cli.main import lasthop, main

__all__ = ["lasthop", "main"]
