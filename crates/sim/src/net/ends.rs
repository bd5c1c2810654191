//! The network at the ends of flows: it sends their packets, and reports the state of their timers to links.

use lasthop_stack::link::transmitter::Transmitter;
use lasthop_stack::packet::{NodeId, Packet};
use lasthop_stack::units::{Bytes, Span, Time};

use super::Net;
use super::channel::Channel;
use super::exits::Way;
use super::pool::PoolId;
use super::wlan::{Handover, News, Wlan};
use crate::probe::accounts::{Account, Accounts, Stream as ByteStream};

impl Net {
    /// An end sends a packet, which `make` writes into its place in the pool, and whose size it returns.
    #[inline]
    pub(crate) fn send_made(&mut self, end: u32, node: NodeId, make: impl FnOnce(&mut Packet) -> Bytes) {
        let id = self.pool.vacate();
        let size = make(self.pool.packet_mut(id));
        self.send_of(end, node, id, size);
    }

    /// Sends the packet of an end, as [`Self::send`] does.
    fn send_of(&mut self, end: u32, node: NodeId, id: PoolId, size: Bytes) {
        if self.is_observed {
            self.observe(end, id);
        }
        let way = self.ways.outward(end, node, self.pool.packet(id).dst);
        self.accounts.entered(end, size);
        self.pool.enter(id, size);
        match (way, &self.below) {
            (Way::Channel(channel) | Way::Relay(channel), None) => {
                let sequence = self.queue.next_sequence();
                self.offer(channel as usize, id, size, self.now, sequence);
            }
            (Way::Station { wlan, station }, _) => {
                self.with_wlan(wlan as usize, |wlan, host| wlan.send_held(station as usize, id, host));
            }
            (_, None) => {
                let packet = self.pool.remove(id);
                self.send(node, packet, size);
            }
            (_, Some(_)) => {
                let packet = self.pool.remove(id);
                self.send_counted(end, node, packet, size);
            }
        }
    }

    /// An end sends a packet: a trace records it, and a link that reads timers notes when it was sent.
    #[inline(never)]
    fn observe(&mut self, end: u32, id: PoolId) {
        let packet = self.pool.packet_mut(id);
        if let Some(events) = &mut self.tracer.events {
            events.sent(self.now, end, packet);
        }
        if let Some(timers) = &mut self.timers {
            timers.on_sent(end, packet, self.now);
        }
    }

    /// Sends a packet, and counts it where it waits on a wire; a station and a managed queue count their own.
    fn send_counted(&mut self, end: u32, node: NodeId, packet: Packet, size: Bytes) {
        let (Way::Channel(channel) | Way::Relay(channel)) = self.ways.at(node, packet.dst) else {
            return self.send(node, packet, size);
        };
        let Channel { line, stage, .. } = &mut self.channels[channel as usize];
        if stage.is_some() {
            return self.send(node, packet, size);
        }
        let held = line.queue_at(self.now).len();
        self.send(node, packet, size);
        let queue = self.channels[channel as usize].line.queue();
        if let Some(below) = &mut self.below
            && queue.len() > held
        {
            below.leaves_at(end, size, queue.last_departure());
        }
    }

    /// Sends a packet of an end which has these bytes.
    pub(crate) fn send_with_bytes(&mut self, end: u32, mut packet: Packet, bytes: &[u8]) {
        let Some(mut outside) = self.outside.take() else { return };
        if outside.contents.is_full() {
            outside.contents.retain(self.numbers());
        }
        if let Some(events) = &mut self.tracer.events {
            events.sent(self.now, end, &mut packet);
        }
        outside.contents.keep(&mut packet, bytes, self.now);
        self.outside = Some(outside);
        let size = packet.size();
        self.accounts.entered(end, size);
        self.send(packet.src, packet, size);
    }

    /// A node whose MAC layer is outside hands a frame with these bytes to its station. Returns its number; `None` if it has no
    /// station.
    pub(crate) fn hand_over(
        &mut self,
        end: u32,
        mut packet: Packet,
        bytes: &[u8],
        frame: &Handover,
    ) -> Option<u32> {
        let node = packet.src;
        let (wlan, station) = self.outer_station(node)?;
        let mut outside = self.outside.take()?;
        if outside.contents.is_full() {
            outside.contents.retain(self.numbers());
        }
        if let Some(events) = &mut self.tracer.events {
            events.sent(self.now, end, &mut packet);
        }
        outside.contents.keep_frame(&mut packet, bytes, self.now);
        self.outside = Some(outside);
        self.accounts.entered(end, packet.size());
        let (number, id) = (packet.id, self.pool.insert(packet));
        self.with_wlan(wlan, |wlan, host| wlan.hand_over(station, id, frame, host));
        Some(number)
    }

    fn outer_station(&self, node: NodeId) -> Option<(usize, usize)> {
        let found = |(wlan, it): (usize, &Wlan)| Some((wlan, it.outer_station(node)?));
        self.wlans.iter().enumerate().find_map(found)
    }

    /// What has happened to frames of nodes whose MAC layer is outside.
    pub(crate) fn take_news(&mut self, into: &mut Vec<News>) {
        self.wlans.iter_mut().for_each(|wlan| wlan.take_news(into));
    }

    /// The numbers of the packets that links hold, that are about to be delivered, or of which agents keep copies.
    fn numbers(&self) -> impl Iterator<Item = u32> {
        let reordered = self.wlans.iter().flat_map(Wlan::reordered);
        let arrived = self.inbox.iter().map(|(_, packet)| packet);
        let held = self.pool.held().chain(reordered).chain(arrived).map(|packet| packet.id);
        held.chain(self.agents.kept()).chain(self.handoffs.moving())
    }

    /// A TCP end has set its retransmission timer, or cancelled it.
    pub(crate) fn on_timer_set(&mut self, end: u32, at: Option<Time>) {
        let Some(timers) = &mut self.timers else { return };
        let timing = match at {
            Some(at) => timers.set(end, at, self.now),
            None => timers.cancel(end),
        };
        for &medium in &timers.media {
            self.wlans[medium].on_timing(end, timing);
        }
    }

    /// A TCP end has measured a round trip.
    #[inline]
    pub(crate) fn on_round_trip(&mut self, end: u32, rtt: Span) {
        if let Some(timers) = &mut self.timers {
            timers.measured(end, rtt);
        }
    }

    /// A TCP end is now that of another connection, about which nothing is known.
    pub(crate) fn on_renewed(&mut self, end: u32) {
        let Some(timers) = &mut self.timers else { return };
        let timing = timers.forget(end);
        for &medium in &timers.media {
            self.wlans[medium].on_timing(end, timing);
        }
    }

    /// The accounts of the packets of each end, at the end of the run.
    pub(crate) fn close_accounts(
        &mut self,
        streams: impl Iterator<Item = Option<ByteStream>>,
    ) -> Vec<Account> {
        let accounts = std::mem::replace(&mut self.accounts, Accounts::new(self.ports, 0));
        let reordered = self.wlans.iter().flat_map(Wlan::reordered);
        let reordered = reordered.map(|packet| (packet, packet.size()));
        accounts.finish(self.pool.on_their_way().chain(reordered), streams)
    }
}
