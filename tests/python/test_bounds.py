"""Every parameter is run at its bounds, by the table of keys: it must end there."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

import lasthop as lh
from lasthop import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_S = 240
"""More than all runs take together on a slow machine; a run that does not end uses it up."""

MOST_EVENTS = 8000
MOST_OF_THEM = 500
"""Bounds that a scenario below can have. Other keys need more settings, or may not be at the bound alone."""

WIRE = """
[run]
duration = "3 s"
[nodes]
a = {}
m = {}
b = {}
[links.near]
kind = "lossy"
nodes = ["a", "m"]
rate = "4 Mbit/s"
delay = "5 ms"
queue = "15 packets"
loss = { model = "packet", rate = "2 %" }
[links.far]
kind = "wired"
nodes = ["m", "b"]
rate = "20 Mbit/s"
delay = "5 ms"
[flows.f]
from = "a"
to = "b"
"""
AIR = """
[run]
duration = "2 s"
[nodes]
a = { position = ["0 m", "0 m"] }
m = { position = ["5 m", "0 m"] }
b = { position = ["9 m", "0 m"] }
[links.near]
kind = "wifi"
nodes = ["m", "b"]
standard = "STANDARD"
queue = "15 packets"
loss = { model = "bit", bit = { ber = 1e-5 } }
[links.far]
kind = "wired"
nodes = ["a", "m"]
rate = "20 Mbit/s"
delay = "5 ms"
[flows.f]
from = "a"
to = "b"
"""
BASES = [
    WIRE,
    WIRE + 'udp = {}\napp = { kind = "cbr", cbr = { rate = "100 kbit/s" } }\n',
    AIR.replace("STANDARD", "802.11b"),
    AIR.replace("STANDARD", "802.11n"),
    AIR.replace("STANDARD", "802.11g"),
    *(
        "examples/cells",
        "examples/moving-cell",
        "examples/trace",
        "load-adaptive/fig08",
        "load-adaptive/lifetime",
    ),
    *("dynamic-arq/mobility", "dynamic-arq/distance", "ejtcp/modulation", "i-tcp/moves", "lle-tcp/pcf"),
    *("lle-tcp/fig08", "table1/disconnections", "table1/agents", "today/dynamic-arq"),
]
LEAST_ABOVE = {"time": "1 ns", "rate": "1 bit/s", "size": "1 B", "percentage": "0.001 %", "length": "1 mm"}
SWEEP = re.compile(r"^\[+(?:sweep|figure)\b.*?(?=^\[|\Z)", re.MULTILINE | re.DOTALL)
CONDITION = re.compile(r'([A-Za-z0-9.-]+) = ("[^"]+"(?: or "[^"]+")*)')


def _bases() -> Iterator[_core.Scenario]:
    for base in BASES:
        if "\n" in base:
            yield _core.Scenario.from_text(base, "bounds.toml", [])
            continue
        scenario = lh.load(base)
        try:
            # With a sweep each of its points would be checked for each bound.
            yield _core.Scenario.from_text(SWEEP.sub("", scenario.text), scenario.name, [])
        except lh.ScenarioError:
            # It has a key that some points alone use.
            yield _core.Scenario.from_text(scenario.text, scenario.name, [])


def _values(entry: dict[str, Any]) -> Iterator[str]:
    """The least and the greatest value of a key."""
    for name in ("at_least", "at_most"):
        if entry[name] is not None:
            yield entry[name]
    if entry["above"] is not None:
        number, _, unit = entry["above"].partition(" ")
        least = LEAST_ABOVE.get(entry["kind"], f"{float(number) + 1e-3:g} {unit}".strip())
        yield least if float(number) == 0 else f"{float(number) * 1.001:g} {unit}".strip()


def _places(entry: dict[str, Any], settings: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    """Names under which a scenario may have a key, each with the settings that its conditions demand."""
    section, *rest = entry["key"].split(".")
    names = list(dict.fromkeys(key.split(".")[1] for key in settings if key.startswith(f"{section}.")))
    if section == "agents" and not names:
        names = ["agent"]
    conditions = [(key, words.split(" or ")) for key, words in CONDITION.findall(entry["only_for"])]
    for name in names if rest and rest[0] == "NAME" else [""]:
        for words in product(*(words for _, words in conditions)):
            also = {
                key.replace("NAME", name): word.strip('"')
                for (key, _), word in zip(conditions, words, strict=True)
            }
            yield entry["key"].replace("NAME", name), also


def _runs() -> Iterator[tuple[str, str, _core.Scenario | None]]:
    """Each bound of each key with a scenario at it, or `None` if no base has one."""
    bases = [(base, json.loads(base.resolved(0))) for base in _bases()]
    for entry in json.loads(_core.keys()):
        if entry["key"].startswith(("run.", "figure")):
            continue
        for value in _values(entry):
            yield entry["key"], value, next(_found(entry, value, bases), None)


def _found(
    entry: dict[str, Any], value: str, bases: list[tuple[_core.Scenario, dict[str, Any]]]
) -> Iterator[_core.Scenario]:
    for base, settings in bases:
        for key, also in _places(entry, settings):
            changes = {**{k: v for k, v in also.items() if settings.get(k, {}).get("value") != v}, key: value}
            try:
                yield base.with_overrides(list(changes.items()))
            except lh.ScenarioError:
                continue


def main() -> None:
    """Runs all, and says of each what it is before it runs."""
    for key, value, scenario in _runs():
        print(json.dumps([key, value, scenario is not None]), flush=True)
        if scenario is None:
            continue
        try:
            scenario.run(0, 1, 0, max_events=MOST_EVENTS, max_wall_s=20.0)
        except lh.ScenarioError as refused:
            # What a run finds too large is an error with a text, and no fault.
            print(json.dumps(["refused", str(refused)]), flush=True)


def test_every_parameter_runs_at_its_bounds() -> None:
    try:
        ended = subprocess.run(
            [sys.executable, __file__], capture_output=True, text=True, timeout=MOST_S, check=False
        )
    except subprocess.TimeoutExpired as late:
        last = (late.stdout or b"").decode().splitlines()[-1:]
        pytest.fail(f"a run does not end: {last}")
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert ended.returncode == 0, f"{lines[-1:]}: {ended.stderr[-2000:]}"
    ran = [key for key, *_, has_run in (line for line in lines if len(line) == 3) if has_run]
    assert len(ran) >= MOST_OF_THEM, "more bounds than before have no scenario that can have them"


if __name__ == "__main__":
    main()
