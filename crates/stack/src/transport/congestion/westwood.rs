//! Westwood: after a loss the window follows from the estimated rate.
//!
//! **Limits.** Acknowledgements that a queue on the reverse path has compressed inflate the estimated rate, so Westwood
//! takes more than its share (Grieco and Mascolo 2004; EJTCP, 2).
//!
//! **Source.** Mascolo et al. 2001 and Casetti et al. 2002; EJTCP (2) quotes the filter with a constant coefficient.
//!
//! **How.** [`PerAck`] estimates the rate. A loss sets `ssthresh = rate x minimum round trip`, at least two segments;
//! the window falls to it unless it is already lower, and to one segment after a timeout. Growth is Reno's.
//!
//! **Choices.** 1. The filter is the one EJTCP quotes, with the coefficient 19/21, which is Tustin's for a gap of
//! `tau / 10`, unless the scenario selects Tustin's filter of the original. 2. Both start from a rate of zero. 3.
//! EJTCP's formula counts one packet per acknowledgement; duplicates and delayed acknowledgements are counted as by
//! Casetti et al. 4. A sample of Tustin's filter that ends a silence covers the whole gap between the acknowledgements,
//! but the filter weighs it by the time since the last sample of zero. 5. Without a rate or a round trip it behaves as
//! Reno. 6. The variant uses `NewReno`'s recovery, or the one that `tcp.westwood.recovery` names: the papers modify
//! Reno, and ns-2's module of 2002 resends without inflating the window (`recovery/uninflated.rs`).
//! 7. A mark may leave one segment (RFC 3168, 6.1.2).
//!
//! **Checked by** the tests below, those of [`PerAck`], and `crates/sim/tests/laws.rs`.

use super::reno::{Reno, grow};
use crate::estimate::{LowPass, PerAck};
use crate::hooks::parameter::{Described, LONGEST, parameters, words};
use crate::hooks::{Ack, Congestion, Loss, LossCause, LossResponse, Mark, Progress, Reduction, Window};
use crate::units::{Span, Time};

/// Minimum ssthresh, in segments.
const MIN_SSTHRESH: f64 = 2.0;

/// The constants of Westwood.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WestwoodConfig {
    /// How the rate samples are smoothed.
    pub filter: LowPass,
}

impl WestwoodConfig {
    /// The constant coefficient (alpha).
    pub const ALPHA: f64 = 19.0 / 21.0;
    /// The time constant of Tustin's filter (tau).
    pub const TAU: Span = Span::from_millis(500);
}

impl Default for WestwoodConfig {
    fn default() -> WestwoodConfig {
        WestwoodConfig { filter: LowPass::Constant(WestwoodConfig::ALPHA) }
    }
}

/// The filters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    Paper,
    Tustin,
}

words! { Filter: Paper = "paper", Tustin = "tustin" }

impl Described for WestwoodConfig {
    parameters! {
        /// filter of the rate samples: as quoted by EJTCP, or the original
        "filter": Words("filter") = (
            |law| match law.filter {
                LowPass::Constant(_) => Filter::Paper,
                LowPass::Tustin(_) => Filter::Tustin,
            },
            |law, filter| {
                law.filter = match filter {
                    Filter::Paper => LowPass::Constant(WestwoodConfig::ALPHA),
                    Filter::Tustin => LowPass::Tustin(WestwoodConfig::TAU),
                };
            },
        ), source("EJTCP (2); Mascolo et al. 2001");
        /// weight of the old rate in the filter
        "alpha": Number = (
            |law| match law.filter {
                LowPass::Constant(alpha) => alpha,
                LowPass::Tustin(_) => WestwoodConfig::ALPHA,
            },
            |law, alpha| law.filter = LowPass::Constant(alpha),
        ), at_least("0"), at_most("1"), only(&[("filter", &["paper"])]),
            source("19/21: the original's for a gap of tau / 10");
        /// time constant of the filter
        "tau": Time("ms") = (
            |law| match law.filter {
                LowPass::Tustin(tau) => tau,
                LowPass::Constant(_) => WestwoodConfig::TAU,
            },
            |law, tau| law.filter = LowPass::Tustin(tau),
        ), above("0 s"), at_most(LONGEST), only(&[("filter", &["tustin"])]), source("Casetti et al. 2002");
    }
}

/// The state of Westwood.
#[derive(Clone, Debug)]
pub struct Westwood {
    rate: PerAck,
    least_rtt: Option<Span>,
}

impl Westwood {
    /// The state at the start of a connection.
    #[must_use]
    pub fn new(config: &WestwoodConfig) -> Westwood {
        Westwood { rate: PerAck::new(config.filter), least_rtt: None }
    }
}

/// The answer to a loss, given a `rate` in segments per second and the minimum round trip.
pub(super) fn answer(loss: &Loss, window: &mut Window, rate: f64, least_rtt: Option<Span>) -> LossResponse {
    let response = Reno.on_loss(loss, window);
    if let Some(filled) = filled(rate, least_rtt) {
        window.ssthresh = filled.max(MIN_SSTHRESH);
    }
    response
}

/// The window that this rate fills, if both are known.
fn filled(rate: f64, least_rtt: Option<Span>) -> Option<f64> {
    least_rtt.filter(|_| rate > 0.0).map(|rtt| rate * rtt.as_secs())
}

/// The window that a mark leaves: what the rate fills, which may be less than the threshold.
pub(super) fn after_mark(mark: &Mark, window: &mut Window, rate: f64, least_rtt: Option<Span>) -> f64 {
    answer(&mark.as_loss(), window, rate, least_rtt);
    filled(rate, least_rtt).map_or(window.cwnd, |filled| filled.max(mark.least))
}

impl Congestion for Westwood {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        self.rate.on_ack(ack.now, ack.progress);
        if let Progress::Open(_) = ack.progress {
            grow(window, ack.counted);
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        let before = window.cwnd;
        let response = answer(loss, window, self.rate.at(loss.now), self.least_rtt);
        if loss.cause == LossCause::Duplicates {
            window.cwnd = before.min(window.ssthresh);
        }
        response
    }

    fn on_mark(&mut self, mark: &Mark, window: &mut Window) -> Reduction {
        let before = window.cwnd;
        window.cwnd = before.min(after_mark(mark, window, self.rate.at(mark.now), self.least_rtt));
        Reduction::Reduced
    }

    fn estimate(&mut self, now: Time) -> Option<f64> {
        Some(self.rate.at(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::testing::{ack, after, loss};

    /// Westwood after a round trip of 80 ms and then one segment every 2 ms for a second, and the current time.
    fn westwood(filter: LowPass, window: &mut Window) -> (Westwood, Time) {
        let mut westwood = Westwood::new(&WestwoodConfig { filter });
        for rtt in [80, 95] {
            westwood.on_ack(&after(rtt, Progress::Unlimited(1)), window);
        }
        for tick in 1..=500 {
            let now = Time(Span::from_millis(2 * tick).0);
            westwood.on_ack(&Ack { now, ..ack(Progress::Unlimited(1)) }, window);
        }
        (westwood, Time(Span::from_secs(1).0))
    }

    #[test]
    fn a_loss_leaves_what_the_rate_fills_in_the_least_round_trip() {
        // 500 segments per second x 80 ms = 40 segments. In a second Tustin's filter has nearly reached 1 - e^-2 of
        // this: a = (1 - 0.002) / (1 + 0.002), and 1 - a^500 = 0.8647.
        for (filter, fits) in
            [(WestwoodConfig::default().filter, 40.0), (LowPass::Tustin(WestwoodConfig::TAU), 40.0 * 0.8647)]
        {
            for (cause, before, left) in [
                (LossCause::Duplicates, 60.0, fits),
                (LossCause::Duplicates, 30.0, 30.0),
                (LossCause::Timeout, 60.0, 1.0),
            ] {
                let mut window = Window::new(before, Some(100.0), 100.0);
                let (mut westwood, now) = westwood(filter, &mut window);
                let estimate = westwood.estimate(now).unwrap_or_default();
                assert!((estimate * 0.08 - fits).abs() < 0.05, "{estimate}");
                westwood.on_loss(&Loss { now, ..loss(cause, 60) }, &mut window);
                assert!((window.cwnd - left).abs() < 0.05, "{} for {left} with {filter:?}", window.cwnd);
                assert!((window.ssthresh - fits).abs() < 0.05, "{}", window.ssthresh);
            }
        }
    }

    #[test]
    fn a_slow_path_leaves_two_segments() {
        let mut window = Window::new(20.0, Some(100.0), 100.0);
        // 10 segments per second x 80 ms = 0.8.
        answer(&loss(LossCause::Duplicates, 20), &mut window, 10.0, Some(Span::from_millis(80)));
        assert_eq!(window.ssthresh, 2.0);
    }

    #[test]
    fn before_anything_is_known_it_is_reno() {
        let mut window = Window::new(20.0, Some(100.0), 100.0);
        Westwood::new(&WestwoodConfig::default()).on_loss(&loss(LossCause::Duplicates, 20), &mut window);
        assert_eq!((window.cwnd, window.ssthresh), (10.0, 10.0));
    }
}
