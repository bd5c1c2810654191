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

const SEGMENT: u32 = 1448;

fn tuned(sack: bool) -> Receiver {
    let config = Config {
        packet: SEGMENT,
        ack_every: 2,
        receive_buffer: Some(6_000_000),
        receive_autotuning: true,
        sack,
        ..Profile::Rfc.config()
    };
    let mut receiver = Receiver::new(&config);
    receiver.set_scale(7);
    receiver
}

/// Receives and reads a number of segments in order; which of them are acknowledged at once.
fn reads(receiver: &mut Receiver, segments: u64) -> Vec<bool> {
    let mut at_once = Vec::new();
    for _ in 0..segments {
        let reply = receiver.accept(receiver.next(), SEGMENT, false);
        receiver.read(u64::MAX);
        if reply == Reply::Now {
            receiver.advertise(receiver.next());
        }
        at_once.push(reply == Reply::Now);
    }
    at_once
}

/// What Linux 6.18 offered (`TCP_WINDOW_CLAMP`) after round trips with 20, 40, 80 and 267 segments, but for its roundings.
#[test]
fn a_buffer_that_grows_begins_with_64_kib_and_follows_what_is_read_in_a_round_trip() {
    let mut receiver = tuned(true);
    reads(&mut receiver, 1);
    receiver.tune(Time(0), Some(Span::from_millis(100)));
    let kernel = [(10, 81_920), (20, 152_697), (40, 347_520), (80, 695_040), (267, 4_388_090)];
    for (round, (segments, buffer)) in (1_u64..).zip(kernel) {
        reads(&mut receiver, segments);
        receiver.tune(Time(round * 100_000_000), Some(Span::from_millis(100)));
        assert_eq!(receiver.buffer() / 100, buffer / 100, "{segments} segments");
    }
    reads(&mut receiver, 1000);
    receiver.tune(Time(600_000_000), Some(Span::from_millis(100)));
    assert_eq!(receiver.buffer(), 6_000_000, "what it may have");
}

/// As Linux before 6.16: `2 c + 16` segments where c were read, and twice as much again where c has doubled.
#[test]
fn a_buffer_with_a_cushion_grows_by_it_and_not_by_what_waits_beyond_a_hole() {
    let mut receiver = tuned(true);
    let tuning = receiver.tuning.as_mut().expect("it is tuned");
    tuning.cushion = 16 * u64::from(SEGMENT);
    reads(&mut receiver, 1);
    receiver.tune(Time(0), Some(Span::from_millis(100)));
    reads(&mut receiver, 19);
    receiver.accept(receiver.next() + 50 * u64::from(SEGMENT), SEGMENT, false);
    receiver.tune(Time(100_000_000), Some(Span::from_millis(100)));
    assert_eq!(receiver.buffer(), 3 * (2 * 20 + 16) * u64::from(SEGMENT));
}

#[test]
fn quick_acknowledgements_that_offer_more_do_not_count_from_an_even_number_on() {
    let config = Config {
        packet: SEGMENT,
        ack_every: 2,
        quick_acks: 16,
        receive_buffer: Some(6_000_000),
        receive_autotuning: true,
        ..Profile::Rfc.config()
    };
    let mut receiver = Receiver::new(&config);
    receiver.set_scale(7);
    // As Linux 6.12 in virtual time: the window grows by the first six, so that 22 are acknowledged at once.
    let at_once = reads(&mut receiver, 26);
    assert_eq!(at_once.iter().take_while(|now| **now).count(), 22);
    assert_eq!(at_once[22..], [false, true, false, true]);
}

#[test]
fn the_round_trip_of_a_buffer_that_grows_is_by_the_timestamps_that_come_back() {
    let rtt =
        |receiver: &Receiver| receiver.tuning.and_then(|tuning| tuning.rtt).map(|rtt| rtt.0 / 1_000_000);
    let mut receiver = tuned(true);
    let mut learned = Vec::new();
    // A repeated echo gives no sample; a lesser round trip counts at once, a longer one by an eighth.
    for (sample, echo) in [(40, 1), (80, 1), (24, 2), (64, 3)] {
        receiver.learn_round_trip(Span::from_millis(sample), echo);
        learned.push(rtt(&receiver));
    }
    assert_eq!(learned, [40, 40, 24, 29].map(Some));
    receiver.accept(0, SEGMENT, false);
    receiver.learn_round_trip(Span::from_millis(900), 4);
    assert_eq!(rtt(&receiver), Some(29), "what waits to be read makes a round trip longer");
    receiver.learn_round_trip(Span::from_millis(16), 5);
    assert_eq!(rtt(&receiver), Some(16));
}

#[test]
fn while_its_window_grows_each_segment_is_acknowledged_at_once() {
    let mut receiver = tuned(true);
    let growing = |from: u64, to: u64| (to - from).div_ceil(2 * u64::from(SEGMENT));
    for (round, offered) in [65_536, 81_920].into_iter().enumerate() {
        let many = growing(offered, receiver.buffer()) as usize;
        let at_once = reads(&mut receiver, many as u64 + 4);
        assert!(many > 5 && at_once[..many].iter().all(|now| *now), "{at_once:?}");
        assert_eq!(at_once[many..], [false, true, false, true]);
        let window = receiver.advertise(receiver.next());
        assert_eq!(u64::from(window), receiver.buffer() >> 7);
        receiver.tune(Time(0), Some(Span::from_millis(100)));
        reads(&mut receiver, 20 * (1 - round as u64));
        receiver.tune(Time(100_000_000), Some(Span::from_millis(100)));
    }
    receiver.make_room(1_000_000);
    let offers = [127, 128].map(|len| {
        receiver.accept(receiver.next(), len, false);
        receiver.tuning.map(|tuning| tuning.offered)
    });
    assert_eq!(offers, [434_400, 434_400 + 2 * u64::from(SEGMENT)].map(Some), "small segments do not count");
}

#[test]
fn a_window_grows_with_what_waits_beyond_a_hole_only_where_blocks_tell_duplicates_apart() {
    let windows = [true, false].map(|sack| {
        let mut receiver = tuned(sack);
        receiver.advertise(0);
        let hole = receiver.next();
        [1, 2, 3].map(|place| {
            receiver.accept(hole + u64::from(SEGMENT) * place, SEGMENT, false);
            u64::from(receiver.advertise(hole)) << 7
        })
    });
    assert_eq!(windows[0].map(|window| (window - 65_536) / u64::from(SEGMENT)), [1, 3, 5]);
    assert_eq!(windows[1], [65_536; 3]);
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

/// The window counts data, and not the FIN behind it (RFC 9293, 3.4).
#[test]
fn a_fin_needs_no_room() {
    let mut receiver = receiver(200);
    receiver.accept(0, 201, true);
    assert_eq!((receiver.in_order(), receiver.finished()), (200, true));
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
