"""Rules of traces: what was written down in every instant."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .observed import ROUNDING, Observed, seconds, size_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator


LEAST_SEGMENTS = 2.0
"""A window that no mark lowers further."""
MOST_LEFT = 0.7
"""The share of what was outstanding that an answer leaves: CUBIC's; Reno's is a half."""
# Laws whose windows are what an estimated rate or a link fills.
SET_BY_RATE = ("bbr", "bbr3", "jersey", "ejtcp")
RECOVERY_ENDS = ("exit", "timeout", "undo")
WIRES = ("wired", "lossy", "wimax", "trace")


def traced_times_go_forward(seen: Observed) -> Iterator[str]:
    for channel, columns in seen.traces.items():
        times = columns.get("time_s")
        if times is None or len(times) == 0:
            continue
        times = np.asarray(times)
        if np.any(np.diff(times) < 0) or times[0] < 0 or times[-1] > seen.run.simulated_s * (1 + ROUNDING):
            yield f"{channel}: from {times[0]} s to {times[-1]} s, or not in order"


def windows_have_a_segment(seen: Observed) -> Iterator[str]:
    for channel in ("cwnd", "tcp"):
        for flow, rows in _by_flow(seen, channel):
            if not np.all(np.isfinite(rows["cwnd"])) or np.any(rows["cwnd"] < 1 - ROUNDING):
                place = int(np.argmin(np.nan_to_num(rows["cwnd"], nan=-np.inf)))
                yield f"{channel} of {flow}: {rows['cwnd'][place]} segments at {rows['time_s'][place]} s"
            if np.any(np.isnan(rows["ssthresh"])) or np.any(rows["ssthresh"] < 1 - ROUNDING):
                yield f"{channel} of {flow}: a threshold of {np.min(rows['ssthresh'])} segments"


def a_mark_is_answered_once_a_round_trip(seen: Observed) -> Iterator[str]:
    """The first mark in a window of data lowers the window of Reno and CUBIC, and others do not.

    No undo takes back what marks call for (RFC 3168, 6.1.2; RFC 4015, 3): one that follows a mark in the
    same recovery leaves the threshold where it is. Later marks are answered again.
    """
    columns = seen.traces.get("tcp")
    if columns is None or "mark" not in columns["event"]:
        return
    events = np.asarray(columns["event"])
    flows = np.asarray(columns["flow"])
    for flow, rows in _by_flow(seen, "tcp"):
        falls = seen.is_set(f"{seen.tcp(flow)}.congestion", "reno", "cubic")
        answers = _Answers()
        for event, *row in zip(
            events[flows == flow],
            *(rows[name] for name in ("seq", "len", "ack", "cwnd", "ssthresh")),
            strict=True,
        ):
            if what := answers.fault(str(event), *map(float, row), falls=falls):
                yield f"{flow}: {what}"


@dataclass
class _Answers:
    """What a sender has answered, line by line of its trace."""

    sent: float = 0.0
    size: float = 1.0
    ack: float = 0.0
    una: float = 0.0
    """What was acknowledged before the acknowledgement that the line is about."""
    cwnd: float = 0.0
    ssthresh: float = 0.0
    fell: float = -1.0
    """Everything was sent below it when the window fell last, and before that."""
    before: float = -1.0
    answered: float = -1.0
    """Everything was sent below it when the window fell for a mark."""
    is_marked: bool = False
    """Whether a mark was reported since the recovery or the series of timeouts began."""
    repairs: bool = False
    """Whether a recovery or a series of timeouts has begun and is not over: one undo takes back all of it."""

    def fault(
        self, event: str, seq: float, length: float, ack: float, cwnd: float, ssthresh: float, *, falls: bool
    ) -> str | None:
        """What is wrong with the next line."""
        what = None
        has_fallen = cwnd < self.cwnd - ROUNDING or abs(ssthresh - self.ssthresh) > ROUNDING
        if event == "send" and seq < self.sent:
            # Of another connection.
            self.sent, self.ack, self.fell, self.before, self.answered = 0.0, 0.0, -1.0, -1.0, -1.0
            self.is_marked, self.repairs = False, False
        if event in {"ack", "partial", "dupack"}:
            self.una, self.ack = self.ack, ack
        if event in {"send", "probe"}:
            self.sent, self.size = max(self.sent, seq + length), max(self.size, length)
        elif event in {"enter", "timeout"}:
            self.before = self.before if self.repairs else self.fell
            # A loss of a window whose mark was answered belongs to the same congestion.
            is_answered = event == "enter" and ack < self.answered and ssthresh == self.ssthresh
            self.fell = self.fell if is_answered else self.sent
            self.is_marked, self.repairs = False, True
        elif event == "mark":
            self.is_marked = True
            # A FIN is acknowledged beyond the last byte.
            if self.fell < 0 or ack > self.fell + 1:
                # After a recovery the window may be less than what an answer leaves of what was outstanding.
                left = MOST_LEFT * (self.sent - self.una) / self.size
                if falls and not has_fallen and self.cwnd > max(LEAST_SEGMENTS, left):
                    what = f"a mark at {ack:.0f} is not answered at a window of {cwnd} segments"
                self.before = self.fell = self.answered = self.sent
            elif falls and ack <= self.fell and has_fallen:
                what = f"a mark at {ack:.0f} is answered again, before {self.fell:.0f} is acknowledged"
        elif event == "undo":
            if self.is_marked and ssthresh > self.ssthresh + ROUNDING:
                what = f"the window is back at {cwnd} segments though a mark was reported"
            self.fell, self.is_marked, self.repairs = self.before, False, False
        elif event == "exit" or ack >= self.fell:
            self.repairs = False
        self.cwnd, self.ssthresh = cwnd, ssthresh
        return what


def windows_grow_by_half_a_round_trip(seen: Observed) -> Iterator[str]:
    """Outside slow start, by laws that probe for bandwidth by their windows."""
    shortest_s = {flow: np.min(rows["rtt_s"]) for flow, rows in _by_flow(seen, "rtt") if len(rows["rtt_s"])}
    for flow, rows in _by_flow(seen, "tcp"):
        tcp = seen.tcp(flow)
        if seen.settings[f"{tcp}.congestion"] in SET_BY_RATE:
            continue
        if seen.settings.get(f"{tcp}.reaction", "none") != "none":
            continue
        words = np.asarray(seen.traces["tcp"]["event"])[np.asarray(seen.traces["tcp"]["flow"]) == flow]
        # Whether a recovery has begun after the last end of one.
        bounds = np.where(words == "enter", 1, np.where(np.isin(words, RECOVERY_ENDS), -1, 0))
        marks = np.flatnonzero(bounds)
        last = np.searchsorted(marks, np.arange(len(words)), side="right") - 1
        recovers = (last >= 0) & (bounds[marks[last]] > 0) if len(marks) else np.zeros(len(words), bool)
        of_growth = np.isin(words, ("ack", "send")) & ~recovers
        times, windows = rows["time_s"], rows["cwnd"]
        avoids = of_growth & (windows >= rows["ssthresh"])
        # Without selective acknowledgements that of a hole counts for all behind it: many windows.
        advance = np.diff(rows["ack"]) / size_bytes(seen.settings[f"{tcp}.packet"])
        jumps = (advance < 0) | (advance > windows[:-1])
        falls = np.append(True, np.diff(windows) < 0) | np.append(True, jumps)
        # Avoidance begins where slow start or a recovery ends, the window falls, or a connection begins.
        begins = np.flatnonzero(avoids & (falls | ~np.append(False, avoids[:-1])))
        places = np.flatnonzero(avoids)
        if len(places) == 0:
            continue
        begin = begins[np.searchsorted(begins, places, side="right") - 1]
        round_trip_s = shortest_s.get(flow, 0.0) * (1 - ROUNDING)
        earlier = np.searchsorted(times, times[places] - round_trip_s, side="right") - 1
        before = np.clip(earlier, begin, places)
        grown = windows[places] - 1.5 * windows[before]
        if np.any(grown > 1 + ROUNDING):
            worst = int(np.argmax(grown))
            yield (
                f"tcp of {flow}: from {windows[before[worst]]} to {windows[places[worst]]} segments "
                f"up to {times[places[worst]]} s"
            )


def round_trips_are_times(seen: Observed) -> Iterator[str]:
    for flow, rows in _by_flow(seen, "rtt"):
        for column, values in rows.items():
            if not np.all(np.isfinite(values)) or np.any(values < 0):
                yield f"{column} of {flow}: {np.min(values)} to {np.max(values)}"
        longest_s = seconds(seen.settings[f"{seen.tcp(flow)}.max-rto"])
        shortest_s = seconds(seen.settings[f"{seen.tcp(flow)}.min-rto"])
        rto_s = rows["rto_s"]
        if np.any(rto_s > longest_s * (1 + ROUNDING)) or np.any(rto_s < shortest_s * (1 - ROUNDING)):
            yield (
                f"rto of {flow}: {np.min(rto_s)} s to {np.max(rto_s)} s, "
                f"and it may be {shortest_s} s to {longest_s} s"
            )


def queues_hold_what_they_have_room_for(seen: Observed) -> Iterator[str]:
    columns = seen.traces.get("queue")
    if columns is None:
        return
    links, directions = (np.asarray(columns[name], dtype=str) for name in ("link", "direction"))
    packets = np.asarray(columns["packets"])
    for link in seen.tree["links"]:
        for direction, at in (("forward", ""), ("reverse", "reverse.")):
            room = re.fullmatch(r"(\d+) packets?", seen.settings.get(f"links.{link}.{at}queue", ""))
            held = packets[(links == link) & (directions == direction)]
            if room and len(held) and np.max(held) > int(room[1]):
                yield f"{link} {direction}: {np.max(held):.0f} packets, room for {room[1]}"
        room = re.fullmatch(r"(\d+) packets?", seen.settings.get(f"links.{link}.queue", ""))
        held = packets[(links == link) & (directions == "-")]
        # The room of an 802.11 station does not include the packet in service.
        if room and len(held) and np.max(held) > int(room[1]) + 1:
            yield f"{link}: {np.max(held):.0f} packets at a station, room for {room[1]} and one in service"


def events_are_those_of_the_accounts(seen: Observed) -> Iterator[str]:
    columns = seen.traces.get("events")
    if columns is None:
        return
    layers, events, flows = (np.asarray(columns[name], dtype=str) for name in ("layer", "event", "flow"))
    transports, links = np.isin(layers, ("tcp", "udp")), layers == "link"
    reasons, names = (np.asarray(columns[name], dtype=str) for name in ("why", "link"))
    wires = [name for name in np.unique(names) if seen.kind_of(name) in WIRES]
    of_wire = links & np.isin(names, wires)
    for end, (terms, _) in seen.accounts.items():
        for term, of_layer, event in (
            ("entered", transports, "send"),
            ("delivered", transports, "receive"),
            ("lost", links, "lost"),
        ):
            of_end = of_layer & (flows == end)
            found = int(np.count_nonzero(of_end & (events == event)))
            # A wire decides on a loss when it enqueues the packet, which may arrive after the end of the run.
            taken = of_wire & (flows == end) & np.isin(events, ("queue", "copy"))
            over = of_wire & (flows == end) & np.isin(events, ("receive", "lost"))
            over &= ~np.isin(reasons, ("queue", "policer"))
            late = int(np.count_nonzero(taken)) - int(np.count_nonzero(over)) if term == "lost" else 0
            if not found <= terms[term][0] <= found + late:
                yield f"{end}: {found} events of {term}, and {terms[term][0]} packets"


def frames_end_once_and_are_of_a_packet_that_was_made(seen: Observed) -> Iterator[str]:
    columns = seen.traces.get("events")
    if columns is None:
        return
    layers, events, why = (np.asarray(columns[name], dtype=str) for name in ("layer", "event", "why"))
    packets, frames = (np.asarray(columns[name]) for name in ("packet", "frame"))
    of_frames = layers == "frame"
    begun, ended = frames[of_frames & (events == "send")], frames[of_frames & (events != "send")]
    if len(np.unique(begun)) != len(begun) or len(np.unique(ended)) != len(ended):
        yield "a frame is sent or ends more than once"
    if not np.all(np.isin(ended, begun)):
        yield f"{int(np.count_nonzero(~np.isin(ended, begun)))} frames end that were not sent"
    made = packets[np.isin(events, ("send", "make", "again", "copy")) & ~of_frames]
    if not np.all(np.isin(packets, np.append(made, 0))):
        yield "a packet that no one made"
    if np.any((events == "lost") & (why == "")):
        yield "a loss without a cause"


def _by_flow(seen: Observed, channel: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of each end of a flow in a trace."""
    columns = seen.traces.get(channel)
    if columns is None:
        return
    flows = np.asarray(columns["flow"])
    for flow in sorted(set(columns["flow"])):
        numbers = {
            name: np.asarray(column)[flows == flow]
            for name, column in columns.items()
            if not isinstance(column, list)
        }
        yield str(flow), numbers
