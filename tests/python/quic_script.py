"""Reads packet scripts of QUIC and checks a qlog against them; `tests/scripts/README.md` has the format."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packet_script import SCRIPTS, ScriptError, over_path, parts, toml

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Events that a script must list completely, and one that may be left out.
COMPLETE = ("lost-by-number", "lost-by-time", "probe")
OPTIONAL = ("send",)
#: The defaults of every script, which its header may change.
DEFAULTS = {"congestion": "newreno", "packet": "1200 B", "mtu-discovery": False}

_LINE = re.compile(
    r"(?P<time>\d+\.\d+)\s+(?P<event>[a-z-]+)\s+(?P<first>\d+)(?:\.\.(?P<last>\d+))?"
    r"(?:\s+cwnd\s+(?P<cwnd>\d+))?\s*#\s*(?P<why>.+)"
)
_CLAUSE = re.compile(r"RFC \d{4} \(|choice")
_LOSSES = {"reordering_threshold": "lost-by-number", "time_threshold": "lost-by-time"}


@dataclass(frozen=True)
class Event:
    """A packet that the sender sends or declares lost, and its window in bytes after that."""

    time_s: float
    event: str
    packet: int
    cwnd: int | None


@dataclass(frozen=True)
class Line:
    """One line of the time line."""

    number: int
    time: str
    event: str
    packets: range
    cwnd: int | None


@dataclass(frozen=True)
class Script:
    """A case: what to run, and what must happen."""

    name: str
    table: dict[str, Any]
    lines: tuple[Line, ...]

    def scenario(self) -> str:
        """The case as a scenario of lasthop."""
        path, file = self.table["path"], self.table["file"]
        app = {"kind": "file", "file": {"size": file}, "start": path["start"]}
        quic = DEFAULTS | self.table.get("quic", {})
        return f"{over_path(path, self.table['drops'], 'data', app)}quic = {toml(quic)}\n"


def read_all() -> list[Script]:
    return [read(file) for file in sorted((SCRIPTS / "quic").glob("*.script"))]


def read(file: Path) -> Script:
    table, lines = parts(file, _LINE, _CLAUSE, "TIME EVENT PACKET # clause")
    return Script(file.stem, table, tuple(_lines(file.name, lines)))


def _lines(name: str, lines: list[tuple[int, re.Match[str]]]) -> Iterator[Line]:
    for number, match in lines:
        if match["event"] not in COMPLETE + OPTIONAL:
            raise ScriptError(f"{name}:{number}: unknown event {match['event']!r}")
        first = int(match["first"])
        packets = range(first, int(match["last"] or first) + 1)
        yield Line(number, match["time"], match["event"], packets, match["cwnd"] and int(match["cwnd"]))


def events(log: Path) -> list[Event]:
    """What a qlog of the sender says about its packets with 1-RTT keys."""
    records = [json.loads(text) for text in log.read_text().split("\x1e")[2:]]
    windows = [
        (record["time"], record["data"]["congestion_window"])
        for record in records
        if record["name"] == "quic:recovery_metrics_updated"
    ]

    def window(time: float) -> int | None:
        known = [window for at, window in windows if at <= time]
        return known[-1] if known else None

    found = []
    for record in records:
        data, time = record["data"], record["time"]
        if data.get("header", {}).get("packet_type") != "1RTT":
            continue
        kind = {"quic:packet_sent": "send", "quic:packet_lost": "lost"}.get(record["name"])
        if kind == "lost":
            kind = _LOSSES[data["trigger"]]
        elif kind == "send" and data.get("trigger") == "pto_probe":
            kind = "probe"
        elif kind == "send" and not _has_data(data):
            kind = None
        if kind is not None:
            found.append(Event(time / 1000, kind, data["header"]["packet_number"], window(time)))
    return found


def _has_data(data: dict[str, Any]) -> bool:
    return any(frame["frame_type"] == "stream" for frame in data["frames"])


def check(script: Script, trace: list[Event]) -> None:
    """Raise `ScriptError` at the first event that does not match the script."""
    rest = iter(trace)
    for line in script.lines:
        for packet in line.packets:
            event = _next(script, line, packet, rest)
            if packet == line.packets[0]:
                _check_values(script, line, event)
    for event in rest:
        if event.event in COMPLETE:
            raise ScriptError(f"{script.name}: after the last line: {event}")


def _next(script: Script, line: Line, packet: int, rest: Iterator[Event]) -> Event:
    """The event of this line; on the way to it only optional events may be passed."""
    for event in rest:
        if (event.event, event.packet) == (line.event, packet):
            return event
        if event.event in COMPLETE:
            raise ScriptError(f"{script.name}:{line.number}: {event}; expected {line.event} {packet}")
    raise ScriptError(f"{script.name}:{line.number}: nothing more; expected {line.event} {packet}")


def _check_values(script: Script, line: Line, event: Event) -> None:
    half = 0.5 * 10 ** -len(line.time.partition(".")[2])
    if abs(event.time_s - float(line.time)) > half:
        raise ScriptError(f"{script.name}:{line.number}: {event}; expected it at {line.time} s")
    if line.cwnd is not None and line.cwnd != event.cwnd:
        raise ScriptError(f"{script.name}:{line.number}: {event}; expected cwnd {line.cwnd}")
