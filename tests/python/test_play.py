"""`lasthop play`: the contents of the film of a run, and the command."""

from __future__ import annotations

import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import played
from lasthop.report.play import play
from lasthop.report.sheet import LIMIT
from lasthop.scenario.kept import keep
from lasthop.views.sources import of_folder, of_run
from played import filmed, rows
from test_ladder import LOSSY

if TYPE_CHECKING:
    from collections.abc import Callable


def test_every_frame_of_the_trace_is_in_the_film_from_where_to_where_it_went() -> None:
    lle = played.lle()
    sent = {row.frame: row for row in rows(lle) if row.layer == "frame" and row.event == "send"}
    ended = {row.frame: row for row in rows(lle) if row.layer == "frame" and row.event != "send"}
    expected = sorted(
        (sent[frame].time_s, row.time_s, sent[frame].node, sent[frame].peer, row.event == "lost")
        for frame, row in ended.items()
    )
    made = filmed(lle, 0.0, lle.simulated_s)
    assert sorted((f.begin_s, f.end_s, f.source, f.target, bool(f.lost)) for f in made.flights) == expected
    assert len(expected) > 1000


def test_queues_have_what_the_link_took_and_is_not_done_with() -> None:
    standard = played.standard()
    made = filmed(standard, 0.0, standard.simulated_s)
    taken: set[tuple[int, str]] = set()
    lengths: dict[float, int] = {}
    for row in rows(standard):
        if row.layer == "link" and row.event in ("queue", "done", "lost"):
            change = taken.add if row.event == "queue" else taken.discard
            change((row.packet, row.node))
            lengths[row.time_s] = len(taken)
    assert len(lengths) > 300
    for time_s, length in lengths.items():
        assert sum(w.begin_s <= time_s < w.end_s for w in made.waits) == length


def test_a_wire_keeps_a_packet_until_its_last_bit_has_left() -> None:
    wired = played.wired()
    made = filmed(wired, 0.0, wired.simulated_s)
    at_r = [wait for wait in made.waits if wait.node == "r" and wait.kind == "data"]
    lengths = [sum(w.begin_s <= t < w.end_s for w in at_r) for t in (w.begin_s for w in at_r)]
    # The queue of 6 packets includes the one that is sent.
    assert max(lengths) == 6


def test_what_happened_is_said_with_its_reason() -> None:
    lle, wired = played.lle(), played.wired()
    told = Counter((h.kind, h.text, h.why) for h in filmed(lle, 0, 3).happenings)
    trace = rows(lle)
    made = sum(row.layer == "agent" and row.event == "make" for row in trace)
    assert told["agent", "The agent makes ACK #", "the link reports delivery"] == made > 100
    assert told["frame", "CTS is sent", "it answers the RTS"] > 100
    assert any(kind == "loss" and why == "bit errors" for kind, _, why in told)
    assert any("backoff of" in why for _, _, why in told)
    wires = filmed(wired, 0, wired.simulated_s).happenings
    said = Counter((h.kind, h.text, h.why) for h in wires)
    assert said["loss", "Data # is lost", "the queue was full"] == wired.metrics["links.rb.drops_queue"]
    lost = wired.metrics["links.rb.drops_loss"]
    assert lost is not None
    errors = sum(n for (kind, _, why), n in said.items() if kind == "loss" and why == "bit errors")
    assert errors == lost + (wired.metrics["links.rb.reverse.drops_loss"] or 0)
    assert (
        said["timeout", "Timeout of #", "no ACK of it came in time"] == wired.metrics["flows.main.timeouts"]
    )
    assert any(text == "TCP sends data # again" and "duplicate" in why for _, text, why in said)


def test_windows_and_arrivals_are_those_of_the_trace() -> None:
    wired = played.wired()
    made = filmed(wired, 0.0, wired.simulated_s)
    assert list(made.windows) == ["main"]
    changes = [
        row for row in rows(wired) if row.layer == "tcp" and row.flow == "main" and row.cwnd == row.cwnd
    ]
    last = {}
    for row in changes:
        last[row.time_s] = row.cwnd
    for step in made.windows["main"]:
        assert last.get(step.time_s, step.cwnd) == step.cwnd
    arrived = sum(r.len for r in rows(wired) if r.event == "receive" and r.why in ("in-order", "early"))
    datagrams = sum(r.len for r in rows(wired) if r.layer == "udp" and r.event == "receive")
    assert sum(length for _, length in made.received) == arrived + datagrams


def test_a_period_has_what_a_longer_one_has_then() -> None:
    standard = played.standard()
    whole, part = filmed(standard, 0, 3), filmed(standard, 1, 1.5)
    assert part.flights == [f for f in whole.flights if f.end_s >= 1 and f.begin_s <= 1.5]
    assert part.happenings == [h for h in whole.happenings if 1 <= h.time_s <= 1.5]


def test_a_page_that_would_be_too_large_ends_sooner_and_says_so() -> None:
    standard = played.standard()
    whole = play([of_run(standard)], (0, 3), None)
    assert len(whole.to_html().encode()) < LIMIT
    assert not whole.notes
    short = play([of_run(standard)], (0, 3), None, limit=200_000)
    assert len(short.to_html().encode()) < 200_000
    assert 0.2 < short.period[1] < 3
    assert short.notes == [f"the page is full at {short.period[1]:.6g} s; --between shows another period"]
    assert short.notes[0][1:] in short.to_html()


def test_the_first_thousand_segments_are_played_by_default() -> None:
    wired = played.wired()
    begin, end = wired.play().period
    sent = [row.time_s for row in rows(wired) if row.layer in ("tcp", "udp") and row.event == "send"]
    assert (begin, sent[999] <= end <= sent[1000]) == (sent[0], True)


def test_a_page_asks_for_nothing_and_a_notebook_shows_it() -> None:
    standard = played.standard()
    page = standard.play((0, 0.2))
    text = page.to_html()
    assert set(re.findall(r"https?://[\w.]+", text)) == {"http://www.w3.org"}
    assert "default-src 'none'" in text
    assert page._repr_html_().startswith("<iframe ")
    assert "<script" not in page._repr_html_()
    assert repr(page).startswith("<Play ")


def test_the_command_plays_a_scenario_a_run_and_two(
    within: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    (tmp_path / "hop.toml").write_text(LOSSY)
    direct = within("play", "hop.toml", "--between", "0..0.2", "--beside", "agents.snoop.kind=lle-tcp")
    assert (direct.returncode, direct.stderr) == (0, "play.html\n")
    titles = re.findall(r'"title":"([^"]*)"', (tmp_path / "play.html").read_text())
    assert titles == ["no agent, Tahoe, 802.11", "LLE-TCP (paper), Tahoe, 802.11"]
    for point, name in ((0, "one"), (2, "two")):
        assert (
            within("run", "hop.toml", "--trace", "events", "-o", name, "--point", point, "-q").returncode == 0
        )
    kept = within("play", "one", "two", "--between", "0 s .. 200 ms")
    assert (kept.returncode, kept.stderr) == (0, "one/play.html\n")

    def data(path: str) -> Any:
        found = re.search(r'id="data">(.*?)</script>', (tmp_path / path).read_text())
        assert found is not None
        return json.loads(found[1])

    assert data("one/play.html") == data("play.html")
    again = within("play", "hop.toml", "--seed", "7", "one", "-o", "x.html")
    assert again.returncode == 2


def placed(page: str) -> Any:
    found = re.search(r'id="data">(.*?)</script>', page)
    assert found is not None
    return json.loads(found[1])["runs"][0]["places"]


def test_a_plan_has_the_positions_of_the_scenario_and_a_line_where_there_is_none(tmp_path: Path) -> None:
    cell, standard, wired = played.cell(), played.standard(), played.wired()
    positions = cell.scenario.positions()
    assert positions["sta1"] == pytest.approx((20, 0))
    assert positions["sta2"] == pytest.approx((10, 300**0.5))
    nodes = filmed(cell, 0, 0.5).nodes
    assert set(nodes) == {"server", *positions}
    expected = [None if node == "server" else list(positions[node]) for node in nodes]
    assert placed(cell.play((0, 0.5)).to_html()) == expected
    keep(cell, tmp_path)
    assert placed(play([of_folder(tmp_path)], (0, 0.5), None).to_html()) == expected
    assert [placed(run.play((0, 0.5)).to_html()) for run in (standard, wired)] == [None, None]
    row = cell.scenario.set({"nodes.sta.place.kind": "line", "nodes.sta.place.line.step": ["9 m", "0 m"]})
    assert placed(row.run(trace=["events"]).play((0, 0.5)).to_html()) is None
