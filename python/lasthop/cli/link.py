"""`lasthop link`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lasthop.base.errors import UsageError, nearest
from lasthop.cli.live import conduct, own_shell, real_time_options
from lasthop.cli.options import Place, Whole, Word, examples
from lasthop.cli.talk import data, warn
from lasthop.scenario.link import EXAMPLES, FAR, NEAR, Link, quantity

if TYPE_CHECKING:
    from click import ParamType

    from lasthop.scenario.link import Kind
else:
    from lasthop.cli.options import ParamType


class _Quantity(ParamType[str]):
    """A quantity as users of netem write it."""

    def __init__(self, kind: Kind) -> None:
        self.kind, self.name = kind, kind.upper()

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check and convert."""
        found = quantity(self.kind, str(value))
        if found is None:
            self.fail(f'"{value}"; expected {EXAMPLES[self.kind]}', param, ctx)
        return found


class _Both(ParamType[tuple[str, str]]):
    """One quantity for both directions, or one for each."""

    def __init__(self, kind: Kind) -> None:
        self.one, self.name = _Quantity(kind), f"{kind.upper()}[,{kind.upper()}]"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, str]:
        """Check and convert."""
        up, comma, down = str(value).partition(",")
        return self.one.convert(up, param, ctx), self.one.convert(down if comma else up, param, ctx)


class _Named(ParamType[str]):
    """The name of something that scenarios have, with or without its first letters."""

    name = "NAME"

    def __init__(self, what: str, before: str = "") -> None:
        self.what, self.before = what, before

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Check and convert."""
        from lasthop import _core

        names = [str(entry["name"]) for entry in json.loads(_core.registry())[self.what]]
        known = [name.removeprefix(self.before) for name in names if name.startswith(self.before)]
        word = str(value).removeprefix(self.before)
        if not word or word not in known:
            self.fail(f'"{value}"; {nearest(str(value), filter(None, known))}', param, ctx)
        return self.before + word


@click.command(
    "link",
    # The first word of the command ends the options, with and without "--" before it.
    context_settings={"allow_interspersed_args": False},
    epilog=examples(
        "lasthop link --rate 5Mbit,20Mbit --delay 30ms --loss 1% --server 'iperf3 -s' -- iperf3 -c server",
        "lasthop link --wifi ax --stations 8 --busy 3 --show",
    ),
)
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option("--rate", type=_Both("rate"), help="Rate, such as 20Mbit; default: 1Gbit.")
@click.option("--delay", type=_Quantity("time"), help="Delay in each direction, such as 30ms.")
@click.option("--jitter", type=_Quantity("time"), help="Delays vary by as much, without reordering.")
@click.option("--loss", type=_Both("share"), help="Share of packets that are lost, such as 1%.")
@click.option("--queue", type=_Both("queue"), help="Queue, such as 100p or 64kB.")
@click.option("--aqm", type=_Named("aqm"), help="Law of the queues, such as codel.")
@click.option("--agent", type=_Named("agents"), help="Agent at the link, such as snoop.")
@click.option("--trace", type=(Place(), Place()), metavar="UP DOWN", help="Files of Mahimahi, for the rates.")
@click.option(
    "--wifi",
    type=_Named("standards", "802.11"),
    help="Standard of a cell before the link, such as ax; queue, aqm and agent are then its own.",
)
@click.option("--stations", type=Whole(1, 1000), default=1, help="Stations of the cell, the client included.")
@click.option("--busy", type=Whole(0), default=0, help="Stations of the cell that download in bulk.")
@click.option(
    "--server",
    multiple=True,
    type=Word("a command"),
    metavar="COMMAND",
    help="Shell command to run on the far side.",
)
@click.option("--show", is_flag=True, help="Print the scenario, and run nothing.")
@real_time_options
@click.pass_context
def link_command(
    ctx: click.Context,
    /,
    command: tuple[str, ...],
    server: tuple[str, ...],
    show: bool,
    trace: tuple[Path, Path] | None,
    **options: Any,
) -> None:
    """Run COMMAND, or a shell, behind a link, as mm-link does.

    COMMAND runs on the node "client" and reaches the node "server" by this name, where
    each --server runs. RATE, SHARE and QUEUE are one value for both directions, or two:
    for what the client sends, then for what it gets. The exit code is that of COMMAND,
    or 3 if packets were late.
    """
    from lasthop.scenario.scenario import Scenario

    made = {name: options.pop(name) for name in _MADE}
    given = {name: value for name, value in made.items() if value is not None}
    if trace is not None:
        given["trace"] = tuple(_file(path) for path in trace)
    scenario = Scenario.from_dict(Link(**given).values(), "link")
    if show:
        data(scenario.text.strip())
        return
    warn(scenario.warnings)
    servers = [(FAR, ("sh", "-c", line)) for line in server]
    commands = [*servers, (NEAR, command or own_shell())]
    try:
        conduct(ctx, scenario, commands, others=(FAR,), has_terminal=True, servers_s=_SERVERS_S, **options)
    except UsageError as error:
        # The nodes are ours, so that only the command can be wrong.
        raise UsageError(
            error.text, argument="command" if error.argument == "node" else error.argument
        ) from error


# How long a command waits for its servers to listen.
_SERVERS_S = 10.0
_MADE = ("rate", "delay", "jitter", "loss", "queue", "aqm", "agent", "wifi", "stations", "busy")


def _file(path: Path) -> str:
    if not path.is_file():
        what = "not a file" if path.exists() else "no such file"
        raise UsageError(f"{path}: {what}; expected a file of Mahimahi", argument="trace")
    return str(path.resolve())
