"""A process in which the kernel's TCP runs over a relay, one path at a time.

It reads jobs from its standard input, a line of JSON each, and answers each with a line. Its main thread is
the relay; threads of their own write, read and watch the connections. It is started by the name of this
file, before anything could have started a thread, since only a process of one thread may change its user
namespace.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import socket
import struct
import sys
import threading
import time
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_PROBE_ADDRESS = "10.0.0.1"
_FIRST_PORT = 5001
# A wait that is longer than this may be interrupted.
_PATIENCE_S = 0.05
# Between the time at which all threads are ready and the start of a run.
_AHEAD_S = 0.02
# A run that takes this much longer than it should is killed.
_GRACE_S = 20
_CHUNK = 1 << 18
# CLOCK_MONOTONIC_COARSE, whose resolution is a tick of the kernel.
_CLOCK_OF_TICKS = 6
# A window is bounded again so often in each window: the kernel's tuning of the receiver's buffer raises it.
_CLAMPS = 64
_RELAY, _ENDS = 2, 1


class _Clock:
    """The start of a run, which is set once all threads are ready."""

    def __init__(self) -> None:
        self.begin = 0.0
        self._is_set = threading.Event()

    def start(self) -> None:
        """Let the run begin soon."""
        self.begin = time.monotonic() + _AHEAD_S
        self._is_set.set()

    def wait(self, after_s: float, is_over: threading.Event | None = None) -> float:
        """Wait until this time of the run, or until it is over, and return the time that it is then."""
        self._is_set.wait()
        left = self.begin + after_s - time.monotonic()
        if is_over is not None and left > 2 * _PATIENCE_S and is_over.wait(left - _PATIENCE_S):
            return time.monotonic()
        left = self.begin + after_s - time.monotonic()
        if left > 0:
            time.sleep(left)
        return time.monotonic()

    def ahead(self) -> float:
        """How long it is until the start."""
        return max(0.0, self.begin - time.monotonic())


class _Flow:
    """The two ends of a connection and what they observe."""

    def __init__(self, facts: dict[str, Any], port: int, sample_s: float, writes: Iterable[Any]) -> None:
        self.facts = facts
        self.port = port
        self.sample_s = sample_s
        self.writes = writes
        self.size: int | None = facts["size"]
        self.before = self.bytes = 0
        self.began = 0.0
        self.completion_s: float | None = None
        self.samples: list[tuple[float, int, int]] = []
        self.connected: Any = None
        self.measured: Any = None
        self.info: Any = None
        self.failure: str | None = None
        self.is_over = threading.Event()
        self.reader: socket.socket | None = None

    def open(self, *, is_sender: bool) -> None:
        """Make the socket of one end, which belongs to the namespace of the calling thread."""
        from lasthop.realtime import tcp

        end = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        end.setsockopt(socket.IPPROTO_TCP, tcp.TCP_CONGESTION, self.facts["law"].encode())
        if is_sender:
            self.sender = end
            if not self.facts["has_nagle"]:
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.facts["is_paced"]:
                tcp.pace(end)
        else:
            end.setsockopt(socket.IPPROTO_TCP, tcp.TCP_WINDOW_CLAMP, self.facts["window"])
            end.bind(("", self.port))
            end.listen(1)
            self.listener = end

    def write(self, to: str, clock: _Clock) -> None:
        """Connect, and write what the application writes, each at its time."""
        from lasthop.realtime import tcp

        try:
            for at_ns, size, closes in self.writes:
                now = clock.wait(at_ns * 1e-9, self.is_over)
                if self.is_over.is_set():
                    return
                if self.connected is None:
                    self.began = now
                    self.sender.connect((to, self.port))
                    self.connected = tcp.info(self.sender)
                # The last, partial segment waits for the FIN, as in the simulator.
                self._send(size, socket.MSG_MORE if closes else 0)
            self.sender.shutdown(socket.SHUT_WR)
        except OSError as error:
            if not self.is_over.is_set():
                self.failure = f"sender: {error.strerror}"

    def _send(self, size: int | None, flags: int) -> None:
        """Write this many bytes, or for ever."""
        chunk = bytes(_CHUNK if size is None else min(size, _CHUNK))
        while size is None or size > 0:
            sent = self.sender.send(chunk if size is None else chunk[:size], flags)
            size = None if size is None else size - sent

    def begin_measurement(self, clock: _Clock, since_s: float) -> None:
        """Take the state of the flow when the measured time begins."""
        from lasthop.realtime import tcp

        clock.wait(since_s, self.is_over)
        with suppress(OSError):
            if self.connected is not None:
                self.measured = tcp.info(self.sender)
            if self.reader is not None:
                self.before = tcp.info(self.reader).received

    def read(self, clock: _Clock) -> None:
        """Accept the connection and read what comes, until the file is complete.

        Each call has the kernel itself read a part of a window, segment by segment, without a copy.
        """
        from lasthop.realtime import tcp

        window = self.facts["window"]
        into = bytearray(max(1, window // _CLAMPS))
        clock.wait(0.0)
        try:
            self.reader, _ = self.listener.accept()
            while self.bytes != self.size:
                left = len(into) if self.size is None else min(len(into), self.size - self.bytes)
                got = self.reader.recv_into(into, left, socket.MSG_TRUNC | socket.MSG_WAITALL)
                if got == 0:
                    return
                self.bytes += got
                tcp.clamp(self.reader, window)
            self.completion_s = time.monotonic() - self.began
        except OSError as error:
            if not self.is_over.is_set():
                self.failure = f"receiver: {error.strerror}"

    def watch(self, clock: _Clock) -> None:
        """Sample the window of the sender until the end."""
        from lasthop.realtime import tcp

        begin = clock.wait(self.facts["start_s"], self.is_over)
        while not self.is_over.wait(self.sample_s):
            with suppress(OSError):
                found = tcp.info(self.sender)
                if found.srtt_s and (not self.samples or self.samples[-1][1:] != found[:2]):
                    self.samples.append((time.monotonic() - begin, found.cwnd, found.ssthresh))

    def end(self) -> None:
        """Take the last state, and leave nothing of the connection behind."""
        from lasthop.realtime import tcp

        self.is_over.set()
        with suppress(OSError):
            self.info = tcp.info(self.sender)
        for end in (self.sender, self.reader, self.listener):
            with suppress(OSError, AttributeError):
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # type: ignore[union-attr]
            with suppress(OSError, AttributeError):
                # It wakes up a thread that waits in a call; closing does not.
                end.shutdown(socket.SHUT_RDWR)  # type: ignore[union-attr]

    def close(self) -> None:
        """Close the sockets, once no thread uses them."""
        for end in (self.sender, self.reader, self.listener):
            if end is not None:
                end.close()

    def result(self) -> dict[str, Any]:
        """What was observed, as plain data; what is counted is of the measured time."""
        found: dict[str, Any] = {
            "bytes": self.bytes - self.before,
            "completion_s": self.completion_s,
            "samples": self.samples,
            "failure": self.failure,
        }
        if self.info is None:
            return found
        last = self.info._asdict()
        if self.measured is not None:
            for name in ("retransmitted", "delivered_ce"):
                last[name] -= getattr(self.measured, name)
        # Ours do not count those for a SYN.
        first = self.measured or self.connected
        if first is not None and last["timeouts"] is not None:
            last["timeouts"] -= first.timeouts
        return {**found, **last}


class _Ends:
    """The counters of both namespaces."""

    def __init__(self) -> None:
        self.all: list[Any] = []
        self.before: list[dict[str, int]] = [{}, {}]

    def begin_measurement(self, clock: _Clock, since_s: float, is_over: threading.Event) -> None:
        """Take the counters when the measured time begins."""
        clock.wait(since_s, is_over)
        self.before = [counts.tcp() for counts in self.all]

    def result(self) -> list[dict[str, int]]:
        """What TCP counted at both ends in the measured time, by the names of the kernel."""
        both = zip(self.all, self.before, strict=True)
        return [
            {name: count - before.get(name, 0) for name, count in counts.tcp().items() if count}
            for counts, before in both
        ]

    def dropped(self) -> int:
        """Packets that the interfaces dropped."""
        return sum(counts.dropped() for counts in self.all)

    def close(self) -> None:
        """Let go of the namespaces."""
        for counts in self.all:
            counts.close()


def _run(job: dict[str, Any]) -> dict[str, Any]:
    """Run the kernel's TCP over the path of a job."""
    from lasthop.realtime import system, tcp

    settings = system.Settings(**job["settings"])
    sample_s, since_s = job["sample_s"], job["warmup_s"]
    scenario = _scenario(job["text"], job["name"], tuple(map(tuple, job["overrides"])))
    place = (job["point"], job["seed"], job["replication"])
    flows = [
        _Flow(facts, _FIRST_PORT + n, sample_s, scenario.writes(*place, n))
        for n, facts in enumerate(job["flows"])
    ]
    live = scenario.live(place[0], place[1:], job["ends"], _FIRST_PORT)
    addresses = live.addresses()
    descriptors, counters = [], _Ends()
    for end in range(2):
        descriptors.append(system.namespace(settings, addresses[end]))
        counters.all.append(tcp.Counts())
        for flow in flows:
            flow.open(is_sender=flow.facts["from"] == end)
    backlog = system.backlog()
    stop = os.pipe()
    clock, ready = _Clock(), threading.Semaphore(0)
    readers, others = [], []
    for flow in flows:
        to = addresses[1 - flow.facts["from"]]
        readers.append(_thread(ready, flow.read, clock))
        others.append(_thread(ready, flow.write, to, clock))
        if sample_s:
            others.append(_thread(ready, flow.watch, clock))
        if since_s:
            others.append(_thread(ready, flow.begin_measurement, clock, since_s))
    if since_s:
        others.append(_thread(ready, counters.begin_measurement, clock, since_s, flows[0].is_over))
    ends = [*readers, *others]
    others.append(threading.Thread(target=_stop_after, args=(readers, stop[1]), daemon=True))
    threads = [*readers, *others]
    for thread in threads:
        thread.start()
    for _ in ends:
        ready.acquire()
    first = system.hurry(_RELAY)
    clock.start()
    try:
        ended = live.run(descriptors, stop[0], (clock.ahead(), job["duration_s"], system.early_s()))
    finally:
        system.calm()
        counted = counters.result()
        for flow in flows:
            flow.end()
        for thread in threads:
            thread.join(2.0)
        for flow in flows:
            flow.close()
        dropped = counters.dropped()
        counters.close()
        for descriptor in (*descriptors, *stop):
            with suppress(OSError):
                os.close(descriptor)
    metrics = ended.pop("run").metrics
    return {
        **ended,
        "links": {name: value for name, value in metrics.items() if name.startswith("links.")},
        "first": first,
        "dropped": dropped,
        "backlog": backlog,
        "tcp": counted,
        "flows": [flow.result() for flow in flows],
    }


def _thread(ready: threading.Semaphore, work: Callable[..., None], *arguments: object) -> threading.Thread:
    """A thread for an end, which runs before other work of this machine, if that is allowed."""
    from lasthop.realtime import system

    def in_time() -> None:
        system.hurry(_ENDS)
        ready.release()
        work(*arguments)

    return threading.Thread(target=in_time, daemon=True)


def _stop_after(readers: list[threading.Thread], stop: int) -> None:
    """Stop the relay when all files are complete."""
    for thread in readers:
        thread.join()
    with suppress(OSError):
        os.write(stop, b"\0")


@lru_cache(maxsize=2)
def _scenario(text: str, name: str, overrides: tuple[tuple[str, str], ...]) -> Any:
    from lasthop import _core

    return _core.Scenario.from_text(text, name, overrides)


def _probe(job: dict[str, Any]) -> dict[str, Any]:
    """Whether this system can do it, and which laws it has."""
    from lasthop.realtime import system, tcp

    tun = system.namespace(system.Settings(1500, True, True, 0, 1 << 20), _PROBE_ADDRESS)
    backlog = system.backlog()
    os.close(tun)
    known = dict.fromkeys([*tcp.laws(), *filter(tcp.has_law, job["laws"])])
    return {
        "laws": list(known),
        "release": platform.release(),
        "backlog": backlog,
        "has_accurate_ecn": tcp.has_accurate_ecn(),
        "tick_s": time.clock_getres(_CLOCK_OF_TICKS),
    }


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    from lasthop.realtime import system

    try:
        return _probe(job) if "laws" in job else _run(job)
    except system.Refused as refused:
        return {"unavailable": str(refused)}
    except OSError as error:
        return {"failure": f"{error.strerror or error}"}


def main(parent: int) -> None:
    """Answer jobs until the standard input ends."""
    from lasthop.realtime import system

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    refused = None
    try:
        system.own_user()
        # After it: a process that gains capabilities loses the signal.
        system.die_with(parent)
    except system.Refused as found:
        refused = {"unavailable": str(found)}
    for line in sys.stdin:
        job = json.loads(line)
        signal.alarm(int(job.get("duration_s", 0) + _GRACE_S))
        answer = refused or _answer(job)
        signal.alarm(0)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
