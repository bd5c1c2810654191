//! Acknowledgement by consent: arrived data is acknowledged as far as the owner of this end consents, and no further.
//!
//! An end in the middle of a path holds data that the far end may lack. To preserve the meaning of an acknowledgement,
//! its owner consents when the far end has acknowledged. Until then an arrival is answered only where the peer waits
//! for an answer. These are a repetition of acknowledged data, data for which there is no room, and any probe of a
//! closed window. A hole is reported by duplicates of the right number only: they wait until all below the hole is
//! acknowledged.

use std::collections::VecDeque;

use super::{AckDue, Connection, State};
use crate::hooks::Out;
use crate::transport::tcp::Parts;
use crate::units::Time;

/// How far an end may acknowledge.
#[derive(Clone, Debug, Default)]
pub(super) struct Consent {
    up_to: u64,
    /// Duplicates that wait for the consent to reach the hole.
    owed: u32,
    /// Where segments begin that are not acknowledged yet, and their timestamps.
    stamps: VecDeque<(u64, u32)>,
}

impl<P: Parts> Connection<P> {
    /// Acknowledges nothing from now on without [`Self::acknowledge`].
    pub fn acknowledge_by_hand(&mut self) {
        let consent = self.consent.get_or_insert_default();
        (consent.up_to, consent.owed) = (0, 0);
        consent.stamps.clear();
    }

    /// Consents to acknowledgements of all below this offset, a FIN included, and sends one if that is news.
    pub fn acknowledge(&mut self, up_to: u64, now: Time, out: &mut impl Out) {
        let Some(consent) = &mut self.consent else { return };
        consent.up_to = consent.up_to.max(up_to);
        if self.state != State::Established {
            return;
        }
        if consent.up_to.min(self.receiver.next()) > self.acknowledged {
            self.ack_due = AckDue::Now;
            self.send_what_may_go(now, out);
        }
        if self.acknowledged == self.receiver.next() && !self.receiver.is_in_order() {
            for _ in 0..self.consent.as_mut().map_or(0, |consent| std::mem::take(&mut consent.owed)) {
                self.send_ack_but(0, now, out);
            }
        }
    }

    /// Whether an arrival that has just been accepted is answered without further consent.
    pub(super) fn is_answered_at_once(&mut self, start: u64, end: u64) -> bool {
        let is_repeated = end <= self.acknowledged;
        if is_repeated || self.receiver.is_closed() || !self.receiver.holds(start, end) {
            return true;
        }
        if start <= self.receiver.next() {
            return false;
        }
        let is_due = self.acknowledged == self.receiver.next();
        if let Some(consent) = self.consent.as_mut().filter(|_| !is_due) {
            consent.owed += 1;
        }
        is_due
    }

    /// Keeps the timestamp of a segment that may be acknowledged later only. False where it may be echoed as usual.
    pub(super) fn keeps_stamp(&mut self, start: u64, value: u32) -> bool {
        let Some(consent) = &mut self.consent else { return false };
        if start <= self.acknowledged {
            return false;
        }
        if start == self.receiver.next() {
            consent.stamps.push_back((start, value));
        }
        true
    }

    /// Acknowledges the data that has come and for which there is consent, and returns the number acknowledged. The
    /// timestamp to echo is that of the last segment below it.
    pub(super) fn acknowledge_consented(&mut self, whole: u64) -> u64 {
        if let Some(consent) = &mut self.consent {
            self.acknowledged = whole.min(consent.up_to).max(self.acknowledged);
            while let Some(&(_, value)) =
                consent.stamps.front().filter(|(start, _)| *start < self.acknowledged)
            {
                self.ts_recent = value;
                consent.stamps.pop_front();
            }
        }
        self.last_ack_sent = self.acknowledged;
        self.acknowledged
    }
}
