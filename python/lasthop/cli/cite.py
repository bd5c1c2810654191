"""The command that says how to cite lasthop and the papers."""

from __future__ import annotations

import click

from lasthop.cli import completing
from lasthop.cli.options import Word, examples, json_option, talk_options
from lasthop.cli.talk import data, note


@click.command("cite", epilog=examples("lasthop cite", "lasthop cite lasthop ejtcp >> references.bib"))
@click.argument("ids", nargs=-1, type=Word(), metavar="[ID]...", shell_complete=completing.papers)
@json_option
@talk_options
def cite_command(ids: tuple[str, ...], as_json: bool) -> None:
    """Print how to cite lasthop, or the papers named by ID: a line of text, and an entry for BibTeX.

    BibTeX takes the whole output: it skips what is outside of entries.
    """
    from lasthop.base.jsontext import dumps
    from lasthop.papers import cite

    works = [cite.work(ident) for ident in ids or (cite.SOFTWARE,)]
    if as_json:
        data(dumps([work.as_dict() for work in works]))
        return
    data("\n\n".join(f"{work.text()}\n\n{work.bibtex()}" for work in works))
    if not ids:
        papers = [ident for ident in cite.works() if ident != cite.SOFTWARE]
        note(f"papers: {', '.join(papers)}; lasthop cite ID")
