//! CUBIC: the window follows a cubic function of the time since the last loss.
//!
//! **Limits.** Every loss counts as congestion.
//!
//! **Source.** RFC 9438, whose sections the comments cite.
//!
//! **How.** `W(t) = C (t - K)^3 + W_max`, `K = cbrt((W_max - cwnd_epoch) / C)`: steep up to the window of the last
//! loss, flat around it, steep beyond. Where Reno would be faster (small windows, short round trips), an estimate of
//! Reno's window applies. A loss leaves `beta` of what is outstanding.
//!
//! **Choices.** 1. The window grows with what an acknowledgement counts for ([`Ack::counted`]), in slow start by that
//! amount (4.2, RFC 5681). The estimate of Reno's window counts segments in any case (4.3), at most a window per
//! acknowledgement. 2. Time during which something other than the window limits the sender does not count (5.8). This
//! is idle time, from the last acknowledgement to the next segment, and the time between acknowledgements that find the
//! window not full. 3. A stage begins where slow start ends, also where the window has fallen after an idle time, with
//! the window of the last loss as it was. 4. A mark may leave one segment (4.6). 5. Under the profile `modern` it is
//! Linux's, in integers and with times of the kernel's clock (`cubic/linux.rs`). It then departs from the RFC. The
//! estimate of Reno's window grows as slowly above the window of the last loss as below it (4.3 lets alpha be 1 there).
//! The curve looks ahead by the least round trip and not by the smoothed one (4.2). Before a first loss the window
//! grows by at least a twentieth a round trip. A timeout forgets the window before it. A loss leaves beta of the window
//! and not of what is outstanding. A stage lasts from loss to loss, and idle time counts from the last segment sent. A
//! reduction that was not needed begins a stage nevertheless.
//!
//! **Checked by** the tests below, on numbers computed by hand from the formula.

mod linux;

use super::reno::{LOSS_WINDOW, slow_start};
use crate::hooks::parameter::{Described, parameters};
use crate::hooks::{Ack, Congestion, Departure, Loss, LossCause, LossResponse, Progress, SlowStart, Window};
use crate::units::{Span, Time};
use linux::Linux;

/// Least ssthresh, in segments (4.6).
const MIN_SSTHRESH: f64 = 2.0;
/// The most that one round trip may add, as a factor of the window (4.2).
const MOST_GROWTH: f64 = 1.5;

/// The constants of CUBIC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicConfig {
    /// How steep it is, in segments per second cubed (C).
    pub c: f64,
    /// What a loss leaves of the window (beta).
    pub beta: f64,
    /// Whether a flow whose window falls gives room to others faster (4.7).
    pub fast_convergence: bool,
    /// A tick of the clock of Linux's, which is a whole part of a second.
    pub tick: Span,
    /// Whether it is Linux's where that departs from the RFC, which the profile of the endpoint says.
    pub as_linux: bool,
}

impl Default for CubicConfig {
    fn default() -> CubicConfig {
        let tick = Span::from_millis(4);
        CubicConfig { c: 0.4, beta: 0.7, fast_convergence: true, tick, as_linux: false }
    }
}

impl Described for CubicConfig {
    parameters! {
        /// scaling constant C, in segments per second cubed
        "c": Number = c, above("0"), at_most("1000000"), source("RFC 9438 (5)");
        /// factor by which a loss multiplies the window
        "beta": Number = beta, above("0"), at_most("1"), source("RFC 9438 (4.6)");
        /// whether a flow whose window decreases releases bandwidth faster (fast convergence)
        "fast-convergence": Flag = fast_convergence, source("RFC 9438 (4.7)");
        /// tick of the kernel's clock by which Linux's CUBIC counts time
        "tick": Time("ms") = tick, at_least("1 ms"), at_most("10 ms"), source("CONFIG_HZ=250");
    }
}

/// The present stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    begin: Time,
    /// Seconds from its begin until the window of the last loss is reached again.
    k: f64,
    /// The window that Reno would have (`W_est`).
    reno: f64,
}

/// The state of CUBIC.
#[derive(Clone, Debug)]
pub struct Cubic {
    config: CubicConfig,
    w_max: f64,
    /// The window before the last loss (`cwnd_prior`).
    prior: f64,
    epoch: Option<Epoch>,
    /// The stage that begins next grows from where it is: there is no loss to come back to.
    from_here: bool,
    /// The last acknowledgement, or the end of an idle time since.
    last: Time,
    /// The law of Linux instead.
    linux: Option<Linux>,
    /// `w_max`, `prior` and the stage before the last reduction.
    before: Option<(f64, f64, Option<Epoch>)>,
}

impl Cubic {
    /// At the start of a connection.
    #[must_use]
    pub fn new(config: &CubicConfig) -> Cubic {
        Cubic {
            config: *config,
            w_max: 0.0,
            prior: 0.0,
            epoch: None,
            from_here: true,
            last: Time::ZERO,
            linux: config.as_linux.then(|| Linux::new(config)),
            before: None,
        }
    }

    /// The window `seconds` into the stage (figure 1 of the RFC).
    fn curve(&self, k: f64, seconds: f64) -> f64 {
        let from_plateau = seconds - k;
        self.config.c * from_plateau * from_plateau * from_plateau + self.w_max
    }

    /// The time since the last acknowledgement does not count (5.8).
    fn leave_out(&mut self, now: Time) {
        if let Some(epoch) = &mut self.epoch {
            epoch.begin = epoch.begin.after(now.since(self.last));
        }
        self.last = now;
    }

    fn begin(&mut self, now: Time, window: &Window) -> Epoch {
        if std::mem::take(&mut self.from_here) || self.w_max < window.cwnd {
            self.w_max = window.cwnd;
        }
        let k = libm::cbrt((self.w_max - window.cwnd) / self.config.c);
        Epoch { begin: now, k, reno: window.cwnd }
    }

    /// Segments by which Reno's window grows for each acknowledged, times the window (4.3).
    fn alpha(&self, reno: f64) -> f64 {
        let beta = self.config.beta;
        if reno >= self.prior { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) }
    }

    /// Grows for `acked` segments, of which the curve counts `counted`.
    fn avoid(&mut self, ack: &Ack, acked: f64, counted: f64, window: &mut Window) {
        let mut epoch = match self.epoch {
            Some(epoch) => epoch,
            None => self.begin(ack.now, window),
        };
        let elapsed = ack.now.since(epoch.begin).as_secs();
        let rtt = ack.srtt.unwrap_or(Span::ZERO).as_secs();
        epoch.reno += self.alpha(epoch.reno) * acked / window.cwnd;
        self.epoch = Some(epoch);
        let cwnd = window.cwnd;
        let each = |growth: f64| growth / cwnd * counted.min(cwnd);
        if self.curve(epoch.k, elapsed) < epoch.reno {
            window.cwnd = epoch.reno;
            return;
        }
        let target = self.curve(epoch.k, elapsed + rtt).clamp(cwnd, MOST_GROWTH * cwnd);
        window.cwnd += each(target - cwnd);
    }
}

impl Congestion for Cubic {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(linux) = &mut self.linux {
            if let Some(rtt) = ack.rtt {
                linux.see(rtt, ack.now);
            }
            if let Progress::Open(_) = ack.progress {
                let left = slow_start(window, ack.counted);
                if left > 0 {
                    let every = linux.pace(ack.now, left, window);
                    window.grow(left, every as f64);
                }
            }
            return;
        }
        let was_slow = window.in_slow_start();
        if was_slow {
            self.epoch = None;
        }
        match ack.progress {
            Progress::Open(acked) => {
                let left = slow_start(window, ack.counted);
                if left > 0 {
                    // An acknowledgement of data that a hole had held back counts as one window at most.
                    let acked = if was_slow { left } else { acked };
                    self.avoid(ack, f64::from(acked).min(window.cwnd), f64::from(left), window);
                }
            }
            Progress::Unlimited(_) => self.leave_out(ack.now),
            Progress::Recovering(_) | Progress::Duplicate => {}
        }
        self.last = ack.now;
    }

    fn on_sent(&mut self, departure: &Departure) {
        if let Some(linux) = &mut self.linux {
            linux.on_sent(departure.now);
        }
    }

    fn on_restart(&mut self, now: Time, _: &mut Window) {
        match &mut self.linux {
            Some(linux) => linux.on_restart(now),
            None => self.leave_out(now),
        }
    }

    fn slow_start(&self, asked: SlowStart) -> SlowStart {
        asked
    }

    /// RFC 9438 (4.9). Linux restores nothing.
    fn on_undo(&mut self, _: &mut Window) {
        if let Some((w_max, prior, epoch)) = self.before.take() {
            (self.w_max, self.prior, self.epoch) = (w_max, prior, epoch);
            self.from_here = epoch.is_none();
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        let is_first = loss.cause != LossCause::RepeatedTimeout;
        if let Some(linux) = &mut self.linux {
            if is_first {
                window.ssthresh = linux.on_reduction(window);
            }
            if loss.cause == LossCause::Duplicates {
                window.cwnd = window.ssthresh;
            } else {
                linux.reset();
                window.cwnd = LOSS_WINDOW;
            }
            return LossResponse::REDUCED;
        }
        let mut left = window.cwnd;
        if is_first {
            self.before = Some((self.w_max, self.prior, self.epoch));
            let falling = self.config.fast_convergence && window.cwnd < self.w_max;
            let share = if falling { f64::midpoint(1.0, self.config.beta) } else { 1.0 };
            self.w_max = share * window.cwnd;
            self.prior = window.cwnd;
            left = self.config.beta * loss.base.segments();
            window.ssthresh = left.max(MIN_SSTHRESH);
        }
        self.epoch = None;
        // The stage after the slow start that follows a timeout begins on the plateau (4.8).
        self.from_here = loss.cause != LossCause::Duplicates;
        window.cwnd = if self.from_here { LOSS_WINDOW } else { left.max(loss.least) };
        LossResponse::REDUCED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::testing::{ack, loss, mark};

    fn at(seconds: f64, rtt_ms: u64) -> Ack {
        Ack {
            now: Time::ZERO.after(Span::from_secs_f64(seconds)),
            srtt: Some(Span::from_millis(rtt_ms)),
            ..ack(Progress::Open(1))
        }
    }

    /// CUBIC after a loss at 100 segments: 70 are left.
    fn after_loss() -> (Cubic, Window) {
        let mut cubic = Cubic::new(&CubicConfig::default());
        let mut window = Window::new(100.0, Some(50.0), 10_000.0);
        cubic.on_loss(&loss(LossCause::Duplicates, 100), &mut window);
        assert_eq!((window.cwnd, window.ssthresh, cubic.w_max), (70.0, 70.0, 100.0));
        (cubic, window)
    }

    #[test]
    fn the_curve_is_that_of_rfc_9438() {
        let (mut cubic, mut window) = after_loss();
        cubic.on_ack(&at(0.0, 0), &mut window);
        let k = cubic.epoch.expect("a stage").k;
        // K = cbrt(30 / 0.4) = 4.21716...
        assert!((k - 4.217_163_326_508_746).abs() < 1e-9, "{k}");
        // W(0) = 0.4 (-K)^3 + 100 = 70; W(2) = 0.4 (-2.217)^3 + 100; W(K) = 100; W(K + 5) = 0.4 x 125 + 100.
        for (t, expected) in [(0.0, 70.0), (2.0, 95.640_6), (k, 100.0), (k + 5.0, 150.0)] {
            assert!((cubic.curve(k, t) - expected).abs() < 1e-3, "W({t}) = {}", cubic.curve(k, t));
        }
    }

    #[test]
    fn a_round_trip_of_acknowledgements_brings_the_window_to_the_curve_one_round_trip_on() {
        let (mut cubic, mut window) = after_loss();
        cubic.on_ack(&at(0.0, 1000), &mut window);
        // Five windows of acknowledgements at 2 s with a round trip of 1 s: W(3) = 0.4 (3 - K)^3 + 100 = 99.28.
        for _ in 0..450 {
            cubic.on_ack(&at(2.0, 1000), &mut window);
        }
        assert!((window.cwnd - 99.28).abs() < 0.3, "{}", window.cwnd);
    }

    #[test]
    fn on_short_paths_it_grows_as_reno_would_with_its_beta() {
        let (mut cubic, mut window) = after_loss();
        // Rounds of 1 ms: the cubic curve hardly moves in 100 ms, Reno's estimate grows by 0.529 a round.
        for round in 0..100_u32 {
            for _ in 0..70 {
                cubic.on_ack(&at(f64::from(round) / 1000.0, 1), &mut window);
            }
        }
        let alpha = 3.0 * 0.3 / 1.7;
        let estimate = cubic.epoch.expect("a stage").reno;
        assert_eq!(window.cwnd, estimate);
        // Each round adds alpha x 70 / cwnd.
        assert!(window.cwnd > 70.0 + 60.0 * alpha && window.cwnd < 70.0 + 100.0 * alpha, "{}", window.cwnd);
    }

    #[test]
    fn fast_convergence_remembers_less_when_the_window_falls() {
        let (mut cubic, mut window) = after_loss();
        window.cwnd = 80.0;
        cubic.on_loss(&loss(LossCause::Duplicates, 80), &mut window);
        // 80 x (1 + 0.7) / 2 = 68.
        assert_eq!((window.cwnd, cubic.w_max), (56.0, 68.0));
        let config = CubicConfig { fast_convergence: false, ..CubicConfig::default() };
        let mut cubic = Cubic { w_max: 100.0, ..Cubic::new(&config) };
        window.cwnd = 80.0;
        cubic.on_loss(&loss(LossCause::Duplicates, 80), &mut window);
        assert_eq!(cubic.w_max, 80.0);
    }

    #[test]
    fn the_estimate_of_renos_window_grows_as_renos_does_above_the_old_window() {
        let cubic = Cubic { prior: 50.0, ..Cubic::new(&CubicConfig::default()) };
        assert!((cubic.alpha(49.0) - 3.0 * 0.3 / 1.7).abs() < 1e-12);
        assert_eq!(cubic.alpha(50.0), 1.0);
    }

    #[test]
    fn idle_time_does_not_count_though_the_first_acknowledgement_after_it_finds_the_window_full() {
        let (mut cubic, mut window) = after_loss();
        cubic.on_ack(&at(0.0, 100), &mut window);
        cubic.on_restart(at(60.0, 100).now, &mut window);
        // 70 acknowledgements half a second into the stage: W(0.6) = 0.4 (0.6 - K)^3 + 100 = 81.1 at most.
        for _ in 0..70 {
            cubic.on_ack(&at(60.5, 100), &mut window);
        }
        assert!(window.cwnd > 75.0 && window.cwnd < 81.2, "{}", window.cwnd);
    }

    #[test]
    fn a_stage_begins_with_the_window_at_which_slow_start_ends() {
        let (mut cubic, mut window) = after_loss();
        for ms in 0..2000 {
            cubic.on_ack(&at(f64::from(ms) / 1000.0, 1), &mut window);
        }
        assert!(cubic.epoch.expect("a stage").reno > 80.0);
        // An idle time brings the initial window back; the threshold stays.
        (window.cwnd, window.ssthresh) = (10.0, 40.0);
        for segment in 0..31 {
            cubic.on_ack(&at(4.0 + f64::from(segment) / 1000.0, 1), &mut window);
        }
        let stage = cubic.epoch.expect("a stage");
        assert!(window.cwnd < 40.1 && stage.reno < 40.1, "{} {}", window.cwnd, stage.reno);
        // K = cbrt((100 - 40) / 0.4): it comes back to the window of the loss.
        assert!((stage.k - 5.313_292_845_913_056).abs() < 1e-9, "{}", stage.k);
    }

    #[test]
    fn a_mark_may_leave_one_segment_and_the_threshold_has_two() {
        let mut cubic = Cubic::new(&CubicConfig::default());
        let mut window = Window::new(2.0, Some(2.0), 10_000.0);
        for left in [1.4, 1.0] {
            cubic.on_mark(&mark(window.cwnd as u32), &mut window);
            assert_eq!((window.cwnd, window.ssthresh), (left, 2.0));
        }
    }

    #[test]
    fn after_a_timeout_the_stage_begins_on_the_plateau() {
        let (mut cubic, mut window) = after_loss();
        cubic.on_loss(&loss(LossCause::Timeout, 70), &mut window);
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 49.0));
        window.cwnd = 49.0;
        cubic.on_ack(&at(10.0, 100), &mut window);
        assert_eq!((cubic.epoch.expect("a stage").k, cubic.w_max), (0.0, 49.0));
    }

    #[test]
    fn a_reduction_that_was_not_needed_leaves_the_curve_as_it_was() {
        let (mut cubic, mut window) = after_loss();
        cubic.on_ack(&at(0.0, 100), &mut window);
        let k = cubic.epoch.expect("a stage").k;
        cubic.on_loss(&loss(LossCause::Timeout, 70), &mut window);
        assert!(cubic.w_max < 100.0);
        cubic.on_undo(&mut window);
        assert_eq!((cubic.w_max, cubic.epoch.expect("a stage").k), (100.0, k));
    }

    /// RFC 9438 (4.8): the stage after the slow start that follows a timeout.
    #[test]
    fn a_loss_in_slow_start_that_is_undone_leaves_the_stage_to_begin_where_the_window_is() {
        let (mut cubic, mut window) = after_loss();
        cubic.on_loss(&loss(LossCause::Timeout, 70), &mut window);
        window.cwnd = 40.0;
        cubic.on_loss(&loss(LossCause::Duplicates, 40), &mut window);
        cubic.on_undo(&mut window);
        (window.cwnd, window.ssthresh) = (49.0, 49.0);
        cubic.on_ack(&at(9.0, 100), &mut window);
        assert_eq!((cubic.epoch.expect("a stage").k, cubic.w_max), (0.0, 49.0));
    }

    #[test]
    fn time_without_data_to_send_does_not_count() {
        let (mut cubic, mut window) = after_loss();
        cubic.on_ack(&at(0.0, 100), &mut window);
        cubic.on_ack(&Ack { progress: Progress::Unlimited(1), ..at(60.0, 100) }, &mut window);
        cubic.on_ack(&at(60.1, 100), &mut window);
        assert!(window.cwnd < 75.0, "{}", window.cwnd);
    }
}
