//! The pool of packets in transit, in reused slots.

use lasthop_stack::packet::Packet;
use lasthop_stack::units::{Bytes, Time};

use crate::engine::ahead;
use crate::engine::queue::Sequence;

/// The place of a packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PoolId(u32);

impl PoolId {
    /// The number by which a link knows the packet.
    #[inline]
    pub(super) fn handle(self) -> u64 {
        u64::from(self.0)
    }

    /// The packet that a link knows by this number.
    #[inline]
    pub(super) fn from_handle(handle: u64) -> PoolId {
        PoolId(handle as u32)
    }
}

/// A packet in transit.
#[derive(Clone, Copy, Debug)]
pub(super) struct InFlight {
    pub(super) arrival: Time,
    /// When the channel accepted it.
    pub(super) taken: Time,
    pub(super) sequence: Sequence,
    pub(super) id: PoolId,
    /// Its size in bytes.
    pub(super) size: u32,
}

/// A place of the pool: two lines of the processor's cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Aligned(Packet);

/// The packets in transit, each with its size.
#[derive(Debug, Default)]
pub(super) struct PacketPool {
    packets: Vec<Aligned>,
    sizes: Vec<u32>,
    /// The port that each is for, or [`NOWHERE`] if a place is free or the packet has left a link that still holds it.
    /// A search for the packets of one connection reads only these.
    ports: Vec<u16>,
    /// When each stamped packet reached the place where it waits, and whether its link has begun to send it.
    stamps: Vec<(Time, bool)>,
    /// The lane in which each packet waited that was taken from one.
    lanes: Vec<u32>,
    free: Vec<u32>,
}

/// The port of no packet.
const NOWHERE: u16 = 0;

impl PacketPool {
    #[inline]
    pub(super) fn insert(&mut self, packet: Packet) -> PoolId {
        self.insert_sized(packet, packet.size())
    }

    /// Stores a packet whose size is known.
    #[inline]
    pub(super) fn insert_sized(&mut self, packet: Packet, size: Bytes) -> PoolId {
        let id = self.vacate();
        self.packets[id.0 as usize] = Aligned(packet);
        self.enter(id, size);
        id
    }

    /// A free place; it stays free until a packet [enters](Self::enter) it.
    #[inline]
    pub(super) fn vacate(&mut self) -> PoolId {
        if let Some(place) = self.free.pop() {
            return PoolId(place);
        }
        self.grow()
    }

    #[cold]
    fn grow(&mut self) -> PoolId {
        self.packets.push(Aligned(Packet::NONE));
        self.sizes.push(0);
        self.ports.push(NOWHERE);
        PoolId(self.packets.len() as u32 - 1)
    }

    /// The packet that was made in a place is in transit from now on.
    #[inline]
    pub(super) fn enter(&mut self, id: PoolId, size: Bytes) {
        let place = id.0 as usize;
        self.sizes[place] = size.0 as u32;
        self.ports[place] = self.packets[place].0.ports().1;
    }

    #[inline]
    pub(super) fn packet(&self, id: PoolId) -> &Packet {
        &self.packets[id.0 as usize].0
    }

    #[inline]
    pub(super) fn packet_mut(&mut self, id: PoolId) -> &mut Packet {
        &mut self.packets[id.0 as usize].0
    }

    /// A packet with its size.
    #[inline]
    pub(super) fn get(&self, id: PoolId) -> (&Packet, Bytes) {
        (&self.packets[id.0 as usize].0, Bytes(u64::from(self.sizes[id.0 as usize])))
    }

    /// Prefetches a packet.
    #[inline]
    pub(super) fn fetch(&self, id: PoolId) {
        ahead::fetch(&self.packets[id.0 as usize]);
    }

    /// The port that a packet in transit is for.
    #[inline]
    pub(super) fn port(&self, id: PoolId) -> u16 {
        debug_assert_ne!(self.ports[id.0 as usize], NOWHERE, "the packet is in transit");
        self.ports[id.0 as usize]
    }

    #[inline]
    pub(super) fn get_mut(&mut self, id: PoolId) -> (&mut Packet, Bytes) {
        (&mut self.packets[id.0 as usize].0, Bytes(u64::from(self.sizes[id.0 as usize])))
    }

    #[inline]
    pub(super) fn remove(&mut self, id: PoolId) -> Packet {
        self.free.push(id.0);
        self.ports[id.0 as usize] = NOWHERE;
        self.packets[id.0 as usize].0
    }

    /// A packet has reached the end of its link, which still holds its own copy: it is no longer in transit.
    #[inline]
    pub(super) fn pass_on(&mut self, id: PoolId) {
        self.ports[id.0 as usize] = NOWHERE;
    }

    /// Whether a packet that is held has reached the end of its link.
    #[inline]
    pub(super) fn is_passed_on(&self, id: PoolId) -> bool {
        self.ports[id.0 as usize] == NOWHERE
    }

    /// Records the lane from which a packet was taken.
    #[inline]
    pub(super) fn leaves_lane(&mut self, id: PoolId, lane: u32) {
        if self.lanes.len() < self.packets.len() {
            self.lanes.resize(self.packets.len(), 0);
        }
        self.lanes[id.0 as usize] = lane;
    }

    /// The lane from which a packet was taken; that of a place which the packet has just left is still known.
    #[inline]
    pub(super) fn lane(&self, id: PoolId) -> u32 {
        self.lanes[id.0 as usize]
    }

    /// Records when a packet reached the place where it waits.
    #[inline]
    pub(super) fn stamp(&mut self, id: PoolId, now: Time) {
        if self.stamps.len() < self.packets.len() {
            self.stamps.resize(self.packets.len(), (Time::ZERO, false));
        }
        self.stamps[id.0 as usize] = (now, false);
    }

    /// A link begins to send a packet that was stamped, or a part of it. Returns when the packet came, the first time.
    #[inline]
    pub(super) fn begin_sending(&mut self, id: PoolId) -> Option<Time> {
        let (came, has_begun) = &mut self.stamps[id.0 as usize];
        (!std::mem::replace(has_begun, true)).then_some(*came)
    }

    /// When a packet reached the place where it waits; it was stamped.
    #[inline]
    pub(super) fn stamped(&self, id: PoolId) -> Time {
        self.stamps[id.0 as usize].0
    }

    /// All packets in transit with their sizes, in no particular order.
    pub(super) fn on_their_way(&self) -> impl Iterator<Item = (&Packet, Bytes)> {
        let places = self.ports.iter().zip(self.packets.iter().zip(&self.sizes));
        let held = places.filter(|(port, _)| **port != NOWHERE);
        held.map(|(_, (place, size))| (&place.0, Bytes(u64::from(*size))))
    }

    /// All packets that are in transit or that a link still holds, in no particular order.
    pub(super) fn held(&self) -> impl Iterator<Item = &Packet> {
        let mut is_held = vec![true; self.packets.len()];
        self.free.iter().for_each(|place| is_held[*place as usize] = false);
        self.packets.iter().zip(is_held).filter(|(_, is_held)| *is_held).map(|(place, _)| &place.0)
    }

    /// The packets for a port, in no particular order.
    pub(super) fn bound_for(&self, port: u16) -> impl Iterator<Item = &Packet> {
        let runs = self.ports.chunks(RUN).zip(self.packets.chunks(RUN));
        let runs = runs.filter(move |(ports, _)| has(ports, port));
        runs.flat_map(move |(ports, packets)| {
            let places = ports.iter().zip(packets).filter(move |(other, _)| **other == port);
            places.map(|(_, place)| &place.0)
        })
    }
}

/// Places that are searched at once.
const RUN: usize = 64;

/// Whether one of the ports is this one: all are compared, since that takes less time than to stop at the first.
#[inline]
fn has(ports: &[u16], port: u16) -> bool {
    ports.iter().map(|other| u16::from(*other == port)).sum::<u16>() > 0
}
