//! What a station knows of the medium while it has nothing to do.
//!
//! **How**: a station with nothing to send and no backoff, of which no frame asks anything, only keeps the time of carrier
//! and reservation. Where all stations receive all frames, those at rest have the same state. The host follows one
//! [`Bystander`] instead of them, and each copies its state when something happens to it.

use super::access::Access;
use super::dcf::{Doing, Station};
use super::frame::{Frame, FrameKind};
use super::planned::is_to_all;
use super::timing::Rules;
use crate::hooks::Arq;
use crate::units::{Span, Time};

/// The carrier sense of a station at rest.
#[derive(Clone, Debug)]
pub struct Bystander(Access);

impl Bystander {
    pub(super) fn new(access: &Access) -> Bystander {
        Bystander(access.clone())
    }

    /// The medium turns busy.
    #[inline]
    pub fn on_busy(&mut self, now: Time) {
        self.0.on_busy(now);
    }

    /// A frame between other stations was received; the medium turns idle.
    #[inline]
    pub fn on_frame(&mut self, frame: &Frame, now: Time, rules: &Rules) {
        self.0.received(true);
        self.0.overhear(frame, now, rules);
        self.0.on_idle(now);
        self.0.open(now, rules);
    }

    pub(super) fn access(&self) -> &Access {
        &self.0
    }
}

impl Access {
    /// A frame for another station reserves the medium (IEEE 802.11-2012, 9.3.2.4).
    #[inline]
    pub(super) fn overhear(&mut self, frame: &Frame, now: Time, rules: &Rules) {
        if frame.kind == FrameKind::CfEnd {
            self.release(now);
        } else if frame.duration > Span::ZERO {
            let may_reset =
                matches!(frame.kind, FrameKind::Rts | FrameKind::MuRts) && rules.config.access.nav_reset;
            self.reserve(now + frame.duration, may_reset.then(|| now + rules.nav_reset));
        }
    }
}

impl<A: Arq> Station<A> {
    /// What it knows of the medium, if it is at rest: it neither sends nor waits, has no backoff and does not poll.
    #[inline]
    #[must_use]
    pub fn at_rest(&self) -> Option<Bystander> {
        self.is_at_rest().then(|| Bystander::new(&self.access))
    }

    /// Whether it is at rest and knows of the medium what a bystander does.
    #[inline]
    #[must_use]
    pub fn rests_as(&self, bystander: &Bystander) -> bool {
        self.is_at_rest() && self.access.is_as(bystander.access())
    }

    /// It was at rest, and takes over what a bystander knows.
    pub fn catch_up(&mut self, bystander: &Bystander) {
        self.access = bystander.access().clone();
    }

    /// A frame was received, and `turns_idle` says whether the medium turned idle. Returns false, and does nothing, if that may
    /// concern it: the frame is for it, or it does more than follow carrier and reservation.
    #[inline]
    pub fn stands_by(&mut self, frame: &Frame, turns_idle: bool, now: Time) -> bool {
        if frame.receiver == self.address || is_to_all(frame) || !self.only_follows() {
            return false;
        }
        self.access.received(true);
        self.access.overhear(frame, now, &self.rules);
        if turns_idle {
            self.access.on_idle(now);
            self.access.open(now, &self.rules);
        }
        true
    }

    #[inline]
    fn is_at_rest(&self) -> bool {
        !self.access.is_backing_off() && self.only_follows()
    }

    /// Whether it neither sends nor waits and does not poll; a backoff may be in progress, though nothing waits for its end.
    #[inline]
    fn only_follows(&self) -> bool {
        self.armed == Time::NEVER
            && self.doing == Doing::Contend
            && self.service.is_none()
            && self.units.is_none()
            && self.coordinator.is_none()
    }
}
