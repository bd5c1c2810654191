//! The distributed coordination function (IEEE 802.11-2012, 9.3).

use crate::hooks::{Arq, Rider};
use std::collections::VecDeque;
use std::sync::Arc;

use super::MacOut;
use super::access::Access;
use super::frame::{Frame, FrameKind, Msdu, Outcome};
use super::pcf::Coordinator;
use super::planned::Plans;
use super::rates::{Airtime, PhyRate};
use super::receive::Inbox;
use super::retries::Retries;
use super::riders::Riders;
use super::room::Room;
use super::timing::Rules;
use super::units::Units;
use crate::packet::NodeId;
use crate::units::Time;

/// A station's place in its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// One of an ad hoc network.
    AdHoc,
    /// A station of this access point.
    Station {
        /// The access point.
        ap: NodeId,
    },
    /// The access point.
    AccessPoint,
}

/// The counters of a station.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// RTS sent.
    pub rts_sent: u64,
    /// Data frames sent, repetitions included.
    pub data_sent: u64,
    /// Attempts that no CTS answered.
    pub cts_missing: u64,
    /// Attempts that no ACK answered.
    pub ack_missing: u64,
    /// MSDUs delivered.
    pub delivered: u64,
    /// MSDUs discarded.
    pub undelivered: u64,
    /// MSDUs that the full queue refused.
    pub refused: u64,
    /// Data frames sent by how many attempts failed before, an RTS without a CTS included; more than three count as three.
    pub attempts: [u64; 4],
    /// Data frames received before.
    pub duplicates: u64,
}

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

/// The activity of the station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing {
    /// Nothing, or waiting for its turn.
    Contend,
    /// Waiting SIFS.
    Gap(Next),
    /// Sending.
    Sending(Sent),
    /// Waiting for an answer.
    Await(Answer),
    /// The time for an answer is over, but a frame on the air may be the answer.
    Late(Answer),
    /// Waiting for the data frame that its CTS requested, deaf to all others.
    Expect,
}

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

/// One interface on an 802.11 medium. What every frame touches comes first, in two lines of the processor's cache: most frames
/// are those of others.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Station<A> {
    pub(super) access: Access,
    pub(super) rules: Arc<Rules>,
    /// The time of the timer while contending.
    pub(super) armed: Time,
    pub(super) doing: Doing,
    /// The medium turned busy in the instant of the timer: too late to be sensed.
    pub(super) is_committed: bool,
    pub(super) address: NodeId,
    /// What a scheme chooses from, in place of the queue.
    pub(super) units: Option<Box<Units<A>>>,
    /// An access point that polls.
    pub(super) coordinator: Option<Box<Coordinator>>,
    pub(super) queue: VecDeque<Msdu>,
    pub(super) service: Option<Service>,
    pub(super) role: Role,
    pub(super) room: Room,
    /// Contention window.
    pub(super) window: u32,
    /// Failed attempts of the frame in service.
    pub(super) retries: Retries,
    /// Failed attempts of the station, whichever frames they were of.
    pub(super) failures: Retries,
    pub(super) next_sequence: u16,
    pub(super) answer: (Frame, Airtime),
    pub(super) inbox: Inbox,
    pub(super) riders: Riders,
    /// The size last sent and its airtime, as most packets of a station are of one size.
    pub(super) last_airtime: (u32, u32, PhyRate, Airtime),
    pub(super) counters: Counters,
    /// The rates of frames that the layer above plans.
    pub(super) plans: Option<Box<Plans>>,
}

impl<A: Arq> Station<A> {
    /// An idle station on a medium that was always idle.
    #[must_use]
    pub fn new(rules: Arc<Rules>, address: NodeId, role: Role) -> Station<A> {
        let (window, reassembly) = (rules.config.cw_min, rules.config.reassembly);
        let nothing = Frame::new(FrameKind::Ack, address, address, 0, rules.control_rate);
        Station {
            rules,
            address,
            role,
            doing: Doing::Contend,
            access: Access::new(),
            armed: Time::NEVER,
            is_committed: false,
            service: None,
            queue: VecDeque::new(),
            units: None,
            room: Room::default(),
            window,
            retries: Retries::default(),
            failures: Retries::default(),
            next_sequence: 0,
            answer: (nothing, Airtime::default()),
            coordinator: None,
            inbox: Inbox::new(reassembly),
            riders: Riders::default(),
            last_airtime: (u32::MAX, 0, PhyRate::Dsss1, Airtime::default()),
            counters: Counters::default(),
            plans: None,
        }
    }

    /// Accepts a packet to send. Returns false if the queue is full: the packet remains the caller's.
    pub fn enqueue(&mut self, msdu: Msdu, now: Time, out: &mut impl MacOut) -> bool {
        self.take_over(msdu, false, now, out)
    }

    /// The same with a packet that precedes those that wait, behind the one in service. Where a scheme chooses among
    /// frames, it chooses among this one's too.
    pub fn enqueue_ahead(&mut self, msdu: Msdu, now: Time, out: &mut impl MacOut) -> bool {
        self.take_over(msdu, true, now, out)
    }

    /// Something is to ride in the next acknowledgement to a neighbour.
    pub fn ride(&mut self, to: NodeId, rider: Rider) {
        self.riders.take(to, rider);
    }

    /// Something is to ride in an acknowledgement to a neighbour, behind what waits.
    pub fn ride_behind(&mut self, to: NodeId, rider: Rider) {
        self.riders.take_behind(to, rider);
    }

    /// Removes what waits to ride to a neighbour.
    pub fn unload(&mut self, to: NodeId) {
        self.riders.unload(to);
    }

    #[inline]
    fn take_over(&mut self, msdu: Msdu, is_ahead: bool, now: Time, out: &mut impl MacOut) -> bool {
        let had_work = self.has_work();
        if !self.has_room(&msdu) {
            self.counters.refused += 1;
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
        if had_work {
            return true;
        }
        if self.doing == Doing::Contend {
            self.join(now, out);
        }
        true
    }

    /// Reserves room for a packet, if there is any.
    #[inline]
    fn has_room(&mut self, msdu: &Msdu) -> bool {
        if self.rules.config.buffer.is_some() {
            return self.room.take(msdu, &self.rules);
        }
        !self.is_full()
    }

    /// Whether its queue, limited in packets, is full.
    #[must_use]
    #[inline]
    pub fn is_full(&self) -> bool {
        self.backlog() > self.rules.config.queue as usize
    }

    /// The physical carrier turned busy.
    #[inline]
    pub fn on_busy(&mut self, now: Time, out: &mut impl MacOut) {
        self.access.on_busy(now);
        if self.doing == Doing::Contend {
            let has_begun = self.access.freeze(now, &self.rules);
            if self.armed == now {
                self.is_committed = true;
            } else if has_begun && self.armed != Time::NEVER {
                self.armed = Time::NEVER;
                out.cancel_timer();
            }
        }
    }

    /// The physical carrier turned idle.
    #[inline]
    pub fn on_idle(&mut self, now: Time, out: &mut impl MacOut) {
        self.access.on_idle(now);
        match self.doing {
            Doing::Contend => self.resume(now, out),
            Doing::Late(answer) => self.fail(answer, now, out),
            Doing::Gap(_) | Doing::Sending(_) | Doing::Await(_) | Doing::Expect => {}
        }
    }

    /// A frame was received without error, for this station or overheard.
    #[inline]
    pub fn on_frame(&mut self, frame: &Frame, now: Time, out: &mut impl MacOut) {
        self.access.received(true);
        match self.doing {
            Doing::Await(Answer::Polled) | Doing::Late(Answer::Polled) => {
                self.on_polled(frame, now, out);
                return;
            }
            Doing::Await(Answer::CfAck) | Doing::Late(Answer::CfAck) => self.on_contention_free(frame, out),
            _ => {}
        }
        if frame.receiver != self.address {
            self.overhear(frame, now, out);
            return;
        }
        match frame.kind {
            FrameKind::Rts => self.on_rts(frame, now, out),
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

    /// A reception ended in error.
    #[inline]
    pub fn on_error(&mut self, now: Time, out: &mut impl MacOut) {
        self.access.received(false);
        if self.rules.config.access.errors_reserve {
            self.access.reserve(now + self.rules.eifs, None);
        }
        self.stop_waiting(now, out);
    }

    /// A frame that ends at `end` is not followed: it is too weak to spoil the one being received, or began while the
    /// station sent.
    pub fn on_missed(&mut self, end: Time) {
        if self.rules.config.access.errors_reserve {
            self.access.reserve(end + self.rules.eifs, None);
        }
    }

    /// The station's own frame has ended.
    pub fn on_sent(&mut self, now: Time, out: &mut impl MacOut) {
        if !self.access.busy {
            self.access.on_idle(now);
        }
        let Doing::Sending(sent) = self.doing else { return };
        match sent {
            Sent::Rts => {
                self.doing = Doing::Await(Answer::Cts);
                out.set_timer(now + self.rules.cts_timeout);
            }
            Sent::CtsToSelf => {
                self.doing = Doing::Gap(Next::Data);
                out.set_timer(now + self.rules.config.sifs);
            }
            Sent::Data if self.service.is_some_and(|service| service.is_to_all()) => self.succeed(now, out),
            Sent::Data => {
                let rate = self.service.map_or(self.rules.config.data_rate, |service| service.rate);
                let ack = self.rules.response(rate).ack.total;
                self.doing = Doing::Await(Answer::Ack);
                out.set_timer(now + self.rules.timeout(ack));
            }
            Sent::CfData => {
                let ack = self.rules.response(self.rules.config.data_rate).ack.total;
                self.doing = Doing::Await(Answer::CfAck);
                out.set_timer(now + self.rules.timeout(ack));
            }
            Sent::Beacon => self.poll_after(self.rules.config.sifs, now, out),
            Sent::Poll => {
                self.doing = Doing::Await(Answer::Polled);
                out.set_timer(now + self.rules.pifs);
            }
            Sent::Answer if self.asks_for_data() => self.expect_data(now, out),
            Sent::Answer => {
                self.doing = Doing::Contend;
                self.resume(now, out);
            }
        }
    }

    /// The timer fired.
    #[inline]
    pub fn on_timer(&mut self, now: Time, out: &mut impl MacOut) {
        match self.doing {
            Doing::Contend => {
                self.armed = Time::NEVER;
                if !self.access.busy || self.is_committed {
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
                self.doing = Doing::Sending(Sent::Answer);
                out.transmit(self.answer.0, self.answer.1);
            }
            Doing::Await(answer) if self.access.busy => self.doing = Doing::Late(answer),
            Doing::Await(Answer::Polled) => self.pass_over(true, now, out),
            Doing::Await(answer) => self.fail(answer, now, out),
            Doing::Expect => self.stop_expecting(now, out),
            Doing::Late(_) | Doing::Sending(_) => {}
        }
    }

    /// The medium has lost the MSDU in service for good, whatever its frames: its receiver gets nothing and answers
    /// nothing, and it is discarded after this attempt. Called while its data frame is being sent.
    pub fn on_lost_for_good(&mut self) {
        if let Some(service) = &mut self.service {
            service.lost = true;
        }
    }

    /// Removes the packets that wait for a neighbour; one in service remains.
    pub fn flush(&mut self, to: NodeId, out: &mut impl MacOut) {
        self.flush_units(to, out);
        let Station { queue, room, rules, .. } = self;
        queue.retain(|msdu| {
            if msdu.next == to {
                room.release(msdu, rules);
                out.done(msdu.handle, Outcome::Flushed);
            }
            msdu.next != to
        });
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> NodeId {
        self.address
    }

    /// Packets it holds, the one in service included.
    #[must_use]
    pub fn backlog(&self) -> usize {
        match &self.units {
            None => self.queue.len() + usize::from(self.service.is_some()),
            Some(units) => units.backlog(),
        }
    }

    /// The packet in service, and how many attempts at its frame have failed.
    #[must_use]
    pub fn in_service(&self) -> Option<(u64, u32)> {
        self.service.map(|service| (service.msdu.handle, self.attempts_before()))
    }

    /// Its counters.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Whether a backoff is counted down or frozen, for the airtime ledger.
    #[must_use]
    pub fn is_backing_off(&self) -> bool {
        self.doing == Doing::Contend && self.access.is_backing_off()
    }
}
