//! The rules of RFC 9002 by packet scripts: which datagrams are lost, and when and why the next ones leave.

use super::*;
use crate::model::QuicLaw;
use lasthop_stack::registry::LawConfig;
use lasthop_stack::units::Span;
use std::collections::BTreeMap;

/// From one end to the other.
const DELAY: Span = Span(20_000_000);
/// What a datagram takes on the wire.
const ON_WIRE: Span = Span(1_000_000);
/// The longest delay of acknowledgements, which both ends announce (RFC 9000, 18.2).
const MAX_ACK_DELAY: Span = Span(25_000_000);
/// kGranularity (RFC 9002, A.2).
const GRANULARITY: Span = Span(1_000_000);

/// After which a path is abandoned.
const PATH_TIMEOUT: Span = Span(500_000_000);

/// A datagram for an end, by which way.
type Arrival = (usize, [NodeId; 2], Vec<u8>);

/// Two ends over a wire that loses the datagrams of the client that `loses` names, counted from the first after the handshake.
struct World {
    ends: [Box<dyn Stack>; 2],
    writers: [Writer; 2],
    readers: [Reader; 2],
    now: Time,
    wire: BTreeMap<(Time, usize), Arrival>,
    free: [Time; 2],
    /// When each datagram left, and the end that sent it.
    sent: Vec<(Time, usize, Vec<u8>)>,
    /// The client's datagrams by the node to which they went, and the node to which all are lost.
    to: BTreeMap<NodeId, u64>,
    broken: Option<NodeId>,
    loses: fn(usize) -> bool,
    /// Datagrams of the client after the handshake.
    counted: usize,
    is_counting: bool,
}

impl World {
    fn new(law: QuicLaw, seed: u64, loses: fn(usize) -> bool) -> World {
        World::over(QuicStack::Quinn, law, seed, loses)
    }

    /// Over quinn with one path, or over noq with two.
    fn over(stack: QuicStack, law: QuicLaw, seed: u64, loses: fn(usize) -> bool) -> World {
        let to = if stack == QuicStack::Noq { &[NodeId(1), NodeId(2)][..] } else { &[NodeId(1)] };
        let config = QuicConfig {
            stack,
            second: to.get(1).map(|node| node.0 as usize),
            law,
            packet: 1200,
            mtu_discovery: false,
            window: 1_250_000,
            streams: 1,
            datagrams: false,
            zero_rtt: false,
            idle_timeout: None,
            path_timeout: Some(PATH_TIMEOUT),
            acks: None,
        };
        let end_of = |role, name: &str| {
            let is_client = role == Role::Client;
            let way = |to: &NodeId| if is_client { [NodeId(0), *to] } else { [*to, NodeId(0)] };
            let ports = if is_client { [10_000, 443] } else { [443, 10_000] };
            end(&config, role, &to.iter().map(way).collect::<Vec<_>>(), ports, Stream::named(seed, 0, name))
        };
        World {
            ends: [end_of(Role::Client, "client"), end_of(Role::Server, "server")],
            writers: [Writer::new(1, false), Writer::new(1, false)],
            readers: Default::default(),
            now: Time::ZERO,
            wire: BTreeMap::new(),
            free: [Time::ZERO; 2],
            sent: Vec::new(),
            to: BTreeMap::new(),
            broken: None,
            loses,
            counted: 0,
            is_counting: false,
        }
    }

    /// A world after its handshake, at a time when nothing is on the way.
    fn connected(law: QuicLaw, loses: fn(usize) -> bool) -> World {
        let mut world = World::new(law, 1, loses);
        world.ends[0].connect(Time::ZERO);
        world.drive(0);
        world.run(Time(500_000_000));
        world.is_counting = true;
        world
    }

    /// The client writes now.
    fn write(&mut self, bytes: u64) {
        self.writers[0].write(bytes);
        self.drive(0);
    }

    fn drive(&mut self, side: usize) {
        self.ends[side].work(&mut self.writers[side], &mut self.readers[side]);
        let mut bytes = Vec::new();
        while self.ends[side].next_datagram(self.now, &mut bytes).is_some() {
            self.sent.push((self.now, side, bytes.clone()));
            let way = self.ends[side].way().unwrap_or([[NodeId(0), NodeId(1)], [NodeId(1), NodeId(0)]][side]);
            if side == 0 {
                *self.to.entry(way[1]).or_default() += 1;
            }
            if self.broken.is_some_and(|node| way.contains(&node)) {
                continue;
            }
            self.free[side] = self.free[side].max(self.now).after(ON_WIRE);
            if side == 0 && self.is_counting {
                self.counted += 1;
                if (self.loses)(self.counted) {
                    continue;
                }
            }
            self.wire.insert((self.free[side].after(DELAY), self.sent.len()), (1 - side, way, bytes.clone()));
        }
    }

    /// Lets happen what is due up to then.
    fn run(&mut self, until: Time) {
        loop {
            let arrival = self.wire.first_key_value().map(|(key, _)| key.0);
            let timers = [0, 1].map(|side| self.ends[side].next_at());
            let Some(next) = arrival.into_iter().chain(timers.into_iter().flatten()).min() else { break };
            if next > until {
                break;
            }
            self.now = next.max(self.now);
            if arrival == Some(next) {
                let ((_, _), (side, way, bytes)) = self.wire.pop_first().expect("one arrives");
                self.ends[side].up(&bytes, Ecn::NotEct, way, self.now);
                self.drive(side);
            } else {
                let side = usize::from(timers[0] != Some(next));
                self.ends[side].on_timer(self.now);
                self.drive(side);
            }
        }
        self.now = until;
    }

    /// When the client sent its datagrams since a time.
    fn times(&self, since: Time) -> Vec<Time> {
        let of_client = self.sent.iter().filter(|(at, side, _)| *side == 0 && *at >= since);
        of_client.map(|(at, _, _)| *at).collect()
    }

    fn counters(&self) -> record::QuicCounters {
        self.ends[0].counters(self.now)
    }

    fn window(&self) -> u64 {
        self.ends[0].record().lock().windows[0].bytes
    }

    /// Smoothed round trip and variation by RFC 9002 (5.3), from the samples of the client; its peer acknowledges at once, or
    /// after the longest delay, which it reports.
    fn estimate(&self) -> (Span, Span) {
        let samples: Vec<Span> = self.ends[0].record().lock().round_trips.iter().map(|it| it.rtt).collect();
        let (first, rest) = samples.split_first().expect("a sample");
        let least = *samples.iter().min().unwrap_or(first);
        rest.iter().fold((*first, Span(first.0 / 2)), |(srtt, var), rtt| {
            let is_late = *rtt >= least + MAX_ACK_DELAY;
            let rtt = if is_late { *rtt - MAX_ACK_DELAY } else { *rtt };
            let off = srtt.0.abs_diff(rtt.0);
            (Span((7 * srtt.0 + rtt.0) / 8), Span((3 * var.0 + off) / 4))
        })
    }
}

#[test]
fn a_handshake_takes_one_round_trip_of_real_lengths_and_is_equal_to_the_byte_each_time() {
    let run = |seed| {
        let mut world = World::new(QuicLaw::Cubic, seed, |_| false);
        world.ends[0].connect(Time::ZERO);
        world.drive(0);
        world.write(100_000);
        world.run(Time(2_000_000_000));
        (world.sent, world.readers[1].delivered)
    };
    let (sent, delivered) = run(1);
    assert_eq!(delivered, 100_000);
    assert_eq!((sent[0].0, sent[0].2.len()), (Time::ZERO, 1200), "RFC 9000 (14.1)");
    // Hello, extensions, certificate and signature need more than one datagram of 1200 bytes only with a longer chain.
    let first_data = sent.iter().find(|(at, side, _)| *side == 0 && *at > Time::ZERO).expect("an answer");
    assert_eq!(first_data.0, Time(2 * (DELAY.0 + ON_WIRE.0)));
    assert_eq!(run(1).0, sent);
    assert_ne!(run(2).0, sent, "its numbers are from streams of the seed");
}

#[test]
fn a_probe_timeout_is_the_round_trip_four_variations_and_the_delay_of_acknowledgements_and_doubles() {
    // RFC 9002 (6.2.1): PTO = smoothed_rtt + max(4*rttvar, kGranularity) + max_ack_delay; (6.2.2.1): it doubles.
    let mut world = World::connected(QuicLaw::NewReno, |_| true);
    let (srtt, var) = world.estimate();
    let begin = world.now;
    world.write(100);
    world.run(Time(begin.0 + 3_000_000_000));
    let pto = srtt.0 + (4 * var.0).max(GRANULARITY.0) + MAX_ACK_DELAY.0;
    // RFC 9002 (6.2.4): up to two datagrams per probe timeout.
    let times = world.times(begin);
    let mut instants = times.clone();
    instants.dedup();
    let expected: Vec<Time> = (0..4).map(|doubled| Time(begin.0 + pto * ((1 << doubled) - 1))).collect();
    assert_eq!(instants[..4], expected);
    assert_eq!(times.iter().filter(|at| **at == expected[1]).count(), 2);
    assert_eq!(world.counters().probe_timeouts, instants.len() as u64 - 1);
    assert_eq!(world.counters().reductions, 0, "RFC 9002 (7.5): probes reduce no window by themselves");
}

#[test]
fn a_packet_is_lost_when_one_sent_three_later_is_acknowledged() {
    // RFC 9002 (6.1.1): kPacketThreshold is 3.
    let mut world = World::connected(QuicLaw::NewReno, |number| number == 2);
    let begin = world.now;
    world.write(8 * 1000);
    world.run(Time(begin.0 + 300_000_000));
    // The fifth datagram is three after the second; its acknowledgement returns at once, since the second is missing.
    let detected = begin.0 + 5 * ON_WIRE.0 + DELAY.0 + ON_WIRE.0 + DELAY.0;
    let again = world.times(begin).into_iter().find(|at| at.0 > begin.0 + 1).map(|at| at.0);
    assert!(again.is_some_and(|at| at.abs_diff(detected) <= ON_WIRE.0), "{again:?} near {detected}");
    assert_eq!((world.counters().again, world.counters().lost), (1, 1));
    assert_eq!(world.readers[1].delivered, 8000);
}

#[test]
fn a_packet_is_lost_nine_eighths_of_a_round_trip_after_it_was_sent_if_a_later_one_is_acknowledged() {
    // RFC 9002 (6.1.2): kTimeThreshold * max(smoothed_rtt, latest_rtt) with kTimeThreshold of 9/8.
    let mut world = World::connected(QuicLaw::NewReno, |number| number == 2);
    let begin = world.now;
    world.write(3 * 1100);
    world.run(Time(begin.0 + 300_000_000));
    // The third datagram leaves after the two before it, and its acknowledgement comes at once.
    let latest = 3 * ON_WIRE.0 + DELAY.0 + ON_WIRE.0 + DELAY.0;
    assert!(world.estimate().0.0 < latest);
    let again = world.times(begin).into_iter().find(|at| *at > begin);
    assert_eq!(again, Some(Time(begin.0 + latest * 9 / 8)));
    assert_eq!((world.counters().again, world.counters().probe_timeouts), (1, 0));
}

#[test]
fn a_law_halves_its_window_once_in_a_round_trip() {
    // RFC 9002 (7.3.2): the window is multiplied by kLossReductionFactor, 1/2, once in a recovery period.
    for law in [QuicLaw::NewReno, QuicLaw::Ours(LawConfig::Reno(()))] {
        let mut world = World::connected(law.clone(), |number| matches!(number, 3 | 5));
        let begin = world.now;
        world.write(9 * 1100);
        world.run(Time(begin.0 + 2 * (DELAY.0 + ON_WIRE.0)));
        let before = world.window();
        world.run(Time(begin.0 + 300_000_000));
        assert_eq!(world.counters().reductions, 1, "{law:?}");
        assert_eq!(world.counters().lost, 2);
        let grown = world.window() - before / 2;
        assert!(grown < 4 * 1200, "{} after {before}", world.window());
    }
}

#[test]
fn a_time_without_acknowledgements_longer_than_three_timeouts_is_persistent_congestion() {
    // RFC 9002 (7.6): the window is kMinimumWindow, two datagrams.
    let loses = |number| (4..=11).contains(&number);
    let mut world = World::connected(QuicLaw::NewReno, loses);
    let begin = world.now;
    world.write(3 * 1100);
    world.run(Time(begin.0 + 100_000_000));
    world.write(3 * 1100);
    world.run(Time(begin.0 + 8_000_000_000));
    assert_eq!(world.counters().persistent, 1, "{:?}", world.counters());
    assert_eq!(world.readers[1].delivered, 6 * 1100);
}

/// A world over noq, whose client has written so much; and how long after the handshake.
#[cfg(feature = "noq")]
fn of_two_paths(seed: u64, bytes: u64) -> World {
    let mut world = World::over(QuicStack::Noq, QuicLaw::Cubic, seed, |_| false);
    world.ends[0].connect(Time::ZERO);
    world.drive(0);
    world.write(bytes);
    world
}

#[cfg(feature = "noq")]
#[test]
fn data_goes_by_both_paths_and_is_equal_to_the_byte_each_time() {
    let run = |seed| {
        let mut world = of_two_paths(seed, 2_000_000);
        world.run(Time(10_000_000_000));
        assert_eq!(world.readers[1].delivered, 2_000_000);
        (world.sent, world.to)
    };
    let (sent, to) = run(1);
    assert_eq!((sent[0].0, sent[0].2.len()), (Time::ZERO, 1200), "RFC 9000 (14.1)");
    assert!(to[&NodeId(1)] > 100 && to[&NodeId(2)] > 100, "{to:?}");
    assert_eq!(run(1), (sent.clone(), to));
    assert_ne!(run(2).0, sent, "its numbers are from streams of the seed");
}

#[cfg(feature = "noq")]
#[test]
fn what_a_dead_path_had_in_flight_goes_by_the_other_one_and_the_path_is_used_again_when_it_works() {
    let mut world = of_two_paths(1, 8_000_000);
    world.run(Time(500_000_000));
    let before = world.to.clone();
    world.broken = Some(NodeId(1));
    world.run(Time(20_000_000_000));
    assert!(world.to[&NodeId(2)] > before[&NodeId(2)] + 1000, "{:?} after {before:?}", world.to);
    assert_eq!(world.readers[1].delivered, 8_000_000);
    let before = world.to.clone();
    world.broken = None;
    world.run(Time(25_000_000_000));
    world.broken = Some(NodeId(2));
    world.write(1_000_000);
    world.run(Time(60_000_000_000));
    assert!(world.to[&NodeId(1)] > before[&NodeId(1)] + 700, "{:?} after {before:?}", world.to);
    assert_eq!(world.readers[1].delivered, 9_000_000);
}
