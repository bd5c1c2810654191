//! How a station of DCF contends for the medium: its backoff and its turn.

use super::MacOut;
use super::dcf::Dcf;
use crate::hooks::Arq;
use crate::units::Time;

impl<A: Arq> Dcf<A> {
    /// A packet arrived at a station that had nothing to send.
    pub(super) fn join(&mut self, now: Time, out: &mut impl MacOut) {
        if self.core.carrier.busy {
            self.ensure_backoff(out);
            return;
        }
        if let Some(end) = self.core.carrier.ends(&self.core.rules) {
            if end > now {
                self.wait_for_turn(now, out);
                return;
            }
            self.core.carrier.finish();
        }
        if now < self.core.carrier.open_at {
            self.core.carrier.count_from(now);
        } else if self.core.rules.config.access.immediate {
            self.attempt(now, out);
            return;
        } else {
            self.core.carrier.count_from(now + self.core.rules.difs);
        }
        self.ensure_backoff(out);
        self.wait_for_turn(now, out);
    }

    /// Waits for its turn in a medium that is open: its pending frame needs a backoff.
    pub(super) fn go_on(&mut self, now: Time, out: &mut impl MacOut) {
        if self.has_work() {
            self.ensure_backoff(out);
        }
        self.wait_for_turn(now, out);
    }

    pub(super) fn ensure_backoff(&mut self, out: &mut impl MacOut) {
        if !self.core.carrier.is_backing_off() {
            self.back_off(out);
        }
    }

    /// Draws a backoff.
    pub(super) fn back_off(&mut self, out: &mut impl MacOut) {
        let slots = out.draw(self.core.rules.draw_bound(self.window));
        self.core.carrier.start(slots);
    }

    /// Sets the timer to the end of the backoff, or to an access point's next contention-free period. It is set to
    /// that already if the medium was reserved all the time.
    pub(super) fn wait_for_turn(&mut self, now: Time, out: &mut impl MacOut) {
        let turn = if self.has_work() { self.core.carrier.ends(&self.core.rules) } else { None };
        let at = match self.period_due() {
            Some(due) => turn.map_or(due, |turn| turn.min(due)).max(now),
            None => turn.unwrap_or(Time::NEVER),
        };
        self.core.arm(at, out);
    }
}
