//! The receiving side of a frame exchange: the reaction of a station to a frame.

use super::MacOut;
use super::dcf::{Answer, Doing, Next, Station};
use super::frame::{Frame, FrameKind};
use super::planned::is_to_all;
use super::receive::Accepted;
use super::standard::NS2_TIMEOUT_SLACK;
use crate::hooks::Arq;
use crate::units::{Span, Time};

impl<A: Arq> Station<A> {
    /// A frame for another station.
    #[inline]
    pub(super) fn overhear(&mut self, frame: &Frame, now: Time, out: &mut impl MacOut) {
        self.access.overhear(frame, now, &self.rules);
        self.stop_waiting(now, out);
        if is_to_all(frame) {
            self.take_in(frame, out);
        }
    }

    /// An RTS: answers it, unless others have reserved the medium (9.3.2.6).
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

    /// Whether the answer just sent is a CTS after which the station is deaf.
    #[inline]
    pub(super) fn asks_for_data(&self) -> bool {
        self.rules.config.access.deaf_after_cts && self.answer.0.kind == FrameKind::Cts
    }

    /// Its CTS has ended: it receives nothing but the data frame until that should have ended too. The reservation
    /// gives that time, since after the frame it leaves time for SIFS and the ACK.
    pub(super) fn expect_data(&mut self, now: Time, out: &mut impl MacOut) {
        let ack = self.rules.response(self.rules.config.data_rate).ack.total;
        let frame = self.answer.0.duration.0.saturating_sub((self.rules.config.sifs + ack).0);
        self.doing = Doing::Expect;
        out.set_timer(now + Span(frame) + NS2_TIMEOUT_SLACK);
    }

    /// The data frame has not come: back to contention. A backoff continues after DIFS, however long the medium was
    /// idle.
    pub(super) fn stop_expecting(&mut self, now: Time, out: &mut impl MacOut) {
        self.doing = Doing::Contend;
        if self.access.busy {
            return;
        }
        self.access.open(now, &self.rules);
        self.access.count_from(now + self.rules.difs);
        self.go_on(now, out);
    }

    /// A CTS.
    pub(super) fn on_cts(&mut self, now: Time, out: &mut impl MacOut) {
        if let Doing::Await(Answer::Cts) | Doing::Late(Answer::Cts) = self.doing {
            (self.retries.short, self.failures.short) = (0, 0);
            self.doing = Doing::Gap(Next::Data);
            out.set_timer(now + self.rules.config.sifs);
        } else {
            self.stop_waiting(now, out);
        }
    }

    /// An acknowledgement.
    pub(super) fn on_ack(&mut self, ack: &Frame, now: Time, out: &mut impl MacOut) {
        if let Doing::Await(Answer::Ack) | Doing::Late(Answer::Ack) = self.doing {
            self.succeed(now, out);
        } else {
            self.stop_waiting(now, out);
        }
        if let Some(rider) = ack.rider {
            out.rider(rider);
        }
    }

    /// A data frame: acknowledged whatever the NAV, also if it was received before (9.3.2.8, 9.3.2.10).
    pub(super) fn on_data(&mut self, data: &Frame, now: Time, out: &mut impl MacOut) {
        self.stop_waiting(now, out);
        let is_expected = self.doing == Doing::Expect && data.transmitter == self.answer.0.receiver;
        if self.doing != Doing::Contend && !is_expected {
            return;
        }
        let response = *self.rules.response(data.rate);
        let left = if data.more_fragments { data.duration } else { Span::ZERO };
        let (ack, airtime, boarded) = self.riders.board(data, self.address, &response, &self.rules);
        let duration = Span(left.0.saturating_sub((self.rules.config.sifs + airtime.total).0));
        self.answer_with(Frame { duration, ..ack }, airtime, now, out);
        out.answered(Some(data.more_data), boarded);
        self.take_in(data, out);
    }

    /// Passes up the packet of a data frame that completes it.
    pub(super) fn take_in(&mut self, data: &Frame, out: &mut impl MacOut) {
        match self.inbox.accept(data) {
            Accepted::Whole => {
                if let Some(handle) = data.msdu {
                    out.up(handle, data.sequence);
                }
            }
            Accepted::Part => {}
            Accepted::Duplicate => self.counters.duplicates += 1,
        }
    }
}
