"""The top of the command line: the list of commands, and errors as one line and an exit code."""

from __future__ import annotations

import errno
import io
import os
import re
import sys
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.base.arguments import is_utf8
from lasthop.base.errors import Interrupted, LasthopError, UsageError, nearest
from lasthop.cli.talk import complain

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130
NO_MEMORY = 5

# Name: (module below lasthop.cli, help). The help is here so that listing imports no command.
COMMANDS = {
    "run": ("run", "Simulate one point once and print its metrics."),
    "sweep": ("sweep", "Run all points and replications; continue an interrupted sweep."),
    "show": ("show", "Print the tables of a study, or all values of a scenario."),
    "plot": ("results", "Draw the figures of a study as svg, png or pdf."),
    "report": ("report", "Write one HTML file about a study or a paper."),
    "export": ("results", "Write a study as csv, json or parquet."),
    "reproduce": ("verify", "Redraw the figures of papers and judge their claims."),
    "check": ("check", "Validate scenarios; compare with closed forms, or with Linux."),
    "suite": ("suite", "Judge a law by a fixed set of cases, as those of RFC 9743."),
    "live": ("live", "Run programs on the nodes of a scenario, in real time."),
    "virtual": ("virtual", "Run programs on the nodes of a scenario, in virtual time."),
    "agent": ("agent", "Run an agent at a Wi-Fi interface of this machine."),
    "kernel": ("kernel", "Load JTCP and EJTCP into the kernel of this machine."),
    "link": ("link", "Run a program behind a link: rate, delay, loss, a trace, Wi-Fi."),
    "fit": ("fit", "Make a scenario like a captured Wi-Fi link."),
    "new": ("author", "Copy a shipped scenario as a starting point."),
    "list": ("author", "List variants, links, metrics, scenarios and more."),
    "explain": ("author", "Explain a scenario key: meaning, unit, default, source."),
    "schema": ("author", "Print the JSON Schema of scenarios, for editors."),
    "command": ("results", "Print the command that repeats one run of a study."),
    "cite": ("cite", "Print how to cite lasthop and the papers."),
    "contrast": ("results", "Print what changing one key of a study does."),
    "search": ("search", "Choose values of keys by a metric, and confirm them."),
    "quantile": ("statistics", "Print a quantile over the runs of each point of a study."),
    "steady": ("statistics", "Print the warm-up of each run, and its mean by batches."),
    "archive": ("archive", "Write a study as one file that others can check."),
    "verify": ("archive", "Check an archive: its contents, and a sample of its runs."),
    "merge": ("results", "Join the shards of a study."),
    "ladder": ("ladder", "Draw what went between the nodes of a run, time downwards."),
    "play": ("play", "Write one HTML file that plays a run: packets move, agents glow."),
    "studio": ("studio", "Open a page in which scenarios are written and run."),
    "slots": ("show", "Print the transmissions of a slotted network, slot by slot."),
    "services": ("show", "Print the services of dynamic ARQ with their reasons."),
    "bench": ("verify", "Measure speed and memory on fixed cases."),
    "test": ("testing", "Run the checks of a checkout."),
    "completion": ("author", "Print the completion script of a shell."),
}

# What a command may be taken for, where its spelling is closer to that of another one.
SYNONYMS = {"simulate": "run"}


class Commands(click.Group):
    """Commands that are imported when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"lasthop.cli.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, f"{cmd_name}_command")
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find a command; name the nearest one if there is none."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            meant = nearest(SYNONYMS.get(args[0], args[0]), COMMANDS)
            raise click.UsageError(f"{args[0]}: no such command; {meant}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands from the table alone."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


def _version(ctx: click.Context, param: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        from lasthop import _core

        click.echo(f"lasthop {_core.__version__} (model {_core.model_version})")
        ctx.exit()


@click.group(
    cls=Commands,
    no_args_is_help=False,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="\b\nExamples:\n"
    "  lasthop sweep ejtcp/fig10-baselines\n"
    "  lasthop plot studies/ejtcp/fig10-baselines\n\n"
    "\b\nThe exit code is 0, or 1 if something failed, 2 for wrong input, 3 if a result is not as expected,\n"
    "and 130 after Ctrl-C. The guide: https://github.com/lasthop/lasthop/blob/main/docs/index.md",
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_version,
    help="Print the version and exit.",
)
@click.pass_context
def lasthop(ctx: click.Context) -> None:
    """Simulate TCP over wired and wireless paths, and redraw the figures of papers."""
    if ctx.invoked_subcommand is None:
        click.echo(ctx.get_help())


def main(args: Sequence[str] | None = None) -> None:
    """Run the command line and leave the process with its exit code."""
    _fill_streams()
    # Nothing is shown in a window, and matplotlib refuses to be imported with a backend that it lacks.
    os.environ.pop("MPLBACKEND", None)
    sys.exit(invoke(args))


class _Closed(io.TextIOBase):
    """An output that the caller has closed (`>&-`): writing to it is an error, as on a full disk."""

    def write(self, text: str) -> int:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF))

    def fileno(self) -> int:
        return 1


def _fill_streams() -> None:
    """Replace streams that are closed.

    A file opened later would get the number of one, and what is written to the stream would go into it.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            # What is written to a closed output by its number is an error too.
            os.open(os.devnull, os.O_RDONLY if number == 1 else os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = _Closed()
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115


def invoke(args: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit code."""
    try:
        _expect_words(sys.argv[1:] if args is None else args)
        _expect_completion()
        code = lasthop.main(args, prog_name="lasthop", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as e:
        return e.exit_code
    except click.UsageError as e:
        return _usage(e)
    except click.ClickException as e:
        complain(e.format_message())
        return 2
    except (click.Abort, KeyboardInterrupt, Interrupted):
        complain("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        # The reader of a pipe has closed it.
        _silence()
        return 0
    except OSError as e:
        if e.errno == errno.ENAMETOOLONG:
            complain(f"{e.filename or 'name'}: {e.strerror}; expected a shorter name")
            return UsageError.exit_code
        if e.errno == errno.ENOENT and e.filename is None:
            complain("the current directory has been removed; expected one that exists")
            return UsageError.exit_code
        # Errors of files that lasthop writes are reported where it writes them; the rest is stdout.
        complain(f"{e.filename or 'output'}: {e.strerror}; expected it to be writable")
        _silence()
        return 1
    except MemoryError:
        complain("out of memory; expected more of it, or less to do")
        return NO_MEMORY
    except LasthopError as e:
        is_positional = e.argument in _positional(sys.argv[1:] if args is None else args)
        complain(f"{str(e.argument).upper()}: {e.text}" if is_positional else e.as_option())
        is_long = isinstance(e.__cause__, OSError) and e.__cause__.errno == errno.ENAMETOOLONG
        return UsageError.exit_code if is_long else e.exit_code
    return code if isinstance(code, int) else 0


def _expect_words(words: Sequence[str]) -> None:
    """Refuse words that are not text: they could not be stored, or repeated as a command."""
    for word in words:
        if not is_utf8(word):
            raise UsageError(f"{word!a}: not UTF-8; expected names and values in UTF-8")


def _expect_completion() -> None:
    """Check what a shell says of the line to complete, which click takes at its word."""
    place = os.environ.get("COMP_CWORD", "0")
    # That of fish is the word itself.
    is_number = os.environ.get("_LASTHOP_COMPLETE", "fish").partition("_")[0] != "fish"
    if is_number and not (place.isascii() and place.isdecimal() and len(place) < 8):
        raise UsageError(f'COMP_CWORD: "{place}"; expected the number of the word to complete')


def _positional(args: Sequence[str]) -> set[str]:
    """The names of the arguments of the command that are not options."""
    name = next((word for word in args if not word.startswith("-")), "")
    command = lasthop.get_command(click.Context(lasthop), name)
    params = command.params if command else []
    return {str(param.name) for param in params if isinstance(param, click.Argument)}


def _silence() -> None:
    """Let nothing more be written to stdout, not even at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _usage(error: click.UsageError) -> int:
    path = error.ctx.command_path if error.ctx else "lasthop"
    complain(_sentence(error))
    click.echo(f"see: {path} --help", err=True)
    return 2


def _sentence(error: click.UsageError) -> str:
    """An error of click in our form: where, what was found, what was expected."""
    if isinstance(error, click.NoSuchOption):
        names = [name for p in error.ctx.command.params for name in p.opts] if error.ctx else []
        known = [name for name in names if name.startswith("--")]
        return f"{error.option_name}: no such option; {nearest(error.option_name, known)}"
    if isinstance(error, click.BadOptionUsage):
        expected = (
            "missing; expected a value" if "requires" in error.message else "has a value; expected no value"
        )
        return f"{error.option_name}: {expected}"
    extra = re.match(r"Got unexpected extra arguments? \((.+)\)", error.message)
    if extra and error.ctx:
        usage = " ".join([error.ctx.command_path, *error.ctx.command.collect_usage_pieces(error.ctx)])
        return f"{extra[1]}: unexpected argument; expected {usage}"
    if isinstance(error, click.BadParameter) and error.param is not None:
        is_option = isinstance(error.param, click.Option)
        name = error.param.opts[-1] if is_option else error.param.human_readable_name
        found = "missing; expected a value" if isinstance(error, click.MissingParameter) else error.message
        return f"{name}: {found.rstrip('.')}"
    return error.format_message().rstrip(".")
