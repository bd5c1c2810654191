//! Hand-offs and restarts: what moves, and what an agent does for a connection that the other end does not know.

use super::bench::*;
use crate::hooks::Agent;
use crate::packet::{Flags, Packet, Segment};
use crate::signal::Signal;
use crate::units::Span;

impl Bench {
    /// The receiver moves, with its part of the state, to another agent that is alike. Returns what that one sends down.
    fn hand_to(&mut self, other: &mut Bench) -> Vec<Packet> {
        let state = self.agent.export(RECEIVER, self.now, &mut self.handed).expect("state");
        other.agent.import(state, other.now, &mut other.handed);
        std::mem::take(&mut other.handed.down)
    }
}

fn marked(segment: Segment) -> Segment {
    Segment { flags: segment.flags.with(Flags::REFUSED), ..segment }
}

/// At a station, before the receiver: three segments acknowledged, and none confirmed.
fn promised() -> Bench {
    let mut bench = Bench::at_sender(relay());
    for number in 0..3 {
        assert_eq!(bench.deliver(data(1000 * number, 1000)).len(), 1);
    }
    bench
}

#[test]
fn copies_move_with_the_node_and_the_oldest_goes_at_once() {
    let (mut old, mut new) = (promised(), Bench::new(relay()));
    let sent = old.hand_to(&mut new);
    assert_eq!(sent.iter().map(|packet| segment(packet).seq).collect::<Vec<_>>(), [SENDER_ZERO]);
    assert_eq!((old.counters().flows, old.counters().unconfirmed, old.counters().never_confirmed), (0, 0, 0));
    assert_eq!((new.counters().flows, new.counters().unconfirmed), (1, 3000));
    old.wait(Span::from_secs(30));
    assert_eq!(old.handed.down, [], "the old station has nothing to send");
    assert!(old.counters().state_bytes == 0 && new.counters().state_bytes > 3000);
}

#[test]
fn after_a_move_the_first_words_of_the_receiver_pass_and_the_next_are_replaced() {
    let mut new = Bench::new(relay());
    promised().hand_to(&mut new);
    let first = ack(3000, 20_000);
    assert_eq!(new.up(first), [packet(first)]);
    assert_eq!(new.counters().unconfirmed, 0);
    assert_eq!(new.deliver(data(3000, 1000)).len(), 1);
    assert_eq!(new.up(ack(4000, 20_000)), [], "the sender has this number already");
    assert_eq!((new.counters().generated, new.counters().unconfirmed), (1, 0));
}

#[test]
fn data_that_passed_during_a_move_is_the_receivers_to_acknowledge() {
    let mut new = Bench::new(relay());
    promised().hand_to(&mut new);
    // The segment at 3000 came here before the state.
    assert_eq!(new.deliver(data(4000, 1000)), [], "no duplicate tells of a hole that is none");
    assert_eq!(new.up(ack(5000, 16_000)).len(), 1);
    assert_eq!((new.counters().unconfirmed, new.counters().generated), (0, 0));
    assert_eq!(new.deliver(data(5000, 1000)).len(), 1);
}

#[test]
fn a_connection_that_has_begun_meanwhile_takes_precedence() {
    let mut new = Bench::new(relay());
    new.down(Segment { seq: SENDER_ZERO.plus(70_000), ..syn(offer()) });
    assert_eq!(promised().hand_to(&mut new), []);
    assert_eq!((new.counters().flows, new.counters().unconfirmed), (1, 0));
}

#[test]
fn where_the_table_is_full_what_was_promised_is_kept() {
    let mut new = Bench::new(super::super::Config { max_flows: 0, ..relay() });
    assert_eq!(promised().hand_to(&mut new).len(), 1);
    assert_eq!(new.counters().unconfirmed, 3000);
}

#[test]
fn at_the_node_itself_what_is_withheld_goes_over_its_other_interface() {
    let mut old = Bench::at_receiver(safe(RECEIVER), 20_000);
    old.up(data(1000, 1000));
    assert_eq!(old.down(ack(2000, 20_000)), []);
    let before = old.agent.activity();
    let mut new = Bench::new(safe(RECEIVER));
    assert_eq!(old.hand_to(&mut new), [packet(ack(2000, 20_000))]);
    assert_eq!(old.agent.activity().suppressed, before.suppressed, "a count never falls");
    assert_eq!((new.agent.activity().suppressed, new.agent.activity().passed), (0, 1));
    // The other station does not know the window yet.
    new.up(data(2000, 1000));
    assert_eq!(new.down(ack(3000, 20_000)).len(), 1);
    new.up(data(3000, 1000));
    assert_eq!(new.down(ack(4000, 20_000)), []);
}

#[test]
fn a_station_that_restarts_marks_data_and_passes_all() {
    for config in [relay(), super::super::Config { mode: super::super::Mode::Paper, ..relay() }] {
        let mut bench = Bench::at_sender(config);
        bench.deliver(data(0, 1000));
        bench.agent.restart(bench.now, &mut bench.handed);
        assert_eq!((bench.counters().flows, bench.counters().state_bytes), (0, 0));
        assert_eq!(bench.counters().never_confirmed, 1000);
        assert_eq!(bench.down(data(1000, 1000)), [packet(marked(data(1000, 1000)))]);
        assert_eq!(bench.down(data(2000, 0)), [packet(data(2000, 0))], "an acknowledgement has no mark");
        assert_eq!(bench.signal(data(1000, 1000), Signal::Delivered), []);
        assert_eq!(bench.up(ack(0, 20_000)), [packet(ack(0, 20_000))]);
        bench.wait(Span::from_secs(30));
        assert_eq!(bench.handed.down, []);
    }
}

#[test]
fn while_the_other_end_marks_data_every_acknowledgement_passes() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 20_000);
    bench.up(data(1000, 1000));
    assert_eq!(bench.down(ack(2000, 20_000)), []);
    assert_eq!(bench.up(marked(data(2000, 1000))), [packet(data(2000, 1000))], "the mark ends here");
    assert_eq!(
        std::mem::take(&mut bench.handed.down),
        [packet(ack(2000, 20_000))],
        "and what was withheld goes"
    );
    for number in 3..6 {
        assert_eq!(bench.down(ack(1000 * number, 20_000)).len(), 1);
        bench.up(marked(data(1000 * number, 1000)));
    }
    bench.down(ack(6000, 20_000));
    bench.up(data(6000, 1000));
    assert_eq!(bench.down(ack(7000, 20_000)).len(), 1, "the first after the marks passes");
    bench.up(data(7000, 1000));
    assert_eq!(bench.down(ack(8000, 20_000)), [], "then the other end acknowledges");
}

#[test]
fn in_paper_mode_too_what_the_other_end_does_not_know_is_acknowledged_by_the_receiver() {
    let mut bench = Bench::at_receiver(paper(RECEIVER), 20_000);
    assert_eq!(bench.up(marked(data(1000, 1000))), [packet(data(1000, 1000))]);
    assert_eq!(bench.down(ack(2000, 20_000)).len(), 1);
}

#[test]
fn a_receiver_that_restarts_withholds_nothing_and_what_it_withheld_is_lost() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 20_000);
    bench.up(data(1000, 1000));
    assert_eq!(bench.down(ack(2000, 20_000)), []);
    let before = bench.agent.activity().suppressed;
    bench.agent.restart(bench.now, &mut bench.handed);
    bench.wait(Span::from_secs(1));
    assert_eq!(bench.handed.down, []);
    assert_eq!(bench.agent.activity().suppressed, before + 1);
    bench.up(data(2000, 1000));
    assert_eq!(bench.down(ack(3000, 20_000)).len(), 1);
}

#[test]
fn of_a_connection_between_two_mobiles_the_half_to_the_one_that_stays_is_kept() {
    let mut old = Bench::at_sender(super::super::Config::new(
        super::super::Mode::Safe,
        crate::hooks::Criterion::one_hop(crate::packet::NodeId(9), [SENDER, RECEIVER]),
    ));
    old.deliver(data(0, 1000));
    let mut new = Bench::new(relay());
    old.hand_to(&mut new);
    assert_eq!((old.counters().flows, new.counters().flows), (1, 1));
    assert_eq!((old.counters().unconfirmed, new.counters().unconfirmed), (0, 1000));
}
