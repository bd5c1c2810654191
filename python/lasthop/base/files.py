"""Outputs: files that appear whole or not at all, and devices and pipes, which are written into.

Whatever lasthop writes comes through `replacing`. It writes a draft, without a name where the system can do
that, and else with a random one. The draft replaces the file when it is complete. A link is followed to its
file. What is not a regular file keeps its place and receives the contents.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from lasthop.base.errors import StudyError, UsageError, reason
from lasthop.base.paths import expect_folder, protect

if TYPE_CHECKING:
    from collections.abc import Iterator

STDOUT = Path("/dev/stdout")
"""What `-` stands for where a file is to be written."""

_PREFIX, _SUFFIX = ".lasthop-", ".new"
# As many links as the kernel follows.
_MOST_LINKS = 40
_OPEN = re.compile(r"/dev/fd/(\d+)|/dev/std(in|out|err)|/proc/(?:self|thread-self|(\d+))/fd/(\d+)")
_STREAMS = ("in", "out", "err")


def is_draft(name: str) -> bool:
    """Whether a file is the incomplete draft of a process that was killed while it wrote.

    >>> is_draft(".lasthop-0123456789abcdef.new"), is_draft("study.sqlite.new"), is_draft("mine.new")
    (True, True, False)
    """
    is_random = name.startswith(_PREFIX) and name.endswith(_SUFFIX)
    # Older versions have named the draft of a ledger so.
    return is_random or name.startswith("study.sqlite.new")


def is_stream(path: Path) -> bool:
    """Whether an output is written into something that is there, such as a device or a pipe."""
    try:
        return not isinstance(_destination(path), Path)
    except OSError:
        return False


def is_stdout(path: Path) -> bool:
    """Whether an output is the standard output."""
    try:
        found = _destination(path)
        there, here = (os.fstat(found) if isinstance(found, int) else path.stat()), os.fstat(1)
        # Two openings of a device do not get in each other's way.
        return found == 1 or (not stat.S_ISCHR(there.st_mode) and os.path.samestat(there, here))
    except OSError:
        return False


@contextmanager
def replacing(path: Path, *, is_own: bool = False, expected: str = "a writable file") -> Iterator[Path]:
    """A draft for an output, which takes its place when the block ends and vanishes when the block fails.

    The block opens the draft by its path. A file that a study consists of is written with `is_own` only.

    >>> import tempfile; from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "x.txt"
    >>> with replacing(path) as draft:
    ...     _ = draft.write_text("whole")
    >>> path.read_text(), [file.name for file in path.parent.iterdir()]
    ('whole', ['x.txt'])

    Raises:
        UsageError: The directory does not exist, the name is too long, or the file is one of a study.
        StudyError: It cannot be written.
    """
    if not is_own:
        protect(path)
    try:
        with drafted(path) as draft:
            yield draft
    except BrokenPipeError:
        # The reader of a pipe has closed it.
        raise
    except OSError as e:
        if e.errno == errno.ENAMETOOLONG:
            raise UsageError(f"{path}: {reason(e)}; expected a shorter name") from e
        raise StudyError(f"{path}: {reason(e)}; expected {expected}") from e


@contextmanager
def drafted(path: Path) -> Iterator[Path]:
    """The same, with the errors of the system as they are."""
    expect_folder(path.parent)
    found = _destination(path)
    if isinstance(found, Path):
        with _draft(found) as draft:
            yield draft
        return
    with tempfile.TemporaryDirectory(prefix="lasthop-") as folder:
        draft = Path(folder) / "draft"
        draft.touch()
        yield draft
        with draft.open("rb") as whole, _opened(path, found) as into:
            shutil.copyfileobj(whole, into)


def put(path: Path, content: str | bytes, *, is_own: bool = False, expected: str = "a writable file") -> None:
    """Write a text or bytes; signs that are not Unicode, as names of files may have, become `?`."""
    with replacing(path, is_own=is_own, expected=expected) as draft:
        if isinstance(content, bytes):
            draft.write_bytes(content)
        else:
            draft.write_text(content, encoding="utf-8", errors="replace", newline="")


def _destination(path: Path) -> Path | int | None:
    """Where an output goes: a file, the number of an open stream, or into what is there."""
    for _ in range(_MOST_LINKS):
        number = _descriptor(path)
        if number is not None:
            return number
        try:
            there = path.stat()
        except FileNotFoundError:
            there = None
        if there is not None:
            if stat.S_ISDIR(there.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
            if not stat.S_ISREG(there.st_mode) or _is_of_process(path):
                return None
        try:
            path = path.parent / path.readlink()
        except OSError:
            return path
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def _descriptor(path: Path) -> int | None:
    """The number of an open stream that a path names.

    >>> _descriptor(Path("/dev/stdout")), _descriptor(Path("/proc/self/fd/7")), _descriptor(Path("/dev/null"))
    (1, 7, None)
    """
    match = _OPEN.fullmatch(str(path))
    if match is None or (match[3] and int(match[3]) != os.getpid()):
        return None
    number = _STREAMS.index(match[2]) if match[2] else int(match[1] or match[4])
    with suppress(OSError, OverflowError):
        os.fstat(number)
        return number
    return None


def _is_of_process(path: Path) -> bool:
    """Whether a path is an open file of another process, whose link only looks like a name."""
    return _OPEN.fullmatch(str(path)) is not None


def _opened(path: Path, number: int | None) -> BinaryIO:
    """What is there, opened for writing."""
    if number is not None:
        # Not opened anew: what was written before stays, and `>>` appends.
        return os.fdopen(os.dup(number), "wb")
    flags = os.O_WRONLY | os.O_CLOEXEC | os.O_NOCTTY
    if path.is_file():
        flags |= os.O_TRUNC
    return os.fdopen(os.open(path, flags), "wb")


@contextmanager
def _draft(file: Path) -> Iterator[Path]:
    """A new file in the directory of another, which it replaces when the block ends."""
    before = file.stat() if file.exists() else None
    if before is not None and not os.access(file, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(file))
    folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    name = f"{_PREFIX}{secrets.token_hex(8)}{_SUFFIX}"
    handle, has_name = _new(folder, name)
    try:
        yield Path(f"/proc/self/fd/{handle}") if not has_name else file.parent / name
        if before is not None:
            _like(handle, before)
        if not has_name:
            # Linked by its number, which needs the form of the call with directories.
            here = f"/proc/self/fd/{handle}"
            if before is None:
                with suppress(FileExistsError):
                    os.link(here, file.name, dst_dir_fd=folder, follow_symlinks=True)
                    return
            os.link(here, name, dst_dir_fd=folder, follow_symlinks=True)
            has_name = True
        os.replace(name, file.name, src_dir_fd=folder, dst_dir_fd=folder)
        has_name = False
    finally:
        # A full disk must not hide the error by a second one.
        with suppress(OSError):
            if has_name:
                os.unlink(name, dir_fd=folder)
        os.close(handle)
        os.close(folder)


def _new(folder: int, name: str) -> tuple[int, bool]:
    """A new file to write, which nobody else has, and whether it has the name."""
    nameless = getattr(os, "O_TMPFILE", 0)
    if nameless:
        # Not every file system has files without a name, nor every system their numbers as names.
        with suppress(OSError):
            handle = os.open(".", nameless | os.O_RDWR | os.O_CLOEXEC, 0o666, dir_fd=folder)
            if Path(f"/proc/self/fd/{handle}").exists():
                return handle, False
            os.close(handle)
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, 0o666, dir_fd=folder), True


def _like(handle: int, before: os.stat_result) -> None:
    """Give a file the owner and the permissions of the one that it replaces, as far as that is allowed."""
    with suppress(OSError):
        os.fchown(handle, before.st_uid, before.st_gid)
    with suppress(OSError):
        os.fchmod(handle, stat.S_IMODE(before.st_mode))


def make_folder(folder: Path) -> None:
    """Make a directory in one that exists, unless it is there."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as e:
        raise StudyError(f"{folder}: {reason(e)}; expected a writable directory") from e
