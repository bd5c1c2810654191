//! Proxy TCP: an access-point agent that hides duplicate acknowledgements while the link can still repair the loss.
//!
//! **Limits.** It works where data goes to a node one wireless hop away. It knows only what the link reports: a segment
//! lost above the MAC counts as delivered, which only `resend` repairs. Only the sender has a timer, so it must repair
//! a loss that no later segment reveals. Hidden acknowledgements do not clock data out of the sender, whose window does
//! not move meanwhile. An encrypted transport is opaque to the agent.
//!
//! **Source.** The slides of Mahmoodi, Friderikos, Holland and Aghvami, "Cross-Layer Design to Improve Wireless TCP
//! Performance with Link-Layer Adaptation", VTC 2007 Fall. They say on related work: "Worked by not passing duplicate
//! acknowledgment to the TCP layer". The rest is our reading, after the snoop agent of Balakrishnan, Seshan, Amir and
//! Katz, "Improving TCP/IP Performance over Wireless Networks", MOBICOM 1995, without its timer.
//!
//! **How.** Segments for the client are remembered until it acknowledges them, each with its state: with the link,
//! delivered, or discarded. A duplicate acknowledgement requests the first unacknowledged segment. The state of that
//! segment decides whether the acknowledgement is hidden.
//!
//! ```text
//!    network   data │   ▲ acknowledgement, if not hidden
//!     agent         ▼   │
//!      link     data ──►  delivered or given up  ···hop··►  client
//! ```
//!
//! **Choices.** 1. [`Duplicates::WhileTrying`]: hidden while the link has the segment. When the link discards it, as
//! many copies of the newest hidden acknowledgement are passed up as were hidden, at most three, so that the sender
//! repairs at once. 2. [`Duplicates::Held`], the slides' words: hidden as long as the segment is remembered, whatever
//! its state. 3. [`Duplicates::Resend`], the snoop agent: hidden, and the segment goes to the link again when the link
//! no longer has it. It is sent once more when more duplicates arrive than segments behind it had been delivered before
//! that copy. 4. Always passed is what is not a duplicate for a standard TCP (RFC 5681, 2), including a changed window,
//! and a duplicate SACK (RFC 2883), which reports something else. So is a request for a segment that never passed,
//! because it was lost before it came here. So is a request for a segment that the sender has sent again, because it
//! has detected the loss. SACK blocks of hidden acknowledgements come again with others, because a receiver repeats
//! them (RFC 2018, 4). 5. If an advance leaves a second hole, what had been delivered behind it is not counted, and one
//! unnecessary repair is possible.
//!
//! **Checked by** `proxy_tcp/tests.rs`, and `crates/sim/tests/proxy_tcp.rs` end to end.

mod flow;
#[cfg(test)]
mod tests;

use super::flows::{self, Table};
use crate::hooks::parameter::{Described, parameters, words};
use crate::hooks::{Activity, Agent, AgentOut, Count, Criterion, Exported, Needs, counts};
use crate::packet::{Body, Flags, FlowKey, NodeId, Packet};
use crate::signal::Signal;
use crate::units::{Span, Time};
use flow::{Direction, Verdict};

/// The treatment of a duplicate acknowledgement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Duplicates {
    /// Hidden while the link has the segment that it requests.
    #[default]
    WhileTrying,
    /// Hidden while that segment is remembered.
    Held,
    /// Hidden, and the segment is sent again from here.
    Resend,
}

/// The parameters of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// For which flows it acts: those whose data goes to a node ahead.
    pub criterion: Criterion,
    /// The treatment of a duplicate.
    pub duplicates: Duplicates,
    /// Most segments remembered of one flow.
    pub segments: usize,
    /// A flow without a packet for this long is forgotten.
    pub idle: Span,
    /// Most flows known at once; a further flow is left alone.
    pub max_flows: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            criterion: Criterion::default(),
            duplicates: Duplicates::default(),
            segments: 100,
            idle: Span::from_secs(600),
            max_flows: 16_384,
        }
    }
}

impl Config {
    /// Its requirements on its interface and its flows.
    #[must_use]
    pub fn needs(&self) -> Needs {
        Needs { reports: true, last_hop: true, ..Needs::default() }
    }
}

words! { Duplicates: WhileTrying = "while-trying", Held = "held", Resend = "resend" }

impl Described for Config {
    parameters! {
        /// which duplicate acknowledgements are hidden: while the link holds the missing segment, as long as the agent
        /// remembers it, or the latter with a retransmission
        "duplicates": Words("choice") = duplicates, source("lasthop: schemes/proxy_tcp.rs, choices 1 to 3");
        /// maximum number of segments remembered per flow
        "segments": Count = segments, at_least("1"), at_most("1000000"), source("ns-2: Snoop");
        flows::IDLE: Time = idle;
        flows::MOST: Count = max_flows;
    }
}

/// The counters of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Duplicates hidden.
    pub hidden: u64,
    /// Hidden ones that were passed up after all, when the link had discarded the segment.
    pub released: u64,
    /// Acknowledgements without data that passed.
    pub passed: u64,
    /// Segments sent again.
    pub resent: u64,
    /// Most flows known at once.
    pub flows_max: u64,
}

/// The agent of one interface.
#[derive(Clone, Debug)]
pub struct ProxyTcp {
    config: Config,
    flows: Table<FlowKey, Direction>,
    counters: Counters,
}

impl ProxyTcp {
    /// An agent that knows no flow yet.
    #[must_use]
    pub fn new(config: Config) -> ProxyTcp {
        ProxyTcp { config, flows: Table::default(), counters: Counters::default() }
    }

    /// Its counters.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Most bytes of state held at once: the memory of a flow is reserved when it begins.
    #[must_use]
    pub fn state_bytes_max(&self) -> u64 {
        self.counters.flows_max * Direction::bytes(self.config.segments)
    }

    fn forget_idle(&mut self, now: Time) {
        let (number, idle) = (self.flows.turn(), self.config.idle);
        if self.flows.get_mut(number).is_some_and(|flow| now.since(flow.last_packet) >= idle) {
            self.flows.remove(number);
        }
    }

    fn forget(&mut self, key: &FlowKey) {
        if let Some(number) = self.flows.find(key) {
            self.flows.remove(number);
        }
    }

    /// The flow of data that goes down; it begins with its first segment.
    fn flow(&mut self, key: FlowKey) -> Option<&mut Direction> {
        let number = match self.flows.find(&key) {
            Some(number) => number,
            None if self.flows.len() < self.config.max_flows => {
                self.counters.flows_max = self.counters.flows_max.max(self.flows.len() as u64 + 1);
                self.flows.insert(key, Direction::new(self.config.segments))
            }
            None => return None,
        };
        self.flows.get_mut(number)
    }
}

impl Agent for ProxyTcp {
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        if let Body::Tcp(segment) = &packet.body
            && self.config.criterion.is_ahead(packet.dst)
        {
            self.forget_idle(now);
            let key = FlowKey::of(packet);
            if segment.flags.has(Flags::SYN) || segment.flags.has(Flags::RST) {
                self.forget(&key);
            } else if segment.sequence_len() > 0
                && let Some(flow) = self.flow(key)
            {
                flow.last_packet = now;
                flow.on_data(packet, segment);
            }
        }
        out.down(packet);
    }

    fn up(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        if let Body::Tcp(segment) = &packet.body {
            let key = FlowKey::of(packet).reversed();
            let duplicates = self.config.duplicates;
            if segment.flags.has(Flags::RST) {
                self.forget(&key);
            } else if let Some(number) = self.flows.find(&key)
                && let Some(flow) = self.flows.get_mut(number)
            {
                flow.last_packet = now;
                match flow.on_ack(packet, segment, duplicates) {
                    Verdict::Pass => self.counters.passed += u64::from(segment.sequence_len() == 0),
                    Verdict::Over => {
                        self.counters.passed += u64::from(segment.sequence_len() == 0);
                        self.flows.remove(number);
                    }
                    Verdict::Hide => {
                        self.counters.hidden += 1;
                        return;
                    }
                    Verdict::Resend(lost) => {
                        self.counters.hidden += 1;
                        self.counters.resent += 1;
                        out.down(&lost);
                        return;
                    }
                }
            }
        }
        out.up(packet);
    }

    fn on_signal(&mut self, signal: Signal, packet: &Packet, _now: Time, out: &mut impl AgentOut) {
        let Body::Tcp(segment) = &packet.body else { return };
        let number = self.flows.find(&FlowKey::of(packet));
        let Some(flow) = number.and_then(|number| self.flows.get_mut(number)) else { return };
        let Some((copies, newest)) = flow.on_signal(signal, segment, self.config.duplicates) else { return };
        for _ in 0..copies {
            self.counters.released += 1;
            out.up(&newest);
        }
    }

    fn on_timer(&mut self, _now: Time, _out: &mut impl AgentOut) {}

    fn each_kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.flows.iter().flat_map(Direction::packets).for_each(visit);
    }

    fn restart(&mut self, _: Time, _: &mut impl AgentOut) {
        self.flows = Table::default();
    }

    fn export(&mut self, mobile: NodeId, _: Time, _: &mut impl AgentOut) -> Option<Exported> {
        let flows = self.flows.take_of(mobile);
        let bytes = flows.iter().map(|(_, flow)| flow.bytes_held()).sum();
        (!flows.is_empty()).then(|| Exported { bytes, state: Box::new(flows) })
    }

    fn import(&mut self, exported: Exported, now: Time, _: &mut impl AgentOut) {
        let Ok(flows) = exported.state.downcast::<Vec<(FlowKey, Direction)>>() else { return };
        for (key, mut flow) in *flows {
            // What has begun here meanwhile is newer.
            if self.flows.find(&key).is_none() && self.flows.len() < self.config.max_flows {
                flow.move_to(now);
                self.flows.insert(key, flow);
                self.counters.flows_max = self.counters.flows_max.max(self.flows.len() as u64);
            }
        }
    }

    fn activity(&self) -> Activity {
        let counters = self.counters;
        Activity {
            suppressed: counters.hidden,
            passed: counters.passed + counters.released,
            repaired: counters.resent,
            state_bytes_max: self.state_bytes_max(),
            ..Activity::default()
        }
    }

    fn counts(&self) -> Vec<Count> {
        counts! {
            /// hidden duplicates released because the link gave up the segment
            "released": "segments" = self.counters.released;
        }
    }
}
