"""What ours does as a certain kernel: by its clock, and by the rules of its release.

They matter where single acknowledgements wait: a segment that comes before the kernel's timer has ticked is
acknowledged with the one before it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lasthop.peer.path import STATED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from lasthop.peer.path import Path
    from lasthop.scenario.scenario import Scenario

# Kernels before this one have room for so much beyond what is read in a round trip.
_WITHOUT_CUSHION, _CUSHION = (6, 16), "16 segments"
# A segment in the send buffer takes so much beyond its payload, as SO_MEMINFO shows in 6.12 and in 6.18.
_OVERHEADS = {True: "960 B", False: "832 B"}


def habits(scenario: Scenario, path: Path, release: str, tick_s: float) -> dict[str, str | bool]:
    """The keys of the flows of a path, with the values by which ours does as a kernel.

    Args:
        scenario: The scenario of the path; a key that it states is left out.
        path: One of its points.
        release: The release of the kernel, such as `6.12.117`.
        tick_s: The tick of its clock, in seconds.

    Returns:
        Values by key, for `Scenario.set`.
    """
    is_older = tuple(map(int, re.findall(r"\d+", release)[:2])) < _WITHOUT_CUSHION
    resolved = scenario.resolved(path.point)
    tick = f"{1e3 * tick_s:g} ms"
    found: dict[str, str | bool] = {}
    for flow in path.flows:
        of = f"flows.{flow.name}.tcp"
        found |= {f"{of}.ack-tick": tick, f"{of}.quick-acks-again": True}
        if flow.law == "cubic":
            found[f"{of}.cubic.tick"] = tick
        if is_older and resolved[f"{of}.receive-autotuning"]["value"] == "true":
            found[f"{of}.receive-cushion"] = _CUSHION
        if resolved[f"{of}.send-autotuning"]["value"] == "true":
            found |= {f"{of}.send-overhead": _OVERHEADS[is_older], f"{of}.send-merging": True}
    return {key: value for key, value in found.items() if _is_open(resolved.get(key))}


def in_words(keys: Iterable[Mapping[str, str | bool]], every: Collection[str]) -> str:
    """Keys of TCP with their values, each once; those that not every flow has with the names of its flows."""
    flows: dict[str, list[str]] = {}
    for key, value in dict.fromkeys((key, value) for of in keys for key, value in of.items()):
        flow, _, own = key.removeprefix("flows.").partition(".tcp.")
        flows.setdefault(f"{own} = {str(value).lower()}", []).append(flow)
    return ", ".join(
        text if len(of) == len(every) else f"{text} ({', '.join(of)})" for text, of in flows.items()
    )


def _is_open(entry: dict[str, str] | None) -> bool:
    """Whether a key has a meaning at a point, and nobody states its value."""
    return entry is not None and entry["from"] not in STATED
