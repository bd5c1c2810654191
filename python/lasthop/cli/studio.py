"""`lasthop studio`."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click

from lasthop.cli.options import Folder, examples, talk_options
from lasthop.cli.talk import note, written


@click.command(
    "studio",
    epilog=examples("lasthop studio mine.toml", "lasthop studio -o site"),
)
@click.argument("scenario", required=False)
@click.option(
    "-o", "--out", type=Folder(), help="Write the page into this directory, for any host to serve, and end."
)
@talk_options
def studio_command(scenario: str | None, out: Path | None) -> None:
    """Open a page in which scenarios are written, and run, in the browser.

    The page contains the simulator and contacts no other host. It is served on the loopback address until
    Ctrl-C, and may write SCENARIO, if that is a file of yours, and no other file.
    """
    from lasthop.cli.interrupt import interruptible
    from lasthop.report.server import show
    from lasthop.report.studio import Studio, StudioServer

    studio = Studio(scenario)
    if out is not None:
        written(studio.write(out))
        return
    with StudioServer(studio) as server, suppress(KeyboardInterrupt), interruptible():
        click.echo(server.address)
        note("Ctrl-C ends it")
        show(server.address)
        server.serve_forever(0.1)
