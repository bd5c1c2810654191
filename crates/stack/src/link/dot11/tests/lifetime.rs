//! Packets that are discarded at the end of their lifetime.

use super::super::{FrameKind, MacConfig, Outcome, Preset, Reassembly};
use super::cell::{Cell, Event, at};
use crate::registry::ArqMachine;
use crate::schemes::DynamicArq;
use crate::schemes::dynamic_arq::{Limit, Options};
use crate::units::Span;

/// No limit by count, 20 ms in its place, and fragments of 320 bytes.
fn config(reassembly: Reassembly) -> MacConfig {
    MacConfig {
        fragment_threshold: Some(320),
        short_retry: None,
        lifetime: Some(Span::from_millis(20)),
        reassembly,
        ..Preset::Dot11a.config()
    }
}

/// Two packets to station 1, which receives nothing; after the run both have been parted with.
fn both_given_up(mut cell: Cell) -> (f64, f64) {
    cell.garble.push((1, FrameKind::Data, u32::MAX));
    cell.enqueue_of(Some(0), 0, 1, 5, 800);
    cell.enqueue_of(Some(1), 0, 1, 6, 800);
    cell.run(at(1_000_000));
    assert_eq!(cell.stations[0].backlog(), 0);
    assert_eq!(cell.stations[0].counters().undelivered, 2);
    let over = |handle| cell.times(0, Event::Done(handle, Outcome::Undelivered))[0];
    (over(5), over(6))
}

#[test]
fn a_packet_is_given_up_at_the_first_turn_after_its_lifetime() {
    let (first, second) = both_given_up(Cell::new(config(Reassembly::InOrder), 2));
    // A window of 1023 slots of 9 us, and a frame.
    let longest_turn = 10_000.0;
    assert!((20_000.0..20_000.0 + longest_turn).contains(&first), "{first}");
    // That of the second begins with its own first transmission.
    assert!((first + 20_000.0..first + 20_000.0 + longest_turn).contains(&second), "{first}, {second}");
}

#[test]
fn without_a_limit_a_scheme_leaves_packets_to_their_lifetime() {
    let mut cell = Cell::new(config(Reassembly::AnyOrder), 2);
    cell.stations[0]
        .adopt(ArqMachine::Dynamic(DynamicArq::new(Options { limit: Limit::Never, ..Options::default() })));
    let (first, second) = both_given_up(cell);
    // Both are tried in turn.
    assert!(first > 20_000.0 && second > 20_000.0 && (first - second).abs() < 20_000.0, "{first}, {second}");
}

#[test]
fn what_is_delivered_in_time_is_not_given_up() {
    let mut cell = Cell::new(config(Reassembly::InOrder), 2);
    cell.garble.push((1, FrameKind::Data, 5));
    cell.enqueue_of(Some(0), 0, 1, 5, 800);
    cell.settle();
    assert_eq!(cell.times(1, Event::Up(5)).len(), 1);
    assert_eq!(cell.stations[0].counters().delivered, 1);
}
