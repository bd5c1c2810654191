//! Stopping and resuming, as requested by the endpoint's reaction to events of its link.

use super::early::Early;
use super::hystart::HyStart;
use super::spurious::Spurious;
use super::unused::Decay;
use super::{Config, RttEstimator, Sender};
use crate::hooks::{AtTimeout, Congestion, Out, Recovery, Timer};
use crate::hooks::{LossResponse, Reaction, Standing, Window};
use crate::transport::tcp::Parts;
use crate::units::Time;

/// A sender that sends nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// Its retransmission timer runs.
    WithTimer,
    /// It is stopped.
    WithoutTimer,
}

impl<P: Parts> Sender<P> {
    /// Whether it sends nothing until it resumes.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.is_some()
    }

    /// The state of its endpoint, which has or has not received data.
    #[must_use]
    pub fn standing(&self, receives: bool) -> Standing {
        let no_room = self.edge < self.board.sent_end() + u64::from(self.packet);
        let is_full = self.board.flight() >= self.window.cwnd as u32 || no_room;
        Standing { sends: self.is_busy(), is_full, receives }
    }

    /// Sends nothing until it resumes; the retransmission timer runs on or is cancelled.
    pub fn stop(&mut self, timer_runs: bool, out: &mut impl Out) {
        self.timed = None;
        self.marks.release();
        if timer_runs {
            self.stopped = Some(Stopped::WithTimer);
        } else {
            self.disarm(out);
            self.stopped = Some(Stopped::WithoutTimer);
        }
        if self.window.pacing.is_some() || self.bounds_below() {
            out.cancel(Timer::Pace);
        }
    }

    /// Resumes, with what is outstanding if that is taken for lost. The time since it stopped was not idle.
    pub fn resume(&mut self, is_lost: bool, now: Time, out: &mut impl Out) {
        if self.stopped.take().is_none() {
            return;
        }
        self.last_sent = now;
        if self.board.is_empty() && !self.persisting {
            return;
        }
        if is_lost && !self.persisting {
            self.end_prr();
            self.board.hear(now);
            self.recovery.on_timeout(LossResponse::REDUCED, &mut self.board);
            self.tell_losses();
        }
        self.arm(now, out);
    }

    /// Continues from the first unacknowledged segment in slow start, with window, law, recovery and timeout as at the
    /// start of a connection. `draw` is a random number for the law's own decisions.
    pub fn start_over(&mut self, config: &Config<P>, draw: u32, now: Time, out: &mut impl Out) {
        self.integrate(now);
        (self.prr, self.loss_until) = (None, 0);
        self.window = Window::new(self.initial_window, config.initial_ssthresh, f64::from(config.window));
        self.law = config.parts.law(config, draw);
        self.hystart = HyStart::new(self.law.slow_start(config.slow_start));
        self.watching = config.parts.judges(config, draw);
        self.recovery = config.parts.recovery(config);
        let by_time = self.recovery.is_by_time();
        self.early = Early::new(config, by_time);
        self.spurious = Spurious::new(config, by_time);
        self.asking.forget();
        self.board.hear(now);
        self.rtt = RttEstimator::new(config).with_precision(self.law.paces());
        self.usage.forget();
        (self.timed, self.limited, self.timed_out, self.stopped) = (None, 0, None, None);
        (self.last_sent, self.pace.release) = (now, now);
        self.decay = Decay::new(config, self.law.governs_recovery());
        self.decay.begin(now);
        self.begin_law(now);
        if !self.board.is_empty() && !self.persisting {
            self.recovery.on_timeout(LossResponse::REDUCED, &mut self.board);
            // Losses of the path before are nothing to a law that begins.
            self.board.list_losses(self.law.hears_losses());
        }
        if !self.board.is_empty() || self.persisting {
            self.arm(now, out);
        }
    }

    /// The retransmission timer fires: whether the reaction has it wait, stopped and without the timer.
    pub fn waits_at_timeout(&mut self, now: Time, reaction: &mut P::Reaction) -> bool {
        if self.stopped.is_none() && (self.persisting || self.board.is_empty()) {
            return false;
        }
        self.integrate(now);
        let waits = reaction.on_timeout(&mut self.window) == AtTimeout::Wait;
        self.window.clamp();
        if waits {
            self.armed = false;
            self.stopped = Some(Stopped::WithoutTimer);
        }
        waits
    }
}
