"""What must hold after every run, whatever the scenario.

Each rule is a function that yields what it finds broken. Nothing here is a tolerance for a fault: a number
may be undefined only where `metric_rules.UNDEFINED` says when, and sums hold to the packet and to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from . import flow_rules, metric_rules, trace_rules

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .observed import Observed


@dataclass(frozen=True)
class Broken:
    """A rule and what broke it; `rule` stays the same while a case is made smaller."""

    rule: str
    what: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.what}"


RULES: list[Callable[[Observed], Iterator[str]]] = [
    flow_rules.packets_are_conserved,
    flow_rules.nothing_is_repeated_but_by_slots_and_wires,
    flow_rules.losses_are_counted_where_they_happen,
    flow_rules.slots_deliver_or_lose_what_enters,
    flow_rules.marks_are_of_flows_that_use_ecn,
    flow_rules.datagrams_are_received_once,
    flow_rules.streams_are_in_order,
    flow_rules.what_stations_acknowledge_is_counted,
    flow_rules.whoever_waits_has_a_timer,
    flow_rules.a_completed_file_is_whole,
    flow_rules.goodput_is_what_arrived,
    flow_rules.transfers_are_counted,
    metric_rules.metrics_are_numbers,
    metric_rules.metrics_are_in_order,
    metric_rules.airtime_adds_up,
    metric_rules.events_are_below_the_estimate,
    metric_rules.the_run_goes_to_its_end,
    trace_rules.traced_times_go_forward,
    trace_rules.windows_have_a_segment,
    trace_rules.a_mark_is_answered_once_a_round_trip,
    trace_rules.windows_grow_by_half_a_round_trip,
    trace_rules.round_trips_are_times,
    trace_rules.queues_hold_what_they_have_room_for,
    trace_rules.events_are_those_of_the_accounts,
    trace_rules.frames_end_once_and_are_of_a_packet_that_was_made,
]


def broken(seen: Observed) -> list[Broken]:
    """Everything that does not hold."""
    return [Broken(rule.__name__, what) for rule in RULES for what in rule(seen)]
