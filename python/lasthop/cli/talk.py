"""How the command line speaks: data on stdout, talk on stderr, colour where it is welcome."""

from __future__ import annotations

import os
import sys
from typing import TextIO

import click


def complain(text: str) -> None:
    """Print errors, one a line."""
    label = click.style("error:", fg="red", bold=True) if _coloured(sys.stderr) else "error:"
    for line in text.splitlines():
        click.echo(f"{label} {line}", err=True, color=True)


def note(text: str) -> None:
    """Print a remark on stderr, unless -q was given."""
    if not quiet():
        click.echo(text, err=True)


def written(text: object) -> None:
    """Print what was written, also with -q."""
    click.echo(str(text), err=True)


def quiet() -> bool:
    """Whether -q was given."""
    return bool(_meta("quiet", default=False))


def verbose() -> bool:
    """Whether -v was given."""
    return bool(_meta("verbose", default=False))


def data(text: str) -> None:
    """Print results on stdout."""
    click.echo(text)


def paint(text: str, colour: str) -> str:
    """Coloured text if stdout takes it."""
    return click.style(text, fg=colour) if _coloured(sys.stdout) else text


def _coloured(stream: TextIO) -> bool:
    choice = _meta("color", default="auto")
    if choice != "auto":
        return choice == "always"
    return "NO_COLOR" not in os.environ and stream.isatty()


def _meta(name: str, *, default: object) -> object:
    ctx = click.get_current_context(silent=True)
    return ctx.meta.get(f"lasthop.{name}", default) if ctx else default
