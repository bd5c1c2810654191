//! Probing a window that the peer has closed (RFC 9293, 3.8.6.1).

use super::{Outgoing, Sender};
use crate::hooks::{NoteEvent, Out};
use crate::transport::tcp::Parts;
use crate::units::Time;

impl<P: Parts> Sender<P> {
    /// Whether the peer's window is closed and this sender probes it.
    #[must_use]
    pub fn is_persisting(&self) -> bool {
        self.persisting
    }

    /// Starts to probe when data waits, nothing is outstanding and the peer's window has no room for it
    /// (RFC 9293, 3.8.6.1).
    pub fn persist_if_stuck(&mut self, now: Time, out: &mut impl Out) {
        if self.board.is_empty() && !self.persisting && self.backlog() > 0 && self.fresh_len() == 0 {
            let held_by_nagle = self.nagle_holds(self.backlog());
            if !held_by_nagle {
                self.persisting = true;
                self.arm(now, out);
            }
        }
    }

    pub(super) fn end_persist(&mut self, now: Time, out: &mut impl Out) {
        self.persisting = false;
        self.board.go_back();
        if self.board.is_empty() {
            self.disarm(out);
        } else {
            // The closed window has refused the probe. A recovery by selective acknowledgements sends only what is lost.
            self.board.lose(self.board.base());
            self.arm(now, out);
        }
    }

    /// The probe of a closed window: one byte of new data, or the same byte again.
    pub fn probe(&mut self, now: Time, out: &mut impl Out) -> Outgoing {
        let event = NoteEvent::Probe;
        let (number, pipe) = (self.board.base(), self.board.pipe());
        if self.board.is_empty() {
            let room = self.edge.saturating_sub(self.board.sent_end());
            let len = room.min(u64::from(self.packet)).min(self.backlog()).max(1) as u32;
            self.board.push(len, false, now);
        } else {
            self.board.resend(number, now);
            self.counters.retransmits += 1;
        }
        self.counters.segments_sent += 1;
        self.tell_sent(now, number, pipe);
        let sent = *self.board.get(number);
        self.arm(now, out);
        self.note(event, sent.start, sent.len, out);
        Outgoing { start: sent.start, len: sent.len, fin: false, push: true }
    }
}
