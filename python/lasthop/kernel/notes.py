"""What the laws in the kernel were loaded with, for other processes: files that their loaders keep locked."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lasthop.kernel.build import KernelLawError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PLACE = Path("/run/lasthop/laws")


class Note(NamedTuple):
    """The settings of a law, and whether it reads the option of the simulator."""

    settings: list[tuple[str, str]]
    has_header: bool


@contextmanager
def noted(law: str, settings: Sequence[tuple[str, str]], *, has_header: bool) -> Iterator[None]:
    """Note what a law is loaded with while this context lasts, or its process.

    Raises:
        KernelLawError: The file cannot be written.
    """
    own = PLACE / f"{law}.{os.getpid()}"
    try:
        PLACE.mkdir(parents=True, exist_ok=True)
        file = own.open("w", encoding="utf-8")
    except OSError as error:
        raise KernelLawError(f"{PLACE}: {error.strerror}; expected a writable directory") from error
    with file:
        json.dump([settings, has_header], file)
        file.flush()
        fcntl.flock(file, fcntl.LOCK_EX)
        path = own.replace(PLACE / law)
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def note(law: str) -> Note | None:
    """What is noted of a law; `None` if nothing is by a process that lives."""
    try:
        with (PLACE / law).open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                settings, has_header = json.load(file)
                return Note([(name, text) for name, text in settings], has_header)
    except FileNotFoundError:
        pass
    return None
