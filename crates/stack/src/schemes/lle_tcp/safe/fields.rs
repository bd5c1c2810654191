//! What the sender's last segment says, for the segments that are sent again from here.

use super::super::connection::Terms;
use super::copies::Kept;
use crate::packet::{Body, Flags, Options, Packet, Segment, Timestamps};
use crate::state_bytes::state_bytes;
use crate::units::SeqNo;

state_bytes! {
    /// The fields of the sender's last segment for the other direction; a segment sent again from here carries the same.
    #[derive(Clone, Copy, Debug, Default)]
    pub(super) struct Fields {
        ack: SeqNo,
        window: u16,
        stamps: Option<Timestamps>,
        extra_header: u16,
    }
}

impl Fields {
    pub(super) fn of(packet: &Packet, segment: &Segment) -> Fields {
        let Segment { ack, window, .. } = *segment;
        Fields { ack, window, stamps: segment.options.timestamps, extra_header: packet.extra_header }
    }

    /// A packet with the data of a range, which has the number of the packet that brought it.
    pub(super) fn copy(&self, kept: &Kept, terms: &Terms) -> Packet {
        let segment = Segment {
            src_port: terms.sender.1,
            dst_port: terms.receiver.1,
            seq: terms.zero.plus(kept.start as u32),
            ack: self.ack,
            flags: if kept.push { Flags::ACK.with(Flags::PSH) } else { Flags::ACK },
            window: self.window,
            len: kept.len,
            options: Options { timestamps: self.stamps, ..Options::default() },
        };
        let packet = Packet::new(terms.sender.0, terms.receiver.0, Body::Tcp(segment));
        Packet { id: kept.of.0, extra_header: self.extra_header, ..packet }
    }
}
