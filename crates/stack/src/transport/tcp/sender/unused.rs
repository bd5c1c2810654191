//! The treatment of an unused window: the restart after an idle time (RFC 5681, 4.1), or the decay of RFC 2861, which
//! is Linux's (`tcp_cwnd_restart`, `tcp_cwnd_application_limited`).
//!
//! **How.** With decay an idle time halves the window for each timeout that it lasts, down to the initial window. Where
//! the application has not filled the window for a timeout, the window is reduced by half of the unused part. Either
//! keeps three quarters of the window as ssthresh, so that slow start leads back there. Without decay an idle time of a
//! timeout brings the initial window back at once, and leaves ssthresh.
//!
//! **Choices.** 1. The application is the limit where less than a segment of the data written has not been sent; Linux
//! checks whether it waits for room in the buffer. 2. An idle time counts from the last segment sent, until the next is
//! sent, where Linux checks it at the next write.

use super::Sender;
use super::spurious::Doing;
use crate::transport::tcp::{Config, Parts};
use crate::units::{Span, Time};

/// How much of the window is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Decay {
    restarts: bool,
    decays: bool,
    /// The most outstanding segments since the window was the limit last, and when that was.
    used: u32,
    limited_at: Time,
}

impl Decay {
    pub(super) fn new<P>(config: &Config<P>, governs: bool) -> Decay {
        let restarts = config.idle_restart && !governs;
        Decay { restarts, decays: restarts && config.window_decay, used: 0, limited_at: Time::ZERO }
    }

    /// The connection is open, or the window was reduced for not being used.
    pub(super) fn begin(&mut self, now: Time) {
        (self.used, self.limited_at) = (0, now);
    }
}

impl<P: Parts> Sender<P> {
    /// A new segment is about to be sent, and nothing is outstanding.
    pub(super) fn restart_after_idle(&mut self, now: Time) {
        let (idle, rto) = (now.since(self.last_sent), self.rtt.rto());
        if !self.decay.restarts || idle <= rto {
            return;
        }
        self.integrate(now);
        if !self.decay.decays {
            self.window.cwnd = self.window.cwnd.min(self.initial_window);
            return;
        }
        self.keep_threshold();
        let least = self.window.cwnd.min(self.initial_window);
        let mut left = Span(idle.0 - rto.0);
        while left > Span::ZERO && self.window.cwnd > least {
            self.window.cwnd = self.whole(self.window.cwnd / 2.0);
            left = Span(left.0.saturating_sub(rto.0));
        }
        self.window.cwnd = self.window.cwnd.max(least);
        self.decay.begin(now);
    }

    /// Reduces the window by the part not used by the application for a timeout, after segments have left or filled it.
    pub(super) fn review_use(&mut self, now: Time) {
        if !self.decay.decays {
            return;
        }
        if self.was_limited() {
            self.decay.begin(now);
            return;
        }
        let (decay, outstanding) = (&mut self.decay, self.board.outstanding());
        decay.used = decay.used.max(outstanding);
        if now.since(decay.limited_at) < self.rtt.rto() {
            return;
        }
        let used = f64::from(decay.used).max(self.initial_window);
        let is_open = self.doing() == Doing::Open;
        let by_application = self.backlog() < u64::from(self.packet);
        if is_open && by_application {
            if used < self.window.cwnd {
                self.integrate(now);
                self.keep_threshold();
                self.window.cwnd = self.whole(f64::midpoint(self.window.cwnd, used));
            }
            self.decay.begin(now);
        } else {
            self.decay.limited_at = now;
        }
    }

    /// Slow start leads back to three quarters of the window (RFC 2861, 3.2).
    fn keep_threshold(&mut self) {
        let most = if self.window.credit.is_some() {
            libm::floor(self.window.cwnd / 2.0) + libm::floor(self.window.cwnd / 4.0)
        } else {
            0.75 * self.window.cwnd
        };
        self.window.ssthresh = self.window.ssthresh.max(most);
    }

    /// This window, rounded down where it is a whole number.
    fn whole(&self, cwnd: f64) -> f64 {
        if self.window.credit.is_some() { libm::floor(cwnd) } else { cwnd }
    }
}
