//! Resource units (RUs), and the PPDUs of HE and EHT that several stations share: durations of MU and TB PPDUs.
//!
//! **Limits.** All RUs of a PPDU are equal, so that the 26-tone RUs between larger ones stay empty. One station in each
//! RU (no MU-MIMO). No preamble puncturing, no HE-SIG-B compression, no packet extension. No multiple RUs of EHT.
//!
//! **Source.** IEEE 802.11ax-2021, 27.3.2.2 (RUs and their number), 27.5 (data subcarriers), 27.3.11.8 (HE-SIG-B), 27.3.11.9
//! (the HE-STF of HE TB has 8 µs); 802.11be-2024, 36.3.2.2 (RUs of EHT), 36.3.12.8 (EHT-SIG).
//!
//! **Choice.** HE-SIG-B and EHT-SIG go at the lowest MCS of the stations that they are for, and at most at their highest, MCS 5 and
//! MCS 3.

use super::mode::{Family, Guard, Mode};
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
    /// 2 x 996 tones, the whole of 160 MHz.
    Tones1992,
    /// The whole channel.
    #[default]
    Whole,
}

/// The highest MCS of HE-SIG-B, and its data bits in a symbol by MCS: 52 subcarriers.
const SIG_B_BITS: [u32; 6] = [26, 52, 78, 104, 156, 208];
/// The same of EHT-SIG, which has MCS 0, 1 and 3, with its parts: what stands for the spatial reuse and the training fields, an
/// allocation, a user field, and the number of users of a PPDU to one.
const EHT_SIG_BITS: [u32; 4] = [26, 52, 52, 104];
const EHT_OVERFLOW: u32 = 17;
const EHT_ALLOCATION: u32 = 9;
const EHT_USER_FIELD: u32 = 22;
const EHT_USERS: u32 = 3;
/// A symbol of HE-SIG-B and of EHT-SIG.
const SIG_SYMBOL: Span = Span::from_micros(4);
/// Check sequence and tail of a block of HE-SIG-B, and of EHT-SIG.
const BLOCK_END: u32 = 4 + 6;
/// A user field of HE-SIG-B; a block has two of them.
const USER_FIELD: u32 = 21;
/// L-STF, L-LTF and L-SIG; RL-SIG; HE-SIG-A or U-SIG.
const COMMON_PREAMBLE: Span = Span::from_micros(20 + 4 + 8);
/// HE-STF or EHT-STF of a PPDU that an access point sends, and of a TB PPDU.
const SHORT_TRAINING: [Span; 2] = [Span::from_micros(4), Span::from_micros(8)];

impl Ru {
    /// Those of a part of a channel, small before large.
    pub const PARTS: [Ru; 7] =
        [Ru::Tones26, Ru::Tones52, Ru::Tones106, Ru::Tones242, Ru::Tones484, Ru::Tones996, Ru::Tones1992];

    /// Tones; of a whole channel 0.
    #[must_use]
    pub const fn tones(self) -> u32 {
        [26, 52, 106, 242, 484, 996, 1992, 0][self as usize]
    }

    /// The RU with this number of tones.
    #[must_use]
    pub fn of_tones(tones: u32) -> Option<Ru> {
        Ru::PARTS.into_iter().find(|ru| ru.tones() == tones)
    }

    /// Data subcarriers; of a whole channel 0.
    #[must_use]
    pub const fn subcarriers(self) -> u32 {
        [24, 48, 102, 234, 468, 980, 1960, 0][self as usize]
    }

    /// The number of these RUs in a channel of this width in MHz. Of 80 MHz with 26 tones each, EHT leaves out the one in
    /// the middle.
    #[must_use]
    pub const fn count(self, family: Family, width: u16) -> u32 {
        let by_width: [u32; 5] = match self {
            Ru::Tones26 if matches!(family, Family::Eht) => [9, 18, 36, 72, 144],
            Ru::Tones26 => [9, 18, 37, 74, 0],
            Ru::Tones52 => [4, 8, 16, 32, 64],
            Ru::Tones106 => [2, 4, 8, 16, 32],
            Ru::Tones242 => [1, 2, 4, 8, 16],
            Ru::Tones484 => [0, 1, 2, 4, 8],
            Ru::Tones996 => [0, 0, 1, 2, 4],
            Ru::Tones1992 => [0, 0, 0, 1, 2],
            Ru::Whole => [1; 5],
        };
        by_width[match width {
            20 => 0,
            40 => 1,
            80 => 2,
            160 => 3,
            _ => 4,
        }]
    }
}

impl Mode {
    /// The same in a part of the channel.
    #[must_use]
    pub const fn within(self, ru: Ru) -> Mode {
        Mode { ru, ..self }
    }

    /// The number of RUs as large as this one's in its channel.
    #[must_use]
    pub const fn rus(self) -> u32 {
        self.ru.count(self.family, self.width)
    }

    /// User fields in the longer of the content channels of HE-SIG-B or EHT-SIG: each has those of every other 20 MHz, and an
    /// RU above 20 MHz is in the first one.
    const fn user_fields(self) -> u32 {
        let all = self.rus();
        match self.ru {
            Ru::Tones484 | Ru::Tones996 | Ru::Tones1992 => all,
            _ if self.width == 20 => all,
            _ => all.div_ceil(2),
        }
    }

    /// HE-SIG-B or EHT-SIG for equal RUs as large as this one's, at an MCS or the highest that it has.
    #[must_use]
    pub const fn sig_to_several(self, mcs: u8) -> Span {
        // Bits for each 20 MHz of the content channel. EHT has a block for the first 80 MHz and one for the rest, HE one more
        // bit for the RU in the middle of 80 MHz.
        let allocations = if self.width > 40 { self.width as u32 / 40 } else { 1 };
        let (common, user, per_symbol) = if matches!(self.family, Family::Eht) {
            let ends = if self.width > 80 { 2 * BLOCK_END } else { BLOCK_END };
            let bits = EHT_OVERFLOW + EHT_ALLOCATION * allocations + ends;
            (bits, EHT_USER_FIELD, EHT_SIG_BITS[if mcs > 3 { 3 } else { mcs as usize }])
        } else {
            let middle = (self.width > 40) as u32;
            let bits = 8 * allocations + middle + BLOCK_END;
            (bits, USER_FIELD, SIG_B_BITS[if mcs > 5 { 5 } else { mcs as usize }])
        };
        let users = self.user_fields();
        let pairs = users / 2 * (2 * user + BLOCK_END) + users % 2 * (user + BLOCK_END);
        Span(SIG_SYMBOL.0 * (common + pairs).div_ceil(per_symbol) as u64)
    }

    /// EHT-SIG of a PPDU to one station: one block.
    #[must_use]
    pub const fn eht_sig(self) -> Span {
        let bits = EHT_OVERFLOW + EHT_USERS + EHT_USER_FIELD + BLOCK_END;
        let per_symbol = EHT_SIG_BITS[if self.mcs > 3 { 3 } else { self.mcs as usize }];
        Span(SIG_SYMBOL.0 * bits.div_ceil(per_symbol) as u64)
    }

    /// Preamble of an MU PPDU with equal RUs as large as this one's, HE-SIG-B or EHT-SIG at `mcs`.
    #[must_use]
    pub const fn preamble_to_several(self, mcs: u8) -> Span {
        let training = SHORT_TRAINING[0].0 + self.long_training().0;
        Span(COMMON_PREAMBLE.0 + self.sig_to_several(mcs).0 + training)
    }

    /// Preamble of an HE TB or EHT TB PPDU.
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

    fn mode(mcs: u8, width: u16, ru: Ru) -> Mode {
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
        for (width, tones) in [(20, 242), (40, 484), (80, 996), (160, 1992), (320, 3984)] {
            for ru in Ru::PARTS {
                for family in [Family::He, Family::Eht] {
                    assert!(ru.count(family, width) * ru.tones() <= tones, "{ru:?} {width}");
                }
                assert_eq!(Ru::of_tones(ru.tones()), Some(ru));
            }
        }
    }

    #[test]
    fn he_sig_b_has_a_block_for_two_users_and_grows_by_whole_symbols() {
        // 20 MHz: 18 bits in common, nine users in four blocks of 52 bits and one of 31.
        let sig_b = |width, ru, mcs| mode(0, width, ru).sig_to_several(mcs);
        assert_eq!(sig_b(20, Ru::Tones26, 0), SIG_SYMBOL * 10);
        assert_eq!(sig_b(20, Ru::Tones26, 11), SIG_SYMBOL * 2);
        // 80 MHz, 16 RUs: 27 bits in common, and eight users in each content channel.
        assert_eq!(sig_b(80, Ru::Tones52, 3), SIG_SYMBOL * 3);
        assert_eq!(sig_b(80, Ru::Tones484, 0), SIG_SYMBOL * 4);
    }

    #[test]
    fn eht_sig_has_a_second_block_of_allocations_above_80_mhz_and_goes_at_mcs_3_at_most() {
        let sig = |width, ru, mcs| Mode { family: Family::Eht, ..mode(0, width, ru) }.sig_to_several(mcs);
        // 20 MHz: 36 bits in common, nine users in four blocks of 54 bits and one of 32.
        assert_eq!(sig(20, Ru::Tones26, 0), SIG_SYMBOL * 11);
        // 80 MHz: 45 bits in common, two users in a block of 54 bits.
        assert_eq!(sig(80, Ru::Tones484, 13), SIG_SYMBOL);
        assert_eq!(sig(80, Ru::Tones484, 2), SIG_SYMBOL * 2);
        // 320 MHz: 109 bits in common, two users; of 26 tones 72 users in 36 blocks.
        assert_eq!(sig(320, Ru::Tones1992, 3), SIG_SYMBOL * 2);
        assert_eq!(sig(320, Ru::Tones26, 3), SIG_SYMBOL * 20);
    }

    #[test]
    fn the_preambles_of_shared_ppdus_are_longer_than_that_of_one_station() {
        let mode = mode(11, 80, Ru::Tones242);
        assert_eq!(mode.preamble_to_several(11), Span(43_200 + 4_000));
        assert_eq!(mode.triggered().triggered_preamble(), Span(32_000 + 8_000 + 8_000));
        assert_eq!(mode.triggered().mcs, 5);
    }
}
