//! Delays: how long packets are on the way, at equal steps of time.
//!
//! **Source.** LeoReplayer (Lai et al., SIGCOMM 2025), `delay_queue.cc`: a file has a delay in milliseconds on each line, one
//! for every 10 ms. CellReplay (Sentosa et al., NSDI 2025), `cellular_queue.cc`, interpolates its base delays linearly.
//!
//! **How.** A packet that leaves at `t` takes the delay of step `⌊t / step⌋`, or with interpolation that between this step's
//! and the next one's. After the last line the list begins again.
//!
//! **Choices.** 1. The delay counts from the departure; LeoReplayer's shell of delays is one of its own, and its place before or
//! after the queue is that of the shells. 2. Where the delay falls, a packet may arrive before one that left before it, as in
//! LeoReplayer; `keeps_order` lets it wait. 3. Delays may have decimals.

use std::sync::Arc;

use super::Unreadable;
use crate::units::{Span, Time};

/// The longest delay, in milliseconds.
const LONGEST_MS: f64 = 1e6;

/// Delays at equal steps of time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delays {
    ns: Box<[u64]>,
}

impl Delays {
    /// Reads a file: a delay in milliseconds on each line.
    ///
    /// # Errors
    /// A line is not such a delay, or there is none.
    pub fn read(text: &str) -> Result<Delays, Unreadable> {
        let mut ns = Vec::new();
        for (place, found) in text.lines().enumerate() {
            let Some(ms) = super::number(found.trim_end(), LONGEST_MS) else {
                let found = if found.is_empty() { "an empty line".to_string() } else { super::quoted(found) };
                let text = format!("{found}; expected a delay in milliseconds from 0 to {LONGEST_MS}");
                return Err(Unreadable { line: place + 1, text });
            };
            ns.push(libm::round(ms * 1e6) as u64);
        }
        if ns.is_empty() {
            let text = "no line; expected a delay in milliseconds on each line".to_string();
            return Err(Unreadable { line: 1, text });
        }
        Ok(Delays { ns: ns.into() })
    }

    /// No delay.
    #[must_use]
    pub fn none() -> Delays {
        Delays { ns: [0].into() }
    }

    /// The delay of each step.
    pub fn steps(&self) -> impl Iterator<Item = Span> {
        self.ns.iter().copied().map(Span)
    }
}

/// The delays of a direction.
#[derive(Clone, Debug)]
pub struct Delaying {
    /// The delays.
    pub delays: Arc<Delays>,
    /// The time from one to the next.
    pub step: Span,
    /// Whether those between are interpolated.
    pub is_linear: bool,
    /// Whether no packet arrives before one that left before it.
    pub keeps_order: bool,
}

impl Delaying {
    /// The delay of a packet that leaves then.
    #[must_use]
    pub fn at(&self, departure: Time) -> Span {
        let ns = &self.delays.ns;
        let step = (departure.0 / self.step.0 % ns.len() as u64) as usize;
        let from = ns[step];
        if !self.is_linear {
            return Span(from);
        }
        let to = ns[(step + 1) % ns.len()];
        let part = u128::from(departure.0 % self.step.0);
        let more = u128::from(from.abs_diff(to)) * part / u128::from(self.step.0);
        Span(if to < from { from - more as u64 } else { from + more as u64 })
    }

    /// The longest delay.
    #[must_use]
    pub fn longest(&self) -> Span {
        self.delays.steps().max().unwrap_or(Span::ZERO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delaying(text: &str, is_linear: bool) -> Delaying {
        let delays = Arc::new(Delays::read(text).expect("delays"));
        Delaying { delays, step: Span::from_millis(10), is_linear, keeps_order: false }
    }

    #[test]
    fn each_line_holds_for_a_step_and_the_list_begins_again() {
        let of = delaying("24\n18.5\n", false);
        let at = |us: u64| of.at(Time(us * 1_000)).0;
        assert_eq!([0, 9_999, 10_000, 20_000].map(at), [24_000_000, 24_000_000, 18_500_000, 24_000_000]);
        assert_eq!(of.longest(), Span::from_millis(24));
    }

    #[test]
    fn between_two_lines_delays_are_interpolated_up_and_down() {
        let of = delaying("20\n10\n", true);
        let at = |ms: u64| of.at(Time(ms * 1_000_000)).0 / 1_000_000;
        assert_eq!([0, 5, 10, 15].map(at), [20, 15, 10, 15]);
    }

    #[test]
    fn a_line_that_is_no_delay_is_refused_with_its_number() {
        for (text, line, said) in [
            ("", 1, "no line; expected a delay in milliseconds on each line"),
            ("5\n\n", 2, "an empty line; expected a delay in milliseconds from 0 to 1000000"),
            ("5\n-1\n", 2, "\"-1\"; expected a delay in milliseconds from 0 to 1000000"),
            ("12 4\n", 1, "\"12 4\"; expected a delay in milliseconds from 0 to 1000000"),
        ] {
            assert_eq!(Delays::read(text), Err(Unreadable { line, text: said.to_string() }), "{text:?}");
        }
    }
}
