//! Resource units (RUs), and the PPDUs of HE that several stations share: durations of HE MU and HE TB.
//!
//! **Limits.** All RUs of a PPDU are equal, so that the 26-tone RUs between larger ones stay empty. One station in each
//! RU (no MU-MIMO). No preamble puncturing, no HE-SIG-B compression, no packet extension.
//!
//! **Source.** IEEE 802.11ax-2021, 27.3.2.2 (RUs and their number), 27.5 (data subcarriers), 27.3.11.8 (HE-SIG-B), 27.3.11.9
//! (the HE-STF of HE TB has 8 µs).
//!
//! **Choice.** HE-SIG-B goes at the lowest MCS of the stations that it is for, and at most at its highest, MCS 5.

use super::mode::{Guard, Mode};
use crate::units::Span;

/// The part of a channel that a data field occupies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ru {
    /// 26 tones.
    Tones26,
    /// 52 tones.
    Tones52,
    /// 106 tones.
    Tones106,
    /// 242 tones, the whole of 20 MHz.
    Tones242,
    /// 484 tones, the whole of 40 MHz.
    Tones484,
    /// 996 tones, the whole of 80 MHz.
    Tones996,
    /// The whole channel.
    #[default]
    Whole,
}

/// The highest MCS of HE-SIG-B, and its data bits in a symbol by MCS: 52 subcarriers.
const SIG_B_BITS: [u32; 6] = [26, 52, 78, 104, 156, 208];
/// A symbol of HE-SIG-B.
const SIG_B_SYMBOL: Span = Span::from_micros(4);
/// Check sequence and tail of a block of HE-SIG-B.
const BLOCK_END: u32 = 4 + 6;
/// A user field of HE-SIG-B; a block has two of them.
const USER_FIELD: u32 = 21;
/// L-STF, L-LTF and L-SIG; RL-SIG; HE-SIG-A.
const COMMON_PREAMBLE: Span = Span::from_micros(20 + 4 + 8);
/// HE-STF of a PPDU that an access point sends, and of an HE TB PPDU.
const SHORT_TRAINING: [Span; 2] = [Span::from_micros(4), Span::from_micros(8)];

impl Ru {
    /// Those of a part of a channel, small before large.
    pub const PARTS: [Ru; 6] =
        [Ru::Tones26, Ru::Tones52, Ru::Tones106, Ru::Tones242, Ru::Tones484, Ru::Tones996];

    /// Tones; of a whole channel 0.
    #[must_use]
    pub const fn tones(self) -> u32 {
        [26, 52, 106, 242, 484, 996, 0][self as usize]
    }

    /// The RU with this number of tones.
    #[must_use]
    pub fn of_tones(tones: u32) -> Option<Ru> {
        Ru::PARTS.into_iter().find(|ru| ru.tones() == tones)
    }

    /// Data subcarriers; of a whole channel 0.
    #[must_use]
    pub const fn subcarriers(self) -> u32 {
        [24, 48, 102, 234, 468, 980, 0][self as usize]
    }

    /// The number of these RUs in a channel of this width in MHz.
    #[must_use]
    pub const fn count(self, width: u8) -> u32 {
        let by_width: [u32; 4] = match self {
            Ru::Tones26 => [9, 18, 37, 74],
            Ru::Tones52 => [4, 8, 16, 32],
            Ru::Tones106 => [2, 4, 8, 16],
            Ru::Tones242 => [1, 2, 4, 8],
            Ru::Tones484 => [0, 1, 2, 4],
            Ru::Tones996 => [0, 0, 1, 2],
            Ru::Whole => [1; 4],
        };
        by_width[match width {
            20 => 0,
            40 => 1,
            80 => 2,
            _ => 3,
        }]
    }

    /// User fields in the longer of the content channels of HE-SIG-B: each has those of every other 20 MHz, and an RU above
    /// 20 MHz is in the first one.
    const fn user_fields(self, width: u8) -> u32 {
        let all = self.count(width);
        match self {
            Ru::Tones484 | Ru::Tones996 => all,
            _ if width == 20 => all,
            _ => all.div_ceil(2),
        }
    }
}

/// HE-SIG-B for equal RUs of a channel, at this MCS or its highest.
#[must_use]
pub const fn sig_b(width: u8, ru: Ru, mcs: u8) -> Span {
    // An allocation of 8 bits for each 20 MHz of the content channel; one more bit for the RU in the middle of 80 MHz.
    let common = match width {
        20 | 40 => 8,
        80 => 17,
        _ => 33,
    };
    let users = ru.user_fields(width);
    let pairs = users / 2 * (2 * USER_FIELD + BLOCK_END) + users % 2 * (USER_FIELD + BLOCK_END);
    let bits = common + BLOCK_END + pairs;
    let per_symbol = SIG_B_BITS[if mcs > 5 { 5 } else { mcs as usize }];
    Span(SIG_B_SYMBOL.0 * bits.div_ceil(per_symbol) as u64)
}

impl Mode {
    /// The same in a part of the channel.
    #[must_use]
    pub const fn within(self, ru: Ru) -> Mode {
        Mode { ru, ..self }
    }

    /// Preamble of an HE MU PPDU with equal RUs as large as this one's, HE-SIG-B at `mcs`.
    #[must_use]
    pub const fn preamble_to_several(self, mcs: u8) -> Span {
        let training = SHORT_TRAINING[0].0 + self.long_training().0;
        Span(COMMON_PREAMBLE.0 + sig_b(self.width, self.ru, mcs).0 + training)
    }

    /// Preamble of an HE TB PPDU.
    #[must_use]
    pub const fn triggered_preamble(self) -> Span {
        Span(COMMON_PREAMBLE.0 + SHORT_TRAINING[1].0 + self.long_training().0)
    }

    /// The mode of a BlockAck that a trigger requests in answer to data in this mode: the same RU, at most MCS 5, and a guard
    /// interval that HE TB has.
    #[must_use]
    pub const fn triggered(self) -> Mode {
        let mcs = if self.mcs > 5 { 5 } else { self.mcs };
        Mode { mcs, ..self.soliciting() }
    }

    /// The mode of what a trigger solicits from a station whose own mode is this one: a guard interval that HE TB has.
    #[must_use]
    pub const fn soliciting(self) -> Mode {
        let guard = if matches!(self.guard, Guard::Quadruple) { Guard::Quadruple } else { Guard::Double };
        Mode { guard, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::super::mode::Family;
    use super::*;

    fn mode(mcs: u8, width: u8, ru: Ru) -> Mode {
        Mode { family: Family::He, mcs, width, guard: Guard::Normal, streams: 1, ru }
    }

    #[test]
    fn rates_in_an_ru_are_those_of_the_tables() {
        // 27.5, guard interval 0.8 µs, one stream: kbit/s.
        for (ru, mcs, kbps) in [
            (Ru::Tones26, 0, 882),
            (Ru::Tones26, 11, 14_705),
            (Ru::Tones52, 7, 17_647),
            (Ru::Tones106, 9, 50_000),
            (Ru::Tones242, 11, 143_382),
            (Ru::Tones484, 4, 103_235),
            (Ru::Tones996, 11, 600_441),
        ] {
            assert_eq!(mode(mcs, 80, ru).rate().0 / 1_000, kbps, "{ru:?} {mcs}");
        }
    }

    #[test]
    fn equal_rus_do_not_exceed_the_tones_of_the_channel() {
        for (width, tones) in [(20, 242), (40, 484), (80, 996), (160, 1992)] {
            for ru in Ru::PARTS {
                assert!(ru.count(width) * ru.tones() <= tones, "{ru:?} {width}");
                assert_eq!(Ru::of_tones(ru.tones()), Some(ru));
            }
        }
    }

    #[test]
    fn he_sig_b_has_a_block_for_two_users_and_grows_by_whole_symbols() {
        // 20 MHz: 18 bits in common, nine users in four blocks of 52 bits and one of 31.
        assert_eq!(sig_b(20, Ru::Tones26, 0), SIG_B_SYMBOL * 10);
        assert_eq!(sig_b(20, Ru::Tones26, 11), SIG_B_SYMBOL * 2);
        // 80 MHz, 16 RUs: 27 bits in common, and eight users in each content channel.
        assert_eq!(sig_b(80, Ru::Tones52, 3), SIG_B_SYMBOL * 3);
        assert_eq!(sig_b(80, Ru::Tones484, 0), SIG_B_SYMBOL * 4);
    }

    #[test]
    fn the_preambles_of_shared_ppdus_are_longer_than_that_of_one_station() {
        let mode = mode(11, 80, Ru::Tones242);
        assert_eq!(mode.preamble_to_several(11), Span(43_200 + 4_000));
        assert_eq!(mode.triggered().triggered_preamble(), Span(32_000 + 8_000 + 8_000));
        assert_eq!(mode.triggered().mcs, 5);
    }
}
