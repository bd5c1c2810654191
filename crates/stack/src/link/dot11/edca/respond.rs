//! The receiving side of an exchange: reservations, CTS, Ack and BlockAck, and the reordering buffers.

use super::super::frame::{BROADCAST, Frame, FrameKind};
use super::super::rates::Airtime;
use super::super::shared::{Core, Exchange};
use super::load::{Load, Mpdu, MpduFate};
use super::planned::hear_to_all;
use super::recipient::{Arrived, Recipient};
use super::{Category, Doing, Edca, MacOut, Sent};
use crate::hooks::{Arq, Rider};
use crate::packet::NodeId;
use crate::units::{Span, Time};

impl<A: Arq + Clone> Edca<A> {
    /// A frame for another station.
    pub(super) fn overhear(&mut self, frame: &Frame, now: Time, out: &mut impl MacOut) {
        self.core.carrier.overhear(frame, now, &self.core.rules);
        self.stop_waiting(now, out);
        hear_to_all(frame, out);
        self.leave_to_others(now);
    }

    /// MPDUs: acknowledged whatever the NAV.
    pub(super) fn on_data(&mut self, frame: &Frame, load: &Load, now: Time, out: &mut impl MacOut) {
        self.stop_waiting(now, out);
        let may_answer = self.core.contends();
        let place = self.recipient(frame.transmitter, frame.category);
        if !may_answer {
            return;
        }
        let is_again = match frame.mpdus {
            0 => self.take_in_outside(place, frame, out),
            _ => self.take_in(place, &load.mpdus, now, out),
        };
        self.note_sender(frame, load, now);
        self.acknowledge_data(frame, (place, is_again), now, out);
    }

    /// Takes in MPDUs. Returns whether one of them was received before.
    pub(super) fn take_in(&mut self, place: usize, mpdus: &[Mpdu], now: Time, out: &mut impl MacOut) -> bool {
        let mut is_again = false;
        for mpdu in mpdus.iter().filter(|mpdu| mpdu.fate == MpduFate::Received) {
            let Edca { core: Core { counters, .. }, recipients, block_acks, .. } = self;
            let recipient = &mut recipients[place].2;
            match recipient.arrive(mpdu.sequence, |handle| out.up_held(handle)) {
                Arrived::InOrder => {
                    out.up(mpdu.handle, mpdu.sequence);
                    recipient.passed(|handle| out.up_held(handle));
                }
                Arrived::Early if self.config.reorder_timeout == Span::ZERO => {
                    out.up(mpdu.handle, mpdu.sequence);
                }
                Arrived::Early => {
                    let held = out.hold(mpdu.handle);
                    recipient.hold(mpdu.sequence, held, now);
                }
                Arrived::Duplicate => {
                    counters.duplicates += 1;
                    is_again = true;
                }
                Arrived::Late => {
                    block_acks.late += 1;
                    out.late(mpdu.handle);
                }
            }
        }
        if self.recipients[place].2.holds() && self.release_at == Time::NEVER {
            self.release_at = now.after(self.config.reorder_timeout);
            out.set_release(self.release_at);
        }
        is_again
    }

    /// Acknowledges data to this station.
    pub(super) fn acknowledge_data(
        &mut self,
        frame: &Frame,
        (place, is_again): (usize, bool),
        now: Time,
        out: &mut impl MacOut,
    ) {
        if frame.mpdus > 1 {
            self.acknowledge_block(frame, place, is_again, now, out);
        } else {
            let response = *self.core.rules.response(frame.rate);
            let bytes = self.core.rules.config.ack;
            let ack = Frame::new(FrameKind::Ack, frame.transmitter, self.core.address, bytes, response.rate);
            let duration = self.core.rules.left(frame.duration, response.ack);
            let ack = (Frame { duration, category: frame.category, ..ack }, response.ack);
            self.answer_riding(ack, (place, is_again, Some(frame.more_data)), now, out);
        }
    }

    /// A BlockAckReq: what is before its start will not come.
    pub(super) fn on_request(&mut self, frame: &Frame, now: Time, out: &mut impl MacOut) {
        self.stop_waiting(now, out);
        if !self.core.contends() {
            return;
        }
        let place = self.recipient(frame.transmitter, frame.category);
        self.recipients[place].2.request(frame.sequence, |handle| out.up_held(handle));
        let is_again = self.recipients[place].2.is_unasked.take().unwrap_or(true);
        self.acknowledge_block(frame, place, is_again, now, out);
    }

    fn acknowledge_block(
        &mut self,
        frame: &Frame,
        place: usize,
        is_again: bool,
        now: Time,
        out: &mut impl MacOut,
    ) {
        let rate = self.core.rules.response(frame.rate).rate;
        let bytes = self.config.block_ack();
        let airtime = self.core.rules.config.phy.airtime(bytes, 0, rate);
        let block = self.recipients[place].2.report();
        let answer = Frame::new(FrameKind::BlockAck, frame.transmitter, self.core.address, bytes, rate);
        let duration = self.core.rules.left(frame.duration, airtime);
        let answer = Frame { duration, sequence: block.start, category: frame.category, ..answer };
        self.report = block;
        let more = (frame.kind == FrameKind::Data).then_some(frame.more_data);
        self.answer_riding((answer, airtime), (place, is_again, more), now, out);
    }

    /// Answers an agreement with what waits to ride to the same station, and with what rode in an answer that was lost.
    fn answer_riding(
        &mut self,
        (answer, airtime): (Frame, Airtime),
        (place, is_again, more): (usize, bool, Option<bool>),
        now: Time,
        out: &mut impl MacOut,
    ) {
        let aboard = &mut self.recipients[place].2.gone;
        if !is_again {
            aboard.clear();
        }
        let boarded = self.core.riders.board_all(answer.receiver, aboard);
        self.aboard.clone_from(aboard);
        let added: u32 = self.aboard.iter().map(Rider::len).sum();
        let bytes = answer.bytes + added;
        let airtime =
            if added == 0 { airtime } else { self.core.rules.config.phy.airtime(bytes, 0, answer.rate) };
        self.answer_with(Frame { bytes, ..answer }, airtime, now, out);
        out.answered(more, boarded);
    }

    pub(super) fn send_answer(&mut self, out: &mut impl MacOut) {
        self.core.doing = Doing::Sending(Sent::Answer);
        let load = out.load();
        load.clear();
        load.block = self.report;
        load.riders.clone_from(&self.aboard);
        out.transmit(self.core.answer.0, self.core.answer.1);
    }

    /// The timer of the reordering buffers fired.
    pub fn on_release(&mut self, now: Time, out: &mut impl MacOut) {
        let timeout = self.config.reorder_timeout;
        let mut due = Time::NEVER;
        for (_, _, recipient) in &mut self.recipients {
            due = due.min(recipient.release(timeout, now, |handle| out.up_held(handle)));
        }
        self.release_at = due;
        if due != Time::NEVER {
            out.set_release(due);
        }
    }

    /// The agreement with a transmitter in a category, by its place.
    pub(super) fn recipient(&mut self, transmitter: NodeId, category: Category) -> usize {
        debug_assert!(transmitter != BROADCAST);
        let found = self
            .recipients
            .iter()
            .position(|(of, in_category, _)| *of == transmitter && *in_category == category);
        found.unwrap_or_else(|| {
            self.recipients.push((transmitter, category, Recipient::new(self.config.window)));
            self.recipients.len() - 1
        })
    }
}
