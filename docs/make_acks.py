"""Writes the table of docs/acks.md from a study of examples/acks:

    ./lasthop sweep examples/acks
    .venv/bin/python docs/make_acks.py studies/examples/acks

The time of TCP acknowledgements is that of their IP packets, which the ledger of airtime has, and their share
of headers, link acknowledgements and interframe spaces. Each frame has the same share, whether it carries
data or an acknowledgement. Backoff and collisions are not divided.
"""

import re
import sys
from pathlib import Path
from typing import Any

from lasthop.base.table import markdown
from lasthop.stats.intervals import interval
from lasthop.study.study import Study

PAGE = Path(__file__).with_name("acks.md")
LAWS = {
    ("delayed", "1", "none"): "each segment",
    ("delayed", "2", "none"): "every 2nd (`modern`)",
    ("delayed", "4", "none"): "every 4th",
    ("delayed", "8", "none"): "every 8th",
    ("requested", "2", "none"): "TARR, at most 8",
    ("tack", "2", "none"): "TACK",
    ("delayed", "1", "lle-tcp"): "LLE-TCP",
}
KEYS = ("flows.main.tcp.acks", "flows.main.tcp.ack-every", "agents.lle.kind")
VARIANTS = {"sack": "Reno", "cubic": "CUBIC", "bbr": "BBR"}
OF_FRAMES = ("headers", "mac_ack", "interframe")


def of_acks(metrics: dict[str, float]) -> float:
    """The share of the time that acknowledgements of TCP take on the air."""
    air = {name: metrics[f"links.air.airtime_{name}_s"] for name in ("tcp_ack_payload", *OF_FRAMES)}
    on_air = metrics["flows.main.acks_per_segment"] if air["tcp_ack_payload"] else 0.0
    total = sum(value for name, value in metrics.items() if name.startswith("links.air.airtime_"))
    total -= metrics["links.air.airtime_concurrent_s"]
    return (air["tcp_ack_payload"] + sum(air[name] for name in OF_FRAMES) * on_air / (1 + on_air)) / total


def cell(runs: list[dict[str, float]]) -> str:
    """Goodput, acknowledgements per segment, and their share of the time."""
    goodput = interval([run["flows.main.goodput_bps"] / 1e6 for run in runs])
    share = interval([100 * of_acks(run) for run in runs])
    acks = interval([run["flows.main.acks_per_segment"] for run in runs])
    on_air = f"{acks.mean:.2f}" if share.mean else "0"
    return f"{goodput.mean:.2f} ± {goodput.half:.2f}; {on_air}; {share.mean:.1f} ± {share.half:.1f} %"


def main(folder: str) -> None:
    study = Study.open(folder)
    found: dict[tuple[str, ...], list[Any]] = {}
    for number, point in enumerate(study.points()):
        law = tuple(point[key] for key in KEYS)
        place = (point["links.air.standard"], point["flows.main.tcp.variant"], *law)
        found[place] = [row.metrics for row in study.rows(number) if row.metrics]
    text = ""
    for standard, rate in (("802.11b", 11), ("802.11a", 54)):
        rows = [
            [name, *(cell(found[(standard, variant, *law)]) for variant in VARIANTS)]
            for law, name in LAWS.items()
        ]
        table = markdown(["acknowledged", *VARIANTS.values()], rows)
        text += f"{standard}, {rate} Mbit/s:\n\n{table}\n\n"
    page = PAGE.read_text(encoding="utf-8")
    place = re.compile(r"(<!-- table -->\n).*?(<!-- end of table -->\n)", re.DOTALL)
    assert place.search(page), f"{PAGE} has no place for the table"
    PAGE.write_text(place.sub(lambda match: match[1] + text + match[2], page), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
