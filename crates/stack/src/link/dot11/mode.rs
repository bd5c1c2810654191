//! HT, VHT, HE and EHT: modulation and coding, preambles, and the duration of a PPDU for one receiver.
//!
//! **Limits.** Equal modulation on all streams. Each PPDU has the 6 tail bits of one convolutional encoder. An LDPC
//! code has none, and more than 300 (HT) or 540 (VHT) Mbit/s require more encoders. Both differences are less than a
//! symbol. No STBC, no packet extension. A PPDU of HT has the mixed format. EHT has neither MCS 14 (duplicate) nor 15 (DCM), no
//! punctured channels, and RUs of one piece. `ru` has the PPDUs of several stations.
//!
//! **Source.** IEEE 802.11-2020, 19.3 and 19.4.3 (HT), 21.3 and 21.4.3 (VHT); IEEE 802.11ax-2021, 27.3 and 27.4.3 (HE); IEEE
//! 802.11be-2024, 36.3.2 (RUs), 36.3.12 (preamble), 36.5 (rates of EHT).

use super::rates::{Airtime, PhyRate};
use super::ru::Ru;
use crate::units::{Rate, Span};

/// The generation of a PHY.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// High throughput, 802.11n.
    Ht,
    /// Very high throughput, 802.11ac.
    Vht,
    /// High efficiency, 802.11ax.
    He,
    /// Extremely high throughput, 802.11be.
    Eht,
}

/// The guard interval of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Guard {
    /// 0.4 µs, HT and VHT.
    Short,
    /// 0.8 µs.
    Normal,
    /// 1.6 µs, HE and EHT.
    Double,
    /// 3.2 µs, HE and EHT.
    Quadruple,
}

/// The form of the data field of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mode {
    /// The generation.
    pub family: Family,
    /// Modulation and coding of each stream, from 0; for HT without the eight that each further stream adds.
    pub mcs: u8,
    /// Width of the channel, MHz: 20, 40, 80, 160 or 320.
    pub width: u16,
    /// The guard interval.
    pub guard: Guard,
    /// Spatial streams, 1 to 4.
    pub streams: u8,
    /// The part of the channel, with HE and EHT.
    pub ru: Ru,
}

/// How a station sends data: the rate, or the mode whose reference rate it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataRate {
    /// The rate.
    pub rate: PhyRate,
    /// The mode, with EDCA.
    pub mode: Option<Mode>,
}

impl DataRate {
    /// Bits per second.
    #[must_use]
    pub fn bps(&self) -> u64 {
        self.mode.map_or_else(|| self.rate.rate(), Mode::rate).0
    }
}

impl From<Mode> for DataRate {
    fn from(mode: Mode) -> DataRate {
        DataRate { rate: mode.reference(), mode: Some(mode) }
    }
}

/// The longest PPDU: what the length in the legacy header can express (`aPPDUMaxTime`).
pub const LONGEST_PPDU: Span = Span::from_micros(5_484);
/// Bits before a frame in the data field: SERVICE.
const SERVICE_BITS: u64 = 16;
/// Bits after it that return the convolutional code to zero.
const TAIL_BITS: u64 = 6;
/// Legacy training, SIGNAL, and what the PPDU repeats of it.
const LEGACY_PREAMBLE: Span = Span::from_micros(20);
/// The symbol of HT and VHT, and of HE and EHT, without its guard interval.
const SYMBOLS: [Span; 2] = [Span(3_200), Span(12_800)];
/// A PPDU of HT or VHT with short guard intervals ends on a multiple of this (19.4.3, 21.4.3).
const BOUNDARY: Span = Span::from_micros(4);

/// Coded bits of a subcarrier, and the data bits in as many coded ones, by MCS.
const MODULATIONS: [(u8, (u8, u8)); 14] = [
    (1, (1, 2)),
    (2, (1, 2)),
    (2, (3, 4)),
    (4, (1, 2)),
    (4, (3, 4)),
    (6, (2, 3)),
    (6, (3, 4)),
    (6, (5, 6)),
    (8, (3, 4)),
    (8, (5, 6)),
    (10, (3, 4)),
    (10, (5, 6)),
    (12, (3, 4)),
    (12, (5, 6)),
];

/// The widths of channels, MHz.
pub const WIDTHS: [u16; 5] = [20, 40, 80, 160, 320];

/// The VHT modes that the standard leaves out: MCS, width, streams (21.5).
const MISSING: [(u8, u16, u8); 5] = [(9, 20, 1), (9, 20, 2), (9, 20, 4), (6, 80, 3), (9, 160, 3)];

impl Family {
    /// The highest MCS of one stream.
    #[must_use]
    pub const fn highest_mcs(self) -> u8 {
        match self {
            Family::Ht => 7,
            Family::Vht => 9,
            Family::He => 11,
            Family::Eht => 13,
        }
    }

    /// The widest channel, MHz.
    #[must_use]
    pub const fn widest(self) -> u16 {
        match self {
            Family::Ht => 40,
            Family::Vht | Family::He => 160,
            Family::Eht => 320,
        }
    }

    /// Whether it has a guard interval.
    #[must_use]
    pub const fn has_guard(self, guard: Guard) -> bool {
        match guard {
            Guard::Normal => true,
            Guard::Short => !self.has_rus(),
            Guard::Double | Guard::Quadruple => self.has_rus(),
        }
    }

    /// Whether a part of the channel can be a station's own.
    #[must_use]
    pub const fn has_rus(self) -> bool {
        matches!(self, Family::He | Family::Eht)
    }
}

impl Guard {
    /// All of them, short before long.
    pub const ALL: [Guard; 4] = [Guard::Short, Guard::Normal, Guard::Double, Guard::Quadruple];

    /// Its length.
    #[must_use]
    pub const fn length(self) -> Span {
        Span(match self {
            Guard::Short => 400,
            Guard::Normal => 800,
            Guard::Double => 1_600,
            Guard::Quadruple => 3_200,
        })
    }
}

impl Mode {
    /// Whether the standard has it.
    #[must_use]
    pub fn exists(self) -> bool {
        let Mode { family, mcs, width, guard, streams, .. } = self;
        let missing = family == Family::Vht && MISSING.contains(&(mcs, width, streams));
        mcs <= family.highest_mcs()
            && WIDTHS.contains(&width)
            && width <= family.widest()
            && family.has_guard(guard)
            && (1..=4).contains(&streams)
            && !missing
    }

    /// Coded bits of a subcarrier.
    #[must_use]
    pub const fn bits(self) -> u8 {
        MODULATIONS[self.mcs as usize].0
    }

    /// Data bits and coded bits of the code: (3, 4) is rate 3/4.
    #[must_use]
    pub const fn code(self) -> (u8, u8) {
        MODULATIONS[self.mcs as usize].1
    }

    /// Data subcarriers.
    #[must_use]
    pub const fn subcarriers(self) -> u32 {
        if !matches!(self.ru, Ru::Whole) {
            return self.ru.subcarriers();
        }
        match (self.family, self.width) {
            (Family::He | Family::Eht, 20) => 234,
            (Family::He | Family::Eht, 40) => 468,
            (Family::He | Family::Eht, 80) => 980,
            (Family::He | Family::Eht, 160) => 1_960,
            (Family::He | Family::Eht, _) => 3_920,
            (_, 20) => 52,
            (_, 40) => 108,
            (_, 80) => 234,
            (_, _) => 468,
        }
    }

    /// Data bits of a symbol (`NDBPS`).
    #[must_use]
    pub const fn bits_per_symbol(self) -> u32 {
        let (data, coded) = self.code();
        let all = self.subcarriers() * self.bits() as u32 * self.streams as u32;
        all * data as u32 / coded as u32
    }

    /// A symbol with its guard interval.
    #[must_use]
    pub const fn symbol(self) -> Span {
        let plain = SYMBOLS[self.family.has_rus() as usize];
        Span(plain.0 + self.guard.length().0)
    }

    /// Preamble and headers of the PHY.
    ///
    /// HE and EHT have 2x training fields with guard intervals of 0.8 and 1.6 µs, and 4x with 3.2 µs.
    #[must_use]
    pub const fn preamble(self) -> Span {
        let training = self.long_training().0;
        let after = match self.family {
            // HT-SIG, HT-STF, HT-LTFs.
            Family::Ht => 8_000 + 4_000 + training,
            // VHT-SIG-A, VHT-STF, VHT-LTFs, VHT-SIG-B.
            Family::Vht => 8_000 + 4_000 + training + 4_000,
            // RL-SIG, HE-SIG-A, HE-STF, HE-LTFs.
            Family::He => 4_000 + 8_000 + 4_000 + training,
            // RL-SIG, U-SIG, EHT-SIG, EHT-STF, EHT-LTFs.
            Family::Eht => 4_000 + 8_000 + self.eht_sig().0 + 4_000 + training,
        };
        Span(LEGACY_PREAMBLE.0 + after)
    }

    /// The long training fields.
    pub(super) const fn long_training(self) -> Span {
        let fields = match self.streams {
            1 => 1,
            2 => 2,
            _ => 4,
        };
        let each = match (self.family, self.guard) {
            (Family::Ht | Family::Vht, _) => 4_000,
            (Family::He | Family::Eht, Guard::Quadruple) => 12_800 + self.guard.length().0,
            (Family::He | Family::Eht, _) => 6_400 + self.guard.length().0,
        };
        Span(fields * each)
    }

    /// The rate of its data field.
    #[must_use]
    pub const fn rate(self) -> Rate {
        Rate(self.bits_per_symbol() as u64 * 1_000_000_000 / self.symbol().0)
    }

    /// The non-HT reference rate: the modulation and code of its MCS on one stream (10.6.11 of 802.11-2020). It selects
    /// the rate of the response.
    #[must_use]
    pub const fn reference(self) -> PhyRate {
        match self.mcs {
            0 => PhyRate::Ofdm6,
            1 => PhyRate::Ofdm12,
            2 => PhyRate::Ofdm18,
            3 => PhyRate::Ofdm24,
            4 => PhyRate::Ofdm36,
            5 => PhyRate::Ofdm48,
            _ => PhyRate::Ofdm54,
        }
    }

    /// The data field of so many symbols.
    const fn data_field(self, symbols: u64) -> Span {
        let plain = self.symbol().0 * symbols;
        match self.guard {
            Guard::Short => Span(plain.next_multiple_of(BOUNDARY.0)),
            _ => Span(plain),
        }
    }

    /// The airtime of a PPDU with these bytes, of which `payload` are of packets.
    #[must_use]
    pub const fn airtime(self, bytes: u32, payload: u32) -> Airtime {
        self.airtime_after(self.preamble(), bytes, payload)
    }

    /// The same with another preamble.
    #[must_use]
    pub const fn airtime_after(self, preamble: Span, bytes: u32, payload: u32) -> Airtime {
        let bits = SERVICE_BITS + 8 * bytes as u64 + TAIL_BITS;
        let data = self.data_field(bits.div_ceil(self.bits_per_symbol() as u64));
        let payload = 8 * payload as u64 * self.symbol().0 / self.bits_per_symbol() as u64;
        Airtime { total: Span(preamble.0 + data.0), preamble, payload: Span(payload) }
    }

    /// The most bytes of a PPDU that lasts at most `time`.
    #[must_use]
    pub const fn capacity(self, time: Span) -> u32 {
        self.capacity_after(self.preamble(), time)
    }

    /// The same with another preamble.
    #[must_use]
    pub const fn capacity_after(self, preamble: Span, time: Span) -> u32 {
        let room = time.0.saturating_sub(preamble.0);
        let room = if matches!(self.guard, Guard::Short) { room - room % BOUNDARY.0 } else { room };
        let bits = room / self.symbol().0 * self.bits_per_symbol() as u64;
        (bits.saturating_sub(SERVICE_BITS + TAIL_BITS) / 8) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn mode(family: Family, mcs: u8, width: u16, guard: Guard, streams: u8) -> Mode {
        Mode { family, mcs, width, guard, streams, ru: Ru::Whole }
    }

    #[test]
    fn rates_are_those_of_the_tables() {
        // 19.5, 21.5 and 27.5: kbit/s.
        for (mode, kbps) in [
            (mode(Family::Ht, 0, 20, Guard::Normal, 1), 6_500),
            (mode(Family::Ht, 7, 20, Guard::Normal, 1), 65_000),
            (mode(Family::Ht, 7, 40, Guard::Short, 1), 150_000),
            (mode(Family::Ht, 7, 40, Guard::Short, 4), 600_000),
            (mode(Family::Vht, 9, 80, Guard::Short, 1), 433_333),
            (mode(Family::Vht, 9, 160, Guard::Short, 2), 1_733_333),
            (mode(Family::He, 0, 20, Guard::Normal, 1), 8_602),
            (mode(Family::He, 11, 80, Guard::Normal, 1), 600_441),
            (mode(Family::He, 11, 160, Guard::Quadruple, 1), 1_020_812),
            // 36.5 of 802.11be.
            (mode(Family::Eht, 13, 20, Guard::Normal, 1), 172_058),
            (mode(Family::Eht, 12, 80, Guard::Normal, 1), 648_529),
            (mode(Family::Eht, 13, 160, Guard::Double, 2), 2_722_222),
            (mode(Family::Eht, 13, 320, Guard::Normal, 1), 2_882_352),
        ] {
            assert_eq!(mode.rate().0 / 1_000, kbps, "{mode:?}");
        }
    }

    #[test]
    fn preambles_grow_by_training_fields() {
        let micros = |mode: Mode| mode.preamble().as_secs() * 1e6;
        for (family, expected) in [(Family::Ht, [36, 40, 48, 48]), (Family::Vht, [40, 44, 52, 52])] {
            for (streams, expected) in (1..).zip(expected) {
                assert_eq!(micros(mode(family, 0, 20, Guard::Normal, streams)), f64::from(expected));
            }
        }
        let he = |guard, streams| mode(Family::He, 0, 20, guard, streams).preamble();
        assert_eq!(he(Guard::Normal, 1), Span(43_200));
        assert_eq!(he(Guard::Double, 1), Span(44_000));
        assert_eq!(he(Guard::Quadruple, 1), Span(52_000));
        assert_eq!(he(Guard::Normal, 4), Span(36_000 + 4 * 7_200));
        let eht = |mcs, streams| mode(Family::Eht, mcs, 320, Guard::Normal, streams).preamble();
        // EHT-SIG for one station has 52 bits: two symbols at MCS 0, one at MCS 1 and above.
        assert_eq!(eht(0, 1), Span(43_200 + 8_000));
        assert_eq!(eht(1, 1), Span(43_200 + 4_000));
        assert_eq!(eht(13, 4), Span(36_000 + 4_000 + 4 * 7_200));
    }

    #[test]
    fn a_ppdu_with_short_guard_intervals_ends_on_a_boundary_of_4_us() {
        let vht = mode(Family::Vht, 9, 80, Guard::Short, 1);
        // 12 358 bits are 8 symbols of 1 560 bits, 28.8 µs.
        assert_eq!(vht.airtime(1_542, 0).total, Span(40_000 + 32_000));
        let long = Mode { guard: Guard::Normal, ..vht };
        assert_eq!(long.airtime(1_542, 0).total, Span(40_000 + 32_000));
        let he = mode(Family::He, 11, 80, Guard::Normal, 1);
        assert_eq!(he.airtime(1_542, 0).total, Span(43_200 + 2 * 13_600));
    }

    #[test]
    fn the_capacity_of_a_time_fits_in_it_and_a_byte_more_does_not() {
        for family in [Family::Ht, Family::Vht, Family::He, Family::Eht] {
            for guard in Guard::ALL {
                for (mcs, streams) in [(0, 1), (4, 2), (7, 3)] {
                    let mode = mode(family, mcs, 40, guard, streams);
                    if !mode.exists() {
                        continue;
                    }
                    for micros in [200, 1_504, 2_528, 5_484] {
                        let time = Span::from_micros(micros);
                        let bytes = mode.capacity(time);
                        assert!(mode.airtime(bytes, 0).total <= time, "{mode:?} {micros}");
                        assert!(mode.airtime(bytes + 1, 0).total > time, "{mode:?} {micros}");
                    }
                }
            }
        }
    }

    #[test]
    fn modes_that_the_standard_lacks_are_known() {
        assert!(!mode(Family::Vht, 9, 20, Guard::Normal, 1).exists());
        assert!(mode(Family::Vht, 9, 20, Guard::Normal, 3).exists());
        assert!(!mode(Family::Ht, 7, 80, Guard::Normal, 1).exists());
        assert!(!mode(Family::He, 7, 80, Guard::Short, 1).exists());
        assert!(!mode(Family::Ht, 8, 20, Guard::Normal, 1).exists());
        assert!(!mode(Family::He, 12, 80, Guard::Normal, 1).exists());
        assert!(!mode(Family::He, 11, 320, Guard::Normal, 1).exists());
        assert!(!mode(Family::Eht, 13, 240, Guard::Normal, 1).exists());
        assert!(mode(Family::Eht, 13, 320, Guard::Quadruple, 4).exists());
    }
}
