//! WTCP: a base station that sends a mobile's data in a window of its own, and hides from the sender what that costs.
//!
//! **Limits.** It reads TCP headers and changes a timestamp, so that nothing here sees into an encrypted or signed
//! transport. It acts at the last hop, for data to nodes ahead, and needs the timestamps option. A loss before the station
//! is left to the sender.
//!
//! **Source.** Ratnam and Matta, "WTCP: an efficient mechanism for improving TCP performance over wireless links", ISCC
//! 1998. The paper was not at hand: the rules are as `papers/wtcp.md` lists them, and all details are our reading.
//!
//! **How.** Data for a mobile is kept, without an acknowledgement, until the mobile acknowledges it. A duplicate makes the
//! station send one segment again, and goes no further; the window on the wireless side stands. The station's timer, which
//! never backs off, reduces that window to one segment, until the next advance opens it again. To the timestamp that an
//! acknowledgement echoes the station adds the time that the segment spent there, so that the sender's round trip leaves
//! local recovery out.
//!
//! ```text
//!            TSval = t             arrived a    sent last at s
//!   sender ─────data────▶ station [kept ········ again] ─────data────▶ mobile
//!          ◀─TSecr = t + (s - a)─                       ◀─TSecr = t───
//! ```
//!
//! **Choices.** 1. The window on the wireless side is one segment, or all that is kept: the sender keeps to the mobile's
//! window. 2. After the timer, what is kept counts as not sent: it goes again when an advance opens the window, and what
//! the mobile has is not kept any more by then. 3. The second duplicate sends the segment again (`threshold`): a copy that
//! was not needed causes one, which must not make the next. As many
//! are expected as are kept behind it, less those that came; one more shows that the copy was lost, and it goes again,
//! however often. 4. All duplicates that ask for a segment kept are suppressed. Those that ask for one that never came
//! pass, as does what is not a duplicate to a standard TCP (RFC 5681, 2). 5. A segment that is kept
//! and comes again from its sender goes on if the window allows, and the next duplicate passes, as the sender has asked;
//! what is said with a closed window passes too, and no timer runs meanwhile. 6. A segment that
//! finds no room is forwarded as it is, and one that the link's queue refuses when it is sent first is kept no longer:
//! congestion is the sender's. 7. The timeout
//! is `srtt + 4 rttvar`, as Snoop's, of segments sent once. 8. An echo belongs to the first of the segments now
//! acknowledged that had this timestamp; where there is none it stays as it is. 9. The station does not know the unit of
//! the sender's clock: it measures how fast the stamps advance, over all data of the flow, and changes no echo before the
//! first second. An echo is never later than what the sender's clock shows by that measure. 10. At a hand-off what is kept
//! moves; the oldest goes at once, and the rest when that is acknowledged.
//!
//! **Checked by** `wtcp/tests.rs`, and `crates/sim/tests/stations.rs` end to end.

mod buffered;
mod stamps;
#[cfg(test)]
mod tests;

use super::deadlines::Alarm;
use super::flows;
use super::held::{Flows, Kept};
use crate::hooks::parameter::{Described, Domain, LONGEST, Parameter, Setting};
use crate::hooks::{Activity, Agent, AgentOut, Count, Criterion, Exported, Needs};
use crate::packet::{Body, Flags, FlowKey, NodeId, Packet, Segment};
use crate::signal::Signal;
use crate::units::{Span, Time};
use buffered::{Buffered, Verdict};

/// The parameters of one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// For which flows it acts: those to nodes ahead.
    pub criterion: Criterion,
    /// Most segments kept of one flow.
    pub buffer: usize,
    /// Duplicates that are suppressed before a segment is sent again.
    pub threshold: u32,
    /// The least timeout.
    pub min_timeout: Span,
    /// The weight of a new round trip in their smoothed mean.
    pub gain: f64,
    /// Whether a copy goes ahead of what waits for the link.
    pub ahead: bool,
    /// Whether the time that a segment spent at the station is added to its echo.
    pub hide_time: bool,
    /// A flow without a packet for this long is forgotten.
    pub idle: Span,
    /// Most flows known at once; a further flow is left alone.
    pub max_flows: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            criterion: Criterion::default(),
            buffer: 100,
            threshold: 1,
            min_timeout: Span::from_millis(100),
            gain: 0.125,
            ahead: true,
            hide_time: true,
            idle: Span::from_secs(600),
            max_flows: 16_384,
        }
    }
}

impl Config {
    /// What it needs of its interface and its flows.
    #[must_use]
    pub fn needs(&self) -> Needs {
        Needs { last_hop: true, timestamps: true, ..Needs::default() }
    }
}

impl Described for Config {
    const PARAMETERS: &'static [Parameter<Config>] = &[
        Parameter::<Self>::new(
            "buffer",
            Domain::Count,
            "maximum number of segments kept per flow; further segments are forwarded only",
            |agent| Setting::Count(agent.buffer as u64),
            |agent, value| agent.buffer = value.count() as usize,
        )
        .at_least("1")
        .at_most("1000000"),
        Parameter::<Self>::new(
            "threshold",
            Domain::Count,
            "number of duplicate acknowledgements that are suppressed before the station retransmits",
            |agent| Setting::Count(agent.threshold.into()),
            |agent, value| agent.threshold = value.count() as u32,
        )
        .at_most("1000"),
        Parameter::<Self>::new(
            "min-timeout",
            Domain::Time("ms"),
            "minimum of the local retransmission timeout, which does not back off",
            |agent| Setting::Time(agent.min_timeout),
            |agent, value| agent.min_timeout = value.time(),
        )
        .above("0 s")
        .at_most(LONGEST),
        Parameter::<Self>::new(
            "gain",
            Domain::Number,
            "weight of a new round trip in the smoothed round trip of the local timer",
            |agent| Setting::Number(agent.gain),
            |agent, value| agent.gain = value.number(),
        )
        .above("0")
        .at_most("1"),
        Parameter::<Self>::new(
            "ahead",
            Domain::Flag,
            "whether a local retransmission goes ahead of the packets that wait for the link",
            |agent| Setting::Flag(agent.ahead),
            |agent, value| agent.ahead = value.flag(),
        ),
        Parameter::<Self>::new(
            "hide-time",
            Domain::Flag,
            "whether the time that a segment spent at the station is added to the timestamp echoed for it",
            |agent| Setting::Flag(agent.hide_time),
            |agent, value| agent.hide_time = value.flag(),
        )
        .source("Ratnam and Matta 1998"),
        flows::idle(|agent| Setting::Time(agent.idle), |agent, value| agent.idle = value.time()),
        flows::most(
            |agent| Setting::Count(agent.max_flows as u64),
            |agent, value| agent.max_flows = value.count() as usize,
        ),
    ];
}

/// The counters of an agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Duplicates suppressed.
    pub suppressed: u64,
    /// Acknowledgements without data that passed.
    pub passed: u64,
    /// Segments sent again from here.
    pub repaired: u64,
    /// Those among them that the timer made go.
    pub timeouts: u64,
    /// Segments that found no room here or in the queue of the link.
    pub not_kept: u64,
    /// Segments that came again from their sender while they were kept.
    pub asked: u64,
    /// Acknowledgements whose echo was changed.
    pub restamped: u64,
}

/// The agent of one interface.
#[derive(Clone, Debug)]
pub struct Wtcp {
    config: Config,
    flows: Flows<Buffered>,
    alarm: Alarm,
    counters: Counters,
}

/// Where a flow finds what it needs in one call.
struct Turn<'a, O> {
    config: &'a Config,
    counters: &'a mut Counters,
    now: Time,
    out: &'a mut O,
}

impl Wtcp {
    /// An agent that knows no flow yet.
    #[must_use]
    pub fn new(config: Config) -> Wtcp {
        let flows = Flows::new(config.max_flows, config.idle);
        Wtcp { config, flows, alarm: Alarm::default(), counters: Counters::default() }
    }

    /// Its counters.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    /// Data goes to a mobile. Whether the packet goes on by itself.
    fn on_data(&mut self, packet: &Packet, segment: &Segment, now: Time, out: &mut impl AgentOut) -> bool {
        let key = FlowKey::of(packet);
        if segment.flags.has(Flags::SYN) || segment.flags.has(Flags::RST) {
            self.flows.forget(&key);
            return true;
        }
        if segment.sequence_len() == 0 || segment.options.timestamps.is_none() {
            return true;
        }
        let config = &self.config;
        let Some(number) = self.flows.find_or_begin(key, || Buffered::new(config.buffer, now)) else {
            return true;
        };
        let mut turn = Turn { config, counters: &mut self.counters, now, out };
        self.flows.act(number, |flow| flow.on_data(packet, segment, &mut turn)).unwrap_or(true)
    }

    /// A mobile acknowledges: what goes up in the place of the packet, if anything does.
    fn on_ack(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        now: Time,
        out: &mut impl AgentOut,
    ) -> Option<Packet> {
        let key = FlowKey::of(packet).reversed();
        if segment.flags.has(Flags::RST) {
            self.flows.forget(&key);
            return Some(*packet);
        }
        let Some(number) = self.flows.find(&key).filter(|_| segment.flags.has(Flags::ACK)) else {
            return Some(*packet);
        };
        let mut turn = Turn { config: &self.config, counters: &mut self.counters, now, out };
        let verdict = self.flows.act(number, |flow| flow.on_ack(segment, &mut turn));
        let echo = match verdict {
            Some(Verdict::Suppress) => {
                self.counters.suppressed += 1;
                return None;
            }
            Some(Verdict::Over(echo)) => {
                self.flows.remove(number);
                echo
            }
            Some(Verdict::Pass(echo)) => echo,
            None => None,
        };
        self.counters.passed += u64::from(segment.sequence_len() == 0);
        let Some(echo) = echo else { return Some(*packet) };
        self.counters.restamped += 1;
        let mut segment = *segment;
        if let Some(stamps) = &mut segment.options.timestamps {
            stamps.echo = echo;
        }
        Some(Packet { body: Body::Tcp(segment), ..*packet })
    }

    #[inline]
    fn arm(&mut self, out: &mut impl AgentOut) {
        self.alarm.arm(self.flows.first(), out);
    }
}

impl Agent for Wtcp {
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        let mut goes = true;
        if let Body::Tcp(segment) = &packet.body
            && self.config.criterion.is_ahead(packet.dst)
        {
            goes = self.on_data(packet, segment, now, out);
            self.arm(out);
        }
        if goes {
            out.down(packet);
        }
    }

    fn up(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        let mut goes = Some(*packet);
        if let Body::Tcp(segment) = &packet.body
            && self.config.criterion.is_ahead(packet.src)
        {
            goes = self.on_ack(packet, segment, now, out);
            self.arm(out);
        }
        if let Some(packet) = goes {
            out.up(&packet);
        }
    }

    fn on_signal(&mut self, signal: Signal, packet: &Packet, _: Time, out: &mut impl AgentOut) {
        let Body::Tcp(segment) = &packet.body else { return };
        if signal == Signal::Refused
            && segment.sequence_len() > 0
            && let Some(number) = self.flows.find(&FlowKey::of(packet))
        {
            let parted = self.flows.act(number, |flow| flow.on_refused(segment));
            self.counters.not_kept += u64::from(parted == Some(true));
            self.arm(out);
        }
    }

    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut) {
        self.alarm.rang();
        let mut turn = Turn { config: &self.config, counters: &mut self.counters, now, out };
        self.flows.on_timer(now, |flow| flow.on_timer(&mut turn));
        self.arm(out);
    }

    fn activity(&self) -> Activity {
        let counters = self.counters;
        Activity {
            suppressed: counters.suppressed,
            passed: counters.passed,
            repaired: counters.repaired,
            unconfirmed: Some(0),
            state_bytes_max: self.flows.bytes_max(),
            ..Activity::default()
        }
    }

    fn counts(&self) -> Vec<Count> {
        let count = |name, unit, meaning, value| Count { name, unit, meaning, value };
        let Counters { timeouts, not_kept, asked, restamped, .. } = self.counters;
        vec![
            count(
                "timed_out",
                "segments",
                "segments retransmitted because the local timer expired",
                timeouts,
            ),
            count("not_kept", "segments", "segments not kept: the buffer or the queue was full", not_kept),
            count(
                "asked",
                "segments",
                "segments that came again from their sender while they were kept",
                asked,
            ),
            count("restamped", "segments", "acknowledgements whose echoed timestamp was changed", restamped),
            count(
                "flows_refused",
                "flows",
                "attempts to keep a flow for which the table had no room",
                self.flows.refused(),
            ),
        ]
    }

    fn export(&mut self, mobile: NodeId, _: Time, out: &mut impl AgentOut) -> Option<Exported> {
        let flows = self.flows.take_of(mobile);
        self.arm(out);
        let bytes = flows.iter().map(|(_, flow)| flow.bytes()).sum();
        (!flows.is_empty()).then(|| Exported { bytes, state: Box::new(flows) })
    }

    fn import(&mut self, exported: Exported, now: Time, out: &mut impl AgentOut) {
        let Ok(flows) = exported.state.downcast::<Vec<(FlowKey, Buffered)>>() else { return };
        for number in self.flows.put(*flows, now) {
            let mut turn = Turn { config: &self.config, counters: &mut self.counters, now, out: &mut *out };
            self.flows.act(number, |flow| flow.repeat(&mut turn));
        }
        self.arm(out);
    }
}
