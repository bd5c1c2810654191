"""Code shared by `ladder` and `play`: the runs that they show, and running scenarios as far as needed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.base.errors import UsageError
from lasthop.cli import completing
from lasthop.cli.options import Period, Whole, Word, loaded, seed_option, set_option, together
from lasthop.cli.talk import warn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lasthop.cli.options import F
    from lasthop.scenario.scenario import Run, Scenario
    from lasthop.views.sources import Period as Between
    from lasthop.views.sources import Source

runs_argument = together(
    click.argument("run_or_scenario", type=Word(), shell_complete=completing.scenarios),
    click.argument(
        "other", required=False, metavar="[RUN2]", type=Word(), shell_complete=completing.scenarios
    ),
)

which_options = together(
    click.option(
        "--flows", type=Word(), metavar="NAMES", help="The flows to show, such as up,down; default: all."
    ),
    click.option(
        "--beside",
        multiple=True,
        metavar="KEY=VALUE",
        shell_complete=completing.settings,
        help="Show the scenario with this setting next to it, on the same random numbers.",
    ),
    set_option,
    seed_option,
    click.option("--replication", type=Whole(0), help="The replication of a scenario; default: 0."),
    click.option("--point", type=Whole(0), help="The point of the sweep of a scenario; default: the first."),
)


def between_option(default: str) -> Callable[[F], F]:
    """The option of the period; `default` is the period without it, in words."""
    return click.option(
        "--between", type=Period(), metavar="A..B", help=f"The period to show; default: {default}."
    )


def names(flows: str | None) -> list[str] | None:
    """The names in a list of flows."""
    return None if flows is None else [name.strip() for name in flows.split(",") if name.strip()]


def sources(
    shown: tuple[str, str | None],
    beside: tuple[str, ...],
    settings: tuple[str, ...],
    numbers: tuple[int | None, int | None, int | None],
    between: Between | None,
    flows: Sequence[str],
    first: int,
) -> list[Source]:
    """The runs to show.

    Args:
        shown: Directories of runs, or scenarios, which are run.
        beside: Settings of a scenario that is run once more.
        settings: Settings of scenarios.
        numbers: Seed, replication and point.
        between: The period.
        flows: The flows to show; all if empty.
        first: Segments that are shown where the period has no end.
    """
    from lasthop.base.paths import RUN
    from lasthop.views.sources import of_folder

    if shown[1] is not None and beside:
        raise UsageError("RUN2 is given; expected either RUN2 or --beside", argument="beside")
    for item in beside:
        if not all(part.strip() for part in item.partition("=")):
            raise UsageError(f'"{item}"; expected KEY=VALUE such as agents.a.kind=none', argument="beside")
    found: list[Source] = []
    for name in shown:
        if name is None:
            continue
        if (Path(name) / RUN).is_file():
            if beside or settings or any(number is not None for number in numbers):
                raise UsageError(f"{name}: is a finished run; expected no options of scenarios")
            found.append(of_folder(Path(name)))
        else:
            chosen = _scenario(name, settings)
            found += _runs(chosen, beside, numbers, (between, flows, first))
    return found


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
    numbers: tuple[int | None, int | None, int | None],
    need: tuple[Between | None, Sequence[str], int],
) -> list[Source]:
    """Runs a scenario, and once more with other settings, as far as needed."""
    from lasthop.cli.interrupt import interruptible
    from lasthop.scenario.overrides import parse_set
    from lasthop.views.events import CHANNEL
    from lasthop.views.sources import of_run, traced

    seed, replication, point = numbers[0], numbers[1] or 0, numbers[2] or 0
    variants = [(chosen, point)]
    if beside:
        # Swept values that the settings leave alone stay those of the point.
        chosen.estimate(point)
        fixed = {**chosen.points()[point], **dict(parse_set(beside))}
        variants.append((chosen.set(fixed), 0))

    def ran(scenario: Scenario, at: int) -> Run:
        def run(most: int) -> Run:
            with interruptible():
                return scenario.run(seed, replication, at, trace=[CHANNEL], max_events=most)

        return traced(run, *need)

    return [of_run(ran(*variant)) for variant in variants]
