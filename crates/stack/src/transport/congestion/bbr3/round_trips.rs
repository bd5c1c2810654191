//! The least round trip, and `ProbeRTT` (5.3.4).

use super::cycle::Feedback;
use super::{Bbr3, LEAST_WINDOW, Sample, State};
use crate::hooks::Window;
use crate::units::{Span, Time};

/// The filters of round trips (2.16).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundTrips {
    /// `BBR.min_rtt`.
    pub(super) min: Option<Span>,
    min_at: Time,
    /// `BBR.probe_rtt_min_delay`.
    recent: Option<Span>,
    recent_at: Time,
    is_expired: bool,
    /// The least of the connection, for the sampler.
    pub(super) least: Option<Span>,
    /// When `ProbeRTT` may end, once its window was reached, and whether a round has passed since.
    done_at: Option<Time>,
    is_round_done: bool,
    pub(super) probes: u64,
}

impl RoundTrips {
    /// 5.2.1.
    pub(super) fn begin(&mut self, now: Time, srtt: Option<Span>) {
        *self = RoundTrips { min: srtt, min_at: now, recent_at: now, ..RoundTrips::default() };
    }
}

impl Bbr3 {
    /// 5.3.4.3: `UpdateMinRTT`.
    pub(super) fn update_min_rtt(&mut self, sample: &Sample) {
        let (now, trips) = (sample.now, &mut self.round_trips);
        trips.is_expired = now > trips.recent_at.after(self.config.probe_rtt_interval);
        if let Some(rtt) = sample.rtt {
            trips.least = Some(trips.least.map_or(rtt, |least| least.min(rtt)));
            if trips.is_expired || trips.recent.is_none_or(|recent| rtt < recent) {
                (trips.recent, trips.recent_at) = (Some(rtt), now);
            }
        }
        let is_old = now > trips.min_at.after(self.config.rtt_window);
        if let Some(recent) = trips.recent
            && (is_old || trips.min.is_none_or(|min| recent < min))
        {
            (trips.min, trips.min_at) = (Some(recent), trips.recent_at);
        }
    }

    /// 5.3.4.3: `CheckProbeRTT`.
    pub(super) fn check_probe_rtt(&mut self, sample: &Sample, window: &mut Window) {
        if self.state != State::ProbeRtt && self.round_trips.is_expired && !self.restarts {
            self.save_window(window);
            self.state = State::ProbeRtt;
            self.round_trips.probes += 1;
            self.round_trips.done_at = None;
            self.cycle.feedback = Feedback::Stopping;
            self.start_round();
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(sample, window);
        }
        self.restarts = false;
    }

    fn handle_probe_rtt(&mut self, sample: &Sample, window: &mut Window) {
        // Low rates are not those of the path.
        self.sampler.limit(((sample.pipe * self.segment) as u64).max(1));
        if self.round_trips.done_at.is_none() {
            if sample.pipe <= self.probe_rtt_window() {
                self.round_trips.done_at = Some(sample.now.after(self.config.probe_rtt_time));
                self.round_trips.is_round_done = false;
                self.start_round();
            }
            return;
        }
        self.round_trips.is_round_done |= self.rounds.starts;
        if self.round_trips.is_round_done {
            self.check_probe_rtt_done(sample.now, window);
        }
    }

    /// 5.3.4.3 and 5.3.4.4.
    pub(super) fn check_probe_rtt_done(&mut self, now: Time, window: &mut Window) {
        if self.round_trips.done_at.is_none_or(|done| now <= done) {
            return;
        }
        self.round_trips.recent_at = now;
        self.restore_window(window);
        self.losses.bounds.forget_short_term();
        if self.full.reached {
            self.start_down(now);
            self.start_cruise();
        } else {
            self.state = State::Startup;
        }
    }

    /// 5.6.4.5.
    pub(super) fn probe_rtt_window(&self) -> f64 {
        self.product(self.bw, self.config.probe_rtt_gain).max(LEAST_WINDOW)
    }
}
