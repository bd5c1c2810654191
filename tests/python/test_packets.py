"""What traces tell of single packets: the losses of EJTCP's Figs. 2 and 7, and the panels that draw them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

import lasthop as lh
from lasthop.figures.run import draw as draw_run
from lasthop.papers.measure import judge
from lasthop.papers.paper import paper
from lasthop.views import packets
from lasthop.views.packets import Event, Hole

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def fig07() -> lh.Scenario:
    return lh.load("ejtcp/fig07")


def holes(scenario: lh.Scenario, point: int) -> list[Hole]:
    trace = scenario.run(1, 0, point, trace=["tcp"]).trace("tcp")
    return packets.holes(packets.events(trace.columns, "main"))


def test_a_hole_is_filled_by_the_acknowledgement_that_passes_it() -> None:
    dupacks = [Event(t, "dupack", 3, 2, 9.0 + t) for t in (1.0, 2.0, 3.0)]
    resent = [Event(3.0, "enter", 3, 2, 12.0), Event(3.0, "resend", 3, 2, 12.0)]
    more = [Event(4.0, "dupack", 3, 2, 13.0), Event(4.0, "send", 8, 2, 13.0)]
    filled = [Event(5.0, "ack", 9, 8, 14.0), Event(5.0, "send", 9, 8, 14.0), Event(6.0, "send", 10, 8, 14.0)]
    found = packets.holes([*dupacks, *resent, *more, *filled])
    # What left at 6 s did not leave at the acknowledgement.
    assert found == [Hole(3, 4, 1, 13, 8, 8, 1)]
    late = [*dupacks, *resent, Event(9.0, "timeout", 3, 2, 1.0), *filled]
    assert packets.holes(late) == []


def test_the_three_losses_of_fig_7_end_in_a_burst_of_sixty_unless_transmission_is_smooth(
    fig07: lh.Scenario,
) -> None:
    for point, values in enumerate(fig07.points()):
        if values["links.r1-r2.queue"] != "100 packets":
            continue
        first, second, third = holes(fig07, point)
        assert [hole.packet for hole in (first, second, third)] == [1383, 1432, 1439]
        # Of 60 packets outstanding 3 are lost, and limited transmit sends 2 more before the first goes again.
        assert (first.duplicates, first.after) == (60 - 3 + 2, 60 - 3 + 2 - 3)
        # Then come those that its duplicates let go, except the two that limited transmit sent; and so on.
        assert second.duplicates == first.duplicates - 2
        assert third.filled_to == third.last_sent == second.last_sent
        smooth = values["flows.main.tcp.ejtcp.smooth"] != "off"
        assert third.released == (3 if smooth else 60)


def test_the_table_is_printed_under_a_run_that_traces_packets(cli: Cli) -> None:
    printed = cli("run", "ejtcp/fig07", "--trace", "tcp", "-o", "out").stdout
    assert "losses of main detected by duplicate ACKs\npacket lost  duplicates  after the resend" in printed
    assert "\n1383         59          56 " in printed
    assert "packet lost" not in cli("run", "ejtcp/fig07").stdout


def test_a_claim_may_be_about_what_a_trace_tells_of_a_hole(fig07: lh.Scenario, tmp_path: Path) -> None:
    study = fig07.sweep(out=tmp_path / "s").run()
    burst = next(claim for claim in paper("ejtcp").claims if claim.id == "fig08/burst")
    found = judge(burst, study)
    assert (found.ours.mean, found.ours.low, found.ours.n, found.verdict) == (60.0, 60.0, 2, "agrees")


def test_the_jitter_ratio_of_jtcp_jumps_at_the_first_retransmission_and_that_of_ejtcp_does_not() -> None:
    scenario = lh.load("ejtcp/fig02")
    point = next(i for i, p in enumerate(scenario.points()) if "[800, 820]" in p.values())
    run = scenario.run(1, 0, point, trace=["tcp", "jitter"])
    tcp, jitter = run.trace("tcp"), run.trace("jitter")
    second = [t for t, what in zip(tcp["time_s"], tcp["event"], strict=True) if what == "enter"][1]
    last = {}
    for t, law, ratio, threshold in zip(
        *(jitter[c] for c in ("time_s", "law", "ratio", "threshold")), strict=True
    ):
        if t < second:
            last[law] = float(ratio / threshold)
    assert last["jtcp"] > 10
    assert last["ejtcp"] < 1


def test_a_figure_of_packets_shows_them_between_its_times(tmp_path: Path) -> None:
    study = lh.load("ejtcp/fig07").sweep(out=tmp_path / "s", replications=1).run()
    sequence, released = study.plot("fig08").axes
    lines = {str(line.get_label()): line for line in sequence.get_lines()}
    assert list(lines) == ["sent", "sent again", "acknowledged"]
    assert list(lines["sent again"].get_ydata()) == [1383, 1432, 1439]
    assert sequence.get_xlim() == (3.2, 4.1)
    low, high = sequence.get_ylim()
    assert 1200 < low < 1300
    assert high < 1900
    assert max(released.get_lines()[0].get_ydata()) == 60
    smooth = study.plot("fig08-smooth").axes[1]
    assert max(smooth.get_lines()[0].get_ydata()) == 3


def test_a_stored_run_is_drawn_with_the_jitter_ratios_it_traced(cli: Cli, tmp_path: Path) -> None:
    cli("run", "ejtcp/fig02", "-s", "run.duration=2 s", "--trace", "jitter", "-o", str(tmp_path / "one"))
    panel = draw_run(tmp_path / "one")["time"].axes[0]
    assert panel.get_ylabel() == "jitter ratio"
    assert [str(line.get_label()) for line in panel.get_lines()] == ["JTCP", "EJTCP", "threshold"]
