//! What a node of the FRN sends in a slot.

use crate::packet::NodeId;

/// The number of a slot, from 0 at the start of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlotNo(pub u64);

impl SlotNo {
    /// The slot `slots` later.
    #[must_use]
    pub fn after(self, slots: u64) -> SlotNo {
        SlotNo(self.0.saturating_add(slots))
    }
}

/// Which packet it is, for all of its copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PacketId {
    /// The node it entered the network at.
    pub source: NodeId,
    /// Its number among those of that node.
    pub number: u64,
}

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
