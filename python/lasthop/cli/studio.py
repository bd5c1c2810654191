"""`lasthop studio`."""

from __future__ import annotations

from contextlib import suppress

import click

from lasthop.cli.options import examples, talk_options
from lasthop.cli.talk import note


@click.command(
    "studio",
    epilog=examples("lasthop studio", "lasthop studio mine.toml"),
)
@click.argument("scenario", required=False)
@talk_options
def studio_command(scenario: str | None) -> None:
    """Open a page in which scenarios are written, and run, in the browser.

    The page has the simulator in it and asks no network. It is served on the loopback address until Ctrl-C,
    and may write SCENARIO, if that is a file of yours, and no other file.
    """
    from lasthop.report.server import show
    from lasthop.report.studio import Studio, StudioServer

    with StudioServer(Studio(scenario)) as server:
        click.echo(server.address)
        note("Ctrl-C ends it")
        show(server.address)
        with suppress(KeyboardInterrupt):
            server.serve_forever(0.1)
