//! The parameters and counters of an ARQ snoop agent, including options that the paper leaves open.

use crate::hooks::{Activity, Criterion, Needs};
use crate::packet::{Flags, Segment};
use crate::units::Span;

/// The parameters of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The paper's rules, or those a real TCP needs.
    pub mode: Mode,
    /// For which flows the scheme may be used (lle-tcp/II.C): those whose destination is one wireless hop away.
    pub criterion: Criterion,
    /// When a generated acknowledgement is made.
    pub acknowledge: AckScheme,
    /// The answer to `PACK_UNDELIVERED`.
    pub on_undelivered: OnUndelivered,
    /// How long the receiver's side keeps the newest acknowledgement from the air if no other comes (safe mode). It
    /// grows with the spacing of the flow's own acknowledgements, to `max_hold` at most. The agent at the other end makes
    /// an acknowledgement that only widens the window wait as long for one that says more.
    pub hold: Span,
    /// What `hold` may grow to (safe mode).
    pub max_hold: Span,
    /// Least silence after which the oldest segment that the receiver has not confirmed is sent again (safe mode). It
    /// grows with the time that confirmations take. To exceed `hold` and the receiver's delay of acknowledgements.
    pub repair: Span,
    /// A flow without a packet for so long is forgotten.
    pub idle: Span,
    /// Most flows known at once; a further flow is left alone.
    pub max_flows: usize,
    /// Most payload bytes kept for one flow (safe mode). What finds no room is not acknowledged by the agent.
    pub max_kept: u64,
}

/// Which rules hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mode {
    /// The paper's, literally.
    Paper,
    /// Those that preserve TCP's end-to-end guarantees for an unmodified TCP.
    #[default]
    Safe,
}

/// "The selected TCP acknowledgement scheme" (lle-tcp/II.B.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckScheme {
    /// One acknowledgement for each packet delivered.
    EveryPacket,
    /// One for every `every`-th full segment, or after `delay`; at once for a hole, a hole filled, PSH and FIN.
    Delayed {
        /// Full segments for one acknowledgement.
        every: u32,
        /// Longest time one is held back.
        delay: Span,
    },
}

impl AckScheme {
    /// The longest time an acknowledgement waits after `waiting` segments were delivered since the last one, of which
    /// `segment` is the newest; `None` if it is due now. `full` is the largest payload so far.
    pub(in super::super) fn wait(self, waiting: u32, segment: &Segment, full: u32) -> Option<Span> {
        let AckScheme::Delayed { every, delay } = self else { return None };
        let ends = segment.flags.has(Flags::PSH) || segment.flags.has(Flags::FIN);
        let is_due = ends || (waiting >= every && segment.len >= full);
        (!is_due).then_some(delay)
    }
}

/// The reaction to `PACK_UNDELIVERED`, which the paper leaves open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnUndelivered {
    /// None: TCP finds the loss.
    Nothing,
    /// The segment goes to the link once more.
    ResubmitOnce,
    /// Three duplicate acknowledgements at once, if it is the first segment missing. A sender with SACK heeds them only
    /// when they carry a block.
    ThreeDuplicates,
}

impl Config {
    /// How long an acknowledgement is held back from the air unless the flow is slow.
    pub const HOLD: Span = Span::from_millis(40);
    /// How long on a slow flow. Linux' least timeout is 200 ms above the round trip (`TCP_RTO_MIN`), of which 40 ms are
    /// its receiver's to delay the acknowledgement; a wait that ends later would be overtaken by a retransmission.
    pub const MAX_HOLD: Span = Span::from_millis(150);

    /// The defaults for a mode and a criterion.
    #[must_use]
    pub fn new(mode: Mode, criterion: Criterion) -> Config {
        Config {
            mode,
            criterion,
            acknowledge: AckScheme::EveryPacket,
            on_undelivered: OnUndelivered::Nothing,
            hold: Self::HOLD,
            max_hold: Self::MAX_HOLD,
            repair: Span::from_millis(200),
            idle: Span::from_secs(600),
            max_flows: 16_384,
            max_kept: 8_000_000,
        }
    }

    /// What it needs of its interface and its flows.
    #[must_use]
    pub fn needs(&self) -> Needs {
        let paper = self.mode == Mode::Paper;
        Needs {
            reports: true,
            last_hop: true,
            both_ends: true,
            timestamps: false,
            makes_acknowledgements: true,
            one_way: paper.then_some(("mode", "\"safe\" does not")),
        }
    }
}

/// What an agent has done so far, and what it holds now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Acknowledgements made here and handed up.
    pub generated: u64,
    /// Those among them that stand for one which came over the link.
    pub relayed: u64,
    /// Acknowledgements kept from the air.
    pub suppressed: u64,
    /// Those among them that are held, and may go to the link yet (safe mode).
    pub held: u64,
    /// Acknowledgements without data that went to the link.
    pub passed: u64,
    /// Data segments whose ACK flag was cleared (paper mode).
    pub cleared: u64,
    /// Segments sent again because the receiver lacked what the link had delivered.
    pub repaired: u64,
    /// Those among them that were sent because it was silent: its acknowledgement may have been lost instead.
    pub probed: u64,
    /// Segments handed to the link again after `PACK_UNDELIVERED`.
    pub resubmitted: u64,
    /// Segments that the link gave up and the receiver had (safe mode).
    pub false_negatives: u64,
    /// Bytes acknowledged here and never by the receiver, of flows that ended: at most so many were not received. In
    /// paper mode next to all, as the receiver's acknowledgements are dropped.
    pub never_confirmed: u64,
    /// Bytes acknowledged here and not yet by the receiver, of flows that last.
    pub unconfirmed: u64,
    /// Flows known now.
    pub flows: u64,
    /// Most flows known at once.
    pub flows_max: u64,
    /// Flows left alone because there was no room.
    pub flows_refused: u64,
    /// Bytes of state held now, with the segments kept.
    pub state_bytes: u64,
    /// Most bytes of state held at once.
    pub state_bytes_max: u64,
}

impl Counters {
    /// The same in the terms of all agents.
    #[must_use]
    pub fn activity(&self) -> Activity {
        Activity {
            generated: self.generated,
            // What is held has not been decided: a count must never fall.
            suppressed: self.suppressed - self.held,
            passed: self.passed,
            repaired: self.repaired,
            false_negatives: self.false_negatives,
            unconfirmed: Some(self.unconfirmed + self.never_confirmed),
            state_bytes_max: self.state_bytes_max,
        }
    }
}
