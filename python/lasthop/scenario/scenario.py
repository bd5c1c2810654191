"""A scenario, checked when it is loaded, and a run of it.

>>> sc = load("ejtcp/fig10-baselines")
>>> len(sc.points()), sc.set({"flows.main.tcp.variant": "reno"}).overrides
(110, [('flows.main.tcp.variant', 'reno')])
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from lasthop import _core
from lasthop.base import paths
from lasthop.base.arguments import MOST_SEED, span, whole, words
from lasthop.base.errors import UsageError, nearest
from lasthop.base.quantity import seconds
from lasthop.scenario.airtime import Airtime, ledgers
from lasthop.scenario.overrides import Pairs, as_text, parse_where, select
from lasthop.scenario.trace import Trace

if TYPE_CHECKING:
    from typing import Self

# What a trace can record, by name.
CHANNELS = tuple(str(entry["name"]) for entry in json.loads(_core.registry())["channels"])


def load(path_or_id: str | Path, overrides: Pairs | None = None, *, argument: str = "set") -> Scenario:
    """Read a scenario from a path or by its id below `scenarios/`; it is checked now.

    `argument` is what messages call the one that gave the overrides.
    """
    return Scenario.load(path_or_id, overrides, argument=argument)


class RuleException(NamedTuple):
    """Knowledge or room that a key grants and no protocol could have, such as TCP's timers by oracle.

    `label` is what tables and figures say of results made with it; `meaning` says why nothing real has it.
    """

    key: str
    label: str
    meaning: str


@dataclass(frozen=True, slots=True)
class Estimate:
    """Upper bounds for one run.

    Attributes:
        events: The number of events it may process.
        memory_bytes: The memory that it may need, in bytes.
    """

    events: float
    memory_bytes: float


def labels(exceptions: Iterable[RuleException]) -> list[str]:
    """The labels of exceptions, each once, in order."""
    return list(dict.fromkeys(exception.label for exception in exceptions))


class Scenario:
    """An immutable scenario: what is run, what is swept and what is drawn."""

    def __init__(self, core: _core.Scenario, ident: str) -> None:
        self._core = core
        self.id = ident

    @classmethod
    def load(cls, path_or_id: str | Path, overrides: Pairs | None = None, *, argument: str = "set") -> Self:
        """A scenario from a path or by its id; see the function `load`."""
        path = paths.find(str(path_or_id))
        core = _core.Scenario.from_file(paths.shown(path), overrides or [], argument)
        return cls(core, paths.scenario_id(path))

    @classmethod
    def from_text(
        cls, text: str, name: str, overrides: Pairs | None = None, *, ident: str | None = None
    ) -> Self:
        """A scenario from TOML text; `name` stands for the file in messages."""
        return cls(_core.Scenario.from_text(text, name, overrides or []), ident or Path(name).stem)

    @property
    def text(self) -> str:
        """The TOML as it was given."""
        return self._core.text

    @property
    def name(self) -> str:
        """What messages call this scenario: its file."""
        return self._core.name

    @property
    def paper(self) -> str:
        """The paper and figure it belongs to, such as `ejtcp/fig10`."""
        return self._core.paper

    @property
    def title(self) -> str:
        """One line on what it shows."""
        return self._core.title

    @property
    def overrides(self) -> Pairs:
        """The settings made on top of the file, in order."""
        return list(self._core.overrides)

    @property
    def seed(self) -> int:
        """The seed the file asks for."""
        return self._core.seed

    @property
    def replications(self) -> int:
        """The number of replications the file asks for."""
        return self._core.replications

    @property
    def warnings(self) -> list[str]:
        """Remarks on a scenario that is legal but looks like a mistake."""
        return list(self._core.warnings)

    @property
    def exceptions(self) -> list[RuleException]:
        """What its points grant that no protocol could have, each key once."""
        return [RuleException(*parts) for parts in self._core.exceptions]

    def exceptions_at(self, point: int) -> list[RuleException]:
        """What one point grants that no protocol could have."""
        return [RuleException(*parts) for parts in self._core.exceptions_at(point)]

    def notes(self) -> list[str]:
        """The labels that must accompany every table and figure made with it."""
        return labels(self.exceptions)

    def set(self, values: Mapping[str, object]) -> Self:
        """A copy with some keys set; a swept key that is set is no longer swept."""
        if not isinstance(values, Mapping):
            raise UsageError(
                f'{values!r}; expected a mapping such as {{"run.duration": "50 s"}}', argument="set"
            )
        for key in values:
            if not isinstance(key, str):
                raise UsageError(f'{key!r} is not a key; expected one such as "run.duration"', argument="set")
        pairs = [(key, as_text(value)) for key, value in values.items()]
        return type(self)(self._core.with_overrides(pairs), self.id)

    def axes(self) -> list[tuple[list[str], list[list[str]]]]:
        """The axes of the sweep: the keys that advance together, and their rows of values."""
        return self._core.axes()

    def points(self) -> list[dict[str, str]]:
        """All points of the sweep, each as swept key to value."""
        return self._core.points()

    def select(self, where: Sequence[str]) -> list[int]:
        """The numbers of the points that meet all conditions, such as `links.a.loss.rate<=2 %`."""
        conditions = parse_where(words("where", where, "links.a.loss.rate<=2 %"))
        return select(self.points(), conditions, self._core.numeric, self._core.refused)

    def numeric(self, key: str, text: str) -> float | None:
        """The SI value of a quantity; `None` for a word."""
        return self._core.numeric(key, text)

    def resolved(self, point: int = 0) -> dict[str, dict[str, str]]:
        """Every key of a point with its value, where that came from, and the source."""
        found = json.loads(self._core.resolved(self._known(point)))
        return cast("dict[str, dict[str, str]]", found)

    def point_key(self, point: int = 0) -> str:
        """A hash of everything in a point that can change its results."""
        return self._core.point_key(self._known(point))

    def figures(self) -> list[dict[str, Any]]:
        """The figures the file defines."""
        return cast("list[dict[str, Any]]", json.loads(self._core.figures()))

    def estimate(self, point: int = 0) -> Estimate:
        """Upper bounds for one run."""
        return Estimate(**self._core.estimate(self._known(point)))

    def links(self, point: int = 0) -> list[str]:
        """The names of the links of a point, members of groups by their own, in the order of the file."""
        return self._core.links(self._known(point))

    def flows(self, point: int = 0) -> dict[str, str]:
        """The names of the flows of a point, likewise, each with the name of its table."""
        return dict(self._core.flows(self._known(point)))

    def observers(self, point: int = 0) -> list[tuple[str, str]]:
        """The 802.11 links of a point, each with the node whose ledger of airtime is kept."""
        return self._core.observers(self._known(point))

    def missing(self, channel: str, point: int = 0) -> str | None:
        """What a trace channel would record and a point lacks; `None` where it has something."""
        return self._core.missing(channel, self._known(point))

    @cached_property
    def _count(self) -> int:
        return prod(len(rows) for _, rows in self._core.axes())

    def _known(self, point: int) -> int:
        by_value = "; set() and where choose by value" if isinstance(point, Mapping) else ""
        return whole("point", point, 0, self._count - 1, hint=f", the points of {self.id}{by_value}")

    def run(
        self,
        seed: int | None = None,
        replication: int = 0,
        point: int = 0,
        trace: Sequence[str] = (),
        pcap: str | Path | Mapping[str, str | Path] | None = None,
        max_events: int | None = None,
        max_wall_s: float | None = None,
        cancel: _core.Cancel | None = None,
    ) -> Run:
        """Simulate one point once and return what was measured.

        `trace` names channels of `CHANNELS`; `pcap` is a file for the first link, or a mapping
        from link to file. Raises `UsageError` if an argument makes no sense, and `RunError` if the
        simulation fails.
        """
        point = self._known(point)
        channels = self.check_trace(trace, point)
        seed = self.seed if seed is None else whole("seed", seed, 0, MOST_SEED)
        replication = whole("replication", replication)
        if max_events is not None:
            max_events = whole("max_events", max_events, 1)
        if max_wall_s is not None:
            max_wall_s = span("max_wall_s", max_wall_s)
        done = self._core.run(
            point,
            seed,
            replication,
            trace=channels,
            pcap=self._pcap(pcap, point),
            cancel=cancel,
            max_events=max_events,
            max_wall_s=max_wall_s,
        )
        return Run(done, self, point, seed, replication)

    def _pcap(self, pcap: str | Path | Mapping[str, str | Path] | None, point: int) -> dict[str, str] | None:
        if pcap is None:
            return None
        links = self.links(point)
        if not isinstance(pcap, Mapping):
            if not links:
                raise UsageError(f"{self.id} has no links; expected at least one", argument="pcap")
            pcap = {links[0]: pcap}
        for link in pcap:
            if link not in links:
                raise UsageError(f"{link}: unknown link; {nearest(str(link), links)}", argument="pcap")
        return {link: str(path) for link, path in pcap.items()}

    def check_trace(self, channels: Sequence[str], point: int = 0) -> list[str]:
        """The channels, each of which a run of the point can record."""
        found = words("trace", channels, "cwnd")
        for channel in found:
            if channel not in CHANNELS:
                text = f'"{channel}" is not a channel; {nearest(channel, CHANNELS)}'
                raise UsageError(text, argument="trace")
            lacks = self.missing(channel, point)
            if lacks is not None:
                text = f'"{channel}" has nothing to record at point {point} of {self.id}; expected {lacks}'
                raise UsageError(text, argument="trace")
        return found

    def __repr__(self) -> str:
        return f"<Scenario {self.id}: {self._count} points>"


class Run:
    """What one simulation measured."""

    def __init__(self, core: _core.Run, scenario: Scenario, point: int, seed: int, replication: int) -> None:
        self._core = core
        self.scenario = scenario
        self.point = point
        self.seed = seed
        self.replication = replication
        self.metrics = core.metrics
        self.series = core.series
        self.transfers = core.transfers
        self.events = core.events
        self.wall_s = core.wall_s
        self.cpu_s = core.cpu_s
        self.stopped = core.stopped
        self.simulated_s = core.simulated_s

    def traces(self) -> list[str]:
        """The channels that were recorded."""
        return self._core.traces()

    def trace(self, name: str) -> Trace:
        """A recorded channel, such as `cwnd`."""
        if name not in self.traces():
            none = f'run(trace=["{name}"]) records it'
            raise UsageError(
                f"{name} was not recorded; {nearest(name, self.traces(), none=none)}", argument="trace"
            )
        return Trace(name, self._core)

    def airtime(self) -> list[Airtime]:
        """The ledgers of airtime, one for each 802.11 link."""
        return ledgers(self.metrics, self.scenario.observers(self.point))

    def as_dict(self) -> dict[str, Any]:
        """The run as the command line prints it with `--json`."""
        return {
            "scenario": self.scenario.id,
            "file": self.scenario.name,
            "overrides": dict(self.scenario.overrides),
            "seed": self.seed,
            "replication": self.replication,
            "version": _core.__version__,
            "model_version": _core.model_version,
            "point": self.scenario.points()[self.point],
            "point_number": self.point,
            "metrics": self.metrics,
            "airtime": [ledger.as_dict() for ledger in self.airtime()],
            "series": self._series(),
            "transfers": self.transfers or None,
            "notes": self.notes(),
            "events": self.events,
            "simulated_s": self.simulated_s,
            "stopped": self.stopped,
            "wall_s": self.wall_s,
        }

    def notes(self) -> list[str]:
        """The labels that must accompany every number of this run: what no protocol could have had."""
        return labels(self.scenario.exceptions_at(self.point))

    def _series(self) -> dict[str, Any] | None:
        """Goodput over time with the width of its bins; nothing where the scenario has none."""
        if not self.series:
            return None
        width = seconds(self.scenario.resolved(self.point)["run.bin"]["value"])
        return {"bin_s": width, "values": self.series}

    def __repr__(self) -> str:
        return f"<Run {self.scenario.id} seed {self.seed} replication {self.replication}>"
