//! One flow of data to a mobile: the buffered segments, the window on the wireless side, and the local timer.

use super::super::held::{Duplicates, Heard, Kept, RoundTrip, Segments, Taken, Tells};
use super::Turn;
use super::stamps::Stamps;
use crate::hooks::AgentOut;
use crate::packet::{Packet, Segment};
use crate::state_bytes::{StateBytes, state_bytes};
use crate::units::{Span, Time};

state_bytes! {
    /// The record of one segment.
    #[derive(Clone, Copy, Debug)]
    struct Note {
        /// Its timestamp.
        stamp: u32,
        /// When it arrived.
        came: Time,
        /// When it was last sent.
        sent: Time,
        /// How often it has been sent.
        times: u32,
    }
}

/// What to do with an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    /// Forward it, with this echo if it changes.
    Pass(Option<u32>),
    /// The same; all data, the FIN included, has been acknowledged.
    Over(Option<u32>),
    /// Suppress it.
    Suppress,
}

state_bytes! {
    /// One flow of data.
    #[derive(Clone, Debug)]
    pub(super) struct Buffered {
        last_packet: Time,
        segments: Segments<Note>,
        /// How many of them, counted from the oldest, count as sent.
        sent: usize,
        /// Whether the window is reduced to one segment.
        is_closed: bool,
        round_trip: RoundTrip,
        /// When the timer expires.
        at: Time,
        duplicates: Duplicates,
        /// Whether the sender is waiting for an answer: it has retransmitted a segment that is buffered here.
        is_asked: bool,
        stamps: Stamps,
    }
}

impl Buffered {
    pub(super) fn new(buffer: usize, now: Time) -> Buffered {
        Buffered {
            last_packet: now,
            segments: Segments::new(buffer),
            sent: 0,
            is_closed: false,
            round_trip: RoundTrip::default(),
            at: Time::NEVER,
            duplicates: Duplicates::default(),
            is_asked: false,
            stamps: Stamps::default(),
        }
    }

    /// Handles a segment from the sender. Returns true if it is not buffered and the caller must forward it.
    pub(super) fn on_data<O: AgentOut>(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        turn: &mut Turn<'_, O>,
    ) -> bool {
        let now = turn.now;
        self.last_packet = now;
        let stamp = segment.options.timestamps.map_or(0, |stamps| stamps.value);
        self.stamps.take(stamp, now);
        match self.segments.take(packet, segment, Note { stamp, came: now, sent: now, times: 0 }) {
            Taken::Acknowledged => return true,
            Taken::Full => {
                turn.counters.not_kept += 1;
                return true;
            }
            Taken::Known(place) => {
                turn.counters.asked += 1;
                self.is_asked = true;
                if place < self.sent {
                    self.send(place, turn.config.ahead, turn);
                }
            }
            Taken::Between(place) if place <= self.sent => {
                // It was lost before the station, so it is sent at once, whatever the window.
                self.sent += 1;
                self.send(place, false, turn);
            }
            Taken::Last | Taken::Between(_) => self.send_what_may_go(turn),
        }
        if self.at == Time::NEVER {
            self.restart(turn);
        }
        false
    }

    /// Handles a segment that the queue of the link refused. Returns whether it was removed from the buffer.
    pub(super) fn on_refused(&mut self, segment: &Segment) -> bool {
        let Ok(place) = self.segments.place(segment.seq) else { return false };
        let is_first = self.segments.at(place).is_some_and(|held| held.note.times == 1);
        if is_first {
            self.segments.remove(place);
            self.sent -= usize::from(place < self.sent);
        }
        is_first
    }

    /// Handles an acknowledgement from the mobile.
    pub(super) fn on_ack<O: AgentOut>(&mut self, segment: &Segment, turn: &mut Turn<'_, O>) -> Verdict {
        let now = turn.now;
        self.last_packet = now;
        let echo = segment.options.timestamps.map(|stamps| stamps.echo);
        let (mut gone, mut timed, mut is_repaired, mut waited) = (0, None, false, None);
        let heard = self.segments.hear(segment, |held| {
            let Note { stamp, came, sent, times } = held.note;
            gone += 1;
            timed = Some(sent);
            is_repaired |= times > 1;
            if echo == Some(stamp) && waited.is_none() {
                waited = Some(sent.since(came));
            }
        });
        match heard {
            Heard::Advance { over } => {
                if let Some(sent) = timed.filter(|_| !is_repaired) {
                    self.round_trip.take(now.since(sent), turn.config.gain);
                }
                self.sent = self.sent.saturating_sub(gone);
                (self.is_closed, self.is_asked) = (false, false);
                self.duplicates.clear();
                self.send_what_may_go(turn);
                self.restart(turn);
                let echo = self.echo(echo, waited, turn);
                if over { Verdict::Over(echo) } else { Verdict::Pass(echo) }
            }
            Heard::Duplicate if self.may_suppress(segment) => {
                if let Tells::Loss | Tells::LostCopy = self.duplicates.take(turn.config.threshold) {
                    self.repeat(turn);
                }
                Verdict::Suppress
            }
            Heard::Duplicate | Heard::Other => {
                if segment.window > 0 && self.at == Time::NEVER {
                    self.restart(turn);
                }
                Verdict::Pass(None)
            }
        }
    }

    /// Whether a duplicate requests a buffered segment and does not answer a retransmission by the sender.
    fn may_suppress(&mut self, segment: &Segment) -> bool {
        let is_answer = std::mem::take(&mut self.is_asked) || segment.window == 0;
        !is_answer && self.segments.expected().is_some()
    }

    /// The echo corrected by the time that the segment waited here, if that changes it.
    fn echo<O>(&self, echo: Option<u32>, waited: Option<Span>, turn: &Turn<'_, O>) -> Option<u32> {
        let (echo, waited) = echo.zip(waited).filter(|_| turn.config.hide_time)?;
        self.stamps.later(echo, waited, turn.now).filter(|later| *later != echo)
    }

    /// If the deadline has passed: reduces the window to one segment and retransmits the oldest.
    pub(super) fn on_timer<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.at > turn.now {
            return;
        }
        self.at = Time::NEVER;
        if self.segments.expected().is_some() && self.segments.window() != Some(0) {
            turn.counters.timeouts += 1;
            self.is_closed = true;
            self.sent = 1;
            self.repeat(turn);
        }
    }

    /// Retransmits the segment that the mobile expects.
    pub(super) fn repeat<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.segments.expected().is_none() {
            return;
        }
        turn.counters.repaired += 1;
        self.sent = self.sent.max(1);
        self.send(0, turn.config.ahead, turn);
        self.duplicates.repaired((self.segments.len() as u32).saturating_sub(1));
        self.restart(turn);
    }

    /// Sends buffered segments that do not count as sent, as far as the window allows.
    fn send_what_may_go<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        let most = if self.is_closed { 1 } else { self.segments.len() };
        while self.sent < most {
            self.sent += 1;
            self.send(self.sent - 1, false, turn);
        }
    }

    fn send<O: AgentOut>(&mut self, place: usize, is_ahead: bool, turn: &mut Turn<'_, O>) {
        let Some(held) = self.segments.at(place) else { return };
        held.note.sent = turn.now;
        held.note.times += 1;
        let Some(copy) = self.segments.copy(place) else { return };
        if is_ahead {
            turn.out.ahead(&copy);
        } else {
            turn.out.down(&copy);
        }
    }

    /// Restarts the timer if any segment is buffered.
    fn restart<O>(&mut self, turn: &Turn<'_, O>) {
        self.at = if self.segments.is_empty() {
            Time::NEVER
        } else {
            turn.now.after(self.round_trip.timeout(turn.config.min_timeout))
        };
    }
}

impl Kept for Buffered {
    fn last_packet(&self) -> Time {
        self.last_packet
    }

    fn deadline(&self) -> Time {
        self.at
    }

    fn bytes(&self) -> u64 {
        Self::BYTES + self.segments.bytes()
    }

    fn each_packet(&self, visit: &mut dyn FnMut(&Packet)) {
        self.segments.packets().for_each(visit);
    }

    fn move_to(&mut self, now: Time) {
        self.last_packet = now;
        self.at = Time::NEVER;
        (self.sent, self.is_closed) = (0, true);
        self.duplicates.clear();
        for held in self.segments.iter_mut() {
            // The round trip of a segment that the other station sent is not measured here.
            held.note.times += 1;
        }
    }
}
