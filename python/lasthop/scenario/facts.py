"""Plain facts of a scenario: the cost of a run, and information unavailable to real protocols."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class RuleException(NamedTuple):
    """Information or space that a key grants and no real protocol has, such as TCP's timers by oracle.

    Attributes:
        key: The key that grants it, such as `links.cell.arq.timing`.
        label: The label in tables and figures of results made with it.
        meaning: Why no real protocol has it.
    """

    key: str
    label: str
    meaning: str


class Estimate(NamedTuple):
    """Upper bounds for one run.

    Attributes:
        events: The number of events that it may process.
        memory_bytes: The memory that it may need, in bytes.
    """

    events: int
    memory_bytes: int


def labels(exceptions: Iterable[RuleException]) -> list[str]:
    """The labels of exceptions, each once, in order."""
    return list(dict.fromkeys(exception.label for exception in exceptions))
