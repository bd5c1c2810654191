//! Snoop: a base station that repairs the losses of its wireless link locally and reports them to a mobile sender.
//!
//! **Limits.** It reads TCP headers, so it cannot act on encrypted transports. It acts at the last hop, for nodes ahead
//! of its interface; the acknowledgements must return through the same station. Losses before the station or in its own
//! queue are left to the sender, and so is a loss whose local retransmissions are lost as well.
//!
//! **Source.** Balakrishnan, Seshan, Amir and Katz, "Improving TCP/IP performance over wireless networks", MOBICOM
//! 1995; ns-2.35, `tcp/snoop.cc`. Explicit loss notification: Balakrishnan and Katz, "Explicit loss notification and
//! wireless web performance", GLOBECOM Internet Mini-Conference 1998.
//!
//! **How.** The station caches data for a mobile until the mobile acknowledges it. On the second duplicate
//! acknowledgement it retransmits the segment and suppresses the duplicates that the segments cached behind it can
//! cause; a local timer of `srtt + 4 rttvar` retransmits the oldest segment. For data from a mobile, the station
//! records what has arrived over the link and marks each duplicate acknowledgement that requests a segment it has not
//! received (ELN).
//!
//! ```text
//!                 kept, forwarded                    hole noted
//!   fixed ──data──▶ station ──data──▶ mobile   fixed ◀──data── station ◀─✗─data── mobile
//!         ◀──ack── first passes ◀──ack──             ──ack──▶ marked ELN ──ack──▶
//!                  then: copy ahead of the queue
//! ```
//!
//! **Choices.** 1. A segment is out of order if it arrives after segments with higher numbers. It was lost before the
//! station and counts as retransmitted by the sender, as in ns-2 if it is the oldest segment. 2. A segment that the
//! queue of the link refuses is removed from the cache: congestion is left to the sender. Instead, ns-2 checks the
//! queue in advance and keeps one place in reserve. 3. After a local retransmission the number of duplicates suppressed
//! is the number of segments cached behind the repaired one, minus the duplicates that have already arrived. In
//! contrast, ns-2 suppresses one more, which hides the first duplicate caused by a lost retransmission. 4. ns-2 counts
//! the duplicates that it forwards across all flows and across advances; here they are counted per flow and from its
//! last advance. 5. A duplicate beyond those expected indicates that the local retransmission was lost. The segment is
//! retransmitted again if the station has sent fewer than `copies` copies of it, and the expected number is computed
//! again. After that, duplicates pass, and only the timer retransmits. The agent of ns-2 reaches that state if only one
//! segment was cached, and otherwise leaves a lost retransmission to its timer (`copies = 1`). 6. The smoothed round
//! trip has gain 1/8; that of ns-2 has 7/8, because it applies the gain to the old value (`gain`). A segment sent more
//! than once gives no sample, and neither do the segments acknowledged together with one, because their acknowledgement
//! waited for it. In contrast, ns-2 times both, which lengthens the timer as losses become frequent. It also starts the
//! timer at an advance before it takes the new round trip (`karn = false`). 7. A local retransmission goes to the head
//! of the queue (`ahead`); in ns-2 it goes to the tail. 8. Retransmissions by the timer count as copies: the duplicates
//! expected after one are suppressed as well. 9. A duplicate is what RFC 5681 (2) defines as one; an acknowledgement
//! with a duplicate SACK passes, because it carries other information. 10. At a hand-off the cached segments and the
//! recorded holes move. The oldest segment is sent at once over the new link, because all of them may have been lost on
//! the old one. 11. Duplicates that request the first of several holes are marked; the next hole is marked once the
//! acknowledgement has advanced to it, as in ns-2. 12. SACK blocks in the acknowledgements that pass are not changed.
//! If they report the next hole, a sender with SACK may declare it lost before the station has repaired it. 13. A copy
//! is not stamped earlier than what the mobile echoes: a mobile that checks timestamps (RFC 7323, 5) would discard it
//! once the sender has repeated an earlier segment.
//!
//! **Checked by** `snoop/tests.rs`, `crates/sim/tests/stations.rs` end to end, and `tests/python/test_ns2_snoop.py`
//! against ns-2.

mod cached;
mod holes;
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
use cached::{Cached, Verdict};
use holes::Holes;

/// The parameters of one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The flows on which it acts: those to and from nodes ahead.
    pub criterion: Criterion,
    /// Maximum number of segments cached per flow.
    pub cache: usize,
    /// Duplicates that pass before a segment is retransmitted.
    pub threshold: u32,
    /// Maximum number of copies of a segment, until its sender retransmits it.
    pub repeats: u32,
    /// Maximum number of copies for which duplicates may trigger another.
    pub copies: u32,
    /// Minimum timeout.
    pub min_timeout: Span,
    /// Weight of a new sample in the smoothed round trip.
    pub gain: f64,
    /// Whether only round trips without a copy are measured (Karn's rule).
    pub karn: bool,
    /// Whether a local retransmission precedes the packets queued for the link.
    pub ahead: bool,
    /// Whether duplicates caused by losses on the wireless link are marked.
    pub eln: bool,
    /// A flow without a packet for this long is forgotten.
    pub idle: Span,
    /// Maximum number of flows in each direction; further flows are not handled.
    pub max_flows: usize,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            criterion: Criterion::default(),
            cache: 100,
            threshold: 1,
            repeats: 10,
            copies: 2,
            min_timeout: Span::from_millis(100),
            gain: 0.125,
            karn: true,
            ahead: true,
            eln: true,
            idle: Span::from_secs(600),
            max_flows: 16_384,
        }
    }
}

impl Config {
    /// The requirements of the agent on its interface and its flows.
    #[must_use]
    pub fn needs(&self) -> Needs {
        Needs { last_hop: true, repeats_after: Some(self.min_timeout), ..Needs::default() }
    }
}

impl Described for Config {
    parameters! {
        /// maximum number of segments kept per flow; further segments are forwarded only
        "cache": Count = cache, at_least("1"), at_most("1000000"), source("ns-2: Snoop");
        /// number of duplicate acknowledgements that pass before the station retransmits
        "threshold": Count = threshold, at_most("1000"), source("ns-2: RTX_THRESH");
        /// maximum number of local retransmissions of a segment
        "repeats": Count = repeats, at_least("1"), at_most("1000000"), source("ns-2: SNOOP_MAX_RXMIT");
        /// maximum number of local retransmissions of a segment that duplicate acknowledgements cause
        "copies": Count = copies, at_least("1"), at_most("1000000"), source("lasthop: schemes/snoop.rs, choice 5");
        /// minimum of the local retransmission timeout
        "min-timeout": Time("ms") = min_timeout, above("0 s"), at_most(LONGEST), source("ns-2: snoopTick_");
        /// weight of a new round trip in the smoothed round trip of the local timer
        "gain": Number = gain, above("0"), at_most("1");
        /// whether the local timer ignores round trips of repaired segments and of those acknowledged with one
        "karn": Flag = karn, source("lasthop: schemes/snoop.rs, choice 6");
        /// whether a local retransmission goes ahead of the packets that wait for the link
        "ahead": Flag = ahead, source("Balakrishnan et al. 1995");
        /// whether duplicate acknowledgements for data lost between mobile and station are marked (ELN)
        "eln": Flag = eln, source("Balakrishnan and Katz 1998");
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
    /// Segments retransmitted by the station.
    pub repaired: u64,
    /// Of these, segments retransmitted because the timer expired.
    pub timeouts: u64,
    /// Segments not cached: the cache or the queue of the link was full.
    pub not_kept: u64,
    /// Acknowledgements marked.
    pub marked: u64,
}

/// The agent of one interface.
#[derive(Clone, Debug)]
pub struct Snoop {
    config: Config,
    /// Flows of data to the mobiles.
    to_mobiles: Flows<Cached>,
    /// Flows of data from the mobiles.
    of_mobiles: Flows<Holes>,
    alarm: Alarm,
    counters: Counters,
}

/// The state that moves to another station.
struct Moved {
    cached: Vec<(FlowKey, Cached)>,
    holes: Vec<(FlowKey, Holes)>,
}

impl Snoop {
    /// An agent without flows.
    #[must_use]
    pub fn new(config: Config) -> Snoop {
        let (to_mobiles, of_mobiles) =
            (Flows::new(config.max_flows, config.idle), Flows::new(config.max_flows, config.idle));
        Snoop { config, to_mobiles, of_mobiles, alarm: Alarm::default(), counters: Counters::default() }
    }

    /// Its counters.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }

    #[inline]
    fn arm(&mut self, out: &mut impl AgentOut) {
        let first = self.to_mobiles.first().into_iter().chain(self.of_mobiles.first()).min();
        self.alarm.arm(first, out);
    }

    /// Handles data on its way to a mobile.
    fn keep(&mut self, packet: &Packet, segment: &Segment, now: Time) {
        let key = FlowKey::of(packet);
        if segment.flags.has(Flags::SYN) || segment.flags.has(Flags::RST) {
            self.to_mobiles.forget(&key);
            return;
        }
        if segment.sequence_len() == 0 {
            return;
        }
        let (config, counters) = (&self.config, &mut self.counters);
        if let Some(number) = self.to_mobiles.find_or_begin(key, || Cached::new(config.cache, now)) {
            let kept = self.to_mobiles.act(number, |flow| flow.on_data(packet, segment, config, now));
            counters.not_kept += u64::from(kept == Some(false));
        }
    }

    /// Handles an acknowledgement on its way to a mobile. Returns the marked packet if it requests data that the link
    /// lost.
    fn mark(&mut self, packet: &Packet, segment: &Segment, now: Time) -> Option<Packet> {
        let key = FlowKey::of(packet).reversed();
        if segment.flags.has(Flags::RST) {
            self.of_mobiles.forget(&key);
        }
        if !self.config.eln || !segment.flags.has(Flags::ACK) {
            return None;
        }
        let number = self.of_mobiles.find(&key)?;
        self.of_mobiles.act(number, |flow| flow.on_ack(segment, now)).filter(|is_lost| *is_lost)?;
        self.counters.marked += 1;
        let flags = segment.flags.with(Flags::ELN);
        Some(Packet { body: Body::Tcp(Segment { flags, ..*segment }), ..*packet })
    }

    /// Handles data that a mobile has sent over the link.
    fn note(&mut self, packet: &Packet, segment: &Segment, now: Time) {
        let key = FlowKey::of(packet);
        if segment.flags.has(Flags::SYN) || segment.flags.has(Flags::RST) {
            self.of_mobiles.forget(&key);
        }
        if !self.config.eln || segment.sequence_len() == 0 || segment.flags.has(Flags::RST) {
            return;
        }
        if let Some(number) = self.of_mobiles.find_or_begin(key, || Holes::new(segment, now)) {
            self.of_mobiles.act(number, |flow| flow.on_data(segment, now));
        }
    }

    /// Handles an acknowledgement from a mobile. Returns whether it is forwarded.
    fn hear(&mut self, packet: &Packet, segment: &Segment, now: Time, out: &mut impl AgentOut) -> bool {
        let key = FlowKey::of(packet).reversed();
        if segment.flags.has(Flags::RST) {
            self.to_mobiles.forget(&key);
            return true;
        }
        let Some(number) = self.to_mobiles.find(&key).filter(|_| segment.flags.has(Flags::ACK)) else {
            return true;
        };
        let config = &self.config;
        let verdict = self.to_mobiles.act(number, |flow| flow.on_ack(segment, config, now));
        let passes = match verdict {
            Some(Verdict::Suppress) => false,
            Some(Verdict::Resend(copy)) => {
                self.counters.repaired += 1;
                send(&self.config, &copy, out);
                false
            }
            Some(Verdict::Over) => {
                self.to_mobiles.remove(number);
                true
            }
            Some(Verdict::Pass) | None => true,
        };
        self.counters.suppressed += u64::from(!passes);
        self.counters.passed += u64::from(passes && segment.sequence_len() == 0);
        passes
    }
}

/// Sends a local retransmission to the link.
fn send(config: &Config, copy: &Packet, out: &mut impl AgentOut) {
    if config.ahead {
        out.ahead(copy);
    } else {
        out.down(copy);
    }
}

impl Agent for Snoop {
    fn down(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        let mut marked = None;
        if let Body::Tcp(segment) = &packet.body
            && self.config.criterion.is_ahead(packet.dst)
        {
            self.keep(packet, segment, now);
            marked = self.mark(packet, segment, now);
            self.arm(out);
        }
        out.down(marked.as_ref().unwrap_or(packet));
    }

    fn up(&mut self, packet: &Packet, now: Time, out: &mut impl AgentOut) {
        let mut passes = true;
        if let Body::Tcp(segment) = &packet.body
            && self.config.criterion.is_ahead(packet.src)
        {
            self.note(packet, segment, now);
            passes = self.hear(packet, segment, now, out);
            self.arm(out);
        }
        if passes {
            out.up(packet);
        }
    }

    fn on_signal(&mut self, signal: Signal, packet: &Packet, _: Time, out: &mut impl AgentOut) {
        let Body::Tcp(segment) = &packet.body else { return };
        if signal == Signal::Refused
            && segment.sequence_len() > 0
            && let Some(number) = self.to_mobiles.find(&FlowKey::of(packet))
        {
            let parted = self.to_mobiles.act(number, |flow| flow.on_refused(segment));
            self.counters.not_kept += u64::from(parted == Some(true));
            self.arm(out);
        }
    }

    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut) {
        self.alarm.rang();
        let (config, counters) = (&self.config, &mut self.counters);
        self.to_mobiles.on_timer(now, |flow| {
            if let Some(copy) = flow.on_timer(config, now) {
                counters.repaired += 1;
                counters.timeouts += 1;
                send(config, &copy, out);
            }
        });
        self.of_mobiles.on_timer(now, |_| {});
        self.arm(out);
    }

    fn each_kept(&self, visit: &mut dyn FnMut(&Packet)) {
        self.to_mobiles.each_packet(visit);
    }

    fn activity(&self) -> Activity {
        let counters = self.counters;
        Activity {
            suppressed: counters.suppressed,
            passed: counters.passed,
            repaired: counters.repaired,
            unconfirmed: Some(0),
            state_bytes_max: self.to_mobiles.bytes_max() + self.of_mobiles.bytes_max(),
            ..Activity::default()
        }
    }

    fn counts(&self) -> Vec<Count> {
        let Counters { timeouts, not_kept, marked, .. } = self.counters;
        counts! {
            /// segments retransmitted because the local timer expired
            "timed_out": "segments" = timeouts;
            /// segments forwarded without a copy: the cache or the queue was full
            "not_kept": "segments" = not_kept;
            /// acknowledgements marked with a loss on the wireless link (ELN)
            "marked": "segments" = marked;
            /// attempts to keep a flow for which the table had no room
            "flows_refused": "flows" = self.to_mobiles.refused() + self.of_mobiles.refused();
        }
    }

    fn restart(&mut self, _: Time, out: &mut impl AgentOut) {
        self.to_mobiles.clear();
        self.of_mobiles.clear();
        self.arm(out);
    }

    fn export(&mut self, mobile: NodeId, _: Time, out: &mut impl AgentOut) -> Option<Exported> {
        let moved = Moved { cached: self.to_mobiles.take_of(mobile), holes: self.of_mobiles.take_of(mobile) };
        self.arm(out);
        let cached: u64 = moved.cached.iter().map(|(_, flow)| flow.bytes()).sum();
        let holes: u64 = moved.holes.iter().map(|(_, flow)| flow.bytes()).sum();
        let bytes = cached + holes;
        (bytes > 0).then(|| Exported { bytes, state: Box::new(moved) })
    }

    fn import(&mut self, exported: Exported, now: Time, out: &mut impl AgentOut) {
        let Ok(moved) = exported.state.downcast::<Moved>() else { return };
        self.of_mobiles.put(moved.holes, now);
        for number in self.to_mobiles.put(moved.cached, now) {
            let config = &self.config;
            if let Some(copy) = self.to_mobiles.act(number, |flow| flow.repeat(config, now)).flatten() {
                self.counters.repaired += 1;
                send(&self.config, &copy, out);
            }
        }
        self.arm(out);
    }
}
