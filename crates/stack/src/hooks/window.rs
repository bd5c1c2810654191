//! The congestion window, owned by the sender and edited by the law.

use crate::units::Rate;

/// The congestion window, owned by the sender and edited by a [`Congestion`](super::Congestion) law. Unit: segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
    /// Most segments released by one acknowledgement, if the law sets a limit.
    pub burst_limit: Option<u32>,
    /// Payload bits per second at which segments leave, if the law spaces them.
    pub pacing: Option<Rate>,
    /// Bytes that leave at once where segments are spaced: as many as begin within it. Zero spaces single segments.
    pub quantum: u32,
    /// Upper end of `cwnd`: the scenario's window limit.
    pub limit: f64,
    /// Segments acknowledged towards the next one, if the window is a whole number, as Linux's (`snd_cwnd_cnt`).
    pub credit: Option<u32>,
}

impl Window {
    /// Least congestion window and, doubled, least threshold.
    pub(super) const LEAST: f64 = 1.0;

    /// A window of `initial` segments that never exceeds `limit`.
    #[must_use]
    pub fn new(initial: f64, ssthresh: Option<f64>, limit: f64) -> Window {
        let mut window = Window {
            cwnd: initial,
            ssthresh: ssthresh.unwrap_or(limit),
            burst_limit: None,
            pacing: None,
            quantum: 0,
            limit,
            credit: None,
        };
        window.clamp();
        window
    }

    /// Whether the window is below the slow-start threshold.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The window with what a recovery adds to it or takes from it: at least one segment.
    #[must_use]
    pub fn inflated(&self, inflation: f64) -> f64 {
        (self.cwnd + inflation).max(Self::LEAST)
    }

    /// Grows by one segment for each `every` acknowledged: by shares of a segment, or if all of it is acknowledged.
    #[inline]
    pub fn grow(&mut self, acked: u32, every: f64) {
        let Some(credit) = &mut self.credit else {
            self.cwnd += f64::from(acked) / every;
            return;
        };
        let every = (every as u32).max(1);
        if *credit >= every {
            *credit = 0;
            self.cwnd += 1.0;
        }
        *credit += acked;
        self.cwnd += f64::from(*credit / every);
        *credit %= every;
    }

    /// A whole window loses its share of a segment and its credit: it was reduced.
    pub fn round(&mut self) {
        if let Some(credit) = &mut self.credit {
            *credit = 0;
            self.cwnd = libm::floor(self.cwnd);
            self.ssthresh = libm::floor(self.ssthresh);
        }
    }

    /// Holds the window within its bounds; the sender calls it after each edit, so a law need not.
    pub fn clamp(&mut self) {
        self.cwnd = self.cwnd.clamp(Self::LEAST, self.limit);
        self.ssthresh = self.ssthresh.max(2.0 * Self::LEAST);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_stays_between_one_segment_and_its_limit_and_the_threshold_above_two() {
        let mut window = Window::new(50.0, None, 20.0);
        assert_eq!((window.cwnd, window.ssthresh), (20.0, 20.0));
        (window.cwnd, window.ssthresh) = (0.3, 1.0);
        window.clamp();
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 2.0));
        assert!(window.in_slow_start());
    }

    #[test]
    fn the_initial_threshold_is_the_limit_unless_it_is_given() {
        for (given, ssthresh) in [(None, 20.0), (Some(8.0), 8.0), (Some(64.0), 64.0), (Some(0.5), 2.0)] {
            assert_eq!(Window::new(4.0, given, 20.0).ssthresh, ssthresh);
        }
        let window = Window::new(4.0, None, 20.0);
        assert_eq!((window.burst_limit, window.pacing), (None, None));
    }

    #[test]
    fn a_whole_window_grows_by_a_segment_once_a_window_is_acknowledged() {
        let mut window = Window { credit: Some(0), ..Window::new(3.0, Some(2.0), 20.0) };
        let sizes: Vec<f64> = (0..7)
            .map(|_| {
                window.grow(1, window.cwnd);
                window.cwnd
            })
            .collect();
        assert_eq!(sizes, [3.0, 3.0, 4.0, 4.0, 4.0, 4.0, 5.0]);
        // Six credited at once: one for each three.
        window.grow(7, 3.5);
        assert_eq!((window.cwnd, window.credit), (7.0, Some(1)));
        // What has been credited for a larger window counts once.
        window.credit = Some(9);
        window.grow(1, 4.0);
        assert_eq!((window.cwnd, window.credit), (8.0, Some(1)));
        (window.cwnd, window.ssthresh) = (5.6, 5.6);
        window.round();
        assert_eq!((window.cwnd, window.ssthresh, window.credit), (5.0, 5.0, Some(0)));
    }

    #[test]
    fn slow_start_ends_at_the_threshold() {
        for (cwnd, slow) in [(7.9, true), (8.0, false), (8.1, false)] {
            assert_eq!(Window::new(cwnd, Some(8.0), 20.0).in_slow_start(), slow, "{cwnd}");
        }
    }

    #[test]
    fn inflation_may_exceed_the_limit_and_deflation_leaves_one_segment() {
        let window = Window::new(10.0, None, 10.0);
        assert_eq!(window.inflated(3.0), 13.0);
        assert_eq!(window.inflated(-9.5), 1.0);
        assert_eq!(window.cwnd, 10.0);
    }
}
