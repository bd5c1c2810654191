"""Runs a program on a node of a network that another process holds, as if it were started directly.

`python -I -S enter.py PROCESS NAMESPACE PROGRAM [ARGUMENT]...`: it passes on the signals that it is sent, and
ends as the program does. It needs the standard library alone, so that it starts at once.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

# <linux/sched.h>, <linux/mount.h>, <linux/prctl.h>
_NEWNS, _NEWUSER, _NEWPID, _NEWNET = 0x00020000, 0x10000000, 0x20000000, 0x40000000
_MS_REC, _MS_SLAVE = 16384, 1 << 19
_PR_SET_PDEATHSIG = 1
# What a shell answers where a program cannot be run.
_CANNOT_RUN = 126


def _call(name: str, *arguments: int | bytes | None) -> None:
    library = ctypes.CDLL(None, use_errno=True)
    if getattr(library, name)(*(ctypes.c_ulong(one) if isinstance(one, int) else one for one in arguments)):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), name)


def _enter(process: str, namespace: str) -> None:
    """Move this process to the namespaces; its children are among the processes of the network."""
    folder = Path.cwd()
    holder, own = Path("/proc", process), Path("/proc/self")
    kinds = {"ns/user": _NEWUSER, "ns/mnt": _NEWNS, "ns/pid_for_children": _NEWPID}
    kinds[f"fd/{namespace}"] = _NEWNET
    if (holder / "ns/user").samefile(own / "ns/user"):
        del kinds["ns/user"]
    opened = {os.open(holder / name, os.O_RDONLY | os.O_CLOEXEC): kind for name, kind in kinds.items()}
    for descriptor, kind in opened.items():
        _call("setns", descriptor, kind)
    os.chdir(folder)


def _become(words: list[str], tells: int) -> None:
    """Be the program, which sees the processes of the network and ends with its parent."""
    _call("prctl", _PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    # It fails if the parent has ended before, which nothing else shows from within the namespace.
    os.write(tells, b"\0")
    _call("unshare", _NEWNS)
    _call("mount", b"none", b"/", None, _MS_REC | _MS_SLAVE, None)
    _call("mount", b"proc", b"/proc", b"proc", 0, None)
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    os.execvp(words[0], words)  # noqa: S606 - it is a program's own words, without a shell


def _attend(program: int) -> int:
    """Pass on signals until the program ends; returns its status as `subprocess` has it."""
    while True:
        found = signal.sigwaitinfo(signal.valid_signals())
        if found.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(program, os.WNOHANG)
            if ended:
                return os.waitstatus_to_exitcode(status)
        # The program gets those of the terminal itself; their code is above 0.
        elif found.si_code <= 0:
            with suppress(ProcessLookupError):
                os.kill(program, found.si_signo)


def main(process: str, namespace: str, *words: str) -> None:
    """Run the program and end as it does."""
    try:
        _enter(process, namespace)
        signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
        ready, tells = os.pipe()
        program = os.fork()
        if program == 0:
            os.close(ready)
            _become(list(words), tells)
        os.close(tells)
        os.read(ready, 1)
    except OSError as error:
        if not Path("/proc", process, "fd", namespace).exists():
            # The network has ended, and all its programs with it.
            os.kill(os.getpid(), signal.SIGKILL)
        print(f"error: {error.filename or words[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os._exit(_CANNOT_RUN)
    # Only the program may hold what it reads and writes.
    os.closerange(0, os.sysconf("SC_OPEN_MAX"))
    code = _attend(program)
    if code < 0:
        with suppress(OSError):
            signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, (-code,))
    os._exit(code)


if __name__ == "__main__":
    main(*sys.argv[1:])
