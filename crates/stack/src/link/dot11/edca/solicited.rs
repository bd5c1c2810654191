//! A station that a trigger asks for data, or for a report of what it holds.
//!
//! **Source.** IEEE 802.11ax-2021, 26.5.2.3 (HE TB PPDUs), 26.5.5 (reports), 26.2.7 (MU EDCA), 10.23.2.2 (the backoff stays as it
//! is); IEEE 802.11-2020, 9.2.4.5.6 (Queue Size).
//!
//! **Choices.**
//! 1. The category of the trigger goes first, and the next ones follow; a PPDU has MPDUs of one category. A BlockAckReq that is
//!    owed goes before them.
//! 2. A station without anything that fits sends its report, a QoS Null for each category in which it has sent anything.
//! 3. A report counts the bytes of the A-MPDU that would carry the queue. The standard counts packets, by which the PPDU would be too
//!    short for small ones; ns-3 counts MPDUs.
//! 4. A triggered station does not sense the medium before its PPDU.
//! 5. The timer of MU EDCA starts in the category of what has arrived. The window is within the new bounds at once; a backoff
//!    that was drawn stays.

use super::super::frame::{Frame, FrameKind, Msdu};
use super::super::mode::Mode;
use super::super::rates::Airtime;
use super::super::shared::{Exchange, Role};
use super::config::{BLOCK_ACK_REQUEST, CATEGORIES, Category, DELIMITER};
use super::load::{Answering, BlockAck, Load, Share, UNKNOWN};
use super::uplink::{MOST, UNIT};
use super::{Answer, Doing, Edca, MacOut, Next, Sent, Service};
use crate::hooks::Arq;
use crate::packet::NodeId;
use crate::units::{Span, Time};

/// What a trigger asks of this station.
#[derive(Clone, Copy, Debug)]
pub(super) struct Solicited {
    to: NodeId,
    mode: Mode,
    room: Airtime,
    category: Category,
    wants_data: bool,
    /// From the end of its PPDU to that of the exchange.
    duration: Span,
    /// A BlockAck is to follow.
    awaits: bool,
}

/// Bytes of a report for this number of categories: an A-MPDU of headers, one for each.
pub(super) fn reports_bytes(categories: usize, overhead: u32) -> u32 {
    let subframe = (DELIMITER + overhead).next_multiple_of(4);
    subframe * (categories as u32 - 1) + DELIMITER + overhead
}

impl<A: Arq + Clone> Edca<A> {
    /// A trigger asks for data, or for a report.
    pub(super) fn on_solicited(
        &mut self,
        frame: &Frame,
        share: &Share,
        room: Airtime,
        now: Time,
        out: &mut impl MacOut,
    ) {
        self.solicited = Some(Solicited {
            to: frame.transmitter,
            mode: share.mode,
            room,
            category: frame.category,
            wants_data: share.answering == Answering::WithData,
            duration: self.core.rules.left(frame.duration, room),
            awaits: false,
        });
        self.core.armed = Time::NEVER;
        self.core.after_sifs(Next::Solicited, now, out);
    }

    /// Sends what the trigger asked for.
    pub(super) fn send_solicited(&mut self, now: Time, out: &mut impl MacOut) {
        let Some(mut solicited) = self.solicited else { return };
        let found = if solicited.wants_data { self.find_for(&solicited) } else { None };
        solicited.awaits = found.is_some();
        self.solicited = Some(solicited);
        self.core.doing = Doing::Sending(Sent::Solicited);
        match found {
            Some(of) => self.send_share(of, &solicited, now, out),
            None => self.send_reports(&solicited, out),
        }
    }

    fn size_of(&self, msdu: &Msdu) -> u32 {
        DELIMITER + self.core.rules.overhead + self.core.rules.config.llc + msdu.bytes
    }

    /// The agreement, by its place, that has something which fits.
    fn find_for(&self, solicited: &Solicited) -> Option<usize> {
        let Solicited { mode, room, to, category, .. } = *solicited;
        let most = mode.capacity_after(room.preamble, room.total).min(self.config.aggregate.bytes);
        let in_turn = (0..CATEGORIES).map(|next| (category as usize + next) % CATEGORIES);
        in_turn.filter_map(|category| self.place_with(to, category)).find(|of| {
            let originator = &self.originators[*of];
            let first = originator.candidate(0).map(|(_, first, _)| self.size_of(&first));
            let wanted = if originator.owes() { Some(DELIMITER + BLOCK_ACK_REQUEST) } else { first };
            wanted.is_some_and(|wanted| wanted <= most)
        })
    }

    /// The agreement with a neighbour in a category, by its place, if there is one.
    fn place_with(&self, peer: NodeId, category: usize) -> Option<usize> {
        let place = *self.places.get(peer.0 as usize * CATEGORIES + category)?;
        (place as usize).checked_sub(1)
    }

    /// Sends MPDUs of an agreement, or the BlockAckReq that it owes.
    fn send_share(&mut self, of: usize, solicited: &Solicited, now: Time, out: &mut impl MacOut) {
        let Solicited { to, mode, room, duration, .. } = *solicited;
        self.service = Service { of, ..Service::default() };
        self.burst.clear();
        let owes_request = self.originators[of].owes();
        let category = Category::ALL[self.originators[of].category];
        let (mut bytes, mut airtime) = (BLOCK_ACK_REQUEST, room);
        if owes_request {
            self.block_acks.requests += 1;
        } else {
            let most = mode.capacity_after(room.preamble, room.total).min(self.config.aggregate.bytes);
            let filled = self.fill(mode, most, None, now);
            bytes = filled.end;
            airtime.payload = mode.airtime_after(room.preamble, bytes, filled.payload).payload;
            self.count_sent();
        }
        self.take_off();
        let kind = if owes_request { FrameKind::BlockAckReq } else { FrameKind::Data };
        let originator = &self.originators[of];
        let first = self.burst.first();
        let frame = Frame {
            duration,
            sequence: first.map_or(originator.start, |first| first.sequence),
            retry: first.is_some_and(|first| first.attempts > 0),
            msdu: first.map(|first| first.handle),
            class: first.map_or_else(Default::default, |first| first.class),
            more_data: originator.has_more(self.burst.len()),
            mode: Some(mode),
            mpdus: self.burst.len() as u16,
            category,
            distribution: self.core.distribution(),
            together: true,
            ..Frame::new(kind, to, self.core.address, bytes, mode.reference())
        };
        let reports = self.reports_beside(to, Some(category));
        let load = out.load();
        load.clear();
        load.mpdus.extend_from_slice(&self.burst);
        load.reports = reports;
        out.transmit(frame, airtime);
    }

    /// Sends a report alone.
    fn send_reports(&mut self, solicited: &Solicited, out: &mut impl MacOut) {
        let Solicited { to, mode, room, category, duration, .. } = *solicited;
        self.burst.clear();
        let mut reports = self.reports_beside(to, None);
        if reports == [UNKNOWN; CATEGORIES] {
            reports[category as usize] = 0;
        }
        let categories = reports.iter().filter(|report| **report != UNKNOWN).count();
        let frame = Frame {
            duration,
            mode: Some(mode),
            category,
            distribution: self.core.distribution(),
            together: true,
            ..Frame::new(
                FrameKind::Null,
                to,
                self.core.address,
                reports_bytes(categories, self.core.rules.overhead),
                mode.reference(),
            )
        };
        let load = out.load();
        load.clear();
        load.reports = reports;
        out.transmit(frame, room);
    }

    /// What the station reports to its access point of one category, or of all, beside the MPDUs in service.
    pub(super) fn reports_beside(&self, to: NodeId, only: Option<Category>) -> [u8; CATEGORIES] {
        let mut reports = [UNKNOWN; CATEGORIES];
        let is_of_them = self.uplink().is_some()
            && matches!(self.core.role, Role::Station { ap } if ap == to)
            && self.core.rules.takes_part(self.core.address);
        if !is_of_them {
            return reports;
        }
        for (category, report) in reports.iter_mut().enumerate() {
            if only.is_some_and(|only| only as usize != category) {
                continue;
            }
            let Some(of) = self.place_with(to, category) else { continue };
            let size_of = |msdu: &Msdu| self.size_of(msdu).next_multiple_of(4);
            let beside = self.burst.iter().filter(|_| only.is_some() && !self.is_linked());
            let beside: u32 = beside.map(|mpdu| (DELIMITER + mpdu.bytes).next_multiple_of(4)).sum();
            let most = beside + u32::from(MOST) * UNIT;
            let bytes = self.originators[of].bytes(size_of, most) - beside;
            *report = bytes.div_ceil(UNIT) as u8;
        }
        reports
    }

    /// What was solicited has been sent.
    pub(super) fn await_confirmation(&mut self, now: Time, out: &mut impl MacOut) {
        match self.solicited.filter(|solicited| solicited.awaits) {
            Some(Solicited { duration, .. }) => {
                self.core.doing = Doing::Await(Answer::Confirmation);
                let lasts = Span(duration.0.saturating_sub(self.core.rules.config.sifs.0));
                out.set_timer(now + self.core.rules.timeout(lasts));
            }
            None => self.end_solicited(now, out),
        }
    }

    /// Whether a BlockAck to several stations is for this one as well, which then takes it in.
    pub(super) fn is_confirmed(&mut self, load: &Load, now: Time, out: &mut impl MacOut) -> bool {
        let Some(confirmed) = load.confirmed.iter().find(|confirmed| confirmed.to == self.core.address)
        else {
            return false;
        };
        if !self.core.awaits(Answer::Confirmation) {
            self.stop_waiting(now, out);
            return true;
        }
        out.cancel_timer();
        let block = confirmed.block.unwrap_or_else(|| self.whole());
        let any = self.burst.iter().any(|mpdu| block.has(mpdu.sequence));
        self.land();
        self.settle_block(&block, out);
        if let Some(mu) = self.mu_edca().filter(|_| any) {
            self.contenders[confirmed.category as usize].defer(&mu, &self.core.rules, now);
        }
        self.end_solicited(now, out);
        true
    }

    /// The bitmap of all MPDUs in service.
    fn whole(&self) -> BlockAck {
        let start = self.originators[self.service.of].start;
        let mut block = BlockAck { start, ..BlockAck::default() };
        self.burst.iter().for_each(|mpdu| block.set(mpdu.sequence));
        block
    }

    /// No BlockAck came for what was solicited.
    pub(super) fn on_unconfirmed(&mut self, now: Time, out: &mut impl MacOut) {
        self.land();
        self.miss_block_ack(out);
        self.end_solicited(now, out);
    }

    /// The exchange is over: contention goes on where it was.
    fn end_solicited(&mut self, now: Time, out: &mut impl MacOut) {
        self.solicited = None;
        self.core.doing = Doing::Contend;
        self.burst.clear();
        self.resume(now, out);
    }
}
