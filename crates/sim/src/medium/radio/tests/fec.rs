//! Frames protected by a code on the air.

use lasthop_stack::link::fec::{Code, Coded};

use super::*;

/// A fragment of 320 bytes, protected or not, at 6 Mbit/s.
fn fragment(bench: &mut Bench, code: Option<Code>) -> Frame {
    let bytes = 320 + code.map_or(0, |code| code.redundancy(296));
    let plain = bench.data(0, 1, bytes);
    Frame { rate: PhyRate::Ofdm6, coded: code.map(|code| Coded { code, bytes: 296 }), ..plain }
}

fn lost(config: &RadioConfig, code: Option<Code>) -> f64 {
    let mut bench = Bench::new(config, &[None; 2]);
    let trials = 20_000;
    let mut errored = 0;
    for trial in 0..trials {
        let frame = fragment(&mut bench, code);
        errored += u32::from(bench.alone(frame, trial * 5000) == Fate::Errored);
    }
    f64::from(errored) / trials as f64
}

#[test]
fn given_wrong_bits_a_code_leaves_what_its_header_and_its_blocks_lose() {
    let config = |ber| lossy(ErrorLaw::Bit { ber }, LossMeaning::OnAir, LossOf::All);
    assert!((lost(&config(1e-3), None) - 0.923).abs() < 0.01);
    assert!((lost(&config(1e-3), Code::of_rate(0.75)) - 0.175).abs() < 0.012);
    // A block of 16 more in 148 bytes meets 164 × (1 - 0.996^8) = 5.18 wrong ones and corrects 8. By Poisson's law,
    // which is near, it fails in 8.5 of 100. Two blocks and a header fail in 1 - 0.915² 0.996^192 = 61 of 100.
    let code = Code::of_rate(0.9);
    assert_eq!(code.map(|code| code.redundancy(296)), Some(32));
    assert!((lost(&config(4e-3), code) - 0.61).abs() < 0.03);
}

#[test]
fn a_code_moves_the_edge_of_a_link_by_its_noise() {
    let at = |db, code| {
        let config =
            RadioConfig { bandwidth_hz: 20e6, ..lossy(ErrorLaw::Snr, LossMeaning::OnAir, LossOf::All) };
        let flat_power_w = config.noise_w() * db_to_ratio(db);
        let config =
            RadioConfig { flat_power_w, receive_threshold_w: 0.0, carrier_sense_threshold_w: 0.0, ..config };
        lost(&config, code)
    };
    let code = Code::of_rate(0.75);
    // 3.5e-4 of the bits are wrong at 2.9 dB.
    assert!(at(2.9, None) > 0.5);
    assert!(at(2.9, code) < 0.09);
    assert!(at(0.5, code) > 0.99);
    assert_eq!(at(6.0, code), 0.0);
}

#[test]
fn interference_that_wrongs_few_bytes_of_a_coded_frame_does_not_spoil_it() {
    // The line of `the_part_of_a_frame_that_meets_interference_fails_by_its_own_ratio`, with 2560 bits of which half meet
    // interference: at -4 dB 7.85e-5 of them are wrong.
    let errors = ErrorConfig { law: ErrorLaw::Snr, meaning: LossMeaning::OnAir, of: LossOf::All, at: None };
    let reception = Reception::Sinr { least: 0.0 };
    let config = RadioConfig { errors, reception, propagation: config::Propagation::FreeSpace, ..ns2() };
    let ratio = libm::sqrt(db_to_ratio(6.0));
    let spoilt = |code: Option<Code>| {
        let mut bench = Bench::line(&config, &[0.0, 100.0, 100.0 + 100.0 / ratio]);
        let mut collided = 0;
        for trial in 0..2000 {
            let from = trial * 20_000;
            let frame = Frame { rate: PhyRate::Dsss1, ..fragment(&mut bench, code) };
            let lasts = 192 + 8 * u64::from(frame.bytes);
            bench.send(frame, from, lasts);
            bench.start(2, 1, from + 192, lasts - 192);
            bench.end(2, from + lasts);
            collided += u32::from(bench.end(0, from + lasts).0 == Fate::Collided);
        }
        f64::from(collided) / 2000.0
    };
    // At -6 dB 2e-3 of the bits are wrong: all of 2560 right in 0.6 of 100, those of the header in 68.
    assert!(spoilt(None) > 0.98);
    assert!((spoilt(Code::of_rate(0.75)) - 0.32).abs() < 0.04);
}
