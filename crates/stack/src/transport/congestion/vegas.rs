//! Vegas: keeps a few segments queued, and retransmits early by a fine-grained timer.
//!
//! **Limits.** It yields to every law that fills queues (EJTCP, 2), because it counts their segments as its own. A path
//! that becomes longer looks permanently congested ([`Backlog`]).
//!
//! **Source.** Brakmo and Peterson 1995; constants of ns-2, or of Linux if selected.
//!
//! **How.** Once per round trip, [`Backlog`] estimates the number `N` of queued segments from the mean round trip.
//! Below `alpha` the window grows by one over the next round trip; above `beta` it shrinks by one at once. Slow start
//! doubles every other round trip and ends, with the window reduced by an eighth, when `N > gamma`. The first
//! unacknowledged segment is resent at a duplicate, or at one of the first two advances after a retransmission, if it
//! is older than `srtt + 2 deviations` by an exact clock. This loss leaves three quarters of the window, or all of it
//! if the segment was sent before the last reduction.
//!
//! **Choices.** 1. The fine timer adds a sixteenth to that sum. A retransmission adds another eighth, or doubles the
//! timer if the segment was resent before, until the next sample: ns-2's reading. 2. A segment lost twice leaves half
//! the window, and a timeout two segments, as in ns-2. 3. `N` is not rounded, or rounded to a whole number as in ns-2
//! (`rounded-backlog`). 4. A round trip without a sample decides nothing. 5. Each retransmission restarts the two
//! checks, as the paper says; ns-2's do not. 6. The variant uses Reno's recovery, as in the paper: with `NewReno`'s, a
//! partial acknowledgement leaves nothing to check. 7. An acknowledgement behind a repaired hole gives no sample; ns-2
//! takes one, which includes the wait for the repair and slackens the fine timer. 8. A mark may leave one segment (RFC 3168, 6.1.2).
//!
//! **Checked by** the tests below, `crates/sim/tests/laws.rs` (the queue it keeps) and ns-2 (`papers/baselines.md`).

use super::reno::{Reno, grow};
use crate::estimate::Backlog;
use crate::hooks::parameter::{Described, Setting, parameters, words};
use crate::hooks::scoreboard::Scoreboard;
use crate::hooks::{Ack, Congestion, Loss, LossCause, LossResponse, Mark, Progress, Reduction, Window};
use crate::units::{Span, Time};

/// Minimum window, and the window with which slow start begins, in segments.
const LEAST_WINDOW: f64 = 2.0;

/// A threshold that no window is below, so that there is no slow start.
const AVOIDANCE: f64 = 2.0;

/// Share of the window left at the end of slow start.
const SLOW_START_SHARE: f64 = 0.875;

/// Share of the window left after a loss, and after a second loss of the same segment.
const LOSS_SHARE: f64 = 0.75;
const SECOND_LOSS_SHARE: f64 = 0.5;

/// Number of advances after a retransmission that are checked.
const CHECKED: u32 = 2;

/// The constants of Vegas, in segments queued.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VegasConfig {
    /// The window grows below it.
    pub alpha: f64,
    /// The window shrinks above it.
    pub beta: f64,
    /// Slow start ends above it.
    pub gamma: f64,
    /// Whether the number compared with them is rounded to whole segments.
    pub rounded: bool,
}

impl VegasConfig {
    /// ns-2's.
    pub const NS2: VegasConfig = VegasConfig { alpha: 1.0, beta: 3.0, gamma: 1.0, rounded: false };
    /// Linux's.
    pub const LINUX: VegasConfig = VegasConfig { alpha: 2.0, beta: 4.0, gamma: 1.0, rounded: false };
}

impl Default for VegasConfig {
    fn default() -> VegasConfig {
        VegasConfig::NS2
    }
}

/// The source of the constants.
const SOURCE: &str = "ns-2: tcp-vegas.cc; Linux: tcp_vegas.c";

/// The sets of constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Constants {
    Ns2,
    Linux,
}

words! { Constants: Ns2 = "ns-2", Linux = "linux" }

/// A constant in segments queued.
impl Described for VegasConfig {
    parameters! {
        /// set of alpha, beta and gamma: 1, 3 and 1, or 2, 4 and 1
        "constants": Words("set of constants") = (
            |law| if law.alpha == VegasConfig::LINUX.alpha { Constants::Linux } else { Constants::Ns2 },
            |law, constants| {
                let set = match constants {
                    Constants::Ns2 => VegasConfig::NS2,
                    Constants::Linux => VegasConfig::LINUX,
                };
                *law = VegasConfig { rounded: law.rounded, ..set };
            },
        );
        /// queued segments below which the window grows
        "alpha": Number = alpha, at_least("0"), at_most("1000000"), follows("constants", "linux", Setting::Number(2.0)),
            source(SOURCE);
        /// queued segments above which the window shrinks
        "beta": Number = beta, at_least("0"), at_most("1000000"), follows("constants", "linux", Setting::Number(4.0)),
            source(SOURCE);
        /// queued segments above which slow start ends
        "gamma": Number = gamma, at_least("0"), at_most("1000000"), source(SOURCE);
        /// whether the number of queued segments is rounded before the comparison
        "rounded-backlog": Flag = rounded, follows("tcp.profile", "ns2-2004", Setting::Flag(true)),
            source("ns-2: tcp-vegas.cc; Brakmo and Peterson 1995");
    }

    fn conflict(&self) -> Option<(&'static str, String)> {
        let VegasConfig { alpha, beta, .. } = self;
        (alpha > beta).then(|| ("alpha", format!("{alpha} is above beta, {beta}; expected no more")))
    }
}

/// The change of the window at each acknowledgement of the current round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Course {
    Grow,
    Hold,
}

/// The state of Vegas.
#[derive(Clone, Debug)]
pub struct Vegas {
    config: VegasConfig,
    backlog: Backlog,
    timer: FineTimer,
    /// The sum of the round trips measured in the current one, and their number.
    sampled: (Span, u64),
    /// The round trip ends when the first byte sent after it began is acknowledged.
    round_end: u64,
    course: Course,
    /// Whether slow start doubled in the last round trip.
    doubled: bool,
    /// When the window was last reduced for a loss.
    reduced_at: Option<Time>,
    /// Advances since the last retransmission.
    advances: u32,
    /// Segments below this number were outstanding at a timeout and are left to it.
    timed_out_below: Option<u64>,
}

impl Vegas {
    /// The state at the start of a connection.
    #[must_use]
    pub fn new(config: &VegasConfig) -> Vegas {
        Vegas {
            config: *config,
            backlog: Backlog::default(),
            timer: FineTimer::default(),
            sampled: (Span::ZERO, 0),
            round_end: 0,
            course: Course::Hold,
            doubled: true,
            reduced_at: None,
            advances: CHECKED,
            timed_out_below: None,
        }
    }

    /// A round trip has ended: determines the course of the window.
    fn decide(&mut self, window: &mut Window) {
        let (sum, samples) = std::mem::take(&mut self.sampled);
        self.course = Course::Hold;
        if samples == 0 {
            return;
        }
        let mut queued = self.backlog.queued(window.cwnd, Span(sum.0 / samples));
        if self.config.rounded {
            queued = libm::floor(queued + 0.5);
        }
        if window.in_slow_start() {
            self.doubled = !self.doubled;
            if !self.doubled {
                return;
            }
            if queued > self.config.gamma {
                window.ssthresh = AVOIDANCE;
                window.cwnd = (window.cwnd * SLOW_START_SHARE).max(LEAST_WINDOW);
            } else {
                self.course = Course::Grow;
            }
        } else if queued > self.config.beta {
            window.cwnd = (window.cwnd - 1.0).max(LEAST_WINDOW);
        } else if queued < self.config.alpha {
            self.course = Course::Grow;
        }
    }
}

impl Congestion for Vegas {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.backlog.learn(rtt);
            self.timer.sample(rtt);
            self.sampled.0 += rtt;
            self.sampled.1 += 1;
        }
        if ack.progress == Progress::Duplicate {
            return;
        }
        self.advances = self.advances.saturating_add(1);
        if ack.una > self.round_end {
            self.decide(window);
            self.round_end = ack.sent_end;
        }
        if let (Progress::Open(_), Course::Grow) = (ack.progress, self.course) {
            let slow_start = window.in_slow_start();
            grow(window, ack.counted);
            if slow_start && !window.in_slow_start() {
                self.course = Course::Hold;
            }
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        if loss.cause != LossCause::Duplicates {
            Reno.on_loss(loss, window);
            window.cwnd = LEAST_WINDOW;
            self.reduced_at = Some(loss.now);
            self.advances = CHECKED;
            self.timed_out_below = Some(loss.sent_end);
            return LossResponse::REDUCED;
        }
        self.advances = 0;
        self.timer.stretch(loss.times);
        if self.reduced_at.is_some_and(|at| loss.sent_at <= at) {
            return LossResponse { reduction: Reduction::Kept, ..LossResponse::REDUCED };
        }
        let share = if loss.times > 1 { SECOND_LOSS_SHARE } else { LOSS_SHARE };
        window.cwnd = (window.cwnd * share).max(LEAST_WINDOW);
        window.ssthresh = AVOIDANCE;
        self.reduced_at = Some(loss.now);
        LossResponse::REDUCED
    }

    /// A mark takes the share of a first loss, and leaves the timer alone, as nothing is sent again.
    fn on_mark(&mut self, mark: &Mark, window: &mut Window) -> Reduction {
        window.cwnd = (window.cwnd * LOSS_SHARE).max(mark.least);
        window.ssthresh = AVOIDANCE;
        self.reduced_at = Some(mark.now);
        Reduction::Reduced
    }

    #[inline]
    fn is_overdue(&self, ack: &Ack, board: &Scoreboard) -> bool {
        if ack.progress != Progress::Duplicate && self.advances > CHECKED {
            return false;
        }
        let head = board.get(board.base());
        self.timed_out_below.is_none_or(|below| head.start > below)
            && self.timer.has_passed(ack.now.since(head.at))
    }
}

/// The fine-grained retransmission timeout.
#[derive(Clone, Copy, Debug, Default)]
struct FineTimer {
    srtt: Option<Span>,
    deviation: Span,
    timeout: Span,
}

impl FineTimer {
    fn sample(&mut self, rtt: Span) {
        let (srtt, deviation) = match self.srtt {
            None => (rtt.0, rtt.0 / 2),
            Some(Span(srtt)) => ((7 * srtt + rtt.0) / 8, (3 * self.deviation.0 + srtt.abs_diff(rtt.0)) / 4),
        };
        self.srtt = Some(Span(srtt));
        self.deviation = Span(deviation);
        let sum = srtt + 2 * deviation;
        self.timeout = Span(sum + sum / 16);
    }

    /// A segment that was sent `times` times before was resent.
    fn stretch(&mut self, times: u8) {
        let more = if times > 1 { self.timeout.0 } else { self.timeout.0 / 8 };
        self.timeout = Span(self.timeout.0.saturating_add(more));
    }

    fn has_passed(&self, age: Span) -> bool {
        self.srtt.is_some() && age >= self.timeout
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::scoreboard::Scoreboard;
    use crate::hooks::testing::{ack, after, loss};

    const MS: fn(u64) -> Time = |ms| Time(Span::from_millis(ms).0);

    /// Vegas on a path of 100 ms, at the end of a round trip that took `rtt` on average.
    fn vegas(constants: &VegasConfig, rtt: u64) -> Vegas {
        let mut vegas = Vegas::new(constants);
        vegas.backlog.learn(Span::from_millis(100));
        vegas.sampled = (Span::from_millis(rtt) * 3, 3);
        vegas
    }

    #[test]
    fn the_window_grows_below_alpha_and_shrinks_above_beta() {
        // Queued of 20: 20 x 5 / 105 = 0.95; x 10 / 110 = 1.82; x 12 / 112 = 2.14; x 17 / 117 = 2.91; x 18 / 118 =
        // 3.05; x 25 / 125 = 4.00; x 26 / 126 = 4.13.
        let (grow, hold) = ((20.0, Course::Grow), (20.0, Course::Hold));
        let less = (19.0, Course::Hold);
        for (rtt, ns2, linux) in [
            (105, grow, grow),
            (110, hold, grow),
            (112, hold, hold),
            (117, hold, hold),
            (118, less, hold),
            (125, less, hold),
            (126, less, less),
        ] {
            for (constants, expected) in [(&VegasConfig::NS2, ns2), (&VegasConfig::LINUX, linux)] {
                let mut window = Window::new(20.0, Some(2.0), 100.0);
                let mut vegas = vegas(constants, rtt);
                vegas.decide(&mut window);
                assert_eq!(
                    (window.cwnd, vegas.course),
                    expected,
                    "{rtt} ms with the constants of {constants:?}"
                );
            }
        }
    }

    #[test]
    fn a_rounded_backlog_is_compared_as_a_whole_number() {
        // Queued of 20, in avoidance: 20 x 2 / 102 = 0.39, 20 x 5 / 105 = 0.95, 20 x 18 / 118 = 3.05,
        // 20 x 21 / 121 = 3.47, 20 x 22 / 122 = 3.61.
        let rounded = VegasConfig { rounded: true, ..VegasConfig::NS2 };
        for (rtt, cwnd, course) in [
            (102, 20.0, Course::Grow),
            (105, 20.0, Course::Hold),
            (118, 20.0, Course::Hold),
            (121, 20.0, Course::Hold),
            (122, 19.0, Course::Hold),
        ] {
            let mut window = Window::new(20.0, Some(2.0), 100.0);
            let mut vegas = vegas(&rounded, rtt);
            vegas.decide(&mut window);
            assert_eq!((window.cwnd, vegas.course), (cwnd, course), "{rtt} ms");
        }
        // Slow start with a window of 16 continues at 16 x 10 / 110 = 1.45 and ends at 16 x 11 / 111 = 1.59.
        for (rtt, cwnd, course) in [(110, 16.0, Course::Grow), (111, 14.0, Course::Hold)] {
            let mut window = Window::new(16.0, None, 100.0);
            let mut vegas = vegas(&rounded, rtt);
            vegas.doubled = false;
            vegas.decide(&mut window);
            assert_eq!((window.cwnd, vegas.course), (cwnd, course), "{rtt} ms");
        }
    }

    #[test]
    fn slow_start_doubles_every_other_round_trip_until_more_than_gamma_is_queued() {
        let mut window = Window::new(2.0, None, 100.0);
        let mut vegas = Vegas::new(&VegasConfig::default());
        let (mut una, mut seen) = (0, Vec::new());
        for _ in 0..6 {
            let flight = window.cwnd as u64;
            for acked in 1..=flight {
                let sent_end = una + flight;
                vegas.on_ack(
                    &Ack { una: una + acked, sent_end, ..after(100, Progress::Open(1)) },
                    &mut window,
                );
            }
            una += flight;
            seen.push(window.cwnd);
        }
        assert_eq!(seen, [2.0, 4.0, 4.0, 8.0, 8.0, 16.0]);
        // 16 x 7 / 107 = 1.05 queued, but only the second of two round trips may end it.
        for (expected, ssthresh) in [(16.0, 100.0), (14.0, 2.0)] {
            vegas.sampled = (Span::from_millis(107), 1);
            vegas.decide(&mut window);
            assert_eq!((window.cwnd, window.ssthresh, vegas.course), (expected, ssthresh, Course::Hold));
        }
    }

    #[test]
    fn a_loss_leaves_three_quarters_and_one_sent_before_that_nothing_less() {
        let mut window = Window::new(20.0, Some(2.0), 100.0);
        let mut vegas = Vegas::new(&VegasConfig::default());
        for (now, sent_at, times, left, reduction) in [
            (300, 190, 1, 15.0, Reduction::Reduced),
            (350, 195, 1, 15.0, Reduction::Kept),
            (500, 300, 2, 15.0, Reduction::Kept),
            (700, 500, 3, 7.5, Reduction::Reduced),
            (900, 750, 1, 5.625, Reduction::Reduced),
        ] {
            let lost = Loss { now: MS(now), sent_at: MS(sent_at), times, ..loss(LossCause::Duplicates, 20) };
            let response = vegas.on_loss(&lost, &mut window);
            assert_eq!((window.cwnd, response.reduction), (left, reduction), "at {now} ms");
            assert!(!window.in_slow_start());
        }
    }

    #[test]
    fn a_timeout_halves_ssthresh_and_starts_from_two_segments() {
        let mut window = Window::new(20.0, Some(2.0), 100.0);
        Vegas::new(&VegasConfig::default()).on_loss(&loss(LossCause::Timeout, 20), &mut window);
        assert_eq!((window.cwnd, window.ssthresh), (2.0, 10.0));
    }

    #[test]
    fn the_fine_timer_is_the_smoothed_round_trip_two_deviations_and_a_sixteenth() {
        let mut timer = FineTimer::default();
        assert!(!timer.has_passed(Span::from_secs(100)));
        // 100 + 2 x 50 = 200; then 100 + 2 x 37.5 = 175.
        for us in [212_500, 185_937] {
            timer.sample(Span::from_millis(100));
            assert_eq!(timer.timeout.0 / 1000, us);
        }
        timer.stretch(1);
        assert_eq!(timer.timeout.0 / 1000, 209_179);
        timer.stretch(2);
        assert_eq!(timer.timeout.0 / 1000, 418_359);
    }

    #[test]
    fn duplicates_and_the_first_two_advances_after_a_retransmission_look_at_the_age_of_the_head() {
        let mut window = Window::new(20.0, Some(2.0), 100.0);
        let mut vegas = Vegas::new(&VegasConfig::default());
        let mut board = Scoreboard::default();
        board.push(100, false, MS(1000));
        let at = |ms, progress| Ack { now: MS(ms), ..ack(progress) };
        vegas.on_ack(&after(100, Progress::Open(1)), &mut window);
        // The timer is set to 212.5 ms.
        let advance = at(1300, Progress::Open(1));
        assert!(!vegas.is_overdue(&at(1212, Progress::Duplicate), &board));
        assert!(vegas.is_overdue(&at(1213, Progress::Duplicate), &board));
        assert!(!vegas.is_overdue(&advance, &board));
        vegas.on_loss(&loss(LossCause::Duplicates, 20), &mut window);
        for overdue in [true, true, false] {
            vegas.on_ack(&advance, &mut window);
            assert_eq!(vegas.is_overdue(&advance, &board), overdue);
        }
        vegas.on_loss(&Loss { sent_end: 100, ..loss(LossCause::Timeout, 20) }, &mut window);
        assert!(!vegas.is_overdue(&at(1300, Progress::Duplicate), &board), "the timeout has resent it");
    }
}
