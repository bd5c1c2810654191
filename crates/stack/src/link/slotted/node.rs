//! One node: its queue, what it must send in the next slot, and what waits for an echo.

use std::collections::VecDeque;

use super::frame::{Frame, FrameKind, Header, PacketId, SlotNo};
use super::table::NetworkTable;
use crate::hooks::{Interval, Transmission, TransmissionOutcome};
use crate::packet::NodeId;
use crate::registry::IntervalMachine;

/// When a packet is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// When it would be sent again more often than this ("maximum count of retransmission").
    Count(u32),
    /// When it has been in the network for more slots than this ("maximum lifetime", FRN's own rule).
    Lifetime(u64),
}

/// Over what the retransmissions of a packet are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CountScope {
    /// Over all hops: the count travels in the header.
    #[default]
    Path,
    /// Over each hop by itself.
    Hop,
}

/// What all nodes of a network have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Least number of slots from one transmission of a packet to the next.
    pub least_wait: u32,
    /// When a packet is discarded.
    pub discard: Discard,
    /// Over what its retransmissions are counted.
    pub scope: CountScope,
    /// How many packets a node remembers, to discard one that comes again; 0 suppresses no duplicate.
    pub remembered: usize,
}

/// What a node wants to do in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Nothing, or listen for an echo.
    Silent,
    /// Forward what it has just received, or acknowledge it: without carrier sense.
    Committed,
    /// Send from its queue if the channel is idle.
    Ordinary,
}

/// Why a node parts with a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A neighbour has it, as its echo tells.
    Passed,
    /// It was sent again too often.
    Count,
    /// It was in the network for too long.
    Lifetime,
    /// It had been here before.
    Suppressed,
    /// Nobody leads to its destination.
    NoRoute,
}

/// Where a node puts its answers.
pub trait NodeOut {
    /// The copy is at its destination; the host takes it.
    fn up(&mut self, handle: u64);
    /// The node has parted with a copy.
    fn done(&mut self, handle: u64, end: End);
    /// A number from 0 to `bound`, all alike.
    fn draw(&mut self, bound: u32) -> u32;
}

/// A copy that a node holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    header: Header,
    handle: u64,
    /// How often this node has sent it.
    tries: u32,
    /// The neighbours it was sent to, by their place in the table.
    tried: u64,
    /// The neighbour it was sent to last.
    to: NodeId,
    /// When it was sent last.
    sent: SlotNo,
    /// When it is sent again without an echo.
    due: SlotNo,
}

/// What is sent in the next slot.
#[derive(Clone, Copy, Debug)]
enum Committed {
    Relay(Held),
    Ack { header: Header, to: NodeId },
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node {
    address: NodeId,
    rules: Rules,
    table: NetworkTable,
    interval: IntervalMachine,
    committed: Option<Committed>,
    /// Never sent.
    fresh: VecDeque<Held>,
    /// To be sent again.
    again: VecDeque<Held>,
    /// Sent, and without an echo so far; in the order sent.
    waiting: Vec<Held>,
    /// The last slot in which it sent a packet.
    last: Option<SlotNo>,
    numbers: u64,
    seen: VecDeque<PacketId>,
}

impl Node {
    /// A node with nothing to do.
    #[must_use]
    pub fn new(address: NodeId, rules: Rules, table: NetworkTable, interval: IntervalMachine) -> Node {
        Node {
            address,
            rules,
            table,
            interval,
            committed: None,
            fresh: VecDeque::new(),
            again: VecDeque::new(),
            waiting: Vec::new(),
            last: None,
            numbers: 0,
            seen: VecDeque::with_capacity(rules.remembered),
        }
    }

    /// What the next packet that enters the network here is called.
    #[must_use]
    pub fn next_id(&self) -> PacketId {
        PacketId { source: self.address, number: self.numbers }
    }

    /// Takes in a packet that enters the network here, in the slot `now`; its destination is another node.
    pub fn enqueue(&mut self, destination: NodeId, handle: u64, now: SlotNo, out: &mut impl NodeOut) {
        let id = self.next_id();
        self.numbers += 1;
        if self.table.towards(destination).is_empty() {
            out.done(handle, End::NoRoute);
            return;
        }
        self.remember(id);
        let header = Header { id, destination, retransmissions: 0, born: now };
        self.fresh.push_back(Held::new(header, handle));
    }

    /// A slot begins: timers that are due fire, and the node tells what it wants to do.
    pub fn begin(&mut self, now: SlotNo, out: &mut impl NodeOut) -> Intent {
        self.fire(now, out);
        self.expire(now, out);
        if self.committed.is_some() {
            return Intent::Committed;
        }
        let listens = self.last.is_some_and(|last| last.after(1) == now);
        if listens || (self.again.is_empty() && self.fresh.is_empty()) {
            return Intent::Silent;
        }
        Intent::Ordinary
    }

    /// The packets without an echo by now have failed.
    fn fire(&mut self, now: SlotNo, out: &mut impl NodeOut) {
        let mut place = 0;
        while place < self.waiting.len() {
            if self.waiting[place].due > now {
                place += 1;
                continue;
            }
            let mut held = self.waiting.remove(place);
            self.interval.on_outcome(held.transmission(TransmissionOutcome::Failed));
            held.header.retransmissions += 1;
            match self.rules.discard {
                Discard::Count(most) if held.header.retransmissions > most => {
                    out.done(held.handle, End::Count);
                }
                _ => self.again.push_back(held),
            }
        }
    }

    /// Discards what is about to be sent and has been in the network for too long.
    fn expire(&mut self, now: SlotNo, out: &mut impl NodeOut) {
        let Discard::Lifetime(most) = self.rules.discard else { return };
        let expired = |held: &Held| held.header.born.after(most) < now;
        if let Some(Committed::Relay(held)) = &self.committed
            && expired(held)
        {
            out.done(held.handle, End::Lifetime);
            self.committed = None;
        }
        for queue in [&mut self.again, &mut self.fresh] {
            while let Some(held) = queue.front().copied().filter(|held| expired(held)) {
                queue.pop_front();
                out.done(held.handle, End::Lifetime);
            }
        }
    }

    /// The frame that the node sends in this slot, after it wanted to and, if its intent was ordinary, found the channel
    /// idle; `None` if it has nothing to send.
    pub fn transmit(&mut self, now: SlotNo, out: &mut impl NodeOut) -> Option<Frame> {
        let held = match self.committed.take() {
            Some(Committed::Ack { header, to }) => {
                let kind = FrameKind::Ack;
                return Some(Frame { kind, header, transmitter: self.address, receiver: to, handle: 0 });
            }
            Some(Committed::Relay(held)) => Some(held),
            None => self.again.pop_front().or_else(|| self.fresh.pop_front()),
        };
        let mut held = held?;
        let neighbours = self.table.towards(held.header.destination);
        let place = held.tries as usize % neighbours.len();
        held.to = neighbours[place];
        held.tried |= 1 << place;
        held.tries += 1;
        held.sent = now;
        let spread = self.interval.upper(now).saturating_sub(self.rules.least_wait);
        held.due = now.after(u64::from(self.rules.least_wait + out.draw(spread)));
        self.waiting.push(held);
        self.last = Some(now);
        let Held { header, handle, .. } = held;
        Some(Frame { kind: FrameKind::Packet, header, transmitter: self.address, receiver: held.to, handle })
    }

    /// The node has heard a frame in the slot that ends. `copy` is what the host knows the node's own copy by, if the frame
    /// is a packet for it.
    pub fn on_frame(&mut self, frame: &Frame, copy: u64, out: &mut impl NodeOut) {
        self.settle(frame.header.id, frame.transmitter, out);
        if frame.receiver != self.address || frame.kind == FrameKind::Ack {
            return;
        }
        let mut header = frame.header;
        let ack = Committed::Ack { header, to: frame.transmitter };
        if self.rules.remembered > 0 && self.seen.contains(&header.id) {
            self.committed = Some(ack);
            out.done(copy, End::Suppressed);
            return;
        }
        self.remember(header.id);
        if header.destination == self.address {
            self.committed = Some(ack);
            out.up(copy);
        } else if self.table.towards(header.destination).is_empty() {
            out.done(copy, End::NoRoute);
        } else {
            if self.rules.scope == CountScope::Hop {
                header.retransmissions = 0;
            }
            self.committed = Some(Committed::Relay(Held::new(header, copy)));
        }
    }

    /// A neighbour sent this packet or its FRN ACK: it has what was sent to it.
    fn settle(&mut self, id: PacketId, neighbour: NodeId, out: &mut impl NodeOut) {
        let table = &self.table;
        let has = |held: &Held| {
            let place = || table.towards(held.header.destination).iter().position(|node| *node == neighbour);
            held.header.id == id && place().is_some_and(|place| held.tried & 1 << place != 0)
        };
        let interval = &mut self.interval;
        self.waiting.retain(|held| {
            let passed = has(held);
            if passed {
                interval.on_outcome(held.transmission(TransmissionOutcome::Passed));
                out.done(held.handle, End::Passed);
            }
            !passed
        });
        self.again.retain(|held| {
            let passed = has(held);
            if passed {
                out.done(held.handle, End::Passed);
            }
            !passed
        });
    }

    fn remember(&mut self, id: PacketId) {
        if self.rules.remembered == 0 {
            return;
        }
        if self.seen.len() == self.rules.remembered {
            self.seen.pop_front();
        }
        self.seen.push_back(id);
    }

    /// The slot at whose beginning the node must be asked next, after `now`; `None` while it has nothing to do.
    #[must_use]
    pub fn next_slot(&self, now: SlotNo) -> Option<SlotNo> {
        if self.committed.is_some() || !self.again.is_empty() || !self.fresh.is_empty() {
            return Some(now.after(1));
        }
        self.waiting.iter().map(|held| held.due).min()
    }

    /// Packets that the node holds.
    #[must_use]
    pub fn backlog(&self) -> usize {
        let relay = usize::from(matches!(self.committed, Some(Committed::Relay(_))));
        relay + self.fresh.len() + self.again.len() + self.waiting.len()
    }
}

impl Held {
    fn new(header: Header, handle: u64) -> Held {
        let (to, never) = (NodeId::default(), SlotNo::default());
        Held { header, handle, tries: 0, tried: 0, to, sent: never, due: never }
    }

    fn transmission(&self, outcome: TransmissionOutcome) -> Transmission {
        Transmission { packet: self.header.id, to: self.to, at: self.sent, outcome }
    }
}
