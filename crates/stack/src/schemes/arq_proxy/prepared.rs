//! The acknowledgements that the proxy has prepared: maps the hash of a packet to its connection.

use std::collections::VecDeque;

use crate::packet::{Packet, Segment};
use crate::state_bytes::StateBytes;

/// The hash of a data packet, over the fields that identify it: addresses, ports, sequence number and length. Proxy and
/// client compute the same value.
pub(super) fn hash(packet: &Packet, segment: &Segment) -> u32 {
    let ends = u64::from(packet.src.0) << 32 | u64::from(packet.dst.0);
    let ports = u64::from(segment.src_port) << 16 | u64::from(segment.dst_port);
    let place = u64::from(segment.seq.0) << 32 | u64::from(segment.len);
    let mixed = mix(mix(mix(ends) ^ ports) ^ place);
    (mixed >> 32) as u32 ^ mixed as u32
}

/// A bijection that spreads each bit over all bits (the finaliser of `SplitMix64`).
fn mix(mut bits: u64) -> u64 {
    bits = bits.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ bits >> 31
}

/// A hash and its connection, or `None` if several segments have the same hash.
type Entry<K> = (u32, Option<K>);

/// Hashes in 256 sorted lists, and the order in which they were entered.
#[derive(Clone, Debug)]
pub(super) struct Prepared<K> {
    lists: Vec<Vec<Entry<K>>>,
    order: VecDeque<u32>,
    most: usize,
    /// The current and the maximum number of entries.
    known: usize,
    longest: usize,
}

impl<K: Copy + PartialEq + StateBytes> Prepared<K> {
    /// A table of `most` hashes; the oldest make room for new ones.
    pub(super) fn new(most: usize) -> Prepared<K> {
        Prepared { lists: vec![Vec::new(); 256], order: VecDeque::new(), most, known: 0, longest: 0 }
    }

    /// Maximum number of bytes held at once.
    pub(super) fn bytes_max(&self) -> u64 {
        self.longest as u64 * (<Entry<K>>::BYTES + u32::BYTES)
    }

    /// Enters a segment that is not yet in the table.
    pub(super) fn enter(&mut self, hash: u32, key: K) {
        while self.order.len() >= self.most
            && let Some(oldest) = self.order.pop_front()
        {
            self.remove(oldest);
        }
        let list = &mut self.lists[usize::from(hash as u8)];
        let place = list.partition_point(|entry| entry.0 < hash);
        if let Some(entry) = list.get_mut(place).filter(|entry| entry.0 == hash) {
            entry.1 = None;
        } else {
            list.insert(place, (hash, Some(key)));
            self.order.push_back(hash);
            self.known += 1;
            self.longest = self.longest.max(self.known);
        }
    }

    /// Removes all.
    pub(super) fn clear(&mut self) {
        self.lists.iter_mut().for_each(Vec::clear);
        self.order.clear();
        self.known = 0;
    }

    /// The connection of a hash, if it is known and unique.
    pub(super) fn find(&self, hash: u32) -> Option<K> {
        self.entry(hash).and_then(|entry| entry.1)
    }

    fn entry(&self, hash: u32) -> Option<&Entry<K>> {
        let list = &self.lists[usize::from(hash as u8)];
        list.get(list.partition_point(|entry| entry.0 < hash)).filter(|entry| entry.0 == hash)
    }

    /// Removes a hash that will not be requested any more.
    pub(super) fn remove(&mut self, hash: u32) {
        let list = &mut self.lists[usize::from(hash as u8)];
        let place = list.partition_point(|entry| entry.0 < hash);
        if list.get(place).is_some_and(|entry| entry.0 == hash) {
            list.remove(place);
            self.known -= 1;
        }
        while self.order.front().is_some_and(|oldest| self.entry(*oldest).is_none()) {
            self.order.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::{Body, NodeId};
    use crate::units::SeqNo;

    #[test]
    fn a_hash_is_found_until_it_is_removed_and_two_of_the_same_are_nobodys() {
        let mut prepared = Prepared::new(3);
        for hash in [0x100, 0x200, 0x001] {
            prepared.enter(hash, hash + 1);
        }
        assert_eq!(
            [0x100, 0x200, 0x001, 0x300].map(|hash| prepared.find(hash)),
            [Some(257), Some(513), Some(2), None]
        );
        prepared.enter(0x001, 7);
        assert_eq!(prepared.find(0x001), None);
        prepared.enter(0x400, 9);
        assert_eq!((prepared.find(0x100), prepared.find(0x400)), (None, Some(9)), "the oldest made room");
        prepared.remove(0x400);
        assert_eq!(prepared.find(0x400), None);
    }

    #[test]
    fn each_field_that_names_a_packet_changes_its_hash() {
        let packet = |src, dst, src_port, seq, len| {
            let segment = Segment { src_port, seq: SeqNo(seq), len, ..Segment::default() };
            hash(&Packet::new(NodeId(src), NodeId(dst), Body::Tcp(segment)), &segment)
        };
        let all = [
            packet(1, 2, 3, 4, 5),
            packet(0, 2, 3, 4, 5),
            packet(1, 0, 3, 4, 5),
            packet(1, 2, 0, 4, 5),
            packet(1, 2, 3, 0, 5),
            packet(1, 2, 3, 4, 0),
            packet(2, 1, 3, 4, 5),
        ];
        let mut distinct = all.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
    }
}
