"""`lasthop show`: one function for each thing it shows, a study, a scenario, slots and services."""

from __future__ import annotations

from pathlib import Path

import click

from lasthop.base.errors import UsageError
from lasthop.cli.options import (
    Choice,
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
from lasthop.cli.talk import data, note, warn_of_stopped


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
    of_study = is_study(study_or_scenario)
    if of_study and settings:
        raise UsageError("a study is shown as it was run; expected no -s", argument="set")
    if metrics and not of_study:
        text = f"{study_or_scenario} is a scenario; expected a study directory"
        raise UsageError(text, argument="metric")
    if slots is not None:
        _slots(study_or_scenario, settings, slots, point, replication, of_study=of_study)
    elif of_study:
        _study(study_or_scenario, metrics, judgements=judgements, as_json=as_json)
    else:
        _scenario(study_or_scenario, settings, point, as_json=as_json)


def _study(folder: str, metrics: tuple[str, ...], *, judgements: bool, as_json: bool) -> None:
    """Print a study's tables, and say what it lacks."""
    from lasthop.study.study import Study
    from lasthop.views.tables import study_json, study_text

    study = Study.open(folder)
    data(study_json(study, metrics) if as_json else study_text(study, metrics, judgements=judgements))
    missing = study.size - sum(1 for _ in study.results())
    if missing:
        note(f"{missing} of {study.size} runs are missing; sweep again to run them")
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


def _slots(
    name: str, settings: tuple[str, ...], slots: str, point: int, replication: int, *, of_study: bool
) -> None:
    """Print what each node of a slotted network did in one run, slot by slot."""
    from lasthop.study.study import Study
    from lasthop.views.slots import slots_text, span

    if of_study:
        study = Study.open(name)
        scenario, seed = study.scenario, study.seed
    else:
        scenario, seed = loaded(name, settings), None
    first, last = span(slots)
    data(slots_text(scenario, first, last, seed=seed, point=point, replication=replication))


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
