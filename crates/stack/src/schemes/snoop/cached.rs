//! One flow of data to a mobile: the cached segments, the expected duplicates, and the local timer.

use super::super::held::{Duplicates, Heard, Kept, RoundTrip, Segments, Taken, Tells};
use super::Config;
use crate::packet::{Packet, Segment};
use crate::state_bytes::{StateBytes, state_bytes};
use crate::units::Time;

state_bytes! {
    /// The record of one segment.
    #[derive(Clone, Copy, Debug)]
    struct Note {
        /// When it was last sent.
        sent: Time,
        /// How often this station has sent it since its sender last did.
        copies: u32,
        /// Whether its sender has retransmitted it.
        by_sender: bool,
    }
}

/// What to do with an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    /// Forward it.
    Pass,
    /// Forward it; all data, the FIN included, has been acknowledged.
    Over,
    /// Suppress it.
    Suppress,
    /// Suppress it and send this segment to the link.
    Resend(Packet),
}

state_bytes! {
    /// One flow of data.
    #[derive(Clone, Debug)]
    pub(super) struct Cached {
        last_packet: Time,
        segments: Segments<Note>,
        round_trip: RoundTrip,
        /// When the timer expires.
        at: Time,
        duplicates: Duplicates,
    }
}

impl Cached {
    pub(super) fn new(cache: usize, now: Time) -> Cached {
        Cached {
            last_packet: now,
            segments: Segments::new(cache),
            round_trip: RoundTrip::default(),
            at: Time::NEVER,
            duplicates: Duplicates::default(),
        }
    }

    /// Handles a segment on its way to the link. Returns false if the cache has no room for it.
    pub(super) fn on_data(&mut self, packet: &Packet, segment: &Segment, config: &Config, now: Time) -> bool {
        self.last_packet = now;
        let taken = self.segments.take(packet, segment, Note { sent: now, copies: 0, by_sender: false });
        let (Taken::Known(again) | Taken::Between(again)) = taken else {
            if self.at == Time::NEVER {
                self.restart(config, now);
            }
            return taken != Taken::Full;
        };
        if let Some(held) = self.segments.at(again) {
            held.note = Note { sent: now, copies: 0, by_sender: true };
        }
        if again == 0 || self.at == Time::NEVER {
            self.restart(config, now);
        }
        true
    }

    /// Handles a segment that the queue of the link refused. Returns whether it was removed from the cache.
    pub(super) fn on_refused(&mut self, segment: &Segment) -> bool {
        let Ok(place) = self.segments.place(segment.seq) else { return false };
        let is_first = self.segments.at(place).is_some_and(|held| held.note.copies == 0);
        if is_first {
            self.segments.remove(place);
        }
        is_first
    }

    /// Handles an acknowledgement from the mobile.
    pub(super) fn on_ack(&mut self, segment: &Segment, config: &Config, now: Time) -> Verdict {
        self.last_packet = now;
        let (mut sent, mut is_repaired) = (None, false);
        let heard = self.segments.hear(segment, |held| {
            sent = Some(held.note.sent);
            is_repaired |= held.note.copies > 0 || held.note.by_sender;
        });
        match heard {
            Heard::Advance { over } => {
                self.duplicates.clear();
                if !config.karn {
                    // The timer starts with the estimate from before the sample, as in ns-2.
                    self.restart(config, now);
                }
                if let Some(sent) = sent.filter(|_| !config.karn || !is_repaired) {
                    self.round_trip.take(now.since(sent), config.gain);
                }
                if config.karn {
                    self.restart(config, now);
                }
                if over { Verdict::Over } else { Verdict::Pass }
            }
            Heard::Duplicate => self.on_duplicate(config, now),
            Heard::Other => Verdict::Pass,
        }
    }

    fn on_duplicate(&mut self, config: &Config, now: Time) -> Verdict {
        let Some(held) = self.segments.expected() else { return Verdict::Pass };
        let Note { copies, by_sender, .. } = held.note;
        let tells = self.duplicates.take(config.threshold);
        if by_sender {
            return Verdict::Pass;
        }
        let most = match tells {
            Tells::Nothing => return Verdict::Pass,
            Tells::Expected => return Verdict::Suppress,
            Tells::Loss => config.repeats,
            Tells::LostCopy => config.copies.min(config.repeats),
        };
        if copies >= most {
            return Verdict::Pass;
        }
        self.repeat(config, now).map_or(Verdict::Pass, Verdict::Resend)
    }

    /// Returns the segment that the mobile expects, for retransmission. Each segment cached behind it causes one
    /// duplicate, unless it has already done so.
    pub(super) fn repeat(&mut self, config: &Config, now: Time) -> Option<Packet> {
        let behind = (self.segments.len() as u32).saturating_sub(1);
        let held = self.segments.expected()?;
        held.note.copies += 1;
        held.note.sent = now;
        self.duplicates.repaired(behind);
        self.restart(config, now);
        self.segments.copy(0)
    }

    /// Returns the segment to retransmit if the deadline has passed.
    pub(super) fn on_timer(&mut self, config: &Config, now: Time) -> Option<Packet> {
        if self.at > now {
            return None;
        }
        self.at = Time::NEVER;
        self.segments.expected().filter(|held| held.note.copies < config.repeats)?;
        self.repeat(config, now)
    }

    /// Restarts the timer if any segment is cached.
    fn restart(&mut self, config: &Config, now: Time) {
        self.at = if self.segments.is_empty() {
            Time::NEVER
        } else {
            now.after(self.round_trip.timeout(config.min_timeout))
        };
    }
}

impl Kept for Cached {
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
        self.duplicates.clear();
        for held in self.segments.iter_mut() {
            // The round trip of a segment that the other station sent is not measured here.
            held.note.copies = 1;
        }
    }
}
