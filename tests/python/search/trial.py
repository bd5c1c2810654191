"""One scenario run and judged."""

from __future__ import annotations

import json
import os
import threading
from typing import TYPE_CHECKING

import lasthop as lh
from lasthop import _core

from .invariants import Broken, broken
from .observed import Observed, by_member
from .tree import text

if TYPE_CHECKING:
    from .tree import Tree

PATIENCE_S = 120.0
"""After so long a run counts as one that does not end."""


def judge(tree: Tree, *, thorough: bool = True) -> list[Broken]:
    """What a scenario breaks: read, run without and with traces and captures, and, if thorough, run again."""
    try:
        scenario = _core.Scenario.from_text(text(tree), "case.toml")
    except lh.ScenarioError as e:
        return [Broken("the reader accepts what it accepted", str(e))]
    try:
        first, seen = _run(scenario, [], None), observe(scenario, tree)
        others = [("traced", seen.run)]
        if thorough:
            others.append(("again", _run(scenario, [], None)))
            others.append(("by the plain path", _run(_plain(tree), [], None)))
    except (lh.RunError, lh.Interrupted) as e:
        name = "a run ends" if isinstance(e, lh.Interrupted) else "a run succeeds"
        return [Broken(name, str(e))]
    found = [
        Broken("the same scenario and seed give the same", f"{what}: {difference}")
        for what, other in others
        for difference in _differences(first, other)
    ]
    return found + broken(seen)


def observe(scenario: _core.Scenario, tree: Tree) -> Observed:
    """Runs a scenario with everything recorded that can be."""
    flows = dict(scenario.flows(0))
    lines = json.loads(scenario.resolved(0))
    settings = by_member({key: line["value"] for key, line in lines.items()}, flows)
    run = _run(scenario, _channels(tree, settings), _captures(scenario, settings))
    return Observed(tree, settings, run, flows, dict(scenario.estimate(0)))


def _plain(tree: Tree) -> _core.Scenario:
    """The scenario without shortcuts."""
    run = {**tree["run"], "plain": True}
    return _core.Scenario.from_text(text({**tree, "run": run}), "case.toml")


def _run(scenario: _core.Scenario, trace: list[str], pcap: dict[str, str] | None) -> _core.Run:
    cancel = _core.Cancel()
    patience = threading.Timer(PATIENCE_S, cancel.set)
    patience.daemon = True
    patience.start()
    try:
        return scenario.run(0, scenario.seed, 0, trace=trace, pcap=pcap, cancel=cancel)
    finally:
        patience.cancel()


def _channels(tree: Tree, settings: dict[str, str]) -> list[str]:
    """The traces that have something to record."""
    channels = ["cwnd", "rtt", "queue", "tcp", "events"]
    if any(link["kind"] == "frn" for link in tree["links"].values()):
        channels.append("slots")
    if any(key.endswith(".arq.kind") and value == "dynamic" for key, value in settings.items()):
        channels.append("arq")
    if any(key.endswith((".congestion", ".judges")) and "jtcp" in value for key, value in settings.items()):
        channels.append("jitter")
    return channels


def _captures(scenario: _core.Scenario, settings: dict[str, str]) -> dict[str, str] | None:
    """A capture of every link, except where no capture can show the headers."""
    if any(key.endswith("jtcp.header") and value == "paper" for key, value in settings.items()):
        return None
    # Headers are whole words of four bytes.
    if any(key.endswith(".extra-header") and int(value.split()[0]) % 4 for key, value in settings.items()):
        return None
    return dict.fromkeys(scenario.links(0), os.devnull)


def _differences(one: _core.Run, other: _core.Run) -> list[str]:
    metrics = other.metrics
    pairs = [(name, value, metrics[name]) for name, value in one.metrics.items()]
    parts = ("events", "series", "transfers", "accounts", "simulated_s")
    pairs += [(part, getattr(one, part), getattr(other, part)) for part in parts]
    return [f"{name}: {ours} and {theirs}" for name, ours, theirs in pairs if ours != theirs]
