"""Commands on what a sweep left behind: show, plot, export, command, merge."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.base.errors import UsageError
from lasthop.cli.options import (
    Choice,
    Place,
    Whole,
    Word,
    examples,
    json_option,
    judgements_option,
    loaded,
    no_bar_option,
    set_option,
    talk_options,
)
from lasthop.cli.talk import data, note, warn_of_stopped, written

if TYPE_CHECKING:
    from matplotlib.figure import Figure

STUDY = Place()


@click.command(
    "show",
    epilog=examples(
        "lasthop show studies/ejtcp/fig10-baselines --metric flows.main.timeouts",
        "lasthop show --trace arq runs/cell --between 12..12.2",
    ),
)
@click.argument("study_or_scenario", type=Word())
@click.option(
    "--metric", "metrics", multiple=True, type=Word(), metavar="NAME", help="Show this metric (study)."
)
@click.option("--point", type=Whole(0), default=0, help="Show this point (scenario).")
@click.option("--slots", metavar="FROM..TO", help="Show these slots of one run of a slotted network.")
@click.option("--replication", type=Whole(0), default=0, help="The replication (--slots).")
@click.option("--trace", type=Choice(["arq"]), help="Show this trace of a run kept by run -o.")
@click.option("--between", "window", metavar="FROM..TO", help="The time to show, in seconds (--trace).")
@judgements_option
@no_bar_option
@set_option
@json_option
@talk_options
def show_command(
    study_or_scenario: str,
    metrics: tuple[str, ...],
    point: int,
    slots: str | None,
    replication: int,
    trace: str | None,
    window: str | None,
    judgements: bool,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print a study's tables, or a scenario with every default filled in.

    A study gives mean, half-width of the 95 % interval and n of what its figures show. A
    scenario gives every key with its value, where that comes from, and its source. With --slots,
    either gives what each node of a slotted network sent and heard in one run, slot by slot. A run
    kept with its trace of dynamic ARQ gives what was held, served and why, service by service.
    """
    from lasthop.base.paths import is_study
    from lasthop.scenario.values import scenario_json, scenario_text
    from lasthop.study.study import Study
    from lasthop.views import tables as show
    from lasthop.views.slots import slots_text, span

    if window is not None and trace is None:
        raise UsageError("has a meaning with --trace alone; expected --trace arq", argument="between")
    if trace is not None:
        if metrics or as_json or settings or slots is not None:
            raise UsageError(
                "is a table of its own; expected no other option but --between", argument="trace"
            )
        _services(Path(study_or_scenario), window)
        return
    if replication and slots is None:
        raise UsageError(
            "has a meaning with --slots alone; expected --slots FROM..TO", argument="replication"
        )
    if slots is not None and (metrics or as_json):
        raise UsageError("is a table of its own; expected neither --metric nor --json", argument="slots")
    if is_study(study_or_scenario):
        if settings:
            raise UsageError("a study is shown as it was run; expected no -s", argument="set")
        study = Study.open(study_or_scenario)
        if slots is not None:
            first, last = span(slots)
            at = {"seed": study.seed, "point": point, "replication": replication}
            data(slots_text(study.scenario, first, last, **at))
            return
        if as_json:
            data(show.study_json(study, metrics))
        else:
            data(show.study_text(study, metrics, judgements=judgements))
        missing = study.size - sum(1 for _ in study.results())
        if missing:
            note(f"{missing} of {study.size} runs are missing; sweep again to run them")
        if study.failures:
            note(f"{len(study.failures)} of {study.size} runs failed")
        warn_of_stopped(study)
        return
    if metrics:
        text = f"{study_or_scenario} is a scenario; expected a study directory"
        raise UsageError(text, argument="metric")
    scenario = loaded(study_or_scenario, settings)
    if slots is not None:
        first, last = span(slots)
        data(slots_text(scenario, first, last, point=point, replication=replication))
        return
    for warning in scenario.warnings:
        note(f"warning: {warning}")
    data(scenario_json(scenario, point) if as_json else scenario_text(scenario, point))


def _services(folder: Path, window: str | None) -> None:
    """Print what a stored run's access points served."""
    from lasthop.scenario.kept import read
    from lasthop.scenario.oracle import BY_ORACLE
    from lasthop.views import arq

    label = any(BY_ORACLE in text for text in read(folder).get("notes", []))
    text, left = arq.services_text(folder, arq.between(window) if window else None)
    data(f"{text}\n\n{BY_ORACLE}" if label else text)
    if left:
        note(f"the first {arq.FIRST} services; {left} more, some of which --between FROM..TO shows")


@click.command(
    "plot",
    epilog=examples(
        "lasthop plot studies/ejtcp/fig10-baselines",
        "lasthop plot studies/lle-tcp/fig05 airtime --format png,pdf",
    ),
)
@click.argument("study_or_run", type=STUDY)
@click.argument("figures", nargs=-1, metavar="[FIG]...")
@click.option(
    "--format", "formats", default="svg", show_default=True, type=Word(), help="svg, png, pdf, or several."
)
@click.option("-o", "--out", type=STUDY, help="Directory; figures/ in the other without it.")
@no_bar_option
@talk_options
def plot_command(
    study_or_run: Path,
    figures: tuple[str, ...],
    formats: str,
    out: Path | None,
) -> None:
    """Draw the figures of a study, or of a run kept by run -o, all or those named.

    A study has the figures of its scenario and, with an 802.11 link, `airtime`: one bar for each
    point. A run has `time`, from its traces and bins, and `airtime`.
    """
    from lasthop.base.errors import nearest
    from lasthop.base.paths import RUN, is_study
    from lasthop.figures.draw import draw, figure_named
    from lasthop.figures.style import FORMATS
    from lasthop.study.study import Study

    kinds = [kind.strip() for kind in formats.split(",") if kind.strip()]
    for kind in kinds:
        if kind not in FORMATS:
            raise UsageError(f'"{kind}" is not a format; {nearest(kind, FORMATS)}', argument="format")
    folder = out or study_or_run / "figures"
    if not is_study(str(study_or_run)) and (study_or_run / RUN).is_file():
        from lasthop.figures import run as plot_run

        for name, sheet in plot_run.draw(study_or_run, figures).items():
            _save(sheet, folder, name, kinds)
        return
    opened = Study.open(study_or_run)
    named = [figure_named(opened.scenario, name) for name in figures]
    warn_of_stopped(opened)
    drawn = 0
    for figure in named or opened.scenario.figures():
        try:
            sheet = draw(opened, figure)
        except UsageError as e:
            if named:
                raise
            note(f"left out: {e}")
            continue
        drawn += 1
        _save(sheet, folder, figure["id"], kinds)
    if not drawn:
        raise UsageError(
            f"{study_or_run}: no figure can be drawn; expected a [[figure]] with points in the study"
        )


def _save(sheet: Figure, folder: Path, name: str, kinds: list[str]) -> None:
    from lasthop.figures.style import save

    for kind in kinds:
        path = folder / f"{name}.{kind}"
        save(sheet, path)
        written(path)


@click.command(
    "export",
    epilog=examples(
        "lasthop export studies/ejtcp/fig10-baselines --format csv > runs.csv",
        "lasthop export studies/ejtcp/fig10-baselines --summary --format parquet -o means.parquet",
    ),
)
@click.argument("study", type=STUDY)
@click.option("--format", "kind", type=Choice(["csv", "json", "parquet"]), help="csv without it.")
@click.option("-o", "--out", type=STUDY, help="File; stdout without it.")
@click.option("--summary", is_flag=True, help="One row per point: means, intervals and n.")
@no_bar_option
@talk_options
def export_command(study: Path, kind: str | None, out: Path | None, summary: bool) -> None:
    """Write STUDY as one tidy table, a row for every run.

    Swept keys appear as text and, where they are quantities, in SI units under NAME_si.
    """
    from lasthop.study import export
    from lasthop.study.study import Study

    suffix = out.suffix.removeprefix(".") if out else ""
    chosen = kind or (suffix if suffix in export.FORMATS else "csv")
    opened = Study.open(study)
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
@click.argument("study_or_run", type=STUDY)
@click.option("--point", type=Whole(0), help="The point of the study, as in export.")
@click.option("--replication", type=Whole(0), help="The replication in the study; 0 without it.")
@talk_options
def command_command(study_or_run: Path, point: int | None, replication: int | None) -> None:
    """Print the exact command that repeats one run, of a study or kept by run -o.

    It runs from the current directory. A run that a limit stopped is stopped after as many events.
    """
    from lasthop.base.paths import RUN, is_study
    from lasthop.study.repeat import command, command_of_run
    from lasthop.study.study import Study

    if not is_study(str(study_or_run)) and (study_or_run / RUN).is_file():
        if point is not None or replication is not None:
            raise UsageError(f"{study_or_run}: is one run; expected no --point and no --replication")
        data(command_of_run(study_or_run))
        return
    study = Study.open(study_or_run)
    if point is None:
        raise UsageError(f"{study_or_run}: is a study; expected --point with one of its points")
    data(command(study, point, replication or 0))


@click.command(
    "merge",
    epilog=examples(
        "lasthop merge studies/whole studies/fig.shard-1-of-2 studies/fig.shard-2-of-2",
        "lasthop merge studies/whole studies/*.shard-*",
    ),
)
@click.argument("out", type=STUDY)
@click.argument("parts", nargs=-1, required=True, type=STUDY, metavar="IN...")
@no_bar_option
@talk_options
def merge_command(out: Path, parts: tuple[Path, ...]) -> None:
    """Join the shards IN of one study into the study OUT."""
    from lasthop.study.merge import merge

    joined = merge(out, parts)
    have = sum(1 for _ in joined.results())
    note(f"{have} of {joined.size} runs")
    written(out)
