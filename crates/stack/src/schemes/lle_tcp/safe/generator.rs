//! The sender's side: acknowledges data delivered by the link on behalf of the receiver.
//!
//! Offsets count from the first data byte. `delivered` is the end of the data that the link delivered without a hole,
//! and `acknowledged` the end of the data acknowledged to the sender. `confirmed` is the end of the data that the
//! receiver itself acknowledged. `confirmed <= acknowledged <= delivered <= edge`, and all data from `confirmed` on is
//! stored.

use super::super::beyond::Beyond;
use super::super::config::{Config, OnUndelivered};
use super::super::connection::Terms;
use super::super::connections::Turn;
use super::super::hold::Spacing;
use super::super::reply::Reply;
use super::copies::{Copies, Number};
use super::edge::Edge;
use super::evidence::Excuses;
use super::fields::Fields;
use super::repeats::Repeats;
use super::silence::Silence;
use crate::hooks::AgentOut;
use crate::packet::{Flags, Packet, Segment};
use crate::ranges::Ranges;
use crate::signal::Signal;
use crate::state_bytes::{StateBytes, of_all, state_bytes};
use crate::units::{SeqNo, Time};

state_bytes! {
    /// The state of one direction of a connection whose data is acknowledged here.
    #[derive(Clone, Debug)]
    pub(super) struct Generator {
        pub(super) reply: Reply,
        /// The sender is on this node, so packets to it cost no airtime.
        pub(super) local: bool,
        pub(super) copies: Copies,
        pub(super) delivered: u64,
        pub(super) acknowledged: u64,
        pub(super) confirmed: u64,
        pub(super) edge: Edge,
        /// Data beyond a hole: delivered by the link, and selectively acknowledged by the receiver.
        pub(super) beyond: Beyond,
        pub(super) selective: Ranges,
        /// The end of all data sent, including FIN, and of data sent again.
        pub(super) sent_end: u64,
        pub(super) sent_again: u64,
        /// The offset of the sender's FIN.
        pub(super) fin: Option<u64>,
        /// Data below this offset may have been sent without a stored copy. All data after a hand-off, until the receiver
        /// speaks.
        unkept: u64,
        /// Whether the sender has requested an answer since the receiver's last one: by a probe or by old data.
        pub(super) asked: bool,
        pub(super) repeats: Repeats,
        /// A range that the receiver got twice, to be reported.
        pub(super) twice: Option<(u64, u64)>,
        pub(super) fields: Fields,
        pub(super) full: u32,
        /// Spacing of the deliveries that advance the stream.
        pub(super) spacing: Spacing,
        /// Segments delivered since the last acknowledgement, and when one is due.
        waiting: u32,
        ack_at: Time,
        pub(super) silence: Silence,
        pub(super) excuses: Excuses,
        /// Number of segments that the link delivered.
        deliveries: u64,
        resubmitted: u64,
    }
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

    /// The connection has moved here from another station. The receiver answers a copy of the oldest segment that it has not
    /// confirmed.
    pub(super) fn arrive<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        self.local = turn.config.criterion.is_behind(self.reply.terms.sender.0);
        self.unkept = u64::MAX;
        self.ack_at = self.ack_at.max(turn.now);
        self.excuses = Excuses::default();
        self.copies.leave_link();
        self.spacing.interrupt();
        self.repair_after_silence(turn);
    }

    /// Whether the receiver has spoken, and nothing passed it by before that.
    pub(super) fn knows_receiver(&self) -> bool {
        self.edge.is_known() && self.unkept < u64::MAX
    }

    /// The receiver offers room up to `edge`. Data below it may have been sent while the connection moved. Returns true if
    /// the offer exceeds the earlier ones.
    pub(super) fn on_offer(&mut self, edge: u64) -> bool {
        self.unkept = self.unkept.min(edge);
        self.edge.raise(edge)
    }

    /// When it must be called.
    pub(super) fn deadline(&self) -> Time {
        self.ack_at.min(self.silence.deadline())
    }

    /// Bytes acknowledged here that the receiver has not acknowledged.
    pub(super) fn unconfirmed(&self) -> u64 {
        self.acknowledged.saturating_sub(self.confirmed)
    }

    /// Bytes of state.
    pub(super) fn bytes(&self) -> u64 {
        let ranges = of_all(&self.selective.as_slice().iter()) + self.beyond.bytes();
        Self::BYTES + ranges + self.copies.bytes() + self.excuses.bytes()
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
        // Only a probe of a closed window lies beyond the edge, and the receiver need not accept it.
        let (from, until) = (start.max(self.confirmed), end.min(edge));
        let push = segment.flags.has(Flags::PSH);
        let of = Number(packet.id);
        if from < until && !self.copies.keep(from, until, of, push, turn.config.max_kept) {
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
            // The receiver may have received data that the link discarded.
            if self.delivered == before || given_up {
                self.excuses.add(self.delivered);
            }
        } else if !resent_here {
            self.on_undelivered(start, packet, segment, turn);
        }
    }

    fn on_delivered<O: AgentOut>(&mut self, start: u64, end: u64, segment: &Segment, turn: &mut Turn<'_, O>) {
        if end <= self.delivered {
            // Old data gets a plain acknowledgement. One byte before the edge is a keepalive or the probe of a closed
            // window: only the receiver may answer it, because the answer shows that the receiver lives.
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
                    // A duplicate has an unchanged window (RFC 5681, 2).
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

    /// A duplicate acknowledgement for old data or for data delivered beyond a hole.
    fn repeat<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.edge.is_known() && self.repeats.make() {
            self.acknowledge(turn);
        }
    }

    /// Acknowledges all data delivered without a hole, in the receiver's name.
    pub(super) fn acknowledge<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.delivered > self.acknowledged {
            self.repeats = Repeats::default();
        }
        self.acknowledged = self.delivered;
        self.edge.tell(self.edge.highest());
        self.waiting = 0;
        self.ack_at = Time::NEVER;
        turn.counters.generated += 1;
        // A range received twice is the first block (RFC 2883, 4).
        let blocks = self.twice.take().into_iter().chain(self.beyond.newest());
        turn.out.up(&self.reply.packet(self.delivered, self.edge.window(self.delivered), blocks));
    }

    /// The receiver offers more: reported with the next acknowledgement, or alone after a while. A segment on its way
    /// to the receiver causes one anyway; one generated now would be an additional packet on each hop to the sender.
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
