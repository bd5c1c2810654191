//! The table of flows of a scheme, by address.

use crate::hooks::parameter::{Domain, LONGEST, Spec};
use crate::packet::FlowKey;
use crate::packet::{NodeId, Packet, Segment};
use crate::state_bytes::StateBytes;

/// How long a flow without a packet is remembered.
pub(super) const IDLE: Spec = Spec::new("idle", Domain::Time("s"), "idle time after which a flow is removed")
    .above("0 s")
    .at_most(LONGEST);

/// How many flows are remembered at once.
pub(super) const MOST: Spec =
    Spec::new("max-flows", Domain::Count, "maximum number of tracked flows; further flows are not handled")
        .at_least("1")
        .at_most("1000000000");

/// An address and a port: one end of a connection.
pub(super) type Endpoint = (NodeId, u16);

/// Both ends of a connection, the lower first, so that both directions have one key; as one number, which is compared
/// at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(u128);

impl StateBytes for Key {
    const BYTES: u64 = 2 * Endpoint::BYTES;
}

impl Key {
    /// The key of a packet's connection, and which of its ends sent the packet.
    #[inline]
    pub(super) fn of(packet: &Packet, segment: &Segment) -> (Key, usize) {
        let number = |node: NodeId, port| u128::from(node.0) << 16 | u128::from(port);
        let source = number(packet.src, segment.src_port);
        let destination = number(packet.dst, segment.dst_port);
        let side = usize::from(source > destination);
        let [low, high] = if side == 0 { [source, destination] } else { [destination, source] };
        (Key(low << 64 | high), side)
    }

    /// One of the two ends.
    pub(super) fn end(&self, side: usize) -> Endpoint {
        let number = (self.0 >> if side == 0 { 64 } else { 0 }) as u64;
        (NodeId((number >> 16) as u32), number as u16)
    }
}

/// The key of a flow.
pub(super) trait Address: Copy + Ord {
    /// Its two nodes.
    fn nodes(&self) -> [NodeId; 2];

    /// The list that contains it: nodes are numbered consecutively, so the sum spreads the flows of one node over
    /// all lists.
    fn list(&self) -> usize {
        let [one, other] = self.nodes();
        usize::from(one.0.wrapping_add(other.0) as u8)
    }
}

impl Address for Key {
    fn nodes(&self) -> [NodeId; 2] {
        [self.end(0).0, self.end(1).0]
    }
}

impl Address for FlowKey {
    fn nodes(&self) -> [NodeId; 2] {
        [self.src, self.dst]
    }
}

/// Flows by number, with an index by key. Numbers of forgotten flows are used again.
#[derive(Clone, Debug)]
pub(super) struct Table<K, F> {
    /// Keys with their numbers in at most 256 lists, each in ascending order.
    index: Vec<Vec<(K, u32)>>,
    flows: Vec<Option<(K, F)>>,
    free: Vec<u32>,
    /// The next number to visit.
    turn: u32,
}

impl<K, F> Default for Table<K, F> {
    fn default() -> Table<K, F> {
        Table { index: Vec::new(), flows: Vec::new(), free: Vec::new(), turn: 0 }
    }
}

impl<K: Address, F> Table<K, F> {
    /// The number of flows.
    pub(super) fn len(&self) -> usize {
        self.flows.len() - self.free.len()
    }

    /// One number after another, all in turn: visiting one with each packet finds idle flows without a timer.
    pub(super) fn turn(&mut self) -> u32 {
        self.turn += 1;
        if self.turn as usize >= self.flows.len() {
            self.turn = 0;
        }
        self.turn
    }

    /// The number of the flow with this key.
    #[inline]
    pub(super) fn find(&self, key: &K) -> Option<u32> {
        let list = self.index.get(key.list())?;
        list.get(place(list, key)).filter(|entry| entry.0 == *key).map(|entry| entry.1)
    }

    /// The flow with this key.
    #[inline]
    pub(super) fn get(&self, key: &K) -> Option<&F> {
        self.flows.get(self.find(key)? as usize)?.as_ref().map(|(_, flow)| flow)
    }

    /// The flow with this number.
    #[inline]
    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut F> {
        self.flows.get_mut(number as usize)?.as_mut().map(|(_, flow)| flow)
    }

    /// Adds a flow whose key is new.
    pub(super) fn insert(&mut self, key: K, flow: F) -> u32 {
        let number = self.free.pop().unwrap_or(self.flows.len() as u32);
        if number as usize == self.flows.len() {
            self.flows.push(None);
        }
        self.flows[number as usize] = Some((key, flow));
        if key.list() >= self.index.len() {
            self.index.resize_with(key.list() + 1, Vec::new);
        }
        let list = &mut self.index[key.list()];
        list.insert(place(list, &key), (key, number));
        number
    }

    /// Removes a flow.
    pub(super) fn remove(&mut self, number: u32) -> Option<F> {
        let (key, flow) = self.flows.get_mut(number as usize)?.take()?;
        let list = &mut self.index[key.list()];
        list.remove(place(list, &key));
        self.free.push(number);
        Some(flow)
    }

    /// The numbers of all flows of a node, or of all nodes, in ascending order.
    pub(super) fn numbers_of(&self, node: Option<NodeId>) -> Vec<u32> {
        let is_of = |key: &K| node.is_none_or(|node| key.nodes().contains(&node));
        let flows = self.flows.iter().zip(0..).filter_map(|(entry, number)| Some((entry.as_ref()?, number)));
        flows.filter(|((key, _), _)| is_of(key)).map(|(_, number)| number).collect()
    }

    /// Takes out all flows of a node, in the order of their numbers.
    pub(super) fn take_of(&mut self, node: NodeId) -> Vec<(K, F)> {
        self.take_of_numbered(node).into_iter().map(|(_, key, flow)| (key, flow)).collect()
    }

    /// The same, with their numbers.
    pub(super) fn take_of_numbered(&mut self, node: NodeId) -> Vec<(u32, K, F)> {
        let numbers = self.numbers_of(Some(node));
        let mut taken = Vec::with_capacity(numbers.len());
        for number in numbers {
            let key = self.flows[number as usize].as_ref().map(|(key, _)| *key);
            if let (Some(key), Some(flow)) = (key, self.remove(number)) {
                taken.push((number, key, flow));
            }
        }
        taken
    }

    /// All flows in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &F> {
        self.flows.iter().flatten().map(|(_, flow)| flow)
    }
}

/// The place of a key in a list, or the place it would have.
fn place<K: Ord>(list: &[(K, u32)], key: &K) -> usize {
    list.partition_point(|entry| entry.0 < *key)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::packet::Body;

    #[test]
    fn both_directions_have_one_key_that_gives_back_its_ends() {
        let ends = [(NodeId(u32::MAX), 7), (NodeId(3), u16::MAX)];
        let key = |from: usize| {
            let ((src, src_port), (dst, dst_port)) = (ends[from], ends[1 - from]);
            let segment = Segment { src_port, dst_port, ..Segment::default() };
            Key::of(&Packet::new(src, dst, Body::Tcp(segment)), &segment)
        };
        let ((one, from), (other, back)) = (key(0), key(1));
        assert_eq!((one, from, back), (other, 1, 0));
        assert_eq!([one.end(1), one.end(0)], ends);
    }

    proptest! {
        #[test]
        fn a_flow_is_found_by_its_key_until_it_is_removed(
            steps in prop::collection::vec((any::<bool>(), 0u32..600, 0u16..4), 1..400)
        ) {
            let mut table = Table::default();
            let mut model = BTreeMap::new();
            for (enters, node, port) in steps {
                let key = FlowKey { src: NodeId(1), src_port: 1, dst: NodeId(node), dst_port: port };
                let found = table.find(&key);
                prop_assert_eq!(found, model.get(&key).copied());
                match found {
                    None if enters => {
                        model.insert(key, table.insert(key, key));
                    }
                    Some(number) if !enters => {
                        prop_assert_eq!(table.remove(number), Some(key));
                        model.remove(&key);
                    }
                    _ => {}
                }
                prop_assert_eq!((table.len(), table.iter().count()), (model.len(), model.len()));
            }
            for key in model.keys() {
                prop_assert_eq!(table.get(key), Some(key));
            }
        }
    }
}
