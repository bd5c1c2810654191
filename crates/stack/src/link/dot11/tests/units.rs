//! A station whose frames a scheme orders.

use proptest::prelude::*;

use super::super::{
    Airtime, Counters, Frame, FrameKind, MacConfig, Outcome, PhyRate, Preset, RateSet, Reassembly,
    ServedOutcome,
};
use super::cell::{Cell, Event, at};
use crate::hooks::{Reason, Timing};
use crate::registry::ArqMachine;
use crate::schemes::DynamicArq;
use crate::schemes::dynamic_arq::{
    Check, Clock, Deadline, Hopeless, Limit, Options, Order, Priority, Queues,
};
use crate::units::{Span, Time};

/// 6 Mbit/s, MPDUs of 320 bytes, four attempts.
fn config() -> MacConfig {
    MacConfig {
        fragment_threshold: Some(320),
        data_rate: PhyRate::Ofdm6,
        basic_rates: RateSet::of(&[PhyRate::Ofdm6]),
        short_retry: Some(4),
        queue: 5_000,
        reassembly: Reassembly::AnyOrder,
        ..Preset::Dot11a.config()
    }
}

/// A station 0 with a scheme, and others that receive.
fn cell(options: Options, count: usize) -> Cell {
    let mut cell = Cell::new(config(), count);
    cell.stations[0].adopt(ArqMachine::Dynamic(DynamicArq::new(options)));
    cell
}

/// The timer of a flow fires at `fires_at` milliseconds.
fn fires(cell: &mut Cell, flow: u32, rtt: u64, fires_at: u64) {
    let timing = Timing {
        rtt: Span::from_millis(rtt),
        rto: Span::from_secs(1),
        fires_at: Time::ZERO + Span::from_millis(fires_at),
    };
    cell.stations[0].on_timing(flow, timing);
}

/// What was sent by station 0: handle, fragment, whether it was a repetition.
fn sent(cell: &Cell) -> Vec<(u64, u8, bool)> {
    let data = cell.sides[0].frames.iter().filter(|(_, frame, _)| frame.kind == FrameKind::Data);
    data.map(|(_, frame, _)| (frame.msdu.unwrap_or_default(), frame.fragment, frame.retry)).collect()
}

#[test]
fn a_packet_of_1500_bytes_goes_in_six_frames_of_320_bytes() {
    let mut cell = cell(Options::default(), 2);
    cell.enqueue_of(Some(0), 0, 1, 5, 1_500);
    cell.settle();
    let bytes: Vec<u32> = cell.sides[0].frames.iter().map(|(_, frame, _)| frame.bytes).collect();
    assert_eq!(bytes, [320, 320, 320, 320, 320, 76]);
    assert_eq!(cell.times(1, Event::Up(5)).len(), 1);
}

#[test]
fn a_burst_goes_on_where_it_broke_off() {
    for order in [Order::Together, Order::RetransmissionsFirst] {
        let mut cell = cell(Options { order, ..Options::default() }, 2);
        cell.garble.push((1, FrameKind::Data, 1));
        cell.enqueue_of(Some(0), 0, 1, 5, 800);
        cell.settle();
        assert_eq!(sent(&cell), [(5, 0, false), (5, 0, true), (5, 1, false), (5, 2, false)]);
        let data = cell.starts(0, FrameKind::Data);
        // SIFS, ACK of 44 us, SIFS.
        assert!((data[2] - data[1] - (452.0 + 16.0 + 44.0 + 16.0)).abs() < 1e-9);
    }
}

#[test]
fn packets_are_joined_from_fragments_out_of_order() {
    // The timer of flow 1 is nearer: its packet overtakes, and the other's first fragment comes last but one.
    let mut cell = cell(Options { order: Order::NewFirst, ..Options::default() }, 2);
    fires(&mut cell, 0, 1, 900);
    fires(&mut cell, 1, 1, 500);
    cell.garble.push((1, FrameKind::Data, 2));
    cell.enqueue_of(Some(0), 0, 1, 5, 500);
    cell.enqueue_of(Some(1), 0, 1, 6, 500);
    cell.settle();
    let expected = [(5, 0, false), (5, 1, false), (6, 0, false), (6, 1, false), (5, 0, true), (5, 1, true)];
    assert_eq!(sent(&cell), expected);
    assert!(cell.times(1, Event::Up(6)) < cell.times(1, Event::Up(5)));
    assert_eq!(cell.sides[1].received, 2);
    let reasons: Vec<Reason> = cell.sides[0].served.iter().map(|served| served.reason).collect();
    assert_eq!(reasons[4..], [Reason::Turn, Reason::Turn]);
}

#[test]
fn a_retransmission_is_a_burst_of_its_own_and_reserves_no_more() {
    let mut cell = cell(Options { order: Order::NewFirst, ..Options::default() }, 2);
    cell.garble.push((1, FrameKind::Data, 1));
    cell.enqueue_of(Some(0), 0, 1, 5, 800);
    cell.settle();
    assert_eq!(sent(&cell), [(5, 0, false), (5, 1, false), (5, 2, false), (5, 0, true)]);
    let again = &cell.sides[0].frames[3].1;
    assert!(again.more_fragments, "its receiver must know that it is not the last");
    assert_eq!(again.duration, Span::from_micros(16 + 44));
}

#[test]
fn with_its_third_retransmission_a_fragment_takes_its_siblings_along() {
    for order in [Order::Together, Order::NewFirst] {
        let mut cell = cell(Options { order, ..Options::default() }, 2);
        fires(&mut cell, 0, 1, 500);
        fires(&mut cell, 1, 1, 900);
        // Fragments 0, 1 and 2 fail; from then on those of packet 5 continue to fail.
        cell.garble.push((1, FrameKind::Data, u32::MAX));
        cell.enqueue_of(Some(0), 0, 1, 5, 800);
        while cell.times(0, Event::Done(5, Outcome::Undelivered)).is_empty() {
            assert!(cell.step(Time::NEVER));
        }
        cell.garble.clear();
        let attempts = sent(&cell).len();
        assert!((6..=12).contains(&attempts), "{order:?}: {attempts}");
        cell.enqueue_of(Some(1), 0, 1, 6, 800);
        cell.settle();
        assert_eq!(sent(&cell)[attempts..], [(6, 0, false), (6, 1, false), (6, 2, false)]);
        assert_eq!(cell.stations[0].backlog(), 0);
        assert_eq!(cell.stations[0].counters().undelivered, 1);
        let outcomes: Vec<_> = cell.sides[0].served.iter().map(|served| served.outcome).collect();
        assert_eq!(outcomes.iter().filter(|outcome| **outcome == ServedOutcome::GivenUp).count(), 1);
    }
}

/// The bounds of the backoffs that station 0 drew after failures, while nothing it sends is acknowledged.
fn bounds_after_failures(options: Options, packets: &[(u32, u32)]) -> (Vec<u32>, Vec<ServedOutcome>) {
    let mut cell = cell(options, 2);
    cell.garble.push((1, FrameKind::Data, u32::MAX));
    for (handle, &(flow, bytes)) in packets.iter().enumerate() {
        cell.enqueue_of(Some(flow), 0, 1, handle as u64, bytes);
    }
    cell.settle();
    let outcomes: Vec<_> = cell.sides[0].served.iter().map(|served| served.outcome).collect();
    // The first backoff comes after the first failure, since an idle medium is taken at once.
    (cell.sides[0].bounds[..outcomes.len()].to_vec(), outcomes)
}

#[test]
fn the_contention_window_is_reset_when_failures_of_different_fragments_reach_the_stations_limit() {
    // Six packets of two fragments: none has failed four times when the station has, as one is tried after the other.
    let packets = [(0, 500); 6];
    let (bounds, outcomes) =
        bounds_after_failures(Options { queues: Queues::One, ..Options::default() }, &packets);
    let before = outcomes.iter().position(|outcome| *outcome == ServedOutcome::GivenUp);
    assert!(before.is_some_and(|before| before > 16));
    for (number, bound) in bounds.iter().enumerate() {
        assert_eq!(*bound, [31, 63, 127, 15][number % 4], "after failure {}", number + 1);
    }
}

#[test]
fn the_contention_window_is_not_reset_by_a_packet_that_is_given_up_before_the_stations_limit() {
    // Two packets of one fragment, tried in turn: they are discarded at the seventh and eighth failure.
    let (bounds, outcomes) =
        bounds_after_failures(Options { queues: Queues::One, ..Options::default() }, &[(0, 100), (1, 100)]);
    assert_eq!(outcomes[6..], [ServedOutcome::GivenUp; 2]);
    assert_eq!(bounds, [31, 63, 127, 15, 31, 63, 127, 15]);
}

#[test]
fn a_hopeless_packet_can_be_given_up_before_anything_of_it_is_sent() {
    let mut cell = cell(Options { hopeless: Hopeless::Drop, ..Options::default() }, 2);
    fires(&mut cell, 0, 100, 40);
    cell.run(at(1_000));
    cell.enqueue_of(Some(0), 0, 1, 5, 800);
    cell.settle();
    assert_eq!((sent(&cell), cell.times(0, Event::Done(5, Outcome::Undelivered)).len()), (vec![], 1));
    // The station is none the worse for a turn without a frame.
    fires(&mut cell, 0, 100, 90_000);
    cell.enqueue_of(Some(0), 0, 1, 6, 100);
    cell.settle();
    assert_eq!(cell.times(1, Event::Up(6)).len(), 1);
}

#[test]
fn a_packet_of_no_flow_is_repeated_at_once_up_to_the_stations_own_limit() {
    let mut cell = cell(Options::default(), 2);
    fires(&mut cell, 0, 100, 1);
    cell.garble.push((1, FrameKind::Data, 4));
    cell.enqueue(0, 1, 5, 40);
    cell.enqueue_of(Some(0), 0, 1, 6, 40);
    cell.settle();
    assert_eq!(sent(&cell)[..4], [(5, 0, false), (5, 0, true), (5, 0, true), (5, 0, true)]);
    assert_eq!(cell.times(0, Event::Done(5, Outcome::Undelivered)).len(), 1);
    assert_eq!(cell.times(1, Event::Up(6)).len(), 1);
}

#[test]
fn a_starved_packet_goes_first_when_the_window_of_sequence_numbers_is_full() {
    let mut cell = cell(Options::default(), 2);
    fires(&mut cell, 0, 0, 900_000_000);
    fires(&mut cell, 1, 0, 1_000_000);
    // Of the first packet two attempts fail: it waits in Q2 for as long as there are new ones.
    cell.garble.push((1, FrameKind::Data, 2));
    cell.enqueue_of(Some(0), 0, 1, 0, 100);
    while cell.sides[0].served.len() < 2 {
        assert!(cell.step(Time::NEVER));
    }
    for handle in 1..3_000 {
        assert!(cell.enqueue_of(Some(1), 0, 1, handle, 100));
    }
    cell.settle();
    let place = sent(&cell).iter().rposition(|(handle, ..)| *handle == 0);
    assert_eq!(place, Some(1_025), "after 1 023 newer packets");
    assert_eq!(cell.sides[0].served[1_025].reason, Reason::Oldest);
    assert_eq!(cell.sides[1].received, 3_000);
}

#[test]
fn a_receiver_that_was_silent_for_long_takes_nothing_for_a_repetition() {
    let mut cell = cell(Options::default(), 3);
    for round in 0..5 {
        // The first transmission to station 2 is lost, after a round of numbers to station 1.
        cell.garble.push((2, FrameKind::Data, 1));
        assert!(cell.enqueue_of(Some(1), 0, 2, round, 100));
        cell.settle();
        for handle in 0..4_095 {
            assert!(cell.enqueue_of(Some(0), 0, 1, 1_000 + handle, 100));
        }
        cell.settle();
    }
    assert_eq!((cell.sides[1].received, cell.sides[2].received), (5 * 4_095, 5));
    assert_eq!(cell.stations[2].counters().duplicates, 0);
}

#[test]
fn attempts_are_counted_by_how_often_a_frame_was_sent_before() {
    let with = |scheme: bool| -> Counters {
        let mut cell = Cell::new(config(), 2);
        if scheme {
            cell.stations[0].adopt(ArqMachine::Dynamic(DynamicArq::new(Options::default())));
        }
        cell.garble.push((1, FrameKind::Data, 6));
        cell.enqueue_of(Some(0), 0, 1, 5, 100);
        cell.enqueue_of(Some(0), 0, 1, 6, 100);
        cell.settle();
        *cell.stations[0].counters()
    };
    assert_eq!(with(false).attempts, [2, 2, 2, 1]);
    // The second packet precedes the first one's second retransmission, and the failures spread over both.
    assert_eq!(with(true).attempts, [2, 2, 2, 2]);
}

/// A packet: when it comes in microseconds, to whom, bytes, flow.
type Offer = (u64, usize, u32, Option<u32>);

fn offers() -> impl Strategy<Value = Vec<Offer>> {
    let offer = (0u64..60_000, 1usize..5, 1u32..1_501, prop::option::of(0u32..6));
    prop::collection::vec(offer, 1..40).prop_map(|mut offers| {
        offers.sort_unstable();
        offers
    })
}

fn options() -> impl Strategy<Value = Options> {
    let queues = prop::sample::select(vec![Queues::Three, Queues::One, Queues::Flows]);
    let clock = prop::sample::select(vec![Clock::Left, Clock::Rto, Clock::None]);
    let priority = prop::sample::select(vec![Priority::Strict, Priority::Pass]);
    let check = prop::sample::select(vec![Check::Heads, Check::All]);
    let hopeless = prop::sample::select(vec![Hopeless::Send, Hopeless::Demote, Hopeless::Drop]);
    let deadline = prop::sample::select(vec![Deadline::OfFlow, Deadline::OfPacket]);
    let order = prop::sample::select(vec![Order::Together, Order::NewFirst, Order::RetransmissionsFirst]);
    let limit = prop::sample::select(vec![Limit::Count, Limit::Never]);
    (queues, clock, priority, check, hopeless, deadline, order, limit).prop_map(
        |(queues, clock, priority, check, hopeless, deadline, order, limit)| Options {
            queues,
            clock,
            priority,
            check,
            hopeless,
            deadline,
            order,
            limit,
        },
    )
}

/// Offers packets, with timers that restart now and then, and runs to the end.
fn play(cell: &mut Cell, offers: &[Offer], timers: &[(u32, u64, u64)]) {
    for (handle, &(when, to, bytes, flow)) in offers.iter().enumerate() {
        cell.run(at(when));
        if let Some(&(flow, rtt, left)) = timers.get(handle) {
            fires(cell, flow, rtt, when / 1_000 + left);
        }
        cell.enqueue_of(flow, 0, to, handle as u64, bytes);
    }
    cell.run(at(60_000_000));
}

/// What station 0 did, and what came of it. Sequence numbers count by receiver where a scheme chooses.
fn transcript(cell: &Cell) -> Vec<String> {
    let frames = cell.sides.iter().map(|side| {
        let unnumbered =
            |(at, frame, airtime): &(Time, Frame, Airtime)| (*at, Frame { sequence: 0, ..*frame }, *airtime);
        format!("{:?}", side.frames.iter().map(unnumbered).collect::<Vec<_>>())
    });
    let events = cell.sides.iter().map(|side| format!("{:?}", side.events));
    frames.chain(events).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_packet_is_parted_with_once_and_delivered_ones_are_whole(
        options in options(),
        offers in offers(),
        timers in prop::collection::vec((0u32..6, 0u64..300, 0u64..1_000), 0..40),
        garbled in prop::collection::vec((0usize..5, prop::sample::select(vec![FrameKind::Data, FrameKind::Ack]), 1u32..20), 0..8),
    ) {
        let mut cell = cell(options, 5);
        cell.garble = garbled;
        play(&mut cell, &offers, &timers);
        for handle in 0..offers.len() as u64 {
            let count = |wanted: &dyn Fn(Event) -> bool| {
                cell.sides.iter().flat_map(|side| &side.events).filter(|(_, event)| wanted(*event)).count()
            };
            let up = count(&|event| event == Event::Up(handle));
            let delivered = count(&|event| event == Event::Done(handle, Outcome::Delivered));
            prop_assert_eq!(count(&|event| matches!(event, Event::Done(of, _) if of == handle)), 1);
            prop_assert!(up <= 1 && delivered <= up, "up {} delivered {}", up, delivered);
        }
        prop_assert_eq!(cell.stations[0].backlog(), 0);
        let counters = cell.stations[0].counters();
        prop_assert_eq!(counters.attempts.iter().sum::<u64>(), counters.data_sent);
    }

    #[test]
    fn on_a_medium_without_losses_the_scheme_changes_nothing_unless_it_orders_new_data_too(
        options in options(),
        offers in offers(),
        timers in prop::collection::vec((0u32..6, 0u64..300, 0u64..1_000), 0..40),
    ) {
        // Together with new data only while no timer is known, and all are of some flow.
        let is_ordered = options.queues != Queues::Three || options.order == Order::Together;
        let offers: Vec<Offer> = offers
            .into_iter()
            .map(|(when, to, bytes, flow)| (when, to, bytes, if is_ordered { Some(0) } else { flow }))
            .collect();
        let mut fixed = Cell::new(config(), 5);
        play(&mut fixed, &offers, &[]);
        let mut dynamic = cell(options, 5);
        play(&mut dynamic, &offers, if is_ordered { &[] } else { &timers });
        prop_assert_eq!(transcript(&fixed), transcript(&dynamic));
    }

    #[test]
    fn with_retransmissions_first_the_scheme_never_has_a_choice(
        offers in offers(),
        timers in prop::collection::vec((0u32..6, 0u64..300, 0u64..1_000), 0..40),
        garbled in prop::collection::vec((0usize..5, prop::sample::select(vec![FrameKind::Data, FrameKind::Ack]), 1u32..20), 0..8),
    ) {
        let mut fixed = Cell::new(config(), 5);
        fixed.garble.clone_from(&garbled);
        play(&mut fixed, &offers, &[]);
        let mut dynamic = cell(Options { order: Order::RetransmissionsFirst, ..Options::default() }, 5);
        dynamic.garble = garbled;
        play(&mut dynamic, &offers, &timers);
        for served in &dynamic.sides[0].served {
            prop_assert!(served.waiting.units.iter().sum::<u32>() <= 1);
        }
        prop_assert_eq!(transcript(&fixed), transcript(&dynamic));
    }
}
