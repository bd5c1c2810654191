//! The sending side of an exchange: aggregation, RTS, data, BlockAckReq; success and failure.

use super::super::frame::{Frame, FrameKind, Msdu, Outcome};
use super::super::mode::Mode;
use super::super::rates::Airtime;
use super::super::shared::{Core, Exchange};
use super::contend::Contender;
use super::load::{BlockAck, Mpdu, MpduFate};
use super::{Answer, BLOCK_ACK_REQUEST, CATEGORIES, DELIMITER, Doing, Edca, MacOut, Next, Sent, Service};
use crate::hooks::Arq;
use crate::units::{Span, Time};

/// Bytes of an A-MPDU: without padding after its last MPDU and with it, and of the packets in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Filled {
    pub(super) end: u32,
    pub(super) padded: u32,
    pub(super) payload: u32,
}

impl<A: Arq + Clone> Exchange for Edca<A> {
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

    fn is_at_rest(&self) -> bool {
        let rests = |contender: &Contender| contender.backoff.is_none() && !contender.has_work();
        self.core.armed == Time::NEVER
            && self.core.contends()
            && self.committed == 0
            && self.uplink.due == Time::NEVER
            && self.core.carrier.idle_from(Span::ZERO) >= self.not_before
            && self.contenders.iter().all(rests)
    }

    fn resume(&mut self, now: Time, out: &mut impl MacOut) {
        if self.core.carrier.busy {
            return;
        }
        let (base, mu) = (self.base(), self.mu_edca());
        self.note_due(now);
        for category in 0..CATEGORIES {
            let contender = &mut self.contenders[category];
            contender.restore(&self.core.rules, now);
            contender.counting_from = contender.opens(base, mu).max(now);
            if contender.has_work() {
                self.ensure_backoff(category, out);
            }
        }
        self.wait_for_turn(out);
    }

    fn fail(&mut self, answer: Answer, now: Time, out: &mut impl MacOut) {
        match answer {
            Answer::Together => return self.end_together(now, out),
            Answer::Uplink => return self.on_uplink_over(now, out),
            Answer::Confirmation => return self.on_unconfirmed(now, out),
            Answer::Cts | Answer::Ack | Answer::BlockAck => {}
        }
        let of = self.service.of;
        self.land();
        self.learn(0, false);
        match answer {
            Answer::Cts => {
                self.core.counters.cts_missing += 1;
                self.miss_cts(now);
                for mpdu in &self.burst {
                    if let Some(numbered) = self.originators[of].get(mpdu.sequence) {
                        numbered.attempts = numbered.attempts.saturating_add(1);
                    }
                }
                self.count_planned();
                if self.burst.is_empty() { self.miss_block_ack(out) } else { self.give_up(out) }
            }
            Answer::Ack => {
                self.core.counters.ack_missing += 1;
                self.give_up(out);
            }
            _ => self.miss_block_ack(out),
        }
        self.leave_unasked();
        self.end_failed(now, out);
    }

    fn on_idle_apart(&mut self, now: Time, out: &mut impl MacOut) {
        self.follow_radio(now, out);
    }

    fn answer_with(&mut self, frame: Frame, airtime: Airtime, now: Time, out: &mut impl MacOut) {
        self.engage(frame.receiver);
        self.core.answer_with(Next::Answer, (frame, airtime), now, out);
    }
}

impl<A: Arq + Clone> Edca<A> {
    /// A category has access to the medium.
    pub(super) fn attempt(&mut self, category: usize, now: Time, out: &mut impl MacOut) {
        self.seize(category, now);
        self.expire(category, now, out);
        let txop = self.config.access[category].txop;
        if self.solicits(category, (txop > Span::ZERO).then_some(txop), now, out) {
            return;
        }
        loop {
            let Some(of) = self.select(category) else {
                self.core.doing = Doing::Contend;
                self.resume(now, out);
                return;
            };
            self.service = Service { of, ends: now.after(txop), ..Service::default() };
            self.choose_mode(of, now, out);
            if self.originators[of].owes() {
                self.burst.clear();
                self.several.clear();
                self.begin(false, out);
                return;
            }
            if self.gather(of, (txop > Span::ZERO).then_some(txop), now, out) {
                break;
            }
            let response = self.core.rules.config.sifs + self.originators[of].block_ack.total;
            let limit = if txop == Span::ZERO {
                self.config.aggregate.time
            } else {
                Span(txop.0.saturating_sub(response.0))
            };
            self.prepare(limit, now);
            if !self.drop_given_up(out) || !self.burst.is_empty() {
                break;
            }
        }
        let is_long = self.service.bytes > self.core.rules.rts_threshold && !self.is_to_all();
        self.begin(is_long, out);
    }

    /// Discards the packets of a category whose lifetime is over, receiver by receiver in the order in which they are
    /// served.
    fn expire(&mut self, category: usize, now: Time, out: &mut impl MacOut) {
        let Some(lifetime) = self.config.lifetime else { return };
        let Some(until) = now.0.checked_sub(lifetime.0).map(Time) else { return };
        while let Some(of) = self.select(category).filter(|of| !self.originators[*of].owes_request) {
            let Edca { core: Core { counters, .. }, originators, contenders, block_acks, .. } = self;
            let before = block_acks.expired;
            originators[of].expire(until, |handle| {
                contenders[category].remove();
                (counters.undelivered, block_acks.expired) =
                    (counters.undelivered + 1, block_acks.expired + 1);
                out.done(handle, Outcome::Expired);
            });
            if self.block_acks.expired == before {
                return;
            }
            self.refresh(of);
        }
    }

    /// The agreement that a category serves: one that owes a BlockAckReq, or that of the oldest packet.
    fn select(&self, category: usize) -> Option<usize> {
        let active = self.contenders[category].active.iter().map(|place| *place as usize);
        active.min_by_key(|place| {
            let originator = &self.originators[*place];
            (!originator.owes(), originator.order())
        })
    }

    /// From the end of the PPDU prepared to that of its last answer.
    pub(super) fn answers(&self) -> Span {
        if self.several.is_empty() {
            self.core.rules.config.sifs + self.response().total
        } else {
            self.several.sequence()
        }
    }

    /// The answer to the PPDU prepared.
    pub(super) fn response(&self) -> Airtime {
        if self.burst.len() > 1 {
            self.originators[self.service.of].block_ack
        } else {
            self.core.rules.response(self.originators[self.service.of].rate).ack
        }
    }

    /// Aggregates what one PPDU can carry that lasts at most `limit`.
    fn prepare(&mut self, limit: Span, now: Time) {
        let mode = self.originators[self.service.of].mode;
        let most = self.config.aggregate.bytes.min(mode.capacity(limit.min(self.config.aggregate.time)));
        let Filled { end, payload, .. } = self.fill(mode, most, self.limit(), now);
        self.take_off();
        (self.service.bytes, self.service.airtime) = (end, self.airtime(self.service.of, end, payload));
    }

    /// Aggregates MPDUs up to this number of bytes and to a limit, and at least one.
    pub(super) fn fill(&mut self, mode: Mode, most: u32, limit: Option<usize>, now: Time) -> Filled {
        let Edca { core: Core { rules, plans, .. }, config, originators, burst, service, .. } = self;
        let originator = &mut originators[service.of];
        let rate = originator.data_rate();
        let may_go = |msdu: &Msdu| plans.as_ref().is_none_or(|plans| plans.rate(msdu.handle) == Some(rate));
        let count = limit.unwrap_or(config.aggregate.count.min(config.window) as usize);
        let least = config.least_subframe(mode);
        let (mut place, mut padded, mut end, mut payload) = (0, 0, 0, 0);
        let size_of = |msdu: &Msdu| rules.overhead + rules.config.llc + msdu.bytes;
        burst.clear();
        while burst.len() < count {
            let (padded_before, is_first) = (padded, burst.is_empty());
            let fits = |msdu: &Msdu| is_first || padded_before + DELIMITER + size_of(msdu) <= most;
            let next = if originator.choosing.is_some() {
                originator.select(&mut place, now, fits)
            } else {
                let found = originator.candidate(place).filter(|(_, msdu, _)| fits(msdu) && may_go(msdu));
                found.map(|(found, msdu, attempts)| {
                    place = found + 1;
                    (originator.number(found), msdu, attempts)
                })
            };
            let Some((sequence, msdu, attempts)) = next else { break };
            let bytes = size_of(&msdu);
            end = padded + DELIMITER + bytes;
            padded += (DELIMITER + bytes).next_multiple_of(4).max(least);
            payload += msdu.bytes;
            let Msdu { handle, class, bytes: packet, .. } = msdu;
            let fate = MpduFate::Received;
            burst.push(Mpdu { handle, sequence, attempts, class, bytes, payload: packet, fate });
        }
        if let [single] = burst[..] {
            end = config.single(single.bytes);
        }
        Filled { end, padded, payload }
    }

    /// Sends the PPDU prepared.
    pub(super) fn send_data(&mut self, out: &mut impl MacOut) {
        if !self.several.is_empty() {
            self.send_to_several(out);
            return;
        }
        let answered = self.core.rules.config.sifs + self.response().total;
        let duration = if self.is_to_all() { Span::ZERO } else { answered };
        let Service { of, bytes, airtime, .. } = self.service;
        let Some(first) = self.burst.first() else { return };
        let originator = &mut self.originators[of];
        let category = super::Category::ALL[originator.category];
        let frame = Frame::new(FrameKind::Data, originator.peer, self.core.address, bytes, originator.rate);
        let frame = Frame {
            duration,
            sequence: first.sequence,
            retry: first.attempts > 0,
            msdu: Some(first.handle),
            class: first.class,
            more_data: originator.has_more(self.burst.len()),
            mode: originator.has_mode.then_some(originator.mode),
            mpdus: if originator.is_outside { 0 } else { self.burst.len() as u16 },
            category,
            distribution: self.core.distribution(),
            ..frame
        };
        self.count_sent();
        self.core.doing = Doing::Sending(Sent::Data);
        let reports = self.reports_beside(frame.receiver, Some(category));
        let load = out.load();
        load.clear();
        if frame.mpdus > 0 {
            load.mpdus.extend_from_slice(&self.burst);
        }
        load.reports = reports;
        out.transmit(frame, airtime);
    }

    /// Counts an attempt of the MPDUs in service.
    pub(super) fn count_sent(&mut self) {
        let originator = &mut self.originators[self.service.of];
        for mpdu in &self.burst {
            if let Some(numbered) = originator.get(mpdu.sequence) {
                numbered.attempts = numbered.attempts.saturating_add(1);
                numbered.sent = numbered.sent.saturating_add(1);
            }
            self.core.counters.attempts[usize::from(mpdu.attempts.min(3))] += 1;
        }
        self.count_planned();
        self.core.counters.data_sent += self.burst.len() as u64;
        if self.burst.len() > 1 {
            self.block_acks.aggregates += 1;
            self.block_acks.aggregated += self.burst.len() as u64;
        }
    }

    /// Requests a BlockAck, and moves the window of the receiver.
    pub(super) fn send_request(&mut self, out: &mut impl MacOut) {
        let originator = &self.originators[self.service.of];
        let rate = self.core.rules.response(originator.rate).rate;
        let frame =
            Frame::new(FrameKind::BlockAckReq, originator.peer, self.core.address, BLOCK_ACK_REQUEST, rate);
        let frame = Frame {
            duration: self.core.rules.config.sifs + originator.block_ack.total,
            sequence: originator.start,
            category: super::Category::ALL[originator.category],
            ..frame
        };
        self.block_acks.requests += 1;
        self.take_off();
        self.core.doing = Doing::Sending(Sent::Request);
        out.load().clear();
        out.transmit(frame, self.core.rules.config.phy.airtime(BLOCK_ACK_REQUEST, 0, rate));
    }

    /// A CTS: the data frame follows.
    pub(super) fn on_cts(&mut self, now: Time, out: &mut impl MacOut) {
        if self.core.awaits(Answer::Cts) {
            let next = if self.burst.is_empty() { Next::Request } else { Next::Data };
            self.core.after_sifs(next, now, out);
        } else {
            self.stop_waiting(now, out);
        }
    }

    /// An Ack of the one MPDU sent.
    pub(super) fn on_ack(&mut self, now: Time, out: &mut impl MacOut) {
        if self.core.awaits(Answer::Ack)
            && let Some(single) = self.burst.first()
        {
            let sequence = single.sequence;
            self.land();
            self.learn(1, true);
            self.settle(|other| (other == sequence).then_some(Outcome::Delivered), out);
            self.originators[self.service.of].return_failed();
            self.succeed(now, out);
        } else {
            self.stop_waiting(now, out);
        }
    }

    /// A BlockAck.
    pub(super) fn on_block_ack(&mut self, block: &BlockAck, now: Time, out: &mut impl MacOut) {
        if self.core.awaits(Answer::BlockAck) {
            self.land();
            self.acknowledge(block, out);
            self.succeed(now, out);
        } else {
            self.stop_waiting(now, out);
        }
    }

    /// Takes in what a BlockAck of the agreement in service reports.
    pub(super) fn acknowledge(&mut self, block: &BlockAck, out: &mut impl MacOut) {
        let acknowledged = self.burst.iter().filter(|mpdu| block.has(mpdu.sequence)).count();
        self.learn(acknowledged, true);
        self.settle_block(block, out);
    }

    /// The exchange has succeeded: the TXOP continues if it lasts for another one.
    pub(super) fn succeed(&mut self, now: Time, out: &mut impl MacOut) {
        out.cancel_timer();
        let category = self.originators[self.service.of].category;
        self.contenders[category].succeed();
        if self.asks_next(now, out) {
            return;
        }
        if self.goes_on(category, now, out) {
            self.core.after_sifs(Next::Data, now, out);
            return;
        }
        self.leave(category, now, out);
    }

    /// Prepares another exchange of the TXOP, if there is time for one.
    fn goes_on(&mut self, category: usize, now: Time, out: &mut impl MacOut) -> bool {
        let Service { ends, .. } = self.service;
        if self.config.access[category].txop == Span::ZERO {
            return false;
        }
        let Some(of) = self.select(category) else { return false };
        if self.originators[of].owes_request
            || self.originators[of].choosing.is_some()
            || self.changes_radio(of)
        {
            return false;
        }
        let whole = Span(ends.since(now).0.saturating_sub(self.core.rules.config.sifs.0));
        if self.gather(of, Some(whole), now, out) {
            return true;
        }
        self.choose_mode(of, now, out);
        let around = self.core.rules.config.sifs * 2 + self.originators[of].block_ack.total;
        let left = Span(ends.since(now).0.saturating_sub(around.0));
        let Some((_, first, _)) = self.originators[of].candidate(0) else { return false };
        let bytes = self.config.single(self.core.rules.overhead + self.core.rules.config.llc + first.bytes);
        if self.airtime(of, bytes, 0).total > left {
            return false;
        }
        self.service.of = of;
        self.prepare(left, now);
        true
    }

    /// The exchange has failed.
    pub(super) fn end_failed(&mut self, now: Time, out: &mut impl MacOut) {
        let category = self.originators[self.service.of].category;
        self.note_failure();
        self.contenders[category].fail(self.core.rules.config.short_retry);
        if self.core.rules.config.access.difs_after_failure {
            self.not_before = now;
        }
        self.leave(category, now, out);
    }

    /// The exchange is over: returns to contention with a new backoff.
    pub(super) fn leave(&mut self, category: usize, now: Time, out: &mut impl MacOut) {
        self.core.doing = Doing::Contend;
        self.burst.clear();
        self.several.clear();
        self.end_exchange(category, now);
        if self.contenders[category].has_work() || self.core.rules.config.access.post_backoff {
            self.back_off(category, out);
        }
        self.resume(now, out);
    }
}
