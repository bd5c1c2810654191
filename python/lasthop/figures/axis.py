"""The horizontal axis of a metric against a swept key: numbers in one unit, or evenly spaced words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lasthop.base.quantity import split, united
from lasthop.figures.style import decades, whole_ticks
from lasthop.views.names import key_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from lasthop.scenario.scenario import Scenario

# If the words have more characters than this in total, they are written at an angle.
_LEVEL = 62


class KeyAxis:
    """The positions of the values of a swept key.

    Attributes:
        words: The values if they are not numbers or are to be evenly spaced; otherwise empty.
        label: The label given, or the key in words, with the unit.
    """

    def __init__(
        self,
        scenario: Scenario,
        key: str,
        texts: Sequence[str],
        *,
        even: bool = False,
        label: str | None = None,
        scale: str | None = None,
    ) -> None:
        self._scenario, self._key = scenario, key
        numbers = {text: scenario.numeric(key, text) for text in texts}
        known = {text: n for text, n in numbers.items() if n is not None}
        is_words = len(known) < len(numbers)
        self.factor, unit = (1.0, "") if is_words else _unit(known)
        self.words: list[str] = []
        if is_words:
            self.words = list(dict.fromkeys(texts))
        elif even:
            self.words = sorted(known, key=lambda text: known[text])
        self.label = united(
            label or key_words(key, [swept for keys, _ in scenario.axes() for swept in keys]), unit
        )
        low, high = min(known.values(), default=0.0), max(known.values(), default=0.0)
        self.spans_decades = (
            not self.words and low > 0 and (high / low >= 1000 if scale is None else scale == "log")
        )
        self._numbers = [n / self.factor for n in known.values()]
        self._is_words = is_words

    def at(self, text: str) -> float:
        """The position of a value, in the unit of the axis."""
        if self.words:
            return float(self.words.index(text))
        return (self._scenario.numeric(self._key, text) or 0.0) / self.factor

    def label_ticks(self, axes: Axes, names: Mapping[str, str], width: float) -> None:
        """Label the axis of a figure with this width in inches."""
        if self.words:
            shown = [
                names.get(word, word if self._is_words else f"{self._number(word):g}") for word in self.words
            ]
            axes.set_xticks(range(len(shown)), shown)
            if sum(map(len, shown)) + 2 * len(shown) > _LEVEL * width / 6.0:
                axes.tick_params(axis="x", labelrotation=30)
                for tick in axes.get_xticklabels():
                    tick.set_horizontalalignment("right")
                    tick.set_rotation_mode("anchor")
            axes.grid(visible=False, axis="x")
            axes.set_xlim(-0.6, len(shown) - 0.4)
        elif self.spans_decades:
            axes.set_xscale("log")
            decades(axes.xaxis)
        else:
            whole_ticks(axes.xaxis, self._numbers)

    def _number(self, text: str) -> float:
        return (self._scenario.numeric(self._key, text) or 0.0) / self.factor


def _unit(numbers: Mapping[str, float]) -> tuple[float, str]:
    """The size in SI and the name of the unit in which the largest value is written."""
    text = max(numbers, key=lambda t: numbers[t])
    parts = split(text)
    value = numbers[text]
    if parts is None or not parts[0] or not value:
        return 1.0, parts[1] if parts else ""
    return value / parts[0], parts[1]
