"""The kernel of a guest: where it is, and how it is made from the source of Debian."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.base.arguments import place
from lasthop.base.errors import UnavailableError, UsageError
from lasthop.realtime import system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

#: The command that makes it.
BUILD = "lasthop virtual --build-kernel"
_SERIES = "6.12"
_PACKAGE = f"linux-source-{_SERIES}"
_ARCHIVE = f"{_PACKAGE}.tar.xz"
_INSTALLED = Path("/usr/src")
_MADE_OF = Path(__file__).with_name("linux")
_CONFIG, _PATCH = _MADE_OF / "config", _MADE_OF / "patch.diff"
# Programs that the build needs, and the packages that have those with other names.
_TOOLS = ("make", "gcc", "flex", "bison", "bc", "patch", "tar", "xz", "strip")
_PACKAGES = {"xz": "xz-utils", "strip": "binutils"}
# It would say when, where and by whom it was made: a kernel is mixed into what the guest takes for random.
_CONSTANT = {
    "ARCH": "um",
    "LC_ALL": "C",
    "KBUILD_BUILD_TIMESTAMP": "2026-01-01",
    "KBUILD_BUILD_USER": "lasthop",
    "KBUILD_BUILD_HOST": "lasthop",
    "KBUILD_BUILD_VERSION": "1",
    "KCONFIG_ALLCONFIG": str(_CONFIG),
}


class KernelError(UnavailableError):
    """The kernel of a guest is not there, or cannot be made; the message says what is missing."""

    exit_code = 2


def folder() -> Path:
    """Where kernels are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lasthop" / "kernel"


@cache
def _mark() -> str:
    """What tells kernels of one configuration and patch from others."""
    return blake2b(_CONFIG.read_bytes() + _PATCH.read_bytes(), digest_size=4).hexdigest()


def _kept() -> list[Path]:
    return sorted(folder().glob(f"linux-*-lasthop-{_mark()}"), key=_version)


def _version(path: Path) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path.name.partition("-lasthop")[0])]


def find(given: str | Path | None = None) -> Path:
    """The kernel that is given, or else the newest that was made.

    Raises:
        KernelError: There is none.
        UsageError: The one that is given is not a program.
    """
    if given is not None:
        path = place("kernel", given, "a kernel").absolute()
        if not (path.is_file() and os.access(path, os.X_OK)):
            text = f"{given}: not a program; expected a kernel of User-Mode Linux"
            raise UsageError(text, argument="kernel")
        return path
    kept = _kept()
    if not kept:
        raise KernelError(f"{folder()}: no kernel; expected one that `{BUILD}` makes, once")
    return kept[-1]


def build(say: Callable[[str], None]) -> Path:
    """Make the kernel, unless it is there; returns it. It takes some minutes.

    Raises:
        KernelError: Something is missing, or the build fails.
    """
    if not sys.platform.startswith("linux") or os.uname().machine != "x86_64":
        raise KernelError(f"kernel: {sys.platform} on {os.uname().machine}; expected Linux on x86_64")
    with _locked():
        if kept := _kept():
            return kept[-1]
        missing = [_PACKAGES.get(tool, tool) for tool in _TOOLS if shutil.which(tool) is None]
        if missing:
            text = f"{', '.join(missing)} missing; expected `apt-get install {' '.join(missing)}`"
            raise KernelError(f"kernel: {text}")
        for left in folder().glob("build-*"):
            shutil.rmtree(left, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=folder(), prefix="build-", ignore_cleanup_errors=True) as work:
            return _made(Path(work), say)


@contextmanager
def _locked() -> Iterator[None]:
    """Wait until no other process makes a kernel."""
    try:
        folder().mkdir(parents=True, exist_ok=True)
        lock = (folder() / "lock").open("w", encoding="ascii")
    except OSError as error:
        raise KernelError(f"{folder()}: {error.strerror}; expected a writable directory") from error
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _made(work: Path, say: Callable[[str], None]) -> Path:
    archive = _source(work, say)
    say(f"unpacking {archive.name}")
    _do(work, "tar", "-xf", str(archive), "--exclude=*/Documentation/*/*", "--exclude=*/dts/*")
    top = next(path for path in work.iterdir() if (path / "Kbuild").is_file())
    _do(top, "patch", "-p1", "-i", str(_PATCH))
    _do(top, "make", "allnoconfig")
    version = _do(top, "make", "-s", "kernelversion").split()[-1]
    say(f"compiling Linux {version}: 5 to 15 minutes")
    _do(top, "make", f"-j{len(os.sched_getaffinity(0))}", "linux")
    _do(top, "strip", "linux")
    place = folder() / f"linux-{version}-lasthop-{_mark()}"
    # It is whole or not there.
    (top / "linux").rename(place)
    return place


def _source(work: Path, say: Callable[[str], None]) -> Path:
    """The archive of the source: the one that is installed, or that of Debian's package."""
    installed = _INSTALLED / _ARCHIVE
    if installed.is_file():
        return installed
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise KernelError(f"{installed}: no such file, and no apt-get; expected Debian's {_PACKAGE}")
    say(f"downloading {_PACKAGE}")
    try:
        _do(work, "apt-get", "download", "-q", _PACKAGE)
    except KernelError as error:
        raise KernelError(f"{error.text} (apt-get update, or a Debian that has {_PACKAGE})") from error
    package = next(work.glob("*.deb"))
    _do(work, "dpkg-deb", "--extract", package.name, "package")
    return next((work / "package").rglob(_ARCHIVE))


def _do(where: Path, *words: str) -> str:
    """Run a tool; returns what it says."""
    done = subprocess.run(
        words,
        cwd=where,
        env={**os.environ, **_CONSTANT},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        check=False,
        preexec_fn=system.end_with_parent,
    )
    if done.returncode:
        raise KernelError(f"kernel: {' '.join(words[:2])}: {_fault(done.stdout)}; expected no failure")
    return done.stdout


def _fault(text: str) -> str:
    """The line of a tool's output that says what went wrong."""
    lines: Sequence[str] = [line.strip() for line in text.splitlines() if line.strip()]
    wrong = [line for line in lines if re.search(r"\berror\b|^E: ", line, re.IGNORECASE)]
    return (wrong or lines or ["no output"])[0 if wrong else -1]
