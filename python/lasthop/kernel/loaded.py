"""A law in the kernel while a context lasts, and the file of what it saw."""

from __future__ import annotations

import json
import platform
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop import _core
from lasthop.base.errors import UsageError, reason
from lasthop.kernel.build import LAWS, KernelLawError, compiled, in_kernel, source
from lasthop.kernel.libbpf import Object, cannot_load
from lasthop.kernel.notes import noted
from lasthop.kernel.parameters import NAMES, packed, scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_FORMAT = "lasthop-kernel-1"
_EVENT_BYTES = 80


@contextmanager
def loaded(
    law: str,
    settings: Sequence[tuple[str, str]] = (),
    take: Callable[[bytes], object] | None = None,
    *,
    has_header: bool = False,
) -> Iterator[Object]:
    """A law of ours, or that of a file, in the kernel; `take` receives its events.

    With `has_header` connections have the option of the simulator, from which the law reads times.

    Raises:
        UsageError: There is no such law, or a parameter is wrong.
        KernelLawError: The kernel cannot have it.
    """
    path = source(law)
    given = scenario(law, settings) if law in NAMES else None
    if given is None and settings:
        raise UsageError(f"{settings[0][0]}: {law} has no parameters; expected none", argument="set")
    if take is not None and given is None:
        raise UsageError(f"{law} records nothing; expected {' or '.join(NAMES)}", argument="record")
    if has_header and given is None:
        raise UsageError(f"{law} reads no times; expected {' or '.join(NAMES)}", argument="header")
    if text := cannot_load():
        raise KernelLawError(text)
    constants = (
        b"" if given is None else packed(given, law, is_recorded=take is not None, has_header=has_header)
    )
    with Object(compiled(path), constants) as found:
        if take is not None:
            found.receive(take)
        if has_header:
            found.write_headers()
        if given is None:
            yield found
            return
        with noted(law, settings, has_header=has_header):
            yield found


def header(law: str, settings: Sequence[tuple[str, str]]) -> bytes:
    """The first line of a file of events."""
    facts = {
        "format": _FORMAT,
        "law": law,
        "set": dict(settings),
        "kernel": platform.release(),
        "version": _core.__version__,
    }
    return json.dumps(facts).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What our law made of the events of the kernel's.

    Attributes:
        law: Its name.
        acks: Acknowledgements.
        losses: Losses and marks.
        connections: Connections.
        missed: Events that the file lacks.
        differences: Events that the two laws answered differently.
        first: The first of them: its place, connection, event, both windows and both classifications.
    """

    law: str
    acks: int
    losses: int
    connections: int
    missed: int
    differences: int
    first: tuple[int, int, str, list[list[int]], list[str]] | None = None

    def __bool__(self) -> bool:
        """Whether all decisions are equal, and no event is missing."""
        return not self.differences and not self.missed

    def __str__(self) -> str:
        counts = f"{self.acks} acknowledgements and {self.losses} losses of {self.connections} connections"
        if self.first is None:
            return f"{self.law}: {counts}: the same decisions" + (
                f"; {self.missed} events are missing" if self.missed else ""
            )
        place, connection, event, (theirs, ours), words = self.first
        return (
            f"{self.law}: {counts}: {self.differences} other decisions, the first at event {place}, {event} "
            f"of connection {connection}: window, credit and threshold {theirs} ({words[0]}) in the kernel, "
            f"{ours} ({words[1]}) here"
        )


def replay(path: Path) -> Replayed:
    """Give the events of a file to our law, and compare its decisions with the kernel's.

    Raises:
        UsageError: The file cannot be read, or is not one of events.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path}: {reason(error)}; expected a file that --record wrote", argument="name"
        ) from error
    facts, events = _parted(path, raw)
    return replayed(facts["law"], list(facts["set"].items()), events)


def replayed(law: str, settings: Sequence[tuple[str, str]], events: bytes) -> Replayed:
    """Give events to our law with these parameters, and compare its decisions with the kernel's."""
    under = scenario(law, settings)
    core = _core.Scenario.from_text(under.text, under.name, under.overrides)
    return Replayed(law, **core.replay(events))


def _parted(path: Path, raw: bytes) -> tuple[dict[str, Any], bytes]:
    line, _, events = raw.partition(b"\n")
    try:
        facts = json.loads(line)
        is_ours = facts["format"] == _FORMAT and facts["law"] in NAMES and isinstance(facts["set"], dict)
    except (ValueError, TypeError, KeyError):
        is_ours = False
    if not is_ours:
        raise UsageError(f"{path}: not a file of events; expected one that --record wrote", argument="name")
    if len(events) % _EVENT_BYTES:
        raise UsageError(
            f"{path}: {len(events)} bytes of events; expected a multiple of {_EVENT_BYTES}: the file is cut",
            argument="name",
        )
    return facts, events


def known() -> list[str]:
    """The laws that the kernel offers now."""
    from lasthop.realtime import tcp

    return tcp.laws()


def listing() -> list[list[str]]:
    """Each law of ours: its name, the kernel's name, whether it is loaded, and what it is."""
    there = known()
    return [
        [law, in_kernel(law), "loaded" if in_kernel(law) in there else "–", meaning]
        for law, meaning in LAWS.items()
    ]
