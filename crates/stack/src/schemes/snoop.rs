//! Snoop: a base station that repairs the losses of a wireless link itself, and tells a mobile sender of them.
//!
//! **Limits.** It reads TCP headers, so that nothing here sees into an encrypted transport. It acts at the last hop, for
//! data to nodes ahead; the acknowledgements must come back the same way. A loss before the station, and one in its own
//! queue, is left to the sender, as is one whose copies are lost too.
//!
//! **Source.** Balakrishnan, Seshan, Amir and Katz, "Improving TCP/IP performance over wireless networks", MOBICOM 1995;
//! ns-2.35, `tcp/snoop.cc`; explicit loss notification: Balakrishnan and Katz, "Explicit loss notification and wireless
//! web performance", GLOBECOM Internet Mini-Conference 1998.
//!
//! **How.** Data for a mobile is kept until the mobile acknowledges it. The second duplicate acknowledgement makes the
//! station send the segment again, and the duplicates that what is kept behind it can cause are suppressed; a local timer
//! of `srtt + 4 rttvar` repeats the oldest. Of data from a mobile it notes what has come over the link, and a duplicate
//! that asks for what has not is marked (ELN).
//!
//! ```text
//!                 kept, forwarded                    hole noted
//!   fixed ──data──▶ station ──data──▶ mobile   fixed ◀──data── station ◀─✗─data── mobile
//!         ◀──ack── first passes ◀──ack──             ──ack──▶ marked ELN ──ack──▶
//!                  then: copy ahead of the queue
//! ```
//!
//! **Choices.** 1. Out of order means before a segment that has passed: it was lost on its way here and counts as sent
//! again by the sender, as in ns-2 where it is the oldest one. 2. A segment is not kept when the link's queue refuses it:
//! congestion is the sender's. ns-2 asks the queue beforehand, with one place in reserve. 3. After a copy as many
//! duplicates are suppressed as segments are kept behind the one repaired, less those that came already; ns-2 suppresses
//! one more, which hides the first duplicate that a lost copy causes. 4. ns-2 counts the duplicates that pass for all
//! flows together and across advances; here they count from the last advance of their flow. 5. A duplicate beyond those
//! expected shows that the copy was lost: it is sent again if it was sent fewer than `copies` times from here, and as many
//! are expected as before; after that duplicates pass, and only the timer repeats. ns-2 comes to that state if one segment
//! alone was kept, and otherwise leaves a lost copy to its timer (`copies = 1`). 6. The smoothed round trip has gain 1/8;
//! ns-2's has 7/8, since it takes the gain for the old value (`gain`). A segment sent more than once is not timed, and
//! neither is what was acknowledged with one, since it waited for that; ns-2 times both, which lengthens the timer as
//! losses become frequent, and starts the timer at an advance before it takes the new round trip (`karn = false`). 7. A
//! copy goes ahead of
//! the queue (`ahead`); in ns-2 it goes to its end. 8. The copies of the timer count as such: the duplicates expected
//! after one are suppressed, too. 9. A duplicate is what a standard TCP takes for one (RFC 5681, 2), and a duplicate SACK
//! passes, since it speaks of something else. 10. At a hand-off the segments kept and the holes noted move; the oldest
//! segment goes at once over the new link, as the old one may have lost all of them. 11. Duplicates that ask for the first
//! of several holes are marked; the next hole is marked when the acknowledgement has advanced to it, as in ns-2. 12. SACK
//! blocks of what passes are left as they are: a sender with SACK that learns from them of the next hole may declare it
//! lost before the station has repaired it.
//!
//! **Checked by** `snoop/tests.rs`, `crates/sim/tests/snoop.rs` end to end, and `tests/python/test_ns2_snoop.py` beside
//! ns-2.

mod cached;
mod holes;
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
use cached::{Cached, Verdict};
use holes::Holes;

/// The parameters of one agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// For which flows it acts: those to and from nodes ahead.
    pub criterion: Criterion,
    /// Most segments kept of one flow.
    pub cache: usize,
    /// Duplicates that pass before a segment is sent again.
    pub threshold: u32,
    /// Most copies of a segment, until its sender sends it again.
    pub repeats: u32,
    /// Those among them that duplicates may cause.
    pub copies: u32,
    /// The least timeout.
    pub min_timeout: Span,
    /// The weight of a new round trip in their smoothed mean.
    pub gain: f64,
    /// Whether only round trips without a copy are measured (Karn's rule).
    pub karn: bool,
    /// Whether a copy goes ahead of what waits for the link.
    pub ahead: bool,
    /// Whether duplicates for losses of the wireless link are marked.
    pub eln: bool,
    /// A flow without a packet for this long is forgotten.
    pub idle: Span,
    /// Most flows known at once in each direction; a further flow is left alone.
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
    /// What it needs of its interface and its flows.
    #[must_use]
    pub fn needs(&self) -> Needs {
        Needs { last_hop: true, ..Needs::default() }
    }
}

impl Described for Config {
    const PARAMETERS: &'static [Parameter<Config>] = &[
        Parameter::<Self>::new(
            "cache",
            Domain::Count,
            "maximum number of segments kept per flow; further segments are forwarded only",
            |agent| Setting::Count(agent.cache as u64),
            |agent, value| agent.cache = value.count() as usize,
        )
        .source("ns-2: Snoop")
        .at_least("1")
        .at_most("1000000"),
        Parameter::<Self>::new(
            "threshold",
            Domain::Count,
            "number of duplicate acknowledgements that pass before the station retransmits",
            |agent| Setting::Count(agent.threshold.into()),
            |agent, value| agent.threshold = value.count() as u32,
        )
        .source("ns-2: RTX_THRESH")
        .at_most("1000"),
        Parameter::<Self>::new(
            "repeats",
            Domain::Count,
            "maximum number of local retransmissions of a segment",
            |agent| Setting::Count(agent.repeats.into()),
            |agent, value| agent.repeats = value.count() as u32,
        )
        .source("ns-2: SNOOP_MAX_RXMIT")
        .at_least("1")
        .at_most("1000000"),
        Parameter::<Self>::new(
            "copies",
            Domain::Count,
            "maximum number of local retransmissions of a segment that duplicate acknowledgements cause",
            |agent| Setting::Count(agent.copies.into()),
            |agent, value| agent.copies = value.count() as u32,
        )
        .source("lasthop: schemes/snoop.rs, choice 5")
        .at_least("1")
        .at_most("1000000"),
        Parameter::<Self>::new(
            "min-timeout",
            Domain::Time("ms"),
            "minimum of the local retransmission timeout",
            |agent| Setting::Time(agent.min_timeout),
            |agent, value| agent.min_timeout = value.time(),
        )
        .source("ns-2: snoopTick_")
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
            "karn",
            Domain::Flag,
            "whether the local timer ignores round trips of repaired segments and of those acknowledged with one",
            |agent| Setting::Flag(agent.karn),
            |agent, value| agent.karn = value.flag(),
        )
        .source("lasthop: schemes/snoop.rs, choice 6"),
        Parameter::<Self>::new(
            "ahead",
            Domain::Flag,
            "whether a local retransmission goes ahead of the packets that wait for the link",
            |agent| Setting::Flag(agent.ahead),
            |agent, value| agent.ahead = value.flag(),
        )
        .source("Balakrishnan et al. 1995"),
        Parameter::<Self>::new(
            "eln",
            Domain::Flag,
            "whether duplicate acknowledgements for data lost between mobile and station are marked (ELN)",
            |agent| Setting::Flag(agent.eln),
            |agent, value| agent.eln = value.flag(),
        )
        .source("Balakrishnan and Katz 1998"),
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
    /// Segments sent again.
    pub repaired: u64,
    /// Those among them that the timer made go.
    pub timeouts: u64,
    /// Segments that found no room.
    pub not_kept: u64,
    /// Acknowledgements marked.
    pub marked: u64,
}

/// The agent of one interface.
#[derive(Clone, Debug)]
pub struct Snoop {
    config: Config,
    /// Data for the mobiles.
    to_mobiles: Flows<Cached>,
    /// Data of the mobiles.
    of_mobiles: Flows<Holes>,
    alarm: Alarm,
    counters: Counters,
}

/// What moves to another station.
struct Moved {
    cached: Vec<(FlowKey, Cached)>,
    holes: Vec<(FlowKey, Holes)>,
}

impl Snoop {
    /// An agent that knows no flow yet.
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

    /// Data goes to a mobile.
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

    /// An acknowledgement of a mobile's data goes to the mobile: the packet, marked, if it asks for what the link lost.
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

    /// Data of a mobile has come over the link.
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

    /// A mobile acknowledges. Whether that goes up.
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

/// A copy goes to the link.
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
        let count = |name, unit, meaning, value| Count { name, unit, meaning, value };
        let Counters { timeouts, not_kept, marked, .. } = self.counters;
        vec![
            count(
                "timed_out",
                "segments",
                "segments retransmitted because the local timer expired",
                timeouts,
            ),
            count(
                "not_kept",
                "segments",
                "segments forwarded without a copy: the cache or the queue was full",
                not_kept,
            ),
            count(
                "marked",
                "segments",
                "acknowledgements marked with a loss on the wireless link (ELN)",
                marked,
            ),
            count(
                "flows_refused",
                "flows",
                "attempts to keep a flow for which the table had no room",
                self.to_mobiles.refused() + self.of_mobiles.refused(),
            ),
        ]
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
