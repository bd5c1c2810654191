"""Writes the tables of access-point.md:

    .venv/bin/python docs/make_access_point.py

The runs go to studies/today.
"""

import re
from collections import Counter
from pathlib import Path

import lasthop as lh
from lasthop.base.table import markdown
from lasthop.stats.intervals import interval
from lasthop.stats.wifi_today import anomaly

PAGE = Path(__file__).with_name("access-point.md")
STATIONS = ("fast1", "fast2", "slow")
RATES = (144.4, 144.4, 7.2)
LAWS = ("plain queue", "turns of an A-MPDU", "airtime")


def study(name: str) -> lh.Study:
    """All runs of a scenario."""
    made = lh.load(name).sweep()
    made.run()
    return made


def value(made: lh.Study, point: int, metric: str, scale: float) -> str:
    """The mean of a metric with its interval."""
    found = interval([(row.metrics[metric] or 0) * scale for row in made.rows(point) if row.metrics])
    return f"{found.mean:.4g} ± {found.half:.2g}"


def sizes(scenario: lh.Scenario, point: int) -> tuple[list[float], list[float]]:
    """Packets in an A-MPDU, and the share of the airtime of data, for each station."""
    events = scenario.run(point=point, trace=["events"]).trace("events")
    frames: Counter[object] = Counter()
    time: Counter[object] = Counter()
    packets: Counter[object] = Counter()
    rows = zip(
        *(events[name] for name in ("layer", "event", "what", "link", "node", "peer", "duration_s")),
        strict=True,
    )
    for layer, event, what, link, node, peer, duration in rows:
        if (layer, event) == ("frame", "send") and what in ("data", "a-mpdu"):
            frames[peer] += 1
            time[peer] += float(duration)
        if (layer, event, link) == ("link", "receive", "air"):
            packets[node] += 1
    return [packets[name] / frames[name] for name in STATIONS], [
        time[name] / time.total() for name in STATIONS
    ]


def of_anomaly() -> str:
    """Shares and rates beside the model."""
    made = study("today/anomaly")
    rows = []
    for point, law in enumerate(LAWS):
        long, shares = sizes(made.scenario.set({"run.duration": "8 s"}), point)
        found = [value(made, point, f"flows.{name}.goodput_bps", 1e-6) for name in STATIONS]
        modelled = ["–"] * 3
        if point:
            _, rates = anomaly(RATES, long, is_fair=point == 2, packet=1472)
            modelled = [f"{rate:.2f}" for rate in rates]
        for name, *cells in zip(STATIONS, long, shares, found, modelled, strict=True):
            size, share, goodput, model = cells
            rows.append([law, name, f"{size:.1f}", f"{100 * share:.1f} %", goodput, model])
    return markdown(["queue", "station", "MPDUs", "share of the air", "Mbit/s", "model"], rows)


def of_latency() -> str:
    """Round trips of pings, and goodputs."""
    made = study("today/latency")
    rows = []
    for point, law in enumerate(("plain queue", "FQ-CoDel", *LAWS[1:])):
        cells = [
            value(made, point, f"flows.ping-{name}.rtt_{at}_s", 1e3)
            for name in ("fast", "slow")
            for at in ("p50", "p95")
        ]
        cells += [value(made, point, f"flows.{name}.goodput_bps", 1e-6) for name in ("fast", "slow")]
        rows.append([law, *cells])
    head = ["queue", "ping fast, p50 (ms)", "p95", "ping slow, p50", "p95", "fast (Mbit/s)", "slow"]
    return markdown(head, rows)


KNOBS = (
    "as shipped",
    "a plain queue",
    "two aggregates in the hardware, no AQL",
    "AQL of 2 ms",
    "CoDel's target of 5 ms",
    "turns of an aggregate",
    "TXOP limit of 2.528 ms",
    "aggregates of 1 ms",
    "an ACK filter at the laptop",
)


def of_knobs() -> str:
    """Pings and goodputs under load, a knob turned at a time."""
    made = study("examples/knobs")
    metrics = {
        "ping, p50 (ms)": ("flows.ping.rtt_p50_s", 1e3),
        "p95": ("flows.ping.rtt_p95_s", 1e3),
        "of voice, p95": ("flows.ping-voice.rtt_p95_s", 1e3),
        "down (Mbit/s)": ("flows.down.goodput_bps", 1e-6),
        "up": ("flows.up.goodput_bps", 1e-6),
        "phone": ("flows.phone.goodput_bps", 1e-6),
    }
    rows = [
        [knob, *(value(made, point, metric, scale) for metric, scale in metrics.values())]
        for point, knob in enumerate(KNOBS)
    ]
    return markdown(["knob", *metrics], rows)


def of_rate_anomaly() -> str:
    """Goodput of all stations beside INET."""
    made = study("today/rate-anomaly")
    of = {
        (point["nodes.slow.wifi.rate"], point["flows.slow.to"], law): number
        for number, point in enumerate(made.points())
        for law in [point["links.air.aqm.law"] + ", " + point["links.air.aqm.mac80211.airtime-fairness"]]
    }
    inet = {
        ("up", "none, false"): ("24.1", "12.0 to 12.4"),
        ("down, plain queue", "none, false"): ("24.5", "8.5"),
        ("down, turns", "mac80211, false"): ("24.5", "14"),
        ("down, airtime", "mac80211, true"): ("24.5", "22"),
    }
    rows = []
    for (name, law), (without, with_it) in inet.items():
        to = "ap" if name == "up" else "slow"
        found = [value(made, of[rate, to, law], "goodput_bps", 1e-6) for rate in ("54 Mbit/s", "6 Mbit/s")]
        rows.append([name, found[0], without, found[1], with_it])
    return markdown(["", "all at 54", "INET", "one at 6", "INET"], rows)


def main() -> None:
    page = PAGE.read_text(encoding="utf-8")
    tables = {
        "anomaly": of_anomaly,
        "latency": of_latency,
        "knobs": of_knobs,
        "rate anomaly": of_rate_anomaly,
    }
    for name, table in tables.items():
        place = re.compile(rf"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
        assert place.search(page), f"{PAGE} has no place for {name}"
        text = f"\n{table()}\n\n"
        page = place.sub(lambda match, text=text: match[1] + text + match[2], page)
    PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
