"""Checks of the arguments of a Python caller; each raises `UsageError`, which names the argument.

>>> whole("replication", -1)
Traceback (most recent call last):
lasthop.base.errors.UsageError: replication: -1; expected an integer of at least 0
"""

from __future__ import annotations

import math
import os
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from lasthop.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

T = TypeVar("T")

MOST_NAME = 255
"""Bytes of the name of a file on the usual file systems."""

# Replications are counted in 64 bits.
MOST = 2**64 - 1
# As large as `run.seed` may be.
MOST_SEED = 10**18 - 1
# As many as `run.replications` may be.
MOST_REPLICATIONS = 1_000_000


def whole(argument: str, value: object, least: int = 0, most: int = MOST, *, hint: str = "") -> int:
    """A whole number between two bounds."""
    try:
        number = -1 if isinstance(value, bool) else index(value)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if not least <= number <= most:
        bounds = f"of at least {least}" if most == MOST else f"from {least} to {most}"
        raise UsageError(f"{value!r}; expected an integer {bounds}{hint}", argument=argument)
    return number


def span(argument: str, value: object) -> float:
    """A time in seconds, above zero."""
    return above_zero(argument, value, "number of seconds")


def above_zero(argument: str, value: object, what: str) -> float:
    """A finite number above zero."""
    known = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not known or not math.isfinite(value) or value <= 0:  # type: ignore[arg-type, operator]
        raise UsageError(f"{value!r}; expected a {what} above 0", argument=argument)
    return float(value)  # type: ignore[arg-type]


def instance(argument: str, value: object, kind: type[T], expected: str) -> T:
    """A value of a class.

    >>> instance("fresh", "yes", bool, "True or False")
    Traceback (most recent call last):
    lasthop.base.errors.UsageError: fresh: 'yes'; expected True or False
    """
    if not isinstance(value, kind):
        raise UsageError(f"{value!r}; expected {expected}", argument=argument)
    return value


def flag(argument: str, value: object) -> bool:
    """A bool."""
    return instance(argument, value, bool, "True or False")


def nonblank(argument: str, value: object, expected: str) -> str:
    """A text that is not blank."""
    if not isinstance(value, str) or not value.strip():
        raise UsageError(f"{_shown(value)}; expected {expected}", argument=argument)
    return value


def place(argument: str, value: object, expected: str = "a path") -> Path:
    """The path of a file or directory; an empty one would mean the current directory."""
    path = nonblank(argument, os.fspath(value) if isinstance(value, os.PathLike) else value, expected)
    if not is_utf8(path) or "\0" in path:
        raise UsageError(f"{path!a}; expected {expected} in UTF-8, without zeros", argument=argument)
    if any(len(part.encode()) > MOST_NAME for part in path.split("/")):
        raise UsageError(
            f"a name of {len(path)} characters; expected none of more than {MOST_NAME} bytes",
            argument=argument,
        )
    return Path(path)


def utf8(argument: str, text: str) -> str:
    """A text that a scenario can hold."""
    if not is_utf8(text):
        raise UsageError(f"{text!a}: not UTF-8; expected names and values in UTF-8", argument=argument)
    return text


def is_utf8(text: str) -> bool:
    r"""Whether a text can be written; names of files and words of a command line may have any bytes.

    >>> is_utf8("é"), is_utf8("\udcff")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _shown(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def words(argument: str, value: Sequence[str], example: str) -> list[str]:
    """A sequence of words; a single string would be read letter by letter."""
    if isinstance(value, (str, bytes)):
        raise UsageError(f'"{value!s}" is a string; expected a list such as ["{example}"]', argument=argument)
    try:
        found = list(value)
    except TypeError:
        found = [value]  # type: ignore[list-item]
    for word in found:
        if not isinstance(word, str):
            raise UsageError(
                f'{word!r} is not a string; expected a list such as ["{example}"]', argument=argument
            )
    return found
