"""Both results of each point, side by side: goodput of bulk flows, completion time of files."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from lasthop.base.quantity import digits
from lasthop.base.table import grid
from lasthop.peer.crew import IN_TIME_S, Crew
from lasthop.peer.path import path, with_known_laws
from lasthop.stats.intervals import Interval, difference, interval

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lasthop.peer.path import Flow, Path
    from lasthop.scenario.scenario import Run, Scenario

# Between two samples of the kernel's window.
SAMPLE_S = 0.002
# A sender that waits for its own buffer for this share of the time measures the buffer.
_MOST_LIMITED = 0.01
# The kernel's threshold before the first loss: TCP_INFINITE_SSTHRESH.
_INFINITE = 0x7FFFFFFF


@dataclass(frozen=True, slots=True)
class Window:
    """The window of a sender over time: times, congestion windows and thresholds in segments."""

    times: list[float]
    cwnd: list[float]
    ssthresh: list[float | None]


@dataclass(slots=True)
class Line:
    """One flow at one point, by both.

    Attributes:
        point: The swept keys of the point with their values.
        flow: The name of the flow.
        law: Its law, as the kernel calls it.
        metric: `goodput_bps` or `completion_s`.
        ours: The values of our runs by replication.
        theirs: The values of the kernel's runs by replication.
        drops: Packets that queues dropped, by both, as means over the replications.
        retransmitted: Segments that were sent again, likewise.
        late_p99_s: The largest 99th percentile of the lateness of the relay in the kernel's runs.
        late_max_s: The largest lateness.
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
        replications: Runs of each point, by both.
        lines: One for each flow of each point.
    """

    scenario: str
    release: str
    replications: int
    lines: list[Line]

    def as_dict(self) -> dict[str, Any]:
        """The same for JSON."""
        return {
            "scenario": self.scenario,
            "kernel": self.release,
            "replications": self.replications,
            "lines": [line.as_dict() for line in self.lines],
        }

    def text(self) -> str:
        """A table with one row for each flow and point."""
        swept = list(self.lines[0].point)
        short = _short(swept)
        # One flow needs no name.
        named = len({line.flow for line in self.lines}) > 1
        head = [*(short[key] for key in swept), *(["flow"] if named else []), "metric", "ours", "linux"]
        head += ["difference", "drops", "retransmitted", "late p99"]
        rows = []
        for line in self.lines:
            scale = 1e-6 if line.metric == "goodput_bps" else 1.0
            ours, theirs = (_spread(mean, scale) for mean in line.means)
            rows.append(
                [
                    *(line.point[key] for key in swept),
                    *([line.flow] if named else []),
                    "goodput Mbit/s" if line.metric == "goodput_bps" else "completion s",
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
        return [
            f"{', '.join(f'{key}={value}' for key, value in line.point.items())}: {line.flow}: {warning}"
            for line in self.lines
            for warning in line.warnings
        ]


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


def compare(
    scenario: Scenario,
    where: Sequence[str],
    replications: int,
    jobs: int,
    *,
    sampled: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Beside:
    """Run the chosen points here and by the kernel.

    Raises:
        ScenarioError: The kernel cannot run a point.
        UnavailableError: This system cannot run the kernel's TCP.
    """
    paths = [path(scenario, point) for point in scenario.select(where)]
    with Crew(jobs) as crew:
        known = crew.probe(sorted({flow.law for one in paths for flow in one.flows}))
        paths = [with_known_laws(one, scenario, known["laws"]) for one in paths]
        runs = [(one, r) for one in paths for r in range(replications)]
        # Ours first: the kernel's runs need the processors for themselves.
        trace = ["cwnd"] if sampled else []
        ours = [scenario.run(replication=r, point=one.point, trace=() if r else trace) for one, r in runs]
        theirs: dict[int, dict[str, Any]] = {}
        worst = sum(one.duration_s for one, _ in runs)
        say(f"{len(runs)} runs by Linux {known['release']}, at most {worst:.0f} s one after the other")

        def done(number: int, result: dict[str, Any]) -> None:
            theirs[number] = result
            tenth = max(1, len(runs) // 10)
            if len(theirs) % tenth == 0:
                say(f"{len(theirs)} of {len(runs)} runs done; {crew.at_once} at once")

        samples = [SAMPLE_S if sampled and r == 0 else 0.0 for _, r in runs]
        jobs_ = [one.job(scenario, r, each) for (one, r), each in zip(runs, samples, strict=True)]
        crew.run(jobs_, done)
    lines = []
    for place, one in enumerate(paths):
        of = range(place * replications, (place + 1) * replications)
        mine, his = [ours[n] for n in of], [theirs[n] for n in of]
        lines += [_line(scenario, one, number, mine, his) for number in range(len(one.flows))]
    return Beside(scenario.id, known["release"], replications, lines)


def _line(scenario: Scenario, one: Path, number: int, ours: list[Run], theirs: list[dict[str, Any]]) -> Line:
    """One flow of a point from all runs of it."""
    flow = one.flows[number]
    metric = "goodput_bps" if flow.size is None else "completion_s"
    line = Line(scenario.points()[one.point], flow.name, flow.law, metric)
    for r, (run, result) in enumerate(zip(ours, theirs, strict=True)):
        end = result["flows"][number]
        line.ours[r] = run.metrics[f"flows.{flow.name}.{metric}"]
        seconds = one.duration_s - one.warmup_s
        line.theirs[r] = end["bytes"] * 8 / seconds if flow.size is None else end["completion_s"]
        line.late_p99_s = max(line.late_p99_s, result["late_p99_s"] or 0.0)
        line.late_max_s = max(line.late_max_s, result["late_max_s"])
    total = len(ours)
    queues = [f"links.{link}.{way}drops_queue" for link, _ in one.steps for way in ("", "reverse.")]
    line.drops = (
        sum(run.metrics.get(name) or 0.0 for run in ours for name in queues) / total,
        sum(way["drops_queue"] for result in theirs for way in result["ways"]) / total,
    )
    line.retransmitted = (
        sum(run.metrics.get(f"flows.{flow.name}.retransmits") or 0.0 for run in ours) / total,
        sum(result["flows"][number].get("retransmitted", 0) for result in theirs) / total,
    )
    line.warnings = list(_doubts(flow, one, number, line, theirs))
    samples = theirs[0]["flows"][number]["samples"]
    if samples:
        line.windows = (_our_window(ours[0], flow), _kernel_window(samples))
    return line


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
        [None if ssthresh >= _INFINITE else float(ssthresh) for _, _, ssthresh in samples],
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
    if flow.size is not None and None in (*line.ours.values(), *line.theirs.values()):
        missing = [sum(v is None for v in values.values()) for values in (line.ours, line.theirs)]
        found.append(f"{missing[0]} of our files and {missing[1]} of the kernel's were not complete in time")
    return found
