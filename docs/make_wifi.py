"""Writes the tables of wifi.md, from simulations and from the closed forms.

.venv/bin/python docs/make_wifi.py
"""

from pathlib import Path

import lasthop as lh
from lasthop.stats.wifi_today import Cell, bianchi

PAGE = Path(__file__).with_name("wifi.md")
BEGIN, END = "<!-- Written by make_wifi.py. -->", "<!-- End of what make_wifi.py writes. -->"
MODES = [
    ("802.11n", 20, 0.8, (0, 4, 7)),
    ("802.11ac", 80, 0.4, (0, 4, 9)),
    ("802.11ax", 80, 0.8, (0, 5, 11)),
]


def goodput(scenario: lh.Scenario) -> float:
    """The goodput of all stations."""
    return scenario.run().metrics["flows.up.goodput_bps"] or 0.0


def one_station() -> list[str]:
    """The table of one saturated station."""
    lines = ["| standard | MCS | limit | MPDUs | closed form | simulated | difference |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    scenario = lh.load("validation/wifi-today-one")
    for standard, width, guard, all_mcs in MODES:
        for mcs in all_mcs:
            for count in (1, 8, 32, 64, 256):
                if count > 64 and standard != "802.11ax":
                    continue
                cell = Cell(standard, mcs, width, guard, count=count)
                settings = {
                    "standard": standard,
                    "width": f"{width} MHz",
                    "guard-interval": f"{guard} us",
                    "mcs": str(mcs),
                    "aggregate.count": str(count),
                }
                found = goodput(scenario.set({f"links.air.{key}": value for key, value in settings.items()}))
                expected = cell.goodput_bps
                lines.append(
                    f"| {standard}, {width} MHz | {mcs} | {count} | {cell.mpdus} | {expected / 1e6:.2f} "
                    f"| {found / 1e6:.2f} | {found / expected - 1:+.2%} |"
                )
    return lines


def several_stations() -> list[str]:
    """The table of several saturated stations."""
    lines = ["| stations | MPDUs | Bianchi's model | `data` | difference | `request` | difference |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- |")
    scenario = lh.load("validation/wifi-today-cell")
    for count in (1, 64):
        for stations in (2, 5, 10, 20):
            expected, _ = bianchi(Cell("802.11ax", 11, 80, count=count), stations)
            line = f"| {stations} | {count} | {expected / 1e6:.1f} "
            for after in ("data", "request"):
                settings = {
                    "nodes.sta.count": str(stations),
                    "links.air.aggregate.count": str(count),
                    "links.air.block-ack.after-loss": after,
                }
                found = goodput(scenario.set(settings))
                line += f"| {found / 1e6:.1f} | {found / expected - 1:+.1%} "
            lines.append(f"{line}|")
    return lines


def main() -> None:
    """Write both tables."""
    head, rest = PAGE.read_text().split(BEGIN)
    tables = ["Goodput of one saturated station, Mbit/s:", "", *one_station(), ""]
    tables += ["Goodput of several saturated stations of 802.11ax, Mbit/s:", "", *several_stations()]
    PAGE.write_text(head + BEGIN + "\n\n" + "\n".join(tables) + "\n\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
