//! WTCP: a base station that retransmits a mobile's data under its own window and hides the time that this takes from
//! the sender's round trip estimate.
//!
//! **Limits.** It reads TCP headers and rewrites a timestamp, so it cannot act on encrypted or authenticated
//! transports. It acts at the last hop, on data to nodes ahead of its interface, and needs the timestamps option.
//! Losses before the station are left to the sender.
//!
//! **Source.** Ratnam and Matta, "WTCP: an efficient mechanism for improving TCP performance over wireless links", ISCC
//! 1998. The text of the paper was not available: the rules are those listed in `papers/wtcp.md`, and all details are
//! our reading.
//!
//! **How.** The station buffers data for a mobile, without acknowledging it, until the mobile does. On a duplicate
//! acknowledgement it retransmits one segment and suppresses the duplicate; the window on the wireless side does not
//! change. The station's timer, which never backs off, reduces that window to one segment; the next advance reopens it.
//! The station adds to the timestamp echoed by an acknowledgement the time that the segment spent at the station, so
//! that the sender's round trip excludes local recovery.
//!
//! ```text
//!            TSval = t             arrived a    sent last at s
//!   sender ─────data────▶ station [kept ········ again] ─────data────▶ mobile
//!          ◀─TSecr = t + (s - a)─                       ◀─TSecr = t───
//! ```
//!
//! **Choices.** 1. The window on the wireless side is either one segment or all buffered segments: the sender respects
//! the mobile's window. 2. After a timeout all buffered segments count as not sent. They are sent again when an advance
//! reopens the window; what the mobile has acknowledged by then is no longer buffered. 3. The second duplicate triggers
//! the retransmission (`threshold`): an unnecessary copy causes one duplicate, which must not trigger the next copy.
//! The number of duplicates expected is the number of segments buffered behind the retransmitted one, minus those that
//! have arrived. One more indicates that the copy was lost, and the segment is retransmitted again, without a limit. 4.
//! All duplicates that request a buffered segment are suppressed. Duplicates that request a segment that never reached
//! the station pass, and so do acknowledgements that are not duplicates by RFC 5681 (2). 5. If the sender retransmits a
//! buffered segment, it is forwarded if the window allows, and the next duplicate passes, since it answers the sender.
//! Acknowledgements with a zero window pass as well, and no timer runs while the window is zero. 6. A segment for which
//! there is no room is forwarded unchanged. A segment that the queue of the link refuses on its first transmission is
//! removed from the buffer: congestion is left to the sender. 7. The timeout is `srtt + 4 rttvar`, as in Snoop, sampled
//! from segments sent once. 8. An echo belongs to the first of the newly acknowledged segments that carried its
//! timestamp; if there is none, the echo is not changed. 9. The station does not know the unit of the sender's clock.
//! It measures how fast the timestamps advance over all data of the flow, and changes no echo during the first second.
//! An echo is never later than the sender's clock by that measure. 10. At a hand-off the buffered segments move; the
//! oldest is sent at once, and the rest when it is acknowledged. 11. The timestamps of copies are those of Snoop (13).
//!
//! **Checked by** `wtcp/tests.rs`, and `crates/sim/tests/stations.rs` end to end.

mod buffered;
mod stamps;
#[cfg(test)]
mod tests;

use super::deadlines::Alarm;
use super::flows;
use super::held::{Flows, Kept};
use crate::hooks::parameter::{Described, LONGEST, parameters};
use crate::hooks::{Activity, Agent, AgentOut, Count, Criterion, Exported, Needs, counts};
use crate::packet::{Body, Flags, FlowKey, NodeId, Packet, Segment};
use crate::signal::Signal;
use crate::units::{Span, Time};
use buffered::{Buffered, Verdict};

/// The parameters of one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The flows on which it acts: those to nodes ahead.
    pub criterion: Criterion,
    /// Maximum number of segments buffered per flow.
    pub buffer: usize,
    /// Duplicates that are suppressed before a segment is retransmitted.
    pub threshold: u32,
    /// Minimum timeout.
    pub min_timeout: Span,
    /// Weight of a new sample in the smoothed round trip.
    pub gain: f64,
    /// Whether a local retransmission precedes the packets queued for the link.
    pub ahead: bool,
    /// Whether the time that a segment spent at the station is added to its echo.
    pub hide_time: bool,
    /// A flow without a packet for this long is forgotten.
    pub idle: Span,
    /// Maximum number of flows; further flows are not handled.
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
    /// The requirements of the agent on its interface and its flows.
    #[must_use]
    pub fn needs(&self) -> Needs {
        let repeats_after = Some(self.min_timeout);
        Needs { last_hop: true, timestamps: true, repeats_after, ..Needs::default() }
    }
}

impl Described for Config {
    parameters! {
        /// maximum number of segments kept per flow; further segments are forwarded only
        "buffer": Count = buffer, at_least("1"), at_most("1000000");
        /// number of duplicate acknowledgements that are suppressed before the station retransmits
        "threshold": Count = threshold, at_most("1000");
        /// minimum of the local retransmission timeout, which does not back off
        "min-timeout": Time("ms") = min_timeout, above("0 s"), at_most(LONGEST);
        /// weight of a new round trip in the smoothed round trip of the local timer
        "gain": Number = gain, above("0"), at_most("1");
        /// whether a local retransmission goes ahead of the packets that wait for the link
        "ahead": Flag = ahead;
        /// whether the time that a segment spent at the station is added to the timestamp echoed for it
        "hide-time": Flag = hide_time, source("Ratnam and Matta 1998");
        flows::IDLE: Time = idle;
        flows::MOST: Count = max_flows;
    }
}

/// The counters of one agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Duplicates suppressed.
    pub suppressed: u64,
    /// Acknowledgements without data that passed.
    pub passed: u64,
    /// Retransmissions of the oldest segment, caused by duplicates, the timer or a hand-off.
    pub repaired: u64,
    /// Of these, retransmissions because the timer expired.
    pub timeouts: u64,
    /// Segments not buffered: the buffer or the queue of the link was full.
    pub not_kept: u64,
    /// Segments that their sender retransmitted while they were buffered.
    pub asked: u64,
    /// Acknowledgements whose echoed timestamp was changed.
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

/// The context of one call to a flow.
struct Turn<'a, O> {
    config: &'a Config,
    counters: &'a mut Counters,
    now: Time,
    out: &'a mut O,
}

impl Wtcp {
    /// An agent without flows.
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

    /// Handles data on its way to a mobile. Returns whether the caller forwards the packet.
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

    /// Handles an acknowledgement from a mobile. Returns the packet to forward, if any.
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

    fn each_kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.flows.each_packet(visit);
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
        let Counters { timeouts, not_kept, asked, restamped, .. } = self.counters;
        counts! {
            /// segments retransmitted because the local timer expired
            "timed_out": "segments" = timeouts;
            /// segments not kept: the buffer or the queue was full
            "not_kept": "segments" = not_kept;
            /// segments that came again from their sender while they were kept
            "asked": "segments" = asked;
            /// acknowledgements whose echoed timestamp was changed
            "restamped": "segments" = restamped;
            /// attempts to keep a flow for which the table had no room
            "flows_refused": "flows" = self.flows.refused();
        }
    }

    fn restart(&mut self, _: Time, out: &mut impl AgentOut) {
        self.flows.clear();
        self.arm(out);
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
