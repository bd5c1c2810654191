//! The fields of a generated acknowledgement, from the receiver's last segments.

use super::connection::Terms;
use crate::packet::{Body, Flags, MAX_SACK_BLOCKS, Options, Packet, SackBlocks, Segment, Timestamps};
use crate::state_bytes::state_bytes;
use crate::units::SeqNo;

/// Maximum number of blocks in a generated acknowledgement: those that fit together with timestamps.
const MOST_BLOCKS: usize = MAX_SACK_BLOCKS - 1;

state_bytes! {
    /// Generates acknowledgements in the receiver's name.
    #[derive(Clone, Debug)]
    pub(in super::super) struct Reply {
        pub(in super::super) terms: Terms,
        /// Highest sequence number of the receiver that was passed to the sender.
        seq: SeqNo,
        /// Last real `TSval` of the receiver, and the value to echo.
        stamps: Option<Timestamps>,
        /// The last acknowledgement number sent (RFC 7323's `Last.ACK.sent`).
        last: u64,
        extra_header: u16,
    }
}

impl Reply {
    pub(in super::super) fn new(terms: Terms) -> Reply {
        let stamps = terms.stamps.map(|(sender, receiver)| Timestamps { value: receiver, echo: sender });
        Reply { terms, seq: terms.reply_zero, stamps, last: 0, extra_header: 0 }
    }

    /// A packet of the receiver arrived.
    pub(in super::super) fn hear(&mut self, packet: &Packet, segment: &Segment) {
        self.extra_header = packet.extra_header;
        if let (Some(mine), Some(theirs)) = (&mut self.stamps, segment.options.timestamps)
            && Timestamps::is_later(theirs.value, mine.value)
        {
            mine.value = theirs.value;
        }
    }

    /// A packet of the receiver arrived and is forwarded to the sender.
    pub(in super::super) fn hear_and_pass(&mut self, packet: &Packet, segment: &Segment) {
        self.hear(packet, segment);
        let end = segment.seq.plus(segment.sequence_len());
        if end.distance_from(self.seq) > 0 {
            self.seq = end;
        }
    }

    /// Whether a segment of the receiver begins before the end of those that were passed to the sender.
    pub(in super::super) fn is_before(&self, segment: &Segment) -> bool {
        segment.seq.distance_from(self.seq) < 0
    }

    /// An acknowledgement of the receiver is forwarded to the sender unchanged.
    pub(in super::super) fn passed(&mut self, ack: u64, segment: &Segment) {
        self.last = ack;
        if let Some(stamps) = segment.options.timestamps {
            self.echo(stamps.echo);
        }
    }

    /// Data at `start` was delivered: its timestamp is echoed if the data touches the left edge (RFC 7323, 4.3).
    pub(in super::super) fn echo_delivered(&mut self, start: u64, segment: &Segment) {
        if start <= self.last
            && let Some(stamps) = segment.options.timestamps
        {
            self.echo(stamps.value);
        }
    }

    /// Sets the value to echo, unless it is older than the previous one.
    pub(in super::super) fn echo(&mut self, value: u32) {
        if let Some(mine) = &mut self.stamps
            && Timestamps::is_later(value, mine.echo)
        {
            mine.echo = value;
        }
    }

    /// The acknowledgement of all data below `ack`, with a window of `window` bytes and the first of these blocks.
    pub(in super::super) fn packet(
        &mut self,
        ack: u64,
        window: u64,
        blocks: impl Iterator<Item = (u64, u64)>,
    ) -> Packet {
        let Terms { sender, receiver, zero, shift, sack, .. } = self.terms;
        let mut told = SackBlocks::default();
        if sack {
            for (left, right) in blocks.take(MOST_BLOCKS) {
                told.push(zero.plus(left as u32), zero.plus(right as u32));
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
            options: Options { timestamps: self.stamps, sack: told, ..Options::default() },
        };
        Packet { extra_header: self.extra_header, ..Packet::new(receiver.0, sender.0, Body::Tcp(segment)) }
    }
}
