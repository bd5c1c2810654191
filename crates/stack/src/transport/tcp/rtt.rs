//! The round-trip estimate and the retransmission timeout (RFC 6298).
//!
//! The timeout follows the clock of the endpoint, in its ticks. The smoothed round trip for all other purposes is
//! exact, as in Linux, which measures round trips in microseconds whatever the clock of its timestamps is. Only laws
//! and pace of ns-2 read the clock here, too, unless something spaces the segments.

use super::{Config, Pacing, RtoArithmetic, RtoFloor};
use crate::estimate::{Smoothed, Ticks};
use crate::units::{Span, Time};

/// Least timeout in ticks, and the consecutive back-off after which the next sample counts as the first, in ns-2.
const LEAST_TICKS: u64 = 2;
const FORGETS_AT: u32 = 4;

/// Smoothed round trip, its variation, and the timeout they give.
#[derive(Clone, Debug)]
pub struct RttEstimator {
    smoothed: Smoothed,
    /// The same of exact samples, where the smoothed round trip is exact.
    exact: Option<Smoothed>,
    base: Span,
    initial: Span,
    backoff: u32,
    min_rto: Span,
    max_rto: Span,
    tick: Span,
    /// The least excess of a timeout over the smoothed round trip.
    least_margin: Span,
    /// The same estimate in whole ticks, where the timeout follows that.
    ticks: Option<Ticks>,
}

/// What bounds a retransmission timeout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RtoLimits {
    /// Before the first sample.
    pub initial: Span,
    /// At least.
    pub min: Span,
    /// At most, back-off included.
    pub max: Span,
    /// Granularity of the clock that measures round trips; zero means exact.
    pub tick: Span,
}

impl RttEstimator {
    /// The estimator of an endpoint, without a sample.
    #[must_use]
    pub fn new<P>(config: &Config<P>) -> RttEstimator {
        RttEstimator::within(RtoLimits {
            initial: config.initial_rto,
            min: config.min_rto,
            max: config.max_rto,
            tick: config.tick,
        })
        .with_floor(config.rto_floor)
        .with_precision(
            config.exact_round_trips || config.pacing == Pacing::All || config.small_queue.is_some(),
        )
        .with_arithmetic(config.rto_arithmetic)
    }

    /// An estimator without a sample whose timeout keeps within these limits.
    #[must_use]
    pub fn within(limits: RtoLimits) -> RttEstimator {
        RttEstimator {
            smoothed: Smoothed::default(),
            exact: None,
            base: limits.initial,
            initial: limits.initial,
            backoff: 0,
            min_rto: limits.min,
            max_rto: limits.max,
            tick: limits.tick,
            least_margin: limits.tick,
            ticks: None,
        }
    }

    /// The same where the least timeout bounds this.
    fn with_floor(mut self, floor: RtoFloor) -> RttEstimator {
        if floor == RtoFloor::Variation {
            self.least_margin = self.tick.max(self.min_rto);
        }
        self
    }

    /// The same with an exact smoothed round trip, if that is requested.
    #[must_use]
    pub(super) fn with_precision(mut self, is_exact: bool) -> RttEstimator {
        if is_exact && self.exact.is_none() {
            self.exact = Some(self.smoothed);
        }
        self
    }

    /// The same in this arithmetic; an exact clock has no ticks to count.
    fn with_arithmetic(mut self, arithmetic: RtoArithmetic) -> RttEstimator {
        let counts = arithmetic == RtoArithmetic::Ticks && self.tick > Span::ZERO;
        self.ticks = counts.then(Ticks::default);
        self
    }

    /// Whether the timeout follows whole ticks, as in ns-2.
    #[must_use]
    #[inline]
    pub fn is_in_ticks(&self) -> bool {
        self.ticks.is_some()
    }

    /// The smoothed round trip, once there is a sample.
    #[must_use]
    #[inline]
    pub fn srtt(&self) -> Option<Span> {
        self.exact.unwrap_or(self.smoothed).mean()
    }

    /// The granularity of the clock.
    #[must_use]
    pub fn tick(&self) -> Span {
        self.tick
    }

    /// The variation of the round trip.
    #[must_use]
    pub fn rttvar(&self) -> Span {
        self.smoothed.deviation()
    }

    /// The retransmission timeout, back-off included (RFC 6298, 2.4, 2.5, 5.5).
    #[must_use]
    pub fn rto(&self) -> Span {
        let backed_off = Span(self.base.0.saturating_mul(1 << self.backoff.min(32)));
        backed_off.min(self.max_rto)
    }

    /// The round trip from `sent` to `now` as a clock of this granularity reads it: whole ticks, at least one.
    #[must_use]
    pub fn read_clock(&self, sent: Time, now: Time) -> Span {
        if self.tick == Span::ZERO {
            return now.since(sent);
        }
        let ticks = now.0 / self.tick.0 - sent.0 / self.tick.0;
        Span(ticks.max(1) * self.tick.0)
    }

    /// Takes a sample (RFC 6298, 2.2 and 2.3) and ends the back-off.
    pub fn sample(&mut self, rtt: Span) {
        self.sample_read(rtt, rtt);
    }

    /// The same of a round trip that the clock reads as `rtt` and that was `exact` long.
    #[inline]
    pub fn sample_read(&mut self, rtt: Span, exact: Span) {
        if let Some(smoothed) = &mut self.exact {
            smoothed.take(exact);
        }
        self.smoothed.take(rtt);
        self.base = self.bound(rtt).max(self.min_rto);
        self.backoff = 0;
    }

    /// The timeout after this sample, before its floor.
    fn bound(&mut self, rtt: Span) -> Span {
        let Some(ticks) = &mut self.ticks else { return self.smoothed.bound(self.least_margin) };
        ticks.take(rtt.0 / self.tick.0);
        self.tick * ticks.bound().max(LEAST_TICKS)
    }

    /// The timeout before the first sample.
    #[must_use]
    pub fn initial(&self) -> Span {
        self.initial
    }

    /// Starts again from a timeout of `rto`, without back-off (RFC 6298, 5.7).
    pub fn restart(&mut self, rto: Span) {
        self.base = rto;
        self.backoff = 0;
    }

    /// Doubles the timeout (RFC 6298, 5.5).
    pub fn back_off(&mut self) {
        if self.rto() < self.max_rto || (self.is_in_ticks() && self.backoff < FORGETS_AT) {
            self.backoff += 1;
        }
        if let Some(ticks) = self.ticks.as_mut().filter(|_| self.backoff >= FORGETS_AT) {
            ticks.forget();
        }
    }

    /// Doubles the timeout so often, as it had been at some time before.
    pub fn set_backoff(&mut self, backoff: u32) {
        self.backoff = backoff;
    }

    /// How often the timeout has been doubled since the last sample.
    #[must_use]
    pub fn backoff(&self) -> u32 {
        self.backoff
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::tcp::{Config, Profile};

    fn exact() -> RttEstimator {
        let config = Config { tick: Span::ZERO, min_rto: Span::ZERO, ..Profile::Modern.config() };
        RttEstimator::new(&config)
    }

    #[test]
    fn the_first_sample_sets_the_timeout_to_three_times_itself() {
        let mut rtt = exact();
        assert_eq!(rtt.rto(), Span::from_secs(1));
        rtt.sample(Span::from_millis(100));
        assert_eq!(rtt.srtt(), Some(Span::from_millis(100)));
        assert_eq!(rtt.rttvar(), Span::from_millis(50));
        assert_eq!(rtt.rto(), Span::from_millis(300));
    }

    #[test]
    fn later_samples_follow_the_gains_of_rfc_6298() {
        let mut rtt = exact();
        rtt.sample(Span::from_millis(100));
        rtt.sample(Span::from_millis(180));
        // RTTVAR = 3/4 * 50 + 1/4 * 80 = 57.5 ms, SRTT = 7/8 * 100 + 1/8 * 180 = 110 ms.
        assert_eq!(rtt.rttvar(), Span::from_micros(57_500));
        assert_eq!(rtt.srtt(), Some(Span::from_millis(110)));
        assert_eq!(rtt.rto(), Span::from_millis(340));
    }

    #[test]
    fn the_clock_granularity_is_the_least_margin() {
        let config = Config { tick: Span::from_millis(10), min_rto: Span::ZERO, ..Profile::Rfc.config() };
        let mut rtt = RttEstimator::new(&config);
        for _ in 0..200 {
            rtt.sample(Span::from_millis(100));
        }
        let rto = rtt.rto();
        assert!(rto >= Span::from_millis(109) && rto <= Span::from_millis(110), "{rto:?}");
    }

    #[test]
    fn the_floor_of_linux_is_that_of_the_margin_above_the_smoothed_round_trip() {
        let config = Config { rto_floor: RtoFloor::Variation, ..Profile::Modern.config() };
        let mut rtt = RttEstimator::new(&config);
        for _ in 0..200 {
            rtt.sample(Span::from_millis(100));
        }
        // Linux: 100 ms and at least 200 ms.
        assert_eq!(rtt.rto(), Span::from_millis(300));
        let config = Config { rto_floor: RtoFloor::Timeout, ..config };
        let mut rtt = RttEstimator::new(&config);
        for _ in 0..200 {
            rtt.sample(Span::from_millis(100));
        }
        assert_eq!(rtt.rto(), Span::from_millis(200));
    }

    #[test]
    fn back_off_doubles_up_to_the_ceiling_and_a_sample_ends_it() {
        let mut rtt = exact();
        rtt.sample(Span::from_secs(10));
        let mut seen = Vec::new();
        for _ in 0..4 {
            rtt.back_off();
            seen.push(rtt.rto());
        }
        assert_eq!(seen, [60, 120, 120, 120].map(Span::from_secs));
        rtt.sample(Span::from_secs(10));
        assert!(rtt.rto() < Span::from_secs(30));
    }

    /// Linux: `srtt_us`; ns-2: `t_srtt`.
    #[test]
    fn the_smoothed_round_trip_is_exact_and_the_timeout_goes_by_the_clock() {
        let (read, exact) = (Span::from_millis(1), Span::from_micros(10));
        let sampled = |config: &Config| {
            let mut rtt = RttEstimator::new(config);
            rtt.sample_read(read, exact);
            (rtt.srtt(), rtt.rto())
        };
        for profile in [Profile::Modern, Profile::Rfc, Profile::Ns2Of2004] {
            let config = Config { min_rto: Span::ZERO, ..profile.config() };
            let (srtt, rto) = sampled(&config);
            let is_ns2 = profile == Profile::Ns2Of2004;
            assert_eq!(srtt, Some(if is_ns2 { read } else { exact }), "{profile:?}");
            // In ns-2, whole ticks of 10 ms.
            assert_eq!(rto, Span::from_millis(if is_ns2 { 30 } else { 3 }), "{profile:?}");
            // What spaces segments knows when they arrive.
            for spaced in [
                Config { pacing: Pacing::All, ..config.clone() },
                Config { small_queue: Some(Span::from_millis(1)), ..config },
            ] {
                assert_eq!(sampled(&spaced), (Some(exact), rto), "{profile:?}");
            }
        }
    }

    #[test]
    fn a_timeout_in_ticks_stays_three_above_equal_samples_and_begins_anew_after_four_back_offs() {
        let config = Config { min_rto: Span::ZERO, ..Profile::Ns2Of2004.config() };
        let mut rtt = RttEstimator::new(&config);
        for _ in 0..200 {
            rtt.sample(Span::from_millis(100));
        }
        assert_eq!((rtt.rto(), rtt.srtt()), (Span::from_millis(130), Some(Span::from_millis(100))));
        for (back_offs, rto) in [(3, 130), (4, 300)] {
            (0..back_offs).for_each(|_| rtt.back_off());
            rtt.sample(Span::from_millis(100));
            assert_eq!(rtt.rto(), Span::from_millis(rto), "{back_offs}");
        }
        let exact = Config { tick: Span::ZERO, ..config };
        assert!(!RttEstimator::new(&exact).is_in_ticks(), "an exact clock has none");
    }

    #[test]
    fn a_coarse_clock_reads_whole_ticks() {
        let config = Config { tick: Span::from_millis(10), ..Profile::Ns2Of2004.config() };
        let rtt = RttEstimator::new(&config);
        let at = |us: u64| Time(us * 1000);
        assert_eq!(rtt.read_clock(at(9_000), at(11_000)), Span::from_millis(10));
        assert_eq!(rtt.read_clock(at(10_000), at(109_900)), Span::from_millis(90));
        assert_eq!(rtt.read_clock(at(10_000), at(10_500)), Span::from_millis(10));
    }
}
