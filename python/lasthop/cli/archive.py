"""Commands on one file that holds a study: archive, verify."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

from lasthop.base.errors import UsageError
from lasthop.cli import completing
from lasthop.cli.options import Output, Place, Whole, Word, examples, json_option, law_option, talk_options
from lasthop.cli.talk import complain, data, note, warn_of_stopped, written

if TYPE_CHECKING:
    from lasthop.study.study import Study


@click.command(
    "archive",
    epilog=examples(
        "lasthop archive studies/ejtcp/fig10-baselines",
        "lasthop archive studies/mine -o mine.lasthop.zip --licence CC-BY-4.0",
    ),
)
@click.argument("study", type=Place(), shell_complete=completing.studies)
@click.option("-o", "--out", type=Output(), help="The file to write; default: NAME.lasthop.zip.")
@click.option(
    "--licence",
    type=Word(),
    metavar="NAME",
    default="not stated",
    show_default=True,
    help="The licence under which others may use the results.",
)
@click.option("--no-figures", is_flag=True, help="Leave out the figures.")
@law_option
@talk_options
def archive_command(study: Path, out: Path | None, licence: str, no_figures: bool) -> None:
    """Write STUDY as one file, which another machine can check with `verify`.

    It has the scenario, the modules of laws in Python, the ledger, the runs as CSV, the figures as SVG, the
    versions, the command that makes the study, and the licence. The same study gives the same file.
    """
    from lasthop.study.archive import write
    from lasthop.study.merge import shortfall
    from lasthop.study.study import Study

    opened = Study.open(study)
    warn_of_stopped(opened)
    if lacking := shortfall(opened):
        note(lacking)
    target = out or Path(f"{study.resolve().name}.lasthop.zip")
    write(opened, target, {} if no_figures else _figures(opened), licence)
    written(target)


def _figures(study: Study) -> dict[str, bytes]:
    """The figures of the scenario as SVG, as far as they can be drawn of these points."""
    from lasthop.figures.draw import draw
    from lasthop.figures.style import save
    from lasthop.papers.published import claims_of, published

    claims = claims_of(study.scenario)
    drawn: dict[str, bytes] = {}
    for figure in study.scenario.figures():
        try:
            made = draw(study, figure, published(claims, figure, study))
        except UsageError as e:
            note(f"skipped: {e}")
            continue
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{figure['id']}.svg"
            save(made, path)
            drawn[path.name] = path.read_bytes()
    return drawn


@click.command(
    "verify",
    epilog=examples(
        "lasthop verify mine.lasthop.zip",
        "lasthop verify --release",
    ),
)
@click.argument("file", type=Place(), required=False)
@click.option("--release", "is_release", is_flag=True, help="Check this build: twenty pinned runs.")
@click.option(
    "--sample",
    type=Whole(1),
    default=10,
    show_default=True,
    metavar="N",
    help="Repeat this number of runs, spread evenly.",
)
@click.option("--all", "is_all", is_flag=True, help="Repeat all runs.")
@click.option("--run-laws", is_flag=True, help="Execute the laws in Python that FILE has.")
@json_option
@law_option
@talk_options
def verify_command(
    file: Path | None, is_release: bool, sample: int, is_all: bool, run_laws: bool, as_json: bool
) -> None:
    """Check a FILE of `archive`: all its contents by their sums, and a sample of its runs by repeating them.

    A run agrees if every metric, series and count of events is the same bit for bit. The exit code is 1
    if one differs, and 4 if the file is damaged, changed or of another model version. Python code in FILE is
    executed with --run-laws only: read it first. With --release the runs are those that every build of this
    release must give, on any processor.
    """
    from lasthop.base.jsontext import dumps
    from lasthop.study.archive import verify

    if is_release and file is not None:
        raise UsageError(f"{file}: a file beside --release; expected one of them")
    if is_release:
        _verify_release(as_json=as_json)
        return
    if file is None:
        raise UsageError("FILE: missing; expected that of an archive, or --release")
    verdict = verify(file, None if is_all else sample, run_laws=run_laws)
    manifest = verdict.manifest
    agreeing = verdict.repeated - len(verdict.differing)
    if as_json:
        found = {"repeated": verdict.repeated, "agreeing": agreeing, "runs": verdict.total}
        data(
            dumps(
                {**found, "left_out": verdict.left_out, "differing": verdict.differing, "manifest": manifest}
            )
        )
    else:
        data(f"{_plain(manifest['scenario'])}: {_plain(manifest['title'])}")
        data(f"lasthop {_plain(manifest['lasthop'])}, model {_plain(manifest['model_version'])}")
        data(f"licence: {_plain(manifest['licence'])}")
        data(f"made by: {_plain(manifest['command'])}")
        data(f"{len(manifest['sha256'])} files are as they were archived")
        planned = manifest.get("planned", verdict.total)
        held = f"{verdict.total} in the file" + (f", {planned} planned" if planned != verdict.total else "")
        data(f"{agreeing} of {verdict.repeated} runs repeated agree bit for bit ({held})")
    if verdict.left_out:
        note(f"{verdict.left_out} runs stopped at a limit of wall-clock time and cannot be repeated")
    for line in verdict.differing:
        complain(f"{file}: {line}")
    if verdict.differing:
        raise click.exceptions.Exit(1)


def _verify_release(*, as_json: bool) -> None:
    """Repeat the pinned runs of this release."""
    import platform

    from lasthop import _core
    from lasthop.base.jsontext import dumps
    from lasthop.scenario.fingerprints import now, recorded

    pinned = recorded()
    differing = [one for one in pinned if now(one.scenario, one.point) != one]
    agreeing, machine = len(pinned) - len(differing), f"{platform.machine()} {platform.system()}"
    if as_json:
        runs = [f"{one.scenario}:{one.point}" for one in differing]
        data(dumps({"repeated": len(pinned), "agreeing": agreeing, "differing": runs, "machine": machine}))
    else:
        release = f"lasthop {_core.__version__}, model {_core.model_version}"
        data(f"{agreeing} of {len(pinned)} runs are those of {release}, bit for bit, on {machine}")
    for one in differing:
        complain(f"{one.scenario}: point {one.point} gives other results than the release")
    if differing:
        raise click.exceptions.Exit(1)


def _plain(text: object) -> str:
    """Text of a file from elsewhere, without the characters that a terminal obeys."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in str(text))
