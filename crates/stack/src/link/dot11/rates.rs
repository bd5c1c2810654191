//! The rates of 802.11, 802.11b and 802.11a, and the duration of a frame at each of them.
//!
//! DSSS and CCK: preamble and header, then the bits at the rate, rounded up to a whole microsecond, the unit of the
//! header's length field (IEEE 802.11-2012, 17.3.4 `TXTIME`). OFDM: preamble and SIGNAL, then whole symbols of 4 µs
//! that carry 16 SERVICE bits, the frame and 6 tail bits (18.4.3).

use crate::units::{Bytes, Rate, Span};

/// A rate, which implies its modulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PhyRate {
    /// 1 Mbit/s, DBPSK with an 11-chip Barker sequence.
    Dsss1,
    /// 2 Mbit/s, DQPSK with an 11-chip Barker sequence.
    Dsss2,
    /// 5.5 Mbit/s, CCK with 4 bits a symbol.
    Cck5,
    /// 11 Mbit/s, CCK with 8 bits a symbol.
    Cck11,
    /// 6 Mbit/s, BPSK 1/2.
    Ofdm6,
    /// 9 Mbit/s, BPSK 3/4.
    Ofdm9,
    /// 12 Mbit/s, QPSK 1/2.
    Ofdm12,
    /// 18 Mbit/s, QPSK 3/4.
    Ofdm18,
    /// 24 Mbit/s, 16-QAM 1/2.
    Ofdm24,
    /// 36 Mbit/s, 16-QAM 3/4.
    Ofdm36,
    /// 48 Mbit/s, 64-QAM 2/3.
    Ofdm48,
    /// 54 Mbit/s, 64-QAM 3/4.
    Ofdm54,
}

/// How many rates there are.
pub const RATES: usize = 12;

/// Rates in units of 500 kbit/s, as the Supported Rates element and radiotap write them, in the order of [`PhyRate`].
const HALF_MEGABITS: [u8; RATES] = [2, 4, 11, 22, 12, 18, 24, 36, 48, 72, 96, 108];

/// Bits before a frame in the OFDM data field: SERVICE.
const SERVICE_BITS: u64 = 16;
/// Bits after it that return the convolutional code to zero.
const TAIL_BITS: u64 = 6;
/// Length of an OFDM symbol with its guard interval.
const SYMBOL: Span = Span::from_micros(4);

impl PhyRate {
    /// All rates, DSSS before OFDM, slow before fast.
    pub const ALL: [PhyRate; RATES] = [
        PhyRate::Dsss1,
        PhyRate::Dsss2,
        PhyRate::Cck5,
        PhyRate::Cck11,
        PhyRate::Ofdm6,
        PhyRate::Ofdm9,
        PhyRate::Ofdm12,
        PhyRate::Ofdm18,
        PhyRate::Ofdm24,
        PhyRate::Ofdm36,
        PhyRate::Ofdm48,
        PhyRate::Ofdm54,
    ];

    /// The rate in units of 500 kbit/s.
    #[must_use]
    pub const fn half_megabits(self) -> u8 {
        HALF_MEGABITS[self as usize]
    }

    /// The rate in bits per second.
    #[must_use]
    pub const fn rate(self) -> Rate {
        Rate(self.half_megabits() as u64 * 500_000)
    }

    /// The rate of this many bits per second, if the standard has it.
    #[must_use]
    pub fn from_rate(rate: Rate) -> Option<PhyRate> {
        PhyRate::ALL.into_iter().find(|known| known.rate() == rate)
    }

    /// Whether it is one of OFDM's rates.
    #[must_use]
    pub const fn is_ofdm(self) -> bool {
        self as usize >= PhyRate::Ofdm6 as usize
    }

    /// Data bits in a symbol of OFDM (`NDBPS`): what the rate carries in 4 µs.
    const fn bits_per_symbol(self) -> u64 {
        self.half_megabits() as u64 * 2
    }
}

/// A set of rates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSet(u16);

impl RateSet {
    /// The set of these rates.
    #[must_use]
    pub const fn of(rates: &[PhyRate]) -> RateSet {
        let mut bits = 0;
        let mut index = 0;
        while index < rates.len() {
            bits |= 1 << rates[index] as u16;
            index += 1;
        }
        RateSet(bits)
    }

    /// Whether `rate` is in it.
    #[must_use]
    pub const fn has(self, rate: PhyRate) -> bool {
        self.0 & (1 << rate as u16) != 0
    }

    /// The fastest rate of the set that is not above `rate` and of its PHY: the rate of a control response
    /// (IEEE 802.11-2012, 9.7.6.5.2). Without one, the slowest rate of that PHY.
    #[must_use]
    pub fn response_to(self, rate: PhyRate) -> PhyRate {
        let slowest = if rate.is_ofdm() { PhyRate::Ofdm6 } else { PhyRate::Dsss1 };
        let candidates = PhyRate::ALL[slowest as usize..=rate as usize].iter().rev().copied();
        candidates.into_iter().find(|&candidate| self.has(candidate)).unwrap_or(slowest)
    }
}

/// What the PHY adds to the bits of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhyTiming {
    /// Preamble and header of a frame at a rate of OFDM, or at any where there is no other.
    pub preamble: Span,
    /// Preamble and header of a frame at 1 Mbit/s, which has no short form.
    pub preamble_at_1_mbps: Span,
    /// Preamble and header of a frame at the other rates of DSSS: that of all frames, or that of 802.11g.
    pub dsss_preamble: Span,
    /// DSSS airtime is rounded up to a multiple of this.
    pub round_to: Span,
    /// Added to each frame: a constant propagation delay, as some models count it.
    pub propagation: Span,
    /// Added to each OFDM frame: the silence after it of ERP-OFDM.
    pub signal_extension: Span,
}

/// How long a frame occupies the medium.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Airtime {
    /// From its first bit to the last, with what is added for propagation.
    pub total: Span,
    /// The PHY's preamble and header in it.
    pub preamble: Span,
    /// The bits of the packet it carries, without any header below IP.
    pub payload: Span,
}

impl PhyTiming {
    /// The airtime of a frame of `bytes`, header and check sequence included, of which `payload` are the packet's.
    #[must_use]
    pub fn airtime(&self, bytes: u32, payload: u32, rate: PhyRate) -> Airtime {
        let preamble = match rate {
            PhyRate::Dsss1 => self.preamble_at_1_mbps,
            _ if rate.is_ofdm() => self.preamble,
            _ => self.dsss_preamble,
        };
        let body = if rate.is_ofdm() {
            let bits = SERVICE_BITS + TAIL_BITS + 8 * u64::from(bytes);
            SYMBOL * bits.div_ceil(rate.bits_per_symbol()) + self.signal_extension
        } else {
            let exact = Bytes(u64::from(bytes)).time_at(rate.rate());
            Span(exact.0.next_multiple_of(self.round_to.0.max(1)))
        };
        let payload = Bytes(u64::from(payload)).time_at(rate.rate());
        Airtime { total: preamble + body + self.propagation, preamble, payload }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: PhyTiming = PhyTiming {
        preamble: Span::from_micros(192),
        preamble_at_1_mbps: Span::from_micros(192),
        dsss_preamble: Span::from_micros(192),
        round_to: Span::from_micros(1),
        propagation: Span::ZERO,
        signal_extension: Span::ZERO,
    };
    const OFDM: PhyTiming = PhyTiming { preamble: Span::from_micros(20), ..LONG };

    fn micros(phy: PhyTiming, bytes: u32, rate: PhyRate) -> f64 {
        phy.airtime(bytes, 0, rate).total.as_secs() * 1e6
    }

    #[test]
    fn dsss_frames_last_as_long_as_the_standard_says() {
        assert_eq!(micros(LONG, 20, PhyRate::Dsss1), 352.0);
        assert_eq!(micros(LONG, 14, PhyRate::Dsss1), 304.0);
        assert_eq!(micros(LONG, 14, PhyRate::Dsss2), 248.0);
        // 1536 bytes are 1117.09 µs at 11 Mbit/s, 2234.2 µs at 5.5 Mbit/s.
        assert_eq!(micros(LONG, 1536, PhyRate::Cck11), 192.0 + 1118.0);
        assert_eq!(micros(LONG, 1536, PhyRate::Cck5), 192.0 + 2235.0);
    }

    #[test]
    fn a_frame_at_1_mbps_keeps_the_long_preamble() {
        let short = PhyTiming { dsss_preamble: Span::from_micros(96), ..LONG };
        assert_eq!(micros(short, 14, PhyRate::Dsss1), 304.0);
        assert_eq!(micros(short, 14, PhyRate::Dsss2), 152.0);
    }

    #[test]
    fn in_802_11g_each_modulation_has_a_preamble_of_its_own() {
        let erp = PhyTiming { signal_extension: Span::from_micros(6), ..OFDM };
        assert_eq!(micros(erp, 14, PhyRate::Cck11), 192.0 + 11.0);
        assert_eq!(micros(erp, 14, PhyRate::Dsss1), 304.0);
        assert_eq!(micros(erp, 14, PhyRate::Ofdm24), 34.0);
    }

    #[test]
    fn without_rounding_the_airtime_is_exact_in_nanoseconds() {
        let exact = PhyTiming { round_to: Span(1), ..LONG };
        assert_eq!(exact.airtime(1536, 0, PhyRate::Cck11).total, Span(192_000 + 1_117_091));
    }

    #[test]
    fn ofdm_frames_fill_whole_symbols() {
        let at_6 = [(14, 44.0), (20, 52.0), (320, 452.0), (1536, 2072.0)];
        for (bytes, expected) in at_6 {
            assert_eq!(micros(OFDM, bytes, PhyRate::Ofdm6), expected);
        }
        assert_eq!(micros(OFDM, 14, PhyRate::Ofdm24), 28.0);
        // 22 + 8 × 1536 = 12 310 bits are 56.99 symbols of 216 bits.
        assert_eq!(micros(OFDM, 1536, PhyRate::Ofdm54), 20.0 + 57.0 * 4.0);
    }

    #[test]
    fn a_response_uses_the_fastest_basic_rate_that_is_not_faster() {
        let basic =
            RateSet::of(&[PhyRate::Dsss1, PhyRate::Dsss2, PhyRate::Ofdm6, PhyRate::Ofdm12, PhyRate::Ofdm24]);
        assert_eq!(basic.response_to(PhyRate::Cck11), PhyRate::Dsss2);
        assert_eq!(basic.response_to(PhyRate::Dsss1), PhyRate::Dsss1);
        assert_eq!(basic.response_to(PhyRate::Ofdm54), PhyRate::Ofdm24);
        assert_eq!(basic.response_to(PhyRate::Ofdm18), PhyRate::Ofdm12);
        assert_eq!(RateSet::default().response_to(PhyRate::Cck11), PhyRate::Dsss1);
    }

    #[test]
    fn each_rate_is_found_by_its_number() {
        for rate in PhyRate::ALL {
            assert_eq!(PhyRate::from_rate(rate.rate()), Some(rate));
        }
        assert_eq!(PhyRate::from_rate(Rate(3_000_000)), None);
    }
}
