"""Replaces the package's own extension by another build: the file that LASTHOP_CORE names.

Python imports this module when it starts, where this folder is on PYTHONPATH, and so does every process
that a test starts. `lasthop test` sets both for a run of the tests; the extension that a user calls stays
as it is.
"""

import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location


class Core:
    """Finds `lasthop._core` in a file of its own."""

    def __init__(self, file: str) -> None:
        self.file = file

    def find_spec(self, name: str, path: object = None, target: object = None) -> ModuleSpec | None:
        return spec_from_file_location(name, self.file) if name == "lasthop._core" else None


if file := os.environ.get("LASTHOP_CORE"):
    sys.meta_path.insert(0, Core(file))
