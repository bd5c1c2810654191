//! What a capture shows of 802.11n, ac, ax and be: the form of a PPDU, the A-MPDU of a frame, QoS headers and bitmaps.
//!
//! **Source.** radiotap.org: MCS, A-MPDU status, VHT, HE. IEEE 802.11-2020, 9.2.4.5 (QoS Control), 9.3.1.7 and 9.3.1.8
//! (BlockAckReq, BlockAck); 802.11ax-2021 and 802.11be-2024, 9.3.1.8 (longer bitmaps).

use lasthop_stack::link::dot11::{Airtime, BlockAck, Family, Frame, FrameKind, Guard, Mode, UNKNOWN};
use lasthop_stack::units::Time;

use super::form::{Form, InAggregate, Ppdu, width_or_ru};
use super::{CHANNEL_OFDM, FLAG_FCS, eht};

/// Fields present: TSFT, flags, channel.
const PRESENT: u32 = 1 | 1 << 1 | 1 << 3;
const PRESENT_SIGNAL: u32 = 1 << 5;
const PRESENT_MCS: u32 = 1 << 19;
const PRESENT_AGGREGATE: u32 = 1 << 20;
const PRESENT_VHT: u32 = 1 << 21;
const PRESENT_HE: u32 = 1 << 23;
const PRESENT_HE_MU: u32 = 1 << 24;
/// A-MPDU status: it is known which subframe is the last, and this is it.
const LAST_KNOWN: u16 = 1 << 2;
const IS_LAST: u16 = 1 << 3;
/// Bit of BlockAck and BlockAckReq control: compressed.
const COMPRESSED: u16 = 1 << 2;
/// Bytes of a BlockAck without its bitmap.
const BLOCK_ACK: u32 = 24;

/// The header of an MPDU of a PPDU with such a mode.
pub(super) fn radiotap(
    mode: Mode,
    airtime: Airtime,
    signal_dbm: Option<f64>,
    Ppdu { form: several, place }: Ppdu,
    now: Time,
    bytes: &mut Vec<u8>,
) {
    let begin = bytes.len();
    let form = match mode.family {
        Family::Ht => PRESENT_MCS,
        Family::Vht => PRESENT_VHT,
        Family::He => PRESENT_HE,
        Family::Eht => eht::PRESENT_TLV,
    };
    let signal = if signal_dbm.is_some() { PRESENT_SIGNAL } else { 0 };
    let status = if place.is_some() { PRESENT_AGGREGATE } else { 0 };
    bytes.extend([0, 0, 0, 0]);
    let has_sig_b = mode.family == Family::He && matches!(several, Form::Several { .. });
    let sig_b = if has_sig_b { PRESENT_HE_MU } else { 0 };
    bytes.extend((PRESENT | form | sig_b | signal | status).to_le_bytes());
    bytes.extend((now.after(airtime.preamble).0 / 1_000).to_le_bytes());
    bytes.push(FLAG_FCS);
    align(bytes, begin, 2);
    bytes.extend(CHANNEL_OFDM.0.to_le_bytes());
    bytes.extend(CHANNEL_OFDM.1.to_le_bytes());
    bytes.extend(signal_dbm.map(|dbm| libm::round(dbm).clamp(-128.0, 127.0) as i8 as u8));
    let is_short = mode.guard == Guard::Short;
    if mode.family == Family::Ht {
        // Known: bandwidth, MCS, guard interval; mixed format, convolutional code, no STBC, no extension streams.
        let flags = u8::from(mode.width == 40) | u8::from(is_short) << 2;
        bytes.extend([0b111_1111, flags, mode.mcs + 8 * (mode.streams - 1)]);
    }
    if let Some(InAggregate { number, is_last }) = place {
        align(bytes, begin, 4);
        bytes.extend(number.to_le_bytes());
        bytes.extend((LAST_KNOWN | if is_last { IS_LAST } else { 0 }).to_le_bytes());
        bytes.extend([0, 0]);
    }
    match mode.family {
        Family::Ht => {}
        Family::Vht => {
            align(bytes, begin, 2);
            let width = match mode.width {
                20 => 0,
                40 => 1,
                80 => 4,
                _ => 11,
            };
            // Known: no STBC, guard interval, bandwidth.
            bytes.extend(0x0045_u16.to_le_bytes());
            bytes.extend([u8::from(is_short) << 2, width, mode.mcs << 4 | mode.streams, 0, 0, 0, 0, 0, 0, 0]);
        }
        Family::He => {
            align(bytes, begin, 2);
            let (guard, training) = match mode.guard {
                Guard::Quadruple => (2, 3),
                Guard::Double => (1, 2),
                Guard::Short | Guard::Normal => (0, 2),
            };
            let (mcs, streams) = (u16::from(mode.mcs), u16::from(mode.streams));
            // Known: MCS and bandwidth; guard interval and training fields.
            let width = width_or_ru(mode);
            let fields = [0x4020, 0x0006, mcs << 8, 0, width | guard << 4 | training << 6, streams];
            let fields = fields.into_iter().zip(several.fields()).map(|(field, more)| field | more);
            bytes.extend(fields.flat_map(u16::to_le_bytes));
            several.several(mode, bytes);
        }
        Family::Eht => {
            align(bytes, begin, 4);
            eht::fields(mode, several, bytes);
        }
    }
    let length = (bytes.len() - begin) as u16;
    bytes[begin + 2..begin + 4].copy_from_slice(&length.to_le_bytes());
}

/// The bit of the QoS Control field after which its second byte has the size of the queue.
const HAS_QUEUE_SIZE: u8 = 1 << 4;

/// The QoS Control field: the user priority, in an A-MPDU the implicit request for a BlockAck, which is 0, and the size of the queue
/// that a station reports.
pub(super) fn qos_control(frame: &Frame, report: u8) -> [u8; 2] {
    let tid = frame.category.tid();
    if report == UNKNOWN { [tid, 0] } else { [tid | HAS_QUEUE_SIZE, report] }
}

/// BAR Control, and BA Control.
pub(super) fn bar_control(frame: &Frame) -> [u8; 2] {
    (COMPRESSED | u16::from(frame.category.tid()) << 12).to_le_bytes()
}

/// The fragment number that encodes the length of a bitmap, in words of 64 bits.
pub(super) fn bitmap(words: usize) -> u16 {
    match words {
        16 => 10,
        8 => 8,
        4 => 4,
        _ => 0,
    }
}

/// The fields of a BlockAck or BlockAckReq after its addresses.
pub(super) fn block_ack(frame: &Frame, block: &BlockAck, bytes: &mut Vec<u8>) {
    let is_block_ack = frame.kind == FrameKind::BlockAck;
    // Riders may follow the bitmap.
    let longest = frame.bytes.saturating_sub(BLOCK_ACK) as usize / 8;
    let words = [16, 8, 4].into_iter().find(|words| is_block_ack && *words <= longest).unwrap_or(1);
    bytes.extend(bar_control(frame));
    bytes.extend((frame.sequence << 4 | bitmap(words)).to_le_bytes());
    if is_block_ack {
        bytes.extend(block.bits[..words].iter().flat_map(|word| word.to_le_bytes()));
    }
}

fn align(bytes: &mut Vec<u8>, begin: usize, to: usize) {
    bytes.resize(begin + (bytes.len() - begin).next_multiple_of(to), 0);
}
