"""The simulator as a WebAssembly module, which pages run in workers."""

from __future__ import annotations

import gzip
import tomllib
from base64 import b64encode
from typing import TYPE_CHECKING, Any

from lasthop.base import paths
from lasthop.base.errors import StudyError, UsageError, reason
from lasthop.laws.registered import used
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


def has_quic(text: str) -> bool:
    """Whether a scenario has flows over QUIC, whose stack is not in the module."""
    return any("quic" in flow for flow in tomllib.loads(text).get("flows", {}).values())


def inputs(scenario: Scenario) -> dict[str, Any]:
    """What the module needs to repeat the runs of a scenario (text, settings and files), or what it lacks."""
    if has_quic(scenario.text):
        return {"lacks": "Flows over QUIC"}
    if used(scenario.text, tuple(scenario.overrides)):
        return {"lacks": "Laws written in Python"}
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
