"""Errors that users can cause; the command line prints each as one line and an exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# A longer list of names does not help to find the one that was meant.
MOST_LISTED = 8


class LasthopError(Exception):
    """Base of all errors that lasthop raises; a message is `where: found; expected`.

    >>> error = UsageError("0; expected 1 or more", argument="max_events")
    >>> str(error), error.as_option()
    ('max_events: 0; expected 1 or more', '--max-events: 0; expected 1 or more')

    Attributes:
        text: The message without the argument.
        argument: The argument at fault, as Python calls it, which precedes the message; `None` if it
            does not concern an argument.
        exit_code: The exit code of the command line.
    """

    exit_code = 1

    def __init__(self, text: str, *, argument: str | None = None) -> None:
        super().__init__(f"{argument}: {text}" if argument else text)
        self.text = text
        self.argument = argument

    def as_option(self) -> str:
        """The message as the command line prints it.

        Returns:
            The text, after the option for the argument.
        """
        return f"--{self.argument.replace('_', '-')}: {self.text}" if self.argument else self.text


class UsageError(LasthopError, ValueError):
    """An invalid request; the message begins with the name of the argument at fault."""

    exit_code = 2


class ScenarioError(LasthopError, ValueError):
    """The scenario cannot be run; the message is `file:line: key: found; expected`, a line for each fault."""

    exit_code = 2


class UnavailableError(LasthopError):
    """What is asked for cannot be done on this system; the message names what is missing."""


class RunError(LasthopError, RuntimeError):
    """A simulation failed; the message names scenario, seed and replication."""


class LawError(RunError):
    """A congestion law in Python raised an exception, the cause; the message names event and time."""

    exit_code = 2


class Interrupted(LasthopError, RuntimeError):  # noqa: N818
    """A run was stopped by its `Cancel` token."""


class StudyError(LasthopError):
    """A study directory that cannot be used: foreign, of another version, corrupt, unwritable."""

    exit_code = 4


def reason(error: BaseException) -> str:
    """Why something failed, in one line, without the number and path that an error of the system repeats.

    >>> reason(FileNotFoundError(2, "No such file or directory", "x"))
    'No such file or directory'
    """
    text = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(text.split())


def nearest(word: str, known: Iterable[str], *, none: str = "no names are available") -> str:
    """The tail of a message about an unknown name; `none` is the text if no name is known.

    >>> nearest("renno", ["tahoe", "reno"])
    'did you mean "reno"? (known: reno, tahoe)'
    >>> nearest("zz", ["tahoe", "reno"])
    'expected one of tahoe, reno'
    >>> nearest("flows.a.loss", [])
    'no names are available'
    """
    names = list(known)
    if not names:
        return none
    near = _near(word, names)
    listed = listing([*near, *(name for name in names if name not in near)])
    if near:
        return f'did you mean "{near[0]}"? (known: {listed})'
    return f"expected one of {listed}" if len(names) > 1 else f"expected {listed}"


def listing(names: Iterable[str]) -> str:
    """Names for a message, no more than `MOST_LISTED` of them.

    >>> listing("abcdefghij")
    'a, b, c, d, e, f, g, h, … (10 in total)'
    """
    every = list(names)
    more = f", … ({len(every)} in total)" if len(every) > MOST_LISTED else ""
    return ", ".join(every[:MOST_LISTED]) + more


def _near(word: str, names: list[str]) -> list[str]:
    """The names near to a word, the nearest first: by spelling, then those that share a part with it."""
    import difflib

    if not word[:1].isalpha() and not word.startswith("-"):
        # Numbers are not compared by spelling.
        return []
    lower = {name.lower(): name for name in reversed(names)}
    close = difflib.get_close_matches(word.lower(), lower, n=MOST_LISTED, cutoff=0.6)
    part = word.lower()
    if len(part) >= 3:
        holding = sorted((name for name in lower if part in name and name not in close), key=len)
        held = (name for name in lower if len(name) >= 3 and name[0].isalpha() and name in part)
        close += [*holding, *sorted((name for name in held if name not in close), key=len, reverse=True)]
    return [lower[name] for name in close]
