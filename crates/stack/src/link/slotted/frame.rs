//! The transmissions of an FRN node in a slot.

use crate::hooks::{PacketId, SlotNo};
use crate::packet::NodeId;

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Which packet.
    pub id: PacketId,
    /// Where it leaves the network.
    pub destination: NodeId,
    /// How often it was sent again so far.
    pub retransmissions: u32,
    /// The slot it entered the network in.
    pub born: SlotNo,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A packet; to the node it came from, this is the relay echo.
    Packet,
    /// The FRN ACK with which the destination tells that the packet arrived.
    Ack,
}

/// What a node sends in one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Packet or FRN ACK.
    pub kind: FrameKind,
    /// The packet's header, also of one that is acknowledged.
    pub header: Header,
    /// Who sends.
    pub transmitter: NodeId,
    /// The neighbour it is for.
    pub receiver: NodeId,
    /// What the host knows the sender's copy by; of no meaning for an FRN ACK.
    pub handle: u64,
}
