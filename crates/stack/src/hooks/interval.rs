//! Retransmission intervals of a slotted network: the trait [`Interval`].

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

/// How a transmission of a node of the FRN ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmissionOutcome {
    /// A relay echo or FRN ACK was heard.
    Passed,
    /// None was heard in time.
    Failed,
}

/// One entry of a node's transmitting history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Which packet was sent.
    pub packet: PacketId,
    /// To which neighbour.
    pub to: NodeId,
    /// When.
    pub at: SlotNo,
    /// How it ended.
    pub outcome: TransmissionOutcome,
}

/// How long a node of the FRN waits before it sends a packet again: the slots are drawn from a window whose lower end is
/// the network's, and whose upper end this says.
pub trait Interval {
    /// It is known how a transmission of this node ended.
    fn on_outcome(&mut self, transmission: Transmission);

    /// The upper end of the window for what is sent now, in slots.
    fn upper(&mut self, now: SlotNo) -> u32;
}
