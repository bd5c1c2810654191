"""The first process of a guest: it makes the files of the guest, runs one program, and ends the guest.

`python -I -S init.py`, without anything but the standard library. The root is the host's, read-only. The
host's folder in which the kernel runs has what there is to do, and gets what came of it.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
from pathlib import Path

# <linux/mount.h>, <linux/reboot.h>
_MS_MOVE, _POWER_OFF = 8192, 0x4321FEDC
# Where the folder of the host is, for all guests alike.
_JOB = Path("/run/lasthop")
# A place that every root has; there the new root is made.
_SPARE = Path("/tmp")  # noqa: S108 - it is the guest's own
_NEW = _SPARE / "root"
_LIBRARY = ctypes.CDLL(None, use_errno=True)


def _mount(source: str, target: Path, kind: str, options: str = "", flags: int = 0) -> None:
    words = (os.fsencode(one) for one in (source, target, kind))
    if _LIBRARY.mount(*words, ctypes.c_ulong(flags), options.encode()):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), str(target))


def _make_root() -> None:
    """The files of the host, where what is written stays in the memory of the guest."""
    # The host's own, since nothing is mounted yet: its link names the folder in which the kernel runs.
    folder = str(Path("/proc/self/cwd").readlink())
    _mount("none", _SPARE, "tmpfs")
    for name in ("upper", "work", "root"):
        (_SPARE / name).mkdir()
    _mount("none", _NEW, "overlay", f"lowerdir=/,upperdir={_SPARE}/upper,workdir={_SPARE}/work")
    for place, kind in (("proc", "proc"), ("sys", "sysfs"), ("dev", "devtmpfs"), ("run", "tmpfs")):
        _mount("none", _NEW / place, kind)
    for place, kind in (("dev/pts", "devpts"), ("dev/shm", "tmpfs")):
        (_NEW / place).mkdir(exist_ok=True)
        _mount("none", _NEW / place, kind)
    for name, number in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        (_NEW / "dev" / name).symlink_to(f"/proc/self/fd{number}")
    inside = _NEW / _JOB.relative_to("/")
    inside.mkdir()
    _mount("none", inside, "hostfs", folder)
    os.chdir(_NEW)
    _mount(".", Path("/"), "", flags=_MS_MOVE)
    os.chroot(".")


def _run() -> int:
    """Run the program, whose output the host follows; returns its exit code as a shell has it."""
    job = json.loads((_JOB / "job").read_text(encoding="utf-8"))
    for number, (name, flags) in enumerate(
        (("in", os.O_RDONLY), *((name, os.O_WRONLY | os.O_APPEND | os.O_DSYNC) for name in ("out", "err")))
    ):
        os.dup2(os.open(_JOB / name, flags), number)
        # It has no streams at first, so that a file may be opened with this number.
        os.set_inheritable(number, True)
    program = os.fork()
    if program == 0:
        try:
            os.chdir(job["folder"])
            os.execvpe(job["words"][0], job["words"], job["env"])  # noqa: S606 - they are the program's own
        finally:
            os._exit(127)
    while True:
        # Orphans are the children of this process.
        ended, status = os.wait()
        if ended == program:
            code = os.waitstatus_to_exitcode(status)
            return 128 - code if code < 0 else code


def main() -> None:
    """Be the first process."""
    _make_root()
    socket.sethostname("lasthop")
    code = _run()
    (_JOB / "status").write_text(str(code), encoding="ascii")
    os.sync()
    _LIBRARY.reboot(_POWER_OFF)


if __name__ == "__main__":
    main()
