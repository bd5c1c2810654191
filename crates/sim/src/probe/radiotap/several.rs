//! What a capture shows of control frames to several stations: triggers, and BlockAcks.
//!
//! **Source.** IEEE 802.11ax-2021, 9.3.1.8.7 (the BlockAck to several stations), 9.3.1.22 (triggers; table 9-29i has the
//! numbers of RUs); 802.11be-2024, 9.3.1.22 (triggers of EHT, with Special User Info).

use lasthop_stack::link::dot11::{Airtime, Answering, Confirmed, Family, Frame, Load, Mode, Ru, Share};
use lasthop_stack::packet::NodeId;

use super::form::{association, width};
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
