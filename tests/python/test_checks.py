"""How `lasthop test` runs a step beside tests that wait."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lasthop.tools.testing import Step, behind

if TYPE_CHECKING:
    from pathlib import Path


def test_a_step_that_ends_in_time_has_its_own_status_and_output() -> None:
    outcome = behind(Step("step", ["sh", "-c", "echo said; exit 3"]), lambda: time.sleep(1))
    assert (outcome.status, outcome.output) == (3, "said\n")


def test_a_step_that_is_late_runs_anew(tmp_path: Path) -> None:
    runs = tmp_path / "runs"

    def waiting() -> None:
        while not (runs.exists() and runs.read_text()):
            time.sleep(0.01)

    script = f"echo run >> {runs}; [ $(wc -l < {runs}) = 2 ] || exec sleep 100; echo said"
    outcome = behind(Step("step", ["sh", "-c", script]), waiting)
    assert (outcome.status, outcome.output) == (0, "said\n")
    assert outcome.duration_s < 100
