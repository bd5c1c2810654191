//! PPDUs to several stations (downlink OFDMA): who gets one, what it carries, and how they acknowledge it.
//!
//! **Source.** IEEE 802.11ax-2021, 26.5.1 (HE MU PPDUs), 9.3.1.22 (triggers), 26.5.2.3 (answers to a trigger), 10.25 and
//! 26.4.2 (acknowledgements); annex G for the sequences of frames.
//!
//! **Choices.**
//! 1. All RUs are equal, and each has a station: their number is the largest that is not above that of the stations to serve. The
//!    others have to wait for another turn.
//! 2. An RU in which the first MPDU of one of these stations does not fit is too small: fewer stations get larger ones.
//! 3. A PPDU to several is sent when the agreement with the oldest packet, which has the turn, and another one can have part in
//!    it. A turn with nobody else, and that of a station without OFDMA, is that of a PPDU to one station.
//! 4. One that gets no answer ends a sequence of BlockAckReqs. The stations that were not asked yet owe a BlockAck, as
//!    after a loss.
//! 5. An exchange with a trigger has succeeded if at least one station answered.
//! 6. A trigger within an A-MPDU arrives if any MPDU of that does. Nothing rides in an answer to a trigger, whose length the
//!    trigger sets.
//! 7. RTS does not protect PPDUs to several (no MU-RTS), CTS-to-self does.

use super::super::frame::{BROADCAST, Frame, FrameKind};
use super::super::mode::Mode;
use super::super::rates::Airtime;
use super::super::ru::Ru;
use super::super::shared::{Exchange, Role};
use super::config::{Acknowledgement, BLOCK_ACK_REQUEST, DELIMITER, Ofdma, Scheduler};
use super::load::{Answering, BlockAck, Mpdu, Share};
use super::{Answer, Category, Doing, Edca, MacOut, Next, Sent};
use crate::hooks::Arq;
use crate::packet::NodeId;
use crate::units::{Span, Time};

/// What a PPDU to several has for one of them.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// The agreement, by its place.
    of: usize,
    mode: Mode,
    /// Its MPDUs among all.
    first: usize,
    end: usize,
    is_answered: bool,
}

/// The PPDU to several stations in service, if there is one.
#[derive(Clone, Debug, Default)]
pub(super) struct Several {
    parts: Vec<Part>,
    mpdus: Vec<Mpdu>,
    /// The part whose answer is next, one after the other.
    turn: usize,
    /// The airtime of answers that come together.
    together: Airtime,
    /// From the end of the PPDU to that of the last answer.
    sequence: Span,
    /// How many there were before, in all.
    rounds: u64,
    candidates: Vec<usize>,
}

impl Several {
    pub(super) fn clear(&mut self) {
        self.parts.clear();
        self.mpdus.clear();
        self.turn = 0;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The links of a device count together.
    pub(super) fn exchange_rounds(&mut self, with: &mut u64) {
        std::mem::swap(&mut self.rounds, with);
    }

    /// Whether an agreement has part in it.
    pub(super) fn has(&self, place: usize) -> bool {
        self.parts.iter().any(|part| part.of == place)
    }

    /// From the end of the PPDU to that of the last answer.
    pub(super) fn sequence(&self) -> Span {
        self.sequence
    }

    /// The agreement of an MPDU, by its place in the PPDU.
    pub(super) fn agreement(&self, mpdu: usize) -> Option<usize> {
        self.parts.iter().find(|part| mpdu < part.end).map(|part| part.of)
    }
}

impl<A: Arq + Clone> Edca<A> {
    /// Prepares a PPDU to several stations in the turn of an agreement, if that and others can have part in it; with its
    /// acknowledgements it lasts at most `limit`.
    pub(super) fn gather(
        &mut self,
        turn: usize,
        limit: Option<Span>,
        now: Time,
        out: &mut impl MacOut,
    ) -> bool {
        self.several.clear();
        let Some(ofdma) = self.config.ofdma.filter(|_| self.core.role == Role::AccessPoint) else {
            return false;
        };
        let Some(scheduler) = ofdma.scheduler else { return false };
        if !self.can_have_part(turn) {
            return false;
        }
        let mut candidates = std::mem::take(&mut self.several.candidates);
        self.find_candidates(self.originators[turn].category, scheduler, &mut candidates);
        candidates.truncate(ofdma.most as usize);
        for &of in &candidates {
            self.choose_mode(of, now, out);
        }
        let found = self.allot(ofdma, &candidates, limit);
        if let Some((ru, time)) = found {
            self.fill_parts(
                ofdma,
                &candidates[..self.config.mode.within(ru).rus() as usize],
                (ru, time),
                now,
            );
        }
        self.several.candidates = candidates;
        found.is_some()
    }

    /// Whether an agreement can have part in a PPDU to several.
    fn can_have_part(&self, place: usize) -> bool {
        let originator = &self.originators[place];
        !originator.owes_request
            && originator.choosing.is_none()
            && originator.mode.width == self.config.mode.width
            && self.core.rules.takes_part(originator.peer)
            && originator.candidate(0).is_some()
    }

    /// The agreements of a category that can have part in a PPDU to several, in the order of the scheduler.
    fn find_candidates(&self, category: usize, scheduler: Scheduler, candidates: &mut Vec<usize>) {
        candidates.clear();
        let active = self.contenders[category].active.iter().map(|place| *place as usize);
        candidates.extend(active.filter(|place| self.can_have_part(*place)));
        let turn = |place: &usize| (self.originators[*place].served, self.originators[*place].order());
        match scheduler {
            Scheduler::RoundRobin => candidates.sort_unstable_by_key(turn),
            Scheduler::LongestQueue => candidates.sort_unstable_by_key(|place| {
                (std::cmp::Reverse(self.originators[*place].backlog()), turn(place))
            }),
        }
    }

    /// The RU of each of the first candidates, and the longest time of their PPDU; none if there is one for fewer than two.
    fn allot(&self, ofdma: Ofdma, candidates: &[usize], limit: Option<Span>) -> Option<(Ru, Span)> {
        let count = |ru: Ru| self.config.mode.within(ru).rus() as usize;
        let possible = Ru::PARTS
            .into_iter()
            .filter(|ru| *ru >= ofdma.least && (2..=candidates.len()).contains(&count(*ru)));
        possible.into_iter().find_map(|ru| {
            let chosen = &candidates[..count(ru)];
            let around = self.sequence_of(ofdma.acknowledgement, chosen, ru).0;
            let longest = self.config.aggregate.time;
            let time = limit.map_or(longest, |limit| longest.min(Span(limit.0.saturating_sub(around.0))));
            let preamble = self.preamble_to(chosen, ru);
            let fits = |of: &usize| {
                let originator = &self.originators[*of];
                let most = originator.mode.within(ru).capacity_after(preamble, time);
                originator.candidate(0).is_some_and(|(_, first, _)| {
                    let bytes = self.core.rules.overhead + self.core.rules.config.llc + first.bytes;
                    self.trigger_subframe(ofdma.acknowledgement) + DELIMITER + bytes.next_multiple_of(4)
                        <= most
                })
            };
            chosen.iter().all(fits).then_some((ru, time))
        })
    }

    /// The preamble of a PPDU to agreements in such RUs.
    fn preamble_to(&self, agreements: &[usize], ru: Ru) -> Span {
        let modes = || agreements.iter().map(|of| self.originators[*of].mode.within(ru));
        let mcs = modes().map(|mode| mode.mcs).min().unwrap_or(0);
        modes().map(|mode| mode.preamble_to_several(mcs)).max().unwrap_or(Span::ZERO)
    }

    /// Bytes of a trigger within an A-MPDU.
    fn trigger_subframe(&self, acknowledgement: Acknowledgement) -> u32 {
        if acknowledgement == Acknowledgement::Aggregated { DELIMITER + self.config.trigger(1) } else { 0 }
    }

    /// The airtime of the BlockAcks of agreements that come together.
    fn together(&self, agreements: &[usize], ru: Ru) -> Airtime {
        let answer = |of: &usize| {
            let mode = self.originators[*of].mode.within(ru).triggered();
            mode.airtime_after(mode.triggered_preamble(), self.config.block_ack(), 0)
        };
        agreements.iter().map(answer).max_by_key(|airtime| airtime.total).unwrap_or_default()
    }

    fn trigger_airtime(&self, stations: usize) -> Airtime {
        let bytes = self.config.trigger(stations as u32);
        self.core.rules.config.phy.airtime(bytes, 0, self.core.rules.protection_rate)
    }

    /// From the end of a PPDU to agreements to that of the last acknowledgement.
    fn sequence_of(&self, how: Acknowledgement, agreements: &[usize], ru: Ru) -> (Span, Airtime) {
        let sifs = self.core.rules.config.sifs;
        let together = self.together(agreements, ru);
        let sequence = match how {
            Acknowledgement::Requests => {
                let each = |of: &usize| {
                    let originator = &self.originators[*of];
                    let rate = self.core.rules.response(originator.rate).rate;
                    let request = self.core.rules.config.phy.airtime(BLOCK_ACK_REQUEST, 0, rate).total;
                    sifs * 2 + request + originator.block_ack.total
                };
                let first = agreements.first().map_or(Span::ZERO, |of| self.originators[*of].block_ack.total);
                sifs + first + agreements[1..].iter().map(each).fold(Span::ZERO, |sum, each| sum + each)
            }
            Acknowledgement::Trigger => {
                sifs * 2 + self.trigger_airtime(agreements.len()).total + together.total
            }
            Acknowledgement::Aggregated => sifs + together.total,
        };
        (sequence, together)
    }

    /// Aggregates for each agreement what its RU can carry in this time.
    fn fill_parts(&mut self, ofdma: Ofdma, agreements: &[usize], (ru, time): (Ru, Span), now: Time) {
        let preamble = self.preamble_to(agreements, ru);
        let trigger = self.trigger_subframe(ofdma.acknowledgement);
        let whole = u64::from(self.config.mode.within(Ru::Whole).subcarriers());
        let (mut all, mut total, mut payload) = (0, Span::ZERO, 0);
        for &of in agreements {
            self.service.of = of;
            let mode = self.originators[of].mode.within(ru);
            let most = self.config.aggregate.bytes.min(mode.capacity_after(preamble, time));
            // The trigger follows the padding of the last MPDU.
            let most = if trigger > 0 { (most - trigger) & !3 } else { most };
            let filled = self.fill(mode, most, self.limit(), now);
            self.take_off();
            let bytes = if trigger > 0 { filled.padded + trigger } else { filled.end };
            let alone = mode.airtime_after(preamble, bytes, filled.payload);
            (all, total) = (all + bytes, total.max(alone.total));
            payload += alone.payload.0 * u64::from(ru.subcarriers()) / whole;
            let first = self.several.mpdus.len();
            self.several.mpdus.extend_from_slice(&self.burst);
            let end = self.several.mpdus.len();
            self.several.parts.push(Part { of, mode, first, end, is_answered: false });
        }
        (self.several.sequence, self.several.together) =
            self.sequence_of(ofdma.acknowledgement, agreements, ru);
        (self.service.bytes, self.service.airtime) =
            (all, Airtime { total, preamble, payload: Span(payload) });
        self.take_turn(0);
    }

    /// The part at this place is in service.
    fn take_turn(&mut self, turn: usize) {
        let Part { of, first, end, .. } = self.several.parts[turn];
        (self.several.turn, self.service.of) = (turn, of);
        self.burst.clear();
        self.burst.extend_from_slice(&self.several.mpdus[first..end]);
    }

    fn acknowledgement(&self) -> Acknowledgement {
        self.config.ofdma.map_or(Acknowledgement::Requests, |ofdma| ofdma.acknowledgement)
    }

    /// What the frame has for each station; in a trigger without MPDUs.
    fn note_shares(&self, has_mpdus: bool, out: &mut impl MacOut) {
        let how = self.acknowledgement();
        let load = out.load();
        load.clear();
        load.together = self.several.together;
        for (place, part) in self.several.parts.iter().enumerate() {
            let originator = &self.originators[part.of];
            let mpdus = if has_mpdus { part.end - part.first } else { 0 };
            let answering = match how {
                Acknowledgement::Requests if place == 0 => Answering::AtOnce,
                Acknowledgement::Aggregated => Answering::Together,
                Acknowledgement::Trigger if !has_mpdus => Answering::Together,
                Acknowledgement::Requests | Acknowledgement::Trigger => Answering::OnRequest,
            };
            load.shares.push(Share {
                to: originator.peer,
                mode: part.mode,
                mpdus: mpdus as u16,
                start: originator.start,
                more_data: originator.has_more(mpdus),
                answering,
            });
        }
        if has_mpdus {
            load.mpdus.extend_from_slice(&self.several.mpdus);
        }
    }

    /// Sends the PPDU prepared.
    pub(super) fn send_to_several(&mut self, out: &mut impl MacOut) {
        self.several.rounds += 1;
        self.block_acks.to_several += 1;
        self.block_acks.parts += self.several.parts.len() as u64;
        let (rounds, count) = (self.several.rounds, self.several.parts.len());
        for turn in 0..count {
            self.take_turn(turn);
            self.originators[self.service.of].served = rounds;
            self.count_sent();
        }
        self.take_turn(0);
        let Some(first) = self.burst.first() else { return };
        let originator = &self.originators[self.service.of];
        let super::Service { bytes, airtime, .. } = self.service;
        let frame = Frame {
            duration: self.several.sequence,
            sequence: first.sequence,
            msdu: Some(first.handle),
            class: first.class,
            mode: Some(self.several.parts[0].mode),
            mpdus: self.several.mpdus.len().min(u16::MAX.into()) as u16,
            category: Category::ALL[originator.category],
            distribution: self.core.distribution(),
            ..Frame::new(FrameKind::Data, BROADCAST, self.core.address, bytes, originator.rate)
        };
        self.core.doing = Doing::Sending(Sent::ToSeveral);
        self.note_shares(true, out);
        out.transmit(frame, airtime);
    }

    /// The PPDU to several has ended: what follows.
    pub(super) fn on_sent_to_several(&mut self, now: Time, out: &mut impl MacOut) {
        match self.acknowledgement() {
            Acknowledgement::Requests => {
                let answer = if self.burst.len() > 1 { Answer::BlockAck } else { Answer::Ack };
                self.core.wait_for(answer, self.response().total, now, out);
            }
            Acknowledgement::Trigger => {
                self.core.after_sifs(Next::Trigger, now, out);
            }
            Acknowledgement::Aggregated => self.await_together(now, out),
        }
    }

    /// Waits for the answers that come together.
    pub(super) fn await_together(&mut self, now: Time, out: &mut impl MacOut) {
        self.core.wait_for(Answer::Together, self.several.together.total, now, out);
    }

    /// Requests the BlockAcks of all at once.
    pub(super) fn send_trigger(&mut self, out: &mut impl MacOut) {
        let count = self.several.parts.len();
        let airtime = self.trigger_airtime(count);
        let bytes = self.config.trigger(count as u32);
        let frame = Frame {
            duration: self.core.rules.config.sifs + self.several.together.total,
            category: Category::ALL[self.originators[self.service.of].category],
            ..self.core.trigger(bytes)
        };
        self.block_acks.triggers += 1;
        self.core.doing = Doing::Sending(Sent::Trigger);
        self.note_shares(false, out);
        out.transmit(frame, airtime);
    }

    /// One part was acknowledged: the next one is asked, if there is one.
    pub(super) fn asks_next(&mut self, now: Time, out: &mut impl MacOut) -> bool {
        let next = self.several.turn + 1;
        if self.several.parts.len() <= next {
            return false;
        }
        self.take_turn(next);
        self.core.after_sifs(Next::Request, now, out);
        true
    }

    /// The sequence has ended before all parts were asked: these owe a BlockAck.
    pub(super) fn leave_unasked(&mut self) {
        for place in self.several.turn + 1..self.several.parts.len() {
            self.take_turn(place);
            self.land();
            self.originators[self.service.of].owes_request = true;
        }
    }

    /// A BlockAck of those that come together.
    pub(super) fn on_block_ack_together(
        &mut self,
        from: NodeId,
        block: &BlockAck,
        now: Time,
        out: &mut impl MacOut,
    ) {
        let is_of = |part: &Part| self.originators[part.of].peer == from;
        let Some(place) = self.several.parts.iter().position(is_of) else { return };
        self.take_turn(place);
        self.several.parts[place].is_answered = true;
        self.land();
        self.acknowledge(block, out);
        if self.several.parts.iter().all(|part| part.is_answered) {
            self.end_together(now, out);
        }
    }

    /// Whether answers are awaited that come together, and whether one has come.
    pub(super) fn awaits_together(&self) -> Option<bool> {
        if self.core.awaits(Answer::Uplink) {
            return Some(self.uplink.any_answered());
        }
        let waits = self.core.awaits(Answer::Together);
        waits.then(|| self.several.parts.iter().any(|part| part.is_answered))
    }

    /// The time for answers that come together is over, or all have come.
    pub(super) fn end_together(&mut self, now: Time, out: &mut impl MacOut) {
        let any = self.several.parts.iter().any(|part| part.is_answered);
        for place in 0..self.several.parts.len() {
            if !self.several.parts[place].is_answered {
                self.take_turn(place);
                self.land();
                self.learn(0, false);
                self.miss_block_ack(out);
            }
        }
        self.several.clear();
        if any {
            self.succeed(now, out);
        } else {
            self.end_failed(now, out);
        }
    }

    /// A frame to several stations, of which this is one.
    pub(super) fn on_share(
        &mut self,
        frame: &Frame,
        (share, mpdus, together): (&Share, &[Mpdu], Airtime),
        now: Time,
        out: &mut impl MacOut,
    ) {
        self.stop_waiting(now, out);
        if !self.core.contends() {
            return;
        }
        if matches!(share.answering, Answering::WithData | Answering::WithReport) {
            self.on_solicited(frame, share, together, now, out);
            return;
        }
        let place = self.recipient(frame.transmitter, frame.category);
        let is_again = frame.kind == FrameKind::Data && self.take_in(place, mpdus, now, out);
        let view = Frame {
            mpdus: share.mpdus,
            more_data: share.more_data,
            mode: Some(share.mode),
            rate: share.mode.reference(),
            ..*frame
        };
        match share.answering {
            Answering::AtOnce => self.acknowledge_data(&view, (place, is_again), now, out),
            Answering::OnRequest => self.recipients[place].2.is_unasked = Some(is_again),
            Answering::Together => {
                self.recipients[place].2.request(share.start, |handle| out.up_held(handle));
                self.answer_together(&view, (place, share.mode.triggered(), together), now, out);
            }
            Answering::WithData | Answering::WithReport => {}
        }
    }

    fn answer_together(
        &mut self,
        frame: &Frame,
        (place, mode, airtime): (usize, Mode, Airtime),
        now: Time,
        out: &mut impl MacOut,
    ) {
        self.report = self.recipients[place].2.report();
        self.aboard.clear();
        let answer = Frame {
            duration: self.core.rules.left(frame.duration, airtime),
            sequence: self.report.start,
            category: frame.category,
            mode: Some(mode),
            together: true,
            ..Frame::new(
                FrameKind::BlockAck,
                frame.transmitter,
                self.core.address,
                self.config.block_ack(),
                mode.reference(),
            )
        };
        self.answer_with(answer, airtime, now, out);
        out.answered(frame.mpdus.gt(&0).then_some(frame.more_data), 0);
    }
}
