//! The interface that an 802.11 link requires of the network around it.

use std::collections::VecDeque;

use lasthop_stack::link::dot11::Agreements;
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::registry::ArqMachine;
use lasthop_stack::units::Time;

use crate::engine::queue::EventQueue;
use crate::net::agents::Agents;
use crate::net::below::Below;
use crate::net::pool::{PacketPool, PoolId};
use crate::net::routes::Routes;
use crate::net::timers::Timers;
use crate::outside::Outside;
use crate::probe::accounts::Accounts;
use crate::probe::events::{Event, Why};
use crate::probe::judgement::{Culprit, Losses};
use crate::probe::trace::Tracer;

/// The interface that a medium requires of the network around it.
pub(crate) struct Host<'a> {
    pub(in crate::net) queue: &'a mut EventQueue,
    pub(in crate::net) pool: &'a mut PacketPool,
    pub(in crate::net) inbox: &'a mut VecDeque<(NodeId, Packet)>,
    pub(in crate::net) agents: &'a mut Agents,
    pub(in crate::net) losses: &'a mut Losses,
    pub(in crate::net) accounts: &'a mut Accounts,
    pub(in crate::net) routes: &'a Routes,
    /// What the links of multi-link devices have in common, by device.
    pub(in crate::net) devices: &'a mut [Agreements<ArqMachine>],
    pub(in crate::net) tracer: &'a mut Tracer,
    pub(in crate::net) timers: Option<&'a mut Timers>,
    pub(in crate::net) below: Option<&'a mut Below>,
    pub(in crate::net) outside: Option<&'a Outside>,
    pub(in crate::net) now: Time,
}

impl Host<'_> {
    /// A packet joins the queue of the station of a node.
    #[inline]
    pub(super) fn enters(&mut self, id: PoolId, node: NodeId) {
        if let Some(below) = &mut self.below {
            let packet = self.pool.packet(id);
            if packet.src == node {
                below.enters(packet);
            }
        }
    }

    /// The station of a node no longer has a packet.
    #[inline]
    pub(super) fn leaves(&mut self, packet: &Packet, node: NodeId) {
        if let Some(below) = &mut self.below
            && packet.src == node
        {
            below.leaves(packet, self.queue, self.now);
        }
    }

    /// A packet is lost now, at a node of a link.
    pub(super) fn lose(
        &mut self,
        packet: &Packet,
        (culprit, why): (Culprit, Why),
        (link, node): (u32, NodeId),
    ) {
        self.losses.enter(packet, culprit, self.now);
        self.accounts.lost(packet);
        if let Some(events) = &mut self.tracer.events {
            events.link(self.now, Event::Lost, why, link, node, packet);
        }
    }
}
