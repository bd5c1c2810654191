//! A packet at the station that sends it: it joins the queue, and in the end the MAC releases it.

use lasthop_stack::hooks::{Admission, DropCause};
use lasthop_stack::link::dot11::{Category, Msdu, Outcome};
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::signal::Signal;

use super::classes::class_of;
use super::{Host, Wlan};
use crate::net::pool::PoolId;
use crate::probe::events::{Event, Why};
use crate::probe::judgement::Culprit;

impl Wlan {
    pub(super) fn enqueue(&mut self, station: usize, packet: Packet, is_ahead: bool, host: &mut Host) {
        let node = self.sites[station].node;
        let next = host.routes.next_hop(node, packet.dst).next;
        if self.has_left(next) {
            // An agent passes down a packet whose node has left this medium.
            host.inbox.push_back((node, packet));
            return;
        }
        let id = host.pool.insert(packet);
        self.take_in(station, id, (next, is_ahead), host);
    }

    /// Enqueues a packet to a node of this medium at the head of the queue or at its tail.
    pub(super) fn take_in(
        &mut self,
        station: usize,
        id: PoolId,
        (next, is_ahead): (NodeId, bool),
        host: &mut Host,
    ) {
        host.pool.stamp(id, host.now);
        host.enters(id, self.sites[station].node);
        if self.sites[station].management.stage.is_some() {
            self.join(station, id, is_ahead, host);
            return;
        }
        let (packet, size) = host.pool.get(id);
        let (class, category) = (class_of(packet), self.category_of(packet));
        let flow = self.learn(station, packet, (host.timers.as_deref_mut(), host.now));
        let msdu = Msdu { handle: id.handle(), bytes: size.0 as u32, next, class, category, flow };
        let admission = self.manage(station, (packet, size), host.now);
        if admission == Admission::Drop {
            self.drop_queued(station, id, DropCause::Early, host);
            return;
        }
        let mut taken = false;
        self.with_mac(station, host, next, |mac, now, out| {
            taken = mac.enqueue(msdu, is_ahead, now, out);
        });
        if !taken {
            self.drop_queued(station, id, DropCause::Full, host);
            return;
        }
        self.count_held(station, host.now);
        let node = self.sites[station].node;
        let packet = host.pool.packet(id);
        if let Some(events) = &mut host.tracer.events {
            events.link(host.now, Event::Queue, Why::Nothing, self.place, node, packet);
        }
        if host.tracer.queue {
            let held = self.sites[station].held;
            host.tracer.station(host.now, self.place, node, held as usize);
        }
        if let Some(aqm) = &mut self.sites[station].management.aqm {
            aqm.admit(host.pool.packet_mut(id), admission);
        }
    }

    /// The association of a station with a neighbour is over: what waits for that returns to the node.
    pub(in crate::net) fn forget(&mut self, station: usize, neighbour: NodeId, host: &mut Host) {
        self.with_mac(station, host, neighbour, |mac, _, out| mac.flush(neighbour, out));
        self.refill(station, host);
        self.settle(host);
    }

    /// The access category of a packet.
    pub(super) fn category_of(&self, packet: &Packet) -> Category {
        match &self.categories[..] {
            [] => Category::BestEffort,
            categories => categories[self.ports.addressee(packet).0],
        }
    }

    pub(super) fn done(&mut self, station: usize, id: PoolId, outcome: Outcome, host: &mut Host) {
        if self.air.is_some() {
            self.note_sent(station, id, outcome, host);
        }
        let waited = host.now.since(host.pool.stamped(id));
        let size = host.pool.get(id).1;
        let has_come = host.pool.is_passed_on(id);
        let packet = host.pool.remove(id);
        self.released(station, id, size, host);
        host.leaves(&packet, self.sites[station].node);
        let why = self.trace_done(station, &packet, outcome, host);
        let signal = match outcome {
            Outcome::Delivered => {
                self.sites[station].counters.service.take(waited);
                Signal::Delivered
            }
            Outcome::Undelivered | Outcome::Expired => {
                let is_late = outcome == Outcome::Expired;
                self.sites[station].counters.drops_retry += u64::from(!is_late);
                // If it was received but its acknowledgement was not, the link discards a packet that is not lost.
                if !has_come {
                    let place = (self.place, self.sites[station].node);
                    let culprit = if is_late { Culprit::Queue } else { Culprit::Channel };
                    host.lose(&packet, (culprit, why), place);
                }
                Signal::Undelivered
            }
            Outcome::Flushed => {
                if !has_come {
                    host.inbox.push_back((self.sites[station].node, packet));
                }
                Signal::Refused
            }
        };
        self.with_agents(station, host, |agents, around| agents.on_signal(signal, &packet, around));
    }
}
