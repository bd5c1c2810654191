//! One flow: the segments in transit to the client, and their acknowledgements.

use super::super::held::{Heard, Held, Segments, Taken};
use super::Duplicates;
use crate::hooks::scoreboard::DUP_THRESH;
use crate::packet::{Packet, Segment};
use crate::signal::Signal;
use crate::state_bytes::{StateBytes, state_bytes};
use crate::units::Time;

state_bytes! {
    /// The record of a segment that the client has yet to acknowledge.
    #[derive(Clone, Copy, Debug)]
    struct Note {
        /// Copies of it that the link has.
        with_link: u32,
        /// Whether its sender has sent it again.
        repeated: bool,
        /// Whether it was sent again from here.
        resent: bool,
    }
}

/// The treatment of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub(super) enum Verdict {
    /// It goes up.
    Pass,
    /// It goes up, and all data has been acknowledged, the FIN included.
    Over,
    /// It is hidden.
    Hide,
    /// It is hidden, and this goes down.
    Resend(Packet),
}

state_bytes! {
    /// The data of one direction.
    #[derive(Clone, Debug)]
    pub(super) struct Direction {
        pub(super) last_packet: Time,
        segments: Segments<Note>,
        /// Duplicates since the last advance, and those among them that are hidden.
        duplicates: u32,
        hidden: u32,
        newest: Option<Packet>,
        /// Segments behind the first that were delivered since the last advance: each makes one duplicate.
        behind: u32,
        /// How many of them there were when the link delivered the segment sent again from here.
        behind_repair: Option<u32>,
    }
}

impl Direction {
    pub(super) fn new(most: usize) -> Direction {
        Direction {
            last_packet: Time::ZERO,
            segments: Segments::new(most),
            duplicates: 0,
            hidden: 0,
            newest: None,
            behind: 0,
            behind_repair: None,
        }
    }

    /// The bytes that move to another station: the segments held, and what there is to know beside them.
    pub(super) fn bytes_held(&self) -> u64 {
        Self::BYTES + self.segments.bytes()
    }

    /// The flow has moved: the link here has none of its segments.
    pub(super) fn move_to(&mut self, now: Time) {
        self.last_packet = now;
        for held in self.segments.iter_mut() {
            held.note.with_link = 0;
        }
    }

    /// The segments held.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.segments.packets()
    }

    /// The memory of a flow of this many segments.
    pub(super) fn bytes(segments: usize) -> u64 {
        Self::BYTES + segments as u64 * <Held<Note>>::BYTES
    }

    /// A segment of data goes to the link.
    pub(super) fn on_data(&mut self, packet: &Packet, segment: &Segment) {
        let note = Note { with_link: 1, repeated: false, resent: false };
        match self.segments.take(packet, segment, note) {
            Taken::Known(place) => {
                if let Some(held) = self.segments.at(place) {
                    held.note.with_link += 1;
                    held.note.repeated = true;
                }
            }
            Taken::Between(place) => {
                if let Some(held) = self.segments.at(place) {
                    held.note.repeated = true;
                }
            }
            Taken::Acknowledged | Taken::Last | Taken::Full => {}
        }
    }

    /// The client acknowledges.
    pub(super) fn on_ack(&mut self, packet: &Packet, segment: &Segment, rule: Duplicates) -> Verdict {
        match self.segments.hear(segment, |_| {}) {
            Heard::Advance { over } => {
                (self.duplicates, self.hidden, self.behind) = (0, 0, 0);
                (self.newest, self.behind_repair) = (None, None);
                if over { Verdict::Over } else { Verdict::Pass }
            }
            Heard::Duplicate => self.on_duplicate(packet, rule),
            Heard::Other => Verdict::Pass,
        }
    }

    fn on_duplicate(&mut self, packet: &Packet, rule: Duplicates) -> Verdict {
        let Some(held) = self.segments.expected() else { return Verdict::Pass };
        let first = &mut held.note;
        self.duplicates += 1;
        if first.repeated {
            return Verdict::Pass;
        }
        match rule {
            Duplicates::WhileTrying if first.with_link == 0 => return Verdict::Pass,
            Duplicates::WhileTrying | Duplicates::Held => {}
            Duplicates::Resend => {
                let lost = match self.behind_repair {
                    Some(behind) => self.duplicates > behind,
                    None => !first.resent,
                };
                if first.with_link == 0 && (lost || !first.resent) {
                    (first.with_link, first.resent) = (1, true);
                    self.behind_repair = None;
                    return self.segments.copy(0).map_or(Verdict::Pass, Verdict::Resend);
                }
            }
        }
        self.hidden += 1;
        self.newest = Some(*packet);
        Verdict::Hide
    }

    /// The link reports the fate of a segment. This many copies of this acknowledgement, if any, go up now.
    pub(super) fn on_signal(
        &mut self,
        signal: Signal,
        segment: &Segment,
        rule: Duplicates,
    ) -> Option<(u32, Packet)> {
        let place = self.segments.place(segment.seq).ok()?;
        let first = place == 0 && self.segments.expected().is_some();
        let held = &mut self.segments.at(place)?.note;
        held.with_link = held.with_link.saturating_sub(1);
        if signal == Signal::Delivered {
            if first && held.resent {
                self.behind_repair = Some(self.behind);
            } else if !first {
                self.behind += 1;
            }
            return None;
        }
        if first && held.resent {
            // It may be sent again with the next duplicate.
            held.resent = false;
        }
        let gives_up = first && held.with_link == 0 && rule == Duplicates::WhileTrying;
        let newest = self.newest.take_if(|_| gives_up)?;
        let copies = self.hidden.min(DUP_THRESH);
        self.hidden = 0;
        Some((copies, newest))
    }
}
