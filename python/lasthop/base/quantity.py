"""Reading and writing numbers with units, for tables, axes and options."""

from __future__ import annotations

import json
import math
import re
from functools import cache

from lasthop import _core

_QUANTITY = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*$")
_PREFIXES = {-4: "p", -3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T"}
_SECONDS = {"": 1.0, "s": 1.0, "ms": 1e-3, "us": 1e-6, "min": 60.0, "h": 3600.0}


def split(text: str) -> tuple[float, str] | None:
    """The number and the unit of a quantity; `None` for a word.

    >>> split("2.5 Mbit/s"), split("1 %"), split("sack")
    ((2.5, 'Mbit/s'), (1.0, '%'), None)
    """
    match = _QUANTITY.match(text)
    return (float(match[1]), match[2]) if match else None


def seconds(text: str) -> float | None:
    """A time in seconds; a bare number counts as seconds; `None` if it is not a time.

    >>> seconds("90 s"), seconds("2 min"), seconds("soon")
    (90.0, 120.0, None)
    """
    parts = split(text)
    if parts is None or parts[1] not in _SECONDS:
        return None
    return parts[0] * _SECONDS[parts[1]]


def share(text: str) -> float | None:
    """A share of one, written as a percentage or as a number; `None` if it is neither.

    >>> share("2 %"), share("0.02"), share("two")
    (0.02, 0.02, None)
    """
    parts = split(text)
    if parts is None or parts[1] not in ("", "%"):
        return None
    return parts[0] / 100 if parts[1] == "%" else parts[0]


def metric_unit(metric: str) -> str:
    """The unit of a metric; empty for shares, and for a metric of another version.

    >>> metric_unit("flows.main.goodput_bps"), metric_unit("links.a.drops_queue"), metric_unit("jain_index")
    ('bit/s', 'packets', '')
    """
    return _registered(metric)[0]


def shown_unit(metric: str) -> str:
    """The unit in which a table shows a metric: per cent for shares.

    >>> shown_unit("flows.main.goodput_bps"), shown_unit("links.a.utilisation"), shown_unit("jain_index")
    ('bit/s', '%', '')
    """
    return "%" if metric.endswith(("_share", ".utilisation")) else metric_unit(metric)


def metric_words(metric: str) -> str:
    """What a metric measures, in words and without its unit.

    >>> metric_words("flows.main.goodput_bps"), metric_words("links.a.drops_queue")
    ('goodput', 'drops queue')
    """
    return _registered(metric)[1]


@cache
def _registered(metric: str) -> tuple[str, str]:
    """The unit and the words of a metric; all metrics that can have this name have the same."""
    for entry in json.loads(_core.metric(metric)):
        return str(entry["unit"]), str(entry["label"])
    return "", metric.rsplit(".", 1)[-1].replace("_", " ")


def labelled(words: str, unit: str) -> str:
    """Words for an axis or a heading, with the unit unless they name it themselves.

    >>> labelled("goodput", "Mbit/s"), labelled("timeouts spurious", "timeouts"), labelled("utilisation", "")
    ('goodput (Mbit/s)', 'timeouts spurious', 'utilisation')
    """
    return f"{words} ({unit})" if unit and unit not in words.split() else words


def united(label: str, unit: str) -> str:
    """A label given for an axis, with the unit unless it already has it.

    >>> united("coherence time", "ms"), united("packet error rate (%)", "%"), united("distance in m", "m")
    ('coherence time (ms)', 'packet error rate (%)', 'distance in m')
    """
    return label if "(" in label else labelled(label, unit)


def prefix(largest: float, unit: str) -> tuple[float, str]:
    """A factor and the prefixed unit in which `largest` reads well.

    >>> prefix(4.8e6, "bit/s")
    (1000000.0, 'Mbit/s')
    >>> prefix(30.0, "packets"), prefix(5000.0, "s")
    ((1.0, 'packets'), (1.0, 's'))
    """
    if unit not in ("bit/s", "s", "B") or largest == 0 or not math.isfinite(largest):
        return 1.0, unit
    power = max(-4, min(4, math.floor(math.log10(abs(largest)) / 3 + 1e-9)))
    if unit == "s":
        power = min(power, 0)
    return 10.0 ** (3 * power), _PREFIXES[power] + unit


def digits(value: float | None, significant: int = 4) -> str:
    """A number in plain notation with this many significant digits; a dash for `None`.

    >>> digits(0.92134), digits(1234567.0), digits(None), digits(0.0)
    ('0.9213', '1234567', '–', '0')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if value == 0:
        return "0"
    if abs(value) >= 1e15 or abs(value) < 1e-6:
        return f"{value:.{significant - 1}e}"
    decimals = max(0, significant - 1 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}" if decimals < 12 else f"{value:.{significant}g}"


def human(value: float | None, unit: str, significant: int = 4) -> str:
    """A value with its unit and a fitting prefix.

    >>> human(4769230.0, "bit/s"), human(0.0935, "s"), human(None, "s")
    ('4.769 Mbit/s', '93.50 ms', '–')
    """
    if value is None or not math.isfinite(value):
        return "–"
    if float(value).is_integer() and unit not in ("bit/s", "s", "B"):
        return f"{int(value)} {unit}".rstrip()
    factor, name = prefix(value, unit)
    return f"{digits(value / factor, significant)} {name}".rstrip()


def duration(seconds_: float) -> str:
    """A time span, rounded for display.

    >>> duration(0.42), duration(75), duration(7300)
    ('0.4 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds_ < 10:
        return f"{seconds_:.1f} s"
    whole = round(seconds_)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
