//! Packets on their way, in slots that are used again.

use lasthop_stack::packet::Packet;

/// Where a packet stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct PoolId(u32);

/// The packets on their way.
#[derive(Debug, Default)]
pub(super) struct PacketPool {
    packets: Vec<Packet>,
    free: Vec<u32>,
}

impl PacketPool {
    #[inline]
    pub(super) fn insert(&mut self, packet: Packet) -> PoolId {
        if let Some(place) = self.free.pop() {
            self.packets[place as usize] = packet;
            return PoolId(place);
        }
        self.packets.push(packet);
        PoolId(self.packets.len() as u32 - 1)
    }

    #[inline]
    pub(super) fn get(&self, id: PoolId) -> &Packet {
        &self.packets[id.0 as usize]
    }

    #[inline]
    pub(super) fn remove(&mut self, id: PoolId) -> Packet {
        self.free.push(id.0);
        self.packets[id.0 as usize]
    }
}
