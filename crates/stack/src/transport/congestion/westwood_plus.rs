//! Westwood+: Westwood with one rate sample per round trip.
//!
//! **Limits.** It adapts to a change of the path within about twenty round trips. A window reduced while the rate is
//! still underestimated stays small, because the rate measured next is that of the small window.
//!
//! **Source.** Grieco and Mascolo 2004; the filters and the minimum interval are those of Linux's `tcp_westwood.c`.
//!
//! **How.** [`PerRoundTrip`] estimates the rate. A loss sets `ssthresh = rate x minimum round trip`, at least two
//! segments, and the window to it, or to one segment after a timeout. Growth is Reno's.
//!
//! **Choices.** 1. The length of a round trip is the smoothed one, as in Linux; the minimum is that of all samples,
//! where Linux takes the minimum smoothed value. 2. A timeout sets ssthresh from the rate, as in the paper; ns-2's
//! agent halves it. 3. Without a rate or a round trip it behaves as Reno. 4. The variant uses `NewReno`'s recovery. 5. A mark may
//! leave one segment (RFC 3168, 6.1.2).
//!
//! **Checked by** the tests below, those of [`PerRoundTrip`], `crates/sim/tests/laws.rs` and ns-2
//! (`papers/baselines.md`).

use super::reno::grow;
use super::westwood::{after_mark, answer};
use crate::estimate::PerRoundTrip;
use crate::hooks::parameter::{Described, LONGEST, parameters};
use crate::hooks::{Ack, Congestion, Loss, LossCause, LossResponse, Mark, Progress, Reduction, Window};
use crate::units::{Span, Time};

/// The constants of Westwood+.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WestwoodPlusConfig {
    /// The minimum interval over which the rate is sampled.
    pub least_interval: Span,
}

impl Default for WestwoodPlusConfig {
    fn default() -> WestwoodPlusConfig {
        WestwoodPlusConfig { least_interval: Span::from_millis(50) }
    }
}

impl Described for WestwoodPlusConfig {
    parameters! {
        /// minimum duration of a rate sample
        "least-interval": Time("ms") = least_interval, at_most(LONGEST), source("Linux: tcp_westwood.c");
    }
}

/// The state of Westwood+.
#[derive(Clone, Debug)]
pub struct WestwoodPlus {
    rate: PerRoundTrip,
    least_rtt: Option<Span>,
}

impl WestwoodPlus {
    /// The state at the start of a connection.
    #[must_use]
    pub fn new(config: &WestwoodPlusConfig) -> WestwoodPlus {
        WestwoodPlus { rate: PerRoundTrip::new(config.least_interval), least_rtt: None }
    }
}

impl Congestion for WestwoodPlus {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.rate.on_ack(ack.now, ack.progress, ack.srtt);
        if let Progress::Open(_) = ack.progress {
            grow(window, ack.counted);
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        let response = answer(loss, window, self.rate.rate().unwrap_or(0.0), self.least_rtt);
        if loss.cause == LossCause::Duplicates {
            window.cwnd = window.ssthresh;
        }
        response
    }

    fn on_mark(&mut self, mark: &Mark, window: &mut Window) -> Reduction {
        window.cwnd = after_mark(mark, window, self.rate.rate().unwrap_or(0.0), self.least_rtt);
        Reduction::Reduced
    }

    fn estimate(&mut self, _: Time) -> Option<f64> {
        self.rate.rate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::testing::{ack, after, loss};

    #[test]
    fn a_loss_leaves_what_the_rate_fills_in_the_least_round_trip() {
        for (cause, left) in [(LossCause::Duplicates, 40.0), (LossCause::Timeout, 1.0)] {
            let mut window = Window::new(30.0, Some(100.0), 100.0);
            let mut plus = WestwoodPlus::new(&WestwoodPlusConfig::default());
            for rtt in [80, 95] {
                plus.on_ack(&after(rtt, Progress::Unlimited(1)), &mut window);
            }
            // One segment every 2 ms, 500 per second, x 80 ms = 40; each sample of about 100 ms includes one more.
            for tick in 1..=500 {
                let now = Time(Span::from_millis(2 * tick).0);
                let srtt = Some(Span::from_millis(99));
                plus.on_ack(&Ack { now, srtt, ..ack(Progress::Unlimited(1)) }, &mut window);
            }
            assert!((plus.estimate(Time::ZERO).unwrap() - 500.0).abs() < 1e-6);
            plus.on_loss(&loss(cause, 30), &mut window);
            assert!((window.cwnd - left).abs() < 1e-9, "{} for {left}", window.cwnd);
            assert!((window.ssthresh - 40.0).abs() < 1e-9, "{}", window.ssthresh);
        }
    }

    #[test]
    fn before_anything_is_known_it_is_reno() {
        let mut window = Window::new(20.0, Some(100.0), 100.0);
        WestwoodPlus::new(&WestwoodPlusConfig::default())
            .on_loss(&loss(LossCause::Duplicates, 20), &mut window);
        assert_eq!((window.cwnd, window.ssthresh), (10.0, 10.0));
    }
}
