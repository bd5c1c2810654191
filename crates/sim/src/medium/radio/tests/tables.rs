//! The tables of the guide agree with the models.

use std::fs;

use lasthop_stack::link::dot11::Preset;
use lasthop_stack::link::fec::{Code, Coded};

use super::super::config::{Propagation, dbm_to_watts, watts_to_dbm};
use super::super::fec::Decoder;
use super::super::modulation::Modulation;
use super::super::propagation::received_power_w;
use super::*;

/// 802.11a at 5.4 GHz with the constants of ns-3.
fn dot11a(exponent: f64) -> RadioConfig {
    let propagation = Propagation::LogDistance { exponent, reference_m: 1.0 };
    RadioConfig { frequency_hz: 5.4e9, propagation, ..RadioConfig::ns3() }
}

fn snr(config: &RadioConfig, metres: f64) -> f64 {
    received_power_w(config, metres) / config.noise_w()
}

/// The share of frames of this many bytes that are lost at 6 Mbit/s.
fn lost(snr: f64, bytes: f64) -> f64 {
    -libm::expm1(8.0 * bytes * Modulation::of(PhyRate::Ofdm6).log_success(snr))
}

/// A percentage with about three digits that count.
fn short(value: f64) -> String {
    match value {
        value if value < 1e-3 => "< 0.001".to_string(),
        value if value < 0.1 => format!("{value:.3}"),
        value if value < 10.0 => format!("{value:.2}"),
        value => format!("{value:.1}"),
    }
}

fn of_distance() -> String {
    let config = dot11a(3.0);
    let row = |metres: u32| {
        let ratio = snr(&config, f64::from(metres));
        let power_dbm = watts_to_dbm(received_power_w(&config, f64::from(metres)));
        let ber = Modulation::of(PhyRate::Ofdm6).bit_error_rate(ratio);
        let ber = if ber < 1e-15 { "< 1e-15".to_string() } else { format!("{ber:.1e}") };
        let [ack, fragment, packet] = [14.0, 320.0, 1536.0].map(|bytes| short(100.0 * lost(ratio, bytes)));
        let ratio_db = 10.0 * libm::log10(ratio);
        format!("| {metres} | {power_dbm:.1} | {ratio_db:.2} | {ber} | {ack} | {fragment} | {packet} |\n")
    };
    [20, 40, 55, 70, 80, 85, 90, 95, 100, 105, 110].map(row).concat()
}

/// Where 320 B are lost in one of ten, m.
fn of_exponent() -> String {
    let edge = |exponent: f64| {
        let config = dot11a(exponent);
        let (mut near, mut far) = (1.0, 1e6);
        for _ in 0..60 {
            let middle = f64::midpoint(near, far);
            if lost(snr(&config, middle), 320.0) < 0.1 { near = middle } else { far = middle }
        }
        format!(" {near:.0} m |")
    };
    format!("| 10 % lost at |{}\n", [2.0, 2.5, 3.0, 3.5, 4.0].map(edge).concat())
}

/// What a code makes of a frame of 320 bytes.
fn of_rate() -> String {
    let row = |rate: f64| {
        let code = Code::of_rate(rate);
        let bytes = 320 + code.map_or(0, |code| code.redundancy(296));
        let corrects = code.map_or(0, |code| code.blocks(296)[1].0.corrects);
        let micros = Preset::Dot11a.config().phy.airtime(bytes, 0, PhyRate::Ofdm6).total.0 / 1000;
        let plain = Frame::new(FrameKind::Data, NodeId(1), NodeId(0), bytes, PhyRate::Ofdm6);
        let frame = Frame { coded: code.map(|code| Coded { code, bytes: 296 }), ..plain };
        let lost = |ber: f64| short(100.0 * Decoder::new().fails(&frame, libm::log1p(-ber)));
        let [few, some, many] = [1e-4, 1e-3, 4e-3].map(lost);
        format!("| {rate} | {bytes} | {micros} | {corrects} | {few} | {some} | {many} |\n")
    };
    [1.0, 0.95, 0.9, 0.75, 0.5].map(row).concat()
}

#[test]
fn the_guide_shows_the_errors_of_802_11a_by_distance_as_they_are_computed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/radio.md");
    let page = fs::read_to_string(path).expect("the page is there");
    for (table, what) in [(of_distance(), "distance"), (of_exponent(), "exponent"), (of_rate(), "rate")] {
        assert!(page.contains(&table), "docs/radio.md, the table by {what}; expected\n{table}");
    }
}

#[test]
fn the_ratio_falls_by_30_db_a_decade_from_that_of_free_space_at_a_metre() {
    let config = dot11a(3.0);
    let db = |metres| 10.0 * libm::log10(snr(&config, metres));
    // 16.02 dBm less 47.10 dB of free space, over noise of -93.96 dBm.
    assert!((db(1.0) - 62.89).abs() < 0.02, "{}", db(1.0));
    assert!((db(10.0) - db(100.0) - 30.0).abs() < 1e-9);
    assert!((config.noise_w() / dbm_to_watts(-93.96) - 1.0).abs() < 0.005);
}

#[test]
fn a_bit_error_rate_loses_320_bytes_as_the_dynamic_arq_paper_needs_it() {
    for (ber, expected) in [(1e-6, 0.002_557), (1e-5, 0.025_27), (1e-4, 0.225_9), (1e-3, 0.922_8)] {
        let config = lossy(ErrorLaw::Bit { ber }, LossMeaning::OnAir, LossOf::All);
        let mut bench = Bench::new(&config, &[None; 2]);
        let mut errored = 0;
        for trial in 0..40_000 {
            let frame = bench.data(0, 1, 320);
            errored += u32::from(bench.alone(frame, trial * 5000) == Fate::Errored);
        }
        let (found, deviation) =
            (f64::from(errored) / 40_000.0, libm::sqrt(expected * (1.0 - expected) / 40_000.0));
        assert!((found - expected).abs() < 4.0 * deviation, "{ber}: {found} {expected}");
    }
}
