"""Reads wire scripts and checks a capture against them; tests/scripts/README.md describes the format."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from packet_script import SCRIPTS, ScriptError, parts, toml

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

#: The defaults of every script, which its header may change.
TCP = {
    "profile": "modern",
    "variant": "reno",
    "packet": "960 B",
    "window": "64 segments",
    "initial-window": "12 segments",
    "ack-every": 1,
    "timestamps": False,
    "sack": False,
    "dsack": False,
    "growth": "acks",
    "quick-acks": 0,
    "whole-window": False,
    "growth-at-recovery-end": False,
    "rto-floor": "timeout",
    "nagle": False,
}
#: The same of the link.
LINK = {"kind": "wired", "nodes": ["sender", "receiver"], "rate": "8 Mbit/s", "delay": "49.48 ms"}
#: The sides of the link, by the sign with which a line says who sends.
SIDES = ">", "<"

_FIN, _SYN, _ACK, _ECE, _CWR, _AE = 1, 2, 16, 64, 128, 256
#: The ECN field of the IP header (RFC 3168, 5).
_ECN = "", "ect1", "ect0", "ce"
_LINE = re.compile(
    r"(?P<time>\d+\.\d+)\s+(?P<side>[<>])\s+(?P<what>[^#]+?)(?:\s+win\s+(?P<window>\d+))?\s*#\s*(?P<why>.+)"
)
_CLAUSE = re.compile(r"RFC \d{4} \(|TCP-Jersey \(|TARR \(|TACK \(")


@dataclass(frozen=True)
class Line:
    """A packet that must be seen."""

    number: int
    time: str
    side: str
    what: str
    window: int | None


@dataclass(frozen=True)
class Script:
    """A case: what to run, and every packet of it."""

    name: str
    scenario: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Seen:
    """A packet of a capture, with numbers that count from the first byte of data."""

    time_s: float
    side: str
    what: str
    window: int


def read_all() -> list[Script]:
    return [read(file) for file in sorted((SCRIPTS / "wire").glob("*.script"))]


def read(file: Path) -> Script:
    table, lines = parts(file, _LINE, _CLAUSE, "TIME SIDE PACKET # clause")
    return Script(file.stem, _scenario(table), tuple(_line(number, match) for number, match in lines))


def _scenario(table: dict[str, Any]) -> str:
    """Two nodes, one wire, one flow."""
    tcp = TCP | table.get("tcp", {})
    if tcp.get("acks") == "tack":
        # Its receiver counts no segments.
        tcp = {key: value for key, value in tcp.items() if key not in {"ack-every", "quick-acks"}}
    return f"""\
title = {toml(table["title"])}

[run]
duration = {toml(table["until"])}
replications = 1

[nodes]
sender = {{}}
receiver = {{}}

[links]
path = {toml(LINK | table.get("link", {}))}

[flows.main]
from = "sender"
to = "receiver"
app = {toml({"start": "0.944 ms", **table["app"]})}
sink = {toml(table.get("sink", {}))}
tcp = {toml(tcp)}
"""


def _line(number: int, match: re.Match[str]) -> Line:
    window = int(match["window"]) if match["window"] else None
    return Line(number, match["time"], match["side"], match["what"], window)


def packets(capture: bytes) -> list[Seen]:
    """The TCP packets of a capture of raw IP, in the order of time; of two at one time the opener's first."""
    magic, *_, link_type = struct.unpack_from("<IHHiIII", capture)
    if (magic, link_type) != (0xA1B23C4D, 101):
        raise ScriptError(f"capture: {magic:x}, {link_type}; expected nanoseconds and raw IP")
    seen: list[Seen] = []
    zero: dict[str, int] = {}
    shift: dict[str, int] = {}
    opener = b""
    at = 24
    while at < len(capture):
        seconds, nanoseconds, length, _ = struct.unpack_from("<IIII", capture, at)
        packet = capture[at + 16 : at + 16 + length]
        at += 16 + length
        opener = opener or packet[12:16]
        side = SIDES[packet[12:16] != opener]
        tcp = packet[4 * (packet[0] & 15) :]
        sequence, ack, offset, flags, window = struct.unpack_from(">IIBBH", tcp, 4)
        header = 4 * (offset >> 4)
        flags |= (offset & 1) << 8
        if flags & _SYN:
            zero[side] = sequence + 1
            shift[side] = _window_scale(tcp[20:header])
        else:
            window <<= shift[side]
        start = (sequence - zero[side]) % 2**32
        end = start + len(tcp) - header
        words = ["syn"] if flags & _SYN else []
        if flags & _SYN and not flags & _ACK:
            words += _about_acks(tcp[20:header], 0)
        if end > start:
            words.append(f"{start}..{end}")
        if flags & _FIN:
            words.append("fin" if end > start else f"fin {start}")
        if flags & _ACK:
            other = SIDES[side == SIDES[0]]
            words.append(f"ack {(ack - zero[other]) % 2**32}")
            words += _about_acks(tcp[20:header], zero.get(other, 0))
        words += [word for bit, word in ((_ECE, "ece"), (_CWR, "cwr"), (_AE, "ae")) if flags & bit]
        words += [_ECN[packet[1] & 3]] if packet[1] & 3 else []
        seen.append(Seen(seconds + nanoseconds / 1e9, side, " ".join(words), window))
    return sorted(seen, key=lambda packet: (packet.time_s, SIDES.index(packet.side)))


def _each(options: bytes) -> Iterator[bytes]:
    """The options of a header, without padding."""
    while options:
        length = 1 if options[0] == 1 else options[1]
        if options[0] != 1:
            yield options[:length]
        options = options[length:]


def _window_scale(options: bytes) -> int:
    """The shift of a SYN's window scale option."""
    return next((option[2] for option in _each(options) if option[0] == 3), 0)


def _about_acks(options: bytes, zero: int) -> Iterator[str]:
    """SACK blocks, and what the ends ask of acknowledgements."""
    for option in _each(options):
        if option[0] == 5:
            numbers = [(n - zero) % 2**32 for (n,) in struct.iter_unpack(">I", option[2:])]
            yield from (f"sack {a}..{b}" for a, b in zip(numbers[::2], numbers[1::2], strict=True))
        elif option[:1] + option[2:4] == b"\xfe\x00\xac":
            yield f"ask {option[4] >> 1}" if len(option) == 5 else "tarr"
        elif option[:1] + option[2:4] == b"\xfdTK":
            yield f"least {int.from_bytes(option[4:8], 'big')} us" if len(option) == 8 else "tack"


def check(script: Script, seen: Sequence[Seen]) -> None:
    """Raise `ScriptError` at the first packet that does not match the script."""
    for line, packet in zip(script.lines, seen, strict=False):
        half_digit = 0.5 * 10.0 ** -len(line.time.partition(".")[2])
        same = (packet.side, packet.what) == (line.side, line.what)
        same = same and abs(packet.time_s - float(line.time)) <= half_digit
        if not same or line.window not in {None, packet.window}:
            expected = f"{line.time} {line.side} {line.what} win {line.window}"
            raise ScriptError(f"{script.name}:{line.number}: {show(packet)}; expected {expected}")
    if len(seen) > len(script.lines):
        raise ScriptError(f"{script.name}: also {show(seen[len(script.lines)])}")
    if len(seen) < len(script.lines):
        missing = script.lines[len(seen)]
        raise ScriptError(f"{script.name}:{missing.number}: nothing more; expected {missing.what}")


def show(packet: Seen) -> str:
    return f"{packet.time_s:.5f} {packet.side} {packet.what} win {packet.window}"
