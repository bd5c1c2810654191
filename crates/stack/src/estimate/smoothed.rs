//! Smoothed mean and variation of repeated time samples (RFC 6298, 2.2, 2.3).

use crate::state_bytes::state_bytes;
use crate::units::Span;

state_bytes! {
    /// The smoothed mean of a time, with gain 1/8, and its smoothed deviation, with gain 1/4.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct Smoothed {
        mean: Option<Span>,
        deviation: Span,
    }
}

impl Smoothed {
    /// Adds a sample.
    pub fn take(&mut self, sample: Span) {
        let Some(mean) = self.mean else {
            self.mean = Some(sample);
            self.deviation = Span(sample.0 / 2);
            return;
        };
        let off = mean.0.abs_diff(sample.0);
        self.deviation = Span((3 * self.deviation.0 + off) / 4);
        self.mean = Some(Span((7 * mean.0 + sample.0) / 8));
    }

    /// The mean, after the first sample.
    #[must_use]
    pub fn mean(&self) -> Option<Span> {
        self.mean
    }

    /// The deviation.
    #[must_use]
    pub fn deviation(&self) -> Span {
        self.deviation
    }

    /// A bound that the next sample rarely exceeds: the mean plus four deviations, or plus `least` if that is more.
    /// Zero before the first sample.
    #[must_use]
    pub fn bound(&self, least: Span) -> Span {
        self.mean.map_or(Span::ZERO, |mean| mean + least.max(self.deviation * 4))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_sample_sets_both_and_the_next_move_the_mean_by_an_eighth_and_the_deviation_by_a_quarter() {
        let mut time = Smoothed::default();
        assert_eq!((time.mean(), time.bound(Span(5))), (None, Span::ZERO));
        time.take(Span(800));
        assert_eq!((time.mean(), time.deviation()), (Some(Span(800)), Span(400)));
        // The sample differs by 800 from the previous mean.
        time.take(Span(1_600));
        assert_eq!((time.mean(), time.deviation()), (Some(Span(900)), Span(500)));
        time.take(Span(100));
        assert_eq!((time.mean(), time.deviation()), (Some(Span(800)), Span(575)));
    }

    #[test]
    fn the_bound_is_four_deviations_above_the_mean_but_never_less_than_asked_for() {
        let mut time = Smoothed::default();
        time.take(Span(800));
        assert_eq!(time.bound(Span(1_599)), Span(800 + 4 * 400));
        assert_eq!(time.bound(Span(1_601)), Span(800 + 1_601));
    }
}
