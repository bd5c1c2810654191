//! CoDel: drops from the head of a queue whose packets have all waited longer than a target for an interval.
//!
//! **Limits.** One law for all packets of the queue; a flow that does not respond takes the queue from the others.
//!
//! **Source.** RFC 8289.
//!
//! **How.** Each departing packet shows how long it has waited (3.1). When all have waited longer than `target` for `interval`,
//! one is dropped, and then the k-th after another `interval / sqrt(k)` (3.2), until a packet has waited less:
//!
//! ```text
//! waits > target for an interval ──▶ drop ─ I/√1 ─ drop ─ I/√2 ─ drop ─ I/√3 ─ … ──▶ a wait < target
//! ```
//!
//! **Choices.** 1. A packet that uses ECN is marked where another is dropped, and then leaves (RFC 8289, 1). 2. The queue is
//! short, whatever its packets have waited, if at most one packet of the largest size seen is left in it (5.4: `maxpacket_`).
//! 3. `ce-threshold`, which marks packets that have waited longer, is that of Linux, as is its restriction to ECT(1), which makes
//! it a step for L4S (RFC 9331, 5.2); RFC 8289 has neither.
//!
//! **Checked by** the tests below and `crates/sim/tests/queues.rs`.

use super::WaitingLine;
use crate::hooks::parameter::{Described, Domain, LONGEST, Spec, parameters, words};
use crate::hooks::{Backlog, Count, Discipline, DropCause, QueueHost, Queued, counts};
use crate::packet::Ecn;
use crate::units::{Span, Time};

/// The largest packet before any was seen (RFC 8289, 5.4).
const SMALL_PACKET: u32 = 512;

/// The constants of CoDel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The wait that a standing queue may have.
    pub target: Span,
    /// The time in which a queue must have been shorter once.
    pub interval: Span,
    /// The wait above which packets are marked.
    pub ce_threshold: Option<Span>,
    /// The packets that it marks.
    pub ce_threshold_for: Stepped,
}

/// The packets that a threshold marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stepped {
    /// Those that use ECN.
    All,
    /// Those of L4S.
    L4s,
}

words! { Stepped: All = "all", L4s = "l4s" }

impl Default for Config {
    fn default() -> Config {
        Config {
            target: Span::from_millis(5),
            interval: Span::from_millis(100),
            ce_threshold: None,
            ce_threshold_for: Stepped::All,
        }
    }
}

/// The least wait that CoDel holds, of a configuration that contains it.
pub(super) const TARGET: Spec =
    Spec::new("target", Domain::Time("ms"), "queueing delay that a standing queue may have")
        .above("0 s")
        .at_most(LONGEST);

/// The time in which it looks for that wait.
pub(super) const INTERVAL: Spec = Spec::new(
    "interval",
    Domain::Time("ms"),
    "time within which the queueing delay must be below the target at least once; about the longest round-trip time",
)
.above("0 s")
.at_most(LONGEST);

/// The wait above which it marks.
pub(super) const CE_THRESHOLD: Spec = Spec::new(
    "ce-threshold",
    Domain::Time("ms"),
    "queueing delay above which ECN-capable packets are marked, independent of target and interval",
)
.source("Linux: sch_codel.c")
.at_least("0 s")
.at_most(LONGEST);

/// The packets that it marks then.
pub(super) const CE_THRESHOLD_FOR: Spec = Spec::new(
    "ce-threshold-for",
    Domain::Words("packets", words::<Stepped>),
    "ECN-capable packets that ce-threshold marks: all, or those of L4S (ECT(1))",
)
.source("Linux: codel_impl.h, ce_threshold_selector");

impl Described for Config {
    parameters! {
        TARGET: Time = target, source("RFC 8289 (4.2, 4.3)");
        INTERVAL: Time = interval, source("RFC 8289 (4.2, 4.3)");
        CE_THRESHOLD: Time or "none" = ce_threshold;
        CE_THRESHOLD_FOR: Words = ce_threshold_for;
    }

    fn conflict(&self) -> Option<(&'static str, String)> {
        let is_unused = self.ce_threshold.is_none() && self.ce_threshold_for != Stepped::All;
        is_unused
            .then(|| ("ce-threshold-for", "l4s, but ce-threshold is none; expected a time there".to_string()))
    }
}

/// The packets that a control law serves.
pub(super) trait Source {
    /// Removes the first packet.
    fn pop(&mut self) -> Option<Queued>;
    /// The bytes that wait.
    fn bytes(&self) -> u64;
}

impl Source for WaitingLine {
    fn pop(&mut self) -> Option<Queued> {
        WaitingLine::pop(self)
    }

    fn bytes(&self) -> u64 {
        self.backlog().bytes
    }
}

/// The control law of one queue (RFC 8289, 5).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Control {
    /// When the waits will have been above the target for an interval, if they are.
    first_above: Option<Time>,
    /// When the next packet is dropped, of a time of drops.
    drop_next: Time,
    /// Drops of the present time of drops, and its number at the beginning.
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Control {
    /// Removes the packet that is next and drops those that the law wants dropped (RFC 8289, 5.6). `largest` is the size of
    /// the largest packet seen.
    pub(super) fn dequeue(
        &mut self,
        config: &Config,
        source: &mut impl Source,
        largest: u32,
        now: Time,
        host: &mut dyn QueueHost,
    ) -> Option<Queued> {
        let (mut packet, may_drop) = self.take(config, source, largest, now)?;
        if self.dropping {
            self.dropping = may_drop;
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                self.drop_next = self.next(config, self.drop_next);
                if packet.mark() {
                    break;
                }
                host.drop(&packet, DropCause::Early);
                (packet, self.dropping) = self.take(config, source, largest, now)?;
            }
        } else if may_drop {
            self.begin(config, now);
            if !packet.mark() {
                host.drop(&packet, DropCause::Early);
                packet = self.take(config, source, largest, now)?.0;
            }
        }
        if config.ce_threshold.is_some_and(|threshold| packet.waited(now) > threshold)
            && (config.ce_threshold_for == Stepped::All || packet.ecn == Ecn::Ect1)
        {
            packet.mark();
        }
        Some(packet)
    }

    /// A time of drops begins. If the last one ended recently, it continues at that one's rate (RFC 8289, 5.6).
    fn begin(&mut self, config: &Config, now: Time) {
        self.dropping = true;
        let more = self.count - self.last_count;
        let is_recent = now.since(self.drop_next) < config.interval * 16;
        self.count = if more > 1 && is_recent { more } else { 1 };
        self.drop_next = self.next(config, now);
        self.last_count = self.count;
    }

    /// The control law (RFC 8289, 5.3).
    fn next(&self, config: &Config, from: Time) -> Time {
        from.after(Span::from_secs_f64(config.interval.as_secs() / f64::from(self.count.max(1)).sqrt()))
    }

    /// Removes the first packet and says whether the queue is too long (RFC 8289, 5.5).
    fn take(
        &mut self,
        config: &Config,
        source: &mut impl Source,
        largest: u32,
        now: Time,
    ) -> Option<(Queued, bool)> {
        let Some(packet) = source.pop() else {
            self.first_above = None;
            self.dropping = false;
            return None;
        };
        if packet.waited(now) < config.target || source.bytes() <= u64::from(largest) {
            self.first_above = None;
            return Some((packet, false));
        }
        Some((packet, now >= *self.first_above.get_or_insert(now.after(config.interval))))
    }

    /// Whether it is in a time of drops.
    pub(super) fn is_dropping(&self) -> bool {
        self.dropping
    }
}

/// The state of one queue.
#[derive(Clone, Debug)]
pub struct Codel {
    config: Config,
    control: Control,
    line: WaitingLine,
    largest: u32,
    /// Times of drops that have begun.
    episodes: u64,
}

impl Codel {
    /// An empty queue.
    #[must_use]
    pub fn new(config: &Config) -> Codel {
        let line = WaitingLine::default();
        Codel { config: *config, control: Control::default(), line, largest: SMALL_PACKET, episodes: 0 }
    }

    /// Its counters.
    #[must_use]
    pub fn counts(&self) -> Vec<Count> {
        counts! {
            /// number of times that the law began to drop or mark packets
            "episodes": "times" = self.episodes;
        }
    }
}

impl Discipline for Codel {
    fn enqueue(&mut self, packet: Queued, room: Backlog, host: &mut dyn QueueHost) {
        if !self.line.backlog().fits(packet.bytes, room) {
            host.drop(&packet, DropCause::Full);
            return;
        }
        self.largest = self.largest.max(packet.bytes);
        self.line.push(packet);
    }

    fn dequeue(&mut self, now: Time, host: &mut dyn QueueHost) -> Option<Queued> {
        let was_dropping = self.control.is_dropping();
        let packet = self.control.dequeue(&self.config, &mut self.line, self.largest, now, host);
        self.episodes += u64::from(!was_dropping && self.control.is_dropping());
        packet
    }

    fn backlog(&self) -> Backlog {
        self.line.backlog()
    }
}

#[cfg(test)]
mod tests;
