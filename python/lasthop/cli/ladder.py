"""`lasthop ladder`."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.base.errors import UsageError
from lasthop.cli import completing
from lasthop.cli.options import (
    Choice,
    Period,
    Place,
    Whole,
    Word,
    examples,
    loaded,
    no_bar_option,
    seed_option,
    set_option,
    talk_options,
)
from lasthop.cli.talk import data, note, warn, written

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lasthop.figures.ladders import Period as Between
    from lasthop.figures.ladders import Source
    from lasthop.scenario.scenario import Run, Scenario


@click.command(
    "ladder",
    epilog=examples(
        "lasthop ladder lle-tcp/fig08 --between 3..3.2 --beside agents.snoop.kind=lle-tcp -o ladder.html",
        "lasthop run lle-tcp/fig08 --trace events -o runs/one && lasthop ladder runs/one --layers frames",
    ),
)
@click.argument("run_or_scenario", type=Word(), shell_complete=completing.scenarios)
@click.argument("other", required=False, metavar="[RUN2]", type=Word(), shell_complete=completing.scenarios)
@click.option("--between", type=Period(), metavar="A..B", help="The period to draw; default: 30 segments.")
@click.option(
    "--layers",
    type=Choice(["tcp", "frames"]),
    default="tcp",
    show_default=True,
    help="Segments, or the frames on the medium.",
)
@click.option(
    "--flows", type=Word(), metavar="NAMES", help="The flows to draw, such as up,down; default: all."
)
@click.option(
    "--beside",
    multiple=True,
    metavar="KEY=VALUE",
    shell_complete=completing.settings,
    help="Draw the scenario with this setting next to it, on the same random numbers.",
)
@set_option
@seed_option
@click.option("--replication", type=Whole(0), help="The replication of a scenario; default: 0.")
@click.option("--point", type=Whole(0), help="The point of the sweep of a scenario; default: the first.")
@click.option("-o", "--out", type=Place(), help="A svg, html, png, pdf or txt file; default: text on stdout.")
@click.option(
    "--width",
    type=Word(),
    metavar="column|page|MM",
    help="Width of svg, png and pdf: of a column or page, or in mm.",
)
@no_bar_option
@talk_options
def ladder_command(
    run_or_scenario: str,
    other: str | None,
    between: Between | None,
    layers: str,
    flows: str | None,
    beside: tuple[str, ...],
    settings: tuple[str, ...],
    seed: int | None,
    replication: int | None,
    point: int | None,
    out: Path | None,
    width: str | None,
) -> None:
    """Draw what passed between the nodes of a run, time downwards: segments or frames, losses, agents.

    RUN_OR_SCENARIO is a directory written by run --trace events -o, or a scenario, which is run as far as
    needed. With RUN2 or --beside, two runs are drawn side by side.
    """
    from lasthop.base.paths import RUN
    from lasthop.figures.ladders import form_of, ladder, of_folder, write

    if width is not None and (out is None or out.suffix not in (".svg", ".png", ".pdf")):
        raise UsageError(
            f'"{width}" is only for drawings; expected -o with an svg, png or pdf file', argument="width"
        )
    if out is not None:
        form_of(out, "out")
    if other is not None and beside:
        raise UsageError("RUN2 is given; expected either RUN2 or --beside", argument="beside")
    for item in beside:
        if not all(part.strip() for part in item.partition("=")):
            raise UsageError(f'"{item}"; expected KEY=VALUE such as agents.a.kind=none', argument="beside")
    wanted = None if flows is None else [name.strip() for name in flows.split(",") if name.strip()]
    sources: list[Source] = []
    for name in (run_or_scenario, other):
        if name is None:
            continue
        if (Path(name) / RUN).is_file():
            if beside or settings or seed is not None or replication is not None or point is not None:
                raise UsageError(f"{name}: is a finished run; expected no options of scenarios")
            sources.append(of_folder(Path(name)))
        else:
            chosen = _scenario(name, settings)
            sources += _runs(chosen, beside, between, wanted or (), (seed, replication or 0, point or 0))
    drawn = ladder(sources, between, layers, wanted)
    for remark in drawn.notes:
        note(remark)
    if out is None:
        data(drawn.to_text(max(60, shutil.get_terminal_size((100, 40)).columns)))
    else:
        write(drawn, out, width, argument="out")
        written(out)


def _scenario(name: str, settings: tuple[str, ...]) -> Scenario:
    from lasthop.base.paths import is_study

    if is_study(name):
        raise UsageError(
            f"{name}: is a study, which has no traces; expected a run "
            f"(lasthop command {name} --point N prints how to repeat one)"
        )
    chosen = loaded(name, settings)
    warn(chosen.warnings)
    return chosen


def _runs(
    chosen: Scenario,
    beside: tuple[str, ...],
    between: Between | None,
    flows: Sequence[str],
    numbers: tuple[int | None, int, int],
) -> list[Source]:
    """Runs a scenario, and again with other settings for --beside, as far as the ladder needs it."""
    from lasthop.cli.interrupt import attended
    from lasthop.figures.ladders import of_run, traced
    from lasthop.scenario.overrides import parse_set
    from lasthop.views.ladder import CHANNEL

    seed, replication, point = numbers
    variants = [(chosen, point)]
    if beside:
        # Swept values not changed by the settings remain those of the point.
        chosen.estimate(point)
        fixed = {**chosen.points()[point], **dict(parse_set(beside))}
        variants.append((chosen.set(fixed), 0))

    def ran(scenario: Scenario, at: int) -> Run:
        def run(most: int) -> Run:
            return attended(
                lambda cancel: scenario.run(
                    seed, replication, at, trace=[CHANNEL], max_events=most, cancel=cancel
                )
            )

        return traced(run, between, flows)

    return [of_run(ran(*variant)) for variant in variants]
