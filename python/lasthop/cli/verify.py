"""Commands that compare lasthop with a reference: reproduce, bench."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.cli import completing
from lasthop.cli.options import (
    Choice,
    Folder,
    Whole,
    Word,
    examples,
    json_option,
    no_bar_option,
    progress_option,
    talk_options,
    verbose_option,
)
from lasthop.cli.talk import data, note, paint, quiet, report, verbose, written

if TYPE_CHECKING:
    from lasthop.papers.paper import Paper
    from lasthop.papers.reproduce import Reproduction

MISSED = 3
# How many verdicts are named that are worse than recorded; the paragraphs name those of each paper.
_FEW = 8


@click.command(
    "reproduce",
    epilog=examples(
        "lasthop reproduce --quick",
        "lasthop reproduce load-adaptive --search --runs 50000",
    ),
)
@click.argument("ids", nargs=-1, type=Word(), metavar="[ID]...", shell_complete=completing.papers)
@click.option(
    "--quick", is_flag=True, help="Run fewer points and replications, under the reading of the figures only."
)
@click.option("--list", "listing", is_flag=True, help="List the ids and exit.")
@click.option("--summary", is_flag=True, help="Count the recorded statements by verdict; run nothing.")
@click.option(
    "--record",
    is_flag=True,
    help="Record the results in papers/ID.results.toml and update its pages; with --quick, what ten quick "
    "runs give, with which others are compared.",
)
@click.option("--readings", is_flag=True, help="Judge the claims under every listed reading instead.")
@click.option(
    "--reading",
    "names",
    multiple=True,
    metavar="NAME",
    help="Judge the claims under this reading only; repeatable.",
)
@click.option("--search", "searching", is_flag=True, help="Search combinations of readings instead.")
@click.option(
    "--runs",
    type=Whole(1),
    metavar="N",
    help="With --search, the maximum number of runs; default: that of the paper.",
)
@click.option("--seed", type=Whole(0), metavar="N", help="With --search, the seed of the combinations.")
@click.option("-j", "--jobs", type=Whole(1), metavar="N", help="Number of workers; default: all cores.")
@click.option(
    "-o",
    "--out",
    type=Folder(),
    default="studies/reproduce",
    show_default=True,
    help="Directory for the studies and the pages.",
)
@click.option("--no-pages", is_flag=True, help="Write no pages.")
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
    no_pages: bool,
    no_progress: bool,
    as_json: bool,
) -> None:
    """Reproduce the figures of the papers with these IDs, or of all papers, and judge their statements.

    DIR/index.html, the last line printed, shows what was found, with a page for each paper.

    Each statement gets a verdict: agrees, by reading (it agrees only under another reading than
    that of the figures), cannot tell, or differs; -v prints the statements, -vv also the claims that
    judge them and the directories of the studies. A quick run confirms the verdicts on record or does
    not. The exit code is 3 if a verdict is worse than the recorded one in papers/ID.results.toml.
    """
    from lasthop.base import paths
    from lasthop.base.errors import UsageError
    from lasthop.papers import paper as book

    if listing:
        _list([book.paper(name) for name in book.known()], as_json=as_json)
        return
    if record and paths.checkout() is None:
        raise UsageError(
            "lasthop does not run from a checkout, which contains papers/ID.results.toml; expected "
            "./lasthop reproduce in a checkout",
            argument="record",
        )
    if not searching and (runs is not None or seed is not None):
        raise UsageError(
            "applies only to --search; expected --search too", argument="seed" if runs is None else "runs"
        )
    if readings or names or searching:
        given = "search" if searching else "readings"
        if quick or len(ids) != 1 or (searching and (readings or names)):
            raise UsageError(
                f"{len(ids)} IDs; expected exactly one, without --quick, and --search without readings",
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
    if quick and record:
        _record_quick(wanted, out, jobs=jobs, plain=no_progress)
        return
    _reproduce(
        wanted,
        out,
        quick=quick,
        record=record,
        jobs=jobs,
        pages=not no_pages,
        plain=no_progress,
        as_json=as_json,
    )


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
    """Count the recorded statements; with `record`, rewrite the pages from the recorded results."""
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


def _record_quick(wanted: list[Paper], out: Path, *, jobs: int | None, plain: bool) -> None:
    """Record what quick runs of several seeds give."""
    from lasthop.cli.interrupt import interruptible
    from lasthop.papers import reproduce as book
    from lasthop.study.progress import reporter

    for one in wanted:
        with interruptible():
            path = book.record_quick(
                one, out, jobs=jobs, progress=lambda: reporter(quiet=quiet(), plain=plain)
            )
        written(path)


def _reproduce(
    wanted: list[Paper],
    out: Path,
    *,
    quick: bool,
    record: bool,
    jobs: int | None,
    pages: bool,
    plain: bool,
    as_json: bool,
) -> None:
    import os
    import shutil
    import time

    from lasthop.base.jsontext import dumps
    from lasthop.base.quantity import duration
    from lasthop.cli.interrupt import interruptible
    from lasthop.papers import reproduce as book
    from lasthop.papers import terminal
    from lasthop.papers.claims import READING
    from lasthop.study.progress import reporter

    begun = time.monotonic()
    note(book.expected(wanted, quick=quick, jobs=jobs or os.cpu_count() or 1))
    among = sum(claim.role != READING for one in wanted for claim in one.claims)
    width = min(120, shutil.get_terminal_size((100, 24)).columns)
    results = []
    for one in wanted:
        with interruptible():
            result = book.reproduce(
                one,
                out,
                quick=quick,
                jobs=jobs,
                progress=lambda: reporter(quiet=quiet(), plain=plain),
                among=among,
            )
        results.append(result)
        if not as_json:
            report(f"{terminal.paragraph(result, width, paint)}\n")
            if verbose():
                report(f"{terminal.statements(result, width, paint)}\n")
            if verbose(2):
                report(f"{result.text(paint)}\n")
    if as_json:
        documents = [result.as_dict() for result in results]
        data(dumps(documents[0] if len(documents) == 1 else {"papers": documents}))
    elif len(results) > 1:
        report(terminal.overview(results))
    for folder in (folder for result in results if verbose(2) for folder in result.folders):
        written(folder)
    # Before the record is overwritten: these compare with it.
    worse = [ident for result in results for ident in result.worse()]
    for path in (path for result in results if record for path in book.record(result)):
        written(path)
    if worse:
        verdicts = "1 verdict is" if len(worse) == 1 else f"{len(worse)} verdicts are"
        more = f" and {len(worse) - _FEW} more" if len(worse) > _FEW else ""
        note(f"{verdicts} worse than recorded: {', '.join(worse[:_FEW])}{more}")
    index = _pages(results, out) if pages else None
    papers = "1 paper" if len(results) == 1 else f"{len(results)} papers"
    note(f"{papers} reproduced in {duration(time.monotonic() - begun)}")
    if index is not None:
        written(index)
        if sys.stdout.isatty() and not quiet() and not as_json:
            from lasthop.report.server import show

            show(index.resolve().as_uri(), wait_s=3.0)
    if worse and not record:
        raise click.exceptions.Exit(MISSED)


def _said(result: Reproduction) -> dict[str, str]:
    """What quick runs say of each statement, with what they measured."""
    from lasthop.papers import terminal

    return {row.statement.id: terminal.these(result, row) for row in result.rows()}


def _pages(results: list[Reproduction], out: Path) -> Path:
    """Write the pages of the papers and the index."""
    from lasthop.cli.interrupt import interruptible
    from lasthop.report.papers import Ran, pages

    every = [Ran(it.paper, it.outcomes, it.quick, it.folder, _said(it) if it.quick else {}) for it in results]
    with interruptible():
        return pages(every, out)


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
        one.results.noted(f"readings.{reading.id}" for reading, _ in result.found)
        for path in page.record(one):
            written(path)


@click.command("bench", epilog=examples("lasthop bench", "lasthop bench newreno-1pct --peer ns2 --json"))
@click.argument("cases", nargs=-1, type=Word(), metavar="[CASE]...")
@click.option(
    "--peer", type=Choice(["ns2", "ns3"]), help="Run the same cases in this simulator, if it is installed."
)
@click.option("--list", "listing", is_flag=True, help="List the cases and exit.")
@no_bar_option
@json_option
@talk_options
def bench_command(
    cases: tuple[str, ...],
    peer: str | None,
    listing: bool,
    as_json: bool,
) -> None:
    """Measure CPU time, events, packets and peak memory on all or some cases in bench/ of a checkout."""
    from lasthop.base.jsontext import dumps
    from lasthop.base.table import grid
    from lasthop.tools import agentcost, bench, gymcost, lawcost

    found = bench.cases(cases)
    if listing:
        data(grid(["case", "title"], [[case.name, case.title] for case in found]))
        return
    lines: list[bench.Measured] = []
    costs: list[agentcost.Cost] = []
    laws: list[lawcost.LawCost] = []
    steps: list[gymcost.GymCost] = []
    for case in found:
        note(f"{case.name}: {case.title}")
        if isinstance(case, agentcost.AgentCase):
            costs += case.measure()
            continue
        if isinstance(case, lawcost.LawCase):
            laws += case.measure()
            continue
        if isinstance(case, gymcost.GymCase):
            if gymcost.is_possible():
                steps += case.measure()
            else:
                note(f"{case.name}: not measured: gymnasium is not installed")
            continue
        lines += bench.measure(case)
        if peer:
            why = bench.no_peer(case, peer)
            if why:
                note(f"{case.name}: not compared with {bench.PEERS[peer][0]}: {why}")
            else:
                lines += bench.peers(case, peer)
    if as_json:
        documents = [line.as_dict() for line in lines]
        documents += [cost.as_dict() for cost in costs]
        documents += [cost.as_dict() for cost in laws]
        documents += [cost.as_dict() for cost in steps]
        data(dumps(documents))
        return
    if lines:
        report(bench.text(lines))
    if costs:
        report(agentcost.text(costs))
    if laws:
        report(lawcost.text(laws))
    if steps:
        report(gymcost.text(steps))
