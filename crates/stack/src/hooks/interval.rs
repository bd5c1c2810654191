//! Retransmission intervals of a slotted network: the trait [`Interval`].

use crate::packet::NodeId;

/// The number of a slot; slot 0 is at the start of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct SlotNo(pub u64);

impl SlotNo {
    /// The slot `slots` later.
    #[must_use]
    pub fn after(self, slots: u64) -> SlotNo {
        SlotNo(self.0.saturating_add(slots))
    }
}

/// Identifies a packet across all of its copies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PacketId {
    /// The node at which it entered the network.
    pub source: NodeId,
    /// Its number among the packets of that node.
    pub number: u64,
}

/// The outcome of a transmission by a node of the FRN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmissionOutcome {
    /// A relay echo or FRN ACK was heard.
    Passed,
    /// No echo was heard in time.
    Failed,
}

/// One entry of a node's transmitting history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// The packet that was sent.
    pub packet: PacketId,
    /// The neighbour it was sent to.
    pub to: NodeId,
    /// When it was sent.
    pub at: SlotNo,
    /// Its outcome.
    pub outcome: TransmissionOutcome,
}

/// Sets how long a node of the FRN waits before it repeats a packet. The wait is drawn from a window of slots; the
/// network sets the lower end of the window, and this trait the upper end.
pub trait Interval {
    /// The outcome of a transmission of this node is known.
    fn on_outcome(&mut self, transmission: Transmission);

    /// The upper end of the window for a wait that is drawn now, in slots.
    fn upper(&mut self, now: SlotNo) -> u32;
}
