//! The packets that a node remembers, to identify duplicates.

use std::collections::VecDeque;

use crate::hooks::PacketId;
use crate::packet::NodeId;

/// How many packets a node remembers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remembered {
    /// The last N.
    Last(usize),
    /// All packets, at one bit each.
    All,
}

impl Remembered {
    /// No packet: no duplicate is suppressed.
    pub const NONE: Remembered = Remembered::Last(0);
}

/// The packets that a node has or has passed on, as far as it remembers them.
#[derive(Clone, Debug)]
pub(super) enum Memory {
    Last { most: usize, packets: VecDeque<PacketId> },
    All(Vec<Origin>),
}

/// A node at which packets entered the network, with one bit per packet number.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    source: NodeId,
    numbers: Vec<u64>,
}

impl Memory {
    pub(super) fn new(remembered: Remembered) -> Memory {
        match remembered {
            Remembered::Last(most) => Memory::Last { most, packets: VecDeque::with_capacity(most) },
            Remembered::All => Memory::All(Vec::new()),
        }
    }

    /// Whether a packet is remembered.
    pub(super) fn holds(&self, id: PacketId) -> bool {
        match self {
            Memory::Last { packets, .. } => packets.contains(&id),
            Memory::All(origins) => {
                let (word, bit) = place(id);
                let origin = origins.binary_search_by_key(&id.source, |origin| origin.source);
                origin.is_ok_and(|at| origins[at].numbers.get(word).is_some_and(|bits| bits & bit != 0))
            }
        }
    }

    /// Remembers a packet; if there is no room, forgets the oldest.
    pub(super) fn enter(&mut self, id: PacketId) {
        match self {
            Memory::Last { most: 0, .. } => {}
            Memory::Last { most, packets } => {
                if packets.len() == *most {
                    packets.pop_front();
                }
                packets.push_back(id);
            }
            Memory::All(origins) => {
                let (word, bit) = place(id);
                let found = origins.binary_search_by_key(&id.source, |origin| origin.source);
                let at = found.unwrap_or_else(|at| {
                    origins.insert(at, Origin { source: id.source, numbers: Vec::new() });
                    at
                });
                let numbers = &mut origins[at].numbers;
                if numbers.len() <= word {
                    numbers.resize(word + 1, 0);
                }
                numbers[word] |= bit;
            }
        }
    }

    /// Forgets a packet that the node discarded.
    pub(super) fn forget(&mut self, id: PacketId) {
        match self {
            Memory::Last { packets, .. } => packets.retain(|packet| *packet != id),
            Memory::All(origins) => {
                let (word, bit) = place(id);
                if let Ok(at) = origins.binary_search_by_key(&id.source, |origin| origin.source)
                    && let Some(bits) = origins[at].numbers.get_mut(word)
                {
                    *bits &= !bit;
                }
            }
        }
    }
}

/// The word of a packet among those of its source, and its bit in this word.
fn place(id: PacketId) -> (usize, u64) {
    ((id.number / 64) as usize, 1 << (id.number % 64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(source: u32, number: u64) -> PacketId {
        PacketId { source: NodeId(source), number }
    }

    #[test]
    fn the_oldest_packet_makes_room_unless_all_are_remembered() {
        for (remembered, still_holds) in [(Remembered::Last(200), false), (Remembered::All, true)] {
            let mut memory = Memory::new(remembered);
            for number in 0..100 {
                for source in [7, 3, 5] {
                    memory.enter(packet(source, number));
                }
            }
            assert_eq!(memory.holds(packet(7, 0)), still_holds, "{remembered:?}");
            assert!(memory.holds(packet(5, 99)) && memory.holds(packet(3, 64)));
            assert!(
                !memory.holds(packet(4, 0))
                    && !memory.holds(packet(5, 100))
                    && !memory.holds(packet(5, 1000))
            );
        }
    }

    #[test]
    fn a_packet_that_is_forgotten_takes_no_other_with_it() {
        for remembered in [Remembered::Last(9), Remembered::All] {
            let mut memory = Memory::new(remembered);
            for number in 0..3 {
                memory.enter(packet(1, number));
            }
            for forgotten in [packet(1, 1), packet(2, 0), packet(1, 700)] {
                memory.forget(forgotten);
            }
            assert_eq!([0, 1, 2].map(|number| memory.holds(packet(1, number))), [true, false, true]);
        }
    }

    #[test]
    fn nothing_is_remembered_by_a_node_that_remembers_none() {
        let mut memory = Memory::new(Remembered::NONE);
        memory.enter(packet(1, 0));
        assert!(!memory.holds(packet(1, 0)));
    }
}
