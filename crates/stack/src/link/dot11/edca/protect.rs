//! What precedes a PPDU and reserves the medium for it: RTS and CTS, a CTS to itself, an MU-RTS.

use super::super::frame::{BROADCAST, Frame, FrameKind};
use super::super::rates::PhyRate;
use super::super::standard::Protection;
use super::config::BLOCK_ACK_REQUEST;
use super::{Doing, Edca, MacOut, Sent};
use crate::hooks::Arq;
use crate::units::Span;

impl<A: Arq + Clone> Edca<A> {
    /// Sends what is prepared, a PPDU or else a BlockAckReq, or what protects it.
    pub(super) fn begin(&mut self, is_long: bool, out: &mut impl MacOut) {
        if self.asks_for_radio(out) {
            return;
        }
        if self.is_unsynchronized() {
            self.send_rts(out);
        } else if self.burst.is_empty() && self.several.is_empty() {
            self.send_request(out);
        } else if is_long && self.core.rules.config.protection == Protection::CtsToSelf {
            self.send_cts_to_self(out);
        } else if is_long && self.several.is_empty() {
            self.send_rts(out);
        } else {
            self.send_data(out);
        }
    }

    /// Requests a CTS for the PPDU prepared.
    fn send_rts(&mut self, out: &mut impl MacOut) {
        let rules = &*self.core.rules;
        let rate = self.protection_rate();
        let cts = rules.response(rate).cts.total;
        let duration = rules.config.sifs * 3 + cts + self.guarded();
        let (receiver, bytes) = (self.originators[self.service.of].peer, rules.config.rts);
        let rts = Frame::new(FrameKind::Rts, receiver, self.core.address, bytes, rate);
        let airtime = rules.config.phy.airtime(bytes, 0, rate);
        self.core.doing = Doing::Sending(Sent::Rts);
        self.core.counters.rts_sent += 1;
        out.load().clear();
        out.transmit(Frame { duration, ..rts }, airtime);
    }

    /// What a CTS is for, from its beginning to the end of its answer, without the SIFS before and in it.
    pub(super) fn guarded(&self) -> Span {
        if !self.burst.is_empty() {
            return self.service.airtime.total + self.response().total;
        }
        let originator = &self.originators[self.service.of];
        let rate = self.core.rules.response(originator.rate).rate;
        self.core.rules.config.phy.airtime(BLOCK_ACK_REQUEST, 0, rate).total + originator.block_ack.total
    }

    /// The rate of an RTS.
    pub(super) fn protection_rate(&self) -> PhyRate {
        let originator = &self.originators[self.service.of];
        if originator.control.is_none() {
            return self.core.rules.protection_rate;
        }
        let follows = self.core.rules.response(originator.rate).rate;
        self.core.rules.config.protection_rate.unwrap_or(follows)
    }

    /// Reserves the medium for the PPDU prepared by a CTS that nobody answers (10.3.2.8).
    fn send_cts_to_self(&mut self, out: &mut impl MacOut) {
        let rules = &*self.core.rules;
        let duration = rules.config.sifs + self.service.airtime.total + self.answers();
        let cts =
            Frame::new(FrameKind::Cts, BROADCAST, self.core.address, rules.config.cts, rules.protection_rate);
        self.core.doing = Doing::Sending(Sent::CtsToSelf);
        out.load().clear();
        out.transmit(Frame { duration, ..cts }, rules.cts_to_self);
    }
}
