"""The result of a study in one sentence: the gain of the alternative of interest over the first one.

The alternative of interest is the scheme of the paper to which the scenario belongs. If the scheme is not
among the alternatives, it is the last one of the sweep or, among more than four, the one with the greatest
gain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.quantity import digits, human, metric_unit, metric_words, prefix
from lasthop.scenario.description import metrics_of, panels_of
from lasthop.stats.intervals import FEWEST, Interval, interval
from lasthop.views.gains import Gain, gains, short
from lasthop.views.groups import matches
from lasthop.views.names import metric_labels
from lasthop.views.summary import telling

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lasthop.study.study import Study

# Metrics for which a greater value means "carries more", and those for which a smaller one means "finishes
# sooner".
_CARRIES = ("goodput_bps", "throughput_bps", "transfer_bps")
_FINISHES = ("completion_s", "acknowledged_s")
# From this ratio on, a gain is stated as a multiple instead of in per cent.
_TIMES = 3.0
# Longer descriptions of a point are omitted.
_LONGEST = 60
# With at most this many alternatives, the last one is taken as the scheme in question.
_FEW = 4


@dataclass(frozen=True, slots=True)
class Headline:
    """The result in words, with its basis, and all alternatives.

    Attributes:
        text: The sentence.
        about: The quantity, how it was averaged, and its range over the points.
        gains: Every alternative over the first one, in the order of the sweep; empty if nothing is compared.
        chosen: The index of the alternative described by the sentence.
        title: The title of the figure to which the sentence refers; empty if there is only one.
    """

    text: str
    about: str
    gains: tuple[Gain, ...] = ()
    chosen: int = 0
    title: str = ""


def headline(study: Study) -> Headline:
    """The result of a study."""
    if not study.metrics():
        return Headline("No run of this study has finished.", f"{study.size} runs are planned.")
    figure, metric = _figure(study)
    found = gains(study, figure, metric) if metric else []
    if not found:
        return _level(study, figure, metric)
    scheme = study.scenario.paper.partition("/")[0]
    # A scenario names its scheme last; if many are compared, the result is the one with the greatest gain.
    most = max(range(len(found)), key=lambda i: found[i].gain.mean or 0.0)
    other = len(found) - 1 if len(found) <= _FEW else most
    chosen = next((i for i, one in enumerate(found) if one.value == scheme), other)
    one = found[chosen]
    title = str(figure.get("title", "")) if len(study.scenario.figures()) > 1 else ""
    return Headline(sentence(one), _about(study, one), tuple(found), chosen, title)


def _figure(study: Study) -> tuple[Mapping[str, Any], str]:
    """The first figure that draws a known metric, or else the first figure; and the metric."""
    known = study.metrics()
    figures = [
        figure
        for figure in study.scenario.figures()
        if any(
            matches(study, planned.point, point, figure.get("where") or {})
            for planned, point in zip(study.plan, study.points(), strict=True)
        )
    ]
    for figure in figures:
        drawn = [metric for metric in metrics_of(figure)[:1] if metric in known and "among" not in figure]
        if drawn:
            return figure, drawn[0]
    first = next((result.row.metrics for result in study.results() if result.row.metrics), {})
    chosen = telling(first)
    # For a transfer that ends, the time is informative; what it carries is its size.
    for words in (*_FINISHES, *_CARRIES):
        own = [name for name in chosen if name.endswith(words)]
        if own:
            return next(iter(figures), {}), own[0]
    return next(iter(figures), {}), chosen[0] if chosen else known[0]


def sentence(one: Gain) -> str:
    """A gain in words.

    >>> def gain(mean, low, high, metric="flows.a.goodput_bps", n=10):
    ...     it = Interval(mean, low, high, n)
    ...     return sentence(Gain("agents.a.kind", "LLE-TCP", "no agent", "", True, metric, True, it, 4))
    >>> gain(0.18, 0.17, 0.19)
    'LLE-TCP carries 18 % more than no agent, 17 to 19, n = 10'
    >>> gain(-0.121, -0.124, -0.118)
    'LLE-TCP carries 12.1 % less than no agent, 11.8 to 12.4, n = 10'
    >>> gain(0.01, -0.01, 0.03)
    'LLE-TCP and no agent cannot be told apart: 1 % more, −1 to 3, n = 10'
    >>> gain(4.9, 4.7, 5.1)
    'LLE-TCP carries 5.9 times what no agent carries, 5.7 to 6.1, n = 10'
    >>> gain(-0.2, -0.25, -0.15, "flows.a.completion_s")
    'LLE-TCP finishes 20 % sooner than no agent, 15 to 25, n = 10'
    >>> gain(-0.5, None, None, "flows.a.timeouts", n=3)
    'Timeouts: 50 % less with LLE-TCP than with no agent, n = 3, too few for an interval'
    >>> gain(0.27, 0.27, 0.27, n=702)
    'LLE-TCP carries 27 % more than no agent, the same in every run'
    >>> gain(0.0, 0.0, 0.0)
    'LLE-TCP and no agent do not differ in any run'
    """
    last = one.metric.rsplit(".", 1)[-1]
    is_bare = not one.is_named and one.label == one.value
    this, that = f"{short(one.key)} {one.label}" if is_bare else one.label, one.over
    more, less, verb = "more", "less", ""
    if one.is_named and last in _CARRIES:
        verb = "carries"
    elif one.is_named and last in _FINISHES:
        verb, more, less = "finishes", "later", "sooner"
    mean = one.gain.mean or 0.0
    apart = not _spread(one.gain) or (one.gain.low or 0.0) > 0
    if one.is_ratio and mean + 1.0 >= _TIMES and apart:
        times = _numbers(_shift(one.gain, 1.0), 1.0, "times")
        if verb == "carries":
            return _upper(f"{this} carries {times[0]} what {that} carries{times[1]}")
        return _upper(f"{metric_words(one.metric)}: {times[0]} as much with {this} as with {that}{times[1]}")
    if one.gain.is_constant and mean == 0:
        words = "" if verb else f" in {metric_words(one.metric)}"
        return _upper(f"{this} and {that} do not differ{words} in any run")
    size = abs(mean)
    factor, unit = (0.01, "%") if one.is_ratio else prefix(size, metric_unit(one.metric))
    shown, rest = _numbers(one.gain if mean >= 0 else _negated(one.gain), factor, unit)
    if _spread(one.gain) and (one.gain.low or 0.0) <= 0 <= (one.gain.high or 0.0):
        words = "" if verb else f" by {metric_words(one.metric)}"
        side = more if mean >= 0 else less
        difference = "the same" if mean == 0 else f"{shown} {side}"
        return _upper(f"{this} and {that} cannot be told apart{words}: {difference}{rest}")
    side = more if mean >= 0 else less
    if verb:
        return _upper(f"{this} {verb} {shown} {side} than {that}{rest}")
    return _upper(f"{metric_words(one.metric)}: {shown} {side} with {this} than with {that}{rest}")


def percent(one: Gain) -> str:
    """A gain as a signed number with its interval, for a table.

    >>> it = Interval(-0.121, -0.124, -0.118, 10)
    >>> percent(Gain("agents.a.kind", "LLE-TCP", "none", "", True, "flows.a.goodput_bps", True, it, 4))
    '−12.1 % [−12.4, −11.8]'
    """
    mean = one.gain.mean or 0.0
    factor, unit = (0.01, "%") if one.is_ratio else prefix(abs(mean), metric_unit(one.metric))
    places = _places(one.gain, factor)
    shown = f"{_signed(mean / factor, places)} {unit}".rstrip()
    if not _spread(one.gain):
        return shown
    low, high = (_signed((v or 0.0) / factor, places) for v in (one.gain.low, one.gain.high))
    return f"{shown} [{low}, {high}]"


def _signed(value: float, places: int) -> str:
    text = f"{value:+.{places}f}"
    return text.replace("-", "−") if float(text) else f"{0:.{places}f}"


def counted(number: int, what: str) -> str:
    """A number of things.

    >>> counted(1, "run"), counted(2, "run")
    ('1 run', '2 runs')
    """
    return f"{number} {what}" + ("" if number == 1 else "s")


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _spread(it: Interval) -> bool:
    """Whether an interval is shown; that of two or three runs mostly reflects how few they are.

    Values that do not vary have none.
    """
    return it.low is not None and it.high is not None and it.n >= FEWEST and not it.is_constant


def _shift(it: Interval, by: float) -> Interval:
    return it.less(-by)


def _negated(it: Interval) -> Interval:
    mean, low, high = (None if v is None else -v for v in (it.mean, it.high, it.low))
    return Interval(mean, low, high, it.n)


def _places(it: Interval, factor: float) -> int:
    """The decimals that show one or two digits of the interval, or else two digits of the mean."""
    half = it.half if _spread(it) else None
    if half:
        return max(0, -math.floor(math.log10(half / factor) + 0.05))
    mean = abs(it.mean or 0.0) / factor
    return max(0, 1 - math.floor(math.log10(mean))) if mean else 0


def _numbers(it: Interval, factor: float, unit: str) -> tuple[str, str]:
    """The mean with its unit, and the text of the interval and the number of runs."""
    places = _places(it, factor)
    shown = f"{(it.mean or 0.0) / factor:.{places}f} {unit}".rstrip()
    if _spread(it):
        low, high = (_plain((v or 0.0) / factor, places) for v in (it.low, it.high))
        return shown, f", {low} to {high}, n = {it.n}"
    if it.is_constant:
        return shown, ", the same in every run"
    return shown, f", n = {it.n}" + (", too few for an interval" if it.n < FEWEST else "")


def _plain(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    return (f"{0:.{places}f}" if not float(text) else text).replace("-", "−")


def _about(study: Study, one: Gain) -> str:
    words = metric_words(one.metric)
    of = one.metric.rpartition(".")[0].partition(".")[2]
    subject = f"{words} of {of}" if of else words
    parts = [_upper(subject)]
    if one.places > 1:
        parts.append(f"averaged over {one.places} points")
    if one.gain.n > 1:
        parts.append("runs paired by their random numbers")
    if _spread(one.gain):
        parts.append("95 % confidence interval (Student t)")
    text = f"{', '.join(parts)}."
    if one.least and one.most and max(len(one.least[0]), len(one.most[0])) < _LONGEST:
        ends = [f"{_end(one, value)} at {place}" for place, value in (one.least, one.most)]
        text += f" From {ends[0]} to {ends[1]}."
    failed, early = len(study.failures), len(study.stopped)
    if failed or early:
        text += f" {failed} runs failed and {early} stopped early; they do not count."
    return text


def _end(one: Gain, value: float) -> str:
    factor, unit = (0.01, "%") if one.is_ratio else prefix(abs(value), metric_unit(one.metric))
    sign = "+" if value > 0 else "−" if value < 0 else ""
    return f"{sign}{digits(abs(value) / factor, 2)} {unit}".rstrip()


def _level(study: Study, figure: Mapping[str, Any], metric: str) -> Headline:
    """The level of a metric, if nothing is compared."""
    words, unit = metric_words(metric), metric_unit(metric)
    beside = next((panel for panel in panels_of(figure) if metric in panel), [metric])
    if len(beside) > 1:
        whose = metric_labels(beside)[beside.index(metric)]
        words = f"{words} of {(figure.get('names') or {}).get(metric, whose)}"
    where = figure.get("where") or {}
    points = [
        (planned.point, point)
        for planned, point in zip(study.plan, study.points(), strict=True)
        if matches(study, planned.point, point, where)
    ]
    ends = [(point, interval(list(study.values(number, metric).values()))) for number, point in points]
    ends = [(point, it) for point, it in ends if it.mean is not None]
    if not ends:
        return Headline(f"{_upper(words)} has no value in this study.", "")
    (first, low), (last, high) = ends[0], ends[-1]
    runs = sum(1 for _ in study.results())
    about = f"{counted(len(study.plan), 'point')}, {counted(runs, 'run')}."
    factor, name = prefix(max(abs(it.mean or 0.0) for _, it in ends), unit)
    if len(ends) == 1:
        shown, rest = _numbers(low, factor, name)
        return Headline(f"{_upper(words)} is {shown}{rest}", about)
    x = str(figure.get("x", "")) or next(k for k in first if first[k] != last[k])
    moves = "rises" if (high.mean or 0.0) > (low.mean or 0.0) else "falls"
    if high.mean == low.mean:
        moves = "stays"
    n = f"n = {low.n}" if low.n == high.n else f"n = {min(low.n, high.n)} to {max(low.n, high.n)}"
    if low.is_constant and high.is_constant:
        n = "the same in every run"
    text = (
        f"{_upper(words)} {moves} from {human(low.mean, unit)} at {short(x)} {first.get(x, '')} "
        f"to {human(high.mean, unit)} at {last.get(x, '')}, {n}"
    )
    return Headline(text, about)
