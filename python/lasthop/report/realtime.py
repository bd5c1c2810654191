"""The charts of a network in real time: rates, delays, queues and airtime of the last two minutes."""

from __future__ import annotations

import math
import threading
from collections import deque
from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lasthop.base.quantity import prefix
from lasthop.figures.airtime import COLOURS, DARK
from lasthop.figures.style import looks
from lasthop.report.curves import curve, curves
from lasthop.report.page import STYLES
from lasthop.report.sections import card
from lasthop.report.sheet import sheet
from lasthop.report.watch import SCRIPTS
from lasthop.scenario.airtime import CLASSES, ledgers
from lasthop.views.timeline import Line

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    Metrics = Mapping[str, float | None]
    Lines = dict[str, list[float]]

# The samples that are kept.
_MOST = 240
_WAIT_MS = 500
_LINE = {"marker": "o", "dash": []}
_COLOURS = {words: {"light": COLOURS[name], "dark": DARK[name]} for name, words in CLASSES.items()}
_WORDS = {
    "gone": "The network does not answer: it has ended. The page keeps what it has.",
    "done": "The network has ended, and so has the server of this page.",
}


class Charts:
    """The samples of a network, and the page that shows them.

    Samples come in one thread, pages ask in theirs.
    """

    def __init__(self, title: str, observers: Sequence[tuple[str, str]]) -> None:
        self._title = title
        self._observers = observers
        self._samples: deque[tuple[float, Metrics]] = deque(maxlen=_MOST)
        self._version = 0
        self._is_done = False
        self._changes = threading.Lock()

    def take(self, at_s: float, metrics: Metrics) -> None:
        """A sample: the time, and the metrics since the last one."""
        with self._changes:
            self._samples.append((at_s, metrics))
            self._version += 1

    def finish(self) -> None:
        """The network has ended."""
        with self._changes:
            self._is_done = True
            self._version += 1

    def page(self) -> str:
        """The page, which requests its data."""
        slots = {
            "title": escape(self._title),
            "what": "network",
            "first": "The charts follow the first packets.",
            "foot": "Each value is that of half a second. Delays are means of packets in the network.",
        }
        return sheet("watch.html", (*STYLES, "watch.css"), SCRIPTS, slots, connects="'self'")

    def data(self, known: int) -> dict[str, Any]:
        """The time, and the charts if they are newer than those of a page.

        Args:
            known: The version that the page has.
        """
        with self._changes:
            version, samples, is_done = self._version, list(self._samples), self._is_done
        at_s = samples[-1][0] if samples else 0.0
        found: dict[str, Any] = {
            "version": version,
            "state": "done" if is_done else "running",
            "where": "The network has ended" if is_done else "The network runs",
            "count": f"{at_s:.1f} s",
            "pace": "",
            "words": _WORDS,
            "wait": _WAIT_MS,
        }
        if version == known or not samples:
            return found
        head = f'<p class="eyebrow">In real time</p><h1>{escape(self._title)}</h1>'
        drawn = [one for one in self._charts(samples) if one["panels"][0]["series"]]
        figures = [{"card": card(0, place, one), "chart": one} for place, one in enumerate(drawn)]
        return found | {"hero": head, "figures": figures}

    def _charts(self, samples: Sequence[tuple[float, Metrics]]) -> list[dict[str, Any]]:
        times = [at for at, _ in samples]
        every = [metrics for _, metrics in samples]
        charts = [
            _chart("rate", "Rate", "bit/s", times, _lines(every, "flows.", ".throughput_bps")),
            _chart("delay", "Delay in the network", "s", times, _lines(every, "flows.", ".delay_mean_s")),
            _chart("queue", "Queues", "packets", times, _lines(every, "links.", ".queue_mean_packets")),
        ]
        for place, (link, observer) in enumerate(self._observers):
            shares = _airtime(every, self._observers, place)
            title = f"Airtime of {link}, as {observer} hears it"
            charts.append(_chart(f"airtime-{link}", title, "%", times, shares, _COLOURS))
        return charts


def _lines(samples: Sequence[Metrics], before: str, behind: str) -> Lines:
    """The metrics of one kind by the names of their flows or links, without those that are always zero."""
    names = [name for name in samples[-1] if name.startswith(before) and name.endswith(behind)]
    return _used(
        {
            name.removeprefix(before).removesuffix(behind): [metrics.get(name) for metrics in samples]
            for name in names
        }
    )


def _airtime(samples: Sequence[Metrics], observers: Sequence[tuple[str, str]], place: int) -> Lines:
    """The shares of the classes of airtime on one link, in per cent."""
    books = [ledgers(dict(metrics), list(observers))[place] for metrics in samples]
    return _used(
        {
            words: [book.share(100.0 * book.seconds.get(name, 0.0)) for book in books]
            for name, words in CLASSES.items()
        }
    )


def _used(lines: Mapping[str, Sequence[float | None]]) -> Lines:
    """The lines with a value that is not zero; what was not measured is not a number."""
    return {
        name: [math.nan if value is None else value for value in values]
        for name, values in lines.items()
        if any(values)
    }


def _chart(
    ident: str,
    title: str,
    unit: str,
    times: Sequence[float],
    lines: Lines,
    colours: Mapping[str, dict[str, str]] = MappingProxyType({}),
) -> dict[str, Any]:
    """Lines over time as data for the page; `colours` has one for light and one for dark pages."""
    largest = max((abs(v) for values in lines.values() for v in values if math.isfinite(v)), default=0.0)
    factor, shown = (1.0, unit) if unit in ("packets", "%") else prefix(largest, unit)
    series = [
        curve(Line(name, list(times), values, [], []), factor, own, _MOST, steps=False)
        for (name, values), own in zip(lines.items(), looks({}, list(lines), {}), strict=True)
    ]
    for one in series if colours else []:
        one["look"] = _LINE | colours[one["name"]]
    panel = {"label": f"{title} ({shown})", "unit": shown, "log": False, "floats": False, "series": series}
    head = {"id": ident, "kind": "time", "title": title, "notes": [], "tables": []}
    return head | curves("", ("time (s)", "s"), (times[0], times[-1]), [panel])
