//! Frames with rates of the layer above: the rate of each attempt, when they are discarded, and frames to all.

use super::super::{
    BROADCAST, Category, DataRate, FrameKind, MacConfig, Msdu, Outcome, PayloadClass, PhyRate, Plan, Preset,
};
use super::cell::{Cell, Event};
use crate::packet::NodeId;
use crate::units::Span;

const PLAN: Plan =
    [(at(PhyRate::Ofdm54), 2), (at(PhyRate::Ofdm24), 1), (at(PhyRate::Ofdm6), 2), (at(PhyRate::Ofdm6), 0)];

const fn at(rate: PhyRate) -> DataRate {
    DataRate { rate, mode: None }
}

fn frame_to(next: NodeId, handle: u64) -> Msdu {
    let (class, category) = (PayloadClass::Data, Category::BestEffort);
    Msdu { handle, bytes: 1_000, next, class, category, flow: None }
}

/// A cell whose first station gets a frame. The given number of its repetitions arrive garbled.
fn sent(config: MacConfig, next: NodeId, garbled: u32) -> Cell {
    let mut cell = Cell::new(config, 3);
    cell.garble.push((1, FrameKind::Data, garbled));
    cell.with(0, |station, now, out| {
        assert!(station.enqueue_planned(frame_to(next, 7), (PLAN, false), now, out));
    });
    cell.settle();
    cell
}

fn rates(cell: &Cell) -> Vec<PhyRate> {
    let data = cell.sides[0].frames.iter().filter(|(_, frame, _)| frame.kind == FrameKind::Data);
    data.map(|(_, frame, _)| frame.rate).collect()
}

#[test]
fn each_attempt_has_the_rate_of_its_plan_and_the_last_one_ends_it() {
    use PhyRate::{Ofdm6, Ofdm24, Ofdm54};
    let all = [Ofdm54, Ofdm54, Ofdm24, Ofdm6, Ofdm6];
    for (garbled, count, outcome, tries) in [
        (0, 1, Outcome::Delivered, [1, 0, 0, 0]),
        (2, 3, Outcome::Delivered, [2, 1, 0, 0]),
        (4, 5, Outcome::Delivered, [2, 1, 2, 0]),
        (9, 5, Outcome::Undelivered, [2, 1, 2, 0]),
    ] {
        let mut cell = sent(Preset::Dot11a.config(), NodeId(1), garbled);
        assert_eq!(rates(&cell), all[..count], "{garbled} garbled");
        assert_eq!(cell.times(0, Event::Done(7, outcome)).len(), 1, "{garbled} garbled");
        let retries: Vec<bool> = cell.sides[0].frames.iter().map(|(_, frame, _)| frame.retry).collect();
        assert!(!retries[0] && retries[1..].iter().all(|retry| *retry));
        assert_eq!(cell.stations[0].take_tries(7), Some(tries), "{garbled} garbled");
        assert_eq!(cell.stations[0].take_tries(7), None, "once only");
    }
}

#[test]
fn an_rts_without_an_answer_counts_as_an_attempt() {
    let mut cell = Cell::new(MacConfig { rts_threshold: Some(100), ..Preset::Dot11a.config() }, 2);
    cell.garble.push((1, FrameKind::Rts, 2));
    cell.with(0, |station, now, out| {
        assert!(station.enqueue_planned(frame_to(NodeId(1), 7), (PLAN, false), now, out));
    });
    cell.settle();
    assert_eq!(rates(&cell), [PhyRate::Ofdm24]);
    assert_eq!(cell.stations[0].take_tries(7), Some([2, 1, 0, 0]));
}

#[test]
fn a_frame_to_all_is_sent_once_reserves_nothing_and_reaches_each() {
    let config = MacConfig { rts_threshold: Some(100), ..Preset::Dot11a.config() };
    let mut cell = sent(config, BROADCAST, 1);
    assert_eq!(rates(&cell), [PhyRate::Ofdm54]);
    assert_eq!(cell.sides[0].frames[0].1.duration, Span::ZERO);
    assert_eq!(cell.times(0, Event::Done(7, Outcome::Delivered)).len(), 1);
    assert_eq!((cell.times(1, Event::Up(7)).len(), cell.times(2, Event::Up(7)).len()), (0, 1));
    assert!(cell.sides[1..].iter().all(|side| side.frames.is_empty()), "nobody acknowledges it");
    assert_eq!(cell.stations[0].take_tries(7), Some([1, 0, 0, 0]));
}

#[test]
fn a_full_queue_keeps_no_plan() {
    let mut cell = Cell::new(MacConfig { queue: 1, ..Preset::Dot11a.config() }, 2);
    cell.with(0, |station, now, out| {
        let taken = [7, 8, 9]
            .map(|handle| station.enqueue_planned(frame_to(NodeId(1), handle), (PLAN, false), now, out));
        assert_eq!(taken, [true, true, false]);
        assert_eq!(station.take_tries(9), None);
    });
    cell.settle();
    assert_eq!([7, 8].map(|handle| cell.stations[0].take_tries(handle)), [Some([1, 0, 0, 0]); 2]);
}
