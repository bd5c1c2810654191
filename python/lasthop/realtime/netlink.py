"""Generic netlink: requests to families of the kernel, and their answers.

The form of messages is that of <linux/netlink.h> and <linux/genetlink.h>.
"""

from __future__ import annotations

import os
import socket
import struct
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    #: The attributes of a message, by their kinds; a mapping is nested.
    Attributes = Mapping[int, "bytes | Attributes"]

_GENERIC, _SOL_NETLINK, _CAP_ACK, _EXT_ACK = 16, 270, 10, 11
_SO_RCVBUFFORCE = 33
_HEAD, _GENERIC_HEAD, _ATTRIBUTE = struct.Struct("=IHHII"), struct.Struct("=BBxx"), struct.Struct("=HH")
_ERROR, _DONE = 2, 3
_REQUEST, _ACK, _DUMP = 1, 4, 0x300
_KIND_MASK, _NESTED = 0x3FFF, 0x8000
_CONTROL, _GET_FAMILY, _FAMILY_ID, _FAMILY_NAME = 16, 3, 1, 2
# Of what a kernel says at once, and of what waits to be read.
_LONGEST, _BUFFER = 1 << 16, 1 << 23


class Generic:
    """A socket of generic netlink in the calling thread's network namespace."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, _GENERIC)
        self.socket.bind((0, 0))
        with suppress(PermissionError):
            self.socket.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _BUFFER)

    def family(self, name: str) -> int:
        """The number of a family.

        Raises:
            OSError: The kernel does not have it.
        """
        (found,) = self.ask(_CONTROL, _GET_FAMILY, {_FAMILY_NAME: name.encode() + b"\0"})
        return int.from_bytes(found[_FAMILY_ID], "little")

    def ask(
        self, family: int, command: int, attributes: Attributes, *, dumps: bool = False
    ) -> list[dict[int, bytes]]:
        """Send a request; returns the attributes of each answer.

        Raises:
            OSError: The kernel refuses it.
        """
        body = _GENERIC_HEAD.pack(command, 1) + encoded(attributes)
        flags = _REQUEST | (_DUMP if dumps else _ACK)
        self.socket.send(_HEAD.pack(_HEAD.size + len(body), family, flags, 0, 0) + body)
        answers: list[dict[int, bytes]] = []
        while True:
            for kind, value in _messages(self.socket.recv(_LONGEST)):
                if kind == _ERROR and (number := struct.unpack_from("=i", value)[0]) < 0:
                    raise OSError(-number, os.strerror(-number))
                if kind in (_ERROR, _DONE):
                    return answers
                if kind == family:
                    answers.append(decoded(value[_GENERIC_HEAD.size :]))


def _messages(received: bytes) -> Iterator[tuple[int, bytes]]:
    while received:
        length, kind, *_ = _HEAD.unpack_from(received)
        yield kind, received[_HEAD.size : length]
        received = received[-(-length // 4) * 4 :]


def encoded(attributes: Attributes) -> bytes:
    """Attributes as the kernel reads them."""
    parts = []
    for kind, value in attributes.items():
        content, flag = (value, 0) if isinstance(value, bytes) else (encoded(value), _NESTED)
        head = _ATTRIBUTE.pack(_ATTRIBUTE.size + len(content), kind | flag)
        parts.append(head + content + bytes(-len(content) % 4))
    return b"".join(parts)


def decoded(received: bytes) -> dict[int, bytes]:
    """The attributes of a message, those of the same kind as the last."""
    found = {}
    while len(received) >= _ATTRIBUTE.size:
        length, kind = _ATTRIBUTE.unpack_from(received)
        found[kind & _KIND_MASK] = received[_ATTRIBUTE.size : length]
        received = received[-(-max(length, _ATTRIBUTE.size) // 4) * 4 :]
    return found
