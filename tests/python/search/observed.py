"""A scenario that was run, as rules look at it."""

from __future__ import annotations

import json
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lasthop import _core

    from .tree import Tree

ROUNDING = 1e-9
"""What sums of reals may be off, in parts."""


@dataclass
class Observed:
    """A scenario, its settings and its run."""

    tree: Tree
    settings: dict[str, str]
    run: _core.Run
    flows: dict[str, str]
    estimate: dict[str, float]

    def __post_init__(self) -> None:
        self.metrics = self.run.metrics
        self.accounts = self.run.accounts
        self.series = self.run.series
        self.transfers = self.run.transfers
        self.traces = {channel: self.run.trace(channel) for channel in self.run.traces()}

    def copy(self) -> Observed:
        """The same, to be changed."""
        other = Observed(self.tree, dict(self.settings), self.run, self.flows, dict(self.estimate))
        other.traces = deepcopy(self.traces)
        return other

    def is_set(self, key: str, *values: str) -> bool:
        return self.settings.get(key) in values

    def kinds(self) -> set[str]:
        """The kinds of links there are."""
        return {link["kind"] for link in self.tree["links"].values()}

    def kind_of(self, link: str) -> str | None:
        """The kind of a link, which may be a member of a group."""
        found = self.tree["links"].get(link) or self.tree["links"].get(link.rstrip("0123456789"))
        return found and found["kind"]

    def has_agent(self, kind: str) -> bool:
        return any(agent["kind"] == kind for agent in self.tree.get("agents", {}).values())

    @property
    def has_warmup(self) -> bool:
        return seconds(self.settings["run.warmup"]) > 0

    def ends(self) -> Iterator[tuple[str, str, str]]:
        """The directions of data: what metrics call each, and the keys of its source and of its sink."""
        for name, table in self.flows.items():
            yield name, f"flows.{table}.app", f"flows.{table}.sink"
            if self.settings.get(f"flows.{table}.app.reverse.kind", "none") != "none":
                yield f"{name}.reverse", f"flows.{table}.app.reverse", f"flows.{table}.sink.reverse"

    def tcp(self, name: str) -> str:
        """The prefix of the keys of a flow's TCP."""
        return f"flows.{self.flows[name.removesuffix('.reverse')]}.tcp"


def by_member(settings: dict[str, str], flows: dict[str, str]) -> dict[str, str]:
    """Settings in which flows with lists have keys of their own; `flows` then name these.

    >>> flows = {"up1": "up", "up2": "up", "up3": "up"}
    >>> settings = by_member({"flows.up.tcp.packet": '["1 B", "2 B"]', "flows.up.dscp": "0"}, flows)
    >>> settings["flows.up2.tcp.packet"], settings["flows.up3.tcp.packet"], flows["up3"]
    ('2 B', '1 B', 'up3')
    """
    found = dict(settings)
    places: dict[str, int] = {}
    for name, table in list(flows.items()):
        place = places[table] = places.get(table, -1) + 1
        own = {key: text for key, text in settings.items() if key.startswith(f"flows.{table}.")}
        if not any(text.startswith("[") for text in own.values()):
            continue
        flows[name] = name
        for key, text in own.items():
            values = [text]
            if text.startswith("[") and not key.endswith(".judges"):
                values = json.loads(text)
                found.pop(key, None)
            rest = key.removeprefix(f"flows.{table}.")
            value = values[place % len(values)]
            # A key without a meaning for this member.
            if value != "-":
                found[f"flows.{name}.{rest}"] = value if isinstance(value, str) else json.dumps(value)
    return found


def seconds(text: str) -> float:
    """A time in canonical text.

    >>> seconds("250 ms")
    0.25
    """
    number, unit = text.split()
    return float(number) * {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]


def size_bytes(text: str) -> int:
    number, unit = text.split()
    return round(float(number) * {"B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9}[unit])
