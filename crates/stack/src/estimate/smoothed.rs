//! Smoothed mean and variation of repeated time samples (RFC 6298, 2.2, 2.3).

use crate::units::Span;

/// The smoothed mean of a time, with gain 1/8, and its smoothed deviation, with gain 1/4.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Smoothed {
    mean: Option<Span>,
    deviation: Span,
}

impl Smoothed {
    /// Takes in one time.
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

    /// The mean, once there is a sample.
    #[must_use]
    pub fn mean(&self) -> Option<Span> {
        self.mean
    }

    /// The deviation.
    #[must_use]
    pub fn deviation(&self) -> Span {
        self.deviation
    }

    /// What the next one will hardly exceed: four deviations above the mean, or `least` where that is more. Nothing
    /// before the first sample.
    #[must_use]
    pub fn bound(&self, least: Span) -> Span {
        self.mean.map_or(Span::ZERO, |mean| mean + least.max(self.deviation * 4))
    }
}
