"""The ledger of airtime: how the time of an 802.11 medium was used, as one station observed it.

Every second measured is in exactly one class, so that the classes of a ledger add up to the run
without its warm-up. Concurrent airtime is that of frames on the air at the same time as another,
or out of the observer's hearing; it is no part of the sum.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError, nearest
from lasthop.base.quantity import human
from lasthop.base.table import grid
from lasthop.stats.intervals import Interval, interval
from lasthop.views.groups import groups

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lasthop.scenario.scenario import Run
    from lasthop.study.study import Study

# In the order in which they are shown and stacked, with what readers call them.
CLASSES = {
    "data_payload": "data",
    "tcp_ack_payload": "TCP ACK",
    "headers": "headers, preambles",
    "rts_cts": "RTS, CTS",
    "mac_ack": "MAC ACK",
    "interframe": "interframe spaces",
    "backoff": "backoff",
    "collision": "collisions",
    "errored": "errored frames",
    "idle": "idle",
}


def metric(link: str, name: str) -> str:
    """The metric of a class, or of `concurrent`.

    >>> metric("wlan", "idle")
    'links.wlan.airtime_idle_s'
    """
    return f"links.{link}.airtime_{name}_s"


@dataclass(frozen=True, slots=True)
class Airtime:
    """One ledger: seconds by class, and those used concurrently."""

    link: str
    observer: str
    seconds: dict[str, float]
    concurrent: float

    @property
    def measured(self) -> float:
        """The time measured: all classes together."""
        return math.fsum(self.seconds.values())

    def share(self, seconds: float) -> float | None:
        """So many seconds as a share of the time measured."""
        return seconds / self.measured if self.measured else None

    def as_dict(self) -> dict[str, Any]:
        """The ledger as `run --json` prints it."""
        return {
            "link": self.link,
            "observer": self.observer,
            "measured_s": self.measured,
            "classes": {
                name: {"time_s": seconds, "share": self.share(seconds)}
                for name, seconds in self.seconds.items()
            },
            "concurrent_s": self.concurrent,
        }

    def __str__(self) -> str:
        rows = [[CLASSES[name], *self._cells(seconds)] for name, seconds in self.seconds.items()]
        rows.append(["sum", *self._cells(self.measured)])
        rows.append(["concurrent, beside the sum", *self._cells(self.concurrent)])
        return f"airtime of {self.link} as {self.observer} observed it\n" + _right(
            ["class", "time", "share"], rows
        )

    def _cells(self, seconds: float) -> list[str]:
        share = self.share(seconds)
        return [human(seconds, "s"), "–" if share is None else f"{100 * share:.2f} %"]


def _right(head: list[str], rows: list[list[str]]) -> str:
    """A grid whose columns behind the first are flush right."""
    lines = [head, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    flush = [[line[0], *(t.rjust(w) for t, w in zip(line[1:], widths[1:], strict=True))] for line in lines]
    return grid(flush[0], flush[1:])


def ledgers(run: Run) -> list[Airtime]:
    """The ledgers of a run, one for each 802.11 link."""
    return [_ledger(run.metrics, link, observer) for link, observer in run.scenario.observers(run.point)]


def _ledger(metrics: Mapping[str, float | None], link: str, observer: str) -> Airtime:
    seconds = {name: metrics[metric(link, name)] or 0.0 for name in CLASSES}
    return Airtime(link, observer, seconds, metrics[metric(link, "concurrent")] or 0.0)


def from_dict(found: Mapping[str, Any]) -> Airtime:
    """A ledger as `as_dict` wrote it."""
    seconds = {name: float(entry["time_s"]) for name, entry in found["classes"].items()}
    return Airtime(str(found["link"]), str(found["observer"]), seconds, float(found["concurrent_s"]))


def links(study: Study) -> list[str]:
    """The 802.11 links of a study."""
    suffix = metric("", "idle").removeprefix("links.")
    names = (name.removeprefix("links.") for name in study.metrics() if name.startswith("links."))
    return [name.removesuffix(suffix) for name in names if name.endswith(suffix)]


def link_of(study: Study, figure: Mapping[str, Any]) -> str:
    """The link whose airtime a figure draws."""
    known = links(study)
    if not known:
        raise UsageError(f"figure {figure['id']}: {study.scenario.id} has no link of kind wifi; expected one")
    link = str(figure.get("link", known[0]))
    if link not in known:
        raise UsageError(f"figure {figure['id']}: {link}: no such wifi link; {nearest(link, known)}")
    return link


@dataclass(frozen=True, slots=True)
class Bar:
    """One point of a study: its place along x, its line, and the shares of its classes."""

    point: int
    x: str
    label: str
    observer: str
    measured: float
    shares: dict[str, Interval]
    concurrent: Interval


def bars(study: Study, figure: Mapping[str, Any]) -> list[Bar]:
    """The bars of a figure of kind `airtime`, those of one x together; without x, one for each point.

    Shares are means over the replications, of each class in the time measured.
    """
    found = _bars(study, figure, link_of(study, figure))
    if not found:
        raise UsageError(f"figure {figure['id']}: no finished run in {study.path}; expected some")
    return found


def _bars(study: Study, figure: Mapping[str, Any], link: str) -> list[Bar]:
    names = figure.get("names") or {}
    x = str(figure.get("x", ""))
    if x and x not in study.points()[0]:
        raise UsageError(f"figure {figure['id']}: {x} is not swept in {study.path}; expected it to vary")
    found = []
    for group in groups(study, x, figure.get("lines"), figure.get("where") or {}, None, names):
        for text, point in zip(group.xs, group.points, strict=True):
            bar = _bar(study, point, link, names.get(text, text), group.label)
            if bar is not None:
                found.append(bar)
    xs = list(dict.fromkeys(bar.x for bar in found))
    return sorted(found, key=lambda bar: xs.index(bar.x))


def _bar(study: Study, point: int, link: str, x: str, label: str) -> Bar | None:
    columns = {name: study.values(point, metric(link, name)) for name in (*CLASSES, "concurrent")}
    observer = dict(study.scenario.observers(point)).get(link)
    if observer is None:
        return None
    runs = [
        _ledger({metric(link, name): column[k] for name, column in columns.items()}, link, observer)
        for k in columns["idle"]
    ]
    runs = [run for run in runs if run.measured]
    if not runs:
        return None
    shares = {name: interval([run.share(run.seconds[name]) for run in runs]) for name in CLASSES}
    concurrent = interval([run.share(run.concurrent) for run in runs])
    return Bar(point, x, label, observer, runs[0].measured, shares, concurrent)


def heard_by(every: list[Bar]) -> str:
    """What the bars of a figure have in common, in words."""
    times = {round(bar.measured, 9) for bar in every}
    observers = list(dict.fromkeys(bar.observer for bar in every))
    time = f"{times.pop():g} s" if len(times) == 1 else "the time measured"
    who = observers[0] if len(observers) == 1 else "each observer"
    return f"share of {time} as {who} observed it"


def study_text(study: Study, figure: Mapping[str, Any]) -> str:
    """The bars of a figure as a table: classes down the side, one column for each bar; empty without any."""
    every = _bars(study, figure, link_of(study, figure)) if links(study) else []
    if not every:
        return ""
    head = [", ".join(part for part in (bar.x, bar.label) if part) or "the only one" for bar in every]
    rows = [[words, *(_percent(bar.shares[name]) for bar in every)] for name, words in CLASSES.items()]
    rows.append(["concurrent, beside the sum", *(_percent(bar.concurrent) for bar in every)])
    counts = sorted({bar.shares["idle"].n for bar in every})
    n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    about = f"airtime of {link_of(study, figure)}: {heard_by(every)}, mean ± half-width of the 95 % interval"
    return f"{about}, n = {n}\n" + _right(["class", *head], rows)


def _percent(it: Interval) -> str:
    if it.mean is None:
        return "–"
    return f"{100 * it.mean:.2f} %" if it.half is None else f"{100 * it.mean:.2f} ± {100 * it.half:.2f} %"


def study_json(study: Study) -> list[dict[str, Any]]:
    """The ledgers of all points of a study, for `show --json`."""
    found = []
    points = study.scenario.points()
    for link in links(study):
        for index, _, _ in study.plan:
            bar = _bar(study, index, link, "", "")
            if bar is None:
                continue
            found.append(
                {
                    "link": link,
                    "point": points[index],
                    "observer": bar.observer,
                    "measured_s": bar.measured,
                    "shares": {name: _columns(it) for name, it in bar.shares.items()},
                    "concurrent": _columns(bar.concurrent),
                }
            )
    return found


def _columns(it: Interval) -> dict[str, Any]:
    return {"mean": it.mean, "ci_low": it.low, "ci_high": it.high, "n": it.n}
