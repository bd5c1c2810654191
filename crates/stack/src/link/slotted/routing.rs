//! Which of several neighbours gets a packet: routes that spread the load, which the paper leaves to future work (5).

use std::collections::VecDeque;

use crate::packet::NodeId;

/// Which of several forward neighbours gets a packet. Where only one is forward, all rules are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// The first of the table; at each retransmission the next.
    #[default]
    Table,
    /// Each in turn, packet by packet, whatever their load: what spreading is worth without any knowledge.
    Turn,
    /// The one that sent the fewest of the frames that the node heard last, of those that have not had the packet.
    Load {
        /// The number of frames.
        frames: u32,
    },
}

/// The senders of the frames that a node heard last.
#[derive(Clone, Debug)]
pub(super) struct Heard {
    most: usize,
    senders: VecDeque<NodeId>,
}

impl Heard {
    pub(super) fn new(routing: Routing) -> Heard {
        let most = if let Routing::Load { frames } = routing { frames as usize } else { 0 };
        Heard { most, senders: VecDeque::with_capacity(most) }
    }

    pub(super) fn enter(&mut self, sender: NodeId) {
        if self.most > 0 {
            if self.senders.len() == self.most {
                self.senders.pop_front();
            }
            self.senders.push_back(sender);
        }
    }

    /// The number of frames of a node.
    pub(super) fn of(&self, node: NodeId) -> usize {
        self.senders.iter().filter(|sender| **sender == node).count()
    }
}

/// The neighbours that have had a packet.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tried {
    /// The number of transmissions.
    pub(super) times: u32,
    /// The neighbours, one bit for each place in the table.
    pub(super) places: u64,
    /// The place of the last.
    pub(super) last: u32,
}

impl Tried {
    /// Notes a transmission to the neighbour at a place.
    pub(super) fn enter(&mut self, place: usize) {
        self.times += 1;
        self.places |= 1 << place;
        self.last = place as u32;
    }

    /// Whether the neighbour at a place has had it.
    pub(super) fn has(self, place: usize) -> bool {
        self.places & 1 << place != 0
    }
}
