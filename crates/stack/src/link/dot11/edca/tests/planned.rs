//! Frames with rates of the layer above: aggregates of one rate, attempts, and frames outside of agreements.

use super::super::super::{BROADCAST, DataRate, Plan, Tries};
use super::*;

fn mode(mcs: u8) -> DataRate {
    let edca = Preset::Dot11n.config().edca.expect("EDCA");
    DataRate::from(Mode { mcs, ..edca.mode })
}

const fn at(rate: PhyRate) -> DataRate {
    DataRate { rate, mode: None }
}

/// Two attempts at a mode, and one at MCS 0.
fn from(mcs: u8) -> Plan {
    [(mode(mcs), 2), (mode(0), 1), (mode(0), 0), (mode(0), 0)]
}

const MANAGEMENT: Plan =
    [(at(PhyRate::Ofdm6), 2), (at(PhyRate::Ofdm6), 0), (at(PhyRate::Ofdm6), 0), (at(PhyRate::Ofdm6), 0)];

/// Frames that the first station gets: receiver, handles, plan, and whether an agreement covers them.
fn sent(frames: &[(NodeId, std::ops::Range<u64>, Plan, bool)], change: impl FnOnce(&mut Cell)) -> Cell {
    let mut cell = Cell::new(Preset::Dot11n.config(), 3);
    change(&mut cell);
    cell.sides[0].now = cell.now;
    for (next, handles, plan, is_covered) in frames {
        for handle in handles.clone() {
            let (class, category) = (PayloadClass::Data, Category::BestEffort);
            let msdu = Msdu { handle, bytes: 1_500, next: *next, class, category, flow: None };
            let Cell { stations, sides, now, .. } = &mut cell;
            assert!(stations[0].enqueue_planned(msdu, (*plan, *is_covered), *now, &mut sides[0]));
        }
    }
    cell.settle();
    cell.run(50_000);
    cell
}

fn of_data(cell: &Cell) -> Vec<(u16, Option<u8>)> {
    let side = &cell.sides[0];
    let each = side.frames.iter().zip(&side.rates).filter(|(frame, _)| frame.1 == Data);
    each.map(|(frame, rate)| (frame.2, rate.2)).collect()
}

fn tries(cell: &mut Cell, handles: std::ops::Range<u64>) -> Vec<Option<Tries>> {
    handles.map(|handle| cell.stations[0].take_tries(handle)).collect()
}

const B: NodeId = NodeId(1);

#[test]
fn an_aggregate_has_frames_whose_plans_have_the_same_rate() {
    let mut cell = sent(&[(B, 0..4, from(5), true), (B, 4..6, from(3), true)], |_| {});
    assert_eq!(of_data(&cell), [(1, Some(5)), (3, Some(5)), (2, Some(3))]);
    assert_eq!(cell.sides[1].up, [0, 1, 2, 3, 4, 5]);
    assert_eq!(tries(&mut cell, 0..6), [Some([1, 0, 0, 0]); 6]);
    assert_eq!(tries(&mut cell, 0..1), [None], "once only");
}

#[test]
fn a_frame_that_fails_goes_at_the_next_rate_of_its_plan_until_the_last_attempt() {
    let mut cell = sent(&[(B, 0..4, from(5), true)], |cell| cell.lose = vec![(1, 2), (2, 9)]);
    // 0; 1 to 3; 1 and 2; at the next rate both; 2 is given up.
    assert_eq!(of_data(&cell), [(1, Some(5)), (3, Some(5)), (2, Some(5)), (2, Some(0))]);
    assert_eq!(kinds(&cell.sides[0]).last(), Some(&(BlockAckReq, 0)));
    assert_eq!(cell.sides[1].up, [0, 1, 3]);
    assert!(cell.sides[0].done.contains(&(2, Undelivered)));
    let expected = [[1, 0, 0, 0], [2, 1, 0, 0], [2, 1, 0, 0], [1, 0, 0, 0]].map(Some);
    assert_eq!(tries(&mut cell, 0..4), expected);
}

#[test]
fn an_rts_without_an_answer_counts_in_the_plans_of_all_mpdus() {
    let config = MacConfig { rts_threshold: Some(2_000), ..Preset::Dot11n.config() };
    let mut cell = sent(&[(B, 0..3, from(5), true)], |cell| {
        *cell = Cell::new(config, 3);
        cell.garble = vec![(Rts, 1)];
    });
    assert_eq!(of_data(&cell), [(1, Some(5)), (2, Some(5))]);
    assert_eq!(tries(&mut cell, 0..3), [[1, 0, 0, 0], [2, 0, 0, 0], [2, 0, 0, 0]].map(Some));
}

#[test]
fn a_frame_outside_of_agreements_goes_alone_and_nothing_asks_for_it() {
    let mut cell = sent(&[(B, 0..3, MANAGEMENT, false), (B, 3..6, from(5), true)], |cell| {
        cell.garble = vec![(Data, 2), (Ack, 1)];
    });
    // 0 is lost twice and given up; the Ack of 1 is lost, and it comes twice.
    let alone = [(0, None); 5];
    assert_eq!(of_data(&cell), [&alone[..], &[(3, Some(5))]].concat());
    assert!(kinds(&cell.sides[0]).iter().all(|(kind, _)| *kind == Data));
    assert_eq!(kinds(&cell.sides[1]), [(Ack, 0), (Ack, 0), (Ack, 0), (BlockAck, 0)]);
    assert_eq!(cell.sides[1].up, [1, 2, 3, 4, 5]);
    assert_eq!(cell.stations[1].counters().duplicates, 1);
    assert_eq!(cell.sides[0].done[0], (0, Undelivered));
    let twice = Some([2, 0, 0, 0]);
    assert_eq!(tries(&mut cell, 0..3), [twice, twice, Some([1, 0, 0, 0])]);
    let frame = &cell.sides[0].rates[0];
    assert_eq!((frame.1, frame.2), (PhyRate::Ofdm6, None));
}

#[test]
fn a_frame_to_all_is_sent_once_and_reaches_each_that_hears_it() {
    let mut cell = sent(&[(BROADCAST, 0..2, MANAGEMENT, false), (B, 2..3, from(5), true)], |cell| {
        cell.garble = vec![(Data, 1)];
    });
    assert_eq!(of_data(&cell), [(0, None), (0, None), (1, Some(5))]);
    assert_eq!((&cell.sides[1].up[..], &cell.sides[2].up[..]), (&[1, 2][..], &[1][..]));
    assert_eq!(kinds(&cell.sides[1]), [(Ack, 0)]);
    assert!(cell.sides[2].frames.is_empty());
    assert_eq!(cell.sides[0].done, delivered(0..3));
    assert_eq!(tries(&mut cell, 0..3), [Some([1, 0, 0, 0]); 3]);
}

#[test]
fn a_frame_alone_lasts_as_long_as_its_rate_says() {
    let cell = sent(&[(B, 0..1, MANAGEMENT, false)], |_| {});
    // 1 538 bytes at 24 bits for 4 µs, SIFS, and then the Ack.
    let ack = cell.sides[1].frames[0].0;
    assert_eq!(ack, 1_000 + 20 + 4 * (16 + 8 * 1_538 + 6_u64).div_ceil(24) + 16);
}

#[test]
fn what_a_full_queue_refuses_has_no_plan() {
    let mut cell = Cell::new(MacConfig { queue: 0, ..Preset::Dot11n.config() }, 2);
    let now = cell.now;
    let mut offer = |handle, next| {
        let (class, category) = (PayloadClass::Data, Category::BestEffort);
        let msdu = Msdu { handle, bytes: 1_500, next, class, category, flow: None };
        cell.stations[0].enqueue_planned(msdu, (from(5), true), now, &mut cell.sides[0])
    };
    assert_eq!([offer(0, B), offer(1, B), offer(2, NodeId(5))], [true, false, false]);
    assert_eq!([1, 2].map(|handle| cell.stations[0].take_tries(handle)), [None; 2]);
    assert_eq!(cell.stations[0].originators.len(), 1, "none for what is refused");
    assert_eq!(cell.stations[0].counters().refused, 2);
}

#[test]
fn frames_with_rates_of_the_layer_above_have_no_other_rate_control() {
    let mut config = Preset::Dot11n.config();
    config.edca.as_mut().expect("EDCA").rate_control = RateControl::MinstrelHt;
    let cell = sent(&[(B, 0..4, from(5), true)], |cell| *cell = Cell::new(config, 3));
    assert_eq!(of_data(&cell), [(1, Some(5)), (3, Some(5))]);
}
