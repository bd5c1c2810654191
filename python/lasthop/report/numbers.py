"""Numbers and line styles for a page: as short as their precision allows."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from lasthop.base.jsontext import clean
from lasthop.figures.style import COLOURS, DARK, Look

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

# Finer than any interval, and the same number as in the recorded results of papers.
DIGITS = 7


# The patterns of matplotlib to which `Look.dashes` refers, in multiples of the line width.
_PATTERNS = {"-": (), "--": (3.7, 1.6), "-.": (6.4, 1.6, 1.0, 1.6), ":": (1.0, 1.65)}


def number(value: float | None, digits: int = DIGITS) -> float | int | None:
    """A number rounded to `digits` significant digits; `None` if it is not finite.

    >>> number(4769230.123456), number(2.0), number(float("nan"))
    (4769230, 2, None)
    """
    if value is None or not math.isfinite(value):
        return None
    rounded = float(f"{value:.{digits}g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded


def column(values: Iterable[float | None], digits: int = DIGITS) -> list[Any]:
    """Numbers rounded to `digits` significant digits."""
    return [number(value, digits) for value in values]


def thinned(values: Sequence[float], most: int) -> list[int]:
    """The indices of at most `most` values: both ends, and the minimum and maximum of each stretch.

    >>> thinned([1.0, 2.0, 3.0], 10)
    [0, 1, 2]
    >>> thinned([0.0, 1.0, 9.0, 1.0, -5.0, 1.0, 2.0, 1.0, 0.0, 0.0], 6)
    [0, 2, 4, 6, 8, 9]
    """
    count = len(values)
    if count <= most:
        return list(range(count))
    stretches = max(1, (most - 2) // 2)
    kept = {0, count - 1}
    for k in range(stretches):
        begin, end = k * count // stretches, (k + 1) * count // stretches
        places = [i for i in range(begin, end) if math.isfinite(values[i])] or [begin]
        kept |= {min(places, key=values.__getitem__), max(places, key=values.__getitem__)}
    return sorted(kept)


def embedded(value: Any) -> str:
    r"""A value as JSON for a script element of HTML; nothing in it can end the element.

    >>> embedded({"title": "</script><b>&"})
    '{"title":"\\u003c/script\\u003e\\u003cb\\u003e\\u0026"}'
    """
    text = json.dumps(clean(value), allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return text


def look(given: Look) -> dict[str, Any]:
    """A look with its colour on a dark page, and its dashes in multiples of the line width."""
    dashes = given.dashes
    pattern = _PATTERNS[dashes] if isinstance(dashes, str) else dashes[1]
    return {
        "light": given.colour,
        "dark": DARK[COLOURS.index(given.colour)],
        "marker": given.marker,
        "dash": list(pattern),
    }
