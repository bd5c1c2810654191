//! The sender's side: acknowledges data delivered by the link on behalf of the receiver.
//!
//! Offsets count from the first data byte. `delivered` is how far the link has delivered without a hole, `acknowledged`
//! how far the sender was answered, `confirmed` how far the receiver itself has acknowledged:
//! `confirmed <= acknowledged <= delivered <= edge`, and all from `confirmed` on is kept.

use super::super::beyond::Beyond;
use super::super::config::{Config, OnUndelivered};
use super::super::connection::Terms;
use super::super::connections::Turn;
use super::super::hold::Spacing;
use super::super::reply::Reply;
use super::copies::Copies;
use super::edge::Edge;
use super::evidence::Excuses;
use super::repair::Fields;
use super::repeats::Repeats;
use super::silence::Silence;
use crate::hooks::AgentOut;
use crate::packet::{Flags, Packet, Segment};
use crate::ranges::Ranges;
use crate::signal::Signal;
use crate::units::{SeqNo, Time};

/// The state of one direction of a connection whose data is acknowledged here.
#[derive(Clone, Debug)]
pub(super) struct Generator {
    pub(super) reply: Reply,
    /// The sender is here, and what goes up to it costs nothing on the air.
    pub(super) local: bool,
    pub(super) copies: Copies,
    pub(super) delivered: u64,
    pub(super) acknowledged: u64,
    pub(super) confirmed: u64,
    pub(super) edge: Edge,
    /// What the link delivered, and what the receiver selectively acknowledged, beyond a hole.
    pub(super) beyond: Beyond,
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
    /// A range that the receiver got twice, to be passed on.
    pub(super) twice: Option<(u64, u64)>,
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

impl Generator {
    pub(super) fn new(terms: Terms, config: &Config) -> Generator {
        Generator {
            reply: Reply::new(terms),
            local: config.criterion.is_behind(terms.sender.0),
            copies: Copies::default(),
            delivered: 0,
            acknowledged: 0,
            confirmed: 0,
            edge: Edge::new(terms.edge),
            beyond: Beyond::default(),
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
            silence: Silence::new(config.repair),
            excuses: Excuses::default(),
            deliveries: 0,
            resubmitted: 0,
        }
    }

    /// When it wants to be called.
    pub(super) fn deadline(&self) -> Time {
        self.ack_at.min(self.silence.deadline())
    }

    /// Bytes acknowledged here that the receiver has not acknowledged.
    pub(super) fn unconfirmed(&self) -> u64 {
        self.acknowledged.saturating_sub(self.confirmed)
    }

    /// Bytes of state.
    pub(super) fn bytes(&self) -> u64 {
        let types = size_of::<Generator>() + size_of_val(self.selective.as_slice());
        types as u64 + self.beyond.bytes() + self.copies.bytes() + self.excuses.bytes()
    }

    pub(super) fn offset(&self, seq: SeqNo) -> Option<u64> {
        seq.unwrap_near(self.reply.terms.zero, self.delivered)
    }

    /// A segment of the sender is on its way to the link.
    pub(super) fn on_data<O>(&mut self, packet: &Packet, segment: &Segment, turn: &mut Turn<'_, O>) {
        self.fields = Fields::of(packet, segment);
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
        let edge = self.edge.highest();
        self.asked |= (start < self.delivered && end <= self.delivered) || (segment.len > 0 && start >= edge);
        // Beyond the edge lies only a probe of a closed window, which the receiver need not take.
        let (from, until) = (start.max(self.confirmed), end.min(edge));
        let push = segment.flags.has(Flags::PSH);
        if from < until && !self.copies.keep(from, until, push, turn.config.max_kept) {
            self.unkept = self.unkept.max(until);
        }
    }

    /// The link reports the fate of a segment, delivered or not.
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
        let delivered = signal == Signal::Delivered;
        if segment.len == 0 {
            let is_fin = segment.flags.has(Flags::FIN);
            if delivered && (start < self.delivered || (start > self.delivered && is_fin)) {
                self.excuses.add(self.delivered);
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
                kept.given_up = !delivered;
            }
        }
        if delivered {
            self.deliveries += 1;
            self.copies.on_delivered(start.max(self.confirmed), end, self.deliveries);
            let before = self.delivered;
            if !resent_here {
                self.on_delivered(start, end, segment, turn);
            }
            // What the link gave up the receiver may have had all the same.
            if self.delivered == before || given_up {
                self.excuses.add(self.delivered);
            }
        } else if !resent_here {
            self.on_undelivered(start, packet, segment, turn);
        }
    }

    fn on_delivered<O: AgentOut>(&mut self, start: u64, end: u64, segment: &Segment, turn: &mut Turn<'_, O>) {
        if end <= self.delivered {
            // Old data gets a plain acknowledgement; one byte before the edge is a keepalive or the probe of a closed
            // window, whose answer shows that the receiver lives and must be its own.
            if segment.len > 1 || end < self.delivered {
                self.repeat(turn);
            }
            return;
        }
        let until = self.copies.covered(start.max(self.confirmed), end);
        if until <= start.max(self.delivered) {
            return;
        }
        let held = self.spacing.wait(turn.config) - turn.config.hold;
        self.silence.on_delivered(until, held, turn.now);
        self.reply.echo_delivered(start, segment);
        if start > self.delivered {
            self.spacing.interrupt();
            self.beyond.insert(start, until);
            if self.delivered > self.acknowledged {
                self.acknowledge(turn);
                self.repeats.make();
            } else if self.acknowledged >= self.unkept {
                if self.edge.is_news() {
                    // A duplicate is one with an unchanged window (RFC 5681, 2).
                    self.acknowledge(turn);
                }
                self.repeat(turn);
            }
            return;
        }
        let fills = !self.beyond.is_empty();
        self.delivered = self.beyond.advance(until);
        self.spacing.step(turn.now, turn.config);
        self.waiting += 1;
        match turn.config.acknowledge.wait(self.waiting, segment, self.full) {
            Some(wait) if !fills => self.ack_at = self.ack_at.min(turn.now.after(wait)),
            _ => self.acknowledge(turn),
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
                turn.out.down(packet);
            }
            OnUndelivered::ThreeDuplicates if start == self.delivered && self.edge.is_known() => {
                (0..3).for_each(|_| self.acknowledge(turn));
            }
            _ => {}
        }
    }

    /// A duplicate acknowledgement for what was delivered beyond a hole.
    fn repeat<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.edge.is_known() && self.repeats.make() {
            self.acknowledge(turn);
        }
    }

    /// The acknowledgement of all that is delivered without a hole, in the receiver's name.
    pub(super) fn acknowledge<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.delivered > self.acknowledged {
            self.repeats = Repeats::default();
        }
        self.acknowledged = self.delivered;
        self.edge.tell(self.edge.highest());
        self.waiting = 0;
        self.ack_at = Time::NEVER;
        turn.counters.generated += 1;
        // A range received twice comes first (RFC 2883, 4).
        let blocks = self.twice.take().into_iter().chain(self.beyond.newest());
        turn.out.up(&self.reply.packet(self.delivered, self.edge.window(self.delivered), blocks));
    }

    /// The receiver offers more: the sender learns it with the next acknowledgement, or by itself after a while. A
    /// segment on its way to the receiver brings one, whereas one made now would be one more on each hop back to it.
    pub(super) fn acknowledge_later<O>(&mut self, turn: &mut Turn<'_, O>) {
        self.ack_at = self.ack_at.min(turn.now.after(self.spacing.wait(turn.config)));
    }

    /// A deadline has passed.
    pub(super) fn on_timer<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.ack_at <= turn.now {
            turn.counters.relayed += u64::from(self.delivered == self.acknowledged);
            self.acknowledge(turn);
        }
        if self.silence.deadline() <= turn.now {
            self.repair_after_silence(turn);
        }
    }
}
