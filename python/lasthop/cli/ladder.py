"""`lasthop ladder`."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import click

from lasthop.base.errors import UsageError
from lasthop.cli import traced
from lasthop.cli.options import Choice, Output, Word, examples, law_option, no_bar_option, talk_options
from lasthop.cli.talk import data, note, written

if TYPE_CHECKING:
    from pathlib import Path

    from lasthop.views.sources import Period as Between


@click.command(
    "ladder",
    epilog=examples(
        "lasthop ladder lle-tcp/fig08 --between 3..3.2 --beside agents.snoop.kind=lle-tcp -o ladder.html",
        "lasthop run lle-tcp/fig08 --trace events -o runs/one && lasthop ladder runs/one --layers frames",
    ),
)
@traced.runs_argument
@traced.between_option("30 segments")
@click.option(
    "--layers",
    type=Choice(["tcp", "frames"]),
    default="tcp",
    show_default=True,
    help="Segments, or the frames on the medium.",
)
@traced.which_options
@click.option(
    "-o", "--out", type=Output(), help="A svg, html, png, pdf or txt file; default: text on stdout."
)
@click.option(
    "--width",
    type=Word(),
    metavar="column|page|MM",
    help="Width of svg, png and pdf: of a column or page, or in mm.",
)
@no_bar_option
@law_option
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
    from lasthop.figures.ladders import form_of, ladder, write
    from lasthop.views.events import FIRST

    if width is not None and (out is None or out.suffix not in (".svg", ".png", ".pdf")):
        raise UsageError(
            f'"{width}" is only for drawings; expected -o with an svg, png or pdf file', argument="width"
        )
    if out is not None:
        form_of(out, "out")
    wanted = traced.names(flows)
    numbers = (seed, replication, point)
    shown = traced.sources((run_or_scenario, other), beside, settings, numbers, between, wanted or (), FIRST)
    drawn = ladder(shown, between, layers, wanted)
    for remark in drawn.notes:
        note(remark)
    if out is None:
        data(drawn.to_text(max(60, shutil.get_terminal_size((100, 40)).columns)))
    else:
        write(drawn, out, width, argument="out")
        written(out)
