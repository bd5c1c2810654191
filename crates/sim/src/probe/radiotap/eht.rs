//! What a capture shows of EHT: the fields U-SIG and EHT of radiotap, which have a type and a length each.
//!
//! **Source.** radiotap.org: TLV, U-SIG, EHT. IEEE 802.11be-2024, 36.3.12.7 (U-SIG), 36.3.12.8 (EHT-SIG).

use lasthop_stack::link::dot11::{Guard, Mode, Ru};

use super::form::{Form, association, width};

/// Field present: values with type and length follow the fields.
pub(super) const PRESENT_TLV: u32 = 1 << 28;
/// The types.
const U_SIG: u16 = 33;
const EHT: u16 = 34;
/// U-SIG: PHY version, bandwidth and direction are known; they begin at bits 12, 15 and 18.
const U_SIG_KNOWN: u32 = 0b111;
/// The value of U-SIG: types of PPDUs to several (OFDMA), to one, and from several; MCS and number of symbols of EHT-SIG.
const TYPE: u32 = 6;
const TYPE_MASK: u32 = 0b11 << TYPE;
const SIG_MCS: u32 = 15;
const SIG_SYMBOLS: u32 = 17;
const SIG_MASK: u32 = 0b111_1111 << SIG_MCS;
/// EHT: guard interval and training fields are known; size of the RU, and its place.
const KNOWN: u32 = 1 << 2 | 1 << 4;
const RU_SIZE_KNOWN: u32 = 1 << 22;
const RU_PLACE_KNOWN: u32 = 1 << 23;
/// Words of EHT before those of the users.
const WORDS: usize = 9;
/// Of a user: MCS and streams are known, the data is this user's; and the station is known.
const USER_KNOWN: u32 = 1 << 1 | 1 << 4 | 1 << 7;
const STATION_KNOWN: u32 = 1;

/// Both fields; what precedes them ends at a multiple of four bytes.
pub(super) fn fields(mode: Mode, form: Form, bytes: &mut Vec<u8>) {
    let [common, value, mask] = u_sig(mode, form);
    put(U_SIG, &[common, value, mask], bytes);
    let mut words = [0; 1 + WORDS + 1];
    words[0] = KNOWN;
    let (guard, training) = match mode.guard {
        Guard::Quadruple => (2, 2),
        Guard::Double => (1, 1),
        Guard::Short | Guard::Normal => (0, 1),
    };
    words[1] = guard << 7 | training << 9;
    let known = USER_KNOWN;
    let user = u32::from(mode.mcs) << 20 | u32::from(mode.streams - 1) << 24 | known;
    words[1 + WORDS] = user;
    if mode.ru != Ru::Whole {
        words[0] |= RU_SIZE_KNOWN;
        words[2] = mode.ru as u32;
    }
    if let Form::Several { to, place, .. } = form {
        words[0] |= RU_PLACE_KNOWN;
        words[2] |= (place as u32 & 0xFF) << 5;
        words[1 + WORDS] |= STATION_KNOWN | u32::from(association(to)) << 8;
    }
    put(EHT, &words, bytes);
}

fn u_sig(mode: Mode, form: Form) -> [u32; 3] {
    let is_up = matches!(form, Form::Together);
    let common = U_SIG_KNOWN | u32::from(width(mode)) << 15 | u32::from(is_up) << 18;
    let (kind, sig) = match form {
        Form::Single => (1, Some((mode.mcs, mode.eht_sig()))),
        Form::Several { sig_b_mcs, .. } => (0, Some((sig_b_mcs, mode.sig_to_several(sig_b_mcs)))),
        Form::Together => (0, None),
    };
    let Some((mcs, lasts)) = sig else { return [common, kind << TYPE, TYPE_MASK] };
    // The codes of MCS 0, 1 and 3.
    let mcs = [0, 1, 1, 2][usize::from(mcs.min(3))];
    let symbols = (lasts.0 / 4_000) as u32 - 1;
    let value = kind << TYPE | mcs << SIG_MCS | symbols.min(31) << SIG_SYMBOLS;
    [common, value, TYPE_MASK | SIG_MASK]
}

fn put(kind: u16, words: &[u32], bytes: &mut Vec<u8>) {
    bytes.extend(kind.to_le_bytes());
    bytes.extend((4 * words.len() as u16).to_le_bytes());
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}
