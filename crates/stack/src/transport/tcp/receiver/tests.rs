use super::*;
use crate::registry::tcp::{Config, Profile};
use proptest::prelude::*;

fn receiver(buffer: u64) -> Receiver {
    let config = Config { packet: 100, ack_every: 2, receive_buffer: Some(buffer), ..Profile::Rfc.config() };
    Receiver::new(&config)
}

#[test]
fn the_first_segments_are_acknowledged_at_once_where_that_is_asked_for() {
    let config = Config { packet: 100, ack_every: 2, quick_acks: 3, ..Profile::Rfc.config() };
    let mut receiver = Receiver::new(&config);
    let replies: Vec<Reply> = (0..6)
        .map(|number| {
            let reply = receiver.accept(100 * number, 100, false);
            if reply == Reply::Now {
                receiver.advertise(receiver.next());
            }
            reply
        })
        .collect();
    assert_eq!(replies[..3], [Reply::Now; 3]);
    assert_eq!(replies[3..], [Reply::Later, Reply::Now, Reply::Later]);
}

#[test]
fn a_window_that_grows_begins_with_64_kib_and_follows_what_is_read_in_a_round_trip() {
    let config = Config {
        packet: 1000,
        receive_buffer: Some(4_000_000),
        receive_autotuning: true,
        ..Profile::Rfc.config()
    };
    let mut receiver = Receiver::new(&config);
    assert_eq!(receiver.buffer(), 65_536);
    receiver.set_scale(7);
    let mut grown = Vec::new();
    for round in 1..=6_u64 {
        let room = receiver.buffer();
        for _ in 0..room / 1000 {
            receiver.accept(receiver.next(), 1000, false);
            receiver.read(u64::MAX);
            receiver.advertise(receiver.next());
        }
        receiver.tune(Time(round * 100_000_000), Span::from_millis(100));
        grown.push(receiver.buffer());
    }
    assert!(grown.windows(2).all(|pair| pair[0] <= pair[1]), "{grown:?}");
    assert!(grown[0] < 4_000_000 && *grown.last().expect("rounds") == 4_000_000, "{grown:?}");
}

#[test]
fn what_it_lacks_below_an_offset_is_what_has_not_come() {
    let mut receiver = receiver(10_000);
    receiver.accept(0, 100, false);
    receiver.accept(200, 100, false);
    receiver.accept(500, 100, false);
    let lacked = [50, 100, 150, 250, 400, 550, 700].map(|offset| receiver.lacks(offset));
    assert_eq!(lacked, [0, 0, 50, 100, 200, 300, 400]);
}

#[test]
fn it_holds_what_has_arrived_whole_in_order_or_not() {
    let mut receiver = receiver(10_000);
    receiver.accept(0, 100, false);
    receiver.accept(200, 100, false);
    let ranges = [(0, 100), (50, 100), (50, 150), (100, 200), (200, 300), (250, 300), (250, 350)];
    let held = ranges.map(|(start, end)| receiver.holds(start, end));
    assert_eq!(held, [true, true, false, false, true, true, false]);
}

fn blocks(receiver: &mut Receiver) -> Vec<(u32, u32)> {
    receiver.sack_blocks(SeqNo(0), 3).as_slice().iter().map(|block| (block.0.0, block.1.0)).collect()
}

#[test]
fn every_second_full_segment_is_acknowledged_at_once() {
    let mut receiver = receiver(10_000);
    assert_eq!(receiver.accept(0, 100, false), Reply::Later);
    assert_eq!(receiver.accept(100, 100, false), Reply::Now);
    receiver.advertise(receiver.next());
    assert_eq!(receiver.accept(200, 100, false), Reply::Later);
}

#[test]
fn out_of_order_duplicate_and_filling_segments_are_acknowledged_at_once() {
    let mut receiver = receiver(10_000);
    assert_eq!(receiver.accept(100, 100, false), Reply::Now);
    assert_eq!(receiver.accept(100, 100, false), Reply::Now);
    assert_eq!(receiver.accept(0, 100, false), Reply::Now);
    assert_eq!((receiver.next(), receiver.is_in_order()), (200, true));
    assert_eq!(receiver.accept(0, 100, false), Reply::Now);
}

#[test]
fn sack_blocks_stand_newest_first_and_merge() {
    let mut receiver = receiver(10_000);
    for start in [200, 600, 400] {
        receiver.accept(start, 100, false);
    }
    assert_eq!(blocks(&mut receiver), [(400, 500), (600, 700), (200, 300)]);
    receiver.accept(300, 100, false);
    assert_eq!(blocks(&mut receiver), [(200, 500), (600, 700)]);
    receiver.accept(0, 200, false);
    assert_eq!((receiver.next(), blocks(&mut receiver)), (500, vec![(600, 700)]));
}

#[test]
fn nothing_beyond_the_advertised_edge_is_taken() {
    let mut receiver = receiver(250);
    receiver.advertise(receiver.next());
    receiver.accept(0, 100, false);
    receiver.accept(100, 100, false);
    receiver.accept(200, 100, false);
    assert_eq!((receiver.next(), receiver.advertise(250)), (250, 0));
    assert_eq!(receiver.accept(250, 1, false), Reply::Now);
    assert_eq!(receiver.next(), 250);
    assert!(receiver.read(200));
    assert_eq!(receiver.advertise(250), 200);
}

#[test]
fn a_small_opening_of_the_window_is_not_worth_a_segment() {
    let mut receiver = receiver(1000);
    receiver.advertise(receiver.next());
    for start in (0..1000).step_by(100) {
        receiver.accept(start, 100, false);
    }
    receiver.advertise(receiver.next());
    assert!(!receiver.read(100));
    assert!(receiver.read(100));
}

#[test]
fn a_fin_ends_the_stream_once_all_before_it_is_there() {
    let mut receiver = receiver(1000);
    receiver.accept(100, 51, true);
    assert!(!receiver.finished());
    receiver.accept(0, 100, false);
    assert!(receiver.finished());
    assert_eq!((receiver.next(), receiver.in_order()), (151, 150));
}

#[test]
fn a_stream_has_one_end_and_nothing_behind_it() {
    let mut receiver = receiver(1000);
    receiver.accept(0, 100, false);
    receiver.accept(300, 100, false);
    // A FIN below what has arrived is not the end; its data is taken.
    receiver.accept(100, 101, true);
    assert_eq!((receiver.next(), receiver.finished()), (200, false));
    receiver.accept(400, 51, true);
    for (start, len, fin) in [(200, 300, false), (451, 100, false), (451, 100, true), (0, 1, true)] {
        receiver.accept(start, len, fin);
    }
    assert_eq!((receiver.next(), receiver.in_order(), receiver.is_in_order()), (451, 450, true));
    receiver.read(u64::MAX);
    assert_eq!((receiver.readable(), receiver.finished()), (0, true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10_000))]

    #[test]
    fn the_next_segment_in_order_is_taken_at_once_as_any_other(
        segments in prop::collection::vec((0u64..12, 0u32..4, prop::bool::weighted(0.05)), 0..40),
        reports_twice in any::<bool>(),
        quick_acks in 0u32..4,
    ) {
        let config = Config { packet: 100, ack_every: 2, quick_acks, dsack: reports_twice, receive_buffer: Some(800), ..Profile::Rfc.config() };
        let mut both = [Receiver::new(&config), Receiver::new(&config)];
        for (start, len, fin) in segments {
            let len = 50 * len + u32::from(fin);
            // Most follow the one before.
            let start = if start < 8 { both[0].next() } else { 50 * start };
            let replies = [true, false].map(|at_once| {
                let receiver = &mut both[usize::from(at_once)];
                let next = (at_once && !fin).then(|| receiver.accept_next(start, len)).flatten();
                let reply = next.unwrap_or_else(|| receiver.accept(start, len, fin));
                if reply == Reply::Now {
                    receiver.read(100);
                    receiver.advertise(receiver.next());
                }
                reply
            });
            prop_assert_eq!(replies[0], replies[1]);
            prop_assert_eq!(format!("{:?}", both[0]), format!("{:?}", both[1]));
        }
    }
}
