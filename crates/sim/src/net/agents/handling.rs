//! What a trace records of agents: the packets that they pass on.

use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::units::Time;

use super::Towards;
use crate::probe::events::Events;

/// How an agent handles the packet that has reached it.
pub(super) struct Handling<'a> {
    pub(super) node: NodeId,
    /// The packet and its direction.
    pub(super) came: Option<(&'a Packet, Towards)>,
    /// Whether the agent has passed it on.
    pub(super) has_gone: bool,
}

impl Handling<'_> {
    /// The agent passes on a packet. Returns the packet with its number.
    #[cold]
    pub(super) fn pass(
        &mut self,
        events: &mut Events,
        now: Time,
        packet: &Packet,
        towards: Towards,
    ) -> Packet {
        let came = self.came.filter(|(came, way)| *way == towards && came.id == packet.id && !self.has_gone);
        self.has_gone |= came.is_some();
        events.passed_on(now, self.node, packet, came.map(|(came, _)| came))
    }

    /// The call of the agent has ended.
    #[cold]
    pub(super) fn end(&self, events: &mut Events, now: Time) {
        if let Some((packet, _)) = self.came
            && !self.has_gone
        {
            events.kept(now, self.node, packet);
        }
    }
}
