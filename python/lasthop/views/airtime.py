"""The airtime ledgers of a study: shares of the measured time, as bars of a figure and as tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError, nearest
from lasthop.base.table import Sheet
from lasthop.scenario.airtime import CLASSES, ledger, metric
from lasthop.stats.intervals import Interval, interval
from lasthop.views.groups import groups
from lasthop.views.names import names_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lasthop.study.study import Study


def links(study: Study) -> list[str]:
    """The 802.11 links of a study."""
    suffix = metric("", "idle").removeprefix("links.")
    names = (name.removeprefix("links.") for name in study.metrics() if name.startswith("links."))
    return [name.removesuffix(suffix) for name in names if name.endswith(suffix)]


def link_of(study: Study, figure: Mapping[str, Any]) -> str:
    """The link whose airtime a figure draws."""
    known = links(study)
    if not known:
        raise UsageError(
            f"figure {figure['id']}: {study.scenario.id} has no link of kind wifi; expected at least one"
        )
    link = str(figure.get("link", known[0]))
    if link not in known:
        raise UsageError(f"figure {figure['id']}: {link}: no such wifi link; {nearest(link, known)}")
    return link


@dataclass(frozen=True, slots=True)
class Bar:
    """One point of a study: its position along x, its line, and the shares of its classes."""

    point: int
    x: str
    label: str
    observer: str
    measured: float
    shares: dict[str, Interval]
    concurrent: Interval


def bars(study: Study, figure: Mapping[str, Any]) -> list[Bar]:
    """The bars of a figure of kind `airtime`, grouped by x; without x, one for each point.

    Shares are means over the replications, relative to the measured time.
    """
    found = _bars(study, figure, link_of(study, figure))
    if not found:
        raise UsageError(f"figure {figure['id']}: no finished run in {study.path}; expected at least one")
    return found


def _bars(study: Study, figure: Mapping[str, Any], link: str) -> list[Bar]:
    names = names_of(study.scenario, figure)
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
        ledger({metric(link, name): column[k] for name, column in columns.items()}, link, observer)
        for k in columns["idle"]
    ]
    runs = [run for run in runs if run.measured]
    if not runs:
        return None
    shares = {name: interval([run.share(run.seconds[name]) for run in runs]) for name in CLASSES}
    concurrent = interval([run.share(run.concurrent) for run in runs])
    return Bar(point, x, label, observer, runs[0].measured, shares, concurrent)


def heard_by(every: list[Bar]) -> str:
    """A description of what the bars of a figure have in common."""
    times = {round(bar.measured, 9) for bar in every}
    observers = list(dict.fromkeys(bar.observer for bar in every))
    time = f"{times.pop():g} s" if len(times) == 1 else "the measured time"
    who = observers[0] if len(observers) == 1 else "each observer"
    return f"share of {time} as observed by {who}"


def study_sheet(study: Study, figure: Mapping[str, Any]) -> Sheet | None:
    """The bars of a figure as a table, one row per class and one column per bar; `None` without bars."""
    every = _bars(study, figure, link_of(study, figure)) if links(study) else []
    if not every:
        return None
    head = [", ".join(part for part in (bar.x, bar.label) if part) or "the only point" for bar in every]
    rows = [
        [words, *(_percent(bar.shares[name]) for bar in every)]
        for name, words in CLASSES.items()
        if name != "block_ack" or any(bar.shares[name].mean for bar in every)
    ]
    rows.append(["concurrent, not in the sum", *(_percent(bar.concurrent) for bar in every)])
    counts = sorted({bar.shares["idle"].n for bar in every})
    n = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    about = f"airtime of {link_of(study, figure)}: {heard_by(every)}, mean ± half-width of the 95 % interval"
    return Sheet(f"{about}, n = {n}", ["class", *head], rows, is_flush=True)


def _percent(it: Interval) -> str:
    if it.mean is None:
        return "–"
    return f"{100 * it.mean:.2f} %" if not it.half else f"{100 * it.mean:.2f} ± {100 * it.half:.2f} %"


def study_json(study: Study) -> list[dict[str, Any]]:
    """The ledgers of all points of a study, for `show --json`."""
    found = []
    points = study.scenario.points()
    for link in links(study):
        for planned in study.plan:
            bar = _bar(study, planned.point, link, "", "")
            if bar is None:
                continue
            found.append(
                {
                    "link": link,
                    "point": points[planned.point],
                    "observer": bar.observer,
                    "measured_s": bar.measured,
                    "shares": {name: _columns(it) for name, it in bar.shares.items()},
                    "concurrent": _columns(bar.concurrent),
                }
            )
    return found


def _columns(it: Interval) -> dict[str, Any]:
    return {"mean": it.mean, "ci_low": it.low, "ci_high": it.high, "n": it.n}
