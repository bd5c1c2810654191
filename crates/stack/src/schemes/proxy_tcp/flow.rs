//! One flow: the segments in transit to the client, and their acknowledgements.

use std::collections::VecDeque;

use super::Duplicates;
use crate::hooks::scoreboard::DUP_THRESH;
use crate::packet::{Packet, Segment};
use crate::signal::Signal;
use crate::units::{SeqNo, Time};

/// A segment that the client has not acknowledged.
#[derive(Clone, Copy, Debug)]
struct Held {
    packet: Packet,
    seq: SeqNo,
    end: SeqNo,
    /// Copies of it that the link has.
    with_link: u32,
    /// Whether its sender has sent it again.
    repeated: bool,
    /// Whether it was sent again from here.
    resent: bool,
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

/// The data of one direction.
#[derive(Clone, Debug)]
pub(super) struct Flow {
    pub(super) last_packet: Time,
    /// Segments that passed and are not acknowledged, in the order of their numbers.
    held: VecDeque<Held>,
    most: usize,
    /// The acknowledgement number and window last seen.
    una: Option<SeqNo>,
    window: u16,
    fin: Option<SeqNo>,
    /// Duplicates since the last advance, and those among them that are hidden.
    duplicates: u32,
    hidden: u32,
    newest: Option<Packet>,
    /// Segments behind the first that were delivered since the last advance: each makes one duplicate.
    behind: u32,
    /// How many of them there were when the link delivered the segment sent again from here.
    behind_repair: Option<u32>,
}

impl Flow {
    pub(super) fn new(most: usize) -> Flow {
        Flow {
            last_packet: Time::ZERO,
            held: VecDeque::with_capacity(most),
            most,
            una: None,
            window: 0,
            fin: None,
            duplicates: 0,
            hidden: 0,
            newest: None,
            behind: 0,
            behind_repair: None,
        }
    }

    /// The bytes that move to another station: the segments held, and what there is to know beside them.
    pub(super) fn bytes_held(&self) -> u64 {
        let segments: u64 = self.held.iter().map(|held| held.packet.size().0).sum();
        size_of::<Flow>() as u64 + segments
    }

    /// The flow has moved: the link here has none of its segments.
    pub(super) fn move_to(&mut self, now: Time) {
        self.last_packet = now;
        for held in &mut self.held {
            held.with_link = 0;
        }
    }

    /// The memory of a flow of this many segments.
    pub(super) fn bytes(segments: usize) -> u64 {
        (size_of::<Flow>() + segments * size_of::<Held>()) as u64
    }

    /// The place of the segment that begins at this number, or the place it would have.
    fn place(&self, seq: SeqNo) -> Result<usize, usize> {
        self.held.binary_search_by(|held| held.seq.distance_from(seq).cmp(&0))
    }

    /// A segment of data goes to the link.
    pub(super) fn on_data(&mut self, packet: &Packet, segment: &Segment) {
        let end = segment.seq.plus(segment.sequence_len());
        // The first segment to pass is assumed to be the one that the client expects.
        self.una.get_or_insert(segment.seq);
        if segment.sequence_len() > segment.len {
            self.fin = Some(end);
        }
        if self.una.is_some_and(|una| end.distance_from(una) <= 0) {
            return;
        }
        match self.place(segment.seq) {
            Ok(place) => {
                let held = &mut self.held[place];
                held.with_link += 1;
                held.repeated = true;
            }
            Err(place) if self.held.len() < self.most => {
                // A segment before one that has passed was lost on its way here, and was sent again.
                let repeated = place < self.held.len();
                let (packet, seq) = (*packet, segment.seq);
                self.held.insert(place, Held { packet, seq, end, with_link: 1, repeated, resent: false });
            }
            Err(_) => {}
        }
    }

    /// The client acknowledges.
    pub(super) fn on_ack(&mut self, packet: &Packet, segment: &Segment, rule: Duplicates) -> Verdict {
        let (before, window) = (self.una, self.window);
        let advance = before.is_none_or(|una| segment.ack.distance_from(una) > 0);
        if advance {
            self.una = Some(segment.ack);
            self.window = segment.window;
            self.on_advance(segment.ack);
            let over = self.fin.is_some_and(|fin| fin.distance_from(segment.ack) <= 0);
            return if over { Verdict::Over } else { Verdict::Pass };
        }
        if before != Some(segment.ack) {
            return Verdict::Pass;
        }
        self.window = segment.window;
        let told = |left: SeqNo| left.distance_from(segment.ack) < 0;
        let duplicate_sack = segment.options.sack.as_slice().iter().any(|block| told(block.0));
        let pure = segment.sequence_len() == 0 && segment.window == window && !duplicate_sack;
        if !pure {
            return Verdict::Pass;
        }
        self.on_duplicate(packet, segment.ack, rule)
    }

    fn on_advance(&mut self, ack: SeqNo) {
        while self.held.front().is_some_and(|held| held.end.distance_from(ack) <= 0) {
            self.held.pop_front();
        }
        (self.duplicates, self.hidden, self.behind) = (0, 0, 0);
        (self.newest, self.behind_repair) = (None, None);
    }

    fn on_duplicate(&mut self, packet: &Packet, ack: SeqNo, rule: Duplicates) -> Verdict {
        let Some(first) = self.held.front_mut().filter(|held| held.seq.distance_from(ack) <= 0) else {
            return Verdict::Pass;
        };
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
                    return Verdict::Resend(first.packet);
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
        let place = self.place(segment.seq).ok()?;
        let held = &mut self.held[place];
        held.with_link = held.with_link.saturating_sub(1);
        let first = place == 0 && self.una.is_none_or(|una| held.seq.distance_from(una) <= 0);
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
