//! The round trip between a station and a mobile, and the timeout derived from it.

use crate::state_bytes::state_bytes;
use crate::units::Span;

state_bytes! {
    /// Smoothed mean and smoothed deviation (gain 1/8), with the initial values of ns-2's Snoop.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct RoundTrip {
        mean: Span,
        deviation: Span,
    }
}

impl Default for RoundTrip {
    fn default() -> RoundTrip {
        RoundTrip { mean: Span::from_millis(100), deviation: Span::from_millis(250) }
    }
}

impl RoundTrip {
    /// Adds a sample, from a segment sent once, with this weight in the mean.
    pub(in super::super) fn take(&mut self, sample: Span, gain: f64) {
        let mean = self.mean.0 as f64;
        self.mean = Span((mean + gain * (sample.0 as f64 - mean)) as u64);
        let off = self.mean.0.abs_diff(sample.0);
        self.deviation = Span((7 * self.deviation.0 + off) / 8);
    }

    /// The mean plus four deviations, but at least `least`.
    pub(in super::super) fn timeout(&self, least: Span) -> Span {
        least.max(self.mean + self.deviation * 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_timeout_begins_at_more_than_a_second_and_follows_the_samples_to_its_floor() {
        let mut time = RoundTrip::default();
        let least = Span::from_millis(100);
        assert_eq!(time.timeout(least), Span::from_millis(1_100));
        time.take(Span::from_millis(20), 0.125);
        // 90 ms, and (7 * 250 + 70) / 8 = 227.5 ms.
        assert_eq!(time.timeout(least), Span::from_millis(1_000));
        (0..60).for_each(|_| time.take(Span::from_millis(20), 0.125));
        assert_eq!(time.timeout(least), least);
    }
}
