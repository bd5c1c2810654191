//! Stations with packets of 1000 bytes; a fast one sends ten times as fast as a slow one.

use super::super::codel;
use super::super::testing::{Record, packet};
use super::*;
use crate::hooks::DropCause;
use crate::packet::Ecn;
use proptest::prelude::*;

const ROOM: Backlog = Backlog { packets: 1_000, bytes: u64::MAX };
const FAST: Reach = Reach { rate: Rate(80_000_000), largest: Backlog { packets: 8, bytes: 8_000 } };
const SLOW: Reach = Reach { rate: Rate(8_000_000), largest: Backlog { packets: 2, bytes: 2_000 } };
const TO_FAST: u32 = 4;
const TO_SLOW: u32 = 8;

fn two(config: &Config) -> Mac80211 {
    let mut queue = Mac80211::new(config, 1);
    queue.on_reach(TO_FAST, &FAST);
    queue.on_reach(TO_SLOW, &SLOW);
    queue
}

fn fill(queue: &mut Mac80211, lane: u32, packets: u32) {
    let mut host = Record::default();
    for number in 0..packets {
        let flow = lane;
        queue.enqueue(Queued { flow, lane, ..packet(number, Time(0)) }, ROOM, &mut host);
    }
    assert_eq!(host.drops, []);
}

fn taken(queue: &mut Mac80211) -> Vec<u32> {
    let mut host = Record::default();
    std::iter::from_fn(|| queue.dequeue(Time(0), &mut host)).map(|packet| packet.lane).collect()
}

/// Serves the queues one A-MPDU after the other. Returns the bytes and the airtime of each station.
fn serve(queue: &mut Mac80211, frames: usize) -> [(u64, u64); 2] {
    let mut served = [(0, 0); 2];
    let mut hardware: VecDeque<u32> = VecDeque::new();
    for _ in 0..frames {
        for lane in [TO_FAST, TO_SLOW] {
            let held = queue.lanes[queue.lane(lane).unwrap()].queue.backlog().packets;
            fill(queue, lane, 20_u32.saturating_sub(held));
        }
        hardware.extend(taken(queue));
        let lane = hardware[0];
        let (place, reach) = if lane == TO_FAST { (0, FAST) } else { (1, SLOW) };
        let packets =
            hardware.iter().take_while(|other| **other == lane).count().min(reach.largest.packets as usize);
        let airtime = Bytes(1_000 * packets as u64).time_at(reach.rate);
        queue.on_airtime(lane, airtime);
        hardware.drain(..packets);
        (0..packets).for_each(|_| queue.on_done(lane, 1_000));
        served[place].0 += 1_000 * packets as u64;
        served[place].1 += airtime.0;
    }
    served
}

#[test]
fn stations_get_equal_airtime_or_equal_turns() {
    let [fast, slow] = serve(&mut two(&Config::default()), 4_000);
    assert!((fast.1 as f64 / slow.1 as f64 - 1.0).abs() < 0.01, "{fast:?} {slow:?}");
    assert!((fast.0 as f64 / slow.0 as f64 / 10.0 - 1.0).abs() < 0.01);
    let [fast, slow] = serve(&mut two(&Config { airtime_fairness: false, ..Config::default() }), 4_000);
    assert_eq!(fast.0 / 8_000, slow.0 / 2_000);
}

#[test]
fn what_a_station_sends_counts_against_it() {
    let mut queue = two(&Config::default());
    // The fast station sends as much as it receives.
    let mut downlink = [0, 0];
    for _ in 0..400 {
        let served = serve(&mut queue, 10);
        queue.on_airtime(TO_FAST, Span(served[0].1));
        downlink[0] += served[0].1;
        downlink[1] += served[1].1;
    }
    assert!((2.0 * downlink[0] as f64 / downlink[1] as f64 - 1.0).abs() < 0.05, "{downlink:?}");
}

#[test]
fn the_hardware_holds_two_a_mpdus_of_a_category() {
    let mut queue = two(&Config { airtime_fairness: false, ..Config::default() });
    fill(&mut queue, TO_FAST, 20);
    fill(&mut queue, TO_SLOW, 20);
    assert_eq!(taken(&mut queue), [[TO_FAST; 8].as_slice(), &[TO_SLOW; 2]].concat());
    // Voice is not held up by them.
    queue.on_reach(TO_FAST + Category::Voice as u32, &FAST);
    fill(&mut queue, TO_FAST + Category::Voice as u32, 1);
    assert_eq!(taken(&mut queue), [TO_FAST + Category::Voice as u32]);
    (0..7).for_each(|_| queue.on_done(TO_FAST, 1_000));
    assert_eq!(taken(&mut queue), [0; 0]);
    queue.on_done(TO_FAST, 1_000);
    assert_eq!(taken(&mut queue), [TO_FAST; 8]);
}

#[test]
fn an_a_mpdu_has_what_waits_when_its_turn_comes() {
    let mut queue = two(&Config::default());
    let mut host = Record::default();
    let mut came = Vec::new();
    for number in 0..6 {
        queue.enqueue(Queued { flow: 1, lane: TO_FAST, ..packet(number, Time(0)) }, ROOM, &mut host);
        came.push(taken(&mut queue).len());
    }
    assert_eq!(came, [1, 1, 0, 0, 0, 0]);
    queue.on_done(TO_FAST, 1_000);
    assert_eq!(taken(&mut queue).len(), 4);
}

#[test]
fn expected_airtime_limits_the_hardware() {
    // A packet takes 0.1 ms to the fast station and 1 ms to the slow one.
    let config = Config { frames: None, airtime_fairness: false, ..Config::default() };
    let mut queue = two(&config);
    fill(&mut queue, TO_SLOW, 100);
    // Alone a station may have 12 ms: an A-MPDU of two begins below it.
    assert_eq!(taken(&mut queue).len(), 12);
    fill(&mut queue, TO_FAST, 400);
    let fast = taken(&mut queue).len();
    assert_eq!(fast, 120);
    // Both together have 24 ms: a station gets more when it has less than 5 ms.
    for left in (5..12).rev() {
        queue.on_done(TO_SLOW, 1_000);
        assert!(queue.lanes[1].pending >= Span::from_millis(left));
        assert!(taken(&mut queue).len() <= 2);
    }
    let without = Config { aql: false, frames: Some(1_000), ..config };
    let mut queue = two(&without);
    fill(&mut queue, TO_SLOW, 100);
    assert_eq!(taken(&mut queue).len(), 100);
}

#[test]
fn a_full_queue_loses_packets_of_the_longest_lane() {
    let mut queue = two(&Config::default());
    let room = Backlog { packets: 40, bytes: u64::MAX };
    let mut host = Record::default();
    for number in 0..40 {
        let lane = if number < 36 { TO_SLOW } else { TO_FAST };
        queue.enqueue(Queued { flow: lane, lane, ..packet(number, Time(0)) }, room, &mut host);
    }
    queue.enqueue(Queued { flow: 9, lane: TO_FAST, ..packet(40, Time(0)) }, room, &mut host);
    let dropped: Vec<u32> = host.drops.iter().map(|(handle, _)| *handle).collect();
    assert_eq!(dropped, (0..18).collect::<Vec<_>>());
    assert_eq!(queue.backlog().packets, 23);
}

#[test]
fn a_slow_station_has_a_slower_codel_if_asked() {
    let targets = |slow_codel| {
        let mut queue = Mac80211::new(&Config { slow_codel, ..Config::default() }, 1);
        queue.on_reach(TO_FAST, &FAST);
        queue.on_reach(TO_SLOW, &SLOW);
        queue.on_reach(TO_SLOW + Category::Voice as u32, &SLOW);
        let target = |lane: &Lane| match &lane.queue {
            Line::FqCodel(law) => law.target().0 / 1_000_000,
            Line::DualPi2(_) => unreachable!("the default is FQ-CoDel"),
        };
        queue.lanes.iter().map(target).collect::<Vec<_>>()
    };
    // Two stations: slow is what is below 12 Mbit/s.
    assert_eq!(targets(true), [20, 50, 50]);
    assert_eq!(targets(false), [20, 20, 20]);
}

const STEP: Span = Span::from_millis(1);
const ROUND: Time = Time(1_000_000);

/// One lane whose queue marks packets of L4S that have waited longer than a millisecond.
fn stepped() -> Mac80211 {
    let mut config = Config::default();
    config.queue.codel.ce_threshold = Some(STEP);
    config.queue.codel.ce_threshold_for = codel::Stepped::L4s;
    let mut queue = Mac80211::new(&config, 1);
    queue.on_reach(TO_FAST, &FAST);
    queue
}

fn dual() -> Mac80211 {
    let mut queue = Mac80211::new(&Config { law: Law::DualPi2, ..Config::default() }, 1);
    queue.on_reach(TO_FAST, &FAST);
    queue.on_reach(TO_SLOW, &SLOW);
    queue
}

fn of(ecn: Ecn, handle: u32, came: Time) -> Queued {
    Queued { ecn, flow: ecn as u32, lane: TO_FAST, ..packet(handle, came) }
}

#[test]
fn the_threshold_marks_l4s_packets_alone() {
    for (waited, expected) in [(STEP, Ecn::Ect1), (Span(STEP.0 + 1), Ecn::Ce)] {
        let (mut queue, mut host) = (stepped(), Record::default());
        for (handle, ecn) in [Ecn::NotEct, Ecn::Ect0, Ecn::Ect1].into_iter().enumerate() {
            queue.enqueue(of(ecn, handle as u32, ROUND), ROOM, &mut host);
        }
        let now = ROUND.after(waited);
        let mut left: Vec<_> = std::iter::from_fn(|| queue.dequeue(now, &mut host)).collect();
        left.sort_by_key(|packet| packet.handle);
        let codepoints: Vec<_> = left.iter().map(|packet| packet.ecn).collect();
        assert_eq!((codepoints, host.drops), (vec![Ecn::NotEct, Ecn::Ect0, expected], vec![]));
    }
}

#[test]
fn a_packet_that_waits_for_the_hardware_is_marked_when_it_joins_an_a_mpdu() {
    let (mut queue, mut host) = (stepped(), Record::default());
    for handle in 0..24 {
        queue.enqueue(of(Ecn::Ect1, handle, ROUND), ROOM, &mut host);
    }
    let mut marks = |queue: &mut Mac80211, now: Time| -> Vec<bool> {
        std::iter::from_fn(|| queue.dequeue(now, &mut host)).map(|packet| packet.ecn == Ecn::Ce).collect()
    };
    // Two A-MPDUs of 8 leave as they come; the third waits for the time on the air of the first.
    assert_eq!(marks(&mut queue, ROUND), [false; 16]);
    (0..8).for_each(|_| queue.on_done(TO_FAST, 1_000));
    assert_eq!(marks(&mut queue, ROUND.after(Span::from_millis(3))), [true; 8]);
}

#[test]
fn the_two_queues_of_a_station_are_those_of_dualpi2() {
    let (mut queue, mut host) = (dual(), Record::default());
    for handle in 0..4 {
        queue.enqueue(of(Ecn::NotEct, handle, ROUND), ROOM, &mut host);
        queue.enqueue(of(Ecn::Ect1, 10 + handle, ROUND), ROOM, &mut host);
    }
    let now = ROUND.after(Span::from_millis(3));
    let left: Vec<_> = std::iter::from_fn(|| queue.dequeue(now, &mut host)).collect();
    let handles: Vec<_> = left.iter().map(|packet| packet.handle).collect();
    assert_eq!(handles, [10, 0, 11, 12, 13, 1, 2, 3], "the classic queue has a tenth");
    let marked: Vec<_> =
        left.iter().filter(|packet| packet.ecn == Ecn::Ce).map(|packet| packet.handle).collect();
    assert_eq!(marked, [10, 11, 12], "nothing is behind the last");
    let names: Vec<_> = queue.counts().iter().map(|count| count.name).collect();
    assert_eq!(names, ["l4s_packets", "l4s_waited", "classic_packets", "classic_waited"]);
    assert_eq!([0, 2].map(|place| queue.counts()[place].value), [4, 4]);
}

#[test]
fn a_full_queue_loses_packets_of_the_longer_queue_of_a_station() {
    let (mut queue, mut host) = (dual(), Record::default());
    let room = Backlog { packets: 12, bytes: u64::MAX };
    for handle in 0..12 {
        let ecn = if handle < 8 { Ecn::Ect1 } else { Ecn::Ect0 };
        queue.enqueue(of(ecn, handle, ROUND), room, &mut host);
    }
    queue.enqueue(of(Ecn::Ect0, 12, ROUND), room, &mut host);
    let dropped: Vec<_> = (0..4).map(|handle| (handle, DropCause::Full)).collect();
    assert_eq!((host.drops, queue.backlog().packets), (dropped, 9));
}

proptest! {
    /// Each packet leaves or is dropped once, those of a flow in their order, and only its own codepoint can become CE.
    #[test]
    fn either_law_keeps_packets_and_their_order(
        steps in prop::collection::vec((0u32..4, 0u64..4, any::<bool>(), any::<bool>()), 1..300),
        packets in 2u32..40,
        is_dual in any::<bool>(),
    ) {
        let mut queue = if is_dual { dual() } else { stepped() };
        queue.on_reach(TO_SLOW, &SLOW);
        let (mut host, mut now, mut left) = (Record::default(), 0, Vec::new());
        let room = Backlog { packets, bytes: u64::MAX };
        for (number, (codepoint, millis, to_slow, sends)) in steps.iter().enumerate() {
            now += millis * 1_000_000;
            let lane = if *to_slow { TO_SLOW } else { TO_FAST };
            let new = Queued { lane, ..of(Ecn::of_bits(*codepoint as u8), number as u32, Time(now)) };
            queue.enqueue(new, room, &mut host);
            prop_assert!(queue.backlog().packets <= packets);
            if *sends && let Some(packet) = queue.dequeue(Time(now), &mut host) {
                left.push(packet);
                queue.on_done(packet.lane, packet.bytes);
            }
        }
        while let Some(packet) = queue.dequeue(Time(now), &mut host) {
            left.push(packet);
            queue.on_done(packet.lane, packet.bytes);
        }
        prop_assert_eq!(queue.backlog(), Backlog::default());
        for packet in &left {
            let was = Ecn::of_bits(steps[packet.handle as usize].0 as u8);
            prop_assert!(packet.ecn == was || packet.ecn == Ecn::Ce && was.is_capable());
        }
        for lane in [TO_FAST, TO_SLOW] {
            for flow in 0..4 {
                let of_flow: Vec<_> =
                    left.iter().filter(|one| (one.lane, one.flow) == (lane, flow)).map(|one| one.handle).collect();
                prop_assert!(of_flow.is_sorted());
            }
        }
        let mut seen: Vec<_> =
            left.iter().map(|one| one.handle).chain(host.drops.iter().map(|drop| drop.0)).collect();
        seen.sort_unstable();
        prop_assert_eq!(seen, (0..steps.len() as u32).collect::<Vec<u32>>());
    }
}
