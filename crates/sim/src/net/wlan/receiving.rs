//! A packet at the station that receives it: losses above the MAC, the reorder buffer, and the way up.

use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::registry::Station;
use lasthop_stack::units::Time;

use super::classes::class_of;
use super::{Heard, Host, Interface, Wlan};
use crate::net::pool::PoolId;
use crate::probe::events::{Event, Why};
use crate::probe::judgement::Culprit;
use lasthop_stack::link::dot11::{Load, MpduFate};

impl Wlan {
    /// The MAC of a station passes up a packet: with its sequence number, one that its transmitter still holds; without one, the
    /// copy that the MAC has held.
    pub(super) fn up(
        &mut self,
        station: usize,
        id: PoolId,
        (sequence, from): (Option<u16>, NodeId),
        host: &mut Host,
    ) {
        let (packet, size) = host.pool.get(id);
        let packet = *packet;
        if sequence.is_none() {
            host.pool.remove(id);
        } else {
            if host.pool.is_passed_on(id) {
                host.accounts.repeated(&packet);
            }
            host.pool.pass_on(id);
        }
        if self.radio.loses_above(from, station, class_of(&packet), size.0 as u32, host.now) {
            self.lose_above(station, &packet, Why::AboveMac, host);
            return;
        }
        let (Some(sequence), Some((reorder, _))) = (sequence, &mut self.sites[station].reorder) else {
            self.pass_up(station, packet, host);
            return;
        };
        if !reorder.take(sequence, packet, host.now) {
            self.lose_above(station, &packet, Why::Late, host);
        }
        self.release(station, host);
    }

    /// A frame to several stations has ended: the MPDUs for those that did not receive it are lost.
    pub(super) fn note_unreached(&self, load: &mut Load) {
        let Load { mpdus, shares, .. } = load;
        let mut left = &mut mpdus[..];
        for share in shares {
            let (mpdus, rest) = std::mem::take(&mut left).split_at_mut(usize::from(share.mpdus));
            left = rest;
            let at = self.radio.station(share.to);
            if at.is_some_and(|at| self.heard.contains(&Heard::Received(at))) {
                continue;
            }
            for mpdu in mpdus.iter_mut().filter(|mpdu| mpdu.fate == MpduFate::Received) {
                mpdu.fate = MpduFate::Errored;
            }
        }
    }

    /// The MAC of a station discards a packet that came after its window had passed it.
    pub(super) fn late(&mut self, station: usize, id: PoolId, host: &mut Host) {
        let packet = *host.pool.packet(id);
        host.pool.pass_on(id);
        self.lose_above(station, &packet, Why::Late, host);
    }

    fn lose_above(&mut self, station: usize, packet: &Packet, why: Why, host: &mut Host) {
        let Interface { counters, node, .. } = &mut self.sites[station];
        counters.lost_above += 1;
        host.lose(packet, (Culprit::Channel, why), (self.place, *node));
    }

    /// The packets that the reorder buffers of the stations hold.
    pub(in crate::net) fn reordered(&self) -> impl Iterator<Item = &Packet> {
        self.sites.iter().filter_map(|site| site.reorder.as_ref()).flat_map(|(reorder, _)| reorder.iter())
    }

    /// The reordering buffers of a station time out.
    pub(super) fn on_reorder(&mut self, station: usize, host: &mut Host) {
        if let Some(slot) = self.sites[station].output.reordering {
            host.queue.cancel(slot);
        }
        let from = NodeId::default();
        self.with_mac(station, host, from, |mac, now, out| {
            if let Station::Edca(mac) = mac {
                mac.on_release(now, out);
            }
        });
    }

    /// Passes up what the reorder buffer of a station holds no longer.
    pub(super) fn release(&mut self, station: usize, host: &mut Host) {
        while let Some((reorder, _)) = &mut self.sites[station].reorder
            && let Some(packet) = reorder.release(host.now)
        {
            self.pass_up(station, packet, host);
        }
        if let Some((reorder, slot)) = &self.sites[station].reorder {
            match reorder.due() {
                Time::NEVER => host.queue.cancel(*slot),
                due => host.queue.set(*slot, due),
            }
        }
    }

    fn pass_up(&mut self, station: usize, packet: Packet, host: &mut Host) {
        if self.air.is_some() && self.note_heard(station, &packet, host.now) {
            return;
        }
        self.learn_back(station, &packet, host.now);
        let node = self.sites[station].node;
        if let Some(events) = &mut host.tracer.events {
            events.link(host.now, Event::Receive, Why::Nothing, self.place, node, &packet);
        }
        if !self.with_agents(station, host, |agents, around| agents.up(&packet, around)) {
            host.inbox.push_back((node, packet));
        }
    }
}
