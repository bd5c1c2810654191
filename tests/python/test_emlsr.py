"""Stations with one radio for several links (EMLSR): closed forms, who hears what, and what is refused."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop.scenario import check
from lasthop.stats.wifi_today import Cell

if TYPE_CHECKING:
    from pathlib import Path

LINK = """
[links.{name}]
kind         = "wifi"
nodes        = ["ap", "sta", "laptop"]
access-point = "ap"
standard     = "802.11be"
width        = "{width} MHz"
queue        = "4000 packets"
aggregate    = {{ count = 256 }}
{more}
"""
REST = """
[run]
duration     = "600 ms"
warmup       = "100 ms"
replications = 1
[nodes]
ap     = {{}}
laptop = {{}}
[nodes.sta.wifi]
multi-link = "emlsr"
emlsr      = {{ padding-delay = "{padding} us", transition-delay = "{transition} us" }}
"""
LOSS = {"model": "packet", "rate": "10 %"}
FLOW = """
[flows.{name}]
from = "{source}"
to   = "{target}"
udp  = {{}}
app  = {{ kind = "cbr", cbr = {{ packet = "1472 B", rate = "3 Gbit/s" }} }}
"""


def cell(
    *flows: tuple[str, str], padding: int = 0, transition: int = 0, widths: tuple[int, ...] = (80, 80)
) -> lh.Scenario:
    """An access point, a station with one radio and another with one for each link."""
    text = REST.format(padding=padding, transition=transition)
    for number, width in enumerate(widths):
        more = 'multi-link = "link0"' if number else ""
        text += LINK.format(name=f"link{number}", width=width, more=more)
    for source, target in flows:
        text += FLOW.format(name=f"{source}-{target}", source=source, target=target)
    return lh.Scenario.from_text(text, "cell.toml")


def alone(scenario: lh.Scenario) -> lh.Scenario:
    """Without the other station."""
    text = scenario.text.replace(', "laptop"]', "]").replace("laptop = {}\n", "")
    return lh.Scenario.from_text(text, "cell.toml")


def metrics_of(scenario: lh.Scenario) -> dict[str, float]:
    return {name: value or 0.0 for name, value in scenario.run().metrics.items()}


def total(found: dict[str, float], name: str) -> float:
    """The sum of a metric over both links."""
    return sum(found[f"links.link{number}.{name}"] for number in (0, 1))


def down(padding: int, transition: int) -> float:
    """Goodput of a saturated station, bit/s."""
    return Cell("802.11be", 13, 80, count=256).single_radio_bps(padding, transition)


def test_the_closed_form_gives_the_number_computed_by_hand() -> None:
    # 256 MPDUs of 1544 bytes in symbols of 980 * 12 * 5 / 6 bits and 13.6 us after a preamble of 47.2 us;
    # 38 + 96 bytes and a BlockAck of 152 bytes at 24 Mbit/s, a CTS at 6 Mbit/s.
    data = 47.2 + 323 * 13.6
    exchange = 64 + 4.5 + 68 + 16 + 44 + 16 + data + 16 + 72
    assert down(32, 64) == pytest.approx(256 * 1472 * 8e6 / exchange)


@pytest.mark.parametrize("padding", [0, 32, 256])
@pytest.mark.parametrize("transition", [0, 64, 256])
def test_a_saturated_station_has_one_exchange_after_the_other_on_the_link_that_is_ready(
    padding: int, transition: int
) -> None:
    found = metrics_of(
        cell(("ap", "sta"), padding=padding, transition=transition).set({"run.duration": "2 s"})
    )
    expected = down(padding, transition)
    assert found["flows.ap-sta.goodput_bps"] == pytest.approx(expected, rel=0.005)
    assert total(found, "mu_rts_sent") == pytest.approx(total(found, "aggregates"), abs=1)


def test_check_gives_the_closed_form_of_a_station_with_one_radio_beside_that_of_others() -> None:
    scenario = cell(("ap", "sta"), padding=32, transition=64)
    found = check.validate(scenario)
    ours = [ceiling for ceiling in found.ceilings if ceiling.delays_us == (32, 64)]
    assert [ceiling.link for ceiling in ours] == ["links.link0", "links.link1"]
    assert len(found.ceilings) == 4
    assert ours[0].udp_bps == pytest.approx(down(32, 64))
    delays = "(padding delay 32 us, transition delay 64 us)"
    assert f"one radio for several links {delays} has 635.9 Mbit/s of UDP payload" in found.text()
    assert ours[0].udp_bps == pytest.approx(metrics_of(scenario)["flows.ap-sta.goodput_bps"], rel=0.01)
    # No other station: what one radio for each link has is not said.
    changes = {"nodes.sta.count": "2", "nodes.sta.wifi.emlsr.transition-delay": '["64 us", "0 us"]'}
    found = check.validate(alone(scenario).set(changes))
    assert [ceiling.delays_us for ceiling in found.ceilings] == 2 * [(32, 0), (32, 64)]


@pytest.mark.parametrize("transition", [0, 64, 256])
def test_the_links_of_a_station_share_it(transition: int) -> None:
    found = metrics_of(cell(("ap", "sta"), transition=transition).set({"run.duration": "2 s"}))
    shares = [found[f"links.link{number}.aggregates"] for number in (0, 1)]
    assert shares[0] == pytest.approx(shares[1], rel=0.1)


def test_unlike_links_share_a_station_whose_transition_takes_longer_than_any_backoff() -> None:
    found = metrics_of(cell(("ap", "sta"), transition=256, widths=(80, 320)).set({"run.duration": "2 s"}))
    shares = [found[f"links.link{number}.aggregates"] for number in (0, 1)]
    assert min(shares) > 0.2 * sum(shares)


def test_an_mu_rts_is_answered_whenever_it_arrives() -> None:
    losses = {f"links.link{n}.loss.{key}": text for n in (0, 1) for key, text in LOSS.items()}
    found = metrics_of(cell(("ap", "sta"), transition=64).set({"run.duration": "10 s"} | losses))
    asked = total(found, "mu_rts_sent")
    followed = total(found, "aggregates") + total(found, "block_ack_requests")
    # Neither the MU-RTS nor the CTS was lost; four standard deviations.
    assert followed / asked == pytest.approx(0.9**2, abs=4 * (0.81 * 0.19 / asked) ** 0.5)


def test_a_station_with_a_radio_for_each_link_is_asked_for_nothing_and_has_the_sum_of_both() -> None:
    found = metrics_of(cell(("ap", "laptop")))
    link = Cell("802.11be", 13, 80, count=256, window=1024)
    assert found["flows.ap-laptop.goodput_bps"] == pytest.approx(2 * link.goodput_bps, rel=0.005)
    assert found["links.link0.mu_rts_sent"] == 0


def test_a_station_sends_on_one_link_at_a_time_and_begins_with_an_rts_on_one_that_it_has_missed() -> None:
    found = metrics_of(cell(("sta", "ap")))
    link = Cell("802.11be", 13, 80, count=256, window=1024)
    # The backoffs of both links compete from the same instant; an RTS precedes what goes on the other link.
    ppdu = link.ppdu(link.size(link.mpdus)) + 16 + link.response
    rts = 2 * 16 + link.control(20) + link.control(14)
    steps = range(16)
    least = sum(min(one, other) for one in steps for other in steps) / 256
    most = link.mpdus * link.payload * 8e6 / (ppdu + link.aifs + least * 9)
    fewest = link.mpdus * link.payload * 8e6 / (ppdu + rts + link.aifs + 7.5 * 9)
    assert fewest < found["flows.sta-ap.goodput_bps"] < most
    airtime, frames = total(found, "airtime_rts_cts_s"), total(found, "aggregates")
    # An RTS and its CTS last 28 us each.
    assert 0.3 * frames < airtime / 56e-6 < 0.8 * frames
    assert total(found, "mu_rts_sent") == 0
    free = metrics_of(cell(("sta", "ap")).set({"nodes.sta.wifi.emlsr.medium-sync-delay": "0 us"}))
    assert total(free, "airtime_rts_cts_s") == 0
    assert free["flows.sta-ap.goodput_bps"] > found["flows.sta-ap.goodput_bps"]


def test_both_ways_at_once_share_the_radio_and_what_is_asked_in_vain_is_asked_again() -> None:
    changes = {"nodes.sta.wifi.emlsr.medium-sync-delay": "0 us", "run.warmup": "0 s"}
    found = metrics_of(cell(("ap", "sta"), ("sta", "ap"), transition=64).set(changes))
    ways = [found["flows.ap-sta.goodput_bps"], found["flows.sta-ap.goodput_bps"]]
    assert min(ways) > 1e8
    # Both may begin in the same slot of a link.
    collided = total(found, "airtime_collision_s") / 0.6
    assert sum(ways) == pytest.approx(down(0, 0) * (1 - collided), rel=0.02)
    # An MU-RTS lasts 36 us, its CTS 44. Both links may ask when the station begins.
    asked = total(found, "mu_rts_sent")
    answered = (total(found, "airtime_rts_cts_s") - asked * 36e-6) / 44e-6
    assert 0.3 * asked < answered < 0.97 * asked
    assert total(found, "drops_retry") == 0


def test_the_access_point_serves_others_on_the_link_that_a_station_does_not_hear() -> None:
    found = metrics_of(cell(("ap", "sta"), ("ap", "laptop")))
    link = Cell("802.11be", 13, 80, count=256, window=1024)
    both = found["flows.ap-sta.goodput_bps"] + found["flows.ap-laptop.goodput_bps"]
    assert both == pytest.approx(2 * link.goodput_bps, rel=0.03)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_a_capture_shows_the_mu_rts_its_padding_and_the_cts(tmp_path: Path) -> None:
    scenario = cell(("ap", "sta"), padding=64).set({"run.duration": "110 ms"})
    file = tmp_path / "low.pcap"
    scenario.run(pcap={"link0": file})
    fields = ["wlan.fc.type_subtype", "frame.len", "radiotap.length", "wlan.trigger.he.trigger_type"]
    fields += ["wlan.ra", "wlan.duration"]
    command = [
        "tshark",
        "-r",
        str(file),
        "-c",
        "40",
        "-T",
        "fields",
        *(part for one in fields for part in ("-e", one)),
    ]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    rows = [line.split("\t") for line in lines]
    first = next(number for number, row in enumerate(rows) if row[0] == "0x0012")
    (_, length, header, trigger, to, asked), (answer, _, _, _, back, left) = rows[first : first + 2]
    # 38 bytes, and 64 us at 24 Mbit/s.
    assert (int(length) - int(header), trigger) == (38 + 64 * 24 // 8, "3")
    # The CTS reserves what is left after a SIFS and its own 44 us.
    assert (answer, int(left)) == ("0x001c", int(asked) - 16 - 44)
    assert to != back


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"nodes.sta.wifi.emlsr.padding-delay": "40 us"}, "40 us; expected one of 0, 32, 64, 128, 256 us"),
        (
            {"nodes.sta.wifi.emlsr.transition-delay": "8 us"},
            "8 us; expected one of 0, 16, 32, 64, 128, 256 us",
        ),
        (
            {"nodes.sta.count": "2", "nodes.sta.wifi.emlsr.transition-delay": '["64 us", "8 us"]'},
            "8 us; expected one of 0, 16, 32, 64, 128, 256 us",
        ),
        ({"nodes.ap.wifi.multi-link": "emlsr"}, "an access point has a radio for each link; expected str"),
        (
            {"links.link1.multi-link": "none"},
            "has no effect; expected sta to be on several links of multi-link devices",
        ),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, str], wrong: str) -> None:
    with pytest.raises(lh.ScenarioError) as caught:
        cell(("ap", "sta")).set(changes)
    assert wrong in str(caught.value)


@pytest.mark.parametrize(("key", "value"), [("scheduler", "round-robin"), ("uplink", "longest-queue")])
def test_ofdma_is_refused_where_no_station_takes_part(key: str, value: str) -> None:
    changes = {f"links.link1.ofdma.{key}": value}
    assert cell(("ap", "sta")).set(changes)
    with pytest.raises(lh.ScenarioError) as caught:
        alone(cell(("ap", "sta"))).set(changes)
    wrong = "has no effect where each station has one radio for several links, or no OFDMA; expected none"
    assert f"set links.link1.ofdma.{key}={value}: {wrong}" in str(caught.value)
