"""Each law in the kernel once: it is accepted, carries bytes over the loopback interface, and is gone."""

from __future__ import annotations

import socket
from threading import Thread
from typing import TYPE_CHECKING

from lasthop.base.errors import RunError
from lasthop.kernel.build import LAWS, in_kernel
from lasthop.kernel.loaded import known, loaded, replayed
from lasthop.kernel.parameters import NAMES
from lasthop.realtime import tcp

if TYPE_CHECKING:
    from collections.abc import Iterator

_BYTES = 8_000_000
_CHUNK = 1 << 16


def tested() -> Iterator[str]:
    """Test each law, and tell what it did.

    Raises:
        KernelLawError: The kernel cannot have it.
        RunError: The law failed.
    """
    for law in LAWS:
        events = bytearray()
        with loaded(law, (), events.extend if law in NAMES else None) as found:
            carried = carry(in_kernel(law), _BYTES)
            found.drain()
        if carried != _BYTES or in_kernel(law) in known():
            raise RunError(f"{law}: {carried} bytes carried; expected {_BYTES}, and the law gone afterwards")
        text = f"{law}: accepted, {carried / 1e6:g} MB carried, gone"
        if law in NAMES:
            again = replayed(law, (), bytes(events))
            if not again:
                raise RunError(str(again))
            text += f"; {again.acks} acknowledgements answered as by lasthop"
        yield text


def carry(law: str, size: int) -> int:
    """Send this many bytes over the loopback interface by a law; returns how many arrive."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket() as sender:
        sender.setsockopt(socket.IPPROTO_TCP, tcp.TCP_CONGESTION, law.encode())
        sender.connect(server.getsockname())
        receiver, _ = server.accept()

        def write() -> None:
            sender.sendall(bytes(size))
            sender.shutdown(socket.SHUT_WR)

        thread = Thread(target=write, daemon=True)
        thread.start()
        with receiver:
            carried = 0
            while got := len(receiver.recv(_CHUNK)):
                carried += got
        thread.join()
    return carried
