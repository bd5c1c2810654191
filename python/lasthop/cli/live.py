"""`lasthop live`."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lasthop.base.errors import UsageError
from lasthop.cli import completing
from lasthop.cli.options import (
    F,
    Finite,
    Folder,
    Whole,
    Word,
    examples,
    json_option,
    loaded,
    seed_option,
    set_option,
    talk_options,
    together,
    where_option,
)
from lasthop.cli.recording import captures, channels, expect_separate, pcap_option, prepare, trace_option
from lasthop.cli.talk import data, note, warn, written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from lasthop.realtime.programs import Node
    from lasthop.realtime.session import Outcome
    from lasthop.report.watching import Take
    from lasthop.scenario.scenario import Scenario

_NODE = "--node"
# The exit codes of a run whose packets were late, and of one that its limit ended, as of `timeout`.
LATE, LIMITED = 3, 124


class Programs(click.Command):
    """A command whose last options are programs: `--node NAME -- PROGRAM ...`, several times."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the programs apart from the options."""
        first = args.index(_NODE) if _NODE in args else len(args)
        ctx.meta[_NODE] = args[first:]
        return super().parse_args(ctx, args[:first])

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show where the programs go."""
        formatter.write_usage(
            ctx.command_path, f"[OPTIONS] SCENARIO [{_NODE} NAME -- PROGRAM [ARGUMENT]...]..."
        )


def programs(words: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
    """The nodes and programs of the last options."""
    found: list[tuple[str, tuple[str, ...]]] = []
    starts = [place for place, word in enumerate(words) if word == _NODE]
    for start, end in zip(starts, [*starts, len(words)][1:], strict=True):
        name, *rest = words[start + 1 : end] or [""]
        if not name or rest[:1] != ["--"] or not rest[1:]:
            shown = " ".join(words[start:end])
            raise UsageError(f'"{shown}"; expected {_NODE} NAME -- PROGRAM', argument="node")
        found.append((name, tuple(rest[1:])))
    return found


def run_options(limit: str, *more: Callable[[Any], Any]) -> Callable[[F], F]:
    """The options of a run of programs: what its limit is, and what only some of them have."""
    return together(
        seed_option,
        click.option("--replication", type=Whole(0), default=0, help="The replication."),
        click.option("--limit", type=Finite(), metavar="SECONDS", help=limit),
        click.option(
            "--late",
            type=Finite(has_zero=True),
            metavar="MS",
            help="Lateness in ms at the 99th percentile beyond which the exit code is 3; default: 1.",
        ),
        *more,
        pcap_option,
        click.option("-o", "--out", type=Folder(), help="Directory for run.json and traces."),
        json_option,
        talk_options,
    )


real_time_options = run_options(
    "Seconds after which the run ends; default: 3600.",
    click.option(
        "--internet", type=Word(), metavar="NAME", help="Let the programs reach the Internet through a node."
    ),
    click.option("--watch", "is_watched", is_flag=True, help="Show charts of the run in a page."),
)


@click.command(
    "live",
    cls=Programs,
    epilog=examples(
        "lasthop live lle-tcp/fig08 --node sender -- python3 -m http.server 80 "
        "--node receiver -- curl -s -o /dev/null -w '%{speed_download}' http://sender/",
        "lasthop live examples/my-wifi --hold phone --hold server",
    ),
)
@click.argument("scenario", type=Word(), shell_complete=completing.scenarios)
@set_option
@where_option
@click.option("--shell", type=Word(), metavar="NAME", help="Run a shell on a node, as the last program.")
@click.option(
    "--hold", multiple=True, type=Word(), metavar="NAME", help="Bind a node, and print how to enter it."
)
@trace_option
@real_time_options
@click.pass_context
def live_command(
    ctx: click.Context,
    /,
    scenario: str,
    settings: tuple[str, ...],
    where: tuple[str, ...],
    shell: str | None,
    hold: tuple[str, ...],
    **options: Any,
) -> None:
    """Run programs on nodes of SCENARIO until the one that is listed last ends.

    What they send to each other passes the links, media, queues and agents of the
    scenario, in real time. Each --node NAME is followed by -- and a program; nodes know
    each other by name. Each line that a program prints begins with the name of its node.
    The exit code is that of this program, or 3 if packets were late.
    """
    from lasthop.realtime.session import expect_node

    commands = programs(ctx.meta[_NODE])
    if shell is not None:
        commands.append((shell, own_shell()))
    if not commands and not hold:
        raise UsageError(f"no program; expected {_NODE} NAME -- PROGRAM, --shell or --hold", argument="node")
    chosen = loaded(scenario, settings)
    warn(chosen.warnings)
    point = chosen.select(where)[0]
    known = [node["name"] for node in chosen.network(point)["nodes"]]
    for argument, names in (("shell", [] if shell is None else [shell]), ("hold", hold)):
        for name in names:
            expect_node(name, known, argument)
    options |= {"others": hold, "hold": hold, "point": point, "has_terminal": shell is not None}
    conduct(ctx, chosen, commands, **options)


@contextmanager
def _watched(scenario: Scenario, point: int) -> Iterator[Take]:
    """Serve a page about the run while it lasts."""
    from lasthop.report.watching import watched

    with watched(scenario, point) as (address, take):
        written(f"watch the run at {address}")
        yield take


def own_shell() -> tuple[str, ...]:
    """The shell of the user."""
    return (os.environ.get("SHELL", "/bin/sh"),)


def conduct(
    ctx: click.Context,
    scenario: Scenario,
    commands: Sequence[tuple[str, tuple[str, ...]]],
    *,
    others: Sequence[str],
    hold: Sequence[str] = (),
    has_terminal: bool,
    servers_s: float | None = None,
    internet: str | None,
    is_watched: bool,
    **options: Any,
) -> None:
    """Run programs on nodes in real time, print and keep what the run gave, and leave with its exit code."""
    from lasthop.realtime import session

    def run(*given: Any, point: int, **further: Any) -> Outcome:
        with _watched(scenario, point) if is_watched else nullcontext() as watch:
            return session.run(
                *given,
                point=point,
                others=others,
                internet=internet,
                has_terminal=has_terminal,
                servers_s=session.SERVERS_S if servers_s is None else servers_s,
                watch=watch,
                on_ready=lambda nodes: _introduce(nodes, hold),
                **further,
            )

    conclude(ctx, scenario, commands, run, **options)


def conclude(
    ctx: click.Context,
    scenario: Scenario,
    commands: Sequence[tuple[str, tuple[str, ...]]],
    run: Callable[..., Outcome],
    *,
    point: int = 0,
    seed: int | None,
    replication: int,
    limit: float | None,
    late: float | None,
    trace: str | None = None,
    pcaps: tuple[str, ...],
    out: Path | None,
    as_json: bool,
) -> None:
    """Have programs run, print and keep what the run gave, and leave with its exit code."""
    from lasthop.base.jsontext import dumps
    from lasthop.realtime import session
    from lasthop.realtime.programs import Command

    limit_s = session.LIMIT_S if limit is None else limit
    recorded, captured = channels(trace), captures(scenario, point, pcaps)
    folder = out or (Path("runs") / scenario.id if recorded else None)
    # Programs print to the standard output.
    expect_separate(captured, is_silent=False)
    prepare(folder, captured)
    done = run(
        scenario,
        [Command(*one) for one in commands],
        point=point,
        seed=seed,
        replication=replication,
        limit_s=limit_s,
        trace=recorded,
        pcap=captured or None,
        out=folder,
    )
    _say(done)
    if as_json:
        data(dumps(done.as_dict()))
    for path in [*captured.values(), *([folder] if folder else [])]:
        written(path)
    bound_s = session.LATE_S if late is None else late / 1e3
    if done.late_p99_s is not None and done.late_p99_s > bound_s:
        late_ms = done.late_p99_s * 1e3
        warn(
            [f"packets were late by {late_ms:.3g} ms at the 99th percentile, more than {bound_s * 1e3:g} ms"]
        )
        ctx.exit(LATE)
    ended = LIMITED if done.length_s >= limit_s else 128 + signal.SIGINT
    ctx.exit(ended if done.status is None else done.status)


def _introduce(nodes: Sequence[Node], held: Sequence[str]) -> None:
    """Print the nodes with their addresses, and how to enter those that are held."""
    note(", ".join(f"{node.name} {node.address}" for node in nodes))
    for node in nodes:
        if node.name in held:
            of = f"/proc/{os.getpid()}"
            user = f" --user={of}/ns/user --preserve-credentials" if _is_mapped() else ""
            note(f"{node.name}: nsenter{user} --mount={of}/ns/mnt --net={of}/fd/{node.namespace}")


def _is_mapped() -> bool:
    """Whether this process is root of a user namespace only."""
    return Path("/proc/self/uid_map").read_text(encoding="ascii").split()[1:] != ["0", "4294967295"]


def _say(done: Outcome) -> None:
    late = ""
    if done.late_p50_s is not None and done.late_p99_s is not None:
        half, most, worst = (f"{s * 1e3:.3g} ms" for s in (done.late_p50_s, done.late_p99_s, done.late_max_s))
        late = f", late by {half} (median), {most} (99 %), {worst} (most)"
    sent = sum(node["packets"] for node in done.nodes.values())
    note(f"{done.length_s:.1f} s: {sent} packets sent, {done.delivered} delivered{late}")
