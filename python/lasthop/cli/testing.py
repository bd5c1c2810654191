"""The command test, which runs before an extension is built and so imports none."""

from __future__ import annotations

import click


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
