"""The reference model against the packet scripts, and its parts against numbers worked out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import packet_script
from packet_script import ScriptError
from reference_path import NANO, Link, Path, Receiver, World
from reference_sender import Event, Options, Timer
from reference_tcp import Sack, simulate

if TYPE_CHECKING:
    import pathlib

    from packet_script import Script

SCRIPTS = packet_script.read_all()
ONE_LOSS = next(script for script in SCRIPTS if script.name == "reno-one-loss")


def trace(script: Script) -> list[Event]:
    return simulate(script.options(), script.reference_path(), script.until_s)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_reference_model_follows_script(script: Script) -> None:
    packet_script.check(script, trace(script))


@pytest.mark.parametrize("variant", ["tahoe", "reno", "newreno", "sack", "fack"])
@pytest.mark.parametrize("losses", ["one-loss", "two-losses", "three-losses", "four-losses"])
def test_every_variant_has_scripts_of_one_to_four_losses(variant: str, losses: str) -> None:
    script = next(script for script in SCRIPTS if script.name == f"{variant}-{losses}")
    assert script.variant == variant
    assert len(script.drops) == ["one-loss", "two-losses", "three-losses", "four-losses"].index(losses) + 1


# The checker must fail when it should.


def test_checker_misses_no_absent_event() -> None:
    events = [event for event in trace(ONE_LOSS) if event.event != "resend"]
    with pytest.raises(ScriptError, match=r"exit.*expected 0\.205 resend 3"):
        packet_script.check(ONE_LOSS, events)


def test_checker_misses_no_extra_event() -> None:
    events = trace(ONE_LOSS)
    extra = events[-1]._replace(event="resend")
    with pytest.raises(ScriptError, match="after the last line"):
        packet_script.check(ONE_LOSS, [*events, extra])


def test_checker_misses_no_extra_new_segment() -> None:
    events = trace(ONE_LOSS)
    last = max(index for index, event in enumerate(events) if event.event == "send")
    extra = events[last]._replace(seq=events[last].seq + events[last].len)
    with pytest.raises(ScriptError, match="expected no other new data"):
        packet_script.check(ONE_LOSS, [*events[: last + 1], extra, *events[last + 1 :]])


@pytest.mark.parametrize(("column", "step"), [("cwnd", 0.5), ("ssthresh", 0.5), ("time_s", 1e-3)])
def test_checker_misses_no_wrong_number(column: str, step: float) -> None:
    events = [
        event._replace(**{column: getattr(event, column) + step}) if event.event == "enter" else event
        for event in trace(ONE_LOSS)
    ]
    with pytest.raises(ScriptError, match="reno-one-loss:"):
        packet_script.check(ONE_LOSS, events)


def test_script_line_without_a_clause_is_an_error(tmp_path: pathlib.Path) -> None:
    file = packet_script.SCRIPTS / "reno-one-loss.script"
    copy = tmp_path / "bare.script"
    copy.write_text(file.read_text(encoding="utf-8").replace("RFC 5681 (2)", "because"), encoding="utf-8")
    with pytest.raises(ScriptError, match="cites no clause"):
        packet_script.read(copy)


# The parts of the model.


def test_rto_of_two_samples_by_hand() -> None:
    timer = Timer(Options(variant="reno", min_rto_ns=0))
    timer.sample(99.04e6)
    assert timer.rto == pytest.approx(99.04e6 + 4 * 49.52e6)
    timer.sample(100.04e6)
    assert timer.rto == pytest.approx(99.165e6 + 4 * 37.39e6)


def test_rto_keeps_to_floor_granularity_and_ceiling() -> None:
    options = Options(variant="reno", min_rto_ns=NANO, max_rto_ns=3 * NANO, tick_ns=2 * NANO)
    timer = Timer(replace(options, tick_ns=0))
    timer.sample(10e6)
    assert timer.rto == NANO
    timer.back_off()
    timer.back_off()
    assert timer.rto == 3 * NANO
    coarse = Timer(options)
    coarse.sample(10e6)
    assert coarse.rto == 10e6 + 2 * NANO


def test_receiver_tells_the_newest_block_first_and_forgets_filled_ones() -> None:
    receiver = Receiver(max_blocks=3)
    for segment in (0, 2, 4, 6):
        receiver.packet(segment, 0)
    assert receiver.packet(8, 0)[:2] == (1, [(8, 9), (6, 7), (4, 5)])
    assert receiver.packet(3, 0)[:2] == (1, [(2, 5), (8, 9), (6, 7)])
    assert receiver.packet(1, 0)[:2] == (5, [(8, 9), (6, 7)])


def test_receiver_echoes_the_segment_at_the_left_edge() -> None:
    receiver = Receiver(max_blocks=3)
    assert receiver.packet(0, 10)[2] == 10
    assert receiver.packet(2, 20)[2] == 10
    assert receiver.packet(1, 30)[2] == 30


def sack_sender() -> Sack:
    """Ten segments out, from 0; the receiver holds 3, 5, 6 and 8."""
    world = World()
    sender = Sack(Options(variant="sack"), world, Link(world, Path()))
    sender.top = sender.nxt = 10
    sender.sacked = {3, 5, 6, 8}
    sender.departures = {segment: [0] for segment in range(10)}
    return sender


def test_segment_with_three_sacked_above_is_lost() -> None:
    sender = sack_sender()
    assert [s for s in range(10) if s not in sender.sacked and sender.is_lost(s)] == [0, 1, 2, 4]


def test_pipe_counts_what_is_not_lost_and_what_was_sent_again() -> None:
    sender = sack_sender()
    assert sender.pipe() == 2  # 7 and 9
    sender.high_rxt = 1
    assert sender.pipe() == 4  # and the copies of 0 and 1


def test_next_seg_follows_its_four_rules_in_order() -> None:
    sender = sack_sender()
    sender.recover = 10
    sender.high_rxt = sender.rescue_rxt = 1
    assert [sender.next_seg(), sender.next_seg()] == [2, 4]  # rule 1, twice
    assert sender.next_seg() == 10  # rule 2
    sender.o = replace(sender.o, window=10)
    assert sender.next_seg() == 7  # rule 3: below the highest SACK, not lost
    assert sender.next_seg() is None  # nothing acknowledged since the first retransmission
    sender.una = 3
    sender.o = replace(sender.o, window=7)
    assert sender.next_seg() is None  # nothing has arrived that left after 9
    sender.latest_arrived = 1
    assert sender.next_seg() == 9  # rule 4: the highest segment not SACKed
    assert sender.next_seg() is None  # once per recovery


def test_copy_that_was_acknowledged_too_soon_says_nothing_of_its_departure() -> None:
    sender = sack_sender()
    sender.sacked.clear()
    sender.departures |= {1: [0, 50], 2: [0, 51]}
    sender.world.now = 100
    sender.rack_update({0})
    assert (sender.min_rtt, sender.latest_arrived) == (100, 0)
    sender.world.now = 150
    sender.rack_update({1, 2})
    assert sender.latest_arrived == 50  # 2 had 99 only


def test_link_sends_one_packet_after_the_other_and_rounds_up() -> None:
    world = World()
    link = Link(world, Path(rate_bps=3_000_000, delay_ns=1000))
    arrivals: list[int] = []
    for _ in range(2):
        link.send(1, lambda: arrivals.append(world.now))
    world.run(NANO)
    assert arrivals == [2667 + 1000, 2 * 2667 + 1000]


def test_first_segment_lost_is_sent_again_fast_by_newreno_and_reno() -> None:
    """The project's decision against the letter of RFC 6582 (3.2 step 1)."""
    path = Path(drops=frozenset({1}))
    for variant in ("newreno", "reno"):
        events = simulate(Options(variant=variant, initial_window=8), path, 2.0)
        assert next(e.event for e in events if e.event in ("enter", "timeout")) == "enter"
