//! `ProbeBW`: DOWN, CRUISE, REFILL and UP, and the long-term bound (5.3.3).

use super::{Bbr3, LEAST_WINDOW, Sample, State};
use crate::hooks::Window;
use crate::units::{Span, Time};

/// Least growth of the bound, as segments acknowledged for each segment more (5.3.3.9).
const FASTEST: f64 = 1.0;
/// Rounds after which the growth doubles no more (5.3.3.9).
const MOST_DOUBLINGS: u32 = 30;

/// What acknowledgements say about a probe (2.14).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Feedback {
    /// Not probing.
    #[default]
    None,
    Refilling,
    Starting,
    Arriving,
    Stopping,
}

/// The state of the cycle (2.14).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cycle {
    pub(super) feedback: Feedback,
    /// Whether samples and losses are of a probe that was not answered yet (`is_bw_probe_sample`).
    pub(super) is_probe: bool,
    /// Rounds since the last probe (`rounds_since_probe_up`).
    pub(super) rounds: u64,
    since: Time,
    wait: Span,
    acked: f64,
    /// Segments acknowledged for each segment that the bound grows by; infinite if it does not.
    per_segment: f64,
    doublings: u32,
    pub(super) was_too_high: bool,
    pub(super) was_precautionary: bool,
    pub(super) probes: u64,
}

impl Bbr3 {
    /// 5.3.3.9: `PickProbeWait`.
    fn pick_wait(&mut self) {
        self.cycle.rounds = u64::from(self.draw() & 1);
        let spread = (u128::from(self.config.probe_spread.0) * u128::from(self.draw())) >> 32;
        self.cycle.wait = self.config.probe_wait + Span(spread as u64);
    }

    pub(super) fn start_down(&mut self, now: Time) {
        self.reset_signals();
        self.cycle.per_segment = f64::INFINITY;
        self.pick_wait();
        self.cycle.since = now;
        self.cycle.feedback = Feedback::Stopping;
        self.start_round();
        self.state = State::Down;
    }

    pub(super) fn start_cruise(&mut self) {
        self.state = State::Cruise;
    }

    pub(super) fn start_refill(&mut self) {
        self.losses.bounds.forget_short_term();
        (self.cycle.doublings, self.cycle.acked) = (0, 0.0);
        self.cycle.was_precautionary = false;
        self.cycle.feedback = Feedback::Refilling;
        self.start_round();
        self.state = State::Refill;
    }

    fn start_up(&mut self, sample: &Sample) {
        self.cycle.feedback = Feedback::Starting;
        self.start_round();
        self.full.reset(sample.rate.unwrap_or(0.0));
        self.state = State::Up;
        self.cycle.probes += 1;
        self.raise_slope();
    }

    /// 5.3.3.9: `UpdateProbeBWCyclePhase`.
    pub(super) fn update_cycle(&mut self, sample: &Sample, window: &Window) {
        if !self.full.reached || self.adapt_long_term(sample, window) {
            return;
        }
        let state = self.state;
        match state {
            State::Down if !self.probes_again(sample.now) && self.is_time_to_cruise(sample) => {
                self.start_cruise();
            }
            State::Cruise => {
                self.probes_again(sample.now);
            }
            State::Refill if self.rounds.starts => {
                self.cycle.is_probe = true;
                self.start_up(sample);
            }
            State::Up if self.is_time_to_go_down(sample, window) => {
                self.cycle.was_too_high = false;
                self.start_down(sample.now);
            }
            _ => {}
        }
    }

    /// 5.3.3.8.3: `IsTimeToProbeBW`.
    pub(super) fn probes_again(&mut self, now: Time) -> bool {
        let most = f64::from(self.config.reno_rounds);
        let is_reno = self.cycle.rounds as f64 >= self.target_inflight().min(most);
        let is_due = is_reno || now > self.cycle.since.after(self.cycle.wait);
        if is_due {
            self.start_refill();
        }
        is_due
    }

    fn is_time_to_cruise(&self, sample: &Sample) -> bool {
        sample.pipe <= self.inflight_with_headroom() && sample.pipe <= self.inflight(self.max_bw(), 1.0)
    }

    /// 5.3.3.7.
    fn is_time_to_go_down(&mut self, sample: &Sample, window: &Window) -> bool {
        let longterm = self.losses.bounds.longterm;
        if self.cycle.was_too_high && sample.pipe >= longterm {
            self.cycle.was_precautionary = true;
            return true;
        }
        if self.is_window_limited() && window.cwnd >= longterm {
            self.full.reset(sample.rate.unwrap_or(0.0));
            return false;
        }
        self.full.now
    }

    /// 5.3.3.9.
    pub(super) fn inflight_with_headroom(&self) -> f64 {
        let longterm = self.losses.bounds.longterm;
        if longterm == f64::INFINITY {
            return longterm;
        }
        (longterm - (self.config.headroom * longterm).max(1.0)).max(LEAST_WINDOW)
    }

    fn raise_slope(&mut self) {
        let growth = f64::from(1_u32 << self.cycle.doublings);
        self.cycle.doublings = (self.cycle.doublings + 1).min(MOST_DOUBLINGS);
        self.cycle.per_segment = (self.cwnd / growth).max(FASTEST);
    }

    /// 5.3.3.9: `ProbeInflightLongtermUpward`.
    fn probe_upward(&mut self, sample: &Sample, window: &Window) {
        if !self.is_window_limited() || window.cwnd < self.losses.bounds.longterm {
            return;
        }
        self.cycle.acked += sample.newly;
        let more = libm::floor(self.cycle.acked / self.cycle.per_segment);
        if more >= 1.0 {
            self.cycle.acked -= more * self.cycle.per_segment;
            self.losses.bounds.longterm += more;
        }
        if self.rounds.starts {
            self.raise_slope();
        }
    }

    /// 5.3.3.9: whether it has decided on a state.
    fn adapt_long_term(&mut self, sample: &Sample, window: &Window) -> bool {
        if self.rounds.starts && self.cycle.feedback == Feedback::Starting {
            self.cycle.feedback = Feedback::Arriving;
        }
        if self.rounds.starts && self.cycle.feedback == Feedback::Stopping {
            self.cycle.is_probe = false;
            self.cycle.feedback = Feedback::None;
            if self.state.is_probe_bw() {
                if !sample.sending.app_limited {
                    self.advance_max_bw();
                }
                if self.cycle.was_precautionary && !self.cycle.was_too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        let longterm = &mut self.losses.bounds.longterm;
        if self.config.is_too_high(sample.sending) || *longterm == f64::INFINITY {
            return false;
        }
        *longterm = longterm.max(f64::from(sample.sending.in_flight));
        if self.state == State::Up {
            self.probe_upward(sample, window);
        }
        false
    }
}
