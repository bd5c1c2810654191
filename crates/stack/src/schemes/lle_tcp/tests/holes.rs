//! The acknowledgements of a receiver with a hole: which of them pass.

use super::bench::{Bench, RECEIVER, ack, blocks, data, sack, safe};
use crate::signal::Signal;
use crate::units::Span;

/// A receiver has all but the second segment and acknowledges each from the third on. Returns those that passed.
fn with_a_hole(bench: &mut Bench, until: u32) -> Vec<u32> {
    let told = (3000..until).step_by(1000).filter(|&end| {
        bench.up(data(end, 1000));
        !bench.down(sack(1000, 40_000, &[(2000, end + 1000)])).is_empty()
    });
    told.collect()
}

#[test]
fn a_receiver_with_a_hole_is_heard_once_and_then_each_sixteenth_time() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    bench.up(data(2000, 1000));
    assert_eq!(bench.down(sack(1000, 40_000, &[(2000, 3000)])).len(), 1, "the first tells of the hole");
    assert_eq!(with_a_hole(&mut bench, 40_000), [18_000, 34_000]);
    assert_eq!((bench.counters().passed, bench.counters().suppressed), (1 + 3, 35));
    bench.wait(Span::from_millis(40));
    let last: Vec<_> = bench.handed.down.iter().map(blocks).collect();
    assert_eq!(last, [[(2000, 40_000)]], "and when it falls silent");
    // The hole is filled: an advance follows, and a later hole is a new one.
    bench.up(data(1000, 1000));
    assert_eq!(bench.down(ack(40_000, 40_000)).len(), 1, "more than half of the credit is used");
    bench.up(data(41_000, 1000));
    assert_eq!(bench.down(sack(40_000, 40_000, &[(41_000, 42_000)])).len(), 1);
}

#[test]
fn without_sack_each_repeat_of_a_receiver_with_a_hole_passes() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    for offset in [2000, 3000, 4000, 5000] {
        bench.up(data(offset, 1000));
        assert_eq!(bench.down(ack(1000, 40_000)).len(), 1);
    }
}

#[test]
fn the_words_of_a_hole_are_not_put_off_for_ever() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    bench.up(data(2000, 1000));
    bench.down(sack(1000, 40_000, &[(2000, 3000)]));
    for end in (4000..9000).step_by(1000) {
        bench.wait(Span::from_millis(30));
        bench.up(data(end - 1000, 1000));
        assert!(bench.down(sack(1000, 40_000, &[(2000, end)])).is_empty());
    }
    bench.wait(Span::from_millis(30));
    let held: Vec<_> = bench.handed.down.iter().map(blocks).collect();
    assert_eq!(held, [[(2000, 8000)]], "150 ms after the first of them");
}

#[test]
fn no_block_falls_from_the_list_unreported() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    let passes = |bench: &mut Bench, blocks: &[(u32, u32)]| {
        bench.up(data(blocks[0].0, 1000));
        !bench.down(sack(1000, 40_000, blocks)).is_empty()
    };
    assert!(passes(&mut bench, &[(2000, 3000)]));
    assert!(!passes(&mut bench, &[(4000, 5000), (2000, 3000)]));
    assert!(!passes(&mut bench, &[(6000, 7000), (4000, 5000), (2000, 3000)]));
    assert!(passes(&mut bench, &[(8000, 9000), (6000, 7000), (4000, 5000)]), "that of 4000 is the last");
    assert!(!passes(&mut bench, &[(10_000, 11_000), (8000, 9000), (6000, 7000)]));
    assert!(!passes(&mut bench, &[(10_000, 12_000), (8000, 9000), (6000, 7000)]));
    assert!(!passes(&mut bench, &[(13_000, 14_000), (10_000, 12_000), (8000, 9000)]));
    assert!(passes(&mut bench, &[(15_000, 16_000), (13_000, 14_000), (10_000, 12_000)]), "which has grown");
}

#[test]
fn a_range_received_twice_passes_among_the_words_of_a_hole() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    bench.up(data(2000, 1000));
    bench.down(sack(1000, 40_000, &[(2000, 3000)]));
    assert_eq!(bench.down(sack(1000, 40_000, &[(0, 1000), (2000, 3000)])).len(), 1);
    assert_eq!(bench.down(sack(1000, 40_000, &[(2000, 2500), (2000, 3000)])).len(), 1);
    assert!(bench.down(sack(1000, 40_000, &[(2000, 3000)])).is_empty());
}

#[test]
fn a_hole_whose_report_the_link_lost_is_reported_again() {
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    bench.up(data(2000, 1000));
    let first = sack(1000, 40_000, &[(2000, 3000)]);
    bench.down(first);
    bench.signal(first, Signal::Undelivered);
    bench.up(data(3000, 1000));
    assert_eq!(bench.down(sack(1000, 40_000, &[(2000, 4000)])).len(), 1);
}
