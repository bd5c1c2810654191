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
mod mac;
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
use super::frame::Msdu;
use super::mode::Mode;
use super::rates::Airtime;
use super::shared::{self, Core, Role};
use super::timing::Rules;
use crate::hooks::{Arq, Rider};
use crate::packet::NodeId;
use crate::units::Time;
use contend::Contender;
use multi_link::Linked;
use originator::{Originator, Waiting};
use recipient::Recipient;
use several::Several;
use solicited::Solicited;
use uplink::Triggering;

/// What follows after SIFS.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
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
pub(super) enum Sent {
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
pub(super) enum Answer {
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

type Doing = shared::Doing<Next, Sent, Answer>;

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

/// A station with EDCA.
#[derive(Clone, Debug)]
pub struct Edca<A> {
    core: Core<Next, Sent, Answer>,
    config: EdcaConfig,
    contenders: [Contender; CATEGORIES],
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
    /// The originators of planned frames outside of agreements: receiver and category, and the place of the originator.
    outside: Vec<((NodeId, usize), usize)>,
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
    /// What its BlockAck reports.
    report: BlockAck,
    /// What rides in its answer.
    aboard: Vec<Rider>,
    order: u64,
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
        let contenders =
            Category::ALL.map(|category| Contender::new(config.access[category as usize], &rules));
        Edca {
            core: Core::new(rules, address, role),
            config,
            contenders,
            committed: 0,
            not_before: Time::ZERO,
            originators: Vec::new(),
            linked: None,
            scheme: None,
            places: Vec::new(),
            outside: Vec::new(),
            service: Service::default(),
            burst: Vec::with_capacity(config.window as usize),
            several: Several::default(),
            uplink: Triggering::default(),
            solicited: None,
            recipients: Vec::new(),
            release_at: Time::NEVER,
            report: BlockAck::default(),
            aboard: Vec::new(),
            order: 0,
            block_acks: EdcaCounters::default(),
        }
    }

    /// Whether the queue of a category is full, which counts as a packet refused.
    fn refuses(&mut self, category: usize) -> bool {
        let is_full = self.contenders[category].backlog > self.core.rules.config.queue;
        self.core.counters.refused += u64::from(is_full);
        is_full
    }

    fn take_over(&mut self, msdu: Msdu, (place, is_ahead): (usize, bool), now: Time, out: &mut impl MacOut) {
        let category = msdu.category as usize;
        let had_work = self.contenders[category].has_work();
        let was_active = self.originators[place].has_work();
        let Originator { waiting, choosing, control, .. } = &mut self.originators[place];
        if let Some(control) = control {
            control.admit(self.core.rules.overhead + self.core.rules.config.llc + msdu.bytes);
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
        if !had_work && self.contenders[category].has_work() && self.core.contends() {
            self.join(category, now, out);
        }
    }

    /// The medium has lost the MPDU at this place of the frame being sent for good: its packet is discarded after this attempt.
    fn lose_for_good(&mut self, place: usize, sequence: u16) {
        let of = self.several.agreement(place).unwrap_or(self.service.of);
        if let Some(numbered) = self.originators[of].get(sequence) {
            numbered.lost = true;
        }
    }

    /// The mode that its rate control has chosen last for a receiver, if there is one.
    #[must_use]
    pub fn chosen_mode(&self, peer: NodeId, category: usize) -> Option<Mode> {
        let place = *self.places.get(peer.0 as usize * CATEGORIES + category)?;
        let originator = self.originators.get((place as usize).checked_sub(1)?)?;
        originator.control.is_some().then_some(originator.mode)
    }

    /// Its counters of block acknowledgement.
    #[must_use]
    pub fn edca_counters(&self) -> &EdcaCounters {
        &self.block_acks
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
}
