//! A scheme that selects the contents of an A-MPDU discards packets.

use super::*;
use crate::hooks::Timing;
use crate::schemes::dynamic_arq::{Hopeless, Options};

/// Two stations; the first discards what its flow's sender will send again by itself.
fn cell() -> Cell {
    let mut cell = Cell::new(config(|_| {}), 2);
    let options = Options { hopeless: Hopeless::Drop, ..Options::default() };
    cell.stations[0].adopt(DynamicArq::new(options));
    cell
}

/// The timer of flow 0 fires this much later; its round-trip time is 100 ms.
fn fires_in(cell: &mut Cell, micros: u64) {
    let timing = Timing {
        rtt: Span::from_millis(100),
        rto: Span::from_secs(1),
        fires_at: cell.now + Span::from_micros(micros),
    };
    cell.stations[0].on_timing(0, timing);
}

#[test]
fn a_hopeless_packet_is_given_up_before_it_is_sent() {
    let mut cell = cell();
    fires_in(&mut cell, 40_000);
    cell.enqueue_of(Some(0), Category::BestEffort, (0, 1), 0..3);
    cell.run(100_000);
    assert!(cell.sides[0].frames.is_empty());
    let mut done = cell.sides[0].done.clone();
    done.sort_unstable_by_key(|(handle, _)| *handle);
    assert_eq!(done, [0, 1, 2].map(|handle| (handle, Undelivered)));
    assert_eq!(cell.stations[0].backlog(), 0);
    // Those of others go, and so do later ones.
    cell.enqueue(0, 1, 3..5);
    fires_in(&mut cell, 500_000);
    cell.enqueue_of(Some(0), Category::BestEffort, (0, 1), 5..7);
    cell.run(200_000);
    let mut up = cell.sides[1].up.clone();
    up.sort_unstable();
    assert_eq!((up, cell.stations[0].backlog()), (vec![3, 4, 5, 6], 0));
}

#[test]
fn a_failed_packet_that_has_become_hopeless_is_given_up_and_the_window_moves_on() {
    let mut cell = cell();
    // The first packet goes alone. When the next frame, with the others, is acknowledged, less than half a round trip is left.
    fires_in(&mut cell, 50_350);
    cell.lose = vec![(1, 9)];
    cell.enqueue_of(Some(0), Category::BestEffort, (0, 1), 0..4);
    cell.run(40_000);
    assert!(cell.sides[0].done.contains(&(1, Undelivered)));
    assert_eq!(cell.lose, [(1, 8)], "it is not sent again");
    assert_eq!((cell.sides[1].up.clone(), cell.stations[0].backlog()), (vec![0, 2, 3], 0));
    assert!(cell.sides[0].frames.iter().any(|frame| frame.1 == BlockAckReq));
}
