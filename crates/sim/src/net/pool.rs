//! Packets on their way, in slots that are used again.

use lasthop_stack::packet::Packet;
use lasthop_stack::units::{Bytes, Time};

/// Where a packet stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolId(u32);

impl PoolId {
    /// What a link knows the packet by.
    #[inline]
    pub(super) fn handle(self) -> u64 {
        u64::from(self.0)
    }

    /// The packet that a link knows by this.
    #[inline]
    pub(super) fn from_handle(handle: u64) -> PoolId {
        PoolId(handle as u32)
    }
}

/// The packets on their way, each with its size.
#[derive(Debug, Default)]
pub(super) struct PacketPool {
    packets: Vec<(Packet, Bytes)>,
    /// The port that each is for, or [`NOWHERE`] where a place is free: what looks for the packets of one connection
    /// walks along these alone.
    ports: Vec<u16>,
    /// When each came to where it waits, of those that were stamped.
    stamps: Vec<Time>,
    free: Vec<u32>,
}

/// The port of no packet.
const NOWHERE: u16 = 0;

impl PacketPool {
    #[inline]
    pub(super) fn insert(&mut self, packet: Packet) -> PoolId {
        let (size, port) = (packet.size(), packet.ports().1);
        if let Some(place) = self.free.pop() {
            self.packets[place as usize] = (packet, size);
            self.ports[place as usize] = port;
            return PoolId(place);
        }
        self.packets.push((packet, size));
        self.ports.push(port);
        PoolId(self.packets.len() as u32 - 1)
    }

    #[inline]
    pub(super) fn get(&self, id: PoolId) -> (&Packet, Bytes) {
        let (packet, size) = &self.packets[id.0 as usize];
        (packet, *size)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: PoolId) -> (&mut Packet, Bytes) {
        let (packet, size) = &mut self.packets[id.0 as usize];
        (packet, *size)
    }

    #[inline]
    pub(super) fn remove(&mut self, id: PoolId) -> Packet {
        self.free.push(id.0);
        self.ports[id.0 as usize] = NOWHERE;
        self.packets[id.0 as usize].0
    }

    /// Notes when a packet came to where it waits.
    #[inline]
    pub(super) fn stamp(&mut self, id: PoolId, now: Time) {
        if self.stamps.len() < self.packets.len() {
            self.stamps.resize(self.packets.len(), Time::ZERO);
        }
        self.stamps[id.0 as usize] = now;
    }

    /// When a packet came to where it waits; it was stamped.
    #[inline]
    pub(super) fn stamped(&self, id: PoolId) -> Time {
        self.stamps[id.0 as usize]
    }

    /// The packets for a port, in no particular order.
    pub(super) fn bound_for(&self, port: u16) -> impl Iterator<Item = &Packet> {
        let places = self.ports.iter().zip(&self.packets);
        places.filter(move |(other, _)| **other == port).map(|(_, (packet, _))| packet)
    }
}
