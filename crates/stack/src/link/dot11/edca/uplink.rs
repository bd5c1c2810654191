//! PPDUs from several stations (uplink OFDMA): whom an access point triggers, when, and how it acknowledges what comes.
//!
//! **Source.** IEEE 802.11ax-2021, 26.5.2 (triggered PPDUs), 26.5.5 (reports of what stations hold), 26.4.4 and 9.3.1.8.7
//! (the BlockAck to several stations), 9.3.1.22 (triggers); annex G for the sequences of frames.
//!
//! **Choices.**
//! 1. The access point contends for a category in which a station has reported packets, and for best effort where a request for
//!    reports is due. If it has packets of its own there, they take turns with triggers, as in ns-3.
//! 2. A request for reports goes to as many stations as there are RUs, those asked longest ago first. A trigger for data follows
//!    after SIFS if any of them has packets, also where the TXOP limit is zero.
//! 3. All RUs are equal, and each has a station. The PPDUs last as long as the longest queue needs, within the limits of an
//!    A-MPDU and the TXOP limit, before which a BlockAck with a bitmap for each must end too. The RU is larger if one of them
//!    could not carry a packet of 1500 bytes, or the queue. The duration field reserves a BlockAck without bitmaps: whoever
//!    hears the trigger hears the access point's answer.
//! 4. A station is known once it has sent data by itself. It is triggered in the mode of the last PPDU that it has sent so.
//! 5. A station that has not answered as many triggers in a row as the retry limit holds nothing until it reports again.
//! 6. An exchange has succeeded if at least one station answered, and ends a TXOP. Nothing rides in its BlockAck.

use super::super::frame::{BROADCAST, Frame, FrameKind};
use super::super::mode::Mode;
use super::super::rates::{Airtime, PhyRate};
use super::super::ru::Ru;
use super::super::shared::Role;
use super::config::{CATEGORIES, Category, DELIMITER, MuEdca, Ofdma, Scheduler, Uplink};
use super::load::{Answering, Confirmed, Load, MpduFate, Share, UNKNOWN};
use super::solicited::reports_bytes;
use super::{Answer, Doing, Edca, MacOut, Next, Sent};
use crate::hooks::Arq;
use crate::packet::NodeId;
use crate::units::{Span, Time};

/// The unit of a queue size, and the size that stands for all greater ones.
pub(super) const UNIT: u32 = 256;
pub(super) const MOST: u8 = 254;
/// An IP packet that an RU must carry if a station holds one.
const PACKET: u32 = 1500;
/// The category for which an access point contends to request reports.
const REQUESTS: usize = Category::BestEffort as usize;

/// A station that may be triggered.
#[derive(Clone, Copy, Debug)]
struct Known {
    node: NodeId,
    mode: Mode,
    /// What it holds by category, as it reported.
    queued: [u8; CATEGORIES],
    /// Its last place among all that were triggered, for reports and for data; 0 is none.
    turns: [u64; 2],
    /// Triggers in a row that it has not answered.
    missed: u32,
}

/// A station that a trigger is for.
#[derive(Clone, Copy, Debug)]
struct Asked {
    node: NodeId,
    mode: Mode,
    is_answered: bool,
}

/// The triggers of an access point.
#[derive(Clone, Debug)]
pub(super) struct Triggering {
    known: Vec<Known>,
    /// When the next request for reports is due, and whether one is.
    pub(super) due: Time,
    wants_reports: bool,
    /// Whether its last exchange was one of triggers.
    was_last: bool,
    /// The trigger in service: for whom, for which category, whether for data, and the airtime of what it solicits.
    asked: Vec<Asked>,
    category: usize,
    wants_data: bool,
    room: Airtime,
    /// When the TXOP ends, if that is limited.
    ends: Option<Time>,
    confirmed: Vec<Confirmed>,
    candidates: Vec<usize>,
    /// How many stations were triggered.
    rounds: u64,
}

impl Default for Triggering {
    fn default() -> Triggering {
        Triggering {
            known: Vec::new(),
            due: Time::NEVER,
            wants_reports: false,
            was_last: false,
            asked: Vec::new(),
            category: 0,
            wants_data: false,
            room: Airtime::default(),
            ends: None,
            confirmed: Vec::new(),
            candidates: Vec::new(),
            rounds: 0,
        }
    }
}

impl Triggering {
    pub(super) fn any_answered(&self) -> bool {
        self.asked.iter().any(|asked| asked.is_answered)
    }

    fn get(&mut self, node: NodeId) -> Option<&mut Known> {
        self.known.iter_mut().find(|known| known.node == node)
    }

    /// A station has left.
    pub(super) fn forget(&mut self, node: NodeId) {
        self.known.retain(|known| known.node != node);
    }

    /// A station has reported what it holds.
    fn note(&mut self, node: NodeId, reports: [u8; CATEGORIES]) {
        let Some(known) = self.get(node) else { return };
        for (queued, report) in known.queued.iter_mut().zip(reports).filter(|(_, report)| *report != UNKNOWN)
        {
            *queued = report;
        }
    }
}

impl<A: Arq + Clone> Edca<A> {
    /// How PPDUs from several are triggered, if they are and this station has part in it.
    pub(super) fn uplink(&self) -> Option<(Ofdma, Uplink)> {
        let ofdma = self.config.ofdma?;
        Some((ofdma, ofdma.uplink?))
    }

    /// The parameters of contention of stations that were triggered, if they are others.
    pub(super) fn mu_edca(&self) -> Option<MuEdca> {
        self.config.ofdma?.uplink?.mu_edca
    }

    /// An access point has received data that a station sent by itself.
    pub(super) fn note_sender(&mut self, frame: &Frame, load: &Load, now: Time) {
        let (Some((_, uplink)), Role::AccessPoint) = (self.uplink(), self.core.role) else { return };
        if !self.core.rules.takes_part(frame.transmitter) {
            return;
        }
        let (node, mode) = (frame.transmitter, frame.mode.unwrap_or(self.config.mode));
        if let Some(known) = self.uplink.get(node) {
            known.mode = mode;
        } else {
            self.uplink.known.push(Known { node, mode, queued: [0; CATEGORIES], turns: [0; 2], missed: 0 });
        }
        if let Some(interval) = uplink.requests.filter(|_| self.uplink.due == Time::NEVER)
            && !self.uplink.wants_reports
        {
            self.uplink.due = now.after(interval);
        }
        self.uplink.note(node, load.reports);
        self.refresh_solicits();
    }

    /// Finds the categories in which stations hold packets.
    fn refresh_solicits(&mut self) {
        let Edca { contenders, uplink, .. } = self;
        for (category, contender) in contenders.iter_mut().enumerate() {
            contender.solicits = uplink.known.iter().any(|known| known.queued[category] > 0)
                || category == REQUESTS && uplink.wants_reports;
        }
    }

    /// When a request for reports will be due, if the access point does not contend for one before.
    pub(super) fn wakes_at(&self) -> Time {
        if self.contenders[REQUESTS].has_work() { Time::NEVER } else { self.uplink.due }
    }

    /// Whether a request for reports is due from now on, and gives the access point something to contend for.
    pub(super) fn note_due(&mut self, now: Time) -> bool {
        if self.uplink.due > now {
            return false;
        }
        (self.uplink.due, self.uplink.wants_reports) = (Time::NEVER, true);
        let had_work = self.contenders[REQUESTS].has_work();
        self.contenders[REQUESTS].solicits = true;
        !had_work
    }

    /// A request for reports has become due in contention. Returns whether it was sent.
    pub(super) fn requests_now(&mut self, now: Time, out: &mut impl MacOut) -> bool {
        self.join(REQUESTS, now, out);
        !self.core.contends()
    }

    /// A category has access to the medium: whether it is used for a trigger.
    pub(super) fn solicits(
        &mut self,
        category: usize,
        limit: Option<Span>,
        now: Time,
        out: &mut impl MacOut,
    ) -> bool {
        if !self.contenders[category].solicits {
            return false;
        }
        let has_packets = !self.contenders[category].active.is_empty();
        if has_packets && std::mem::take(&mut self.uplink.was_last) {
            return false;
        }
        self.uplink.ends = limit.map(|limit| now.after(limit));
        let is_due = category == REQUESTS && std::mem::take(&mut self.uplink.wants_reports);
        if is_due && let Some(interval) = self.uplink().and_then(|(_, uplink)| uplink.requests) {
            self.uplink.due = now.after(interval);
        }
        if !(is_due && self.choose(category, false, now) || self.choose(category, true, now)) {
            self.contenders[category].solicits = false;
            return false;
        }
        self.uplink.was_last = true;
        self.burst.clear();
        self.several.clear();
        self.send_soliciting(out);
        true
    }

    /// Chooses the stations of a trigger that goes then, for data or for reports. Returns whether there are any.
    fn choose(&mut self, category: usize, wants_data: bool, then: Time) -> bool {
        let Some((ofdma, uplink)) = self.uplink() else { return false };
        let mode = self.config.mode;
        let count = |ru: Ru| mode.within(ru).rus() as usize;
        let mut candidates = std::mem::take(&mut self.uplink.candidates);
        candidates.clear();
        let known = &self.uplink.known;
        candidates.extend((0..known.len()).filter(|&place| {
            known[place].mode.width == mode.width && (!wants_data || known[place].queued[category] > 0)
        }));
        let turn = |place: &usize| known[*place].turns[usize::from(wants_data)];
        match uplink.scheduler {
            Scheduler::LongestQueue if wants_data => candidates
                .sort_by_key(|place| (std::cmp::Reverse(known[*place].queued[category]), turn(place))),
            Scheduler::RoundRobin | Scheduler::LongestQueue => candidates.sort_by_key(turn),
        }
        candidates.truncate(ofdma.most as usize);
        let fits = |ru: &Ru| (1..=candidates.len()).contains(&count(*ru));
        let rus = Ru::PARTS.into_iter().filter(|ru| *ru >= ofdma.least).chain([Ru::Whole]).filter(fits);
        let found = rus.into_iter().find_map(|ru| {
            let chosen = &candidates[..count(ru)];
            self.grant(chosen, ru, (category, wants_data), then).map(|room| (ru, chosen.len(), room))
        });
        if let Some((ru, count, room)) = found {
            let Triggering { asked, known, rounds, .. } = &mut self.uplink;
            asked.clear();
            for place in &candidates[..count] {
                *rounds += 1;
                let known = &mut known[*place];
                known.turns[usize::from(wants_data)] = *rounds;
                let mode = known.mode.within(ru).soliciting();
                asked.push(Asked { node: known.node, mode, is_answered: false });
            }
            (self.uplink.category, self.uplink.wants_data, self.uplink.room) = (category, wants_data, room);
            self.uplink.confirmed.clear();
        }
        self.uplink.candidates = candidates;
        found.is_some()
    }

    /// The airtime of what these stations send in such RUs, if there is time for it.
    fn grant(
        &self,
        chosen: &[usize],
        ru: Ru,
        (category, wants_data): (usize, bool),
        then: Time,
    ) -> Option<Airtime> {
        let known = |place: &usize| &self.uplink.known[*place];
        let mode = |place: &usize| known(place).mode.within(ru).soliciting();
        let preamble = chosen.iter().map(|place| mode(place).triggered_preamble()).max()?;
        let around = self.trigger_of(chosen.len(), wants_data).total
            + self.around(chosen.iter().map(mode), [chosen.len(); 2], wants_data);
        let longest = self.config.aggregate.time;
        let time = self
            .uplink
            .ends
            .map_or(longest, |ends| longest.min(Span(ends.since(then).0.saturating_sub(around.0))));
        let least = DELIMITER + self.core.rules.overhead + self.core.rules.config.llc + PACKET;
        let mut total = Span::ZERO;
        for place in chosen {
            let most = mode(place).capacity_after(preamble, time);
            let wanted = match known(place).queued[category] {
                _ if !wants_data => {
                    reports_bytes(self.categories_of(known(place).node), self.core.rules.overhead)
                }
                MOST => u32::MAX,
                units => u32::from(units) * UNIT,
            };
            if most < wanted.min(least) {
                return None;
            }
            total = total.max(mode(place).airtime_after(preamble, wanted.min(most), 0).total);
        }
        Some(Airtime { total, preamble, payload: Span::ZERO })
    }

    /// The categories in which a station has sent anything.
    fn categories_of(&self, node: NodeId) -> usize {
        self.recipients.iter().filter(|(of, _, _)| *of == node).count().max(1)
    }

    fn trigger_of(&self, stations: usize, wants_data: bool) -> Airtime {
        let bytes = self.config.soliciting(stations as u32, wants_data);
        self.core.rules.config.phy.airtime(bytes, 0, self.core.rules.protection_rate)
    }

    /// From the end of a trigger to the last answer, which may have bitmaps, without what is solicited.
    fn around(
        &self,
        modes: impl Iterator<Item = Mode>,
        [stations, bitmaps]: [usize; 2],
        wants_data: bool,
    ) -> Span {
        let sifs = self.core.rules.config.sifs;
        if !wants_data {
            return sifs;
        }
        sifs * 2 + self.confirmation(self.confirmation_rate(modes), stations, bitmaps).1.total
    }

    /// The rate of the BlockAck to stations that have sent in such modes.
    fn confirmation_rate(&self, modes: impl Iterator<Item = Mode>) -> PhyRate {
        let rates = modes.map(|mode| self.core.rules.response(mode.reference()).rate);
        rates.min_by_key(|rate| rate.rate()).unwrap_or(self.core.rules.control_rate)
    }

    /// Bytes and airtime of a BlockAck to several stations, some of which get a bitmap.
    fn confirmation(&self, rate: PhyRate, stations: usize, bitmaps: usize) -> (u32, Airtime) {
        let bytes = self.config.multi_station(stations as u32, bitmaps as u32);
        (bytes, self.core.rules.config.phy.airtime(bytes, 0, rate))
    }

    /// Sends the trigger prepared.
    pub(super) fn send_soliciting(&mut self, out: &mut impl MacOut) {
        let Triggering { asked, category, wants_data, room, .. } = &self.uplink;
        let (count, wants_data, room) = (asked.len(), *wants_data, *room);
        let airtime = self.trigger_of(count, wants_data);
        let around = self.around(asked.iter().map(|asked| asked.mode), [count, 0], wants_data);
        let bytes = self.config.soliciting(count as u32, wants_data);
        let frame = Frame {
            duration: around + room.total,
            category: Category::ALL[*category],
            ..self.core.trigger(bytes)
        };
        if wants_data {
            self.block_acks.solicitations += 1;
        } else {
            self.block_acks.report_requests += 1;
        }
        self.core.doing = Doing::Sending(Sent::Soliciting);
        let load = out.load();
        load.clear();
        load.together = room;
        let answering = if wants_data { Answering::WithData } else { Answering::WithReport };
        load.shares.extend(self.uplink.asked.iter().map(|asked| Share {
            to: asked.node,
            mode: asked.mode,
            mpdus: 0,
            start: 0,
            more_data: false,
            answering,
        }));
        out.transmit(frame, airtime);
    }

    pub(super) fn await_uplink(&mut self, now: Time, out: &mut impl MacOut) {
        self.core.wait_for(Answer::Uplink, self.uplink.room.total, now, out);
    }

    /// What a trigger solicited from one of its stations.
    pub(super) fn on_solicited_answer(
        &mut self,
        frame: &Frame,
        load: &Load,
        now: Time,
        out: &mut impl MacOut,
    ) {
        let (to, category) = (frame.transmitter, frame.category);
        let Some(asked) = self.uplink.asked.iter_mut().find(|asked| asked.node == to) else { return };
        asked.is_answered = true;
        self.uplink.note(to, load.reports);
        if frame.kind != FrameKind::Null {
            let place = self.recipient(to, category);
            let mut is_all = false;
            if frame.kind == FrameKind::Data {
                self.take_in(place, &load.mpdus, now, out);
                is_all = load.mpdus.iter().all(|mpdu| mpdu.fate == MpduFate::Received);
                self.block_acks.uplink_parts += 1;
                out.answered(Some(frame.more_data), 0);
            } else {
                self.recipients[place].2.request(frame.sequence, |handle| out.up_held(handle));
            }
            let block = (!is_all).then(|| self.recipients[place].2.report());
            self.uplink.confirmed.push(Confirmed { to, category, block });
        }
        if self.uplink.asked.iter().all(|asked| asked.is_answered) {
            self.on_uplink_over(now, out);
        }
    }

    /// The time for what a trigger solicited is over, or all has come.
    pub(super) fn on_uplink_over(&mut self, now: Time, out: &mut impl MacOut) {
        out.cancel_timer();
        let category = self.uplink.category;
        let then = now + self.core.rules.config.sifs;
        let any = self.uplink.any_answered();
        let Triggering { asked, known, .. } = &mut self.uplink;
        let limit = self.core.rules.config.short_retry.unwrap_or(u32::MAX);
        for Asked { node, is_answered, .. } in asked {
            let Some(known) = known.iter_mut().find(|known| known.node == *node) else { continue };
            known.missed = if *is_answered { 0 } else { known.missed.saturating_add(1) };
            if known.missed >= limit {
                known.queued = [0; CATEGORIES];
            }
        }
        if !self.uplink.confirmed.is_empty() {
            self.core.doing = Doing::Gap(Next::Confirmation);
        } else if any && !self.uplink.wants_data && self.choose(category, true, then) {
            self.core.doing = Doing::Gap(Next::Soliciting);
        } else {
            self.end_uplink(any, now, out);
            return;
        }
        out.set_timer(then);
    }

    /// Acknowledges what several stations have sent.
    pub(super) fn send_confirmation(&mut self, out: &mut impl MacOut) {
        let Triggering { asked, confirmed, category, .. } = &self.uplink;
        let is_confirmed = |asked: &&Asked| confirmed.iter().any(|confirmed| confirmed.to == asked.node);
        let rate = self.confirmation_rate(asked.iter().filter(is_confirmed).map(|asked| asked.mode));
        let bitmaps = confirmed.iter().filter(|confirmed| confirmed.block.is_some()).count();
        let (bytes, airtime) = self.confirmation(rate, confirmed.len(), bitmaps);
        let frame = Frame {
            category: Category::ALL[*category],
            ..Frame::new(FrameKind::BlockAck, BROADCAST, self.core.address, bytes, rate)
        };
        self.core.doing = Doing::Sending(Sent::Confirmation);
        let load = out.load();
        load.clear();
        load.confirmed.extend_from_slice(confirmed);
        out.transmit(frame, airtime);
    }

    /// An exchange of triggers is over, and has succeeded or not.
    pub(super) fn end_uplink(&mut self, has_succeeded: bool, now: Time, out: &mut impl MacOut) {
        let category = self.uplink.category;
        if has_succeeded {
            self.contenders[category].succeed();
        } else {
            self.contenders[category].fail(self.core.rules.config.short_retry);
            if self.core.rules.config.access.difs_after_failure {
                self.not_before = now;
            }
        }
        self.refresh_solicits();
        self.leave(category, now, out);
    }
}
