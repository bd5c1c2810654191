"""The objects of the laws: compiled once by clang, and kept in the cache of the user."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import tempfile
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.base.errors import UnavailableError, UsageError, nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCES = Path(__file__).with_name("laws")
#: The laws, and what each is.
LAWS = {
    "jtcp": "JTCP: a loss without growing delays leaves the window",
    "ejtcp": "EJTCP: jitter and round trip classify losses; burst limit",
    "keep": "the control: grows as Reno, and no loss reduces the window",
}
#: Ends the name of the source of a law.
ENDING = ".bpf.c"
_CLANGS = ("clang-14", "clang", *(f"clang-{version}" for version in range(22, 14, -1)))
_FLAGS = ("-g", "-O2", "-target", "bpf", "-mcpu=v3", "-Wall", "-Werror")
# What the headers call architectures.
_ARCHITECTURES = {"x86_64": "x86", "aarch64": "arm64"}
_HEADERS = Path("/usr/include/bpf/bpf_core_read.h")


class KernelLawError(UnavailableError):
    """A law cannot be in the kernel here; the message says what is missing."""

    exit_code = 2


def in_kernel(law: str) -> str:
    """What the kernel calls a law of ours."""
    return f"lasthop_{law}"


def source(law: str) -> Path:
    """The source of a law: one of ours by its name, or a file.

    Raises:
        UsageError: There is none.
    """
    if law in LAWS:
        return SOURCES / f"{law}{ENDING}"
    path = Path(law)
    if not law.endswith(ENDING):
        raise UsageError(f"{law}: no such law; {nearest(law, LAWS)}, or a file *{ENDING}", argument="name")
    if not path.is_file():
        raise UsageError(f"{law}: no such file; expected the source of a law", argument="name")
    return path


def compiler() -> str | None:
    """The clang that compiles laws."""
    return next(filter(None, map(shutil.which, _CLANGS)), None)


def cannot_compile() -> str | None:
    """What compiling a law lacks; `None` if nothing."""
    if compiler() is None:
        return "clang: not found; expected `apt-get install clang-14 libbpf-dev`"
    if not _HEADERS.is_file():
        return f"{_HEADERS}: no such file; expected `apt-get install libbpf-dev`"
    return None


def compiled(path: Path) -> Path:
    """The object of a source, compiled unless it is in the cache.

    Raises:
        KernelLawError: Something is missing, or the source has an error.
    """
    parts = [path, *sorted(SOURCES.glob("*.h"))]
    mark = blake2b(b"".join(part.read_bytes() for part in parts), digest_size=6).hexdigest()
    place = _cache() / f"{path.name.removesuffix(ENDING)}-{mark}.o"
    if not place.is_file():
        if text := cannot_compile():
            raise KernelLawError(text)
        _compile(path, place)
    return place


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lasthop" / "laws"


def _compile(path: Path, place: Path) -> None:
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        number, name = tempfile.mkstemp(dir=place.parent)
    except OSError as error:
        raise KernelLawError(f"{place.parent}: {error.strerror}; expected a writable directory") from error
    os.close(number)
    work = Path(name)
    clang = compiler()
    assert clang is not None
    try:
        words = [clang, *_FLAGS, *_includes(), "-c", str(path.absolute()), "-o", name]
        ended = subprocess.run(words, capture_output=True, text=True, check=False)
        if ended.returncode:
            raise KernelLawError(ended.stderr.strip())
        # It is whole or not there.
        work.rename(place)
    finally:
        work.unlink(missing_ok=True)


def _includes() -> Iterator[str]:
    yield f"-I{SOURCES}"
    yield f"-D__TARGET_ARCH_{_ARCHITECTURES.get(platform.machine(), platform.machine())}"
