//! One direction of a link whose capacity over time was recorded: as delivery opportunities, or as rates; and its
//! delay.
//!
//! **Limits.** A packet that an outage meets is lost with its capacity; the queue does not wait for the end of the outage.
//! A packet of which a part has been sent counts as queued, as everywhere here.
//!
//! **Source.** `opportunities`: Mahimahi (Netravali et al. 2015). `rates`: the traces of Pensieve (Mao et al. 2017) and
//! PiTree (Meng et al. 2019).
//!
//! **How.** Both compute when a packet leaves as they enqueue it, so the queue is a list of departures as on a wire.

pub mod delays;
pub mod loads;
pub mod opportunities;
pub mod rates;

pub use delays::{Delaying, Delays};
pub use loads::{Loads, Trains};
pub use opportunities::{Opportunities, Schedule};
pub use rates::{Rates, Varying};

use crate::units::{Rate, Span, Time};

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
    /// The same for a loaded link, and trains of packets on an idle one.
    Loads(Loads),
}

impl Recorded {
    /// The mean rate of a pass over the record.
    #[must_use]
    pub fn mean_rate(&self) -> Rate {
        match self {
            Recorded::Opportunities(recorded) => recorded.mean_rate(),
            Recorded::Rates(recorded) => recorded.mean_rate(),
            Recorded::Loads(recorded) => recorded.heavy.mean_rate(),
        }
    }

    /// The bits that may go up to a time.
    #[must_use]
    pub fn bits_until(&self, now: Time) -> f64 {
        match self {
            Recorded::Opportunities(recorded) => recorded.bits_until(now),
            Recorded::Rates(recorded) => recorded.bits_until(now),
            Recorded::Loads(recorded) => recorded.heavy.bits_until(now),
        }
    }

    /// The most bits that may go in any time of this length.
    #[must_use]
    pub fn most_bits_within(&self, span: Span) -> f64 {
        match self {
            Recorded::Opportunities(recorded) => recorded.most_bits_within(span),
            Recorded::Rates(recorded) => recorded.most_bits_within(span),
            Recorded::Loads(recorded) => recorded.heavy.most_bits_within(span),
        }
    }

    /// How long a packet is delayed at most before it waits.
    #[must_use]
    pub fn longest(&self) -> Span {
        if let Recorded::Loads(recorded) = self { recorded.longest() } else { Span::ZERO }
    }
}

/// A decimal number from 0 to this limit.
fn number(text: &str, most: f64) -> Option<f64> {
    let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|number: &f64| begins && (0.0..=most).contains(number))
}

fn quoted(found: &str) -> String {
    let found: String = found.chars().take(20).collect();
    format!("\"{}\"", found.escape_debug())
}
