//! The receiver's side: suppresses acknowledgements that the agent at the other end has already generated.
//!
//! It knows everything its TCP said; the agent at the other end knows what was passed. The two are kept apart, since a
//! rule that took the one for the other would hold back answers to window probes for ever.

use super::super::connection::{Terms, is_pure};
use super::super::connections::Turn;
use super::hold::Spacing;
use crate::hooks::AgentOut;
use crate::packet::{Body, Flags, Packet, Segment};
use crate::units::Time;

/// Windows of fewer full segments than this are always passed on.
const SMALL_WINDOW: u64 = 4;

/// What becomes of a packet on its way to the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It goes on.
    Pass,
    /// It stays here.
    Stop,
}

/// The state of one direction of a connection whose data is acknowledged at the other end of the link.
#[derive(Clone, Debug)]
pub(super) struct Filter {
    terms: Terms,
    /// The last acknowledgement number of the receiver.
    said: u64,
    /// Right edge of what was passed.
    told_edge: u64,
    /// How far data has come over the link, with or without holes.
    seen: u64,
    /// The largest segment that arrived.
    full: u32,
    held: Option<Packet>,
    release_at: Time,
    /// How far apart the receiver's numbers rise.
    spacing: Spacing,
}

impl Filter {
    pub(super) fn new(terms: Terms) -> Filter {
        let told_edge = terms.edge.unwrap_or(0);
        Filter {
            terms,
            said: 0,
            seen: 0,
            told_edge,
            full: terms.mss,
            held: None,
            release_at: Time::NEVER,
            spacing: Spacing::default(),
        }
    }

    /// When it wants to be called.
    pub(super) fn deadline(&self) -> Time {
        self.release_at
    }

    /// A segment of the sender came over the link.
    pub(super) fn on_data(&mut self, segment: &Segment) {
        self.full = self.full.max(segment.len);
        if let Some(start) = segment.seq.unwrap_near(self.terms.zero, self.said) {
            self.seen = self.seen.max(start + u64::from(segment.len));
        }
    }

    /// A segment of the receiver is on its way to the link, which acknowledges the sender's FIN if it `ends`.
    pub(super) fn judge<O>(
        &mut self,
        packet: &Packet,
        segment: &Segment,
        ends: bool,
        turn: &mut Turn<'_, O>,
    ) -> Fate {
        let ack =
            segment.ack.unwrap_near(self.terms.zero, self.said).filter(|_| segment.flags.has(Flags::ACK));
        let Some(ack) = ack else {
            return Fate::Pass;
        };
        let pure = is_pure(segment);
        let redundant = pure && !ends && self.is_redundant(segment, ack);
        if ack < self.seen || (pure && ack == self.said) {
            self.spacing.interrupt();
        }
        if ack > self.said {
            self.said = ack;
            self.spacing.step(turn.now, turn.config);
        }
        if redundant {
            turn.counters.suppressed += 1;
            turn.counters.held += u64::from(self.held.is_none());
            self.held = Some(*packet);
            self.release_at = turn.now.after(self.spacing.wait(turn.config));
            return Fate::Stop;
        }
        turn.counters.passed += u64::from(pure);
        turn.counters.held -= u64::from(self.held.is_some());
        self.passed(segment, ack);
        Fate::Pass
    }

    /// Whether an acknowledgement without data says nothing that the other end does not know or cannot do without.
    fn is_redundant(&self, segment: &Segment, ack: u64) -> bool {
        let window = u64::from(segment.window) << self.terms.shift;
        let credit = self.told_edge.saturating_sub(ack);
        // A receiver that has more than it acknowledges reports its next hole.
        ack > self.said
            && ack >= self.seen
            && segment.options.sack.is_empty()
            && window >= SMALL_WINDOW * u64::from(self.full)
            && 2 * credit >= window
    }

    /// A segment goes to the link, and what was held is old.
    fn passed(&mut self, segment: &Segment, ack: u64) {
        self.told_edge = self.told_edge.max(ack + (u64::from(segment.window) << self.terms.shift));
        self.held = None;
        self.release_at = Time::NEVER;
    }

    /// A segment that was passed did not arrive: the other end does not know what it said.
    pub(super) fn on_undelivered(&mut self) {
        self.told_edge = 0;
    }

    /// The receiver fell silent: the newest acknowledgement goes after all, in case its delivery was not noticed.
    pub(super) fn on_timer<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.release_at > turn.now {
            return;
        }
        self.release_at = Time::NEVER;
        if let Some(packet) = self.held.take()
            && let Body::Tcp(segment) = &packet.body
        {
            let said = self.said;
            self.passed(segment, said);
            turn.counters.suppressed -= 1;
            turn.counters.held -= 1;
            turn.counters.passed += 1;
            turn.out.down(&packet);
        }
    }
}
