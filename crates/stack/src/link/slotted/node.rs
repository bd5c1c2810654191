//! One node: its queue, the transmission of the next slot, and the packets waiting for an echo.

use std::collections::VecDeque;

use super::frame::{Frame, FrameKind, Header};
use super::memory::{Memory, Remembered};
use super::table::NetworkTable;
use crate::hooks::{Interval, PacketId, SlotNo, Transmission, TransmissionOutcome};
use crate::packet::NodeId;

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

/// How many packets a node has on the air at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Service {
    /// A packet that waits for its echo holds up none behind it.
    #[default]
    Parallel,
    /// Packets are repeated one after the other, the oldest first, and a new one waits until none is without its echo. What
    /// is forwarded goes out in its slot all the same.
    Serial,
}

/// When a node knows that a transmission failed, and counts its wait from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitFrom {
    /// The wait begins with the transmission, which has failed when it is over.
    Transmission,
    /// The transmission has failed when the slot of its echo has passed without one; the wait begins then.
    #[default]
    Echo,
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
    /// How many packets a node remembers, to discard one that comes again.
    pub remembered: Remembered,
    /// How many packets a node has on the air at a time.
    pub service: Service,
    /// Where the wait begins.
    pub wait_from: WaitFrom,
}

/// What a node wants to do in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Nothing, or listen for an echo.
    Silent,
    /// Forward what it has just received, or acknowledge it, which goes before the queue.
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
    /// When something is to be done without an echo: the transmission is judged, or else sent again.
    due: SlotNo,
    /// Whether the last transmission is in the history as failed.
    judged: bool,
}

/// What is to be sent without delay.
#[derive(Clone, Copy, Debug)]
enum Committed {
    Relay(Held),
    Ack { header: Header, to: NodeId },
}

/// A node.
#[derive(Clone, Debug)]
pub struct Node<I> {
    address: NodeId,
    rules: Rules,
    table: NetworkTable,
    interval: I,
    /// More than one only where others may send first.
    committed: VecDeque<Committed>,
    /// Never sent.
    fresh: VecDeque<Held>,
    /// To be sent again.
    again: VecDeque<Held>,
    /// Sent, and without an echo so far; what is repeated serially stays ahead of what was sent later.
    waiting: Vec<Held>,
    /// The last slot in which it sent a packet.
    last: Option<SlotNo>,
    numbers: u64,
    memory: Memory,
}

impl<I: Interval> Node<I> {
    /// A node with nothing to do.
    #[must_use]
    pub fn new(address: NodeId, rules: Rules, table: NetworkTable, interval: I) -> Node<I> {
        Node {
            address,
            rules,
            table,
            interval,
            committed: VecDeque::new(),
            fresh: VecDeque::new(),
            again: VecDeque::new(),
            waiting: Vec::new(),
            last: None,
            numbers: 0,
            memory: Memory::new(rules.remembered),
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
        self.memory.enter(id);
        let header = Header { id, destination, retransmissions: 0, born: now };
        self.fresh.push_back(Held::new(header, handle));
    }

    /// A slot begins: timers that are due fire, and the node tells what it wants to do.
    pub fn begin(&mut self, now: SlotNo, out: &mut impl NodeOut) -> Intent {
        self.fire(now, out);
        self.expire(now, out);
        if !self.committed.is_empty() {
            return Intent::Committed;
        }
        let listens = self.last.is_some_and(|last| last.after(1) == now);
        if listens || !self.has_ordinary() {
            return Intent::Silent;
        }
        Intent::Ordinary
    }

    /// Whether the queue has something that may be sent.
    fn has_ordinary(&self) -> bool {
        !self.again.is_empty() || (!self.fresh.is_empty() && self.may_begin())
    }

    /// Whether a packet that was never sent may be.
    fn may_begin(&self) -> bool {
        self.rules.service == Service::Parallel || self.waiting.is_empty()
    }

    /// Whether a packet that waits at a place may be sent again.
    fn may_repeat(&self, place: usize) -> bool {
        self.rules.service == Service::Parallel || (place == 0 && self.again.is_empty())
    }

    /// The packets without an echo by now have failed.
    fn fire(&mut self, now: SlotNo, out: &mut impl NodeOut) {
        let mut place = 0;
        while place < self.waiting.len() {
            let held = &mut self.waiting[place];
            if held.due > now {
                place += 1;
                continue;
            }
            if !held.judged {
                held.judged = true;
                self.interval.on_outcome(held.transmission(TransmissionOutcome::Failed));
                if self.rules.wait_from == WaitFrom::Echo {
                    let echo = held.sent.after(1);
                    held.due = echo.after(wait(&mut self.interval, self.rules.least_wait, now, out));
                    continue;
                }
            }
            if !self.may_repeat(place) {
                place += 1;
                continue;
            }
            let mut held = self.waiting.remove(place);
            held.header.retransmissions += 1;
            match self.rules.discard {
                Discard::Count(most) if held.header.retransmissions > most => {
                    self.memory.forget(held.header.id);
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
        let memory = &mut self.memory;
        self.committed.retain(|committed| match committed {
            Committed::Relay(held) if expired(held) => {
                memory.forget(held.header.id);
                out.done(held.handle, End::Lifetime);
                false
            }
            _ => true,
        });
        for queue in [&mut self.again, &mut self.fresh] {
            while let Some(held) = queue.front().copied().filter(|held| expired(held)) {
                queue.pop_front();
                memory.forget(held.header.id);
                out.done(held.handle, End::Lifetime);
            }
        }
    }

    /// The frame that the node sends in this slot, after it wanted to and, if its intent was ordinary, found the channel
    /// idle; `None` if it has nothing to send.
    pub fn transmit(&mut self, now: SlotNo, out: &mut impl NodeOut) -> Option<Frame> {
        let mut is_repeated = false;
        let held = match self.committed.pop_front() {
            Some(Committed::Ack { header, to }) => {
                let kind = FrameKind::Ack;
                return Some(Frame { kind, header, transmitter: self.address, receiver: to, handle: 0 });
            }
            Some(Committed::Relay(held)) => Some(held),
            None if !self.again.is_empty() => {
                is_repeated = true;
                self.again.pop_front()
            }
            None if self.may_begin() => self.fresh.pop_front(),
            None => None,
        };
        let mut held = held?;
        let neighbours = self.table.towards(held.header.destination);
        let place = held.tries as usize % neighbours.len();
        held.to = neighbours[place];
        held.tried |= 1 << place;
        held.tries += 1;
        held.sent = now;
        held.judged = false;
        held.due = match self.rules.wait_from {
            WaitFrom::Transmission => now.after(wait(&mut self.interval, self.rules.least_wait, now, out)),
            WaitFrom::Echo => now.after(2),
        };
        if is_repeated && self.rules.service == Service::Serial {
            self.waiting.insert(0, held);
        } else {
            self.waiting.push(held);
        }
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
        if self.is_to_relay(header.id) {
            out.done(copy, End::Suppressed);
        } else if self.memory.holds(header.id) {
            self.acknowledge(header, frame.transmitter);
            out.done(copy, End::Suppressed);
        } else if header.destination == self.address {
            self.memory.enter(header.id);
            self.acknowledge(header, frame.transmitter);
            out.up(copy);
        } else if self.table.towards(header.destination).is_empty() {
            out.done(copy, End::NoRoute);
        } else {
            if self.rules.scope == CountScope::Hop {
                header.retransmissions = 0;
            }
            self.memory.enter(header.id);
            self.committed.push_back(Committed::Relay(Held::new(header, copy)));
        }
    }

    /// Whether a packet is to be forwarded that others have not let the node forward yet. What it sends then is the echo
    /// for all that sent the packet to it.
    fn is_to_relay(&self, id: PacketId) -> bool {
        let is_it =
            |committed: &Committed| matches!(committed, Committed::Relay(held) if held.header.id == id);
        self.committed.iter().any(is_it)
    }

    /// Answers with an FRN ACK, unless the same is waiting to be sent.
    fn acknowledge(&mut self, header: Header, to: NodeId) {
        let is_same = |committed: &Committed| matches!(committed, Committed::Ack { header: of, to: whom } if of.id == header.id && *whom == to);
        if !self.committed.iter().any(is_same) {
            self.committed.push_back(Committed::Ack { header, to });
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
                if !held.judged {
                    interval.on_outcome(held.transmission(TransmissionOutcome::Passed));
                }
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

    /// The slot at whose beginning the node must be asked next, after `now`; `None` while it has nothing to do.
    #[must_use]
    pub fn next_slot(&self, now: SlotNo) -> Option<SlotNo> {
        if !self.committed.is_empty() || self.has_ordinary() {
            return Some(now.after(1));
        }
        let places = self.waiting.iter().enumerate();
        let acts = places.filter(|(place, held)| !held.judged || self.may_repeat(*place));
        acts.map(|(_, held)| held.due.max(now.after(1))).min()
    }

    /// Packets that the node holds.
    #[must_use]
    pub fn backlog(&self) -> usize {
        let relays = self.committed.iter().filter(|committed| matches!(committed, Committed::Relay(_)));
        relays.count() + self.fresh.len() + self.again.len() + self.waiting.len()
    }
}

/// How many slots to wait, drawn from the window of now.
fn wait(interval: &mut impl Interval, least: u32, now: SlotNo, out: &mut impl NodeOut) -> u64 {
    let spread = interval.upper(now).saturating_sub(least);
    u64::from(least + out.draw(spread))
}

impl Held {
    fn new(header: Header, handle: u64) -> Held {
        let (to, never) = (NodeId::default(), SlotNo::default());
        Held { header, handle, tries: 0, tried: 0, to, sent: never, due: never, judged: false }
    }

    fn transmission(&self, outcome: TransmissionOutcome) -> Transmission {
        Transmission { packet: self.header.id, to: self.to, at: self.sent, outcome }
    }
}
