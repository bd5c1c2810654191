"""Commands that hold lasthop against something: reproduce, check, bench, test."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.cli import completing
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
    from lasthop.papers.paper import Paper

MISSED = 3


@click.command(
    "reproduce",
    epilog=examples(
        "lasthop reproduce --quick",
        "lasthop reproduce load-adaptive --search --runs 50000",
    ),
)
@click.argument("ids", nargs=-1, type=Word(), metavar="[ID]...", shell_complete=completing.papers)
@click.option("--quick", is_flag=True, help="Fewer points and replications, the reading on record alone.")
@click.option("--list", "listing", is_flag=True, help="List the ids and stop.")
@click.option("--summary", is_flag=True, help="Count the statements on record by verdict; nothing is run.")
@click.option(
    "--record", is_flag=True, help="Put the results on record in papers/ID.results.toml, and make its pages."
)
@click.option("--readings", is_flag=True, help="Judge the claims under every reading listed, instead.")
@click.option(
    "--reading", "names", multiple=True, metavar="NAME", help="Under this reading alone, repeatable."
)
@click.option("--search", "searching", is_flag=True, help="Draw combinations of readings, instead.")
@click.option("--runs", type=Whole(1), metavar="N", help="With --search, the budget; without it the paper's.")
@click.option("--seed", type=Whole(0), metavar="N", help="With --search, by which combinations are drawn.")
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
    summary: bool,
    record: bool,
    readings: bool,
    names: tuple[str, ...],
    searching: bool,
    runs: int | None,
    seed: int | None,
    jobs: int | None,
    out: Path,
    no_progress: bool,
    as_json: bool,
) -> None:
    """Rebuild the figures of the papers named, or of all, and judge what they state.

    Each statement gets a verdict: agrees, by reading (under another reading than that of the
    figures), cannot tell, differs; -v shows its claims. The exit code is 3 if a verdict is worse
    than the one on record in papers/ID.results.toml.
    """
    from lasthop.base import paths
    from lasthop.base.errors import UsageError
    from lasthop.papers import paper as book

    if listing:
        _list([book.paper(name) for name in book.known()], as_json=as_json)
        return
    if record and paths.checkout() is None:
        raise UsageError(
            "found no checkout, whose papers/ID.results.toml has the record; expected ./lasthop reproduce "
            "inside one",
            argument="record",
        )
    if record and quick:
        raise UsageError("a quick run is too coarse for the record; expected no --quick", argument="record")
    if not searching and (runs is not None or seed is not None):
        raise UsageError(
            "without --search; expected both or neither", argument="seed" if runs is None else "runs"
        )
    if readings or names or searching:
        given = "search" if searching else "readings"
        if quick or len(ids) != 1 or (record and names) or (searching and (readings or names)):
            raise UsageError(
                f"with {len(ids)} IDs; expected one, no --quick, and --record without --reading alone",
                argument=given,
            )
        one = book.paper(ids[0])
        if searching:
            _search(one, out, seed=seed, runs=runs, record=record, jobs=jobs, as_json=as_json)
        else:
            _readings(one, names, out, record=record, jobs=jobs, plain=no_progress, as_json=as_json)
        return
    wanted = [book.paper(name) for name in ids or book.known()]
    if summary:
        _summary(wanted, record=record, as_json=as_json)
        return
    _reproduce(wanted, out, quick=quick, record=record, jobs=jobs, plain=no_progress, as_json=as_json)


def _list(papers: list[Paper], *, as_json: bool) -> None:
    from lasthop.base.jsontext import dumps
    from lasthop.base.table import grid

    if as_json:
        keys = ("id", "title", "statements", "claims")
        rows = ((p.id, p.title, len(p.statements), len(p.claims)) for p in papers)
        data(dumps([dict(zip(keys, row, strict=True)) for row in rows]))
    else:
        rows_ = [[p.id, str(len(p.statements)), str(len(p.claims)), p.title] for p in papers]
        data(grid(["id", "statements", "claims", "title"], rows_))


def _summary(wanted: list[Paper], *, record: bool, as_json: bool) -> None:
    """Count the statements on record; with `record` the pages are generated from the recorded results."""
    from lasthop.base.jsontext import dumps
    from lasthop.base.table import grid
    from lasthop.papers import page
    from lasthop.papers.statements import STATEMENT_VERDICTS, counts

    found = {one.id: counts(one.rows()) for one in wanted}
    if as_json:
        data(dumps([{"paper": ident, "statements": sum(n.values()), **n} for ident, n in found.items()]))
    else:
        rows = [[ident, *map(str, (sum(n.values()), *n.values()))] for ident, n in found.items()]
        data(grid(["paper", "statements", *STATEMENT_VERDICTS], rows))
    for one in wanted if record else ():
        for path in page.record(one):
            written(path)


def _reproduce(
    wanted: list[Paper],
    out: Path,
    *,
    quick: bool,
    record: bool,
    jobs: int | None,
    plain: bool,
    as_json: bool,
) -> None:
    import os
    import time

    from lasthop.base.jsontext import dumps
    from lasthop.base.quantity import duration
    from lasthop.cli.interrupt import interruptible
    from lasthop.papers import reproduce as book
    from lasthop.study.progress import reporter

    begun = time.monotonic()
    note(book.expected(wanted, quick=quick, jobs=jobs or os.cpu_count() or 1))
    results = []
    for one in wanted:
        note(f"{one.id}: {one.title}")
        with interruptible():
            result = book.reproduce(
                one, out, quick=quick, jobs=jobs, progress=lambda: reporter(quiet=quiet(), plain=plain)
            )
        results.append(result)
        if not as_json:
            report(result.text(paint))
            if verbose():
                report(f"\n{result.text(paint, claims=True)}")
    if as_json:
        documents = [result.as_dict() for result in results]
        data(dumps(documents[0] if len(documents) == 1 else {"papers": documents}))
    for folder in (folder for result in results for folder in result.folders):
        written(folder)
    # Before the record is written, since they are compared with it.
    sentences = [result.summary() for result in results]
    worse = [ident for result in results for ident in result.worse()]
    for path in (path for result in results if record for path in book.record(result)):
        written(path)
    for sentence in sentences:
        note(sentence)
    if worse:
        note(f"{len(worse)} verdicts are worse than recorded: {', '.join(worse)}")
    note(f"{len(results)} done in {duration(time.monotonic() - begun)}")
    if worse and not record:
        raise click.exceptions.Exit(MISSED)


def _search(
    one: Paper,
    out: Path,
    *,
    seed: int | None,
    runs: int | None,
    record: bool,
    jobs: int | None,
    as_json: bool,
) -> None:
    from lasthop.base.jsontext import dumps
    from lasthop.cli.interrupt import interruptible
    from lasthop.papers import search

    with interruptible():
        result = search.search(one, out, jobs=jobs, seed=seed, runs=runs, say=note)
    if as_json:
        data(dumps(result.as_dict()))
    else:
        report(result.text())
    note(result.summary())
    for path in search.record(result) if record else ():
        written(path)


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
    from lasthop.papers import page, readings
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
        one.results.readings |= {reading.id: found for reading, found in result.found}
        for path in page.record(one):
            written(path)


@click.command(
    "check",
    epilog=examples(
        "lasthop check scenarios/ejtcp/fig10-baselines.toml",
        "lasthop check ejtcp/fig10-baselines --theory -s 'links.r1-r2.rate=50 Mbit/s'",
    ),
)
@click.argument(
    "scenarios", nargs=-1, type=Word(), metavar="[SCENARIO]...", shell_complete=completing.scenarios
)
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
