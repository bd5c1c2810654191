//! The sending side of a frame exchange: attempts, success, failure, the next fragment.

use super::MacOut;
use super::dcf::{Answer, Dcf, Doing, Next, Sent, Service};
use super::frame::{BROADCAST, Frame, FrameKind, Msdu, Outcome};
use super::mac::Mac;
use super::rates::{Airtime, PhyRate};
use super::retries::Retries;
use super::shared::{Core, Exchange};
use super::standard::Protection;
use crate::hooks::Arq;
use crate::units::{Span, Time};

/// Sequence numbers have 12 bits.
pub(super) const SEQUENCE_MASK: u16 = 0x0FFF;

impl<A: Arq> Exchange for Dcf<A> {
    type Next = Next;
    type Sent = Sent;
    type Answer = Answer;

    #[inline]
    fn core(&self) -> &Core<Next, Sent, Answer> {
        &self.core
    }

    #[inline]
    fn core_mut(&mut self) -> &mut Core<Next, Sent, Answer> {
        &mut self.core
    }

    #[inline]
    fn is_at_rest(&self) -> bool {
        !self.core.carrier.is_backing_off() && self.only_follows()
    }

    fn resume(&mut self, now: Time, out: &mut impl MacOut) {
        if self.core.carrier.busy {
            return;
        }
        self.core.carrier.open(now, &self.core.rules);
        self.go_on(now, out);
    }

    /// No answer came: tries again, or discards the MSDU (IEEE 802.11-2012, 9.3.4.4).
    fn fail(&mut self, answer: Answer, now: Time, out: &mut impl MacOut) {
        match answer {
            Answer::Cts => self.core.counters.cts_missing += 1,
            Answer::Ack => self.core.counters.ack_missing += 1,
            Answer::CfAck => return self.miss_contention_free(now, out),
            Answer::Polled => return self.pass_over(false, now, out),
        }
        if !self.count_failure(answer, out) {
            self.window = self.core.rules.widen(self.window);
        }
        self.leave(now, out);
        if self.core.rules.config.access.difs_after_failure && !self.core.carrier.busy {
            self.core.carrier.count_from(now + self.core.rules.difs);
            self.wait_for_turn(now, out);
        }
    }

    fn answer_with(&mut self, frame: Frame, airtime: Airtime, now: Time, out: &mut impl MacOut) {
        self.core.answer_with(Next::Answer, (frame, airtime), now, out);
    }
}

impl<A: Arq> Dcf<A> {
    /// The first fragment of an MSDU, with the next sequence number.
    pub(super) fn first_fragment(&mut self, msdu: Msdu) -> Service {
        let sequence = self.take_sequence();
        self.fragment_at(msdu, sequence, 0, 0)
    }

    /// The sequence number of the next MSDU or beacon.
    pub(super) fn take_sequence(&mut self) -> u16 {
        let sequence = self.next_sequence;
        self.next_sequence = (sequence + 1) & SEQUENCE_MASK;
        sequence
    }

    pub(super) fn fragment_at(&mut self, msdu: Msdu, sequence: u16, fragment: u8, offset: u32) -> Service {
        let config = &self.core.rules.config;
        let body = (config.llc + msdu.bytes - offset).min(self.core.rules.longest_body);
        let payload = body - config.llc.saturating_sub(offset).min(body);
        let bytes = self.core.rules.overhead + body;
        let rate = self.rate_of(&msdu);
        if (bytes, payload, rate) != (self.last_airtime.0, self.last_airtime.1, self.last_airtime.2) {
            let on_air = self.core.rules.on_air(body).1;
            self.last_airtime = (bytes, payload, rate, config.phy.airtime(on_air, payload, rate));
        }
        let airtime = self.last_airtime.3;
        Service {
            msdu,
            begun: Time::NEVER,
            sequence,
            fragment,
            offset,
            body,
            rate,
            airtime,
            sent: false,
            lost: false,
            is_last_of_burst: false,
        }
    }

    /// The rate of the next attempt at a frame.
    fn rate_of(&self, msdu: &Msdu) -> PhyRate {
        let planned = self.core.plans.as_ref().and_then(|plans| plans.rate(msdu.handle));
        planned.unwrap_or_else(|| self.core.rules.data_rate(self.core.address, msdu.next)).rate
    }

    /// Its turn has come: sends the frame in service, or what protects it: an RTS, or a CTS that nobody answers
    /// (IEEE 802.11-2012, 9.3.2.11).
    pub(super) fn attempt(&mut self, now: Time, out: &mut impl MacOut) {
        self.expire(now, out);
        if self.units.is_some() {
            self.take_up(now, out);
        }
        let Some(service) = &mut self.service else { return };
        service.begun = service.begun.min(now);
        self.core.carrier.take();
        (self.core.armed, self.is_committed) = (Time::NEVER, false);
        let rules = &*self.core.rules;
        if service.is_to_all() || !rules.is_protected(rules.overhead + service.body, service.rate) {
            self.send_data(out);
            return;
        }
        let ack = rules.response(service.rate).ack.total;
        if rules.config.protection == Protection::CtsToSelf {
            let duration = rules.config.sifs * 2 + service.airtime.total + ack;
            let (bytes, rate) = (rules.config.cts, rules.protection_rate);
            let to_self = Frame::new(FrameKind::Cts, BROADCAST, self.core.address, bytes, rate);
            self.core.doing = Doing::Sending(Sent::CtsToSelf);
            out.transmit(Frame { duration, ..to_self }, rules.cts_to_self);
            return;
        }
        let cts = rules.response(rules.protection_rate).cts.total;
        let duration = rules.config.sifs * 3 + cts + service.airtime.total + ack;
        let (receiver, bytes, rate) = (service.msdu.next, rules.config.rts, rules.protection_rate);
        let rts = Frame::new(FrameKind::Rts, receiver, self.core.address, bytes, rate);
        self.core.doing = Doing::Sending(Sent::Rts);
        self.core.counters.rts_sent += 1;
        out.transmit(Frame { duration, ..rts }, rules.rts);
    }

    /// Discards the MSDU in service if its lifetime is over (IEEE 802.11-1999, 9.4).
    fn expire(&mut self, now: Time, out: &mut impl MacOut) {
        let Some(Service { msdu, begun, .. }) = self.service else { return };
        if self.core.rules.is_over(begun, now) {
            self.retries = Retries::default();
            self.core.counters.undelivered += 1;
            self.part(msdu, Outcome::Undelivered, out);
        }
    }

    /// Sends the frame in service.
    pub(super) fn send_data(&mut self, out: &mut impl MacOut) {
        let Some(service) = self.service else { return };
        let follows = self.following(&service);
        let rules = &*self.core.rules;
        let ack = rules.response(service.rate).ack.total;
        let duration = match follows {
            None if service.is_to_all() => Span::ZERO,
            None => rules.config.sifs + ack,
            Some(airtime) => rules.config.sifs * 3 + ack * 2 + airtime,
        };
        let frame = self.data_frame(&service, duration, self.is_fragmented(&service));
        if let Some(service) = &mut self.service {
            service.sent = true;
        }
        self.core.doing = Doing::Sending(Sent::Data);
        self.core.counters.data_sent += 1;
        self.core.counters.attempts[self.attempts_before().min(3) as usize] += 1;
        out.transmit(frame, service.airtime);
    }

    /// The frame of a fragment.
    pub(super) fn data_frame(&self, service: &Service, duration: Span, more_fragments: bool) -> Frame {
        let (coded, bytes) = self.core.rules.on_air(service.body);
        let frame = Frame::new(FrameKind::Data, service.msdu.next, self.core.address, bytes, service.rate);
        Frame {
            duration,
            sequence: service.sequence,
            fragment: service.fragment,
            retry: service.sent,
            more_fragments,
            more_data: self.has_more(service),
            distribution: self.core.distribution(),
            msdu: Some(service.msdu.handle),
            class: service.msdu.class,
            coded,
            ..frame
        }
    }

    /// Whether it has more to send, to whomever.
    fn has_more(&self, service: &Service) -> bool {
        self.is_fragmented(service) || self.backlog() > 1
    }

    /// Whether more fragments follow this one.
    pub(super) fn is_fragmented(&self, service: &Service) -> bool {
        service.offset + service.body < self.core.rules.config.llc + service.msdu.bytes
    }

    /// The airtime of the fragment that follows, if one does.
    fn following(&self, service: &Service) -> Option<Span> {
        if service.is_last_of_burst {
            return None;
        }
        let config = &self.core.rules.config;
        let left = config.llc + service.msdu.bytes - service.offset - service.body;
        let (_, bytes) = self.core.rules.on_air(left.min(self.core.rules.longest_body));
        (left > 0).then(|| config.phy.airtime(bytes, 0, service.rate).total)
    }

    /// The frame in service was acknowledged. Returns whether a fragment follows it.
    pub(super) fn acknowledged(&mut self, out: &mut impl MacOut) -> bool {
        let Some(service) = self.service else { return false };
        self.count_success(&service);
        self.reset_window();
        self.retries = Retries::default();
        if self.is_fragmented(&service) {
            let offset = service.offset + service.body;
            let next = self.fragment_at(service.msdu, service.sequence, service.fragment + 1, offset);
            self.service = Some(Service { begun: service.begun, ..next });
            return true;
        }
        self.core.counters.delivered += 1;
        self.part(service.msdu, Outcome::Delivered, out);
        false
    }

    /// Releases the MSDU in service and takes the next.
    pub(super) fn part(&mut self, msdu: Msdu, outcome: Outcome, out: &mut impl MacOut) {
        if self.part_with_unit(outcome, out) {
            return;
        }
        self.room.release(&msdu, &self.core.rules);
        let next = self.queue.pop_front();
        self.service = next.map(|next| self.first_fragment(next));
        out.done(msdu.handle, outcome);
    }

    /// The data frame was acknowledged: its next fragment follows after SIFS, or the exchange is over.
    pub(super) fn succeed(&mut self, now: Time, out: &mut impl MacOut) {
        let goes_on =
            if self.units.is_some() { self.unit_acknowledged(now, out) } else { self.acknowledged(out) };
        if goes_on {
            self.core.after_sifs(Next::Data, now, out);
            return;
        }
        out.cancel_timer();
        self.leave(now, out);
    }

    /// Counts a failed attempt, and discards the MSDU at the limit. Returns whether the contention window was reset.
    pub(super) fn count_failure(&mut self, answer: Answer, out: &mut impl MacOut) -> bool {
        let Some(service) = self.service else { return false };
        let is_lost = service.lost && answer != Answer::Cts;
        let is_short = answer == Answer::Cts
            || !self.core.rules.is_protected(self.core.rules.overhead + service.body, service.rate);
        if !self.unit_failed(is_lost, out) {
            let at_limit = self.retries.count(is_short, &self.core.rules.config);
            let is_over = self.count_planned(&service).unwrap_or(at_limit) || is_lost;
            if is_over {
                self.retries = Retries::default();
                self.core.counters.undelivered += 1;
                self.part(service.msdu, Outcome::Undelivered, out);
            }
        }
        let is_reset = self.failures.count(is_short, &self.core.rules.config) || is_lost;
        if is_reset {
            self.reset_window();
        }
        is_reset
    }

    /// The contention window is the smallest again, and the station's failures are forgotten (see `retries.rs`).
    pub(super) fn reset_window(&mut self) {
        self.window = self.core.rules.config.cw_min;
        self.failures = Retries::default();
    }

    /// The exchange is over: returns to contention with a new backoff.
    fn leave(&mut self, now: Time, out: &mut impl MacOut) {
        self.core.doing = Doing::Contend;
        if self.has_work() || self.core.rules.config.access.post_backoff {
            self.back_off(out);
        }
        self.resume(now, out);
    }

    /// Whether the next frame must be held back because the medium is not idle: a CTS or the data frame after one,
    /// where these need an idle medium.
    #[inline]
    pub(super) fn must_hold(&self, now: Time) -> bool {
        !self.core.rules.config.access.blind_exchange
            && (self.core.carrier.busy || self.core.carrier.is_reserved(now))
            && (self.core.doing == Doing::Gap(Next::Data) || self.core.answer.0.kind == FrameKind::Cts)
    }

    /// Leaves an exchange that finds the medium busy: the CTS is not sent, and the data frame waits for another turn.
    pub(super) fn hold(&mut self, now: Time, out: &mut impl MacOut) {
        if self.core.doing == Doing::Gap(Next::Data) {
            self.window = self.core.rules.widen(self.window);
            self.back_off(out);
        }
        self.core.doing = Doing::Contend;
        self.resume(now, out);
    }
}
