"""Writes what papers/today.md says of uplink OFDMA in numbers, from the results on record.

    .venv/bin/python docs/make_uplink.py

`tests/python/test_docs.py` fails while the page is not what this writes.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.papers.paper import paper

if TYPE_CHECKING:
    from lasthop.papers.results import Outcome

PAGE = Path(__file__).resolve().parent.parent / "papers" / "today.md"
BEGIN, END = "<!-- written by docs/make_uplink.py -->\n", "<!-- end of uplink OFDMA -->\n"
ACCESS = {
    "edca": "EDCA",
    "down": "OFDMA down",
    "up": "OFDMA up",
    "mu": "OFDMA up, MU EDCA",
    "both": "OFDMA both ways, MU EDCA",
}
STATIONS = (1, 4, 8, 16, 32)
LOADS = (2, 4, 8, 12, 16, 20)
ANSWER = """
**Is the standard's own answer the end of the papers' idea? No: a trigger alone changes nothing, and
with MU EDCA it gives a part of what LLE-TCP gives up to 16 stations, and more than LLE-TCP from 32
on.** Where stations contend as always, triggers change the goodput of TCP by {over-edca-up-1} with one
station, {over-edca-up-8} with 8 and {over-edca-up-32} with 32: an acknowledgement is on the air before
it is asked for. Where MU EDCA makes triggered stations wait, they gain {over-edca-mu-1},
{over-edca-mu-8} and {over-edca-mu-32}; LLE-TCP gains {gain-lle-tcp-edca-1}, {gain-lle-tcp-edca-8} and
{gain-lle-tcp-edca-32} over EDCA alone, and another {gain-lle-tcp-mu-1}, {gain-lle-tcp-mu-8} and
{gain-lle-tcp-mu-32} on top of the triggers. Downlink OFDMA in equal RUs behind one plain queue costs
{over-edca-down-8} with 8 stations and {over-edca-down-32} with 32, since short A-MPDUs are padded and
all its stations then contend at once: the 99th percentile of pings beside 32 downloads is
{p99-down-none-32} instead of {p99-edca-none-32}, and {p99-both-none-32} with triggers and MU EDCA.
"""
# The measured time of a run, in which airtime is counted.
MEASURED_S = 3.0


def written(text: str) -> str:
    """The page with the tables at their place."""
    claims = paper("today").results.claims
    before, _, rest = text.partition(BEGIN)
    block = "\n\n".join((answer(claims), goodput(claims), delay(claims), load(claims)))
    return f"{before}{BEGIN}\n{block}\n\n{END}{rest.partition(END)[2]}"


def answer(claims: dict[str, Outcome]) -> str:
    """Three sentences with the means of claims."""
    gains = {
        name.removeprefix("uplink/"): f"{round(found.mean or 0.0) or 0:+d} %".replace("+0", "0").replace(
            "-", "−"
        )
        for name, found in claims.items()
    }
    times = {
        name: f"{claims[f'uplink/{name}'].mean or 0.0:.0f} ms" for name in gains if name.startswith("p99-")
    }
    return " ".join(ANSWER.split()).format_map({**gains, **times})


def goodput(claims: dict[str, Outcome]) -> str:
    """Goodput without an agent, and what each agent adds."""
    lines = [_row("stations", *(f"{name}: Mbit/s, LLE-TCP, HACK, ACK filter" for name in ACCESS.values()))]
    lines.append(_row(*["---"] * (1 + len(ACCESS))))
    for stations in STATIONS:
        cells = [
            ", ".join(
                (
                    _number(claims[f"uplink/goodput-{it}-none-{stations}"]),
                    *(
                        f"{_number(claims[f'uplink/gain-{agent}-{it}-{stations}'], sign=True)} %"
                        for agent in ("lle-tcp", "hack", "ack-filter")
                    ),
                )
            )
            for it in ACCESS
        ]
        lines.append(_row(str(stations), *cells))
    return "\n".join(lines)


def delay(claims: dict[str, Outcome]) -> str:
    """Pings and the airtime of the stations, without LLE-TCP and with it."""
    lines = [_row("stations", *(f"{name}: p50, p99 in ms, airtime in %" for name in ACCESS.values()))]
    lines.append(_row(*["---"] * (1 + len(ACCESS))))
    for stations in STATIONS:
        for agent, name in (("none", ""), ("lle-tcp", ", LLE-TCP")):
            cells = [
                f"{_mean(claims[f'uplink/p50-{it}-{agent}-{stations}'])},"
                f" {_mean(claims[f'uplink/p99-{it}-{agent}-{stations}'])},"
                f" {_mean(claims[f'uplink/airtime-{it}-{agent}-{stations}'], 100 / MEASURED_S)}"
                for it in ACCESS
            ]
            lines.append(_row(f"{stations}{name}", *cells))
    return "\n".join(lines)


def load(claims: dict[str, Outcome]) -> str:
    """The 99th percentile of pings by load, without LLE-TCP and with it."""
    lines = [_row("Mbit/s to each of 16", *(f"{name}: p99 in ms, with LLE-TCP" for name in ACCESS.values()))]
    lines.append(_row(*["---"] * (1 + len(ACCESS))))
    for at in LOADS:
        cells = [
            ", ".join(_number(claims[f"uplink-load/p99-{it}-{agent}-{at}"]) for agent in ("none", "lle-tcp"))
            for it in ACCESS
        ]
        lines.append(_row(str(at), *cells))
    return "\n".join(lines)


def _number(found: Outcome, *, sign: bool = False) -> str:
    """A number with the half-width of its interval."""
    assert found.mean is not None
    assert found.low is not None
    assert found.high is not None
    half = (found.high - found.low) / 2
    return f"{found.mean:{'+' if sign else ''}.1f} ± {half:.1f}".replace("-", "−")


def _mean(found: Outcome, scale: float = 1.0) -> str:
    assert found.mean is not None
    return f"{found.mean * scale:.1f}"


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
