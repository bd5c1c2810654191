"""One end of the connections of a case, in its folder: `python -m search.live.endpoint PLAN SIDE PEER`.

It writes `SIDE.json`: of each connection what was written, read and acknowledged, over time, and what was
wrong. Only `read` compares: the bytes of each direction follow from the name of the connection. One thread
looks at all connections every few milliseconds, so that a stalled one delays no other.
"""

import errno
import json
import random
import socket
import struct
import sys
import time
from pathlib import Path

TICK_S = 0.004
SAMPLE_S = 0.01
GREETING = 100
# <linux/tcp.h>
TCP_INFO, TCP_CONGESTION, TCP_FASTOPEN, TCP_FASTOPEN_CONNECT = 11, 13, 23, 30
ACKED, RECEIVED, RCV_WND = ("=Q", 120), ("=Q", 128), ("=I", 232)
SHOWN = {
    "state": ("=B", 0),
    "retransmits": ("=B", 2),
    "probes": ("=B", 3),
    "backoff": ("=B", 4),
    "rto_us": ("=I", 8),
    "unacked": ("=I", 24),
    "total_retrans": ("=I", 100),
    "notsent": ("=I", 144),
    "snd_wnd": ("=I", 228),
    "acked": ACKED,
    "received": RECEIVED,
    "rcv_wnd": RCV_WND,
}
NOT_YET = (errno.EAGAIN, errno.ENOTCONN, errno.EINPROGRESS, errno.EALREADY)
OTHER = {"client": "server", "server": "client"}


def content(seed: str, name: str, side: str, size: int) -> bytes:
    """What a side of a connection sends."""
    return random.Random(f"{seed}/{name}/{side}").randbytes(size)


class End:
    """An end of a connection."""

    def __init__(self, plan: dict, connection: dict, side: str, sock: socket.socket) -> None:
        self.plan, self.of, self.side, self.sock = plan, connection, side, sock
        name, seed = connection["name"], plan["seed"]
        self.to_write = content(seed, name, side, connection[side]["size"])
        self.expected = content(seed, name, OTHER[side], connection[OTHER[side]]["size"])
        self.written = self.read = 0
        self.has_ended = self.is_over = self.has_shut = False
        self.fault: str | None = None
        self.samples: list[tuple[float, float, int, int, int, int]] = []
        self.begun = time.monotonic()
        self.stalled_until: float | None = None
        sock.setblocking(False)

    def report(self) -> dict:
        return {
            "written": self.written,
            "read": self.read,
            "has_ended": self.has_ended,
            "is_over": self.is_over,
            "fault": self.fault,
            "samples": self.samples,
            "lasted_s": time.monotonic() - self.begun,
            "info": {} if self.is_over else self.info(SHOWN),
        }

    def info(self, fields: dict) -> dict:
        raw = self.sock.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 256)
        return {name: struct.unpack_from(form, raw, at)[0] for name, (form, at) in fields.items()}

    def sample(self, *, now: bool = False) -> None:
        before = time.monotonic()
        if self.is_over or not (now or not self.samples or before > self.samples[-1][0] + SAMPLE_S):
            return
        known = self.info({"acked": ACKED, "received": RECEIVED, "rcv_wnd": RCV_WND})
        self.samples.append((before, time.monotonic(), *known.values(), self.read))

    def step(self) -> bool:
        """Do what can be done now; returns whether something was."""
        if self.is_over:
            return False
        try:
            self.sample()
            has_read, has_written = self._read(), self._write()
            self._close()
        except (ConnectionError, TimeoutError) as error:
            self._failed(error)
        else:
            return has_read or has_written
        return True

    def _failed(self, error: OSError) -> None:
        reset = self.of["reset"]
        may_break = reset is not None and not isinstance(error, TimeoutError)
        if not may_break and not (self.has_ended and self.written == len(self.to_write)):
            self.fault = f"{type(error).__name__} after {self.read} read and {self.written} written"
        self._over()

    def _over(self) -> None:
        self.sample(now=True)
        self.sock.close()
        self.is_over = True

    def _allowed(self) -> int:
        """Bytes that the application reads now."""
        ways = self.of[self.side]
        now = time.monotonic()
        if ways["stall_s"] and self.read >= ways["stall_at"]:
            if self.stalled_until is None:
                self.stalled_until = now + ways["stall_s"]
            if now < self.stalled_until:
                return 0
        if ways["rate"]:
            return max(0, int((now - self.begun) * ways["rate"]) - self.read)
        return 1 << 20

    def _read(self) -> bool:
        if self.has_ended:
            return False
        # The end of the stream is seen without reading data.
        allowed = self._allowed() or (self.read == len(self.expected))
        if not allowed:
            return False
        try:
            got = self.sock.recv(allowed)
        except OSError as error:
            if error.errno not in NOT_YET:
                raise
            return False
        if not got:
            self.has_ended = True
            if self.read < len(self.expected) and self.of["reset"] is None:
                self.fault = f"ends after {self.read} of {len(self.expected)} bytes"
            return True
        until = self.read + len(got)
        if got != self.expected[self.read : until]:
            pairs = zip(got, self.expected[self.read :].ljust(until - self.read, b"\0"), strict=False)
            at = next((place for place, (one, other) in enumerate(pairs) if one != other), len(got))
            self.fault = f"differs at byte {self.read + at} of {len(self.expected)}"
        self.read = until
        return True

    def _may_write(self) -> bool:
        order = self.of["order"]
        if order == "request" and self.side == "server":
            return self.read == len(self.expected)
        if order == "greeting" and self.side == "client":
            return self.read >= min(GREETING, len(self.expected))
        return True

    def _write(self) -> bool:
        if self.written == len(self.to_write) or not self._may_write():
            return False
        part = self.to_write[self.written : self.written + self.of[self.side]["chunk"]]
        try:
            self.written += self.sock.send(part)
        except OSError as error:
            if error.errno not in NOT_YET:
                raise
            return False
        return True

    def _is_connected(self) -> bool:
        try:
            self.sock.getpeername()
        except OSError:
            return False
        return True

    def _close(self) -> None:
        reset, close = self.of["reset"], self.of["close"]
        if reset and reset["side"] == self.side and self.read >= reset["after"]:
            self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._over()
            return
        has_written = self.written == len(self.to_write)
        is_done = has_written and self.read >= len(self.expected)
        # Of "server" and "client" this side ends first; with "half" each side as soon as it has written.
        may_shut = (
            has_written if close == "half" else is_done and (close in ("late", self.side) or self.has_ended)
        )
        resets = reset is not None and reset["side"] == self.side
        if may_shut and not self.has_shut and not resets and self._is_connected():
            self.has_shut = True
            if close == self.side and self.of["is_abrupt"]:
                self._over()
                return
            self.sock.shutdown(socket.SHUT_WR)
        if self.has_ended and (self.has_shut or self.fault):
            self._over()


def prepare(sock: socket.socket, plan: dict, ways: dict, *, is_kept_alive: bool) -> None:
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, plan["law"].encode())
    if ways["rcvbuf"]:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ways["rcvbuf"])
    if plan["mss"]:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, plan["mss"])
    if is_kept_alive:
        # Whoever waits for data learns by a probe that the other end has gone.
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in ((socket.TCP_KEEPIDLE, 1), (socket.TCP_KEEPINTVL, 1), (socket.TCP_KEEPCNT, 30)):
            sock.setsockopt(socket.IPPROTO_TCP, option, value)


def connected(plan: dict, connection: dict, peer: str) -> socket.socket:
    sock = socket.socket()
    prepare(sock, plan, connection["client"], is_kept_alive=connection["reset"] is not None)
    if connection["from"]:
        sock.bind(("", connection["from"]))
    if plan["fastopen"]:
        sock.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN_CONNECT, 1)
    sock.setblocking(False)
    status = sock.connect_ex((peer, connection["port"]))
    if status not in (0, errno.EINPROGRESS):
        raise OSError(status, connection["name"])
    return sock


class Server:
    """Listens for the connections of each lane, which come one after the other."""

    def __init__(self, plan: dict) -> None:
        self.plan, self.listeners = plan, []
        for lane in plan["lanes"]:
            listener = socket.socket()
            prepare(listener, plan, lane[0]["server"], is_kept_alive=any(one["reset"] for one in lane))
            if plan["fastopen"]:
                listener.setsockopt(socket.IPPROTO_TCP, TCP_FASTOPEN, 16)
            listener.bind(("", lane[0]["port"]))
            listener.listen(64)
            listener.setblocking(False)
            self.listeners.append((listener, list(lane)))

    def begin(self, ends: list[End]) -> bool:
        """Take new connections; returns whether there are more to come."""
        for listener, waiting in self.listeners:
            while waiting:
                try:
                    sock, _ = listener.accept()
                except BlockingIOError:
                    break
                ends.append(End(self.plan, waiting.pop(0), "server", sock))
        return any(waiting for _, waiting in self.listeners)


class Client:
    """Begins a connection of each lane when the one before it is over."""

    def __init__(self, plan: dict, peer: str) -> None:
        self.plan, self.peer = plan, peer
        self.lanes = [(list(lane), []) for lane in plan["lanes"]]

    def begin(self, ends: list[End]) -> bool:
        for waiting, begun in self.lanes:
            if waiting and (not begun or begun[-1].is_over):
                connection = waiting[0]
                try:
                    sock = connected(self.plan, connection, self.peer)
                except OSError as error:
                    # The port is that of a connection that has not quite ended.
                    if error.errno not in (errno.EADDRINUSE, errno.EADDRNOTAVAIL):
                        raise
                    continue
                waiting.pop(0)
                begun.append(End(self.plan, connection, "client", sock))
                ends.append(begun[-1])
        return any(waiting for waiting, _ in self.lanes)


def counters() -> dict[str, int]:
    """What the kernel counts in this namespace."""
    found = {}
    for file in ("snmp", "netstat"):
        lines = Path(f"/proc/net/{file}").read_text().splitlines()
        for names, numbers in zip(lines[::2], lines[1::2], strict=True):
            found |= dict(zip(names.split()[1:], map(int, numbers.split()[1:]), strict=True))
    chosen = ("PAWSEstab", "PAWSActive", "TCPACKSkippedPAWS", "InCsumErrors", "InErrs", "BeyondWindow")
    more = ("TCPTimeouts", "TCPSACKReneging", "TCPZeroWindowDrop", "EstabResets", "RetransSegs", "RcvPruned")
    return {name: found[name] for name in (*chosen, *more) if found.get(name)}


def main(file: str, side: str, peer: str) -> None:
    plan = json.loads(Path(file).read_text())
    for name, value in plan["sysctls"].items():
        Path(f"/proc/sys/net/ipv4/{name}").write_text(str(value))
    until = time.monotonic() + plan["limit_s"]
    ends: list[End] = []
    own, others, ready = Path(f"{side}.json"), Path(f"{OTHER[side]}.json"), Path("ready")
    if side == "server":
        source: Server | Client = Server(plan)
        ready.touch()
    else:
        source = Client(plan, peer)
        while not ready.exists():
            time.sleep(TICK_S)
    while (source.begin(ends) or not all(end.is_over for end in ends)) and time.monotonic() < until:
        if not sum(end.step() for end in ends):
            time.sleep(TICK_S)
    done = {end.of["name"]: end.report() for end in ends}
    spare = own.with_suffix(".part")
    spare.write_text(json.dumps({"connections": done, "counters": counters()}))
    spare.rename(own)
    # What this end has sent last may still have to be sent again.
    while not others.exists() and time.monotonic() < until + 2:
        for end in ends:
            end.step()
        time.sleep(TICK_S)


if __name__ == "__main__":
    main(*sys.argv[1:])
