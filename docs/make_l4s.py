"""Writes the tables of L4S in access-point.md and that of DualPI2 in queues.md:

    .venv/bin/python docs/make_l4s.py

The runs of the first go to studies/examples. With a kernel for guests that has `sch_dualpi2`, it writes the
table beside that kernel alone:

    .venv/bin/python docs/make_l4s.py --kernel PATH
"""

import json
import re
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path

import lasthop as lh
from lasthop.base.table import markdown
from lasthop.stats.intervals import interval

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))

from kernel_dualpi2 import Bucket, Left  # noqa: E402 - a module of the tests
from kernel_dualpi2 import serve as serve_in_kernel  # noqa: E402
from reference_dualpi2 import CE, ECT_1, DualPI2, LinuxDualPI2, Packet, serve  # noqa: E402 - a module of the tests
from test_dualpi2 import CALM, CASES, KERNEL, LOADS, RATE, calm, parameters, recorded, shares  # noqa: E402 - a module of the tests

SCENARIO = "examples/l4s-wifi"
LAWS = (
    "plain queue",
    "FQ-CoDel",
    "and a step at 1 ms",
    "and a step at 5 ms",
    "DualPI2",
    "a step at 1 ms, L4S as video",
)
STEP = {
    "links.air.aqm.mac80211.ce-threshold": "1 ms",
    "links.air.aqm.mac80211.ce-threshold-for": "l4s",
}
SMALL = {"kind": "cbr", "cbr": {"rate": "2 Mbit/s", "packet": "1000 B"}}
Metrics = Mapping[str, float | None]


def marked(metrics: Metrics) -> float:
    """The share of L4S segments that were marked; CUBIC does not use ECN here."""
    sent = sum(
        value or 0 for name, value in metrics.items() if re.fullmatch(r"flows\.l4s\d*\.segments_sent", name)
    )
    return (metrics.get("links.air.marks") or 0) / sent


def mean(values: Iterable[float]) -> str:
    """The mean with its interval."""
    found = interval(list(values))
    return f"{found.mean:.3g} ± {found.half:.2g}"


def cells(runs: list[Metrics], columns: Iterable[tuple[str, float]]) -> list[str]:
    """The means of metrics, and of the share of marks."""
    found = [mean((run.get(name) or 0) * scale for run in runs) for name, scale in columns]
    return [*found, mean(100 * marked(run) for run in runs)]


def of_laws() -> str:
    """Goodput and round trips by law and number of stations."""
    made = lh.load(SCENARIO).sweep()
    made.run()
    columns = {
        "L4S (Mbit/s)": ("flows.l4s.goodput_bps", 1e-6),
        "CUBIC": ("flows.classic.goodput_bps", 1e-6),
        "ping, p50 (ms)": ("flows.ping.rtt_p50_s", 1e3),
        "p99": ("flows.ping.rtt_p99_s", 1e3),
        "L4S, p50 (ms)": ("flows.l4s.rtt_p50_s", 1e3),
        "p99 ": ("flows.l4s.rtt_p99_s", 1e3),
    }
    rows = []
    for point, values in enumerate(made.points()):
        runs = [row.metrics for row in made.rows(point) if row.metrics]
        law = LAWS[point % len(LAWS)]
        rows.append([values["nodes.sta.count"], law, *cells(runs, columns.values())])
    return markdown(["stations", "queue of a station", *columns, "marked (%)"], rows)


def small(settings: Mapping[str, str], *, is_alone: bool, is_small: bool = True) -> list[str]:
    """L4S flows under a step at 1 ms, of 2 Mbit/s each if they are small."""
    tree = tomllib.loads(lh.load(SCENARIO).text)
    del tree["sweep"]
    if is_small:
        tree["flows"]["l4s"]["app"] = SMALL
    if is_alone:
        del tree["flows"]["classic"]
    scenario = lh.from_dict(tree).set({**STEP, **settings})
    runs = [scenario.run(replication=number).metrics for number in range(5)]
    columns = (
        ("flows.l4s.goodput_bps", 1e-6),
        ("flows.classic.goodput_bps", 1e-6),
        ("flows.l4s.rtt_p99_s", 1e3),
        ("links.air.airtime_idle_s", 5),
    )
    return cells(runs, columns)


def of_small() -> str:
    """How much of a small flow a step of 1 ms marks."""
    beside = {
        "2 Mbit/s beside CUBIC": {},
        "and A-MPDUs of at most 2 ms": {"links.air.aggregate.time": "2 ms"},
        "of 1 ms": {"links.air.aggregate.time": "1 ms"},
        "of 0.5 ms": {"links.air.aggregate.time": "0.5 ms"},
        "and one A-MPDU in the hardware": {"links.air.aqm.mac80211.frames": "1"},
        "and TXOPs of 2.528 ms": {"links.air.edca.best-effort.txop": "2528 us"},
        "and as many A-MPDUs as AQL allows": {"links.air.aqm.mac80211.frames": "none"},
    }
    rows = [
        [name, stations, *small({"nodes.sta.count": stations}, is_alone=True, is_small=is_small)]
        for name, is_small in (("2 Mbit/s each, alone", True), ("files, alone", False))
        for stations in ("1", "4", "8", "16")
    ]
    rows += [[name, "1", *small(settings, is_alone=False)] for name, settings in beside.items()]
    head = ["cell", "stations", "L4S (Mbit/s)", "CUBIC", "L4S, p99 (ms)", "air idle (%)", "marked (%)"]
    return markdown(head, rows)


def of_dualpi2() -> str:
    """The pseudocode of the RFC and the rules of Linux on what arrives in the simulator."""
    rows = []
    for name, (law, _) in CASES.items():
        with tempfile.TemporaryDirectory() as folder:
            _, arrivals, left = recorded(name, Path(folder), seconds=20)
        given = parameters(law)
        ours = serve(DualPI2(given), arrivals, RATE)
        same = sum(one == other for one, other in zip(left, ours.sent, strict=False))
        step = given.min_th + given.range / 2
        linux = [serve(LinuxDualPI2(given, seed, step), arrivals, RATE) for seed in range(5)]
        found = shares(ours, arrivals)
        others = [shares(one, arrivals) for one in linux]
        row = [name, f"{same} of {len(left)}"]
        for key, scale in (
            ("l_marked", 100),
            ("c_marked", 100),
            ("c_dropped", 100),
            ("l_ms", 1),
            ("c_ms", 1),
        ):
            row += [f"{found[key] * scale:.3g} / {mean(other[key] * scale for other in others)}"]
        rows.append(row)
    head = ["case", "as the pseudocode", "L marked (%)", "C marked", "C dropped", "L waits (ms)", "C waits"]
    return markdown(head, rows)


def fates(left: Left, arrivals: list[Packet]) -> dict[str, float]:
    """What became of the packets of each queue: the share marked and dropped (%), and the mean wait (ms)."""
    at = {number: (ecn, when) for number, ecn, when in left}
    found = {}
    for name, is_low in (("L", True), ("C", False)):
        packets = [one for one in arrivals if (one.ecn in (ECT_1, CE)) == is_low]
        gone = [(one, *at[one.number]) for one in packets if one.number in at]
        # A queue with the packets of a connection's beginning alone tells nothing.
        if len(gone) > 10:
            marked = sum(ecn == CE != one.ecn for one, ecn, _ in gone)
            found[f"{name} marked (%)"] = 100 * marked / len(packets)
            found[f"{name} dropped (%)"] = 100 * (1 - len(gone) / len(packets))
            found[f"{name} mean wait (ms)"] = sum(when - one.came for one, _, when in gone) / len(gone) / 1e6
            waits = sorted(when - one.came for one, _, when in gone)
            found[f"{name} p99 of the wait (ms)"] = waits[len(waits) * 99 // 100] / 1e6
    return found


def of_kernel(kernel: Path, runs: int = 20, seconds: int = 5) -> str:
    """The pseudocode, the rules of Linux and a kernel on the same arrivals behind the same `tbf`."""
    rows = []
    for name, (law, _) in LOADS.items():
        with tempfile.TemporaryDirectory() as folder:
            _, arrivals, _ = recorded(name, Path(folder), seconds=seconds)
        given = parameters(law)
        ours = fates(Bucket(DualPI2(given), RATE).serve(arrivals), arrivals)
        rules = [
            fates(Bucket(LinuxDualPI2(given, seed, given.min_th), RATE).serve(arrivals), arrivals)
            for seed in range(runs)
        ]
        theirs = [
            fates(serve_in_kernel(kernel, arrivals, given, given.min_th, RATE, seed), arrivals)
            for seed in range(runs)
        ]
        rows += [
            [name, what, f"{value:.3g}", *(mean(run[what] for run in side) for side in (rules, theirs))]
            for what, value in ours.items()
        ]
    return markdown(["load", "packets", "pseudocode", "rules of Linux", "kernel"], rows)


def record(kernel: Path) -> None:
    """Keep what a kernel does where nothing is random, for the tests."""
    left = serve_in_kernel(kernel, calm(), CALM, CALM.min_th, RATE, 1)
    kept = {
        "numbers": [number for number, _, _ in left],
        "marked": [number for number, ecn, _ in left if ecn == CE],
        "us": [at // 1000 for _, _, at in left],
    }
    KERNEL.write_text(json.dumps(kept) + "\n", "ascii")


PLACES = {
    "l4s": ("access-point.md", of_laws),
    "l4s small": ("access-point.md", of_small),
    "dualpi2": ("queues.md", of_dualpi2),
}


def write(name: str, file: str, table: str) -> None:
    """Put a table into its place on a page."""
    path = Path(__file__).with_name(file)
    place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    page = path.read_text(encoding="utf-8")
    assert place.search(page), f"{path} has no place for {name}"
    path.write_text(place.sub(lambda match: f"{match[1]}\n{table}\n\n{match[2]}", page), encoding="utf-8")


def main() -> None:
    if sys.argv[1:2] == ["--kernel"]:
        record(Path(sys.argv[2]))
        write("dualpi2 in the kernel", "queues.md", of_kernel(Path(sys.argv[2])))
        return
    for name, (file, table) in PLACES.items():
        write(name, file, table())


if __name__ == "__main__":
    main()
