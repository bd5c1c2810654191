"""A run in virtual time as Python calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lasthop.base.arguments import nonblank, words
from lasthop.base.errors import UsageError
from lasthop.realtime.network import checked
from lasthop.realtime.programs import Command
from lasthop.virtual.session import run

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from lasthop.realtime.session import Outcome
    from lasthop.scenario.scenario import Scenario


def virtual(
    scenario: Scenario,
    commands: Sequence[tuple[str, Sequence[str]]],
    *,
    kernel: str | Path | None,
    limit_s: float,
    **options: Any,
) -> Outcome:
    """Run programs on nodes of a scenario in virtual time, with arguments that are not yet checked.

    Raises:
        UsageError: An argument is invalid for this scenario.
        LasthopError: What `session.run` raises.
    """
    chosen = [_command(one) for one in commands] if isinstance(commands, (list, tuple)) else None
    if not chosen:
        raise UsageError(f"{commands!r}; expected a list of nodes with programs", argument="commands")
    asked = checked(scenario, [one.node for one in chosen], "commands", limit_s=limit_s, **options)
    patience_s = asked.pop("limit_s")
    return run(asked.pop("scenario"), chosen, **asked, patience_s=patience_s, given_kernel=kernel)


def _command(one: object) -> Command:
    match one:
        case (node, [_, *_] as program):
            checked_words = tuple(words("commands", program, "curl"))  # type: ignore[arg-type]
            return Command(nonblank("commands", node, "the name of a node"), checked_words)
    raise UsageError(
        f'{one!r}; expected a node and a program such as ("phone", ["curl"])', argument="commands"
    )
