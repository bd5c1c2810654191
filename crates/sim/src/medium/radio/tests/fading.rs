//! Shadowing and fading: their distributions, and equality for all schemes.

use super::super::config::{Fading, Propagation, Redraw, Shadowing};
use super::super::fading::{Process, Way, coherence};
use super::super::modulation::Modulation;
use super::*;

const BLOCK: Span = Span::from_millis(10);

fn rician(factor: f64) -> Fading {
    Fading { factor, redraw: Redraw::After(BLOCK) }
}

pub(super) fn shadowing(deviation_db: f64, redraw: Redraw) -> Shadowing {
    Shadowing { deviation_db, redraw }
}

/// Stations without positions, which all hear each other at 1e-8 W but for fading.
pub(super) fn faded(fading: Option<Fading>, shadowing: Option<Shadowing>) -> RadioConfig {
    RadioConfig { shadowing, fading, ..ns2() }
}

/// The gains of this many blocks.
fn gains(process: &Process, blocks: u64) -> Vec<f64> {
    let mut gain = process.gain(1, 0, "links.wifi.a.b.multipath");
    let at = |block: u64| Time(block * BLOCK.0);
    let mut next = |block| {
        assert!(at(block) >= gain.until);
        process.redraw(&mut gain, at(block), Way::default());
        gain.factor
    };
    (0..blocks).map(&mut next).collect()
}

fn moments(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let square = |value: &f64| (value - mean) * (value - mean);
    (mean, values.iter().map(square).sum::<f64>() / values.len() as f64)
}

#[test]
fn rayleigh_fading_falls_below_a_part_of_its_mean_with_the_probability_of_an_exponential_number() {
    let gains = gains(&Process::fading(&rician(0.0)), 100_000);
    for level in [0.01, 0.1, 0.5, 1.0, 2.0, 4.0] {
        let below = gains.iter().filter(|gain| **gain < level).count() as f64 / 1e5;
        let expected = 1.0 - libm::exp(-level);
        let deviation = libm::sqrt(expected * (1.0 - expected) / 1e5);
        assert!((below - expected).abs() < 4.0 * deviation, "{level}: {below} {expected}");
    }
    assert!((moments(&gains).0 - 1.0).abs() < 0.013);
}

#[test]
fn rician_fading_has_a_mean_of_one_and_the_variance_of_its_factor() {
    for factor in [0.5, 4.0, 100.0] {
        let (mean, variance) = moments(&gains(&Process::fading(&rician(factor)), 100_000));
        let expected = (1.0 + 2.0 * factor) / ((1.0 + factor) * (1.0 + factor));
        assert!((mean - 1.0).abs() < 4.0 * libm::sqrt(expected / 1e5), "{factor}: {mean}");
        assert!((variance / expected - 1.0).abs() < 0.04, "{factor}: {variance} {expected}");
    }
}

#[test]
fn shadowing_is_normal_in_decibels() {
    let process = Process::shadowing(&shadowing(6.0, Redraw::After(BLOCK)));
    let decibels: Vec<f64> = gains(&process, 100_000).iter().map(|gain| 10.0 * libm::log10(*gain)).collect();
    let (mean, variance) = moments(&decibels);
    assert!(mean.abs() < 0.08, "{mean}");
    assert!((libm::sqrt(variance) - 6.0).abs() < 0.06, "{variance}");
    let within = decibels.iter().filter(|level| level.abs() < 6.0).count() as f64 / 1e5;
    assert!((within - 0.6827).abs() < 0.006, "{within}");
}

#[test]
fn the_greatest_gain_regarded_is_exceeded_in_fewer_than_one_of_a_hundred_thousand_blocks() {
    let processes = [
        Process::fading(&rician(0.0)),
        Process::fading(&rician(3.0)),
        Process::shadowing(&shadowing(8.0, Redraw::After(BLOCK))),
    ];
    for process in processes {
        let above = gains(&process, 200_000).iter().filter(|gain| **gain > process.most()).count();
        assert!(above <= 2, "{process:?}: {above}");
    }
}

#[test]
fn a_walker_at_5_4_ghz_keeps_its_echoes_for_15_7_milliseconds() {
    // 0.423 × 3e8 / (1.5 × 5.4e9) s.
    let found = coherence(1.5, 5.4e9).as_secs();
    assert!((found - 0.015_667).abs() < 1e-6, "{found}");
    // A station that hardly moves keeps them for longer than any run, but not for longer than time is counted.
    let process = Process::fading(&Fading { factor: 0.0, redraw: Redraw::After(coherence(1e-12, 1e6)) });
    let mut gain = process.gain(1, 0, "slow");
    process.redraw(&mut gain, Time(1_000_000_000_000_000_000), Way::default());
    assert!(gain.until > Time(1_000_000_000_000_000_000));
}

/// The power of a frame that `from` sends at a time.
pub(super) fn power(bench: &mut Bench, from: usize, to: usize, at_us: u64) -> f64 {
    bench.start(from, to, at_us, 1);
    let power_w = bench.radio.power_w(from, to);
    bench.end(from, at_us + 1);
    power_w
}

#[test]
fn both_directions_meet_the_same_gain_and_other_pairs_another() {
    let config = faded(Some(rician(0.0)), Some(shadowing(6.0, Redraw::After(BLOCK * 7))));
    let mut bench = Bench::new(&config, &[None; 3]);
    let mut same = 0;
    for step in 0..500 {
        let at = step * 3_000;
        let there = power(&mut bench, 0, 1, at);
        assert_eq!(there, power(&mut bench, 1, 0, at + 2));
        same += u32::from(there == power(&mut bench, 0, 2, at + 4));
    }
    assert_eq!(same, 0);
}

#[test]
fn the_channel_is_the_same_however_often_it_is_used_and_by_whom() {
    let config = faded(Some(rician(2.0)), Some(shadowing(4.0, Redraw::After(BLOCK * 30))));
    let (mut busy, mut quiet) = (Bench::new(&config, &[None; 3]), Bench::new(&config, &[None; 3]));
    for step in 0..2_000 {
        let at = step * 1_000;
        let seen = power(&mut busy, 0, 1, at);
        power(&mut busy, 2, 1, at + 10);
        if step % 37 == 0 {
            assert_eq!(seen, power(&mut quiet, 1, 0, at));
        }
    }
}

#[test]
fn a_gain_lasts_for_its_block_and_pairs_change_at_different_times() {
    let mut bench = Bench::new(&faded(Some(rician(0.0)), None), &[None; 3]);
    let mut changes = [Vec::new(), Vec::new()];
    let mut last = [0.0; 2];
    for at in (0..50_000).step_by(100) {
        for (to, place) in [(1, 0), (2, 1)] {
            let now = power(&mut bench, 0, to, at + 10 * place as u64);
            if now != last[place] {
                changes[place].push(at);
                last[place] = now;
            }
        }
    }
    for changes in &changes {
        // The first is that from nothing to the gain of the first block.
        assert_eq!(changes.len(), 6, "{changes:?}");
        assert!(changes[1..].windows(2).all(|pair| pair[1] - pair[0] == 10_000), "{changes:?}");
    }
    assert_ne!(changes[0][1], changes[1][1]);
}

#[test]
fn shadowing_that_is_never_redrawn_differs_from_pair_to_pair_and_from_replication_to_replication() {
    let config = faded(None, Some(shadowing(8.0, Redraw::Never)));
    let site = |number| Site {
        node: NodeId(number),
        name: format!("s{number}"),
        position: None,
        motion: None,
        strength: 1.0,
    };
    let sites: Vec<Site> = (0..3).map(site).collect();
    let mut powers = Vec::new();
    for replication in 0..2 {
        let base = StreamBase { seed: 1, replication, link: "wifi".into() };
        let mut bench =
            Bench { radio: Radio::new(&config, &sites, base), sequence: 0, on_air: vec![None; sites.len()] };
        let first = [1, 2].map(|to| power(&mut bench, 0, to, 0));
        assert_eq!(first, [1, 2].map(|to| power(&mut bench, 0, to, 3_600_000_000)));
        powers.extend(first);
    }
    powers.sort_unstable_by(f64::total_cmp);
    powers.dedup();
    assert_eq!(powers.len(), 4);
}

#[test]
fn a_frame_is_out_of_reach_while_its_fading_leaves_it_below_the_threshold() {
    // The mean is twice the threshold.
    let config = faded(Some(rician(0.0)), None);
    let config = RadioConfig { flat_power_w: 2.0 * config.receive_threshold_w, ..config };
    let mut bench = Bench::new(&config, &[None; 2]);
    let mut lost = 0;
    for block in 0..20_000 {
        let frame = bench.data(0, 1, 1000);
        match bench.alone(frame, block * 10_000) {
            Fate::Received => {}
            fate => {
                assert_eq!(fate, Fate::OutOfReach);
                lost += 1;
            }
        }
    }
    let expected = 1.0 - libm::exp(-0.5);
    assert!((f64::from(lost) / 20_000.0 - expected).abs() < 0.014, "{lost}");
}

#[test]
fn the_mean_loss_of_frames_over_rayleigh_fading_is_the_integral_over_its_law() {
    let errors = ErrorConfig { law: ErrorLaw::Snr, meaning: LossMeaning::OnAir, of: LossOf::All, at: None };
    let config = RadioConfig {
        errors,
        bandwidth_hz: 20e6,
        receive_threshold_w: 1e-18,
        carrier_sense_threshold_w: 1e-18,
        interference_threshold_w: 1e-18,
        ..faded(Some(rician(0.0)), None)
    };
    let mean = db_to_ratio(8.0);
    let config = RadioConfig { flat_power_w: config.noise_w() * mean, ..config };
    let mut bench = Bench::new(&config, &[None; 2]);
    let mut lost = 0;
    for block in 0..20_000 {
        let frame = Frame { rate: PhyRate::Ofdm6, ..bench.data(0, 1, 320) };
        lost += u32::from(bench.alone(frame, block * 10_000) == Fate::Errored);
    }
    let at = |gain: f64| -libm::expm1(2560.0 * Modulation::of(PhyRate::Ofdm6).log_success(mean * gain));
    let step = 1e-3;
    let middles = (0..20_000).map(|number| (f64::from(number) + 0.5) * step);
    let expected: f64 = middles.map(|gain| at(gain) * libm::exp(-gain) * step).sum();
    assert!((0.2..0.5).contains(&expected), "{expected}");
    let found = f64::from(lost) / 20_000.0;
    assert!((found - expected).abs() < 0.014, "{found} {expected}");
}

#[test]
fn a_medium_whose_powers_stay_has_nothing_to_redraw() {
    let still = |config: &RadioConfig| Bench::new(config, &[None; 2]).radio.hearers.stay();
    assert!(still(&ns2()));
    assert!(!still(&faded(Some(rician(0.0)), None)));
    assert!(!still(&faded(None, Some(shadowing(4.0, Redraw::Never)))));
}

#[test]
fn a_station_beyond_reach_on_average_may_hear_what_fading_raises() {
    let config = faded(Some(rician(0.0)), None);
    let config = RadioConfig { propagation: Propagation::FreeSpace, ..config };
    let edge = propagation::range_m(&config, config.carrier_sense_threshold_w);
    let mut bench = Bench::line(&config, &[0.0, edge * 1.1, edge * 10.0]);
    let mut heard = [0; 3];
    for block in 0..1000 {
        for what in bench.start(0, 1, block * 10_000, 1) {
            if let Heard::Busy(at) = what {
                heard[at] += 1;
            }
        }
        bench.end(0, block * 10_000 + 1);
    }
    // exp(-1.21) of the time at the first, exp(-100) at the second.
    assert!((250..350).contains(&heard[1]), "{heard:?}");
    assert_eq!(heard[2], 0);
}
