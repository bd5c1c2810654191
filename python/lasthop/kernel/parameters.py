"""The parameters of a law in the kernel: those of `flows.NAME.tcp.LAW`, read as a scenario reads them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING

from lasthop import _core
from lasthop.base.errors import UsageError
from lasthop.scenario.scenario import Scenario

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lasthop.kernel.notes import Note

_TEXT = """
[run]
duration = "1 s"
[nodes]
s = {{}}
d = {{}}
[links.path]
kind = "wired"
nodes = ["s", "d"]
rate = "1 Mbit/s"
delay = "1 ms"
queue = "10 packets"
[flows.main]
from = "s"
to = "d"
app = {{ kind = "bulk" }}
tcp = {{ profile = "modern", timestamps = false, congestion = "{law}" }}
"""
#: What the kernel's law of each name has; a law without parameters is not named.
NAMES = {
    "jtcp": ("k", "jitter-window", "timeout-rule"),
    "ejtcp": (
        *("jitter-test", "k", "jitter-window", "rtt-threshold", "alpha", "smooth"),
        "after-random-timeout",
    ),
}
#: What the kernel's laws have in place of parameters that they lack.
LACKED = {"double-retransmission": "off", "filter": "false", "modulation": "off"}
# `struct parameters` of laws/law.h.
_FORM = struct.Struct("=QQQ8I")
_MILLION = 1_000_000
_TIMEOUTS = ("keep", "slow-start", "half", "reno")
_OFF, _SHARE, _FIXED = range(3)


def scenario(law: str, settings: Sequence[tuple[str, str]]) -> Scenario:
    """A scenario with one flow of this law.

    Raises:
        UsageError: The kernel's law does not have a parameter, or not this value.
    """
    known = NAMES.get(law, ())
    for name, _ in settings:
        if name not in known:
            expected = f"one of {', '.join(known)}" if known else "none, because this law has no parameters"
            raise UsageError(
                f"{name}: the law in the kernel does not have it; expected {expected}", argument="set"
            )
    base = _core.Scenario.from_text(_TEXT.format(law=law), law)
    pairs = [(f"flows.main.tcp.{law}.{name}", text) for name, text in settings]
    for key, text in pairs:
        if why := base.refused(key, text):
            raise UsageError(f"{key.rpartition('.')[2]}: {why}", argument="set")
    return Scenario.from_text(base.text, law, pairs)


def packed(scenario: Scenario, law: str, *, is_recorded: bool, has_header: bool = False) -> bytes:
    """The parameters of the law of a scenario, as its program has them."""
    entries = scenario.resolved(0)

    def text(name: str, default: str) -> str:
        entry = entries.get(f"flows.main.tcp.{law}.{name}")
        return default if entry is None else str(entry["value"])

    def number(name: str, default: str) -> float:
        found = scenario.numeric(f"flows.main.tcp.{law}.{name}", text(name, default))
        return 0.0 if found is None else found

    threshold = text("rtt-threshold", "off")
    rule = {"off": _OFF, "alpha": _SHARE}.get(threshold, _FIXED)
    timeouts = text("timeout-rule", text("after-random-timeout", "reno"))
    return _FORM.pack(
        round(number("k", "1") * _MILLION),
        round(number("alpha", "0.8") * _MILLION),
        round(number("rtt-threshold", "off") * 1e9) if rule == _FIXED else 0,
        text("jitter-test", "true") == "true",
        2 if text("jitter-window", "round") == "round" else 0,
        rule,
        int(number("smooth", "off")),
        _TIMEOUTS.index(timeouts),
        is_recorded,
        has_header,
        0,
    )


def differing(ours: Scenario, point: int, flow: str, law: str, note: Note) -> Iterator[tuple[str, str, str]]:
    """The parameters of a flow's law that the kernel's has otherwise: their names, and both values."""
    theirs = _values(scenario(law, note.settings), 0, "main", law)
    theirs |= {"header": "option" if note.has_header else "timestamps", **LACKED}
    for name, text in _values(ours, point, flow, law).items():
        key, other = f"flows.{flow}.tcp.{law}.{name}", theirs.get(name, text)
        number = ours.numeric(key, text)
        if text != other and (number is None or number != ours.numeric(key, other)):
            yield name, text, other


def _values(scenario: Scenario, point: int, flow: str, law: str) -> dict[str, str]:
    of = f"flows.{flow}.tcp.{law}."
    return {
        key.removeprefix(of): entry["value"]
        for key, entry in scenario.resolved(point).items()
        if key.startswith(of)
    }
