//! TCP/HACK: TCP acknowledgements travel compressed in the acknowledgements of the link.
//!
//! **Limits.** Both ends of the hop need an agent. A link whose acknowledgements carry no riders (a wire, polling) holds
//! each acknowledgement for `hold`. Duplicate acknowledgements and those with SACK blocks, ECN or options of a law travel as
//! packets, and those that wait go before them. A station with several next hops, none of which is the destination, does not
//! know which of them has more data, and holds nothing. A station with DCF announces more data whichever receiver they
//! are for. If the link loses the riders (a retransmission without any MPDU that was acknowledged before), TCP
//! continues with the next acknowledgement.
//!
//! **Source.** Salameh, Zhushi, Handley, Jamieson and Karp, "HACK: Hierarchical ACKs for Efficient Wireless Medium
//! Utilization", USENIX ATC 2014. Only the abstract was read: TCP acknowledgements are carried "within `WiFi`'s link-layer
//! acknowledgments", which eliminates "all medium acquisitions for TCP ACKs in unidirectional TCP flows". The details are our
//! reading.
//!
//! **How.** While the neighbour has more data for this station (the More Data bit of its frames), plain
//! acknowledgements to it are compressed and wait for its next frame or A-MPDU. They leave with the Ack or BlockAck of
//! that one, one burst late, without contention. The agent at the other end restores each and passes it up. When no
//! more data are announced, or none come for `hold`, those that wait leave as packets.
//!
//! ```text
//!   AP ── A-MPDU 1, more data ─▶│── data ─▶ TCP     AP ── A-MPDU 2 ─▶│
//!      ◀─ BlockAck 1 ───────────│◀─ ACKs ──         ◀─ BlockAck 2 + compressed ACKs of A-MPDU 1
//! ```
//!
//! **Choices.** 1. The compressed form has the low bytes of what changed and a CRC-8 over all fields (`hack/codec.rs`): 8
//! bytes two segments later with timestamps. 2. The context is the last acknowledgement that travelled as a packet and was
//! delivered; while one is in the link's queue, those after it wait. Its number is a hash of addresses and ports; the CRC
//! separates flows with the same one. 3. The link keeps the riders until it knows that the acknowledgement arrived, and
//! sends them again with one that repeats it; numbers separate repetitions. 4. An acknowledgement of the link has room
//! for 512 bytes of riders with EDCA, for one rider with DCF; the rest waits for the next. 5. The reservation of the
//! data frame does not cover the riders; for the time that they take longer, others hear the carrier.
//!
//! **Checked by** `hack/tests.rs`, `hack/codec.rs`, and `crates/sim/tests/descendants.rs` end to end.

pub(super) mod codec;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, VecDeque};

use super::flows::{self, Table};
use super::lle_tcp::connection::is_pure;
use crate::hooks::parameter::{Described, LONGEST, parameters};
use crate::hooks::{Activity, Agent, AgentOut, Answered, Count, Criterion, Needs, Rider, counts};
use crate::packet::{Body, FlowKey, NodeId, Packet, Segment};
use crate::signal::Signal;
use crate::state_bytes::{StateBytes, of_all, state_bytes};
use crate::units::{Span, Time};
use codec::{Reference, compress, context, is_plain, labels, restore};

/// The parameters of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The nodes at both sides.
    pub criterion: Criterion,
    /// How long acknowledgements wait for a frame of a neighbour that has announced more data.
    pub hold: Span,
    /// A flow without an acknowledgement for this long is forgotten.
    pub idle: Span,
    /// Maximum number of flows; further flows are not handled.
    pub max_flows: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            criterion: Criterion::default(),
            hold: Span::from_millis(20),
            idle: Span::from_secs(600),
            max_flows: 16_384,
        }
    }
}

impl Config {
    /// The requirements of the agent on its interface and its flows.
    #[must_use]
    pub fn needs(&self) -> Needs {
        Needs { reports: true, last_hop: true, both_ends: true, answers: true, ..Needs::default() }
    }
}

impl Described for Config {
    parameters! {
        /// maximum time for which acknowledgements wait for a frame of a neighbour that has announced more data
        "hold": Time("ms") = hold, at_most(LONGEST);
        flows::IDLE: Time = idle;
        flows::MOST: Count = max_flows;
    }
}

state_bytes! {
    /// The acknowledgements of one flow, at the end that compresses or the one that restores.
    #[derive(Clone, Debug)]
    struct Context {
        key: FlowKey,
        reference: Option<Reference>,
        /// A packet of the flow, whose other fields do not change.
        template: Packet,
        /// The number of the last one compressed, or restored.
        number: u8,
        /// Whether one was restored.
        has_come: bool,
        /// Acknowledgements in the queue of the link.
        outstanding: u32,
        used: Time,
    }
}

impl Context {
    /// Whether the compressed acknowledgement with this number, or one after it, has come.
    fn is_behind(&self, number: u8) -> bool {
        self.has_come && !(1..128).contains(&number.wrapping_sub(self.number))
    }
}

/// A neighbour, and what waits for its next frame.
#[derive(Clone, Debug)]
struct Neighbour {
    node: NodeId,
    has_more: bool,
    /// Compressed: with the link.
    riding: VecDeque<Packet>,
    /// Without a context at the other end as yet.
    held: VecDeque<Packet>,
    deadline: Time,
}

/// The agent of one interface.
#[derive(Clone, Debug)]
pub struct Hack {
    config: Config,
    flows: Table<FlowKey, Context>,
    /// The flows whose acknowledgements come in through this interface, by the number of their context.
    contexts: BTreeMap<u16, Vec<FlowKey>>,
    neighbours: Vec<Neighbour>,
    /// When the timer is due, at the latest.
    armed: Time,
    activity: Activity,
    repeated: u64,
    unknown: u64,
    bytes: u64,
}

impl Hack {
    /// An agent without flows.
    #[must_use]
    pub fn new(config: Config) -> Hack {
        Hack {
            config,
            flows: Table::default(),
            contexts: BTreeMap::new(),
            neighbours: Vec::new(),
            armed: Time::NEVER,
            activity: Activity { unconfirmed: Some(0), ..Activity::default() },
            repeated: 0,
            unknown: 0,
            bytes: 0,
        }
    }

    /// The flow of an acknowledgement, added if there is room.
    fn flow(&mut self, packet: &Packet, now: Time) -> Option<u32> {
        let key = FlowKey::of(packet);
        let turn = self.flows.turn();
        let oldest = now.since(Time::ZERO + self.config.idle);
        let is_idle = |flow: &mut Context| flow.used.since(Time::ZERO) < oldest && flow.outstanding == 0;
        if self.flows.get_mut(turn).is_some_and(is_idle)
            && let Some(Context { key, .. }) = self.flows.remove(turn)
        {
            self.contexts.retain(|_, keys| {
                keys.retain(|of| *of != key);
                !keys.is_empty()
            });
        }
        if let Some(number) = self.flows.find(&key) {
            return Some(number);
        }
        (self.flows.len() < self.config.max_flows).then(|| {
            let template = Packet { id: 0, ..*packet };
            let flow = Context {
                key,
                reference: None,
                template,
                number: 0,
                has_come: false,
                outstanding: 0,
                used: now,
            };
            let number = self.flows.insert(key, flow);
            self.measure();
            number
        })
    }

    fn measure(&mut self) {
        let packets: u64 =
            self.neighbours.iter().map(|of| of_all(&of.riding.iter()) + of_all(&of.held.iter())).sum();
        let bytes = self.flows.len() as u64 * Context::BYTES + packets;
        self.activity.state_bytes_max = self.activity.state_bytes_max.max(bytes);
    }

    /// The neighbour to which a packet goes: its destination, or the only one.
    fn towards(&self, destination: NodeId) -> Option<usize> {
        let found = self.neighbours.iter().position(|neighbour| neighbour.node == destination);
        found.or_else(|| (self.neighbours.len() == 1).then_some(0))
    }

    /// Sends an acknowledgement as a packet.
    fn pass(&mut self, number: u32, packet: &Packet, out: &mut impl AgentOut) {
        self.activity.passed += 1;
        if let Some(flow) = self.flows.get_mut(number) {
            flow.outstanding += 1;
        }
        out.down(packet);
    }

    /// Gives a compressed acknowledgement to the link. False if it cannot be compressed.
    fn ride(&mut self, number: u32, neighbour: usize, packet: &Packet, out: &mut impl AgentOut) -> bool {
        let (Some(flow), Body::Tcp(segment)) = (self.flows.get_mut(number), &packet.body) else {
            return false;
        };
        let next = Reference::of(segment);
        let rider =
            flow.reference.and_then(|last| compress(&flow.key, &last, flow.number.wrapping_add(1), &next));
        let Some(rider) = rider else { return false };
        (flow.reference, flow.number) = (Some(next), flow.number.wrapping_add(1));
        self.bytes += u64::from(rider.len());
        out.ride_behind(packet.dst, rider);
        self.neighbours[neighbour].riding.push_back(*packet);
        true
    }

    /// Sends what waits for a neighbour as packets.
    fn release(&mut self, neighbour: usize, out: &mut impl AgentOut) {
        let waiting = &mut self.neighbours[neighbour];
        waiting.deadline = Time::NEVER;
        let (mut riding, mut held) = (std::mem::take(&mut waiting.riding), std::mem::take(&mut waiting.held));
        if let Some(first) = riding.front() {
            out.unload(first.dst);
        }
        for packet in &riding {
            let number = self.flows.find(&FlowKey::of(packet));
            if let Some(flow) = number.and_then(|number| self.flows.get_mut(number)) {
                flow.number = flow.number.wrapping_sub(1);
            }
        }
        for packet in riding.drain(..).chain(held.drain(..)) {
            if let Some(number) = self.flows.find(&FlowKey::of(&packet)) {
                self.pass(number, &packet, out);
            }
        }
        (self.neighbours[neighbour].riding, self.neighbours[neighbour].held) = (riding, held);
    }

    /// Handles a plain acknowledgement of this side.
    fn judge(&mut self, packet: &Packet, segment: &Segment, now: Time, out: &mut impl AgentOut) {
        let Some(number) = self.flow(packet, now) else {
            self.activity.passed += 1;
            out.down(packet);
            return;
        };
        let neighbour = self.towards(packet.dst);
        let flow = self.flows.get_mut(number).map(|flow| {
            flow.used = now;
            (flow.outstanding > 0, flow.template)
        });
        let Some((waits, template)) = flow else { return };
        let is_alike = (packet.ecn, packet.extra_header) == (template.ecn, template.extra_header);
        let open = neighbour.filter(|of| self.neighbours[*of].has_more && is_alike && is_plain(segment));
        let takes_its_place = open.is_some_and(|of| {
            let is_behind =
                waits || self.neighbours[of].held.iter().any(|one| FlowKey::of(one) == FlowKey::of(packet));
            if is_behind {
                self.neighbours[of].held.push_back(*packet);
            }
            is_behind || self.ride(number, of, packet, out)
        });
        let Some(of) = neighbour else {
            self.pass(number, packet, out);
            return;
        };
        if !takes_its_place {
            self.release(of, out);
            self.pass(number, packet, out);
            return;
        }
        self.measure();
        if self.neighbours[of].deadline == Time::NEVER {
            self.neighbours[of].deadline = now.after(self.config.hold);
            self.arm(out);
        }
    }

    /// Sets the timer to the first deadline, if it is not due before.
    fn arm(&mut self, out: &mut impl AgentOut) {
        let first = self.neighbours.iter().map(|of| of.deadline).min().unwrap_or(Time::NEVER);
        if first < self.armed {
            self.armed = first;
            out.set_timer(first);
        }
    }

    /// The link has finished with an acknowledgement: those behind it may be compressed.
    fn follow(&mut self, number: u32, destination: NodeId, out: &mut impl AgentOut) {
        let Some(of) = self.towards(destination) else { return };
        let Some(key) = self.flows.get_mut(number).map(|flow| flow.key) else { return };
        for _ in 0..self.neighbours[of].held.len() {
            let Some(packet) = self.neighbours[of].held.pop_front() else { return };
            if FlowKey::of(&packet) != key {
                self.neighbours[of].held.push_back(packet);
            } else if !self.ride(number, of, &packet, out) {
                self.pass(number, &packet, out);
            }
        }
    }
}

impl Agent for Hack {
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        match &packet.body {
            Body::Tcp(segment) if is_pure(segment) => self.judge(packet, segment, now, out),
            _ => out.down(packet),
        }
    }

    fn up(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        if let Body::Tcp(segment) = &packet.body
            && is_plain(segment)
            && let Some(number) = self.flow(packet, now)
            && let Some(flow) = self.flows.get_mut(number)
        {
            flow.used = now;
            let next = Reference::of(segment);
            let is_first = flow.reference.is_none();
            if flow.reference.is_none_or(|last| next.ack.distance_from(last.ack) >= 0) {
                (flow.reference, flow.template) = (Some(next), Packet { id: 0, ..*packet });
            }
            let key = flow.key;
            if is_first {
                self.contexts.entry(context(&key)).or_default().push(key);
            }
        }
        out.up(packet);
    }

    fn on_signal(&mut self, signal: Signal, packet: &Packet, _now: Time, out: &mut impl AgentOut) {
        let Body::Tcp(segment) = &packet.body else { return };
        if !is_pure(segment) {
            return;
        }
        let Some(number) = self.flows.find(&FlowKey::of(packet)) else { return };
        let Some(flow) = self.flows.get_mut(number) else { return };
        flow.outstanding = flow.outstanding.saturating_sub(1);
        let next = Reference::of(segment);
        let is_newer = flow.reference.is_none_or(|last| next.ack.distance_from(last.ack) >= 0);
        if signal == Signal::Delivered && is_plain(segment) && is_newer {
            flow.reference = Some(next);
        }
        if flow.outstanding == 0 {
            self.follow(number, packet.dst, out);
        }
    }

    fn on_answer(&mut self, answer: Answered, now: Time, out: &mut impl AgentOut) {
        let place = self.neighbours.iter().position(|of| of.node == answer.to);
        let place = place.unwrap_or_else(|| {
            let (riding, held) = (VecDeque::new(), VecDeque::new());
            let deadline = Time::NEVER;
            self.neighbours.push(Neighbour { node: answer.to, has_more: false, riding, held, deadline });
            self.neighbours.len() - 1
        });
        let neighbour = &mut self.neighbours[place];
        let boarded = neighbour.riding.len().min(answer.boarded as usize);
        neighbour.riding.drain(..boarded);
        self.activity.suppressed += boarded as u64;
        neighbour.has_more = answer.more.unwrap_or(neighbour.has_more);
        if !neighbour.has_more {
            self.release(place, out);
        } else if neighbour.riding.is_empty() && neighbour.held.is_empty() {
            neighbour.deadline = Time::NEVER;
        } else {
            neighbour.deadline = now.after(self.config.hold);
        }
        self.arm(out);
    }

    fn on_rider(&mut self, rider: Rider, _now: Time, out: &mut impl AgentOut) {
        let Some((context, number)) = labels(rider.as_slice()) else { return };
        let keys = self.contexts.get(&context).map_or(&[][..], |keys| keys);
        for key in keys {
            let Some(flow) = self.flows.find(key).and_then(|place| self.flows.get_mut(place)) else {
                continue;
            };
            let Some(next) = flow.reference.and_then(|last| restore(key, &last, rider.as_slice())) else {
                continue;
            };
            if flow.is_behind(number) {
                break;
            }
            (flow.reference, flow.number, flow.has_come) = (Some(next), number, true);
            let mut packet = flow.template;
            if let Body::Tcp(segment) = &mut packet.body {
                (segment.ack, segment.window) = (next.ack, next.window);
                segment.options.timestamps = next.stamps;
            }
            self.activity.generated += 1;
            out.up(&packet);
            return;
        }
        if keys.iter().any(|key| self.flows.get(key).is_some_and(|flow| flow.is_behind(number))) {
            self.repeated += 1;
        } else {
            self.unknown += 1;
        }
    }

    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut) {
        self.armed = Time::NEVER;
        for place in 0..self.neighbours.len() {
            if self.neighbours[place].deadline <= now {
                self.neighbours[place].has_more = false;
                self.release(place, out);
            }
        }
        self.arm(out);
    }

    fn restart(&mut self, _now: Time, out: &mut impl AgentOut) {
        for first in self.neighbours.iter().filter_map(|of| of.riding.front()) {
            out.unload(first.dst);
        }
        (self.flows, self.neighbours) = (Table::default(), Vec::new());
        self.contexts.clear();
        self.armed = Time::NEVER;
        out.cancel_timer();
    }

    fn activity(&self) -> Activity {
        self.activity
    }

    fn counts(&self) -> Vec<Count> {
        counts! {
            /// bytes of compressed acknowledgements
            "compressed_bytes": "B" = self.bytes;
            /// compressed acknowledgements that came again
            "repeated": "segments" = self.repeated;
            /// compressed acknowledgements that could not be restored
            "unknown": "segments" = self.unknown;
        }
    }
}
