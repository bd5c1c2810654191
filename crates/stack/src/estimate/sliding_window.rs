//! The rate at which segments reach the receiver, by a time sliding window over acknowledgements.
//!
//! **Source.** Clark and Fang 1998 (the time sliding window of an edge router); Xu, Tian and Ansari 2004 take it to the
//! sender, with a window of a round trip.
//!
//! **How.** `R_n = (T R_(n-1) + L_n) / ((t_n - t_(n-1)) + T)` at the acknowledgement of `L_n` segments at `t_n`, with
//! `T = K RTT`: the segments that the previous rate carries in `T` and the new ones, divided by the time of both.
//!
//! **Limits.** A silence is spread over `T`, so that the rate falls after it. Acknowledgements that a queue on the way
//! back has pushed together raise the rate for about `T` (the authors' next scheme, TCP New Jersey, reads the receiver's
//! timestamps instead).
//!
//! **Choices.** 1. `L_n` counts as Casetti et al. do ([`AckedCount`]): a duplicate stands for a segment that left. 2. The
//! first acknowledgement has no gap before it, and a rate of zero: it gives `L / T`. 3. One that comes before a round trip
//! is known is left out.

use super::bandwidth::AckedCount;
use crate::hooks::Progress;
use crate::units::{Span, Time};

/// The rate, in segments a second.
#[derive(Clone, Debug)]
pub struct SlidingWindow {
    round_trips: f64,
    counted: AckedCount,
    acked_at: Option<Time>,
    rate: f64,
}

impl SlidingWindow {
    /// Before the first acknowledgement, with a window of `round_trips` round trips (K).
    #[must_use]
    pub fn new(round_trips: f64) -> SlidingWindow {
        SlidingWindow { round_trips, counted: AckedCount::default(), acked_at: None, rate: 0.0 }
    }

    /// An acknowledgement arrived, the round trip being `rtt`, if known.
    #[inline]
    pub fn on_ack(&mut self, now: Time, progress: Progress, rtt: Option<Span>) {
        let segments = self.counted.count(progress);
        let Some(rtt) = rtt.filter(|rtt| *rtt > Span::ZERO) else { return };
        let window = self.round_trips * rtt.as_secs();
        let gap = now.since(self.acked_at.replace(now).unwrap_or(now)).as_secs();
        self.rate = (window * self.rate + f64::from(segments)) / (gap + window);
    }

    /// The rate, once an acknowledgement has given one.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        self.acked_at.map(|_| self.rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time(Span::from_millis(ms).0)
    }

    const RTT: Option<Span> = Some(Span::from_millis(100));

    #[test]
    fn the_rate_is_that_of_the_formula() {
        let mut window = SlidingWindow::new(1.0);
        window.on_ack(at(990), Progress::Open(1), None);
        assert_eq!(window.rate(), None);
        // One segment over T = 0.1 s: 10. Ten ms on another: (0.1 x 10 + 1) / 0.11 = 18.18. A duplicate 5 ms on:
        // (0.1 x 18.18 + 1) / 0.105 = 26.84; three segments at once of which it was one: (0.1 x 26.84 + 2) / 0.1.
        for (ms, progress, expected) in [
            (1_000, Progress::Open(1), 10.0),
            (1_010, Progress::Unlimited(1), 2.0 / 0.11),
            (1_015, Progress::Duplicate, (0.2 / 0.11 + 1.0) / 0.105),
            (1_015, Progress::Recovering(3), ((0.2 / 0.11 + 1.0) / 0.105 * 0.1 + 2.0) / 0.1),
        ] {
            window.on_ack(at(ms), progress, RTT);
            let rate = window.rate().expect("a rate");
            assert!((rate - expected).abs() < 1e-9, "{rate} for {expected}");
        }
    }

    #[test]
    fn a_steady_stream_gives_its_rate_whatever_the_window_is() {
        for round_trips in [0.5, 1.0, 4.0] {
            let mut window = SlidingWindow::new(round_trips);
            for tick in 0..2_000 {
                window.on_ack(at(5 * tick), Progress::Open(1), RTT);
            }
            // R = (T R + 1) / (0.005 + T) has the fixed point 200.
            assert!((window.rate().expect("a rate") - 200.0).abs() < 1e-6);
        }
    }

    #[test]
    fn a_silence_lowers_the_rate_by_its_share_of_the_window() {
        let mut window = SlidingWindow::new(2.0);
        for tick in 0..2_000 {
            window.on_ack(at(5 * tick), Progress::Open(1), RTT);
        }
        // T = 0.2 s: (0.2 x 200 + 1) / (0.8 + 0.2).
        window.on_ack(at(5 * 1_999 + 800), Progress::Open(1), RTT);
        assert!((window.rate().expect("a rate") - 41.0).abs() < 1e-6);
    }
}
