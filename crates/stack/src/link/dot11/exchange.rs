//! The sending side of a frame exchange: attempts, success, failure, the next fragment.

use super::MacOut;
use super::dcf::{Answer, Doing, Next, Role, Sent, Service, Station};
use super::frame::{BROADCAST, Distribution, Frame, FrameKind, Msdu, Outcome};
use super::rates::{Airtime, PhyRate};
use super::retries::Retries;
use super::standard::Protection;
use crate::hooks::Arq;
use crate::units::{Span, Time};

/// Sequence numbers have 12 bits.
pub(super) const SEQUENCE_MASK: u16 = 0x0FFF;

impl<A: Arq> Station<A> {
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
        let config = &self.rules.config;
        let body = (config.llc + msdu.bytes - offset).min(self.rules.longest_body);
        let payload = body - config.llc.saturating_sub(offset).min(body);
        let bytes = self.rules.overhead + body;
        let rate = self.rate_of(&msdu);
        if (bytes, payload, rate) != (self.last_airtime.0, self.last_airtime.1, self.last_airtime.2) {
            let on_air = self.rules.on_air(body).1;
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
        let planned = self.plans.as_ref().and_then(|plans| plans.rate(msdu.handle));
        planned.unwrap_or_else(|| self.rules.data_rate(self.address, msdu.next)).rate
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
        self.access.take();
        (self.armed, self.is_committed) = (Time::NEVER, false);
        let rules = &*self.rules;
        if service.is_to_all() || !rules.is_protected(rules.overhead + service.body, service.rate) {
            self.send_data(out);
            return;
        }
        let ack = rules.response(service.rate).ack.total;
        if rules.config.protection == Protection::CtsToSelf {
            let duration = rules.config.sifs * 2 + service.airtime.total + ack;
            let (bytes, rate) = (rules.config.cts, rules.protection_rate);
            let to_self = Frame::new(FrameKind::Cts, BROADCAST, self.address, bytes, rate);
            self.doing = Doing::Sending(Sent::CtsToSelf);
            out.transmit(Frame { duration, ..to_self }, rules.cts_to_self);
            return;
        }
        let cts = rules.response(rules.protection_rate).cts.total;
        let duration = rules.config.sifs * 3 + cts + service.airtime.total + ack;
        let (receiver, bytes, rate) = (service.msdu.next, rules.config.rts, rules.protection_rate);
        let rts = Frame::new(FrameKind::Rts, receiver, self.address, bytes, rate);
        self.doing = Doing::Sending(Sent::Rts);
        self.counters.rts_sent += 1;
        out.transmit(Frame { duration, ..rts }, rules.rts);
    }

    /// Discards the MSDU in service if its lifetime is over (IEEE 802.11-1999, 9.4).
    fn expire(&mut self, now: Time, out: &mut impl MacOut) {
        let Some(Service { msdu, begun, .. }) = self.service else { return };
        if self.rules.is_over(begun, now) {
            self.retries = Retries::default();
            self.counters.undelivered += 1;
            self.part(msdu, Outcome::Undelivered, out);
        }
    }

    /// Sends the frame in service.
    pub(super) fn send_data(&mut self, out: &mut impl MacOut) {
        let Some(service) = self.service else { return };
        let follows = self.following(&service);
        let rules = &*self.rules;
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
        self.doing = Doing::Sending(Sent::Data);
        self.counters.data_sent += 1;
        self.counters.attempts[self.attempts_before().min(3) as usize] += 1;
        out.transmit(frame, service.airtime);
    }

    /// The frame of a fragment.
    pub(super) fn data_frame(&self, service: &Service, duration: Span, more_fragments: bool) -> Frame {
        let (coded, bytes) = self.rules.on_air(service.body);
        let frame = Frame::new(FrameKind::Data, service.msdu.next, self.address, bytes, service.rate);
        Frame {
            duration,
            sequence: service.sequence,
            fragment: service.fragment,
            retry: service.sent,
            more_fragments,
            more_data: self.has_more(service),
            distribution: self.distribution(),
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

    /// To DS and From DS of what it sends.
    pub(super) fn distribution(&self) -> Distribution {
        match self.role {
            Role::AdHoc => Distribution::AdHoc,
            Role::Station { .. } => Distribution::ToAp,
            Role::AccessPoint => Distribution::FromAp,
        }
    }

    /// Whether more fragments follow this one.
    pub(super) fn is_fragmented(&self, service: &Service) -> bool {
        service.offset + service.body < self.rules.config.llc + service.msdu.bytes
    }

    /// The airtime of the fragment that follows, if one does.
    fn following(&self, service: &Service) -> Option<Span> {
        if service.is_last_of_burst {
            return None;
        }
        let config = &self.rules.config;
        let left = config.llc + service.msdu.bytes - service.offset - service.body;
        let (_, bytes) = self.rules.on_air(left.min(self.rules.longest_body));
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
        self.counters.delivered += 1;
        self.part(service.msdu, Outcome::Delivered, out);
        false
    }

    /// Releases the MSDU in service and takes the next.
    pub(super) fn part(&mut self, msdu: Msdu, outcome: Outcome, out: &mut impl MacOut) {
        if self.part_with_unit(outcome, out) {
            return;
        }
        self.room.release(&msdu, &self.rules);
        let next = self.queue.pop_front();
        self.service = next.map(|next| self.first_fragment(next));
        out.done(msdu.handle, outcome);
    }

    /// The data frame was acknowledged: its next fragment follows after SIFS, or the exchange is over.
    pub(super) fn succeed(&mut self, now: Time, out: &mut impl MacOut) {
        let goes_on =
            if self.units.is_some() { self.unit_acknowledged(now, out) } else { self.acknowledged(out) };
        if goes_on {
            self.doing = Doing::Gap(Next::Data);
            out.set_timer(now + self.rules.config.sifs);
            return;
        }
        out.cancel_timer();
        self.leave(now, out);
    }

    /// No answer came: tries again, or discards the MSDU (IEEE 802.11-2012, 9.3.4.4).
    pub(super) fn fail(&mut self, answer: Answer, now: Time, out: &mut impl MacOut) {
        match answer {
            Answer::Cts => self.counters.cts_missing += 1,
            Answer::Ack => self.counters.ack_missing += 1,
            Answer::CfAck => return self.miss_contention_free(now, out),
            Answer::Polled => return self.pass_over(false, now, out),
        }
        if !self.count_failure(answer, out) {
            self.window = self.rules.widen(self.window);
        }
        self.leave(now, out);
        if self.rules.config.access.difs_after_failure && !self.access.busy {
            self.access.count_from(now + self.rules.difs);
            self.wait_for_turn(now, out);
        }
    }

    /// Counts a failed attempt, and discards the MSDU at the limit. Returns whether the contention window was reset.
    pub(super) fn count_failure(&mut self, answer: Answer, out: &mut impl MacOut) -> bool {
        let Some(service) = self.service else { return false };
        let is_lost = service.lost && answer != Answer::Cts;
        let is_short = answer == Answer::Cts
            || !self.rules.is_protected(self.rules.overhead + service.body, service.rate);
        if !self.unit_failed(is_lost, out) {
            let at_limit = self.retries.count(is_short, &self.rules.config);
            let is_over = self.count_planned(&service).unwrap_or(at_limit) || is_lost;
            if is_over {
                self.retries = Retries::default();
                self.counters.undelivered += 1;
                self.part(service.msdu, Outcome::Undelivered, out);
            }
        }
        let is_reset = self.failures.count(is_short, &self.rules.config) || is_lost;
        if is_reset {
            self.reset_window();
        }
        is_reset
    }

    /// The contention window is the smallest again, and the station's failures are forgotten (see `retries.rs`).
    pub(super) fn reset_window(&mut self) {
        self.window = self.rules.config.cw_min;
        self.failures = Retries::default();
    }

    /// The exchange is over: returns to contention with a new backoff.
    fn leave(&mut self, now: Time, out: &mut impl MacOut) {
        self.doing = Doing::Contend;
        if self.has_work() || self.rules.config.access.post_backoff {
            self.back_off(out);
        }
        self.resume(now, out);
    }

    /// Something else than the answer came: the attempt has failed (9.3.2.6, 9.3.2.8).
    #[inline]
    pub(super) fn stop_waiting(&mut self, now: Time, out: &mut impl MacOut) {
        match self.doing {
            Doing::Await(answer) => {
                out.cancel_timer();
                self.fail(answer, now, out);
            }
            Doing::Late(answer) => self.fail(answer, now, out),
            Doing::Contend | Doing::Gap(_) | Doing::Sending(_) | Doing::Expect => {}
        }
    }

    /// Whether the next frame must be held back because the medium is not idle: a CTS or the data frame after one,
    /// where these need an idle medium.
    #[inline]
    pub(super) fn must_hold(&self, now: Time) -> bool {
        !self.rules.config.access.blind_exchange
            && (self.access.busy || self.access.is_reserved(now))
            && (self.doing == Doing::Gap(Next::Data) || self.answer.0.kind == FrameKind::Cts)
    }

    /// Leaves an exchange that finds the medium busy: the CTS is not sent, and the data frame waits for another turn.
    pub(super) fn hold(&mut self, now: Time, out: &mut impl MacOut) {
        if self.doing == Doing::Gap(Next::Data) {
            self.window = self.rules.widen(self.window);
            self.back_off(out);
        }
        self.doing = Doing::Contend;
        self.resume(now, out);
    }

    /// Sends `frame` after SIFS.
    pub(super) fn answer_with(&mut self, frame: Frame, airtime: Airtime, now: Time, out: &mut impl MacOut) {
        self.answer = (frame, airtime);
        self.armed = Time::NEVER;
        self.doing = Doing::Gap(Next::Answer);
        out.set_timer(now + self.rules.config.sifs);
    }
}
