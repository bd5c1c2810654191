//! The hold time of an acknowledgement: the wait for the next one of its flow.

use super::config::Config;
use crate::estimate::Smoothed;
use crate::state_bytes::state_bytes;
use crate::units::{Span, Time};

state_bytes! {
    /// The spacing of the steps of a stream, and so how long the newest waits for one that makes it redundant.
    ///
    /// A fixed wait would expire before each step of a slower flow, as in a cell that many share. A step delayed by a loss
    /// says nothing about the spacing, and would delay the detection of the next loss.
    #[derive(Clone, Copy, Debug, Default)]
    pub(in super::super) struct Spacing {
        last: Option<Time>,
        times: Smoothed,
    }
}

impl Spacing {
    /// The stream makes a step. Pauses of the application do not count.
    pub(in super::super) fn step(&mut self, now: Time, config: &Config) {
        if let Some(last) = self.last.replace(now) {
            let time = now.since(last);
            if time <= config.max_hold {
                self.times.take(time);
            }
        }
    }

    /// A loss delays the next step.
    pub(in super::super) fn interrupt(&mut self) {
        self.last = None;
    }

    /// How long to wait for the next step.
    pub(in super::super) fn wait(&self, config: &Config) -> Span {
        self.times.bound(Span::ZERO).min(config.max_hold).max(config.hold)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Mode;
    use super::*;
    use crate::hooks::Criterion;

    fn at(ms: u64) -> Time {
        Time::ZERO.after(Span::from_millis(ms))
    }

    #[test]
    fn the_wait_follows_the_spacing_between_its_two_limits() {
        let config = Config { max_hold: Span::from_secs(1), ..Config::new(Mode::Safe, Criterion::default()) };
        let wait = |spacing: &Spacing| at(0).after(spacing.wait(&config));
        let mut spacing = Spacing::default();
        spacing.step(at(0), &config);
        assert_eq!(wait(&spacing), at(40), "nothing is known yet");
        spacing.step(at(100), &config);
        assert_eq!(wait(&spacing), at(100 + 4 * 50));
        spacing.step(at(5_000), &config);
        assert_eq!(wait(&spacing), at(300), "a pause");
        spacing.interrupt();
        spacing.step(at(5_900), &config);
        assert_eq!(wait(&spacing), at(300), "a loss");
        for step in 1..40 {
            spacing.step(at(5_900 + step), &config);
        }
        assert_eq!(wait(&spacing), at(40));
        for step in 1..40 {
            spacing.step(at(6_000 + 900 * step), &config);
        }
        assert!(wait(&spacing) > at(900) && wait(&spacing) <= at(1_000));
    }
}
