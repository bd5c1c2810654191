//! The flows that a scheme knows: found by their addresses in a time that does not grow with their number.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

use crate::packet::{NodeId, Packet, Segment};

/// An address and a port: one end of a connection.
pub(super) type Endpoint = (NodeId, u16);

/// Both ends of a connection, the lower first, so that both directions have one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key([Endpoint; 2]);

impl Key {
    /// The key of a packet's connection, and which of its ends sent the packet.
    pub(super) fn of(packet: &Packet, segment: &Segment) -> (Key, usize) {
        let source = (packet.src, segment.src_port);
        let destination = (packet.dst, segment.dst_port);
        if source <= destination { (Key([source, destination]), 0) } else { (Key([destination, source]), 1) }
    }

    /// One of the two ends.
    pub(super) fn end(&self, side: usize) -> Endpoint {
        self.0[side]
    }
}

/// A multiplicative hash without a random seed: the same everywhere, and the map is never walked.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Mix(u64);

impl Mix {
    const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

    fn add(&mut self, value: u64) {
        self.0 = (self.0.rotate_left(23) ^ value).wrapping_mul(Self::FACTOR);
    }
}

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.add(u64::from(byte));
        }
    }

    fn write_u16(&mut self, value: u16) {
        self.add(u64::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.add(u64::from(value));
    }

    fn write_usize(&mut self, value: usize) {
        self.add(value as u64);
    }
}

/// Flows by number, with an index by key. Numbers of forgotten flows are used again.
#[derive(Clone, Debug)]
pub(super) struct Table<K, F> {
    index: HashMap<K, u32, BuildHasherDefault<Mix>>,
    flows: Vec<Option<(K, F)>>,
    free: Vec<u32>,
    /// The number whose turn it is.
    turn: u32,
}

impl<K, F> Default for Table<K, F> {
    fn default() -> Table<K, F> {
        Table { index: HashMap::default(), flows: Vec::new(), free: Vec::new(), turn: 0 }
    }
}

impl<K: Copy + Eq + Hash, F> Table<K, F> {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    /// One number after another, all in turn: who looks at one with each packet finds what is idle without a timer.
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
        self.index.get(key).copied()
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

    /// Enters a flow whose key is new.
    pub(super) fn insert(&mut self, key: K, flow: F) -> u32 {
        let number = self.free.pop().unwrap_or(self.flows.len() as u32);
        self.index.insert(key, number);
        if number as usize == self.flows.len() {
            self.flows.push(Some((key, flow)));
        } else {
            self.flows[number as usize] = Some((key, flow));
        }
        number
    }

    /// Takes a flow out.
    pub(super) fn remove(&mut self, number: u32) -> Option<F> {
        let (key, flow) = self.flows.get_mut(number as usize)?.take()?;
        self.index.remove(&key);
        self.free.push(number);
        Some(flow)
    }

    /// All flows in the order of their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = &F> {
        self.flows.iter().flatten().map(|(_, flow)| flow)
    }
}
