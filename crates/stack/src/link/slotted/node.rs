//! One node: its queue, its transmission in the next slot, and the packets that wait for an echo.

use std::collections::VecDeque;

use super::frame::{Frame, FrameKind, Header};
use super::memory::{Memory, Remembered};
use super::routing::{Heard, Routing, Tried};
use super::table::NetworkTable;
use crate::hooks::parameter::words;
use crate::hooks::{Interval, PacketId, SlotNo, Transmission, TransmissionOutcome};
use crate::packet::NodeId;

/// When a packet is discarded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discard {
    /// When it would be repeated more often than this ("maximum count of retransmission").
    Count(u32),
    /// When it has been in the network for more slots than this ("maximum lifetime", FRN's own rule).
    Lifetime(u64),
}

/// The scope of the count of retransmissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CountScope {
    /// All hops: the count travels in the header.
    #[default]
    Path,
    /// Each hop separately.
    Hop,
}

words! { CountScope: Path = "path", Hop = "hop" }

/// How many packets of a node may wait for an echo at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Service {
    /// A packet that waits for its echo does not block those behind it.
    #[default]
    Parallel,
    /// Packets are repeated one at a time, the oldest first, and a new one waits until no packet waits for its echo. A
    /// packet to be forwarded is still sent in its slot.
    Serial,
}

words! { Service: Parallel = "parallel", Serial = "serial" }

/// When a node declares a transmission failed, and when the wait begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitFrom {
    /// The wait begins with the transmission, which has failed when the wait ends.
    Transmission,
    /// The transmission has failed when the slot of its echo has passed without one; the wait begins then.
    #[default]
    Echo,
}

words! { WaitFrom: Transmission = "transmission", Echo = "echo" }

/// The rules common to all nodes of a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// Minimum number of slots to wait before a packet is repeated.
    pub least_wait: u32,
    /// When a packet is discarded.
    pub discard: Discard,
    /// The scope of the count of retransmissions.
    pub scope: CountScope,
    /// How many packets a node remembers, to discard duplicates.
    pub remembered: Remembered,
    /// How many packets of a node may wait for an echo at a time.
    pub service: Service,
    /// When the wait begins.
    pub wait_from: WaitFrom,
    /// Which of several forward neighbours gets a packet.
    pub routing: Routing,
}

/// The intention of a node in a slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Intent {
    /// Nothing, or listen for an echo.
    Silent,
    /// Forward or acknowledge the packet that it has just received, ahead of the queue.
    Committed,
    /// Send from its queue if the channel is idle.
    Ordinary,
}

/// Why a node releases a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// A neighbour has it, as its echo shows.
    Passed,
    /// It reached the limit of retransmissions.
    Count,
    /// It reached the end of its lifetime.
    Lifetime,
    /// The node has received it before.
    Suppressed,
    /// No neighbour leads to its destination.
    NoRoute,
}

/// Receives the answers of a node.
pub trait NodeOut {
    /// The copy has reached its destination; the host takes it.
    fn up(&mut self, handle: u64);
    /// The node has released a copy.
    fn done(&mut self, handle: u64, end: End);
    /// A uniformly distributed number from 0 to `bound`, inclusive.
    fn draw(&mut self, bound: u32) -> u32;
}

/// A copy that a node holds.
#[derive(Clone, Copy, Debug)]
struct Held {
    header: Header,
    handle: u64,
    /// Its transmissions by this node.
    tried: Tried,
    /// The neighbour it was last sent to.
    to: NodeId,
    /// When it was last sent.
    sent: SlotNo,
    /// When the node acts without an echo: it judges the transmission, or repeats it.
    due: SlotNo,
    /// Whether the last transmission is recorded as failed.
    judged: bool,
}

/// A frame to be sent without delay.
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
    /// Holds more than one only if others may send first.
    committed: VecDeque<Committed>,
    /// Packets that were never sent.
    fresh: VecDeque<Held>,
    /// Packets to be repeated.
    again: VecDeque<Held>,
    /// Packets sent that have no echo yet; with serial service, a repeated one stays ahead of those sent later.
    waiting: Vec<Held>,
    /// The last slot in which it sent a packet.
    last: Option<SlotNo>,
    numbers: u64,
    memory: Memory,
    heard: Heard,
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
            heard: Heard::new(rules.routing),
        }
    }

    /// The name of the next packet that enters the network here.
    #[must_use]
    pub fn next_id(&self) -> PacketId {
        PacketId { source: self.address, number: self.numbers }
    }

    /// Enqueues a packet that enters the network here in slot `now`; its destination is another node.
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

    /// Begins a slot: acts on timers that are due, and returns what the node wants to do.
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

    /// Whether a packet that was never sent may be sent.
    fn may_begin(&self) -> bool {
        self.rules.service == Service::Parallel || self.waiting.is_empty()
    }

    /// Whether the packet that waits at a place may be repeated.
    fn may_repeat(&self, place: usize) -> bool {
        self.rules.service == Service::Parallel || (place == 0 && self.again.is_empty())
    }

    /// Declares the transmissions failed that have no echo by now, and queues packets to be repeated.
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

    /// Discards packets that are next to be sent and have exceeded their lifetime.
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

    /// The frame that the node sends in this slot; `None` if it has nothing to send. To be called after [`Node::begin`]
    /// returned an intent to send and, if that was ordinary, the channel was found idle.
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
        let (place, to) =
            self.table.next(held.header.destination, held.tried, self.rules.routing, &self.heard);
        held.to = to;
        held.tried.enter(place);
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

    /// The node has received a frame in the slot that ends. `copy` is the host's handle of the node's own copy, if the
    /// frame is a packet addressed to it.
    pub fn on_frame(&mut self, frame: &Frame, copy: u64, out: &mut impl NodeOut) {
        self.heard.enter(frame.transmitter);
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

    /// Whether the node has yet to forward a packet because others sent first. Its transmission will be the echo for
    /// all nodes that sent the packet to it.
    fn is_to_relay(&self, id: PacketId) -> bool {
        let is_it =
            |committed: &Committed| matches!(committed, Committed::Relay(held) if held.header.id == id);
        self.committed.iter().any(is_it)
    }

    /// Answers with an FRN ACK, unless the same one waits to be sent.
    fn acknowledge(&mut self, header: Header, to: NodeId) {
        let is_same = |committed: &Committed| matches!(committed, Committed::Ack { header: of, to: whom } if of.id == header.id && *whom == to);
        if !self.committed.iter().any(is_same) {
            self.committed.push_back(Committed::Ack { header, to });
        }
    }

    /// A neighbour sent this packet or its FRN ACK: releases the copies that were sent to it.
    fn settle(&mut self, id: PacketId, neighbour: NodeId, out: &mut impl NodeOut) {
        let table = &self.table;
        let has = |held: &Held| {
            let place = || table.towards(held.header.destination).iter().position(|node| *node == neighbour);
            held.header.id == id && place().is_some_and(|place| held.tried.has(place))
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

    /// The next slot after `now` at whose beginning the node must be called; `None` while it has nothing to do.
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

/// A number of slots to wait, drawn from the current window.
fn wait(interval: &mut impl Interval, least: u32, now: SlotNo, out: &mut impl NodeOut) -> u64 {
    let spread = interval.upper(now).saturating_sub(least);
    u64::from(least + out.draw(spread))
}

impl Held {
    fn new(header: Header, handle: u64) -> Held {
        let (to, never) = (NodeId::default(), SlotNo::default());
        Held { header, handle, tried: Tried::default(), to, sent: never, due: never, judged: false }
    }

    fn transmission(&self, outcome: TransmissionOutcome) -> Transmission {
        Transmission { packet: self.header.id, to: self.to, at: self.sent, outcome }
    }
}
