//! How a station of DCF contends for the medium: its backoff and its turn.

use super::MacOut;
use super::dcf::Station;
use crate::hooks::Arq;
use crate::units::Time;

impl<A: Arq> Station<A> {
    /// A packet arrived at a station that had nothing to send.
    pub(super) fn join(&mut self, now: Time, out: &mut impl MacOut) {
        if self.access.busy {
            self.ensure_backoff(out);
            return;
        }
        if let Some(end) = self.access.ends(&self.rules) {
            if end > now {
                self.wait_for_turn(now, out);
                return;
            }
            self.access.finish();
        }
        if now < self.access.open_at {
            self.access.count_from(now);
        } else if self.rules.config.access.immediate {
            self.attempt(now, out);
            return;
        } else {
            self.access.count_from(now + self.rules.difs);
        }
        self.ensure_backoff(out);
        self.wait_for_turn(now, out);
    }

    /// The station has returned to contention, or the medium turned idle in contention.
    pub(super) fn resume(&mut self, now: Time, out: &mut impl MacOut) {
        if self.access.busy {
            return;
        }
        self.access.open(now, &self.rules);
        self.go_on(now, out);
    }

    /// Waits for its turn in a medium that is open: its pending frame needs a backoff.
    pub(super) fn go_on(&mut self, now: Time, out: &mut impl MacOut) {
        if self.has_work() {
            self.ensure_backoff(out);
        }
        self.wait_for_turn(now, out);
    }

    pub(super) fn ensure_backoff(&mut self, out: &mut impl MacOut) {
        if !self.access.is_backing_off() {
            self.back_off(out);
        }
    }

    /// Draws a backoff.
    pub(super) fn back_off(&mut self, out: &mut impl MacOut) {
        let slots = out.draw(self.rules.draw_bound(self.window));
        self.access.start(slots);
    }

    /// Sets the timer to the end of the backoff, or to an access point's next contention-free period. It is set to
    /// that already if the medium was reserved all the time.
    pub(super) fn wait_for_turn(&mut self, now: Time, out: &mut impl MacOut) {
        let turn = if self.has_work() { self.access.ends(&self.rules) } else { None };
        let at = match self.period_due() {
            Some(due) => turn.map_or(due, |turn| turn.min(due)).max(now),
            None => turn.unwrap_or(Time::NEVER),
        };
        if at == self.armed {
            return;
        }
        self.armed = at;
        if at == Time::NEVER {
            out.cancel_timer();
        } else {
            out.set_timer(at);
        }
    }
}
