"""Any key that has a meaning in a scenario, set to some value of its kind.

The keys and their kinds come from the table that the scenario reader uses, so that a key that is new is
searched without a line here. What the reader refuses is left as it was.
"""

from __future__ import annotations

import json
import re
from copy import deepcopy
from functools import cache
from typing import TYPE_CHECKING, Any

import lasthop as lh
from lasthop import _core

from .draw import amount
from .tree import Tree, put, text

if TYPE_CHECKING:
    from .draw import Draw

KEPT = re.compile(
    r"(run\.(?!bin)|title|paper|summary|figure"  # the run's length is chosen by its cost
    r"|.*\.(kind|nodes|count|from|to|around|position|seed|standard|model|law|rate|basic-rates|script|first|every|for|reaction)$"
    r"|links\..*\.rates\.|flows\..*\.(size|variant|judges|start|stop)$)"
)
"""Keys of the structure, which is drawn elsewhere."""

STRUCTURE = re.compile(r".*\.(aqm\.law|loss\.model|(arq|rate-control)\.kind|on-off\.law)$")
"""Words of the structure that may be set to another where only a pair of keys is changed."""

TRIES = 8
"""Values that are tried for a pair of keys."""

RANGES: dict[str, tuple[float, float, str]] = {
    "time": (1e-3, 2000, "ms"),
    "rate": (10, 100_000, "kbit/s"),
    "size": (1, 100_000, "B"),
    "segments": (1, 500, "segments"),
    "packets or size": (1, 500, "packets"),
    "size or packets": (1, 500, "packets"),
    "percentage": (0.01, 100, "%"),
    "gain": (1, 30, "dB"),
}
"""What a quantity is drawn from, evenly over its orders of magnitude, where the present value is a word."""

QUANTITY = re.compile(r"(-?[0-9.]+(?:e-?[0-9]+)?) (\S+)")


@cache
def _table() -> dict[str, Any]:
    return {entry["key"]: entry for entry in json.loads(_core.keys())}


def entry_of(key: str) -> dict[str, Any] | None:
    """The entry of the table of keys for a key of a scenario."""
    parts = key.split(".")
    if parts[0] in {"nodes", "links", "flows", "agents"}:
        parts[1] = "NAME"
    return _table().get(".".join(parts))


def twist(draw: Draw, tree: Tree, most: int) -> Tree:
    """The scenario with up to this many keys set to other values."""
    settings = _settings(tree)
    for key in draw.some([key for key in settings if not KEPT.match(key)], draw.whole(0, most)):
        tree = _changed(draw, tree, key, settings[key]) or tree
    return tree


def pair(draw: Draw, tree: Tree) -> Tree:
    """The scenario with a key of a flow and a key of what carries it set to other values alone."""
    settings = _settings(tree)
    for section in ("flows.", r"(?:links|nodes|agents)\."):
        of_it = re.compile(section)
        keys = [key for key in settings if of_it.match(key) and (STRUCTURE.match(key) or not KEPT.match(key))]
        for key in draw.some(keys, TRIES):
            changed = _changed(draw, tree, key, settings[key])
            if changed is not None:
                tree = changed
                break
    return tree


def _settings(tree: Tree) -> dict[str, str]:
    """Each key of the first point of a scenario with its value."""
    scenario = _core.Scenario.from_text(text(tree), "case.toml")
    return {key: line["value"] for key, line in json.loads(scenario.resolved(0)).items()}


def _changed(draw: Draw, tree: Tree, key: str, now: str) -> Tree | None:
    """The scenario with another value of a key, if the reader accepts it."""
    value = _value(draw, key, now)
    if value is None:
        return None
    if _is_of_members(tree, key) and draw.chance(0.4):
        another = _value(draw, key, now)
        value = [value, value if another is None else another]
    changed = deepcopy(tree)
    try:
        put(changed, tuple(key.split(".")), value)
        _core.Scenario.from_text(text(changed), "case.toml")
    except (lh.ScenarioError, TypeError):
        return None
    return changed


def _is_of_members(tree: Tree, key: str) -> bool:
    """Whether a key may have a list with a value for each member of a group in turn."""
    section, name, *_ = key.split(".")
    entry = entry_of(key)
    groups = {node for node, table in tree["nodes"].items() if "count" in table}
    ends = {
        "nodes": lambda: [name],
        "flows": lambda: [tree["flows"][name]["from"], tree["flows"][name]["to"]],
        "links": lambda: tree["links"][name]["nodes"],
    }
    return bool(entry and entry["may_differ"]) and not groups.isdisjoint(ends[section]())


def _value(draw: Draw, key: str, now: str) -> object:
    entry = entry_of(key)
    if entry is None:
        return None
    if entry["values"] and (entry["kind"] == "word" or (now not in entry["values"] and draw.chance(0.2))):
        return draw.one(entry["values"])
    if now in entry["values"]:
        return _away_from_word(draw, entry["kind"])
    if entry["kind"] == "boolean":
        return now != "true"
    if entry["kind"] == "integer" and re.fullmatch(r"-?[0-9]+", now):
        value = int(now)
        return draw.one([0, 1, 2, value - 1, value + 1, round(value * draw.log(0.2, 5))])
    if entry["kind"] == "number":
        return float(f"{float(now) * draw.log(0.3, 3):.3g}") if re.fullmatch(r"[0-9.e-]+", now) else None
    quantity = QUANTITY.fullmatch(now)
    if quantity is None or entry["kind"].startswith("list"):
        return None
    unit, value = quantity[2], float(quantity[1])
    if unit in {"B", "packets", "packet", "segments", "segment"}:
        value = round(value * draw.log(0.1, 4)) if value else draw.whole(1, 500)
        return f"{value} {unit}"
    factor = draw.log(0.1, 10)
    if draw.chance(0.1):
        factor = draw.one([0.0, 1e-3, 100.0])
    if unit in {"dB", "dBm", "m"}:
        factor = draw.log(0.7, 1.4)
    return f"{value * factor:.3f} {unit}" if value < 0 else amount(value * factor, unit)


def _away_from_word(draw: Draw, kind: str) -> object:
    """A value of this kind for a key that has a word such as "none" now."""
    if kind == "integer":
        return draw.whole(0, 20)
    if kind not in RANGES:
        return None
    low, high, unit = RANGES[kind]
    value = draw.log(low, high)
    return f"{value:.0f} {unit}" if unit in {"B", "packets", "segments"} else amount(value, unit)
