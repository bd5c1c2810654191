//! Queues with packets of 1000 bytes, served one at a time.

use super::super::testing::{Record, packet};
use super::*;
use crate::packet::Ecn;

const ROOM: Backlog = Backlog { packets: 100_000, bytes: u64::MAX };

fn ms(millis: u64) -> Time {
    Time(millis * 1_000_000)
}

/// A queue that receives two packets and sends one each millisecond. Returns when it dropped, or marked, in nanoseconds.
fn overload(config: &Config, ecn: Ecn, millis: u64) -> Vec<u64> {
    let (mut queue, mut host, mut acted) = (Codel::new(config), Record::default(), Vec::new());
    for now in (0..millis).map(ms) {
        for _ in 0..2 {
            queue.enqueue(Queued { ecn, ..packet(0, now) }, ROOM, &mut host);
        }
        let before = host.drops.len();
        let sent = queue.dequeue(now, &mut host).expect("a packet");
        let marks = usize::from(sent.ecn == Ecn::Ce);
        acted.extend(std::iter::repeat_n(now.0, host.drops.len() - before + marks));
    }
    acted
}

/// The times at which RFC 8289 (5.3) drops, computed without the queue. The first is when the waits have been above the
/// target for an interval, the k-th `interval / sqrt(k - 1)` after the one before. Each is at the first millisecond
/// that is not earlier.
fn expected(first: u64, interval: f64, until: u64) -> Vec<u64> {
    let (mut at, mut times) = (first as f64, Vec::new());
    for count in 1.. {
        times.push((at / 1e6).ceil() as u64 * 1_000_000);
        at += interval / f64::from(count).sqrt();
        if at >= until as f64 {
            break;
        }
    }
    times
}

#[test]
fn drops_follow_the_inverse_square_root() {
    // Half of what arrives leaves: the packet that leaves at 2k ms came at k ms. At 10 ms one has waited 5 ms; an interval
    // later the first is dropped. The fifth goes 100 (1 + 0.7071 + 0.5774 + 0.5) = 278.45 ms later.
    let config = Config::default();
    let dropped = overload(&config, Ecn::NotEct, 1_000);
    let first = dropped[0];
    assert!((109_000_000..=112_000_000).contains(&first), "{first}");
    assert_eq!(dropped[..5], [0, 100, 171, 229, 279].map(|after| first + after * 1_000_000));
    assert_eq!(dropped, expected(first, 100e6, 1_000_000_000));
}

#[test]
fn packets_that_use_ecn_are_marked_at_the_same_times() {
    let config = Config::default();
    let marked = overload(&config, Ecn::Ect0, 1_000);
    assert_eq!(marked, expected(marked[0], 100e6, 1_000_000_000));
    assert_eq!(marked[0], overload(&config, Ecn::NotEct, 1_000)[0]);
}

/// Serves `packets` that came this long before each departure, at these times; some more wait behind. Returns the drops.
fn served(queue: &mut Codel, host: &mut Record, waits: &[(u64, u64)]) -> usize {
    let before = host.drops.len();
    for (now, waited) in waits {
        queue.line = WaitingLine::default();
        for _ in 0..8 {
            queue.enqueue(packet(0, ms(now - waited)), ROOM, host);
        }
        queue.dequeue(ms(*now), host);
    }
    host.drops.len() - before
}

#[test]
fn one_short_wait_within_the_interval_starts_it_again() {
    let (mut queue, mut host) = (Codel::new(&Config::default()), Record::default());
    assert_eq!(served(&mut queue, &mut host, &[(100, 6), (150, 6), (190, 4), (200, 6), (299, 6)]), 0);
    assert_eq!(served(&mut queue, &mut host, &[(300, 6)]), 1);
}

#[test]
fn one_packet_that_is_left_is_not_a_standing_queue() {
    for (left, is_standing) in [(1, false), (2, true)] {
        let (mut queue, mut host) = (Codel::new(&Config::default()), Record::default());
        for now in [100, 150, 200, 250, 300] {
            queue.line = WaitingLine::default();
            for _ in 0..=left {
                queue.enqueue(packet(0, ms(now - 50)), ROOM, &mut host);
            }
            queue.dequeue(ms(now), &mut host);
        }
        assert_eq!(!host.drops.is_empty(), is_standing, "{left}");
    }
}

#[test]
fn a_time_of_drops_soon_after_another_begins_with_its_rate() {
    let (mut queue, mut host) = (Codel::new(&Config::default()), Record::default());
    served(&mut queue, &mut host, &[(100, 9), (200, 9), (300, 9), (371, 9), (429, 9), (440, 1)]);
    // Drops at 200, 300, 371 and 429: the count has grown from 1 to 4.
    assert_eq!((host.drops.len(), queue.control.count), (4, 4));
    served(&mut queue, &mut host, &[(450, 9), (550, 9)]);
    assert_eq!((host.drops.len(), queue.control.count), (5, 3));
    assert_eq!(queue.counts()[0].value, 2);
    // The next after 100 / sqrt(3) = 57.7 ms; 16 intervals later the rate is forgotten.
    assert_eq!(served(&mut queue, &mut host, &[(607, 9)]), 0);
    assert_eq!(served(&mut queue, &mut host, &[(608, 9), (610, 1), (2_400, 9), (2_500, 9)]), 2);
    assert_eq!(queue.control.count, 1);
}

#[test]
fn a_packet_above_the_ce_threshold_is_marked_at_once() {
    let config = Config { ce_threshold: Some(Span::from_millis(1)), ..Config::default() };
    let (mut queue, mut host) = (Codel::new(&config), Record::default());
    let found = [1, 2].map(|waited| {
        queue.enqueue(Queued { ecn: Ecn::Ect1, ..packet(0, ms(10 - waited)) }, ROOM, &mut host);
        queue.dequeue(ms(10), &mut host).map(|sent| sent.ecn)
    });
    assert_eq!(found, [Some(Ecn::Ect1), Some(Ecn::Ce)]);
}

#[test]
fn a_threshold_for_l4s_leaves_classic_packets_alone() {
    let ce_threshold_for = Stepped::L4s;
    let config = Config { ce_threshold: Some(Span::from_millis(1)), ce_threshold_for, ..Config::default() };
    let (mut queue, mut host) = (Codel::new(&config), Record::default());
    let found = [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1, Ecn::Ce].map(|ecn| {
        queue.enqueue(Queued { ecn, ..packet(0, ms(8)) }, ROOM, &mut host);
        queue.dequeue(ms(10), &mut host).map(|sent| sent.ecn)
    });
    assert_eq!(found, [Ecn::NotEct, Ecn::Ect0, Ecn::Ce, Ecn::Ce].map(Some));
}

#[test]
fn a_full_queue_drops_what_arrives() {
    let (mut queue, mut host) = (Codel::new(&Config::default()), Record::default());
    let room = Backlog { packets: 3, bytes: 2_500 };
    for handle in 0..3 {
        queue.enqueue(packet(handle, ms(0)), room, &mut host);
    }
    assert_eq!(host.drops, [(2, DropCause::Full)]);
    assert_eq!(queue.backlog(), Backlog { packets: 2, bytes: 2_000 });
}

#[test]
fn a_choice_of_what_a_threshold_marks_needs_the_threshold() {
    let chosen = Config { ce_threshold_for: Stepped::L4s, ..Config::default() };
    assert_eq!(chosen.conflict().map(|(key, _)| key), Some("ce-threshold-for"));
    let with = Config { ce_threshold: Some(Span::from_millis(1)), ..chosen };
    assert_eq!((with.conflict(), Config::default().conflict()), (None, None));
}
