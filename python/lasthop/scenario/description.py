"""What a checked scenario says of itself: its words, its points, and every value in force."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, cast

from lasthop.base.arguments import whole, words
from lasthop.scenario.facts import Estimate, RuleException, labels
from lasthop.scenario.made import unlined
from lasthop.scenario.overrides import Pairs, parse_where, select

if TYPE_CHECKING:
    from lasthop import _core


class Description:
    """A scenario that is read: everything that it says of itself."""

    def __init__(self, core: _core.Scenario, ident: str, *, has_lines: bool = True) -> None:
        self._core = core
        self.id = ident
        # Whether messages may name lines: somebody wrote the text.
        self._has_lines = has_lines

    @property
    def text(self) -> str:
        """The TOML as it was given.

        Returns:
            The text; of a scenario that Python made, the text that stands for it.
        """
        return self._core.text

    @property
    def name(self) -> str:
        """What messages call this scenario.

        Returns:
            Its file, relative to the current directory where it lies below; otherwise a name.
        """
        return self._core.name

    @property
    def paper(self) -> str:
        """The paper and figure it belongs to.

        Returns:
            An id such as `ejtcp/fig10`; empty if it belongs to none.
        """
        return self._core.paper

    @property
    def title(self) -> str:
        """One line on what it shows.

        Returns:
            The line; empty if the file has none.
        """
        return self._core.title

    @property
    def overrides(self) -> Pairs:
        """The settings made on top of the file.

        Returns:
            Keys and values, in the order in which they were made.
        """
        return list(self._core.overrides)

    @property
    def seed(self) -> int:
        """The seed the file asks for.

        Returns:
            The number from which all random streams of a run derive.
        """
        return self._core.seed

    @property
    def replications(self) -> int:
        """The number of replications the file asks for.

        Returns:
            Runs of each point, at least 1.
        """
        return self._core.replications

    @property
    def warnings(self) -> list[str]:
        """Remarks on a scenario that is legal but looks like a mistake.

        Returns:
            One line each; empty where there is nothing to remark.
        """
        found = list(self._core.warnings)
        return found if self._has_lines else unlined(found, self.name)

    @property
    def exceptions(self) -> list[RuleException]:
        """What its points grant that no protocol could have.

        Returns:
            Key, label and meaning of each, each key once.
        """
        return [RuleException(*parts) for parts in self._core.exceptions]

    def exceptions_at(self, point: int) -> list[RuleException]:
        """What one point grants that no protocol could have.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            Key, label and meaning of each.

        Raises:
            UsageError: There is no such point.
        """
        return [RuleException(*parts) for parts in self._core.exceptions_at(self._known(point))]

    def notes(self) -> list[str]:
        """The labels that must accompany every table and figure made with it.

        Returns:
            Each label once; empty where nothing is granted that no protocol could have.
        """
        return labels(self.exceptions)

    def axes(self) -> list[tuple[list[str], list[list[str]]]]:
        """The axes of the sweep, of which the first is the slowest.

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
        """The points that meet all conditions.

        Args:
            where: Conditions such as `links.a.loss.rate<=2 %` or `flows.f.tcp.variant=reno|sack`.

        Returns:
            The numbers of these points, at least one.

        Raises:
            UsageError: A condition cannot be understood, names what is not swept, or leaves no point.
        """
        conditions = parse_where(words("where", where, "links.a.loss.rate<=2 %"))
        return select(self.points(), conditions, self._core.numeric, self._core.refused)

    def numeric(self, key: str, text: str) -> float | None:
        """A value of a key as a number.

        Args:
            key: A key of the scenario, such as `links.a.rate`.
            text: A value of it, such as `5 Mbit/s`.

        Returns:
            The number in SI units, here 5e6; `None` for a word and for what is not a value of the key.
        """
        return self._core.numeric(key, text)

    def resolved(self, point: int = 0) -> dict[str, dict[str, str]]:
        """Every key that has a meaning at a point.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            For each key its `value`, where that is `from`, and the `source` of a default.

        Raises:
            UsageError: There is no such point.
        """
        found = json.loads(self._core.resolved(self._known(point)))
        return cast("dict[str, dict[str, str]]", found)

    def point_key(self, point: int = 0) -> str:
        """A hash of everything at a point that can change its results.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            32 hexadecimal digits; points with the same have the same results.

        Raises:
            UsageError: There is no such point.
        """
        return self._core.point_key(self._known(point))

    def figures(self) -> list[dict[str, Any]]:
        """The figures the file defines.

        Returns:
            The keys of each `[[figure]]` table with their values.
        """
        return cast("list[dict[str, Any]]", json.loads(self._core.figures()))

    def estimate(self, point: int = 0) -> Estimate:
        """What one run may cost.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            Upper bounds of its events and of its memory in bytes.

        Raises:
            UsageError: There is no such point.
        """
        return Estimate(**self._core.estimate(self._known(point)))

    def links(self, point: int = 0) -> list[str]:
        """The names of the links of a point.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            The names in the order of the file; members of groups by their own.

        Raises:
            UsageError: There is no such point.
        """
        return self._core.links(self._known(point))

    def flows(self, point: int = 0) -> dict[str, str]:
        """The names of the flows of a point.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            For each flow, members of groups by their own name, the name of its table.

        Raises:
            UsageError: There is no such point.
        """
        return dict(self._core.flows(self._known(point)))

    def observers(self, point: int = 0) -> list[tuple[str, str]]:
        """Who keeps the ledgers of airtime of a point.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            The 802.11 links, each with the node that observes it.

        Raises:
            UsageError: There is no such point.
        """
        return self._core.observers(self._known(point))

    def missing(self, channel: str, point: int = 0) -> str | None:
        """What a trace channel would record and a point lacks.

        Args:
            channel: A name that `lasthop list channels` shows, such as `cwnd`.
            point: The number of the point, from 0 on.

        Returns:
            What is lacking, in words; `None` where there is something to record.

        Raises:
            UsageError: There is no such point.
        """
        return self._core.missing(channel, self._known(point))

    @cached_property
    def _count(self) -> int:
        return prod(len(rows) for _, rows in self._core.axes())

    def _known(self, point: int) -> int:
        by_value = "; set() and where choose by value" if isinstance(point, Mapping) else ""
        return whole("point", point, 0, self._count - 1, hint=f", the points of {self.id}{by_value}")
