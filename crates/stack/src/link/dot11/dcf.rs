//! The distributed coordination function (IEEE 802.11-2012, 9.3).

use std::collections::VecDeque;
use std::sync::Arc;

use super::MacOut;
use super::edca::{Load, Mpdu};
use super::frame::{Frame, FrameKind, Msdu, Outcome};
use super::mac::Mac;
use super::pcf::Coordinator;
use super::planned::{Plan, is_to_all};
use super::rates::{Airtime, PhyRate};
use super::receive::Inbox;
use super::retries::Retries;
use super::room::Room;
use super::shared::{self, Core, Exchange, Role};
use super::timing::Rules;
use super::units::Units;
use crate::hooks::{Arq, Count, Timing};
use crate::packet::NodeId;
use crate::units::Time;

/// An answer that the station waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Cts,
    Ack,
    /// Of a data frame sent when polled: in the frame that follows it.
    CfAck,
    /// Of a poll.
    Polled,
}

/// What follows after SIFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The prepared answer.
    Answer,
    /// The data frame in service.
    Data,
    /// The data frame in service as the answer to a poll, as prepared.
    CfData,
    /// The coordinator's next frame.
    Poll,
}

/// What the station sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    Rts,
    CtsToSelf,
    Data,
    /// A frame that needs no answer.
    Answer,
    CfData,
    Beacon,
    Poll,
}

pub(super) type Doing = shared::Doing<Next, Sent, Answer>;

/// The MSDU in service, and its next fragment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Service {
    pub(super) msdu: Msdu,
    /// When the first transmission of the MSDU began; [`Time::NEVER`] before that.
    pub(super) begun: Time,
    pub(super) sequence: u16,
    pub(super) fragment: u8,
    /// Bytes of the body, LLC included, before this fragment.
    pub(super) offset: u32,
    /// Bytes of this fragment's body.
    pub(super) body: u32,
    /// Its rate and its airtime.
    pub(super) rate: PhyRate,
    pub(super) airtime: Airtime,
    /// Whether it was sent before.
    pub(super) sent: bool,
    /// Whether the medium has lost the MSDU for good.
    pub(super) lost: bool,
    /// Whether the fragment after it, if there is one, does not follow at once.
    pub(super) is_last_of_burst: bool,
}

/// A station with DCF. What every frame touches comes first: most frames are those of others.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Dcf<A> {
    /// What a scheme chooses from, in place of the queue.
    pub(super) units: Option<Box<Units<A>>>,
    /// An access point that polls.
    pub(super) coordinator: Option<Box<Coordinator>>,
    pub(super) service: Option<Service>,
    pub(super) core: Core<Next, Sent, Answer>,
    pub(super) queue: VecDeque<Msdu>,
    /// The medium turned busy in the instant of the timer: too late to be sensed.
    pub(super) is_committed: bool,
    pub(super) room: Room,
    /// Contention window.
    pub(super) window: u32,
    /// Failed attempts of the frame in service.
    pub(super) retries: Retries,
    /// Failed attempts of the station, whichever frames they were of.
    pub(super) failures: Retries,
    pub(super) next_sequence: u16,
    pub(super) inbox: Inbox,
    /// The size last sent and its airtime, as most packets of a station are of one size.
    pub(super) last_airtime: (u32, u32, PhyRate, Airtime),
}

impl<A: Arq> Dcf<A> {
    /// An idle station on a medium that was always idle.
    pub(super) fn new(rules: Arc<Rules>, address: NodeId, role: Role) -> Dcf<A> {
        let (window, reassembly) = (rules.config.cw_min, rules.config.reassembly);
        Dcf {
            core: Core::new(rules, address, role),
            is_committed: false,
            service: None,
            queue: VecDeque::new(),
            units: None,
            room: Room::default(),
            window,
            retries: Retries::default(),
            failures: Retries::default(),
            next_sequence: 0,
            coordinator: None,
            inbox: Inbox::new(reassembly),
            last_airtime: (u32::MAX, 0, PhyRate::Dsss1, Airtime::default()),
        }
    }

    /// Reserves room for a packet, if there is any.
    #[inline]
    fn has_room(&mut self, msdu: &Msdu) -> bool {
        if self.core.rules.config.buffer.is_some() {
            return self.room.take(msdu, &self.core.rules);
        }
        !self.is_full()
    }
}

impl<A: Arq> Mac<A> for Dcf<A> {
    #[inline]
    fn enqueue(&mut self, msdu: Msdu, is_ahead: bool, now: Time, out: &mut impl MacOut) -> bool {
        let had_work = self.has_work();
        if !self.has_room(&msdu) {
            self.core.counters.refused += 1;
            return false;
        }
        if self.units.is_some() {
            self.admit(msdu);
        } else if had_work && is_ahead {
            self.queue.push_front(msdu);
        } else if had_work {
            self.queue.push_back(msdu);
        } else {
            self.service = Some(self.first_fragment(msdu));
        }
        if !had_work && self.core.contends() {
            self.join(now, out);
        }
        true
    }

    fn enqueue_planned(
        &mut self,
        msdu: Msdu,
        (plan, _): (Plan, bool),
        now: Time,
        out: &mut impl MacOut,
    ) -> bool {
        self.core.plans.get_or_insert_default().add(msdu.handle, plan);
        let taken = self.enqueue(msdu, false, now, out);
        if !taken {
            self.take_tries(msdu.handle);
        }
        taken
    }

    fn flush(&mut self, to: NodeId, out: &mut impl MacOut) {
        self.flush_units(to, out);
        let Dcf { queue, room, core, .. } = self;
        queue.retain(|msdu| {
            if msdu.next == to {
                room.release(msdu, &core.rules);
                out.done(msdu.handle, Outcome::Flushed);
            }
            msdu.next != to
        });
    }

    #[inline]
    fn on_busy(&mut self, now: Time, out: &mut impl MacOut) {
        self.core.carrier.on_busy(now);
        if self.core.contends() {
            let has_begun = self.core.carrier.freeze(now, &self.core.rules);
            if self.core.armed == now {
                self.is_committed = true;
            } else if has_begun {
                self.core.arm(Time::NEVER, out);
            }
        }
    }

    #[inline]
    fn on_frame(&mut self, frame: &Frame, _: &Load, now: Time, out: &mut impl MacOut) {
        self.core.carrier.received(true);
        if self.core.awaits(Answer::Polled) {
            self.on_polled(frame, now, out);
            return;
        }
        if self.core.awaits(Answer::CfAck) {
            self.on_contention_free(frame, out);
        }
        if frame.receiver != self.core.address {
            self.overhear(frame, now, out);
            return;
        }
        match frame.kind {
            FrameKind::Rts => {
                let response = *self.core.rules.response(frame.rate);
                self.on_request_to_send(frame, (response.rate, response.cts), now, out);
            }
            FrameKind::Cts => self.on_cts(now, out),
            FrameKind::Ack => self.on_ack(frame, now, out),
            FrameKind::Data | FrameKind::Null if frame.poll => self.on_poll(frame, now, out),
            FrameKind::Data => self.on_data(frame, now, out),
            FrameKind::Null
            | FrameKind::Beacon
            | FrameKind::CfEnd
            | FrameKind::BlockAck
            | FrameKind::BlockAckReq
            | FrameKind::Trigger
            | FrameKind::MuRts => self.stop_waiting(now, out),
        }
    }

    #[inline]
    fn stands_by(&mut self, frame: &Frame, turns_idle: bool, now: Time) -> bool {
        if frame.receiver == self.core.address || is_to_all(frame) || !self.only_follows() {
            return false;
        }
        let Core { carrier, rules, .. } = &mut self.core;
        carrier.received(true);
        carrier.overhear(frame, now, rules);
        if turns_idle {
            carrier.on_idle(now);
            carrier.open(now, rules);
        }
        true
    }

    #[inline]
    fn on_error(&mut self, now: Time, out: &mut impl MacOut) {
        self.core.carrier.received(false);
        if self.core.rules.config.access.errors_reserve {
            self.core.carrier.reserve(now + self.core.rules.eifs, None);
        }
        self.stop_waiting(now, out);
    }

    fn on_missed(&mut self, end: Time) {
        if self.core.rules.config.access.errors_reserve {
            self.core.carrier.reserve(end + self.core.rules.eifs, None);
        }
    }

    fn on_sent(&mut self, now: Time, out: &mut impl MacOut) {
        let Some(sent) = self.core.has_sent(now) else { return };
        match sent {
            Sent::Rts => {
                let cts = self.core.rules.response(self.core.rules.protection_rate).cts.total;
                self.core.wait_for(Answer::Cts, cts, now, out);
            }
            Sent::CtsToSelf => self.core.after_sifs(Next::Data, now, out),
            Sent::Data if self.service.is_some_and(|service| service.is_to_all()) => self.succeed(now, out),
            Sent::Data => {
                let rate = self.service.map_or(self.core.rules.config.data_rate, |service| service.rate);
                let ack = self.core.rules.response(rate).ack.total;
                self.core.wait_for(Answer::Ack, ack, now, out);
            }
            Sent::CfData => {
                let ack = self.core.rules.response(self.core.rules.config.data_rate).ack.total;
                self.core.wait_for(Answer::CfAck, ack, now, out);
            }
            Sent::Beacon => self.poll_after(self.core.rules.config.sifs, now, out),
            Sent::Poll => {
                self.core.doing = Doing::Await(Answer::Polled);
                out.set_timer(now + self.core.rules.pifs);
            }
            Sent::Answer if self.asks_for_data() => self.expect_data(now, out),
            Sent::Answer => {
                self.core.doing = Doing::Contend;
                self.resume(now, out);
            }
        }
    }

    #[inline]
    fn on_timer(&mut self, now: Time, out: &mut impl MacOut) {
        match self.core.doing {
            Doing::Contend => {
                self.core.armed = Time::NEVER;
                if !self.core.carrier.busy || self.is_committed {
                    if self.is_period_due(now) {
                        self.open_period(now, out);
                    } else {
                        self.attempt(now, out);
                    }
                }
            }
            Doing::Gap(Next::Data | Next::Answer) if self.must_hold(now) => self.hold(now, out),
            Doing::Gap(Next::Data) => self.send_data(out),
            Doing::Gap(Next::CfData) => self.send_contention_free(out),
            Doing::Gap(Next::Poll) => self.poll(now, out),
            Doing::Gap(Next::Answer) => {
                self.core.doing = Doing::Sending(Sent::Answer);
                out.transmit(self.core.answer.0, self.core.answer.1);
            }
            Doing::Await(answer) if self.core.carrier.busy => self.core.doing = Doing::Late(answer),
            Doing::Await(Answer::Polled) => self.pass_over(true, now, out),
            Doing::Await(answer) => self.fail(answer, now, out),
            Doing::Apart => self.stop_expecting(now, out),
            Doing::Late(_) | Doing::Sending(_) => {}
        }
    }

    fn on_lost_for_good(&mut self, _: (&Frame, &[Mpdu])) {
        if let Some(service) = &mut self.service {
            service.lost = true;
        }
    }

    fn adopt(&mut self, scheme: A) {
        self.units = Some(Box::new(Units::new(scheme)));
    }

    #[inline]
    fn on_timing(&mut self, flow: u32, timing: Timing) {
        if let Some(units) = &mut self.units {
            units.on_timing(flow, timing);
        }
    }

    fn arq_counts(&self) -> Vec<Count> {
        self.units.as_ref().map_or_else(Vec::new, |units| units.counts())
    }

    #[inline]
    fn backlog(&self) -> usize {
        match &self.units {
            None => self.queue.len() + usize::from(self.service.is_some()),
            Some(units) => units.backlog(),
        }
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.backlog() > self.core.rules.config.queue as usize
    }

    fn in_service(&self) -> Option<(u64, u32)> {
        self.service.map(|service| (service.msdu.handle, self.attempts_before()))
    }
}
