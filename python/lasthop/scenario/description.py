"""The contents of a checked scenario: its texts, its points, and every value in force."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import ceil, prod
from typing import TYPE_CHECKING, Any, cast

from lasthop.base.arguments import instance, whole, words
from lasthop.scenario.facts import Estimate, RuleException, labels
from lasthop.scenario.made import unlined
from lasthop.scenario.overrides import Pairs, parse_where, select
from lasthop.scenario.trace import known_channel

if TYPE_CHECKING:
    from lasthop import _core


def metrics_of(figure: Mapping[str, Any]) -> list[str]:
    """The metrics that a `[[figure]]` draws, by panel, and that of the x axis of a scatter plot."""
    metrics = [metric for panel in panels_of(figure) for metric in panel]
    return [*metrics, str(figure["against"])] if "against" in figure else metrics


def panels_of(figure: Mapping[str, Any]) -> list[list[str]]:
    """The metrics of each panel of a `[[figure]]`.

    >>> panels_of({"y": "a"}), panels_of({"y": ["a", ["b", "c"]]}), panels_of({})
    ([['a']], [['a'], ['b', 'c']], [])
    """
    given = figure.get("y", [])
    panels = given if isinstance(given, list) else [given]
    return [[str(it) for it in panel] if isinstance(panel, list) else [str(panel)] for panel in panels]


def schemes_of(scenario: Description, point: int) -> dict[str, str]:
    """The agents with their modes, TCP laws and standards of links at a point, by key."""
    values = {key: str(entry["value"]) for key, entry in scenario.resolved(point).items()}
    agents = [
        key for key in values if key.startswith("agents.") and key.count(".") == 2 and key.endswith(".kind")
    ]
    modes = [f"{key.removesuffix('kind')}{values[key]}.mode" for key in agents]
    others = [key for end in (".tcp.variant", ".standard") for key in values if key.endswith(end)]
    return {key: values[key] for key in (*agents, *modes, *others) if key in values}


class Description:
    """The contents of a scenario."""

    def __init__(self, core: _core.Scenario, ident: str, *, has_lines: bool = True) -> None:
        self._core = core
        self.id = ident
        # Whether messages may name lines: the text was not generated.
        self._has_lines = has_lines

    @property
    def text(self) -> str:
        """The TOML as it was given.

        Returns:
            The text; for a scenario made in Python, the equivalent text.
        """
        return self._core.text

    @property
    def name(self) -> str:
        """The name of the scenario in messages.

        Returns:
            Its file, relative to the current directory where it lies below; otherwise a name.
        """
        return self._core.name

    @property
    def files(self) -> list[str]:
        """The files that its links of kind `trace` name.

        Returns:
            Their paths, absolute or relative to the folder of the scenario.
        """
        return self._core.files

    @property
    def paper(self) -> str:
        """Its paper and figure.

        Returns:
            An id such as `ejtcp/fig10`; empty without a paper.
        """
        return self._core.paper

    @property
    def title(self) -> str:
        """Its title.

        Returns:
            The line; empty if the file has none.
        """
        return self._core.title

    @property
    def overrides(self) -> Pairs:
        """The settings in addition to the file.

        Returns:
            Keys and values, in the order of setting.
        """
        return list(self._core.overrides)

    @property
    def seed(self) -> int:
        """The seed of the file.

        Returns:
            The number from which all random streams of a run derive.
        """
        return self._core.seed

    @property
    def replications(self) -> int:
        """The number of replications of the file.

        Returns:
            Runs of each point, at least 1.
        """
        return self._core.replications

    @property
    def warnings(self) -> list[str]:
        """Warnings about valid settings that are probably mistakes.

        Returns:
            One line each; empty without warnings.
        """
        found = list(self._core.warnings)
        return found if self._has_lines else unlined(found, self.name)

    @property
    def exceptions(self) -> list[RuleException]:
        """Exceptions to realism at its points: what a real protocol could not have.

        Returns:
            Key, label and meaning of each, each key once.
        """
        return [RuleException(*parts) for parts in self._core.exceptions]

    def exceptions_at(self, point: int) -> list[RuleException]:
        """Exceptions to realism at one point: what a real protocol could not have.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            Key, label and meaning of each.

        Raises:
            UsageError: The point does not exist.
        """
        return [RuleException(*parts) for parts in self._core.exceptions_at(self._known(point))]

    def notes(self) -> list[str]:
        """The labels that must accompany every table and figure made with it.

        Returns:
            Each label once; empty without exceptions.
        """
        return labels(self.exceptions)

    def axes(self) -> list[tuple[list[str], list[list[str]]]]:
        """The axes of the sweep; the first varies slowest.

        Returns:
            For each axis the keys that advance together, and their rows of values.
        """
        return self._core.axes()

    def points(self) -> list[dict[str, str]]:
        """All points of the sweep.

        Returns:
            For each point the swept keys with their values; one empty mapping if nothing is swept.
        """
        return self._core.points()

    def select(self, where: Sequence[str]) -> list[int]:
        """The points that satisfy all conditions.

        Args:
            where: Conditions such as `links.a.loss.rate<=2 %` or `flows.f.tcp.variant=reno|sack`.

        Returns:
            The numbers of these points, at least one.

        Raises:
            UsageError: A condition is invalid, names a key that is not swept, or selects no point.
        """
        conditions = parse_where(words("where", where, "links.a.loss.rate<=2 %"))
        return select(self.points(), conditions, self._core.numeric, self._core.refused)

    def numeric(self, key: str, text: str) -> float | None:
        """A value of a key as a number.

        Args:
            key: A key of the scenario, such as `links.a.rate`.
            text: A value of it, such as `5 Mbit/s`.

        Returns:
            The number in SI units, here 5e6; `None` for a word or an invalid value.

        Raises:
            UsageError: An argument is not text.
        """
        instance("key", key, str, "a key such as links.a.rate")
        return self._core.numeric(key, instance("text", text, str, "a value such as 5 Mbit/s"))

    def resolved(self, point: int = 0) -> dict[str, dict[str, str]]:
        """Every key that applies at a point.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            For each key its `value`, the origin of the value (`from`), and the `source` of a default.

        Raises:
            UsageError: The point does not exist.
        """
        found = json.loads(self._core.resolved(self._known(point)))
        return cast("dict[str, dict[str, str]]", found)

    def point_key(self, point: int = 0) -> str:
        """A hash of everything at a point that can change its results.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            32 hexadecimal digits; points with equal hashes have equal results.

        Raises:
            UsageError: The point does not exist.
        """
        return self._core.point_key(self._known(point))

    def figures(self) -> list[dict[str, Any]]:
        """The figures the file defines.

        Returns:
            The keys of each `[[figure]]` table with their values.
        """
        return cast("list[dict[str, Any]]", json.loads(self._core.figures()))

    def estimate(self, point: int = 0) -> Estimate:
        """Bounds on the cost of one run.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            Upper bounds of its events and of its memory in bytes.

        Raises:
            UsageError: The point does not exist.
        """
        found = self._core.estimate(self._known(point))
        return Estimate(**{name: ceil(bound) for name, bound in found.items()})

    def links(self, point: int = 0) -> list[str]:
        """The names of the links of a point.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            The names in the order of the file; members of groups by their own.

        Raises:
            UsageError: The point does not exist.
        """
        return self._core.links(self._known(point))

    def flows(self, point: int = 0) -> dict[str, str]:
        """The names of the flows of a point.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            For each flow, members of groups by their own name, the name of its table.

        Raises:
            UsageError: The point does not exist.
        """
        return dict(self._core.flows(self._known(point)))

    def positions(self, point: int = 0) -> dict[str, tuple[float, float]]:
        """The nodes of a point that have positions; of those that move, the positions at the start.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            Metres to the right and up, by the name of the node.

        Raises:
            UsageError: The point does not exist.
        """
        return {name: (x, y) for name, x, y in self._core.positions(self._known(point))}

    def network(self, point: int = 0) -> dict[str, list[dict[str, Any]]]:
        """The nodes, links, flows and agents of a point; links, flows and agents name nodes by their numbers.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            Lists of mappings. `nodes` have `name`, `table`, `position` in metres or `None`, and `moves`.
            `links` have `name`, `table`, `nodes` and `access_point`. `flows` have `name`, `table`, `from` and
            `to`. `agents` have `name`, and `nodes` or `None`.

        Raises:
            UsageError: The point does not exist.
        """
        return cast("dict[str, list[dict[str, Any]]]", json.loads(self._core.network(self._known(point))))

    def observers(self, point: int = 0) -> list[tuple[str, str]]:
        """The observers of airtime at a point.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            The 802.11 links, each with the node that observes it.

        Raises:
            UsageError: The point does not exist.
        """
        return self._core.observers(self._known(point))

    def missing(self, channel: str, point: int = 0) -> str | None:
        """What a point lacks for a trace channel.

        Args:
            channel: A name that `lasthop list channels` shows, such as `cwnd`.
            point: The number of the point, from 0 on.

        Returns:
            The missing part, in words; `None` if the channel has something to record.

        Raises:
            UsageError: The channel or the point does not exist.
        """
        return self._core.missing(known_channel("channel", channel), self._known(point))

    @cached_property
    def _count(self) -> int:
        return prod(len(rows) for _, rows in self._core.axes())

    def _known(self, point: int) -> int:
        by_value = "; set() and where choose by value" if isinstance(point, Mapping) else ""
        return whole("point", point, 0, self._count - 1, hint=f", the points of {self.id}{by_value}")


def fault(described: Description, point: int, key: str, text: str) -> str:
    """The message about a value that something cannot work with.

    Args:
        described: The scenario.
        point: The number of the point, from 0 on.
        key: The key that has the value.
        text: What was found and what was expected.

    Returns:
        One line: the file and line where the key is set or the setting, the key, and the text.
    """
    found = described._core.fault(point, key, text)  # noqa: SLF001 - private to this module
    return found if described._has_lines else unlined([found], described.name)[0]  # noqa: SLF001 - as above


def allowed_memory(described: Description, point: int) -> int:
    """The memory in bytes that a run of a point may need."""
    return described._core.max_memory(point)  # noqa: SLF001 - private to this module
