//! The data of each connection that waits in the first link of its host, for senders that bound it (TCP small queues).
//!
//! **How.** A wire, and an 802.16 link, know when a packet will have left as soon as they accept it. The sender is then
//! given the time until which it must wait. A managed queue that keeps its packets does not, nor does an 802.11
//! station. There the sender is woken when a packet leaves or is dropped.
//!
//! **Limits.** Slotted networks do not count, and wires with an agent in front do not: there a sender is never held.

use std::collections::VecDeque;

use lasthop_stack::hooks::Room;
use lasthop_stack::packet::Packet;
use lasthop_stack::units::{Bytes, Time};

use crate::engine::queue::{EventQueue, Slot};
use crate::model::ports::Ports;
use crate::model::{Config, TransportConfig};

/// Packets that may wait whatever the bound is.
const LEAST: u32 = 2;

/// The waiting packets of each end of each flow.
#[derive(Debug)]
pub(crate) struct Below {
    ports: Ports,
    ends: Vec<Waiting>,
}

#[derive(Clone, Debug, Default)]
struct Waiting {
    packets: u32,
    bytes: u64,
    /// When those on a wire leave, with their sizes.
    departures: VecDeque<(Time, u64)>,
    /// The bound by which a sender is held until it is woken, and its timer.
    held: Option<(u64, Slot)>,
}

impl Waiting {
    fn has_room(&self, limit: u64) -> bool {
        self.packets < LEAST || self.bytes <= limit
    }

    fn add(&mut self, size: u64) {
        self.packets += 1;
        self.bytes += size;
    }

    fn remove(&mut self, size: u64) {
        self.packets -= 1;
        self.bytes -= size;
    }

    /// The first known departure after which there is room.
    fn room_after(&self, limit: u64) -> Option<Time> {
        let (mut packets, mut bytes) = (self.packets, self.bytes);
        self.departures.iter().find_map(|&(departure, size)| {
            (packets, bytes) = (packets - 1, bytes - size);
            (packets < LEAST || bytes <= limit).then_some(departure)
        })
    }
}

impl Below {
    /// For the flows of a scenario; `None` if none of them has a bound.
    pub(super) fn of(config: &Config, ports: Ports) -> Option<Box<Below>> {
        let bounded = |transport: &TransportConfig| match transport {
            TransportConfig::Tcp(tcp) => tcp.small_queue.is_some(),
            TransportConfig::Udp { .. } | TransportConfig::Quic(_) => false,
        };
        let ends = vec![Waiting::default(); 2 * config.flows.len()];
        config.flows.iter().any(|flow| bounded(&flow.transport)).then(|| Box::new(Below { ports, ends }))
    }

    /// A wire has accepted a packet of an end, and its last bit leaves then.
    pub(super) fn leaves_at(&mut self, end: u32, size: Bytes, departure: Time) {
        let waiting = &mut self.ends[end as usize];
        waiting.add(size.0);
        waiting.departures.push_back((departure, size.0));
    }

    /// A packet joins a queue at the node that sent it, from which it leaves at a time that is not known yet.
    pub(super) fn enters(&mut self, packet: &Packet) {
        self.ends[self.ports.sender(packet) as usize].add(packet.size().0);
    }

    /// A packet leaves that queue for a wire, and its last bit leaves then: a sender that was held is woken at the departure
    /// that makes room.
    pub(super) fn crosses(&mut self, packet: &Packet, departure: Time, queue: &mut EventQueue) {
        let waiting = &mut self.ends[self.ports.sender(packet) as usize];
        waiting.departures.push_back((departure, packet.size().0));
        if let Some((limit, timer)) = waiting.held
            && let Some(at) = waiting.room_after(limit)
        {
            waiting.held = None;
            queue.set(timer, at);
        }
    }

    /// A packet has left that queue, sent or dropped: a sender that was held is woken if it has room.
    pub(super) fn leaves(&mut self, packet: &Packet, queue: &mut EventQueue, now: Time) {
        let waiting = &mut self.ends[self.ports.sender(packet) as usize];
        waiting.remove(packet.size().0);
        if let Some((_, timer)) = waiting.held.filter(|(limit, _)| waiting.has_room(*limit)) {
            waiting.held = None;
            queue.set(timer, now);
        }
    }

    /// Whether an end may send, where at most `limit` bytes may wait.
    pub(crate) fn room(&mut self, end: u32, limit: u64, now: Time, timer: Slot) -> Room {
        let waiting = &mut self.ends[end as usize];
        waiting.held = None;
        while let Some(&(_, size)) = waiting.departures.front().filter(|first| first.0 <= now) {
            waiting.departures.pop_front();
            waiting.remove(size);
        }
        if waiting.has_room(limit) {
            return Room::Now;
        }
        if let Some(departure) = waiting.room_after(limit) {
            return Room::At(departure);
        }
        waiting.held = Some((limit, timer));
        Room::Later
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn below() -> Below {
        let ports = Ports::new(1, false).expect("a port");
        Below { ports, ends: vec![Waiting::default(); 2] }
    }

    #[test]
    fn on_a_wire_the_sender_waits_for_the_departure_that_makes_room() {
        let mut below = below();
        let timer = EventQueue::default().slot();
        for number in 1..=4 {
            below.leaves_at(0, Bytes(1500), Time(100 * number));
        }
        let mut room = |limit: u64, now: u64| below.room(0, limit, Time(now), timer);
        assert_eq!(
            [room(6000, 0), room(5999, 0), room(3000, 0)],
            [Room::Now, Room::At(Time(100)), Room::At(Time(200))]
        );
        // One of two packets may wait whatever the bound is.
        assert_eq!(
            [room(0, 0), room(0, 299), room(0, 300)],
            [Room::At(Time(300)), Room::At(Time(300)), Room::Now]
        );
        assert_eq!(below.room(1, 0, Time(0), timer), Room::Now);
    }
}
