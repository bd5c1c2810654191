"""Options that several commands share."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from lasthop.base.arguments import MOST_NAME, MOST_SEED
from lasthop.base.errors import nearest
from lasthop.base.files import STDOUT
from lasthop.base.quantity import seconds, share
from lasthop.cli import completing

if TYPE_CHECKING:
    from click import Choice as OneOf
    from click import ParamType

    from lasthop.scenario.scenario import Scenario
else:
    # Before click 8.2 a choice, and before 8.5 any type of a parameter, takes no type of its own.
    class ParamType(click.ParamType):
        """click's, with and without a type in brackets."""

        def __class_getitem__(cls, kind):
            return cls

    class OneOf(click.Choice):
        """click's, with and without a type in brackets."""

        def __class_getitem__(cls, kind):
            return cls


F = TypeVar("F", bound=Callable[..., Any])


class Word(ParamType[str]):
    """Any text but an empty one, which a variable that is not set would give."""

    name = "TEXT"

    def __init__(self, expected: str = "a name") -> None:
        self.expected = expected

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check."""
        if not str(value).strip():
            self.fail(f'""; expected {self.expected}', param, ctx)
        return str(value)


class Place(ParamType[Path]):
    """A file or directory."""

    name = "PATH"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Check and convert."""
        if not str(value).strip():
            self.fail('""; expected the name of a file or directory', param, ctx)
        longest = max(len(os.fsencode(part)) for part in str(value).split("/"))
        if longest > MOST_NAME:
            self.fail(f"a name of {longest} bytes; expected at most {MOST_NAME}", param, ctx)
        return Path(value)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        """Leave the names to the shell."""
        return click.Path().shell_complete(ctx, param, incomplete)


class Output(Place):
    """A file to write, or `-` for the standard output."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Check and convert."""
        return STDOUT if str(value) == "-" else super().convert(value, param, ctx)


class Folder(Place):
    """A directory to write into."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Check and convert."""
        if str(value) == "-":
            self.fail('"-" is the standard output; expected a directory', param, ctx)
        return super().convert(value, param, ctx)


class Whole(ParamType[int]):
    """A whole number between two bounds."""

    name = "N"

    def __init__(self, least: int, most: int | None = None) -> None:
        self.least = least
        self.most = most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Check and convert."""
        try:
            number = int(value)
        except ValueError:
            number = self.least - 1
        if number < self.least or (self.most is not None and number > self.most):
            bounds = f"of at least {self.least}" if self.most is None else f"from {self.least} to {self.most}"
            self.fail(f'"{value}"; expected an integer {bounds}', param, ctx)
        return number


class Finite(ParamType[float]):
    """A finite number above zero, or also zero."""

    name = "X"

    def __init__(self, *, has_zero: bool = False) -> None:
        self.has_zero = has_zero

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Check and convert."""
        try:
            number = float(value)
        except ValueError:
            number = math.nan
        if not 0 <= number < math.inf or (number == 0 and not self.has_zero):
            least = "of at least 0" if self.has_zero else "above 0"
            self.fail(f'"{value}"; expected a number {least}', param, ctx)
        return number


class Range(ParamType["tuple[float | None, float | None]"]):
    """Two numbers with dots between, of which either may be left out."""

    name = "FROM..TO"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float | None, float | None]:
        """Check and convert."""
        low, dots, high = str(value).partition("..")
        try:
            if not dots:
                raise ValueError
            return float(low) if low.strip() else None, float(high) if high.strip() else None
        except ValueError:
            self.fail(f'"{value}"; expected limits such as 0..5, 2.. or ..10', param, ctx)


class Period(Range):
    """Two times with dots between, of which either may be left out; bare numbers are seconds."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[float | None, float | None]:
        """Check and convert."""
        low, dots, high = str(value).partition("..")
        times = [seconds(text) if text.strip() else None for text in (low, high)]
        if not dots or any(t is None and text.strip() for t, text in zip(times, (low, high), strict=True)):
            self.fail(f'"{value}"; expected times such as 10.., 0..0.2 or "3 s..3.2 s"', param, ctx)
        return times[0], times[1]


class Choice(OneOf[str]):
    """One of a few words."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check; click's own message differs between its versions."""
        if value not in self.choices:
            self.fail(f'"{value}"; {nearest(str(value), self.choices)}', param, ctx)
        return str(value)


class Workers(ParamType[str]):
    """Threads, processes, or the workers of a scheduler."""

    name = "thread|process|dask://HOST:PORT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check."""
        text = str(value)
        kinds = ["thread", "process", "dask://HOST:PORT"]
        place, port = text.removeprefix("dask://").rpartition(":")[::2]
        is_place = text.startswith("dask://") and place and port.isdecimal() and 0 < int(port) < 65536
        if text not in kinds[:2] and not is_place:
            self.fail(f'"{text}"; {nearest(text, kinds)}', param, ctx)
        return text

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[click.shell_completion.CompletionItem]:
        """The kinds, and the beginning of an address."""
        kinds = ("thread", "process", "dask://")
        return [click.shell_completion.CompletionItem(kind) for kind in kinds if kind.startswith(incomplete)]


class Seconds(ParamType[float]):
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


class Share(ParamType[float]):
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


class Shard(ParamType[tuple[int, int]]):
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


def loaded(name: str, settings: Sequence[str]) -> Scenario:
    """The scenario of a command under its `--set` options."""
    from lasthop.scenario.overrides import parse_set
    from lasthop.scenario.scenario import load

    return load(name, parse_set(settings), argument="--set")


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


form_option = click.option(
    "--format",
    "form",
    type=Choice(["text", "markdown", "latex"]),
    default="text",
    show_default=True,
    help="Form of the tables of a study.",
)

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")

judgements_option = click.option(
    "--judgements", is_flag=True, help="Show how laws classified losses, against the true cause."
)

kernel_option = click.option(
    "--kernel",
    type=Place(),
    help="Kernel for virtual time; default: the one that `virtual --build-kernel` made.",
)

progress_option = click.option("--no-progress", is_flag=True, help="Show no progress bar.")

# The same for long work without a bar, since a script may pass the option to all commands.
no_bar_option = click.option(
    "--no-progress",
    is_flag=True,
    expose_value=False,
    help="Accepted for uniformity; this command shows no progress bar.",
)

verbose_option = click.option(
    "-v", "--verbose", count=True, expose_value=False, callback=_remember, help="Print more."
)

talk_options = together(
    click.option(
        "-q",
        "--quiet",
        is_flag=True,
        expose_value=False,
        callback=_remember,
        help="Print only errors, the paths of written files, and explicitly requested output.",
    ),
    click.option(
        "--color",
        type=Choice(["auto", "always", "never"]),
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
    shell_complete=completing.settings,
    help="Set a scenario key, swept or not; sweep.KEY=[A, B] sweeps it.",
)


def _register(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> None:
    for value in values:
        from lasthop.laws.registered import named

        named(value)


law_option = click.option(
    "--law",
    multiple=True,
    type=Word(),
    metavar="[NAME=]MODULE:CLASS",
    expose_value=False,
    is_eager=True,
    callback=_register,
    help="Register a congestion law written in Python; MODULE may be a file. "
    "The methods of a law: python -m pydoc lasthop.laws.Law.",
)

where_option = click.option(
    "--where",
    multiple=True,
    type=Word(),
    metavar="EXPR",
    help='Select the points that satisfy a condition such as "links.a.loss.rate<=2 %".',
)

seed_option = click.option("--seed", type=Whole(0, MOST_SEED), help="Seed of all random streams.")

limit_options = together(
    click.option("--max-events", type=Whole(1), metavar="N", help="Stop a run after N events."),
    click.option("--max-wall", type=Seconds(), help="Stop a run after this wall-clock time."),
)

dry_option = click.option("--dry-run", is_flag=True, help="Print what would be done, and do nothing.")
