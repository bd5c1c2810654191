//! Stations with one radio for all of their links (EMLSR): an access point asks them on the link that it wins, and they hear
//! nothing on the others meanwhile.
//!
//! **Limits.** All links of the station take part. The radio changes links in no time where the station itself begins. No
//! BSRP in place of the MU-RTS.
//!
//! **Source.** IEEE 802.11be-2024, 35.3.17 (EMLSR), 35.3.16.8 (recovery of medium synchronization), 35.5.2.2.3 (padding of
//! initial Control frames), 9.4.2.321 (delays); IEEE 802.11ax-2021, 26.2.6 (MU-RTS). ns-3: `EhtFrameExchangeManager`,
//! `EmlsrManager`.
//!
//! **How.** The station listens on all links. The access point wins one of them, and keeps the others from the station:
//!
//! ```text
//!   link A   MU-RTS, padding ─ CTS ─ A-MPDU ─ BlockAck │ transition delay │ any link
//!   link B   ·········· the station hears nothing here ···················│
//! ```
//!
//! **Choices.**
//! 1. An exchange ends for the station with its answer, if that reserves nothing and the TXOP limit is zero. Otherwise it
//!    ends when no frame for it begins within SIFS, a slot and the delay of a reception, or one for another station comes. The
//!    transition delay follows. The access point counts the same.
//! 2. The delay keeps the access point from the station. The station itself may begin on any link at once, as in ns-3.
//! 3. Where it has missed a link for longer than 72 us, it synchronizes there: for a time, or until it receives a frame, an RTS
//!    precedes what it sends. After one that fails it waits until that time is over (dot11MSDTXOPMAX is 1).
//! 4. What begins while it is away it does not receive, even if it returns before the end. Backoffs of the other links stand still.
//! 5. The access point learns at its beginning of an exchange that the station begins; in truth its header has to arrive first, as
//!    in ns-3. An MU-RTS that is on another link then remains unanswered, and counts as an RTS without CTS.
//! 6. A TXOP goes on with the same station alone.
//! 7. A link that has waited for a station begins at its next slot boundary (10.23.2.4), as in ns-3: of several that are ready the
//!    one whose slots happen to begin first.
//! 8. A reception in error in place of a CTS was one perhaps: the station, which waits for more, counts as away for as long.

use super::super::frame::{Frame, FrameKind};
use super::super::rates::PhyRate;
use super::super::shared::Exchange;
use super::load::{Answering, Share};
use super::{Doing, Edca, MacOut, Sent};
use crate::hooks::Arq;
use crate::packet::NodeId;
use crate::units::{Span, Time};

/// From the end of a frame to the beginning of one that continues an exchange, without SIFS and slot (aRxPHYStartDelay).
const RECEPTION_START: Span = Span::from_micros(20);
/// A link that was missed for as long is still known (aMediumSyncThreshold).
const KNOWN_FOR: Span = Span::from_micros(72);

/// The delays of a station with one radio for several links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingleRadio {
    /// For how long padding extends the frame that asks it: 0, 32, 64, 128 or 256 us.
    pub padding: Span,
    /// From the end of an exchange until it listens on all links: 0, 16, 32, 64, 128 or 256 us.
    pub transition: Span,
    /// For how long an RTS precedes what it sends on a link that it has missed.
    pub synchronizing: Span,
}

/// What a device knows of the radio of a station.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Radio {
    /// The link that has it.
    on: Option<u32>,
    /// When the station listens again.
    listens_at: Time,
}

/// What a link of a multi-link device has of its own about radios.
#[derive(Clone, Debug, Default)]
pub(super) struct Radios {
    /// By station; with the device unless something happens to the link.
    pub(super) of: Vec<Radio>,
    /// Its number among all links.
    pub(super) link: u32,
    /// The instant in which something happens to it.
    pub(super) now: Time,
    /// The other links have to know of a change.
    pub(super) has_changed: bool,
    /// The station whose radio this link has, and until when if nothing follows.
    held: Option<(NodeId, Time)>,
    /// Since when the radio of this station is away, or was last.
    away_since: Time,
    /// When the medium turned busy last meanwhile.
    busy_since: Time,
    /// Until when this station synchronizes, and whether it may not send until then.
    synchronizes_until: Time,
    is_barred: bool,
}

impl Radios {
    /// Whether a station does not listen on this link now.
    pub(super) fn lacks(&self, station: NodeId) -> bool {
        self.of
            .get(station.0 as usize)
            .is_some_and(|radio| radio.on.is_some_and(|on| on != self.link) || radio.listens_at > self.now)
    }

    /// When a station listens again, if that is known.
    fn listens_at(&self, station: NodeId) -> Option<Time> {
        let radio = self.of.get(station.0 as usize)?;
        (radio.on.is_none_or(|on| on == self.link) && radio.listens_at > self.now).then_some(radio.listens_at)
    }

    fn radio(&mut self, station: NodeId) -> &mut Radio {
        let place = station.0 as usize;
        if place >= self.of.len() {
            self.of.resize(place + 1, Radio::default());
        }
        &mut self.of[place]
    }
}

impl<A: Arq + Clone> Edca<A> {
    /// The one of this station and a neighbour that has a single radio, and its delays.
    fn single_radio(&self, peer: NodeId) -> Option<(NodeId, SingleRadio)> {
        let of = |node| self.core.rules.single_radio(node).map(|delays| (node, delays));
        of(self.core.address).or_else(|| of(peer))
    }

    /// Whether this station has one.
    fn has_single_radio(&self) -> bool {
        self.core.rules.single_radio(self.core.address).is_some()
    }

    /// Whether what may begin again begins at the slot boundaries of its link: of several that are ready, the one whose
    /// boundary comes first has the station.
    pub(super) fn begins_at_boundaries(&self) -> bool {
        self.linked.is_some() && self.core.rules.has_single_radios()
    }

    /// An exchange with a neighbour begins on this link, or goes on.
    pub(super) fn engage(&mut self, peer: NodeId) {
        let Some((station, _)) = self.single_radio(peer) else { return };
        let Some(linked) = &self.linked else { return };
        let (before, now) = (linked.radios.held, linked.radios.now);
        if before.is_some_and(|(other, _)| other != station) {
            self.disengage(now, true);
        }
        let Some(linked) = &mut self.linked else { return };
        let radios = &mut linked.radios;
        let link = radios.link;
        radios.has_changed |= radios.radio(station).on != Some(link);
        *radios.radio(station) = Radio { on: Some(link), listens_at: Time::ZERO };
        radios.held = Some((station, Time::NEVER));
    }

    /// A frame begins that this station may receive: if its header names a station with one radio, that listens to no other link
    /// now.
    pub fn on_begun(&mut self, frame: &Frame) {
        let is_of_single = || self.core.rules.single_radio(frame.transmitter).is_some();
        if frame.receiver == self.core.address && self.core.contends() && is_of_single() {
            self.engage(frame.transmitter);
        }
    }

    /// An exchange has ended, and the station has taken part in it or not: it listens again after a delay.
    pub(super) fn disengage(&mut self, now: Time, has_answered: bool) {
        let Some(linked) = &mut self.linked else { return };
        let Some((station, _)) = linked.radios.held.take() else { return };
        let link = linked.radios.link;
        let is_other = station != self.core.address;
        let radio = linked.radios.radio(station);
        if radio.on != Some(link) {
            return;
        }
        let delays = self.core.rules.single_radio(station).filter(|_| is_other && has_answered);
        *radio = Radio { on: None, listens_at: delays.map_or(now, |delays| now + delays.transition) };
        linked.radios.has_changed = true;
        self.set_aside();
    }

    /// The exchange of this station is over. A station in it waits for more where the TXOP limit is not zero.
    pub(super) fn end_exchange(&mut self, category: usize, now: Time) {
        let held = self.linked.as_ref().and_then(|linked| linked.radios.held);
        if held.is_some_and(|(_, ends)| ends < Time::NEVER) {
            return;
        }
        let waits = !self.has_single_radio() && self.config.access[category].txop > Span::ZERO;
        let ends = if waits { now + self.until_over() } else { now };
        self.disengage(ends, true);
    }

    /// After a frame of an exchange, for how long the next one may begin.
    fn until_over(&self) -> Span {
        self.core.rules.config.sifs + self.core.rules.config.slot + RECEPTION_START
    }

    /// The exchange with a station is over unless a frame follows.
    pub(super) fn expect_more(&mut self, now: Time) {
        let until = now + self.until_over();
        if let Some((_, ends)) = self.linked.as_mut().and_then(|linked| linked.radios.held.as_mut()) {
            *ends = until;
        }
    }

    /// No CTS came. If a reception in error did, that was one perhaps, and the station waits for more.
    pub(super) fn miss_cts(&mut self, now: Time) {
        if self.core.carrier.is_in_error() && !self.has_single_radio() {
            self.expect_more(now);
        } else {
            self.disengage(now, false);
        }
    }

    /// A frame that this station does not answer: the exchange of its transmitter is over unless another one follows.
    pub(super) fn leave_unanswered(&mut self, frame: &Frame, now: Time) {
        let held = self.linked.as_ref().and_then(|linked| linked.radios.held);
        if self.core.contends() && held.is_some_and(|(station, _)| station == frame.transmitter) {
            self.expect_more(now);
        }
    }

    /// The answer of this station has ended.
    pub(super) fn on_answered(&mut self, now: Time) {
        if self.linked.is_none() {
            return;
        }
        let answer = &self.core.answer.0;
        let is_last = answer.duration <= self.core.rules.config.sifs
            && self.config.access[answer.category as usize].txop == Span::ZERO;
        if is_last { self.disengage(now, true) } else { self.expect_more(now) }
    }

    /// A frame for another station ends the exchange in which this one has answered.
    pub(super) fn leave_to_others(&mut self, now: Time) {
        if self.linked.is_some() && self.core.contends() {
            self.disengage(now, true);
        }
    }

    /// Nothing has followed an answer in time.
    pub(super) fn note_silence(&mut self, now: Time) {
        let held = self.linked.as_ref().and_then(|linked| linked.radios.held);
        if held.is_some_and(|(_, ends)| ends <= now) && !self.core.carrier.busy {
            self.disengage(now, true);
        }
    }

    /// When a station listens again that this one has packets for, or an exchange is over.
    pub(super) fn radios_change_at(&self) -> Time {
        let Some(linked) = self.linked.as_ref().filter(|linked| !linked.radios.of.is_empty()) else {
            return Time::NEVER;
        };
        let held = linked.radios.held.map_or(Time::NEVER, |(_, ends)| ends.max(linked.radios.now));
        let aside = linked.aside.iter().flatten();
        let peers = aside.map(|place| self.originators[*place as usize].peer);
        peers.filter_map(|peer| linked.radios.listens_at(peer)).fold(held, Time::min)
    }

    /// Whether this station may not answer what comes without an initial frame.
    pub(super) fn only_listens(&self) -> bool {
        self.linked.as_ref().is_some_and(|linked| linked.radios.held.is_none()) && self.has_single_radio()
    }

    /// Whether the agreement in service is with another receiver whose radio, or that of the one before, has to change.
    pub(super) fn changes_radio(&self, to: usize) -> bool {
        let (next, present) = (self.originators[to].peer, self.originators[self.service.of].peer);
        let is_single = |peer| self.core.rules.single_radio(peer).is_some();
        self.linked.is_some() && next != present && (is_single(next) || is_single(present))
    }

    /// Asks the receiver in service for its radio, if it has a single one. Returns whether it did.
    pub(super) fn asks_for_radio(&mut self, out: &mut impl MacOut) -> bool {
        if self.linked.is_none() {
            return false;
        }
        let peer = self.originators[self.service.of].peer;
        self.engage(peer);
        let Some(delays) = self.core.rules.single_radio(peer) else { return false };
        let rate = initial_rate(self.protection_rate());
        let bytes = self.config.initial(delays.padding, rate);
        let cts = self.core.rules.response(PhyRate::Ofdm6).cts;
        let duration = self.core.rules.config.sifs * 3 + cts.total + self.guarded();
        let frame = Frame {
            duration,
            category: super::Category::ALL[self.originators[self.service.of].category],
            ..Frame::new(FrameKind::MuRts, peer, self.core.address, bytes, rate)
        };
        self.core.doing = Doing::Sending(Sent::Initial);
        self.block_acks.initial += 1;
        let load = out.load();
        load.clear();
        // What a capture shows of it.
        load.shares.push(Share {
            to: peer,
            mode: self.config.mode,
            mpdus: 0,
            start: 0,
            more_data: false,
            answering: Answering::Together,
        });
        out.transmit(frame, self.core.rules.config.phy.airtime(bytes, 0, rate));
        true
    }

    /// An MU-RTS asks for the radio of this station.
    pub(super) fn on_initial(&mut self, frame: &Frame, now: Time, out: &mut impl MacOut) {
        let cts = self.core.rules.response(PhyRate::Ofdm6).cts;
        self.on_request_to_send(frame, (PhyRate::Ofdm6, cts), now, out);
    }

    /// The radio of this station may have gone to another link, or come back.
    pub(super) fn follow_radio(&mut self, now: Time, out: &mut impl MacOut) {
        if !self.has_single_radio() {
            return;
        }
        let (address, is_away) = (self.core.address, self.core.doing == Doing::Apart);
        let Some(linked) = &mut self.linked else { return };
        let radios = &mut linked.radios;
        let link = radios.link;
        let is_elsewhere = radios.radio(address).on.is_some_and(|on| on != link);
        if is_elsewhere && self.core.contends() {
            radios.away_since = now;
            self.go_away(now, out);
        } else if !is_elsewhere && is_away && (!self.core.carrier.busy || radios.busy_since == now) {
            if now.since(radios.away_since) > KNOWN_FOR {
                let lasts =
                    self.core.rules.single_radio(address).map_or(Span::ZERO, |radio| radio.synchronizing);
                (radios.synchronizes_until, radios.is_barred) = (now + lasts, false);
            }
            self.core.doing = Doing::Contend;
            if !self.core.carrier.busy {
                self.core.carrier.on_idle(now);
                self.resume(now, out);
            }
        }
    }

    /// The medium turns busy while the radio may be away: what begins when it returns it receives.
    #[inline]
    pub(super) fn note_busy(&mut self, now: Time) {
        if self.core.doing == Doing::Apart
            && let Some(linked) = &mut self.linked
        {
            linked.radios.busy_since = now;
        }
    }

    /// This station has received a frame on this link: it is synchronous again.
    pub(super) fn synchronize(&mut self) {
        if let Some(linked) = &mut self.linked {
            (linked.radios.synchronizes_until, linked.radios.is_barred) = (Time::ZERO, false);
        }
    }

    /// Whether this station does not know the medium of this link.
    pub(super) fn is_unsynchronized(&self) -> bool {
        self.linked.as_ref().is_some_and(|linked| linked.radios.now < linked.radios.synchronizes_until)
    }

    /// What it has sent meanwhile has failed.
    pub(super) fn note_failure(&mut self) {
        let is_barred = self.is_unsynchronized();
        if let Some(linked) = &mut self.linked {
            linked.radios.is_barred = is_barred;
        }
    }

    /// Until when it may not send.
    pub(super) fn barred_until(&self) -> Time {
        match &self.linked {
            Some(linked) if linked.radios.is_barred => linked.radios.synchronizes_until,
            _ => Time::ZERO,
        }
    }

    /// Lets no link serve the agreements with stations that do not listen on it.
    pub(super) fn set_aside(&mut self) {
        let Some(mut linked) = self.linked.take() else { return };
        if linked.has_barred() {
            let mut aside = std::mem::take(&mut linked.aside);
            let is_barred = |place: &mut u32| linked.bars(self.originators[*place as usize].peer);
            for (contender, aside) in self.contenders.iter_mut().zip(&mut aside) {
                aside.extend(contender.active.extract_if(.., is_barred));
            }
            linked.aside = aside;
        }
        self.linked = Some(linked);
    }
}

/// The rate of an initial frame: 6, 12 or 24 Mbit/s, not above this one.
fn initial_rate(most: PhyRate) -> PhyRate {
    let rates = [PhyRate::Ofdm24, PhyRate::Ofdm12];
    rates.into_iter().find(|rate| rate.rate() <= most.rate()).unwrap_or(PhyRate::Ofdm6)
}
