//! Frames on the air, and the interface between the MAC and the layer above it.

use super::edca::Category;
use super::mode::Mode;
use super::rates::PhyRate;
use crate::hooks::{Reason, Rider, Unit, Waiting};
use crate::link::fec::Coded;
use crate::packet::NodeId;
use crate::units::{Span, Time};

/// The receiver address of a frame to all.
pub const BROADCAST: NodeId = NodeId(u32::MAX);

/// The kind of a frame.
///
/// Without an additional byte, a data frame may carry a poll and an acknowledgement of the frame before it. These are
/// bits of its subtype (IEEE 802.11-2012, 8.2.4.1.3), here [`Frame::poll`] and [`Frame::cf_ack`]. A [`FrameKind::Null`]
/// is a data frame without data that carries those bits alone: CF-Poll, CF-ACK, CF-ACK + CF-Poll, or Null.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FrameKind {
    /// Request to send.
    Rts,
    /// Clear to send.
    Cts,
    /// Acknowledgement.
    Ack,
    /// Data: an MSDU or a fragment of one.
    Data,
    /// A data frame without data.
    Null,
    /// The beacon that opens a contention-free period.
    Beacon,
    /// The end of a contention-free period.
    CfEnd,
    /// The bitmap of the MPDUs received.
    BlockAck,
    /// A request for that bitmap.
    BlockAckReq,
    /// A request to several stations: for their bitmaps (MU-BAR), for data, or for reports of what waits (BSRP).
    Trigger,
    /// A trigger that requests a CTS of a station, and with it its radio (MU-RTS).
    MuRts,
}

/// The class of a packet in the airtime ledger.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PayloadClass {
    /// It carries application data.
    Data,
    /// It is an acknowledgement of TCP without data.
    TcpAck,
    /// Anything else.
    #[default]
    Other,
}

/// Between which systems a data frame travels: the To DS and From DS bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distribution {
    /// Between stations of an ad hoc network.
    #[default]
    AdHoc,
    /// From a station to its access point.
    ToAp,
    /// From an access point to a station.
    FromAp,
}

/// A packet handed to the MAC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Msdu {
    /// The host's identifier of the packet; the receiver's MAC passes up the same.
    pub handle: u64,
    /// Bytes of the IP packet.
    pub bytes: u32,
    /// The receiver on this medium.
    pub next: NodeId,
    /// Its class in the ledger.
    pub class: PayloadClass,
    /// Its access category, where the MAC has several.
    pub category: Category,
    /// The number of its flow, if an ARQ scheme may know the timing of that flow's sender.
    pub flow: Option<u32>,
}

/// How the MAC released a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Its last fragment was acknowledged, by an ACK or a CF-ACK.
    Delivered,
    /// A retry limit was reached, or the medium lost it for good.
    Undelivered,
    /// Its lifetime in a MAC with EDCA was over.
    Expired,
    /// It was removed from the queue unsent.
    Flushed,
}

/// A service of a station whose frames a scheme chooses, for a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// When it was chosen.
    pub at: Time,
    /// What the scheme held then, this unit included.
    pub waiting: Waiting,
    /// The packet.
    pub handle: u64,
    /// The unit, as it was before it was sent.
    pub unit: Unit,
    /// Why it was chosen.
    pub reason: Reason,
    /// What became of it.
    pub outcome: ServedOutcome,
}

/// What became of a unit that was served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedOutcome {
    /// It was acknowledged.
    Delivered,
    /// It was not, and went back to the scheme.
    Failed,
    /// It was discarded, and its packet with it.
    GivenUp,
}

impl ServedOutcome {
    /// All outcomes, in the order of their codes.
    pub const NAMES: [&'static str; 3] = ["delivered", "failed", "given up"];
}

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its kind.
    pub kind: FrameKind,
    /// Receiver address.
    pub receiver: NodeId,
    /// Transmitter address. CTS and ACK do not carry it on the air.
    pub transmitter: NodeId,
    /// For how long after its end the medium is reserved. The header's field is this in microseconds, rounded up.
    pub duration: Span,
    /// Sequence number of the MSDU, 12 bits.
    pub sequence: u16,
    /// Number of the fragment, from 0.
    pub fragment: u8,
    /// A repetition of a frame sent before.
    pub retry: bool,
    /// More fragments of the MSDU follow.
    pub more_fragments: bool,
    /// Its transmitter has more packets for its receiver.
    pub more_data: bool,
    /// It polls its receiver.
    pub poll: bool,
    /// It acknowledges the frame that ended SIFS before it, whoever sent that: a poll may acknowledge the station that
    /// was polled before.
    pub cf_ack: bool,
    /// It is part of a contention-free period.
    pub contention_free: bool,
    /// To DS and From DS.
    pub distribution: Distribution,
    /// The packet it carries, whole or in part.
    pub msdu: Option<u64>,
    /// The class of that packet in the ledger.
    pub class: PayloadClass,
    /// What rides in an acknowledgement, before its check sequence.
    pub rider: Option<Rider>,
    /// Its last bytes before any redundancy, if a code protects them; that redundancy follows them.
    pub coded: Option<Coded>,
    /// Bytes on the air, from the MAC header to the check sequence, or to the end of its redundancy.
    pub bytes: u32,
    /// The rate; of a frame with a mode the reference rate that selects the rate of the response.
    pub rate: PhyRate,
    /// The form of its data field, if it is HT, VHT, HE or EHT.
    pub mode: Option<Mode>,
    /// The MPDUs of a data frame with EDCA, which are in its load; 0 without EDCA.
    pub mpdus: u16,
    /// The access category of data, BlockAck and BlockAckReq with EDCA.
    pub category: Category,
    /// It is sent together with those of other stations to the same receiver, each in its RU (HE TB).
    pub together: bool,
}

impl Frame {
    /// A frame with only these fields.
    #[must_use]
    pub fn new(kind: FrameKind, receiver: NodeId, transmitter: NodeId, bytes: u32, rate: PhyRate) -> Frame {
        Frame {
            kind,
            receiver,
            transmitter,
            duration: Span::ZERO,
            sequence: 0,
            fragment: 0,
            retry: false,
            more_fragments: false,
            more_data: false,
            poll: false,
            cf_ack: false,
            contention_free: false,
            distribution: Distribution::AdHoc,
            msdu: None,
            class: PayloadClass::Other,
            rider: None,
            coded: None,
            bytes,
            rate,
            mode: None,
            mpdus: 0,
            category: Category::BestEffort,
            together: false,
        }
    }

    /// The Duration field: whole microseconds, at most 32 767; in a contention-free period 32 768 (IEEE 802.11-2012,
    /// 8.2.4.2). A beacon states the length of its period elsewhere.
    #[must_use]
    pub fn duration_field(&self) -> u16 {
        if self.contention_free && self.kind != FrameKind::CfEnd {
            return 32_768;
        }
        self.duration.0.div_ceil(1_000).min(32_767) as u16
    }

    /// The Sequence Control field.
    #[must_use]
    pub fn sequence_control(&self) -> u16 {
        self.sequence << 4 | u16::from(self.fragment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reserving(kind: FrameKind, nanoseconds: u64) -> Frame {
        let rate = PhyRate::Dsss1;
        Frame { duration: Span(nanoseconds), ..Frame::new(kind, NodeId(1), NodeId(2), 14, rate) }
    }

    #[test]
    fn the_duration_field_is_rounded_up_and_bounded() {
        let fields = [0, 1, 1_000, 1_001, 32_767_000, 32_767_001, 90_000_000];
        let found = fields.map(|nanoseconds| reserving(FrameKind::Rts, nanoseconds).duration_field());
        assert_eq!(found, [0, 1, 1, 2, 32_767, 32_767, 32_767]);
    }

    #[test]
    fn frames_of_a_contention_free_period_have_a_constant_there_but_its_end_has_not() {
        let polled = |kind| Frame { contention_free: true, ..reserving(kind, 5_000) }.duration_field();
        assert_eq!([FrameKind::Data, FrameKind::Null, FrameKind::Beacon].map(polled), [32_768; 3]);
        assert_eq!(polled(FrameKind::CfEnd), 5);
    }

    #[test]
    fn sequence_control_has_the_fragment_in_its_low_four_bits() {
        let frame = Frame { sequence: 4_095, fragment: 3, ..reserving(FrameKind::Data, 0) };
        assert_eq!(frame.sequence_control(), 0xFFF3);
    }
}
