//! Pace, quantum and window from the model (5.6).

use super::{Bbr3, LEAST_WINDOW, Sample, State};
use crate::hooks::Window;
use crate::units::{Rate, Span};

/// Round trip before one is known, for the first pace (5.6.2).
const FIRST_RTT: Span = Span::from_millis(1);
/// Bounds of a quantum: bytes, and segments (5.6.3).
const MOST_QUANTUM: f64 = 65_536.0;
const LEAST_QUANTUM: f64 = 2.0;
/// Quanta in flight for what hosts gather (5.5.8.1).
const QUANTA: f64 = 3.0;

impl Bbr3 {
    /// 5.6.2: the first window over the round trip; over a short one until there is a sample that is not zero.
    pub(super) fn set_first_pace(&mut self, srtt: Option<Span>, window: &mut Window) {
        let srtt = srtt.filter(|srtt| *srtt > Span::ZERO);
        self.knows_rtt = srtt.is_some();
        let rate = self.initial / srtt.unwrap_or(FIRST_RTT).as_secs();
        window.pacing = Some(Rate((8.0 * self.segment * self.config.startup_gain * rate) as u64));
    }

    /// 5.6.2: until the pipe was full the pace never falls.
    pub(super) fn set_pace(&self, gain: f64, window: &mut Window) {
        let bits = 8.0 * self.segment * gain * self.bw * (1.0 - self.config.margin);
        let rate = Rate(bits as u64);
        if rate.0 > 0 && (self.full.reached || window.pacing.is_none_or(|pacing| rate.0 > pacing.0)) {
            window.pacing = Some(rate);
        }
    }

    /// 5.6.3.
    pub(super) fn set_quantum(&mut self, window: &mut Window) {
        if self.config.quantum == Span::ZERO {
            self.losses.quantum = 1.0;
            return;
        }
        let rate = window.pacing.map_or(0.0, |rate| rate.0 as f64 / 8.0);
        let bytes = (rate * self.config.quantum.as_secs()).min(MOST_QUANTUM);
        let bytes = bytes.max(LEAST_QUANTUM * self.segment);
        self.losses.quantum = bytes / self.segment;
        window.quantum = bytes as u32;
    }

    /// 5.6.4.6.
    pub(super) fn set_window(&mut self, sample: &Sample, window: &mut Window) {
        let gain = self.gains().1;
        let most = self.product(self.bw, gain) + self.aggregation.extra();
        let most = self.with_budget(most, self.losses.quantum);
        let first = self.sampler.delivered() as f64 / self.segment < self.initial;
        if self.full.reached {
            window.cwnd = (window.cwnd + sample.newly).min(most);
        } else if window.cwnd < most || first {
            window.cwnd += sample.newly;
        }
        window.cwnd = window.cwnd.max(LEAST_WINDOW);
        if self.state == State::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_window());
        }
        window.cwnd = window.cwnd.min(self.cap().max(LEAST_WINDOW));
    }

    /// 5.6.4.7.
    pub(super) fn cap(&self) -> f64 {
        let longterm = match self.state {
            State::Down | State::Refill | State::Up => self.losses.bounds.longterm,
            State::Cruise | State::ProbeRtt => self.inflight_with_headroom(),
            State::Startup | State::Drain => f64::INFINITY,
        };
        longterm.min(self.losses.bounds.shortterm)
    }

    /// 5.6.4.2: `BDPMultiple`.
    pub(super) fn product(&self, bw: f64, gain: f64) -> f64 {
        self.round_trips.min.map_or(self.initial, |rtt| gain * bw * rtt.as_secs())
    }

    pub(super) fn bdp(&self) -> f64 {
        self.product(self.bw, 1.0)
    }

    /// 5.6.4.2: `QuantizationBudget`.
    pub(super) fn with_budget(&self, volume: f64, quantum: f64) -> f64 {
        let more = if self.state == State::Up { 2.0 } else { 0.0 };
        volume.max(QUANTA * quantum).max(LEAST_WINDOW) + more
    }

    pub(super) fn inflight(&self, bw: f64, gain: f64) -> f64 {
        self.with_budget(self.product(bw, gain), self.losses.quantum)
    }

    /// 5.3.3.9.
    pub(super) fn target_inflight(&self) -> f64 {
        self.bdp().min(self.cwnd)
    }

    /// 5.6.4.4.
    pub(super) fn save_window(&mut self, window: &Window) {
        let is_modulated = self.losses.recovering.is_some() || self.state == State::ProbeRtt;
        self.prior = if is_modulated { self.prior.max(window.cwnd) } else { window.cwnd };
    }

    pub(super) fn restore_window(&mut self, window: &mut Window) {
        window.cwnd = window.cwnd.max(self.prior);
    }
}
