"""The dozen most informative metrics of a run, for when no metrics were requested."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST = 12
# Maximum number of metrics of one kind, such as the goodputs of a hundred stations.
_OF_A_KIND = 3
# The last words of metrics, most informative first.
_TELLING = (
    "goodput_bps",
    "completion_s",
    "acknowledged_s",
    "transfer_bps",
    "transfers_done",
    "transfers_unfinished",
    "segments_per_slot",
    "packets_sent",
    "packets_received",
    "packets_lost",
    "delay_mean_s",
    "rtt_mean_s",
    "lost_share",
    "retransmitted_share",
    "timeouts",
    "jain_index",
    "utilisation",
    "drops_queue",
    "drops_loss",
    "drops_retry",
    "repaired",
    "false_positives",
    "frames_errored",
    "frames_collided",
    "service_mean_s",
    "queue_delay_mean_s",
    "queue_mean_packets",
    "rtt_p95_s",
    "cwnd_mean_segments",
    "throughput_bps",
    "segments_sent",
    "fast_retransmits",
)


def telling(metrics: Mapping[str, float | None]) -> list[str]:
    """The names of the most informative metrics of a run, in the order of the metrics.

    >>> telling({"flows.a.goodput_bps": 1.0, "flows.a.rtt_sd_s": 0.0, "flows.a.completion_s": None})
    ['flows.a.goodput_bps']
    """
    flows = {name.split(".", 2)[1] for name in metrics if name.startswith("flows.")}
    kinds: dict[str, list[str]] = {last: [] for last in _TELLING}
    for name, value in metrics.items():
        last = name.rsplit(".", 1)[-1]
        # With a single flow, the sums over the run repeat its values.
        if last not in kinds or value is None or (len(flows) == 1 and "." not in name):
            continue
        if name.startswith("links.") and ".reverse." in name:
            continue
        if ".class." not in name or last.startswith("transfers"):
            kinds[last].append(name)
    chosen: list[str] = []
    for last in _TELLING:
        # Sums over many come before the single values.
        chosen += sorted(kinds[last], key=lambda name: "." in name)[:_OF_A_KIND]
    kept = set(chosen[:MOST])
    return [name for name in metrics if name in kept]
