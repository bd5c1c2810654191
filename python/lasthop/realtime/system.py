"""What a worker asks of the kernel: namespaces, interfaces and settings.

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
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_BOOTED_WITH = Path("/proc/cmdline")
_EARLY_S = 35e-6
# <linux/sched.h>, <linux/mount.h>, <linux/prctl.h>
CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWPID, _CLONE_NEWUSER = 0x40000000, 0x00020000, 0x20000000, 0x10000000
_CLONE_FS = 0x00000200
_MS_BIND, _MS_REC, _MS_SLAVE, _MNT_DETACH = 4096, 16384, 1 << 19, 2
_PR_SET_PDEATHSIG, _PR_SET_TIMERSLACK = 1, 29
# <linux/if_tun.h>
_TUNSETIFF, _IFF_TUN, _IFF_NO_PI, _IFF_VNET_HDR = 0x400454CA, 0x0001, 0x1000, 0x4000
# <linux/sockios.h>, <linux/if.h>
_SIOCSIFFLAGS, _SIOCSIFADDR, _SIOCSIFNETMASK = 0x8914, 0x8916, 0x891C
_SIOCSIFMTU, _SIOCSIFNAME, _SIOCGIFTXQLEN, _SIOCSIFTXQLEN = 0x8922, 0x8923, 0x8942, 0x8943
_IFF_UP, _IFF_RUNNING = 0x1, 0x40
# <linux/rtnetlink.h>, <linux/if_link.h>
_RTM_NEWLINK, _NLM_F_REQUEST, _NLM_F_ACK, _NLMSG_ERROR = 16, 1, 4, 2
_IFLA_TXQLEN, _IFLA_GSO_MAX_SEGS = 13, 40
_RTM_NEWADDR, _IFA_LOCAL, _IFA_F_NODAD = 20, 2, 2
_RTM_NEWROUTE, _NLM_F_CREATE, _NLM_F_EXCL, _RTPROT_STATIC = 24, 0x400, 0x200, 4
_RTA_OIF, _RTA_PREFSRC = 4, 7
_RTA_DST, _RTA_METRICS, _RTAX_FEATURES, _RTAX_FEATURE_TCP_USEC_TS = 1, 8, 12, 1 << 4
_RT_TABLE_MAIN, _RT_SCOPE_LINK, _RTN_UNICAST = 254, 253, 1

# What precedes the address of IPv4 in that of IPv6 (`sim/src/live/network.rs`), and bytes of the network.
_NETWORK_6, _NETWORK_BYTES = b"\xfdlasth\0\0\0\0\0\0", 8

#: The signals by which a terminal or a service asks a program to end.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_TUN = "/dev/net/tun"
NAME = b"lasthop0"
# Packets that the interface holds, which must not drop what a link would queue. The first is more than a
# kernel's window over any path here; many kernels refuse more than the second.
_BACKLOGS = (100_000, 32_767, 10_000, 1_000)
# Linux's own buffers at the start, which it tunes. A larger receive buffer at the start would change what is
# measured: while the window that it offers grows, the kernel acknowledges each segment.
_RMEM, _MOST_RMEM, _WMEM, _LEAST_MOST_WMEM = 131072, 1 << 25, 16384, 1 << 22
SETTINGS = Path("/proc/sys/net/ipv4")
# Where files of names are made: in a mount namespace of its own, so that nothing is left.
_SPARE = Path("/mnt")


class Refused(Exception):  # noqa: N818
    """The system does not allow what a worker needs; the message says what, and what would be needed."""


def call(name: str, *arguments: int | bytes | None) -> None:
    """Call a function of the C library that returns 0.

    Raises:
        OSError: It returns something else.
    """
    library = ctypes.CDLL(None, use_errno=True)
    wide = (ctypes.c_ulong(one) if isinstance(one, int) else one for one in arguments)
    if getattr(library, name)(*wide):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def end_with_parent() -> None:
    """End this process by SIGKILL when the thread that started it ends."""
    call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def die_with(parent: int) -> None:
    """End this process by SIGKILL when the thread that started it ends; at once if it has ended already."""
    end_with_parent()
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGKILL)


def early_s() -> float:
    """How long before something is due a pause ends: threads wake up late, but not in virtual time."""
    return 0.0 if "time-travel=inf-cpu" in _BOOTED_WITH.read_text(encoding="utf-8").split() else _EARLY_S


def hurry(priority: int) -> bool:
    """Have the calling thread wake up in time: no timer slack, and before other work if that is allowed."""
    with suppress(OSError):
        call("prctl", _PR_SET_TIMERSLACK, 1, 0, 0, 0)
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
        call("unshare", CLONE_NEWNET)
    except OSError as error:
        if error.errno != errno.EPERM:
            raise Refused(
                f"network namespaces: {error.strerror}; expected a kernel with CONFIG_NET_NS"
            ) from error
    else:
        return
    try:
        call("unshare", _CLONE_NEWUSER)
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
    #: The value of `tcp_ecn`.
    ecn: int
    #: Bytes of the largest window of a flow.
    window: int
    #: Whether a window restarts after an idle time.
    idle_restart: bool = True
    #: The pace in per cent of a window in a round trip, in slow start and outside it.
    pacing: tuple[int, int] = (200, 120)
    #: Whether the timestamps of TCP count microseconds, not milliseconds.
    microseconds: bool = False


def namespace(settings: Settings, address: str) -> int:
    """Move the calling thread to a new network namespace for TCP under test; returns its interface.

    Raises:
        Refused: The system does not allow it.
    """
    own_network()
    for name, value in {
        "tcp_no_metrics_save": 1,
        "tcp_timestamps": int(settings.timestamps),
        "tcp_sack": int(settings.sack),
        "tcp_ecn": int(settings.ecn),
        "tcp_slow_start_after_idle": int(settings.idle_restart),
        "tcp_pacing_ss_ratio": settings.pacing[0],
        "tcp_pacing_ca_ratio": settings.pacing[1],
        "tcp_rmem": f"4096 {min(_RMEM, 2 * settings.window)} {min(4 * settings.window, _MOST_RMEM)}",
        "tcp_wmem": f"4096 {_WMEM} {max(_LEAST_MOST_WMEM, 3 * settings.window)}",
    }.items():
        put(SETTINGS / name, value)
    tun = _interface(address, settings.mtu)
    if settings.microseconds:
        _count_microseconds(address)
    return tun


def _count_microseconds(address: str) -> None:
    """Have TCP count microseconds in its timestamps.

    It is a property of a route. Two to a half of the network each precede that of its interface.
    """
    own = socket.inet_aton(address)
    for first in (0, 128):
        to = struct.pack("=HH4B", 8, _RTA_DST, own[0], first, 0, 0)
        link = struct.pack("=HHI", 8, _RTA_OIF, socket.if_nametoindex(NAME.decode()))
        metrics = struct.pack("=HHHHI", 12, _RTA_METRICS, 8, _RTAX_FEATURES, _RTAX_FEATURE_TCP_USEC_TS)
        head = struct.pack(
            "=8BI", socket.AF_INET, 9, 0, 0, _RT_TABLE_MAIN, _RTPROT_STATIC, _RT_SCOPE_LINK, _RTN_UNICAST, 0
        )
        ask("timestamps in microseconds", _RTM_NEWROUTE, head + to + link + metrics)


def node(address: str, mtu: int) -> tuple[int, int]:
    """Move the calling thread to a new network namespace for programs; returns it and its interface.

    Raises:
        Refused: The system does not allow it.
    """
    own_network()
    interface = _interface(address, mtu)
    _raise(b"lo")
    _own_version_6(address)
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC), interface


def send_all(
    table: int = _RT_TABLE_MAIN,
    interface: bytes = NAME,
    kind: int = _RTN_UNICAST,
    scope: int = _RT_SCOPE_LINK,
) -> None:
    """Set the default route of a table of the calling thread's namespace."""
    head = struct.pack("=8BI", socket.AF_INET, 0, 0, 0, table, _RTPROT_STATIC, scope, kind, 0)
    link = struct.pack("=HHI", 8, _RTA_OIF, socket.if_nametoindex(interface.decode()))
    ask("a route", _RTM_NEWROUTE, head + link)


def own_names(names: str, server: str) -> None:
    """Give the calling thread, and what it starts, a mount namespace with this file of names.

    Other names are asked for at a name server. Without one none are: programs would wait for an answer.

    Raises:
        Refused: The system does not allow it.
    """
    try:
        own_mounts()
        call("mount", b"none", os.fsencode(_SPARE), b"tmpfs", 0, None)
        for path, text in ((Path("/etc/hosts"), names), (Path("/etc/resolv.conf"), server)):
            if path.exists():
                (_SPARE / path.name).write_text(text, encoding="utf-8")
                call("mount", os.fsencode(_SPARE / path.name), os.fsencode(path), None, _MS_BIND, None)
        call("umount2", os.fsencode(_SPARE), _MNT_DETACH)
    except OSError as error:
        raise Refused(
            f"{_SPARE}: {error.strerror}; expected to be allowed to mount files of names"
        ) from error


def own_mounts() -> None:
    """Give the calling thread a mount namespace, which follows that of the system."""
    call("unshare", CLONE_NEWNS)
    call("mount", b"none", b"/", None, _MS_REC | _MS_SLAVE, None)


@contextmanager
def visited(mounts: str, network: str) -> Iterator[None]:
    """Have the calling thread in other namespaces, by their files: that of names and that of a network.

    Raises:
        OSError: The system does not allow it.
    """
    with ExitStack() as files:

        def opened(path: str) -> int:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            files.callback(os.close, file)
            return file

        own = [opened(f"/proc/thread-self/ns/{kind}") for kind in ("mnt", "net")]
        _move(opened(mounts), opened(network))
        try:
            yield
        finally:
            _move(*own)


def _move(mounts: int, network: int) -> None:
    folder = Path.cwd()
    # Only a thread that shares its folder with no other one may change its mount namespace.
    call("unshare", _CLONE_FS)
    call("setns", mounts, CLONE_NEWNS)
    os.chdir(folder)
    call("setns", network, CLONE_NEWNET)


def own_network() -> None:
    """Move the calling thread to a new network namespace.

    Raises:
        Refused: The system does not allow it.
    """
    try:
        call("unshare", CLONE_NEWNET)
    except OSError as error:
        raise Refused(f"network namespaces: {error.strerror}; expected to be allowed to make them") from error


def _interface(address: str, mtu: int) -> int:
    """An interface of the calling thread's namespace, behind which all other nodes are."""
    without_6 = SETTINGS.parent / "ipv6" / "conf" / "default" / "disable_ipv6"
    if without_6.exists():
        put(without_6, 1)
    tun, _ = _tun()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        own, mask = (
            struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(a)) for a in (address, "255.0.0.0")
        )
        for request, value in (
            (_SIOCSIFMTU, struct.pack("=i12x", mtu)),
            (_SIOCSIFADDR, own),
            (_SIOCSIFNETMASK, mask),
            (_SIOCSIFFLAGS, struct.pack("=H14x", _IFF_UP | _IFF_RUNNING)),
        ):
            _change(control, request, NAME, value)
    _set_link(socket.if_nametoindex(NAME.decode()))
    return tun


def address(name: str, new: str, address: str) -> None:
    """Rename an interface of the calling thread's namespace, which is down, give it an address, and raise it.

    All other nodes are behind it. The loopback interface is raised, too.
    """
    without_6 = SETTINGS.parent / "ipv6" / "conf" / "all" / "disable_ipv6"
    if without_6.exists():
        put(without_6, 1)
    own, mask = (
        struct.pack("=HH4s8x", socket.AF_INET, 0, socket.inet_aton(a)) for a in (address, "255.0.0.0")
    )
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        _change(control, _SIOCSIFNAME, name.encode(), new.encode())
        for request, value in ((_SIOCSIFADDR, own), (_SIOCSIFNETMASK, mask)):
            _change(control, request, new.encode(), value)
    _raise(b"lo")
    _raise(new.encode())


def _raise(name: bytes) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        _change(control, _SIOCSIFFLAGS, name, struct.pack("=H14x", _IFF_UP | _IFF_RUNNING))


def _own_version_6(address: str) -> None:
    """Give the interface of the calling thread's namespace its address of IPv6, if the kernel has that."""
    own = SETTINGS.parent / "ipv6" / "conf" / NAME.decode()
    if not own.exists():
        return
    for name, value in {"accept_dad": 0, "router_solicitations": 0, "disable_ipv6": 0}.items():
        put(own / name, value)
    # An address that waits for the detection of duplicates is not the source of what leaves at first.
    head = struct.pack(
        "=4BI", socket.AF_INET6, 8 * _NETWORK_BYTES, _IFA_F_NODAD, 0, socket.if_nametoindex(NAME.decode())
    )
    given = struct.pack("=HH16s", 20, _IFA_LOCAL, _NETWORK_6 + socket.inet_aton(address))
    ask("an address of IPv6", _RTM_NEWADDR, head + given)


def _change(control: socket.socket, request: int, name: bytes, value: bytes) -> None:
    try:
        fcntl.ioctl(control, request, struct.pack("=16s16s8x", name, value))
    except OSError as error:
        raise Refused(f"interface: ioctl {request:#x}: {error.strerror}; expected to be set") from error


def put(path: Path, value: object) -> None:
    """Write a setting of the calling thread's namespace."""
    try:
        path.write_text(str(value), encoding="ascii")
    except OSError as error:
        raise Refused(f"{path}: {error.strerror}; expected it to be writable in a namespace") from error


def _tun(name: bytes = NAME, flags: int = 0) -> tuple[int, bytes]:
    """An interface whose packets this process reads and writes, without offloads, and its name."""
    try:
        tun = os.open(_TUN, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise Refused(f"{_TUN}: {error.strerror}; expected to be allowed to read and write it") from error
    try:
        request = struct.pack("=16sH22x", name, _IFF_TUN | _IFF_NO_PI | flags)
        made = fcntl.ioctl(tun, _TUNSETIFF, request)
    except OSError as error:
        os.close(tun)
        raise Refused(f"{_TUN}: TUNSETIFF: {error.strerror}; expected to be allowed to make one") from error
    return tun, made[:16].rstrip(b"\0")


def side_door(mtu: int, backlog: int) -> tuple[int, bytes]:
    """An interface without an address, with a virtio header before each packet; returns it and its name."""
    tun, name = _tun(b"lasthop%d", _IFF_VNET_HDR)
    without_6 = SETTINGS.parent / "ipv6" / "conf" / name.decode() / "disable_ipv6"
    if without_6.exists():
        put(without_6, 1)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        _change(control, _SIOCSIFMTU, name, struct.pack("=i12x", mtu))
        _change(control, _SIOCSIFTXQLEN, name, struct.pack("=i12x", backlog))
    _raise(name)
    return tun, name


def divert(network: int, bits: int, interface: bytes, source: str) -> None:
    """Set a route, which must be new, and the address of what this machine sends by it.

    Raises:
        Refused: There is one, or the system does not allow it.
    """
    to, own = (
        struct.pack("=HH4s", 8, kind, address)
        for kind, address in (
            (_RTA_DST, network.to_bytes(4, "big")),
            (_RTA_PREFSRC, socket.inet_aton(source)),
        )
    )
    link = struct.pack("=HHI", 8, _RTA_OIF, socket.if_nametoindex(interface.decode()))
    head = struct.pack(
        "=8BI", socket.AF_INET, bits, 0, 0, _RT_TABLE_MAIN, _RTPROT_STATIC, _RT_SCOPE_LINK, _RTN_UNICAST, 0
    )
    _expect_set("a route", _asked(_RTM_NEWROUTE, _NLM_F_CREATE | _NLM_F_EXCL, head + to + link + own))


def _set_link(interface: int) -> None:
    """Have TCP hand each segment by itself to the interface, and the interface hold what comes at once.

    One segment at most is what TCP does on an interface without segmentation offload, in hardware or not. An
    ordinary user of a user namespace may set both only this way. The interface holds as much as the kernel
    accepts.
    """
    for length in _BACKLOGS:
        status = _ask_link(interface, length)
        if status not in (errno.EINVAL, errno.ERANGE):
            break
    _expect_set("the queue and gso_max_segs of an interface", status)


def _ask_link(interface: int, length: int) -> int:
    """Set single segments and the length of the queue of an interface; returns the number of the error."""
    attributes = struct.pack("=HHIHHI", 8, _IFLA_GSO_MAX_SEGS, 1, 8, _IFLA_TXQLEN, length)
    return _asked(_RTM_NEWLINK, 0, struct.pack("=BxHiII", socket.AF_UNSPEC, 0, interface, 0, 0) + attributes)


def ask(what: str, kind: int, request: bytes) -> None:
    """Ask the kernel by rtnetlink for something new in the calling thread's namespace."""
    _expect_set(what, _asked(kind, _NLM_F_CREATE, request))


def _expect_set(what: str, status: int) -> None:
    if status:
        raise Refused(f"{what}: {os.strerror(status)}; expected to be set")


def _asked(kind: int, flags: int, request: bytes) -> int:
    """Ask the kernel for a change by rtnetlink; returns the number of the error, or 0."""
    head = struct.pack("=IHHII", 16 + len(request), kind, _NLM_F_REQUEST | _NLM_F_ACK | flags, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as netlink:
        netlink.bind((0, 0))
        netlink.send(head + request)
        answer = netlink.recv(4096)
    _, kind, _, _, _, status = struct.unpack_from("=IHHIIi", answer)
    return -status if kind == _NLMSG_ERROR else errno.EBADMSG


def backlog() -> int:
    """Packets that the interface of the calling thread's namespace holds."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        found = fcntl.ioctl(control, _SIOCGIFTXQLEN, struct.pack("=16s24x", NAME))
    return int(struct.unpack_from("=16si", found)[1])
