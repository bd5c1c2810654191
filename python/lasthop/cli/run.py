"""`lasthop run`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.cli import completing
from lasthop.cli.options import (
    Folder,
    Whole,
    Word,
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
from lasthop.cli.recording import captures, channels, expect_separate, pcap_option, prepare, trace_option
from lasthop.cli.talk import data, note, point_in_words, quiet, report, verbose, warn, written

if TYPE_CHECKING:
    from collections.abc import Mapping

    from lasthop.scenario.scenario import Run, Scenario


@click.command(
    "run",
    epilog=examples(
        "lasthop run ejtcp/fig10-baselines -s flows.main.tcp.variant=reno --trace cwnd,rtt",
        "lasthop run ejtcp/fig10-baselines -s 'links.r2-d.loss.rate=1 %' --pcap r2-d=last.pcap --json",
    ),
)
@click.argument("scenario", type=Word(), shell_complete=completing.scenarios)
@set_option
@law_option
@where_option
@seed_option
@click.option("--replication", type=Whole(0), default=0, help="The replication.")
@click.option("--point", type=Whole(0), help="The point of the sweep; default: the first.")
@trace_option
@pcap_option
@click.option("--qlog", type=Folder(), help="Directory for the qlogs of flows over QUIC.")
@click.option("-o", "--out", type=Folder(), help="Directory for run.json and traces.")
@limit_options
@judgements_option
@progress_option
@dry_option
@json_option
@verbose_option
@talk_options
def run_command(
    scenario: str,
    settings: tuple[str, ...],
    where: tuple[str, ...],
    seed: int | None,
    replication: int,
    point: int | None,
    trace: str | None,
    pcaps: tuple[str, ...],
    qlog: Path | None,
    out: Path | None,
    max_events: int | None,
    max_wall: float | None,
    judgements: bool,
    no_progress: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Simulate one point of SCENARIO once and print it at a glance; with -v, all metrics.

    SCENARIO is a file, a directory with a scenario.toml, or an id such as
    ejtcp/fig10-baselines. Of a sweep, the first point that -s and --where select is run.
    """
    from lasthop.base.jsontext import dumps
    from lasthop.base.paths import find, protect
    from lasthop.cli.interrupt import interruptible
    from lasthop.scenario.budget import admit
    from lasthop.scenario.kept import keep
    from lasthop.study.progress import of_one_run

    chosen = loaded(scenario, settings)
    warn(chosen.warnings)
    left = chosen.select(where)
    index = left[0] if point is None else point
    recorded = chosen.check_trace(channels(trace), index)
    admit(chosen, [index])
    if dry_run:
        _would(chosen, index, chosen.seed if seed is None else seed, replication, as_json=as_json)
        return
    captured = captures(chosen, index, pcaps)
    folder = out or (Path("runs") / chosen.id if recorded else None)
    expect_separate(captured, is_silent=quiet() and not as_json)
    for path in captured.values():
        protect(path, find(scenario))
    prepare(folder, captured)
    chosen_seed = chosen.seed if seed is None else seed
    note(
        f"{chosen.id}: point {index} of {len(chosen.points())} ({point_in_words(chosen, index)}), "
        f"seed {chosen_seed}, replication {replication}"
    )
    progress = of_one_run(not quiet(), lambda: chosen.duration_s(index), plain=no_progress)
    with interruptible(), progress as heard:
        done = chosen.run(
            seed,
            replication,
            index,
            trace=recorded,
            pcap=captured or None,
            max_events=max_events,
            max_wall_s=max_wall,
            qlog=qlog,
            progress=heard,
        )
    _note_run(done)
    if as_json:
        data(dumps(done.as_dict()))
    else:
        report(_everything(done) if verbose() else _glance(done, judgements=judgements))
    for path in captured.values():
        written(path)
    if qlog is not None:
        written(qlog)
    if folder is not None:
        keep(done, folder)
        written(folder)


def _would(chosen: Scenario, index: int, seed: int, replication: int, *, as_json: bool) -> None:
    """Say what would be run."""
    from lasthop.base.jsontext import dumps

    bound = chosen.estimate(index)
    if as_json:
        plan = {
            "scenario": chosen.id,
            "file": chosen.name,
            "overrides": chosen.overrides,
            "point": chosen.points()[index],
            "seed": seed,
            "replication": replication,
            "events_max": bound.events,
            "memory_bytes_max": bound.memory_bytes,
        }
        data(dumps({"dry_run": True, **plan}))
        return
    note(
        f"would run point {index} of {chosen.id} ({point_in_words(chosen, index)}), seed {seed}, replication "
        f"{replication}: at most {bound.events:.3g} events and {bound.memory_bytes / 1e6:.3g} MB"
    )


def _note_run(done: Run) -> None:
    each = done.cpu_s / done.events * 1e9 if done.events else 0.0
    note(f"{done.events} events in {done.wall_s:.2f} s, {each:.0f} ns each")
    for name, use in done.laws.items():
        note(f'law "{name}" in Python is slow: {use.us_per_ack:.2f} us for each of {use.acks} ACKs')
    if done.stopped:
        warmup = done.scenario.resolved(done.point)["run.warmup"]["value"]
        measured = done.simulated_s > (done.scenario.numeric("run.warmup", warmup) or 0.0)
        covers = "the metrics cover this time" if measured else "nothing is measured within the warm-up"
        note(f"stopped by {done.stopped} after {done.simulated_s:g} simulated seconds; {covers}")


def _glance(done: Run, *, judgements: bool) -> str:
    """The run at a glance, and the judgements of laws if requested."""
    from lasthop.views import glance

    blocks = [glance.of_run(done)]
    if judgements:
        from lasthop.views.losses import of_run

        blocks.append(of_run(done.metrics) or "no law classifies losses")
    note(f"{len(done.metrics)} metrics; -v prints all")
    return "\n\n".join([*blocks, *_holes(done), *done.notes()])


def _everything(done: Run) -> str:
    """All metrics, the ledgers of airtime, the judgements of laws and the results of users."""
    from lasthop.scenario.airtime import CLASSES, metric
    from lasthop.views import classes
    from lasthop.views.glance import by_scope
    from lasthop.views.losses import of_run

    books = done.airtime()
    booked = {metric(book.link, name) for book in books for name in (*CLASSES, "concurrent")}
    shown = {name: value for name, value in done.metrics.items() if name not in booked}
    scopes = by_scope(shown)
    judged = of_run(done.metrics)
    tables = [text for text in (judged, classes.of_run(done)) if text]
    listed = [_scope(scope, values) for scope, values in scopes.items()]
    blocks = [*listed, *map(str, books), *tables]
    return "\n\n".join([*blocks, *_holes(done), *done.notes()])


def _scope(scope: str, values: Mapping[str, float | None]) -> str:
    """All metrics of one flow, link, node or agent, or of the run."""
    from lasthop.base.quantity import human, metric_unit
    from lasthop.base.table import grid

    front = "" if scope == "run" else f"{scope}."
    names = {f"{front}{name}": value for name, value in values.items()}
    return grid([scope, "value"], [[name, human(value, metric_unit(name))] for name, value in names.items()])


def _holes(done: Run) -> list[str]:
    """For each flow whose packets were traced, those that were sent again because of duplicates."""
    if "tcp" not in done.traces():
        return []
    from lasthop.views import packets

    found = packets.holes_by_flow(done.trace("tcp").chunks)
    told = ((flow, packets.table(holes)) for flow, holes in found.items() if holes)
    return [f"losses of {flow} detected by duplicate ACKs\n{table}" for flow, table in told]
