"""Both results of each point, side by side: the goodput, the completion time of a file, or what is chosen."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop.base.quantity import digits, duration
from lasthop.base.table import grid
from lasthop.peer.crew import IN_TIME_S, Crew
from lasthop.peer.habits import habits, in_words
from lasthop.peer.measured import ALWAYS, INFINITE, METRICS, default
from lasthop.peer.measured import ours as measured_by_us
from lasthop.peer.path import loaded_otherwise, path, with_known_laws
from lasthop.stats.intervals import Interval, difference, interval

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path as File

    from lasthop.peer.path import Flow, Path
    from lasthop.scenario.scenario import Run, Scenario

# Between two samples of the kernel's window.
SAMPLE_S = 0.002
# A sender that waits for its own buffer for this share of the time measures the buffer.
_MOST_LIMITED = 0.01


@dataclass(frozen=True, slots=True)
class Window:
    """The window of a sender over time: times, congestion windows and thresholds in segments."""

    times: list[float]
    cwnd: list[float]
    ssthresh: list[float | None]


@dataclass(slots=True)
class Line:
    """One metric of one flow at one point, by both.

    Attributes:
        point: The swept keys of the point with their values.
        flow: The name of the flow.
        law: Its law, as the kernel calls it.
        metric: The name of the metric.
        ours: The values of our runs by replication.
        theirs: The values of the kernel's runs by replication.
        drops: Packets that queues dropped, by both, as means over the replications.
        retransmitted: Segments that were sent again, likewise.
        late_p99_s: The largest 99th percentile of the lateness of the relay in the kernel's runs.
        late_max_s: The largest lateness.
        values: What else both measured, by metric: ours and the kernel's by replication.
        warnings: What makes the kernel's results doubtful.
        windows: Our window and the kernel's over time, in replication 0, if they were sampled.
    """

    point: dict[str, str]
    flow: str
    law: str
    metric: str
    ours: dict[int, float | None] = field(default_factory=dict)
    theirs: dict[int, float | None] = field(default_factory=dict)
    drops: tuple[float, float] = (0.0, 0.0)
    retransmitted: tuple[float, float] = (0.0, 0.0)
    late_p99_s: float = 0.0
    late_max_s: float = 0.0
    values: dict[str, dict[str, dict[int, float | None]]] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    windows: tuple[Window, Window] | None = None

    @property
    def means(self) -> tuple[Interval, Interval]:
        """Our mean and the kernel's, with their intervals."""
        return interval(list(self.ours.values())), interval(list(self.theirs.values()))

    @property
    def off(self) -> float | None:
        """By how much our mean exceeds the kernel's, as a share of the kernel's."""
        ours, theirs = self.means
        if ours.mean is None or not theirs.mean:
            return None
        return ours.mean / theirs.mean - 1

    @property
    def off_half(self) -> float | None:
        """Half the width of the interval of `off`, of the differences of runs, which draw the same losses."""
        half, theirs = difference(self.ours, self.theirs).half, self.means[1].mean
        return None if half is None or not theirs else half / theirs

    def missed(self, tolerance: float) -> bool:
        """Whether the means differ by more than this share of the kernel's."""
        return self.off is None or abs(self.off) > tolerance

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        ours, theirs = self.means
        found = asdict(self)
        found["mean"] = {"ours": asdict(ours), "linux": asdict(theirs)}
        for name in ("drops", "retransmitted"):
            found[name] = dict(zip(("ours", "linux"), found[name], strict=True))
        return {**found, "off": self.off, "off_half": self.off_half}


@dataclass(frozen=True, slots=True)
class Beside:
    """What both gave.

    Attributes:
        scenario: The id of the scenario.
        release: The release of the kernel.
        backlog: Packets that an interface holds.
        replications: Runs of each point, by both.
        lines: One for each flow of each point.
    """

    scenario: str
    release: str
    replications: int
    lines: list[Line]
    backlog: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "scenario": self.scenario,
            "kernel": self.release,
            "replications": self.replications,
            "backlog": self.backlog,
            "lines": [line.as_dict() for line in self.lines],
        }

    def text(self) -> str:
        """A table with one row for each metric of each flow and point."""
        swept = list(self.lines[0].point)
        short = _short(swept)
        # One flow needs no name.
        named = len({line.flow for line in self.lines}) > 1
        head = [*(short[key] for key in swept), *(["flow"] if named else []), "metric", "ours", "linux"]
        head += ["difference", "drops", "retransmitted", "late p99"]
        rows = []
        for line in self.lines:
            metric = METRICS[line.metric]
            scale = metric.scale
            ours, theirs = (_spread(mean, scale) for mean in line.means)
            rows.append(
                [
                    *(line.point[key] for key in swept),
                    *([line.flow] if named else []),
                    metric.heading,
                    ours,
                    theirs,
                    _share(line),
                    " / ".join(digits(count, 3) for count in line.drops),
                    " / ".join(digits(count, 3) for count in line.retransmitted),
                    f"{line.late_p99_s * 1e3:.2f} ms",
                ]
            )
        return grid(head, rows)

    def warnings(self) -> list[str]:
        """What makes results of the kernel doubtful, one line each."""
        found = [
            f"{', '.join([*(f'{key}={value}' for key, value in line.point.items()), line.flow])}: {warning}"
            for line in self.lines
            for warning in line.warnings
        ]
        return list(dict.fromkeys(found))


def _short(keys: list[str]) -> dict[str, str]:
    """The last parts of keys, as few as tell them apart.

    >>> _short(["links.a.loss.rate", "links.a.rate", "flows.main.tcp.congestion"])
    {'links.a.loss.rate': 'loss.rate', 'links.a.rate': 'a.rate', 'flows.main.tcp.congestion': 'congestion'}
    """

    def last(key: str, parts: int) -> str:
        return ".".join(key.split(".")[-parts:])

    found = {}
    for key in keys:
        parts = next(n for n in range(1, 9) if sum(last(other, n) == last(key, n) for other in keys) == 1)
        found[key] = last(key, parts)
    return found


def _spread(mean: Interval, scale: float) -> str:
    if mean.mean is None:
        return "–"
    half = "" if mean.half is None else f" ± {digits(mean.half * scale, 2)}"
    return f"{digits(mean.mean * scale)}{half}"


def _share(line: Line) -> str:
    if line.off is None:
        return "–"
    half = "" if line.off_half is None else f" ± {100 * line.off_half:.1f}"
    return f"{100 * line.off:+.1f}{half} %"


class Listener:
    """Follows a comparison: what it says, and the kernel's runs, which take their time."""

    def say(self, text: str) -> None:
        """What is known before something that takes its time."""

    def begin(self, total: int, seconds: float) -> None:
        """So many runs of the kernel begin, which take about so long together."""

    def step(self) -> None:
        """One of them has ended."""

    def tick(self) -> None:
        """Some time has passed."""

    def end(self) -> None:
        """All have ended, or the comparison has failed."""


def compare(
    scenario: Scenario,
    where: Sequence[str],
    replications: int,
    jobs: int,
    *,
    metrics: Sequence[str] = (),
    sampled: bool = False,
    kernel: File | None = None,
    listener: Listener | None = None,
) -> Beside:
    """Run the chosen points here and by the kernel: that of this machine, or one in virtual time.

    Raises:
        ScenarioError: The kernel cannot run a point.
        UnavailableError: This system cannot run the kernel's TCP.
    """
    listener = listener or Listener()
    paths = [path(scenario, point) for point in scenario.select(where)]
    with Crew(jobs, kernel) as crew:
        known = crew.probe(sorted({flow.law for one in paths for flow in one.flows}))
        has_ecn = known["has_accurate_ecn"]
        paths = [with_known_laws(one, scenario, known["laws"], has_accurate_ecn=has_ecn) for one in paths]
        for text in dict.fromkeys(text for one in paths for text in loaded_otherwise(one, scenario)):
            listener.say(text)
        keys = {one.point: habits(scenario, one, known["release"], known["tick_s"]) for one in paths}
        if any(keys.values()):
            every = {flow.name for one in paths for flow in one.flows}
            listener.say(f"ours as this kernel: {in_words(keys.values(), every)}")
        as_it = {point: scenario.set(of) for point, of in keys.items()}
        runs = [(one, r) for one in paths for r in range(replications)]
        release, backlog = known["release"], known["backlog"]
        most = duration(_real_time([one.duration_s for one, _ in runs], jobs))
        clock = f"real time, at most {most}" if kernel is None else "virtual time,"
        listener.say(
            f"{len(runs)} runs by Linux {release} in {clock} with {jobs} at once; "
            f"interfaces hold {backlog} packets"
        )
        # Ours first: the kernel's runs need the processors for themselves.
        wanted = {*metrics, *ALWAYS, *(default(flow) for one in paths for flow in one.flows)}
        ours = [_ours(as_it[one.point], one, r, wanted, sampled=sampled and r == 0) for one, r in runs]
        ends = [_end(one, found) for (one, _), found in zip(runs, ours, strict=True)]
        about = _real_time(ends, jobs)
        if kernel is None:
            listener.say(
                f"our runs are done; the kernel's take about {duration(about)}, if they take as long"
            )
        theirs: dict[int, dict[str, Any]] = {}

        def done(number: int, result: dict[str, Any]) -> None:
            theirs[number] = result
            listener.step()

        samples = [SAMPLE_S if sampled and r == 0 else 0.0 for _, r in runs]
        jobs_ = [one.job(scenario, r, each) for (one, r), each in zip(runs, samples, strict=True)]
        listener.begin(len(runs), about)
        try:
            crew.run(jobs_, done, listener.tick)
        finally:
            listener.end()
    lines = []
    for place, one in enumerate(paths):
        of = range(place * replications, (place + 1) * replications)
        mine, his = [ours[n] for n in of], [theirs[n] for n in of]
        for number, flow in enumerate(one.flows):
            chosen = metrics or (default(flow),)
            lines += [_line(scenario, one, (number, metric), mine, his) for metric in chosen]
    return Beside(scenario.id, release, replications, lines, backlog)


def _real_time(seconds: Sequence[float], at_once: int) -> float:
    """How long runs of these lengths take."""
    return max(sum(seconds) / at_once, max(seconds, default=0.0))


@dataclass(frozen=True, slots=True)
class _Ours:
    """What is kept of a run of ours: values by metric for each flow, and windows if they were sampled."""

    values: list[dict[str, float | None]]
    windows: list[Window] | None


def _ours(scenario: Scenario, one: Path, replication: int, wanted: set[str], *, sampled: bool) -> _Ours:
    values, run = measured_by_us(scenario, one, replication, wanted, ["cwnd"] if sampled else [])
    return _Ours(values, [_our_window(run, flow) for flow in one.flows] if sampled else None)


def _end(one: Path, found: _Ours) -> float:
    """When a run ends: after its last file, if it has nothing else."""
    ends = [
        flow.start_s + done
        if flow.size is not None and (done := values.get("completion_s"))
        else one.duration_s
        for flow, values in zip(one.flows, found.values, strict=True)
    ]
    return min(one.duration_s, max(ends))


def _line(
    scenario: Scenario, one: Path, which: tuple[int, str], ours: list[_Ours], theirs: list[dict[str, Any]]
) -> Line:
    """One metric of a flow of a point from all runs of it."""
    number, metric = which
    flow = one.flows[number]
    line = Line(scenario.points()[one.point], flow.name, flow.law, metric)
    for name in dict.fromkeys([metric, default(flow), *ALWAYS]):
        both = {
            "ours": {r: run.values[number][name] for r, run in enumerate(ours)},
            "linux": {r: METRICS[name].theirs(result, number, one) for r, result in enumerate(theirs)},
        }
        line.values[name] = both
    line.ours, line.theirs = line.values[metric]["ours"], line.values[metric]["linux"]
    for result in theirs:
        line.late_p99_s = max(line.late_p99_s, result["late_p99_s"] or 0.0)
        line.late_max_s = max(line.late_max_s, result["late_max_s"])
    line.drops, line.retransmitted = (_both_means(line.values[name]) for name in ("drops", "retransmits"))
    line.warnings = list(_doubts(flow, one, number, line, theirs))
    samples = theirs[0]["flows"][number]["samples"]
    if samples and ours[0].windows is not None:
        line.windows = (ours[0].windows[number], _kernel_window(samples))
    return line


def _both_means(of: dict[str, dict[int, float | None]]) -> tuple[float, float]:
    mine, his = (sum(value or 0.0 for value in of[by].values()) / len(of[by]) for by in ("ours", "linux"))
    return mine, his


def _our_window(run: Run, flow: Flow) -> Window:
    trace = run.trace("cwnd")
    rows = zip(trace["time_s"], trace["flow"], trace["cwnd"], trace["ssthresh"], strict=True)
    of = [(float(at), float(cwnd), float(ssthresh)) for at, name, cwnd, ssthresh in rows if name == flow.name]
    first = of[0][2] if of else 0.0
    return Window(
        [at - flow.start_s for at, _, _ in of],
        [cwnd for _, cwnd, _ in of],
        [None if ssthresh >= first else ssthresh for _, _, ssthresh in of],
    )


def _kernel_window(samples: list[tuple[float, int, int]]) -> Window:
    return Window(
        [at for at, _, _ in samples],
        [float(cwnd) for _, cwnd, _ in samples],
        [None if ssthresh >= INFINITE else float(ssthresh) for _, _, ssthresh in samples],
    )


def _doubts(flow: Flow, one: Path, number: int, line: Line, theirs: list[dict[str, Any]]) -> list[str]:
    found = []
    if line.late_p99_s >= IN_TIME_S:
        found.append(f"the relay's timer was late by {line.late_p99_s * 1e3:.1f} ms at the 99th percentile")
    lost = sum(result["dropped"] + result["refused"] for result in theirs)
    if lost:
        found.append(f"the interfaces dropped {lost} packets, which the path did not")
    ends = [result["flows"][number] for result in theirs]
    if any(end.get("sndbuf_limited_s", 0.0) > _MOST_LIMITED * one.duration_s for end in ends):
        found.append("the kernel's sender waited for its buffer")
    found += sorted({end["failure"] for end in ends if end["failure"]})
    files = line.values.get("completion_s", {})
    missing = [sum(v is None for v in values.values()) for values in files.values()]
    if flow.size is not None and any(missing):
        found.append(f"{missing[0]} of our files and {missing[1]} of the kernel's were not complete in time")
    return found
