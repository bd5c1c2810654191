"""An agent of the stack at a Wi-Fi interface of this machine.

Routes to all that is behind the interface lead to a TUN interface, each by its two halves, which precede it.
From there packets pass the agent, and raw sockets that are bound to the interface send them by the routes of
before. What arrives is heard by a packet socket, and passes the agent to the TUN interface. The kernel itself
discards it meanwhile, since the answer to its source would leave there (`rp_filter`).

When the process ends, in whatever way, the TUN interface goes with its routes, and the kernel sends and
accepts again as before. A child that waits for that end restores `rp_filter`, and sends what the agent had
acknowledged and its receiver had not, until it has (`confirmed`). It renounces all privileges before it
reads what came from the network.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import pwd
import re
import signal
import socket
import struct
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from lasthop import _core
from lasthop.base.errors import UnavailableError, UsageError, reason
from lasthop.realtime import confirmed, system
from lasthop.realtime.netlink import Generic
from lasthop.realtime.session import stopped_by_signals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from lasthop.scenario.overrides import Pairs

#: The agents whose needs an interface of Linux meets.
AGENTS = ("lle-tcp", "ack-filter", "snoop", "proxy-tcp")
# Those that acknowledge what the receiver has not.
_ACKNOWLEDGES = ("lle-tcp",)
#: Bytes of packets that an agent keeps at most.
MEMORY = 64_000_000
# The room of a packet.
_PACKET = 2048
# The flag of nl80211 that a driver says what was acknowledged.
_GET_WIPHY, _IFINDEX, _FEATURES, _SPLIT, _REPORTS = 1, 3, 143, 174, 1
# <linux/if_packet.h>, <asm/socket.h>, <linux/if_ether.h>, <linux/sockios.h>
_SOL_PACKET, _PACKET_VNET_HDR, _SO_WIFI_STATUS = 263, 15, 41
_KIND = socket.SOCK_RAW | socket.SOCK_NONBLOCK | socket.SOCK_CLOEXEC
_ETHERTYPE_IP, _ETHERTYPE_ARP = 0x0800, 0x0806
_SO_ATTACH_FILTER, _SO_RCVBUFFORCE = 26, 33
_SIOCGIFADDR, _SIOCGIFMTU, _SIOCGIFHWADDR = 0x8915, 0x8921, 0x8927
_ROUTES, _LOCAL = Path("/proc/net/route"), Path("/proc/net/fib_trie")
# A network of one or two addresses has no halves that are networks, too.
_LONGEST = 30
# How long an agent waits for the one before to restore what it had set.
_PATIENCE_S, _PAUSE_S = 1.0, 0.01
# What waits in the interface that diverts, and in the sockets.
_BACKLOG, _SENDING, _HEARING = 100, 1 << 16, 1 << 22
# A packet for another machine is not for this one (`PACKET_OTHERHOST`).
_OWN_PACKETS = ((0x20, 0, 0, 0xFFFFF004), (0x25, 1, 0, 2), (0x06, 0, 0, 0x40000), (0x06, 0, 0, 0))
# A source is accepted if the answer to it leaves by the same interface.
_STRICT = "1"
# <linux/prctl.h>, <linux/capability.h>
_NOBODY, _PR_SET_NO_NEW_PRIVS, _CAPABILITIES = "nobody", 38, 0x20080522

_SCENARIO = """
[run]
duration = "1 s"
[nodes]
a = {{}}
b = {{}}
[links.air]
kind = "wifi"
standard = "802.11g"
nodes = ["a", "b"]
[flows.main]
from = "a"
to = "b"
[agents.agent]
kind = "{name}"
"""


class Route(NamedTuple):
    """A route of the kernel's main table."""

    device: str
    network: int
    bits: int
    #: Whether no gateway is between.
    is_direct: bool
    metric: int

    def __str__(self) -> str:
        return f"{socket.inet_ntoa(self.network.to_bytes(4, 'big'))}/{self.bits}"

    @property
    def mask(self) -> int:
        """Its mask, as a number."""
        return (1 << 32) - (1 << 32 - self.bits)

    def halves(self) -> Iterable[tuple[int, int]]:
        """The two routes that precede it, and together are it."""
        return ((self.network | half << 31 - self.bits, self.bits + 1) for half in (0, 1))


def routes(text: str) -> list[Route]:
    r"""The routes of `/proc/net/route`.

    >>> routes("Iface Destination Gateway Flags\nwlan0 0000000A 00000000 0001 0 0 0 000000FF 0 0 0")
    [Route(device='wlan0', network=167772160, bits=8, is_direct=True, metric=0)]
    """
    found = []
    for line in text.splitlines()[1:]:
        device, network, gateway, *rest = line.split()
        to, mask = (int.from_bytes(bytes.fromhex(word)[::-1], "big") for word in (network, rest[4]))
        found.append(Route(device, to, mask.bit_count(), int(gateway, 16) == 0, int(rest[3])))
    return found


def served(every: Sequence[Route], device: str) -> list[Route]:
    """The routes by an interface that two halves may precede, and that no other interface's precedes.

    Halves have the first priority, so that they would precede a route of another interface with the same
    network and a smaller metric, and one that is equal to a half.

    >>> wired, air = Route("eth0", 0, 0, False, 100), Route("wlan0", 0, 0, False, 600)
    >>> [len(served([wired, air], device)) for device in ("wlan0", "eth0")]
    [0, 1]
    """
    others = [one for one in every if one.device != device]

    def is_first(route: Route) -> bool:
        halves = set(route.halves())
        return not any(
            (one.network, one.bits) in halves
            or ((one.network, one.bits) == (route.network, route.bits) and one.metric <= route.metric)
            for one in others
        )

    own = (one for one in every if one.device == device and one.bits <= _LONGEST)
    return [one for one in own if is_first(one)]


def scheme(name: str, settings: Pairs) -> _core.Scenario:
    """A scenario whose agent has these parameters.

    Raises:
        ScenarioError: One of them is wrong.
    """
    keys = [(f"agents.agent.{name}.{key}", value) for key, value in settings]
    return _core.Scenario.from_text(_SCENARIO.format(name=name), name, keys)


def serve(
    name: str,
    device: str,
    settings: Pairs,
    *,
    memory: int = MEMORY,
    on_ready: Callable[[Sequence[Route]], None] | None = None,
    needs_reports: bool = True,
) -> dict[str, Any]:
    """Have an agent at an interface until a signal asks this process to end, or the interface goes down.

    Args:
        name: The kind of the agent.
        device: The name of the interface.
        settings: Parameters of the agent.
        memory: Bytes of packets that it keeps at most.
        on_ready: What to do with the routes that lead to it, when it serves.
        needs_reports: Whether the interface must report what was acknowledged.

    Returns:
        How long it served, and what passed and was done.

    Raises:
        ScenarioError: A parameter is wrong.
        UsageError: The interface does not exist, is not that of mac80211, or has no IPv4 address, or this
            process may not use it.
        UnavailableError: The interface went down.
    """
    chosen = scheme(name, settings)
    _expect(device, needs_reports=needs_reports)
    try:
        found = _serve(name, chosen, device, memory, on_ready)
    except (system.Refused, PermissionError) as error:
        text = str(error) if isinstance(error, system.Refused) else f"{device}: {error.strerror}"
        expected = "" if os.geteuid() == 0 else "; expected root"
        raise UsageError(text + expected, argument="dev") from error
    except OSError as error:
        raise UnavailableError(f"{device}: {reason(error)}; expected it to be served") from error
    if found.pop("is_down"):
        raise UnavailableError(f"{device}: went down; expected it to be up")
    return {"agent": name, "dev": device, **found}


def _expect(device: str, *, needs_reports: bool) -> None:
    expected = "a Wi-Fi interface of mac80211, which reports what was acknowledged"
    if device not in {name for _, name in socket.if_nameindex()}:
        raise UsageError(f"{device}: no such interface; expected {expected}", argument="dev")
    if needs_reports and not _reports(device):
        raise UsageError(f"{device}: no reports; expected {expected}", argument="dev")


def _reports(device: str) -> bool:
    """Whether the driver of an interface says which packets were acknowledged."""
    asked = {_IFINDEX: struct.pack("=I", socket.if_nametoindex(device)), _SPLIT: b""}
    try:
        kernel = Generic()
        with kernel.socket:
            answers = kernel.ask(kernel.family("nl80211"), _GET_WIPHY, asked, dumps=True)
    except OSError:
        return False
    flags = [struct.unpack("=I", one[_FEATURES])[0] for one in answers if _FEATURES in one]
    return any(one & _REPORTS for one in flags)


def _serve(
    name: str,
    chosen: _core.Scenario,
    device: str,
    memory: int,
    on_ready: Callable[[Sequence[Route]], None] | None,
) -> dict[str, Any]:
    own = _address(device)
    (mtu,) = struct.unpack_from("=i", _asked(device, _SIOCGIFMTU))
    every = routes(_ROUTES.read_text(encoding="ascii"))
    behind = served(every, device)
    if not behind:
        raise UsageError(
            f"{device}: routes of others precede all of it; expected one that is first, and no other agent",
            argument="dev",
        )
    ahead = [(one.network, one.network | ~one.mask & 0xFFFFFFFF) for one in behind if one.is_direct]
    hop = chosen.hop(
        [(one.network, one.mask, one in behind) for one in every],
        ahead,
        _own_addresses(_LOCAL.read_text(encoding="ascii")),
        max(memory // _PACKET, 1),
    )
    with ExitStack() as open_ones:
        alone = open_ones.enter_context(_alone(device))
        heard, asked, link, plain = _sockets(device, open_ones)
        kept = os.memfd_create("kept") if name in _ACKNOWLEDGES else None
        if kept is not None:
            open_ones.callback(os.close, kept)
        _accept_only_from_behind(device, (alone.fileno(), kept), open_ones)
        tun, door = system.side_door(mtu, _BACKLOG)
        open_ones.callback(os.close, tun)
        for route in behind:
            for network, bits in route.halves():
                system.divert(network, bits, door, own)
        _renounce()
        stop, _ = open_ones.enter_context(stopped_by_signals())
        if on_ready is not None:
            on_ready(behind)
        found = hop.run([tun, link, plain, heard, asked], stop, _asked(device, _SIOCGIFHWADDR)[2:8], kept)
    return dict(found)


def _address(device: str) -> str:
    """The IPv4 address of an interface."""
    try:
        return socket.inet_ntoa(_asked(device, _SIOCGIFADDR)[4:8])
    except OSError as error:
        raise UsageError(f"{device}: no IPv4 address; expected one", argument="dev") from error


def _asked(device: str, request: int) -> bytes:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        return fcntl.ioctl(control, request, struct.pack("=16s24x", device.encode()))[16:]


def _own_addresses(trie: str) -> list[int]:
    r"""The addresses of this machine, as numbers.

    >>> _own_addresses("  |-- 10.0.0.1\n     /32 host LOCAL\n  |-- 10.0.0.0\n     /8 link UNICAST\n")
    [167772161]
    """
    found = re.findall(r"\|-- (\S+)\n\s+/32 host LOCAL", trie)
    return sorted({int.from_bytes(socket.inet_aton(one), "big") for one in found})


def _sockets(device: str, open_ones: ExitStack) -> tuple[int, int, int, int]:
    """What hears packets and ARP at an interface, and what sends packets by it, with and without reports."""
    heard, asked = (open_ones.enter_context(socket.socket(socket.AF_PACKET, _KIND, 0)) for _ in range(2))
    code = b"".join(struct.pack("=HBBI", *line) for line in _OWN_PACKETS)
    kept = ctypes.create_string_buffer(code)
    heard.setsockopt(
        socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("@HP", len(_OWN_PACKETS), ctypes.addressof(kept))
    )
    heard.setsockopt(_SOL_PACKET, _PACKET_VNET_HDR, 1)
    heard.bind((device, _ETHERTYPE_IP))
    asked.bind((device, _ETHERTYPE_ARP))
    link, plain = (open_ones.enter_context(_raw(device)) for _ in range(2))
    link.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SENDING)
    link.setsockopt(socket.SOL_SOCKET, _SO_WIFI_STATUS, 1)
    # Reports wait in the room of what is received.
    for one in (heard, link):
        one.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _HEARING)
    return heard.fileno(), asked.fileno(), link.fileno(), plain.fileno()


def _raw(device: str) -> socket.socket:
    """What sends whole packets by an interface."""
    link = socket.socket(socket.AF_INET, _KIND, socket.IPPROTO_RAW)
    link.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, device.encode() + b"\0")
    link.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    return link


def _alone(device: str) -> socket.socket:
    """What only one agent of an interface has: a name of a socket in its network namespace.

    Raises:
        UsageError: Another agent has it.
    """
    own = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    until = time.monotonic() + _PATIENCE_S
    while True:
        try:
            own.bind(f"\0lasthop agent {device}")
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > until:
                own.close()
                text = f"{device}: has an agent; expected it to end first, and no other agent"
                raise UsageError(text, argument="dev") from error
            time.sleep(_PAUSE_S)
        else:
            return own


def _accept_only_from_behind(device: str, held: tuple[int, int | None], open_ones: ExitStack) -> None:
    """Have an interface accept only packets from sources that it leads to, until this process ends."""
    every, own = (system.SETTINGS / "conf" / name / "rp_filter" for name in ("all", device))
    if (found := every.read_text(encoding="ascii").strip()) not in ("0", _STRICT):
        raise system.Refused(f"{every}: {found}; expected 0 or {_STRICT}")
    before = own.read_text(encoding="ascii").strip()
    ended, lives = os.pipe()
    if os.fork() == 0:
        _outlive(ended, held, device, lambda: own.write_text(before, encoding="ascii"))
    os.close(ended)
    open_ones.callback(os.close, lives)
    system.put(own, _STRICT)


def _outlive(
    ended: int, held: tuple[int, int | None], device: str, restore: Callable[[], object]
) -> NoReturn:
    """Wait for the end of the process that made this one, and end what that cannot any more."""
    alone, kept = held
    try:
        os.setsid()
        for number in system.ENDING:
            signal.signal(number, signal.SIG_IGN)
        below = 0
        for one in sorted({ended, alone, ended if kept is None else kept}):
            os.closerange(below, one)
            below = one + 1
        os.closerange(below, os.sysconf("SC_OPEN_MAX"))
        os.read(ended, 1)
        restore()
        os.close(alone)
        if kept is not None:
            heard = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, 0)
            with _raw(device) as link, heard:
                heard.bind((device, _ETHERTYPE_IP))
                _renounce()
                content = os.pread(kept, confirmed.PLACE * confirmed.PLACES, 0)
                confirmed.confirm(content, link, heard)
    finally:
        os._exit(0)


def _renounce() -> None:
    """Renounce all privileges for good."""
    system.call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    user = pwd.getpwnam(_NOBODY)
    # In a user namespace there may be only its root, and then the capabilities are all.
    with suppress(OSError):
        os.setgroups([])
    with suppress(OSError):
        os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
    with suppress(OSError):
        os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    system.call("capset", struct.pack("=Ii", _CAPABILITIES, 0), bytes(24))
