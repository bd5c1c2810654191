"""`lasthop sweep`."""

from __future__ import annotations

import multiprocessing
import shlex
import sys
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.base.errors import LasthopError, UsageError
from lasthop.base.paths import program
from lasthop.cli import completing
from lasthop.cli.options import (
    Folder,
    Shard,
    Share,
    Whole,
    Word,
    Workers,
    dry_option,
    examples,
    json_option,
    judgements_option,
    law_option,
    limit_options,
    loaded,
    progress_option,
    seed_option,
    set_option,
    talk_options,
    verbose_option,
    where_option,
)
from lasthop.cli.talk import (
    complain,
    data,
    note,
    point_in_words,
    quiet,
    report,
    verbose,
    warn,
    warn_of_stopped,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lasthop.scenario.scenario import Scenario
    from lasthop.study.progress import Lines
    from lasthop.study.study import Study
    from lasthop.study.sweep import Sweep


TURNS = ", and threads take turns with it (--executor process does not)"


@click.command(
    "sweep",
    epilog=examples(
        "lasthop sweep ejtcp/fig10-baselines -s 'sweep.flows.main.tcp.variant=[reno, bbr]' -r 20 -o out",
        "lasthop sweep ejtcp/fig10-baselines --where 'links.r2-d.loss.rate<=2 %' --ci '2 %'",
    ),
)
@click.argument("scenario", type=Word(), shell_complete=completing.scenarios)
@set_option
@law_option
@where_option
@seed_option
@click.option("-r", "--replications", type=Whole(1), metavar="N", help="Runs per point.")
@click.option(
    "--ci",
    type=Share(),
    help="Replicate until the 95 % half-width of the figures' metrics is below this share of the mean: "
    "20 runs or -r, then more where it is not.",
)
@click.option(
    "--ci-of",
    type=Word(),
    default="mean",
    show_default=True,
    metavar="mean|median|pNN|KEY",
    shell_complete=completing.swept,
    help="What --ci narrows: means, medians, percentiles, or paired differences by a swept key.",
)
@click.option(
    "--max-replications",
    type=Whole(2),
    default=200,
    show_default=True,
    metavar="N",
    help="With --ci, maximum runs per point.",
)
@click.option("-j", "--jobs", type=Whole(1), metavar="N", help="Number of workers; default: all cores.")
@click.option(
    "--executor",
    type=Workers(),
    default="thread",
    show_default=True,
    help="Kind of workers; dask:// are those of a scheduler.",
)
@click.option("--shard", type=Shard(), help="Run only this part; see merge.")
@click.option("-o", "--out", type=Folder(), help="Study directory; default: studies/ID.")
@limit_options
@click.option(
    "--watch",
    "is_watched",
    is_flag=True,
    help="Serve a page on this computer that grows with the study, and open it in the browser.",
)
@click.option("--fresh", is_flag=True, help="Delete the stored runs of the study.")
@judgements_option
@progress_option
@dry_option
@json_option
@verbose_option
@talk_options
def sweep_command(
    scenario: str,
    settings: tuple[str, ...],
    where: tuple[str, ...],
    seed: int | None,
    replications: int | None,
    ci: float | None,
    ci_of: str,
    max_replications: int,
    jobs: int | None,
    executor: str,
    shard: tuple[int, int] | None,
    out: Path | None,
    max_events: int | None,
    max_wall: float | None,
    is_watched: bool,
    fresh: bool,
    judgements: bool,
    no_progress: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Run all points and replications of SCENARIO on all cores, and print the tables of its figures.

    Every run is stored when it ends. The same command after an interruption, or after a change of
    the scenario, executes only the missing runs.
    """
    from lasthop.cli.interrupt import interruptible
    from lasthop.laws.registered import used
    from lasthop.scenario.budget import admit
    from lasthop.study.idle import idle_keys
    from lasthop.study.precision import LEAST, Precision, check, wide
    from lasthop.study.progress import reporter
    from lasthop.study.study import Study
    from lasthop.study.sweep import Sweep, WorkersLostError, lost
    from lasthop.study.work import Limits

    if shard and ci:
        raise UsageError("cannot be combined with --ci; expected one of them", argument="shard")
    if ci_of != "mean" and not ci:
        raise UsageError(f'"{ci_of}" without --ci; expected --ci with it', argument="ci-of")
    chosen = loaded(scenario, settings)
    warn(chosen.warnings)
    part = f".shard-{shard[0]}-of-{shard[1]}" if shard else ""
    folder = out or Path("studies") / f"{chosen.id}{part}"
    least = min(replications or LEAST, max_replications)
    precision = Precision(ci, max_replications, least, ci_of) if ci else None
    if dry_run:
        _would(chosen, where, replications, folder, seed=seed, fresh=fresh, as_json=as_json)
        return
    admit(chosen, range(len(chosen.points())))
    study = Study.create(chosen, folder, replications=replications, seed=seed, where=where, fresh=fresh)
    if precision:
        check(study, precision, "ci-of")
    for remark in study.notes:
        note(f"note: {remark}")
    for law in used(chosen.text, tuple(chosen.overrides)):
        note(f'law "{law.name}" in Python is slow{TURNS if executor == "thread" else ""}')
    progress = reporter(quiet=quiet(), plain=no_progress)
    work = Sweep(
        study,
        jobs=jobs,
        limits=Limits(max_events, max_wall),
        precision=precision,
        shard=shard,
        listener=progress,
    )
    try:
        with interruptible(), _watched(work, progress) if is_watched else nullcontext():
            _carry_out(work, executor)
    except KeyboardInterrupt:
        done = sum(1 for _ in study.results())
        complain(
            f"interrupted: {done} of {study.size} runs are stored in {folder}; the same command continues"
        )
        _say_how(sys.argv[1:])
        raise click.exceptions.Exit(130) from None
    except BrokenExecutor as e:
        complain(lost(study, str(e)))
        _say_how(sys.argv[1:])
        raise click.exceptions.Exit(1) from None
    except WorkersLostError as e:
        complain(str(e))
        _say_how(sys.argv[1:])
        raise click.exceptions.Exit(1) from None
    note(progress.summary())
    for key in idle_keys(study):
        note(f"note: {key}: no run differs by its value")
    some_failed = _tell(study, judgements=judgements, as_json=as_json)
    missed = wide(study, precision) if precision else []
    if missed and precision:
        note(
            f"note: {len(missed)} of {len(study.plan)} points are not within ± {100 * precision.target:g} % "
            f"after {precision.most} runs (--max-replications)"
        )
    written(folder)
    if some_failed:
        raise click.exceptions.Exit(1)


@contextmanager
def _watched(work: Sweep, progress: Lines) -> Iterator[None]:
    """Serve a page about the sweep while it runs."""
    from lasthop.report.server import Server, show
    from lasthop.report.watch import Watch

    watch = Watch(work.study, progress)
    work.listener = watch
    with Server(watch) as server:
        written(f"watch the sweep at {server.address}")
        show(server.address)
        yield


def _carry_out(work: Sweep, executor: str) -> None:
    if executor == "thread":
        work.run()
        return
    from lasthop.study.remote import PREFIX, TASK_S, cluster

    if executor.startswith(PREFIX):
        with cluster(executor) as (there, cores):
            if not cores:
                note(f"{executor}: has no workers yet; the runs begin when one joins")
            work.executor, work.jobs = there, max(cores, work.jobs)
            work.batch_s = max(work.batch_s, cores * TASK_S)
            work.run()
        return
    from lasthop.cli.interrupt import attend

    # Not forked: a forked child would share the parent's threads' locks.
    context = multiprocessing.get_context("spawn")
    pool: Executor = ProcessPoolExecutor(work.jobs, mp_context=context, initializer=attend)
    work.executor = pool
    is_interrupted = False
    try:
        work.run()
    except KeyboardInterrupt:
        is_interrupted = True
        raise
    finally:
        # The pool has to forget what is cancelled before its workers are gone: it would try to fail that too,
        # and print that it cannot.
        pool.shutdown(wait=not is_interrupted, cancel_futures=is_interrupted)
        for child in multiprocessing.active_children() if is_interrupted else ():
            child.kill()


def _tell(study: Study, *, judgements: bool, as_json: bool) -> bool:
    """Print a summary of the runs and those that failed; return whether any did."""
    from lasthop.views.tables import study_json, study_text

    warn_of_stopped(study)
    if as_json:
        data(study_json(study))
    elif study.metrics():
        report(study_text(study, judgements=judgements or verbose()))
    failures = study.failures
    for failure in failures[: None if verbose() else 5]:
        point = f"point {failure.point} ({point_in_words(study.scenario, failure.point)})"
        complain(f"{point}, replication {failure.row.replication}: {failure.row.error}")
    if failures:
        note(f"{len(failures)} of {study.size} runs failed; the same command repeats them")
    return bool(failures)


def _would(
    scenario: Scenario,
    where: tuple[str, ...],
    count: int | None,
    folder: Path,
    *,
    seed: int | None,
    fresh: bool,
    as_json: bool,
) -> None:
    from lasthop.base.jsontext import dumps
    from lasthop.scenario.budget import largest

    every = scenario.points()
    left = scenario.select(where)
    bound = largest(scenario, left)
    count = count or scenario.replications
    runs = [(point, r) for point in left for r in range(count)]
    stored = 0 if fresh else _stored(scenario, runs, folder, seed)
    if as_json:
        plan = {
            "scenario": scenario.id,
            "file": scenario.name,
            "overrides": scenario.overrides,
            "points": [every[index] for index in left],
            "replications": count,
            "stored": stored,
            "out": str(folder),
            "events_max": bound.events,
            "memory_bytes_max": bound.memory_bytes,
        }
        data(dumps({"dry_run": True, **plan}))
        return
    note(
        f"would run {len(left)} points x {count} replications into {folder}"
        f"{f', of which {stored} runs are stored' if stored else ''}; each at most "
        f"{bound.events:.3g} events and {bound.memory_bytes / 1e6:.3g} MB",
    )


def _stored(scenario: Scenario, runs: list[tuple[int, int]], folder: Path, seed: int | None) -> int:
    """How many of these runs, as points and replications, a directory has, without those that failed."""
    from lasthop.study.study import Study

    try:
        study = Study.open(folder)
    except LasthopError:
        return 0
    if study.seed != (scenario.seed if seed is None else seed):
        return 0
    found = (study.runs.get((scenario.point_key(point), replication)) for point, replication in runs)
    return sum(row is not None and row.error is None for row in found)


def _say_how(arguments: list[str]) -> None:
    """Print the command that continues."""
    note("to continue:")
    note(f"  {shlex.join([program(), *_again(arguments)])}")


def _again(arguments: list[str]) -> list[str]:
    """The arguments that continue an interrupted sweep: the same, but not from the start."""
    return [a for a in arguments if a != "--fresh"]
