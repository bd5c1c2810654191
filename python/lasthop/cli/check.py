"""The command that checks scenarios: their points, and what theory and Linux say of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.cli import completing
from lasthop.cli.options import (
    Choice,
    Output,
    Share,
    Whole,
    Word,
    examples,
    json_option,
    kernel_option,
    law_option,
    loaded,
    progress_option,
    set_option,
    talk_options,
    where_option,
)
from lasthop.cli.talk import complain, data, note, quiet, report, warn, written

if TYPE_CHECKING:
    from lasthop.peer.beside import Beside
    from lasthop.scenario.scenario import Scenario

# The exit code of `reproduce` too.
_MISSED = 3


@click.command(
    "check",
    epilog=examples(
        "lasthop check ejtcp/fig10-baselines --theory -s 'links.r1-r2.rate=50 Mbit/s'",
        "lasthop check validation/linux-bulk --peer linux --where 'links.path.loss.rate=1 %' -j 6",
    ),
)
@click.argument(
    "scenarios", nargs=-1, type=Word(), metavar="[SCENARIO]...", shell_complete=completing.scenarios
)
@set_option
@law_option
@where_option
@click.option(
    "--theory", is_flag=True, help="Run the points and compare them with the PFTK and Mathis models."
)
@click.option(
    "--peer",
    type=Choice(["linux"]),
    help="Run the points and compare them with this kernel's TCP over the same path, in real time.",
)
@click.option(
    "--virtual",
    "is_virtual",
    is_flag=True,
    help="With --peer, compare with the kernel that `virtual --build-kernel` makes, in virtual time.",
)
@kernel_option
@click.option(
    "-r",
    "--replications",
    type=Whole(1),
    default=3,
    show_default=True,
    metavar="N",
    help="With --theory and --peer, runs per point.",
)
@click.option(
    "--tolerance",
    type=Share(),
    help="With --theory, the accepted deviation of Reno, default: 10 to 15 %; with --peer, of each mean.",
)
@click.option(
    "-j",
    "--jobs",
    type=Whole(1),
    metavar="N",
    help="With --peer, the maximum number of paths at once; default: two for each core, with --virtual one.",
)
@click.option(
    "--window",
    type=Output(),
    metavar="FILE",
    help="With --peer, draw both congestion windows over time; svg, png or pdf.",
)
@click.option(
    "--metric",
    "metrics",
    metavar="NAME,...",
    help="With --peer, compare these: goodput_bps, completion_s, retransmits, timeouts, tail_probes, cwnd, "
    "ssthresh, srtt_s, drops, marks; default: goodput_bps, or completion_s of a file.",
)
@progress_option
@json_option
@talk_options
def check_command(
    scenarios: tuple[str, ...],
    settings: tuple[str, ...],
    where: tuple[str, ...],
    theory: bool,
    peer: str | None,
    is_virtual: bool,
    kernel: Path | None,
    replications: int,
    tolerance: float | None,
    jobs: int | None,
    window: Path | None,
    metrics: str | None,
    no_progress: bool,
    as_json: bool,
) -> None:
    """Validate every point of SCENARIO, or of all shipped scenarios, and print the bounds on a run's cost."""
    from lasthop.base.errors import ScenarioError, UsageError
    from lasthop.base.jsontext import dumps
    from lasthop.base.paths import shipped
    from lasthop.cli.interrupt import interruptible
    from lasthop.scenario import check
    from lasthop.virtual.kernel import find

    if theory and peer:
        raise UsageError("--theory too; expected one of them", argument="peer")
    if (theory or peer) and len(scenarios) != 1:
        given = "theory" if theory else "peer"
        raise UsageError(f"{len(scenarios)} scenarios; expected exactly one", argument=given)
    options = {"jobs": jobs, "window": window, "metric": metrics, "virtual": is_virtual or None}
    for name, value in options.items():
        if value is not None and not peer:
            raise UsageError("applies only to --peer; expected --peer linux too", argument=name)
    if kernel is not None and not is_virtual:
        raise UsageError("applies only to --virtual; expected --virtual too", argument="kernel")
    if peer:
        cores = os.cpu_count() or 1
        beside = _peer(
            loaded(scenarios[0], settings),
            where,
            (replications, jobs or (cores if is_virtual else 2 * cores)),
            _metrics(metrics),
            window,
            find(kernel) if is_virtual else None,
            no_progress=no_progress,
        )
        _report(beside, tolerance, window, as_json=as_json)
        return
    missed = 0
    documents = []
    broken = 0
    for name in scenarios or map(str, shipped().values()):
        try:
            scenario = loaded(name, settings)
            found = check.validate(scenario)
        except ScenarioError as e:
            # The others are checked all the same.
            complain(e.as_option())
            broken += 1
            continue
        warn(found.warnings)
        document = found.as_dict()
        if not as_json:
            report(found.text())
        if theory:
            with interruptible():
                lines = check.theory(scenario, where, replications, tolerance)
            document["theory"] = [line.as_dict() for line in lines]
            missed += sum(line.missed for line in lines)
            if not as_json:
                report(check.theory_text(lines))
        documents.append(document)
    if as_json:
        data(dumps(documents[0] if len(documents) == 1 else documents))
    if broken:
        raise click.exceptions.Exit(ScenarioError.exit_code)
    if missed:
        note(f"{missed} rates deviate from PFTK by more than the tolerance")
        raise click.exceptions.Exit(_MISSED)


def _metrics(text: str | None) -> list[str]:
    """The metrics that an option names."""
    from lasthop.base.errors import UsageError
    from lasthop.peer.measured import METRICS

    names = [name.strip() for name in text.split(",")] if text is not None else []
    for name in names:
        if name not in METRICS:
            raise UsageError(f'"{name}"; expected some of {", ".join(METRICS)}', argument="metric")
    return names


def _peer(
    scenario: Scenario,
    where: tuple[str, ...],
    amount: tuple[int, int],
    metrics: list[str],
    window: Path | None,
    kernel: Path | None,
    *,
    no_progress: bool,
) -> Beside:
    """Compare a scenario with the kernel's TCP, with a number of runs of each point, some of them at once."""
    from lasthop.cli.interrupt import interruptible
    from lasthop.peer.beside import Listener, compare
    from lasthop.study.progress import reporter

    if window is not None:
        from lasthop.figures import window as drawing

        drawing.expect(window)
    warn(scenario.warnings)
    progress = reporter(quiet=quiet(), plain=no_progress)

    class Following(Listener):
        """The runs of the kernel, as those of a sweep."""

        def say(self, text: str) -> None:
            note(text)

        def begin(self, total: int, seconds: float) -> None:
            progress.counts_events, progress.expected_s = False, seconds
            progress.begin(total, 0)

        def step(self) -> None:
            progress.count()

        def tick(self) -> None:
            progress.tick()

        def end(self) -> None:
            progress.end()

    with interruptible():
        return compare(
            scenario,
            where,
            *amount,
            metrics=metrics,
            sampled=window is not None,
            kernel=kernel,
            listener=Following(),
        )


def _report(found: Beside, tolerance: float | None, window: Path | None, *, as_json: bool) -> None:
    """Print a comparison; the exit code says whether means are within the tolerance."""
    from lasthop.base.jsontext import dumps

    if as_json:
        data(dumps(found.as_dict()))
    else:
        report(found.text())
    warn(found.warnings())
    if window is not None:
        from lasthop.figures import window as drawing

        drawing.write(found, window)
        written(window)
    missed = [line for line in found.lines if tolerance is not None and line.missed(tolerance)]
    if missed:
        note(f"{len(missed)} of {len(found.lines)} means deviate from Linux by more than the tolerance")
        raise click.exceptions.Exit(_MISSED)
