//! The bytes of the packets that are in transit.
//!
//! A packet of the network has the number of its bytes as its `id`, and so has each copy of it. Bytes are kept while a packet
//! in transit has their number, which is looked up when the room is used up: packets leave the network in many ways.

use lasthop_stack::packet::Ecn;

use crate::net::Net;

/// Room for this many packets is made at first.
const LEAST: usize = 64;

/// The bytes of packets by their numbers, which are counted from 1.
#[derive(Debug, Default)]
pub(super) struct Contents {
    bytes: Vec<Vec<u8>>,
    free: Vec<u32>,
}

impl Contents {
    /// Keeps the bytes of a packet, and returns its number.
    pub(super) fn keep(&mut self, bytes: &[u8], net: &Net) -> u32 {
        if self.free.is_empty() {
            self.sweep(net.numbers());
        }
        let place = self.free.pop().unwrap_or_default();
        let room = &mut self.bytes[place as usize];
        room.clear();
        room.extend_from_slice(bytes);
        place + 1
    }

    /// The bytes with this number.
    pub(super) fn of(&mut self, number: u32) -> &mut [u8] {
        &mut self.bytes[number as usize - 1]
    }

    /// Frees the numbers that no packet in transit has, and makes as much room again if these are fewer than a half.
    fn sweep(&mut self, in_transit: impl Iterator<Item = u32>) {
        let mut is_free = vec![true; self.bytes.len()];
        in_transit.for_each(|number| is_free[number as usize - 1] = false);
        let free = (0u32..).zip(is_free).filter_map(|(place, is_free)| is_free.then_some(place));
        self.free.extend(free);
        if 2 * self.free.len() <= self.bytes.len() {
            let (held, room) = (self.bytes.len(), self.bytes.len().max(LEAST));
            self.bytes.resize(held + room, Vec::new());
            self.free.extend(held as u32..(held + room) as u32);
        }
    }
}

/// Writes the ECN field into an IPv4 packet, and mends the checksum of its header if that changes it (RFC 1624, eqn. 3).
pub(super) fn mark(bytes: &mut [u8], ecn: Ecn) {
    let before = u16::from_be_bytes([bytes[0], bytes[1]]);
    let after = before & !0b11 | ecn as u16;
    if before == after {
        return;
    }
    bytes[1] = after as u8;
    let checksum = u16::from_be_bytes([bytes[10], bytes[11]]);
    let sum = u32::from(!checksum) + u32::from(!before) + u32::from(after);
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = ((folded & 0xffff) + (folded >> 16)) as u16;
    bytes[10..12].copy_from_slice(&(!folded).to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_that_no_packet_in_transit_uses_is_used_again_and_grows_with_those_in_transit() {
        let mut contents = Contents::default();
        contents.sweep(std::iter::empty());
        assert_eq!((contents.bytes.len(), contents.free.len()), (LEAST, LEAST));
        // All but ten have left.
        contents.free.clear();
        contents.sweep(1..=10);
        assert_eq!((contents.bytes.len(), contents.free.len()), (LEAST, LEAST - 10));
        assert!(contents.free.iter().all(|place| *place >= 10));
        contents.free.clear();
        contents.sweep(1..=LEAST as u32);
        assert_eq!((contents.bytes.len(), contents.free.len()), (2 * LEAST, LEAST));
    }
}
