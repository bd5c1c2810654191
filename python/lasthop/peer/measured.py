"""What is measured of a flow and its path by both: our metrics, and what the kernel and the relay count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lasthop.peer.path import Flow, Path
    from lasthop.scenario.scenario import Run, Scenario

# The kernel's threshold before the first loss: TCP_INFINITE_SSTHRESH.
INFINITE = 0x7FFFFFFF


@dataclass(frozen=True, slots=True)
class Metric:
    """A number that both have.

    Attributes:
        heading: What it is called in a table, with its unit there.
        scale: What it is multiplied by there.
        ours: It in a run of ours.
        theirs: It in the result of a worker, by the number of the flow.
        trace: The trace channels that ours is found in.
    """

    heading: str
    scale: float
    ours: Callable[[Run, Flow, Path], float | None]
    theirs: Callable[[dict[str, Any], int, Path], float | None]
    trace: tuple[str, ...] = ()


def _of_flow(name: str) -> Callable[[Run, Flow, Path], float | None]:
    return lambda run, flow, _: run.metrics.get(f"flows.{flow.name}.{name}")


def _of_links(*names: str) -> Callable[[Run, Flow, Path], float | None]:
    def total(run: Run, _flow: Flow, path: Path) -> float | None:
        return sum(run.metrics.get(name) or 0.0 for name in _links(path, names))

    return total


def _links(path: Path, names: tuple[str, ...]) -> list[str]:
    return [
        f"links.{link}.{way}{name}" for link, _ in path.steps for way in ("", "reverse.") for name in names
    ]


def _last(channel: str, column: str) -> Callable[[Run, Flow, Path], float | None]:
    def found(run: Run, flow: Flow, _path: Path) -> float | None:
        trace = run.trace(channel)
        rows = zip(trace["flow"], trace[column], strict=True)
        return next((float(value) for name, value in reversed(list(rows)) if name == flow.name), None)

    return found


def _our_ssthresh(run: Run, flow: Flow, _path: Path) -> float | None:
    trace = run.trace("cwnd")
    of = [float(v) for name, v in zip(trace["flow"], trace["ssthresh"], strict=True) if name == flow.name]
    # As high as at the start: none was set.
    return None if not of or of[-1] >= of[0] else of[-1]


def _goodput(result: dict[str, Any], number: int, path: Path) -> float | None:
    return float(result["flows"][number]["bytes"] * 8 / (path.duration_s - path.warmup_s))


def _of_end(name: str) -> Callable[[dict[str, Any], int, Path], float | None]:
    return lambda result, number, _: result["flows"][number].get(name)


def _their_ssthresh(result: dict[str, Any], number: int, _path: Path) -> float | None:
    found = result["flows"][number].get("ssthresh")
    return None if found is None or found >= INFINITE else float(found)


def _their_timeouts(result: dict[str, Any], number: int, path: Path) -> float | None:
    found = result["flows"][number].get("timeouts")
    return _counted("TCPTimeouts")(result, number, path) if found is None else found


def _counted(name: str) -> Callable[[dict[str, Any], int, Path], float | None]:
    """A counter of the namespace of the sender, if it has no other one."""

    def found(result: dict[str, Any], number: int, path: Path) -> float | None:
        here = path.flows[number].sender
        if sum(flow.sender == here for flow in path.flows) > 1:
            return None
        return float(result["tcp"][here].get(name, 0))

    return found


def _of_relay(*names: str) -> Callable[[dict[str, Any], int, Path], float | None]:
    return lambda result, _, path: sum(result["links"].get(name, 0) for name in _links(path, names))


METRICS = {
    "goodput_bps": Metric("goodput Mbit/s", 1e-6, _of_flow("goodput_bps"), _goodput),
    "completion_s": Metric("completion s", 1.0, _of_flow("completion_s"), _of_end("completion_s")),
    "retransmits": Metric("retransmits", 1.0, _of_flow("retransmits"), _of_end("retransmitted")),
    "timeouts": Metric("timeouts", 1.0, _of_flow("timeouts"), _their_timeouts),
    "tail_probes": Metric("tail probes", 1.0, _of_flow("tail_probes"), _counted("TCPLossProbes")),
    "cwnd": Metric("last window", 1.0, _last("cwnd", "cwnd"), _of_end("cwnd"), ("cwnd",)),
    "ssthresh": Metric("last ssthresh", 1.0, _our_ssthresh, _their_ssthresh, ("cwnd",)),
    "srtt_s": Metric("last srtt ms", 1e3, _last("rtt", "srtt_s"), _of_end("srtt_s"), ("rtt",)),
    "drops": Metric(
        "drops", 1.0, _of_links("drops_queue", "drops_aqm"), _of_relay("drops_queue", "drops_aqm")
    ),
    "marks": Metric("marks", 1.0, _of_links("marks"), _of_relay("marks")),
}
#: What is in each line, beside the metric that was chosen.
ALWAYS = ("goodput_bps", "retransmits", "timeouts", "tail_probes", "cwnd", "ssthresh", "drops", "marks")


def default(flow: Flow) -> str:
    """What is compared of a flow if nothing is chosen: the goodput, or the completion time of a file."""
    return "goodput_bps" if flow.size is None else "completion_s"


def ours(
    scenario: Scenario, path: Path, replication: int, metrics: set[str], trace: Sequence[str] = ()
) -> tuple[list[dict[str, float | None]], Run]:
    """These metrics of each flow in a run of ours, and the run, with these trace channels too."""
    channels = {*trace, *(channel for name in metrics for channel in METRICS[name].trace)}
    run = scenario.run(replication=replication, point=path.point, trace=sorted(channels))
    return [{name: METRICS[name].ours(run, flow, path) for name in metrics} for flow in path.flows], run
