"""Output of the command line: data on stdout, messages on stderr, colour where it is wanted."""

from __future__ import annotations

import os
import re
import sys
from typing import TYPE_CHECKING, TextIO

import click

from lasthop.base.files import STDOUT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lasthop.scenario.scenario import Scenario
    from lasthop.study.study import Study


def complain(text: str) -> None:
    """Print errors, one a line."""
    label = click.style("error:", fg="red", bold=True) if _coloured(sys.stderr) else "error:"
    for line in _harmless(text).split("\n"):
        click.echo(f"{label} {line}", err=True, color=True)


def note(text: str) -> None:
    """Print a remark on stderr; -q silences it."""
    if not quiet():
        click.echo(_harmless(text), err=True)


def _harmless(text: str) -> str:
    r"""Text without characters that a terminal obeys, such as those of a file's name.

    >>> _harmless("a\x1b[31mb")
    'a\\x1b[31mb'
    """
    return re.sub(r"[^\n\t\x20-\x7e\xa0-\U0010ffff]", lambda found: f"\\x{ord(found[0]):02x}", text)


def warn(warnings: Iterable[str]) -> None:
    """Print the warnings about a scenario."""
    for warning in warnings:
        note(f"warning: {warning}")


def point_in_words(scenario: Scenario, index: int) -> str:
    """The values of the swept keys at a point."""
    point = scenario.points()[index]
    return ", ".join(f"{key} = {value}" for key, value in point.items()) or "the only point"


def warn_of_damaged(study: Study) -> None:
    """Say which runs of a study could not be read, also with -q: what is printed lacks them."""
    for text in study.notes if study.damaged else ():
        click.echo(f"warning: {text}", err=True)


def warn_of_stopped(study: Study) -> None:
    """Say which runs could not be read, and how many the means leave out because a limit stopped them."""
    warn_of_damaged(study)
    early = len(study.stopped)
    if early:
        note(
            f"warning: {early} of {study.size} runs stopped early at a limit and do not count in the means; "
            "see status in export"
        )


def written(text: object) -> None:
    """Print what was written, also with -q; nothing if it was the standard output."""
    if text != STDOUT:
        click.echo(str(text), err=True)


def quiet() -> bool:
    """Whether -q was given."""
    return bool(_meta("quiet", default=False))


def verbose(times: int = 1) -> bool:
    """Whether -v was given this number of times, or more."""
    return int(str(_meta("verbose", default=0))) >= times


def data(text: str) -> None:
    """Print a result on stdout."""
    click.echo(text)


def report(text: str) -> None:
    """Print the outcome of work on stdout; -q silences it."""
    if not quiet():
        click.echo(text)


def paint(text: str, colour: str) -> str:
    """Coloured text if stdout supports it."""
    return click.style(text, fg=colour) if _coloured(sys.stdout) else text


def _coloured(stream: TextIO | None) -> bool:
    if stream is None:
        return False
    choice = _meta("color", default="auto")
    if choice != "auto":
        return choice == "always"
    return "NO_COLOR" not in os.environ and stream.isatty()


def _meta(name: str, *, default: object) -> object:
    ctx = click.get_current_context(silent=True)
    return ctx.meta.get(f"lasthop.{name}", default) if ctx else default
