//! Every cross-layer signal, in one place.
//!
//! A signal travels through the layers of its node, together with a reference to its packet, and never leaves the node.
//! A layer forwards a signal that it does not understand.

/// A report of a layer to the layers above it about one packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// `PACK_DELIVERED`: the link knows that the next hop has the packet whole.
    Delivered,
    /// `PACK_UNDELIVERED`: the link has given the packet up.
    Undelivered,
    /// The link has not accepted the packet, or has discarded it without an attempt.
    Refused,
}
