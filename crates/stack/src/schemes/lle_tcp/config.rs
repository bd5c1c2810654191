//! The parameters and counters of an ARQ snoop agent, including options that the paper leaves open.

use crate::hooks::{Activity, Criterion, Needs};
use crate::packet::{Flags, Segment};
use crate::units::Span;

/// The parameters of one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The paper's rules, or those that a real TCP needs.
    pub mode: Mode,
    /// The flows for which the scheme may be used (lle-tcp/II.C): those whose destination is one wireless hop away.
    pub criterion: Criterion,
    /// When an acknowledgement is generated.
    pub acknowledge: AckScheme,
    /// The reaction to `PACK_UNDELIVERED`.
    pub on_undelivered: OnUndelivered,
    /// Hold time: how long the receiver's side withholds the newest acknowledgement if no other follows (safe mode). It
    /// grows with the spacing of the flow's own acknowledgements, up to `max_hold`. The agent at the other end delays
    /// an acknowledgement that only widens the window by the same time, because one with more information may follow.
    pub hold: Span,
    /// The maximum of `hold` (safe mode).
    pub max_hold: Span,
    /// Minimum silence after which the oldest segment that the receiver has not confirmed is sent again (safe mode). It
    /// grows with the time that confirmations take. It must exceed `hold` and the receiver's acknowledgement delay.
    pub repair: Span,
    /// Time without a packet after which a flow is forgotten.
    pub idle: Span,
    /// Maximum number of flows; a further flow is left alone.
    pub max_flows: usize,
    /// Maximum payload stored for one flow, bytes (safe mode). The agent does not acknowledge data that it cannot
    /// store.
    pub max_kept: u64,
}

/// The set of rules.
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
    /// One acknowledgement per `every` full segments, or after `delay`; at once for a hole, a filled hole, PSH and FIN.
    Delayed {
        /// Full segments per acknowledgement.
        every: u32,
        /// Maximum delay of an acknowledgement.
        delay: Span,
    },
}

impl AckScheme {
    /// How long an acknowledgement may wait when `waiting` segments were delivered since the last one, `segment` being
    /// the newest; `None` if it is due now. `full` is the largest payload so far.
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
    /// None: TCP detects the loss.
    Nothing,
    /// The segment is handed to the link once more.
    ResubmitOnce,
    /// Three duplicate acknowledgements at once, if it is the first missing segment. A sender with SACK heeds them only
    /// if they carry a block.
    ThreeDuplicates,
}

impl Config {
    /// Hold time of an acknowledgement unless the flow is slow.
    pub const HOLD: Span = Span::from_millis(40);
    /// Hold time on a slow flow. Linux's minimum timeout is 200 ms above the round trip (`TCP_RTO_MIN`), of which the
    /// receiver may use 40 ms to delay the acknowledgement; a retransmission would overtake a longer wait.
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

    /// The requirements on the interface and the flows.
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
            ..Needs::default()
        }
    }
}

/// Counters of an agent so far, and the state that it holds now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Acknowledgements generated here and passed up.
    pub generated: u64,
    /// Of these, acknowledgements that stand for one received over the link.
    pub relayed: u64,
    /// Acknowledgements not passed to the link.
    pub suppressed: u64,
    /// Of these, acknowledgements that are held and may still go to the link (safe mode).
    pub held: u64,
    /// Acknowledgements without data that went to the link.
    pub passed: u64,
    /// Data segments whose ACK flag was cleared (paper mode).
    pub cleared: u64,
    /// Segments sent again because the receiver lacked data that the link had delivered.
    pub repaired: u64,
    /// Of these, segments sent because the receiver was silent: its acknowledgement may have been lost instead.
    pub probed: u64,
    /// Segments handed to the link again after `PACK_UNDELIVERED`.
    pub resubmitted: u64,
    /// Segments that the link discarded although the receiver had them (safe mode).
    pub false_negatives: u64,
    /// Bytes acknowledged here and never by the receiver, over flows that ended: an upper bound on the bytes not
    /// received. In paper mode almost all bytes, because the receiver's acknowledgements are dropped.
    pub never_confirmed: u64,
    /// Bytes acknowledged here and not yet by the receiver, over current flows.
    pub unconfirmed: u64,
    /// Current flows.
    pub flows: u64,
    /// Maximum number of simultaneous flows.
    pub flows_max: u64,
    /// Flows left alone because there was no room.
    pub flows_refused: u64,
    /// Bytes of state held now, including stored segments.
    pub state_bytes: u64,
    /// Maximum bytes of state.
    pub state_bytes_max: u64,
}

impl Counters {
    /// The counters common to all agents.
    #[must_use]
    pub fn activity(&self) -> Activity {
        Activity {
            generated: self.generated,
            // Held acknowledgements are undecided, and a count must never fall.
            suppressed: self.suppressed - self.held,
            passed: self.passed,
            repaired: self.repaired,
            false_negatives: self.false_negatives,
            unconfirmed: Some(self.unconfirmed + self.never_confirmed),
            state_bytes_max: self.state_bytes_max,
        }
    }
}
