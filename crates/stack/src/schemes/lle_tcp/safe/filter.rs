//! The receiver's side: suppresses acknowledgements that the agent at the other end has already generated.
//!
//! The filter knows everything that its TCP sent; the agent at the other end knows what was passed. The filter keeps
//! the two apart: a rule that confused them would withhold answers to window probes for ever.
//!
//! A receiver with a hole acknowledges each segment. The other end needs the report of the hole and, from time to time,
//! of how far the receiver has come, which shows whether a copy was lost as well. It knows the rest, because its link
//! delivered the segments that these acknowledgements answer. Of the acknowledgements of a hole with SACK blocks, the
//! filter therefore passes the first and one in [`MOST_WITHHELD`]. It also passes any whose list is about to drop a
//! block that was not reported in its present form.

use super::super::connection::{Terms, is_pure};
use super::super::connections::Turn;
use super::super::hold::Spacing;
use crate::hooks::AgentOut;
use crate::packet::{Body, Flags, Packet, SackBlocks, Segment};
use crate::ranges::Ranges;
use crate::state_bytes::{StateBytes, of_all, state_bytes};
use crate::units::{SeqNo, Time};

/// Windows of fewer full segments than this are always passed on.
const SMALL_WINDOW: u64 = 4;

/// Of the acknowledgements of a receiver with a hole, one in this number passes.
const MOST_WITHHELD: u32 = 16;

/// Number of blocks in every full list, whatever other options there are (RFC 2018, 3).
const BLOCKS_IN_EVERY_LIST: usize = 3;

/// The fate of a packet on its way to the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// It passes.
    Pass,
    /// It is withheld.
    Stop,
}

state_bytes! {
    /// The state of one direction of a connection whose data is acknowledged at the other end of the link.
    #[derive(Clone, Debug)]
    pub(super) struct Filter {
        terms: Terms,
        /// The last acknowledgement number of the receiver.
        said: u64,
        /// Right edge in what was passed.
        told_edge: u64,
        /// End of the data that came over the link, with or without holes.
        seen: u64,
        /// The same before the segments of an A-MPDU, which come in one instant: when, and how many of them.
        seen_before: u64,
        burst: (Time, u32),
        /// The largest segment that arrived.
        full: u32,
        held: Option<Packet>,
        release_at: Time,
        /// Spacing of the advances of the receiver's numbers.
        spacing: Spacing,
        /// The data of the receiver beyond a hole, according to the blocks that were passed.
        reported: Ranges,
        /// Acknowledgements of a hole withheld since one was passed, and when the first of them came.
        withheld: u32,
        withheld_since: Time,
    }
}

impl Filter {
    pub(super) fn new(terms: Terms) -> Filter {
        let told_edge = terms.edge.unwrap_or(0);
        Filter {
            terms,
            said: 0,
            seen: 0,
            seen_before: 0,
            burst: (Time::ZERO, 0),
            told_edge,
            full: terms.mss,
            held: None,
            release_at: Time::NEVER,
            spacing: Spacing::default(),
            reported: Ranges::default(),
            withheld: 0,
            withheld_since: Time::ZERO,
        }
    }

    /// Bytes of state.
    pub(super) fn bytes(&self) -> u64 {
        Self::BYTES + of_all(&self.reported.as_slice().iter())
    }

    /// When it must be called.
    pub(super) fn deadline(&self) -> Time {
        self.release_at
    }

    /// A segment of the sender arrived over the link.
    pub(super) fn on_data(&mut self, segment: &Segment, now: Time) {
        if self.burst.0 != now {
            (self.burst, self.seen_before) = ((now, 0), self.seen);
        }
        self.burst.1 += 1;
        self.full = self.full.max(segment.len);
        if let Some(start) = segment.seq.unwrap_near(self.terms.zero, self.said) {
            self.seen = self.seen.max(start + u64::from(segment.len));
        }
    }

    /// The end of the data that TCP knows of: of the segments of an A-MPDU it acknowledges one after the other.
    fn seen_by_tcp(&self, now: Time) -> u64 {
        if self.burst.0 == now && self.burst.1 > 1 { self.seen_before } else { self.seen }
    }

    /// A segment of the receiver is on its way to the link; it `ends` if it acknowledges the sender's FIN.
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
        let seen = self.seen_by_tcp(turn.now);
        let redundant = pure && !ends && self.is_redundant(segment, ack, seen);
        if ack < seen || (pure && ack == self.said) {
            self.spacing.interrupt();
        }
        if ack > self.said {
            self.said = ack;
            self.reported.advance(ack);
            self.spacing.step(turn.now, turn.config);
        }
        if redundant {
            turn.counters.suppressed += 1;
            turn.counters.held += u64::from(self.held.is_none());
            self.held = Some(*packet);
            self.release_at = self.release(segment, turn);
            return Fate::Stop;
        }
        turn.counters.passed += u64::from(pure);
        turn.counters.held -= u64::from(self.held.is_some());
        self.passed(segment, ack);
        Fate::Pass
    }

    /// Whether an acknowledgement without data contains nothing that the other end needs now.
    fn is_redundant(&self, segment: &Segment, ack: u64, seen: u64) -> bool {
        let window = u64::from(segment.window) << self.terms.shift;
        let credit = self.told_edge.saturating_sub(ack);
        // An acknowledgement below the data that came reports the next hole.
        let is_progress = ack > self.said && ack >= seen && segment.options.sack.is_empty();
        (is_progress || self.is_known_hole(&segment.options.sack, ack))
            && window >= SMALL_WINDOW * u64::from(self.full)
            && 2 * credit >= window
    }

    /// Whether these blocks report a hole, and the other end does not need the report now.
    fn is_known_hole(&self, blocks: &SackBlocks, ack: u64) -> bool {
        let first = blocks.as_slice().first().and_then(|block| self.offsets(*block));
        let Some((left, right)) = first.filter(|_| ack >= self.said) else { return false };
        let second = blocks.as_slice().get(1).and_then(|block| self.offsets(*block));
        // A range received twice is the first block (RFC 2883, 4).
        let twice = right <= ack || second.is_some_and(|outer| outer.0 <= left && right <= outer.1);
        let falls =
            blocks.as_slice().get(BLOCKS_IN_EVERY_LIST - 1).is_some_and(|last| !self.is_reported(*last));
        let is_first = self.reported.as_slice().iter().all(|range| range.1 <= ack);
        !twice && !falls && !is_first && self.withheld + 1 < MOST_WITHHELD
    }

    fn is_reported(&self, block: (SeqNo, SeqNo)) -> bool {
        self.offsets(block).is_some_and(|(left, right)| self.reported.contains(left, right))
    }

    fn offsets(&self, (left, right): (SeqNo, SeqNo)) -> Option<(u64, u64)> {
        let offset = |seq: SeqNo| seq.unwrap_near(self.terms.zero, self.said);
        offset(left).zip(offset(right)).filter(|(left, right)| left < right)
    }

    /// When a segment withheld now is released. Each acknowledgement of a hole postpones this, up to `max_hold`.
    fn release<O>(&mut self, segment: &Segment, turn: &Turn<'_, O>) -> Time {
        if segment.options.sack.is_empty() {
            self.withheld = 0;
            return turn.now.after(self.spacing.wait(turn.config));
        }
        if self.withheld == 0 {
            self.withheld_since = turn.now;
        }
        self.withheld += 1;
        turn.now.after(turn.config.hold).min(self.withheld_since.after(turn.config.max_hold))
    }

    /// A segment goes to the link and replaces the one withheld.
    fn passed(&mut self, segment: &Segment, ack: u64) {
        self.told_edge = self.told_edge.max(ack + (u64::from(segment.window) << self.terms.shift));
        self.held = None;
        self.release_at = Time::NEVER;
        self.withheld = 0;
        for block in segment.options.sack.as_slice() {
            if let Some((left, right)) = self.offsets(*block).filter(|block| block.1 > ack) {
                self.reported.insert(left.max(ack), right);
            }
        }
    }

    /// The other end does not know what was passed: a segment did not arrive, or another agent is there.
    pub(super) fn is_unknown(&mut self) {
        self.told_edge = 0;
        self.reported.clear();
    }

    /// Whether a segment is withheld.
    pub(super) fn holds(&self) -> bool {
        self.held.is_some()
    }

    /// The agent at the other end is another one, or acknowledges nothing from now on: what is withheld goes to the link.
    pub(super) fn arrive<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        self.send_held(turn);
        self.is_unknown();
    }

    /// A segment of the receiver goes to the link because the agent at the other end acknowledges nothing.
    pub(super) fn pass<O>(&mut self, segment: &Segment, turn: &mut Turn<'_, O>) -> Fate {
        let ack =
            segment.ack.unwrap_near(self.terms.zero, self.said).filter(|_| segment.flags.has(Flags::ACK));
        self.said = ack.map_or(self.said, |ack| ack.max(self.said));
        turn.counters.passed += u64::from(is_pure(segment));
        Fate::Pass
    }

    /// The receiver is silent: its newest acknowledgement passes after all, in case the other end did not notice the
    /// delivery.
    pub(super) fn on_timer<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
        if self.release_at <= turn.now {
            self.send_held(turn);
        }
    }

    fn send_held<O: AgentOut>(&mut self, turn: &mut Turn<'_, O>) {
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
