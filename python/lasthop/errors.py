"""Errors a user can cause; the command line turns each into one line and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class LasthopError(Exception):
    """Base of the errors raised by the Python side; a message is `where: found; expected`."""

    exit_code = 1


class UsageError(LasthopError):
    """A request that cannot be understood or met."""

    exit_code = 2


class StudyError(LasthopError):
    """A study directory that cannot be used: foreign, of another version, corrupt, unwritable."""

    exit_code = 4


def nearest(word: str, known: Iterable[str], *, show: int = 8) -> str:
    """The tail of a message about an unknown name.

    >>> nearest("renno", ["tahoe", "reno"])
    'did you mean "reno"? (known: tahoe, reno)'
    >>> nearest("zz", ["tahoe", "reno"])
    'expected one of: tahoe, reno'
    """
    import difflib

    names = list(known)
    close = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    listed = ", ".join(names[:show]) + (", …" if len(names) > show else "")
    if close:
        return f'did you mean "{close[0]}"? (known: {listed})'
    return f"expected one of: {listed}" if names else "expected none, for there are none"
