"""The kernel's TCP: its laws, the counters of a namespace, and the settings and state of a connection."""

from __future__ import annotations

import os
import socket
import struct
from pathlib import Path
from typing import NamedTuple

from lasthop.realtime.system import NAME, SETTINGS

# <linux/tcp.h>
TCP_WINDOW_CLAMP, TCP_INFO, TCP_CONGESTION = 10, 11, 13
# Documentation/networking/ip-sysctl.rst: connections request accurate ECN, and accept it.
ACCURATE_ECN = 3
# <asm-generic/socket.h>. A bound of the pace has the kernel pace a connection whose law does not; it has to
# be finite.
_SO_MAX_PACING_RATE, _NO_LIMIT = 47, (1 << 63) - 1


def clamp(connection: socket.socket, window: int) -> None:
    """Bound the window that a connection offers, which the kernel's tuning of its buffer raises again."""
    if connection.getsockopt(socket.IPPROTO_TCP, TCP_WINDOW_CLAMP) > window:
        connection.setsockopt(socket.IPPROTO_TCP, TCP_WINDOW_CLAMP, window)


def pace(connection: socket.socket) -> None:
    """Have the kernel pace a connection, at its own rate."""
    connection.setsockopt(socket.SOL_SOCKET, _SO_MAX_PACING_RATE, struct.pack("=Q", _NO_LIMIT))


def default_law() -> str:
    """The congestion control law of connections that do not choose one."""
    return (SETTINGS / "tcp_congestion_control").read_text(encoding="ascii").strip()


def laws() -> list[str]:
    """The congestion control laws that a new namespace offers."""
    return (SETTINGS / "tcp_available_congestion_control").read_text(encoding="ascii").split()


def has_law(law: str) -> bool:
    """Whether a socket here may use a law; the kernel loads it if it can."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        try:
            one.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, law.encode())
        except OSError:
            return False
    return True


def has_accurate_ecn() -> bool:
    """Whether the kernel of the calling thread's namespace has accurate ECN; it is set to it then."""
    try:
        (SETTINGS / "tcp_ecn").write_text(str(ACCURATE_ECN), encoding="ascii")
    except OSError:
        return False
    return True


class Counts:
    """The counters of the namespace in which this was made."""

    def __init__(self) -> None:
        net = Path("/proc/thread-self/net")
        self._devices = os.open(net / "dev", os.O_RDONLY | os.O_CLOEXEC)
        self._protocols = os.open(net / "netstat", os.O_RDONLY | os.O_CLOEXEC)

    def close(self) -> None:
        """Let go of the namespace."""
        os.close(self._devices)
        os.close(self._protocols)

    def dropped(self) -> int:
        """Packets that its interface dropped instead of handing them over."""
        for line in _all_of(self._devices).splitlines():
            name, _, counts = line.partition(":")
            if name.strip() == NAME.decode():
                words = counts.split()
                return int(words[3]) + int(words[11])
        return 0

    def tcp(self) -> dict[str, int]:
        """What TCP counts for all connections together, by the kernel's names without `TcpExt`."""
        lines = [line.split() for line in _all_of(self._protocols).splitlines() if line.startswith("TcpExt:")]
        names, numbers = lines[0][1:], lines[1][1:]
        return dict(zip(names, map(int, numbers), strict=True))


def _all_of(file: int) -> str:
    parts, at = [], 0
    while part := os.pread(file, 1 << 16, at):
        parts.append(part)
        at += len(part)
    return b"".join(parts).decode("ascii")


class Info(NamedTuple):
    """A part of the kernel's state of a connection."""

    cwnd: int
    ssthresh: int
    srtt_s: float
    rtt_min_s: float
    retransmitted: int
    #: Bytes that came in order.
    received: int
    #: Firings of the retransmission timer, those for a SYN included; `None` before Linux 6.7.
    timeouts: int | None
    #: Segments that arrived with a mark, as the peer reports.
    delivered_ce: int
    pacing_rate: int
    sndbuf_limited_s: float


def info(connection: socket.socket) -> Info:
    """The state of a connection (`struct tcp_info` of <linux/tcp.h>)."""
    raw = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 256)

    def field(kind: str, at: int) -> int:
        """A field, or 0 where this kernel has a shorter structure."""
        form = struct.Struct(f"={kind}")
        return int(form.unpack_from(raw, at)[0]) if len(raw) >= at + form.size else 0

    return Info(
        cwnd=field("I", 80),
        ssthresh=field("I", 76),
        srtt_s=field("I", 68) / 1e6,
        rtt_min_s=field("I", 148) / 1e6,
        retransmitted=field("I", 100),
        received=field("Q", 128),
        timeouts=field("H", 240) if len(raw) >= 248 else None,
        delivered_ce=field("I", 196),
        pacing_rate=field("Q", 104),
        sndbuf_limited_s=field("Q", 184) / 1e6,
    )
