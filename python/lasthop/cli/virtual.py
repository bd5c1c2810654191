"""`lasthop virtual`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from lasthop.base.errors import UsageError
from lasthop.cli import completing
from lasthop.cli.interrupt import interruptible
from lasthop.cli.live import Programs, conclude, programs, run_options
from lasthop.cli.options import Word, examples, kernel_option, loaded, set_option, where_option
from lasthop.cli.recording import trace_option
from lasthop.cli.talk import note, warn, written

if TYPE_CHECKING:
    from pathlib import Path

    from lasthop.realtime.session import Outcome


@click.command(
    "virtual",
    cls=Programs,
    epilog=examples(
        "lasthop virtual --build-kernel",
        "lasthop virtual lle-tcp/fig08 --node sender -- python3 -m http.server 80 "
        "--node receiver -- curl -s -o /dev/null --retry 9 --retry-connrefused http://sender/",
    ),
)
@click.argument("scenario", type=Word(), required=False, shell_complete=completing.scenarios)
@set_option
@where_option
@click.option("--build-kernel", "is_build", is_flag=True, help="Make the kernel of guests, once.")
@kernel_option
@trace_option
@run_options("Seconds of this machine after which the run is ended; default: 3600.")
@click.pass_context
def virtual_command(
    ctx: click.Context,
    /,
    scenario: str | None,
    settings: tuple[str, ...],
    where: tuple[str, ...],
    is_build: bool,
    kernel: Path | None,
    limit: float | None,
    **options: Any,
) -> None:
    """Run programs on nodes of SCENARIO as live does, in virtual time.

    A Linux kernel runs as a process whose clock stands still while anything computes.
    Packets are not late, and a run repeats to the bit, however busy this machine is.
    What programs write, other than -o and --pcap, is gone afterwards.
    """
    from lasthop.realtime.session import LIMIT_S
    from lasthop.virtual import kernel as kernels
    from lasthop.virtual.session import run

    if is_build:
        with interruptible():
            written(kernels.build(note))
        return
    if scenario is None:
        raise UsageError("missing; expected a scenario, or --build-kernel", argument="scenario")
    commands = programs(ctx.meta["--node"])
    if not commands:
        raise UsageError("no program; expected --node NAME -- PROGRAM", argument="node")
    chosen = loaded(scenario, settings)
    warn(chosen.warnings)

    if sys.stderr.isatty():
        note(f"starting {kernels.find(kernel).name}; the programs begin when it is up")

    def in_guest(*given: Any, **further: Any) -> Outcome:
        return run(*given, **further, patience_s=LIMIT_S if limit is None else limit, given_kernel=kernel)

    with interruptible():
        conclude(ctx, chosen, commands, in_guest, point=chosen.select(where)[0], limit=None, **options)
