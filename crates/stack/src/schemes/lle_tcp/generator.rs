//! The sender's side: what the link delivers is acknowledged here, in the receiver's name.
//!
//! Offsets count from the first data byte. `reached` is how far the link has delivered without a hole, `told` how far
//! the sender was told, `confirmed` how far the receiver itself has acknowledged. In safe mode
//! `confirmed <= told <= reached <= edge`, and all from `confirmed` on is kept.

use super::config::{AckScheme, Mode, OnUndelivered};
use super::copies::Copies;
use super::evidence::Excuses;
use super::flow::Turn;
use super::reply::{Reply, Terms};
use super::silence::Silence;
use super::spacing::Spacing;
use crate::hooks::AgentOut;
use crate::packet::{Flags, Packet, Segment, Timestamps};
use crate::ranges::Ranges;
use crate::signal::Signal;
use crate::units::{SeqNo, Span, Time};

/// The state of one direction of a connection whose data is acknowledged here.
#[derive(Clone, Debug)]
pub(super) struct Generator {
    pub(super) reply: Reply,
    /// The sender is here, and what it is told costs nothing on the air.
    pub(super) local: bool,
    pub(super) copies: Copies,
    pub(super) reached: u64,
    pub(super) told: u64,
    pub(super) confirmed: u64,
    /// Highest right edge that the receiver advertised, and the one the sender was told last (safe mode).
    pub(super) edge: Option<u64>,
    pub(super) told_edge: u64,
    /// The window the receiver advertised last (paper mode).
    pub(super) window: u64,
    /// What the link delivered, and what the receiver selectively acknowledged, beyond a hole.
    pub(super) beyond: Ranges,
    pub(super) selective: Ranges,
    /// The end of all that was sent, FIN included, and of what was sent again.
    pub(super) sent_end: u64,
    pub(super) sent_again: u64,
    /// Where the sender's FIN stands.
    pub(super) fin: Option<u64>,
    /// Data below this offset may have gone out without a copy being kept.
    unkept: u64,
    /// Whether the sender has asked for an answer since the receiver last spoke: by a probe or by old data.
    pub(super) asked: bool,
    pub(super) repeats: Repeats,
    /// A range that the receiver got twice, to be told.
    pub(super) twice: Option<(u64, u64)>,
    /// What the sender's last segment carried beside data: a segment sent again here carries the same.
    pub(super) fields: Fields,
    pub(super) full: u32,
    /// How far apart the link delivers what advances the stream.
    pub(super) spacing: Spacing,
    /// Segments delivered since the last acknowledgement, and when one is due.
    waiting: u32,
    ack_at: Time,
    pub(super) silence: Silence,
    pub(super) excuses: Excuses,
    /// Segments that the link delivered.
    deliveries: u64,
    resubmitted: u64,
}

/// The fields of a segment that speak for the other direction.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Fields {
    pub(super) ack: SeqNo,
    pub(super) window: u16,
    pub(super) stamps: Option<Timestamps>,
    pub(super) extra_header: u16,
}

/// Duplicate acknowledgements since the last advance: those made here for what the link delivered beyond a hole, and
/// those of the receiver for the same. Each is told once.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Repeats {
    made: u32,
    heard: u32,
    told: u32,
}

impl Repeats {
    /// One more from one of the two sources; true when the sender has not been told of it by the other.
    fn is_news(source: &mut u32, told: &mut u32) -> bool {
        *source += 1;
        let news = *source > *told;
        *told = (*told).max(*source);
        news
    }
}

impl Generator {
    pub(super) fn new(terms: Terms, local: bool, repair: Span) -> Generator {
        Generator {
            reply: Reply::new(terms),
            local,
            copies: Copies::default(),
            reached: 0,
            told: 0,
            confirmed: 0,
            edge: terms.edge,
            told_edge: terms.edge.unwrap_or(0),
            window: terms.window,
            beyond: Ranges::default(),
            selective: Ranges::default(),
            sent_end: 0,
            sent_again: 0,
            fin: None,
            unkept: 0,
            asked: false,
            repeats: Repeats::default(),
            twice: None,
            fields: Fields::default(),
            full: 0,
            spacing: Spacing::default(),
            waiting: 0,
            ack_at: Time::NEVER,
            silence: Silence::new(repair),
            excuses: Excuses::default(),
            deliveries: 0,
            resubmitted: 0,
        }
    }

    /// When it wants to be called.
    pub(super) fn deadline(&self) -> Time {
        self.ack_at.min(self.silence.deadline())
    }

    /// Bytes that the sender was told of and the receiver has not acknowledged.
    pub(super) fn unconfirmed(&self) -> u64 {
        self.told.saturating_sub(self.confirmed)
    }

    /// Bytes of state.
    pub(super) fn bytes(&self) -> u64 {
        let ranges = self.beyond.as_slice().len() + self.selective.as_slice().len();
        size_of::<Generator>() as u64
            + (ranges * size_of::<(u64, u64)>()) as u64
            + self.copies.bytes()
            + self.reply.bytes()
            + self.excuses.bytes()
    }

    pub(super) fn offset(&self, seq: SeqNo) -> Option<u64> {
        seq.unwrap_near(self.reply.terms.zero, self.reached)
    }

    /// A segment of the sender is on its way to the link (lle-tcp/II.B.2: "stores the relevant information").
    pub(super) fn on_data<O: AgentOut>(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        turn: &mut Turn<'_, O>,
    ) {
        let Segment { ack, window, .. } = *segment;
        let stamps = segment.options.timestamps;
        self.fields = Fields { ack, window, stamps, extra_header: packet.extra_header };
        let Some(start) = self.offset(segment.seq) else {
            self.asked = true;
            return;
        };
        let end = start + u64::from(segment.len);
        if start < self.sent_end && segment.len > 0 {
            self.sent_again = self.sent_again.max(end);
        }
        self.sent_end = self.sent_end.max(start + u64::from(segment.sequence_len()));
        self.full = self.full.max(segment.len);
        if segment.flags.has(Flags::FIN) {
            self.fin = Some(end);
        }
        if turn.config.mode == Mode::Paper {
            return;
        }
        let edge = self.edge.unwrap_or(0);
        self.asked |= (start < self.reached && end <= self.reached) || (segment.len > 0 && start >= edge);
        // Beyond the edge lies only a probe of a closed window, which the receiver need not take.
        let (from, until) = (start.max(self.confirmed), end.min(edge));
        let push = segment.flags.has(Flags::PSH);
        if from < until && !self.copies.keep(from, until, push, turn.config.max_kept) {
            self.unkept = self.unkept.max(until);
        }
    }

    /// The link tells of a segment (lle-tcp/II.B.1).
    pub(super) fn on_signal<O: AgentOut>(
        &mut self,
        signal: Signal,
        packet: &Packet,
        segment: &Segment,
        turn: &mut Turn<'_, O>,
    ) {
        let Some(start) = self.offset(segment.seq) else {
            return;
        };
        let safe = turn.config.mode == Mode::Safe;
        if segment.len == 0 {
            let answered = start < self.reached || (start > self.reached && segment.flags.has(Flags::FIN));
            if answered && safe && signal == Signal::Delivered {
                self.excuses.add(self.reached);
            }
            return;
        }
        let end = start + u64::from(segment.len);
        let own = self.copies.at(start.max(self.confirmed)).filter(|kept| kept.start < end);
        let (mut resent_here, mut given_up) = (false, false);
        if let Some(kept) = own {
            (resent_here, given_up) = (kept.resent, kept.given_up);
            kept.resent = false;
            if resent_here {
                kept.resent_at = turn.now;
            } else {
                kept.given_up = signal == Signal::Undelivered;
            }
        }
        match signal {
            Signal::Refused => {}
            Signal::Undelivered if resent_here => {}
            Signal::Undelivered => self.on_undelivered(start, packet, segment, turn),
            Signal::Delivered => {
                self.deliveries += 1;
                self.copies.on_delivered(start.max(self.confirmed), end, self.deliveries);
                let before = self.reached;
                if !resent_here {
                    self.on_delivered(start, end, segment, turn);
                }
                // What the link gave up the receiver may have had all the same.
                if safe && (self.reached == before || given_up) {
                    self.excuses.add(self.reached);
                }
            }
        }
    }

    fn on_delivered<O: AgentOut>(&mut self, start: u64, end: u64, segment: &Segment, turn: &mut Turn<'_, O>) {
        let safe = turn.config.mode == Mode::Safe;
        if end <= self.reached {
            // Old data gets a plain acknowledgement; one byte before the edge is a keepalive or the probe of a closed
            // window, whose answer tells that the receiver lives and must be its own.
            if !safe || segment.len > 1 || end < self.reached {
                self.repeat(turn);
            }
            return;
        }
        let until = if safe { self.copies.covered(start.max(self.confirmed), end) } else { end };
        if until <= start.max(self.reached) {
            return;
        }
        if safe {
            let held = self.spacing.wait(turn.config) - turn.config.hold;
            self.silence.on_delivered(until, held, turn.now);
        }
        self.reply.echo_delivered(start, segment);
        if start > self.reached {
            self.spacing.interrupt();
            let known = self.beyond.contains(start, until);
            let block = self.beyond.insert(start, until);
            if !known {
                self.reply.note_block(block);
            }
            if self.reached > self.told {
                self.acknowledge(turn);
                Repeats::is_news(&mut self.repeats.made, &mut self.repeats.told);
            } else if self.told >= self.unkept {
                if self.edge > Some(self.told_edge) {
                    // A duplicate is one that tells of no other window (RFC 5681, 2).
                    self.acknowledge(turn);
                }
                self.repeat(turn);
            }
            return;
        }
        let filled = !self.beyond.is_empty();
        self.reach(until);
        self.spacing.step(turn.now, turn.config);
        self.waiting += 1;
        if filled || self.is_due(segment, turn.config.acknowledge) {
            self.acknowledge(turn);
        } else if let AckScheme::Delayed { delay, .. } = turn.config.acknowledge {
            self.ack_at = self.ack_at.min(turn.now.after(delay));
        }
    }

    /// Whether the acknowledgement scheme wants one at once.
    fn is_due(&self, segment: &Segment, scheme: AckScheme) -> bool {
        match scheme {
            AckScheme::EveryPacket => true,
            AckScheme::Delayed { every, .. } => {
                let ends = segment.flags.has(Flags::PSH) || segment.flags.has(Flags::FIN);
                ends || (self.waiting >= every && segment.len >= self.full)
            }
        }
    }

    fn on_undelivered<O: AgentOut>(
        &mut self,
        start: u64,
        packet: &Packet,
        segment: &Segment,
        turn: &mut Turn<'_, O>,
    ) {
        match turn.config.on_undelivered {
            OnUndelivered::ResubmitOnce if start >= self.resubmitted => {
                self.resubmitted = start + u64::from(segment.len);
                turn.counters.resubmitted += 1;
                turn.out.down(*packet);
            }
            OnUndelivered::ThreeDuplicates if start == self.reached && self.may_answer(turn) => {
                for _ in 0..3 {
                    self.acknowledge(turn);
                }
            }
            _ => {}
        }
    }

    /// In safe mode nothing is said before the receiver has offered a window.
    fn may_answer<O>(&self, turn: &Turn<'_, O>) -> bool {
        turn.config.mode == Mode::Paper || self.edge.is_some()
    }

    /// All below `offset` is delivered.
    pub(super) fn reach(&mut self, offset: u64) {
        self.reached = self.beyond.advance(offset);
        self.reply.advance(self.reached);
    }

    /// A duplicate acknowledgement for what was delivered beyond a hole.
    fn repeat<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.may_answer(turn) && Repeats::is_news(&mut self.repeats.made, &mut self.repeats.told) {
            self.acknowledge(turn);
        }
    }

    /// The same for one that the receiver sent.
    pub(super) fn relay_repeat<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if Repeats::is_news(&mut self.repeats.heard, &mut self.repeats.told) {
            turn.counters.relayed += 1;
            self.acknowledge(turn);
        }
    }

    /// Makes "an ordinary TCP ACK" and hands it up (lle-tcp/II.B.3).
    pub(super) fn acknowledge<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        let window = match turn.config.mode {
            Mode::Paper => self.window,
            Mode::Safe => self.edge.unwrap_or(0).saturating_sub(self.reached),
        };
        if self.reached > self.told {
            self.repeats = Repeats::default();
        }
        self.told = self.reached;
        self.told_edge = self.told_edge.max(self.edge.unwrap_or(0));
        self.waiting = 0;
        self.ack_at = Time::NEVER;
        turn.counters.generated += 1;
        let packet = self.reply.packet(self.reached, window, self.twice.take());
        turn.out.up(packet);
    }

    /// The receiver offers more, and the sender is told with the next acknowledgement, or by itself after a while. A
    /// segment on its way to the receiver brings one, whereas one made now would be one more on each hop back to it.
    pub(super) fn acknowledge_later<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        self.ack_at = self.ack_at.min(turn.now.after(self.spacing.wait(turn.config)));
    }

    /// A deadline has passed.
    pub(super) fn on_timer<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.ack_at <= turn.now {
            turn.counters.relayed += u64::from(self.reached == self.told);
            self.acknowledge(turn);
        }
        if self.silence.deadline() <= turn.now {
            self.repair_after_silence(turn);
        }
    }
}
