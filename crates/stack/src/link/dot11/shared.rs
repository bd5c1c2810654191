//! What a station has with DCF and with EDCA alike: its carrier, its part in the exchange of frames, and its answers.
//!
//! [`Dcf`](super::dcf::Dcf) and [`Edca`](super::Edca) each hold a [`Core`], and add how they contend and what they send.

use std::sync::Arc;

use super::MacOut;
use super::access::Access;
use super::frame::{BROADCAST, Distribution, Frame, FrameKind};
use super::planned::Plans;
use super::rates::{Airtime, PhyRate};
use super::riders::Riders;
use super::timing::Rules;
use crate::packet::NodeId;
use crate::units::{Span, Time};

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

/// The activity of a station, by what may follow after SIFS, what it sends and which answers it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Doing<Next, Sent, Answer> {
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
    /// It does not contend. With DCF it receives only the data frame that its CTS requested; with EDCA its radio is on another
    /// link.
    Apart,
}

/// What DCF and EDCA have in common. What every frame touches comes first, since most frames are those of others.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Core<Next, Sent, Answer> {
    pub(super) carrier: Access,
    pub(super) rules: Arc<Rules>,
    /// The time of the timer while contending.
    pub(super) armed: Time,
    pub(super) doing: Doing<Next, Sent, Answer>,
    pub(super) address: NodeId,
    pub(super) role: Role,
    /// The answer that it has prepared.
    pub(super) answer: (Frame, Airtime),
    pub(super) riders: Riders,
    pub(super) counters: Counters,
    /// The rates of frames that the layer above plans.
    pub(super) plans: Option<Box<Plans>>,
}

impl<Next: Copy, Sent: Copy, Answer: Copy + PartialEq> Core<Next, Sent, Answer> {
    /// That of an idle station on a medium that was always idle.
    pub(super) fn new(rules: Arc<Rules>, address: NodeId, role: Role) -> Core<Next, Sent, Answer> {
        let nothing = Frame::new(FrameKind::Ack, address, address, 0, rules.control_rate);
        Core {
            carrier: Access::new(),
            rules,
            armed: Time::NEVER,
            doing: Doing::Contend,
            address,
            role,
            answer: (nothing, Airtime::default()),
            riders: Riders::default(),
            counters: Counters::default(),
            plans: None,
        }
    }

    /// Whether it waits for its turn, or for nothing.
    #[inline]
    pub(super) fn contends(&self) -> bool {
        matches!(self.doing, Doing::Contend)
    }

    /// Whether it waits for this answer.
    #[inline]
    pub(super) fn awaits(&self, answer: Answer) -> bool {
        matches!(self.doing, Doing::Await(awaited) | Doing::Late(awaited) if awaited == answer)
    }

    /// Waits SIFS before this.
    #[inline]
    pub(super) fn after_sifs(&mut self, next: Next, now: Time, out: &mut impl MacOut) {
        self.doing = Doing::Gap(next);
        out.set_timer(now + self.rules.config.sifs);
    }

    /// Waits for an answer that lasts this long.
    #[inline]
    pub(super) fn wait_for(&mut self, answer: Answer, lasts: Span, now: Time, out: &mut impl MacOut) {
        self.doing = Doing::Await(answer);
        out.set_timer(now + self.rules.timeout(lasts));
    }

    /// Sends an answer after SIFS.
    #[inline]
    pub(super) fn answer_with(
        &mut self,
        next: Next,
        answer: (Frame, Airtime),
        now: Time,
        out: &mut impl MacOut,
    ) {
        self.answer = answer;
        self.armed = Time::NEVER;
        self.after_sifs(next, now, out);
    }

    /// The CTS that answers a frame.
    pub(super) fn cts(&self, to: &Frame, rate: PhyRate, airtime: Airtime) -> Frame {
        let duration = self.rules.left(to.duration, airtime);
        let cts = Frame::new(FrameKind::Cts, to.transmitter, self.address, self.rules.config.cts, rate);
        Frame { duration, ..cts }
    }

    /// A trigger of this size, for all.
    pub(super) fn trigger(&self, bytes: u32) -> Frame {
        Frame::new(FrameKind::Trigger, BROADCAST, self.address, bytes, self.rules.protection_rate)
    }

    /// Its own frame has ended. Returns which one.
    #[inline]
    pub(super) fn has_sent(&mut self, now: Time) -> Option<Sent> {
        if !self.carrier.busy {
            self.carrier.on_idle(now);
        }
        if let Doing::Sending(sent) = self.doing { Some(sent) } else { None }
    }

    /// Sets the timer to the next turn, unless it is set to that already.
    #[inline]
    pub(super) fn arm(&mut self, at: Time, out: &mut impl MacOut) {
        if at == self.armed {
            return;
        }
        self.armed = at;
        if at == Time::NEVER {
            out.cancel_timer();
        } else {
            out.set_timer(at);
        }
    }

    /// To DS and From DS of what it sends.
    pub(super) fn distribution(&self) -> Distribution {
        match self.role {
            Role::AdHoc => Distribution::AdHoc,
            Role::Station { .. } => Distribution::ToAp,
            Role::AccessPoint => Distribution::FromAp,
        }
    }
}

/// An exchange of frames, as far as it is the same with DCF and EDCA.
pub(super) trait Exchange: Sized {
    /// What may follow after SIFS.
    type Next: Copy;
    /// What it sends.
    type Sent: Copy;
    /// What it waits for.
    type Answer: Copy + PartialEq;

    /// What both have.
    fn core(&self) -> &Core<Self::Next, Self::Sent, Self::Answer>;

    /// The same, to be changed.
    fn core_mut(&mut self) -> &mut Core<Self::Next, Self::Sent, Self::Answer>;

    /// Whether it neither sends nor waits and has no backoff.
    fn is_at_rest(&self) -> bool;

    /// The station has returned to contention, or the medium turned idle in contention.
    fn resume(&mut self, now: Time, out: &mut impl MacOut);

    /// No answer came.
    fn fail(&mut self, answer: Self::Answer, now: Time, out: &mut impl MacOut);

    /// The medium turned idle while it took part in nothing.
    fn on_idle_apart(&mut self, _now: Time, _out: &mut impl MacOut) {}

    /// Sends an answer after SIFS.
    fn answer_with(&mut self, frame: Frame, airtime: Airtime, now: Time, out: &mut impl MacOut);

    /// Something other than the answer came: the attempt has failed (IEEE 802.11-2012, 9.3.2.6, 9.3.2.8).
    #[inline]
    fn stop_waiting(&mut self, now: Time, out: &mut impl MacOut) {
        match self.core().doing {
            Doing::Await(answer) => {
                out.cancel_timer();
                self.fail(answer, now, out);
            }
            Doing::Late(answer) => self.fail(answer, now, out),
            Doing::Contend | Doing::Gap(_) | Doing::Sending(_) | Doing::Apart => {}
        }
    }

    /// A request for a CTS: answers it, unless others have reserved the medium (9.3.2.6).
    fn on_request_to_send(
        &mut self,
        rts: &Frame,
        (rate, airtime): (PhyRate, Airtime),
        now: Time,
        out: &mut impl MacOut,
    ) {
        self.stop_waiting(now, out);
        if self.core().contends() && !self.core().carrier.is_reserved(now) {
            let cts = self.core().cts(rts, rate, airtime);
            self.answer_with(cts, airtime, now, out);
        }
    }
}
