"""Multi-link devices of 802.11be: the sum of their links, one queue and one order, and what is refused."""

from __future__ import annotations

import pytest

import lasthop as lh
from lasthop.stats.wifi_today import Cell
from lasthop.views.glance import by_scope, remarks

CELL = """
[run]
duration     = "600 ms"
warmup       = "100 ms"
replications = 1
[nodes]
ap  = {}
sta = {}
[links.low]
kind         = "wifi"
nodes        = ["ap", "sta"]
access-point = "ap"
standard     = "802.11be"
width        = "80 MHz"
queue        = "4000 packets"
[flows.down]
from = "ap"
to   = "sta"
udp  = {}
app  = { kind = "cbr", cbr = { packet = "1472 B", rate = "6 Gbit/s" } }
"""


def cell(*others: str, text: str = CELL) -> lh.Scenario:
    """The cell with further links of these settings."""
    for number, settings in enumerate(others):
        text += f'[links.more-{number}]\nkind = "wifi"\nnodes = ["ap", "sta"]\naccess-point = "ap"\n'
        text += f'standard = "802.11be"\nqueue = "4000 packets"\nmulti-link = "low"\n{settings}\n'
    return lh.Scenario.from_text(text, "links.toml")


def metrics_of(scenario: lh.Scenario) -> dict[str, float]:
    return {name: value or 0.0 for name, value in scenario.run().metrics.items()}


@pytest.mark.parametrize("others", [[(13, 80)], [(9, 160)], [(13, 80), (5, 40)]])
def test_links_carry_the_sum_of_what_each_carries_alone(others: list[tuple[int, int]]) -> None:
    settings = [f'mcs = {mcs}\nwidth = "{width} MHz"\naggregate = {{ count = 256 }}' for mcs, width in others]
    found = metrics_of(cell(*settings).set({"links.low.aggregate.count": "256"}))
    links = [Cell("802.11be", mcs, width, count=256, window=1024) for mcs, width in [(13, 80), *others]]
    expected = sum(link.goodput_bps for link in links)
    assert found["flows.down.goodput_bps"] == pytest.approx(expected, rel=0.005)
    mpdus = [found[f"links.{name}.aggregated_mpdus"] for name in ["low", "more-0", "more-1"][: len(links)]]
    for link, count in zip(links, mpdus, strict=True):
        assert count / sum(mpdus) == pytest.approx(link.goodput_bps / expected, rel=0.01)


def test_one_window_for_all_links_leaves_a_second_link_of_320_mhz_nothing_while_the_first_sends() -> None:
    wide = 'width = "320 MHz"\nmcs = 13'
    both = cell(wide).set({"links.low.width": "320 MHz"})
    found = metrics_of(both)
    # 5.484 ms carry 1274 packets of 1500 B, and the window has 1024.
    assert found["links.low.aggregated_mpdus"] / found["links.low.aggregates"] > 900
    alone = Cell("802.11be", 13, 320, count=1024).goodput_bps
    assert found["flows.down.goodput_bps"] < 1.3 * alone
    shared = both.set({"links.low.aggregate.count": "512", "links.more-0.aggregate.count": "512"})
    one = Cell("802.11be", 13, 320, count=512, window=1024).goodput_bps
    assert metrics_of(shared)["flows.down.goodput_bps"] == pytest.approx(2 * one, rel=0.02)


def test_what_fails_on_one_link_goes_on_another_and_arrives_in_order() -> None:
    loss = 'loss = { model = "packet", rate = "60 %" }\nmcs = 5\nwidth = "20 MHz"'
    text = CELL.replace("udp  = {}\n", "").replace(
        'app  = { kind = "cbr", cbr = { packet = "1472 B", rate = "6 Gbit/s" } }', 'app = { kind = "bulk" }'
    )
    found = metrics_of(cell(loss, text=text).set({"run.warmup": "0 s"}))
    assert found["links.more-0.frames_errored"] > 0
    assert found["links.low.drops_retry"] + found["links.more-0.drops_retry"] == 0
    assert found["flows.down.retransmits"] == 0
    assert found["flows.down.goodput_bps"] > 2e8


def test_each_link_contends_for_itself_and_a_station_of_one_link_has_its_part_there_only() -> None:
    text = CELL.replace("sta = {}", 'sta = {}\nphone = { wifi = { mcs = 7, width = "20 MHz" } }')
    text = (
        text.replace('["ap", "sta"]', '["ap", "sta", "phone"]')
        + """
[flows.old]
from = "phone"
to   = "ap"
udp  = {}
app  = { kind = "cbr", cbr = { packet = "1472 B", rate = "100 Mbit/s" } }
"""
    )
    found = metrics_of(cell('width = "80 MHz"', text=text))
    free = Cell("802.11be", 13, 80, window=1024, count=1024).goodput_bps
    assert found["links.more-0.frames_collided"] == 0
    assert found["links.low.frames_collided"] > 0
    assert found["flows.old.goodput_bps"] > 2e7
    assert free < found["flows.down.goodput_bps"] < 2 * free


def test_what_goes_to_a_station_of_one_link_does_not_go_on_another() -> None:
    text = CELL.replace("sta = {}", "sta = {}\nphone = {}").replace('["ap", "sta"]', '["ap", "sta", "phone"]')
    found = metrics_of(cell('width = "80 MHz"', text=text.replace('to   = "sta"', 'to   = "phone"')))
    alone = Cell("802.11be", 13, 80, count=1024).goodput_bps
    assert found["flows.down.goodput_bps"] == pytest.approx(alone, rel=0.005)
    assert found["links.more-0.frames_sent"] == 0


# Bulk data over a wire to a station with two links, and to one with the first link alone.
TCP = """
[run]
duration     = "1500 ms"
warmup       = "500 ms"
replications = 1
[nodes]
server = {}
ap     = {}
sta    = {}
phone  = {}
[links.wire]
kind  = "wired"
nodes = ["server", "ap"]
rate  = "5 Gbit/s"
delay = "2 ms"
[links.low]
kind         = "wifi"
nodes        = ["ap", "sta", "phone"]
access-point = "ap"
standard     = "802.11be"
queue        = "4000 packets"
[flows.down]
from = "server"
to   = "sta"
tcp  = { window = "4000 segments" }
[flows.old]
from = "server"
to   = "phone"
"""


@pytest.mark.parametrize("kind", ["lle-tcp", "ack-filter", "snoop"])
def test_an_agent_of_a_device_sees_what_goes_over_all_of_its_links(kind: str) -> None:
    both = cell("", text=f'{TCP}[agents.all]\nkind = "{kind}"\n')
    found = metrics_of(both)
    assert found["links.more-0.aggregated_mpdus"] > 10_000
    # As an agent of one link it has all packets of both ways, and none twice.
    names = {"lle-tcp": "generated", "ack-filter": "suppressed", "snoop": "passed"}
    alone = metrics_of(lh.Scenario.from_text(both.text.split("[links.more-0]")[0], "one.toml"))
    shares = [m[f"agents.all.{names[kind]}"] / m["goodput_bps"] for m in (found, alone)]
    assert shares[0] == pytest.approx(shares[1], rel=0.1)
    assert found["flows.old.goodput_bps"] > 1e7


@pytest.mark.parametrize("law", ["fq-codel", "codel", "mac80211", "red"])
def test_the_law_of_the_first_link_manages_the_queue_of_all(law: str) -> None:
    slow = {"mcs": "1", "width": "20 MHz", "aggregate.count": "16"}
    settings = {f"links.{name}.{key}": value for name in ("low", "more-0") for key, value in slow.items()}
    unmanaged = cell("", text=TCP).set({**settings, "run.duration": "3 s", "run.warmup": "1 s"})
    managed, without = (metrics_of(one) for one in (unmanaged.set({"links.low.aqm.law": law}), unmanaged))
    assert managed["flows.down.rtt_p50_s"] < 0.4 * without["flows.down.rtt_p50_s"]
    assert managed["links.low.drops_aqm"] > 0
    assert managed["links.more-0.aggregated_mpdus"] > 1000
    assert managed["links.low.queue_mean_packets"] < 0.4 * without["links.low.queue_mean_packets"]


# Stations that fill the queue of the first link, with a law that has its own limit.
AD_HOC = """
[run]
duration     = "100 ms"
replications = 1
[nodes]
hub = {}
sta = { count = 5 }
[links.low]
kind      = "wifi"
nodes     = ["hub", "sta"]
standard  = "802.11be"
aggregate = { count = 16 }
aqm       = { law = "drop-head" }
[links.high]
kind       = "wifi"
nodes      = ["hub", "sta"]
standard   = "802.11be"
aggregate  = { count = 16 }
multi-link = "low"
[flows.up]
from = "sta"
to   = "hub"
tcp  = {}
"""


def test_the_queue_of_a_device_has_the_limit_of_its_first_link_on_all() -> None:
    scenario = lh.Scenario.from_text(AD_HOC, "ad-hoc.toml")
    wide, narrow = (scenario.set({"links.high.queue": f"{size} packets"}).run() for size in (1000, 3))
    assert narrow.metrics["links.low.drops_queue"] == 0
    assert narrow.metrics["goodput_bps"] == wide.metrics["goodput_bps"] > 0


def test_what_the_queue_drops_counts_on_the_first_link_whichever_link_notes_it() -> None:
    # An agent that learns on the further link of a packet to send again finds the queue full.
    text = AD_HOC + '[agents.all]\nkind = "lle-tcp"\n'
    settings = {f"links.{name}.queue": "10 packets" for name in ("low", "high")}
    settings |= {"links.low.mcs": "1", "links.low.width": "20 MHz", "run.duration": "300 ms"}
    done = lh.Scenario.from_text(text, "ad-hoc.toml").set(settings).run(trace=["events"])
    rows = done.trace("events").to_numpy()
    lost = rows[(rows["layer"] == "link") & (rows["event"] == "lost")]
    assert set(lost["link"]) == {"low", "high"}
    assert done.metrics["links.low.drops_queue"] == len(lost)


def test_the_one_queue_of_a_device_is_reported_once() -> None:
    done = cell("").run()
    values = by_scope(done.metrics)
    assert values["links.low"]["drops_queue"] > 0
    for name in ("drops_queue", "queue_mean_packets", "queue_max_packets", "queue_full_share"):
        assert done.metrics[f"links.more-0.{name}"] is None
    assert [text for text in remarks(values, {}) if "queue" in text][1:] == []


# Four stations and an access point that serves them at once on each link.
SEVERAL = """
[run]
duration     = "{duration} s"
warmup       = "{warmup} s"
replications = 1
[nodes]
ap  = {{}}
sta = {{ count = 4 }}
[flows.f]
from = "{source}"
to   = "{target}"
udp  = {{}}
app  = {{ kind = "cbr", spread = "300 ms", cbr = {{ packet = "1472 B", rate = "{rate} Mbit/s" }} }}
"""
AT_ONCE = """
[links.{name}]
kind         = "wifi"
nodes        = ["ap", "sta"]
access-point = "ap"
standard     = "802.11be"
queue        = "2000 packets"
width        = "{width} MHz"
mcs          = {mcs}
ofdma        = {{ {ofdma} }}
{more}
"""
DOWN = 'scheduler = "round-robin", acknowledgement = "{}"'
UP = 'uplink = "round-robin", report-interval = "5 ms", edca = "mu", mu-edca = { aifsn = 0 }'


@pytest.mark.parametrize("ofdma", [*map(DOWN.format, ("requests", "trigger", "aggregated-trigger")), UP])
def test_several_stations_have_on_two_links_what_they_have_on_each(ofdma: str) -> None:
    is_up = ofdma == UP
    ends = {"source": "sta", "target": "ap"} if is_up else {"source": "ap", "target": "sta"}
    times = {"duration": 4, "warmup": 2.5} if is_up else {"duration": 1.5, "warmup": 0.5}
    modes = [(80, 9), (40, 11)]

    def goodput(chosen: list[tuple[int, int]]) -> float:
        text = SEVERAL.format(**ends, **times, rate=250)
        for number, (width, mcs) in enumerate(chosen):
            more = 'multi-link = "link0"' if number else ""
            text += AT_ONCE.format(name=f"link{number}", width=width, mcs=mcs, ofdma=ofdma, more=more)
        found = metrics_of(lh.Scenario.from_text(text, "several.toml"))
        parts = "ofdma_uplink_parts" if is_up else "ofdma_parts"
        assert all(found[f"links.link{number}.{parts}"] > 100 for number in range(len(chosen)))
        return found["flows.f.goodput_bps"]

    alone = sum(goodput([mode]) for mode in modes)
    assert goodput(modes) == pytest.approx(alone, rel=0.005)


def test_a_law_on_the_first_link_needs_no_queue_of_the_others() -> None:
    shipped = lh.load("examples/multi-link")
    assert shipped.set({"links.low.aqm.law": "mac80211"}).warnings == shipped.warnings
    with pytest.raises(lh.ScenarioError, match=r'of "low"; expected links\.low\.aqm'):
        shipped.set({"links.high.aqm.law": "mac80211"})


def test_the_bound_on_the_cost_of_a_run_counts_what_all_links_carry() -> None:
    text = CELL.replace("udp  = {}\n", "").replace(
        'app  = { kind = "cbr", cbr = { packet = "1472 B", rate = "6 Gbit/s" } }',
        'app = { kind = "bulk" }\ntcp = { window = "20000 segments" }',
    )
    both = cell('width = "320 MHz"\nstreams = 4', text=text)
    # 16 times the rate of the first link.
    assert both.estimate().events > 8 * cell(text=text).estimate().events


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"links.low.standard": "802.11ax"}, '"low" is not a link of 802.11be; expected one'),
        ({"links.low.multi-link": "low"}, '"low" is this link; expected another one, or none'),
        ({"links.low.multi-link": "more-0"}, '"more-0" is not the first link; expected "low"'),
        ({"links.low.access-point": "none"}, 'the access point of "low" is another; expected the same'),
        (
            {"links.more-0.block-ack.window": "512", "links.more-0.aggregate.count": "64"},
            'the block-ack.window of "low" is another; expected the same on all links of a device',
        ),
        ({"links.more-0.queue": "9 packets"}, 'the queue of "low" is another'),
        (
            {"links.low.arq.kind": "dynamic"},
            "links.low has arq, which multi-link devices lack here; expected none",
        ),
        (
            {"links.more-0.aqm.law": "codel"},
            'the queue that links.more-0.aqm manages is that of "low"; expected links.low.aqm',
        ),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, str], wrong: str) -> None:
    with pytest.raises(lh.ScenarioError) as caught:
        cell("").set(changes)
    assert wrong in str(caught.value)


def test_stations_of_other_links_riders_and_hand_offs_are_refused() -> None:
    text = CELL.replace("sta = {}", "sta = {}\nother = {}")
    with pytest.raises(lh.ScenarioError, match='other is not a station of "low"; expected stations of that'):
        lh.Scenario.from_text(
            cell("", text=text).text.replace(
                '["ap", "sta"]\naccess-point = "ap"\nstandard = "802.11be"\nqueue',
                '["ap", "other"]\naccess-point = "ap"\nstandard = "802.11be"\nqueue',
            ),
            "x.toml",
        )
    with pytest.raises(lh.ScenarioError, match=r'multi-link: no point uses it; expected .* = "802.11be"'):
        lh.Scenario.from_text(
            cell("").text.replace(
                '"802.11be"\nqueue = "4000 packets"\nmulti', '"802.11ax"\nqueue = "4000 packets"\nmulti'
            ),
            "x.toml",
        )
    with pytest.raises(
        lh.ScenarioError, match=r"nothing rides in the acknowledgements of multi-link devices"
    ):
        cell("", text=TCP + '[agents.all]\nkind = "hack"\n')
    with pytest.raises(lh.ScenarioError, match='multi-link devices sit on their first link; expected "low"'):
        cell("", text=TCP + '[agents.all]\nkind = "lle-tcp"\nlink = "more-0"\n')
    moves = 'handoff = { law = "script", script = "100 ms", from = "low", to = "wlan" }'
    text = CELL.replace("sta = {}", f"sta = {{ {moves} }}")
    text += '[links.wlan]\nkind = "wifi"\nnodes = ["ap", "sta"]\naccess-point = "ap"\nstandard = "802.11ax"\n'
    with pytest.raises(lh.ScenarioError, match="hand-offs of multi-link devices are not modelled"):
        cell("", text=text)
