//! What a frame of EDCA carries besides its header: MPDUs, or a bitmap.

use super::super::exchange::SEQUENCE_MASK;
use super::super::frame::PayloadClass;
use super::super::mode::Mode;
use super::super::rates::Airtime;
use super::config::{CATEGORIES, Category};
use crate::hooks::Rider;
use crate::packet::NodeId;
use crate::units::Span;

/// What became of an MPDU at the station that it is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MpduFate {
    /// It arrived.
    #[default]
    Received,
    /// It was lost by chance.
    Errored,
    /// Its packet was lost for good.
    LostForGood,
}

/// An MPDU on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mpdu {
    /// The packet in it.
    pub handle: u64,
    /// Its sequence number.
    pub sequence: u16,
    /// How often it was sent before.
    pub attempts: u8,
    /// Its class in the ledger.
    pub class: PayloadClass,
    /// Its bytes, from the MAC header to the check sequence.
    pub bytes: u32,
    /// Bytes of the packet.
    pub payload: u32,
    /// What became of it, once the medium has decided.
    pub fate: MpduFate,
}

/// The bits of the largest bitmap.
const LARGEST_WINDOW: u16 = 1024;

/// The bitmap of a BlockAck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockAck {
    /// The first sequence number.
    pub start: u16,
    /// A bit for each from there on.
    pub bits: [u64; 16],
}

impl BlockAck {
    /// Whether it acknowledges a sequence number.
    #[inline]
    #[must_use]
    pub fn has(&self, sequence: u16) -> bool {
        let place = ahead(sequence, self.start);
        place < LARGEST_WINDOW && self.bits[usize::from(place / 64)] >> (place % 64) & 1 == 1
    }

    pub(super) fn set(&mut self, sequence: u16) {
        let place = ahead(sequence, self.start);
        if place < LARGEST_WINDOW {
            self.bits[usize::from(place / 64)] |= 1 << (place % 64);
        }
    }
}

/// How a station answers what it got in a PPDU to several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answering {
    /// After SIFS, as if it were the only one.
    AtOnce,
    /// When it is requested to.
    OnRequest,
    /// After SIFS, together with the others.
    Together,
    /// With data, after SIFS, together with the others.
    WithData,
    /// With a report of what waits, after SIFS, together with the others.
    WithReport,
}

/// What a BlockAck to several stations has for one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Confirmed {
    /// The station.
    pub to: NodeId,
    /// The category of its MPDUs.
    pub category: Category,
    /// The bitmap; none if all that it sent has arrived.
    pub block: Option<BlockAck>,
}

/// The queue size of which nothing is reported (IEEE 802.11-2020, 9.2.4.5.6).
pub const UNKNOWN: u8 = 255;

/// What a frame to several stations has for one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The station.
    pub to: NodeId,
    /// Its RU and mode; in a trigger those of its answer.
    pub mode: Mode,
    /// Its MPDUs, which follow those of the station before it.
    pub mpdus: u16,
    /// The first number of the window, in a trigger or a PPDU with one.
    pub start: u16,
    /// More packets wait for it.
    pub more_data: bool,
    /// How it answers.
    pub answering: Answering,
}

/// What a station's frame carries, in storage that is used again.
#[derive(Clone, Debug)]
pub struct Load {
    /// Of a data frame.
    pub mpdus: Vec<Mpdu>,
    /// Of a BlockAck.
    pub block: BlockAck,
    /// What rides in an Ack or BlockAck, before its check sequence.
    pub riders: Vec<Rider>,
    /// The stations of a frame to several.
    pub shares: Vec<Share>,
    /// The airtime of their answers, if those come together.
    pub together: Airtime,
    /// What its sender still holds by category, in units of 256 bytes, or [`UNKNOWN`].
    pub reports: [u8; CATEGORIES],
    /// Of a BlockAck to several stations.
    pub confirmed: Vec<Confirmed>,
}

impl Default for Load {
    fn default() -> Load {
        Load::NOTHING
    }
}

impl Load {
    /// That of a frame that carries nothing of its kind.
    pub const NOTHING: Load = Load {
        mpdus: Vec::new(),
        block: BlockAck { start: 0, bits: [0; 16] },
        riders: Vec::new(),
        shares: Vec::new(),
        together: Airtime { total: Span::ZERO, preamble: Span::ZERO, payload: Span::ZERO },
        reports: [UNKNOWN; CATEGORIES],
        confirmed: Vec::new(),
    };

    /// Forgets the MPDUs and stations of the frame before.
    pub(super) fn clear(&mut self) {
        self.mpdus.clear();
        self.shares.clear();
        self.confirmed.clear();
        self.reports = [UNKNOWN; CATEGORIES];
    }

    /// What a frame to several has for one of them: its share, and its MPDUs.
    #[must_use]
    pub fn of(&self, station: NodeId) -> Option<(&Share, &[Mpdu])> {
        let mut first = 0;
        for share in &self.shares {
            let end = first + usize::from(share.mpdus);
            if share.to == station {
                return Some((share, self.mpdus.get(first..end).unwrap_or_default()));
            }
            first = end;
        }
        None
    }
}

/// How far a sequence number is ahead of another, modulo 4096.
#[inline]
pub(super) fn ahead(sequence: u16, of: u16) -> u16 {
    sequence.wrapping_sub(of) & SEQUENCE_MASK
}

/// The sequence number this much later.
#[inline]
pub(super) fn after(sequence: u16, by: u16) -> u16 {
    sequence.wrapping_add(by) & SEQUENCE_MASK
}
