//! The events of each slot of a slotted network: transmissions, receptions, losses, discards.

use lasthop_stack::link::slotted::{End, Frame, FrameKind, PacketId, SlotNo};
use lasthop_stack::packet::NodeId;

use crate::medium::slots::SlotFate;

/// An action of a node, or the fate of a frame at the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlotAct {
    /// It sent a packet.
    Send,
    /// It sent an FRN ACK.
    Ack,
    /// It received a frame addressed to it.
    Receive,
    /// It received a frame addressed to another node, such as a relay echo.
    Overhear,
    /// A collision destroyed a frame within range.
    Collided,
    /// It was transmitting during a frame within range.
    Deaf,
    /// A channel error destroyed a frame within range.
    Errored,
    /// It released a packet that a neighbour has received.
    Passed,
    /// It discarded a packet at the limit of retransmissions.
    DiscardCount,
    /// It discarded a packet at the end of its lifetime.
    DiscardLifetime,
    /// It discarded a packet that it had received before.
    Suppressed,
    /// It had no route for a packet.
    NoRoute,
    /// The network was down during a frame within range.
    CutOff,
}

impl SlotAct {
    /// The names, in the order of the codes.
    pub const NAMES: [&'static str; 13] = [
        "send",
        "ack",
        "receive",
        "overhear",
        "collided",
        "deaf",
        "errored",
        "passed",
        "discard-count",
        "discard-lifetime",
        "suppressed",
        "no-route",
        "cut-off",
    ];

    pub(crate) fn of(kind: FrameKind) -> SlotAct {
        match kind {
            FrameKind::Packet => SlotAct::Send,
            FrameKind::Ack => SlotAct::Ack,
        }
    }

    pub(crate) fn heard(fate: SlotFate, is_addressed: bool) -> SlotAct {
        match fate {
            SlotFate::Received if is_addressed => SlotAct::Receive,
            SlotFate::Received => SlotAct::Overhear,
            SlotFate::Collided => SlotAct::Collided,
            SlotFate::Deaf => SlotAct::Deaf,
            SlotFate::Errored => SlotAct::Errored,
            SlotFate::CutOff => SlotAct::CutOff,
        }
    }

    pub(crate) fn ended(end: End) -> SlotAct {
        match end {
            End::Passed => SlotAct::Passed,
            End::Count => SlotAct::DiscardCount,
            End::Lifetime => SlotAct::DiscardLifetime,
            End::Suppressed => SlotAct::Suppressed,
            End::NoRoute => SlotAct::NoRoute,
        }
    }
}

/// One line of the slot table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotRow {
    /// Index of the link in the scenario.
    pub link: u32,
    /// The slot.
    pub slot: SlotNo,
    /// The node.
    pub node: NodeId,
    /// The action of the node, or the fate of a frame at the node.
    pub act: SlotAct,
    /// The packet.
    pub packet: PacketId,
    /// The other node: the addressee of a frame it sent, or the transmitter of a frame it received.
    pub peer: Option<NodeId>,
    /// The count of retransmissions in the header.
    pub retransmissions: Option<u32>,
}

impl SlotRow {
    pub(crate) fn frame(
        link: u32,
        slot: SlotNo,
        node: NodeId,
        act: SlotAct,
        frame: &Frame,
        peer: NodeId,
    ) -> SlotRow {
        let (packet, count) = (frame.header.id, frame.header.retransmissions);
        SlotRow { link, slot, node, act, packet, peer: Some(peer), retransmissions: Some(count) }
    }

    pub(crate) fn ended(link: u32, slot: SlotNo, node: NodeId, end: End, packet: PacketId) -> SlotRow {
        let act = SlotAct::ended(end);
        SlotRow { link, slot, node, act, packet, peer: None, retransmissions: None }
    }
}
