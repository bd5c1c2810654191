//! The transmissions of an FRN node in a slot.

use crate::hooks::{PacketId, SlotNo};
use crate::packet::NodeId;

/// The header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The packet.
    pub id: PacketId,
    /// The node at which it leaves the network.
    pub destination: NodeId,
    /// Number of its retransmissions so far.
    pub retransmissions: u32,
    /// The slot in which it entered the network.
    pub born: SlotNo,
}

/// The kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A packet; for the node that it came from, this is the relay echo.
    Packet,
    /// The FRN ACK with which the destination confirms the arrival of a packet.
    Ack,
}

/// The transmission of a node in one slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Packet or FRN ACK.
    pub kind: FrameKind,
    /// The header of the packet, or of the packet that is acknowledged.
    pub header: Header,
    /// The node that sends.
    pub transmitter: NodeId,
    /// The neighbour to which it is addressed.
    pub receiver: NodeId,
    /// The host's handle of the sender's copy; an FRN ACK has none.
    pub handle: u64,
}
