//! Carrier sense and backoff, computed without events.
//!
//! Slots are not counted one by one. While the medium is idle, a backoff runs from a known instant; when the medium
//! turns busy, the whole slots that have passed are subtracted. The reservation of the medium (NAV) costs no event:
//! idle time starts when both the physical carrier and the NAV are idle.

use super::timing::Rules;
use crate::units::{Span, Time};

/// The carrier sense and the backoff of one station.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// The physical carrier is busy.
    pub(super) busy: bool,
    /// The last reception since the carrier turned busy ended in error, so that EIFS follows it.
    error: bool,
    /// When the physical carrier turned idle.
    idle_since: Time,
    /// End of the reservation.
    nav: Time,
    /// The reservation was made by an RTS and ends here if nothing is heard until then.
    nav_if_silent: Option<Time>,
    /// From when on the medium has been idle for DIFS or EIFS; valid while the carrier is idle.
    pub(super) open_at: Time,
    /// When the first slot of the backoff begins; valid while the carrier is idle.
    counting_from: Time,
    /// Slots left of the backoff in progress.
    backoff: Option<u32>,
}

impl Access {
    /// A medium that was always idle.
    pub(super) fn new() -> Access {
        Access {
            busy: false,
            error: false,
            idle_since: Time::ZERO,
            nav: Time::ZERO,
            nav_if_silent: None,
            open_at: Time::ZERO,
            counting_from: Time::ZERO,
            backoff: None,
        }
    }

    /// End of the reservation, if nothing more is heard.
    #[inline]
    fn reserved_until(&self) -> Time {
        self.nav_if_silent.unwrap_or(self.nav)
    }

    /// Whether the medium is reserved by others.
    #[inline]
    pub(super) fn is_reserved(&self, now: Time) -> bool {
        now < self.reserved_until()
    }

    /// Reserves the medium until `until`, if that is later. One by an RTS ends at `if_silent` if nothing is heard.
    #[inline]
    pub(super) fn reserve(&mut self, until: Time, if_silent: Option<Time>) {
        let before = self.reserved_until();
        if until > before {
            self.nav_if_silent = if_silent.map(|silent| silent.max(before).min(until));
            self.nav = until;
        }
    }

    /// Whether it is the same from now on as another: where the medium is idle and no backoff is in progress, a reservation that
    /// ended before does not matter.
    #[inline]
    pub(super) fn is_as(&self, other: &Access) -> bool {
        let ended = |access: &Access| access.reserved_until() <= access.idle_since;
        !self.busy
            && !other.busy
            && self.error == other.error
            && self.idle_since == other.idle_since
            && (ended(self) && ended(other)
                || (self.nav, self.nav_if_silent) == (other.nav, other.nav_if_silent))
    }

    /// A reception ended, well or in error.
    #[inline]
    pub(super) fn received(&mut self, well: bool) {
        self.error = !well;
    }

    /// Whether the last reception since the carrier turned busy ended in error.
    pub(super) fn is_in_error(&self) -> bool {
        self.error
    }

    /// The physical carrier turned busy at `now`.
    #[inline]
    pub(super) fn on_busy(&mut self, now: Time) {
        self.busy = true;
        self.error = false;
        if let Some(silent) = self.nav_if_silent.take()
            && now >= silent
        {
            self.nav = silent;
        }
    }

    /// Freezes the backoff when the medium turns busy at `now`. Returns false if it had not begun to count, as in the
    /// gaps of an exchange that has reserved the medium: its end may remain the same.
    #[inline]
    pub(super) fn freeze(&mut self, now: Time, rules: &Rules) -> bool {
        let Some(left) = self.backoff else { return false };
        if now < self.counting_from {
            return false;
        }
        let run = now - self.counting_from;
        let whole = rules.config.slot * u64::from(left);
        // It is less than the largest window of slots and fits 32 bits, whose division is several times faster.
        self.backoff = (run < whole).then(|| left - slots(run, rules.config.slot));
        true
    }

    /// The physical carrier turned idle at `now`, or the station's own frame ended with no other on the air.
    #[inline]
    pub(super) fn on_idle(&mut self, now: Time) {
        self.busy = false;
        self.idle_since = now;
    }

    /// Finds when the medium is free, from what is known at `now`; a backoff counts from then on.
    #[inline]
    pub(super) fn open(&mut self, now: Time, rules: &Rules) {
        let space = if self.error { rules.eifs } else { rules.difs };
        self.open_at = (self.idle_since + space).max(self.reserved_until() + rules.difs);
        self.counting_from = self.open_at.max(now);
    }

    /// From when on the medium is idle; after a reception in error `penalty` later. Valid while the carrier is idle.
    #[inline]
    pub(super) fn idle_from(&self, penalty: Span) -> Time {
        let idle = if self.error { self.idle_since + penalty } else { self.idle_since };
        idle.max(self.reserved_until())
    }

    /// From when on the medium has been idle for `space`, without regard to errors; valid while the carrier is idle.
    pub(super) fn idle_for(&self, space: Span) -> Time {
        self.idle_since.max(self.reserved_until()) + space
    }

    /// Ends the reservation.
    pub(super) fn release(&mut self, now: Time) {
        self.nav = now;
        self.nav_if_silent = None;
    }

    /// Lets a backoff that starts now count from `from` at the earliest.
    #[inline]
    pub(super) fn count_from(&mut self, from: Time) {
        self.counting_from = self.open_at.max(from);
    }

    /// The station begins to send: the backoff has ended, and a past error no longer matters.
    #[inline]
    pub(super) fn take(&mut self) {
        self.backoff = None;
        self.error = false;
    }

    /// Starts a backoff of this many slots.
    #[inline]
    pub(super) fn start(&mut self, slots: u32) {
        self.backoff = Some(slots);
    }

    /// Whether a backoff is in progress.
    #[inline]
    pub(super) fn is_backing_off(&self) -> bool {
        self.backoff.is_some()
    }

    /// When the backoff in progress ends if the medium stays idle.
    #[inline]
    pub(super) fn ends(&self, rules: &Rules) -> Option<Time> {
        self.backoff.map(|left| self.counting_from + rules.config.slot * u64::from(left))
    }

    /// Forgets a backoff that came to its end with nothing to send.
    #[inline]
    pub(super) fn finish(&mut self) {
        self.backoff = None;
    }
}

/// Whole slots in `run`.
#[inline]
fn slots(run: Span, slot: Span) -> u32 {
    match (u32::try_from(run.0), u32::try_from(slot.0)) {
        (Ok(run), Ok(slot)) => run / slot,
        _ => (run.0 / slot.0) as u32,
    }
}

#[cfg(test)]
mod tests;
