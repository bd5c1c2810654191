"""Writes the tables of docs/linux.md from what `lasthop check --peer linux SCENARIO --json` printed:

    python docs/make_linux.py bulk.json files.json tail.json

The table of each scenario is between two comments of the page, which name it.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from lasthop.base.quantity import digits
from lasthop.base.table import markdown

PAGE = Path(__file__).with_name("linux.md")
LAW = "flows.main.tcp.congestion"
# By how much a mean of ours may differ from the kernel's.
ACCEPTED = {"reno": 0.10, "cubic": 0.10, "bbr": 0.15}


def cell(line: dict) -> str:
    """Both means and their difference, bold if it is more than accepted."""
    scale = 1e-6 if line["metric"] == "goodput_bps" else 1.0
    ours, theirs = (line["mean"][name]["mean"] for name in ("ours", "linux"))
    if ours is None or theirs is None:
        return "–"
    half = "" if line["off_half"] is None else f" ± {100 * line['off_half']:.1f}"
    share = f"{100 * line['off']:+.1f}{half} %".replace("-", "−")
    share = f"**{share}**" if abs(line["off"]) > ACCEPTED[line["law"]] else share
    late = " (late)" if line["late_p99_s"] >= 1e-3 else ""
    return f"{digits(ours * scale, 3)} / {digits(theirs * scale, 3)}, {share}{late}"


def path(point: dict[str, str]) -> str:
    """Rate, round trip without queueing, and queue of the one link."""
    rate, delay, queue = (point[f"links.path.{key}"] for key in ("rate", "delay", "queue"))
    return f"{rate}, {2 * float(delay.split()[0]):g} ms, {queue.split()[0]}"


def number(point: dict[str, str]) -> str:
    """How many segments are lost."""
    return str(len(json.loads(point["links.path.loss.list.drop"])))


def ahead(point: dict[str, str]) -> str:
    """By how much less than the delay a packet takes that is sent ahead."""
    by = point["links.path.reorder.by"]
    return point["links.path.delay"] if by == "delay" else by


# The key that makes a column, its heading, and what is in it.
COLUMNS = (
    ("links.path.rate", "path", path),
    ("flows.main.app.file.size", "size", lambda point: point["flows.main.app.file.size"]),
    ("links.path.loss.rate", "loss", lambda point: point["links.path.loss.rate"]),
    ("links.path.reorder.by", "1 % sent ahead by", ahead),
    ("links.path.loss.list.drop", "last segments lost", number),
)


def table(found: dict) -> str:
    """The table of a scenario, and below it what it was measured with."""
    columns = [column for column in COLUMNS if column[0] in found["lines"][0]["point"]]
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for line in found["lines"]:
        place = tuple(text(line["point"]) for _, _, text in columns)
        rows.setdefault(place, {})[line["law"]] = cell(line)
    laws = list(dict.fromkeys(line["law"] for line in found["lines"]))
    head = [*(heading for _, heading, _ in columns), *laws]
    # By path: the sweep has it last.
    paths = list(dict.fromkeys(place[0] for place in rows))
    ordered = sorted(rows.items(), key=lambda row: paths.index(row[0][0]))
    text = markdown(head, [[*place, *(cells.get(law, "") for law in laws)] for place, cells in ordered])
    late = [line["late_p99_s"] * 1e3 for line in found["lines"]]
    missed = sum(line["off"] is None or abs(line["off"]) > ACCEPTED[line["law"]] for line in found["lines"])
    release = found["kernel"].partition("-")[0]
    counts = {len(line["theirs"]) for line in found["lines"]}
    runs = " to ".join(str(count) for count in dict.fromkeys((min(counts), max(counts))))
    return (
        f"{text}\n\nLinux {release}, {runs} runs of each by both. {missed} of "
        f"{len(late)} differ by more than 10 % (`bbr`: 15 %), in bold. The relay's timer was late by at most "
        f"{max(late):.2f} ms at the 99th percentile of a run, in half of the points by less than "
        f"{sorted(late)[len(late) // 2]:.2f} ms.\n"
    )


def main(files: list[str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for file in files:
        found = json.loads(Path(file).read_text(encoding="utf-8"))
        name = re.escape(found["scenario"])
        place = re.compile(rf"(<!-- table of {name} -->\n).*?(<!-- end of {name} -->\n)", re.DOTALL)
        assert place.search(page), f"{PAGE} has no place for {found['scenario']}"
        page = place.sub(lambda match: match[1] + table(found) + match[2], page)  # noqa: B023
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
