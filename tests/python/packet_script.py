"""Reads packet scripts and checks a trace against them; tests/scripts/README.md describes the format."""

from __future__ import annotations

import math
import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import reference_path
from reference_path import NANO
from reference_sender import Options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reference_sender import Event

SCRIPTS = Path(__file__).parent.parent / "scripts"

#: Events that a script must list completely; the others may be left out.
COMPLETE = ("resend", "enter", "partial", "exit", "timeout", "undo")
OPTIONAL = ("send", "ack", "dupack")
#: Events whose segment is the one the ACK requests; the others name the segment they send.
ABOUT_ACK = ("ack", "dupack", "partial", "enter", "exit", "timeout", "undo")

#: The defaults of every script, which its header may change. Values are texts of a scenario.
DEFAULTS = {
    "packet": "960 B",
    "window": "64 segments",
    "initial-window": "12 segments",
    "initial-ssthresh": "12 segments",
    "min-rto": "1 s",
    "max-rto": "60 s",
    "initial-rto": "3 s",
    "tick": "0 s",
    "timestamps": False,
    "limited-transmit": False,
}

#: The further keys of a scenario that models the host of the RFCs of 2012.
RFC_ONLY = {
    "ack-every": 1,
    "nagle": False,
    "window-validation": False,
    "growth": "acks",
    "slow-start": "standard",
    "quick-acks": 0,
    "whole-window": False,
    "rto-floor": "timeout",
}

#: The same of a sender that recovers by selective acknowledgements.
RFC_6675_ONLY = {"prr": False, "loss-detection": "rfc6675", "dsack": False}

_SCALE = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": NANO}
_LINE = re.compile(
    r"(?P<time>\d+\.\d+)\s+(?P<event>[a-z]+)(?:\s+(?P<first>\d+)(?:\.\.(?P<last>\d+))?)?"
    r"(?:\s+cwnd\s+(?P<cwnd>\d+(?:\.\d+)?))?(?:\s+ssthresh\s+(?P<ssthresh>\d+(?:\.\d+)?))?"
    r"\s*#\s*(?P<why>.+)"
)
_CLAUSE = re.compile(r"RFC \d{4} \(|FACK \(|Fall and Floyd \(|choice")


class ScriptError(AssertionError):
    """A script is malformed, or a trace does not match it."""


@dataclass(frozen=True)
class Line:
    """One line of the time line; segments count from 1, numbers stay text to keep their digits."""

    number: int
    time: str
    event: str
    first: int
    last: int
    cwnd: str | None
    ssthresh: str | None
    why: str

    @property
    def time_s(self) -> float:
        return float(self.time)


@dataclass(frozen=True)
class Script:
    """A case: what to run, and what must happen."""

    name: str
    title: str
    variant: str
    drops: tuple[int, ...]
    tcp: dict[str, Any]
    path: dict[str, str]
    lines: tuple[Line, ...]
    #: What `drops` counts: `data`, or `ack`.
    of: str = "data"
    #: The size of a file instead of a bulk source.
    file: str | None = None

    @property
    def until_s(self) -> float:
        return nanoseconds(self.path["until"]) / NANO

    @property
    def payload(self) -> int:
        return leading_number(self.tcp["packet"])

    def options(self) -> Options:
        """The same case for the reference model."""
        tcp = self.tcp
        threshold = tcp["initial-ssthresh"]
        return Options(
            variant=self.variant,
            payload=self.payload,
            window=leading_number(tcp["window"]),
            initial_window=leading_number(tcp["initial-window"]),
            initial_ssthresh=math.inf if threshold == "none" else leading_number(threshold),
            limited_transmit=tcp["limited-transmit"],
            timestamps=tcp["timestamps"],
            retransmit_timer=tcp.get("newreno", {}).get("retransmit-timer", "impatient"),
            lost_retransmission=tcp.get("lost-retransmission", "timer"),
            min_rto_ns=nanoseconds(tcp["min-rto"]),
            max_rto_ns=nanoseconds(tcp["max-rto"]),
            initial_rto_ns=nanoseconds(tcp["initial-rto"]),
            tick_ns=nanoseconds(tcp["tick"]),
            start_ns=nanoseconds(self.path["start"]),
        )

    def reference_path(self) -> reference_path.Path:
        rate = re.fullmatch(r"(\d+) Mbit/s", self.path["rate"])
        if rate is None:
            raise ScriptError(f"{self.name}: path.rate: {self.path['rate']!r}; expected Mbit/s")
        return reference_path.Path(
            rate_bps=int(rate[1]) * 1_000_000,
            delay_ns=nanoseconds(self.path["delay"]),
            drops=frozenset(self.drops),
        )

    def scenario(self) -> str:
        """The same case as a scenario of lasthop."""
        return scenario_text(self.title, self.variant, self.drops, self.tcp, self.path, self.of, self.file)


def scenario_text(
    title: str,
    variant: str,
    drops: Sequence[int],
    tcp: dict[str, Any],
    path: dict[str, str],
    of: str = "data",
    file: str | None = None,
) -> str:
    """Two nodes, one lossy link that drops the listed data packets, one bulk flow."""
    settings = {"profile": "modern", "variant": variant, "sack": variant in {"sack", "fack"}} | RFC_ONLY
    settings |= {} if variant == "tahoe" else {"growth-at-recovery-end": False}
    settings |= (RFC_6675_ONLY if variant == "sack" else {}) | tcp
    if variant == "newreno":
        # RFC 6582 (3.2): duplicates inflate the window.
        settings["newreno"] = {"duplicates": "inflate"} | tcp.get("newreno", {})
    app: dict[str, Any] = {"kind": "bulk"} if file is None else {"kind": "file", "file": {"size": file}}
    app["start"] = path["start"]
    text = over_path(path, drops, of, app)
    return f"title = {toml(title)}\n{text}tcp = {toml(settings)}\n"


def over_path(path: dict[str, Any], drops: Sequence[int], of: str, app: dict[str, Any]) -> str:
    """A scenario with a flow over a path that loses these packets; the transport of the flow follows."""
    way = "forward" if of == "data" else "reverse"
    return f"""\
[run]
duration = {toml(path["until"])}
replications = 1

[nodes]
sender = {{}}
receiver = {{}}

[links.path]
kind = "lossy"
nodes = ["sender", "receiver"]
rate = {toml(path["rate"])}
delay = {toml(path["delay"])}
queue = "unlimited"
loss = {{ model = "list", direction = "{way}", list = {{ drop = {list(drops)}, of = "{of}" }} }}

[flows.main]
from = "sender"
to = "receiver"
app = {toml(app)}
"""


def toml(value: Any) -> str:
    """The few TOML values a script can hold."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{k} = {toml(v)}" for k, v in value.items()) + " }"
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def nanoseconds(text: str) -> int:
    number, unit = text.split()
    return round(float(number) * _SCALE[unit])


def leading_number(text: str) -> int:
    return int(text.split(maxsplit=1)[0])


# Reading.


def read_all(folder: str = ".") -> list[Script]:
    return [read(file) for file in sorted((SCRIPTS / folder).glob("*.script"))]


def read(file: Path) -> Script:
    table, lines = parts(file, _LINE, _CLAUSE, "TIME EVENT SEGMENT # clause")
    return Script(
        name=file.stem,
        title=table["title"],
        variant=table["variant"],
        drops=tuple(table["drops"]),
        tcp=DEFAULTS | table.get("tcp", {}),
        path=table["path"],
        lines=tuple(_read_lines(file.name, lines)),
        of=table.get("of", "data"),
        file=table.get("file"),
    )


def parts(
    file: Path, line: re.Pattern[str], clause: re.Pattern[str], expected: str
) -> tuple[dict[str, Any], list[tuple[int, re.Match[str]]]]:
    """The header of a script, and its lines with their numbers; each must cite a clause."""
    fence, header, body = file.read_text(encoding="utf-8").split("---\n", 2)
    if fence:
        raise ScriptError(f"{file.name}:1: {fence!r}; expected ---")
    found = []
    for number, text in enumerate(body.splitlines(), header.count("\n") + 3):
        if not text.strip() or text.lstrip().startswith("#"):
            continue
        match = line.fullmatch(text.strip())
        if match is None:
            raise ScriptError(f"{file.name}:{number}: {text!r}; expected {expected}")
        if clause.search(match["why"]) is None:
            raise ScriptError(f"{file.name}:{number}: {match['why']!r} cites no clause")
        found.append((number, match))
    return tomllib.loads(header), found


def _read_lines(name: str, lines: Sequence[tuple[int, re.Match[str]]]) -> Iterator[Line]:
    for number, match in lines:
        if match["event"] not in COMPLETE + OPTIONAL:
            raise ScriptError(f"{name}:{number}: unknown event {match['event']!r}")
        segment = int(match["first"] or 0)
        yield Line(
            number=number,
            time=match["time"],
            event=match["event"],
            first=segment,
            last=int(match["last"] or segment),
            cwnd=match["cwnd"],
            ssthresh=match["ssthresh"],
            why=match["why"],
        )


# Checking.


def check(script: Script, events: Sequence[Event]) -> None:
    """Raise `ScriptError` at the first event that does not match the script."""
    trace = [event for event in events if event.time_s <= script.until_s]
    at = 0
    for line, following in zip(script.lines, [*script.lines[1:], None], strict=True):
        for segment in range(line.first, line.last + 1):
            at = _find(script, line, segment, trace, at)
            if segment == line.first:
                _check_values(script, line, trace[at])
            at += 1
        if line.event == "send":
            end = script.until_s if following is None else following.time_s - _half_digit(following.time)
            _check_nothing_else_sent(script, line, trace[at:], end)
    for event in trace[at:]:
        if event.event in COMPLETE:
            raise ScriptError(f"{script.name}: after the last line: {show(event, script.payload)}")


def _find(script: Script, line: Line, segment: int, trace: Sequence[Event], at: int) -> int:
    """Where the event of this line is; on the way to it only optional events may be passed."""
    for index in range(at, len(trace)):
        event = trace[index]
        about = event.ack if event.event in ABOUT_ACK else event.seq
        same = event.event == line.event and about == (segment - 1) * script.payload
        if same and (line.event == "send" or _at_time(line, event)):
            return index
        if event.event in COMPLETE or event.event == line.event == "send":
            raise _mismatch(script, line, segment, show(event, script.payload))
    raise _mismatch(script, line, segment, "nothing more")


def _mismatch(script: Script, line: Line, segment: int, found: str) -> ScriptError:
    expected = f"{line.time} {line.event} {segment}"
    return ScriptError(f"{script.name}:{line.number}: {found}; expected {expected}")


def _at_time(line: Line, event: Event) -> bool:
    return abs(event.time_s - line.time_s) <= _half_digit(line.time)


def _check_values(script: Script, line: Line, event: Event) -> None:
    where = f"{script.name}:{line.number}: {line.event} {line.first}"
    if not _at_time(line, event):
        raise ScriptError(f"{where}: at {event.time_s:.6f} s; expected {line.time} s")
    for name, value, text in (
        ("cwnd", event.cwnd, line.cwnd),
        ("ssthresh", event.ssthresh, line.ssthresh),
    ):
        if text is not None and abs(value - float(text)) > _rounding(text) + 1e-9:
            raise ScriptError(f"{where}: {name} {value:.6f}; expected {text}")


def _rounding(text: str) -> float:
    """Windows with two or more decimals are rounded; others, such as 6 and 5.5, are exact."""
    return _half_digit(text) if len(text.partition(".")[2]) >= 2 else 0.0


def _half_digit(text: str) -> float:
    return 0.5 * 10.0 ** -len(text.partition(".")[2])


def _check_nothing_else_sent(script: Script, line: Line, rest: Sequence[Event], end: float) -> None:
    """A `send` line names all new transmissions up to the next line."""
    for event in rest:
        if event.event in COMPLETE or event.time_s >= end:
            return
        if event.event == "send":
            what = show(event, script.payload)
            raise ScriptError(f"{script.name}:{line.number}: also {what}; expected no other new data")


def show(event: Event, payload: int) -> str:
    """One event as the scripts write it, with segments from 1."""
    return (
        f"{event.time_s:.6f} {event.event} seq {event.seq // payload + 1} "
        f"ack {event.ack // payload + 1} cwnd {event.cwnd:.4f} ssthresh {event.ssthresh:.4f}"
    )
