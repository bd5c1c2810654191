//! Hand-worked time lines of a medium.

mod cell;
mod chosen;
mod fading;
mod fec;
mod losses;
mod motion;
mod random;
mod strength;
mod tables;

use lasthop_stack::link::dot11::{Airtime, BROADCAST, FrameKind, PhyRate};
use lasthop_stack::units::Span;

use super::config::{ErrorConfig, ErrorLaw, LossMeaning, LossOf, db_to_ratio};
use super::*;

/// One medium, driven by hand: times in microseconds, each frame's airtime given when it starts.
struct Bench {
    radio: Radio,
    sequence: u16,
    /// What each station sends.
    on_air: Vec<Option<Frame>>,
}

const PREAMBLE: Span = Span::from_micros(192);

impl Bench {
    fn new(config: &RadioConfig, positions: &[Option<f64>]) -> Bench {
        let site = |(number, x): (usize, &Option<f64>)| Site {
            node: NodeId(number as u32),
            name: format!("s{number}"),
            position: x.map(|x| (Metres(x), Metres(0.0))),
            motion: None,
            strength: 1.0,
        };
        let sites: Vec<Site> = positions.iter().enumerate().map(site).collect();
        let base = StreamBase { seed: 1, replication: 0, link: "wifi".into() };
        Bench { radio: Radio::new(config, &sites, base), sequence: 0, on_air: vec![None; sites.len()] }
    }

    /// Stations on a line, at these metres.
    fn line(config: &RadioConfig, metres: &[f64]) -> Bench {
        let positions: Vec<Option<f64>> = metres.iter().copied().map(Some).collect();
        Bench::new(config, &positions)
    }

    fn data(&mut self, from: usize, to: usize, bytes: u32) -> Frame {
        self.sequence += 1;
        let frame =
            Frame::new(FrameKind::Data, NodeId(to as u32), NodeId(from as u32), bytes, PhyRate::Dsss1);
        Frame { sequence: self.sequence, msdu: Some(0), class: PayloadClass::Data, ..frame }
    }

    fn start(&mut self, from: usize, to: usize, at_us: u64, lasts_us: u64) -> Vec<Heard> {
        let frame = self.data(from, to, 1000);
        self.send(frame, at_us, lasts_us)
    }

    fn send(&mut self, frame: Frame, at_us: u64, lasts_us: u64) -> Vec<Heard> {
        let mut heard = Vec::new();
        let airtime = Airtime { total: Span::from_micros(lasts_us), preamble: PREAMBLE, payload: Span::ZERO };
        let from = frame.transmitter.0 as usize;
        self.radio.start(from, &frame, airtime, Time(at_us * 1_000), &mut heard);
        self.on_air[from] = Some(frame);
        heard
    }

    fn end(&mut self, from: usize, at_us: u64) -> (Fate, Vec<Heard>) {
        let mut heard = Vec::new();
        let frame = self.on_air[from].expect("a frame that ends was sent");
        let fate = self.radio.end(from, &frame, Time(at_us * 1_000), &mut heard);
        (fate.expect("a frame that ends was sent"), heard)
    }

    /// Sends one frame alone and returns what became of it.
    fn alone(&mut self, frame: Frame, at_us: u64) -> Fate {
        self.send(frame, at_us, 1000);
        self.end(frame.transmitter.0 as usize, at_us + 1000).0
    }
}

fn ns2() -> RadioConfig {
    RadioConfig::ns2()
}

fn lossy(law: ErrorLaw, meaning: LossMeaning, of: LossOf) -> RadioConfig {
    RadioConfig { errors: ErrorConfig { law, meaning, of, at: None }, ..ns2() }
}

#[test]
fn stations_without_positions_hear_all_others() {
    let mut bench = Bench::new(&ns2(), &[None; 4]);
    assert_eq!(bench.start(2, 0, 0, 1000), [Heard::Busy(0), Heard::Busy(1), Heard::Busy(3)]);
    let (fate, heard) = bench.end(2, 1000);
    assert_eq!(fate, Fate::Received);
    let expected = [0, 1, 3].map(|station| [Heard::Received(station), Heard::Idle(station)]);
    assert_eq!(heard, expected.concat());
}

#[test]
fn a_frame_is_received_to_250_m_sensed_to_550_m_and_not_noticed_beyond() {
    let mut bench = Bench::line(&ns2(), &[0.0, 250.0, 251.0, 550.0, 551.0]);
    assert_eq!(bench.start(0, 1, 0, 1000), [1, 2, 3].map(Heard::Busy));
    let (fate, heard) = bench.end(0, 1000);
    assert_eq!(fate, Fate::Received);
    // ns-2 ends a frame that is too weak in an error, which calls for EIFS.
    let (r, e, i) = (Heard::Received, Heard::Error, Heard::Idle);
    assert_eq!(heard, [r(1), i(1), e(2), i(2), e(3), i(3)]);
    assert_eq!(bench.radio.counters(0), FrameCounters { sent: 1, received: 1, ..FrameCounters::default() });
    bench.start(0, 2, 2000, 1000);
    assert_eq!(bench.end(0, 3000).0, Fate::OutOfReach);
}

#[test]
fn without_the_ns2_rule_a_weak_frame_makes_the_medium_busy_and_is_no_error() {
    let config = RadioConfig { reception: Reception::Capture { capture: Some(10.0) }, ..ns2() };
    let mut bench = Bench::line(&config, &[0.0, 400.0]);
    assert_eq!(bench.start(0, 1, 0, 1000), [Heard::Busy(1)]);
    assert_eq!(bench.end(0, 1000), (Fate::OutOfReach, vec![Heard::Idle(1)]));
}

#[test]
fn two_hidden_stations_spoil_each_others_frames_in_the_middle() {
    // 0 and 2 lie 600 m apart: neither senses the other. The middle is 300 m from both, in reach of a stronger card.
    let config = RadioConfig { receive_threshold_w: 1e-10, ..ns2() };
    let mut bench = Bench::line(&config, &[0.0, 300.0, 600.0]);
    assert_eq!(bench.start(0, 1, 0, 1000), [Heard::Busy(1)]);
    assert_eq!(bench.start(2, 1, 400, 1000), []);
    // The first ends inside the second: the receiver learns nothing yet.
    assert_eq!(bench.end(0, 1000), (Fate::Collided, vec![]));
    assert_eq!(bench.end(2, 1400), (Fate::Collided, vec![Heard::Error(1), Heard::Idle(1)]));
}

#[test]
fn frames_that_touch_do_not_collide_in_whatever_order_end_and_start_are_reported() {
    let config = RadioConfig { receive_threshold_w: 1e-10, ..ns2() };
    for end_first in [true, false] {
        let mut bench = Bench::line(&config, &[0.0, 300.0, 600.0]);
        bench.start(0, 1, 0, 1000);
        if end_first {
            assert_eq!(bench.end(0, 1000), (Fate::Received, vec![Heard::Received(1), Heard::Idle(1)]));
            assert_eq!(bench.start(2, 1, 1000, 1000), [Heard::Busy(1)]);
        } else {
            assert_eq!(bench.start(2, 1, 1000, 1000), []);
            assert_eq!(bench.end(0, 1000), (Fate::Received, vec![Heard::Received(1)]));
        }
        assert_eq!(bench.end(2, 2000), (Fate::Received, vec![Heard::Received(1), Heard::Idle(1)]));
    }
}

#[test]
fn exposed_stations_send_at_once_and_both_frames_arrive() {
    // 1 and 2 sense each other at 200 m and would wait. Sent at the same time to the outside, both frames arrive. At 0
    // and at 3 the wanted frame comes from 200 m and the other from 400 m: 16 times weaker.
    let mut bench = Bench::line(&ns2(), &[0.0, 200.0, 400.0, 600.0]);
    assert_eq!(bench.start(1, 0, 0, 1000), [Heard::Busy(0), Heard::Busy(2), Heard::Busy(3)]);
    assert_eq!(bench.start(2, 3, 0, 1000), [Heard::Missed(0), Heard::Busy(1)]);
    assert_eq!(bench.end(1, 1000).0, Fate::Received);
    // 3 had locked on the frame of 1, the first it sensed, so that ns-2 loses the stronger one.
    assert_eq!(bench.end(2, 1000).0, Fate::Collided);

    let config = RadioConfig { reception: Reception::Capture { capture: Some(10.0) }, ..ns2() };
    let mut bench = Bench::line(&config, &[0.0, 200.0, 400.0, 600.0]);
    bench.start(1, 0, 0, 1000);
    bench.start(2, 3, 0, 1000);
    assert_eq!((bench.end(1, 1000).0, bench.end(2, 1000).0), (Fate::Received, Fate::Received));
}

#[test]
fn a_frame_survives_a_later_one_ten_times_weaker_and_a_later_stronger_one_spoils_both() {
    // At 1: 100 m against 200 m is 16 to 1, against 150 m 5 to 1.
    for (other, first_survives) in [(300.0, true), (250.0, false)] {
        let mut bench = Bench::line(&ns2(), &[0.0, 100.0, other]);
        bench.start(0, 1, 0, 1000);
        bench.start(2, 1, 500, 1000);
        let expected = if first_survives { Fate::Received } else { Fate::Collided };
        assert_eq!(bench.end(0, 1000).0, expected);
        assert_eq!(bench.end(2, 1500).0, Fate::Collided);

        let mut bench = Bench::line(&ns2(), &[0.0, 100.0, other]);
        bench.start(2, 1, 0, 1000);
        bench.start(0, 1, 500, 1000);
        assert_eq!((bench.end(2, 1000).0, bench.end(0, 1500).0), (Fate::Collided, Fate::Collided));
    }
}

#[test]
fn without_capture_any_overlap_spoils_both() {
    let config = RadioConfig { reception: Reception::Capture { capture: None }, ..ns2() };
    let mut bench = Bench::line(&config, &[0.0, 50.0, 500.0]);
    bench.start(0, 1, 0, 1000);
    bench.start(2, 1, 999, 1000);
    assert_eq!(bench.end(0, 1000).0, Fate::Collided);
}

#[test]
fn a_frame_that_survived_leaves_the_weaker_one_to_spoil_the_next() {
    let mut bench = Bench::line(&ns2(), &[0.0, 100.0, 300.0, 0.0, 240.0]);
    bench.start(0, 1, 0, 1000);
    bench.start(2, 1, 500, 5000);
    assert_eq!(bench.end(0, 1000).0, Fate::Received);
    // 4 is 140 m from 1: four times the power of what is still on the air, too little.
    bench.start(4, 1, 2000, 1000);
    assert_eq!(bench.end(4, 3000).0, Fate::Collided);
    bench.start(3, 1, 4000, 1000);
    assert_eq!(bench.end(3, 5000).0, Fate::Received);
}

#[test]
fn interference_reaches_as_far_as_its_threshold_also_where_it_is_not_sensed() {
    let far = RadioConfig { interference_threshold_w: 1e-12, ..ns2() };
    for (config, fate) in [(ns2(), Fate::Received), (far, Fate::Collided)] {
        let config = RadioConfig { reception: Reception::Capture { capture: None }, ..config };
        let mut bench = Bench::line(&config, &[0.0, 200.0, 800.0]);
        bench.start(0, 1, 0, 1000);
        assert_eq!(bench.start(2, 1, 500, 1000), []);
        assert_eq!(bench.end(0, 1000).0, fate);
    }
}

#[test]
fn a_station_that_sends_hears_nothing_of_what_began_before_or_meanwhile() {
    let mut bench = Bench::new(&ns2(), &[None; 3]);
    assert_eq!(bench.start(0, 1, 0, 1000), [Heard::Busy(1), Heard::Busy(2)]);
    assert_eq!(bench.start(1, 0, 0, 400), [Heard::Busy(0)]);
    // The frame of 1 met 0 sending. The one of 0 was spoilt at 2, and 1 was deaf to it though it lasts longer.
    assert_eq!(bench.end(1, 400), (Fate::Collided, vec![Heard::Idle(0)]));
    let (fate, heard) = bench.end(0, 1000);
    assert_eq!(fate, Fate::Collided);
    assert_eq!(heard, [Heard::Missed(1), Heard::Idle(1), Heard::Error(2), Heard::Idle(2)]);
}

#[test]
fn a_station_that_answers_while_it_receives_loses_what_it_received() {
    let mut bench = Bench::new(&ns2(), &[None; 3]);
    bench.start(0, 1, 0, 1000);
    assert_eq!(bench.start(1, 2, 300, 100), [Heard::Busy(0)]);
    bench.end(1, 400);
    assert_eq!(bench.end(0, 1000).1[..2], [Heard::Missed(1), Heard::Idle(1)]);
}

#[test]
fn in_ns2_what_was_on_the_air_while_a_station_sent_keeps_it_from_what_comes_next() {
    // The frame of 2, at 400 m from 0, begins while 0 sends, and is too weak to spoil the answer of 1 at 200 m.
    for (reception, fate) in [
        (Reception::Ns2 { capture: Some(10.0) }, Fate::Collided),
        (Reception::Capture { capture: Some(10.0) }, Fate::Received),
    ] {
        let config = RadioConfig { reception, ..ns2() };
        let mut bench = Bench::line(&config, &[0.0, 200.0, -400.0]);
        bench.start(0, 1, 0, 400);
        bench.start(2, 1, 100, 2000);
        bench.end(0, 400);
        bench.start(1, 0, 410, 300);
        assert_eq!(bench.end(1, 710).0, fate, "{reception:?}");
    }
}

#[test]
fn stations_far_apart_cost_each_other_nothing() {
    let metres: Vec<f64> = (0..200).map(|number| f64::from(number / 20) * 10_000.0).collect();
    let mut bench = Bench::line(&ns2(), &metres);
    assert_eq!(bench.start(45, 46, 0, 1000).len(), 19);
    assert_eq!(bench.start(65, 66, 0, 1000).len(), 19);
    assert_eq!((bench.end(45, 1000).0, bench.end(65, 1000).0), (Fate::Received, Fate::Received));
}

#[test]
fn interference_adds_up_under_sinr() {
    // Each interferer alone leaves 16 to 1, both together 8 to 1.
    let config = RadioConfig { reception: Reception::Sinr { least: 10.0 }, ..ns2() };
    let mut bench = Bench::line(&config, &[0.0, 100.0, 300.0, -100.0]);
    bench.start(0, 1, 0, 1000);
    bench.start(2, 1, 100, 200);
    bench.end(2, 300);
    bench.start(3, 1, 300, 400);
    assert_eq!(bench.end(0, 1000).0, Fate::Received);
    bench.end(3, 1000);
    bench.start(0, 1, 2000, 1000);
    bench.start(2, 1, 2100, 200);
    bench.start(3, 1, 2200, 200);
    assert_eq!(bench.end(0, 3000).0, Fate::Collided);
}

#[test]
fn the_part_of_a_frame_that_meets_interference_fails_by_its_own_ratio() {
    // SINR at the receiver: so high without the other that nothing fails, -4 dB with it: 7.9e-5 for each bit.
    let errors = ErrorConfig { law: ErrorLaw::Snr, meaning: LossMeaning::OnAir, of: LossOf::All, at: None };
    let reception = Reception::Sinr { least: 0.0 };
    let config = RadioConfig { errors, reception, propagation: config::Propagation::FreeSpace, ..ns2() };
    let ratio = libm::sqrt(db_to_ratio(4.0));
    let mut bench = Bench::line(&config, &[0.0, 100.0, 100.0 + 100.0 / ratio]);
    let trials = 4000;
    let mut collided = 0;
    for trial in 0..trials {
        let from = trial * 20_000;
        bench.start(0, 1, from, 8192);
        // Half of the 8000 bits.
        bench.start(2, 1, from + 192, 4000);
        bench.end(2, from + 4192);
        let (fate, _) = bench.end(0, from + 8192);
        assert_ne!(fate, Fate::Errored);
        collided += u64::from(fate == Fate::Collided);
    }
    let expected = 1.0 - libm::pow(1.0 - 7.85e-5, 4000.0);
    let found = collided as f64 / trials as f64;
    assert!((found - expected).abs() < 0.02, "{found} {expected}");
}

#[test]
fn ofdm_at_4_db_loses_1500_bytes_in_8_7_of_100() {
    let snr = db_to_ratio(4.0);
    let config = RadioConfig { bandwidth_hz: 20e6, ..lossy(ErrorLaw::Snr, LossMeaning::OnAir, LossOf::All) };
    let flat_power_w = config.noise_w() * snr;
    let config =
        RadioConfig { flat_power_w, receive_threshold_w: 0.0, carrier_sense_threshold_w: 0.0, ..config };
    let mut bench = Bench::new(&config, &[None; 2]);
    let mut errored = 0;
    for trial in 0..20_000 {
        let frame = Frame { rate: PhyRate::Ofdm6, ..bench.data(0, 1, 1500) };
        errored += u32::from(bench.alone(frame, trial * 5000) == Fate::Errored);
    }
    assert!((f64::from(errored) / 20_000.0 - 0.087).abs() < 0.006, "{errored}");
}

#[test]
fn a_frame_to_a_station_of_another_medium_reaches_nobody() {
    let mut bench = Bench::new(&ns2(), &[None; 2]);
    bench.start(0, 9, 0, 1000);
    assert_eq!(bench.end(0, 1000).0, Fate::OutOfReach);
    let frame = Frame { receiver: BROADCAST, ..bench.data(0, 1, 100) };
    assert_eq!(bench.alone(frame, 2000), Fate::Received);
}

#[test]
fn powers_are_told_for_captures_and_ledgers() {
    let bench = Bench::line(&ns2(), &[0.0, 250.01, 550.0, 600.0]);
    assert!((bench.radio.power_dbm(0, 1).unwrap_or(0.0) + 64.37).abs() < 0.01);
    assert!(bench.radio.senses(0, 0) && bench.radio.senses(0, 2));
    assert!(!bench.radio.senses(0, 3));
    assert_eq!(bench.radio.power_dbm(0, 3), None);
}

#[test]
fn a_frame_that_hides_the_preamble_of_another_leaves_the_medium_busy_and_nothing_else() {
    let four = Some(db_to_ratio(4.0));
    for (preamble, later, errors) in [(None, 0, 1), (four, 0, 0), (four, 3, 0), (four, 4, 1)] {
        let reception = Reception::Capture { capture: None };
        let mut bench = Bench::new(&RadioConfig { reception, preamble, ..ns2() }, &[None; 3]);
        assert_eq!(bench.start(0, 2, 0, 1000)[1], Heard::Busy(2));
        bench.start(1, 2, later, 500);
        let ends = [bench.end(1, later + 500), bench.end(0, 1000)];
        assert!(ends.iter().all(|end| end.0 == Fate::Collided));
        let heard = ends.map(|end| end.1).concat();
        let found = heard.iter().filter(|heard| **heard == Heard::Error(2)).count();
        assert_eq!(found, errors, "{preamble:?} {later}");
        assert_eq!(heard.last(), Some(&Heard::Idle(2)));
    }
    // The one that is stronger by 9.5 dB is detected, also where it begins a little later.
    for later in [0, 2] {
        let config =
            RadioConfig { reception: Reception::Capture { capture: Some(2.0) }, preamble: four, ..ns2() };
        let mut bench = Bench::line(&config, &[200.0, 67.0, 0.0]);
        bench.start(0, 2, 0, 1000);
        bench.start(1, 2, later, 1000);
        assert_eq!(bench.end(1, later + 1000).0, Fate::Received);
    }
}
