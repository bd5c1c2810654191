"""Run public records of links in their own formats, and write the tables of links-from-records.md:

    git clone https://github.com/ravinet/mahimahi
    git clone https://github.com/SpaceNetLab/LeoCC
    .venv/bin/python docs/make_records.py mahimahi LeoCC

The records are not shipped. Each run begins its flow at a random time in the first 5 s.
"""

from __future__ import annotations

import math
import sys
import tomllib
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

import lasthop as lh
from lasthop.base.table import markdown
from lasthop.stats.intervals import interval

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE = Path(__file__).with_name("links-from-records.md")
SCENARIO = "examples/trace"
RUNS = 20
SECONDS, WARMUP = 120, 10
OPPORTUNITY = 1504
SPLIT = {"split": {"kind": "i-tcp", "node": "base", "link": "cell"}}
LAWS: dict[str, tuple[str, dict[str, dict[str, str]]]] = {
    "CUBIC": ("cubic", {}),
    "CUBIC, I-TCP at the base": ("cubic", SPLIT),
    "BBR": ("bbr", {}),
}


@dataclass(frozen=True)
class Record:
    """A record: its files below the folder of a repository, and what else its repository says of the link."""

    name: str
    down: str
    up: str
    delay: str | None = None
    queue: str = "200 packets"

    def scenario(self, folder: Path, law: str, agents: dict[str, dict[str, str]]) -> lh.Scenario:
        """`examples/trace` with this record, for one law."""
        tree = tomllib.loads(lh.load(SCENARIO).text)
        del tree["sweep"], tree["figure"]
        tree["run"] |= {"duration": f"{SECONDS} s", "warmup": f"{WARMUP} s"}
        cell = tree["links"]["cell"]
        cell |= {"queue": self.queue, "trace": {"file": str(folder / self.down)}}
        cell["reverse"]["trace"]["file"] = str(folder / self.up)
        if self.delay:
            cell["trace"]["delay"] = {"file": str(folder / self.delay)}
            cell["delay"] = "0 ms"
        tree["flows"]["file"] |= {"tcp": {"variant": law}, "app": {"spread": "5 s"}}
        return lh.from_dict(tree | {"agents": agents} if agents else tree)


EXAMPLE = "leoreplayer/replayer/example/Cubic"
MAHIMAHI = [
    Record(name, f"traces/{name}.down", f"traces/{name}.up")
    for name in ("Verizon-LTE-short", "TMobile-LTE-short", "ATT-LTE-driving-2016", "TMobile-UMTS-driving")
]
LEO = [
    Record(
        "LeoReplayer's example",
        f"{EXAMPLE}/bw_example.txt",
        f"{EXAMPLE}/bw_example.txt",
        f"{EXAMPLE}/delay_example.txt",
        "500 packets",
    )
]


def times(file: Path) -> list[int]:
    """The opportunities of a file, in ms."""
    return [int(line) for line in file.read_text("ascii").split()]


def crossed(record: Record, folder: Path) -> tuple[int, int]:
    """How many packets of a flood cross in the time of the run, and how many opportunities it met."""
    delay_ms = 20
    flood = {
        "run": {"duration": f"{SECONDS} s"},
        "nodes": {"base": {}, "phone": {}},
        "links": {
            "cell": {
                "kind": "trace",
                "nodes": ["base", "phone"],
                "delay": f"{delay_ms} ms",
                "trace": {"file": str(folder / record.down)},
            }
        },
        "flows": {
            "flood": {
                "from": "base",
                "to": "phone",
                "udp": {},
                "app": {"kind": "cbr", "cbr": {"rate": "200 Mbit/s", "packet": "1472 B"}},
            }
        },
    }
    received = lh.from_dict(flood).run().metrics["flows.flood.packets_received"]
    # The first packet is too late for what is due when it arrives.
    met = sum(0 < at <= SECONDS * 1000 - delay_ms for at in times(folder / record.down))
    return int(received or 0), met


def mean(values: Iterable[float]) -> str:
    """The mean with its interval, which has two digits."""
    found = interval(list(values))
    decimals = max(0, 1 - math.floor(math.log10(found.half))) if found.half else 0
    return f"{found.mean:.{min(decimals, 3)}f} ± {found.half:.{min(decimals, 3)}f}"


def of_files(records: list[tuple[Record, Path]]) -> str:
    """What the files are, and the check of their capacity."""
    rows = []
    for record, folder in records:
        for file in dict.fromkeys(filter(None, (record.down, record.up, record.delay))):
            data = (folder / file).read_bytes()
            row = [file, sha256(data).hexdigest()[:16], str(len(data.split()))]
            if file == record.down:
                received, met = crossed(record, folder)
                at = times(folder / file)
                rate = sum(1 for one in at if WARMUP * 1000 < one <= SECONDS * 1000) * OPPORTUNITY * 8
                row += [f"{rate / (SECONDS - WARMUP) / 1e6:.3f}", f"{received} of {met}"]
            rows.append([*row, "", ""][:5])
    head = [
        "file",
        "sha256, first 16 digits",
        "lines",
        "Mbit/s, 10 to 120 s",
        "packets crossed, of opportunities",
    ]
    return markdown(head, rows)


def of_runs(records: list[tuple[Record, Path]]) -> str:
    """Goodput, capacity used, and round trips by record and law."""
    rows = []
    for record, folder in records:
        for law, chosen in LAWS.items():
            scenario = record.scenario(folder, *chosen)
            runs = [scenario.run(replication=number).metrics for number in range(RUNS)]
            columns = (
                ("flows.file.goodput_bps", 1e-6),
                ("links.cell.utilisation", 100),
                ("flows.file.rtt_p50_s", 1e3),
                ("flows.file.rtt_p95_s", 1e3),
                ("flows.file.rtt_p99_s", 1e3),
                ("links.cell.reordered", 1),
            )
            rows.append(
                [
                    record.name,
                    law,
                    *(mean((run.get(key) or 0) * scale for run in runs) for key, scale in columns),
                ]
            )
    head = [
        "record",
        "law",
        "goodput (Mbit/s)",
        "capacity used (%)",
        "round trip, p50 (ms)",
        "p95",
        "p99",
        "reordered",
    ]
    return markdown(head, rows)


def main() -> None:
    """Write the tables."""
    mahimahi, leocc = (Path(word).resolve() for word in sys.argv[1:3])
    records = [(one, mahimahi) for one in MAHIMAHI] + [(one, leocc) for one in LEO]
    page = PAGE.read_text("utf-8")
    for name, table in (("files", of_files(records)), ("runs", of_runs(records))):
        begin, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, _, rest = page.partition(begin)
        page = f"{before}{begin}\n{table}\n\n{end}{rest.partition(end)[2]}"
    PAGE.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
