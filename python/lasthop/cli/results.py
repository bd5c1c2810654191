"""Commands on the results of a sweep: plot, export, command, merge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.base.errors import UsageError
from lasthop.cli import completing
from lasthop.cli.options import (
    Choice,
    Folder,
    Output,
    Place,
    Range,
    Whole,
    Word,
    examples,
    form_option,
    json_option,
    law_option,
    no_bar_option,
    talk_options,
)
from lasthop.cli.talk import data, note, warn_of_damaged, warn_of_stopped, written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STUDY = Place()


@click.command(
    "plot",
    epilog=examples(
        "lasthop plot studies/ejtcp/fig10-baselines",
        "lasthop plot studies/lle-tcp/fig05 airtime --width column --no-title --y-limits 0..100 --format pdf",
    ),
)
@click.argument("study_or_run", type=STUDY, shell_complete=completing.studies)
@click.argument("figures", nargs=-1, metavar="[FIG]...", shell_complete=completing.figures)
@click.option(
    "--format", "formats", default="svg", show_default=True, type=Word(), help="svg, png, pdf, or several."
)
@click.option("-o", "--out", type=Folder(), help="Output directory; default: figures/ in the study or run.")
@click.option(
    "--width", type=Word(), metavar="column|page|MM", help="Width: of a column, of a page, or in mm."
)
@click.option("--no-title", is_flag=True, help="Draw no title.")
@click.option("--no-caption", is_flag=True, help="Draw no caption.")
@click.option(
    "--legend", default="best", show_default=True, type=Word(), help="best, above, outside, none, or a place."
)
@click.option("--x-limits", type=Range(), help="Limits of the x axis in its unit; either end may be empty.")
@click.option("--y-limits", type=Range(), help="Limits of the y axis in its unit; either end may be empty.")
@no_bar_option
@law_option
@talk_options
def plot_command(
    study_or_run: Path,
    figures: tuple[str, ...],
    formats: str,
    out: Path | None,
    width: str | None,
    no_title: bool,
    no_caption: bool,
    legend: str,
    x_limits: tuple[float | None, float | None] | None,
    y_limits: tuple[float | None, float | None] | None,
) -> None:
    """Draw all or the named figures of a study, or of a run stored by run -o.

    A study has the figures of its scenario and, with an 802.11 link, `airtime`: one bar per
    point. A run has `time`, from its traces and bins, and `airtime`.
    """
    from lasthop.base.errors import nearest
    from lasthop.base.paths import RUN, is_study
    from lasthop.figures.draw import draw, figure_named
    from lasthop.figures.page import page
    from lasthop.figures.style import FORMATS
    from lasthop.papers.published import claims_of, published
    from lasthop.study.study import Study

    kinds = [kind.strip() for kind in formats.split(",") if kind.strip()]
    for kind in kinds:
        if kind not in FORMATS:
            raise UsageError(f'"{kind}" is not a format; {nearest(kind, FORMATS)}', argument="format")
    sheet = page(
        width=width,
        title=not no_title,
        caption=not no_caption,
        legend=legend,
        x_limits=x_limits,
        y_limits=y_limits,
    )
    folder = out or study_or_run / "figures"
    if not is_study(str(study_or_run)) and (study_or_run / RUN).is_file():
        from lasthop.figures import run as plot_run

        for name, drawn in plot_run.draw(study_or_run, figures, sheet).items():
            _save(drawn, folder, name, kinds)
        return
    opened = Study.open(study_or_run)
    named = [figure_named(opened.scenario, name) for name in figures]
    warn_of_stopped(opened)
    claims = claims_of(opened.scenario)
    count = 0
    for figure in named or opened.scenario.figures():
        try:
            drawn = draw(opened, figure, published(claims, figure, opened), sheet)
        except UsageError as e:
            if named:
                raise
            note(f"skipped: {e}")
            continue
        count += 1
        _save(drawn, folder, figure["id"], kinds)
    if not count:
        raise UsageError(
            f"{study_or_run}: no figure can be drawn; expected a [[figure]] with points in the study"
        )


def _save(drawn: Figure, folder: Path, name: str, kinds: list[str]) -> None:
    from lasthop.figures.style import save

    for kind in kinds:
        path = folder / f"{name}.{kind}"
        save(drawn, path)
        written(path)


@click.command(
    "export",
    epilog=examples(
        "lasthop export studies/ejtcp/fig10-baselines --format csv > runs.csv",
        "lasthop export studies/ejtcp/fig10-baselines --summary --format parquet -o means.parquet",
    ),
)
@click.argument("study", type=STUDY, shell_complete=completing.studies)
@click.option("--format", "kind", type=Choice(["csv", "json", "parquet"]), help="Format; default: csv.")
@click.option("-o", "--out", type=Output(), help="Output file; default: stdout.")
@click.option("--summary", is_flag=True, help="One row per point: means, intervals and n.")
@no_bar_option
@law_option
@talk_options
def export_command(study: Path, kind: str | None, out: Path | None, summary: bool) -> None:
    """Write STUDY as one table with a row per run.

    Swept keys appear as text, and quantities also in SI units under NAME_si.
    """
    from lasthop.study import export
    from lasthop.study.study import Study

    suffix = out.suffix.removeprefix(".") if out else ""
    chosen = kind or (suffix if suffix in export.FORMATS else "csv")
    opened = Study.open(study)
    warn_of_damaged(opened)
    if summary:
        warn_of_stopped(opened)
    if out is not None:
        export.write(opened, out, chosen, summarise=summary)
        written(out)
        return
    if chosen == "parquet":
        raise UsageError("parquet is binary; expected -o FILE", argument="format")
    table = export.summary(opened) if summary else export.tidy(opened)
    click.echo(export.text(opened, chosen, table), nl=False)


@click.command(
    "command",
    epilog=examples(
        "lasthop command studies/ejtcp/fig10-baselines --point 3 --replication 2",
        'sh -c "$(lasthop command runs/slow)"',
    ),
)
@click.argument("study_or_run", type=STUDY, shell_complete=completing.studies)
@click.option("--point", type=Whole(0), help="The point of the study, as in export.")
@click.option("--replication", type=Whole(0), help="The replication in the study; default: 0.")
@law_option
@talk_options
def command_command(study_or_run: Path, point: int | None, replication: int | None) -> None:
    """Print the command that repeats one run of a study, or a run stored by run -o.

    The command works in the current directory. It stops at the same number of events as the run.
    """
    from lasthop.base.paths import RUN, is_study
    from lasthop.study.repeat import command, command_of_run
    from lasthop.study.study import Study

    if not is_study(str(study_or_run)) and (study_or_run / RUN).is_file():
        if point is not None or replication is not None:
            raise UsageError(f"{study_or_run}: is a single run; expected no --point and no --replication")
        data(command_of_run(study_or_run))
        return
    study = Study.open(study_or_run)
    warn_of_damaged(study)
    if point is None:
        raise UsageError(f"{study_or_run}: is a study; expected --point with one of its points")
    data(command(study, point, replication or 0))


@click.command(
    "contrast",
    epilog=examples(
        "lasthop contrast studies/lle-tcp/fig05 flows.main.goodput_bps agents.snoop.kind",
        "lasthop contrast studies/lle-tcp/fig05 flows.main.goodput_bps agents.snoop.kind --format markdown",
    ),
)
@click.argument("study", type=STUDY, shell_complete=completing.studies)
@click.argument("metric", type=Word(), shell_complete=completing.metrics)
@click.argument("key", type=Word(), shell_complete=completing.swept)
@click.option(
    "--baseline", type=Word(), metavar="VALUE", help="The value to compare with; default: the first."
)
@form_option
@no_bar_option
@json_option
@law_option
@talk_options
def contrast_command(
    study: Path, metric: str, key: str, baseline: str | None, form: str, as_json: bool
) -> None:
    """Print what changing KEY does to METRIC in STUDY, all else and the random numbers being equal.

    Each row is the mean difference from the baseline over the replications that both have, with its 95 %
    interval, and its share of the baseline's mean.
    """
    from lasthop.base.jsontext import dumps
    from lasthop.study.study import Study
    from lasthop.views.contrasts import contrasts, worded

    opened = Study.open(study)
    warn_of_stopped(opened)
    table = contrasts(opened, metric, key, baseline)
    if as_json:
        data(dumps({"metric": metric, "key": key, "rows": table.rows}))
        return
    table = worded(table)
    if form == "markdown":
        data(table.to_markdown())
    else:
        data(table.to_latex() if form == "latex" else f"{metric}: difference\n{table}")


@click.command(
    "merge",
    epilog=examples(
        "lasthop merge studies/whole studies/fig.shard-1-of-2 studies/fig.shard-2-of-2",
        "lasthop merge studies/whole studies/*.shard-*",
    ),
)
@click.argument("out", type=Folder())
@click.argument(
    "parts", nargs=-1, required=True, type=STUDY, metavar="IN...", shell_complete=completing.studies
)
@no_bar_option
@law_option
@talk_options
def merge_command(out: Path, parts: tuple[Path, ...]) -> None:
    """Join the shards IN of one study into the study OUT."""
    from lasthop.study.merge import merge

    joined = merge(out, parts)
    for remark in joined.notes:
        note(f"note: {remark}")
    have = sum(1 for _ in joined.results())
    note(f"{have} of {joined.size} runs")
    written(out)
