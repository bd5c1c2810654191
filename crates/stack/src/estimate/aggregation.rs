//! How much is acknowledged at once: the excess over what a rate explains.
//!
//! **Source.** draft-ietf-ccwg-bbr-06 (5.5.9, `BBR.extra_acked`).
//!
//! **How.** An interval begins when less was acknowledged since its beginning than the rate explains. The excess of an
//! interval over that is a sample; the estimate is the greatest of the last rounds. Queues that send in bursts, aggregation of
//! frames, and receivers that acknowledge rarely make it large.

use super::WindowedMax;
use crate::units::Time;

/// The degree of aggregation on a path. The unit is that of what it is fed with.
#[derive(Clone, Debug, Default)]
pub struct Aggregation {
    begin: Time,
    acked: f64,
    extra: WindowedMax,
}

impl Aggregation {
    /// An interval begins.
    pub fn begin(&mut self, now: Time) {
        self.begin = now;
        self.acked = 0.0;
    }

    /// An acknowledgement of `acked`, while the path carries `rate` a second; samples are at most `most` and count for
    /// `window` rounds.
    pub fn on_ack(&mut self, now: Time, acked: f64, rate: f64, most: f64, round: u64, window: u64) {
        let mut expected = rate * now.since(self.begin).as_secs();
        if self.acked <= expected {
            self.begin(now);
            expected = 0.0;
        }
        self.acked += acked;
        self.extra.add(round, (self.acked - expected).min(most), window);
    }

    /// The greatest excess of the last rounds.
    #[must_use]
    pub fn extra(&self) -> f64 {
        self.extra.get().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledgements_that_come_together_are_an_excess_over_the_rate() {
        let mut path = Aggregation::default();
        let at = |ms: u64| Time(ms * 1_000_000);
        path.begin(at(0));
        // One each 10 ms at a rate of 100: each begins an interval, and is its excess.
        for tick in 1..10 {
            path.on_ack(at(10 * tick), 1.0, 100.0, 50.0, 0, 10);
            assert_eq!(path.extra(), 1.0);
        }
        // Eight at once, and two 10 ms after: 8, and 10 less the 1 of 10 ms.
        path.on_ack(at(200), 8.0, 100.0, 50.0, 1, 10);
        assert_eq!(path.extra(), 8.0);
        path.on_ack(at(210), 2.0, 100.0, 50.0, 1, 10);
        assert!((path.extra() - 9.0).abs() < 1e-9, "{}", path.extra());
        // At most a window, for ten rounds.
        path.on_ack(at(220), 90.0, 100.0, 50.0, 2, 10);
        assert_eq!(path.extra(), 50.0);
        path.on_ack(at(9000), 1.0, 100.0, 50.0, 12, 10);
        assert_eq!(path.extra(), 1.0);
    }
}
