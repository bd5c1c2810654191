//! EDCA with aggregation and block acknowledgement: the MAC of 802.11n, ac, ax and be, instead of DCF.
//!
//! **Limits.** Agreements exist from the start, without ADDBA. No A-MSDU, no fragments, no no-ack policy, no admission
//! control, no reverse direction. A failure ends a TXOP: no recovery after PIFS.
//!
//! **Source.** IEEE 802.11-2020, 10.23.2 (EDCA), 10.12 (A-MPDU), 10.25 (block acknowledgement), 10.3 (carrier sense,
//! responses, EIFS).
//!
//! **Choices.**
//! 1. At the boundary after AIFS, and at each one after it, a backoff that is not zero decreases by one (10.23.2.4). An
//!    idle run of n slots subtracts n + 1 from the backoff of those that do not send, where DCF subtracts n. ns-3 does
//!    the same.
//! 2. After a missing response AIFS counts from the end of the timeout (10.23.2.4 c), as in ns-3.
//! 3. Of the receivers in a category the one with the oldest packet is served; a BlockAckReq that is owed goes first.
//! 4. A packet counts the transmissions of its MPDU, and the RTS before it that no CTS answered. It is discarded when
//!    the count reaches the retry limit; a BlockAckReq then moves the window of its receiver. The packets of which a
//!    BlockAckReq asks may have arrived. They are discarded after as many BlockAckReqs in a row without an answer, and
//!    the receiver then waits for them until its timeout.
//! 5. An acknowledgement was lost if a BlockAckReq follows, or an MPDU that it acknowledged comes again; its riders are
//!    then sent again. If all such MPDUs are in error while others arrive, the riders are lost.
//! 6. A packet whose lifetime is over is discarded at the beginning of a TXOP of its receiver's, but not while a
//!    BlockAckReq asks whether it has arrived. A BlockAckReq follows if it was sent before.
//! 7. The window of a category is reset by an exchange with a CTS, an Ack or a BlockAck. It is also reset when an
//!    attempt fails after as many in a row as the retry limit (10.23.2.2, QSRC). An internal collision widens it, and
//!    counts for nothing else.
//!
//! **How.** As the station of DCF (see `dot11`), with the same obligations of the host. A data frame carries its MPDUs in a
//! [`Load`], which the host keeps with the frame and in which the medium records the fate of each.

mod choosing;
mod config;
mod contend;
mod counters;
mod exchange;
mod load;
mod minstrel;
mod multi_link;
mod originator;
mod planned;
mod protect;
mod rate_control;
mod recipient;
mod respond;
mod settling;
mod several;
mod single_radio;
mod solicited;
#[cfg(test)]
mod tests;
mod uplink;

use config::BLOCK_ACK_REQUEST;

pub use config::{
    Access as EdcaAccess, Acknowledgement, AfterLoss, Aggregate, CATEGORIES, Category, DELIMITER, EdcaConfig,
    MuEdca, Ofdma, Scheduler, Uplink, WINDOWS,
};
pub use counters::EdcaCounters;
pub use load::{Answering, BlockAck, Confirmed, Load, Mpdu, MpduFate, Share, UNKNOWN};
pub use multi_link::Agreements;
pub use rate_control::RateControl;
pub use single_radio::SingleRadio;

use std::sync::Arc;

use super::MacOut;
use super::access::Access;
use super::dcf::{Counters, Role};
use super::frame::{Distribution, Frame, FrameKind, Msdu, Outcome};
use super::mode::Mode;
use super::rates::Airtime;
use super::riders::Riders;
use super::timing::Rules;
use crate::hooks::{Arq, Count, Rider, Timing};
use crate::packet::NodeId;
use crate::units::Time;
use contend::Contender;
use multi_link::Linked;
use originator::{Originator, Waiting};
use planned::Planning;
use recipient::Recipient;
use several::Several;
use solicited::Solicited;
use uplink::Triggering;

/// What a station with EDCA asks of its host besides [`MacOut`].
pub trait EdcaOut: MacOut {
    /// Where to put what the frame carries that is transmitted next.
    fn load(&mut self) -> &mut Load;
    /// A packet was received before one that is missing: keeps a copy, and returns its handle.
    fn hold(&mut self, handle: u64) -> u64;
    /// Passes up a copy that was kept.
    fn up_held(&mut self, handle: u64);
    /// A packet was received after the window had passed it: it is discarded.
    fn late(&mut self, handle: u64);
    /// Sets the timer of the reordering buffer.
    fn set_release(&mut self, at: Time);
    /// The ratio of signal to noise at which a station hears this one now.
    fn signal_to_noise(&mut self, at: NodeId) -> f64;
    /// The probability that an MPDU of these bytes fails in a mode, at a ratio of signal to noise.
    fn mpdu_failure(&mut self, mode: Mode, bytes: u32, ratio: f64) -> f64;
}

/// What follows after SIFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    Answer,
    Data,
    Request,
    Trigger,
    Soliciting,
    Solicited,
    Confirmation,
}

/// What the station sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    Rts,
    /// An MU-RTS that asks for the radio of a station.
    Initial,
    CtsToSelf,
    Data,
    Request,
    ToSeveral,
    Trigger,
    Soliciting,
    Solicited,
    Confirmation,
    Answer,
}

/// The answer it waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Cts,
    Ack,
    BlockAck,
    /// The BlockAcks of several stations at once.
    Together,
    /// The data or the reports of several stations at once.
    Uplink,
    /// The BlockAck for data that a trigger requested.
    Confirmation,
}

/// What the station is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Contend,
    Gap(Next),
    Sending(Sent),
    Await(Answer),
    /// The time for the answer is over, but a frame on the air may be it.
    Late(Answer),
    /// Its radio is on another link.
    Away,
}

/// What the station has served since it gained access to the medium.
#[derive(Clone, Copy, Debug, Default)]
struct Service {
    /// The agreement, by its place.
    of: usize,
    /// The PPDU with MPDUs that was prepared last.
    bytes: u32,
    airtime: Airtime,
    /// When the TXOP ends.
    ends: Time,
}

/// One interface on an 802.11 medium with EDCA.
#[derive(Clone, Debug)]
pub struct Edca<A> {
    rules: Arc<Rules>,
    config: EdcaConfig,
    address: NodeId,
    role: Role,
    doing: Doing,
    carrier: Access,
    contenders: [Contender; CATEGORIES],
    /// The time of the timer while contending.
    armed: Time,
    /// The categories whose backoff ended in the instant in which the medium turned busy.
    committed: u8,
    /// No idle time before it counts.
    not_before: Time,
    originators: Vec<Originator<A>>,
    /// What it has of its own on a link of a multi-link device.
    linked: Option<Box<Linked>>,
    /// The scheme that orders packets, from which each agreement has its own.
    scheme: Option<Box<A>>,
    /// The place of each originator by node and category, one more than it; 0 is none.
    places: Vec<u32>,
    service: Service,
    /// The MPDUs prepared; of a PPDU to several stations those of one of them.
    burst: Vec<Mpdu>,
    several: Several,
    /// The triggers of an access point, and the one that the station answers.
    uplink: Triggering,
    solicited: Option<Solicited>,
    recipients: Vec<(NodeId, Category, Recipient)>,
    /// When the timer of the reordering buffers is due.
    release_at: Time,
    answer: (Frame, Airtime),
    /// What its BlockAck reports.
    report: BlockAck,
    riders: Riders,
    /// What rides in its answer.
    aboard: Vec<Rider>,
    order: u64,
    /// The frames that the layer above plans.
    planning: Option<Box<Planning>>,
    counters: Counters,
    block_acks: EdcaCounters,
}

impl<A: Arq + Clone> Edca<A> {
    /// An idle station on a medium that was always idle.
    ///
    /// # Panics
    /// Where the rules have no EDCA.
    #[must_use]
    pub fn new(rules: Arc<Rules>, address: NodeId, role: Role) -> Edca<A> {
        let mut config = rules.config.edca.expect("the rules have EDCA");
        if config.own_set && matches!(role, Role::AccessPoint) {
            config.access = config.access_of_ap();
        }
        let nothing = Frame::new(FrameKind::Ack, address, address, 0, rules.control_rate);
        Edca {
            config,
            address,
            role,
            doing: Doing::Contend,
            carrier: Access::new(),
            contenders: Category::ALL
                .map(|category| Contender::new(config.access[category as usize], &rules)),
            armed: Time::NEVER,
            committed: 0,
            not_before: Time::ZERO,
            originators: Vec::new(),
            linked: None,
            scheme: None,
            places: Vec::new(),
            service: Service::default(),
            burst: Vec::with_capacity(config.window as usize),
            several: Several::default(),
            uplink: Triggering::default(),
            solicited: None,
            recipients: Vec::new(),
            release_at: Time::NEVER,
            answer: (nothing, Airtime::default()),
            report: BlockAck::default(),
            riders: Riders::default(),
            aboard: Vec::new(),
            order: 0,
            planning: None,
            counters: Counters::default(),
            block_acks: EdcaCounters::default(),
            rules,
        }
    }

    /// Accepts a packet to send. Returns false if the queue of its category is full: the packet remains the caller's.
    pub fn enqueue(&mut self, msdu: Msdu, now: Time, out: &mut impl EdcaOut) -> bool {
        self.admit(msdu, false, now, out)
    }

    /// The same with a packet that precedes those that wait for the same receiver.
    pub fn enqueue_ahead(&mut self, msdu: Msdu, now: Time, out: &mut impl EdcaOut) -> bool {
        self.admit(msdu, true, now, out)
    }

    fn admit(&mut self, msdu: Msdu, is_ahead: bool, now: Time, out: &mut impl EdcaOut) -> bool {
        let category = msdu.category as usize;
        if self.refuses(category) {
            return false;
        }
        let place = self.place_of(msdu.next, category);
        self.take_over(msdu, (place, is_ahead), now, out);
        true
    }

    /// Whether the queue of a category is full, which counts as a packet refused.
    fn refuses(&mut self, category: usize) -> bool {
        let is_full = self.contenders[category].backlog > self.rules.config.queue;
        self.counters.refused += u64::from(is_full);
        is_full
    }

    fn take_over(&mut self, msdu: Msdu, (place, is_ahead): (usize, bool), now: Time, out: &mut impl EdcaOut) {
        let category = msdu.category as usize;
        let had_work = self.contenders[category].has_work();
        let was_active = self.originators[place].has_work();
        let Originator { waiting, choosing, control, .. } = &mut self.originators[place];
        if let Some(control) = control {
            control.admit(self.rules.overhead + self.rules.config.llc + msdu.bytes);
        }
        let order = match waiting.front() {
            Some(first) if is_ahead => first.order,
            _ => self.order,
        };
        let entry = Waiting { msdu, order, since: now };
        if let Some(choosing) = choosing {
            choosing.admit(msdu, order);
        } else if is_ahead {
            waiting.push_front(entry);
        } else {
            waiting.push_back(entry);
        }
        self.order += 1;
        self.contenders[category].add(place as u32, was_active || self.is_linked());
        if self.is_linked() {
            self.refresh(place);
        }
        if !had_work && self.contenders[category].has_work() && self.doing == Doing::Contend {
            self.join(category, now, out);
        }
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

    /// The medium has lost the MPDU at this place of the frame being sent for good: its packet is discarded after this attempt.
    pub fn on_lost_for_good(&mut self, place: usize, sequence: u16) {
        let of = self.several.agreement(place).unwrap_or(self.service.of);
        if let Some(numbered) = self.originators[of].get(sequence) {
            numbered.lost = true;
        }
    }

    /// Removes the packets for a neighbour. Those of an exchange that is under way are discarded after it if it fails.
    pub fn flush(&mut self, to: NodeId, out: &mut impl EdcaOut) {
        self.uplink.forget(to);
        for place in 0..self.originators.len() {
            if self.originators[place].peer != to {
                continue;
            }
            let is_in_service = self.service.of == place || self.several.has(place);
            let is_busy = self.doing != Doing::Contend && is_in_service;
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

    /// Lets a scheme select what is sent. To be called before the first packet.
    pub fn adopt(&mut self, scheme: A) {
        self.scheme = Some(Box::new(scheme));
    }

    /// The timing of a flow's sender has become known, or has changed.
    #[inline]
    pub fn on_timing(&mut self, flow: u32, timing: Timing) {
        let Some(scheme) = &mut self.scheme else { return };
        scheme.on_timing(flow, timing);
        for choosing in self.originators.iter_mut().filter_map(|originator| originator.choosing.as_mut()) {
            choosing.on_timing(flow, timing);
        }
    }

    /// The counters of the schemes of all agreements.
    #[must_use]
    pub fn arq_counts(&self) -> Vec<Count> {
        let mut sums = self.scheme.as_ref().map_or_else(Vec::new, |scheme| scheme.counts());
        for choosing in self.originators.iter().filter_map(|originator| originator.choosing.as_ref()) {
            for (sum, count) in sums.iter_mut().zip(choosing.scheme.counts()) {
                sum.value += count.value;
            }
        }
        sums
    }

    /// The mode that its rate control has chosen last for a receiver, if there is one.
    #[must_use]
    pub fn chosen_mode(&self, peer: NodeId, category: usize) -> Option<Mode> {
        let place = *self.places.get(peer.0 as usize * CATEGORIES + category)?;
        let originator = self.originators.get((place as usize).checked_sub(1)?)?;
        originator.control.is_some().then_some(originator.mode)
    }

    /// Its address.
    #[must_use]
    pub fn address(&self) -> NodeId {
        self.address
    }

    /// Packets it holds.
    #[must_use]
    pub fn backlog(&self) -> usize {
        self.contenders.iter().map(|contender| contender.backlog as usize).sum()
    }

    /// Whether the queue of a category is full.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.contenders.iter().any(|contender| contender.backlog > self.rules.config.queue)
    }

    /// Its counters.
    #[must_use]
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// Its counters of block acknowledgement.
    #[must_use]
    pub fn edca_counters(&self) -> &EdcaCounters {
        &self.block_acks
    }

    /// The first packet of the frame in service, and how often it was sent before.
    #[must_use]
    pub fn in_service(&self) -> Option<(u64, u32)> {
        self.burst.first().map(|first| (first.handle, first.attempts.into()))
    }

    /// Whether an agreement still has something to send.
    fn refresh(&mut self, place: usize) {
        let (category, has_work) = (self.originators[place].category, self.originators[place].has_work());
        if !has_work {
            self.contenders[category].retire(place as u32);
        } else if self.is_linked() {
            self.wake(place as u32, category);
        }
    }

    fn distribution(&self) -> Distribution {
        match self.role {
            Role::AdHoc => Distribution::AdHoc,
            Role::Station { .. } => Distribution::ToAp,
            Role::AccessPoint => Distribution::FromAp,
        }
    }
}
