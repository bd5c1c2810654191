"""A flow over time: the panels of a figure of kind `time` for a study.

Round trips, timeouts, windows, packets and jitter ratios come from the trace of replication 0, which is
simulated again with tracing and must reproduce the stored metrics. Goodput and received bytes come from the
bins that every run of the study stores, as means over the replications.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lasthop.base.errors import StudyError, UsageError
from lasthop.base.jsontext import clean
from lasthop.base.quantity import seconds
from lasthop.stats.intervals import FEWEST, interval
from lasthop.views.groups import groups
from lasthop.views.names import names_of, registered
from lasthop.views.packets import events, released

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from lasthop.study.study import Study

# Columns of a trace by name: arrays or lists of equal length.
Columns = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Panel:
    """A quantity over time: its name, its unit, and its source.

    With `steps` each value is held until the next one; with `holds` the last value is extended as well.
    """

    words: str
    unit: str
    channel: str = ""
    column: str = ""
    holds: bool = False
    steps: bool = False


PANELS = {
    "rtt": Panel("round trip", "s", "rtt", "rtt_s"),
    "srtt": Panel("smoothed round trip", "s", "rtt", "srtt_s"),
    "rto": Panel("timeout (RTO)", "s", "rtt", "rto_s", holds=True),
    "cwnd": Panel("window (cwnd)", "segments", "cwnd", "cwnd", holds=True),
    "ssthresh": Panel("threshold (ssthresh)", "segments", "cwnd", "ssthresh", holds=True),
    "sequence": Panel("packet number", "", "tcp", steps=True),
    "released": Panel("left at once", "packets", "tcp"),
    "jitter": Panel("jitter ratio", "", "jitter", steps=True),
    "goodput": Panel("goodput", "bit/s"),
    "received": Panel("received", "B"),
}


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a panel.

    `times` are those of the values, or the edges of bins, one more than the values. `low` and `high` bound
    the 95 % interval if the values are means. With `stands_alone` the values are drawn as unconnected points.
    If there are fewer than four runs, `runs` has the values of each, and there is no interval.
    """

    label: str
    times: list[float]
    values: list[float]
    low: list[float]
    high: list[float]
    stands_alone: bool = False
    runs: tuple[list[float], ...] = ()


def held(found: Mapping[str, list[Line]], horizon: float) -> dict[str, list[Line]]:
    """The panels with held values extended to the end of the flow in the other panels, or else of the run.

    >>> rtt, cwnd = Line("x", [1.0, 9.0], [0.1, 0.2], [], []), Line("x", [0.0, 2.0], [1.0, 4.0], [], [])
    >>> held({"rtt": [rtt], "cwnd": [cwnd]}, 50.0)["cwnd"][0].times
    [0.0, 2.0, 9.0]
    >>> held({"cwnd": [cwnd]}, 50.0)["cwnd"][0].times
    [0.0, 2.0, 50.0]
    """
    last: dict[str, float] = {}
    for name, every in found.items():
        if PANELS[name].channel == "rtt":
            for line in every:
                last[line.label] = max(last.get(line.label, 0.0), line.times[-1])
    return {
        name: [_until(line, last.get(line.label, horizon)) if PANELS[name].holds else line for line in every]
        for name, every in found.items()
    }


def _until(line: Line, end: float) -> Line:
    if end <= line.times[-1]:
        return line
    return Line(line.label, [*line.times, end], [*line.values, line.values[-1]], line.low, line.high)


def lines(study: Study, figure: Mapping[str, Any]) -> tuple[dict[str, list[Line]], int]:
    """The lines of each panel of a figure, and the number of runs behind the bins."""
    wanted = [str(name) for name in figure["panels"]]
    channels = sorted({PANELS[name].channel for name in wanted} - {""})
    found: dict[str, list[Line]] = {name: [] for name in wanted}
    runs, horizon = 0, 0.0
    for group in groups(
        study, "", figure.get("lines"), figure.get("where") or {}, None, names_of(study.scenario, figure)
    ):
        for point in group.points:
            tables = retraced(study, point, 0, channels) if channels else {}
            horizon = max(horizon, seconds(study.scenario.resolved(point)["run.duration"]["value"]) or 0.0)
            row = study.run_at(point, 0)
            measured = flows_of(row.metrics) if row is not None and row.metrics is not None else []
            flows = [str(figure["flow"])] if "flow" in figure else measured
            for flow in flows:
                label = ", ".join(part for part in (group.label, flow if len(flows) > 1 else "") if part)
                for name in wanted:
                    if PANELS[name].channel:
                        found[name] += traced(tables, name, flow, label)
                        continue
                    line, n = _binned(study, point, name, flow, label)
                    runs = max(runs, n)
                    if line is not None:
                        found[name].append(line)
    if not any(found.values()):
        raise UsageError(f"figure {figure['id']}: no data over time in {study.path}; expected a finished run")
    return held(found, horizon), runs


def flows_of(metrics: Iterable[str]) -> list[str]:
    """The flows with metrics, including the data in the reverse direction of a flow; a group is not a flow.

    >>> flows_of(["flows.up1.segments_sent", "flows.up.rtt_mean_s", "flows.b.reverse.packets_sent"])
    ['up1', 'b.reverse']
    """
    names = (name.removeprefix("flows.").rpartition(".") for name in metrics if name.startswith("flows."))
    return [flow for flow, _, last in names if last in ("segments_sent", "packets_sent")]


def retraced(study: Study, point: int, replication: int, channels: list[str]) -> dict[str, Columns]:
    """Simulate a replication of a point again, with tracing; empty if the study does not have it."""
    row = study.run_at(point, replication)
    if row is None or row.metrics is None or row.stopped:
        return {}
    recorded = [channel for channel in channels if study.scenario.missing(channel, point) is None]
    run = study.scenario.run(study.seed, replication, point, trace=recorded)
    if clean(run.metrics) != row.metrics:
        raise StudyError(
            f"{study.path}: point {point} gives other values than the study; expected the same "
            "(the study is of another build: sweep again with fresh)"
        )
    return {name: dict(run.trace(name).columns) for name in run.traces()}


def traced(tables: Mapping[str, Columns], panel: str, flow: str, label: str) -> list[Line]:
    """The lines of a flow in a panel, from traces; empty if it is not traced."""
    table = tables.get(PANELS[panel].channel)
    if table is None:
        return []
    if panel == "jitter":
        return _ratios(table, flow, label)
    if panel in ("sequence", "released"):
        return _of_packets(table, panel, flow, label)
    columns = (table["time_s"], table["flow"], table[PANELS[panel].column])
    rows = [(float(t), float(v)) for t, who, v in zip(*columns, strict=True) if who == flow]
    rows = [(t, v) for t, v in rows if math.isfinite(v)]
    return _line(label, rows)


def _line(label: str, rows: list[tuple[float, float]], *, stands_alone: bool = False) -> list[Line]:
    values = [float(v) for _, v in rows]
    return [Line(label, [t for t, _ in rows], values, [], [], stands_alone)] if rows else []


def _named(label: str, what: str) -> str:
    return f"{label}: {what}" if label else what


def _ratios(table: Columns, flow: str, label: str) -> list[Line]:
    """The jitter ratio of each law, and the threshold, which is the same for all, as is their window."""
    names = ("time_s", "flow", "law", "ratio", "threshold")
    rows = [row for row in zip(*(table[name] for name in names), strict=True) if row[1] == flow]
    laws = list(dict.fromkeys(str(row[2]) for row in rows))
    found = []
    for law in laws:
        shown = str(registered("tcp.congestion").get(law, {}).get("title", law))
        found += _line(_named(label, shown), [(float(t), float(r)) for t, _, who, r, _ in rows if who == law])
    of_first = [(float(t), float(limit)) for t, _, who, _, limit in rows if who == laws[0]]
    return found + _line(_named(label, "threshold"), of_first)


def _of_packets(table: Columns, panel: str, flow: str, label: str) -> list[Line]:
    found = events(table, flow)
    if panel == "released":
        counts = [(ack.time_s, float(count)) for ack, count in released(found) if count > 0]
        return _line(label or "left at once", counts, stands_alone=True)
    lines = []
    for words, what in (("sent", "send"), ("sent again", "resend")):
        rows = [(e.time_s, float(e.packet)) for e in found if e.what == what]
        lines += _line(_named(label, words), rows, stands_alone=True)
    acks = [(e.time_s, float(e.acknowledged)) for e in found if e.what in ("ack", "partial", "dupack")]
    return lines + _line(_named(label, "acknowledged"), acks)


def _binned(study: Study, point: int, panel: str, flow: str, label: str) -> tuple[Line | None, int]:
    every = study.series(point, f"flows.{flow}.goodput_bps")
    resolved = study.scenario.resolved(point)
    width = seconds(resolved["run.bin"]["value"]) if every else None
    end = seconds(resolved["run.duration"]["value"])
    if width is None or end is None:
        return None, 0
    return binned(list(every.values()), width, end, panel, label), len(every)


def binned(runs: list[list[float]], width: float, end: float, panel: str, label: str) -> Line:
    """The line of a flow in a panel, from the bins of its runs.

    >>> line = binned([[8.0, 16.0], [8.0, 32.0]], 2.0, 3.0, "received", "x")
    >>> line.times, line.values
    ([0.0, 2.0, 3.0], [0.0, 2.0, 5.0])
    """
    edges = [min(i * width, end) for i in range(len(runs[0]) + 1)]
    if panel == "received":
        runs = [_received(rates, edges) for rates in runs]
    its = [interval([run[i] for run in runs]) for i in range(len(runs[0]))]
    means = [math.nan if it.mean is None else it.mean for it in its]
    if len(runs) < FEWEST:
        return Line(label, edges, means, [], [], runs=tuple(runs))
    # Values counted in bins cannot be negative, so no interval is drawn below zero.
    low = [math.nan if it.low is None else max(it.low, 0.0) for it in its]
    high = [math.nan if it.high is None else it.high for it in its]
    return Line(label, edges, means, low, high)


def _received(rates: list[float], edges: list[float]) -> list[float]:
    """Bytes received up to each edge of the bins."""
    total, found = 0.0, [0.0]
    for rate, begin, end in zip(rates, edges, edges[1:], strict=False):
        total += rate * (end - begin) / 8
        found.append(total)
    return found
