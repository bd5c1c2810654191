"""Writes the tables of docs/linux.md: what a kernel did, kept in docs/linux-runs.json, beside ours of today.

    python docs/make_linux.py [SCENARIO ...]        all tables, or these; one is called `edges`
    python docs/make_linux.py keep FILE ...         keeps results
    python docs/make_linux.py more RUNS SCENARIO ...  adds runs in virtual time until each point has RUNS

The first needs no kernel: ours runs again with the losses that the kernel's runs had. FILE has what
`lasthop check --peer linux SCENARIO --json` printed; its points replace those of the scenario that are kept.
The last keeps each point when it is done, and continues where it was stopped.
The table of each scenario is between two comments of the page, which name it.
"""

from __future__ import annotations

import json
import os
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from itertools import product
from pathlib import Path

import lasthop as lh
from lasthop.base.quantity import digits
from lasthop.base.table import markdown
from lasthop.peer import measured
from lasthop.peer.beside import Line
from lasthop.peer.crew import Crew
from lasthop.peer.habits import habits
from lasthop.peer.path import path as path_of
from lasthop.virtual.kernel import find

PAGE = Path(__file__).with_name("linux.md")
KEPT = Path(__file__).with_name("linux-runs.json")
LAW = "flows.main.tcp.congestion"
# What follows the release of a kernel of a guest.
IN_VIRTUAL_TIME = " in virtual time"
# The tick of its clock, and of those in real time.
TICK_S = {True: 0.001, False: 0.004}
# By how much a mean of ours may differ from the kernel's.
ACCEPTED = {"reno": 0.10, "cubic": 0.10, "bbr": 0.15}


def cell(line: Line) -> str:
    """Both means and their difference, bold if it is more than accepted."""
    scale = measured.METRICS[line.metric].scale
    ours, theirs = (side.mean for side in line.means)
    if ours is None or theirs is None:
        return "–"
    half = "" if line.off_half is None else f" ± {100 * line.off_half:.1f}"
    share = f"{100 * line.off:+.1f}{half} %".replace("-", "−")
    share = f"**{share}**" if line.missed(ACCEPTED[line.law]) else share
    late = " (late)" if line.late_p99_s >= 1e-3 else ""
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
    ("links.path.queue", "limit", lambda point: point["links.path.queue"]),
)

# The scenarios that have a table of their own, and what is in it.
TABLES = {
    "validation/linux-bulk": "goodput_bps",
    "validation/linux-short": "goodput_bps",
    "validation/linux-sackless": "goodput_bps",
    "validation/linux-files": "completion_s",
    "validation/linux-tail": "completion_s",
    "validation/linux-reorder": "goodput_bps",
    "validation/linux-shared": "goodput_bps",
    "validation/linux-lists": "goodput_bps",
}


def table(name: str) -> str:
    """The table of a scenario, and below it what it was measured with."""
    metric = TABLES[name]
    lines = [
        Line(
            *(kept[key] for key in ("point", "flow", "law")),
            metric,
            dict(enumerate(mine[metric])),
            dict(enumerate(kept["linux"][metric])),
            late_p99_s=kept["late_p99_s"],
        )
        for kept, mine in ours(name)
    ]
    # The path names its queue.
    columns = [column for column in COLUMNS if column[0] in lines[0].point]
    columns = columns[: -1 if len(columns) > 1 and columns[-1][0] == "links.path.queue" else None]
    rows: dict[tuple[str, ...], dict[str, str]] = {}
    for line in lines:
        place = tuple(text(line.point) for _, _, text in columns)
        rows.setdefault(place, {})[line.law] = cell(line)
    laws = list(dict.fromkeys(line.law for line in lines))
    head = [*(heading for _, heading, _ in columns), *laws]
    # By path: the sweep has it last.
    paths = list(dict.fromkeys(place[0] for place in rows))
    ordered = sorted(rows.items(), key=lambda row: paths.index(row[0][0]))
    text = markdown(head, [[*place, *(cells.get(law, "") for law in laws)] for place, cells in ordered])
    missed = sum(line.missed(ACCEPTED[line.law]) for line in lines)
    counts = {len(line.theirs) for line in lines}
    runs = " to ".join(str(count) for count in dict.fromkeys((min(counts), max(counts))))
    return (
        f"{text}\n\nLinux {kept_of(name)['kernel']}, {runs} runs of each by both. {missed} of "
        f"{len(lines)} differ by more than 10 % (`bbr`: 15 %), in bold.{lateness(name)}\n"
    )


def lateness(*names: str) -> str:
    """How late the relay was in the kernel's runs in real time, if there are any."""
    real = [found for found in map(kept_of, names) if IN_VIRTUAL_TIME not in found["kernel"]]
    late = sorted(1e3 * line["late_p99_s"] for found in real for line in found["lines"])
    if not late:
        return ""
    return (
        f" The relay's timer was late by at most {late[-1]:.2f} ms at the 99th percentile of a run, in half "
        f"of the points by less than {late[len(late) // 2]:.2f} ms."
    )


# What the table of edges shows of each scenario: its heading there, and the metrics.
EDGES = {
    "validation/linux-rack": ("losses among overtaking packets", ("retransmits", "goodput_bps")),
    "validation/linux-probe": ("probe or timeout", ("timeouts", "tail_probes", "cwnd", "ssthresh")),
    "validation/linux-idle": ("window after an idle time", ("cwnd", "ssthresh")),
    "validation/linux-restart": ("restart after an idle time", ("cwnd", "ssthresh")),
    "validation/linux-paced": ("growth of a paced window", ("cwnd", "goodput_bps")),
    "validation/linux-undo": ("undone timeout, with marks", ("timeouts", "marks", "cwnd", "ssthresh")),
    "validation/linux-micro": ("round trip below a millisecond", ("goodput_bps", "srtt_s")),
    "validation/linux-nosack": ("without SACK", ("goodput_bps", "retransmits", "timeouts")),
}


def kept_of(name: str) -> dict:
    """What is kept of a scenario."""
    return json.loads(KEPT.read_text(encoding="utf-8"))[name]


def keep(files: list[str]) -> None:
    """Keep the kernel's numbers of these results."""
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    for file in files:
        found = json.loads(Path(file).read_text(encoding="utf-8"))
        name = found["scenario"]
        metrics = EDGES[name][1] if name in EDGES else (TABLES[name],)
        lines = {
            json.dumps([line["point"], line["flow"]]): line for line in kept.get(name, {}).get("lines", ())
        }
        fresh: dict[str, dict] = {}
        for line in found["lines"]:
            place = json.dumps([line["point"], line["flow"]])
            one = fresh.setdefault(place, {key: line[key] for key in ("point", "flow", "law", "late_p99_s")})
            of = {**line["values"], line["metric"]: {"linux": line["theirs"]}}
            linux = {
                metric: [rounded(value) for value in of[metric]["linux"].values()]
                for metric in metrics
                if metric in of
            }
            one.setdefault("linux", {}).update(linux)
        points = lh.load(name).points()
        ordered = sorted({**lines, **fresh}.values(), key=lambda line: points.index(line["point"]))
        release, _, made = found["kernel"].partition("-")
        where = IN_VIRTUAL_TIME if made == "lasthop" else ""
        kept[name] = {"kernel": release + where, "lines": ordered}
    write({name: kept[name] for name in (*EDGES, *TABLES) if name in kept})


def more(runs: int, name: str) -> None:
    """Add runs of the kernel in virtual time until each point of a scenario has this number."""
    scenario = lh.load(name)
    points = scenario.points()
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    lines = kept[name]["lines"]
    with Crew(1, find()) as crew:
        for point in sorted({points.index(line["point"]) for line in lines}):
            of = path_of(scenario, point)
            places = {flow.name: number for number, flow in enumerate(of.flows)}
            found = [line for line in lines if line["point"] == points[point]]
            missing = range(len(next(iter(found[0]["linux"].values()))), runs)
            results: dict[int, dict] = {}
            crew.run([of.job(scenario, r, 0.0) for r in missing], results.__setitem__)
            for line, number in product(found, range(len(missing))):
                result = results[number]
                line["late_p99_s"] = max(line["late_p99_s"], result["late_p99_s"])
                for metric, values in line["linux"].items():
                    value = measured.METRICS[metric].theirs(result, places[line["flow"]], of)
                    values.append(rounded(value))
            if missing:
                write(kept)
                print(name, points[point], flush=True)


def rounded(value: float | None) -> float | None:
    """The value to six digits."""
    return None if value is None else float(f"{value:.6g}")


def write(kept: dict[str, dict]) -> None:
    """Keep all this, a line for each flow of a point."""
    parts = []
    for name, found in kept.items():
        lines = ",\n".join(f"   {json.dumps(line)}" for line in found["lines"])
        head = f' "{name}": {{\n  "kernel": "{found["kernel"]}",\n  "lines": [\n'
        parts.append(f"{head}{lines}\n  ]\n }}")
    KEPT.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")


@cache
def ours(name: str, **changes: str) -> list[tuple[dict, dict[str, list[float | None]]]]:
    """The lines of a scenario that are kept, each with our values of its metrics: one a replication.

    The names of changes are keys of the TCP of its flow.
    """
    scenario = lh.load(name).set(
        {f"flows.main.tcp.{key.replace('_', '-')}": value for key, value in changes.items()}
    )
    points = scenario.points()
    kept = kept_of(name)

    def found(line: dict) -> tuple[dict, dict[str, list[float | None]]]:
        point = points.index(line["point"])
        of = path_of(scenario, point)
        tick_s = TICK_S[IN_VIRTUAL_TIME in kept["kernel"]]
        suited = scenario.set(habits(scenario, of, kept["kernel"], tick_s))
        number = [flow.name for flow in of.flows].index(line["flow"])
        runs = len(next(iter(line["linux"].values())))
        values = [measured.ours(suited, of, r, set(line["linux"]))[0][number] for r in range(runs)]
        return line, {metric: [one[metric] for one in values] for metric in line["linux"]}

    with ThreadPoolExecutor(os.cpu_count()) as crew:
        return list(crew.map(found, kept["lines"]))


def mean(values: list[float | None]) -> float | None:
    """The mean of those that there are, if there is one in each run."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if len(known) == len(values) else None


def number_of(values: list[float | None], metric: str) -> str:
    """A mean, as the tables show it."""
    found = mean(values)
    return "–" if found is None else digits(found * measured.METRICS[metric].scale, 3)


def edges() -> str:
    """The table of edges: ours beside what the kernel did."""
    rows, kept = [], [kept_of(name) for name in EDGES]
    for name, (heading, metrics) in EDGES.items():
        for line, mine in ours(name):
            point = {key.rpartition(".")[2]: value for key, value in line["point"].items()}
            # The rate names the path, and the law has a column.
            shown = [
                value for key, value in point.items() if key not in ("congestion", "queue", "delay", "off")
            ]
            cells = [
                f"{measured.METRICS[metric].heading} "
                f"{number_of(mine[metric], metric)} / {number_of(line['linux'][metric], metric)}"
                for metric in metrics
                if metric in line["linux"]
            ]
            rows.append([heading, ", ".join(shown), line["law"], "; ".join(cells)])
    text = markdown(["edge", "point", "law", "ours / Linux"], rows)
    releases = " and ".join(sorted({found["kernel"] for found in kept}))
    return f"{text}\n\nLinux {releases}.{lateness(*EDGES)}\n"


def lists() -> str:
    """Ours beside the kernel with the same segments lost, as one line over all lists, by `sack-wait`."""
    name = "validation/linux-lists"
    metric = TABLES[name]
    rows = []
    for wait in ("0 s", "1 ms"):
        found = ours(name, sack_wait=wait)
        both = [(mean(mine[metric]), mean(line["linux"][metric])) for line, mine in found]
        late = max(line["late_p99_s"] for line, _ in found)
        sides = (dict(enumerate(side)) for side in zip(*both, strict=True))
        rows.append([wait, cell(Line({}, "main", "reno", metric, *sides, late_p99_s=late))])
    text = markdown(["`sack-wait`", "reno"], rows)
    runs = len(found[0][0]["linux"][metric])
    return f"{text}\n\nLinux {kept_of(name)['kernel']}, {runs} runs of each of {len(both)} lists.\n"


def made(name: str) -> str:
    """The table of this name."""
    return {"edges": edges, "validation/linux-lists": lists}.get(name, lambda: table(name))()


def placed(page: str, name: str, text: str) -> str:
    """The page with this text between the comments of this name."""
    place = re.compile(
        rf"(<!-- table of {re.escape(name)} -->\n).*?(<!-- end of {re.escape(name)} -->\n)", re.DOTALL
    )
    assert place.search(page), f"{PAGE} has no place for {name}"
    return place.sub(lambda match: match[1] + text + match[2], page)


def main(words: list[str]) -> None:
    if words[:1] == ["keep"]:
        keep(words[1:])
        return
    if words[:1] == ["more"]:
        for name in words[2:]:
            more(int(words[1]), name)
        return
    page = PAGE.read_text(encoding="utf-8")
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    for name in words or ["edges", *(name for name in TABLES if name in kept)]:
        page = placed(page, name, made(name))
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
