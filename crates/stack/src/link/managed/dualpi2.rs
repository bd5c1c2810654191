//! `DualPI2`: two coupled queues, of which the one for scalable flows (L4S) stays short while both kinds of flow get equal rates.
//!
//! **Limits.** The classifier knows the ECN field only (RFC 9332, 2.3); there is no limit for each queue.
//!
//! **Source.** RFC 9332, appendix A; RFC 9331 for the classifier; the scheduler's credit is that of Linux.
//!
//! **How.** A controller sets `p'` from the delay of the longer queue. The classic queue (C) drops or marks with `p'^2`, the L
//! queue marks with `k p'`, or more if its own delay requires it:
//!
//! ```text
//! ECT(1), CE ──▶ L ── marks max(ramp(delay), k p') ──┐ WRR: C gets a tenth
//!                      p' ◀── PI(max delay)          ├──▶ link
//! others ──────▶ C ── drops or marks p'^2 ───────────┘
//! ```
//!
//! **Choices.** 1. Packets are selected by sums of probabilities and not at random (`recur()` of the RFC), so the law draws
//! nothing. 2. Drops and marks are decided at departures. 3. The updates are computed at the next packet from the arrival of
//! the first packet of each queue, which does not change between packets, so the result is the same. 4. `p'` is at most 1.
//! While `k p'` is 1 or more, the queues are overloaded: L drops with `p'^2` and marks all others, and C drops instead of
//! marking (A.2). 5. L does not mark for its own delay while nothing is behind the packet (A.2: `Th_len`). 6. A packet that
//! the transmitter finds alone does not use up credit, which begins anew while a queue is empty; Linux keeps it.
//!
//! **Checked by** the tests below, `crates/sim/tests/queues.rs`, and packet by packet by `tests/python/test_dualpi2.py`.

use super::WaitingLine;
use crate::hooks::parameter::{Described, Domain, LONGEST, Spec, parameters};
use crate::hooks::{Backlog, Count, Discipline, DropCause, QueueHost, Queued, counts};
use crate::packet::Ecn;
use crate::units::{Span, Time};

/// The constants of `DualPI2`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The delay of the classic queue that the controller holds.
    pub target: Span,
    /// The longest typical round trip.
    pub rtt_max: Span,
    /// Coupling factor `k`.
    pub coupling: f64,
    /// Delay at which the L queue begins to mark, and over how much more it comes to mark all.
    pub ramp_from: Span,
    /// The width of the ramp; none is a step.
    pub ramp_range: Span,
    /// Share of the classic queue in the transmissions while both wait.
    pub classic_share: f64,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            target: Span::from_millis(15),
            rtt_max: Span::from_millis(100),
            coupling: 2.0,
            ramp_from: Span::from_micros(800),
            ramp_range: Span::from_micros(400),
            classic_share: 0.1,
        }
    }
}

impl Config {
    /// Time between updates (RFC 9332, A.1).
    fn update(&self) -> Span {
        Span(self.target.0.min(self.rtt_max.0 / 3).max(1))
    }

    /// The gains of the controller in 1/s: integral and proportional (RFC 9332, A.1).
    fn gains(&self) -> (f64, f64) {
        let rtt = self.rtt_max.as_secs();
        (0.1 * self.update().as_secs() / (rtt * rtt), 0.3 / rtt)
    }
}

/// The parameters of a configuration that contains it.
pub(super) const RTT_MAX: Spec = Spec::new(
    "rtt-max",
    Domain::Time("ms"),
    "longest round-trip time for which the controller is stable; it sets the gains, and with the target the time between updates",
)
.source("RFC 9332 (A.1): RTT_max")
.at_least("1 ms")
.at_most("100 s");
pub(super) const COUPLING: Spec = Spec::new(
    "coupling",
    Domain::Number,
    "factor by which a packet of an L4S flow is more likely to be marked than the root of the probability of a classic drop",
)
.source("RFC 9332 (2.5.2.1): k")
.at_least("1")
.at_most("100");
pub(super) const RAMP_FROM: Spec = Spec::new(
    "ramp-from",
    Domain::Time("ms"),
    "queueing delay in the L4S queue at which it begins to mark by itself",
)
.source("RFC 9332 (A.1): minTh")
.at_least("0 s")
.at_most(LONGEST);
pub(super) const RAMP_RANGE: Spec = Spec::new(
    "ramp-range",
    Domain::Time("ms"),
    "additional delay at which the L4S queue marks each packet; 0 is a step, as in Linux at 1 ms",
)
.source("RFC 9332 (A.1): range")
.at_least("0 s")
.at_most(LONGEST);
pub(super) const CLASSIC_SHARE: Spec = Spec::new(
    "classic-share",
    Domain::Share,
    "share of the classic queue in the transmitted bytes while packets wait in both queues",
)
.source("Linux: sch_dualpi2.c, classic_protection")
.above("0")
.at_most("0.9");

impl Described for Config {
    parameters! {
        /// delay of the classic queue that the controller holds
        "target": Time("ms") = target, at_least("0.1 ms"), at_most("10 s"), source("RFC 9332 (A.1)");
        RTT_MAX: Time = rtt_max;
        COUPLING: Number = coupling;
        RAMP_FROM: Time = ramp_from;
        RAMP_RANGE: Time = ramp_range;
        CLASSIC_SHARE: Share = classic_share;
    }
}

/// A queue and what it selects: the `recur()` of RFC 9332 (A.1).
#[derive(Clone, Debug, Default)]
struct Side {
    line: WaitingLine,
    sum: f64,
    sent: u64,
    waited: u64,
}

impl Side {
    /// Whether the next packet is one of those selected with this probability.
    fn selects(&mut self, probability: f64) -> bool {
        self.sum += probability;
        let selects = self.sum > 1.0;
        if selects {
            self.sum -= 1.0;
        }
        selects
    }

    fn leaves(&mut self, packet: &Queued, now: Time) {
        self.sent += 1;
        self.waited += packet.waited(now).0 / 1000;
    }
}

/// The state of one queue of a link.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    config: Config,
    low: Side,
    classic: Side,
    /// `p'` of the controller.
    base: f64,
    delay_old: Span,
    next_update: Time,
    /// Bytes, weighted, that the L queue has been sent too much; the classic queue is next while it is positive.
    credit: f64,
}

impl DualPi2 {
    /// Empty queues.
    #[must_use]
    pub fn new(config: &Config) -> DualPi2 {
        DualPi2 {
            config: *config,
            low: Side::default(),
            classic: Side::default(),
            base: 0.0,
            delay_old: Span::ZERO,
            next_update: Time::ZERO.after(config.update()),
            credit: 0.0,
        }
    }

    /// Its counters.
    #[must_use]
    pub fn counts(&self) -> Vec<Count> {
        counts! {
            /// packets that left the L4S queue
            "l4s_packets": "packets" = self.low.sent;
            /// sum of their queueing delays
            "l4s_waited": "us" = self.low.waited;
            /// packets that left the classic queue
            "classic_packets": "packets" = self.classic.sent;
            /// sum of their queueing delays
            "classic_waited": "us" = self.classic.waited;
        }
    }

    /// Drops half of the packets of the side with the most bytes from its head, at most `most` and at least one.
    pub(super) fn drop_batch(&mut self, most: u64, host: &mut dyn QueueHost) {
        let is_low = self.low.line.backlog().bytes > self.classic.line.backlog().bytes;
        let line = if is_low { &mut self.low.line } else { &mut self.classic.line };
        let batch = (line.backlog().packets / 2).min(most as u32).max(1);
        for packet in std::iter::from_fn(|| line.pop()).take(batch as usize) {
            host.drop(&packet, DropCause::Full);
        }
    }

    /// Makes the updates that are due.
    fn advance(&mut self, now: Time) {
        let update = self.config.update();
        let is_at_rest = self.base == 0.0 && self.delay_old == Span::ZERO && self.backlog().packets == 0;
        if is_at_rest && self.next_update <= now {
            let missed = now.since(self.next_update).0 / update.0 + 1;
            self.next_update = self.next_update.after(update * missed);
        }
        while self.next_update <= now {
            let at = self.next_update;
            self.update(self.low.line.delay(at).max(self.classic.line.delay(at)));
            self.next_update = at.after(update);
        }
    }

    /// Updates `p'` with a delay (RFC 9332, A.1: `dualpi2_update`).
    fn update(&mut self, delay: Span) {
        let (alpha, beta) = self.config.gains();
        let [delay_s, old, target] = [delay, self.delay_old, self.config.target].map(Span::as_secs);
        self.base = (self.base + alpha * (delay_s - target) + beta * (delay_s - old)).clamp(0.0, 1.0);
        self.delay_old = delay;
    }

    /// The share of packets that the L queue marks for its own delay (RFC 9332, A.1: `laqm`).
    fn ramp(&self, delay: Span) -> f64 {
        let Config { ramp_from, ramp_range, .. } = self.config;
        if delay <= ramp_from {
            0.0
        } else if delay >= ramp_from + ramp_range {
            1.0
        } else {
            (delay - ramp_from).as_secs() / ramp_range.as_secs()
        }
    }

    /// Whether the L queue is next.
    fn serves_low(&mut self) -> bool {
        let (low, classic) = (self.low.line.first(), self.classic.line.first());
        let share = self.config.classic_share;
        match (low, classic) {
            (Some(low), Some(classic)) => {
                let serves_low = self.credit <= 0.0;
                self.credit += if serves_low {
                    share * f64::from(low.bytes)
                } else {
                    -(1.0 - share) * f64::from(classic.bytes)
                };
                serves_low
            }
            (low, _) => {
                self.credit = 0.0;
                low.is_some()
            }
        }
    }

    /// The next packet of the L queue, unless it is dropped.
    fn low(&mut self, now: Time, host: &mut dyn QueueHost) -> Option<Queued> {
        let mut packet = self.low.line.pop()?;
        let coupled = self.config.coupling * self.base;
        if coupled >= 1.0 && self.low.selects(self.base * self.base) {
            host.drop(&packet, DropCause::Early);
            return None;
        }
        let own = if self.low.line.is_empty() { 0.0 } else { self.ramp(packet.waited(now)) };
        if coupled >= 1.0 || own >= 1.0 || self.low.selects(own.max(coupled)) {
            packet.mark();
        }
        self.low.leaves(&packet, now);
        Some(packet)
    }

    /// The next packet of the classic queue, unless it is dropped.
    fn classic(&mut self, now: Time, host: &mut dyn QueueHost) -> Option<Queued> {
        let mut packet = self.classic.line.pop()?;
        let is_overloaded = self.config.coupling * self.base >= 1.0;
        if self.classic.selects(self.base * self.base) && (is_overloaded || !packet.mark()) {
            host.drop(&packet, DropCause::Early);
            return None;
        }
        self.classic.leaves(&packet, now);
        Some(packet)
    }
}

impl Discipline for DualPi2 {
    fn enqueue(&mut self, packet: Queued, room: Backlog, host: &mut dyn QueueHost) {
        self.advance(packet.came);
        if !self.backlog().fits(packet.bytes, room) {
            host.drop(&packet, DropCause::Full);
            return;
        }
        match packet.ecn {
            Ecn::Ect1 | Ecn::Ce => self.low.line.push(packet),
            Ecn::NotEct | Ecn::Ect0 => self.classic.line.push(packet),
        }
    }

    fn dequeue(&mut self, now: Time, host: &mut dyn QueueHost) -> Option<Queued> {
        self.advance(now);
        while self.backlog().packets > 0 {
            let packet = if self.serves_low() { self.low(now, host) } else { self.classic(now, host) };
            if packet.is_some() {
                return packet;
            }
        }
        None
    }

    fn backlog(&self) -> Backlog {
        let (low, classic) = (self.low.line.backlog(), self.classic.line.backlog());
        Backlog { packets: low.packets + classic.packets, bytes: low.bytes + classic.bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Record, packet};
    use super::*;

    const ROOM: Backlog = Backlog { packets: 100_000, bytes: u64::MAX };

    fn ms(millis: u64) -> Time {
        Time(millis * 1_000_000)
    }

    fn of(ecn: Ecn, handle: u32, came: Time) -> Queued {
        Queued { ecn, ..packet(handle, came) }
    }

    /// A queue with this `p'` and, of each kind, a number of packets that arrived at 0.
    fn with(base: f64, kinds: &[(Ecn, u32)]) -> DualPi2 {
        let mut queue = DualPi2::new(&Config::default());
        let mut host = Record::default();
        for (ecn, count) in kinds {
            for handle in 0..*count {
                queue.enqueue(of(*ecn, handle, ms(0)), ROOM, &mut host);
            }
        }
        queue.base = base;
        queue
    }

    #[test]
    fn the_gains_and_the_updates_are_those_of_the_appendix() {
        // Tupdate = 15 ms; alpha = 0.1 x 0.015 / 0.01 = 0.15; beta = 0.3 / 0.1 = 3.
        let config = Config::default();
        assert_eq!(config.update(), Span::from_millis(15));
        let (alpha, beta) = config.gains();
        assert!((alpha - 0.15).abs() < 1e-12 && (beta - 3.0).abs() < 1e-12);
        let mut queue = with(0.0, &[(Ecn::Ect0, 3)]);
        // The first packet has waited 15 ms: 0.15 x 0 + 3 x 0.015; then 30 ms: 0.15 x 0.015 + 3 x 0.015 more.
        queue.advance(ms(15));
        assert!((queue.base - 0.045).abs() < 1e-12, "{}", queue.base);
        queue.advance(ms(44));
        assert!((queue.base - 0.092_25).abs() < 1e-12, "{}", queue.base);
    }

    #[test]
    fn the_classifier_takes_ect_1_and_ce() {
        let queue = with(0.0, &[(Ecn::NotEct, 1), (Ecn::Ect0, 2), (Ecn::Ect1, 4), (Ecn::Ce, 8)]);
        assert_eq!((queue.low.line.backlog().packets, queue.classic.line.backlog().packets), (12, 3));
    }

    #[test]
    fn probabilities_are_coupled_by_k_and_the_square() {
        // p' = 0.3: 60 of 100 L packets are marked, 9 of 100 classic ones dropped, or marked if they use ECN.
        let sent = |ecn: Ecn, base: f64| {
            let (mut queue, mut host) = (with(base, &[(ecn, 100)]), Record::default());
            queue.next_update = Time::NEVER;
            let sent: Vec<_> = std::iter::from_fn(|| queue.dequeue(ms(0), &mut host)).collect();
            (host.drops.len(), sent.iter().filter(|packet| packet.ecn == Ecn::Ce).count())
        };
        assert_eq!(sent(Ecn::Ect1, 0.3), (0, 59));
        assert_eq!(sent(Ecn::NotEct, 0.31), (9, 0));
        assert_eq!(sent(Ecn::Ect0, 0.31), (0, 9));
        // Overload: a quarter and more of both is dropped, all others of L are marked.
        assert_eq!(sent(Ecn::Ect1, 0.51), (26, 74));
        assert_eq!(sent(Ecn::Ect0, 0.51), (26, 0));
    }

    #[test]
    fn the_l_queue_marks_by_its_own_delay() {
        let queue = with(0.0, &[]);
        for (micros, expected) in [(800, 0.0), (900, 0.25), (1_000, 0.5), (1_200, 1.0), (5_000, 1.0)] {
            assert!((queue.ramp(Span::from_micros(micros)) - expected).abs() < 1e-9, "{micros}");
        }
        let (mut queue, mut host) = (with(0.0, &[(Ecn::Ect1, 3)]), Record::default());
        let marks: Vec<_> = std::iter::from_fn(|| queue.dequeue(ms(2), &mut host))
            .map(|packet| packet.ecn == Ecn::Ce)
            .collect();
        assert_eq!(marks, [true, true, false], "nothing is behind the last");
        let step = Config { ramp_from: Span::from_millis(1), ramp_range: Span::ZERO, ..Config::default() };
        let queue = DualPi2::new(&step);
        assert_eq!([1_000, 1_001].map(|micros| queue.ramp(Span::from_micros(micros))), [0.0, 1.0]);
    }

    #[test]
    fn the_classic_queue_gets_its_share_while_both_wait() {
        let (mut queue, mut host) = (with(0.0, &[(Ecn::Ect1, 100), (Ecn::Ect0, 100)]), Record::default());
        for _ in 0..100 {
            queue.dequeue(ms(0), &mut host);
        }
        let counts: Vec<u64> = queue.counts().iter().map(|count| count.value).collect();
        assert_eq!((counts[0], counts[2]), (90, 10));
    }

    #[test]
    fn both_share_one_limit() {
        let (mut queue, mut host) = (with(0.0, &[(Ecn::Ect1, 2), (Ecn::Ect0, 1)]), Record::default());
        queue.enqueue(of(Ecn::Ect1, 9, ms(0)), Backlog { packets: 3, bytes: u64::MAX }, &mut host);
        queue.enqueue(of(Ecn::Ect0, 8, ms(0)), Backlog { packets: 9, bytes: 3_999 }, &mut host);
        assert_eq!(host.drops, [(9, DropCause::Full), (8, DropCause::Full)]);
    }
}
