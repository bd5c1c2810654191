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
//! **Choices.** 1. The window grows with what an acknowledgement counts for ([`Ack::counted`]), in slow start by that (4.2,
//! RFC 5681); the estimate of Reno's window counts segments in any case (4.3), at most a window per acknowledgement. 2. Time during which
//! something other than the window limits the sender does not count (5.8). 3. Under the profile `modern` it is Linux's where that
//! departs from the RFC: the estimate of Reno's window grows as slowly above the window of the last loss as below it (4.3 lets
//! alpha be 1 there), the curve looks ahead by the least round trip and not by the smoothed one (4.2), the window grows by a
//! twentieth a round trip at least before a first loss, and a timeout forgets the window before it. It then counts in whole
//! segments (`tcp_cubic.c`: `cnt`, `ack_cnt`), and while the window stays as it is, how fast it grows is computed once in 31 ms.
//!
//! **Checked by** the tests below, on numbers computed by hand from the formula.

use super::reno::slow_start;
use crate::hooks::parameter::{Described, Domain, Parameter, Setting};
use crate::hooks::{Ack, Congestion, Loss, LossCause, LossResponse, Progress, SlowStart, Window};
use crate::units::{Span, Time};

/// Least ssthresh, in segments (4.6).
const MIN_SSTHRESH: f64 = 2.0;
/// The most that one round trip may add, as a factor of the window (4.2).
const MOST_GROWTH: f64 = 1.5;

/// Segments acknowledged for each by which Linux's window grows: at most before a first loss, at least, and, times the window,
/// where the curve is flat.
const MOST_BEFORE_LOSS: f64 = 20.0;
const LEAST_FOR_ONE: f64 = 2.0;
const FLAT: f64 = 100.0;
/// How long Linux keeps that number while the window stays as it is (a second by 32).
const KEPT: Span = Span::from_micros(31_250);

/// The constants of CUBIC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CubicConfig {
    /// How steep it is, in segments per second cubed (C).
    pub c: f64,
    /// What a loss leaves of the window (beta).
    pub beta: f64,
    /// Whether a flow whose window falls gives room to others faster (4.7).
    pub fast_convergence: bool,
    /// Whether it is Linux's where that departs from the RFC, which the profile of the endpoint says.
    pub as_linux: bool,
}

impl Default for CubicConfig {
    fn default() -> CubicConfig {
        CubicConfig { c: 0.4, beta: 0.7, fast_convergence: true, as_linux: false }
    }
}

impl Described for CubicConfig {
    const PARAMETERS: &'static [Parameter<CubicConfig>] = &[
        Parameter::<Self>::new(
            "c",
            Domain::Number,
            "scaling constant C, in segments per second cubed",
            |law| Setting::Number(law.c),
            |law, value| law.c = value.number(),
        )
        .source("RFC 9438 (5)")
        .above("0")
        .at_most("1000000"),
        Parameter::<Self>::new(
            "beta",
            Domain::Number,
            "factor by which a loss multiplies the window",
            |law| Setting::Number(law.beta),
            |law, value| law.beta = value.number(),
        )
        .source("RFC 9438 (4.6)")
        .above("0")
        .at_most("1"),
        Parameter::<Self>::new(
            "fast-convergence",
            Domain::Flag,
            "whether a flow whose window decreases releases bandwidth faster (fast convergence)",
            |law| Setting::Flag(law.fast_convergence),
            |law, value| law.fast_convergence = value.flag(),
        )
        .source("RFC 9438 (4.7)"),
    ];
}

/// The present stage of congestion avoidance.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    begin: Time,
    /// Seconds from its begin until the window of the last loss is reached again.
    k: f64,
    /// The window that Reno would have (`W_est`).
    reno: f64,
    /// Segments acknowledged that this window has not grown by yet, in Linux's.
    credit: f64,
}

/// Segments acknowledged for each by which Linux's window grows, for which window, and when it was computed.
#[derive(Clone, Copy, Debug)]
struct Pace {
    every: f64,
    cwnd: f64,
    at: Time,
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
    last: Time,
    least_rtt: Option<Span>,
    pace: Option<Pace>,
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
            least_rtt: None,
            pace: None,
            before: None,
        }
    }

    /// The window `seconds` into the stage (figure 1 of the RFC).
    fn curve(&self, k: f64, seconds: f64) -> f64 {
        let from_plateau = seconds - k;
        self.config.c * from_plateau * from_plateau * from_plateau + self.w_max
    }

    fn begin(&mut self, now: Time, window: &Window) -> Epoch {
        if std::mem::take(&mut self.from_here) || self.w_max < window.cwnd {
            self.w_max = window.cwnd;
        }
        let k = libm::cbrt((self.w_max - window.cwnd) / self.config.c);
        Epoch { begin: now, k, reno: window.cwnd, credit: 0.0 }
    }

    /// Segments by which Reno's window grows for each acknowledged, times the window (4.3).
    fn alpha(&self, reno: f64) -> f64 {
        let beta = self.config.beta;
        if reno >= self.prior && !self.config.as_linux { 1.0 } else { 3.0 * (1.0 - beta) / (1.0 + beta) }
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

    /// The number of acknowledged segments per segment of growth in Linux, at an acknowledgement of `acked`.
    fn pace_of_linux(&mut self, now: Time, acked: f64, window: &Window) -> f64 {
        let cwnd = libm::floor(window.cwnd);
        let mut epoch = match self.epoch {
            Some(epoch) => Epoch { credit: epoch.credit + acked, ..epoch },
            None => Epoch { credit: acked, ..self.begin(now, window) },
        };
        if let Some(pace) = self.pace.filter(|pace| pace.cwnd == cwnd && now.since(pace.at) <= KEPT) {
            self.epoch = Some(epoch);
            return pace.every;
        }
        let ahead = now.since(epoch.begin).as_secs() + self.least_rtt.unwrap_or(Span::ZERO).as_secs();
        let target = libm::floor(self.curve(epoch.k, ahead));
        let mut every = if target > cwnd { libm::floor(cwnd / (target - cwnd)) } else { FLAT * cwnd };
        // Before a first loss, and after a timeout.
        if self.prior == 0.0 {
            every = every.min(MOST_BEFORE_LOSS);
        }
        let for_reno = libm::floor(cwnd / self.alpha(epoch.reno)).max(1.0);
        while epoch.credit > for_reno {
            epoch.credit -= for_reno;
            epoch.reno += 1.0;
        }
        if epoch.reno > cwnd {
            every = every.min(libm::floor(cwnd / (epoch.reno - cwnd)));
        }
        self.epoch = Some(epoch);
        every = every.max(LEAST_FOR_ONE);
        self.pace = Some(Pace { every, cwnd, at: now });
        every
    }
}

impl Congestion for Cubic {
    fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Some(rtt) = ack.rtt.filter(|_| self.config.as_linux) {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        match ack.progress {
            Progress::Open(acked) => {
                let was_slow = window.in_slow_start();
                let left = slow_start(window, ack.counted);
                if left > 0 && self.config.as_linux {
                    let every = self.pace_of_linux(ack.now, f64::from(left), window);
                    window.grow(left, every);
                } else if left > 0 {
                    // An acknowledgement of data that a hole had held back counts as one window at most.
                    let acked = if was_slow { left } else { acked };
                    self.avoid(ack, f64::from(acked).min(window.cwnd), f64::from(left), window);
                }
            }
            Progress::Unlimited(_) => {
                if let Some(epoch) = &mut self.epoch {
                    epoch.begin = epoch.begin.after(ack.now.since(self.last));
                }
            }
            Progress::Recovering(_) | Progress::Duplicate => {}
        }
        self.last = ack.now;
    }

    fn slow_start(&self, asked: SlowStart) -> SlowStart {
        asked
    }

    /// RFC 9438 (4.9).
    fn on_undo(&mut self, _: &mut Window) {
        if let Some((w_max, prior, epoch)) = self.before.take() {
            (self.w_max, self.prior, self.epoch) = (w_max, prior, epoch);
            self.from_here = epoch.is_none();
        }
    }

    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse {
        if loss.cause != LossCause::RepeatedTimeout {
            self.before = Some((self.w_max, self.prior, self.epoch));
        }
        self.epoch = None;
        self.pace = None;
        if loss.cause != LossCause::RepeatedTimeout {
            let falling = self.config.fast_convergence && window.cwnd < self.w_max;
            let share = if falling { f64::midpoint(1.0, self.config.beta) } else { 1.0 };
            self.w_max = share * window.cwnd;
            self.prior = window.cwnd;
            window.ssthresh = (self.config.beta * loss.base.segments()).max(MIN_SSTHRESH);
        }
        match loss.cause {
            LossCause::Duplicates => {
                self.from_here = false;
                window.cwnd = window.ssthresh;
            }
            LossCause::Timeout | LossCause::RepeatedTimeout => {
                // The stage after slow start begins on the plateau (4.8).
                self.from_here = true;
                if self.config.as_linux {
                    (self.w_max, self.prior) = (0.0, 0.0);
                }
                window.cwnd = 1.0;
            }
        }
        LossResponse::REDUCED
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::testing::{ack, loss};

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
    fn the_estimate_of_linux_grows_as_slowly_above_the_old_window_as_below_it() {
        let alpha = 3.0 * 0.3 / 1.7;
        for (as_linux, expected) in [(false, 1.0), (true, alpha)] {
            let cubic =
                Cubic { prior: 50.0, ..Cubic::new(&CubicConfig { as_linux, ..CubicConfig::default() }) };
            assert!((cubic.alpha(49.0) - alpha).abs() < 1e-12);
            assert!((cubic.alpha(50.0) - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn linux_grows_by_a_twentieth_a_round_trip_before_a_first_loss() {
        let config = CubicConfig { as_linux: true, ..CubicConfig::default() };
        let (mut cubic, mut window) = (Cubic::new(&config), Window::new(100.0, Some(100.0), 10_000.0));
        for _ in 0..100 {
            cubic.on_ack(&at(0.001, 1), &mut window);
        }
        assert!((window.cwnd - 105.0).abs() < 0.3, "{}", window.cwnd);
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

    #[test]
    fn time_without_data_to_send_does_not_count() {
        let (mut cubic, mut window) = after_loss();
        cubic.on_ack(&at(0.0, 100), &mut window);
        cubic.on_ack(&Ack { progress: Progress::Unlimited(1), ..at(60.0, 100) }, &mut window);
        cubic.on_ack(&at(60.1, 100), &mut window);
        assert!(window.cwnd < 75.0, "{}", window.cwnd);
    }
}
