//! A node of the Flexible Radio Network (FRN), Fuji Electric's slotted multi-hop radio network.
//!
//! **Limits.** The network table is given, not exchanged. A packet fills one slot whatever its length. Of a node's neighbours
//! towards one destination the first 64 are used.
//!
//! **Source.** Yamamoto et al., "Data Link Layer Control Methods for Performance Improvement of TCP over an Ad Hoc Network",
//! section 2, and section 3.2 for the discard by count; `papers/load-adaptive.md` numbers what it leaves open.
//!
//! **How.** A node that receives a packet for another forwards it in the next slot, and one that is the destination sends an
//! FRN ACK in the next slot. Who sent it overhears that and knows that it arrived: the *relay echo* is the acknowledgement.
//! Without an echo the packet goes out again after a random number of slots, to the next neighbour that leads there.
//!
//! **Choices.** 1. Forwarding and FRN ACK go before the queue. Whether they sense the channel first is up to the host: where
//! each node begins at a random instant of the slot (`sense = "random"`) they do like all others, and wait for the next slot
//! if it is busy; otherwise they do not. 2. A node that has sent a packet is silent in the next slot, in which the echo is
//! due, unless it has something to forward itself. 3. A packet that waits for its echo does not hold up those behind it, or
//! does ([`Service`]); the wait begins when the echo has not come, with the load that includes this failure, or with the
//! transmission ([`WaitFrom`]). 4. Any later transmission by a neighbour to which the packet was sent is an echo, too, and
//! ends all copies of the packet that were sent to this neighbour. 5. Retransmissions go before packets never sent. 6. A
//! packet that comes again while the node has not forwarded it yet is discarded, and forwarding it is the one answer. After
//! that it is forwarded again, or, while the node remembers it ([`Remembered`]), discarded with an FRN ACK. A packet that the
//! node gave up is not remembered.
//!
//! **Checked by** the tests below and `crates/sim/tests/frn.rs`.

mod frame;
pub mod interval;
mod memory;
mod node;
mod table;

pub use crate::hooks::{PacketId, SlotNo};
pub use frame::{Frame, FrameKind, Header};
pub use memory::Remembered;
pub use node::{CountScope, Discard, End, Intent, Node, NodeOut, Rules, Service, WaitFrom};
pub use table::{Alternatives, NetworkTable};

#[cfg(test)]
mod tests;
