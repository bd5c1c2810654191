"""The airtime of a medium as stacked bars, one per point, in per cent of the measured time.

The classes have the same colours in all figures: the palette of Okabe and Ito, and greys for the time in
which nothing is on the air. The legend lists them in the order of the stack.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import UsageError
from lasthop.figures.page import Page
from lasthop.scenario.airtime import CLASSES, Airtime
from lasthop.stats.intervals import Interval, counts
from lasthop.views.airtime import Bar, bars, heard_by, link_of
from lasthop.views.names import key_words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from lasthop.study.study import Study

COLOURS = {
    "data_payload": "#0072B2",
    "tcp_ack_payload": "#D55E00",
    "headers": "#56B4E9",
    "rts_cts": "#009E73",
    "mac_ack": "#F0E442",
    "block_ack": "#E69F00",
    "interframe": "#A6A6A6",
    "backoff": "#6E6E6E",
    "collision": "#CC79A7",
    "errored": "#000000",
    "idle": "#EDEDED",
}
# The same colours on a dark page.
DARK = {
    "data_payload": "#3E9BDC",
    "tcp_ack_payload": "#F0742B",
    "headers": "#86C9F2",
    "rts_cts": "#1FB88B",
    "mac_ack": "#F0E442",
    "block_ack": "#F2B134",
    "interframe": "#8A8F98",
    "backoff": "#626872",
    "collision": "#E08DBB",
    "errored": "#FFFFFF",
    "idle": "#2B3038",
}
_ON_DARK = {"data_payload", "tcp_ack_payload", "rts_cts", "backoff", "errored"}

# More bars than this cannot be distinguished on a page.
_MOST_BARS = 40
# Shares below this (in per cent) leave no space for a number in the bar.
_LEAST_WRITTEN = 4.0
# Concurrent airtime below this (in per cent) is not written above a bar.
_LEAST_CONCURRENT = 0.05
# Inches per bar and per letter of its name; if the bars would be wider than the last, names are written
# upright.
_SLOT, _LETTER, _WIDEST = 0.62, 0.085, 9.0
# Inches for axis and side legend, for the legend alone, and for the narrowest bar with numbers.
_MARGINS, _LEGEND, _LEAST_SLOT = 2.4, 1.6, 0.36
# A bar with a longer name is labelled with the number of its point.
_LONGEST_NAME = 40


def draw_bars(study: Study, figure: Mapping[str, Any], page: Page | None = None) -> Figure:
    """Draw a figure of kind `airtime` of a study."""
    every = bars(study, figure)
    if len(every) > _MOST_BARS:
        raise UsageError(
            f"figure {figure['id']}: {len(every)} bars; expected at most {_MOST_BARS} "
            "(select points by where in a [[figure]])"
        )
    link = link_of(study, figure)
    title = figure.get("title") or f"{study.scenario.title or study.scenario.id}: airtime of {link}"
    key = str(figure.get("x", ""))
    x_label = figure.get("x-label") or key_words(key)
    n = counts(bar.shares["idle"].n for bar in every)
    return _draw(every, str(title), str(x_label), f"{heard_by(every)}, mean, {n}", page or Page())


def draw_run(ledgers: Sequence[Airtime], title: str, page: Page | None = None) -> Figure:
    """Draw the ledgers of one run, one bar for each link."""
    every = [
        Bar(0, one.link, "", one.observer, one.measured, shares, _known(one.share(one.concurrent)))
        for one in ledgers
        for shares in [{name: _known(one.share(one.seconds.get(name, 0.0))) for name in CLASSES}]
    ]
    return _draw(every, title, "link", f"{heard_by(every)}, one run", page or Page())


def _known(share: float | None) -> Interval:
    return Interval(share, None, None, 0 if share is None else 1)


def _draw(every: list[Bar], title: str, x_label: str, about: str, page: Page) -> Figure:
    places, centres = _places(every)
    slot = max(_SLOT, _LETTER * max(len(bar.label or bar.x) for bar in every))
    upright = slot * places[-1] > _WIDEST
    natural = max(5.0, _MARGINS + (_SLOT if upright else slot) * (places[-1] + 1.0))
    # A figure too narrow for a side legend has the legend above, which leaves more space for the bars.
    beside = page.legend in ("best", "outside") and (page.width is None or page.width >= natural)
    if page.width is not None:
        room = (page.width - (_MARGINS if beside else _MARGINS - _LEGEND)) / (places[-1] + 1.0)
        upright = upright or room < _LETTER * max(len(bar.label or bar.x) for bar in every)
        slot = min(slot, room)
    height = 4.6 + (_LETTER * max(map(len, map(_name, every))) if upright else 0.0)
    with page.sheet(natural, height) as (drawn, (axes,)):
        patches = _stack(axes, every, places, numbers=slot >= _LEAST_SLOT)
        _name_bars(axes, every, places, centres, x_label, upright=upright)
        concurrent = any(_percent(bar.concurrent) >= _LEAST_CONCURRENT for bar in every)
        axes.set_ylabel("share of the time (%)")
        axes.set_ylim(0, 100)
        edge = 0.6 if len(every) > 1 else 1.2
        axes.set_xlim(-edge, places[-1] + edge)
        axes.grid(visible=False, axis="x")
        if beside:
            # The last one drawn is on top.
            axes.legend(patches[::-1], [patch.get_label() for patch in patches[::-1]], **_BESIDE)
        about += ", above the bars: concurrent airtime" if concurrent else ""
        above = replace(page, legend="none" if page.legend == "none" else "above")
        above.finish(drawn, [axes], title, about, legend=not beside, above_axes=12.0 if concurrent else 0.0)
    return drawn


_BESIDE: dict[str, Any] = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5)}


def _places(every: list[Bar]) -> tuple[list[float], dict[str, float]]:
    """The position of each bar, with a gap between one x and the next, and the middle of each x."""
    has_groups = any(a.x == b.x for a, b in pairwise(every))
    places = [0.0]
    for before, bar in pairwise(every):
        places.append(places[-1] + (1.6 if has_groups and bar.x != before.x else 1.0))
    members: dict[str, list[float]] = {}
    for bar, place in zip(every, places, strict=True):
        members.setdefault(bar.x, []).append(place)
    return places, {x: (own[0] + own[-1]) / 2 for x, own in members.items()}


def _percent(it: Interval) -> float:
    return 100.0 * (it.mean or 0.0)


def _stack(axes: Axes, every: list[Bar], places: list[float], *, numbers: bool) -> list[Any]:
    bottoms = [0.0] * len(every)
    patches = []
    for name, words in CLASSES.items():
        heights = [_percent(bar.shares[name]) for bar in every]
        if not any(heights):
            continue
        patches.append(
            axes.bar(
                places,
                heights,
                width=0.84,
                bottom=bottoms,
                color=COLOURS[name],
                edgecolor="white",
                linewidth=0.4,
                label=words,
            )
        )
        for place, bottom, height in zip(places, bottoms, heights, strict=True):
            if numbers and height >= _LEAST_WRITTEN:
                ink = "white" if name in _ON_DARK else "black"
                middle = bottom + height / 2
                axes.text(place, middle, f"{height:.1f}", ha="center", va="center", fontsize=7, color=ink)
        bottoms = [bottom + height for bottom, height in zip(bottoms, heights, strict=True)]
    for bar, place in zip(every, places, strict=True):
        beside = _percent(bar.concurrent)
        if beside >= _LEAST_CONCURRENT:
            axes.text(place, 100.8, f"+{beside:.1f}", ha="center", va="bottom", fontsize=6.5, color="0.35")
    return patches


def _name_bars(
    axes: Axes,
    every: list[Bar],
    places: list[float],
    centres: dict[str, float],
    x_label: str,
    *,
    upright: bool,
) -> None:
    """Label each bar below it, and each x below its bars; vertically if the names are long."""
    axes.tick_params(axis="x", length=0)
    if upright:
        axes.set_xticks(places, [_name(bar) for bar in every], rotation=90)
        axes.set_xlabel(x_label)
        return
    axes.set_xticks(places, [bar.label or bar.x for bar in every])
    if any(bar.label and bar.x for bar in every):
        below = axes.secondary_xaxis(0.0)
        below.set_xticks(list(centres.values()), [f"\n{x}" for x in centres])
        below.tick_params(axis="x", length=0)
        below.set_xlabel(x_label)
    else:
        axes.set_xlabel(x_label)


def _name(bar: Bar) -> str:
    whole = ", ".join(part for part in (bar.x, bar.label) if part)
    return whole if len(whole) <= _LONGEST_NAME else f"point {bar.point}"
