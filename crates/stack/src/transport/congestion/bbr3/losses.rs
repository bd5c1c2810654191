//! The effects of losses and marks: short-term and long-term bounds, the end of Startup, and undo (5.5.10, 5.5.11).

use super::{Bbr3, Bbr3Config, Sample, State};
use crate::estimate::Sending;
use crate::hooks::{Mark, Window};
use crate::units::Time;

/// The bounds of rate (segments a second) and window (segments); infinite if they are not set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) bw_shortterm: f64,
    pub(super) shortterm: f64,
    pub(super) longterm: f64,
}

impl Bounds {
    const NONE: Bounds =
        Bounds { bw_shortterm: f64::INFINITY, shortterm: f64::INFINITY, longterm: f64::INFINITY };

    /// 5.5.10.3: `ResetShortTermModel`.
    pub(super) fn forget_short_term(&mut self) {
        *self = Bounds { longterm: self.longterm, ..Bounds::NONE };
    }

    fn or_greater(self, other: Bounds) -> Bounds {
        Bounds {
            bw_shortterm: self.bw_shortterm.max(other.bw_shortterm),
            shortterm: self.shortterm.max(other.shortterm),
            longterm: self.longterm.max(other.longterm),
        }
    }
}

/// What is known of losses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Losses {
    pub(super) bounds: Bounds,
    /// The quantum of the pace, in segments.
    pub(super) quantum: f64,
    /// Recovery lasts until this byte is acknowledged.
    pub(super) recovering: Option<u64>,
    /// The round in which fast recovery began.
    pub(super) fast_since: Option<u64>,
    /// The retransmission timer has fired since the last acknowledgement.
    pub(super) after_timeout: bool,
    pub(super) too_high: u64,
    /// `loss_round_delivered` and `loss_round_start`.
    round_ends: u64,
    round_starts: bool,
    is_in_round: bool,
    /// Separate ranges lost in this round, and the last number lost.
    ranges: u32,
    last: Option<u64>,
    bw_latest: f64,
    inflight_latest: f64,
    /// A loss was noted, and no recovery has ended since.
    is_episode: bool,
    /// The bounds before, and the state that losses ended (5.5.11.1).
    saved: Bounds,
    ended: Option<State>,
}

impl Default for Losses {
    fn default() -> Losses {
        Losses {
            bounds: Bounds::NONE,
            quantum: 1.0,
            recovering: None,
            fast_since: None,
            after_timeout: false,
            too_high: 0,
            round_ends: 0,
            round_starts: false,
            is_in_round: false,
            ranges: 0,
            last: None,
            bw_latest: 0.0,
            inflight_latest: 0.0,
            is_episode: false,
            saved: Bounds::NONE,
            ended: None,
        }
    }
}

impl Bbr3Config {
    /// 5.5.10.2: `IsInflightTooHigh`.
    pub(super) fn is_too_high(&self, sending: Sending) -> bool {
        sending.lost as f64 > f64::from(sending.in_flight) * self.loss_threshold
    }

    /// 5.5.10.2: what was in flight when the losses crossed the threshold, of which this one is the last (`InflightAtLoss`).
    fn inflight_at_loss(&self, sending: Sending) -> f64 {
        let inflight_before = f64::from(sending.in_flight) - 1.0;
        let lost_before = sending.lost as f64 - 1.0;
        let prefix = (self.loss_threshold * inflight_before - lost_before) / (1.0 - self.loss_threshold);
        inflight_before + prefix.max(0.0)
    }
}

impl Bbr3 {
    /// 5.5.10.3: `ResetCongestionSignals`.
    pub(super) fn reset_signals(&mut self) {
        self.losses.is_in_round = false;
        (self.losses.bw_latest, self.losses.inflight_latest) = (0.0, 0.0);
    }

    pub(super) fn update_latest_signals(&mut self, sample: &Sample) {
        let losses = &mut self.losses;
        losses.bw_latest = losses.bw_latest.max(sample.rate.unwrap_or(0.0));
        losses.inflight_latest = losses.inflight_latest.max(sample.delivered);
        losses.round_starts = sample.prior_delivered >= losses.round_ends;
        if losses.round_starts {
            losses.round_ends = self.sampler.delivered();
        }
    }

    pub(super) fn advance_latest_signals(&mut self, sample: &Sample) {
        if self.losses.round_starts {
            self.losses.bw_latest = sample.rate.unwrap_or(0.0);
            self.losses.inflight_latest = sample.delivered;
            self.losses.ranges = 0;
        }
    }

    /// 5.5.10.3: once a round.
    pub(super) fn adapt_lower_bounds(&mut self, window: &Window) {
        if !self.losses.round_starts {
            return;
        }
        let is_probing = matches!(self.state, State::Startup | State::Refill | State::Up);
        if std::mem::take(&mut self.losses.is_in_round) && !is_probing {
            let (beta, max_bw) = (self.config.beta, self.max_bw());
            let Bounds { bw_shortterm, shortterm, .. } = &mut self.losses.bounds;
            let or = |bound: f64, first: f64| if bound == f64::INFINITY { first } else { bound };
            *bw_shortterm = self.losses.bw_latest.max(beta * or(*bw_shortterm, max_bw));
            *shortterm = self.losses.inflight_latest.max(beta * or(*shortterm, window.cwnd));
        }
    }

    /// 5.3.1.3: two per cent lost in at least six ranges, a round after fast recovery began.
    pub(super) fn check_startup_losses(&mut self, sample: &Sample) {
        let is_long = self.losses.fast_since.is_some_and(|since| self.rounds.count > since);
        if self.full.reached || !self.losses.round_starts || !is_long {
            return;
        }
        if self.losses.ranges >= self.config.startup_losses && self.config.is_too_high(sample.sending) {
            self.end_startup_by_losses();
        }
    }

    fn end_startup_by_losses(&mut self) {
        self.losses.ended = Some(State::Startup);
        (self.full.reached, self.full.now) = (true, true);
        self.losses.bounds.longterm = self.bdp().max(self.losses.inflight_latest);
    }

    /// 5.5.10.2: `NoteLoss`.
    pub(super) fn note_loss(&mut self, window: &Window) {
        if !self.losses.is_in_round {
            self.losses.round_ends = self.sampler.delivered();
        }
        self.losses.is_in_round = true;
        if !self.losses.is_episode && self.losses.recovering.is_none() {
            self.losses.is_episode = true;
            self.save_window(window);
            (self.losses.saved, self.losses.ended) = (self.losses.bounds, None);
        }
    }

    /// 5.5.10.2: `HandleLostPacket`.
    pub(super) fn handle_lost(&mut self, number: u64, now: Time, window: &Window) {
        let sending = self.sampler.on_lost(number);
        self.note_loss(window);
        if self.losses.last.replace(number).is_none_or(|last| number != last + 1) {
            self.losses.ranges += 1;
        }
        if let Some(sending) = sending
            && self.cycle.is_probe
            && self.config.is_too_high(sending)
        {
            let inflight = self.config.inflight_at_loss(sending);
            self.handle_too_high((!sending.app_limited).then_some(inflight), now);
        }
    }

    /// 5.5.10.2: `HandleInflightTooHigh`, with what was in flight unless the application limited it.
    fn handle_too_high(&mut self, inflight: Option<f64>, now: Time) {
        self.cycle.was_too_high = true;
        self.cycle.is_probe = false;
        self.losses.too_high += 1;
        if let Some(inflight) = inflight {
            self.losses.bounds.longterm = inflight.max(self.target_inflight() * self.config.beta);
        }
        if self.state == State::Up {
            self.losses.ended = Some(State::Up);
            self.start_down(now);
        }
    }

    /// A mark is a loss of one segment that was not lost (3.7).
    pub(super) fn handle_mark(&mut self, mark: &Mark, window: &Window) {
        self.note_loss(window);
        if self.cycle.is_probe {
            self.handle_too_high(Some(f64::from(mark.pipe)), mark.now);
        } else if self.state == State::Startup && !self.full.reached {
            self.end_startup_by_losses();
        }
    }

    /// Ends recovery if all that was sent before it is acknowledged (5.6.4.4).
    pub(super) fn end_recovery(&mut self, una: u64, window: &mut Window) {
        if self.losses.recovering.is_none_or(|point| una < point) {
            return;
        }
        self.losses.recovering = None;
        self.losses.fast_since = None;
        self.losses.is_episode = false;
        if self.state != State::ProbeRtt {
            self.restore_window(window);
        }
    }

    /// 5.5.11.2: `HandleSpuriousLossDetection`.
    pub(super) fn handle_spurious(&mut self, window: &mut Window) {
        self.restore_window(window);
        let losses = &mut self.losses;
        (losses.recovering, losses.fast_since, losses.after_timeout) = (None, None, false);
        (losses.is_in_round, losses.is_episode) = (false, false);
        losses.bounds = losses.bounds.or_greater(losses.saved);
        let ended = losses.ended.take();
        self.full.reset(0.0);
        match ended {
            Some(State::Startup) if self.state != State::Startup => {
                self.full.reached = false;
                if self.state != State::ProbeRtt {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && self.state != State::ProbeRtt => {
                self.start_refill();
            }
            _ => {}
        }
    }
}
