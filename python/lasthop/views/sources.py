"""Runs whose trace of events is shown, in memory or kept in a directory, and the period that is shown."""

from __future__ import annotations

import csv
import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop.base.arguments import words
from lasthop.base.errors import StudyError, UsageError, nearest, reason
from lasthop.scenario.description import schemes_of
from lasthop.scenario.kept import read
from lasthop.views.events import CHANNEL, FIRST, Event, events, reaches
from lasthop.views.names import in_turn, registered, titled

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from lasthop.scenario.scenario import Run

Period = tuple["float | None", "float | None"]
# Events of a run before it is known whether they are enough.
_FIRST_EVENTS = 20_000
# Columns of the trace that are neither words nor numbers with fractions.
_INTS = ("packet", "frame", "seq", "len", "ack", "window", "attempt", "slots")
_FLOATS = ("time_s", "duration_s", "cwnd", "ssthresh")


@dataclass(frozen=True, slots=True)
class Source:
    """A run to draw: its rows, what distinguishes it, and its random numbers.

    Attributes:
        name: What it is, such as the title of its scenario.
        settings: Its overrides and swept values, by key.
        numbers: Its seed and replication.
        read: Gives its rows from the first on.
        remarks: The labels that must accompany its numbers.
        positions: The positions of its nodes that have one, in metres.
        schemes: The agents, TCP laws and standards of links in its scenario, by key.
    """

    name: str
    settings: dict[str, str]
    numbers: tuple[int, int]
    read: Callable[[], Iterator[Event]]
    remarks: tuple[str, ...] = ()
    positions: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    schemes: Mapping[str, str] = field(default_factory=dict)


def of_run(run: Run) -> Source:
    """A run in memory."""
    if CHANNEL not in run.traces():
        raise UsageError(f'the run has no trace of {CHANNEL}; expected one of run(trace=["{CHANNEL}"])')
    settings = {**dict(run.scenario.overrides), **run.scenario.points()[run.point]}
    name = run.scenario.title or run.scenario.id
    trace = run.trace(CHANNEL)
    return Source(
        name,
        settings,
        (run.seed, run.replication),
        lambda: events(trace.chunks()),
        tuple(run.notes()),
        run.scenario.positions(run.point),
        schemes_of(run.scenario, run.point),
    )


def of_folder(folder: Path) -> Source:
    """A run that was kept by `run -o`."""
    run = read(folder)
    file = folder / "traces" / f"{CHANNEL}.csv"
    if not file.is_file():
        raise UsageError(
            f"{folder}: no trace of {CHANNEL}; expected a run of "
            f"lasthop run {run['scenario']} --trace {CHANNEL} -o {folder}"
        )
    settings = {**dict(run.get("overrides", ())), **run.get("point", {})}
    numbers = (run["seed"], run.get("replication", 0))
    # Runs of earlier versions have neither positions nor schemes.
    positions = {name: (x, y) for name, (x, y) in run.get("positions", {}).items()}
    notes = tuple(run.get("notes", ()))
    schemes = run.get("schemes", {})
    return Source(str(run["scenario"]), settings, numbers, lambda: _rows(file), notes, positions, schemes)


def traced(
    run: Callable[[int], Run], between: Period | None, flows: Sequence[str] | None, first: int = FIRST
) -> Run:
    """A run that is long enough for what is shown of it, and not much longer.

    Args:
        run: Runs a scenario with the trace up to a number of events.
        between: Begin and end in seconds.
        flows: The flows to show; all if none.
        first: Segments that are shown where the period has no end.
    """
    most = _FIRST_EVENTS
    while True:
        done = run(most)
        source = of_run(done)
        is_stopped = done.stopped == "max-events" and done.events == most
        if not is_stopped or reaches(source.read, checked(between), flows or (), done.simulated_s, first):
            return done
        most *= 8


def _rows(file: Path) -> Iterator[Event]:
    try:
        with file.open(newline="", encoding="utf-8") as opened:
            reader = csv.reader(opened)
            head = next(reader)
            kinds: list[Any] = [int if n in _INTS else float if n in _FLOATS else str for n in Event._fields]
            columns = [head.index(name) for name in Event._fields]
            for row in reader:
                values: list[Any] = [kind(row[at]) for kind, at in zip(kinds, columns, strict=True)]
                yield Event(*values)
    except (OSError, ValueError, StopIteration, IndexError, csv.Error) as e:
        raise StudyError(f"{file}: {reason(e)}; expected a trace written by lasthop run") from e


def checked(between: object) -> Period:
    """Check a period; without one both of its ends are open."""
    if between is None:
        return None, None
    if not isinstance(between, (tuple, list)) or len(between) != 2 or not all(map(_is_time, between)):
        raise UsageError(
            f"{between!r}; expected begin and end in seconds such as (0, 0.2)", argument="between"
        )
    begin, end = between
    if begin is not None and end is not None and begin >= end:
        raise UsageError(f"{begin:g}..{end:g}; expected a begin before the end", argument="between")
    return begin, end


def _is_time(value: object) -> bool:
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    return value is None or (known and math.isfinite(value) and value >= 0)  # type: ignore[arg-type, operator]


def chosen_flows(sources: Sequence[Source], flows: Sequence[str] | None) -> list[str]:
    """Check the names of the flows to show; empty for all."""
    chosen = words("flows", flows, "main") if flows is not None else []
    for source in sources:
        _check_flows(source, chosen)
    return chosen


def _check_flows(source: Source, chosen: Iterable[str]) -> None:
    wanted = set(chosen)
    if not wanted:
        return
    known: dict[str, None] = {}
    for row in source.read():
        if row.flow:
            known.setdefault(row.flow.removesuffix(".reverse"))
        if wanted <= known.keys():
            return
    missing = next(name for name in chosen if name not in known)
    raise UsageError(f'"{missing}" sends nothing; {nearest(missing, known)}', argument="flows")


def title(sources: Sequence[Source]) -> str:
    """What is shown: the names of the runs."""
    return ", ".join(dict.fromkeys(source.name for source in sources))


def remarks(sources: Sequence[Source]) -> list[str]:
    """What must be said about runs that are shown next to each other."""
    notes = list(dict.fromkeys(remark for source in sources for remark in source.remarks))
    if len({source.numbers for source in sources}) > 1:
        notes.append("the runs have different random numbers: their seeds or replications differ")
    return notes


def titles(sources: Sequence[Source]) -> list[str]:
    """The settings in which runs differ, by the names that the registry has, and the schemes of each run."""
    if len(sources) == 1:
        return [""]
    keys = dict.fromkeys(key for source in sources for key in source.settings)
    differing = [key for key in keys if len({source.settings.get(key) for source in sources}) > 1]
    found = []
    for source in sources:
        shown = schemes(source)
        own = [_named(key, source.settings[key]) for key in differing if key in source.settings]
        # An agent is named with its mode among the schemes.
        own = [text for text in own if not any(f"{name} ".startswith(f"{text} ") for name in shown)]
        found.append(", ".join([*(own or ([] if shown else [source.name])), *shown]))
    return found


def schemes(source: Source) -> list[str]:
    """The agents with their modes, TCP laws and standards of links of a run, each once."""
    shown: dict[str, None] = {}
    for key, value in source.schemes.items():
        if key.endswith(".mode") or (key.startswith("agents.") and value == "none"):
            continue
        mode = source.schemes.get(f"{key.removesuffix('kind')}{value}.mode")
        for name in (titled(key, one) for one in in_turn(value)):
            shown.setdefault(f"{name} ({mode})" if mode else name)
    return list(shown)


def _named(key: str, value: str) -> str:
    entry = registered(key).get(value)
    if entry is not None:
        return str(entry["title"])
    return f"{key.rsplit('.', 1)[-1]} = {value}"
