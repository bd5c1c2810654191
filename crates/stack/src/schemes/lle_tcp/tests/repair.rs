//! The repair of data that the TCP of the receiver did not get.

use super::bench::{Bench, RECEIVER, SENDER, ack, data, sack, safe, segment};
use crate::packet::Flags;
use crate::signal::Signal;
use crate::units::Span;

#[test]
fn a_segment_dropped_above_the_link_is_sent_again_when_the_receiver_repeats_itself() {
    let mut bench = Bench::at_sender(safe(SENDER));
    for offset in [0, 1000, 2000] {
        bench.deliver(data(offset, 1000));
        bench.wait(Span::from_millis(1));
    }
    bench.up(ack(1000, 19_000));
    assert!(bench.handed.down.is_empty());
    assert!(bench.up(ack(1000, 19_000)).is_empty(), "the sender has forgotten the data");
    let again = bench.handed.down.pop().expect("a copy");
    let (original, copy) = (data(1000, 1000), segment(&again));
    assert_eq!((copy.seq, copy.len, copy.flags), (original.seq, 1000, Flags::ACK));
    assert_eq!((again.src, again.dst), (SENDER, RECEIVER));
    assert!(bench.signal(copy, Signal::Delivered).is_empty(), "the sender has long known of it");
    bench.up(ack(3000, 17_000));
    assert_eq!((bench.counters().repaired, bench.counters().unconfirmed), (1, 0));
}

#[test]
fn answers_to_what_came_beyond_a_hole_are_no_evidence_when_they_cross_its_repair() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    bench.carry(data(1000, 1000), Signal::Undelivered);
    bench.deliver(data(2000, 1000));
    bench.deliver(data(3000, 1000));
    // TCP fills the hole and continues while the answers wait for the air.
    bench.deliver(data(1000, 1000));
    bench.deliver(data(4000, 1000));
    bench.wait(Span::from_millis(1));
    for _ in 0..3 {
        bench.up(ack(1000, 19_000));
    }
    assert!(bench.handed.down.is_empty(), "one answer to the first and two to what followed");
    bench.up(ack(1000, 19_000));
    let copy = bench.handed.down.pop().expect("a fourth tells that the second is missing after all");
    assert_eq!(segment(&copy).seq, data(1000, 0).seq);
}

#[test]
fn with_sack_they_are_no_evidence_either() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.carry(data(0, 1000), Signal::Undelivered);
    bench.deliver(data(1000, 1000));
    bench.deliver(data(2000, 1000));
    bench.deliver(data(0, 1000));
    bench.wait(Span::from_millis(1));
    bench.up(sack(0, 20_000, &[(1000, 2000)]));
    bench.up(sack(0, 20_000, &[(1000, 3000)]));
    assert!(bench.handed.down.is_empty());
    bench.deliver(data(3000, 1000));
    bench.up(sack(0, 20_000, &[(1000, 4000)]));
    assert_eq!(bench.handed.down.len(), 1, "this answers a segment that came after the hole was filled");
}

#[test]
fn answers_to_old_data_and_to_probes_are_no_evidence() {
    let old = [data(0, 1000), data(1000, 1000), data(1999, 0), data(1999, 1)];
    for segment in old {
        let mut bench = Bench::at_sender(safe(SENDER));
        bench.deliver(data(0, 1000));
        bench.deliver(data(1000, 1000));
        bench.up(ack(2000, 18_000));
        bench.deliver(segment);
        bench.deliver(data(2000, 1000));
        bench.wait(Span::from_millis(1));
        bench.up(ack(2000, 18_000));
        assert!(bench.handed.down.is_empty(), "{segment:?}");
        bench.up(ack(2000, 18_000));
        assert_eq!(bench.handed.down.len(), 1, "{segment:?}");
    }
}

#[test]
fn what_the_link_gave_up_may_have_come_so_that_its_repetition_is_old_to_the_receiver() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.carry(data(0, 1000), Signal::Undelivered);
    bench.deliver(data(0, 1000));
    bench.deliver(data(1000, 1000));
    bench.wait(Span::from_millis(1));
    bench.up(ack(1000, 19_000));
    bench.up(ack(1000, 19_000));
    assert!(bench.handed.down.is_empty());
    bench.up(ack(1000, 19_000));
    assert_eq!(bench.handed.down.len(), 1);
}

#[test]
fn an_update_of_the_window_is_no_evidence() {
    let mut bench = Bench::at_sender(safe(SENDER));
    for offset in [0, 1000, 2000] {
        bench.deliver(data(offset, 1000));
    }
    bench.wait(Span::from_millis(1));
    bench.up(ack(1000, 19_000));
    bench.up(ack(1000, 25_000));
    bench.up(ack(1000, 30_000));
    assert!(bench.handed.down.is_empty());
    bench.up(ack(1000, 30_000));
    assert_eq!(bench.handed.down.len(), 1);
}

#[test]
fn a_copy_that_proves_superfluous_brings_no_other() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    bench.wait(Span::from_millis(200));
    let copy = segment(&bench.handed.down.pop().expect("a copy after silence"));
    bench.deliver(data(1000, 1000));
    bench.signal(copy, Signal::Delivered);
    bench.deliver(data(2000, 1000));
    bench.wait(Span::from_millis(50));
    bench.up(ack(2000, 18_000));
    bench.up(ack(2000, 18_000));
    assert!(bench.handed.down.is_empty(), "the receiver had it, and repeats itself for the copy");
}

#[test]
fn with_sack_all_up_to_the_first_block_is_sent_again_and_only_what_the_link_delivered() {
    let mut bench = Bench::at_sender(safe(SENDER));
    for offset in [0, 1000, 2000, 3000] {
        bench.deliver(data(offset, 1000));
    }
    bench.wait(Span::from_millis(1));
    bench.up(sack(1000, 19_000, &[(3000, 4000)]));
    let again: Vec<_> = bench.handed.down.iter().map(|packet| segment(packet).seq).collect();
    assert_eq!(again, [data(1000, 0).seq, data(2000, 0).seq]);
    bench.up(sack(1000, 19_000, &[(3000, 4000)]));
    assert_eq!(bench.handed.down.len(), 2, "not twice before it can have been answered");

    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    bench.carry(data(1000, 1000), Signal::Undelivered);
    bench.deliver(data(2000, 1000));
    bench.wait(Span::from_millis(1));
    bench.up(sack(0, 20_000, &[(2000, 3000)]));
    let again: Vec<_> = bench.handed.down.iter().map(|packet| segment(packet).seq).collect();
    assert_eq!(again, [data(0, 0).seq], "what the link lost is TCP's to send again");
}

#[test]
fn with_sack_each_gap_between_blocks_is_filled_at_once() {
    let mut bench = Bench::at_sender(safe(SENDER));
    for offset in (0..8000).step_by(1000) {
        bench.deliver(data(offset, 1000));
    }
    bench.wait(Span::from_millis(1));
    bench.up(sack(1000, 19_000, &[(6000, 7000), (4000, 5000), (2000, 3000)]));
    let again: Vec<_> = bench.handed.down.iter().map(|packet| segment(packet).seq).collect();
    let missing = [1000, 3000, 5000].map(|offset| data(offset, 0).seq);
    assert_eq!(again, missing, "that of 7000 came last, and may be on its way");
}

#[test]
fn a_tail_dropped_above_the_link_is_sent_again_after_a_silence_that_doubles() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    bench.wait(Span::from_millis(199));
    assert!(bench.handed.down.is_empty());
    bench.wait(Span::from_millis(1));
    assert_eq!(bench.handed.down.len(), 1);
    bench.wait(Span::from_millis(399));
    assert_eq!(bench.handed.down.len(), 1);
    bench.wait(Span::from_millis(1));
    assert_eq!(bench.handed.down.len(), 2);
    bench.up(ack(1000, 19_000));
    bench.wait(Span::from_secs(60));
    assert_eq!(bench.handed.down.len(), 2);
    bench.deliver(data(1000, 1000));
    // The doubling has ended, and a time that includes copies is not a sample of the answering time.
    bench.wait(Span::from_millis(199));
    assert_eq!(bench.handed.down.len(), 2);
    bench.wait(Span::from_millis(1));
    assert_eq!(bench.handed.down.len(), 3);
}

#[test]
fn without_sack_one_hole_after_the_other_is_repaired_as_the_receiver_gets_on() {
    let mut bench = Bench::at_sender(safe(SENDER));
    for offset in [0, 1000, 2000, 3000] {
        bench.deliver(data(offset, 1000));
    }
    bench.wait(Span::from_millis(1));
    bench.up(ack(0, 20_000));
    for offset in [0, 1000, 2000] {
        let copy = segment(&bench.handed.down.pop().expect("a copy"));
        assert_eq!(copy.seq, data(offset, 0).seq);
        bench.signal(copy, Signal::Delivered);
        bench.up(ack(offset + 1000, 19_000 - offset));
    }
    let copy = segment(&bench.handed.down.pop().expect("a copy of the last"));
    assert_eq!(copy.seq, data(3000, 0).seq);
    bench.signal(copy, Signal::Delivered);
    bench.up(ack(4000, 16_000));
    assert!(bench.handed.down.is_empty());
}
