//! FQ-CoDel: a queue for each flow, served in turns of bytes, each with CoDel of its own.
//!
//! **Limits.** Flows whose hashes agree share a queue.
//!
//! **Source.** RFC 8290; RFC 8289 for CoDel.
//!
//! **How.** A packet joins the queue that the hash of its addresses, ports and protocol selects. A queue that was empty
//! enters the list of *new* queues with a quantum of bytes. One that has used them up goes to the end of the *old*
//! queues, which are served after the new ones (4.2):
//!
//! ```text
//! arrives ──hash──▶ queue k ──▶ [ new: 7 ] ──▶ used up, or empty while others are old ──┐
//!                               [ old: 3 ─ 1 ─ 7 ] ◀── used up: one quantum more ───────┘   empty: leaves the lists
//! ```
//!
//! **Choices.** 1. When the total limit is exceeded, the queue with the most bytes loses half of its packets from its head, at
//! most `drop-batch` and at least one (4.1). Only queues in the lists are compared. 2. The salt of the hash is drawn once a
//! run (5.3). 3. CoDel takes a queue for short by the bytes of that queue.
//!
//! **Checked by** the tests below and `crates/sim/tests/queues.rs`.

use super::codel::{self, Control, Source};
use crate::hooks::parameter::{Described, parameters};
use crate::hooks::{Backlog, Count, Discipline, DropCause, QueueHost, Queued, counts};
use crate::units::{Bytes, Time};

/// No packet, or no queue.
const NONE: u32 = u32::MAX;

/// The constants of FQ-CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// CoDel of each queue.
    pub codel: codel::Config,
    /// Number of queues.
    pub flows: u64,
    /// Bytes that a queue may send in its turn.
    pub quantum: Bytes,
    /// The most packets that are dropped at once when the total limit is exceeded.
    pub drop_batch: u64,
}

impl Default for Config {
    fn default() -> Config {
        Config { codel: codel::Config::default(), flows: 1024, quantum: Bytes(1514), drop_batch: 64 }
    }
}

impl Described for Config {
    parameters! {
        codel::TARGET: Time = codel.target, source("RFC 8290 (5.2.1, 5.2.2)");
        codel::INTERVAL: Time = codel.interval, source("RFC 8290 (5.2.1, 5.2.2)");
        codel::CE_THRESHOLD: Time or "none" = codel.ce_threshold;
        codel::CE_THRESHOLD_FOR: Words = codel.ce_threshold_for;
        /// number of queues among which a hash distributes the flows
        "flows": Count = flows, at_least("1"), at_most("65536"), source("RFC 8290 (5.2.4)");
        /// bytes that a queue may send in its turn
        "quantum": Size = quantum, at_least("1 B"), at_most("1 GB"), source("RFC 8290 (5.2.3)");
        /// the most packets of the longest queue that are dropped at once when the link's queue is full
        "drop-batch": Count = drop_batch, at_least("1"), at_most("65536"), source("RFC 8290 (4.1)");
    }

    fn conflict(&self) -> Option<(&'static str, String)> {
        self.codel.conflict()
    }
}

/// The queue of a flow: its packets are a list in the slab.
#[derive(Clone, Copy, Debug)]
struct FlowQueue {
    head: u32,
    tail: u32,
    backlog: Backlog,
    deficit: i64,
    control: Control,
    /// The queue behind it in its list, and whether it is in one.
    next: u32,
    is_listed: bool,
}

/// A list of queues.
#[derive(Clone, Copy, Debug)]
struct List {
    first: u32,
    last: u32,
}

/// Packets of all queues, in reused places; each knows the one behind it.
#[derive(Clone, Debug, Default)]
struct Slab {
    places: Vec<(Queued, u32)>,
    free: Vec<u32>,
}

/// A queue with the slab that has its packets.
struct View<'a> {
    flow: &'a mut FlowQueue,
    slab: &'a mut Slab,
    /// What the whole discipline holds.
    total: &'a mut Backlog,
}

impl Slab {
    fn insert(&mut self, packet: Queued) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = (packet, NONE);
            return place;
        }
        self.places.push((packet, NONE));
        self.places.len() as u32 - 1
    }
}

impl View<'_> {
    fn push(&mut self, packet: Queued) {
        let place = self.slab.insert(packet);
        match self.flow.tail {
            NONE => self.flow.head = place,
            tail => self.slab.places[tail as usize].1 = place,
        }
        self.flow.tail = place;
        for backlog in [&mut self.flow.backlog, self.total] {
            backlog.packets += 1;
            backlog.bytes += u64::from(packet.bytes);
        }
    }
}

impl Source for View<'_> {
    fn pop(&mut self) -> Option<Queued> {
        let place = self.flow.head;
        let (packet, next) = *self.slab.places.get(place as usize)?;
        self.slab.free.push(place);
        self.flow.head = next;
        if next == NONE {
            self.flow.tail = NONE;
        }
        for backlog in [&mut self.flow.backlog, &mut *self.total] {
            backlog.packets -= 1;
            backlog.bytes -= u64::from(packet.bytes);
        }
        Some(packet)
    }

    fn bytes(&self) -> u64 {
        self.flow.backlog.bytes
    }
}

/// The state of one queue of a link.
#[derive(Clone, Debug)]
pub struct FqCodel {
    config: Config,
    salt: u32,
    flows: Vec<FlowQueue>,
    slab: Slab,
    total: Backlog,
    new: List,
    old: List,
    largest: u32,
    /// Queues that became new, and times of drops that began.
    new_flows: u64,
    episodes: u64,
}

impl FqCodel {
    /// Empty queues; `salt` is that of the hash.
    #[must_use]
    pub fn new(config: &Config, salt: u32) -> FqCodel {
        let flow = FlowQueue {
            head: NONE,
            tail: NONE,
            backlog: Backlog::default(),
            deficit: 0,
            control: Control::default(),
            next: NONE,
            is_listed: false,
        };
        let list = List { first: NONE, last: NONE };
        FqCodel {
            config: *config,
            salt,
            flows: vec![flow; config.flows as usize],
            slab: Slab::default(),
            total: Backlog::default(),
            new: list,
            old: list,
            largest: 0,
            new_flows: 0,
            episodes: 0,
        }
    }

    /// Its counters.
    #[must_use]
    pub fn counts(&self) -> Vec<Count> {
        counts! {
            /// number of times that CoDel began to drop or mark packets of a flow
            "episodes": "times" = self.episodes;
            /// number of times that the queue of a flow became new
            "new_flows": "times" = self.new_flows;
        }
    }

    /// The queue of a flow, by its hash (RFC 8290, 4.1).
    fn queue_of(&self, flow: u32) -> u32 {
        let mut mixed = flow ^ self.salt;
        for factor in [0x7FEB_352D_u32, 0x846C_A68B] {
            mixed = (mixed ^ (mixed >> 16)).wrapping_mul(factor);
        }
        let mixed = mixed ^ (mixed >> 15);
        ((u64::from(mixed) * self.flows.len() as u64) >> 32) as u32
    }

    /// Changes CoDel of all queues.
    pub(super) fn set_codel(&mut self, codel: codel::Config) {
        self.config.codel = codel;
    }

    #[cfg(test)]
    pub(super) fn target(&self) -> crate::units::Span {
        self.config.codel.target
    }

    fn append(&mut self, number: u32, is_new: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        match list.last {
            NONE => list.first = number,
            behind => self.flows[behind as usize].next = number,
        }
        list.last = number;
        self.flows[number as usize].next = NONE;
        self.flows[number as usize].is_listed = true;
    }

    fn take_first(&mut self, is_new: bool) {
        let list = if is_new { &mut self.new } else { &mut self.old };
        if let Some(flow) = self.flows.get_mut(list.first as usize) {
            list.first = flow.next;
            flow.is_listed = false;
            if list.first == NONE {
                list.last = NONE;
            }
        }
    }

    /// The queue with the most bytes.
    fn longest(&self) -> Option<u32> {
        let listed = |list: &List| {
            let next = |number: &u32| Some(self.flows[*number as usize].next).filter(|next| *next != NONE);
            std::iter::successors(Some(list.first).filter(|first| *first != NONE), next)
        };
        let bytes = |number: &u32| self.flows[*number as usize].backlog.bytes;
        listed(&self.new).chain(listed(&self.old)).max_by_key(bytes)
    }

    /// Drops from the head of the queue with the most bytes (RFC 8290, 4.1).
    pub(super) fn drop_batch(&mut self, host: &mut dyn QueueHost) {
        let Some(number) = self.longest() else { return };
        let flow = &mut self.flows[number as usize];
        let batch = (flow.backlog.packets / 2).min(self.config.drop_batch as u32).max(1);
        let mut view = View { flow, slab: &mut self.slab, total: &mut self.total };
        for _ in 0..batch {
            if let Some(packet) = view.pop() {
                host.drop(&packet, DropCause::Full);
            }
        }
    }
}

impl Discipline for FqCodel {
    fn enqueue(&mut self, packet: Queued, room: Backlog, host: &mut dyn QueueHost) {
        self.largest = self.largest.max(packet.bytes);
        let number = self.queue_of(packet.flow);
        let flow = &mut self.flows[number as usize];
        View { flow, slab: &mut self.slab, total: &mut self.total }.push(packet);
        if !self.flows[number as usize].is_listed {
            self.flows[number as usize].deficit = self.config.quantum.0.cast_signed();
            self.append(number, true);
            self.new_flows += 1;
        }
        while self.total.packets > room.packets || self.total.bytes > room.bytes {
            self.drop_batch(host);
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut dyn QueueHost) -> Option<Queued> {
        loop {
            let is_new = self.new.first != NONE;
            let number = if is_new { self.new.first } else { self.old.first };
            let flow = self.flows.get_mut(number as usize)?;
            if flow.deficit <= 0 {
                flow.deficit += self.config.quantum.0.cast_signed();
                self.take_first(is_new);
                self.append(number, false);
                continue;
            }
            let mut control = flow.control;
            let was_dropping = control.is_dropping();
            let mut view = View { flow, slab: &mut self.slab, total: &mut self.total };
            let packet = control.dequeue(&self.config.codel, &mut view, self.largest, now, host);
            flow.control = control;
            self.episodes += u64::from(!was_dropping && control.is_dropping());
            if let Some(packet) = packet {
                flow.deficit -= i64::from(packet.bytes);
                return Some(packet);
            }
            // A new queue that is empty waits its turn among the old ones, so that it cannot return as new at once.
            self.take_first(is_new);
            if is_new && self.old.first != NONE {
                self.append(number, false);
            }
        }
    }

    fn backlog(&self) -> Backlog {
        self.total
    }
}

#[cfg(test)]
mod tests;
