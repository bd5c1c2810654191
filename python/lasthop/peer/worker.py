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
    from collections.abc import Callable

_ADDRESSES = ("10.77.0.1", "10.77.0.2")
_FIRST_PORT = 5001
# Between the time at which all threads are ready and the start of a run.
_AHEAD_S = 0.02
# A run that takes this much longer than it should is killed.
_GRACE_S = 20
_CHUNK = 1 << 18
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

    def wait(self, after_s: float) -> float:
        """Wait until this time of the run, and return the time that it is then."""
        self._is_set.wait()
        time.sleep(max(0.0, self.begin + after_s - time.monotonic()))
        return time.monotonic()


class _Flow:
    """The two ends of a connection and what they observe."""

    def __init__(self, facts: dict[str, Any], port: int, sample_s: float) -> None:
        self.facts = facts
        self.port = port
        self.sample_s = sample_s
        self.size: int | None = facts["size"]
        self.before = self.bytes = 0
        self.began = 0.0
        self.completion_s: float | None = None
        self.samples: list[tuple[float, int, int]] = []
        self.info: Any = None
        self.failure: str | None = None
        self.is_over = threading.Event()
        self.reader: socket.socket | None = None

    def open(self, *, is_sender: bool) -> None:
        """Make the socket of one end, which belongs to the namespace of the calling thread."""
        from lasthop.peer import system

        end = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        end.setsockopt(socket.IPPROTO_TCP, system.TCP_CONGESTION, self.facts["law"].encode())
        if is_sender:
            self.sender = end
        else:
            end.setsockopt(socket.IPPROTO_TCP, system.TCP_WINDOW_CLAMP, self.facts["window"])
            end.bind(("", self.port))
            end.listen(1)
            self.listener = end

    def write(self, to: str, clock: _Clock) -> None:
        """Connect, and write for ever or the whole of a file."""
        self.began = clock.wait(self.facts["start_s"])
        chunk = bytes(_CHUNK)
        left = self.size
        try:
            self.sender.connect((to, self.port))
            while left is None or left > 0:
                # The last, partial segment waits for the FIN, as in the simulator.
                sent = (
                    self.sender.send(chunk)
                    if left is None
                    else self.sender.send(chunk[:left], socket.MSG_MORE)
                )
                left = None if left is None else left - sent
            self.sender.shutdown(socket.SHUT_WR)
        except OSError as error:
            if not self.is_over.is_set():
                self.failure = f"sender: {error.strerror}"

    def read(self, clock: _Clock, since_s: float, until_s: float) -> None:
        """Accept the connection and read what comes; what comes between these times of the run counts."""
        into = memoryview(bytearray(_CHUNK))
        clock.wait(0.0)
        since, until = clock.begin + since_s, clock.begin + until_s
        try:
            self.reader, _ = self.listener.accept()
            while got := self.reader.recv_into(into):
                now = time.monotonic()
                if now <= until:
                    self.bytes += got
                    self.before += got if now < since else 0
                if self.size is not None and self.bytes >= self.size:
                    self.completion_s = now - self.began
                    break
        except OSError as error:
            if not self.is_over.is_set():
                self.failure = f"receiver: {error.strerror}"

    def watch(self, clock: _Clock) -> None:
        """Sample the window of the sender until the end."""
        from lasthop.peer import system

        begin = clock.wait(self.facts["start_s"])
        while not self.is_over.wait(self.sample_s):
            with suppress(OSError):
                found = system.info(self.sender)
                if found.srtt_s and (not self.samples or self.samples[-1][1:] != found[:2]):
                    self.samples.append((time.monotonic() - begin, found.cwnd, found.ssthresh))

    def end(self) -> None:
        """Take the last state, and leave nothing of the connection behind."""
        from lasthop.peer import system

        self.is_over.set()
        with suppress(OSError):
            self.info = system.info(self.sender)
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
        """What was observed, as plain data."""
        return {
            "bytes": self.bytes - self.before,
            "completion_s": self.completion_s,
            "samples": self.samples,
            "failure": self.failure,
            **(self.info._asdict() if self.info else {}),
        }


def _run(job: dict[str, Any]) -> dict[str, Any]:
    """Run the kernel's TCP over the path of a job."""
    from lasthop.peer import system

    settings = system.Settings(**job["settings"])
    sample_s = job["sample_s"]
    flows = [_Flow(facts, _FIRST_PORT + n, sample_s) for n, facts in enumerate(job["flows"])]
    relay = _scenario(job["text"], job["name"], tuple(map(tuple, job["overrides"]))).relay(
        job["point"], job["seed"], job["replication"], [tuple(step) for step in job["steps"]]
    )
    descriptors = []
    for place in range(2):
        descriptors.append(system.namespace(settings, (_ADDRESSES[place], _ADDRESSES[1 - place])))
        for flow in flows:
            flow.open(is_sender=flow.facts["from"] == place)
    stop = os.pipe()
    clock, ready = _Clock(), threading.Semaphore(0)
    readers, others = [], []
    for flow in flows:
        to = _ADDRESSES[1 - flow.facts["from"]]
        readers.append(_thread(ready, flow.read, clock, job["warmup_s"], job["duration_s"]))
        others.append(_thread(ready, flow.write, to, clock))
        if sample_s:
            others.append(_thread(ready, flow.watch, clock))
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
        ended = relay.run(tuple(descriptors), stop[0], _AHEAD_S + job["duration_s"])
    finally:
        system.calm()
        for flow in flows:
            flow.end()
        for thread in threads:
            thread.join(2.0)
        for flow in flows:
            flow.close()
        dropped = system.dropped()
        for descriptor in (*descriptors, *stop):
            with suppress(OSError):
                os.close(descriptor)
    return {**ended, "first": first, "dropped": dropped, "flows": [flow.result() for flow in flows]}


def _thread(ready: threading.Semaphore, work: Callable[..., None], *arguments: object) -> threading.Thread:
    """A thread for an end, which runs before other work of this machine, if that is allowed."""
    from lasthop.peer import system

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
    from lasthop.peer import system

    os.close(system.namespace(system.Settings(1500, True, True, False, 1 << 20), _ADDRESSES))
    known = dict.fromkeys([*system.laws(), *filter(system.has_law, job["laws"])])
    return {"laws": list(known), "release": platform.release()}


def _answer(job: dict[str, Any]) -> dict[str, Any]:
    from lasthop.peer import system

    try:
        return _probe(job) if "laws" in job else _run(job)
    except system.Refused as refused:
        return {"unavailable": str(refused)}
    except OSError as error:
        return {"failure": f"{error.strerror or error}"}


def main(parent: int) -> None:
    """Answer jobs until the standard input ends."""
    from lasthop.peer import system

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
