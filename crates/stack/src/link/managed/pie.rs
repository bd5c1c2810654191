//! PIE: drops arriving packets with a probability that a proportional-integral controller sets from the queueing delay.
//!
//! **Limits.** PIE is always active (RFC 8033, 5.3, is not built), and all packets have the same probability (no byte mode).
//!
//! **Source.** RFC 8033.
//!
//! **How.** Every `update`, with the delay `d` and the one before it,
//! `p += scale(p) (alpha (d - target) + beta (d - d_old))`, where `scale` is small while `p` is (4.2). An arriving
//! packet is dropped with probability `p`. It passes if a burst began less than `max-burst` ago, if the queue is nearly
//! empty, or if the last delay was below half the target while `p < 0.2` (4.1, 4.4).
//!
//! **Choices.** 1. The delay is the time for which the packet that left last had waited, or zero if the queue is empty
//! (4.2: by timestamps). The estimate of the departure rate (5.2) is not built. 2. The updates are computed at the next
//! packet; the delay does not change between packets, so the result is the same. 3. A packet that uses ECN is marked
//! instead while `p < mark-threshold` (5.1). 4. Nearly empty is at most two packets of the mean size of 1500 bytes
//! (4.1).
//!
//! **Checked by** the tests below and `crates/sim/tests/queues.rs`.

use super::WaitingLine;
use crate::hooks::parameter::{Described, LONGEST, parameters};
use crate::hooks::{Backlog, Count, Discipline, DropCause, QueueHost, Queued, counts};
use crate::units::{Span, Time};

/// A queue of at most this many bytes does not drop early: `2 * MEAN_PKTSIZE` (RFC 8033, 4.1).
const NEARLY_EMPTY: u64 = 2 * 1500;

/// Below each of these probabilities a step is divided by that number; the first that applies counts (RFC 8033, 4.2).
const SCALES: [(f64, f64); 6] =
    [(1e-6, 2048.0), (1e-5, 512.0), (1e-4, 128.0), (1e-3, 32.0), (1e-2, 8.0), (1e-1, 2.0)];

/// What is left of the probability after an update that finds no delay, as did the one before (RFC 8033, 4.2).
const DECAY: f64 = 0.98;

/// From this probability on, a step is at most [`LARGEST_STEP`] (RFC 8033, 5.5).
const CAPPED_FROM: f64 = 0.1;
const LARGEST_STEP: f64 = 0.02;

/// With derandomisation, no packet is dropped while the sum of the probabilities since the last drop is below the first, and
/// each above the second (RFC 8033, 5.4).
const SUMS: (f64, f64) = (0.85, 8.5);

/// The constants of PIE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The delay that it holds.
    pub target: Span,
    /// Time between updates of the probability.
    pub update: Span,
    /// A burst of this length passes.
    pub max_burst: Span,
    /// Weight of the distance from the target, in 1/s.
    pub alpha: f64,
    /// Weight of the change, in 1/s.
    pub beta: f64,
    /// Probability from which on packets that use ECN are dropped, too.
    pub mark_threshold: f64,
    /// Whether drops are spaced.
    pub derandomised: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            target: Span::from_millis(15),
            update: Span::from_millis(15),
            max_burst: Span::from_millis(150),
            alpha: 0.125,
            beta: 1.25,
            mark_threshold: 0.1,
            derandomised: true,
        }
    }
}

impl Described for Config {
    parameters! {
        /// queueing delay that the controller holds
        "target": Time("ms") = target, above("0 s"), at_most(LONGEST), source("RFC 8033 (4.2): QDELAY_REF");
        /// time between updates of the drop probability
        "update": Time("ms") = update, at_least("0.1 ms"), at_most(LONGEST), source("RFC 8033 (4.2): T_UPDATE");
        /// length of a burst that passes without drops
        "max-burst": Time("ms") = max_burst, at_least("0 s"), at_most(LONGEST), source("RFC 8033 (4.4): MAX_BURST");
        /// weight of the distance of the delay from the target, per second
        "alpha": Number = alpha, at_least("0"), at_most("1000"), source("RFC 8033 (4.2)");
        /// weight of the change of the delay since the last update, per second
        "beta": Number = beta, at_least("0"), at_most("1000"), source("RFC 8033 (4.2)");
        /// drop probability from which on ECN-capable packets are dropped and not marked
        "mark-threshold": Share = mark_threshold, at_least("0"), at_most("1"), source("RFC 8033 (5.1): mark_ecnth");
        /// whether drops are spaced by the sum of the probabilities since the last one
        "derandomise": Flag = derandomised, source("RFC 8033 (5.4)");
    }
}

/// The state of one queue.
#[derive(Clone, Debug)]
pub struct Pie {
    config: Config,
    line: WaitingLine,
    probability: f64,
    /// Sum of the probabilities since the last drop.
    sum: f64,
    /// The delay now, and at the last update.
    delay: Span,
    delay_old: Span,
    /// How long drops are still suspended.
    allowance: Span,
    next_update: Time,
    updates: u64,
}

impl Pie {
    /// An empty queue.
    #[must_use]
    pub fn new(config: &Config) -> Pie {
        Pie {
            config: *config,
            line: WaitingLine::default(),
            probability: 0.0,
            sum: 0.0,
            delay: Span::ZERO,
            delay_old: Span::ZERO,
            allowance: config.max_burst,
            next_update: Time::ZERO.after(config.update),
            updates: 0,
        }
    }

    /// Its counters.
    #[must_use]
    pub fn counts(&self) -> Vec<Count> {
        counts! {
            /// updates of the drop probability
            "updates": "times" = self.updates;
        }
    }

    /// Whether the delay is and was below half of the target.
    fn is_calm(&self) -> bool {
        let half = Span(self.config.target.0 / 2);
        self.delay < half && self.delay_old < half
    }

    /// Makes the updates that are due.
    fn advance(&mut self, now: Time) {
        while self.next_update <= now {
            self.update();
            self.next_update = self.next_update.after(self.config.update);
        }
    }

    /// Updates the probability (RFC 8033, 4.2, 5.5).
    fn update(&mut self) {
        self.updates += 1;
        let [delay, old] = [self.delay, self.delay_old].map(Span::as_secs);
        let Config { alpha, beta, target, .. } = self.config;
        let mut step = alpha * (delay - target.as_secs()) + beta * (delay - old);
        if let Some((_, divisor)) = SCALES.iter().find(|(below, _)| self.probability < *below) {
            step /= divisor;
        }
        if self.probability >= CAPPED_FROM {
            step = step.min(LARGEST_STEP);
        }
        self.probability += step;
        if self.delay == Span::ZERO && self.delay_old == Span::ZERO {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.delay_old = self.delay;
        self.allowance = Span(self.allowance.0.saturating_sub(self.config.update.0));
    }

    /// Whether an arriving packet is dropped or marked (RFC 8033, 4.1, 5.4).
    fn acts(&mut self, host: &mut dyn QueueHost) -> bool {
        let is_short = Span(self.config.target.0 / 2) > self.delay_old && self.probability < 0.2;
        if is_short || self.line.backlog().bytes <= NEARLY_EMPTY {
            return false;
        }
        if self.probability == 0.0 {
            self.sum = 0.0;
        }
        if self.config.derandomised {
            self.sum += self.probability;
            if self.sum < SUMS.0 {
                return false;
            }
        }
        let is_overdue = self.config.derandomised && self.sum >= SUMS.1;
        let acts = is_overdue || host.draw() < self.probability;
        if acts {
            self.sum = 0.0;
        }
        acts
    }
}

impl Discipline for Pie {
    fn enqueue(&mut self, mut packet: Queued, room: Backlog, host: &mut dyn QueueHost) {
        self.advance(packet.came);
        if !self.line.backlog().fits(packet.bytes, room) {
            host.drop(&packet, DropCause::Full);
            return;
        }
        if self.probability == 0.0 && self.is_calm() {
            self.allowance = self.config.max_burst;
        }
        if self.allowance == Span::ZERO && self.acts(host) {
            let is_marked = self.probability < self.config.mark_threshold && packet.mark();
            if !is_marked {
                host.drop(&packet, DropCause::Early);
                return;
            }
        }
        self.line.push(packet);
    }

    fn dequeue(&mut self, now: Time, _host: &mut dyn QueueHost) -> Option<Queued> {
        self.advance(now);
        let packet = self.line.pop()?;
        self.delay = if self.line.is_empty() { Span::ZERO } else { packet.waited(now) };
        Some(packet)
    }

    fn backlog(&self) -> Backlog {
        self.line.backlog()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{Record, packet};
    use super::*;
    use crate::packet::Ecn;

    const ROOM: Backlog = Backlog { packets: 100_000, bytes: u64::MAX };

    /// The probability after one update, for an old and a new delay in milliseconds.
    fn updated(probability: f64, old: u64, new: u64) -> f64 {
        let mut pie = Pie::new(&Config::default());
        pie.probability = probability;
        (pie.delay_old, pie.delay) = (Span::from_millis(old), Span::from_millis(new));
        pie.update();
        assert_eq!(pie.delay_old, Span::from_millis(new));
        pie.probability
    }

    #[test]
    fn the_probability_is_updated_as_computed_by_hand() {
        // From 20 to 30 ms: 0.125 x 0.015 + 1.25 x 0.010 = 0.014375, divided by the scale.
        for (from, divisor) in
            [(0.0, 2048.0), (2e-6, 512.0), (2e-5, 128.0), (2e-4, 32.0), (2e-3, 8.0), (0.02, 2.0), (0.2, 1.0)]
        {
            let found = updated(from, 20, 30);
            assert!((found - from - 0.014_375 / divisor).abs() < 1e-12, "{from}: {found}");
        }
        // 0.125 x 0.085 + 1.25 x 0.08 = 0.110625 is cut to 0.02 from a probability of 0.1 on (5.5).
        assert!((updated(0.3, 20, 100) - 0.32).abs() < 1e-12);
        assert!((updated(0.05, 20, 100) - 0.105_312_5).abs() < 1e-12);
        // Without delay: -0.125 x 0.015 = -0.001875, then 2 % less.
        assert!((updated(0.3, 0, 0) - 0.98 * 0.298_125).abs() < 1e-12);
        assert_eq!(updated(1e-7, 10, 0), 0.0);
        assert_eq!(updated(0.999, 20, 40), 1.0);
    }

    /// A queue with this probability, a delay of 20 ms, and ten packets.
    fn busy(config: &Config, probability: f64) -> Pie {
        let mut pie = Pie::new(config);
        let mut host = Record::default();
        for handle in 0..10 {
            pie.enqueue(packet(handle, Time(0)), ROOM, &mut host);
        }
        (pie.probability, pie.allowance) = (probability, Span::ZERO);
        (pie.delay, pie.delay_old) = (Span::from_millis(20), Span::from_millis(20));
        pie
    }

    #[test]
    fn packets_are_dropped_or_marked_by_the_draw() {
        let config = Config { derandomised: false, ..Config::default() };
        for (probability, drawn, ecn, drops, marks) in [
            (0.05, 0.049, Ecn::NotEct, 1, false),
            (0.05, 0.051, Ecn::NotEct, 0, false),
            (0.05, 0.049, Ecn::Ect0, 0, true),
            (0.15, 0.049, Ecn::Ect0, 1, false),
        ] {
            let mut pie = busy(&config, probability);
            let mut host = Record { draws: vec![drawn], ..Record::default() };
            pie.enqueue(Queued { ecn, ..packet(99, Time(1)) }, ROOM, &mut host);
            assert_eq!(host.drops.len(), drops, "{probability} {drawn}");
            let last = std::iter::from_fn(|| pie.dequeue(Time(2), &mut host)).last();
            assert_eq!(last.is_some_and(|packet| packet.ecn == Ecn::Ce), marks);
        }
    }

    #[test]
    fn a_burst_a_short_delay_and_a_nearly_empty_queue_drop_nothing() {
        let none = |change: &dyn Fn(&mut Pie)| {
            let mut pie = busy(&Config { derandomised: false, ..Config::default() }, 0.15);
            change(&mut pie);
            let mut host = Record { draws: vec![0.0], ..Record::default() };
            pie.enqueue(packet(99, Time(1)), ROOM, &mut host);
            host.drops.is_empty() && host.drawn == 0
        };
        assert!(!none(&|_| {}));
        assert!(none(&|pie| pie.allowance = Span::from_millis(1)));
        assert!(none(&|pie| pie.delay_old = Span::from_millis(7)));
        assert!(!none(&|pie| (pie.delay_old, pie.probability) = (Span::from_millis(7), 0.2)));
        assert!(none(&|pie| {
            while pie.line.backlog().packets > 3 {
                pie.line.pop();
            }
        }));
    }

    #[test]
    fn the_allowance_runs_down_with_updates_and_returns_in_calm() {
        let mut pie = Pie::new(&Config::default());
        let mut host = Record::default();
        pie.enqueue(packet(0, Time(0)), ROOM, &mut host);
        pie.probability = 0.1;
        pie.advance(Time(61_000_000));
        assert_eq!((pie.allowance, pie.updates), (Span::from_millis(90), 4));
        pie.probability = 0.0;
        pie.enqueue(packet(1, Time(61_000_001)), ROOM, &mut host);
        assert_eq!(pie.allowance, Span::from_millis(150));
    }

    #[test]
    fn derandomised_drops_are_neither_close_nor_far() {
        // With 1/8 each, the seventh packet is the first whose sum is not below 0.85; from the 68th on each is dropped.
        let first = |drawn: f64| {
            let mut pie = busy(&Config::default(), 0.125);
            let mut host = Record { draws: vec![drawn; 200], ..Record::default() };
            (1..200).find(|number| {
                pie.enqueue(packet(*number, Time(1)), ROOM, &mut host);
                !host.drops.is_empty()
            })
        };
        assert_eq!((first(0.0), first(0.999)), (Some(7), Some(68)));
    }

    #[test]
    fn the_delay_is_that_of_the_last_packet_unless_none_is_left() {
        let mut pie = Pie::new(&Config::default());
        let mut host = Record::default();
        for handle in 0..2 {
            pie.enqueue(packet(handle, Time(0)), ROOM, &mut host);
        }
        pie.dequeue(Time(4_000_000), &mut host);
        assert_eq!(pie.delay, Span::from_millis(4));
        pie.dequeue(Time(8_000_000), &mut host);
        assert_eq!(pie.delay, Span::ZERO);
    }
}
