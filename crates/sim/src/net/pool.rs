//! Packets on their way, in slots that are used again.

use lasthop_stack::packet::Packet;
use lasthop_stack::units::Bytes;

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
    free: Vec<u32>,
}

impl PacketPool {
    #[inline]
    pub(super) fn insert(&mut self, packet: Packet) -> PoolId {
        let size = packet.size();
        if let Some(place) = self.free.pop() {
            self.packets[place as usize] = (packet, size);
            return PoolId(place);
        }
        self.packets.push((packet, size));
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
        self.packets[id.0 as usize].0
    }
}
