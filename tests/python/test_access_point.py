"""An access point of today beside the model of "Ending the Anomaly" and INET; rates of single stations."""

from __future__ import annotations

import tomllib
from collections import Counter
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop.stats.wifi_today import anomaly

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path
    from subprocess import CompletedProcess

    Cli = Callable[..., CompletedProcess[str]]

RATES = (144.4, 144.4, 7.2)
STATIONS = ("fast1", "fast2", "slow")
MPDUS = ("data", "a-mpdu")
PLAIN, TURNS, FAIR = range(3)


def test_the_model_has_the_numbers_of_the_paper() -> None:
    shares, rates = anomaly(RATES, (4.47, 5.08, 1.89), is_fair=False)
    assert [100 * share for share in shares] == pytest.approx([10.0, 11.2, 78.8], abs=0.15)
    assert rates == pytest.approx([9.7, 11.3, 5.15], abs=0.1)
    _, rates = anomaly(RATES, (18.44, 18.52, 1.89), is_fair=True)
    assert rates == pytest.approx([42.2, 42.3, 2.2], abs=0.1)


def measured(scenario: lh.Scenario, point: int) -> tuple[list[float], list[float], list[float]]:
    """MPDUs in an A-MPDU, the share of the airtime of data, and the goodput in Mbit/s of each station."""
    run = scenario.run(point=point, trace=["events"])
    events = run.trace("events")
    frames: Counter[object] = Counter()
    time: Counter[object] = Counter()
    packets: Counter[object] = Counter()
    for i in range(len(events)):
        if events["layer"][i] == "frame" and events["event"][i] == "send" and events["what"][i] in MPDUS:
            frames[events["peer"][i]] += 1
            time[events["peer"][i]] += float(events["duration_s"][i])
        if events["layer"][i] == "link" and events["event"][i] == "receive" and events["link"][i] == "air":
            packets[events["node"][i]] += 1
    sizes = [packets[name] / frames[name] for name in STATIONS]
    shares = [time[name] / time.total() for name in STATIONS]
    return sizes, shares, [(run.metrics[f"flows.{name}.goodput_bps"] or 0) / 1e6 for name in STATIONS]


@pytest.mark.parametrize("point", [TURNS, FAIR])
def test_shares_and_rates_are_those_of_the_model(point: int) -> None:
    scenario = lh.load("today/anomaly").set({"run.duration": "8 s"})
    sizes, shares, goodputs = measured(scenario, point)
    assert sizes == pytest.approx([32, 32, 2], rel=0.02)
    expected, rates = anomaly(RATES, sizes, is_fair=point == FAIR, packet=1472)
    assert goodputs == pytest.approx(rates, rel=0.03)
    assert shares == pytest.approx(expected, rel=0.03)


def test_a_plain_queue_gives_all_stations_the_rate_of_the_slow_one() -> None:
    scenario = lh.load("today/anomaly").set({"run.duration": "12 s"})
    _, shares, goodputs = measured(scenario, PLAIN)
    assert goodputs == pytest.approx([5.85] * 3, rel=0.03)
    assert shares[2] > 0.8


def total(point: int, slow: str) -> float:
    scenario = lh.load("today/rate-anomaly").set({"nodes.slow.wifi.rate": slow, "run.duration": "4 s"})
    return (scenario.run(point=point).metrics["goodput_bps"] or 0) / 1e6


def test_the_rate_anomaly_is_that_of_inets_showcase() -> None:
    up, down, turns, fair = range(4)
    assert total(up, "54 Mbit/s") == pytest.approx(24.1, rel=0.02)
    assert total(up, "6 Mbit/s") == pytest.approx(12.2, rel=0.06)
    assert total(down, "54 Mbit/s") == pytest.approx(24.5, rel=0.02)
    assert total(turns, "6 Mbit/s") == pytest.approx(14, rel=0.03)
    assert total(fair, "6 Mbit/s") == pytest.approx(22, rel=0.03)


def test_queues_of_stations_keep_pings_fast_under_load() -> None:
    scenario = lh.load("today/latency").set({"run.duration": "12 s"})
    plain, fq_codel, turns, fair = (scenario.run(point=point).metrics for point in range(4))
    ping = "flows.ping-fast.rtt_p50_s"
    assert plain[ping] > 0.4
    assert turns[ping] < 0.04
    assert fair[ping] < 0.04
    assert fq_codel[ping] < plain[ping] / 5
    assert fair["flows.fast.goodput_bps"] > 4 * plain["flows.fast.goodput_bps"]


CELL = """
[run]
duration = "2 s"
[nodes]
ap = {}
near = {}
far = {}
[links.air]
kind = "wifi"
nodes = ["ap", "near", "far"]
access-point = "ap"
standard = "802.11n"
[flows.near]
from = "ap"
to = "near"
[flows.far]
from = "ap"
to = "far"
"""


def test_of_two_nodes_with_a_rate_of_their_own_the_slower_decides() -> None:
    def goodput(**mcs: int) -> float:
        scenario = tomllib.loads(CELL)
        scenario["links"]["air"]["standard"] = "802.11ax"
        del scenario["flows"]["far"]
        for node, value in mcs.items():
            scenario["nodes"][node]["wifi"] = {"mcs": value}
        return lh.from_dict(scenario).run().metrics["flows.near.goodput_bps"] or 0

    assert goodput(near=2, ap=7) == goodput(near=2) == goodput(near=7, ap=2) == goodput(ap=2)
    assert goodput(near=2) < 0.5 * goodput(near=9)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"nodes.far.wifi.mcs": "8"}, "nodes.far.wifi.mcs=8: 8; links.air has 0 to 7"),
        (
            {"nodes.far.wifi.width": "80 MHz"},
            "80 MHz; expected 20, 40, 80, 160 or 320, up to 20 of links.air",
        ),
        (
            {"nodes.far.wifi.rate": "6 Mbit/s"},
            "has no effect; expected far to be on a link of 802.11 with DCF",
        ),
        (
            {"nodes.far.wifi.rate": "7 Mbit/s", "links.air.standard": "802.11g"},
            '"7 Mbit/s" is not a rate of 802.11g; expected one of',
        ),
        (
            {"nodes.far.wifi.mcs": "1", "links.air.standard": "802.11a"},
            "has no effect; expected far to be on a link of 802.11n, ac, ax or be",
        ),
        (
            {
                "links.air.aqm.law": "mac80211",
                "links.air.aqm.mac80211.aql": "false",
                "links.air.aqm.mac80211.frames": "none",
            },
            "none, but aql is false: nothing limits the hardware",
        ),
        (
            {
                "links.air.aqm.law": "mac80211",
                "links.air.aqm.mac80211.law": "dualpi2",
                "links.air.aqm.mac80211.ce-threshold": "1 ms",
            },
            'ce-threshold=1 ms: no point uses it; expected links.air.aqm.mac80211.law = "fq-codel"',
        ),
        (
            {
                "links.air.aqm.law": "mac80211",
                "links.air.aqm.mac80211.law": "dualpi2",
                "links.air.aqm.mac80211.target": "1 us",
            },
            "0.000001 s with law = dualpi2; expected 0.1 ms to 10 s",
        ),
    ],
)
def test_what_a_station_cannot_have_is_refused(
    settings: dict[str, str], expected: str, cli: Cli, tmp_path: Path
) -> None:
    file = tmp_path / "cell.toml"
    file.write_text(CELL)
    options = [word for key, value in settings.items() for word in ("-s", f"{key}={value}")]
    done = cli("run", file, *options)
    assert (done.returncode, expected in done.stderr) == (2, True), done.stderr


def test_a_wire_has_no_stations(cli: Cli) -> None:
    done = cli("run", "examples/queues", "-s", "links.access.aqm.law=mac80211")
    assert (done.returncode, '"mac80211" is for stations; expected a link of kind wifi' in done.stderr) == (
        2,
        True,
    )


MOVES = """
[run]
duration = "14 s"
warmup = "9 s"
[nodes]
host = {}
router = {}
left = {}
right = {}
[nodes.mobile.handoff]
law = "periodic"
periodic = { first = "4 s", every = "4 s" }
from = "cell1"
to = "cell2"
gap = "300 ms"
[links]
lan = { kind = "wired", nodes = ["host", "router"], rate = "1 Gbit/s", delay = "5 ms" }
wire1 = { kind = "wired", nodes = ["router", "left"], rate = "1 Gbit/s", delay = "1 ms" }
wire2 = { kind = "wired", nodes = ["router", "right"], rate = "1 Gbit/s", delay = "1 ms" }
cell1 = { kind = "wifi", nodes = ["left", "mobile"], access-point = "left", standard = "802.11g" }
cell2 = { kind = "wifi", nodes = ["right", "mobile"], access-point = "right", standard = "802.11g" }
[flows.to]
from = "host"
to = "mobile"
"""


def test_a_station_that_comes_back_is_served_again(tmp_path: Path) -> None:
    file = tmp_path / "moves.toml"
    file.write_text(MOVES)
    sc = lh.load(file)
    laws = {f"links.cell{number}.aqm.law": "mac80211" for number in (1, 2)}
    plain, fair = (one.run(seed=3).metrics["flows.to.goodput_bps"] for one in (sc, sc.set(laws)))
    assert plain is not None
    assert fair is not None
    # What the hardware held of the old lane at the first hand-off was counted there for good.
    assert fair > 0.7 * plain > 10e6


def test_cubic_has_its_share_beside_bbr_under_the_limit_of_linux() -> None:
    # Linux bounds the queues of an interface at 8192 packets. Where 500 are the bound BBR, which takes
    # no loss for congestion, keeps them full, and CUBIC reduces its window at each drop.
    scenario = lh.load("examples/cubic-beside-bbr").set({"run.duration": "15 s"})
    small, *_, default = range(len(scenario.points()))
    assert scenario.points()[default]["links.air.queue"] == "8192 packets"

    def shares(point: int) -> float:
        metrics = scenario.run(point=point).metrics
        cubic, bbr = (metrics[f"flows.{law}.goodput_bps"] or 0.0 for law in ("cubic", "bbr"))
        return cubic / (cubic + bbr)

    assert shares(default) == pytest.approx(0.5, abs=0.05)
    assert shares(small) < 0.2


COUNTS, RULES = (1, 4, 16), 6


def l4s(stations: int, rule: int) -> dict[str, float]:
    """The metrics of a row of examples/l4s-wifi."""
    scenario = lh.load("examples/l4s-wifi").set({"run.duration": "6 s", "run.warmup": "2 s"})
    run = scenario.run(point=COUNTS.index(stations) * RULES + rule)
    return {name: value or 0.0 for name, value in run.metrics.items()}


def test_a_step_of_l4s_leaves_the_classic_flow_alone_and_takes_the_air_from_the_other() -> None:
    plain, without, short, long, dual, video = (l4s(1, rule) for rule in range(RULES))
    assert "links.air.marks" not in plain
    # Behind A-MPDUs of 4 ms a packet of a flow with two segments waits longer than 1 ms.
    assert short["flows.l4s.goodput_bps"] < 1e6
    assert without["flows.l4s.goodput_bps"] > 50e6
    assert short["flows.l4s.goodput_bps"] < long["flows.l4s.goodput_bps"] < 10e6
    sent = short["flows.l4s1.segments_sent"]
    assert 0.8 * sent < short["links.air.marks"] <= sent
    assert short["flows.classic.goodput_bps"] > 1.8 * without["flows.classic.goodput_bps"]
    assert short["flows.l4s.rtt_p99_s"] < 0.7 * without["flows.l4s.rtt_p99_s"]
    # The two queues of DualPI2 take turns, and video goes ahead of the A-MPDUs of best effort.
    for other in (dual, video):
        assert other["flows.l4s.goodput_bps"] > 2 * short["flows.l4s.goodput_bps"]
        assert other["flows.l4s.rtt_p50_s"] < 0.75 * short["flows.l4s.rtt_p50_s"]
    assert dual["links.air.aqm.l4s_packets"] > dual["links.air.marks"] > 0


def test_stations_alone_with_small_flows_are_marked_while_air_is_idle() -> None:
    tree = tomllib.loads(lh.load("examples/l4s-wifi").text)
    del tree["sweep"]
    del tree["flows"]["classic"]
    tree["flows"]["l4s"]["app"] = {"kind": "cbr", "cbr": {"rate": "2 Mbit/s", "packet": "1000 B"}}
    tree["links"]["air"]["aqm"]["mac80211"] = {"ce-threshold": "1 ms", "ce-threshold-for": "l4s"}

    def measured(stations: str) -> tuple[float, float]:
        settings = {"nodes.sta.count": stations, "run.duration": "4 s", "run.warmup": "1 s"}
        metrics = lh.from_dict(tree).set(settings).run().metrics
        return metrics["links.air.marks"] or 0, (metrics["links.air.airtime_idle_s"] or 0) / 3

    assert measured("1")[0] == 0
    marks, idle = measured("8")
    assert marks > 100
    assert idle > 0.4
