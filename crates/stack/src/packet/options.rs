//! The options of a TCP header.

use super::AckOption;
use crate::units::{SeqNo, Time};

/// The TCP options a segment carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Timestamps (RFC 7323, 3): `TSval` and `TSecr`.
    pub timestamps: Option<Timestamps>,
    /// SACK blocks (RFC 2018, 3).
    pub sack: SackBlocks,
    /// Maximum segment size, on a SYN.
    pub mss: Option<u16>,
    /// Window scale (RFC 7323, 2), on a SYN.
    pub window_scale: Option<u8>,
    /// SACK permitted (RFC 2018, 2), on a SYN.
    pub sack_permitted: bool,
    /// What a congestion law adds to each segment.
    pub extension: Option<Extension>,
    /// What the ends agree about acknowledgements.
    pub acks: Option<AckOption>,
}

impl Options {
    /// No options.
    pub const NONE: Options = Options {
        timestamps: None,
        sack: SackBlocks { blocks: [(SeqNo(0), SeqNo(0)); MAX_SACK_BLOCKS], count: 0 },
        mss: None,
        window_scale: None,
        sack_permitted: false,
        extension: None,
        acks: None,
    };

    /// How many SACK blocks fit besides these options.
    #[must_use]
    pub fn room_for_blocks(&self) -> usize {
        (MAX_OPTIONS.saturating_sub(self.size() + 4) / 8) as usize
    }

    /// The bytes these options occupy in the header: a multiple of four, except for an extension as EJTCP charges it.
    #[must_use]
    #[inline]
    pub fn size(&self) -> u32 {
        let mut size = 0;
        if self.mss.is_some() {
            size += 4;
        }
        if self.window_scale.is_some() {
            size += 4;
        }
        if self.sack_permitted {
            size += 4;
        }
        if self.timestamps.is_some() {
            size += 12;
        }
        if !self.sack.is_empty() {
            size += 4 + 8 * u32::from(self.sack.count);
        }
        if let Some(extension) = self.extension {
            size += extension.form.bytes();
        }
        if let Some(option) = self.acks {
            size += option.bytes();
        }
        size
    }
}

/// The timestamps option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timestamps {
    /// The sender's clock when it made the segment.
    pub value: u32,
    /// The `value` last received from the other side.
    pub echo: u32,
}

impl Timestamps {
    /// Whether a clock shows this value later than another, modulo 2^32 (RFC 7323, 5.2).
    #[must_use]
    pub fn is_later(value: u32, than: u32) -> bool {
        value.wrapping_sub(than).cast_signed() > 0
    }
}

/// Most bytes of options in a header (RFC 9293, 3.1: the data offset counts at most 15 words).
const MAX_OPTIONS: u32 = 40;

/// Most blocks that fit into these.
pub const MAX_SACK_BLOCKS: usize = 4;

/// Up to [`MAX_SACK_BLOCKS`] ranges `[left, right)` that the receiver holds above the cumulative acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(SeqNo, SeqNo); MAX_SACK_BLOCKS],
    count: u8,
}

impl SackBlocks {
    /// Adds a block; a block beyond the last place is left out, as the header has no room for it.
    pub fn push(&mut self, left: SeqNo, right: SeqNo) {
        if usize::from(self.count) < MAX_SACK_BLOCKS {
            self.blocks[usize::from(self.count)] = (left, right);
            self.count += 1;
        }
    }

    /// The blocks in the order of the header.
    #[must_use]
    pub fn as_slice(&self) -> &[(SeqNo, SeqNo)] {
        &self.blocks[..usize::from(self.count)]
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// Stamps that a congestion law requested, on every segment of data and on the acknowledgement it triggers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extension {
    /// Its form.
    pub form: Form,
    /// When the data segment was sent, by the data sender's clock.
    pub sent: Time,
    /// When it was received, by the receiver's clock; on the way out it equals `sent`.
    pub received: Time,
    /// Sequence number of the segment that triggered the acknowledgement.
    pub trigger: SeqNo,
    /// The modulation of the 802.16 link it last crossed, written there; the receiver sends it back.
    pub modulation: Option<Modulation>,
}

/// How an [`Extension`] travels: what it costs, and how fine its stamps are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// Exact and free: for measurements that must not change what they measure.
    #[default]
    Probe,
    /// As EJTCP (3.1) charges it. Two bytes cannot hold two times, and a header is a whole number of words, so that no
    /// capture can show it.
    Paper,
    /// A TCP option for experiments (RFC 6994) with stamps of 32 bits in microseconds.
    Option,
    /// None of its own: the timestamps of RFC 7323 are read instead.
    Timestamps,
}

impl Form {
    /// Bytes it adds to a header. The option has kind, length, experiment, two stamps, the trigger and the modulation:
    /// 17 bytes, padded to words.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        match self {
            Form::Probe | Form::Timestamps => 0,
            Form::Paper => 2,
            Form::Option => 20,
        }
    }

    /// The form, if segments carry it.
    #[must_use]
    pub fn carried(self) -> Option<Form> {
        (self != Form::Timestamps).then_some(self)
    }

    /// A time at the resolution of its stamps.
    #[must_use]
    pub const fn stamp(self, now: Time) -> Time {
        match self {
            Form::Probe | Form::Paper | Form::Timestamps => now,
            Form::Option => Time(now.0 / 1_000 * 1_000),
        }
    }
}

/// A modulation of 802.16's single-carrier air interface, in the order of its rate (EJTCP, 1.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Modulation {
    /// Two bits a symbol: 32 Mbit/s.
    Qpsk,
    /// Four bits a symbol: 64 Mbit/s.
    Qam16,
    /// Six bits a symbol: 96 Mbit/s.
    Qam64,
}

impl Modulation {
    /// Bits that one symbol carries; the rates are in the same proportion.
    #[must_use]
    pub const fn bits_per_symbol(self) -> u32 {
        match self {
            Modulation::Qpsk => 2,
            Modulation::Qam16 => 4,
            Modulation::Qam64 => 6,
        }
    }
}
