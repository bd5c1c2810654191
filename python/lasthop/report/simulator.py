"""The simulator as a WebAssembly module, which pages run in workers."""

from __future__ import annotations

import gzip
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import StudyError, UsageError, reason
from lasthop.report.sheet import asset
from lasthop.study.directory import named_file

if TYPE_CHECKING:
    from lasthop.scenario.scenario import Scenario

MODULE = "lasthop.wasm"


def module() -> bytes:
    """The module.

    Raises:
        UsageError: It was not built.
    """
    file = paths.DATA / "web" / MODULE
    if not file.is_file():
        raise UsageError(f"{file}: not found; expected the simulator for pages (make web builds it)")
    return file.read_bytes()


def scripts() -> str:
    """The module and its worker as elements of a page that loads nothing."""
    packed = b64encode(gzip.compress(module(), mtime=0)).decode()
    kinds = {"module": packed, "worker": asset("worker.js")}
    return "".join(f'<script type="text/plain" id="{name}">{text}</script>' for name, text in kinds.items())


def inputs(scenario: Scenario) -> dict[str, Any]:
    """What the module needs in order to repeat the runs of a scenario: its text, settings and files."""
    return {
        "text": scenario.text,
        "set": scenario.overrides,
        "files": {name: _text(scenario, name) for name in scenario.files},
    }


def _text(scenario: Scenario, name: str) -> str:
    file = named_file(scenario, name)
    try:
        return file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise StudyError(f"{file}: {reason(error)}; expected the file of the scenario") from error
