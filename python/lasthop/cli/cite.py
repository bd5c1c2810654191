"""The command that says how to cite lasthop and the papers."""

from __future__ import annotations

import click

from lasthop.cli import completing
from lasthop.cli.options import Word, examples, json_option, talk_options
from lasthop.cli.talk import data, note


@click.command("cite", epilog=examples("lasthop cite", "lasthop cite lasthop ejtcp >> references.bib"))
@click.argument("names", nargs=-1, type=Word(), metavar="[ID|STUDY]...", shell_complete=completing.papers)
@json_option
@talk_options
def cite_command(names: tuple[str, ...], as_json: bool) -> None:
    """Print how to cite lasthop, or the papers named by ID: a line of text, and an entry for BibTeX.

    For the directory STUDY it prints the version and model of lasthop that the study was run with, the
    paper that its scenario belongs to, and the papers of the schemes that it selects. The whole output
    can be used as a BibTeX file, because BibTeX ignores text outside of entries.
    """
    from lasthop.base.jsontext import dumps
    from lasthop.papers import cite

    every = (work for name in names or (cite.SOFTWARE,) for work in cite.named(name))
    works = {(work.id, work.text()): work for work in every}.values()
    if as_json:
        data(dumps([work.as_dict() for work in works]))
        return
    data("\n\n".join(f"{work.text()}\n\n{work.bibtex()}" for work in works))
    if not names:
        papers = [ident for ident in cite.works() if ident != cite.SOFTWARE]
        note(f"papers: {', '.join(papers)}; lasthop cite ID")
