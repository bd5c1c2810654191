"""What a release promises: the names and signatures of the Python API, and results to the last bit."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import TYPE_CHECKING

import lasthop as lh
from lasthop.base import paths
from lasthop.report.simulator import has_quic
from lasthop.scenario import fingerprints
from public_names import attributes, classes, functions
from studios import in_chromium

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from typing import Any

    from browser import Page

SNAPSHOT = Path(__file__).with_name("public_api.txt")


def api() -> str:
    """Each public name with its signature, a line each."""
    lines = [f"{one.name}{inspect.signature(one.code)}".replace("'", "") for one in functions()]
    held = [f"{owner.__name__}.{name}" for owner in classes() for name in attributes(owner)]
    lines += sorted(set(held) - {line.partition("(")[0] for line in lines})
    return "\n".join(sorted({*lines, *lh.__all__})) + "\n"


def test_the_python_api_is_as_recorded() -> None:
    """`python tests/python/test_release.py` records it: what goes is deprecated first."""
    assert api() == SNAPSHOT.read_text(encoding="utf-8")


def test_this_build_gives_the_results_of_the_release(
    within: Callable[..., subprocess.CompletedProcess[str]],
) -> None:
    done = within("verify", "--release")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("20 of 20 runs are those of lasthop ")


def test_a_metric_that_differs_in_its_last_bit_is_found() -> None:
    one, *others = ({"a": 1.0}, {"a": 1.0 + 2**-52}, {"a": None}, {"b": 1.0})
    own = fingerprints.of("x", 0, 1, one)
    assert own != fingerprints.of("x", 0, 2, one)
    assert all(fingerprints.of("x", 0, 1, other) != own for other in others)


@in_chromium
def test_the_module_for_pages_gives_the_results_of_the_release(page: Page) -> None:
    for pinned in fingerprints.recorded():
        text = paths.shipped()[pinned.scenario].read_text("utf-8")
        if has_quic(text):
            continue
        about = json.dumps({"text": text, "name": "scenario.toml", "key": text})
        call = json.dumps({"do": "run", "point": pinned.point, "max_events": fingerprints.EVENTS})
        found: dict[str, Any] = page.do(f"pool.engines[0].about({about}, {call})")
        assert fingerprints.of(pinned.scenario, pinned.point, found["events"], found["metrics"]) == pinned


if __name__ == "__main__":
    SNAPSHOT.write_text(api(), encoding="utf-8")
