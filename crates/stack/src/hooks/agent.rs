//! Agents between network layer and link: the trait [`Agent`].

use std::any::Any;
use std::fmt;

use crate::packet::{NodeId, Packet};
use crate::signal::Signal;
use crate::units::{Span, Time};

use super::{Count, LinkEvent};

/// An agent between the network layer and the link of one interface: it may hold, drop, rewrite or create packets.
///
/// Up means towards the network layer of this node, which delivers a packet locally or forwards it. A packet that an
/// agent at an access point sends up can thus leave for a fixed host.
pub trait Agent {
    /// Handles a packet from the network layer on its way to the link.
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut);

    /// Handles a packet from the link on its way to the network layer.
    fn up(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut);

    /// Handles the link's report on the fate of a packet that was handed to it.
    fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time, out: &mut impl AgentOut);

    /// Handles the expiry of the agent's timer.
    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut);

    /// Handles what an agent at the other end of the link sent in a link-layer acknowledgement ([`AgentOut::ride`]).
    fn on_rider(&mut self, _rider: Rider, _now: Time, _out: &mut impl AgentOut) {}

    /// The link acknowledges a transmission of a neighbour. Called if [`Needs::answers`].
    fn on_answer(&mut self, _answer: Answered, _now: Time, _out: &mut impl AgentOut) {}

    /// Visits the packets of data that the agent keeps and may send again. By default it keeps none.
    fn each_kept(&self, _visit: &mut dyn FnMut(&Packet)) {}

    /// The counters common to agents of all kinds.
    fn activity(&self) -> Activity;

    /// The counters specific to this kind of agent, in a fixed order.
    fn counts(&self) -> Vec<Count> {
        Vec::new()
    }

    /// Current values of quantities of this kind of agent that can also decrease, in a fixed order.
    fn levels(&self) -> Vec<Count> {
        Vec::new()
    }

    /// Handles an event of the link of its interface, or of what one node at that link sends and receives.
    fn on_link(&mut self, _: LinkEvent, _node: Option<NodeId>, _now: Time, _out: &mut impl AgentOut) {}

    /// The node restarts: the agent loses its state, but not its counters. By default an agent has no state.
    fn restart(&mut self, _now: Time, _out: &mut impl AgentOut) {}

    /// A node leaves for another station, or is the agent's own and leaves this interface for another: removes and returns the
    /// state of its flows. By default there is none, and the agent there starts without state.
    fn export(&mut self, _mobile: NodeId, _now: Time, _out: &mut impl AgentOut) -> Option<Exported> {
        None
    }

    /// The state of the flows of a node is on its way here, from an agent of the same kind.
    fn expect(&mut self, _mobile: NodeId) {}

    /// The state of the flows of a node has arrived from the station, or from the interface, that the node has left.
    fn import(&mut self, _state: Exported, _now: Time, _out: &mut impl AgentOut) {}
}

/// The state of the flows of one node, on its way to another station.
pub struct Exported {
    /// Number of bytes to transfer.
    pub bytes: u64,
    /// The state, in a form that agents of its kind understand.
    pub state: Box<dyn Any + Send>,
}

impl fmt::Debug for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exported({} B)", self.bytes)
    }
}

/// Data carried by a link-layer acknowledgement: a few bytes, for agents of the kind that sent them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rider {
    content: [u8; Rider::MOST],
    bytes: u8,
}

impl Rider {
    /// The most bytes of one rider.
    pub const MOST: usize = 15;

    /// A rider of these bytes.
    ///
    /// # Panics
    /// If there are more than [`Rider::MOST`].
    #[must_use]
    pub fn new(bytes: &[u8]) -> Rider {
        let mut content = [0; Rider::MOST];
        content[..bytes.len()].copy_from_slice(bytes);
        Rider { content, bytes: bytes.len() as u8 }
    }

    /// Its bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        &self.content[..usize::from(self.bytes)]
    }

    /// What it adds to the frame.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.bytes.into()
    }

    /// Whether it has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

/// An acknowledgement of the link that a station begins to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The neighbour that receives it.
    pub to: NodeId,
    /// Whether that neighbour has more packets for this station (the More Data bit); `None` if its frame does not show it.
    pub more: Option<bool>,
    /// How many riders went with this acknowledgement for the first time.
    pub boarded: u32,
}

/// The counters of an agent of any kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Acknowledgements that the agent generated.
    pub generated: u64,
    /// Acknowledgements that it suppressed.
    pub suppressed: u64,
    /// Acknowledgements without data that it forwarded.
    pub passed: u64,
    /// Segments that it retransmitted.
    pub repaired: u64,
    /// Segments that the link discarded although the receiver had them.
    pub false_negatives: u64,
    /// Bytes that it acknowledged and that the receiver has not yet acknowledged; `None` if it does not see the
    /// receiver's acknowledgements.
    pub unconfirmed: Option<u64>,
    /// Maximum number of bytes of state held at once, as protocol data: the same on every processor.
    pub state_bytes_max: u64,
}

/// The requirements of an agent on its interface, and on the flows that it serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The link reports the fate of each packet ([`Agent::on_signal`]).
    pub reports: bool,
    /// The hop is the last one before the destination.
    pub last_hop: bool,
    /// There is another agent at the far end of the hop.
    pub both_ends: bool,
    /// The flows use timestamps.
    pub timestamps: bool,
    /// The agent generates acknowledgements, which lack the fields that only the receiver can fill in.
    pub makes_acknowledgements: bool,
    /// The agent terminates connections: all packets of a connection must pass an agent of its kind, also after a
    /// hand-off.
    pub terminates: bool,
    /// The agent acts where acknowledgements leave, not where data does.
    pub on_acknowledgements: bool,
    /// The agent is called when the link acknowledges a frame ([`Agent::on_answer`]).
    pub answers: bool,
    /// A timer of the agent sends packets of a flow again, which takes at least so long.
    pub repeats_after: Option<Span>,
    /// Data flows in one direction only: the parameter that requires this, and what to do instead.
    pub one_way: Option<(&'static str, &'static str)>,
}

/// The nodes for whose data an agent acts: those ahead, whose data leaves through its interface, and those behind,
/// whose data arrives through it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criterion {
    ahead: Vec<NodeId>,
    behind: Vec<NodeId>,
    /// Numbers from a first to a last node, all of which are ahead unless they are behind.
    spans: Vec<(NodeId, NodeId)>,
}

impl Criterion {
    /// The criterion of an interface of node `local` from which the routes reach `ahead` over this link.
    #[must_use]
    pub fn one_hop(local: NodeId, ahead: impl IntoIterator<Item = NodeId>) -> Criterion {
        Criterion::between(ahead, [local])
    }

    /// The same, with both sets given.
    #[must_use]
    pub fn between(
        ahead: impl IntoIterator<Item = NodeId>,
        behind: impl IntoIterator<Item = NodeId>,
    ) -> Criterion {
        let sorted = |nodes: &mut dyn Iterator<Item = NodeId>| {
            let mut nodes: Vec<NodeId> = nodes.collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        };
        let (ahead, behind) = (sorted(&mut ahead.into_iter()), sorted(&mut behind.into_iter()));
        Criterion { ahead, behind, spans: Vec::new() }
    }

    /// The same with all nodes from a first to a last one ahead, unless they are behind. Numbers begin again after the last.
    #[must_use]
    pub fn and_from_to(mut self, first: NodeId, last: NodeId) -> Criterion {
        self.spans.push((first, last));
        self
    }

    /// Whether data for `destination` leaves through this interface.
    #[must_use]
    pub fn is_ahead(&self, destination: NodeId) -> bool {
        self.ahead.binary_search(&destination).is_ok()
            || (!self.spans.is_empty() && self.is_in_a_span(destination) && !self.is_behind(destination))
    }

    fn is_in_a_span(&self, node: NodeId) -> bool {
        let after = |(first, _): &(NodeId, NodeId), node: NodeId| node.0.wrapping_sub(first.0);
        self.spans.iter().any(|span| after(span, node) <= after(span, span.1))
    }

    /// Whether data for `destination` arrives through this interface.
    #[must_use]
    pub fn is_behind(&self, destination: NodeId) -> bool {
        self.behind.binary_search(&destination).is_ok()
    }
}

/// Receives the output of an [`Agent`]. It has one timer; setting it again replaces it.
pub trait AgentOut {
    /// Sends a packet to the link.
    fn down(&mut self, packet: &Packet);

    /// Sends a packet to the network layer.
    fn up(&mut self, packet: &Packet);

    /// Sends a packet to the link ahead of those that wait there, but behind the one being transmitted. If the link
    /// does not support this, or another agent sits before it, the packet is queued last.
    fn ahead(&mut self, packet: &Packet) {
        self.down(packet);
    }

    /// Puts a rider into the next link-layer acknowledgement to the neighbour that is the next hop to `towards`,
    /// replacing a rider that still waits. It is lost with the acknowledgement, unless the acknowledged frame is
    /// retransmitted. Links whose acknowledgements cannot carry data ignore it.
    fn ride(&mut self, _towards: NodeId, _rider: Rider) {}

    /// Puts a rider behind those that wait: each goes with the next acknowledgement that has room for it, and again with
    /// one that repeats that acknowledgement.
    fn ride_behind(&mut self, _towards: NodeId, _rider: Rider) {}

    /// Removes the riders that wait.
    fn unload(&mut self, _towards: NodeId) {}

    /// Sets (or moves) the timer.
    fn set_timer(&mut self, at: Time);

    /// Cancels the timer, if it is set.
    fn cancel_timer(&mut self);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_criterion_keeps_the_nodes_ahead_and_behind_apart_whatever_their_order() {
        let criterion = Criterion::between([NodeId(9), NodeId(1), NodeId(9)], [NodeId(5), NodeId(2)]);
        let of = |test: fn(&Criterion, NodeId) -> bool| -> Vec<u32> {
            (0..10).filter(|node| test(&criterion, NodeId(*node))).collect()
        };
        assert_eq!(of(Criterion::is_ahead), [1, 9]);
        assert_eq!(of(Criterion::is_behind), [2, 5]);
        let other = Criterion::between([NodeId(1), NodeId(9)], [NodeId(2), NodeId(5)]);
        assert_eq!(criterion, other, "nodes named twice, or in another order, make no other criterion");
    }

    #[test]
    fn a_span_of_nodes_is_ahead_but_for_those_behind_and_may_pass_the_end_of_the_numbers() {
        let criterion = Criterion::between([], [NodeId(7)])
            .and_from_to(NodeId(5), NodeId(9))
            .and_from_to(NodeId(u32::MAX), NodeId(1));
        let ahead =
            [0, 1, 2, 4, 5, 7, 9, 10, u32::MAX - 1, u32::MAX].map(|node| criterion.is_ahead(NodeId(node)));
        assert_eq!(ahead, [true, true, false, false, true, false, true, false, false, true]);
    }

    #[test]
    fn behind_an_interface_one_hop_away_there_is_its_own_node_alone() {
        let criterion = Criterion::one_hop(NodeId(3), [NodeId(4)]);
        assert!(criterion.is_behind(NodeId(3)) && criterion.is_ahead(NodeId(4)));
        assert!(!criterion.is_behind(NodeId(4)) && !criterion.is_ahead(NodeId(3)));
    }
}
