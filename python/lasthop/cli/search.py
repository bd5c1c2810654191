"""The command on searches: search."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from lasthop.cli import completing
from lasthop.cli.options import (
    Folder,
    Whole,
    Word,
    examples,
    json_option,
    law_option,
    loaded,
    progress_option,
    seed_option,
    set_option,
    talk_options,
    where_option,
)
from lasthop.cli.talk import data, note, quiet, report, written

if TYPE_CHECKING:
    from pathlib import Path


@click.command(
    "search",
    epilog=examples(
        "lasthop search examples/udp-cross --maximise flows.main.goodput_bps "
        "--over 'flows.main.tcp.window=4..64 segments' --trials 20",
        "lasthop search ejtcp/fig10-baselines -s flows.main.tcp.variant=ejtcp "
        "--where 'links.r2-d.loss.rate=2 %' --maximise flows.main.goodput_bps "
        "--over flows.main.tcp.ejtcp.k=0.1..2 --against flows.main.tcp.variant=newreno",
    ),
)
@click.argument("scenario", type=Word(), shell_complete=completing.scenarios)
@click.option("--maximise", type=Word(), metavar="METRIC", help="The metric to make as large as possible.")
@click.option("--minimise", type=Word(), metavar="METRIC", help="The metric to make as small as possible.")
@click.option(
    "--over",
    type=Word(),
    multiple=True,
    required=True,
    metavar="KEY=RANGE",
    help="A key and its range: 0.1..2, '10 ms..200 ms', log:0.01..1 or red|codel; repeatable. Only whole "
    "numbers are tried where both ends are whole.",
)
@set_option
@where_option
@click.option("--trials", type=Whole(1), default=40, show_default=True, metavar="N", help="Number of trials.")
@click.option(
    "-r",
    "--replications",
    type=Whole(1),
    default=5,
    show_default=True,
    metavar="N",
    help="Runs per point in a trial, with the same random numbers in all trials.",
)
@click.option(
    "--confirm",
    type=Whole(2),
    default=20,
    show_default=True,
    metavar="N",
    help="Runs per point in the confirmation, with another seed.",
)
@seed_option
@click.option(
    "--elsewhere",
    type=Word(),
    multiple=True,
    metavar="PLACE",
    help="Confirm the best values also with a setting, KEY=VALUE, or in another scenario with those of -s; "
    "repeatable, each by itself.",
)
@click.option(
    "--against",
    type=Word(),
    multiple=True,
    metavar="KEY=VALUE",
    help="Run the confirmation also with this setting instead of the best values; repeatable.",
)
@click.option("-j", "--jobs", type=Whole(1), metavar="N", help="Number of workers; default: all cores.")
@click.option("-o", "--out", type=Folder(), help="Study directory; default: studies/search-ID.")
@progress_option
@json_option
@law_option
@talk_options
def search_command(
    scenario: str,
    maximise: str | None,
    minimise: str | None,
    over: tuple[str, ...],
    settings: tuple[str, ...],
    where: tuple[str, ...],
    trials: int,
    replications: int,
    confirm: int,
    seed: int | None,
    elsewhere: tuple[str, ...],
    against: tuple[str, ...],
    jobs: int | None,
    out: Path | None,
    no_progress: bool,
    as_json: bool,
) -> None:
    """Choose the values of keys of SCENARIO at which a metric is best, and confirm them with other seeds.

    The objective is the mean over all points and replications. The same command continues a search that was
    interrupted, and extends it with more --trials.
    """
    import shlex

    from lasthop.base.errors import UsageError
    from lasthop.base.jsontext import dumps
    from lasthop.cli.interrupt import interruptible
    from lasthop.scenario.overrides import parse_set
    from lasthop.study.optimum import Plan, search

    if (maximise is None) == (minimise is None):
        raise UsageError("expected one of --maximise and --minimise, with a metric")
    ranges = parse_set(over, "over")
    if len(dict(ranges)) < len(ranges):
        raise UsageError("a key has two ranges; expected one", argument="over")
    plan = Plan(
        trials,
        replications,
        confirm,
        seed,
        where,
        tuple(
            dict(parse_set([one], "elsewhere")) if "=" in one else loaded(one, settings) for one in elsewhere
        ),
        tuple(dict([pair]) for pair in parse_set(against, "against")),
        jobs,
    )
    with interruptible():
        found = search(
            loaded(scenario, settings),
            maximise or minimise or "",
            dict(ranges),
            maximise=maximise is not None,
            plan=plan,
            out=out,
            say=(lambda _: None) if quiet() or no_progress else note,
        )
    if as_json:
        data(dumps(found.as_dict()))
    else:
        report(found.text())
        pairs = [*settings, *(f"{key}={value}" for key, value in found.best.items())]
        given = [word for pair in pairs for word in ("-s", pair)]
        if found.default is None or found.shrinkage is not None:
            note(f"to use it: lasthop sweep {shlex.join([scenario, *given])}")
    written(found.path)
