"""lasthop simulates TCP over wired and wireless paths and redraws the figures of papers.

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
    from lasthop._core import Cancel, __version__, model_version
    from lasthop.api import Fit, Run, Scenario, Study, fit, from_dict, load, scenarios, sweep
    from lasthop.base.errors import (
        Interrupted,
        LasthopError,
        LawError,
        RunError,
        ScenarioError,
        StudyError,
        UnavailableError,
        UsageError,
    )
    from lasthop.base.table import Table
    from lasthop.figures.ladders import Ladder
    from lasthop.laws.registered import LawUse, law
    from lasthop.realtime.network import Live, LiveNode, live
    from lasthop.realtime.session import Outcome
    from lasthop.report.play import Play
    from lasthop.scenario.airtime import Airtime
    from lasthop.scenario.compared import Comparison, compare_laws
    from lasthop.scenario.facts import Estimate, RuleException
    from lasthop.scenario.trace import Trace
    from lasthop.stats.intervals import Interval
    from lasthop.study.ledger import Planned
    from lasthop.study.optimum import Confirmed, Optimum, Trial
    from lasthop.study.precision import Precision
    from lasthop.study.progress import Progress
    from lasthop.study.rows import Row
    from lasthop.study.study import Result
    from lasthop.study.work import Limits
    from lasthop.suites.judged import Verdicts, suite

_HOME = {
    "Cancel": "lasthop._core",
    "Interrupted": "lasthop.base.errors",
    "RunError": "lasthop.base.errors",
    "ScenarioError": "lasthop.base.errors",
    "__version__": "lasthop._core",
    "model_version": "lasthop._core",
    "LasthopError": "lasthop.base.errors",
    "StudyError": "lasthop.base.errors",
    "UsageError": "lasthop.base.errors",
    "Airtime": "lasthop.scenario.airtime",
    "Estimate": "lasthop.scenario.facts",
    "RuleException": "lasthop.scenario.facts",
    "Run": "lasthop.api",
    "Scenario": "lasthop.api",
    "Trace": "lasthop.scenario.trace",
    "Fit": "lasthop.api",
    "fit": "lasthop.api",
    "from_dict": "lasthop.api",
    "load": "lasthop.api",
    "scenarios": "lasthop.api",
    "sweep": "lasthop.api",
    "Study": "lasthop.api",
    "Interval": "lasthop.stats.intervals",
    "Comparison": "lasthop.scenario.compared",
    "compare_laws": "lasthop.scenario.compared",
    "Ladder": "lasthop.figures.ladders",
    "Live": "lasthop.realtime.network",
    "LiveNode": "lasthop.realtime.network",
    "live": "lasthop.realtime.network",
    "Outcome": "lasthop.realtime.session",
    "UnavailableError": "lasthop.base.errors",
    "LawError": "lasthop.base.errors",
    "LawUse": "lasthop.laws.registered",
    "law": "lasthop.laws.registered",
    "Limits": "lasthop.study.work",
    "Verdicts": "lasthop.suites.judged",
    "suite": "lasthop.suites.judged",
    "Confirmed": "lasthop.study.optimum",
    "Optimum": "lasthop.study.optimum",
    "Trial": "lasthop.study.optimum",
    "Planned": "lasthop.study.ledger",
    "Play": "lasthop.report.play",
    "Precision": "lasthop.study.precision",
    "Progress": "lasthop.study.progress",
    "Result": "lasthop.study.study",
    "Row": "lasthop.study.rows",
    "Table": "lasthop.base.table",
}

__all__ = [
    "Airtime",
    "Cancel",
    "Comparison",
    "Confirmed",
    "Estimate",
    "Fit",
    "Interrupted",
    "Interval",
    "Ladder",
    "LasthopError",
    "LawError",
    "LawUse",
    "Limits",
    "Live",
    "LiveNode",
    "Optimum",
    "Outcome",
    "Planned",
    "Play",
    "Precision",
    "Progress",
    "Result",
    "Row",
    "RuleException",
    "Run",
    "RunError",
    "Scenario",
    "ScenarioError",
    "Study",
    "StudyError",
    "Table",
    "Trace",
    "Trial",
    "UnavailableError",
    "UsageError",
    "Verdicts",
    "__version__",
    "compare_laws",
    "fit",
    "from_dict",
    "law",
    "live",
    "load",
    "model_version",
    "scenarios",
    "suite",
    "sweep",
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
