"""Rules of metrics and of the run as a whole."""

from __future__ import annotations

import json
import math
from functools import cache
from typing import TYPE_CHECKING

from lasthop import _core

from .observed import ROUNDING, Observed, seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def _has_queue_of_another(seen: Observed, of: str) -> bool:
    """Whether a link is a further one of multi-link devices."""
    return seen.settings.get(f"{of}multi-link", "none") != "none"


UNDEFINED: dict[str, Callable[[Observed, str], bool]] = {
    # A source without an end, or one that has not come to it.
    "completion_s": lambda seen, of: True,
    "acknowledged_s": lambda seen, of: True,
    "acks_per_segment": lambda seen, of: not seen.metrics.get(f"{of}segments_sent"),
    "retransmitted_share": lambda seen, of: not seen.metrics.get(f"{of}segments_sent"),
    "timeout_first_mean_s": lambda seen, of: _series_of_timeouts(seen, of) == 0,
    "rtt_mean_s": lambda seen, of: seen.metrics.get(f"{of}rtt_max_s") is None,
    "rtt_max_s": lambda seen, of: seen.metrics[f"{of}rtt_mean_s"] is None,
    "rtt_sd_s": lambda seen, of: True,
    "rtt_p50_s": lambda seen, of: seen.metrics[f"{of}rtt_mean_s"] is None,
    "rtt_p95_s": lambda seen, of: seen.metrics[f"{of}rtt_mean_s"] is None,
    "rtt_p99_s": lambda seen, of: seen.metrics[f"{of}rtt_mean_s"] is None,
    "transfer_bps": lambda seen, of: seen.metrics[f"{of}completion_s"] is None or not _is_file(seen, of),
    # All requests are in transit.
    "lost_share": lambda seen, of: seen.metrics[f"{of}requests_answered"] == 0,
    # No loss, no estimate taken.
    "rate_estimate_bps": lambda seen, of: True,
    "delay_mean_s": lambda seen, of: seen.metrics[f"{of}packets_received"] == 0,
    "delay_max_s": lambda seen, of: seen.metrics[f"{of}packets_received"] == 0,
    "delay_p50_s": lambda seen, of: seen.metrics[f"{of}delay_mean_s"] is None,
    "delay_p95_s": lambda seen, of: seen.metrics[f"{of}delay_mean_s"] is None,
    "delay_p99_s": lambda seen, of: seen.metrics[f"{of}delay_mean_s"] is None,
    # One datagram has no neighbour.
    "jitter_s": lambda seen, of: (seen.metrics[f"{of}packets_received"] or 0) < 2 or seen.has_warmup,
    "service_mean_s": lambda seen, of: True,
    "service_sd_s": lambda seen, of: True,
    "queue_delay_mean_s": lambda seen, of: True,
    "queue_delay_p95_s": lambda seen, of: True,
    "queue_delay_max_s": lambda seen, of: True,
    "queue_full_share": lambda seen, of: not _is_drop_tail(seen, of) or _has_queue_of_another(seen, of),
    "queue_mean_packets": _has_queue_of_another,
    "queue_max_packets": _has_queue_of_another,
    "drops_queue": _has_queue_of_another,
    # Nothing has left the queue, or all of it was in it before the warm-up ended.
    "aqm_delay_mean_s": lambda seen, of: True,
    "aqm_delay_p95_s": lambda seen, of: True,
    "aqm_delay_max_s": lambda seen, of: True,
    "resume_mean_s": lambda seen, of: seen.metrics[f"{of}resumed"] == 0,
    "resume_max_s": lambda seen, of: seen.metrics[f"{of}resumed"] == 0,
    "resume_window_mean_segments": lambda seen, of: seen.metrics[f"{of}resumed"] == 0,
    "jain_index": lambda seen, of: seen.metrics["goodput_bps"] == 0,
    # Agents that receive no acknowledgements of their receivers.
    "unconfirmed": lambda seen, of: not (seen.has_agent("lle-tcp") and "safe" in seen.settings.values()),
}
"""Metrics that may be undefined, each with when."""

COUNTED = {
    "segments", "packets", "frames", "timeouts", "losses", "transfers", "slots", "B", "turns",
}  # fmt: skip


def metrics_are_numbers(seen: Observed) -> Iterator[str]:
    for name, value in seen.metrics.items():
        of, _, last = name.rpartition(".")
        of += "." if of else ""
        if value is None:
            may_be = UNDEFINED.get(last)
            if may_be is None or not may_be(seen, of):
                yield f"{name} is undefined"
            continue
        unit = _units().get(last, "")
        if not math.isfinite(value):
            yield f"{name} is {value}"
        elif value < 0:
            yield f"{name} is negative: {value}"
        elif unit in COUNTED and "mean" not in last and "_per_" not in last and value != int(value):
            yield f"{name} counts {value}"
        elif (
            last in {"utilisation", "jain_index", "retransmitted_share", "lost_share", "queue_full_share"}
            and value > 1 + ROUNDING
        ):
            yield f"{name} is a share of {value}"


ORDERED = [
    ("timeouts_spurious", "timeouts"),
    ("fast_retransmits", "loss_indications"),
    ("rtt_mean_s", "rtt_max_s"),
    ("rtt_p50_s", "rtt_p95_s"),
    ("rtt_p95_s", "rtt_p99_s"),
    ("delay_mean_s", "delay_max_s"),
    ("delay_p50_s", "delay_p95_s"),
    ("delay_p95_s", "delay_p99_s"),
    ("delay_p99_s", "delay_max_s"),
    ("requests_answered", "requests_sent"),
    ("queue_delay_mean_s", "queue_delay_max_s"),
    ("queue_delay_p95_s", "queue_delay_max_s"),
    ("aqm_delay_mean_s", "aqm_delay_max_s"),
    ("aqm_delay_p95_s", "aqm_delay_max_s"),
    ("transfers_done", "transfers_begun"),
    ("arq.first_retransmissions", "arq.first_transmissions"),
    ("arq.second_retransmissions", "arq.first_retransmissions"),
    ("packets_delivered", "packets_entered"),
    ("queue_mean_packets", "queue_max_packets"),
    ("resume_mean_s", "resume_max_s"),
]
"""Metrics of which the first is never above the second; what begins in a warm-up may end after it."""


def metrics_are_in_order(seen: Observed) -> Iterator[str]:
    for small, large in ORDERED:
        for name, value in seen.metrics.items():
            if not name.endswith(f".{small}") or value is None:
                continue
            most = seen.metrics.get(f"{name.removesuffix(small)}{large}")
            if small.startswith(("arq", "timeouts")) and seen.has_warmup:
                continue
            # Where an RTS comes first, an attempt may end before its data frame.
            rts = name.replace(f".{small}", ".rts-threshold")
            if small.startswith("arq") and not seen.is_set(rts, "never"):
                continue
            if most is not None and value > most * (1 + ROUNDING):
                yield f"{name} {value} is above {large} {most}"


def airtime_adds_up(seen: Observed) -> Iterator[str]:
    measured_s = seen.run.simulated_s - seconds(seen.settings["run.warmup"])
    for link, table in seen.tree["links"].items():
        if table["kind"] != "wifi":
            continue
        parts = {
            name: value or 0.0
            for name, value in seen.metrics.items()
            if name.startswith(f"links.{link}.airtime_") and not name.endswith("concurrent_s")
        }
        if abs(sum(parts.values()) - measured_s) > 1e-8:
            yield f"{link}: {sum(parts.values())} s of {measured_s} s: {parts}"


def events_are_below_the_estimate(seen: Observed) -> Iterator[str]:
    if seen.run.events > seen.estimate["events"]:
        yield f"{seen.run.events} events, at most {seen.estimate['events']:.0f} estimated"


def the_run_goes_to_its_end(seen: Observed) -> Iterator[str]:
    duration_s = seconds(seen.settings["run.duration"])
    if seen.run.stopped or abs(seen.run.simulated_s - duration_s) > duration_s * ROUNDING:
        yield f"stopped by {seen.run.stopped} at {seen.run.simulated_s} s of {duration_s} s"


@cache
def _units() -> dict[str, str]:
    return {
        entry["name"].rpartition(".")[2]: entry["unit"] for entry in json.loads(_core.registry())["metrics"]
    }


def _is_file(seen: Observed, of: str) -> bool:
    return any(of == f"flows.{name}." and seen.is_set(f"{app}.kind", "file") for name, app, _ in seen.ends())


def _is_drop_tail(seen: Observed, of: str) -> bool:
    """Whether no law keeps the packets of a queue, and it is not one in bytes of an 802.11 link."""
    link = of.split(".")[1]
    table = link if link in seen.tree["links"] else link.rstrip("0123456789")
    if seen.settings.get(f"links.{table}.aqm.law", "none") not in {"none", "warning", "red"}:
        return False
    return seen.kind_of(link) != "wifi" or seen.settings[f"links.{table}.queue"].endswith(" packets")


def _series_of_timeouts(seen: Observed, of: str) -> float:
    """Losses that the timer detected, of a flow."""
    told, fast = seen.metrics[f"{of}loss_indications"], seen.metrics[f"{of}fast_retransmits"]
    return (told or 0) - (fast or 0)
