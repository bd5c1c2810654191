"""lasthop simulates TCP over wired and lossy paths and re-draws the figures of papers.

>>> import lasthop as lh
>>> sc = lh.load("ejtcp/fig10-baselines").set({"run.duration": "5 s"})
>>> one = sc.run(seed=1)
>>> one.metrics["flows.main.goodput_bps"] > 0
True

Everything is loaded on first use, so that `lasthop --help` does not wait for numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lasthop._core import (
        Cancel,
        Interrupted,
        RunError,
        ScenarioError,
        __version__,
        model_version,
    )
    from lasthop.api import Scenario, Study, load
    from lasthop.base.errors import LasthopError, StudyError, UsageError
    from lasthop.base.table import Table
    from lasthop.scenario.scenario import Run
    from lasthop.scenario.trace import Trace
    from lasthop.stats.intervals import Interval
    from lasthop.study.sweep import Precision
    from lasthop.study.work import Limits

_HOME = {
    "Cancel": "lasthop._core",
    "Interrupted": "lasthop._core",
    "RunError": "lasthop._core",
    "ScenarioError": "lasthop._core",
    "__version__": "lasthop._core",
    "model_version": "lasthop._core",
    "LasthopError": "lasthop.base.errors",
    "StudyError": "lasthop.base.errors",
    "UsageError": "lasthop.base.errors",
    "Run": "lasthop.scenario.scenario",
    "Scenario": "lasthop.api",
    "Trace": "lasthop.scenario.trace",
    "load": "lasthop.api",
    "Study": "lasthop.api",
    "Interval": "lasthop.stats.intervals",
    "Limits": "lasthop.study.work",
    "Precision": "lasthop.study.sweep",
    "Table": "lasthop.base.table",
}

__all__ = [
    "Cancel",
    "Interrupted",
    "Interval",
    "LasthopError",
    "Limits",
    "Precision",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Study",
    "StudyError",
    "Table",
    "Trace",
    "UsageError",
    "__version__",
    "load",
    "model_version",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'lasthop' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
