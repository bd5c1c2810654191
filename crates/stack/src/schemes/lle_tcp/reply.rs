//! What a generated acknowledgement is made of: the receiver's own numbers, as it last showed them.

use super::super::flows::Endpoint;
use crate::packet::{Body, Flags, MAX_SACK_BLOCKS, Options, Packet, SackBlocks, Segment, Timestamps};
use crate::units::SeqNo;

/// What the two SYNs of a connection settled for the acknowledgements of one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms {
    /// Who sends the data.
    pub(super) sender: Endpoint,
    /// Who receives it.
    pub(super) receiver: Endpoint,
    /// Sequence number of the first data byte.
    pub(super) zero: SeqNo,
    /// Sequence number of the receiver's first data byte.
    pub(super) reply_zero: SeqNo,
    /// Shift of the receiver's windows, but for that of its SYN (RFC 7323, 2.2).
    pub(super) shift: u8,
    /// The sender's and the receiver's first `TSval`, if timestamps are in use.
    pub(super) stamps: Option<(u32, u32)>,
    /// Whether SACK is in use.
    pub(super) sack: bool,
    /// Right edge that the receiver's SYN offered, if that SYN acknowledged the sender's.
    pub(super) edge: Option<u64>,
    /// Window that the receiver's SYN offered.
    pub(super) window: u64,
    /// Least of the two maximum segment sizes told.
    pub(super) mss: u32,
}

/// Most blocks of a generated acknowledgement: what fits beside timestamps.
const MOST_BLOCKS: usize = MAX_SACK_BLOCKS - 1;

/// The maker of acknowledgements in the receiver's name.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) terms: Terms,
    /// Highest sequence number of the receiver that went to the sender.
    seq: SeqNo,
    /// Last real `TSval` of the receiver, and what to echo.
    stamps: Option<Timestamps>,
    /// The acknowledgement number last given (RFC 7323's `Last.ACK.sent`).
    last: u64,
    /// Delivered ranges beyond a hole, newest first.
    recent: Vec<(u64, u64)>,
    extra_header: u16,
}

impl Reply {
    pub(super) fn new(terms: Terms) -> Reply {
        let stamps = terms.stamps.map(|(sender, receiver)| Timestamps { value: receiver, echo: sender });
        Reply { terms, seq: terms.reply_zero, stamps, last: 0, recent: Vec::new(), extra_header: 0 }
    }

    /// A packet of the receiver passes on its way to the sender, or ends here if `consumed`.
    pub(super) fn hear(&mut self, packet: &Packet, segment: &Segment, consumed: bool) {
        self.extra_header = packet.extra_header;
        if let (Some(mine), Some(theirs)) = (&mut self.stamps, segment.options.timestamps)
            && is_newer(theirs.value, mine.value)
        {
            mine.value = theirs.value;
        }
        let end = segment.seq.plus(segment.sequence_len());
        if !consumed && end.distance_from(self.seq) > 0 {
            self.seq = end;
        }
    }

    /// Data that starts at `start` was delivered: what it carries is echoed if it touches the left edge
    /// (RFC 7323, 4.3).
    pub(super) fn echo_delivered(&mut self, start: u64, segment: &Segment) {
        if start <= self.last
            && let Some(stamps) = segment.options.timestamps
        {
            self.echo(stamps.value);
        }
    }

    /// The receiver itself echoed `value` with a new acknowledgement.
    pub(super) fn echo(&mut self, value: u32) {
        if let Some(mine) = &mut self.stamps
            && is_newer(value, mine.echo)
        {
            mine.echo = value;
        }
    }

    /// A range beyond a hole has grown or come up.
    pub(super) fn note_block(&mut self, block: (u64, u64)) {
        self.recent.retain(|old| old.0 < block.0 || old.1 > block.1);
        self.recent.insert(0, block);
        self.recent.truncate(MAX_SACK_BLOCKS);
    }

    /// All below `offset` is acknowledged.
    pub(super) fn advance(&mut self, offset: u64) {
        self.recent.retain(|block| block.0 > offset);
    }

    /// The acknowledgement of all below `ack`, with `window` bytes beyond it. A range received twice comes first
    /// (RFC 2883, 4).
    pub(super) fn packet(&mut self, ack: u64, window: u64, twice: Option<(u64, u64)>) -> Packet {
        let Terms { sender, receiver, zero, shift, sack, .. } = self.terms;
        let mut blocks = SackBlocks::default();
        if sack {
            for (left, right) in twice.into_iter().chain(self.recent.iter().copied()).take(MOST_BLOCKS) {
                blocks.push(zero.plus(left as u32), zero.plus(right as u32));
            }
        }
        self.last = ack;
        let segment = Segment {
            src_port: receiver.1,
            dst_port: sender.1,
            seq: self.seq,
            ack: zero.plus(ack as u32),
            flags: Flags::ACK,
            window: (window >> shift).min(u64::from(u16::MAX)) as u16,
            len: 0,
            options: Options { timestamps: self.stamps, sack: blocks, ..Options::default() },
        };
        Packet { src: receiver.0, dst: sender.0, extra_header: self.extra_header, body: Body::Tcp(segment) }
    }

    /// Bytes beyond the type itself.
    pub(super) fn bytes(&self) -> u64 {
        (self.recent.len() * size_of::<(u64, u64)>()) as u64
    }
}

/// Whether a time stamp is later than another, modulo 2^32.
fn is_newer(stamp: u32, than: u32) -> bool {
    stamp.wrapping_sub(than).cast_signed() > 0
}
