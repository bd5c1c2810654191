//! One direction of a link whose capacity over time was recorded: as delivery opportunities, or as rates.
//!
//! **Limits.** A packet that an outage meets is lost with its capacity; the queue does not wait for the end of the outage.
//! A packet of which a part has been sent counts as queued, as everywhere here.
//!
//! **Source.** `opportunities`: Mahimahi (Netravali et al. 2015). `rates`: the traces of Pensieve (Mao et al. 2017) and
//! PiTree (Meng et al. 2019).
//!
//! **How.** Both compute when a packet leaves as they enqueue it, so the queue is a list of departures as on a wire.

mod opportunities;
mod rates;

pub use opportunities::{Opportunities, Schedule};
pub use rates::{Rates, Varying};

use super::queue::{DropTail, QueueLimit};
use crate::units::{Bytes, Rate, Span, Time};

/// The departure of what never leaves. Sums with it do not overflow.
pub const LAST: Time = Time(u64::MAX / 4);

/// Why a text is not a record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The line, counted from 1.
    pub line: usize,
    /// What was found there and what was expected.
    pub text: String,
}

/// The state of a direction besides its queue.
#[derive(Clone, Debug)]
pub enum Recorded {
    /// Times at which packets may go.
    Opportunities(Opportunities),
    /// A rate that changes.
    Rates(Varying),
}

impl Recorded {
    /// The mean rate of a pass over the record.
    #[must_use]
    pub fn mean_rate(&self) -> Rate {
        match self {
            Recorded::Opportunities(recorded) => recorded.mean_rate(),
            Recorded::Rates(recorded) => recorded.mean_rate(),
        }
    }

    /// The bits that may go up to a time.
    #[must_use]
    pub fn bits_until(&self, now: Time) -> f64 {
        match self {
            Recorded::Opportunities(recorded) => recorded.bits_until(now),
            Recorded::Rates(recorded) => recorded.bits_until(now),
        }
    }

    /// The most bits that may go in any time of this length.
    #[must_use]
    pub fn most_bits_within(&self, span: Span) -> f64 {
        match self {
            Recorded::Opportunities(recorded) => recorded.most_bits_within(span),
            Recorded::Rates(recorded) => recorded.most_bits_within(span),
        }
    }
}

/// One direction of the link.
#[derive(Clone, Debug)]
pub struct Line(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Opportunities(opportunities::Line),
    Rates(rates::Line),
}

impl Line {
    /// An idle direction. If it `is_fed` from a queue in front of it, packets are offered when they begin to go.
    #[must_use]
    pub fn new(recorded: Recorded, limit: QueueLimit, is_fed: bool) -> Line {
        Line(match recorded {
            Recorded::Opportunities(recorded) => {
                Kind::Opportunities(opportunities::Line::new(recorded, limit, is_fed))
            }
            Recorded::Rates(recorded) => Kind::Rates(rates::Line::new(recorded, limit)),
        })
    }

    /// Accepts a packet of `size` and returns when its last part leaves, or `None` if the queue is full. What never leaves
    /// does so after more than a hundred years.
    #[inline]
    pub fn offer(&mut self, size: Bytes, now: Time) -> Option<Time> {
        match &mut self.0 {
            Kind::Opportunities(line) => line.offer(size, now),
            Kind::Rates(line) => line.offer(size, now),
        }
    }

    /// When the packet enqueued last, which leaves at `departure`, began to leave; of a packet in several opportunities
    /// the last one counts.
    #[must_use]
    pub fn began(&self, departure: Time) -> Time {
        match &self.0 {
            Kind::Opportunities(_) => departure,
            Kind::Rates(line) => line.began(),
        }
    }

    /// When it takes the next packet of a queue in front of it; not after `now` if it takes one now.
    #[must_use]
    #[inline]
    pub fn ready_at(&self, now: Time) -> Time {
        match &self.0 {
            Kind::Opportunities(line) => line.next_at(),
            Kind::Rates(line) => line.ready_at(now),
        }
    }

    /// Whether an opportunity is due that has room.
    #[must_use]
    pub fn is_due(&self, now: Time) -> bool {
        matches!(&self.0, Kind::Opportunities(line) if line.next_at() <= now)
    }

    /// The opportunities up to `now` are over, whatever room is left in them.
    #[inline]
    pub fn pass(&mut self, now: Time) {
        if let Kind::Opportunities(line) = &mut self.0 {
            line.pass(now);
        }
    }

    /// The queue as it is at `now`.
    pub fn queue_at(&mut self, now: Time) -> &DropTail {
        match &mut self.0 {
            Kind::Opportunities(line) => line.queue_at(now),
            Kind::Rates(line) => line.queue_at(now),
        }
    }

    /// The queue.
    #[must_use]
    pub fn queue(&self) -> &DropTail {
        match &self.0 {
            Kind::Opportunities(line) => line.queue(),
            Kind::Rates(line) => line.queue(),
        }
    }

    /// Starts to measure the queue at `now`.
    pub fn begin_measurement(&mut self, now: Time) {
        match &mut self.0 {
            Kind::Opportunities(line) => line.begin_measurement(now),
            Kind::Rates(line) => line.begin_measurement(now),
        }
    }

    /// Bytes that have gone before `now`, and those that could have gone before `now`, which is not before the last offer.
    /// An opportunity at `now` itself does not count, because packets may still be offered for it.
    #[must_use]
    pub fn used(&self, now: Time) -> (u64, u64) {
        match &self.0 {
            Kind::Opportunities(line) => line.used(now),
            Kind::Rates(line) => line.used(now),
        }
    }
}
