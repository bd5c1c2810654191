//! The sender's side: when data is acknowledged, and with which numbers.

use super::super::{AckScheme, Config, OnUndelivered};
use super::bench::{
    Bench, RECEIVER_ZERO, SENDER, SENDER_ZERO, ack, blocks, data, offer, packet, paper, sack, safe, segment,
    syn, syn_ack, told,
};
use crate::packet::{Flags, Options, Segment, Timestamps};
use crate::signal::Signal;
use crate::units::{SeqNo, Span};

#[test]
fn what_is_delivered_is_acknowledged_and_nothing_is_before() {
    let mut bench = Bench::at_sender(safe(SENDER));
    assert_eq!(bench.down(data(0, 1000)).len(), 1);
    assert!(bench.handed.up.is_empty());
    let up = bench.signal(data(0, 1000), Signal::Delivered);
    assert_eq!(up.len(), 1);
    assert_eq!(told(&up[0]), (1000, 19_000));
    assert_eq!(segment(&up[0]).flags, Flags::ACK);
    assert_eq!((up[0].src, up[0].dst), (packet(ack(0, 0)).src, SENDER));
}

#[test]
fn the_right_edge_of_the_receiver_is_never_extended() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.up(ack(0, 20_000));
    for offset in (0..20_000).step_by(1000) {
        let up = bench.deliver(data(offset, 1000));
        assert_eq!(told(&up[0]), (offset.cast_signed() + 1000, 19_000 - offset));
    }
    // Only the receiver answers the probe of the closed window, delivered or not.
    assert!(bench.deliver(data(20_000, 1)).is_empty());
    assert_eq!(told(&bench.up(ack(20_000, 8_000))[0]), (20_000, 8_000));
    assert_eq!(told(&bench.deliver(data(20_000, 1000))[0]), (21_000, 7_000));
}

#[test]
fn the_window_of_a_syn_is_not_scaled() {
    let mut bench = Bench::at_sender(safe(SENDER));
    let up = bench.deliver(data(0, 1000));
    assert_eq!(segment(&up[0]).window, 19_000 >> 2);
}

#[test]
fn options_that_one_side_did_not_offer_are_missing() {
    let mut bench = Bench::new(safe(SENDER));
    bench.down(syn(offer()));
    bench.up(syn_ack(Options { mss: Some(1000), ..Options::default() }));
    let mut segment_of = |offset| segment(&bench.deliver(data(offset, 1000))[0]);
    let first = segment_of(0);
    assert_eq!((first.window, first.options.timestamps.is_some()), (19_000, false));
    assert!(segment_of(2000).options.sack.is_empty());

    let mut bench = Bench::new(safe(SENDER));
    bench.down(syn(Options { mss: Some(1000), ..Options::default() }));
    bench.up(syn_ack(offer()));
    assert_eq!(segment(&bench.deliver(data(0, 1000))[0]).window, 19_000);
}

#[test]
fn the_edge_of_a_receiver_that_opened_begins_with_its_first_acknowledgement() {
    let mut bench = Bench::new(safe(SENDER));
    let opening = Segment { flags: Flags::SYN, ack: SeqNo(0), ..syn_ack(offer()) };
    let answer = Segment { flags: Flags::SYN.with(Flags::ACK), ack: RECEIVER_ZERO, ..syn(offer()) };
    bench.up(opening);
    bench.down(answer);
    assert!(bench.deliver(data(0, 1000)).is_empty(), "no window was offered yet");
    let up = bench.up(ack(0, 20_000));
    assert_eq!((up.len(), told(&up[0])), (1, (0, 20_000)), "the end of the handshake passes");
    assert_eq!(told(&bench.deliver(data(1000, 1000))[0]), (0, 20_000), "the first segment had no edge");
    assert_eq!(told(&bench.deliver(data(0, 1000))[0]), (2000, 18_000));
}

#[test]
fn the_time_stamp_is_the_last_real_one_however_late_it_is() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.wait(Span::from_secs(50));
    let value = |up: &[crate::packet::Packet]| segment(&up[0]).options.timestamps.expect("negotiated").value;
    assert_eq!(value(&bench.deliver(data(0, 1000))), 100);
    let mut real = ack(1000, 30_000);
    real.options.timestamps = Some(Timestamps { value: 345, echo: 200 });
    assert_eq!(value(&bench.up(real)), 345);
    assert_eq!(value(&bench.deliver(data(1000, 1000))), 345);
}

#[test]
fn the_echo_is_the_stamp_of_the_segment_at_the_left_edge() {
    let mut bench = Bench::at_sender(safe(SENDER));
    let echo = |up: Vec<crate::packet::Packet>| segment(&up[0]).options.timestamps.expect("negotiated").echo;
    assert_eq!(echo(bench.deliver(data(0, 1000))), 200);
    assert_eq!(echo(bench.deliver(data(2000, 1000))), 200, "beyond a hole nothing new is echoed");
    assert_eq!(echo(bench.deliver(data(1000, 1000))), 1200, "nor the segment above the one that fills it");
    assert_eq!(echo(bench.deliver(data(3000, 1000))), 3200);
}

#[test]
fn the_sequence_number_is_the_highest_one_forwarded() {
    let mut bench = Bench::at_sender(safe(SENDER));
    let reverse = Segment { len: 500, ..ack(0, 20_000) };
    assert_eq!(bench.up(reverse).len(), 1);
    assert_eq!(segment(&bench.deliver(data(0, 1000))[0]).seq, RECEIVER_ZERO.plus(500));
    // A pure acknowledgement with a higher number does not show that the sender has the data before it.
    let ahead = Segment { seq: RECEIVER_ZERO.plus(900), ..ack(1000, 30_000) };
    assert_eq!(segment(&bench.up(ahead)[0]).seq, RECEIVER_ZERO.plus(500));
}

#[test]
fn a_hole_gives_duplicates_with_up_to_three_blocks_newest_first_and_merged() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.carry(data(0, 1000), Signal::Undelivered);
    for (offset, expected) in [
        (1000, vec![(1000, 2000)]),
        (3000, vec![(3000, 4000), (1000, 2000)]),
        (5000, vec![(5000, 6000), (3000, 4000), (1000, 2000)]),
        (7000, vec![(7000, 8000), (5000, 6000), (3000, 4000)]),
        (2000, vec![(1000, 4000), (7000, 8000), (5000, 6000)]),
    ] {
        let up = bench.deliver(data(offset, 1000));
        assert_eq!((told(&up[0]), blocks(&up[0])), ((0, 20_000), expected));
    }
    let filled = bench.deliver(data(0, 1000));
    assert_eq!((told(&filled[0]).0, blocks(&filled[0])), (4000, vec![(7000, 8000), (5000, 6000)]));
}

#[test]
fn a_duplicate_for_one_segment_is_told_once_though_link_and_receiver_both_tell_it() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    bench.up(ack(1000, 19_000));
    bench.carry(data(1000, 1000), Signal::Undelivered);
    assert_eq!(bench.deliver(data(2000, 1000)).len(), 1);
    assert!(bench.up(sack(1000, 19_000, &[(2000, 3000)])).is_empty());
    // Only the receiver reports what the link did not notice.
    bench.carry(data(3000, 1000), Signal::Undelivered);
    let up = bench.up(sack(1000, 19_000, &[(2000, 4000)]));
    assert_eq!((told(&up[0]).0, blocks(&up[0])), (1000, vec![(2000, 4000)]));
}

#[test]
fn a_fin_is_never_acknowledged_for_the_receiver() {
    let mut bench = Bench::at_sender(safe(SENDER));
    let last = Segment { flags: Flags::ACK.with(Flags::FIN), ..data(0, 1000) };
    assert_eq!(told(&bench.deliver(last)[0]).0, 1000);
    assert_eq!(told(&bench.up(ack(1001, 20_000))[0]).0, 1001, "the real one does");
}

#[test]
fn a_fin_that_the_receiver_holds_beyond_a_hole_is_left_to_it() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.carry(data(0, 1000), Signal::Undelivered);
    bench.deliver(Segment { flags: Flags::ACK.with(Flags::FIN), ..data(1000, 1000) });
    bench.up(sack(0, 20_000, &[(1000, 2001)]));
    assert_eq!(told(&bench.deliver(data(0, 1000))[0]).0, 2000);
}

#[test]
fn keepalives_and_window_probes_are_answered_by_the_receiver_alone() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    bench.up(ack(1000, 19_000));
    for len in [0, 1] {
        assert!(bench.deliver(data(999, len)).is_empty(), "a keepalive with {len} bytes");
    }
    let up = bench.up(ack(1000, 19_000));
    assert_eq!(told(&up[0]), (1000, 19_000), "its answer goes up");
}

#[test]
fn an_answer_that_the_sender_asked_for_goes_up_though_the_agent_knows_its_number() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    bench.down(data(999, 0));
    assert_eq!(bench.up(ack(1000, 19_000)).iter().map(told).collect::<Vec<_>>(), [(1000, 19_000)]);
    bench.deliver(data(1000, 1000));
    assert!(bench.up(ack(2000, 18_000)).is_empty(), "nobody asked");
}

#[test]
fn duplicates_are_counted_from_the_last_advance() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.carry(data(0, 1000), Signal::Undelivered);
    bench.deliver(data(1000, 1000));
    bench.deliver(data(0, 1000));
    bench.up(ack(2000, 18_000));
    assert_eq!(bench.up(ack(2000, 18_000)).len(), 1);
}

#[test]
fn old_data_gives_a_plain_acknowledgement_and_no_other_window() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    bench.deliver(data(1000, 1000));
    let again = bench.deliver(data(0, 1000));
    assert_eq!((told(&again[0]), blocks(&again[0])), ((2000, 18_000), vec![]));
}

#[test]
fn sequence_numbers_wrap_and_segments_may_be_delivered_in_any_order() {
    let mut bench = Bench::at_sender(safe(SENDER));
    for offset in [0, 1000, 2000, 3000, 4000] {
        bench.down(data(offset, 1000));
    }
    for (offset, reached) in [(2000, 0), (0, 1000), (2000, 1000), (4000, 1000), (3000, 1000), (1000, 5000)] {
        bench.signal(data(offset, 1000), Signal::Delivered);
        let up = bench.deliver(data(15_000, 500));
        let last = up.last().map_or(reached, |packet| told(packet).0);
        assert_eq!(last, reached);
    }
    assert_eq!(SENDER_ZERO.plus(5000), SeqNo(2500));
}

#[test]
fn the_delayed_scheme_acknowledges_every_second_segment_or_after_its_delay() {
    let delay = Span::from_millis(100);
    let mut bench =
        Bench::at_sender(Config { acknowledge: AckScheme::Delayed { every: 2, delay }, ..safe(SENDER) });
    assert!(bench.deliver(data(0, 1000)).is_empty());
    assert_eq!(told(&bench.deliver(data(1000, 1000))[0]).0, 2000);
    assert!(bench.deliver(data(2000, 1000)).is_empty());
    bench.wait(Span::from_millis(99));
    assert!(bench.handed.up.is_empty());
    bench.wait(Span::from_millis(1));
    assert_eq!(told(&bench.handed.up[0]).0, 3000);
    let pushed = Segment { flags: Flags::ACK.with(Flags::PSH), ..data(3000, 1000) };
    assert_eq!(bench.deliver(pushed).len(), 1, "PSH does not wait");
    assert_eq!(bench.deliver(data(5000, 1000)).len(), 1, "a hole does not wait");
    assert_eq!(told(&bench.deliver(data(4000, 1000))[0]).0, 6000, "nor does what fills it");
}

#[test]
fn the_answer_to_undelivered_is_a_choice() {
    let with = |on_undelivered| Bench::at_sender(Config { on_undelivered, ..safe(SENDER) });
    let mut bench = with(OnUndelivered::Nothing);
    assert!(bench.carry(data(0, 1000), Signal::Undelivered).is_empty() && bench.handed.down.is_empty());

    let mut bench = with(OnUndelivered::ResubmitOnce);
    bench.carry(data(0, 1000), Signal::Undelivered);
    assert_eq!(bench.handed.down.len(), 1);
    bench.signal(data(0, 1000), Signal::Undelivered);
    assert_eq!((bench.handed.down.len(), bench.counters().resubmitted), (1, 1), "once");

    let mut bench = with(OnUndelivered::ThreeDuplicates);
    let up = bench.carry(data(0, 1000), Signal::Undelivered);
    assert_eq!(up.iter().map(told).collect::<Vec<_>>(), [(0, 20_000); 3]);
}

#[test]
fn paper_mode_copies_the_window_and_acknowledges_past_the_edge() {
    let mut bench = Bench::at_sender(paper(SENDER));
    for offset in (0..40_000).step_by(1000) {
        assert_eq!(told(&bench.deliver(data(offset, 1000))[0]), (offset.cast_signed() + 1000, 20_000));
    }
}

#[test]
fn paper_mode_clears_the_flag_of_an_acknowledgement_already_given_and_of_no_other() {
    let mut bench = Bench::at_sender(paper(SENDER));
    bench.deliver(data(0, 1000));
    let flags = |up: Vec<crate::packet::Packet>| segment(&up[0]).flags;
    assert_eq!(flags(bench.up(Segment { len: 500, ..ack(1000, 20_000) })), Flags::default());
    bench.down(data(1000, 1000));
    assert_eq!(flags(bench.up(Segment { len: 500, ..ack(2000, 20_000) })), Flags::ACK);
    assert_eq!(bench.counters().cleared, 1);
}

#[test]
fn safe_mode_leaves_reverse_data_as_it_is() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    bench.deliver(data(1000, 1000));
    let reverse = Segment { len: 500, ..ack(1000, 19_000) };
    let up = bench.up(reverse);
    assert_eq!((up.len(), format!("{:?}", up[0])), (1, format!("{:?}", packet(reverse))));
    // Its window would be ignored with its old number, so the new edge is reported again.
    let wider =
        bench.up(Segment { seq: RECEIVER_ZERO.plus(500), ..Segment { len: 500, ..ack(1000, 29_000) } });
    assert_eq!(wider.iter().map(told).collect::<Vec<_>>(), [(1000, 29_000), (2000, 28_000)]);
}
