//! The rate at which segments reach the receiver, estimated from acknowledgements, in segments per second.
//!
//! **Source.** Mascolo et al. 2001 and Casetti et al. 2002 (Westwood); Grieco and Mascolo 2004 (Westwood+); EJTCP
//! quotes the first with a constant coefficient (2, TCP Westwood).
//!
//! **How.** [`PerAck`] takes samples `S_k`, the segments acknowledged divided by the time since the previous
//! acknowledgement, and smooths them: `B_k = a B_(k-1) + (1 - a) (S_k + S_(k-1)) / 2`. [`PerRoundTrip`] takes one
//! sample per round trip and smooths it twice by 7/8. Both count the segments of an acknowledgement with
//! [`AckedCount`].
//!
//! **Limits.** Acknowledgements that queue and arrive close together give samples far above the path's rate, and
//! [`PerAck`] follows them.

use crate::hooks::Progress;
use crate::units::{Span, Time};

/// Counts the segments that an acknowledgement reports. A duplicate reports one that arrived out of order; a later
/// advance over it must not count it again (Casetti et al. 2002, `AckedCount`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckedCount {
    accounted: u32,
}

impl AckedCount {
    /// The number of segments that this acknowledgement reports.
    #[inline]
    pub(super) fn count(&mut self, progress: Progress) -> u32 {
        match progress {
            Progress::Duplicate => {
                self.accounted += 1;
                1
            }
            Progress::Open(advance) | Progress::Unlimited(advance) | Progress::Recovering(advance) => {
                if advance <= 1 {
                    return advance;
                }
                if self.accounted >= advance {
                    self.accounted -= advance;
                    return 1;
                }
                advance - std::mem::take(&mut self.accounted)
            }
        }
    }
}

/// The coefficient `a` of the low-pass filter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LowPass {
    /// Constant: `alpha`, as EJTCP quotes it.
    Constant(f64),
    /// Computed from the gap since the previous sample, `(2 tau - gap) / (2 tau + gap)`: Tustin's discretisation of a
    /// filter with the time constant `tau`.
    Tustin(Span),
}

impl LowPass {
    /// A gap longer than `tau` divided by this number is filled with samples of zero.
    const SAMPLES_IN_TAU: u64 = 2;
    /// This number of zero samples leaves nothing: `(3 / 5)^100`.
    const ENOUGH: u64 = 100;

    fn coefficient(self, gap: Span) -> f64 {
        match self {
            LowPass::Constant(alpha) => alpha,
            LowPass::Tustin(tau) => {
                let (tau, gap) = (2.0 * tau.as_secs(), gap.as_secs());
                (tau - gap) / (tau + gap)
            }
        }
    }

    /// The longest gap without a sample.
    fn patience(self) -> Option<Span> {
        match self {
            LowPass::Constant(_) => None,
            LowPass::Tustin(tau) => Some(Span((tau.0 / Self::SAMPLES_IN_TAU).max(1))),
        }
    }
}

/// The rate, with one sample per acknowledgement.
#[derive(Clone, Debug)]
pub struct PerAck {
    filter: LowPass,
    counted: AckedCount,
    /// Arrival of the last acknowledgement that gave a sample, and time of the last sample, which may be a sample of
    /// zero.
    acked_at: Option<Time>,
    sampled_at: Time,
    /// Segments of acknowledgements that arrived at the instant of the previous one.
    waiting: u32,
    sample: f64,
    rate: f64,
}

impl PerAck {
    /// The state before the first acknowledgement.
    #[must_use]
    pub fn new(filter: LowPass) -> PerAck {
        PerAck {
            filter,
            counted: AckedCount::default(),
            acked_at: None,
            sampled_at: Time::ZERO,
            waiting: 0,
            sample: 0.0,
            rate: 0.0,
        }
    }

    /// An acknowledgement arrived.
    #[inline]
    pub fn on_ack(&mut self, now: Time, progress: Progress) {
        let segments = self.counted.count(progress);
        let Some(before) = self.acked_at else {
            (self.acked_at, self.sampled_at) = (Some(now), now);
            return;
        };
        self.waiting += segments;
        if now > before {
            self.silence(now);
            let sample = f64::from(std::mem::take(&mut self.waiting)) / (now - before).as_secs();
            self.take(sample, now);
            self.acked_at = Some(now);
        }
    }

    /// The rate at `now`.
    #[must_use]
    pub fn at(&mut self, now: Time) -> f64 {
        if self.acked_at.is_some() {
            self.silence(now);
        }
        self.rate
    }

    /// Fills the time since the last sample with samples of zero, if the filter requires them.
    fn silence(&mut self, now: Time) {
        let Some(patience) = self.filter.patience() else { return };
        let missing = now.since(self.sampled_at).0.saturating_sub(1) / patience.0;
        let skipped = missing.saturating_sub(LowPass::ENOUGH);
        self.sampled_at = self.sampled_at.after(patience * skipped);
        for _ in skipped..missing {
            self.take(0.0, self.sampled_at.after(patience));
        }
    }

    fn take(&mut self, sample: f64, at: Time) {
        let old = self.filter.coefficient(at.since(self.sampled_at));
        self.rate = old * self.rate + (1.0 - old) * (sample + self.sample) / 2.0;
        self.sample = sample;
        self.sampled_at = at;
    }
}

/// The rate, with one sample per round trip.
#[derive(Clone, Debug)]
pub struct PerRoundTrip {
    least: Span,
    counted: AckedCount,
    began: Option<Time>,
    segments: u32,
    /// The values of the two filters.
    filtered: Option<[f64; 2]>,
}

impl PerRoundTrip {
    /// Share of the old value that each filter keeps.
    const KEPT: f64 = 0.875;

    /// The state before the first acknowledgement; no sample is shorter than `least`.
    #[must_use]
    pub fn new(least: Span) -> PerRoundTrip {
        PerRoundTrip { least, counted: AckedCount::default(), began: None, segments: 0, filtered: None }
    }

    /// An acknowledgement arrived; `rtt` is the round trip, if known.
    #[inline]
    pub fn on_ack(&mut self, now: Time, progress: Progress, rtt: Option<Span>) {
        let segments = self.counted.count(progress);
        let Some(began) = self.began else {
            self.began = Some(now);
            return;
        };
        if let Some(rtt) = rtt
            && now.since(began) > rtt.max(self.least)
        {
            let segments = f64::from(std::mem::take(&mut self.segments));
            self.take(segments / (now - began).as_secs());
            self.began = Some(now);
        }
        self.segments += segments;
    }

    /// The first sample initialises both filters.
    fn take(&mut self, sample: f64) {
        let keep = |old: f64, new: f64| Self::KEPT * old + (1.0 - Self::KEPT) * new;
        let [first, second] = self.filtered.unwrap_or([sample; 2]);
        let first = keep(first, sample);
        self.filtered = Some([first, keep(second, first)]);
    }

    /// The rate, after the first sample.
    #[must_use]
    pub fn rate(&self) -> Option<f64> {
        self.filtered.map(|[_, second]| second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time(Span::from_millis(ms).0)
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
    }

    #[test]
    fn what_duplicates_stood_for_is_not_counted_again() {
        let mut count = AckedCount::default();
        let (duplicate, advance) = (Progress::Duplicate, Progress::Recovering);
        for (progress, counted) in [
            // Delayed acknowledgements report two segments.
            (Progress::Open(1), 1),
            (Progress::Open(2), 2),
            // One hole followed by three segments.
            (duplicate, 1),
            (duplicate, 1),
            (duplicate, 1),
            (advance(4), 1),
            // Two holes followed by three segments: the partial advance uses up two duplicates, the full one the third.
            (duplicate, 1),
            (duplicate, 1),
            (duplicate, 1),
            (advance(2), 1),
            (advance(3), 2),
            (advance(2), 2),
        ] {
            assert_eq!(count.count(progress), counted, "{progress:?} {count:?}");
        }
    }

    #[test]
    fn the_constant_filter_weighs_the_old_rate_by_alpha() {
        let mut rate = PerAck::new(LowPass::Constant(0.6));
        // Segments every 10 ms, 100 per second: 0.4 x (100 + 0) / 2 = 20; 0.6 x 20 + 0.4 x 100 = 52. Then two in 10 ms:
        // 0.6 x 52 + 0.4 x 150 = 91.2. A second without news then changes nothing.
        for (ms, progress, expected) in [
            (1000, Progress::Open(1), 0.0),
            (1010, Progress::Open(1), 20.0),
            (1020, Progress::Duplicate, 52.0),
            (1030, Progress::Open(3), 91.2),
        ] {
            rate.on_ack(at(ms), progress);
            close(rate.at(at(ms)), expected);
        }
        close(rate.at(at(5000)), 91.2);
    }

    #[test]
    fn acknowledgements_at_one_instant_make_one_sample() {
        let mut rate = PerAck::new(LowPass::Constant(0.0));
        for ms in [0, 0, 10, 10, 20] {
            rate.on_ack(at(ms), Progress::Open(1));
        }
        // Two segments in each gap of 10 ms.
        close(rate.at(at(20)), 200.0);
    }

    #[test]
    fn tustins_filter_weighs_by_the_gap() {
        let mut rate = PerAck::new(LowPass::Tustin(Span::from_millis(500)));
        rate.on_ack(at(0), Progress::Open(1));
        // One segment in 100 ms, 10 a second; a = (1 - 0.1) / (1 + 0.1) = 9/11.
        rate.on_ack(at(100), Progress::Open(1));
        close(rate.at(at(100)), 10.0 / 11.0);
        rate.on_ack(at(200), Progress::Open(1));
        close(rate.at(at(200)), 9.0 / 11.0 * 10.0 / 11.0 + 20.0 / 11.0);
    }

    #[test]
    fn tustins_filter_takes_half_a_time_constant_of_silence_for_a_sample_of_zero() {
        let mut rate = PerAck::new(LowPass::Tustin(Span::from_millis(500)));
        for ms in [0, 100] {
            rate.on_ack(at(ms), Progress::Open(1));
        }
        // At 350 and 600 ms, with a = (1 - 0.25) / (1 + 0.25) = 3/5 and previous samples of 10 and 0.
        let first = 0.6 * 10.0 / 11.0 + 0.4 * 5.0;
        close(rate.at(at(350)), 10.0 / 11.0);
        close(rate.at(at(600)), first);
        // At 700 ms three segments in 600 ms, 5 per second, 100 ms after the sample of zero.
        rate.on_ack(at(700), Progress::Open(3));
        close(rate.at(at(700)), 9.0 / 11.0 * (0.6 * first) + 5.0 / 11.0);
        assert!(rate.at(Time(u64::MAX / 2)) < 1e-20);
    }

    #[test]
    fn one_sample_a_round_trip_passes_two_filters() {
        let mut rate = PerRoundTrip::new(Span::from_millis(50));
        let mut ack = |ms: u64, rtt: u64| {
            rate.on_ack(at(ms), Progress::Open(1), Some(Span::from_millis(rtt)));
            rate.rate()
        };
        assert_eq!(ack(0, 100), None);
        // Ten more, the last of which opens the next sample: ten in 110 ms.
        for tenth in 1..=10 {
            assert_eq!(ack(tenth * 10, 100), None);
        }
        let first = 10.0 / 0.11;
        close(ack(110, 100).unwrap(), first);
        // Round trips of 20 ms are too short: the next sample ends after 50 ms, and includes the segment that opened
        // it.
        for ms in [130, 150] {
            close(ack(ms, 20).unwrap(), first);
        }
        let sample = 3.0 / 0.06;
        let once = 0.875 * first + 0.125 * sample;
        close(ack(170, 20).unwrap(), 0.875 * first + 0.125 * once);
    }
}
