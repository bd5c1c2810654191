"""The calls of libbpf that load a law, and receive what it records.

A law is registered by a link, which the kernel removes when its last descriptor is closed: when the process
ends, in whatever way.
"""

from __future__ import annotations

import ctypes
import os
import platform
import re
import signal
import sys
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint, c_void_p
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.kernel.build import KernelLawError

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType
    from typing import Self

# <linux/bpf.h>
_BPF_F_LINK, _BPF_STRUCT_OPS, _BPF_MAP_TYPE_ARRAY = 1 << 13, 44, 2
_BTF = Path("/sys/kernel/btf/vmlinux")
_MOUNTS = Path("/proc/self/mounts")
# The level of messages about errors.
_WARN = 0
_MESSAGE = 1 << 20
# A signal is noticed so soon.
_PATIENCE_MS = 200
# A line of source in the log of the verifier.
_PLACE = re.compile(r"; (.*) @ (\S+:\d+)")
_PRINT = ctypes.CFUNCTYPE(c_int, c_int, c_void_p, c_void_p)
_SAMPLE = ctypes.CFUNCTYPE(c_int, c_void_p, c_void_p, c_size_t)

_CALLS = {
    "bpf_object__open_file": (c_void_p, c_char_p, c_void_p),
    "bpf_object__load": (c_int, c_void_p),
    "bpf_object__close": (None, c_void_p),
    "bpf_object__find_map_by_name": (c_void_p, c_void_p, c_char_p),
    "bpf_object__find_program_by_name": (c_void_p, c_void_p, c_char_p),
    "bpf_program__attach_cgroup": (c_void_p, c_void_p, c_int),
    "bpf_map__initial_value": (c_void_p, c_void_p, POINTER(c_size_t)),
    "bpf_map__set_map_flags": (c_int, c_void_p, c_uint),
    "bpf_map__attach_struct_ops": (c_void_p, c_void_p),
    "bpf_map__fd": (c_int, c_void_p),
    "bpf_link__fd": (c_int, c_void_p),
    "bpf_link__destroy": (c_int, c_void_p),
    "bpf_map_create": (c_int, c_int, c_char_p, c_uint, c_uint, c_uint, c_void_p),
    "bpf_link_create": (c_int, c_int, c_int, c_int, c_void_p),
    "ring_buffer__new": (c_void_p, c_int, _SAMPLE, c_void_p, c_void_p),
    "ring_buffer__poll": (c_int, c_void_p, c_int),
    "ring_buffer__consume": (c_int, c_void_p),
    "ring_buffer__free": (None, c_void_p),
    "libbpf_set_print": (c_void_p, _PRINT),
}


@cache
def library() -> ctypes.CDLL:
    """The library.

    Raises:
        KernelLawError: It is not installed.
    """
    try:
        found = ctypes.CDLL("libbpf.so.1", use_errno=True)
    except OSError as error:
        raise KernelLawError("libbpf.so.1: not found; expected `apt-get install libbpf1`") from error
    for name, (result, *arguments) in _CALLS.items():
        call = getattr(found, name)
        call.restype, call.argtypes = result, arguments
    found.libbpf_set_print(_KEEP)
    return found


_messages: list[str] = []


def _keep(level: int, form: int, values: int) -> int:
    """Keep what the library says about errors."""
    if level == _WARN:
        text = ctypes.create_string_buffer(_MESSAGE)
        ctypes.CDLL(None).vsnprintf(text, c_size_t(_MESSAGE), c_void_p(form), c_void_p(values))
        _messages.append(text.value.decode(errors="replace"))
    return 0


_KEEP = _PRINT(_keep)


def cannot_load() -> str | None:
    """Why no law can be loaded into the kernel here; `None` if one can, as far as this tells."""
    if not sys.platform.startswith("linux"):
        return f"this system is {platform.system()}; expected Linux"
    if os.geteuid() != 0:
        return "not root; expected root, which BPF needs"
    if not _BTF.is_file():
        return f"{_BTF}: no such file; expected a kernel with CONFIG_DEBUG_INFO_BTF"
    try:
        number = library().bpf_map_create(_BPF_MAP_TYPE_ARRAY, None, 4, 4, 1, None)
    except KernelLawError as error:
        return str(error)
    if number < 0:
        return f"BPF: {os.strerror(-number)}; expected root outside of a container"
    os.close(number)
    if b"\0bpf_struct_ops_tcp_congestion_ops\0" not in _BTF.read_bytes():
        return "this kernel has no congestion laws in BPF; expected CONFIG_BPF_JIT and Linux 6.10"
    return None


class Object:
    """A law of a file of BPF, which is in the kernel while this lives; as a context it ends it."""

    def __init__(self, path: Path, parameters: bytes = b"") -> None:
        """Load a law, whose constants begin with these bytes, and register it.

        Raises:
            KernelLawError: The kernel refuses it; the message ends with the reason of the verifier.
        """
        self._library = library()
        self._ring: int | None = None
        self._headers: int | None = None
        self._link: int | None = None
        _messages.clear()
        self._object = self._library.bpf_object__open_file(os.fsencode(path), None)
        if not self._object:
            raise KernelLawError(f"{path}: {_said()}; expected an object for BPF")
        try:
            if parameters:
                self._set(parameters)
            self._register(path)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Take the law out of the kernel; connections that have it keep it."""
        if self._ring is not None:
            self._library.ring_buffer__free(self._ring)
        if self._headers is not None:
            self._library.bpf_link__destroy(self._headers)
        if self._link is not None:
            os.close(self._link)
        if self._object:
            self._library.bpf_object__close(self._object)
        self._ring = self._headers = self._link = self._object = None

    def _set(self, parameters: bytes) -> None:
        """Set the constants, before the object is loaded."""
        constants = self._library.bpf_object__find_map_by_name(self._object, b".rodata.parameters")
        place = self._library.bpf_map__initial_value(constants, byref(size := c_size_t()))
        assert size.value == len(parameters), "the structure of the source"
        ctypes.memmove(place, parameters, len(parameters))

    def _register(self, path: Path) -> None:
        law = self._library.bpf_object__find_map_by_name(self._object, b"law")
        if not law:
            raise KernelLawError(f"{path}: no structure `law`; expected a struct tcp_congestion_ops")
        self._library.bpf_map__set_map_flags(law, _BPF_F_LINK)
        if self._library.bpf_object__load(self._object):
            raise KernelLawError(refusal(_said()))
        number = self._library.bpf_map__fd(law)
        attached = self._library.bpf_map__attach_struct_ops(law)
        if attached and self._library.bpf_link__fd(attached) != number:
            # From libbpf 1.2 on this is the link.
            self._link = self._library.bpf_link__fd(attached)
            return
        link = self._library.bpf_link_create(number, 0, _BPF_STRUCT_OPS, None) if attached else -1
        if link < 0:
            why = os.strerror(ctypes.get_errno())
            raise KernelLawError(
                f"{path.name}: not registered: {why}; expected no law of this name in the kernel"
            )
        self._link = link

    def write_headers(self) -> None:
        """Have connections that are made from now on write and read the option of the law.

        Raises:
            KernelLawError: There is no hierarchy of control groups to which this could apply.
        """
        lines = (line.split() for line in _MOUNTS.read_text().splitlines())
        places = [place for _, place, kind, *_ in lines if kind == "cgroup2"]
        if not places:
            raise KernelLawError(f"{_MOUNTS}: no cgroup2; expected one, such as /sys/fs/cgroup")
        program = self._library.bpf_object__find_program_by_name(self._object, b"header_option")
        group = os.open(places[0], os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._headers = self._library.bpf_program__attach_cgroup(program, group)
        finally:
            os.close(group)
        if not self._headers:
            raise KernelLawError(f"{places[0]}: {_said()}; expected that programs can be attached")

    def receive(self, take: Callable[[bytes], object]) -> None:
        """Hand over what the law records from now on, in `attend` and `drain`."""

        def sample(context: int, data: int, size: int) -> int:
            take(ctypes.string_at(data, size))
            return 0

        self._sample = _SAMPLE(sample)
        ring = self._library.bpf_object__find_map_by_name(self._object, b"events")
        if not ring:
            raise KernelLawError("events: none in this law; expected a law that records")
        self._ring = self._library.ring_buffer__new(self._library.bpf_map__fd(ring), self._sample, None, None)

    def attend(self) -> None:
        """Hand over what the law records, for ever."""
        while True:
            if self._ring is None:
                signal.pause()
            else:
                self._library.ring_buffer__poll(self._ring, _PATIENCE_MS)

    def drain(self) -> None:
        """Hand over what is recorded and not handed over yet."""
        if self._ring is not None:
            self._library.ring_buffer__consume(self._ring)


def refusal(said: str) -> str:
    r"""Why the kernel refuses a law: the place in its source and the reason of the verifier, then its log.

    >>> log = "; tp->srtt_us = 0; @ mine.bpf.c:8\n2: (63) *(u32 *)(r1 +1680) = r2\nno write\nprocessed 3"
    >>> print(refusal(log).splitlines()[0])
    mine.bpf.c:8: `tp->srtt_us = 0;`: no write; expected what the verifier of this kernel accepts
    """
    lines = said.partition("processed ")[0].splitlines()
    places = [found for line in lines if (found := _PLACE.fullmatch(line))]
    if not places:
        return f"{lines[0]}; expected a law that this kernel accepts\n{said}"
    source, where = places[-1].groups()
    return f"{where}: `{source}`: {lines[-1]}; expected what the verifier of this kernel accepts\n{said}"


def _said() -> str:
    """What the library said last, without its own name."""
    lines = "".join(_messages).replace("libbpf: ", "").strip().splitlines()
    return "\n".join(lines) or os.strerror(ctypes.get_errno())
