"""The command on suites: suite."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from lasthop.base.errors import UsageError, nearest
from lasthop.cli import completing
from lasthop.cli.options import (
    Folder,
    Place,
    Whole,
    Word,
    examples,
    json_option,
    progress_option,
    talk_options,
)
from lasthop.cli.talk import data, note, paint, quiet, report, written

if TYPE_CHECKING:
    from lasthop.suites.cases import Suite
    from lasthop.suites.measured import Results

FAILED = 1


@click.command(
    "suite",
    epilog=examples(
        "lasthop suite rfc9743 --law bbr3",
        "lasthop suite rfc9743 --law mine=laws.py:Mine -o studies/mine",
    ),
)
@click.argument("name", required=False, type=Word(), metavar="[SUITE]", shell_complete=completing.suites)
@click.option(
    "--law",
    "laws",
    type=Word(),
    multiple=True,
    metavar="NAME|[NAME=]MODULE:CLASS",
    help="The law under test, also a congestion law in Python; repeatable. Default: all laws of the suite.",
)
@click.option(
    "--verify",
    "old",
    type=Place(),
    metavar="FILE",
    help="Measure the laws of this results.json again and compare: the exit code is 1 if a value differs.",
)
@click.option("--record", is_flag=True, help="Publish the results of all laws, in a checkout.")
@click.option("-j", "--jobs", type=Whole(1), metavar="N", help="Number of workers; default: all cores.")
@click.option("-o", "--out", type=Folder(), help="Directory of the studies; default: studies/suite-SUITE.")
@progress_option
@json_option
@talk_options
def suite_command(
    name: str | None,
    laws: tuple[str, ...],
    old: Path | None,
    record: bool,
    jobs: int | None,
    out: Path | None,
    no_progress: bool,
    as_json: bool,
) -> None:
    """Judge a law by the cases of SUITE; list the suites without it.

    A suite is a fixed set of scenarios with demands on what a law does, most of them relative to a standard
    one: a congestion law to CUBIC, a law of a queue to tail drop. One law is shown with its values and its
    place among the published laws, several as a table of verdicts. OUT/index.html shows them all, and
    OUT/results.json holds the values. An interrupted suite continues.
    """
    from lasthop.suites import cases, measured, page
    from lasthop.suites.judged import default

    if old is not None:
        if record:
            raise UsageError("cannot be combined with --verify; expected one of them", argument="record")
        _verify(measured.read(old), name, laws, jobs, out, plain=no_progress)
        return
    if name is None:
        _list(as_json=as_json)
        return
    chosen = cases.suite(name)
    if record:
        _record(chosen, laws, jobs, out, plain=no_progress)
        return
    found = _measure(chosen, _named(chosen, laws) or chosen.laws, jobs, out, plain=no_progress)
    known = measured.published(chosen)
    page.write(chosen, found, file := (out or default(chosen)) / "index.html", known)
    if as_json:
        data(found.text().rstrip())
    else:
        _tell(chosen, found, known)
    written(file)


def _list(*, as_json: bool) -> None:
    from lasthop.base.jsontext import dumps
    from lasthop.base.table import grid
    from lasthop.suites import cases

    every = [cases.suite(name) for name in cases.known()]
    if as_json:
        data(dumps([{"id": one.id, "version": one.version, "cases": len(one.cases)} for one in every]))
        return
    head = ["suite", "version", "cases", "title"]
    report(grid(head, [[one.id, str(one.version), str(len(one.cases)), one.title] for one in every]))


def _named(chosen: Suite, laws: tuple[str, ...]) -> list[str]:
    """The names of the laws under test; those in Python are registered."""
    from lasthop.laws.registered import installed, named

    of_packages = list(installed()) if chosen.is_of_congestion else []
    for law in laws:
        is_class = chosen.is_of_congestion and set(law) & set("=:/.")
        if not is_class and law not in {*chosen.laws, *of_packages}:
            raise UsageError(f'"{law}"; {nearest(law, [*chosen.laws, *of_packages])}', argument="law")
    return [law if law in chosen.laws else named(law) for law in laws]


def _measure(chosen: Suite, laws: list[str], jobs: int | None, out: Path | None, *, plain: bool) -> Results:
    """Measure, with a bar for each scenario."""
    from lasthop.cli.interrupt import interruptible
    from lasthop.study.progress import reporter
    from lasthop.suites.judged import default
    from lasthop.suites.measured import measure

    def listener(name: str) -> Any:
        number = chosen.scenarios.index(name) + 1
        if not quiet():
            note(f"{name} ({number} of {len(chosen.scenarios)})")
        return reporter(quiet=quiet(), plain=plain)

    with interruptible():
        return measure(chosen, laws, out or default(chosen), jobs=jobs, listener=listener)


def _tell(chosen: Suite, found: Results, known: Results | None) -> None:
    from lasthop.suites import tables

    if len(found.laws) == 1:
        report(tables.of_law(chosen, found, found.laws[0], known, paint))
    else:
        report(tables.matrix(chosen, found))


def _record(chosen: Suite, laws: tuple[str, ...], jobs: int | None, out: Path | None, *, plain: bool) -> None:
    """Publish the results of all laws."""
    from lasthop.base import paths
    from lasthop.base.files import put
    from lasthop.suites.measured import PUBLISHED

    if laws:
        raise UsageError("records all laws; expected no --law", argument="record")
    if paths.checkout() is None:
        text = "lasthop does not run from a checkout; expected ./lasthop suite in a checkout"
        raise UsageError(text, argument="record")
    found = _measure(chosen, chosen.laws, jobs, out, plain=plain)
    file = paths.data("suites") / f"{chosen.id}{PUBLISHED}"
    put(file, found.text())
    written(file)


def _verify(
    old: Results, name: str | None, laws: tuple[str, ...], jobs: int | None, out: Path | None, *, plain: bool
) -> None:
    """Measure again and compare."""
    from lasthop.suites import measured

    chosen = measured.admitted(old)
    if name not in (None, chosen.id):
        raise UsageError(f"results of {chosen.id}; expected those of {name}", argument="verify")
    known = [*chosen.laws, *_named(chosen, laws)]
    if missing := [law for law in old.laws if law not in known]:
        text = f"results of {', '.join(missing)}, a law in Python"
        raise UsageError(f"{text}; expected --law {missing[0]}=MODULE:CLASS too", argument="verify")
    again = _measure(chosen, old.laws, jobs, out, plain=plain)
    unlike = measured.unlike(old, again)
    for line in unlike:
        report(line)
    count = sum(len(found) for found in old.outcomes.values())
    report(f"{count - len(unlike)} of {count} values are equal")
    if unlike:
        raise click.exceptions.Exit(FAILED)
