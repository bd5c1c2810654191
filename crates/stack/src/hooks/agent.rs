//! Agents between network layer and link: the trait [`Agent`].

use std::any::Any;
use std::fmt;

use crate::packet::{NodeId, Packet};
use crate::signal::Signal;
use crate::units::Time;

use super::{Count, LinkEvent};

/// What sits between network and link of one interface: it may hold, drop, rewrite or create packets.
///
/// Up means towards this node's network layer, which delivers a packet here or forwards it, so that what an access
/// point hands up can leave for a fixed host.
pub trait Agent {
    /// A packet comes from the network layer and would go to the link.
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut);

    /// A packet comes from the link and would go to the network layer.
    fn up(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut);

    /// The link reports the fate of a packet that was handed to it.
    fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time, out: &mut impl AgentOut);

    /// The agent's timer fired.
    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut);

    /// What an agent at the other end of the link let ride in an acknowledgement of the link ([`AgentOut::ride`]).
    fn on_rider(&mut self, _rider: Rider, _now: Time, _out: &mut impl AgentOut) {}

    /// Its counters that agents of all kinds have.
    fn activity(&self) -> Activity;

    /// The counters that only agents of its kind have, in a fixed order.
    fn counts(&self) -> Vec<Count> {
        Vec::new()
    }

    /// Quantities of agents of its kind that do not only grow, as they are now, in a fixed order.
    fn levels(&self) -> Vec<Count> {
        Vec::new()
    }

    /// An event of the link of its interface, or of what one node at that link sends and hears.
    fn on_link(&mut self, _: LinkEvent, _node: Option<NodeId>, _now: Time, _out: &mut impl AgentOut) {}

    /// Its node restarts: it loses what it knows, but not its counters. By default it knows nothing.
    fn restart(&mut self, _now: Time, _out: &mut impl AgentOut) {}

    /// A node leaves for another station: the agent parts with what it knows of the flows of this node. By default it
    /// has nothing to give, and the agent at the other station begins afresh.
    fn export(&mut self, _mobile: NodeId, _now: Time, _out: &mut impl AgentOut) -> Option<Exported> {
        None
    }

    /// What an agent of the same kind knows of the flows of a node is on its way to here.
    fn expect(&mut self, _mobile: NodeId) {}

    /// What an agent of the same kind knew of the flows of a node has come from the station that the node has left.
    fn import(&mut self, _state: Exported, _now: Time, _out: &mut impl AgentOut) {}
}

/// What an agent knows of the flows of one node, on its way to another station.
pub struct Exported {
    /// How much of it is sent.
    pub bytes: u64,
    /// What it is, to agents of its kind.
    pub state: Box<dyn Any + Send>,
}

impl fmt::Debug for Exported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exported({} B)", self.bytes)
    }
}

/// What rides in an acknowledgement of the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rider {
    /// What it says, to agents of the kind that sent it.
    pub number: u32,
    /// What it adds to the frame.
    pub bytes: u8,
}

/// The counters of an agent of any kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Activity {
    /// Acknowledgements that it made.
    pub generated: u64,
    /// Acknowledgements that it kept.
    pub suppressed: u64,
    /// Acknowledgements without data that it let pass.
    pub passed: u64,
    /// Segments that it sent again.
    pub repaired: u64,
    /// Segments that the link gave up and the receiver had.
    pub false_negatives: u64,
    /// Bytes that it acknowledged and for which it has received no acknowledgement of the receiver; `None` if it does
    /// not receive them.
    pub unconfirmed: Option<u64>,
    /// Most bytes of state held at once.
    pub state_bytes_max: u64,
}

/// The requirements of an agent on its interface, and on the flows that it serves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// The link reports the fate of each packet ([`Agent::on_signal`]).
    pub reports: bool,
    /// The hop is the last one before the destination.
    pub last_hop: bool,
    /// There is one at the far end of the hop, too.
    pub both_ends: bool,
    /// The flows use timestamps.
    pub timestamps: bool,
    /// It makes acknowledgements, which lack what only the receiver can put into them.
    pub makes_acknowledgements: bool,
    /// It ends connections: all packets of a connection must pass an agent of its kind, wherever a node is handed off.
    pub terminates: bool,
    /// Data goes one way only: the parameter that demands it, and what to do instead.
    pub one_way: Option<(&'static str, &'static str)>,
}

/// The nodes for whose data an agent acts: those ahead, whose data leaves by its interface, and those behind, whose data
/// comes in by it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Criterion {
    ahead: Vec<NodeId>,
    behind: Vec<NodeId>,
}

impl Criterion {
    /// The criterion of an interface of node `local` whose routes reach `ahead` over this link.
    #[must_use]
    pub fn one_hop(local: NodeId, ahead: impl IntoIterator<Item = NodeId>) -> Criterion {
        Criterion::between(ahead, [local])
    }

    /// The same with both sets given.
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
        Criterion { ahead: sorted(&mut ahead.into_iter()), behind: sorted(&mut behind.into_iter()) }
    }

    /// Whether data for `destination` leaves by this interface.
    #[must_use]
    pub fn is_ahead(&self, destination: NodeId) -> bool {
        self.ahead.binary_search(&destination).is_ok()
    }

    /// Whether data for `destination` comes in by this interface.
    #[must_use]
    pub fn is_behind(&self, destination: NodeId) -> bool {
        self.behind.binary_search(&destination).is_ok()
    }
}

/// Receives the answers of an [`Agent`]. It has one timer; setting it again replaces it.
pub trait AgentOut {
    /// A packet goes to the link.
    fn down(&mut self, packet: &Packet);

    /// A packet goes to the network layer.
    fn up(&mut self, packet: &Packet);

    /// A packet goes to the link ahead of those that wait there, but behind the one being sent. A link that cannot do
    /// that, or another agent on the way to it, takes it as the last one.
    fn ahead(&mut self, packet: &Packet) {
        self.down(packet);
    }

    /// Lets something ride in the next acknowledgement of the link to the neighbour that is the next hop to `towards`, in
    /// the place of what waits for that. It is lost with the acknowledgement unless the frame that it acknowledges comes
    /// again. Links whose acknowledgements cannot carry anything ignore it.
    fn ride(&mut self, _towards: NodeId, _rider: Rider) {}

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
    fn behind_an_interface_one_hop_away_there_is_its_own_node_alone() {
        let criterion = Criterion::one_hop(NodeId(3), [NodeId(4)]);
        assert!(criterion.is_behind(NodeId(3)) && criterion.is_ahead(NodeId(4)));
        assert!(!criterion.is_behind(NodeId(4)) && !criterion.is_ahead(NodeId(3)));
    }
}
