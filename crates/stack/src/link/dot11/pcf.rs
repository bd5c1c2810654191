//! The point coordination function (IEEE 802.11-2012, 9.4): an access point polls its stations.
//!
//! **Limits.** A contention-free period begins with a beacon, for which the access point waits PIFS. Stations detect it
//! by the beacon, not by their clocks as they could. All stations on the list answer polls; what they send goes to the
//! access point. A poll requests one frame, so an MSDU in fragments needs a poll for each.
//!
//! **How.** The frames of the period are SIFS apart. A frame acknowledges the previous one (CF-ACK), whoever sent it,
//! and may poll (CF-Poll), both at no cost. A station that does not answer is skipped after PIFS. The period ends when
//! its time is over, or when a whole round of polls has moved no data.
//!
//! ```text
//!   AP       Beacon   Data+CF-Poll→1           CF-ACK+CF-Poll→2          CF-ACK+CF-End
//!   station        SIFS           SIFS Data+CF-ACK          SIFS Data+…
//! ```

use super::MacOut;
use super::dcf::{Answer, Dcf, Doing, Next, Sent};
use super::frame::{BROADCAST, Frame, FrameKind};
use super::rates::Airtime;
use super::shared::Exchange;
use super::timing::Rules;
use crate::hooks::Arq;
use crate::packet::NodeId;
use crate::units::{Span, Time};

/// The constants of contention-free periods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PcfConfig {
    /// From the due time of one period to the next (`CFPPeriod` in beacon intervals).
    pub interval: Span,
    /// From its due time a period lasts at most this long, however late it begins (`CFPMaxDuration`).
    pub duration: Span,
    /// Beacon in bytes.
    pub beacon: u32,
    /// CF-End in bytes.
    pub end: u32,
    /// The largest packet a station may answer with, for which time is reserved.
    pub largest_packet: u32,
}

impl Default for PcfConfig {
    /// Half of each beacon interval of 100 TU (102.4 ms); a beacon with the elements of an 802.11b network and the CF
    /// parameter set.
    fn default() -> PcfConfig {
        PcfConfig {
            interval: Span::from_micros(102_400),
            duration: Span::from_micros(51_200),
            beacon: 72,
            end: 20,
            largest_packet: 1_500,
        }
    }
}

impl PcfConfig {
    /// The shortest period: a beacon, a poll and its answer with the largest packet each, and the end, between them SIFS
    /// (IEEE 802.11-1999, 9.3.3.3).
    #[must_use]
    pub fn shortest(&self, rules: &Rules) -> Span {
        let control = |bytes| rules.config.phy.airtime(bytes, 0, rules.control_rate).total;
        control(self.beacon) + self.largest_frame(rules) * 2 + control(self.end) + rules.config.sifs * 3
    }

    /// What a period must leave of its interval: DIFS, the longest backoff of a first attempt, and an exchange with the
    /// largest packet (the same clause).
    #[must_use]
    pub fn contention(&self, rules: &Rules) -> Span {
        let (config, response) = (&rules.config, rules.response(rules.config.data_rate));
        let has_rts = rules.overhead + self.largest_body(rules) > rules.rts_threshold;
        let cts = rules.response(rules.protection_rate).cts.total;
        let leave = if has_rts { rules.rts.total + cts + config.sifs * 2 } else { Span::ZERO };
        let backoff = config.slot * u64::from(rules.draw_bound(config.cw_min));
        rules.difs + backoff + leave + self.largest_frame(rules) + config.sifs + response.ack.total
    }

    fn largest_body(&self, rules: &Rules) -> u32 {
        (rules.config.llc + self.largest_packet).min(rules.longest_body)
    }

    /// The airtime of a frame with the largest packet, or with a fragment of it.
    fn largest_frame(&self, rules: &Rules) -> Span {
        let config = &rules.config;
        config.phy.airtime(rules.on_air(self.largest_body(rules)).1, 0, config.data_rate).total
    }
}

/// What an access point needs to coordinate.
#[derive(Clone, Debug)]
pub(super) struct Coordinator {
    config: PcfConfig,
    stations: Vec<NodeId>,
    /// Who is polled next.
    turn: usize,
    /// When the next period is due.
    due: Time,
    /// When the present one ends at the latest.
    ends: Time,
    /// Who was polled last.
    polled: NodeId,
    /// Whether that poll carried data.
    gave: bool,
    /// Whether a frame has arrived that the next one acknowledges.
    owes: bool,
    /// Polls in a row that moved no data.
    idle_polls: usize,
}

impl<A: Arq> Dcf<A> {
    /// Makes an access point coordinate `stations`, with the first contention-free period due now.
    pub fn coordinate(&mut self, config: PcfConfig, stations: Vec<NodeId>, now: Time, out: &mut impl MacOut) {
        if stations.is_empty() {
            return;
        }
        self.coordinator = Some(Box::new(Coordinator {
            config,
            stations,
            turn: 0,
            due: now,
            ends: now,
            polled: BROADCAST,
            gave: false,
            owes: false,
            idle_polls: 0,
        }));
        if self.core.contends() && !self.core.carrier.busy {
            self.wait_for_turn(now, out);
        }
    }

    /// When the access point may take the medium for a contention-free period, if it stays idle.
    pub(super) fn period_due(&self) -> Option<Time> {
        let coordinator = self.coordinator.as_ref()?;
        Some(coordinator.due.max(self.core.carrier.idle_for(self.core.rules.pifs)))
    }

    /// Whether a contention-free period is due.
    pub(super) fn is_period_due(&self, now: Time) -> bool {
        self.coordinator.as_ref().is_some_and(|coordinator| coordinator.due <= now)
    }

    /// Opens a contention-free period with its beacon.
    pub(super) fn open_period(&mut self, now: Time, out: &mut impl MacOut) {
        self.core.carrier.freeze(now, &self.core.rules);
        self.is_committed = false;
        let rate = self.core.rules.control_rate;
        let sequence = self.take_sequence();
        let Some(coordinator) = &mut self.coordinator else { return };
        while coordinator.due + coordinator.config.interval <= now {
            coordinator.due = coordinator.due + coordinator.config.interval;
        }
        let airtime = self.core.rules.config.phy.airtime(coordinator.config.beacon, 0, rate);
        coordinator.ends = coordinator.due + coordinator.config.duration;
        coordinator.due = coordinator.due + coordinator.config.interval;
        (coordinator.idle_polls, coordinator.owes) = (0, false);
        let beacon =
            Frame::new(FrameKind::Beacon, BROADCAST, self.core.address, coordinator.config.beacon, rate);
        let duration = coordinator.ends.since(now + airtime.total);
        self.core.doing = Doing::Sending(Sent::Beacon);
        out.transmit(Frame { duration, sequence, contention_free: true, ..beacon }, airtime);
    }

    /// Sends the next frame of the period after `space`.
    pub(super) fn poll_after(&mut self, space: Span, now: Time, out: &mut impl MacOut) {
        self.core.doing = Doing::Gap(Next::Poll);
        out.set_timer(now + space);
    }

    /// Polls the next station, with data for it if there are some, or ends the period.
    pub(super) fn poll(&mut self, now: Time, out: &mut impl MacOut) {
        let Some(coordinator) = &self.coordinator else { return };
        let station = coordinator.stations[coordinator.turn];
        let is_over = coordinator.idle_polls >= coordinator.stations.len();
        let left = coordinator.ends.since(now).0.saturating_sub(self.tail(&coordinator.config).0);
        self.bring_forward(station);
        let rate = self.core.rules.config.data_rate;
        let bare = self.core.rules.config.phy.airtime(self.core.rules.overhead, 0, rate);
        let data =
            self.service.filter(|service| service.msdu.next == station && service.airtime.total.0 <= left);
        if is_over || bare.total.0 > left {
            self.end_period(out);
            return;
        }
        let (frame, airtime) = match &data {
            Some(service) => {
                (self.data_frame(service, Span::ZERO, self.is_fragmented(service)), service.airtime)
            }
            None => (self.null_frame(station), bare),
        };
        if let (Some(service), true) = (&mut self.service, data.is_some()) {
            service.sent = true;
            self.core.counters.data_sent += 1;
        }
        let Some(coordinator) = &mut self.coordinator else { return };
        let cf_ack = std::mem::take(&mut coordinator.owes);
        coordinator.polled = station;
        coordinator.gave = data.is_some();
        coordinator.turn = (coordinator.turn + 1) % coordinator.stations.len();
        coordinator.idle_polls = if coordinator.gave { 0 } else { coordinator.idle_polls + 1 };
        self.core.doing = Doing::Sending(Sent::Poll);
        out.transmit(Frame { poll: true, cf_ack, contention_free: true, ..frame }, airtime);
    }

    /// What must still fit after a poll: the largest answer, and the end of the period.
    fn tail(&self, pcf: &PcfConfig) -> Span {
        let config = &self.core.rules.config;
        let end = config.phy.airtime(pcf.end, 0, self.core.rules.control_rate).total;
        pcf.largest_frame(&self.core.rules) + end + config.sifs * 2
    }

    /// Takes a packet for `station` into service, if the one in service is for another and was not sent yet.
    fn bring_forward(&mut self, station: NodeId) {
        let Some(service) = self.service else { return };
        if service.msdu.next == station || service.sent || service.fragment > 0 {
            return;
        }
        let waiting = self.queue.iter().position(|msdu| msdu.next == station);
        if let Some(msdu) = waiting.and_then(|index| self.queue.remove(index)) {
            self.queue.push_front(service.msdu);
            self.service = Some(self.first_fragment(msdu));
        }
    }

    fn null_frame(&self, receiver: NodeId) -> Frame {
        let (bytes, rate) = (self.core.rules.overhead, self.core.rules.config.data_rate);
        let frame = Frame::new(FrameKind::Null, receiver, self.core.address, bytes, rate);
        Frame { distribution: self.core.distribution(), contention_free: true, ..frame }
    }

    fn end_period(&mut self, out: &mut impl MacOut) {
        let rate = self.core.rules.control_rate;
        let Some(coordinator) = &mut self.coordinator else { return };
        let bytes = coordinator.config.end;
        let cf_ack = std::mem::take(&mut coordinator.owes);
        let end = Frame::new(FrameKind::CfEnd, BROADCAST, self.core.address, bytes, rate);
        let airtime: Airtime = self.core.rules.config.phy.airtime(bytes, 0, rate);
        self.core.doing = Doing::Sending(Sent::Answer);
        out.transmit(Frame { cf_ack, contention_free: true, ..end }, airtime);
    }

    /// The coordinator, waiting for the answer to its poll, has received `frame`.
    pub(super) fn on_polled(&mut self, frame: &Frame, now: Time, out: &mut impl MacOut) {
        let Some(coordinator) = &mut self.coordinator else { return };
        let is_answer = frame.transmitter == coordinator.polled && frame.receiver == self.core.address;
        if is_answer && frame.kind == FrameKind::Data {
            (coordinator.owes, coordinator.idle_polls) = (true, 0);
            self.take_in(frame, out);
        }
        self.settle_poll(is_answer && frame.cf_ack, out);
        self.poll_after(self.core.rules.config.sifs, now, out);
    }

    /// No answer to the poll came, or one in error: continues after PIFS, or at once if that has passed.
    pub(super) fn pass_over(&mut self, has_waited: bool, now: Time, out: &mut impl MacOut) {
        self.settle_poll(false, out);
        if has_waited {
            self.poll(now, out);
        } else {
            self.poll_after(self.core.rules.pifs, now, out);
        }
    }

    /// The data that went with the poll were acknowledged, or not.
    fn settle_poll(&mut self, acknowledged: bool, out: &mut impl MacOut) {
        if self.coordinator.as_ref().is_some_and(|coordinator| coordinator.gave) {
            self.settle_contention_free(acknowledged, out);
        }
    }

    /// A frame sent in a contention-free period was acknowledged, or counts as a failed attempt. The contention window
    /// stays as it is after a failure.
    fn settle_contention_free(&mut self, acknowledged: bool, out: &mut impl MacOut) {
        if acknowledged {
            self.acknowledged(out);
        } else {
            self.core.counters.ack_missing += 1;
            self.count_failure(Answer::CfAck, out);
        }
    }

    /// Polled by the access point: sends a frame for it, or says that it has none.
    pub(super) fn on_poll(&mut self, poll: &Frame, now: Time, out: &mut impl MacOut) {
        if !self.core.contends() {
            return;
        }
        let cf_ack = poll.kind == FrameKind::Data;
        if cf_ack {
            self.take_in(poll, out);
        }
        let ap = poll.transmitter;
        let rate = self.core.rules.config.data_rate;
        let (frame, airtime, next) = match self.service {
            Some(service) if service.msdu.next == ap => {
                let frame = self.data_frame(&service, Span::ZERO, self.is_fragmented(&service));
                (frame, service.airtime, Next::CfData)
            }
            _ => {
                let airtime = self.core.rules.config.phy.airtime(self.core.rules.overhead, 0, rate);
                (self.null_frame(ap), airtime, Next::Answer)
            }
        };
        self.answer_with(Frame { cf_ack, contention_free: true, ..frame }, airtime, now, out);
        self.core.doing = Doing::Gap(next);
    }

    /// Answers a poll with data.
    pub(super) fn send_contention_free(&mut self, out: &mut impl MacOut) {
        if let Some(service) = &mut self.service {
            service.sent = true;
        }
        self.core.counters.data_sent += 1;
        self.core.doing = Doing::Sending(Sent::CfData);
        out.transmit(self.core.answer.0, self.core.answer.1);
    }

    /// The first frame after the station's own in a contention-free period: it may acknowledge that, to whomever it goes.
    pub(super) fn on_contention_free(&mut self, frame: &Frame, out: &mut impl MacOut) {
        let from_ap = self.service.is_some_and(|service| service.msdu.next == frame.transmitter);
        out.cancel_timer();
        self.core.doing = Doing::Contend;
        self.settle_contention_free(frame.cf_ack && from_ap, out);
    }

    /// No frame came that could acknowledge the station's own.
    pub(super) fn miss_contention_free(&mut self, now: Time, out: &mut impl MacOut) {
        self.core.doing = Doing::Contend;
        self.settle_contention_free(false, out);
        self.resume(now, out);
    }
}
