//! Rates: a wire whose rate changes at recorded times.
//!
//! **Limits.** As those of [the module](super).
//!
//! **Source.** Pensieve (Mao et al. 2017), `sim/env.py`, and PiTree (Meng et al. 2019), `sim2mahimahi.py`: a file has a time
//! in seconds and a rate in Mbit/s on each line.
//!
//! **How.** [`Rates`] is the list of these. The rate of a line holds from the time of the line before, of the first line from
//! 0, to its own time. A packet takes the capacity after that of the packet before it, or after the present time, and leaves
//! when all of it has passed:
//!
//! ```text
//! C(t) = ∫ rate        it takes from max(C(now), end of the one before) on 8 s bits, and leaves at C⁻¹ of their end
//! ```
//!
//! After the last time the list begins again; if it is played once, nothing goes any more.
//!
//! **Choices.** 1. A packet counts with the length of the IP packet; Pensieve gives 95 % of the rate to payload, and PiTree's
//! conversion to opportunities counts packets of 1500 bytes. 2. A rate of 0 is an outage in which packets wait. 3. The sums are
//! exact: capacity is kept in units of 10⁻⁹ bit.
//!
//! **Checked by** the tests below, and by a reading of the rules in `tests/python/test_recorded.py`.

use std::sync::Arc;

use super::{Unreadable, number, quoted};
use crate::link::queue::{DropTail, QueueLimit};
use crate::link::transmitter::{LAST, Transmitter};
use crate::units::{Bytes, Rate, Span, Time};

/// Units of capacity in a byte: 1 bit/s gives one in a nanosecond.
const UNITS_PER_BYTE: u128 = 8_000_000_000;
const UNITS_PER_BIT: f64 = 1e9;
/// The last second that a record may have, and the greatest rate in Mbit/s.
const LATEST_S: f64 = 1e6;
const FASTEST_MBPS: f64 = 1e6;

/// Rates over time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rates {
    /// Until when each rate holds, ns, in ascending order.
    until: Box<[u64]>,
    /// Bits per second.
    bps: Box<[u64]>,
    /// Capacity from the beginning to the end of each.
    sums: Box<[u128]>,
}

impl Rates {
    /// Reads a file: a time in seconds and a rate in Mbit/s on each line.
    ///
    /// # Errors
    /// A line is not a time and a rate, times descend, or nothing can ever go.
    pub fn read(text: &str) -> Result<Rates, Unreadable> {
        let (mut until, mut rates, mut sums): (Vec<u64>, Vec<u64>, Vec<u128>) =
            (Vec::new(), Vec::new(), Vec::new());
        let (mut before, mut sum) = (0, 0);
        for (place, found) in text.lines().enumerate() {
            let refused = |text: String| Err(Unreadable { line: place + 1, text });
            let fields: Vec<&str> = found.split_whitespace().take(3).collect();
            let [time, rate] = fields[..] else {
                let found = if fields.is_empty() { "an empty line".to_string() } else { quoted(found) };
                let expected = "expected a time in seconds and a rate in Mbit/s such as 12.5 4.2";
                return refused(format!("{found}; {expected}"));
            };
            let Some(at) = number(time, LATEST_S) else {
                return refused(format!("{}; expected seconds from 0 to {LATEST_S}", quoted(time)));
            };
            let Some(mbps) = number(rate, FASTEST_MBPS) else {
                return refused(format!("{}; expected Mbit/s from 0 to {FASTEST_MBPS}", quoted(rate)));
            };
            let (at, rate) = (libm::round(at * 1e9) as u64, libm::round(mbps * 1e6) as u64);
            if at < before {
                let [at, before] = [at, before].map(|ns| Span(ns).as_secs());
                return refused(format!("{at} s is before {before} s; expected ascending times"));
            }
            sum += u128::from(rate) * u128::from(at - before);
            before = at;
            until.push(at);
            rates.push(rate);
            sums.push(sum);
        }
        if sum == 0 {
            let found = if until.is_empty() { "no line" } else { "no rate above 0 for any time" };
            let text = format!("{found}; expected a time in seconds and a rate in Mbit/s on each line");
            return Err(Unreadable { line: until.len().max(1), text });
        }
        Ok(Rates { until: until.into(), bps: rates.into(), sums: sums.into() })
    }

    /// 1 Mbit/s.
    #[must_use]
    pub fn constant() -> Rates {
        const SECOND: u64 = 1_000_000_000;
        let sums = [u128::from(SECOND) * 1_000_000].into();
        Rates { until: [SECOND].into(), bps: [1_000_000].into(), sums }
    }

    /// The end of each rate in nanoseconds, with the rate in bits per second.
    pub fn steps(&self) -> impl Iterator<Item = (u64, u64)> {
        self.until.iter().copied().zip(self.bps.iter().copied())
    }

    fn period(&self) -> u64 {
        self.until[self.until.len() - 1]
    }

    /// The capacity of a pass.
    fn sum(&self) -> u128 {
        self.sums[self.sums.len() - 1]
    }

    /// What comes before a step: its time, and the capacity up to then.
    fn before(&self, step: usize) -> (u64, u128) {
        step.checked_sub(1).map_or((0, 0), |before| (self.until[before], self.sums[before]))
    }

    /// The capacity up to a time of the first pass.
    fn within(&self, ns: u64) -> u128 {
        let step = self.until.partition_point(|until| *until < ns);
        let (from, sum) = self.before(step);
        sum + u128::from(self.bps[step]) * u128::from(ns - from)
    }

    /// The capacity up to a time.
    fn until(&self, ns: u64) -> u128 {
        u128::from(ns / self.period()) * self.sum() + self.within(ns % self.period())
    }

    /// The first time at which so much capacity has passed, which is above 0.
    fn reached(&self, capacity: u128) -> u128 {
        let passes = (capacity - 1) / self.sum();
        let rest = capacity - passes * self.sum();
        let step = self.sums.partition_point(|sum| *sum < rest);
        let (from, sum) = self.before(step);
        let more = (rest - sum).div_ceil(u128::from(self.bps[step]));
        passes * u128::from(self.period()) + u128::from(from) + more
    }

    /// The most capacity in any time of this length: of those that begin or end where a rate changes.
    fn most_within(&self, span: u64) -> u128 {
        let (passes, rest) = (span / self.period(), span % self.period());
        let from = |ns: u64| self.until(ns + rest) - self.until(ns);
        let begins = [0].into_iter().chain(self.until.iter().copied());
        let ends = self.until.iter().map(|until| until + self.period() - rest);
        u128::from(passes) * self.sum() + begins.chain(ends).map(from).max().unwrap_or(0)
    }
}

/// The rates of a direction.
#[derive(Clone, Debug)]
pub struct Varying {
    /// The rate over time.
    pub rates: Arc<Rates>,
    /// Whether nothing goes after the last time of the record.
    pub is_once: bool,
}

impl Varying {
    pub(super) fn mean_rate(&self) -> Rate {
        let mean = self.rates.sum() / u128::from(self.rates.period());
        Rate(u64::try_from(mean).unwrap_or(u64::MAX).max(1))
    }

    /// The capacity up to a time.
    fn until(&self, now: Time) -> u128 {
        if self.is_once && now.0 >= self.rates.period() { self.rates.sum() } else { self.rates.until(now.0) }
    }

    /// The first time at which so much capacity has passed.
    fn reached(&self, capacity: u128) -> Time {
        if self.is_once && capacity > self.rates.sum() {
            return LAST;
        }
        Time(self.rates.reached(capacity).min(u128::from(LAST.0)) as u64)
    }

    pub(super) fn bits_until(&self, now: Time) -> f64 {
        self.until(now) as f64 / UNITS_PER_BIT
    }

    pub(super) fn most_bits_within(&self, span: Span) -> f64 {
        self.rates.most_within(span.0) as f64 / UNITS_PER_BIT
    }
}

/// A direction: its queue, and the capacity that its packets have taken.
#[derive(Clone, Debug)]
pub struct Line {
    recorded: Varying,
    queue: DropTail,
    /// The end of the capacity used so far, and its total amount.
    reached: u128,
    taken: u128,
    began: Time,
}

impl Line {
    /// An idle direction.
    #[must_use]
    pub fn new(recorded: Varying, limit: QueueLimit) -> Line {
        Line { recorded, queue: DropTail::new(limit), reached: 0, taken: 0, began: Time::ZERO }
    }
}

impl Transmitter for Line {
    fn offer(&mut self, size: Bytes, now: Time) -> Option<Time> {
        self.queue.advance(now);
        if !self.queue.has_room(size) {
            return None;
        }
        self.began = self.ready_at(now).max(now);
        let capacity = u128::from(size.0) * UNITS_PER_BYTE;
        self.reached = self.reached.max(self.recorded.until(now)) + capacity;
        self.taken += capacity;
        let departure = self.recorded.reached(self.reached);
        self.queue.push(now, departure, size);
        Some(departure)
    }

    fn began(&self, _departure: Time) -> Time {
        self.began
    }

    fn ready_at(&self, now: Time) -> Time {
        self.queue.last_departure().max(now)
    }

    fn queue(&self) -> &DropTail {
        &self.queue
    }

    fn queue_mut(&mut self) -> &mut DropTail {
        &mut self.queue
    }

    fn used(&self, now: Time) -> (u64, u64) {
        let offered = self.recorded.until(now);
        let used = self.taken - self.reached.saturating_sub(offered);
        // Rounded so that in no time more is used than offered.
        let [offered, idle] = [offered, offered - used].map(|capacity| (capacity / UNITS_PER_BYTE) as u64);
        (offered - idle, offered)
    }
}

#[cfg(test)]
mod tests;
