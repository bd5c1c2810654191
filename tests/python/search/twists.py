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
    scenario = _core.Scenario.from_text(text(tree), "case.toml")
    settings = {key: line["value"] for key, line in json.loads(scenario.resolved(0)).items()}
    for key in draw.some([key for key in settings if not KEPT.match(key)], draw.whole(0, most)):
        value = _value(draw, key, settings[key])
        if value is None:
            continue
        twisted = deepcopy(tree)
        try:
            put(twisted, tuple(key.split(".")), value)
            _core.Scenario.from_text(text(twisted), "case.toml")
        except (lh.ScenarioError, TypeError):
            continue
        tree = twisted
    return tree


def _value(draw: Draw, key: str, now: str) -> object:
    entry = entry_of(key)
    if entry is None:
        return None
    if entry["values"] and (entry["kind"] == "word" or draw.chance(0.2)):
        return draw.one(entry["values"])
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
