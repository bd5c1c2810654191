//! Slow start, congestion avoidance and halving (RFC 5681).
//!
//! **Limits.** Every loss counts as congestion.
//!
//! **Source.** RFC 5681, 3.1 and equation (4); RFC 3465, where growth counts segments.
//!
//! **How.** Below ssthresh the window grows by one segment for each that counts, above it by `1/cwnd`; what an acknowledgement
//! counts for is the sender's choice ([`Ack::counted`]). A loss sets
//! `ssthresh = max(flight / 2, 2)`; the window follows it, or falls to one segment after a timeout. If the scenario
//! says so, the window is halved instead of the flight ([`LossBase`](crate::hooks::LossBase)).
//!
//! **Choices.** 1. Halves are real numbers: a flight of 11 gives 5.5. 2. A repeated timeout of the same segment does
//! not change ssthresh, as RFC 5681 (3.1, after equation 4) requires. 3. Under the profile `modern` the window is a whole number
//! ([`Window::credit`]): it grows when all of it is acknowledged, by a sixth faster at three segments.
//!
//! **Checked by** the tests below, `tests/scripts` and the PFTK comparison.

use crate::hooks::{Ack, Congestion, Loss, LossCause, LossResponse, Progress, SlowStart, Window};

/// Least ssthresh, in segments (RFC 5681, equation 4).
const MIN_SSTHRESH: f64 = 2.0;

/// The loss window, in segments (RFC 5681, 3.1).
pub(super) const LOSS_WINDOW: f64 = 1.0;

/// The standard law; it needs no state of its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reno;

/// Slow start below ssthresh, for `counted` segments; returns how many of them are left at ssthresh.
#[inline]
pub(crate) fn slow_start(window: &mut Window, counted: u32) -> u32 {
    if !window.in_slow_start() {
        return counted;
    }
    let room = libm::ceil(window.ssthresh - window.cwnd);
    let grown = f64::from(counted).min(room);
    window.cwnd += grown;
    counted - grown as u32
}

/// Slow start below ssthresh, congestion avoidance above it, for `counted` acknowledged segments.
#[inline]
pub(crate) fn grow(window: &mut Window, counted: u32) {
    let left = slow_start(window, counted);
    if left > 0 {
        window.grow(left, window.cwnd);
    }
}

impl Congestion for Reno {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Progress::Open(_) = ack.progress {
            grow(window, ack.counted);
        }
    }

    #[inline]
    fn growth(&self) -> Option<fn(&mut Window, u32)> {
        Some(grow)
    }

    /// Linux's `HyStart` is CUBIC's.
    fn slow_start(&self, asked: SlowStart) -> SlowStart {
        if asked == SlowStart::HyStart { SlowStart::Standard } else { asked }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        let half = loss.base.segments() / 2.0;
        if loss.cause != LossCause::RepeatedTimeout {
            window.ssthresh = half.max(MIN_SSTHRESH);
        }
        window.cwnd = match loss.cause {
            LossCause::Duplicates => half.max(loss.least),
            LossCause::Timeout | LossCause::RepeatedTimeout => LOSS_WINDOW,
        };
        LossResponse::REDUCED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::LossBase;
    use crate::hooks::testing::{ack, loss};

    #[test]
    fn slow_start_adds_one_and_avoidance_one_over_cwnd() {
        let mut window = Window::new(2.0, Some(4.0), 100.0);
        for expected in [3.0, 4.0, 4.25, 4.25 + 1.0 / 4.25] {
            Reno.on_ack(&ack(Progress::Open(1)), &mut window);
            assert!((window.cwnd - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn an_acknowledgement_may_count_for_several_segments_and_ends_slow_start_at_the_threshold() {
        let mut window = Window::new(2.0, Some(4.5), 100.0);
        let two = Ack { counted: 2, ..ack(Progress::Open(2)) };
        // Two in slow start; then one to the threshold and one beyond it.
        for expected in [4.0, 5.0 + 1.0 / 5.0] {
            Reno.on_ack(&two, &mut window);
            assert!((window.cwnd - expected).abs() < 1e-12, "{}", window.cwnd);
        }
        let before = window.cwnd;
        Reno.on_ack(&two, &mut window);
        assert!((window.cwnd - before - 2.0 / before).abs() < 1e-12);
    }

    #[test]
    fn only_open_progress_lets_the_window_grow() {
        let mut window = Window::new(2.0, None, 100.0);
        for progress in [Progress::Duplicate, Progress::Recovering(3), Progress::Unlimited(1)] {
            Reno.on_ack(&ack(progress), &mut window);
        }
        assert_eq!(window, Window::new(2.0, None, 100.0));
    }

    #[test]
    fn a_loss_halves_the_flight_and_a_timeout_leaves_one_segment() {
        let mut window = Window::new(11.0, Some(8.0), 100.0);
        Reno.on_loss(&loss(LossCause::Duplicates, 11), &mut window);
        assert_eq!((window.cwnd, window.ssthresh), (5.5, 5.5));
        Reno.on_loss(&loss(LossCause::Timeout, 3), &mut window);
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 2.0));
    }

    #[test]
    fn the_window_itself_is_halved_where_it_is_the_base_and_may_fall_to_one_segment() {
        for (cwnd, left, ssthresh) in [(11.5, 5.75, 5.75), (3.0, 1.5, 2.0), (1.5, 1.0, 2.0)] {
            let mut window = Window::new(cwnd, Some(8.0), 100.0);
            let base = LossBase::Window(window.cwnd);
            Reno.on_loss(
                &Loss { base, least: base.least_window(), ..loss(LossCause::Duplicates, 40) },
                &mut window,
            );
            assert_eq!((window.cwnd, window.ssthresh), (left, ssthresh));
        }
    }

    #[test]
    fn a_repeated_timeout_leaves_ssthresh_alone() {
        let mut window = Window::new(20.0, Some(40.0), 100.0);
        Reno.on_loss(&loss(LossCause::Timeout, 20), &mut window);
        Reno.on_loss(&loss(LossCause::RepeatedTimeout, 1), &mut window);
        assert_eq!(window.ssthresh, 10.0);
    }
}
