//! Packets with content: those of nodes that are bound to programs outside the simulator.
//!
//! **How.** A packet from outside has a number as its `id`, which queues, media, agents and copies keep. Its bytes lie in a ring
//! at the place of its number. When the ring has been filled once, the places are freed whose packets have left the network,
//! by whatever way; if most are still there, the ring grows.

use std::collections::VecDeque;

use lasthop_stack::packet::{Body, Datagram, NodeId, Packet};
use lasthop_stack::units::Time;

use crate::model::Config;

/// Room for this many packets is made at first; a power of two.
const LEAST: usize = 64;

/// What a packet was when it entered the network.
#[derive(Clone, Debug)]
pub(crate) struct Content {
    /// Its number, or 0 where the place is free.
    number: u32,
    /// The packet as the network sees it.
    pub(crate) packet: Packet,
    /// When it entered.
    pub(crate) entered: Time,
    /// Its bytes.
    pub(crate) bytes: Vec<u8>,
}

/// The exchange between bound nodes and the network.
#[derive(Debug)]
pub(crate) struct Outside {
    ring: Vec<Content>,
    last: u32,
    /// Packets that enter before the ring is searched for places that are free.
    left: usize,
    /// Packets that have arrived at bound nodes, with the time of arrival, in order.
    pub(crate) arrived: VecDeque<(NodeId, Packet, Time)>,
}

impl Default for Outside {
    fn default() -> Outside {
        let mut outside = Outside { ring: Vec::new(), last: 0, left: 0, arrived: VecDeque::new() };
        outside.grow(LEAST);
        outside
    }
}

impl Outside {
    /// The exchange of a scenario; `None` if no node is bound.
    pub(super) fn of(config: &Config) -> Option<Box<Outside>> {
        config.flows.iter().any(|flow| flow.is_outside).then(Box::default)
    }

    /// Whether a search for free places is due before the next packet enters.
    pub(super) fn is_full(&self) -> bool {
        self.left == 0
    }

    /// Frees the places of all numbers but these, and doubles the ring if more than half of it stays in use.
    pub(super) fn sweep(&mut self, in_transit: impl Iterator<Item = u32>) {
        let mut stays = vec![false; self.ring.len()];
        for number in in_transit {
            if let Some(place) = self.place(number) {
                stays[place] = true;
            }
        }
        let used = stays.iter().filter(|stays| **stays).count();
        for (content, stays) in self.ring.iter_mut().zip(stays) {
            if !stays {
                content.number = 0;
            }
        }
        if 2 * used > self.ring.len() {
            self.grow(2 * self.ring.len());
        }
        self.left = self.ring.len() - used;
    }

    /// Makes the ring this long, a power of two. Different numbers keep different places.
    fn grow(&mut self, length: usize) {
        let nothing = Packet::new(NodeId(0), NodeId(0), Body::Udp(Datagram::default()));
        let free = || Content { number: 0, packet: nothing, entered: Time::ZERO, bytes: Vec::new() };
        let mut ring: Vec<Content> = (0..length).map(|_| free()).collect();
        for content in self.ring.drain(..).filter(|content| content.number != 0) {
            let place = content.number as usize & (length - 1);
            ring[place] = content;
        }
        self.ring = ring;
        self.left = self.left.max(length / 2);
    }

    /// Keeps the bytes of a packet that enters now, and numbers it.
    pub(super) fn keep(&mut self, packet: &mut Packet, bytes: &[u8], now: Time) {
        let mask = self.ring.len() - 1;
        loop {
            self.last = self.last.wrapping_add(1).max(1);
            if self.ring[self.last as usize & mask].number == 0 {
                break;
            }
        }
        packet.id = self.last;
        let content = &mut self.ring[self.last as usize & mask];
        (content.number, content.packet, content.entered) = (self.last, *packet, now);
        content.bytes.clear();
        content.bytes.extend_from_slice(bytes);
        self.left -= 1;
    }

    fn place(&self, number: u32) -> Option<usize> {
        let place = number as usize & (self.ring.len() - 1);
        (number != 0 && self.ring[place].number == number).then_some(place)
    }

    /// What a packet with this number was when it entered; `None` if it did not come from outside.
    pub(crate) fn content(&self, number: u32) -> Option<&Content> {
        self.place(number).map(|place| &self.ring[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entering(outside: &mut Outside, byte: u8) -> u32 {
        let mut packet = Packet::new(NodeId(1), NodeId(2), Body::Udp(Datagram::default()));
        outside.keep(&mut packet, &[byte], Time(u64::from(byte)));
        packet.id
    }

    #[test]
    fn places_of_packets_that_have_left_are_used_again_and_the_ring_grows_with_those_in_transit() {
        let mut outside = Outside::default();
        let mut held = Vec::new();
        for round in 0..20_u8 {
            while !outside.is_full() {
                let number = entering(&mut outside, round);
                // One in seven stays.
                if number.is_multiple_of(7) {
                    held.push((number, round));
                }
            }
            outside.sweep(held.iter().map(|(number, _)| *number));
        }
        assert!(held.len() > LEAST, "more stay than there was room for at first");
        for (number, byte) in &held {
            let content = outside.content(*number).expect("it is in transit");
            assert_eq!((content.bytes.as_slice(), content.entered), (&[*byte][..], Time(u64::from(*byte))));
        }
        assert!(outside.ring.len() <= 8 * held.len(), "{} places for {}", outside.ring.len(), held.len());
        outside.sweep(std::iter::empty());
        assert!(held.iter().all(|(number, _)| outside.content(*number).is_none()));
        assert!(outside.content(0).is_none());
    }
}
