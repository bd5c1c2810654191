"""The `sch_dualpi2` of a kernel on given arrivals: run in a guest whose kernel has it, behind `tbf`.

`serve` runs this file in the guest, where it sends each packet at its time into an interface with a limited
rate, and notes when each one leaves and with which codepoint. `Bucket` is the same `tbf` for our queues.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reference_dualpi2 import DualPI2, Packet, Parameters

BURST = 1540
"""The bytes of the bucket of `tbf`: little more than a packet."""

Left = list[tuple[int, int, int]]


def serve(
    kernel: Path, arrivals: list[Packet], parameters: Parameters, step: float, rate_bps: int, seed: int
) -> Left:
    """What a kernel sends of these arrivals.

    Args:
        kernel: A kernel for guests that has `sch_dualpi2`.
        arrivals: The packets; each is sent as a frame of its size.
        parameters: The parameters of the queue; the gains are those that the RFC derives from them.
        step: The threshold of the L queue, in s.
        rate_bps: The rate of the bottleneck.
        seed: What the kernel takes for random follows from it.

    Returns:
        The number, the codepoint and the time in ns of each packet that left.

    Raises:
        OSError: The kernel does not have the queue, or the guest failed.
    """
    from lasthop.virtual.guest import INSIDE, guest

    update_s = parameters.update_ns / 1e9
    given = {
        "rate": rate_bps,
        "target": round(parameters.target * 1e6),
        "tupdate": round(update_s * 1e6),
        "alpha": max(1, int(256 * 0.1 * update_s / parameters.rtt_max**2)),
        "beta": max(1, int(256 * 0.3 / parameters.rtt_max)),
        "step": round(step * 1e6),
        "coupling": round(parameters.k),
        "share": round(100 * parameters.classic_share),
        "arrivals": [(one.number, one.size, one.ecn, one.came) for one in arrivals],
    }
    said: list[bytes] = []
    with guest(kernel) as one:
        words = [sys.executable, str(Path(__file__).resolve()), str(INSIDE / "left")]
        code = one.run(
            words,
            json.dumps(given).encode(),
            seed=seed,
            limit_s=3600,
            follow=lambda _, part: said.append(part),
        )
        if code:
            raise OSError(f"{kernel}: exit code {code}: {b''.join(said).decode()}")
        return [tuple(left) for left in json.loads((one.folder / "left").read_text())]


@dataclass
class Bucket:
    """`tbf` in front of a queue: it takes a packet when the one before has left, which leaves when its bytes
    are in the bucket."""

    queue: DualPI2
    rate_bps: int
    left: Left = field(default_factory=list)
    held: Packet | None = None
    tokens: int = 0
    since: int = 0
    due: int = 0

    def __post_init__(self) -> None:
        self.tokens = self.ns(BURST)

    def ns(self, size: int) -> int:
        """How long bytes take."""
        return size * 8 * 1_000_000_000 // self.rate_bps

    def poll(self, now: int) -> None:
        """Send what may leave now."""
        while self.held or (taken := self.queue.dequeue(now)):
            self.held = self.held or taken
            assert self.held
            tokens = min(now - self.since + self.tokens, self.ns(BURST)) - self.ns(self.held.size)
            if tokens < 0:
                self.due = now - tokens
                return
            number, ecn, _ = self.queue.sent[-1]
            self.left.append((number, ecn, now))
            self.tokens, self.since, self.held = tokens, now, None

    def serve(self, arrivals: list[Packet]) -> Left:
        """What leaves of these arrivals."""
        for packet in arrivals:
            while self.held and self.due < packet.came:
                self.poll(self.due)
            self.queue.enqueue(packet)
            self.poll(packet.came)
        while self.held:
            self.poll(self.due)
        return self.left


# What follows runs in the guest.

_KIND, _OPTIONS = 1, 2 | 0x8000
_NEW_QDISC, _REQUEST_ACK_CREATE, _ROUTE = 36, 0x405, 0
_PR_SET_TIMERSLACK = 29
_SO_TIMESTAMPNS, _SO_RCVBUFFORCE, _ALL = 35, 33, 3
_HEAD = 14 + 20


def _do(*words: str) -> None:
    subprocess.run(words, check=True)


def _attribute(kind: int, value: bytes) -> bytes:
    whole = struct.pack("=HH", 4 + len(value), kind) + value
    return whole + bytes(-len(whole) % 4)


def _add_dualpi2(device: str, parent: int, given: dict[str, int]) -> None:
    """`tc qdisc add … dualpi2` with options, which iproute2 before 6.18 does not have."""
    numbers = ((3, "target"), (4, "tupdate"), (5, "alpha"), (6, "beta"), (8, "step"))
    options = b"".join(_attribute(kind, struct.pack("=I", given[name])) for kind, name in numbers)
    options += b"".join(
        _attribute(kind, struct.pack("=B", given[name])) for kind, name in ((10, "coupling"), (13, "share"))
    )
    message = struct.pack("=BxxxiIII", 0, socket.if_nametoindex(device), 0x10 << 16, parent, 0)
    message += _attribute(_KIND, b"dualpi2\0") + _attribute(_OPTIONS, options)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _ROUTE) as asked:
        head = struct.pack("=IHHII", 16 + len(message), _NEW_QDISC, _REQUEST_ACK_CREATE, 1, 0)
        asked.send(head + message)
        (error,) = struct.unpack_from("=i", asked.recv(4096), 16)
    if error:
        sys.exit(f"dualpi2: error {-error}: the kernel does not have it, or not this option")


def _frame(number: int, size: int, ecn: int, ends: bytes) -> bytes:
    """A frame of this size with an IPv4 packet that carries its number."""
    head = struct.pack("!BBHHHBBH4s4s", 0x45, ecn, size - 14, 0, 0, 64, 17, 0, b"\x0a\0\0\1", b"\x0a\0\0\2")
    total = sum(struct.unpack("!10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    total = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    return ends + head[:10] + total.to_bytes(2) + head[12:] + number.to_bytes(4) + bytes(size - _HEAD - 4)


def _device(name: str) -> bytes:
    with socket.socket() as asked:
        return fcntl.ioctl(asked, 0x8927, name.encode().ljust(40, b"\0"))[18:24]


def _left(receiver: socket.socket, into: Left, began: int) -> None:
    """Note the packets that have left."""
    while True:
        try:
            data, more, _, _ = receiver.recvmsg(_HEAD + 4, 64, socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        seconds, nanoseconds = struct.unpack("=qq", more[0][2])
        at = seconds * 1_000_000_000 + nanoseconds - began
        into.append((int.from_bytes(data[_HEAD:]), data[15] & 3, at))


def _main() -> None:
    given = json.load(sys.stdin)
    ctypes.CDLL(None).prctl(_PR_SET_TIMERSLACK, 1)
    Path("/proc/sys/net/ipv6/conf/default/disable_ipv6").write_text("1")
    _do("ip", "link", "add", "veth0", "type", "veth", "peer", "name", "veth1")
    for name in ("veth0", "veth1"):
        _do("ip", "link", "set", name, "up")
    words = f"qdisc add dev veth0 root handle 1: tbf rate {given['rate']}bit burst {BURST} limit 1000000000"
    _do("tc", *words.split())
    frames = [
        (came, _frame(number, size, ecn, _device("veth1") + _device("veth0") + b"\x08\0"))
        for number, size, ecn, came in given["arrivals"]
    ]
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
    sender.bind(("veth0", 0))
    sender.setsockopt(socket.SOL_SOCKET, 32, 1 << 28)
    receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(_ALL))
    receiver.bind(("veth1", 0x0800))
    receiver.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 26)
    receiver.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    left: Left = []
    _add_dualpi2("veth0", 1 << 16 | 1, given)
    began = time.time_ns()
    for came, frame in frames:
        if (wait := began + came - time.time_ns()) > 0:
            time.sleep(wait / 1e9)
        sender.send(frame)
        _left(receiver, left, began)
    time.sleep(2)
    _left(receiver, left, began)
    Path(sys.argv[1]).write_text(json.dumps(left))


if __name__ == "__main__":
    _main()
