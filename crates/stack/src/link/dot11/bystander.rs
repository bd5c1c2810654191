//! What a station knows of the medium while it has nothing to do.
//!
//! **How**: a station with nothing to send and no backoff, of which no frame asks anything, only keeps the time of carrier
//! and reservation. Where all stations receive all frames, those at rest have the same state. The host follows one
//! [`Bystander`] instead of them, and each copies its state when something happens to it.

use super::access::Access;
use super::dcf::Dcf;
use super::frame::{Frame, FrameKind};
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

impl<A: Arq> Dcf<A> {
    /// Whether it neither sends nor waits and does not poll; a backoff may be in progress, though nothing waits for its end.
    #[inline]
    pub(super) fn only_follows(&self) -> bool {
        self.core.armed == Time::NEVER
            && self.core.contends()
            && self.service.is_none()
            && self.units.is_none()
            && self.coordinator.is_none()
    }
}
