"""`lasthop play`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.cli import traced
from lasthop.cli.options import Output, examples, law_option, no_bar_option, talk_options
from lasthop.cli.talk import note, written

if TYPE_CHECKING:
    from lasthop.views.sources import Period as Between


@click.command(
    "play",
    epilog=examples(
        "lasthop play lle-tcp/fig08 --beside agents.snoop.kind=lle-tcp",
        "lasthop run lle-tcp/fig08 --trace events -o runs/one && lasthop play runs/one",
    ),
)
@traced.runs_argument
@traced.between_option("1000 segments")
@traced.which_options
@click.option(
    "-o",
    "--out",
    type=Output(),
    help="A html file, or - for stdout; default: play.html in the directory of the run, or here.",
)
@no_bar_option
@law_option
@talk_options
def play_command(
    run_or_scenario: str,
    other: str | None,
    between: Between | None,
    flows: str | None,
    beside: tuple[str, ...],
    settings: tuple[str, ...],
    seed: int | None,
    replication: int | None,
    point: int | None,
    out: Path | None,
) -> None:
    """Write one HTML file that plays a run, and needs neither a network nor lasthop.

    Packets move along the links, agents glow when they make something, and queues, windows and airtime run
    along. RUN_OR_SCENARIO is a directory written by run --trace events -o, or a scenario, which is run as far
    as needed. With RUN2 or --beside, two runs are played next to each other.
    """
    from lasthop.base.paths import RUN
    from lasthop.report.play import FIRST, form_of, play, write

    is_kept = (Path(run_or_scenario) / RUN).is_file()
    file = out or (Path(run_or_scenario) if is_kept else Path()) / "play.html"
    form_of(file, "out")
    wanted = traced.names(flows)
    numbers = (seed, replication, point)
    shown = traced.sources((run_or_scenario, other), beside, settings, numbers, between, wanted or (), FIRST)
    played = play(shown, between, wanted)
    for remark in played.notes:
        note(remark)
    write(played, file)
    written(file)
