//! The sending side of a block-ack agreement: the packets for one receiver in one category.
//!
//! **Source.** IEEE 802.11-2020, 10.25.6.7 (originator): MPDUs are sent within a window that begins at the first one
//! neither acknowledged nor given up, so that one which fails again and again holds up those beyond the window. After a
//! packet is given up a BlockAckReq moves the window of the receiver.

use std::collections::VecDeque;

use super::super::frame::Msdu;
use super::load::{after, ahead};
use crate::packet::NodeId;

/// A packet that waits, with its place in the order of arrival.
#[derive(Clone, Copy, Debug)]
pub(super) struct Waiting {
    pub(super) msdu: Msdu,
    pub(super) order: u64,
}

/// A packet with a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbered {
    pub(super) msdu: Msdu,
    pub(super) order: u64,
    /// How often it was sent, or not because no CTS came.
    pub(super) attempts: u8,
    /// How often it was sent.
    pub(super) sent: u8,
    /// The medium has lost it for good.
    pub(super) lost: bool,
}

/// The agreement with one receiver in one category.
#[derive(Clone, Debug)]
pub(super) struct Originator {
    pub(super) peer: NodeId,
    pub(super) category: usize,
    window: u16,
    /// The first number of the window, and the one that comes next.
    pub(super) start: u16,
    next: u16,
    /// By number modulo the window; gone are those acknowledged or given up.
    numbered: Vec<Option<Numbered>>,
    pub(super) waiting: VecDeque<Waiting>,
    /// A BlockAckReq goes first.
    pub(super) owes_request: bool,
    /// BlockAckReqs in a row that no BlockAck answered.
    pub(super) unanswered: u32,
    /// Packets with a number that are not gone.
    outstanding: u32,
}

impl Originator {
    pub(super) fn new(peer: NodeId, category: usize, window: u32) -> Originator {
        Originator {
            peer,
            category,
            window: window as u16,
            start: 0,
            next: 0,
            numbered: vec![None; window as usize],
            waiting: VecDeque::new(),
            owes_request: false,
            unanswered: 0,
            outstanding: 0,
        }
    }

    /// Whether it has anything to send.
    pub(super) fn has_work(&self) -> bool {
        self.owes_request || self.outstanding > 0 || !self.waiting.is_empty()
    }

    /// Whether it has more packets than these.
    pub(super) fn has_more(&self, than: usize) -> bool {
        self.outstanding as usize + self.waiting.len() > than
    }

    /// The place in the order of arrival of the first packet.
    pub(super) fn order(&self) -> u64 {
        match &self.numbered[usize::from(self.start % self.window)] {
            Some(first) if self.start != self.next => first.order,
            _ => self.waiting.front().map_or(u64::MAX, |first| first.order),
        }
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
            let sequence = after(self.start, place);
            if let Some(numbered) = &self.numbered[usize::from(sequence % self.window)] {
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
            && let Some(Waiting { msdu, order }) = self.waiting.pop_front()
        {
            let numbered = Numbered { msdu, order, attempts: 0, sent: 0, lost: false };
            self.numbered[usize::from(sequence % self.window)] = Some(numbered);
            self.next = after(self.next, 1);
            self.outstanding += 1;
        }
        sequence
    }

    /// Removes each packet that was sent and of which `ends` says so, and moves the window on.
    pub(super) fn settle(&mut self, mut ends: impl FnMut(u16, &Numbered) -> bool) {
        let used = ahead(self.next, self.start);
        for place in 0..used {
            let sequence = after(self.start, place);
            let slot = &mut self.numbered[usize::from(sequence % self.window)];
            if slot.as_ref().is_some_and(|numbered| numbered.attempts > 0 && ends(sequence, numbered)) {
                *slot = None;
                self.outstanding -= 1;
            }
        }
        while self.start != self.next && self.numbered[usize::from(self.start % self.window)].is_none() {
            self.start = after(self.start, 1);
        }
    }
}
