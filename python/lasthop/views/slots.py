"""The slot table of a slotted network: transmissions, receptions and collisions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lasthop.base.errors import UsageError
from lasthop.base.table import grid

if TYPE_CHECKING:
    from lasthop.scenario.scenario import Scenario
    from lasthop.scenario.trace import Trace

_WORDS = {
    "send": "sends to",
    "ack": "sends an FRN ACK to",
    "receive": "receives from",
    "overhear": "overhears",
    "collided": "loses to a collision, from",
    "deaf": "misses while sending, from",
    "errored": "loses to random errors, from",
    "passed": "completes: a neighbour has it",
    "discard-count": "discards: too many retransmissions",
    "discard-lifetime": "discards: too old",
    "suppressed": "discards: duplicate",
    "no-route": "discards: no route",
    "cut-off": "loses to an outage, from",
}


def span(text: str) -> tuple[int, int]:
    """The first and the last slot of `FROM..TO`.

    >>> span("3..20")
    (3, 20)
    """
    found = re.fullmatch(r"\s*(\d+)\s*\.\.\s*(\d+)\s*", text)
    if not found or int(found[1]) > int(found[2]):
        raise UsageError(f'slots: "{text}"; expected two slots such as 0..40')
    return int(found[1]), int(found[2])


def slots_text(
    scenario: Scenario,
    first: int,
    last: int,
    *,
    seed: int | None = None,
    point: int = 0,
    replication: int = 0,
) -> str:
    """The events from slot `first` to slot `last` of one run, one line for each event and node.

    The run ends there, which does not change what happens before.
    """
    lengths = [
        scenario.numeric(key, entry["value"])
        for key, entry in scenario.resolved(point).items()
        if key.startswith("links.") and key.endswith(".frn.slot-length")
    ]
    longest = max((length for length in lengths if length), default=None)
    if longest is None:
        raise UsageError(f"{scenario.id} has no slotted network; expected a link of kind frn")
    if "run.duration" in {key for keys, _ in scenario.axes() for key in keys}:
        raise UsageError("the length of the run is swept; expected run.duration to be set", argument="set")
    # The outcome of a slot is known at its end, and its consequences at the beginning of the next.
    until = {"run.warmup": "0 s", "run.duration": f"{(last + 1) * longest:.9f} s"}
    swept = {"run.warmup"} & {key for keys, _ in scenario.axes() for key in keys}
    if swept:
        raise UsageError("the warm-up is swept; expected run.warmup to be set", argument="set")
    done = scenario.set(until).run(seed=seed, replication=replication, point=point, trace=["slots"])
    return _text(done.trace("slots"), first, last)


def _text(trace: Trace, first: int, last: int) -> str:
    several = len(set(trace["link"])) > 1
    rows: list[list[str]] = []
    names = ("link", "slot", "node", "event", "source", "packet", "peer", "retransmissions")
    for link, slot, node, event, source, packet, peer, count in zip(*(trace[n] for n in names), strict=True):
        if not first <= int(slot) <= last:
            continue
        other = peer if int(count) >= 0 else ""
        times = str(int(count)) if int(count) >= 0 else ""
        row = [str(int(slot)), node, _WORDS[event], other, f"{source}#{int(packet)}", times]
        rows.append([link, *row] if several else row)
    heads = ["slot", "node", "", "other", "packet", "retransmissions"]
    return grid(["link", *heads] if several else heads, rows)
