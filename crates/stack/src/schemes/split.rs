//! Split connections: a station that terminates each connection and relays it between two real TCP ends with bounded
//! buffers.
//!
//! **Limits.** It acts on flows between a host ahead of its interface and one that is not; a flow between two hosts
//! ahead passes. All packets of a connection must pass through the station, in both directions: it drops segments of a
//! connection whose opening it has not seen. Connections with encrypted transport headers cannot be split.
//!
//! **Source.** Bakre and Badrinath 1995 (`i_tcp.rs`), Brown and Singh 1997 (`m_tcp.rs`).
//!
//! **How.** One end talks to the fixed host under the address of the mobile, the other to the mobile under the address
//! of the host. Each is a [`Connection`](crate::transport::tcp::Connection), so recovery, timers and windows of the two
//! hops are separate.
//!
//! ```text
//!    fixed host ◀──▶ [ WIRED end  ⇄ copies of at most `buffer` ⇄  WIRELESS end ] ◀──▶ mobile
//!                      its window closes when `buffer` bytes wait for the mobile
//! ```
//!
//! **Choices.** 1. The station first opens the connection to the addressee, and answers the opener once the addressee
//! has accepted (our reading). A refused connection is thus refused end to end. Both ends use the sequence numbers of
//! the hosts, which need not know about the station. 2. A FIN is relayed when all data before it has been copied. 3.
//! Back-pressure is the advertised window of each end. An end reads from its host only while fewer than `buffer` bytes
//! wait for the acknowledgement of the other host, and itself offers `buffer` bytes. 4. Both ends send segments of the
//! size that the opener announced. 5. Copied data is sent at once (no Nagle algorithm). 6. A station that restarts
//! loses all state. It drops segments of connections that it does not know, where a real station answers with a RST. In
//! either case the connection ends. 7. A RST is forwarded. 8. The state that moves with a node is its data plus 256 B
//! for each end. The station to which it moves drops segments of the node until the state arrives.
//!
//! **Checked by** `split/tests.rs`, and `crates/sim/tests/split.rs` end to end.

pub(crate) mod config;
mod flow;
mod socket;
#[cfg(test)]
mod tests;

pub use config::{Settings, Variants};

use super::deadlines::Deadlines;
use super::flows::{Key, Table};
use crate::hooks::{Activity, Agent, AgentOut, Count, Exported, LinkEvent, Needs, counts};
use crate::packet::{Body, Flags, NodeId, Packet, Segment};
use crate::signal::Signal;
use crate::state_bytes::StateBytes;
use crate::units::{Span, Time};
use flow::{Load, SplitConnection, Station};

/// One end of the station: an index into the two ends of a flow.
type Way = usize;
const WIRED: Way = 0;
const WIRELESS: Way = 1;

/// The rules for acknowledgements with an end-to-end meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndToEnd {
    /// How long the last byte is left unacknowledged.
    pub delay: Span,
    /// Time without a segment from the mobile, while data waits for it, after which it counts as disconnected.
    pub silence: Option<Span>,
}

/// The requirements of a station that splits connections.
#[must_use]
pub fn needs<N>(settings: &Settings<N>) -> Needs {
    Needs { terminates: true, repeats_after: Some(settings.min_rto), ..Needs::default() }
}

/// The connections of a node that are moving to another station.
struct Moving<P: Variants> {
    mobile: NodeId,
    flows: Vec<(Key, Box<SplitConnection<P>>)>,
}

/// The agent of one interface.
#[derive(Clone, Debug)]
pub struct Split<P: Variants> {
    settings: Settings<P::Name>,
    end_to_end: Option<EndToEnd>,
    flows: Table<Key, Box<SplitConnection<P>>>,
    deadlines: Deadlines,
    timer: Option<Time>,
    /// Nodes whose state is on its way here.
    expected: Vec<NodeId>,
    sum: Load,
    counters: Counters,
}

/// The counters of one station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Acknowledgements without data that its ends generated.
    pub made: u64,
    /// Acknowledgements without data that its ends received.
    pub taken: u64,
    /// Segments retransmitted by flows that have since been removed.
    pub resent: u64,
    /// Bytes that the station had acknowledged and that were lost with it.
    pub lost: u64,
    /// Segments of unknown connections.
    pub strays: u64,
    /// SYNs dropped because the table was full.
    pub refused: u64,
    /// Times that a sender was stopped with a window of zero because its mobile was disconnected.
    pub freezes: u64,
    /// Maximum number of bytes held at once, and of bytes acknowledged but not confirmed.
    pub most: (u64, u64),
    /// Maximum number of bytes of state.
    pub state_max: u64,
}

impl<P: Variants> Split<P> {
    /// A station without connections.
    #[must_use]
    pub fn new(settings: Settings<P::Name>, end_to_end: Option<EndToEnd>) -> Split<P> {
        Split {
            settings,
            end_to_end,
            flows: Table::default(),
            deadlines: Deadlines::default(),
            timer: None,
            expected: Vec::new(),
            sum: Load::default(),
            counters: Counters::default(),
        }
    }

    /// Its counters.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// The end of the station that receives a packet; `None` if the packet does not belong to a flow that is split.
    fn way(&self, packet: &Packet, is_from_link: bool) -> Option<Way> {
        let is_ahead = |node| self.settings.criterion.is_ahead(node);
        match (is_ahead(packet.src), is_ahead(packet.dst)) {
            (false, true) if !is_from_link => Some(WIRED),
            (true, false) if is_from_link => Some(WIRELESS),
            _ => None,
        }
    }

    /// Handles a packet. Returns false if it passes through instead.
    fn take(&mut self, packet: &Packet, is_from_link: bool, now: Time, out: &mut impl AgentOut) -> bool {
        let Body::Tcp(segment) = &packet.body else { return false };
        let Some(way) = self.way(packet, is_from_link) else { return false };
        let (key, _) = Key::of(packet, segment);
        self.counters.taken += u64::from(segment.sequence_len() == 0);
        if !self.expected.is_empty()
            && [packet.src, packet.dst].iter().any(|node| self.expected.contains(node))
        {
            self.counters.strays += 1;
            return true;
        }
        let mut number = self.flows.find(&key);
        if segment.flags.has(Flags::RST) {
            self.forget(number);
            return false;
        }
        let opens = segment.flags.has(Flags::SYN) && !segment.flags.has(Flags::ACK);
        if opens && number.is_some_and(|number| self.is_replaced(number, segment)) {
            self.forget(number);
            number = None;
        }
        match number {
            Some(number) => {
                self.with(number, now, out, |flow, station, out| {
                    flow.on_packet(way, packet, segment, station, out);
                });
            }
            None if opens => self.open(key, way, packet, segment, now, out),
            None => self.counters.strays += 1,
        }
        self.schedule(now, out);
        true
    }

    /// Whether a SYN opens a new connection in place of one that has ended.
    fn is_replaced(&mut self, number: u32, syn: &Segment) -> bool {
        self.flows.get_mut(number).is_some_and(|flow| flow.is_over() && !flow.is_of(syn))
    }

    fn open(
        &mut self,
        key: Key,
        from: Way,
        packet: &Packet,
        segment: &Segment,
        now: Time,
        out: &mut impl AgentOut,
    ) {
        if self.flows.len() >= self.settings.max_flows {
            self.counters.refused += 1;
            return;
        }
        let mut station = Station {
            settings: &self.settings,
            end_to_end: self.end_to_end,
            made: &mut self.counters.made,
            now,
        };
        let flow = SplitConnection::open(packet, segment, from, &mut station, out);
        let number = self.flows.insert(key, Box::new(flow));
        self.settle(number);
    }

    /// Runs `act` on a flow, then updates the totals.
    fn with<O: AgentOut, T>(
        &mut self,
        number: u32,
        now: Time,
        out: &mut O,
        act: impl FnOnce(&mut SplitConnection<P>, &mut Station<'_, P::Name>, &mut O) -> T,
    ) -> Option<T> {
        let flow = self.flows.get_mut(number)?;
        let mut station = Station {
            settings: &self.settings,
            end_to_end: self.end_to_end,
            made: &mut self.counters.made,
            now,
        };
        let answer = act(flow, &mut station, out);
        self.settle(number);
        Some(answer)
    }

    /// Updates totals and deadline after a flow has acted.
    fn settle(&mut self, number: u32) {
        let Some(flow) = self.flows.get_mut(number) else { return };
        let load = flow.load();
        let before = std::mem::replace(&mut flow.counted, load);
        let deadline = flow.deadline(&self.settings);
        self.sum.held = self.sum.held + load.held - before.held;
        self.sum.unconfirmed = self.sum.unconfirmed + load.unconfirmed - before.unconfirmed;
        let (held, unconfirmed) = &mut self.counters.most;
        (*held, *unconfirmed) = ((*held).max(self.sum.held), (*unconfirmed).max(self.sum.unconfirmed));
        let state = self.flows.len() as u64 * <SplitConnection<P>>::BYTES + self.sum.held;
        self.counters.state_max = self.counters.state_max.max(state);
        self.deadlines.want(number, deadline);
    }

    fn forget(&mut self, number: Option<u32>) {
        let Some(flow) = number.and_then(|number| self.flows.remove(number)) else { return };
        if let Some(number) = number {
            self.deadlines.remove(number);
        }
        self.part_with(&flow);
    }

    /// Updates the totals when a flow leaves.
    fn part_with(&mut self, flow: &SplitConnection<P>) {
        self.sum.held -= flow.counted.held;
        self.sum.unconfirmed -= flow.counted.unconfirmed;
        self.counters.resent += flow.resent();
    }

    /// Sets the timer of the agent; deadlines that passed during a move between stations are due now.
    fn schedule(&mut self, now: Time, out: &mut impl AgentOut) {
        let first = self.deadlines.first().map(|first| first.max(now));
        if first != self.timer {
            self.timer = first;
            match first {
                Some(at) => out.set_timer(at),
                None => out.cancel_timer(),
            }
        }
    }

    /// The flows of a node, or all flows.
    fn flows_of(&self, node: Option<NodeId>) -> Vec<u32> {
        self.flows.numbers_of(node)
    }
}

impl<P: Variants> Agent for Split<P> {
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        if !self.take(packet, false, now, out) {
            out.down(packet);
        }
    }

    fn up(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        if !self.take(packet, true, now, out) {
            out.up(packet);
        }
    }

    fn on_signal(&mut self, _: Signal, _: &Packet, _: Time, _: &mut impl AgentOut) {}

    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut) {
        self.timer = None;
        let linger_ends = Time(now.0.saturating_sub(self.settings.linger.0));
        while let Some(number) = self.deadlines.pop(now) {
            if self.flows.get_mut(number).is_some_and(|flow| flow.is_forgotten(linger_ends)) {
                self.forget(Some(number));
                continue;
            }
            let froze = self.with(number, now, out, |flow, station, out| {
                let was_silent = flow.is_silent();
                flow.on_time(station, out);
                flow.is_silent() && !was_silent
            });
            self.counters.freezes += u64::from(froze == Some(true));
        }
        self.schedule(now, out);
    }

    fn on_link(&mut self, event: LinkEvent, node: Option<NodeId>, now: Time, out: &mut impl AgentOut) {
        if self.end_to_end.is_none() || !(event.begins_silence() || event.ends_silence()) {
            return;
        }
        for number in self.flows_of(node) {
            let froze = self.with(number, now, out, |flow, station, out| {
                if event.ends_silence() {
                    flow.reconnect(station.now);
                    return false;
                }
                flow.disconnect(station, out)
            });
            self.counters.freezes += u64::from(froze == Some(true));
        }
        self.schedule(now, out);
    }

    fn restart(&mut self, now: Time, out: &mut impl AgentOut) {
        self.counters.lost += self.sum.unconfirmed;
        self.expected.clear();
        for number in self.flows_of(None) {
            self.forget(Some(number));
        }
        self.schedule(now, out);
    }

    fn export(&mut self, mobile: NodeId, now: Time, out: &mut impl AgentOut) -> Option<Exported> {
        self.on_link(LinkEvent::HandoffBegins, Some(mobile), now, out);
        for number in self.flows_of(Some(mobile)) {
            self.deadlines.remove(number);
        }
        let flows = self.flows.take_of(mobile);
        for (_, flow) in &flows {
            self.part_with(flow);
        }
        self.schedule(now, out);
        let bytes = flows.iter().map(|(_, flow)| flow.bytes()).sum();
        (!flows.is_empty()).then(|| Exported { bytes, state: Box::new(Moving { mobile, flows }) })
    }

    fn expect(&mut self, mobile: NodeId) {
        self.expected.push(mobile);
    }

    fn import(&mut self, exported: Exported, now: Time, out: &mut impl AgentOut) {
        let Ok(moving) = exported.state.downcast::<Moving<P>>() else { return };
        let place = self.expected.iter().position(|node| *node == moving.mobile);
        place.map(|place| self.expected.swap_remove(place));
        for (key, mut flow) in moving.flows {
            if self.flows.find(&key).is_some() || self.flows.len() >= self.settings.max_flows {
                self.counters.lost += flow.counted.unconfirmed;
                continue;
            }
            flow.counted = Load::default();
            let number = self.flows.insert(key, flow);
            self.with(number, now, out, SplitConnection::arrive);
        }
        self.schedule(now, out);
    }

    fn activity(&self) -> Activity {
        let counters = self.counters;
        Activity {
            generated: counters.made,
            suppressed: counters.taken,
            repaired: counters.resent + self.flows.iter().map(|flow| flow.resent()).sum::<u64>(),
            unconfirmed: Some(self.sum.unconfirmed),
            state_bytes_max: counters.state_max,
            ..Activity::default()
        }
    }

    fn counts(&self) -> Vec<Count> {
        let Counters { lost, strays, refused, freezes, .. } = self.counters;
        let mut counts = counts! {
            /// bytes acknowledged and not delivered that were lost with the state of a station
            "lost_bytes": "B" = lost;
            /// segments dropped because the station does not know their connection
            "strays": "segments" = strays;
            /// SYNs dropped because the station had no place for a connection
            "refused": "segments" = refused;
        };
        if self.end_to_end.is_some() {
            counts.extend(counts! {
                /// times that a sender was stopped by a window of zero
                "freezes": "events" = freezes;
            });
        }
        counts
    }

    fn levels(&self) -> Vec<Count> {
        let (held_max, unconfirmed_max) = self.counters.most;
        counts! {
            /// bytes taken from one host and not acknowledged by the other, at the end
            "held": "B" = self.sum.held;
            /// the most of them at once, of each station, summed
            "held_max": "B" = held_max;
            /// the most bytes at once that a station had acknowledged and the other host had not, summed
            "unconfirmed_max": "B" = unconfirmed_max;
        }
    }
}
