"""A scenario, checked when it is loaded, and a run of it.

>>> sc = load("ejtcp/fig10-baselines")
>>> len(sc.points()), sc.set({"flows.main.tcp.variant": "reno"}).overrides
(110, [('flows.main.tcp.variant', 'reno')])
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from lasthop import _core
from lasthop.base import paths
from lasthop.base.arguments import MOST_SEED, instance, nonblank, place, span, utf8, whole, words
from lasthop.base.attended import attended
from lasthop.base.errors import RunError, StudyError, UsageError, nearest
from lasthop.base.files import replacing
from lasthop.base.quantity import seconds
from lasthop.scenario.description import Description, schemes_of
from lasthop.scenario.facts import labels
from lasthop.scenario.made import as_toml, as_value, checked_name, without_lines
from lasthop.scenario.overrides import Pairs, as_text, checked_pairs
from lasthop.scenario.trace import Trace, known_channel

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager
    from typing import Literal, Self

    from lasthop.laws.registered import LawUse
    from lasthop.scenario.airtime import Airtime
    from lasthop.scenario.recorded import Recorded


def load(path_or_id: str | Path, overrides: Pairs | None = None, *, argument: str = "set") -> Scenario:
    """Read a scenario from a path or by its id below `scenarios/`; it is checked immediately.

    `argument` is the name in messages of the argument that gave the overrides.
    """
    return Scenario.load(path_or_id, overrides, argument=argument)


def _laws(core: _core.Run | Recorded) -> dict[str, LawUse]:
    if not core.laws:
        return {}
    from lasthop.laws.registered import LawUse

    return {name: LawUse(*use) for name, use in core.laws.items()}


class Run:
    """The results of one simulation; `lasthop.Run` documents its attributes."""

    def __init__(
        self, core: _core.Run | Recorded, scenario: Scenario, point: int, seed: int, replication: int
    ) -> None:
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
        self.laws = _laws(core)

    def traces(self) -> list[str]:
        """The channels that were recorded.

        Returns:
            Their names, such as `cwnd`.
        """
        return self._core.traces()

    def trace(self, name: str) -> Trace:
        """A recorded channel.

        Args:
            name: Its name, such as `cwnd`.

        Returns:
            The channel, whose rows are read on demand.

        Raises:
            UsageError: It was not recorded.
        """
        nonblank("name", name, "a channel such as cwnd")
        if name not in self.traces():
            none = f'run(trace=["{name}"]) records it'
            raise UsageError(
                f'"{name}" was not recorded; {nearest(name, self.traces(), none=none)}', argument="name"
            )
        return Trace(name, self._core)

    def airtime(self) -> list[Airtime]:
        """How the time of each 802.11 link was used.

        Returns:
            A ledger for each link, in the order of the scenario.
        """
        from lasthop.scenario.airtime import ledgers

        return ledgers(self.metrics, self.scenario.observers(self.point))

    def as_dict(self) -> dict[str, Any]:
        """The run as plain data, as the command line prints it with `--json`.

        Returns:
            A mapping that JSON can carry, except for numbers that are not finite.
        """
        laws = {name: {**use._asdict(), "us_per_ack": use.us_per_ack} for name, use in self.laws.items()}
        return {
            "scenario": self.scenario.id,
            "file": self.scenario.name,
            "overrides": self.scenario.overrides,
            "seed": self.seed,
            "replication": self.replication,
            "version": _core.__version__,
            "model_version": _core.model_version,
            "point": self.scenario.points()[self.point],
            "point_number": self.point,
            "positions": self.scenario.positions(self.point),
            "schemes": schemes_of(self.scenario, self.point),
            "metrics": self.metrics,
            "airtime": [ledger.as_dict() for ledger in self.airtime()],
            "series": self._series(),
            "transfers": self.transfers or None,
            "notes": self.notes(),
            "events": self.events,
            "simulated_s": self.simulated_s,
            "stopped": self.stopped,
            "wall_s": self.wall_s,
            **({"laws": laws} if laws else {}),
        }

    def notes(self) -> list[str]:
        """The labels that must accompany every number of this run: information unavailable to real protocols.

        Returns:
            Each label once; usually none.
        """
        return labels(self.scenario.exceptions_at(self.point))

    def _series(self) -> dict[str, Any] | None:
        """Goodput over time with the width of its bins; nothing where the scenario has none."""
        if not self.series:
            return None
        width = seconds(self.scenario.resolved(self.point)["run.bin"]["value"])
        return {"bin_s": width, "values": self.series}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Run):
            return NotImplemented
        return self._measured() == other._measured()

    # The measurements are in mappings, which are mutable.
    __hash__ = None  # type: ignore[assignment]

    def _measured(self) -> tuple[object, ...]:
        place = (self.scenario, self.point, self.seed, self.replication)
        return (
            *place,
            self.metrics,
            self.series,
            self.transfers,
            self.events,
            self.stopped,
            self.simulated_s,
        )

    def __reduce__(self) -> tuple[object, ...]:
        from lasthop.scenario.recorded import Recorded

        core = Recorded.of(self._core)
        return type(self), (core, self.scenario, self.point, self.seed, self.replication)

    def __repr__(self) -> str:
        return f"<Run {self.scenario.id} seed {self.seed} replication {self.replication}>"


S = TypeVar("S", bound="Scenario")


class Scenario(Description):
    """An immutable scenario: what runs, what is swept and what is drawn.

    Two scenarios are equal if id, text and settings are equal.
    """

    # The class of its runs.
    _run_class: ClassVar[type[Run]] = Run

    @classmethod
    def load(cls, path_or_id: str | Path, overrides: Pairs | None = None, *, argument: str = "set") -> Self:
        """Read a scenario from a file or by its id; it is checked immediately.

        Args:
            path_or_id: A file, a directory with a `scenario.toml`, or an id such as `lle-tcp/fig05`.
            overrides: Keys and values to set, as text.
            argument: The name of the overrides argument in messages.

        Returns:
            The scenario.

        Raises:
            UsageError: The file or id does not exist.
            ScenarioError: The scenario cannot be run; the message has file, line and key.
        """
        instance("argument", argument, str, "the name of an argument")
        if not isinstance(path_or_id, str):
            path_or_id = place("path_or_id", path_or_id, "a path or an id such as lle-tcp/fig05")
        path = paths.find(str(path_or_id))
        core = _core.Scenario.from_file(paths.shown(path), checked_pairs(overrides), argument)
        return cls(core, paths.scenario_id(path))

    @classmethod
    def from_text(
        cls, text: str, name: str, overrides: Pairs | None = None, *, ident: str | None = None
    ) -> Self:
        """Read a scenario from TOML text; it is checked immediately.

        Args:
            text: What a scenario file holds.
            name: The name of the file in messages.
            overrides: Keys and values to set, as text.
            ident: The id of the scenario; without it the name without folder and ending.

        Returns:
            The scenario.

        Raises:
            UsageError: An argument is not text.
            ScenarioError: The scenario cannot be run; the message has name, line and key.
        """
        instance("text", text, str, "TOML text")
        nonblank("name", name, "a name such as mine.toml")
        if ident is not None:
            nonblank("ident", ident, "an id such as lle-tcp/fig05")
        return cls(_core.Scenario.from_text(text, name, checked_pairs(overrides)), ident or Path(name).stem)

    @classmethod
    def from_dict(cls, values: Mapping[str, object], name: str = "scenario") -> Self:
        """Make a scenario from nested mappings, as a scenario file holds them; it is checked immediately.

        Args:
            values: The tables `run`, `nodes`, `links`, `flows` and so on. Quantities are text with a unit,
                such as `"5 Mbit/s"`; `sweep` and `figure` are as in a file.
            name: Its name in messages and its id.

        Returns:
            The scenario.

        Raises:
            UsageError: A value is not one that a scenario can hold.
            ScenarioError: The scenario cannot be run; the message has name and key.
        """
        if not isinstance(values, Mapping):
            raise UsageError(
                f'{values!r}; expected a mapping such as {{"run": {{"duration": "50 s"}}}}', argument="values"
            )
        return cls._of_text(as_toml(values), checked_name(name), [], name)

    @classmethod
    def _of_text(cls, text: str, name: str, overrides: Pairs, ident: str) -> Self:
        """A scenario from a generated text, so that no message names its lines."""
        with without_lines(name):
            return cls(_core.Scenario.from_text(text, name, overrides), ident, has_lines=False)

    def set(self, values: Mapping[str, object]) -> Self:
        """Make a copy with some keys set; a swept key that is set is no longer swept.

        Args:
            values: Values by dotted key, such as `{"run.duration": "50 s"}`; quantities carry their unit.

        Returns:
            The copy; this scenario does not change.

        Raises:
            UsageError: A key is not text, or a value is not one that a scenario can hold.
            ScenarioError: The scenario cannot be run with these values.
        """
        _check_keys("set", values, '{"run.duration": "50 s"}')
        texts = [(key, as_text(value, key)) for key, value in values.items()]
        return under(self, [(utf8("set", key), utf8("set", text)) for key, text in texts])

    def vary(self, axes: Mapping[str, object]) -> Self:
        """Make a copy that sweeps these keys in addition to the scenario's other swept keys.

        The keys replace those of the scenario's sweep and those that `set` has fixed; of keys that advance
        together, those that are not named remain.

        Args:
            axes: The contents of a `[sweep]` table: for each key a list of values or a range such as
                `"0 % .. 20 % step 2 %"`, all combined with each other. `"zip"` holds keys whose lists
                advance together, `"list"` a list of points, each a mapping from key to value.

        Returns:
            The copy; this scenario does not change.

        Raises:
            UsageError: The axes are not a mapping, or a value is not one that a scenario can hold.
            ScenarioError: The scenario cannot be run with these axes; the message names the key.
        """
        _check_keys("vary", axes, '{"links.a.loss.rate": ["0 %", "1 %"]}')
        return under(self, [(f"sweep.{key}", as_value(key, value, "vary")) for key, value in axes.items()])

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
        *,
        qlog: str | Path | None = None,
        progress: Callable[[float], object] | Literal[False] = False,
    ) -> Run:
        """Simulate one point once; `lasthop.Scenario.run` documents the arguments."""
        point = self._known(point)
        channels = self.check_trace(trace, point)
        if cancel is not None:
            instance("cancel", cancel, _core.Cancel, "a token made by Cancel()")
        seed = self.seed if seed is None else whole("seed", seed, 0, MOST_SEED)
        replication = whole("replication", replication)
        if max_events is not None:
            max_events = whole("max_events", max_events, 1)
        if max_wall_s is not None:
            max_wall_s = span("max_wall_s", max_wall_s)
        with _drafts(self._pcap(pcap, point)) as drafts, _drafts(self._qlog(qlog, point)) as logs:

            def work(token: _core.Cancel) -> _core.Run:
                return self._core.run(
                    point,
                    seed,
                    replication,
                    trace=channels,
                    pcap=drafts,
                    qlog=list((logs or {}).values()),
                    cancel=token,
                    max_events=max_events,
                    max_wall_s=max_wall_s,
                )

            done = attended(work, cancel, progress or None)
        return self._run_class(done, self, point, seed, replication)

    def duration_s(self, point: int = 0) -> float:
        """The simulated time of a run.

        Args:
            point: The number of the point, from 0 on.

        Returns:
            Seconds, including the warm-up.

        Raises:
            UsageError: There is no such point.
        """
        value = self.resolved(point)["run.duration"]["value"]
        found = self.numeric("run.duration", value)
        assert found is not None
        return found

    def _pcap(self, pcap: str | Path | Mapping[str, str | Path] | None, point: int) -> dict[str, Path]:
        if pcap is None:
            return {}
        links = self.links(point)
        if not isinstance(pcap, Mapping):
            if not links:
                raise UsageError(f"{self.id} has no links; expected at least one", argument="pcap")
            pcap = {links[0]: pcap}
        for link in pcap:
            if link not in links:
                raise UsageError(f"{link}: unknown link; {nearest(str(link), links)}", argument="pcap")
        files = {link: place("pcap", path, "a file, or one for each link") for link, path in pcap.items()}
        for file in files.values():
            paths.expect_folder(file.parent, "pcap")
        return files

    def _qlog(self, qlog: str | Path | None, point: int) -> dict[str, Path]:
        if qlog is None:
            return {}
        folder, names = place("qlog", qlog, "a directory"), self._core.logs(point)
        if not names:
            text = f"{self.id} has no flow over QUIC at point {point}; expected one"
            raise UsageError(text, argument="qlog")
        paths.expect_folder(folder.parent, "qlog")
        try:
            folder.mkdir(exist_ok=True)
        except OSError as e:
            raise StudyError(f"{folder}: {e.strerror}; expected a writable directory") from e
        return {name: folder / name for name in names}

    def check_trace(self, channels: Sequence[str], point: int = 0) -> list[str]:
        """Check the channels of a trace.

        Args:
            channels: Names such as `cwnd`.
            point: The number of the point that is to be run, from 0 on.

        Returns:
            The names as a list.

        Raises:
            UsageError: A name is not a channel, or a run of this point has nothing to record in it.
        """
        found = words("trace", channels, "cwnd")
        for channel in found:
            known_channel("trace", channel)
            lacks = self.missing(channel, point)
            if lacks is not None:
                text = f'"{channel}" records nothing at point {point} of {self.id}; expected {lacks}'
                raise UsageError(text, argument="trace")
        return found

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Scenario):
            return NotImplemented
        return self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def _identity(self) -> tuple[str, str, tuple[tuple[str, str], ...]]:
        return self.id, self.text, tuple(self.overrides)

    def __reduce__(self) -> tuple[object, ...]:
        return _scenario, (type(self), self.text, self.name, self.overrides, self.id, self._has_lines)

    def __repr__(self) -> str:
        return f"<Scenario {self.id}: {self._count} points>"


@contextmanager
def _drafts(captures: Mapping[str, Path]) -> Iterator[dict[str, str] | None]:
    """The drafts of the captures of a run, which take their places when it has ended."""
    with ExitStack() as opened:
        drafts = {link: opened.enter_context(replacing(path)) for link, path in captures.items()}
        try:
            yield {link: str(draft) for link, draft in drafts.items()} or None
        except RunError as e:
            for link, draft in drafts.items():
                if str(draft) in e.text:
                    raise RunError(e.text.replace(str(draft), str(captures[link]))) from e
            raise


def ran(scenario: Scenario, core: _core.Run, point: int, seed: int, replication: int) -> Run:
    """The run of a scenario with these results."""
    return scenario._run_class(core, scenario, point, seed, replication)  # noqa: SLF001 - private to this module


def capture_files(
    scenario: Scenario, pcap: str | Path | Mapping[str, str | Path] | None, point: int
) -> dict[str, Path]:
    """The files of captures by their links."""
    return scenario._pcap(pcap, point)  # noqa: SLF001 - private to this module


def captures(
    scenario: Scenario, pcap: str | Path | Mapping[str, str | Path] | None, point: int
) -> AbstractContextManager[dict[str, str] | None]:
    """The drafts of captures by their links, which take their places when a run has ended."""
    return _drafts(capture_files(scenario, pcap, point))


def under(scenario: S, pairs: Pairs) -> S:
    """A copy of a scenario with settings as `-s` takes them: keys with the texts of their values."""
    is_lined = scenario._has_lines  # noqa: SLF001 - private to this module
    with nullcontext() if is_lined else without_lines(scenario.name):
        made = scenario._core.with_overrides(pairs)  # noqa: SLF001 - as above
        return type(scenario)(made, scenario.id, has_lines=is_lined)


def _check_keys(argument: str, values: object, example: str) -> None:
    if not isinstance(values, Mapping):
        raise UsageError(f"{values!r}; expected a mapping such as {example}", argument=argument)
    for key in values:
        if not isinstance(key, str):
            raise UsageError(f'{key!r} is not a key; expected one such as "run.duration"', argument=argument)


def _scenario(
    kind: type[Scenario], text: str, name: str, overrides: Pairs, ident: str, has_lines: bool
) -> Scenario:
    """A scenario that was pickled."""
    return kind(_core.Scenario.from_text(text, name, overrides), ident, has_lines=has_lines)
