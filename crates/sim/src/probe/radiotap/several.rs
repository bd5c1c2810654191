//! What a capture shows of frames to and from several stations: MU and TB PPDUs, and triggers.
//!
//! **Source.** radiotap.org: HE, HE-MU. IEEE 802.11ax-2021, 9.3.1.8.7 (the BlockAck to several stations), 9.3.1.22 (triggers; table 9-29i has the numbers of RUs), 27.3.11.8
//! (RU allocation of HE-SIG-B); 802.11be-2024, 9.3.1.22 (triggers of EHT, with Special User Info).

use lasthop_stack::link::dot11::{Airtime, Answering, Confirmed, Family, Frame, Load, Mode, Ru, Share};
use lasthop_stack::packet::NodeId;

use super::modes::{bar_control, bitmap};

/// The identifier of Special User Info, 2007.
const SPECIAL_USER: u64 = 0x7D7;
/// Types of triggers.
const BASIC: u64 = 0;
const MU_BAR: u64 = 2;
const MU_RTS: u64 = 3;
const BSRP: u64 = 4;
/// The check sequence of a frame.
const CHECK: usize = 4;
/// What pads a trigger: user information with the identifier 4095, and more of that.
const PADDING: u8 = 0xFF;
/// BA Control of a BlockAck to several stations.
const MULTI_STATION: u16 = 11 << 1;
/// The acknowledgement of all that a station has sent: no bitmap follows, and TID 14.
const ALL_ACK: u16 = 1 << 11 | 14 << 12;

/// The form of an HE or EHT PPDU, and what is known of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// To one station.
    Single,
    /// To several, of which this is one, with its RU; HE-SIG-B at this MCS.
    Several { to: NodeId, place: usize, sig_b_mcs: u8 },
    /// From several at once.
    Together,
}

/// The association identifier of a station.
pub(super) fn association(node: NodeId) -> u16 {
    (node.0 + 1) as u16 & 0x7FF
}

impl Form {
    /// What it adds to the six HE fields of radiotap.
    pub(super) fn fields(self) -> [u16; 6] {
        match self {
            Form::Single => [0; 6],
            // Known: the station, and the place of the RU.
            Form::Several { to, place, .. } => {
                [0x0802, 0x4000 | (place as u16 & 0x3F) << 8, 0, association(to) << 4, 0, 0]
            }
            // It goes up.
            Form::Together => [0x0013, 0, 0x0080, 0, 0, 0],
        }
    }

    /// The HE-MU field of radiotap: HE-SIG-B.
    pub(super) fn several(self, mode: Mode, bytes: &mut Vec<u8>) {
        let Form::Several { sig_b_mcs, .. } = self else { return };
        let mcs = u16::from(sig_b_mcs.min(5));
        // Known: MCS, RUs of both content channels, no compression; bandwidth, and the number of symbols.
        let [first, second] = allocation(mode.ru);
        let both = if mode.width > 20 { 0x0300 } else { 0x0100 };
        let symbols = (mode.sig_to_several(sig_b_mcs).0 / 4_000) as u16 - 1;
        let fields = [mcs | 0x0010 | both | 0xC000, width(mode) | 0x0004 | symbols.min(15) << 4];
        bytes.extend(fields.into_iter().flat_map(u16::to_le_bytes));
        let blocks = usize::from((mode.width / 40).max(1));
        for value in [first, second] {
            bytes.extend((0..4).map(|block| if block < blocks { value } else { 0 }));
        }
    }
}

/// The codes of equal RUs in the 20 MHz of the first content channel and of the second.
fn allocation(ru: Ru) -> [u8; 2] {
    match ru {
        Ru::Tones26 => [0, 0],
        Ru::Tones52 => [112, 112],
        Ru::Tones106 => [96, 96],
        Ru::Tones242 => [192, 192],
        Ru::Tones484 => [200, 114],
        Ru::Tones996 | Ru::Tones1992 | Ru::Whole => [208, 115],
    }
}

/// The code of a width.
pub(super) fn width(mode: Mode) -> u16 {
    match mode.width {
        20 => 0,
        40 => 1,
        80 => 2,
        160 => 3,
        _ => 4,
    }
}

/// The code of the width, or of an RU, in the HE field.
pub(super) fn width_or_ru(mode: Mode) -> u16 {
    match mode.ru {
        Ru::Whole => width(mode),
        ru => 4 + ru as u16,
    }
}

/// The body of a trigger.
pub(super) fn trigger(frame: &Frame, load: &Load, bytes: &mut Vec<u8>) {
    let Some(first) = load.shares.first() else { return };
    let kind = match first.answering {
        Answering::WithData => BASIC,
        Answering::WithReport => BSRP,
        _ => MU_BAR,
    };
    bytes.extend((kind | common(first.mode, load.together)).to_le_bytes());
    if first.mode.family == Family::Eht {
        bytes.extend(&special(first.mode).to_le_bytes()[..5]);
    }
    for (place, share) in load.shares.iter().enumerate() {
        let mode = if kind == MU_BAR { share.mode.triggered() } else { share.mode };
        bytes.extend(&user(share.to, mode, place).to_le_bytes()[..5]);
        match kind {
            // The preferred category.
            BASIC => bytes.push((frame.category as u8) << 6),
            MU_BAR => {
                bytes.extend(bar_control(frame));
                bytes.extend((share.start << 4).to_le_bytes());
            }
            _ => {}
        }
    }
}

/// The body of an MU-RTS, of which the header begins there: the whole channel for the CTS, which is not sent over a busy medium,
/// and padding.
pub(super) fn mu_rts(frame: &Frame, load: &Load, begin: usize, bytes: &mut Vec<u8>) {
    let Some(Share { to, mode, .. }) = load.shares.first() else { return };
    bytes.extend((MU_RTS | 1 << 17 | u64::from(width(*mode).min(3)) << 18).to_le_bytes());
    if mode.family == Family::Eht {
        bytes.extend(&special(*mode).to_le_bytes()[..5]);
    }
    // 61 is the first of four times 20 MHz, 65 the first of two times 40.
    let channel = [61, 65, 67, 68, 69][usize::from(width(*mode).min(4))];
    let upper = u64::from(mode.width >= 160);
    let user = u64::from(association(*to)) | upper << 12 | channel << 13;
    bytes.extend(&user.to_le_bytes()[..5]);
    let padded = begin + frame.bytes as usize - CHECK;
    bytes.resize(bytes.len().max(padded), PADDING);
}

/// The body of a BlockAck to several stations: of each its identifier, and a bitmap unless all of its MPDUs have arrived.
pub(super) fn block_ack(frame: &Frame, confirmed: &[Confirmed], bytes: &mut Vec<u8>) {
    bytes.extend(MULTI_STATION.to_le_bytes());
    let bitmaps = confirmed.iter().filter(|confirmed| confirmed.block.is_some()).count();
    let others = 16 + 2 + 4 + 2 * confirmed.len() + 2 * bitmaps;
    let words = (frame.bytes as usize - others).checked_div(8 * bitmaps).unwrap_or(0);
    for Confirmed { to, category, block } in confirmed {
        let Some(block) = block else {
            bytes.extend((association(*to) | ALL_ACK).to_le_bytes());
            continue;
        };
        bytes.extend((association(*to) | u16::from(category.tid()) << 12).to_le_bytes());
        bytes.extend((block.start << 4 | bitmap(words)).to_le_bytes());
        bytes.extend(block.bits[..words].iter().flat_map(|word| word.to_le_bytes()));
    }
}

/// The common field: the length of the answer, bandwidth, guard interval and training fields.
fn common(mode: Mode, answer: Airtime) -> u64 {
    let micros = answer.total.0.div_ceil(1_000).saturating_sub(20);
    let length = (micros.div_ceil(4) * 3).saturating_sub(3 + 2);
    let guard = if mode.triggered().guard.length().0 > 1_600 { 2 } else { 1 };
    length << 4 | u64::from(width(mode).min(3)) << 18 | guard << 20
}

/// Special User Info of EHT: its identifier, and the extension of the bandwidth, which 320 MHz have.
fn special(mode: Mode) -> u64 {
    let extension = if mode.width == 320 { 2 } else { 0 };
    SPECIAL_USER | extension << 15
}

/// What the trigger has for a station: its identifier, its RU, the mode of its answer.
fn user(to: NodeId, mode: Mode, place: usize) -> u64 {
    // The RUs of each 80 MHz have the same numbers.
    let each = u64::from(Mode { width: mode.width.min(80), ..mode }.rus().max(1));
    let (block, mut place) = (place as u64 / each, place as u64 % each);
    // EHT leaves out the RU of 26 tones in the middle of 80 MHz.
    place +=
        u64::from(mode.family == Family::Eht && mode.width >= 80 && mode.ru == Ru::Tones26 && place >= 18);
    let before = [0, 37, 53, 61, 65, 67, 68, 68][mode.ru as usize];
    let streams = u64::from(mode.streams - 1);
    u64::from(association(to))
        | (block & 1) << 12
        | (before + place) << 13
        | u64::from(mode.mcs) << 21
        | streams << 29
        | 127 << 32
        | block >> 1 << 39
}
