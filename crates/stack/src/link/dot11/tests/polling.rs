//! Contention-free periods.

use super::super::{FrameKind, MacConfig, Outcome, PcfConfig, Preset, Role, Rules};
use super::cell::{Cell, Event, at, dcf};
use crate::packet::NodeId;
use crate::units::{Span, Time};

/// Frames at 2 Mbit/s with the long preamble: a beacon of 72 bytes, 100 bytes of IP, no data, a CF-End.
const BEACON: f64 = 192.0 + 288.0;
const DATA: f64 = 192.0 + 544.0;
const NULL: f64 = 192.0 + 112.0;
const END: f64 = 192.0 + 80.0;
const SIFS: f64 = 10.0;

/// An access point, node 0, and stations; the first period is due at 1 000 µs.
fn network(stations: usize, pcf: PcfConfig) -> Cell {
    let mut roles = vec![Role::AccessPoint];
    roles.resize(stations + 1, Role::Station { ap: NodeId(0) });
    let mut cell = Cell::with_roles(Preset::Dot11.config(), &roles);
    cell.run(at(1_000));
    let list: Vec<NodeId> = (1..=stations as u32).map(NodeId).collect();
    cell.with(0, |ap, now, side| dcf(ap).coordinate(pcf, list, now, side));
    cell
}

fn frames(cell: &Cell, number: usize) -> Vec<(f64, FrameKind, bool, bool)> {
    let frames = cell.sides[number].frames.iter();
    frames
        .map(|(start, frame, _)| (super::cell::micros(*start), frame.kind, frame.poll, frame.cf_ack))
        .collect()
}

#[test]
fn polls_and_acknowledgements_ride_on_data() {
    let mut cell = network(2, PcfConfig::default());
    cell.run(at(1_100));
    cell.enqueue(0, 1, 10, 100);
    cell.enqueue(1, 0, 20, 100);
    cell.run(at(10_000));
    let first = 1_000.0 + BEACON + SIFS;
    let answer = first + DATA + SIFS;
    let second = answer + DATA + SIFS;
    let third = second + NULL + SIFS + NULL + SIFS;
    let end = third + NULL + SIFS + NULL + SIFS;
    let expected = [
        (1_000.0, FrameKind::Beacon, false, false),
        (first, FrameKind::Data, true, false),
        (second, FrameKind::Null, true, true),
        (third, FrameKind::Null, true, false),
        (end, FrameKind::CfEnd, false, false),
    ];
    assert_eq!(frames(&cell, 0), expected);
    assert_eq!(frames(&cell, 1)[0], (answer, FrameKind::Data, false, true));
    assert_eq!(frames(&cell, 1)[1], (third + NULL + SIFS, FrameKind::Null, false, false));
    // Both are delivered by an acknowledgement that rides on another frame, the second on one for station 2.
    assert_eq!(cell.times(0, Event::Done(10, Outcome::Delivered)), [answer + DATA]);
    assert_eq!(cell.times(1, Event::Done(20, Outcome::Delivered)), [second + NULL]);
    assert_eq!(cell.times(1, Event::Up(10)), [first + DATA]);
    assert_eq!(cell.times(0, Event::Up(20)), [answer + DATA]);
}

#[test]
fn contention_begins_again_at_the_end_of_the_period() {
    let mut cell = network(1, PcfConfig::default());
    cell.script(1, &[0, 4]);
    cell.run(at(1_100));
    cell.enqueue(1, 0, 1, 100);
    // The poll brings one packet; the other comes after the second poll, within the reservation.
    let end = 1_000.0 + BEACON + SIFS + NULL + SIFS + DATA + SIFS + NULL + SIFS + NULL + SIFS;
    cell.run(at(end as u64 - 5));
    cell.enqueue(1, 0, 2, 100);
    cell.run(at(20_000));
    assert_eq!(cell.starts(0, FrameKind::CfEnd), [end]);
    assert_eq!(cell.starts(1, FrameKind::Data)[1], end + END + 50.0);
    assert_eq!(cell.sides[0].received, 2);
}

#[test]
fn a_packet_sent_between_periods_does_not_displace_the_next_one() {
    let mut cell = network(1, PcfConfig::default());
    cell.run(at(70_000));
    cell.enqueue(0, 1, 10, 100);
    cell.run(at(110_000));
    assert_eq!(cell.starts(0, FrameKind::Data), [70_000.0]);
    assert_eq!(cell.starts(0, FrameKind::Beacon), [1_000.0, 103_400.0]);
}

#[test]
fn a_period_holds_the_backoff_of_its_access_point() {
    let roles = [Role::AccessPoint, Role::Station { ap: NodeId(0) }, Role::Station { ap: NodeId(0) }];
    let mut cell = Cell::with_roles(Preset::Dot11.config(), &roles);
    cell.script(0, &[20]);
    cell.script(2, &[31]);
    cell.run(at(1_000));
    cell.enqueue(2, 0, 1, 100);
    cell.run(at(1_100));
    cell.enqueue(0, 2, 2, 100);
    // The backoff counts from here; the period begins in the eleventh slot. Its station is another than the packet's.
    let counting = 1_000.0 + DATA + SIFS + 248.0 + 50.0;
    cell.run(at(counting as u64 + 210));
    cell.with(0, |ap, now, side| dcf(ap).coordinate(PcfConfig::default(), vec![NodeId(1)], now, side));
    cell.run(at(10_000));
    assert_eq!(cell.starts(0, FrameKind::Beacon), [counting + 210.0]);
    let end = cell.starts(0, FrameKind::CfEnd)[0] + END;
    assert_eq!(cell.starts(0, FrameKind::Data), [end + 50.0 + 200.0]);
}

#[test]
fn a_silent_station_is_passed_over_after_pifs() {
    let mut cell = network(2, PcfConfig::default());
    cell.garble.push((1, FrameKind::Null, 1));
    cell.run(at(10_000));
    let first = 1_000.0 + BEACON + SIFS;
    assert_eq!(cell.starts(0, FrameKind::Null), [first, first + NULL + 30.0]);
    assert_eq!(cell.starts(2, FrameKind::Null), [first + NULL + 30.0 + NULL + SIFS]);
}

#[test]
fn data_whose_acknowledgement_was_lost_are_sent_again_and_go_up_once() {
    let mut cell = network(1, PcfConfig::default());
    cell.run(at(1_100));
    cell.enqueue(0, 1, 10, 100);
    // The answer is CF-ACK without data.
    cell.garble.push((0, FrameKind::Null, 1));
    cell.run(at(20_000));
    let first = 1_000.0 + BEACON + SIFS;
    let again = first + DATA + SIFS + NULL + 30.0;
    assert_eq!(cell.starts(0, FrameKind::Data), [first, again]);
    assert_eq!(cell.sides[1].received, 1);
    assert_eq!(cell.stations[1].counters().duplicates, 1);
    assert_eq!(cell.times(0, Event::Done(10, Outcome::Delivered)), [again + DATA + SIFS + NULL]);
}

#[test]
fn data_of_a_station_that_went_unheard_are_sent_again() {
    let mut cell = network(1, PcfConfig::default());
    cell.run(at(1_100));
    cell.enqueue(1, 0, 20, 100);
    cell.garble.push((0, FrameKind::Data, 1));
    cell.run(at(20_000));
    assert_eq!(cell.starts(1, FrameKind::Data).len(), 2);
    assert_eq!(cell.times(1, Event::Done(20, Outcome::Delivered)).len(), 1);
    assert_eq!(cell.times(0, Event::Up(20)).len(), 1);
    assert_eq!(cell.stations[1].counters().ack_missing, 1);
}

#[test]
fn an_access_point_gives_up_at_the_retry_limit_while_polling() {
    let mut cell = network(1, PcfConfig::default());
    cell.run(at(1_100));
    cell.enqueue(0, 1, 10, 100);
    cell.garble.push((1, FrameKind::Data, u32::MAX));
    cell.run(at(40_000));
    assert_eq!(cell.starts(0, FrameKind::Data).len(), 7);
    assert_eq!(cell.times(0, Event::Done(10, Outcome::Undelivered)).len(), 1);
}

#[test]
fn an_access_point_finds_data_for_the_station_it_polls() {
    let mut cell = network(2, PcfConfig::default());
    cell.run(at(1_100));
    for (handle, to) in [(1, 2), (2, 2), (3, 1), (4, 1)] {
        cell.enqueue(0, to, handle, 100);
    }
    cell.run(at(30_000));
    let order: Vec<Option<u64>> = cell.sides[0]
        .frames
        .iter()
        .filter(|(_, frame, _)| frame.kind == FrameKind::Data)
        .map(|(_, frame, _)| frame.msdu)
        .collect();
    assert_eq!(order, [Some(3), Some(1), Some(4), Some(2)]);
}

#[test]
fn saturated_periods_keep_their_time_and_share_the_medium_with_contention() {
    let pcf = PcfConfig::default();
    let mut cell = network(5, pcf);
    let mut handle = 0;
    let until = at(1_000_000);
    while cell.now < until {
        for number in 0..=5 {
            while cell.stations[number].backlog() < 10 {
                handle += 1;
                let to = if number == 0 { 1 + handle as usize % 5 } else { 0 };
                cell.enqueue(number, to, handle, 1_500);
            }
        }
        assert!(cell.step(Time::NEVER));
    }
    let beacons = cell.starts(0, FrameKind::Beacon);
    let ends = cell.starts(0, FrameKind::CfEnd);
    assert_eq!(beacons.len(), 10);
    for (number, (begin, end)) in beacons.iter().zip(&ends).enumerate() {
        let due = 1_000.0 + 102_400.0 * number as f64;
        assert!(*begin >= due && *begin < due + 10_000.0, "{begin} {due}");
        assert!(end + END <= due + 51_200.0 && *end > due + 51_200.0 - 25_000.0, "{end} {due}");
        // Nobody contends within the period.
        for side in &cell.sides {
            for (start, frame, _) in &side.frames {
                let start = super::cell::micros(*start);
                assert!(frame.contention_free || start < *begin || start > *end, "{frame:?} {start}");
            }
        }
    }
    let contended = cell.sides[1]
        .frames
        .iter()
        .any(|(_, frame, _)| frame.kind == FrameKind::Data && !frame.contention_free);
    assert!(contended);
    assert!(cell.sides.iter().all(|side| side.delivered > 10));
}

#[test]
fn a_period_that_begins_late_ends_in_time() {
    let pcf = PcfConfig { duration: Span::from_micros(20_000), ..PcfConfig::default() };
    let mut cell = network(1, pcf);
    // A frame of 9.4 ms is on the air when the second period is due at 103 400.
    cell.run(at(103_000));
    cell.enqueue(1, 0, 1, 2_304);
    cell.run(at(150_000));
    let exchange = 192.0 + 4.0 * 2_340.0 + SIFS + 248.0;
    assert_eq!(cell.starts(0, FrameKind::Beacon)[1], 103_000.0 + exchange + 30.0);
    let (_, beacon, airtime) =
        cell.sides[0].frames.iter().rfind(|(_, frame, _)| frame.kind == FrameKind::Beacon).unwrap();
    let begin = Time::ZERO + Span::from_micros((103_030.0 + exchange) as u64);
    assert_eq!(begin + airtime.total + beacon.duration, at(123_400));
}

#[test]
fn the_shortest_period_holds_one_exchange_of_the_largest_packets_and_a_shorter_one_but_half_of_it() {
    let largest = 192.0 + 4.0 * 1_536.0;
    let shortest = PcfConfig::default().shortest(&Rules::new(Preset::Dot11.config()));
    assert_eq!(super::cell::micros(Time::ZERO + shortest), BEACON + 2.0 * largest + END + 3.0 * SIFS);
    for (missing, sent) in [(0, (1, 1)), (1, (0, 1))] {
        let duration = Span(shortest.0 - 1_000 * missing);
        let mut cell = network(1, PcfConfig { duration, ..PcfConfig::default() });
        cell.run(at(1_100));
        for handle in 0..3 {
            cell.enqueue(0, 1, handle, 1_500);
            cell.enqueue(1, 0, 10 + handle, 1_500);
        }
        let end = 1_000 + duration.0 / 1_000;
        cell.run(at(end));
        let polled = |number: usize| {
            let frames = cell.sides[number].frames.iter();
            frames.filter(|(_, frame, _)| frame.kind == FrameKind::Data && frame.contention_free).count()
        };
        assert_eq!((polled(0), polled(1)), sent);
        assert_eq!(cell.starts(0, FrameKind::CfEnd).len(), 1);
    }
}

#[test]
fn what_a_period_leaves_to_contention_holds_one_exchange_after_the_longest_backoff() {
    let contention = |mac: MacConfig| {
        let span = PcfConfig::default().contention(&Rules::new(mac));
        super::cell::micros(Time::ZERO + span)
    };
    let exchange = 50.0 + 31.0 * 20.0 + 192.0 + 4.0 * 1_536.0 + SIFS + 248.0;
    assert_eq!(contention(Preset::Dot11.config()), exchange);
    let mac = MacConfig { rts_threshold: Some(0), ..Preset::Dot11.config() };
    assert_eq!(contention(mac), exchange + 272.0 + 248.0 + 2.0 * SIFS);
}

#[test]
fn beacons_and_packets_are_numbered_in_one_sequence() {
    let mut cell = network(1, PcfConfig::default());
    cell.run(at(1_100));
    cell.enqueue(0, 1, 10, 100);
    cell.run(at(120_000));
    cell.enqueue(0, 1, 11, 100);
    cell.run(at(220_000));
    let numbered = [FrameKind::Beacon, FrameKind::Data];
    let frames = cell.sides[0].frames.iter().filter(|(_, frame, _)| numbered.contains(&frame.kind));
    let order: Vec<(FrameKind, u16)> = frames.map(|(_, frame, _)| (frame.kind, frame.sequence)).collect();
    let [beacon, data] = numbered;
    assert_eq!(order, [(beacon, 0), (data, 1), (beacon, 2), (data, 3), (beacon, 4)]);
}
