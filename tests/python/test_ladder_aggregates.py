"""Ladders and films of links that aggregate: A-MPDUs with their MPDUs, and what BlockAcks report."""

from __future__ import annotations

import re
from collections import Counter

import pytest

import lasthop as lh
from lasthop.api import Run
from lasthop.views.events import events
from lasthop.views.film import film

LOSSY = """
[run]
duration = "0.3 s"
[nodes]
ap = {}
sta = {}
[links.air]
kind = "wifi"
nodes = ["ap", "sta"]
access-point = "ap"
standard = "802.11n"
mcs = 4
aggregate = { count = 16 }
loss = { rate = "6 %", of = "packets", repaired-by-arq = true }
[flows.main]
from = "ap"
to = "sta"
tcp = { profile = "ns2-2004", variant = "newreno" }
[flows.other]
from = "ap"
to = "sta"
tcp = { profile = "ns2-2004", variant = "newreno" }
"""


@pytest.fixture(scope="module")
def run() -> Run:
    return lh.Scenario.from_text(LOSSY, "aggregates.toml").run(trace=["events"])


def test_the_trace_has_each_mpdu_at_its_begin_and_its_end(run: Run) -> None:
    rows = run.trace("events").to_numpy()
    mpdus, whole = (rows[rows["layer"] == layer] for layer in ("mpdu", "frame"))
    began = {event: int((mpdus["event"] == event).sum()) for event in ("send", "receive", "lost")}
    metrics = run.metrics
    # The run ends while an A-MPDU is on the air.
    assert began["send"] == metrics["links.air.aggregated_mpdus"]
    assert 0 <= began["send"] - began["receive"] - began["lost"] <= 16
    assert began["lost"] > 50
    sent = whole[(whole["event"] == "send") & (whole["what"] == "a-mpdu")]
    assert len(sent) == metrics["links.air.aggregates"]
    assert set(mpdus["frame"]) == set(sent["frame"])
    assert "block-ack" in set(whole["what"])


def test_a_ladder_of_frames_shows_the_mpdus_and_what_the_block_ack_reports(run: Run) -> None:
    arrows = run.ladder((0, 0.3), layers="frames")._panels[0].arrows
    many = [arrow for arrow in arrows if arrow.label.startswith("A-MPDU")]
    assert {len(arrow.parts) for arrow in many} >= {2, 16}
    failed = next(arrow for arrow in many if len(arrow.failed) == 2)
    assert failed.label == f"A-MPDU {len(failed.parts)}, 2 lost"
    assert f"lost of it: {failed.failed[0].label}, {failed.failed[1].label}" in failed.text
    after = [arrow for arrow in arrows if arrow.begin.time_s >= failed.end.time_s]
    answer = min(after, key=lambda arrow: arrow.begin.time_s)
    assert answer.label == f"BlockAck {len(failed.parts) - 2}/{len(failed.parts)}"
    assert answer.kind == "mac-ack"
    assert any(part.attempt > 1 for arrow in many for part in arrow.parts)


def test_the_drawing_has_a_tick_for_each_mpdu_and_a_cross_for_each_that_was_lost(run: Run) -> None:
    ladder = run.ladder((0.05, 0.07), layers="frames")
    drawing = ladder.to_svg()
    assert "MPDUs of an A-MPDU" in drawing
    begin, end = ladder.period
    arrows = [arrow for arrow in ladder._panels[0].arrows if arrow.parts and not arrow.lost]
    inside = [arrow for arrow in arrows if begin <= arrow.begin.time_s and arrow.end.time_s <= end]
    assert any(arrow.failed for arrow in inside)
    for arrow in inside:
        found = re.search(rf"<title>{re.escape(arrow.text)}</title>(.*?)</g>", drawing, re.DOTALL)
        assert found is not None
        # The arrow is a line as well.
        assert found[1].count("<polyline") - 1 == len(arrow.parts) - len(arrow.failed)
    crosses = drawing[drawing.index('class="losses"') :].count("<polyline") / 2
    whole = sum(arrow.lost != "" for arrow in ladder._panels[0].arrows)
    assert crosses >= whole + sum(len(arrow.failed) for arrow in inside)


def test_a_ladder_of_one_flow_has_the_a_mpdus_with_its_packets_only(run: Run) -> None:
    every, one = (
        sum(
            bool(arrow.parts)
            for arrow in run.ladder((0, 0.3), layers="frames", flows=flows)._panels[0].arrows
        )
        for flows in (None, ["main"])
    )
    rows = run.trace("events").to_numpy()
    ended = rows[(rows["layer"] == "mpdu") & (rows["event"] != "send")]
    of_main = {int(row["frame"]) for row in ended if row["flow"].startswith("main")}
    assert every > one == len(of_main)


def test_the_wait_of_a_segment_ends_when_its_a_mpdu_begins(run: Run) -> None:
    arrows = run.ladder((0.05, 0.15))._panels[0].arrows
    left = [arrow.left_s for arrow in arrows if arrow.left_s is not None]
    assert len(left) > len(set(left)) > 1


def test_a_film_names_a_mpdus_and_says_which_mpdus_were_lost(run: Run) -> None:
    made = film(events(run.trace("events").chunks()), "", (0.0, 0.3))
    assert any(flight.what == "A-MPDU from data # on" for flight in made.flights)
    assert {flight.kind for flight in made.flights if flight.what == "BlockAck"} == {"mac-ack"}
    lost = [said for said in made.happenings if said.text == "The MPDU of data # does not arrive"]
    assert lost
    assert {said.why for said in lost} == {"bit errors"}


SEVERAL = """
[run]
duration = "0.2 s"
[nodes]
ap = {}
sta = { count = 3 }
[links.air]
kind = "wifi"
nodes = ["ap", "sta"]
access-point = "ap"
standard = "802.11ax"
aggregate.count = 8
ofdma = { scheduler = "round-robin", uplink = "round-robin", edca = "mu" }
[flows.down]
from = "ap"
to = "sta"
tcp = {}
"""


@pytest.fixture(scope="module")
def several() -> Run:
    return lh.Scenario.from_text(SEVERAL, "several.toml").run(trace=["events"])


def test_a_frame_to_several_stations_is_drawn_to_each_that_answers_or_is_answered(several: Run) -> None:
    arrows = several.ladder((0, 0.2), layers="frames")._panels[0].arrows
    triggers, acks = (
        [one for one in arrows if one.label.startswith(kind)] for kind in ("trigger", "BlockAck")
    )
    ends = {(one.begin.node, one.begin.time_s) for one in arrows}
    assert len({one.begin.time_s for one in triggers}) < len(triggers)
    for one in triggers:
        assert any(abs(at - one.end.time_s - 16e-6) < 1e-7 for node, at in ends if node == one.end.node)
    times = Counter(one.begin.time_s for one in acks if one.begin.node == "ap")
    of_several = [one for one in acks if times[one.begin.time_s] > 1]
    # Each reports the A-MPDU of its own station, if that is what the station sent.
    sent = {(one.begin.node, one.end.time_s): one for one in arrows if one.parts}
    reported = 0
    for ack in of_several:
        found = [
            one
            for (node, end), one in sent.items()
            if node == ack.end.node and abs(ack.begin.time_s - end - 16e-6) < 1e-7
        ]
        reports = [f"BlockAck {len(one.parts) - len(one.failed)}/{len(one.parts)}" for one in found]
        assert [ack.label] == (reports or ["BlockAck"])
        reported += len(found)
    assert reported > 10


def test_of_a_ppdu_to_several_stations_each_one_is_drawn(several: Run) -> None:
    arrows = [one for one in several.ladder((0, 0.2), layers="frames")._panels[0].arrows if one.parts]
    sent = several.trace("events").to_numpy()
    sent = sent[(sent["layer"] == "frame") & (sent["event"] != "send") & (sent["what"] == "a-mpdu")]
    drawn = {(one.begin.node, one.end.node, round(one.end.time_s, 9)) for one in arrows}
    assert drawn == {(row["peer"], row["node"], round(float(row["time_s"]), 9)) for row in sent}


def test_a_beacon_is_a_mark() -> None:
    text = SEVERAL.replace('"802.11ax"', '"802.11b"\ncoordination = "pcf"')
    text = re.sub("(aggregate|ofdma).*", "", text)
    run = lh.Scenario.from_text(text, "beacons.toml").run(trace=["events"])
    rows = run.trace("events").to_numpy()
    sent = rows[(rows["event"] == "send") & (rows["what"] == "beacon")]
    panel = run.ladder((0, 0.2), layers="frames")._panels[0]
    marks = [mark.place.time_s for mark in panel.marks if mark.text == "beacon"]
    assert 0 < len(marks) <= len(sent)
    assert marks == [float(it) for it in sent["time_s"]][: len(marks)]
    assert not any(arrow.label == "beacon" for arrow in panel.arrows)


LINKS = """
[run]
duration = "30 ms"
[nodes]
ap = {}
[nodes.sta.wifi]
multi-link = "emlsr"
[links.low]
kind = "wifi"
nodes = ["ap", "sta"]
access-point = "ap"
standard = "802.11be"
[links.high]
kind = "wifi"
nodes = ["ap", "sta"]
access-point = "ap"
standard = "802.11be"
multi-link = "low"
[flows.down]
from = "ap"
to = "sta"
tcp = {}
"""


def test_a_frame_between_nodes_that_several_links_join_has_its_link(run: Run) -> None:
    of_two = lh.Scenario.from_text(LINKS, "links.toml").run(trace=["events"])
    arrows = of_two.ladder((0, 0.03), layers="frames")._panels[0].arrows
    rows = of_two.trace("events").to_numpy()
    sent = rows[(rows["layer"] == "frame") & (rows["event"] == "send")]
    links = {(str(row["node"]), float(row["time_s"])): str(row["link"]) for row in sent}
    assert {links[arrow.begin.node, arrow.begin.time_s] for arrow in arrows} == {"low", "high"}
    for arrow in arrows:
        assert arrow.label.endswith(f", {links[arrow.begin.node, arrow.begin.time_s]}")
    labels = {arrow.label for arrow in arrows}
    assert {"MU-RTS, low", "MU-RTS, high", "CTS, low", "CTS, high"} <= labels
    of_one = run.ladder((0, 0.3), layers="frames")._panels[0].arrows
    assert not any("air" in arrow.label for arrow in of_one)
