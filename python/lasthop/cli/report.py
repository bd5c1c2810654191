"""The command that writes a report: one HTML file about a study or a paper."""

from __future__ import annotations

from pathlib import Path

import click

from lasthop.base.errors import UsageError, nearest
from lasthop.cli import completing
from lasthop.cli.options import Output, Place, Word, examples, law_option, no_bar_option, talk_options
from lasthop.cli.talk import note, warn_of_stopped, written


@click.command(
    "report",
    epilog=examples(
        "lasthop report studies/lle-tcp/fig05",
        "lasthop report ejtcp -o ejtcp.html",
    ),
)
@click.argument("study_or_paper", type=Word(), metavar="STUDY|PAPER", shell_complete=completing.reported)
@click.option(
    "-o",
    "--out",
    type=Output(),
    help="Output file, or - for stdout; default: report.html in the study, or PAPER.html.",
)
@click.option(
    "--studies",
    type=Place(),
    help="Directory that reproduce -o wrote the studies of the paper to; default: studies/reproduce.",
)
@click.option("--live", is_flag=True, help="Put the simulator into the page, which runs points again.")
@no_bar_option
@law_option
@talk_options
def report_command(study_or_paper: str, out: Path | None, studies: Path | None, *, live: bool) -> None:
    """Write one HTML file about a study, or about a paper given by its id.

    It contains the result in words, the figures with their values, the points with their runs and the
    commands that repeat them, every value of the scenario with its source, and references; for a paper also
    the recorded statements. It can be read without a network and without lasthop. Figures over time repeat a
    run for its trace. With --live the page is 1.4 MB larger.
    """
    from lasthop.base.paths import is_study
    from lasthop.papers import paper as book
    from lasthop.report.document import of_paper, of_study
    from lasthop.report.page import write
    from lasthop.report.sheet import admit
    from lasthop.study.study import Study

    if is_study(study_or_paper):
        if studies is not None:
            text = f"{study_or_paper} is a study; expected the id of a paper"
            raise UsageError(text, argument="studies")
        file = out or Path(study_or_paper) / "report.html"
        admit(file)
        study = Study.open(study_or_paper)
        warn_of_stopped(study)
        document = of_study(study)
    elif study_or_paper in book.known():
        paper = book.paper(study_or_paper)
        file = out or Path(f"{paper.id}.html")
        admit(file)
        document = of_paper(paper, studies or Path("studies") / "reproduce", note)
    elif Path(study_or_paper).exists():
        raise UsageError(
            f"{study_or_paper}: is not a study; expected the directory of a study, or the id of a paper"
        )
    else:
        expected = nearest(study_or_paper, book.known())
        raise UsageError(f"{study_or_paper}: is not a study, nor the id of a paper; {expected}")
    for text in document.missing:
        note(f"note: {text.replace('`', '')}")
    write(document, file, live=live)
    written(file)
