//! Fragment bursts.

use super::super::{FrameKind, MacConfig, Outcome, PhyRate, Preset};
use super::cell::{Cell, Event, at};
use crate::link::fec::Code;

/// 1 Mbit/s, at most 528 bytes a frame: bodies of 500 bytes.
fn config(rts_threshold: Option<u32>) -> MacConfig {
    MacConfig {
        rts_threshold,
        fragment_threshold: Some(528),
        data_rate: PhyRate::Dsss1,
        basic_rates: super::super::RateSet::of(&[PhyRate::Dsss1]),
        ..Preset::Dot11.config()
    }
}

/// A fragment of 500 bytes: 192 + 8 × 528.
const FULL: f64 = 4_416.0;
/// The last: 1 192 + 8 bytes are 500 + 500 + 200.
const LAST: f64 = 192.0 + 8.0 * 228.0;
/// SIFS, ACK, SIFS.
const BETWEEN: f64 = 10.0 + 304.0 + 10.0;

#[test]
fn fragments_follow_each_other_after_sifs() {
    let mut cell = Cell::new(config(None), 2);
    cell.run(at(1_000));
    cell.enqueue(0, 1, 5, 1_192);
    cell.settle();
    let second = 1_000.0 + FULL + BETWEEN;
    let third = second + FULL + BETWEEN;
    assert_eq!(cell.starts(0, FrameKind::Data), [1_000.0, second, third]);
    assert_eq!(cell.times(1, Event::Up(5)), [third + LAST]);
    assert_eq!(cell.times(0, Event::Done(5, Outcome::Delivered)), [third + LAST + 10.0 + 304.0]);
    let fragments: Vec<_> = cell.sides[0]
        .frames
        .iter()
        .map(|(_, frame, airtime)| {
            (frame.fragment, frame.more_fragments, frame.bytes, airtime.payload.0 / 8_000)
        })
        .collect();
    assert_eq!(fragments, [(0, true, 528, 492), (1, true, 528, 500), (2, false, 228, 200)]);
}

#[test]
fn a_code_lengthens_each_fragment_and_leaves_their_number_and_its_threshold() {
    let fec = Code::of_rate(0.75);
    let mut cell = Cell::new(MacConfig { fec, rts_threshold: Some(528), ..config(None) }, 2);
    cell.run(at(1_000));
    cell.enqueue(0, 1, 5, 1_192);
    cell.settle();
    // 504 bytes with the check sequence are three blocks of 168 and 28 pairs; 204 are two of 102 and 17.
    let (full, last) = (192.0 + 8.0 * (528.0 + 168.0), 192.0 + 8.0 * (228.0 + 68.0));
    let second = 1_000.0 + full + BETWEEN;
    assert_eq!(cell.starts(0, FrameKind::Data), [1_000.0, second, second + full + BETWEEN]);
    assert_eq!(cell.times(1, Event::Up(5)), [second + full + BETWEEN + last]);
    let coded = |(_, frame, airtime): &(_, super::super::Frame, super::super::Airtime)| {
        (frame.bytes, frame.coded.map(|coded| coded.bytes), airtime.payload.0 / 8_000)
    };
    let found: Vec<_> = cell.sides[0].frames.iter().map(coded).collect();
    assert_eq!(found, [(696, Some(504), 492), (696, Some(504), 500), (296, Some(204), 200)]);
    assert!(cell.sides[1].frames.iter().all(|(_, frame, _)| frame.coded.is_none()));
}

#[test]
fn each_fragment_and_its_ack_reserve_the_medium_up_to_the_ack_of_the_next() {
    reserves(config(Some(0)));
}

#[test]
fn coded_fragments_reserve_the_medium_for_their_redundancy_too() {
    reserves(MacConfig { fec: Code::of_rate(0.5), ..config(Some(0)) });
}

fn reserves(config: MacConfig) {
    let mut cell = Cell::new(config, 2);
    cell.script(0, &[0, 0]);
    cell.run(at(1_000));
    cell.enqueue(0, 1, 5, 1_192);
    cell.settle();
    let data = cell.starts(0, FrameKind::Data);
    let ends_of_acks: Vec<f64> = cell.starts(1, FrameKind::Ack).iter().map(|start| start + 304.0).collect();
    assert_eq!(data.len(), 3);
    assert_eq!(cell.starts(0, FrameKind::Rts).len(), 1);
    let reserved = |number: usize, kind: FrameKind| -> Vec<f64> {
        let frames = cell.sides[number].frames.iter().filter(|(_, frame, _)| frame.kind == kind);
        frames
            .map(|(start, frame, airtime)| super::cell::micros(*start + airtime.total + frame.duration))
            .collect()
    };
    assert_eq!(reserved(0, FrameKind::Rts), [ends_of_acks[0]]);
    assert_eq!(reserved(1, FrameKind::Cts), [ends_of_acks[0]]);
    assert_eq!(reserved(0, FrameKind::Data), [ends_of_acks[1], ends_of_acks[2], ends_of_acks[2]]);
    assert_eq!(reserved(1, FrameKind::Ack), [ends_of_acks[1], ends_of_acks[2], ends_of_acks[2]]);
}

#[test]
fn a_lost_fragment_is_repeated_alone_and_the_burst_goes_on() {
    let mut cell = Cell::new(config(None), 2);
    cell.script(0, &[7, 0]);
    cell.run(at(1_000));
    cell.enqueue(0, 1, 5, 1_192);
    // The second fragment is lost.
    cell.run(at(1_000 + FULL as u64 + 100));
    cell.garble.push((1, FrameKind::Data, 1));
    cell.settle();
    let sent: Vec<_> =
        cell.sides[0].frames.iter().map(|(_, frame, _)| (frame.fragment, frame.retry)).collect();
    assert_eq!(sent, [(0, false), (1, false), (1, true), (2, false)]);
    let second = 1_000.0 + FULL + BETWEEN;
    let again = second + FULL + 222.0 + 140.0;
    assert_eq!(cell.starts(0, FrameKind::Data)[2..], [again, again + FULL + BETWEEN]);
    assert_eq!(cell.sides[1].received, 1);
}

#[test]
fn an_msdu_in_fragments_is_given_up_whole() {
    let mut cell = Cell::new(config(None), 2);
    cell.run(at(1_000));
    cell.enqueue(0, 1, 5, 1_192);
    cell.run(at(1_000 + FULL as u64 + 100));
    cell.garble.push((1, FrameKind::Data, 7));
    cell.enqueue(0, 1, 6, 1_192);
    cell.settle();
    assert_eq!(cell.times(0, Event::Done(5, Outcome::Undelivered)).len(), 1);
    assert_eq!(cell.times(1, Event::Up(5)), []);
    assert_eq!(cell.times(1, Event::Up(6)).len(), 1);
}
