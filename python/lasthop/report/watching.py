"""Showing the charts of a live run in a page while it lasts."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.base.errors import RunError
from lasthop.base.paths import for_children

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from lasthop.scenario.scenario import Scenario

    Take = Callable[[float, Mapping[str, float | None]], None]

_WATCHER = str(Path(__file__).with_name("watcher.py"))


@contextmanager
def watched(scenario: Scenario, point: int) -> Iterator[tuple[str, Take]]:
    """Serve the charts of a network by a process of its own: its address, and what takes samples.

    Args:
        scenario: The scenario.
        point: The number of the point.

    Raises:
        RunError: The page cannot be served.
    """
    process = subprocess.Popen(
        [sys.executable, "-P", _WATCHER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": for_children(), "OPENBLAS_NUM_THREADS": "1"},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    to = process.stdin

    def send(what: object) -> None:
        # A page that nobody can see any more does not end the run.
        with suppress(OSError):
            to.write(pickle.dumps(what))
            to.flush()

    try:
        send((scenario.title or scenario.id, scenario.observers(point)))
        address = process.stdout.readline().decode().strip()
        if not address:
            raise RunError(f"the page of the run ended with exit code {process.wait()}")
        yield address, lambda at_s, metrics: send((at_s, dict(metrics)))
    finally:
        with suppress(OSError):
            to.close()
        process.wait()
        process.stdout.close()
