"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

from lasthop.quantity import seconds, share

F = TypeVar("F", bound=Callable[..., Any])


class Seconds(click.ParamType[float]):
    """A time such as "30 s"; a bare number is seconds."""

    name = "TIME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Check and convert."""
        if isinstance(value, float):
            return value
        found = seconds(str(value))
        if found is None or found <= 0:
            self.fail(f'"{value}"; expected a time such as "30 s" or "2 min"', param, ctx)
        return found


class Share(click.ParamType[float]):
    """A share such as "2 %"."""

    name = "SHARE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Check and convert."""
        if isinstance(value, float):
            return value
        found = share(str(value))
        if found is None or not 0 < found < 1:
            self.fail(f'"{value}"; expected a share between 0 and 1 such as "2 %"', param, ctx)
        return found


class Shard(click.ParamType[tuple[int, int]]):
    """One part of several, such as 1/8."""

    name = "I/N"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """Check and convert."""
        if isinstance(value, tuple):
            return value
        first, _, last = str(value).partition("/")
        if not (first.isdecimal() and last.isdecimal() and 1 <= int(first) <= int(last)):
            self.fail(f'"{value}"; expected I/N with I from 1 to N, such as 1/8', param, ctx)
        return int(first), int(last)


def examples(*lines: str) -> str:
    """The end of a command's help."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def _remember(ctx: click.Context, param: click.Parameter, value: object) -> None:
    ctx.meta[f"lasthop.{param.name}"] = value


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several decorators as one, in the order given."""

    def apply(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")

verbose_option = click.option(
    "-v", "--verbose", is_flag=True, expose_value=False, callback=_remember, help="Say more."
)

talk_options = together(
    click.option(
        "-q",
        "--quiet",
        is_flag=True,
        expose_value=False,
        callback=_remember,
        help="Say nothing but errors and what was written.",
    ),
    click.option(
        "--color",
        type=click.Choice(["auto", "always", "never"]),
        default="auto",
        expose_value=False,
        callback=_remember,
        help="Colour the output; NO_COLOR is respected.",
    ),
)

set_option = click.option(
    "-s",
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a scenario key; a swept key is fixed by it.",
)

where_option = click.option(
    "--where",
    multiple=True,
    metavar="EXPR",
    help='Keep the points where this holds, such as "links.a.loss.rate<=2 %".',
)

seed_option = click.option("--seed", type=click.IntRange(0, 2**64 - 1), help="Seed of all random streams.")

limit_options = together(
    click.option("--max-events", type=click.IntRange(1), metavar="N", help="Stop a run after N events."),
    click.option("--max-wall", type=Seconds(), help="Stop a run after so much time on the clock."),
)

dry_option = click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
