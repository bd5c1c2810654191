"""Programs that run on bound nodes, in namespaces of their own that end with this process."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lasthop.realtime import system

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO, TextIO

# The states of a socket in the tables of the kernel that waits for TCP connections, or for datagrams.
_LISTENS = ("0A", "07")
_TICK_S = 0.01


class Command(NamedTuple):
    """A program and the node that it runs on."""

    node: str
    words: tuple[str, ...]


class Node(NamedTuple):
    """A bound node: its address, its namespace and its interface, by descriptors."""

    name: str
    address: str
    namespace: int
    interface: int


class _Printer(threading.Thread):
    """Prints the lines of a program with the name of its node before each."""

    def __init__(self, into: TextIO, name: str) -> None:
        super().__init__(daemon=True)
        self._into, self._name = into, name
        self._source: IO[bytes] | None = None
        self._begins = threading.Event()

    def begin(self, source: IO[bytes] | None) -> None:
        """Print what comes from here until it ends."""
        self._source = source
        self._begins.set()

    def run(self) -> None:
        self._begins.wait()
        for line in self._source or ():
            text = line.decode(errors="replace").rstrip("\n")
            print(f"[{self._name}] {text}", file=self._into, flush=True)


class Programs:
    """The programs of a live run. All of them end when this is closed, or when this process ends."""

    def __init__(
        self,
        nodes: Sequence[Node],
        commands: Sequence[Command],
        stop: int,
        *,
        has_terminal: bool,
        servers_s: float,
    ) -> None:
        """Start the programs; when the last of them has ended, a byte is written to `stop`.

        Each line of a program begins with the name of its node. If the last one has the terminal of this
        process, it starts when the others listen, or after `servers_s`, and their lines go to the standard
        error.

        Raises:
            OSError: The system does not allow it, or a program does not exist.
        """
        by_name = {node.name: node for node in nodes}
        self._running: list[subprocess.Popen[bytes]] = []
        # Before the process namespace: a process whose children are in another one cannot start threads.
        into = sys.stderr if has_terminal else sys.stdout
        each = [(_Printer(into, one.node), _Printer(sys.stderr, one.node)) for one in commands]
        self._printers = [printer for both in each for printer in both]
        self._have_begun = threading.Event()
        for thread in (*self._printers, threading.Thread(target=self._await_last, args=(stop,), daemon=True)):
            thread.start()
        self._keeper, self._held = _keeper()
        try:
            for number, (command, (out, err)) in enumerate(zip(commands, each, strict=True), 1):
                is_last = has_terminal and number == len(commands)
                if is_last:
                    self._await_servers(servers_s)
                started = _start(by_name[command.node], command.words, is_labelled=not is_last)
                self._running.append(started)
                out.begin(started.stdout)
                err.begin(started.stderr)
        except BaseException:
            self.close()
            raise
        self._have_begun.set()

    def _await_servers(self, servers_s: float) -> None:
        """Wait until each program listens or has ended, for a time at most."""
        until = time.monotonic() + servers_s
        while time.monotonic() < until and not all(map(_is_ready, self._running)):
            time.sleep(_TICK_S)

    def _await_last(self, stop: int) -> None:
        self._have_begun.wait()
        if self._running:
            self._running[-1].wait()
            with suppress(OSError):
                os.write(stop, b"\0")

    def status(self) -> int | None:
        """The exit code of the last program, as a shell has it; 0 without programs, `None` while it runs."""
        code = self._running[-1].poll() if self._running else 0
        return 128 - code if code is not None and code < 0 else code

    def close(self) -> None:
        """End all programs and what they started."""
        os.close(self._held)
        # The keeper ends after all others have been awaited.
        for one in self._running:
            one.wait()
        with suppress(ChildProcessError):
            os.waitpid(self._keeper, 0)
        for printer in self._printers:
            printer.begin(None) if not self._have_begun.is_set() else printer.join(1.0)


def _is_ready(program: subprocess.Popen[bytes]) -> bool:
    return program.poll() is not None or listens(program.pid)


def listens(process: int, port: int | None = None) -> bool:
    """Whether a socket of a process' network listens, for TCP or UDP, on this port or on any."""
    tables = (Path(f"/proc/{process}/net/{kind}") for kind in ("tcp", "tcp6", "udp", "udp6"))
    rows = [line.split() for table in tables for line in _lines(table)[1:]]
    return any(row[3] in _LISTENS and port in (None, int(row[1].rpartition(":")[2], 16)) for row in rows)


def _lines(table: Path) -> list[str]:
    """Those of a table of the kernel; none of a process that has ended."""
    try:
        return table.read_text().splitlines()
    except OSError:
        return []


def _start(node: Node, words: Sequence[str], *, is_labelled: bool) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE if is_labelled else None
    return subprocess.Popen(
        words,
        stdin=subprocess.DEVNULL if is_labelled else None,
        stdout=pipe,
        stderr=pipe,
        preexec_fn=lambda: _enter(node),  # noqa: PLW1509 - other threads only wait
    )


def _keeper() -> tuple[int, int]:
    """The first process of a process namespace, with whose end the kernel ends all others there.

    It ends when the descriptor that is returned with its number is closed.

    The processes that this process starts from now on are in that namespace.
    """
    system.call("unshare", system.CLONE_NEWPID)
    # The end that only this process holds closes with it, at whatever instant that is.
    ends, held = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            # The kernel gives orphans to this process, which has to await them.
            signal.signal(signal.SIGCHLD, signal.SIG_IGN)
            for number in system.ENDING:
                signal.signal(number, signal.SIG_IGN)
            os.close(held)
            os.read(ends, 1)
        finally:
            os._exit(0)
    os.close(ends)
    return child, held


def _enter(node: Node) -> None:
    """Move a new process to a node: its network, and its processes alone."""
    system.call("setns", node.namespace, system.CLONE_NEWNET)
    system.own_mounts()
    system.call("mount", b"proc", b"/proc", b"proc", 0, None)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
