//! What sits between network and link: the trait [`Agent`].

use crate::packet::Packet;
use crate::signal::Signal;
use crate::units::Time;

/// What sits between network and link of one interface: it may hold, drop, rewrite or create packets.
///
/// Up means towards this node's network layer, which delivers a packet here or forwards it, so that what an access
/// point hands up can leave for a fixed host.
pub trait Agent {
    /// A packet comes from the network layer and would go to the link.
    fn down(&mut self, packet: Packet, now: Time, out: &mut impl AgentOut);

    /// A packet comes from the link and would go to the network layer.
    fn up(&mut self, packet: Packet, now: Time, out: &mut impl AgentOut);

    /// The link tells the fate of a packet that was handed to it.
    fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time, out: &mut impl AgentOut);

    /// The agent's timer fired.
    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut);
}

/// Where an [`Agent`] puts its answers. It has one timer; setting it again replaces it.
pub trait AgentOut {
    /// A packet goes to the link.
    fn down(&mut self, packet: Packet);

    /// A packet goes to the network layer.
    fn up(&mut self, packet: Packet);

    /// Sets (or moves) the timer.
    fn set_timer(&mut self, at: Time);

    /// Cancels the timer, if it is set.
    fn cancel_timer(&mut self);
}
