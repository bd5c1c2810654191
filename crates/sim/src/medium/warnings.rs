//! Predictions of outages by any means: a signal strength, a map.
//!
//! A prediction has a lead, and an error that makes it early or late, and may be missed; there may also be false
//! alarms. A prediction that would not precede its outage is omitted. True and false predictions have separate streams.

use lasthop_stack::units::{Span, Time};

use super::outages::Outage;
use crate::engine::streams::Stream;

/// How well outages are predicted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WarningConfig {
    /// How long before an outage a warning is meant to come.
    pub lead: Span,
    /// Standard deviation of its time, normal.
    pub deviation: Span,
    /// Probability that there is none.
    pub missed: f64,
    /// Mean time between false ones, exponential.
    pub false_every: Option<Span>,
    /// The time until a false one is cleared.
    pub false_for: Span,
}

/// The predictions for one link.
#[derive(Clone, Debug)]
pub struct Warnings {
    config: WarningConfig,
    stream: Stream,
    false_stream: Stream,
}

impl Warnings {
    /// Those of a link; `stream` gives the stream of each purpose.
    pub fn new(config: WarningConfig, stream: impl Fn(&str) -> Stream) -> Warnings {
        Warnings { config, stream: stream("warnings"), false_stream: stream("false warnings") }
    }

    /// When the coming outage is predicted, if it is. Each outage takes the same draws.
    pub fn of(&mut self, outage: Outage, now: Time) -> Option<Time> {
        let is_missed = self.stream.chance(self.config.missed);
        let error_s = self.config.deviation.as_secs() * self.stream.normal();
        let at_s = (outage.down.0 as f64 - self.config.lead.0 as f64) / 1e9 + error_s;
        let at = if self.config.deviation == Span::ZERO {
            Time(outage.down.0.saturating_sub(self.config.lead.0))
        } else {
            Time(Span::from_secs_f64(at_s.max(0.0)).0)
        };
        let at = at.max(now);
        (!is_missed && outage.down != Time::NEVER && at < outage.down).then_some(at)
    }

    /// When the next false one comes after this time.
    pub fn next_false(&mut self, now: Time) -> Option<Time> {
        let mean = self.config.false_every?;
        Some(now.after(Span::from_secs_f64(self.false_stream.exponential(mean.as_secs()))))
    }

    /// The time until a false one is cleared.
    #[must_use]
    pub fn false_for(&self) -> Span {
        self.config.false_for
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: fn(u64) -> Span = Span::from_millis;

    fn warnings(config: WarningConfig) -> Warnings {
        Warnings::new(config, |what| Stream::named(1, 0, what))
    }

    const EXACT: WarningConfig = WarningConfig {
        lead: Span(100_000_000),
        deviation: Span::ZERO,
        missed: 0.0,
        false_every: None,
        false_for: Span(1),
    };

    fn outage(ms: u64) -> Outage {
        Outage { down: Time(MS(ms).0), up: Time(MS(ms + 10).0) }
    }

    #[test]
    fn an_exact_one_comes_its_lead_before_and_not_before_now() {
        let mut warnings = warnings(EXACT);
        assert_eq!(warnings.of(outage(1000), Time::ZERO), Some(Time(MS(900).0)));
        assert_eq!(warnings.of(outage(1000), Time(MS(950).0)), Some(Time(MS(950).0)));
        assert_eq!(warnings.of(outage(50), Time::ZERO), Some(Time::ZERO));
        assert_eq!(warnings.next_false(Time::ZERO), None);
    }

    #[test]
    fn errors_make_it_early_late_or_missed_at_their_rates() {
        let config = WarningConfig { deviation: MS(100), missed: 0.2, ..EXACT };
        let mut warnings = warnings(config);
        let at: Vec<Option<Time>> = (0..20_000).map(|_| warnings.of(outage(10_000), Time::ZERO)).collect();
        let found: Vec<f64> = at.iter().flatten().map(|at| at.0 as f64 / 1e6 - 9_900.0).collect();
        // A fifth is missed; of the rest those are too late that err by more than a deviation: 15.87 %.
        let share = found.len() as f64 / 20_000.0;
        assert!((share - 0.8 * 0.8413).abs() < 0.014, "{share}");
        let early = found.iter().filter(|error| **error < 0.0).count() as f64 / 20_000.0;
        assert!((early - 0.4).abs() < 0.014, "{early}");
    }
}
