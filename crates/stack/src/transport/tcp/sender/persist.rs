//! Probing a window that the peer has closed (RFC 9293, 3.8.6.1).
//!
//! A peer may take back a window that it has offered (RFC 9293, 3.8.6: a sender must be prepared for that), by an
//! acknowledgement with a window of zero. The outstanding data then cannot be acknowledged: no retransmission timer
//! runs, the first byte is a probe, and the outstanding data is sent again when the window opens. This is not a loss:
//! the congestion window and the timeout remain unchanged.

use super::{Outgoing, Sender};
use crate::hooks::{LossResponse, NoteEvent, Out, Recovery};
use crate::packet::Ecn;
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
        if self.stopped.is_some() {
            return;
        }
        if self.board.is_empty() && !self.persisting && self.backlog() > 0 && self.fresh_len() == 0 {
            let held_by_nagle = self.nagle_holds(self.backlog());
            if !held_by_nagle {
                self.persisting = true;
                self.arm(now, out);
            }
        }
    }

    /// The peer has taken back its window.
    pub(super) fn freeze(&mut self, now: Time, out: &mut impl Out) {
        self.frozen.get_or_insert(self.rtt.backoff());
        // Its round trip would have the closed time in it.
        self.timed = None;
        if !self.persisting && self.is_busy() {
            self.persisting = true;
            self.arm(now, out);
        }
    }

    /// The window that the peer had taken back is open again: the sender was not idle, and its timeout is what it was.
    fn thaw(&mut self, backoff: u32, now: Time) {
        self.last_sent = now;
        self.rtt.set_backoff(backoff);
        if !self.board.is_empty() {
            self.end_prr();
            self.board.hear(now);
            self.recovery.on_timeout(LossResponse::REDUCED, &mut self.board);
        }
    }

    pub(super) fn end_persist(&mut self, now: Time, out: &mut impl Out) {
        self.persisting = false;
        if self.edge > self.board.una()
            && let Some(backoff) = self.frozen.take()
        {
            self.thaw(backoff, now);
        }
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
        let is_frozen = self.frozen.is_some();
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
        // Of what was outstanding when the window closed the first byte is enough, which may be the FIN.
        let len = sent.len - u32::from(sent.fin);
        let len = if is_frozen { len.min(1) } else { len };
        self.note(event, sent.start, len, out);
        let fin = sent.fin && len == 0;
        Outgoing { start: sent.start, len, fin, push: true, ecn: Ecn::NotEct, cwr: false, asks: None }
    }
}
