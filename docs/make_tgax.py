"""Writes the tables of tgax.md, from simulations, closed forms, and what firms published.

.venv/bin/python docs/make_tgax.py
"""

from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import lasthop as lh
from lasthop.stats.intervals import interval
from lasthop.stats.wifi_today import Cell, bianchi

PAGE = Path(__file__).with_name("tgax.md")
BEGIN, END = "<!-- Written by make_tgax.py: {}. -->", "<!-- End of what make_tgax.py writes. -->"
# An MSDU has headers of LLC, IP and UDP besides the payload.
HEADERS = 36
NEVER, ALWAYS = "never", "0 B"
# Application throughput in Mbit/s of both BSSs in test 4, without and with RTS: MediaTek, 11-14/1434r0.
MEDIATEK = {NEVER: (8.10664, 1.52189), ALWAYS: (7.76083, 1.30356)}
# Throughput in Mbit/s of the BSSs of Box 5: Ericsson, 11-15/0623r1.
ERICSSON = {
    "down": {"down-a": 84.3, "down-b": 122.7, "down-c": 104.6},
    "up": {"up-a": 80.9, "up-b": 120.4, "up-c": 137.8},
    "both": {"down-a": 2.0, "up-a": 49.9, "down-b": 40.4, "up-b": 105.7, "down-c": 28.3, "up-c": 123.2},
}

EQUAL = {f"nodes.sta-{cell}.wifi.transmit-power": "20 dBm" for cell in "abc"}


def cell(mcs: int, msdu: int, *, rts: bool) -> Cell:
    """Tests 1 and 2: two MPDUs in 20 MHz, AIFS of 34 us, responses at 6 Mbit/s."""
    payload = msdu - HEADERS
    return Cell("802.11ac", mcs, 20, count=2, packet=payload + 28, payload=payload, aifsn=2, basic=0, rts=rts)


def table(head: str, rows: list[str]) -> str:
    """Lines of Markdown."""
    return "\n".join([head, "| --- " * (head.count("|") - 1) + "|", *rows])


def swept(name: str) -> lh.Study:
    """All runs of a scenario."""
    with TemporaryDirectory() as folder:
        return lh.load(f"validation/{name}").sweep(out=folder).run()


def overhead() -> str:
    """Tests 1a and 1b: MAC throughput."""
    scenario = lh.load("validation/tgax-1")
    rows = []
    for mcs in (0, 8):
        for msdu in (500, 1000, 1500, 2000):
            line = f"| {mcs} | {msdu} "
            for rts in (NEVER, ALWAYS):
                one = cell(mcs, msdu, rts=rts == ALWAYS)
                settings = {"links.air.mcs": str(mcs), "links.air.rts-threshold": rts}
                run = scenario.set({**settings, "flows.down.app.cbr.packet": f"{one.payload} B"}).run()
                found = (run.metrics["flows.down.goodput_bps"] or 0.0) * msdu / one.payload
                expected = one.goodput_bps * msdu / one.payload
                line += f"| {expected / 1e6:.3f} | {found / 1e6:.3f} | {found / expected - 1:+.2%} "
            rows.append(f"{line}|")
    return table("| MCS | MSDU, B | 1a | ours | difference | 1b | ours | difference |", rows)


def frames(mcs: int, rts: str) -> list[tuple[str, float, float]]:
    """Kind, start and duration in microseconds of the frames of A-MPDUs with MSDUs of 1500 B."""
    settings = {"links.air.mcs": str(mcs), "links.air.rts-threshold": rts, "run.duration": "1 s"}
    scenario = lh.load("validation/tgax-1").set({**settings, "flows.down.app.cbr.packet": "1464 B"})
    of = scenario.run(trace=["events"]).trace("events").columns
    sent = [
        (of["what"][row], round(of["time_s"][row] * 1e6, 3), round(of["duration_s"][row] * 1e6, 3))
        for row in range(len(of["time_s"]))
        if of["layer"][row] == "frame" and of["event"][row] == "send"
    ]
    # The first packet is alone.
    return sent[4:] if rts == ALWAYS else sent[2:]


def check_points(mcs: int, rts: str) -> dict[str, set[float]]:
    """The intervals between check points: duration of each kind of frame, and the gap before it."""
    sent = frames(mcs, rts)
    found: dict[str, set[float]] = {}
    for (before, start, lasted), (kind, begin, lasts) in pairwise(sent):
        found.setdefault(kind, set()).add(lasts)
        found.setdefault(f"{before} to {kind}", set()).add(round(begin - start - lasted, 3))
    return found


def checked() -> str:
    """The check points of tests 1a and 1b."""
    rows = []
    for mcs in (0, 8):
        one, found = cell(mcs, 1500, rts=True), check_points(mcs, ALWAYS)
        expected = {
            "rts": one.control(20),
            "cts": one.control(14),
            "a-mpdu": one.ppdu(one.size(2)),
            "block-ack": one.response,
        }
        for kind, value in expected.items():
            rows.append(f"| {mcs} | duration of {kind} | {value:g} | {shown(found[kind])} |")
        rows += [
            f"| {mcs} | {gap} | 16 | {shown(found[gap])} |"
            for gap in ("rts to cts", "cts to a-mpdu", "a-mpdu to block-ack")
        ]
        rows.append(
            f"| {mcs} | block-ack to rts | 34 + 9 n, n from 0 to 15 | {shown(found['block-ack to rts'])} |"
        )
    return table("| MCS | interval | standard, us | ours, us |", rows)


def shown(values: set[float]) -> str:
    """All values, or the least and the greatest."""
    return " ".join(f"{value:g}" for value in sorted(values))


def deferral() -> str:
    """Tests 2a, 2b and 3."""
    study = swept("tgax-2")
    expected, collides = bianchi(cell(0, 1500, rts=False), 2)
    names = ["2a", "2a with RTS", "2b", "3: 2b with RTS"]
    model = [f"{expected / 1e6 * 1500 / 1464:.2f} (Bianchi; {collides:.1%} of attempts collide)", "", "", ""]
    rows = []
    for point, (name, formula) in enumerate(zip(names, model, strict=True)):
        one, two = (mean(study, point, f"flows.{flow}.goodput_bps") * 1500 / 1464 for flow in ("one", "two"))
        sent = mean(study, point, "links.air.frames_sent")
        lost = mean(study, point, "links.air.frames_collided") / sent
        sums = " | ".join(f"{value / 1e6:.2f}" for value in (one, two, one + two))
        rows.append(f"| {name} | {formula} | {sums} | {lost:.1%} |")
    return table("| test | expected sum | BSS 1 | BSS 2 | sum | of all frames, collided |", rows)


def mean(study: lh.Study, point: int, metric: str) -> float:
    """The mean over the runs."""
    found = [value or 0.0 for value in study.values(point, metric).values()]
    return sum(found) / len(found)


def widths() -> str:
    """Test 4."""
    study, rows = swept("tgax-4"), []
    for point, (rts, firm) in enumerate(MEDIATEK.items()):
        wide, narrow = (mean(study, point, f"flows.{flow}.goodput_bps") / 1e6 for flow in ("wide", "narrow"))
        name = "off" if rts == NEVER else "on"
        rows.append(f"| {name} | {firm[0]:.2f} | {wide:.2f} | {firm[1]:.2f} | {narrow:.2f} |")
    head = "| RTS | BSS of 40 MHz: MediaTek | ours | BSS of 20 MHz: MediaTek | ours |"
    return table(head, rows)


def box() -> str:
    """Box 5."""
    study, rows = swept("tgax-box5"), []
    for point, (direction, firm) in enumerate(ERICSSON.items()):
        found = {flow: megabits(study, point, flow) for flow in firm}
        sums = [sum(run) for run in zip(*found.values(), strict=True)]
        for flow, values in {**found, "sum": sums}.items():
            theirs = firm.get(flow, sum(firm.values()))
            average = sum(values) / len(values)
            name = flow if flow == "sum" else f"{flow[:-2]}, BSS {flow[-1].upper()}"
            rows.append(f"| {direction} | {name} | {theirs:.1f} | {average:.1f} | {spread(values)} |")
    return table("| traffic | goodput | Ericsson | ours | 5 to 95 % of runs |", rows)


BUSY = "links.air.reception.carrier-sense-threshold"
LONG = {"links.air.aggregate.count": 64}
# Without the 2 dB of the stations' antennas.
NO_ANTENNA = {f"nodes.sta-{cell}.wifi.transmit-power": "15 dBm" for cell in "abc"}
READINGS = {
    "powers of 20 and 13 dBm, busy from -82 dBm": {},
    "the same, busy from -76 dBm": {BUSY: "-76 dBm"},
    "the same, busy from -70 dBm": {BUSY: "-70 dBm"},
    "20 dBm for all, busy from -82 dBm": EQUAL,
    "20 dBm for all, busy from -70 dBm": EQUAL | {BUSY: "-70 dBm"},
    "powers of 20 and 13 dBm, A-MPDUs of 64": LONG,
    "powers of 20 and 15 dBm": NO_ANTENNA,
    "powers of 20 and 15 dBm, A-MPDUs of 64": NO_ANTENNA | LONG,
}
READING_RUNS = 20


def readings() -> str:
    """What the access points get with traffic both ways, and the sums, by what the sources leave open."""
    both, named = ERICSSON["both"], " | ".join(f"{sum(firm.values()):.0f}" for firm in ERICSSON.values())
    rows = [f"| Ericsson | {shares(both)} | {named} |"]
    for name, settings in READINGS.items():
        scenario = lh.load("validation/tgax-box5").set(settings)
        sums = []
        for point, firm in enumerate(ERICSSON.values()):
            metrics = [
                scenario.run(point=point, replication=number).metrics for number in range(READING_RUNS)
            ]
            runs = [{flow: (run[f"flows.{flow}.goodput_bps"] or 0) / 1e6 for flow in firm} for run in metrics]
            found = interval([sum(run.values()) for run in runs])
            sums.append(f"{found.mean:.0f} ± {found.half:.0f}")
        # The last direction is both.
        rows.append(f"| {name} | {shares(averages(runs))} | {' | '.join(sums)} |")
    head = "| reading | AP A (% of its BSS, both ways) | AP B | AP C | sum, down (Mbit/s) | up | both |"
    return table(head, rows)


def averages(runs: list[dict[str, float]]) -> dict[str, float]:
    """The mean of each flow."""
    return {flow: sum(run[flow] for run in runs) / len(runs) for flow in runs[0]}


def shares(found: dict[str, float]) -> str:
    """The share of each access point in what its BSS carries, as cells of a table."""
    whole = {cell: found[f"down-{cell}"] + found[f"up-{cell}"] for cell in "abc"}
    return " | ".join(f"{100 * found[f'down-{cell}'] / of:.1f}" for cell, of in whole.items())


def megabits(study: lh.Study, point: int, flow: str) -> list[float]:
    """The goodput of a flow in each run."""
    return [(value or 0.0) / 1e6 for value in study.values(point, f"flows.{flow}.goodput_bps").values()]


def spread(values: list[float]) -> str:
    """The range of runs without a twentieth at each end."""
    ordered = sorted(values)
    return f"{ordered[len(ordered) // 20]:.1f} to {ordered[-1 - len(ordered) // 20]:.1f}"


TABLES = {
    "overhead": overhead,
    "checked": checked,
    "deferral": deferral,
    "widths": widths,
    "box": box,
    "readings": readings,
}


def written(text: str, *names: str) -> str:
    """A page with some tables anew.

    Args:
        text: The page.
        names: The tables.

    Returns:
        The page.
    """
    for name in names:
        head, rest = text.split(BEGIN.format(name))
        text = f"{head}{BEGIN.format(name)}\n\n{TABLES[name]()}\n\n{END}{rest.split(END, 1)[1]}"
    return text


if __name__ == "__main__":
    PAGE.write_text(written(PAGE.read_text("utf-8"), *TABLES), "utf-8")
