//! Multi-link operation: the links of a device send from common queues, and receive into common reordering buffers.
//!
//! **Limits.** Simultaneous transmission and reception on all links (STR), or one radio for all (`single_radio`); no TID-to-link
//! mapping, no power saving. No scheme that orders packets, no riders. All links are there from the start.
//!
//! **Source.** IEEE 802.11be-2024, 35.3 (multi-link operation), 35.3.8 (block acknowledgement: one agreement for all links),
//! 35.3.16.2 (STR).
//!
//! **How.** Each link has a MAC of its own: carrier, backoffs, exchange, modes. The [`Agreements`] of the device go to the
//! link to which something happens, and back. An MPDU that one link is sending is left out by the others:
//!
//! ```text
//!   waiting ──▶ window: 7 8 9 10 11 12 13          link A sends 7 8 9, link B then 10 11 12
//!                       ╰ A ╯ ╰── B ─╯            a BlockAck on either reports all that has arrived
//! ```
//!
//! **Choices.** 1. A BlockAck settles whatever no link is sending. What it reports of an MPDU that another link is sending
//! counts when that link has an answer of its own. 2. After a BlockAck that is missing any link may send the MPDUs again, or
//! the BlockAckReq. 3. A link whose backoff ends while others are sending all that there is has no turn; it sends at once
//! when there is something again. 4. A packet that comes while several links are idle goes on the first.

use std::mem::{swap, take};

use super::super::mode::{DataRate, Mode};
use super::super::rates::{Airtime, PhyRate};
use super::originator::Originator;
use super::rate_control::Chooser;
use super::recipient::Recipient;
use super::single_radio::{Radio, Radios};
use super::{CATEGORIES, Category, Edca, MacOut};
use crate::hooks::Arq;
use crate::packet::NodeId;
use crate::units::Time;

/// How data goes to a station on one link: rate and mode, what chooses the mode unless it is constant, and the
/// airtime of a BlockAck.
#[derive(Clone, Debug)]
pub(super) struct Way {
    pub(super) rate: PhyRate,
    pub(super) mode: Mode,
    pub(super) block_ack: Airtime,
    pub(super) control: Option<Box<Chooser>>,
}

/// What a link of a multi-link device has of its own while another one has the agreements.
#[derive(Clone, Debug, Default)]
pub(super) struct Linked {
    /// By originator.
    ways: Vec<Way>,
    /// Whether stations are not on this link, by node.
    absent: Vec<bool>,
    /// The agreements with stations that this link does not reach now, and that have something to send.
    pub(super) aside: [Vec<u32>; CATEGORIES],
    pub(super) radios: Radios,
}

impl Linked {
    /// Whether this link may not reach some station.
    pub(super) fn has_barred(&self) -> bool {
        self.absent.contains(&true) || !self.radios.of.is_empty()
    }

    /// Whether this link does not reach a station now.
    pub(super) fn bars(&self, station: NodeId) -> bool {
        self.absent.get(station.0 as usize) == Some(&true) || self.radios.lacks(station)
    }
}

/// What the links of a device have in common: the packets to send, and the state of block acknowledgement.
#[derive(Clone, Debug)]
pub struct Agreements<A> {
    originators: Vec<Originator<A>>,
    places: Vec<u32>,
    recipients: Vec<(NodeId, Category, Recipient)>,
    order: u64,
    release_at: Time,
    active: [Vec<u32>; CATEGORIES],
    backlog: [u32; CATEGORIES],
    /// How many PPDUs to several stations there were.
    rounds: u64,
    /// What is known of stations with one radio, by station.
    radios: Vec<Radio>,
}

impl<A> Default for Agreements<A> {
    fn default() -> Agreements<A> {
        Agreements {
            originators: Vec::new(),
            places: Vec::new(),
            recipients: Vec::new(),
            order: 0,
            release_at: Time::NEVER,
            active: Default::default(),
            backlog: [0; CATEGORIES],
            rounds: 0,
            radios: Vec::new(),
        }
    }
}

impl<A: Arq + Clone> Edca<A> {
    /// Makes this a link of a multi-link device, with its number; `absent` states by node which stations are not on it. To be
    /// called before the first packet.
    pub fn link_up(&mut self, link: u32, absent: Vec<bool>) {
        let mut linked = Linked { absent, ..Linked::default() };
        linked.radios.link = link;
        self.linked = Some(Box::new(linked));
    }

    /// How data goes to a station.
    pub(super) fn way_to(&self, peer: NodeId) -> Way {
        let DataRate { rate, mode } = self.core.rules.data_rate(self.core.address, peer);
        let mode = mode.unwrap_or(self.config.mode);
        let config = &self.core.rules.config;
        let block_ack = config.phy.airtime(self.config.block_ack(), 0, self.core.rules.response(rate).rate);
        let around = config.sifs + self.core.rules.difs + config.slot * u64::from(config.cw_min / 2);
        let control = Chooser::new(self.config.rate_control, mode, around + block_ack.total).map(Box::new);
        Way { rate, mode, block_ack, control }
    }

    pub(super) fn is_linked(&self) -> bool {
        self.linked.is_some()
    }

    /// Takes the agreements of its device, before anything happens to this link.
    pub fn take_agreements(&mut self, of: &mut Agreements<A>, now: Time) {
        self.exchange(of);
        for (contender, backlog) in self.contenders.iter_mut().zip(of.backlog) {
            contender.backlog = backlog;
        }
        let Some(mut linked) = self.linked.take() else { return };
        linked.radios.now = now;
        for place in linked.ways.len()..self.originators.len() {
            linked.ways.push(self.way_to(self.originators[place].peer));
        }
        for (originator, way) in self.originators.iter_mut().zip(linked.ways.drain(..)) {
            originator.set_way(way);
        }
        self.linked = Some(linked);
        self.set_aside();
    }

    /// Gives them back. Returns whether the other links have something to do.
    pub fn return_agreements(&mut self, to: &mut Agreements<A>) -> bool {
        let backlog = [0, 1, 2, 3].map(|category: usize| self.contenders[category].backlog);
        let mut is_new = backlog != to.backlog;
        to.backlog = backlog;
        for contender in &mut self.contenders {
            is_new |= take(&mut contender.has_woken);
        }
        if let Some(linked) = &mut self.linked {
            is_new |= take(&mut linked.radios.has_changed);
            linked.ways.extend(self.originators.iter_mut().map(Originator::take_way));
            for (contender, aside) in self.contenders.iter_mut().zip(&mut linked.aside) {
                contender.active.append(aside);
            }
        }
        self.exchange(to);
        is_new
    }

    fn exchange(&mut self, with: &mut Agreements<A>) {
        swap(&mut self.originators, &mut with.originators);
        swap(&mut self.places, &mut with.places);
        swap(&mut self.recipients, &mut with.recipients);
        swap(&mut self.order, &mut with.order);
        swap(&mut self.release_at, &mut with.release_at);
        self.several.exchange_rounds(&mut with.rounds);
        if let Some(linked) = &mut self.linked {
            swap(&mut linked.radios.of, &mut with.radios);
        }
        for (contender, active) in self.contenders.iter_mut().zip(&mut with.active) {
            swap(&mut contender.active, active);
        }
    }

    /// Another link of its device has got packets, or has finished some, or the radio of a station has changed links.
    pub fn notice(&mut self, now: Time, out: &mut impl MacOut) {
        self.rejoin(now, out);
        if self.core.contends() && !self.core.carrier.busy && self.radios_change_at() != Time::NEVER {
            self.wait_for_turn(out);
        }
    }

    /// Contends for what it may send again.
    pub(super) fn rejoin(&mut self, now: Time, out: &mut impl MacOut) {
        self.follow_radio(now, out);
        for category in 0..CATEGORIES {
            let has_turn_now = self.core.armed == now;
            if self.core.contends() && !has_turn_now && self.contenders[category].has_work() {
                self.join(category, now, out);
            }
        }
    }

    /// An agreement has something to send again: the other links send it if its receiver is not on this one.
    pub(super) fn wake(&mut self, place: u32, category: usize) {
        let peer = self.originators[place as usize].peer;
        let Some(linked) = self.linked.as_mut().filter(|linked| linked.bars(peer)) else {
            self.contenders[category].wake(place);
            return;
        };
        if !linked.aside[category].contains(&place) {
            linked.aside[category].push(place);
            self.contenders[category].has_woken = true;
        }
    }

    /// The other links leave out what this one begins to send.
    pub(super) fn take_off(&mut self) {
        if !self.is_linked() {
            return;
        }
        let originator = &mut self.originators[self.service.of];
        originator.is_asking |= self.burst.is_empty();
        self.burst.iter().for_each(|mpdu| originator.take_off(mpdu.sequence));
        self.refresh(self.service.of);
    }

    /// The exchange is over: what it has not settled any link may send.
    pub(super) fn land(&mut self) {
        if !self.is_linked() {
            return;
        }
        let originator = &mut self.originators[self.service.of];
        originator.is_asking &= !self.burst.is_empty();
        self.burst.iter().for_each(|mpdu| originator.land(mpdu.sequence));
        self.refresh(self.service.of);
    }
}

impl<A: Arq> Originator<A> {
    fn take_way(&mut self) -> Way {
        Way { rate: self.rate, mode: self.mode, block_ack: self.block_ack, control: self.control.take() }
    }

    fn set_way(&mut self, Way { rate, mode, block_ack, control }: Way) {
        (self.rate, self.mode, self.block_ack, self.control) = (rate, mode, block_ack, control);
    }
}
