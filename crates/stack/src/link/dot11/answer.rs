//! The receiving side of a frame exchange: the reaction of a station to a frame.

use super::MacOut;
use super::dcf::{Answer, Dcf, Doing, Next};
use super::frame::{Frame, FrameKind};
use super::planned::is_to_all;
use super::receive::Accepted;
use super::shared::Exchange;
use super::standard::NS2_TIMEOUT_SLACK;
use crate::hooks::Arq;
use crate::units::{Span, Time};

impl<A: Arq> Dcf<A> {
    /// A frame for another station.
    #[inline]
    pub(super) fn overhear(&mut self, frame: &Frame, now: Time, out: &mut impl MacOut) {
        self.core.carrier.overhear(frame, now, &self.core.rules);
        self.stop_waiting(now, out);
        if is_to_all(frame) {
            self.take_in(frame, out);
        }
    }

    /// Whether the answer just sent is a CTS after which the station is deaf.
    #[inline]
    pub(super) fn asks_for_data(&self) -> bool {
        self.core.rules.config.access.deaf_after_cts && self.core.answer.0.kind == FrameKind::Cts
    }

    /// Its CTS has ended: it receives nothing but the data frame until that should have ended too. The reservation
    /// gives that time, since after the frame it leaves time for SIFS and the ACK.
    pub(super) fn expect_data(&mut self, now: Time, out: &mut impl MacOut) {
        let ack = self.core.rules.response(self.core.rules.config.data_rate).ack.total;
        let frame = self.core.answer.0.duration.0.saturating_sub((self.core.rules.config.sifs + ack).0);
        self.core.doing = Doing::Apart;
        out.set_timer(now + Span(frame) + NS2_TIMEOUT_SLACK);
    }

    /// The data frame has not come: back to contention. A backoff continues after DIFS, however long the medium was
    /// idle.
    pub(super) fn stop_expecting(&mut self, now: Time, out: &mut impl MacOut) {
        self.core.doing = Doing::Contend;
        if self.core.carrier.busy {
            return;
        }
        self.core.carrier.open(now, &self.core.rules);
        self.core.carrier.count_from(now + self.core.rules.difs);
        self.go_on(now, out);
    }

    /// A CTS.
    pub(super) fn on_cts(&mut self, now: Time, out: &mut impl MacOut) {
        if self.core.awaits(Answer::Cts) {
            (self.retries.short, self.failures.short) = (0, 0);
            self.core.after_sifs(Next::Data, now, out);
        } else {
            self.stop_waiting(now, out);
        }
    }

    /// An acknowledgement.
    pub(super) fn on_ack(&mut self, ack: &Frame, now: Time, out: &mut impl MacOut) {
        if self.core.awaits(Answer::Ack) {
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
        let is_expected = self.core.doing == Doing::Apart && data.transmitter == self.core.answer.0.receiver;
        if !self.core.contends() && !is_expected {
            return;
        }
        let response = *self.core.rules.response(data.rate);
        let left = if data.more_fragments { data.duration } else { Span::ZERO };
        let (ack, airtime, boarded) =
            self.core.riders.board(data, self.core.address, &response, &self.core.rules);
        let duration = self.core.rules.left(left, airtime);
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
            Accepted::Duplicate => self.core.counters.duplicates += 1,
        }
    }
}
