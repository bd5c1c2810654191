//! Selects the next segment, and decides when it may be sent.

use super::spurious::{Allowed, Doing};
use super::{Outgoing, Sender};
use crate::hooks::{Congestion, Fresh, NoteEvent, Out, Pick, Recovery};
use crate::packet::Ecn;
use crate::transport::tcp::Parts;
use crate::units::Time;

impl<P: Parts> Sender<P> {
    /// Whether nothing comes behind what is in the send buffer.
    fn is_closing(&self) -> bool {
        self.closed && !self.buffer.is_waited_for()
    }

    pub(super) fn nagle_holds(&self, waiting: u64) -> bool {
        self.nagle && !self.is_closing() && waiting < u64::from(self.packet) && !self.board.is_empty()
    }

    /// Payload of the next new segment; zero when there is none to send. Small segments wait by Nagle's rule and by
    /// the sender's part of silly-window avoidance (RFC 9293, 3.7.4 and 3.8.6.2.1).
    pub(super) fn fresh_len(&self) -> u32 {
        let waiting = self.written.saturating_sub(self.board.sent_end());
        let room = self.edge.saturating_sub(self.board.sent_end());
        let full = u64::from(self.packet);
        if waiting >= full && room >= full {
            return self.packet;
        }
        let len = waiting.min(room).min(full);
        let withheld = if len == waiting { self.nagle_holds(waiting) } else { len * 2 < self.widest };
        if withheld { 0 } else { len as u32 }
    }

    pub(super) fn fin_is_due(&self) -> bool {
        self.is_closing() && !self.fin_sent && self.board.sent_end() >= self.written
    }

    /// What to send now, if anything; it counts as sent from here on.
    pub fn next_outgoing(&mut self, now: Time, out: &mut impl Out) -> Option<Outgoing> {
        if self.persisting || self.stopped.is_some() || self.is_paced(now, out) {
            return None;
        }
        let room = self.board.end() - self.board.base() < u64::from(self.window_limit);
        let within = room && !self.marks.hold_data();
        let len = if within { self.fresh_len() } else { 0 };
        let fresh = if len > 0 || (within && self.fin_is_due()) { Fresh::Ready } else { Fresh::Withheld };
        if self.board.is_empty() && fresh == Fresh::Ready {
            self.restart_after_idle(now);
        }
        let pick = match self.spurious.allows(fresh == Fresh::Ready) {
            Allowed::Anything => self.recovery.next(&self.board, &self.window, fresh)?,
            Allowed::New => Pick::New,
            Allowed::Nothing => return None,
        };
        if pick == Pick::New && fresh == Fresh::Withheld {
            return None;
        }
        Some(self.send(pick, len, now, out))
    }

    /// Sends what was picked; a new segment carries `len` bytes of payload.
    #[inline]
    pub(super) fn send(&mut self, pick: Pick, len: u32, now: Time, out: &mut impl Out) -> Outgoing {
        // In Linux a flight whose segments all count as lost is one, too (`packets_out`): what an acknowledgement of a copy covers was
        // not delivered since the copy left.
        let pipe = if self.recovery.assumes() && !self.board.is_empty() {
            self.board.pipe().max(1)
        } else {
            self.board.pipe()
        };
        if pipe == 0 {
            self.law.on_restart(now, &mut self.window);
            self.set_pace();
        }
        let (number, mut outgoing) = match pick {
            Pick::New => (self.board.end(), self.send_new(now, len)),
            Pick::Again(number) => (number, self.send_again(number, now)),
        };
        if outgoing.len > 0 {
            let end = outgoing.start + u64::from(outgoing.len);
            let is_copy = pick != Pick::New;
            outgoing.asks = self.asking.on_segment(end, is_copy, self.window.cwnd, self.board.una());
        }
        self.tell_sent(now, number, pipe);
        self.count_pace(outgoing.len, now);
        self.recovery.on_sent(pick, &self.board);
        self.count_paced();
        self.last_sent = now;
        if !self.armed || (self.by_time && pick == Pick::Again(self.board.base())) {
            // Also when the first segment goes again, as in Linux: what shows that it is lost again is an acknowledgement, which
            // may come before the timer.
            self.arm(now, out);
        } else if pick == Pick::New {
            self.delay_probe(now, out);
        }
        if out.is_watching() {
            let event = if pick == Pick::New { NoteEvent::Send } else { NoteEvent::Resend };
            self.note(event, outgoing.start, outgoing.len, out);
        }
        outgoing
    }

    fn send_new(&mut self, now: Time, len: u32) -> Outgoing {
        let start = self.board.sent_end();
        if self.board.flight() >= self.window.cwnd as u32 && !self.recovery.is_active() {
            self.limited += 1;
        }
        let push = start + u64::from(len) >= self.written;
        let fin = self.is_closing() && push;
        self.board.push(len + u32::from(fin), fin, now);
        self.fin_sent |= fin;
        self.counters.segments_sent += u64::from(len > 0);
        if self.timed.is_none() && !self.timestamps {
            self.timed = Some((self.board.sent_end(), now));
        }
        let (ecn, cwr) = self.marks.on_new_segment(len);
        Outgoing { start, len, fin, push, ecn, cwr, asks: None }
    }

    fn send_again(&mut self, number: u64, now: Time) -> Outgoing {
        self.board.resend(number, now);
        // Where no loss is under repair only probes leave again.
        if self.by_time && self.doing() != Doing::Open {
            self.spurious.on_copy(now);
        }
        let sent = self.board.get(number);
        let len = sent.len - u32::from(sent.fin);
        if len > 0 {
            self.counters.segments_sent += 1;
            self.counters.retransmits += 1;
        } else {
            self.counters.fins_again += 1;
        }
        let end = sent.end();
        if self.timed.is_some_and(|(timed_end, _)| timed_end == end) {
            self.timed = None;
        }
        let push = end >= self.written;
        Outgoing { start: sent.start, len, fin: sent.fin, push, ecn: Ecn::NotEct, cwr: false, asks: None }
    }
}
