"""Display names for swept values in figures: those of the scenario, and those of the registry."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from lasthop import _core

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lasthop.scenario.scenario import Scenario

# The parts of the registry, by the keys that select from them.
_PARTS = {
    "tcp.variant": "tcp",
    "tcp.recovery": "recovery",
    "tcp.congestion": "congestion",
    "tcp.reaction": "reactions",
    "arq.kind": "arq",
    "frn.interval": "intervals",
}


@cache
def _registry() -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = json.loads(_core.registry())
    return found


def registered(key: str) -> dict[str, dict[str, Any]]:
    """The entries from which a key selects, by name, in the order of the registry; empty for other keys."""
    part = _PARTS.get(".".join(key.split(".")[-2:]), "")
    if key.startswith("agents.") and key.endswith(".kind"):
        part = "agents"
    return {str(entry["name"]): entry for entry in _registry()[part]} if part else {}


def names_of(scenario: Scenario, figure: Mapping[str, Any]) -> dict[str, str]:
    """Display names for swept values in a figure: its own names, or those of the registry.

    A value that occurs for several swept keys is left unchanged unless the figure names it, or the keys agree
    on its name.
    """
    found: dict[str, str] = {}
    texts = [
        (key, text)
        for keys, rows in scenario.axes()
        for row in rows
        for key, text in zip(keys, row, strict=True)
    ]
    keys_of: dict[str, set[str]] = {}
    for key, text in texts:
        keys_of.setdefault(text, set()).add(key)
    for key, text in texts:
        entry = registered(key).get(text)
        if entry is not None and all(
            registered(other).get(text, {}).get("title") == entry["title"] for other in keys_of[text]
        ):
            found[text] = str(entry["title"])
    return {**found, **(figure.get("names") or {})}
