"""`lasthop kernel`."""

from __future__ import annotations

from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.base.errors import UsageError
from lasthop.cli.interrupt import interruptible
from lasthop.cli.options import Choice, Place, Word, examples
from lasthop.cli.talk import data, note, report

if TYPE_CHECKING:
    from collections.abc import Sequence

ACTIONS = ("load", "list", "test", "replay")


@click.command(
    "kernel",
    epilog=examples(
        "lasthop kernel load ejtcp -s k=2 --record acks.events",
        "lasthop kernel replay acks.events",
    ),
)
@click.argument("action", type=Choice(ACTIONS))
@click.argument("name", type=Word(), required=False)
@click.option(
    "-s", "--set", "settings", multiple=True, metavar="KEY=VALUE", help="Set a parameter of the law."
)
@click.option("--record", type=Place(), metavar="FILE", help="Write what the law sees and does to FILE.")
@click.option(
    "--header", "has_header", is_flag=True, help="Write the times into an option of TCP, at both ends."
)
@click.pass_context
def kernel_command(
    ctx: click.Context,
    /,
    action: str,
    name: str | None,
    settings: tuple[str, ...],
    record: Path | None,
    has_header: bool,
) -> None:
    """Use congestion laws as BPF programs of Linux.

    load registers jtcp, ejtcp or keep as lasthop_NAME, or the law of a file *.bpf.c, until Ctrl-C.
    However lasthop ends, the law is gone; connections that have it keep it.
    The parameters are those of flows.NAME.tcp.LAW.

    list prints the laws, test loads each and sends bytes by it, and
    replay gives what --record wrote to the same law of the simulator.
    """
    from lasthop.scenario.overrides import parse_set

    pairs = parse_set(settings)
    if action != "load":
        for argument, is_given in (
            ("set", bool(pairs)),
            ("record", record is not None),
            ("header", has_header),
        ):
            if is_given:
                raise UsageError(f"not with {action}; expected only with load", argument=argument)
    if (name is None) == (action in ("load", "replay")):
        found = "missing" if name is None else f"{name}: unexpected argument"
        expected = {"load": "a law", "replay": "a file that --record wrote"}.get(action, f"{action} alone")
        raise UsageError(f"{found}; expected {expected}", argument="name")
    if action == "load":
        _load(str(name), pairs, record, has_header=has_header)
    elif action == "replay":
        _replay(ctx, Path(str(name)))
    elif action == "list":
        _list()
    else:
        _test()


def _load(law: str, pairs: Sequence[tuple[str, str]], record: Path | None, *, has_header: bool) -> None:
    from lasthop.base.files import replacing
    from lasthop.kernel.loaded import header, loaded

    with interruptible(), ExitStack() as stack:
        take = None
        if record is not None:
            file = stack.enter_context(stack.enter_context(replacing(record)).open("wb"))
            file.write(header(law, pairs))
            take = file.write
        # Inside the context of the file, which is complete then.
        with suppress(KeyboardInterrupt), loaded(law, pairs, take, has_header=has_header) as found:
            note(f"{law}: in the kernel until Ctrl-C")
            try:
                found.attend()
            finally:
                found.drain()


def _replay(ctx: click.Context, path: Path) -> None:
    from lasthop.kernel.loaded import replay

    found = replay(path)
    report(str(found))
    if not found:
        ctx.exit(1)


def _list() -> None:
    from lasthop.base.table import grid
    from lasthop.kernel.loaded import listing

    data(grid(["law", "in the kernel", "state", "meaning"], listing()))


def _test() -> None:
    from lasthop.kernel.tested import tested

    with interruptible():
        for line in tested():
            report(line)
