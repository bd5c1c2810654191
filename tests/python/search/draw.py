"""Random values by name: the same name gives the same values on any machine and any Python."""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")


class Draw:
    """A stream of random values. Of `random.Random` only `random` is used, which alone never changes."""

    def __init__(self, name: str) -> None:
        self._random = random.Random(name)

    def chance(self, probability: float) -> bool:
        return self._random.random() < probability

    def uniform(self, low: float, high: float) -> float:
        return low + (high - low) * self._random.random()

    def log(self, low: float, high: float) -> float:
        """Evenly over the orders of magnitude."""
        return math.exp(self.uniform(math.log(low), math.log(high)))

    def whole(self, low: int, high: int) -> int:
        """A whole number, both ends included."""
        return low + int(self._random.random() * (high - low + 1))

    def one(self, values: Sequence[T]) -> T:
        return values[int(self._random.random() * len(values))]

    def some(self, values: Sequence[T], count: int) -> list[T]:
        """This many different ones, or all, in the order drawn."""
        left = list(values)
        return [left.pop(int(self._random.random() * len(left))) for _ in range(min(count, len(left)))]

    def time(self, low_s: float, high_s: float) -> str:
        return amount(self.log(low_s, high_s) * 1e3, "ms")

    def rate(self, low_bps: float, high_bps: float) -> str:
        return amount(self.log(low_bps, high_bps) / 1e3, "kbit/s")

    def size(self, low: float, high: float) -> str:
        return f"{round(self.log(low, high))} B"

    def percent(self, low: float, high: float) -> str:
        return amount(self.log(low, high), "%")


def amount(value: float, unit: str) -> str:
    """Three digits with a unit, without an exponent."""
    digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 else 0
    return f"{value:.{digits}f} {unit}"
