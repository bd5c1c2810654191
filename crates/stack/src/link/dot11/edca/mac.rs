//! What a host asks of a station, with EDCA.

use super::super::frame::{Frame, FrameKind, Msdu, Outcome};
use super::super::mac::Mac;
use super::super::planned::Plan;
use super::super::rates::PhyRate;
use super::super::shared::Exchange;
use super::load::{Load, Mpdu, MpduFate};
use super::{Answer, Doing, Edca, MacOut, Next, Sent};
use crate::hooks::{Arq, Count, Timing};
use crate::packet::NodeId;
use crate::units::Time;

impl<A: Arq + Clone> Mac<A> for Edca<A> {
    fn enqueue(&mut self, msdu: Msdu, is_ahead: bool, now: Time, out: &mut impl MacOut) -> bool {
        let category = msdu.category as usize;
        if self.refuses(category) {
            return false;
        }
        let place = self.place_of(msdu.next, category);
        self.take_over(msdu, (place, is_ahead), now, out);
        true
    }

    fn enqueue_planned(
        &mut self,
        msdu: Msdu,
        (plan, is_covered): (Plan, bool),
        now: Time,
        out: &mut impl MacOut,
    ) -> bool {
        let category = msdu.category as usize;
        if self.refuses(category) {
            return false;
        }
        let place = if is_covered { self.place_of(msdu.next, category) } else { self.place_outside(&msdu) };
        // The rate control is that of the layer above.
        self.originators[place].control = None;
        self.core.plans.get_or_insert_default().add(msdu.handle, plan);
        self.take_over(msdu, (place, false), now, out);
        true
    }

    fn flush(&mut self, to: NodeId, out: &mut impl MacOut) {
        self.uplink.forget(to);
        for place in 0..self.originators.len() {
            if self.originators[place].peer != to {
                continue;
            }
            let is_in_service = self.service.of == place || self.several.has(place);
            let is_busy = !self.core.contends() && is_in_service;
            let Edca { originators, contenders, .. } = self;
            let originator = &mut originators[place];
            let contender = &mut contenders[originator.category];
            originator.flush(is_busy, |handle| {
                contender.remove();
                out.done(handle, Outcome::Flushed);
            });
            self.refresh(place);
        }
    }

    #[inline]
    fn on_busy(&mut self, now: Time, out: &mut impl MacOut) {
        self.core.carrier.on_busy(now);
        if !self.core.contends() {
            self.note_busy(now);
            return;
        }
        let (slot, mut has_begun) = (self.core.rules.config.slot, false);
        let mut turns = 0;
        for (category, contender) in self.contenders.iter_mut().enumerate() {
            has_begun |= contender.backoff.is_some() && now >= contender.counting_from;
            turns |= u8::from(contender.freeze(slot, now) && contender.has_work()) << category;
        }
        if self.core.armed == now {
            self.committed = turns;
        } else if has_begun {
            self.core.arm(Time::NEVER, out);
        }
    }

    #[inline]
    fn on_frame(&mut self, frame: &Frame, load: &Load, now: Time, out: &mut impl MacOut) {
        self.core.carrier.received(true);
        if self.core.doing == Doing::Apart {
            return;
        }
        self.synchronize();
        if frame.receiver != self.core.address {
            match load.of(self.core.address) {
                Some((share, mpdus)) => self.on_share(frame, (share, mpdus, load.together), now, out),
                None if self.is_confirmed(load, now, out) => {}
                None => self.overhear(frame, now, out),
            }
            return;
        }
        if let (true, Doing::Await(Answer::Uplink) | Doing::Late(Answer::Uplink)) =
            (frame.together, self.core.doing)
        {
            self.on_solicited_answer(frame, load, now, out);
            return;
        }
        match frame.kind {
            FrameKind::MuRts => self.on_initial(frame, now, out),
            FrameKind::Rts | FrameKind::BlockAckReq | FrameKind::Data if self.only_listens() => {
                self.stop_waiting(now, out);
            }
            FrameKind::Rts => {
                let response = *self.core.rules.response(frame.rate);
                self.on_request_to_send(frame, (response.rate, response.cts), now, out);
            }
            FrameKind::Cts => self.on_cts(now, out),
            FrameKind::Ack => {
                self.on_ack(now, out);
                load.riders.iter().for_each(|rider| out.rider(*rider));
            }
            FrameKind::BlockAck if frame.together && self.awaits_together().is_some() => {
                self.on_block_ack_together(frame.transmitter, &load.block, now, out);
            }
            FrameKind::BlockAck => {
                self.on_block_ack(&load.block, now, out);
                load.riders.iter().for_each(|rider| out.rider(*rider));
            }
            FrameKind::BlockAckReq => self.on_request(frame, now, out),
            FrameKind::Data => self.on_data(frame, load, now, out),
            FrameKind::Null | FrameKind::Beacon | FrameKind::CfEnd | FrameKind::Trigger => {
                self.stop_waiting(now, out);
            }
        }
        self.leave_unanswered(frame, now);
    }

    fn stands_by(&mut self, _: &Frame, _: bool, _: Time) -> bool {
        false
    }

    #[inline]
    fn on_error(&mut self, now: Time, out: &mut impl MacOut) {
        if let Some(any) = self.awaits_together() {
            // Answers of other stations end in this instant too.
            self.core.carrier.received(any);
        } else if self.core.doing == Doing::Apart {
            self.core.carrier.received(true);
        } else {
            self.core.carrier.received(false);
            self.stop_waiting(now, out);
            self.expect_more(now);
        }
    }

    fn on_missed(&mut self, _: Time) {}

    fn on_sent(&mut self, now: Time, out: &mut impl MacOut) {
        let Some(sent) = self.core.has_sent(now) else { return };
        let (answer, lasts) = match sent {
            Sent::Rts => (Answer::Cts, self.core.rules.response(self.protection_rate()).cts.total),
            Sent::Initial => (Answer::Cts, self.core.rules.response(PhyRate::Ofdm6).cts.total),
            Sent::CtsToSelf => {
                self.core.after_sifs(Next::Data, now, out);
                return;
            }
            Sent::Data if self.is_to_all() => return self.end_to_all(now, out),
            Sent::Data if self.burst.len() > 1 => (Answer::BlockAck, self.response().total),
            Sent::Data => (Answer::Ack, self.response().total),
            Sent::Request => (Answer::BlockAck, self.originators[self.service.of].block_ack.total),
            Sent::ToSeveral => return self.on_sent_to_several(now, out),
            Sent::Trigger => return self.await_together(now, out),
            Sent::Soliciting => return self.await_uplink(now, out),
            Sent::Solicited => return self.await_confirmation(now, out),
            Sent::Confirmation => return self.end_uplink(true, now, out),
            Sent::Answer => {
                self.core.doing = Doing::Contend;
                self.on_answered(now);
                self.resume(now, out);
                return;
            }
        };
        self.core.wait_for(answer, lasts, now, out);
    }

    #[inline]
    fn on_timer(&mut self, now: Time, out: &mut impl MacOut) {
        match self.core.doing {
            Doing::Contend => self.on_turn(now, out),
            Doing::Gap(Next::Data) => self.send_data(out),
            Doing::Gap(Next::Answer) => self.send_answer(out),
            Doing::Gap(Next::Request) => self.send_request(out),
            Doing::Gap(Next::Trigger) => self.send_trigger(out),
            Doing::Gap(Next::Soliciting) => self.send_soliciting(out),
            Doing::Gap(Next::Solicited) => self.send_solicited(now, out),
            Doing::Gap(Next::Confirmation) => self.send_confirmation(out),
            Doing::Await(answer) if self.core.carrier.busy => self.core.doing = Doing::Late(answer),
            Doing::Await(answer) => self.fail(answer, now, out),
            Doing::Late(_) | Doing::Sending(_) | Doing::Apart => {}
        }
    }

    fn on_lost_for_good(&mut self, (frame, mpdus): (&Frame, &[Mpdu])) {
        // Data outside of agreements has no MPDUs, and is then lost.
        if mpdus.is_empty() && frame.kind == FrameKind::Data {
            self.lose_for_good(0, frame.sequence);
        }
        let lost = mpdus.iter().enumerate().filter(|(_, mpdu)| mpdu.fate == MpduFate::LostForGood);
        lost.for_each(|(place, mpdu)| self.lose_for_good(place, mpdu.sequence));
    }

    fn adopt(&mut self, scheme: A) {
        self.scheme = Some(Box::new(scheme));
    }

    #[inline]
    fn on_timing(&mut self, flow: u32, timing: Timing) {
        let Some(scheme) = &mut self.scheme else { return };
        scheme.on_timing(flow, timing);
        for choosing in self.originators.iter_mut().filter_map(|originator| originator.choosing.as_mut()) {
            choosing.on_timing(flow, timing);
        }
    }

    fn arq_counts(&self) -> Vec<Count> {
        let mut sums = self.scheme.as_ref().map_or_else(Vec::new, |scheme| scheme.counts());
        for choosing in self.originators.iter().filter_map(|originator| originator.choosing.as_ref()) {
            for (sum, count) in sums.iter_mut().zip(choosing.scheme.counts()) {
                sum.value += count.value;
            }
        }
        sums
    }

    fn backlog(&self) -> usize {
        self.contenders.iter().map(|contender| contender.backlog as usize).sum()
    }

    fn is_full(&self) -> bool {
        self.contenders.iter().any(|contender| contender.backlog > self.core.rules.config.queue)
    }

    fn in_service(&self) -> Option<(u64, u32)> {
        self.burst.first().map(|first| (first.handle, first.attempts.into()))
    }
}
