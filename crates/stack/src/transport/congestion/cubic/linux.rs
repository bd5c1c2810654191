//! CUBIC as Linux computes it (`tcp_cubic.c`): in whole segments, and with times of the kernel's clock.
//!
//! **How.** The curve is RFC 9438's, computed in integers: times in units of 1/1024 s, C as a multiple of 10/1024, beta of 1/1024.
//! Below the plateau the distance to it is rounded down, so the window to reach is rounded up; above, it is rounded
//! down. The law stores how many segments must be acknowledged for the window to grow by one. It computes this number
//! again when the window has changed or 7 ticks have passed, but the curve at most once a tick.
//!
//! **Choices.** 1. The clock ticks every 4 ms (`CONFIG_HZ=250`, as in most distributions) unless configured otherwise, from the start of
//! the run on. 2. The cubic root is exact; Linux's has an error of up to 0.1 %. 3. A C below 10/1024 counts as that.

use super::CubicConfig;
use crate::hooks::Window;
use crate::units::{Span, Time};

/// The part of a second for which the growth is kept while the window stays as it is.
const KEPT: u64 = 32;

/// The unit of beta, and of C, to the power of two.
const SHARE_BITS: u32 = 10;
const WHOLE: u64 = 1 << SHARE_BITS;
/// The unit of times on the curve, of a second, to the power of two.
const TIME_BITS: u32 = 10;
/// What C and the time cubed have together.
const CURVE_BITS: u32 = SHARE_BITS + 3 * TIME_BITS;

/// Segments acknowledged for each by which the window grows: at most before a first loss, at least, and, times the window, where
/// the curve is flat.
const MOST_BEFORE_LOSS: u64 = 20;
const LEAST_FOR_ONE: u64 = 2;
const FLAT: u64 = 100;
const MIN_SSTHRESH: u64 = 2;

/// The stage under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stage {
    /// The tick of its beginning, which idle time moves on.
    begin: u64,
    /// From there to the plateau, in units of the curve.
    k: u64,
    plateau: u64,
    /// The window that Reno would have.
    reno: u64,
}

/// The state of the law.
#[derive(Clone, Debug)]
pub(super) struct Linux {
    c: u64,
    beta: u64,
    fast_convergence: bool,
    /// A tick of the clock, and ticks of a second.
    tick: Span,
    ticks_a_second: u64,
    /// The window at the last loss, or less; zero before a first loss and after a timeout.
    w_max: u64,
    pub(super) stage: Option<Stage>,
    /// Segments acknowledged that the window of Reno has not grown by yet.
    acked: u64,
    /// The segments for one of growth, the window for which they were computed, and when.
    every: u64,
    cwnd: u64,
    at: u64,
    least_rtt: Option<Span>,
    /// When a segment was sent last.
    sent: u64,
}

fn whole(window: &Window) -> u64 {
    window.cwnd as u64
}

impl Linux {
    pub(super) fn new(config: &CubicConfig) -> Linux {
        let tenths = libm::round(config.c * WHOLE as f64 / 10.0).max(1.0);
        Linux {
            c: 10 * tenths as u64,
            beta: libm::round(config.beta * WHOLE as f64) as u64,
            fast_convergence: config.fast_convergence,
            tick: config.tick,
            ticks_a_second: Span::from_secs(1).0 / config.tick.0,
            w_max: 0,
            stage: None,
            acked: 0,
            every: LEAST_FOR_ONE,
            cwnd: 0,
            at: 0,
            least_rtt: None,
            sent: 0,
        }
    }

    /// The last tick at or before this time.
    fn ticks(&self, now: Time) -> u64 {
        now.0 / self.tick.0
    }

    /// A round trip was measured; those of the first second of a stage have the queue of the recovery in them.
    pub(super) fn see(&mut self, rtt: Span, now: Time) {
        if self.stage.is_none_or(|stage| self.ticks(now) >= stage.begin + self.ticks_a_second) {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// A segment leaves.
    pub(super) fn on_sent(&mut self, now: Time) {
        self.sent = self.ticks(now);
    }

    /// A segment is about to leave, with none in the network: the time since the last one does not count.
    pub(super) fn on_restart(&mut self, now: Time) {
        let now = self.ticks(now);
        if let Some(stage) = &mut self.stage {
            stage.begin = (stage.begin + (now - self.sent)).min(now);
        }
    }

    /// The stage that begins at this tick.
    fn begin(&self, now: u64, cwnd: u64) -> Stage {
        let plateau = self.w_max.max(cwnd);
        let cubed = u128::from(plateau - cwnd) * ((1 << CURVE_BITS) / u128::from(self.c));
        Stage { begin: now, k: libm::cbrt(cubed as f64) as u64, plateau, reno: cwnd }
    }

    /// The window that the curve has one least round trip after this tick.
    fn target(&self, stage: &Stage, now: u64) -> u64 {
        let ahead = self.least_rtt.unwrap_or_default().0.div_ceil(self.tick.0);
        let time = ((now - stage.begin + ahead) << TIME_BITS) / self.ticks_a_second;
        let off = u128::from(time.abs_diff(stage.k));
        let distance = ((u128::from(self.c) * off * off * off) >> CURVE_BITS) as u64;
        if time < stage.k {
            stage.plateau.saturating_sub(distance)
        } else {
            stage.plateau.saturating_add(distance)
        }
    }

    /// The segments for one of growth of Reno's window.
    fn for_reno(&self, cwnd: u64) -> u64 {
        let scale = (8 * (WHOLE + self.beta) / 3).checked_div(WHOLE - self.beta);
        scale.map_or(u64::MAX, |scale| cwnd * scale / 8).max(1)
    }

    /// How many segments have to be acknowledged for each by which the window grows, where `acked` are.
    pub(super) fn pace(&mut self, now: Time, acked: u32, window: &Window) -> u64 {
        let (now, cwnd) = (self.ticks(now), whole(window));
        self.acked += u64::from(acked);
        if self.cwnd == cwnd && now - self.at <= self.ticks_a_second / KEPT {
            return self.every;
        }
        let mut stage = match self.stage {
            // The curve is the same within a tick.
            Some(stage) if self.at == now => stage,
            running => {
                let stage = running.unwrap_or_else(|| {
                    self.acked = u64::from(acked);
                    self.begin(now, cwnd)
                });
                (self.cwnd, self.at) = (cwnd, now);
                let target = self.target(&stage, now);
                self.every = if target > cwnd { cwnd / (target - cwnd) } else { FLAT * cwnd };
                if self.w_max == 0 {
                    self.every = self.every.min(MOST_BEFORE_LOSS);
                }
                stage
            }
        };
        let for_one = self.for_reno(cwnd);
        while self.acked > for_one {
            self.acked -= for_one;
            stage.reno += 1;
        }
        if stage.reno > cwnd {
            self.every = self.every.min(cwnd / (stage.reno - cwnd));
        }
        self.stage = Some(stage);
        self.every = self.every.max(LEAST_FOR_ONE);
        self.every
    }

    /// A loss or a mark: the threshold that it leaves.
    pub(super) fn on_reduction(&mut self, window: &Window) -> f64 {
        let cwnd = whole(window);
        self.stage = None;
        let falls = self.fast_convergence && cwnd < self.w_max;
        self.w_max = if falls { cwnd * (WHOLE + self.beta) / (2 * WHOLE) } else { cwnd };
        (cwnd * self.beta / WHOLE).max(MIN_SSTHRESH) as f64
    }

    /// A timeout: all is forgotten.
    pub(super) fn reset(&mut self) {
        (self.w_max, self.stage, self.acked, self.least_rtt) = (0, None, 0, None);
        (self.every, self.cwnd, self.at) = (0, 0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law() -> Linux {
        Linux::new(&CubicConfig { as_linux: true, ..CubicConfig::default() })
    }

    fn window(cwnd: f64) -> Window {
        Window { credit: Some(0), ..Window::new(cwnd, Some(2.0), 10_000.0) }
    }

    fn at(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    #[test]
    fn constants_are_those_of_tcp_cubic() {
        let law = law();
        assert_eq!((law.c, law.beta), (410, 717));
        // 15/8 of the window for a segment of Reno's.
        assert_eq!([1, 8, 100].map(|cwnd| law.for_reno(cwnd)), [1, 15, 187]);
        let all = Linux::new(&CubicConfig { beta: 1.0, ..CubicConfig::default() });
        assert!(all.for_reno(100) > 1 << 40);
    }

    #[test]
    fn a_loss_leaves_717_of_1024_and_a_second_one_remembers_1741_of_2048() {
        let mut law = law();
        assert_eq!((law.on_reduction(&window(100.0)), law.w_max), (70.0, 100));
        assert_eq!((law.on_reduction(&window(80.0)), law.w_max), (56.0, 68));
        assert_eq!((law.on_reduction(&window(2.0)), law.w_max), (2.0, 1));
    }

    #[test]
    fn the_window_to_reach_is_rounded_up_below_the_plateau_and_down_above_it() {
        let mut law = law();
        law.on_reduction(&window(100.0));
        let stage = law.begin(0, 70);
        // K: the cubic root of 30 / C in seconds is 4.21587, in 1024ths 4316.97.
        assert_eq!((stage.k, stage.plateau), (4316, 100));
        // 250 ticks are 1024 units: 410/1024 x (3292/1024)^3 = 13.30 below it, and 14 whole ones are not.
        assert_eq!(law.target(&stage, 250), 100 - 13);
        // 1304 ticks are 5341 units, 1025 beyond K: 0.4015 above it. 1429 are 5853: 410/1024 x (1537/1024)^3 = 1.35.
        assert_eq!([1304, 1429].map(|tick| law.target(&stage, tick)), [100, 101]);
        // A least round trip of 10 ms is three ticks.
        law.see(Span::from_millis(10), at(0));
        assert_eq!(law.target(&stage, 247), 100 - 13);
    }

    #[test]
    fn the_curve_is_followed_once_a_tick_and_while_the_window_stays_once_in_seven() {
        let mut law = law();
        law.on_reduction(&window(1000.0));
        // 299.9 below the plateau, so that one segment is missing at once.
        assert_eq!(law.pace(at(1000), 1, &window(700.0)), 700);
        assert_eq!(law.pace(at(1028), 1, &window(700.0)), 700);
        // 8 ticks in 296.8 below it.
        assert_eq!(law.pace(at(1032), 1, &window(700.0)), 700 / 4);
        // Within the tick another window changes nothing.
        assert_eq!(law.pace(at(1035), 1, &window(704.0)), 700 / 4);
        assert_eq!(law.pace(at(1036), 1, &window(704.0)), 70_400);
    }

    #[test]
    fn with_another_clock_the_curve_is_the_same_and_is_followed_at_its_ticks() {
        let tick = Span::from_millis(1);
        let mut law = Linux::new(&CubicConfig { tick, as_linux: true, ..CubicConfig::default() });
        law.on_reduction(&window(1000.0));
        assert_eq!(law.pace(at(1000), 1, &window(700.0)), 700);
        // 31 ticks are a thirty-second of a second.
        assert_eq!(law.pace(at(1031), 1, &window(700.0)), 700);
        assert_eq!(law.pace(at(1032), 1, &window(700.0)), 700 / 4);
        assert_eq!(law.pace(at(1033), 1, &window(704.0)), 70_400);
    }

    #[test]
    fn the_window_grows_by_a_twentieth_a_round_trip_before_a_loss_and_after_a_timeout_and_by_a_half_at_most()
    {
        let mut law = law();
        assert_eq!(law.pace(at(0), 1, &window(100.0)), 20);
        law.on_reduction(&window(100.0));
        assert_eq!(law.pace(at(100), 1, &window(70.0)), 70);
        law.reset();
        assert_eq!(law.pace(at(200), 1, &window(50.0)), 20);
        // A minute later the curve is far above.
        assert_eq!(law.pace(at(60_000), 1, &window(50.0)), 2);
    }

    #[test]
    fn renos_window_grows_by_a_segment_for_15_eighths_of_the_window_and_is_reached_by_it() {
        let mut law = law();
        law.on_reduction(&window(11.0));
        // On the plateau.
        assert_eq!(law.pace(at(0), 1, &window(11.0)), 1100);
        // 11 x 15 / 8 = 20: the 21st segment gives Reno one more.
        assert_eq!(law.pace(at(32), 19, &window(11.0)), 1100);
        assert_eq!(law.pace(at(64), 1, &window(11.0)), 11);
    }

    #[test]
    fn idle_time_from_the_last_segment_on_does_not_count_and_time_in_which_little_is_sent_does() {
        let mut law = law();
        law.on_reduction(&window(100.0));
        law.pace(at(1000), 1, &window(70.0));
        law.on_sent(at(1100));
        law.on_restart(at(16_100));
        assert_eq!(law.stage.expect("a stage").begin, 250 + 3750);
        // Not beyond the present.
        law.sent = 0;
        law.on_restart(at(16_104));
        assert_eq!(law.stage.expect("a stage").begin, 4026);
    }

    #[test]
    fn round_trips_of_the_first_second_of_a_stage_are_not_looked_at() {
        let mut law = law();
        law.see(Span::from_millis(80), at(0));
        law.pace(at(0), 1, &window(70.0));
        law.see(Span::from_millis(70), at(999));
        assert_eq!(law.least_rtt, Some(Span::from_millis(80)));
        law.see(Span::from_millis(70), at(1000));
        assert_eq!(law.least_rtt, Some(Span::from_millis(70)));
    }
}
