"""Writes the tables of docs/fit.md: how often intervals of `lasthop fit` hold the truth, and how it predicts.

    .venv/bin/python docs/make_fit.py [CAPTURES]

Each kind of link is simulated as often (default: 100), with values drawn for each capture; the fit sees the
capture only. It takes about half an hour. `tests/python/test_fit.py` has a capture of each kind.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import lasthop as lh
from lasthop import _core
from lasthop.captures.channel import NOISE_DBM

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).resolve().parent / "fit.md"
BEGIN, END = "<!-- written by docs/make_fit.py -->\n", "<!-- end of what docs/make_fit.py writes -->\n"
# The maximum number of captures of a kind of which one half predicts the other.
PREDICTED = 40
SATURATED = {"kind": "cbr", "cbr": {"rate": "90 Mbit/s", "packet": "1472 B"}}


@dataclass(frozen=True)
class Kind:
    """Links of one kind: a scenario with the truth of it, in the units of the table of quantities."""

    name: str
    make: Callable[[random.Random], tuple[dict[str, object], dict[str, float]]]


def link(stations: int, air: dict[str, object], flow: dict[str, object], seconds: float) -> dict[str, object]:
    """A scenario of one network."""
    return {
        "run": {"duration": f"{seconds} s"},
        "nodes": {"ap": {}, "sta": {"count": stations}},
        "links": {"air": {"kind": "wifi", "nodes": ["ap", "sta"], "access-point": "ap", **air}},
        "flows": {"load": flow},
    }


def fixed_rate(draw: random.Random) -> tuple[dict[str, object], dict[str, float]]:
    """802.11g at one rate: up to three stations send, frames are lost at one probability."""
    loss, window, rate = draw.uniform(1, 15), draw.choice((7, 15, 31)), draw.choice((12, 24, 36, 54))
    air = {"standard": "802.11g", "rate": f"{rate} Mbit/s", "cw-min": window}
    air["loss"] = {"model": "packet", "rate": f"{loss:.4f} %"}
    load = {"from": "sta", "to": "ap", "app": SATURATED, "udp": {}}
    truth = {LOSS: loss, ANSWERS: loss, f"attempts at {rate} Mbit/s": 100, WINDOW: window, ANSWER: 10}
    return link(draw.choice((1, 2, 3)), air, load, 3), truth


def aggregation(draw: random.Random) -> tuple[dict[str, object], dict[str, float]]:
    """802.11n with A-MPDUs of a limited number of frames, to or from one or two stations."""
    loss, window, count = draw.uniform(1, 15), draw.choice((7, 15, 31)), draw.choice((4, 8, 12))
    mcs = draw.choice((3, 5, 7))
    air = {"standard": "802.11n", "mcs": mcs, "aggregate": {"count": count}}
    air |= {"edca": {"best-effort": {"cw-min": window}}, "loss": {"model": "packet", "rate": f"{loss:.4f} %"}}
    ends = {"from": "ap", "to": "sta"} if draw.random() < 0.5 else {"from": "sta", "to": "ap"}
    truth = {LOSS: loss, ANSWERS: loss, MOST: count, WINDOW: window, ANSWER: 16}
    truth[f"attempts at MCS {mcs}, 20 MHz"] = 100
    return link(draw.choice((1, 2)), air, {**ends, "app": SATURATED, "udp": {}}, 2), truth


def by_signal(power: float, shadowing: dict[str, object]) -> dict[str, object]:
    """802.11n with Minstrel, where frames are lost by the ratio of signal to noise."""
    propagation = {"model": "flat", "flat-power": f"{NOISE_DBM + power:.4f} dBm", **shadowing}
    weakest = {"receive-threshold": "-110 dBm", "carrier-sense-threshold": "-110 dBm"}
    return {
        "standard": "802.11n",
        "mcs": 7,
        "radio": "ns3",
        "rate-control": {"kind": "minstrel-ht"},
        "propagation": propagation,
        "reception": weakest,
    }


def rate_control(draw: random.Random) -> tuple[dict[str, object], dict[str, float]]:
    """Rate control at a constant ratio of signal to noise, which sets how often each mode fails."""
    ratio = draw.uniform(8, 22)
    truth = {RATIO: ratio, WINDOW: 15, ANSWER: 16}
    for mcs in range(8):
        truth[f"lost at MCS {mcs}, 20 MHz"] = 100 * _core.mpdu_failure(mcs, 1538, 10 ** (ratio / 10))
    load = {"from": "ap", "to": "sta", "app": SATURATED, "udp": {}}
    return link(1, by_signal(ratio, {}), load, 3), truth


def varying(draw: random.Random) -> tuple[dict[str, object], dict[str, float]]:
    """Rate control at a ratio that is drawn again and again."""
    ratio, deviation, redraw = draw.uniform(12, 22), draw.uniform(1.5, 4), draw.choice((100, 200, 300))
    shadowing = {"model": "log-normal", "deviation": f"{deviation:.3f} dB", "redraw": f"{redraw} ms"}
    load = {"from": "ap", "to": "sta", "app": SATURATED, "udp": {}}
    truth = {MEAN: ratio, DEVIATION: deviation, REDRAW: redraw / 1e3, WINDOW: 15, ANSWER: 16}
    return link(1, by_signal(ratio, {"shadowing": shadowing}), load, 5), truth


LOSS, ANSWERS = "frames of data lost per attempt", "answers that were missed"
WINDOW, ANSWER, MOST = "CWmin", "time to an answer", "most frames in a transmission"
RATIO, MEAN = "ratio of signal to noise", "ratio of signal to noise, mean"
DEVIATION, REDRAW = "its standard deviation", "time until it changes"
KINDS = (
    Kind("802.11g, one rate, frames lost", fixed_rate),
    Kind("802.11n, aggregation, frames lost", aggregation),
    Kind("802.11n, Minstrel, constant ratio", rate_control),
    Kind("802.11n, Minstrel, varying ratio", varying),
)


def trial(
    kind: Kind, number: int, folder: Path, length: str | None = None
) -> tuple[lh.Fit, list[tuple[str, bool | None]]]:
    """A fit, and whether the interval of each quantity holds the truth; `None` if it has none."""
    values, truth = kind.make(random.Random(f"{kind.name} {number}"))  # noqa: S311 - draws scenarios
    file = folder / "air.pcap"
    scenario = lh.from_dict(values, "truth")
    scenario = scenario if length is None else scenario.set({"run.duration": length})
    scenario.run(seed=number, pcap={"air": file})
    fit = lh.fit(file)
    found = {str(row["quantity"]): row for row in fit.parameters().rows}
    said: list[tuple[str, bool | None]] = []
    for name, value in truth.items():
        row = found.get(name)
        if row is not None:
            slack = 1e-9 * max(abs(value), 1.0)
            said.append((name, row["low"] - slack <= value <= row["high"] + slack))
        elif not name.startswith("lost at"):
            said.append((name, None))
    return fit, said


def coverage(captures: int, folder: Path) -> str:
    """A table of how often the intervals hold the truth."""
    lines = ["| links | quantity | intervals | hold the truth |", "| --- | --- | --- | --- |"]
    for kind in KINDS:
        held: dict[str, list[bool]] = {}
        whole = 0
        for number in range(1, captures + 1):
            _, said = trial(kind, number, folder)
            whole += all(it is not False for _, it in said)
            for name, holds in said:
                of = held.setdefault(_together(name), [])
                if holds is not None:
                    of.append(holds)
        for place, (name, of) in enumerate(held.items()):
            share = f"{100 * sum(of) / len(of):.0f} %" if of else "–"
            lines.append(f"| {kind.name if place == 0 else ''} | {name} | {len(of)} | {share} |")
        print(kind.name, whole, {name: (sum(of), len(of)) for name, of in held.items()}, flush=True)
    return "\n".join(lines)


def _together(name: str) -> str:
    """The name of a row of the table: all modes have one."""
    if name.startswith("lost at"):
        return "lost at each MCS"
    return "attempts in the mode" if name.startswith("attempts at") else name


def predictions(captures: int, folder: Path) -> str:
    """A table of how often the predicted interval holds what the second half of a capture shows."""
    lines = [
        "| links | quantity | captures | hold the second half | median difference |",
        "| --- | --- | --- | --- | --- |",
    ]
    for kind in KINDS:
        held: dict[str, list[tuple[bool, float]]] = {}
        for number in range(1, captures + 1):
            fit, _ = trial(kind, number, folder)
            for row in fit.predict().rows:
                shown = row["second half"]
                by = "delivered by each station" if "delivered by" in row["quantity"] else row["quantity"]
                difference = abs(row["difference (%)"]) if shown else 0.0
                held.setdefault(by, []).append((row["low"] <= shown <= row["high"], difference))
        for place, (name, of) in enumerate(held.items()):
            share = 100 * sum(holds for holds, _ in of) / len(of)
            middle = statistics.median(difference for _, difference in of)
            first = kind.name if place == 0 else ""
            lines.append(f"| {first} | {name} | {len(of)} | {share:.0f} % | {middle:.1f} % |")
        print(*lines[-len(held) :], sep="\n", flush=True)
    return "\n".join(lines)


def main() -> None:
    """Write the tables."""
    captures = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    with tempfile.TemporaryDirectory() as name:
        block = (
            f"\n{coverage(captures, Path(name))}\n\n{predictions(min(captures, PREDICTED), Path(name))}\n\n"
        )
    before, _, rest = PAGE.read_text("utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}{block}{END}{rest.partition(END)[2]}", "utf-8")


if __name__ == "__main__":
    main()
