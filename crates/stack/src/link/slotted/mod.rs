//! A node of the Flexible Radio Network (FRN), Fuji Electric's slotted multi-hop radio network.
//!
//! **Limits.** The network table is configured, not exchanged. A packet fills one slot whatever its length. A node uses
//! at most 64 neighbours towards one destination: the first ones.
//!
//! **Source.** Yamamoto et al., "Data Link Layer Control Methods for Performance Improvement of TCP over an Ad Hoc
//! Network", section 2, and section 3.2 for the discard by count. `papers/load-adaptive.md` numbers what it leaves
//! open.
//!
//! **How.** A node that receives a packet for another node forwards it in the next slot; the destination sends an FRN
//! ACK in the next slot. The previous sender overhears either frame, the *relay echo*, which serves as the
//! acknowledgement. Without an echo, the sender repeats the packet after a random number of slots, to the next
//! neighbour towards the destination.
//!
//! **Choices.** 1. Forwarding and FRN ACKs precede the queue. The host decides whether they sense the channel first. If
//! each node begins at a random instant of the slot (`sense = "random"`), they sense it like all other frames and wait
//! for the next slot if it is busy. Otherwise they do not. 2. A node that has sent a packet is silent in the next slot,
//! in which the echo is due, unless it has something to forward or acknowledge. 3. A packet that waits for its echo
//! does not block those behind it, or does ([`Service`]). The wait begins when the echo is missing, and this failure
//! counts in the load, or with the transmission ([`WaitFrom`]). 4. Any later transmission of the packet by a neighbour
//! to which it was sent is also an echo. It ends all copies of the packet that were sent to this neighbour. 5.
//! Retransmissions precede packets that were never sent. 6. A packet that comes again before the node has forwarded it
//! is discarded; forwarding it is the only answer. A later copy is forwarded again or, while the node remembers the
//! packet ([`Remembered`]), discarded with an FRN ACK. The node does not remember a packet that it discarded.
//! 7. The first neighbour of the table gets a packet first. Routes that spread the load are future work of the paper (5)
//! and off ([`Routing`]): a node knows the load of its neighbours by the frames that it hears, so those that collide at
//! it do not count.
//!
//! **Checked by** the tests below and `crates/sim/tests/frn.rs`.

mod frame;
pub mod interval;
mod memory;
mod node;
mod routing;
mod table;

pub use crate::hooks::{PacketId, SlotNo};
pub use frame::{Frame, FrameKind, Header};
pub use memory::Remembered;
pub use node::{CountScope, Discard, End, Intent, Node, NodeOut, Rules, Service, WaitFrom};
pub use routing::Routing;
pub use table::{Alternatives, NetworkTable};

#[cfg(test)]
mod tests;
