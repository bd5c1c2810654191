//! Delivery opportunities: times at which a number of bytes may go.
//!
//! **Limits.** A packet that an outage meets is lost with its opportunity; the queue does not wait for the end of the
//! outage. A packet of which a part has been sent counts as queued, as everywhere here; Mahimahi has taken it out.
//!
//! **Source.** Mahimahi (Netravali et al. 2015), `mm-link`: `link_queue.cc` and `drop_tail_packet_queue.hh`.
//!
//! **How.** A [`Schedule`] is a list of times in milliseconds. At each of them up to `opportunity` bytes may go: several
//! packets, or parts of packets. A packet of which a part has gone continues in the next opportunity and arrives whole
//! after its last part. What is not used is lost. After the last opportunity the list begins again, its times counted
//! from that of the last one; if it is played once, nothing goes any more.
//!
//! **Choices.** 1. The link starts at the beginning of the run. 2. An opportunity is for packets that arrived before it:
//! Mahimahi uses up what is due before it accepts a packet. 3. Each packet takes `header` bytes besides its own, for
//! the packets that Mahimahi counts begin with the four bytes of a TUN device. 4. A packet longer than an opportunity,
//! which Mahimahi refuses, takes several. 5. A record that is played once (`--once`) leaves what waits at its end in
//! the queue for ever; Mahimahi ends the shell.
//!
//! **Checked by** the tests below, by `crates/sim/tests/recorded.rs`, and by a reading of Mahimahi's rules in
//! `tests/python/test_recorded.py`.

use std::collections::VecDeque;
use std::sync::Arc;

use super::Unreadable;
use crate::link::queue::{DropTail, QueueLimit};
use crate::link::transmitter::{LAST, Transmitter};
use crate::units::{Bytes, Rate, Span, Time};

const NS_PER_MS: u64 = 1_000_000;
/// The last millisecond that a schedule may have: more than eleven days.
const LATEST_MS: u32 = 1_000_000_000;
/// Opportunities that are passed one by one before the rest of the way is looked up.
const STEPS: usize = 4;

/// The times of delivery opportunities, in milliseconds from the beginning, in ascending order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schedule {
    at_ms: Box<[u32]>,
}

impl Schedule {
    /// Reads a file of Mahimahi: one time in milliseconds a line.
    ///
    /// # Errors
    /// A line is not a time, or times descend, or there is no time after zero.
    pub fn read(text: &str) -> Result<Schedule, Unreadable> {
        let mut at_ms: Vec<u32> = Vec::new();
        for (place, found) in text.lines().enumerate() {
            let refused = |text: String| Err(Unreadable { line: place + 1, text });
            if found.is_empty() {
                return refused("an empty line; expected a time in milliseconds such as 12".to_string());
            }
            let digits = found.bytes().all(|byte| byte.is_ascii_digit());
            let time = found.parse().ok().filter(|ms| digits && *ms <= LATEST_MS);
            let Some(ms) = time else {
                let found: String = found.chars().take(20).collect();
                let range = format!("expected whole milliseconds from 0 to {LATEST_MS}");
                return refused(format!("\"{}\"; {range}", found.escape_debug()));
            };
            if let Some(before) = at_ms.last().filter(|before| **before > ms) {
                return refused(format!("{ms} is before {before}; expected ascending times"));
            }
            at_ms.push(ms);
        }
        if at_ms.last().is_none_or(|last| *last == 0) {
            let found = if at_ms.is_empty() { "no line" } else { "no time after 0" };
            let text = format!("{found}; expected a time in milliseconds on each line");
            return Err(Unreadable { line: at_ms.len().max(1), text });
        }
        Ok(Schedule { at_ms: at_ms.into() })
    }

    /// One opportunity a millisecond.
    #[must_use]
    pub fn each_millisecond() -> Schedule {
        Schedule { at_ms: [1].into() }
    }

    /// The number of opportunities.
    #[expect(clippy::len_without_is_empty, reason = "it is never empty")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.at_ms.len()
    }

    /// Its times in milliseconds.
    #[must_use]
    pub fn times_ms(&self) -> &[u32] {
        &self.at_ms
    }

    /// Milliseconds after which it begins again: the time of the last opportunity.
    fn period_ms(&self) -> u64 {
        u64::from(self.at_ms[self.at_ms.len() - 1])
    }

    /// Opportunities at or before a time.
    #[must_use]
    pub fn passed(&self, now: Time) -> u64 {
        let (pass, next) = self.first_from(now.0 / NS_PER_MS + 1);
        pass / self.period_ms() * self.at_ms.len() as u64 + next as u64
    }

    /// The most opportunities in any time of this length.
    #[must_use]
    pub fn most_within(&self, span: Span) -> u64 {
        let (period, count) = (self.period_ms(), self.at_ms.len());
        let span_ms = span.0.div_ceil(NS_PER_MS);
        let rest = span_ms % period;
        let at = |place: usize| (place / count) as u64 * period + u64::from(self.at_ms[place % count]);
        let mut first = 0;
        let mut most = 0;
        for last in 0..2 * count {
            while at(last) - at(first) > rest {
                first += 1;
            }
            most = most.max(last - first + 1);
        }
        span_ms / period * count as u64 + most as u64
    }

    /// The first opportunity not before a millisecond: the beginning of its pass over the list, and its place there.
    fn first_from(&self, ms: u64) -> (u64, usize) {
        let period = self.period_ms();
        let pass = ms.div_ceil(period).saturating_sub(1) * period;
        (pass, self.at_ms.partition_point(|at| u64::from(*at) < ms - pass))
    }
}

/// The opportunities of a direction.
#[derive(Clone, Debug)]
pub struct Opportunities {
    /// When packets may go.
    pub schedule: Arc<Schedule>,
    /// The bytes that may go at each time.
    pub opportunity: u32,
    /// Bytes that each packet takes besides its own.
    pub header: u32,
    /// Whether there are none after the last one of the schedule.
    pub is_once: bool,
}

impl Opportunities {
    /// The mean rate of the opportunities of a pass over the schedule.
    #[must_use]
    pub fn mean_rate(&self) -> Rate {
        let bits = 8 * u128::from(self.opportunity) * self.schedule.len() as u128;
        let per_second = bits * 1000 / u128::from(self.schedule.period_ms());
        Rate(u64::try_from(per_second).unwrap_or(u64::MAX).max(1))
    }

    /// Opportunities at or before a time.
    fn passed(&self, now: Time) -> u64 {
        let passed = self.schedule.passed(now);
        if self.is_once { passed.min(self.schedule.len() as u64) } else { passed }
    }

    /// The bits of the opportunities up to a time.
    pub(super) fn bits_until(&self, now: Time) -> f64 {
        8.0 * f64::from(self.opportunity) * self.passed(now) as f64
    }

    /// The most bits that may go in any time of this length.
    pub(super) fn most_bits_within(&self, span: Span) -> f64 {
        8.0 * f64::from(self.opportunity) * self.schedule.most_within(span) as f64
    }
}

/// One direction of the link: its queue and the opportunities that its packets go in.
#[derive(Clone, Debug)]
pub struct Line {
    recorded: Opportunities,
    queue: DropTail,
    /// The next opportunity that has room: the beginning of its pass in milliseconds, and its place in the schedule.
    pass_ms: u64,
    next: usize,
    left: u32,
    /// Whether all opportunities are over for good.
    is_over: bool,
    /// Whether it takes packets from a queue in front of it, at opportunities only.
    is_fed: bool,
    carried: u64,
    /// Bytes in opportunities that were not before the last offer.
    ahead: VecDeque<(Time, u32)>,
}

impl Line {
    /// An idle direction. If it `is_fed` from a queue in front of it, packets are offered when they begin to go.
    #[must_use]
    pub fn new(recorded: Opportunities, limit: QueueLimit, is_fed: bool) -> Line {
        let left = recorded.opportunity;
        let (queue, ahead) = (DropTail::new(limit), VecDeque::new());
        Line { recorded, queue, pass_ms: 0, next: 0, left, is_over: false, is_fed, carried: 0, ahead }
    }

    /// When the next opportunity is that has room. A direction that is fed takes the next packet then.
    #[inline]
    fn next_at(&self) -> Time {
        if self.is_over {
            return LAST;
        }
        let ms = self.pass_ms.saturating_add(u64::from(self.recorded.schedule.at_ms[self.next]));
        Time(ms.saturating_mul(NS_PER_MS).min(LAST.0))
    }

    /// Passes what is due. Not inlined: most packets find nothing due.
    #[inline(never)]
    fn pass_due(&mut self, now: Time) {
        for _ in 0..STEPS {
            if self.next_at() > now {
                return;
            }
            self.step();
        }
        if self.next_at() <= now {
            (self.pass_ms, self.next) = self.recorded.schedule.first_from(now.0 / NS_PER_MS + 1);
            self.left = self.recorded.opportunity;
            self.is_over = self.recorded.is_once && self.pass_ms > 0;
        }
    }

    fn step(&mut self) {
        let schedule = &self.recorded.schedule;
        self.next += 1;
        if self.next == schedule.len() {
            (self.next, self.pass_ms) = (0, self.pass_ms.saturating_add(schedule.period_ms()));
            self.is_over = self.recorded.is_once;
        }
        self.left = self.recorded.opportunity;
    }
}

impl Transmitter for Line {
    #[expect(clippy::inline_always, reason = "once for each packet, as that of a wire")]
    #[inline(always)]
    fn offer(&mut self, size: Bytes, now: Time) -> Option<Time> {
        self.queue.advance(now);
        if !self.queue.has_room(size) {
            return None;
        }
        if !self.is_fed {
            self.pass(now);
        }
        while self.ahead.front().is_some_and(|part| part.0 < now) {
            self.ahead.pop_front();
        }
        let mut bytes = size.0 as u32 + self.recorded.header;
        let mut at = self.next_at();
        while bytes > 0 && !self.is_over {
            at = self.next_at();
            let part = bytes.min(self.left);
            (bytes, self.left) = (bytes - part, self.left - part);
            self.carried += u64::from(part);
            match self.ahead.back_mut() {
                Some(last) if last.0 == at => last.1 += part,
                _ => self.ahead.push_back((at, part)),
            }
            if self.left == 0 {
                self.step();
            }
        }
        if bytes > 0 {
            // The rest of it never goes.
            at = LAST;
        }
        self.queue.push(now, at, size);
        Some(at)
    }

    #[inline]
    fn ready_at(&self, _now: Time) -> Time {
        self.next_at()
    }

    #[inline]
    fn queue(&self) -> &DropTail {
        &self.queue
    }

    #[inline]
    fn queue_mut(&mut self) -> &mut DropTail {
        &mut self.queue
    }

    #[inline]
    fn is_due(&self, now: Time) -> bool {
        self.next_at() <= now
    }

    /// The opportunities up to `now` are over, whatever room is left in them.
    #[inline]
    fn pass(&mut self, now: Time) {
        if self.is_due(now) {
            self.pass_due(now);
        }
    }

    /// Bytes that have gone before `now`, and those of all opportunities before `now`. An opportunity at `now` itself does not
    /// count, because packets may still be offered for it.
    fn used(&self, now: Time) -> (u64, u64) {
        let ahead: u64 = self.ahead.iter().filter(|part| part.0 >= now).map(|part| u64::from(part.1)).sum();
        let before = now.0.checked_sub(1).map_or(0, |before| self.recorded.passed(Time(before)));
        let offered = before * u64::from(self.recorded.opportunity);
        (self.carried - ahead, offered)
    }
}

#[cfg(test)]
mod tests;
