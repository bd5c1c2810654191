"""Commands that hold lasthop against something: reproduce, check, bench, test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.cli.options import (
    Choice,
    Place,
    Share,
    Whole,
    Word,
    examples,
    json_option,
    loaded,
    no_bar_option,
    progress_option,
    set_option,
    talk_options,
    verbose_option,
    where_option,
)
from lasthop.cli.talk import data, note, paint, quiet, report, verbose, warn, written

if TYPE_CHECKING:
    from lasthop.papers.reproduce import Paper

MISSED = 3


@click.command(
    "reproduce",
    epilog=examples("lasthop reproduce --quick", "lasthop reproduce baselines --json"),
)
@click.argument("ids", nargs=-1, type=Word(), metavar="[ID]...")
@click.option("--quick", is_flag=True, help="Fewer points and replications.")
@click.option("--list", "listing", is_flag=True, help="List the ids and stop.")
@click.option("--record", is_flag=True, help="Put the verdicts on record in papers/ID.md of a checkout.")
@click.option("--readings", is_flag=True, help="Judge the claims under every reading listed, instead.")
@click.option(
    "--reading", "names", multiple=True, metavar="NAME", help="Under this reading alone, repeatable."
)
@click.option("-j", "--jobs", type=Whole(1), metavar="N", help="Workers; all cores without it.")
@click.option(
    "-o",
    "--out",
    type=Place(),
    default="studies/reproduce",
    show_default=True,
    help="Directory for the studies.",
)
@progress_option
@json_option
@verbose_option
@talk_options
def reproduce_command(
    ids: tuple[str, ...],
    quick: bool,
    listing: bool,
    record: bool,
    readings: bool,
    names: tuple[str, ...],
    jobs: int | None,
    out: Path,
    no_progress: bool,
    as_json: bool,
) -> None:
    """Rebuild the figures of the papers named, or of all, and compare.

    Each claim gets a verdict: agrees, cannot tell, differs. The exit code is 3 if one is worse
    than the verdict on record in papers/ID.md.
    """
    from lasthop.base import paths
    from lasthop.base.errors import UsageError
    from lasthop.base.jsontext import dumps
    from lasthop.cli.interrupt import interruptible
    from lasthop.papers import reproduce as book
    from lasthop.study.progress import reporter

    if listing:
        _list([book.paper(name) for name in book.known()], as_json=as_json)
        return
    if record and paths.checkout() is None:
        raise UsageError(
            "found no checkout, whose papers/ID.md has the record; expected ./lasthop reproduce inside one",
            argument="record",
        )
    if record and quick:
        raise UsageError("a quick run is too coarse for the record; expected no --quick", argument="record")
    if readings or names:
        if quick or len(ids) != 1 or (record and names):
            raise UsageError(
                f"with {len(ids)} IDs; expected one, no --quick, and --record without --reading alone",
                argument="readings",
            )
        _readings(
            book.paper(ids[0]), names, out, record=record, jobs=jobs, plain=no_progress, as_json=as_json
        )
        return
    wanted = [book.paper(name) for name in ids or book.known()]
    results = []
    for one in wanted:
        note(f"{one.id}: {one.title}")
        with interruptible():
            result = book.reproduce(
                one,
                out,
                quick=quick,
                jobs=jobs,
                progress=lambda: reporter(quiet=quiet(), plain=no_progress),
            )
        results.append(result)
        if not as_json:
            report(result.text(paint))
            if verbose():
                note("\n".join(f"{f.claim.id}: {f.claim.text}" for f in result.findings))
        if record:
            book.record(result)
            written(one.report)
    if as_json:
        documents = [result.as_dict() for result in results]
        data(dumps(documents[0] if len(documents) == 1 else {"papers": documents}))
    worse = [finding for result in results for finding in result.worse()]
    if worse and not record:
        note(f"{len(worse)} verdicts are worse than recorded: {', '.join(f.claim.id for f in worse)}")
    for result in results:
        for folder in result.folders:
            written(folder)
    if worse and not record:
        raise click.exceptions.Exit(MISSED)


def _list(papers: list[Paper], *, as_json: bool) -> None:
    from lasthop.base.jsontext import dumps
    from lasthop.base.table import grid

    if as_json:
        data(dumps([{"id": p.id, "title": p.title, "claims": len(p.claims)} for p in papers]))
    else:
        data(grid(["id", "claims", "title"], [[p.id, str(len(p.claims)), p.title] for p in papers]))


def _readings(
    one: Paper,
    names: tuple[str, ...],
    out: Path,
    *,
    record: bool,
    jobs: int | None,
    plain: bool,
    as_json: bool,
) -> None:
    from lasthop.base.jsontext import dumps
    from lasthop.cli.interrupt import interruptible
    from lasthop.papers import readings
    from lasthop.study.progress import reporter

    with interruptible():
        result = readings.judge_all(
            one, out, names=names, jobs=jobs, progress=lambda _: reporter(quiet=quiet(), plain=plain)
        )
    if as_json:
        data(dumps(result.as_dict()))
    else:
        report(result.text())
    if record:
        readings.record(result)
        written(one.report)


@click.command(
    "check",
    epilog=examples(
        "lasthop check scenarios/ejtcp/fig10-baselines.toml",
        "lasthop check ejtcp/fig10-baselines --theory -s 'links.r1-r2.rate=50 Mbit/s'",
    ),
)
@click.argument("scenarios", nargs=-1, type=Word(), metavar="[SCENARIO]...")
@set_option
@where_option
@click.option("--theory", is_flag=True, help="Run the points and print PFTK and Mathis beside them.")
@click.option(
    "-r",
    "--replications",
    type=Whole(1),
    default=3,
    show_default=True,
    metavar="N",
    help="With --theory, runs of every point.",
)
@click.option("--tolerance", type=Share(), help="With --theory, what Reno may be off; 10 to 15 % without it.")
@no_bar_option
@json_option
@talk_options
def check_command(
    scenarios: tuple[str, ...],
    settings: tuple[str, ...],
    where: tuple[str, ...],
    theory: bool,
    replications: int,
    tolerance: float | None,
    as_json: bool,
) -> None:
    """Validate SCENARIO, or all that are shipped: every point, and what a run may cost."""
    from lasthop.base.errors import UsageError
    from lasthop.base.jsontext import dumps
    from lasthop.base.paths import shipped
    from lasthop.cli.interrupt import interruptible
    from lasthop.scenario import check

    if theory and len(scenarios) != 1:
        raise UsageError("needs a scenario; expected exactly one", argument="theory")
    missed = 0
    documents = []
    for name in scenarios or map(str, shipped().values()):
        scenario = loaded(name, settings)
        found = check.validate(scenario)
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
    if missed:
        note(f"{missed} rates are farther from PFTK than allowed")
        raise click.exceptions.Exit(MISSED)


@click.command("bench", epilog=examples("lasthop bench", "lasthop bench newreno-1pct --peer ns2 --json"))
@click.argument("cases", nargs=-1, type=Word(), metavar="[CASE]...")
@click.option("--peer", type=Choice(["ns2"]), help="Run the same in a peer, if it is installed.")
@click.option("--list", "listing", is_flag=True, help="List the cases and stop.")
@no_bar_option
@json_option
@talk_options
def bench_command(
    cases: tuple[str, ...],
    peer: str | None,
    listing: bool,
    as_json: bool,
) -> None:
    """Measure CPU time, events, packets and peak memory on the cases of a checkout's bench/, all or some."""
    from lasthop.base.jsontext import dumps
    from lasthop.base.table import grid
    from lasthop.tools import agentcost, bench, lawcost

    found = bench.cases(cases)
    if listing:
        data(grid(["case", "title"], [[case.name, case.title] for case in found]))
        return
    lines: list[bench.Measured] = []
    costs: list[agentcost.Cost] = []
    laws: list[lawcost.LawCost] = []
    for case in found:
        note(f"{case.name}: {case.title}")
        if isinstance(case, agentcost.AgentCase):
            costs += case.measure()
            continue
        if isinstance(case, lawcost.LawCase):
            laws += case.measure()
            continue
        lines += bench.measure(case)
        why = bench.no_peer(case)
        if peer and why:
            note(f"{case.name}: no ns-2 beside it: {why}")
        elif peer:
            lines.append(bench.peer(case))
    if as_json:
        documents = [line.as_dict() for line in lines]
        documents += [cost.as_dict() for cost in costs]
        documents += [cost.as_dict() for cost in laws]
        data(dumps(documents))
        return
    if lines:
        report(bench.text(lines))
    if costs:
        report(agentcost.text(costs))
    if laws:
        report(lawcost.text(laws))


@click.command(
    "test",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    add_help_option=False,
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@click.pass_context
def test_command(ctx: click.Context, arguments: tuple[str, ...]) -> None:
    """Run the checks of a checkout: lints, types, Rust and Python tests."""
    from lasthop.tools.testing import main

    ctx.exit(main(list(arguments)))
