"""The way from a node of a live run to the Internet, through the host.

It is a network namespace of its own, the edge. slirp4netns sends what comes there by sockets of its own; it
needs neither root nor a rule on the host, and ends with the process that started it. Its TCP has a window of
64 kB and no SACK, so it must not meet the links of a scenario: the kernel of the edge is the other end of
connections, and a relay continues them.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import socket
import struct
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.base.errors import UnavailableError
from lasthop.realtime import system

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

_PROGRAM = "slirp4netns"
_INTERFACE = "internet0"
# Addresses of documentation (RFC 5737), which no network has: at the first is the loopback address of the
# host, at the second slirp4netns answers for the host's name servers.
_NETWORK, HOST, NAMES = "198.51.100.0/24", "198.51.100.2", "198.51.100.3"
# <linux/rtnetlink.h>, <linux/fib_rules.h>
_RTM_NEWRULE, _RT_SCOPE_HOST, _RTN_LOCAL = 32, 254, 2
_FR_ACT_TO_TBL, _FRA_IIFNAME, _FRA_IP_PROTO, _TABLE = 1, 3, 22, 100
# <linux/in.h>
_IP_TRANSPARENT = 19
_LIMIT = 1 << 18
_BACKLOG = 128


class Internet:
    """The edge. slirp4netns starts in the namespaces in which this process is when the block begins."""

    def __enter__(self) -> Self:
        program = shutil.which(_PROGRAM)
        if program is None:
            text = f"{_PROGRAM}: no such program; expected it on the path (install the package {_PROGRAM})"
            missing = UnavailableError(text, argument="internet")
            missing.exit_code = 2
            raise missing
        self._user = _user_namespace()
        self._ready, tells = os.pipe()
        self._messages = os.memfd_create(_PROGRAM)
        parent = os.getpid()
        self._process = subprocess.Popen(
            ["sh", "-c", f'read -r where && exec "$0" -c --cidr={_NETWORK} -r {tells} $where', program],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._messages,
            text=True,
            pass_fds=(tells,),
            # Ctrl-C is for this process.
            start_new_session=True,
            preexec_fn=lambda: system.die_with(parent),  # noqa: PLW1509 - other threads only wait
        )
        os.close(tells)
        return self

    def edge(self, address: str, mtu: int) -> tuple[int, int]:
        """Move the calling thread to the edge, with this address; returns its namespace and interface.

        Raises:
            Refused: The system does not allow it.
        """
        namespace, interface = system.node(address, mtu)
        own = f"/proc/{os.getpid()}"
        where = f"--netns-type=path {own}/fd/{namespace} {_INTERFACE}"
        if _user_namespace() != self._user:
            where = f"--userns-path={own}/ns/user {where}"
        assert self._process.stdin is not None
        self._process.stdin.write(f"{where}\n")
        self._process.stdin.flush()
        if not os.read(self._ready, 1):
            said = os.pread(self._messages, 4096, 0).decode(errors="replace").strip().rpartition("\n")[2]
            raise system.Refused(f"{_PROGRAM}: {said}; expected it to run")
        _forward()
        self._relay = _Relay()
        return namespace, interface

    def opens(self, port: int) -> None:
        """Continue connections to a port of TCP."""
        self._relay.opens(port)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.kill()
        self._process.communicate()
        os.close(self._ready)
        os.close(self._messages)


def _forward() -> None:
    """Have the calling thread's namespace pass on what comes from nodes for others, and answer for all nodes.

    It takes TCP itself, whatever the address.
    """
    system.put(system.SETTINGS / "conf" / _INTERFACE / "proxy_arp", 1)
    system.put(system.SETTINGS / "neigh" / _INTERFACE / "proxy_delay", 0)
    system.put(system.SETTINGS / "ip_forward", 1)
    system.send_all(_TABLE, b"lo", _RTN_LOCAL, _RT_SCOPE_HOST)
    rule = struct.pack("=8BI", socket.AF_INET, 0, 0, 0, _TABLE, 0, 0, _FR_ACT_TO_TBL, 0)
    rule += struct.pack("=HH12sHHB3x", 16, _FRA_IIFNAME, system.NAME, 5, _FRA_IP_PROTO, socket.IPPROTO_TCP)
    system.ask("a rule", _RTM_NEWRULE, rule)


def _user_namespace() -> int:
    return Path("/proc/self/ns/user").stat().st_ino


class _Relay(threading.Thread):
    """Continues connections of TCP from the namespace in which it is started."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._loop = asyncio.new_event_loop()
        self.start()

    def run(self) -> None:
        self._loop.run_forever()

    def opens(self, port: int) -> None:
        """Accept connections to a port from now on."""
        asyncio.run_coroutine_threadsafe(self._serve(port), self._loop).result()

    async def _serve(self, port: int) -> None:
        listener = socket.create_server(("", port), backlog=_BACKLOG)
        # Its own address is any, and what the edge itself sends is not for it.
        listener.setsockopt(socket.IPPROTO_IP, _IP_TRANSPARENT, 1)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, system.NAME)
        await asyncio.start_server(_continue, sock=listener, limit=_LIMIT)


async def _continue(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Connect to where a connection was meant to go, and pass on what comes until both ends have ended."""
    try:
        far = await asyncio.open_connection(*writer.get_extra_info("sockname"), limit=_LIMIT)
    except OSError:
        _reset(writer)
        return
    passing = [asyncio.ensure_future(_pass(*ends)) for ends in ((reader, far[1]), (far[0], writer))]
    try:
        await asyncio.gather(*passing)
    except OSError:
        for one, end in zip(passing, (writer, far[1]), strict=True):
            one.cancel()
            _reset(end)
    for end in (writer, far[1]):
        end.close()


async def _pass(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while some := await reader.read(_LIMIT):
        writer.write(some)
        await writer.drain()
    with suppress(OSError):
        writer.write_eof()


def _reset(writer: asyncio.StreamWriter) -> None:
    """End a connection as if its other end had failed."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("=ii", 1, 0))
    writer.transport.abort()
