//! Bit errors by signal-to-noise ratio, for the modulations of 802.11.
//!
//! **Limits**: additive white Gaussian noise, no fading; several streams each have the ratio of one, and LDPC codes
//! fail as the convolutional ones do. The PLCP header, sent at the most robust rate, never fails.
//!
//! **Source**: DSSS as in the study of Pei and Henderson (2009) for 802.11b; CCK as biorthogonal keying (Proakis, 5.2).
//! OFDM: the union bound over the distance spectrum of the convolutional code with 64 states, hard decisions. The
//! spectra are by Conan (1984) at rate 1/2 and by Haccoun and Bégin (1989, IEEE Trans. Commun. 37(11), 1113 to 1125)
//! for the punctured codes, as many terms as published. A test computes all of them from the generators and the
//! puncturing.
//!
//! **How**: the success of a frame is (1 - BER)^bits or, for CCK, (1 - SEP)^symbols. Both are stored as the logarithm
//! of the success of one bit, because logarithms of the parts of a frame add up.

use std::f64::consts::{PI, SQRT_2};

use lasthop_stack::link::dot11::{Frame, Mode, PhyRate};

/// A modulation and coding of 802.11.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Modulation {
    /// DSSS 1 Mbit/s.
    Dbpsk,
    /// DSSS 2 Mbit/s.
    Dqpsk,
    /// HR-DSSS 5.5 Mbit/s.
    Cck5,
    /// HR-DSSS 11 Mbit/s.
    Cck11,
    /// OFDM: a constellation and a code.
    Ofdm(Constellation, CodeRate),
}

/// The constellation of an OFDM subcarrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Constellation {
    /// 1 bit.
    Bpsk,
    /// 2 bits.
    Qpsk,
    /// 4 bits.
    Qam16,
    /// 6 bits.
    Qam64,
    /// 8 bits.
    Qam256,
    /// 10 bits.
    Qam1024,
    /// 12 bits.
    Qam4096,
}

/// The rate of the convolutional code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CodeRate {
    /// 1/2.
    Half,
    /// 2/3.
    TwoThirds,
    /// 3/4.
    ThreeQuarters,
    /// 5/6.
    FiveSixths,
}

/// Bandwidth of DSSS over its rate of symbols: what spreading gains at 1 Mbit/s.
const DSSS_GAIN: f64 = 22.0;
/// A code word of 5.5 Mbit/s CCK is one of 8 orthogonal words with either sign.
const CCK_WORDS: f64 = 8.0;
/// Steps of Simpson's rule over the correlator's noise, and its width in standard deviations.
const CCK_STEPS: u32 = 96;
const CCK_WIDTH: f64 = 9.0;

/// Errors at distance 10, 12, 14 ... of the code of rate 1/2.
const SPECTRUM_HALF: [f64; 9] =
    [36.0, 211.0, 1404.0, 11_633.0, 77_433.0, 502_690.0, 3_322_763.0, 21_292_910.0, 134_365_911.0];
/// Errors at distance 6, 7, 8 ... of the code of rate 2/3.
const SPECTRUM_TWO_THIRDS: [f64; 10] =
    [3.0, 70.0, 285.0, 1276.0, 6160.0, 27_128.0, 117_019.0, 498_860.0, 2_103_891.0, 8_784_123.0];
/// Errors at distance 5, 6, 7 ... of the code of rate 3/4.
const SPECTRUM_THREE_QUARTERS: [f64; 10] = [
    42.0,
    201.0,
    1492.0,
    10_469.0,
    62_935.0,
    379_644.0,
    2_253_373.0,
    13_073_811.0,
    75_152_755.0,
    428_005_675.0,
];

/// Errors at distance 4, 5, 6 ... of the code of rate 5/6.
const SPECTRUM_FIVE_SIXTHS: [f64; 10] = [
    92.0,
    528.0,
    8694.0,
    79_453.0,
    792_114.0,
    7_375_573.0,
    67_884_974.0,
    610_875_423.0,
    5_427_275_376.0,
    47_664_215_639.0,
];

impl Modulation {
    /// The modulation of a frame.
    #[inline]
    #[must_use]
    pub const fn of_frame(frame: &Frame) -> Modulation {
        match frame.mode {
            None => Modulation::of(frame.rate),
            Some(mode) => Modulation::of_mode(mode),
        }
    }

    /// The modulation of HT, VHT, HE and EHT, the same on each stream.
    #[must_use]
    pub const fn of_mode(mode: Mode) -> Modulation {
        let constellation = match mode.bits() {
            1 => Constellation::Bpsk,
            2 => Constellation::Qpsk,
            4 => Constellation::Qam16,
            6 => Constellation::Qam64,
            8 => Constellation::Qam256,
            10 => Constellation::Qam1024,
            _ => Constellation::Qam4096,
        };
        let code = match mode.code() {
            (1, _) => CodeRate::Half,
            (2, _) => CodeRate::TwoThirds,
            (3, _) => CodeRate::ThreeQuarters,
            _ => CodeRate::FiveSixths,
        };
        Modulation::Ofdm(constellation, code)
    }

    /// The modulation of a rate.
    #[must_use]
    pub const fn of(rate: PhyRate) -> Modulation {
        use CodeRate::{Half, ThreeQuarters, TwoThirds};
        use Constellation::{Bpsk, Qam16, Qam64, Qpsk};
        match rate {
            PhyRate::Dsss1 => Modulation::Dbpsk,
            PhyRate::Dsss2 => Modulation::Dqpsk,
            PhyRate::Cck5 => Modulation::Cck5,
            PhyRate::Cck11 => Modulation::Cck11,
            PhyRate::Ofdm6 => Modulation::Ofdm(Bpsk, Half),
            PhyRate::Ofdm9 => Modulation::Ofdm(Bpsk, ThreeQuarters),
            PhyRate::Ofdm12 => Modulation::Ofdm(Qpsk, Half),
            PhyRate::Ofdm18 => Modulation::Ofdm(Qpsk, ThreeQuarters),
            PhyRate::Ofdm24 => Modulation::Ofdm(Qam16, Half),
            PhyRate::Ofdm36 => Modulation::Ofdm(Qam16, ThreeQuarters),
            PhyRate::Ofdm48 => Modulation::Ofdm(Qam64, TwoThirds),
            PhyRate::Ofdm54 => Modulation::Ofdm(Qam64, ThreeQuarters),
        }
    }

    /// Probability that a bit is wrong after decoding, given signal over noise and interference in the whole band.
    #[must_use]
    pub fn bit_error_rate(self, sinr: f64) -> f64 {
        if sinr <= 0.0 {
            return 0.5;
        }
        let rate = match self {
            Modulation::Dbpsk => 0.5 * libm::exp(-DSSS_GAIN * sinr),
            Modulation::Dqpsk => {
                let x = DSSS_GAIN / 2.0 * sinr;
                (SQRT_2 + 1.0) / libm::sqrt(8.0 * PI * SQRT_2 * x) * libm::exp(-(2.0 - SQRT_2) * x)
            }
            Modulation::Cck5 | Modulation::Cck11 => -libm::expm1(self.log_success(sinr)),
            Modulation::Ofdm(constellation, code) => code.decoded(constellation.bit_error_rate(sinr)),
        };
        rate.min(0.5)
    }

    /// Logarithm of the probability that a bit arrives right.
    #[must_use]
    pub fn log_success(self, sinr: f64) -> f64 {
        match self {
            // 4 bits select one of 16 words.
            Modulation::Cck5 if sinr > 0.0 => libm::log1p(-cck_word_error(16.0 * sinr).min(0.9375)) / 4.0,
            // 8 bits are two independent halves, each at half the energy.
            Modulation::Cck11 if sinr > 0.0 => libm::log1p(-cck_word_error(8.0 * sinr).min(0.9375)) / 4.0,
            _ => libm::log1p(-self.bit_error_rate(sinr)),
        }
    }
}

/// Probability that one of the bits of `bytes` is wrong, given the logarithm of the probability that a bit is right.
pub(super) fn bits_lost(each: f64, bytes: u32) -> f64 {
    -libm::expm1(8.0 * f64::from(bytes) * each)
}

/// Probability that an uncoded MPDU of these bytes fails in a mode, without interference.
#[must_use]
pub fn mpdu_failure(mode: Mode, bytes: u32, ratio: f64) -> f64 {
    bits_lost(Modulation::of_mode(mode).log_success(ratio), bytes)
}

impl Constellation {
    /// Probability that a coded bit is wrong before decoding, Gray mapping.
    #[must_use]
    pub fn bit_error_rate(self, sinr: f64) -> f64 {
        let (factor, scale) = match self {
            Constellation::Bpsk => (0.5, 1.0),
            Constellation::Qpsk => (0.5, 2.0),
            Constellation::Qam16 => (0.75 * 0.5, 10.0),
            Constellation::Qam64 => (7.0 / 12.0 * 0.5, 42.0),
            Constellation::Qam256 => (15.0 / 32.0 * 0.5, 170.0),
            Constellation::Qam1024 => (31.0 / 80.0 * 0.5, 682.0),
            Constellation::Qam4096 => (63.0 / 192.0 * 0.5, 2730.0),
        };
        factor * libm::erfc(libm::sqrt(sinr / scale))
    }
}

impl CodeRate {
    /// Probability that a bit is wrong after decoding when `raw` of the coded bits are: the union bound.
    #[must_use]
    pub fn decoded(self, raw: f64) -> f64 {
        let squared = 4.0 * raw * (1.0 - raw);
        let distance = libm::sqrt(squared);
        let (inputs, first, step, spectrum) = match self {
            CodeRate::Half => (1.0, 10.0, squared, &SPECTRUM_HALF[..]),
            CodeRate::TwoThirds => (2.0, 6.0, distance, &SPECTRUM_TWO_THIRDS[..]),
            CodeRate::ThreeQuarters => (3.0, 5.0, distance, &SPECTRUM_THREE_QUARTERS[..]),
            CodeRate::FiveSixths => (5.0, 4.0, distance, &SPECTRUM_FIVE_SIXTHS[..]),
        };
        let mut power = libm::pow(distance, first);
        let mut sum = 0.0;
        for errors in spectrum {
            sum += errors * power;
            power *= step;
        }
        (sum / (2.0 * inputs)).min(0.5)
    }
}

/// Probability that a biorthogonal code word is mistaken for another: `energy` is the squared ratio of the right
/// correlator's mean to the noise's standard deviation.
fn cck_word_error(energy: f64) -> f64 {
    let mean = libm::sqrt(energy);
    // The word is right when the noise of its correlator leaves it above the magnitudes of the seven others. Integrating
    // the error instead of the success keeps its digits where it is small.
    let error_at = |noise: f64| {
        let others_below = libm::erf((mean + noise) / SQRT_2).max(0.0);
        let wrong = 1.0 - libm::pow(others_below, CCK_WORDS - 1.0);
        wrong * libm::exp(-noise * noise / 2.0)
    };
    let from = (-mean).max(-CCK_WIDTH);
    let step = (CCK_WIDTH - from) / f64::from(CCK_STEPS);
    let mut sum = error_at(from) + error_at(CCK_WIDTH);
    for i in 1..CCK_STEPS {
        let weight = if i % 2 == 1 { 4.0 } else { 2.0 };
        sum += weight * error_at(from + f64::from(i) * step);
    }
    let below_zero = 0.5 * libm::erfc(mean / SQRT_2);
    sum * step / 3.0 / libm::sqrt(2.0 * PI) + below_zero
}

/// The last results of [`Modulation::log_success`]: powers change seldom, so the same ratios come again and again.
#[derive(Clone, Debug)]
pub(super) struct Memo {
    places: Vec<(Modulation, f64, f64)>,
}

const MEMO_PLACES: u64 = 256;

impl Memo {
    pub(super) fn new() -> Memo {
        Memo { places: vec![(Modulation::Dbpsk, f64::NAN, 0.0); MEMO_PLACES as usize] }
    }

    pub(super) fn log_success(&mut self, modulation: Modulation, sinr: f64) -> f64 {
        let mixed = sinr.to_bits().wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let place = &mut self.places[(mixed % MEMO_PLACES) as usize];
        if place.0 != modulation || place.1 != sinr {
            *place = (modulation, sinr, modulation.log_success(sinr));
        }
        place.2
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::medium::radio::config::db_to_ratio;

    fn close(found: f64, expected: f64, digits: f64) {
        assert!((found / expected - 1.0).abs() < digits, "{found} {expected}");
    }

    #[test]
    fn dbpsk_errs_as_tabulated_from_minus_8_to_0_db() {
        for (db, expected) in [(-8.0, 1.5e-2), (-6.0, 2.0e-3), (-4.0, 7.9e-5), (-2.0, 4.7e-7), (0.0, 1.4e-10)]
        {
            close(Modulation::Dbpsk.bit_error_rate(db_to_ratio(db)), expected, 0.04);
        }
    }

    #[test]
    fn dqpsk_errs_as_tabulated_from_minus_8_to_2_db() {
        let table =
            [(-8.0, 1.1e-1), (-6.0, 4.8e-2), (-4.0, 1.5e-2), (-2.0, 2.6e-3), (0.0, 1.9e-4), (2.0, 3.6e-6)];
        for (db, expected) in table {
            close(Modulation::Dqpsk.bit_error_rate(db_to_ratio(db)), expected, 0.05);
        }
    }

    #[test]
    fn ofdm_at_6_mbit_errs_as_tabulated_and_loses_1500_bytes_at_4_db_in_8_7_of_100() {
        let six = Modulation::of(PhyRate::Ofdm6);
        for (db, expected) in [(2.0, 8.8e-3), (4.0, 7.6e-6), (6.0, 1.5e-9)] {
            close(six.bit_error_rate(db_to_ratio(db)), expected, 0.04);
        }
        let lost = |bytes: f64| -libm::expm1(8.0 * bytes * six.log_success(db_to_ratio(4.0)));
        close(lost(320.0), 0.019, 0.03);
        close(lost(1500.0), 0.087, 0.03);
    }

    #[test]
    fn every_faster_rate_of_a_family_needs_a_higher_ratio() {
        // 9 Mbit/s is left out: BPSK 3/4 needs about as much as QPSK 1/2.
        let (dsss, ofdm) = PhyRate::ALL.split_at(4);
        for family in [dsss, ofdm] {
            let needed: Vec<f64> = family
                .iter()
                .filter(|rate| **rate != PhyRate::Ofdm9)
                .map(|rate| {
                    let modulation = Modulation::of(*rate);
                    let good = |db: &f64| modulation.bit_error_rate(db_to_ratio(*db)) < 1e-5;
                    (-400..400).map(|tenth| f64::from(tenth) / 10.0).find(good).unwrap_or(f64::NAN)
                })
                .collect();
            assert!(needed.windows(2).all(|pair| pair[0] < pair[1]), "{needed:?}");
        }
    }

    #[test]
    fn a_cck_word_without_energy_is_one_of_sixteen_and_with_much_nearly_always_right() {
        close(cck_word_error(1e-12), 15.0 / 16.0, 1e-3);
        // Far out, a word fails by one of fourteen neighbours at distance sqrt(2) of its energy.
        close(cck_word_error(64.0), 14.0 * 0.5 * libm::erfc(libm::sqrt(64.0 / 4.0)), 0.01);
    }

    #[test]
    fn without_any_signal_a_bit_is_a_coin() {
        for modulation in PhyRate::ALL.map(Modulation::of) {
            assert!(modulation.bit_error_rate(0.0) >= 0.29, "{modulation:?}");
            assert!(modulation.log_success(0.0) <= -0.29, "{modulation:?}");
        }
    }

    #[test]
    fn what_is_remembered_equals_what_is_computed() {
        let mut memo = Memo::new();
        for _ in 0..2 {
            for tenth in -100..100 {
                let sinr = db_to_ratio(f64::from(tenth) / 10.0);
                for modulation in [Modulation::Dbpsk, Modulation::Cck11] {
                    assert_eq!(memo.log_success(modulation, sinr), modulation.log_success(sinr));
                }
            }
        }
    }

    /// Errors of information bits by distance up to the `most`, of the code with generators 133 and 171. The puncturing
    /// states which of the two bits are sent in each step of a period. A step of the trellis is a period.
    fn spectrum(sent: &[(u32, u32)], most: u32) -> Vec<f64> {
        type Events = std::collections::BTreeMap<(usize, u32), (u64, u64)>;
        let branch = |state: usize, word: usize| {
            let mut at = (state, 0);
            for (step, (first, second)) in sent.iter().enumerate() {
                let register = (word >> step & 1) << 6 | at.0;
                let parity = |generator: usize| (register & generator).count_ones() % 2;
                at = (register >> 1, at.1 + first * parity(0o133) + second * parity(0o171));
            }
            (at.0, at.1, word.count_ones())
        };
        let mut ended = std::collections::BTreeMap::new();
        let mut open = Events::from([((0, 0), (1, 0))]);
        for step in 0.. {
            if open.is_empty() {
                break;
            }
            let mut next = Events::new();
            for ((state, distance), (paths, errors)) in std::mem::take(&mut open) {
                for word in usize::from(step == 0)..1 << sent.len() {
                    let (to, weight, bits) = branch(state, word);
                    let (to_distance, wrong) = (distance + weight, errors + paths * u64::from(bits));
                    if to == 0 && to_distance <= most {
                        *ended.entry(to_distance).or_insert(0) += wrong;
                    } else if to != 0 && to_distance <= most {
                        let sums = next.entry((to, to_distance)).or_insert((0, 0));
                        *sums = (sums.0 + paths, sums.1 + wrong);
                    }
                }
            }
            open = next;
        }
        ended.into_values().map(|errors| errors as f64).collect()
    }

    #[test]
    fn the_spectra_are_those_of_the_punctured_code_of_the_standard() {
        // IEEE 802.11-2020, 17.3.5.6 and 19.3.11.6: the bits that are not stolen.
        let (both, first, second) = ((1, 1), (1, 0), (0, 1));
        assert_eq!(spectrum(&[both], 26), SPECTRUM_HALF);
        assert_eq!(spectrum(&[both, first], 15), SPECTRUM_TWO_THIRDS);
        assert_eq!(spectrum(&[both, first, second], 14), SPECTRUM_THREE_QUARTERS);
        assert_eq!(spectrum(&[both, first, second, first, second], 13), SPECTRUM_FIVE_SIXTHS);
    }
}
