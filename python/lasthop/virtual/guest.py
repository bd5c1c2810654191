"""A guest: a kernel as a process, with a program that runs on the files of this machine."""

from __future__ import annotations

import ctypes
import json
import os
import re
import resource
import shlex
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.base.errors import RunError
from lasthop.base.paths import for_children
from lasthop.realtime import system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from subprocess import Popen
    from typing import Self

#: Where the folder of a guest is in it.
INSIDE = Path("/run/lasthop")
_INIT = Path(__file__).with_name("init.py")
# The kernel mixes its options into what it takes for random: they are the same wherever lasthop is. Among the
# files of the host this is a link to the folder of the guest.
_START = "/proc/self/cwd/init"
# All guests begin at this time: 1 January 2026.
_BEGIN_NS = 1_767_225_600 * 10**9
_MEMORY = 1 << 30
_SHARED = Path("/dev/shm")  # noqa: S108 - the kernel makes a file without a name there
_ADDR_NO_RANDOMIZE = 0x0040000
_TICK_S = 0.02
# The folders that init.py makes anew.
_OWN = ("/dev", "/proc", "/run", "/sys")
# The socket on which the kernel reports, and its own name.
_MONITOR, _NAME = "monitor", "guest"
# What it prints if it cannot report.
_LOG = "log"
# <arch/um/drivers/mconsole.h>: a request, and the head of a report with its kind.
_REQUEST, _NOTE = struct.Struct("=III512s"), struct.Struct("=IIII")
_MAGIC, _VERSION, _PANIC = 0xCAFEBABE, 2, 1
_LONGEST, _ANSWER_S = 4096, 1.0


class LimitError(RunError):
    """The guest did not end in time; the message names the program that was running."""

    exit_code = 124


class Guest:
    """A folder that a guest shares with this process, and one run of the guest in it."""

    def __init__(self, kernel: Path, folder: Path) -> None:
        self._kernel = kernel
        #: What is in it is in `INSIDE` for the guest.
        self.folder = folder

    def run(
        self,
        words: Sequence[str],
        given: bytes,
        *,
        seed: int,
        limit_s: float,
        follow: Callable[[str, bytes], None] = lambda *_: None,
    ) -> int:
        """Run a program in a new guest until it ends; returns its exit code.

        Args:
            words: The program and its arguments.
            given: What it can read from its standard input.
            seed: What the guest takes for random follows from it.
            limit_s: The time of this machine after which the guest is ended.
            follow: What takes its output while it runs: `out` or `err`, and the bytes.

        Raises:
            RunError: The guest ends without the program, or after its time.
        """
        env = {**os.environ, **_ENV, "PYTHONPATH": for_children()}
        job = {"words": list(words), "env": env, "folder": str(_working_folder())}
        (self.folder / "job").write_text(json.dumps(job), encoding="utf-8")
        (self.folder / "in").write_bytes(given)
        start = self.folder / Path(_START).name
        start.write_text(f"#!/bin/sh\nexec {shlex.join([sys.executable, '-I', '-S', str(_INIT)])}\n", "utf-8")
        start.chmod(0o700)
        with (
            (self.folder / "out").open("xb+", buffering=0) as out,
            (self.folder / "err").open("xb+", buffering=0) as err,
        ):
            streams = {"out": out, "err": err}

            def pump() -> None:
                for name, stream in streams.items():
                    if part := stream.read():
                        follow(name, part)

            until = time.monotonic() + limit_s
            with _Monitor(self.folder) as monitor, self._started(seed) as kernel:
                while kernel.poll() is None:
                    if time.monotonic() > until:
                        raise LimitError(
                            f"virtual: {limit_s:g} s of this machine are over{monitor.running()}"
                        )
                    time.sleep(_TICK_S)
                    pump()
                pump()
                if (code := self._status()) is None:
                    text = f"exit code {kernel.returncode}: {monitor.panic()}; expected its program to end"
                    raise RunError(f"virtual: the guest ended with {text}")
                return code

    @contextmanager
    def _started(self, seed: int) -> Iterator[Popen[bytes]]:
        options = (
            f"mem={_MEMORY}",
            *("rootfstype=hostfs", "rootflags=/", "ro", f"init={_START}"),
            *("time-travel=inf-cpu", f"time-travel-start={_BEGIN_NS}", f"random-seed={seed}", "norandmaps"),
            *("uml_dir=.", f"umid={_NAME}", f"mconsole=notify:{_MONITOR}"),
            *("quiet", "loglevel=8", "console=none"),
        )
        with (self.folder / _LOG).open("wb") as log, _signals_wait() as before:
            kernel = subprocess.Popen(
                [self._kernel, *options],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={"PATH": os.defpath, "TMPDIR": str(_memory_folder(self.folder))},
                preexec_fn=partial(_settle, os.getpid(), before),  # noqa: PLW1509 - no other thread of this process holds a lock
            )
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            yield kernel
        finally:
            kernel.kill()
            kernel.wait()

    def _status(self) -> int | None:
        """The exit code of the program, if it has ended."""
        with suppress(OSError, ValueError):
            return int((self.folder / "status").read_text(encoding="ascii"))
        return None


def _working_folder() -> Path:
    """That of this process, which programs have as well.

    Raises:
        RunError: A guest does not have it.
    """
    found = Path.cwd()
    for own in _OWN:
        if found.is_relative_to(own):
            raise RunError(f"virtual: {found}: a guest has its own {own}; expected another working directory")
    return found


class _Monitor:
    """What the kernel of a guest says of itself, <arch/um/drivers/mconsole.h>."""

    def __init__(self, folder: Path) -> None:
        self._folder = os.open(folder, os.O_PATH)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(self._short(_MONITOR))
        self._socket.settimeout(_ANSWER_S)
        self._log = folder / _LOG

    def _short(self, name: str) -> str:
        """A path in the folder, which may be deeper than the name of a socket can be."""
        return f"/proc/{os.getpid()}/fd/{self._folder}/{name}"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._socket.close()
        os.close(self._folder)

    def running(self) -> str:
        """What runs in the guest."""
        # The registers of what runs, after its name.
        asked = b"sysrq p"
        with suppress(OSError):
            request = _REQUEST.pack(_MAGIC, _VERSION, len(asked), asked)
            self._socket.sendto(request, self._short(f"{_NAME}/mconsole"))
            while True:
                if found := re.search(rb"comm: (\S+)", self._socket.recv(_LONGEST)):
                    name = found[1].decode(errors="replace")
                    return f'; "{name}" runs, and time stands still while a program computes'
        return ""

    def panic(self) -> str:
        """Why the kernel has ended."""
        self._socket.setblocking(False)
        with suppress(OSError):
            while True:
                said = self._socket.recv(_LONGEST)
                if len(said) > _NOTE.size and _NOTE.unpack_from(said)[2] == _PANIC:
                    return said[_NOTE.size :].rstrip(b"\0\n").decode(errors="replace")
        log = self._log.read_text(encoding="utf-8", errors="replace").strip()
        return log.rpartition("\n")[2] or "it has given no reason"


# No program may differ from run to run by how Python orders its sets.
_ENV = {"PYTHONHASHSEED": "0", "OPENBLAS_NUM_THREADS": "1"}


def mixed(seed: int, replication: int) -> int:
    """What the guest draws from: other numbers for each replication of each seed."""
    return seed * 0x9E3779B97F4A7C15 + replication & (1 << 64) - 1


@contextmanager
def _signals_wait() -> Iterator[set[int]]:
    """Have signals that end this process wait, also after the block if it succeeds.

    An exception that a signal raises in the hooks of a fork would be lost.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, system.ENDING)
    try:
        yield before
    except BaseException:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise


def _settle(parent: int, unblocked: set[int]) -> None:
    """Prepare the process of a kernel: it ends with its parent, dumps nothing, and has fixed addresses."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    ctypes.CDLL(None).personality(_ADDR_NO_RANDOMIZE)
    system.die_with(parent)
    signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)


def _memory_folder(other: Path) -> Path:
    """Where the memory of a guest is: in memory, if there is enough of it."""
    with suppress(OSError):
        found = os.statvfs(_SHARED)
        has_room = found.f_bavail * found.f_frsize > _MEMORY and os.access(_SHARED, os.W_OK | os.X_OK)
        if has_room and not found.f_flag & os.ST_NOEXEC:
            return _SHARED
    return other


@contextmanager
def guest(kernel: Path) -> Iterator[Guest]:
    """A guest and its folder, of which nothing is left in the end, not even if this process is killed."""
    folder = Path(tempfile.mkdtemp(prefix="lasthop-"))
    # It removes the folder when its input ends, however this process ends.
    keeper = subprocess.Popen(
        ["/bin/sh", "-c", 'read _; rm -rf -- "$0"', folder],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        yield Guest(kernel, folder)
    finally:
        keeper.communicate()
