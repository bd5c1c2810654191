"""What a worker asks of the kernel: namespaces, interfaces, settings, and the state of a connection.

Namespaces have no names: the descriptors of a process are all that holds them, so that nothing is left of
them when the process ends, in whatever way.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import signal
import socket
import struct
import sys
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

# <linux/sched.h>, <linux/prctl.h>
_CLONE_NEWNET, _CLONE_NEWUSER = 0x40000000, 0x10000000
_PR_SET_PDEATHSIG, _PR_SET_TIMERSLACK = 1, 29
# <linux/if_tun.h>
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI = 0x400454CA, 0x0001, 0x1000
# <linux/sockios.h>, <linux/if.h>
_SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFDSTADDR, _SIOCSIFNETMASK = 0x8914, 0x8916, 0x8918, 0x891C
_SIOCSIFMTU = 0x8922
_IFF_UP, _IFF_RUNNING = 0x1, 0x40
# <linux/rtnetlink.h>, <linux/if_link.h>
_RTM_NEWLINK, _NLM_F_REQUEST, _NLM_F_ACK, _NLMSG_ERROR = 16, 1, 4, 2
_IFLA_TXQLEN, _IFLA_GSO_MAX_SEGS = 13, 40
# <linux/tcp.h>
TCP_WINDOW_CLAMP, TCP_INFO, TCP_CONGESTION = 10, 11, 13

_TUN = "/dev/net/tun"
_NAME = b"lasthop0"
# More packets than a kernel's window over any path here; the interface must not drop what a link would queue.
_BACKLOG = 100_000
# Linux's own buffers at the start, which it tunes. A larger receive buffer at the start would change what is
# measured: while the window that it offers grows, the kernel acknowledges each segment.
_RMEM, _MOST_RMEM, _WMEM, _LEAST_MOST_WMEM = 131072, 1 << 25, 16384, 1 << 22
_SETTINGS = Path("/proc/sys/net/ipv4")


class Refused(Exception):  # noqa: N818
    """The system does not allow what a worker needs; the message says what, and what would be needed."""


def _call(name: str, *arguments: int) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*map(ctypes.c_ulong, arguments)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def die_with(parent: int) -> None:
    """End this process by SIGKILL when the thread that started it ends; at once if it has ended already."""
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def hurry(priority: int) -> bool:
    """Have the calling thread wake up in time: no timer slack, and before other work if that is allowed."""
    with suppress(OSError):
        _call("prctl", _PR_SET_TIMERSLACK, 1, 0, 0, 0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(priority))
    except OSError:
        return False
    return True


def calm() -> None:
    """Undo `hurry`."""
    with suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))


def own_user() -> None:
    """Become root of a new user namespace, if this process cannot make network namespaces as it is.

    Raises:
        Refused: The system has no user namespaces for ordinary users.
    """
    if not sys.platform.startswith("linux"):
        raise Refused(f"this system is {platform.system()}; expected Linux")
    user, group = os.geteuid(), os.getegid()
    try:
        _call("unshare", _CLONE_NEWNET)
    except OSError as error:
        if error.errno != errno.EPERM:
            raise Refused(
                f"network namespaces: {error.strerror}; expected a kernel with CONFIG_NET_NS"
            ) from error
    else:
        return
    try:
        _call("unshare", _CLONE_NEWUSER)
        with suppress(FileNotFoundError):
            Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
    except OSError as error:
        expected = "root, or a system that lets ordinary users make them"
        text = f"user namespaces: {error.strerror}; expected {expected}"
        raise Refused(text) from error


class Settings(NamedTuple):
    """What a namespace is set to."""

    #: The longest packet of its interface.
    mtu: int
    timestamps: bool
    sack: bool
    ecn: bool
    #: Bytes of the largest window of a flow.
    window: int


def namespace(settings: Settings, addresses: tuple[str, str]) -> int:
    """Move the calling thread to a new network namespace with one interface; returns its descriptor.

    Raises:
        Refused: The system does not allow it.
    """
    try:
        _call("unshare", _CLONE_NEWNET)
    except OSError as error:
        raise Refused(f"network namespaces: {error.strerror}; expected to be allowed to make them") from error
    for name, value in {
        "tcp_no_metrics_save": 1,
        "tcp_timestamps": int(settings.timestamps),
        "tcp_sack": int(settings.sack),
        "tcp_ecn": int(settings.ecn),
        "tcp_rmem": f"4096 {min(_RMEM, 2 * settings.window)} {min(4 * settings.window, _MOST_RMEM)}",
        "tcp_wmem": f"4096 {_WMEM} {max(_LEAST_MOST_WMEM, 3 * settings.window)}",
    }.items():
        _set(_SETTINGS / name, value)
    without_6 = _SETTINGS.parent / "ipv6" / "conf" / "default" / "disable_ipv6"
    if without_6.exists():
        _set(without_6, 1)
    tun = _tun()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        own, other = (struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(a)) for a in addresses)
        mask = struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton("255.255.255.252"))
        for request, value in (
            (_SIOCSIFMTU, struct.pack("=i12x", settings.mtu)),
            (_SIOCSIFADDR, own),
            (_SIOCSIFDSTADDR, other),
            (_SIOCSIFNETMASK, mask),
            (_SIOCSIFFLAGS, struct.pack("=H14x", _IFF_UP | _IFF_RUNNING)),
        ):
            try:
                fcntl.ioctl(control, request, struct.pack("=16s16s8x", _NAME, value))
            except OSError as error:
                raise Refused(
                    f"interface: ioctl {request:#x}: {error.strerror}; expected to be set"
                ) from error
    _set_link(socket.if_nametoindex(_NAME.decode()))
    return tun


def _set(path: Path, value: object) -> None:
    try:
        path.write_text(str(value), encoding="ascii")
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}; expected it to be writable in a namespace") from error


def _tun() -> int:
    """An interface whose packets this process reads and writes, without offloads."""
    try:
        tun = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Refused(f"{_TUN}: {error.strerror}; expected to be allowed to read and write it") from error
    try:
        fcntl.ioctl(tun, _TUNSETIFF, struct.pack("=16sH22x", _NAME, _IFF_TUN | _IFF_NO_PI))
    except OSError as error:
        os.close(tun)
        raise Refused(f"{_TUN}: TUNSETIFF: {error.strerror}; expected to be allowed to make one") from error
    return tun


def _set_link(interface: int) -> None:
    """Have TCP hand each segment by itself to the interface, and the interface hold what comes at once.

    One segment at most is what TCP does on an interface without segmentation offload, in hardware or not. An
    ordinary user of a user namespace may set both only this way.
    """
    attributes = struct.pack("=HHIHHI", 8, _IFLA_GSO_MAX_SEGS, 1, 8, _IFLA_TXQLEN, _BACKLOG)
    link = struct.pack("=BxHiII", socket.AF_UNSPEC, 0, interface, 0, 0) + attributes
    head = struct.pack("=IHHII", 16 + len(link), _RTM_NEWLINK, _NLM_F_REQUEST | _NLM_F_ACK, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        netlink.bind((0, 0))
        netlink.send(head + link)
        answer = netlink.recv(4096)
    _, kind, _, _, _, status = struct.unpack_from("=IHHIIi", answer)
    if kind != _NLMSG_ERROR or status:
        reason = os.strerror(-status) if kind == _NLMSG_ERROR else f"answer {kind}"
        raise Refused(f"the queue and gso_max_segs of an interface: {reason}; expected to be set")


def laws() -> list[str]:
    """The congestion control laws that a new namespace offers."""
    return (_SETTINGS / "tcp_available_congestion_control").read_text(encoding="ascii").split()


def has_law(law: str) -> bool:
    """Whether a socket here may use a law; the kernel loads it if it can."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        try:
            one.setsockopt(socket.IPPROTO_TCP, TCP_CONGESTION, law.encode())
        except OSError:
            return False
    return True


def dropped() -> int:
    """Packets that the interface of the calling thread's namespace dropped instead of handing them over."""
    for line in Path("/proc/thread-self/net/dev").read_text(encoding="ascii").splitlines():
        name, _, counts = line.partition(":")
        if name.strip() == _NAME.decode():
            words = counts.split()
            return int(words[3]) + int(words[11])
    return 0


class Info(NamedTuple):
    """A part of the kernel's state of a connection."""

    cwnd: int
    ssthresh: int
    srtt_s: float
    retransmitted: int
    sndbuf_limited_s: float


def info(connection: socket.socket) -> Info:
    """The state of a connection (`struct tcp_info` of <linux/tcp.h>)."""
    raw = connection.getsockopt(socket.IPPROTO_TCP, TCP_INFO, 256)
    word = struct.Struct("=I").unpack_from
    (limited,) = struct.unpack_from("=Q", raw, 184) if len(raw) >= 192 else (0,)
    return Info(
        cwnd=word(raw, 80)[0],
        ssthresh=word(raw, 76)[0],
        srtt_s=word(raw, 68)[0] / 1e6,
        retransmitted=word(raw, 100)[0],
        sndbuf_limited_s=limited / 1e6,
    )
