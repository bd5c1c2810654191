//! The receiving side of a frame exchange: what a frame makes a station do.

use super::MacOut;
use super::dcf::{Answer, Doing, Next, Station};
use super::frame::{Frame, FrameKind};
use super::receive::Accepted;
use crate::units::{Span, Time};

impl Station {
    /// A frame for another station reserves the medium (IEEE 802.11-2012, 9.3.2.4).
    #[inline]
    pub(super) fn overhear(&mut self, frame: &Frame, now: Time, out: &mut impl MacOut) {
        if frame.kind == FrameKind::CfEnd {
            self.access.release(now);
        } else if frame.duration > Span::ZERO {
            let may_reset = frame.kind == FrameKind::Rts && self.rules.config.access.nav_reset;
            self.access.reserve(now + frame.duration, may_reset.then(|| now + self.rules.nav_reset));
        }
        self.stop_waiting(now, out);
    }

    /// Asked for leave to send: gives it, unless others have reserved the medium (9.3.2.6).
    pub(super) fn on_rts(&mut self, rts: &Frame, now: Time, out: &mut impl MacOut) {
        self.stop_waiting(now, out);
        if self.doing != Doing::Contend || self.access.is_reserved(now) {
            return;
        }
        let response = *self.rules.response(rts.rate);
        let (sifs, bytes) = (self.rules.config.sifs, self.rules.config.cts);
        let duration = Span(rts.duration.0.saturating_sub((sifs + response.cts.total).0));
        let cts = Frame::new(FrameKind::Cts, rts.transmitter, self.address, bytes, response.rate);
        self.answer_with(Frame { duration, ..cts }, response.cts, now, out);
    }

    /// Given leave to send.
    pub(super) fn on_cts(&mut self, now: Time, out: &mut impl MacOut) {
        if let Doing::Await(Answer::Cts) | Doing::Late(Answer::Cts) = self.doing {
            self.short_retries = 0;
            self.doing = Doing::Gap(Next::Data);
            out.set_timer(now + self.rules.config.sifs);
        } else {
            self.stop_waiting(now, out);
        }
    }

    /// An acknowledgement.
    pub(super) fn on_ack(&mut self, now: Time, out: &mut impl MacOut) {
        if let Doing::Await(Answer::Ack) | Doing::Late(Answer::Ack) = self.doing {
            self.succeed(now, out);
        } else {
            self.stop_waiting(now, out);
        }
    }

    /// A data frame: acknowledged whatever the NAV says, also when it came before (9.3.2.8, 9.3.2.10).
    pub(super) fn on_data(&mut self, data: &Frame, now: Time, out: &mut impl MacOut) {
        self.stop_waiting(now, out);
        if self.doing != Doing::Contend {
            return;
        }
        let response = *self.rules.response(data.rate);
        let (sifs, bytes) = (self.rules.config.sifs, self.rules.config.ack);
        let left = if data.more_fragments { data.duration } else { Span::ZERO };
        let duration = Span(left.0.saturating_sub((sifs + response.ack.total).0));
        let ack = Frame::new(FrameKind::Ack, data.transmitter, self.address, bytes, response.rate);
        self.answer_with(Frame { duration, ..ack }, response.ack, now, out);
        self.take_in(data, out);
    }

    /// Hands up the packet of a data frame that completes it.
    pub(super) fn take_in(&mut self, data: &Frame, out: &mut impl MacOut) {
        match self.inbox.accept(data) {
            Accepted::Whole => {
                if let Some(handle) = data.msdu {
                    out.up(handle);
                }
            }
            Accepted::Part => {}
            Accepted::Duplicate => self.counters.duplicates += 1,
        }
    }
}
