//! The sending side of a block-ack agreement: the packets for one receiver in one category.
//!
//! **Source.** IEEE 802.11-2020, 10.25.6.7 (originator): MPDUs are sent within a window that begins at the first one
//! neither acknowledged nor discarded. One that fails repeatedly thus holds up those beyond the window. After a packet
//! is discarded, a BlockAckReq moves the window of the receiver.

use std::collections::VecDeque;

use super::super::frame::Msdu;
use super::super::mode::{DataRate, Mode};
use super::super::rates::{Airtime, PhyRate};
use super::choosing::Choosing;
use super::load::{after, ahead};
use super::multi_link::Way;
use super::rate_control::Chooser;
use super::{CATEGORIES, Edca};
use crate::hooks::Arq;
use crate::packet::NodeId;
use crate::units::Time;

/// A packet that waits, with its place in the order of arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) msdu: Msdu,
    pub(super) order: u64,
    /// When it came.
    pub(super) since: Time,
}

/// A packet with a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered {
    pub(super) msdu: Msdu,
    pub(super) order: u64,
    since: Time,
    /// How often it was sent, or not because no CTS came.
    pub(super) attempts: u8,
    /// How often it was sent.
    pub(super) sent: u8,
    /// The medium has lost it for good, or the scheme discards it.
    pub(super) lost: bool,
    /// A link of a multi-link device is sending it.
    in_flight: bool,
}

/// The agreement with one receiver in one category.
#[derive(Clone, Debug)]
pub(super) struct Originator<A> {
    pub(super) peer: NodeId,
    pub(super) category: usize,
    /// How data goes, and the airtime of a BlockAck that answers it.
    pub(super) rate: PhyRate,
    pub(super) mode: Mode,
    /// Whether data has the form of that mode; otherwise it goes at the rate, as control frames do.
    pub(super) has_mode: bool,
    pub(super) block_ack: Airtime,
    /// What chooses the mode, unless it is constant.
    pub(super) control: Option<Box<Chooser>>,
    window: u16,
    /// The first number of the window, and the one that comes next.
    pub(super) start: u16,
    next: u16,
    /// By number modulo the window; gone are those acknowledged or discarded.
    numbered: Vec<Option<Numbered>>,
    pub(super) waiting: VecDeque<Waiting>,
    /// A BlockAckReq goes first.
    pub(super) owes_request: bool,
    /// BlockAckReqs in a row that no BlockAck answered.
    pub(super) unanswered: u32,
    /// Packets with a number that are not gone, and those of them that a link of a multi-link device is sending.
    outstanding: u32,
    in_flight: u32,
    /// A link of a multi-link device is sending the BlockAckReq.
    pub(super) is_asking: bool,
    /// The packets in the order of a scheme, in place of those that wait.
    pub(super) choosing: Option<Box<Choosing<A>>>,
    /// The number of the last PPDU to several stations in which it had part; 0 is none.
    pub(super) served: u64,
    /// These are frames outside of an agreement.
    pub(super) is_outside: bool,
}

impl<A: Arq> Originator<A> {
    pub(super) fn new(
        (peer, category): (NodeId, usize),
        Way { rate, mode, block_ack, control }: Way,
        window: u32,
        scheme: Option<A>,
    ) -> Originator<A> {
        Originator {
            peer,
            category,
            rate,
            mode,
            has_mode: true,
            block_ack,
            control,
            window: window as u16,
            start: 0,
            next: 0,
            numbered: vec![None; window as usize],
            waiting: VecDeque::new(),
            owes_request: false,
            unanswered: 0,
            outstanding: 0,
            in_flight: 0,
            is_asking: false,
            choosing: scheme.map(|scheme| Box::new(Choosing::new(scheme, window))),
            served: 0,
            is_outside: false,
        }
    }

    /// How data goes.
    pub(super) fn data_rate(&self) -> DataRate {
        DataRate { rate: self.rate, mode: self.has_mode.then_some(self.mode) }
    }

    /// Whether it has anything to send.
    pub(super) fn has_work(&self) -> bool {
        self.owes() || if self.in_flight == 0 { self.has_more(0) } else { self.has_others() }
    }

    /// Whether a BlockAckReq goes first.
    pub(super) fn owes(&self) -> bool {
        self.owes_request && !self.is_asking
    }

    /// Whether it has packets besides those that another link is sending.
    fn has_others(&self) -> bool {
        let has_room = ahead(self.next, self.start) < self.window;
        self.outstanding > self.in_flight || has_room && !self.waiting.is_empty()
    }

    /// A link sends the packet with this number.
    pub(super) fn take_off(&mut self, sequence: u16) {
        if let Some(numbered) = self.get(sequence)
            && !numbered.in_flight
        {
            numbered.in_flight = true;
            self.in_flight += 1;
        }
    }

    /// It has sent it.
    pub(super) fn land(&mut self, sequence: u16) {
        if let Some(numbered) = self.get(sequence)
            && numbered.in_flight
        {
            numbered.in_flight = false;
            self.in_flight -= 1;
        }
    }

    /// Whether it has more packets than these.
    pub(super) fn has_more(&self, than: usize) -> bool {
        self.backlog() > than
    }

    /// The packets it has.
    pub(super) fn backlog(&self) -> usize {
        let chosen = self.choosing.as_ref().map_or(0, |choosing| choosing.waiting);
        (self.outstanding + chosen) as usize + self.waiting.len()
    }

    /// The bytes of its packets by `size_of`, without those that a link of a multi-link device is sending, as far as `most`.
    pub(super) fn bytes(&self, size_of: impl Fn(&Msdu) -> u32, most: u32) -> u32 {
        let numbered = self.numbered.iter().flatten().filter(|numbered| !numbered.in_flight);
        let numbered = numbered.map(|numbered| &numbered.msdu);
        let mut sum = 0;
        for msdu in numbered.chain(self.waiting.iter().map(|waiting| &waiting.msdu)) {
            sum += size_of(msdu);
            if sum >= most {
                return most;
            }
        }
        sum
    }

    /// The place in the order of arrival of the first packet.
    pub(super) fn order(&self) -> u64 {
        if let Some(choosing) = &self.choosing {
            return choosing.oldest().unwrap_or(u64::MAX);
        }
        if self.in_flight > 0 {
            return self.order_of_others();
        }
        match &self.numbered[usize::from(self.start % self.window)] {
            Some(first) if self.start != self.next => first.order,
            _ => self.waiting.front().map_or(u64::MAX, |first| first.order),
        }
    }

    fn order_of_others(&self) -> u64 {
        let used = ahead(self.next, self.start);
        let mut numbered = (0..used).filter_map(|place| self.ready(place));
        let waiting = self.waiting.front().map_or(u64::MAX, |first| first.order);
        numbered.next().map_or(waiting, |first| first.order)
    }

    /// The packet at a place of the window, unless it is gone or a link is sending it.
    fn ready(&self, place: u16) -> Option<&Numbered> {
        let numbered = self.numbered[usize::from(after(self.start, place) % self.window)].as_ref();
        numbered.filter(|numbered| !numbered.in_flight)
    }

    /// The packet with a number, if it is not gone.
    pub(super) fn get(&mut self, sequence: u16) -> Option<&mut Numbered> {
        if ahead(sequence, self.start) >= ahead(self.next, self.start) {
            return None;
        }
        self.numbered[usize::from(sequence % self.window)].as_mut()
    }

    /// The first packet at or after a place of the window that can be sent, without numbering it: its place.
    pub(super) fn candidate(&self, mut place: u16) -> Option<(u16, Msdu, u8)> {
        let used = ahead(self.next, self.start);
        while place < used {
            if let Some(numbered) = self.ready(place) {
                return Some((place, numbered.msdu, numbered.sent));
            }
            place += 1;
        }
        let first = self.waiting.front().filter(|_| used < self.window)?;
        Some((used, first.msdu, 0))
    }

    /// Numbers the candidate at this place, if it has no number yet. Returns its number.
    pub(super) fn number(&mut self, place: u16) -> u16 {
        let sequence = after(self.start, place);
        if sequence == self.next
            && let Some(Waiting { msdu, order, since }) = self.waiting.pop_front()
        {
            let numbered =
                Numbered { msdu, order, since, attempts: 0, sent: 0, lost: false, in_flight: false };
            self.numbered[usize::from(sequence % self.window)] = Some(numbered);
            self.next = after(self.next, 1);
            self.outstanding += 1;
        }
        sequence
    }

    /// The next packet that the scheme selects, if any: its number, and how often it was sent. `fits` says whether it may still
    /// go; one that may not stays.
    pub(super) fn select(
        &mut self,
        taken: &mut u16,
        now: Time,
        fits: impl FnOnce(&Msdu) -> bool,
    ) -> Option<(u16, Msdu, u8)> {
        let used = ahead(self.next, self.start);
        let choosing = self.choosing.as_mut()?;
        let mut unit = choosing.draw(now)?;
        let (mut msdu, mut order, mut sequence) = choosing.packet(&unit);
        if sequence.is_none() && used >= self.window {
            choosing.put_back(unit);
            let first = (*taken..used).map(|place| (place, after(self.start, place)));
            let (place, oldest) = first.into_iter().find_map(|(place, sequence)| {
                self.numbered[usize::from(sequence % self.window)]?;
                Some((place, choosing.take(sequence)?))
            })?;
            *taken = place + 1;
            unit = oldest;
            (msdu, order, sequence) = choosing.packet(&unit);
        }
        if !fits(&msdu) {
            choosing.put_back(unit);
            return None;
        }
        let number = sequence.unwrap_or(self.next);
        choosing.send(unit, number);
        if sequence.is_none() {
            let since = Time::NEVER;
            let numbered =
                Numbered { msdu, order, since, attempts: 0, sent: 0, lost: false, in_flight: false };
            self.numbered[usize::from(number % self.window)] = Some(numbered);
            self.next = after(self.next, 1);
            self.outstanding += 1;
        }
        Some((number, msdu, unit.sent))
    }

    /// The fate of what was sent is known: what is left of it returns to the scheme, if there is one.
    pub(super) fn return_failed(&mut self) {
        let Originator { choosing: Some(choosing), numbered, window, .. } = self else { return };
        choosing.return_failed(|sequence| {
            if let Some(numbered) = &mut numbered[usize::from(sequence % *window)] {
                numbered.lost = true;
            }
        });
    }

    /// The packets that the scheme discarded while it selected: those that were sent count as lost, the others go to
    /// `each`. Returns whether there were any.
    pub(super) fn drop_given_up(&mut self, mut each: impl FnMut(Msdu)) -> bool {
        let Originator { choosing: Some(choosing), numbered, window, .. } = self else { return false };
        let mut any = false;
        while let Some((msdu, sequence)) = choosing.take_given_up() {
            any = true;
            match sequence {
                Some(sequence) => {
                    if let Some(numbered) = &mut numbered[usize::from(sequence % *window)] {
                        numbered.lost = true;
                    }
                }
                None => each(msdu),
            }
        }
        any
    }

    /// Removes the packets that came at a time or before it, and calls `each` with them. A BlockAckReq is owed if one of them
    /// was sent.
    pub(super) fn expire(&mut self, until: Time, mut each: impl FnMut(u64)) {
        let mut was_sent = false;
        self.settle(|_, numbered| {
            let is_over = numbered.since <= until;
            if is_over {
                was_sent |= numbered.sent > 0;
                each(numbered.msdu.handle);
            }
            is_over
        });
        self.owes_request |= was_sent && !self.is_outside;
        while let Some(first) = self.waiting.front().filter(|first| first.since <= until) {
            each(first.msdu.handle);
            self.waiting.pop_front();
        }
    }

    /// Removes all packets, and calls `each` with them. While an exchange is under way, those that were sent count as lost instead.
    pub(super) fn flush(&mut self, is_busy: bool, mut each: impl FnMut(u64)) {
        while let Some(Waiting { msdu, .. }) = self.waiting.pop_front() {
            each(msdu.handle);
        }
        if let Some(choosing) = &mut self.choosing {
            choosing.flush(|msdu| each(msdu.handle));
        }
        if is_busy {
            self.numbered.iter_mut().flatten().for_each(|numbered| numbered.lost = true);
            return;
        }
        self.settle(|_, numbered| {
            each(numbered.msdu.handle);
            true
        });
        self.owes_request = false;
    }

    /// Removes each packet that was sent, and that no link is sending, of which `ends` says so, and moves the window on.
    pub(super) fn settle(&mut self, mut ends: impl FnMut(u16, &Numbered) -> bool) {
        let used = ahead(self.next, self.start);
        for place in 0..used {
            let sequence = after(self.start, place);
            let slot = &mut self.numbered[usize::from(sequence % self.window)];
            let may_end = |numbered: &&Numbered| numbered.attempts > 0 && !numbered.in_flight;
            if slot.as_ref().filter(may_end).is_some_and(|numbered| ends(sequence, numbered)) {
                *slot = None;
                self.outstanding -= 1;
                if let Some(choosing) = &mut self.choosing {
                    choosing.close(sequence);
                }
            }
        }
        while self.start != self.next && self.numbered[usize::from(self.start % self.window)].is_none() {
            self.start = after(self.start, 1);
        }
    }
}

impl<A: Arq + Clone> Edca<A> {
    /// The originator for a receiver and a category, by its place.
    pub(super) fn place_of(&mut self, peer: NodeId, category: usize) -> usize {
        let index = peer.0 as usize * CATEGORIES + category;
        if index >= self.places.len() {
            self.places.resize(index + 1, 0);
        }
        if self.places[index] == 0 {
            let originator = self.originator((peer, category));
            self.originators.push(originator);
            self.places[index] = self.originators.len() as u32;
        }
        self.places[index] as usize - 1
    }

    /// A new one, for a receiver and a category.
    pub(super) fn originator(&self, of: (NodeId, usize)) -> Originator<A> {
        Originator::new(of, self.way_to(of.0), self.config.window, self.scheme.as_deref().cloned())
    }
}
