"""Writes what papers/today.md and papers/table1.md say of QUIC in numbers, from the results on record.

    .venv/bin/python docs/make_quic.py

`tests/python/test_docs.py` fails while the pages are not what this writes.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from lasthop.papers.paper import paper

if TYPE_CHECKING:
    from lasthop.papers.results import Outcome

    Claims = dict[str, Outcome]

PAPERS = Path(__file__).resolve().parent.parent / "papers"
BEGIN, END = "<!-- written by docs/make_quic.py -->\n", "<!-- end of QUIC -->\n"
LINKS = {"n": "n, 20 MHz", "ac": "ac, 80 MHz", "ax": "ax, 80 MHz"}
STATIONS = (1, 3, 10, 30)
OVER_TCP = {
    "lle-tcp": "LLE-TCP",
    "hack": "TCP/HACK",
    "tack": "TACK",
    "tcp-10": "10 packets",
    "tcp-32": "32 packets",
    "tcp-quarter": "RTT/4",
    "tcp-blind": "25 ms",
    "tcp-paced": "25 ms, paced",
}
OVER_QUIC = {
    "quic-lle": "LLE-TCP",
    "quic-10": "10 packets",
    "quic-32": "32 packets",
    "quic-quarter": "RTT/4",
    "quic-blind": "25 ms",
}
ANSWER = """
**Is ACK Frequency as good as taking the acknowledgements off the air? Nearly, if the sender asks for a
time instead of a count:** acknowledged once in 25 ms, QUIC gains {most-quic-blind} over 802.11n, ac and
ax, where LLE-TCP gives TCP {most-lle-tcp}, and carries {most-near-blind} less than TCP with LLE-TCP;
with 30 stations of ax it gains {quic-blind-ax-30} against {lle-tcp-ax-30}. One acknowledgement for 10
or 32 packets gains {quic-10-ax-1} and {quic-32-ax-1} over ax with one station, {quic-10-ax-30} and
{quic-32-ax-30} with 30, since a count takes out acknowledgements that would share a frame, and a time
takes out frames. An agent adds nothing to QUIC, and to a few stations nothing that the ends could not
do: TCP that paces gains {tcp-paced-ax-1} with one and {tcp-paced-ax-30} with 30 by the same 25 ms.
"""
COLLISIONS = """
With 30 stations of 802.11ax it is collisions that are saved. Frames that collide, over an
acknowledgement for every second packet: LLE-TCP {collisions-lle-tcp-ax-30}, paced TCP with 25 ms
{collisions-tcp-paced-ax-30}, QUIC with 25 ms {collisions-quic-blind-ax-30} and with RTT/4
{collisions-quic-quarter-ax-30}; but with one for 10 packets {collisions-quic-10-ax-30}, and TACK
{collisions-tack-ax-30}.
"""
WAYS = ("receives", "sends")
CONDITIONS = (
    *("clean", "frames-5", "frames-10", "frames-20"),
    *("packets-1", "packets-5", "disconnected", "hand-off"),
)
AGENTS = ("lle-tcp", "arq-proxy", "proxy-tcp", "snoop", "wtcp", "i-tcp", "m-tcp")


def today(text: str) -> str:
    """The page about today's links with the answer and its tables."""
    claims = paper("today").results.claims
    return _between(
        text, "\n\n".join((filled(ANSWER, claims), table(claims), filled(COLLISIONS, claims), *laws(claims)))
    )


def filled(text: str, claims: Claims) -> str:
    """A text on one line with the means of claims for their names, and ranges over all but 30 of ax."""
    found = {name.removeprefix("quic/"): _percent(it, name) for name, it in claims.items()}
    for idea in ("quic-blind", "lle-tcp", "near-blind"):
        places = [f"{link}-{it}" for link in LINKS for it in STATIONS if (link, it) != ("ax", 30)]
        means = sorted(abs(claims[f"quic/{idea}-{place}"].mean or 0.0) for place in places)
        found[f"most-{idea}"] = f"{means[0]:.0f} to {means[-1]:.0f} %"
    return " ".join(text.split()).format_map(found)


def table(claims: Claims) -> str:
    """Goodput of TCP and of QUIC, and the gains over either, with CUBIC."""
    lines = [_row("link", "stations", "TCP", *OVER_TCP.values(), "QUIC", *OVER_QUIC.values())]
    lines.append(_row(*["---"] * (4 + len(OVER_TCP) + len(OVER_QUIC))))
    for link, name in LINKS.items():
        for stations in STATIONS:
            place = f"{link}-{stations}"
            tcp, quic = (_level(claims[f"quic/alone-{it}-{place}"]) for it in ("tcp", "quic"))
            over_tcp, over_quic = (_gains(claims, "quic", among, place) for among in (OVER_TCP, OVER_QUIC))
            lines.append(_row(name, str(stations), tcp, *over_tcp, quic, *over_quic))
    return "\n".join(lines)


def laws(claims: Claims) -> tuple[str, str]:
    """The same gains with other laws."""
    studies = {"quic-newreno": ("Reno:", "QUIC, NewReno:"), "quic-bbr": ("BBR:", "QUIC, BBR:")}
    columns = [(study, among) for study in studies for among in (OVER_TCP, OVER_QUIC)]
    laws = [law for of_study in studies.values() for law in of_study]
    heads = [
        f"{law} {name}" for law, (_, among) in zip(laws, columns, strict=True) for name in among.values()
    ]
    lines = [_row("link", *heads), _row(*["---"] * (1 + len(heads)))]
    for link, name in LINKS.items():
        cells = [_gains(claims, study, among, f"{link}-10") for study, among in columns]
        lines.append(_row(name, *(cell for part in cells for cell in part)))
    return "The same gains with Reno, QUIC's NewReno, and BBR over both, 10 stations:", "\n".join(lines)


def table1(text: str) -> str:
    """The page about Table I with its rows of QUIC, and what works below."""
    claims = paper("table1").results.claims
    ways = iter(WAYS)

    def rows(_: re.Match[str]) -> str:
        way = next(ways)
        alone = [_level(claims[f"quic/alone-{way}-{it}"]) for it in CONDITIONS]
        # Of each agent the record has the worst condition.
        gains = {_gain(claims[f"quic/{agent}-{way}"]) for agent in AGENTS}
        gain = " to ".join(sorted(gains))
        zeros = [gain] * len(CONDITIONS)
        return f"{_row('QUIC alone, Mbit/s', *alone, '–')}\n{_row('each agent with QUIC', *zeros, '–')}\n"

    return _between(re.sub(r"\| QUIC alone.*\n\| each agent with QUIC.*\n", rows, text), below(claims))


def below(claims: Claims) -> str:
    """What schemes below the transport give TCP and QUIC."""
    lines = [_row("scheme", "metric", "TCP", "QUIC"), _row(*["---"] * 4)]
    for label, metric, name in (
        ("A-MPDUs of 64 over single MPDUs, 802.11ax", "gain in goodput, %", "aggregation-{}"),
        ("four retransmissions over the FRN, 8 hops, 5 % lost", "kbit/s", "frn-4-{}"),
        ("the FRN without retransmissions", "kbit/s", "frn-0-{}"),
        ("three retransmissions on the hop of dynamic ARQ", "Mbit/s", "arq-alone-{}"),
        ("dynamic ARQ over them", "gain in goodput, %", "arq-dynamic-{}"),
    ):
        show = _gain if "gain" in metric else _level
        lines.append(
            _row(label, metric, *(show(claims[f"below/{name.format(it)}"]) for it in ("tcp", "quic")))
        )
    return "\n".join(lines)


def _percent(found: Outcome, name: str) -> str:
    """A mean in whole per cent; a change in collisions with its sign."""
    shown = f"{found.mean or 0.0:{'+' if 'collisions' in name else ''}.0f} %"
    return shown.replace("-", "−")


def _gains(claims: Claims, study: str, among: dict[str, str], place: str) -> list[str]:
    return [_gain(claims[f"{study}/{it}-{place}"]) for it in among]


def _gain(found: Outcome) -> str:
    """A gain in per cent with the half-width of its interval."""
    assert found.mean is not None
    return (
        "0" if found.low == found.mean == 0 else f"{found.mean:+.1f} ± {_half(found):.1f}".replace("-", "−")
    )


def _level(found: Outcome) -> str:
    """A level with the half-width of its interval."""
    assert found.mean is not None
    places = 1 if found.mean >= 20 else 2
    return f"{found.mean:.{places}f} ± {_half(found):.{places}f}"


def _half(found: Outcome) -> float:
    assert found.low is not None
    assert found.high is not None
    return (found.high - found.low) / 2


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _between(text: str, block: str) -> str:
    """The page with this block at its place."""
    before, _, rest = text.partition(BEGIN)
    return f"{before}{BEGIN}\n{block}\n\n{END}{rest.partition(END)[2]}"


if __name__ == "__main__":
    for name, page in (("today", today), ("table1", table1)):
        file = PAPERS / f"{name}.md"
        file.write_text(page(file.read_text(encoding="utf-8")), encoding="utf-8")
