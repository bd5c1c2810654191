"""`lasthop agent`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from lasthop.cli.options import Whole, Word, examples, json_option, talk_options
from lasthop.cli.talk import data, note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lasthop.realtime.attached import Route


@click.command(
    "agent",
    epilog=examples(
        "lasthop agent lle-tcp --dev wlan0",
        "lasthop agent ack-filter --dev wlan0 -s delay='20 ms' --memory 8 --json",
    ),
)
@click.argument("name", type=Word())
@click.option("--dev", required=True, type=Word(), metavar="DEV", help="The Wi-Fi interface.")
@click.option(
    "-s",
    "--set",
    "settings",
    multiple=True,
    metavar="KEY=VALUE",
    help="Set a parameter of the agent, such as max-flows.",
)
@click.option("--memory", type=Whole(1, 100_000), default=64, help="MB of packets that it keeps at most.")
@json_option
@talk_options
def agent_command(name: str, dev: str, settings: tuple[str, ...], memory: int, as_json: bool) -> None:
    """Run an agent of the simulator at a Wi-Fi interface of this machine, until Ctrl-C.

    NAME is lle-tcp, ack-filter, snoop or proxy-tcp; a parameter is that of agents.NAME.
    lle-tcp runs at both ends of the air: where data is sent it acknowledges what the
    interface has delivered, and where data arrives it withholds the acknowledgements
    of TCP. snoop and proxy-tcp run where data is sent, ack-filter where it arrives.

    It needs root, and a driver of mac80211; it renounces root when it has begun. What it does not
    understand passes untouched. When it has ended, in whatever way, all packets do.
    """
    from lasthop.base.errors import UsageError, nearest
    from lasthop.base.jsontext import dumps
    from lasthop.realtime.attached import AGENTS, serve
    from lasthop.scenario.overrides import parse_set

    if name not in AGENTS:
        raise UsageError(f"{name}; {nearest(name, AGENTS)}", argument="name")

    def ready(routes: Sequence[Route]) -> None:
        note(f"{name} at {dev}, for {', '.join(map(str, routes))}; Ctrl-C ends it")

    found = serve(name, dev, parse_set(settings), memory=memory * 1_000_000, on_ready=ready)
    _say(found)
    if as_json:
        data(dumps(found))


def _say(found: dict[str, Any]) -> None:
    packets, done = found["packets"], found["done"]
    parts = [
        f"{found['length_s']:.1f} s: {packets['sent']} packets sent",
        f"{packets['acknowledged']} reported as acknowledged and {packets['not_acknowledged']} as not",
        f"{packets['from_link']} received",
        f"{packets['untouched']} untouched",
        f"{done['generated']} acknowledgements made and {done['suppressed']} withheld",
    ]
    if "unconfirmed" in done:
        parts.append(f"{done['unconfirmed']} B acknowledged and never by the receiver")
    note(", ".join(parts))
