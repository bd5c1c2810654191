"""Commands that show: a study or a scenario, the slots of a slotted network, the services of dynamic ARQ."""

from __future__ import annotations

from pathlib import Path

import click

from lasthop.base.errors import UsageError
from lasthop.cli import completing
from lasthop.cli.options import (
    Place,
    Whole,
    Word,
    examples,
    form_option,
    json_option,
    judgements_option,
    law_option,
    loaded,
    no_bar_option,
    set_option,
    talk_options,
)
from lasthop.cli.talk import data, note, warn_of_stopped


@click.command(
    "show",
    epilog=examples(
        "lasthop show studies/ejtcp/fig10-baselines --format latex > table.tex",
        "lasthop show examples/slow-reader --json",
    ),
)
@click.argument("study_or_scenario", type=Word(), shell_complete=completing.scenarios)
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    type=Word(),
    metavar="NAME",
    shell_complete=completing.metrics,
    help="Show this metric (of a study); repeatable.",
)
@click.option("--point", type=Whole(0), default=0, help="Show this point (of a scenario).")
@form_option
@judgements_option
@no_bar_option
@set_option
@law_option
@json_option
@talk_options
def show_command(
    study_or_scenario: str,
    metrics: tuple[str, ...],
    point: int,
    form: str,
    judgements: bool,
    settings: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print the tables of a study, or all values of a scenario.

    A study gives mean, half-width of the 95 % interval and n for its figures. A
    scenario gives every key with its value, the origin of the value, and its source.
    """
    from lasthop.base.paths import is_study

    if is_study(study_or_scenario):
        _refuse(settings)
        _study(study_or_scenario, metrics, judgements=judgements, form=form, as_json=as_json)
        return
    if form != "text":
        text = f"{study_or_scenario} is a scenario; expected a study directory"
        raise UsageError(text, argument="format")
    if metrics:
        text = f"{study_or_scenario} is a scenario; expected a study directory"
        raise UsageError(text, argument="metric")
    _scenario(study_or_scenario, settings, point, as_json=as_json)


def _refuse(settings: tuple[str, ...]) -> None:
    if settings:
        raise UsageError("a study is shown as it was run; expected no -s", argument="set")


def _study(folder: str, metrics: tuple[str, ...], *, judgements: bool, form: str, as_json: bool) -> None:
    """Print a study's tables, and say what it lacks."""
    from lasthop.study.merge import shortfall
    from lasthop.study.study import Study
    from lasthop.views.tables import study_json, study_text

    study = Study.open(folder)
    if as_json:
        data(study_json(study, metrics))
    else:
        data(study_text(study, metrics, judgements=judgements, form=form))
    if lacking := shortfall(study):
        note(lacking)
    if study.failures:
        note(f"{len(study.failures)} of {study.size} runs failed")
    warn_of_stopped(study)


def _scenario(name: str, settings: tuple[str, ...], point: int, *, as_json: bool) -> None:
    """Print every key of a point of a scenario."""
    from lasthop.scenario.values import scenario_json, scenario_text

    scenario = loaded(name, settings)
    for warning in scenario.warnings:
        note(f"warning: {warning}")
    data(scenario_json(scenario, point) if as_json else scenario_text(scenario, point))


@click.command(
    "slots",
    epilog=examples(
        "lasthop slots load-adaptive/fig04 0..40",
        "lasthop slots studies/load-adaptive/fig04 100..120 --point 3 --replication 2",
    ),
)
@click.argument("study_or_scenario", type=Word(), shell_complete=completing.scenarios)
@click.argument("slots", type=Word(), metavar="FROM..TO")
@click.option("--point", type=Whole(0), default=0, help="The point of the sweep.")
@click.option("--replication", type=Whole(0), default=0, help="The replication.")
@no_bar_option
@set_option
@law_option
@talk_options
def slots_command(
    study_or_scenario: str,
    slots: str,
    point: int,
    replication: int,
    settings: tuple[str, ...],
) -> None:
    """Print what each node of a slotted network sent and received in one run, by slot.

    The run is repeated up to the last slot shown, with the seed of the study or scenario.
    """
    from lasthop.base.paths import is_study
    from lasthop.study.study import Study
    from lasthop.views.slots import slots_text, span

    seed = None
    if is_study(study_or_scenario):
        _refuse(settings)
        study = Study.open(study_or_scenario)
        scenario, seed = study.scenario, study.seed
    else:
        scenario = loaded(study_or_scenario, settings)
    first, last = span(slots)
    data(slots_text(scenario, first, last, seed=seed, point=point, replication=replication))


@click.command(
    "services",
    epilog=examples(
        "lasthop services runs/cell",
        "lasthop services runs/cell --between 12..12.2",
    ),
)
@click.argument("run", type=Place())
@click.option("--between", "window", metavar="FROM..TO", help="The period to show, in seconds.")
@talk_options
def services_command(run: Path, window: str | None) -> None:
    """Print the queues and services of dynamic ARQ in RUN, with the reasons.

    RUN is a directory written by run --trace arq -o.
    """
    from lasthop.scenario.kept import read
    from lasthop.views import arq

    notes = read(run).get("notes", [])
    text, left = arq.services_text(run, arq.between(window) if window else None)
    data("\n\n".join([text, *notes]))
    if left:
        note(f"showing the first {arq.FIRST} services; {left} more with --between FROM..TO")
