//! The traits a scheme may implement, and what passes through them.
//!
//! [`Congestion`] says how large the window is, [`Recovery`] which segment goes next. They are independent choices and
//! meet only here: the sender reports to both and owns what they edit.

mod arq;
mod outbox;

pub use arq::{Arq, ArqVerdict, Choice, Head, MOST_UNITS, Newcomer, QUEUES, Reason, Unit, Waiting};
pub use outbox::Outbox;

use crate::link::slotted::{PacketId, SlotNo};
use crate::packet::{Form, Modulation, NodeId, Packet};
use crate::signal::Signal;
use crate::transport::tcp::scoreboard::{Scoreboard, Sent};
use crate::units::{Rate, Span, Time};

/// The congestion window, owned by the sender and edited by a [`Congestion`] law. Unit: segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window.
    pub cwnd: f64,
    /// Slow-start threshold.
    pub ssthresh: f64,
    /// Most segments released by one acknowledgement, if the law sets a limit.
    pub burst_limit: Option<u32>,
    /// Payload bits per second at which segments leave, if the law spaces them.
    pub pacing: Option<Rate>,
    /// Upper end of `cwnd`: the scenario's window limit.
    pub limit: f64,
}

impl Window {
    /// Least congestion window and, doubled, least threshold.
    const LEAST: f64 = 1.0;

    /// A window of `initial` segments that never exceeds `limit`.
    #[must_use]
    pub fn new(initial: f64, ssthresh: Option<f64>, limit: f64) -> Window {
        let mut window = Window {
            cwnd: initial,
            ssthresh: ssthresh.unwrap_or(limit),
            burst_limit: None,
            pacing: None,
            limit,
        };
        window.clamp();
        window
    }

    /// Whether the window is below the slow-start threshold.
    #[must_use]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// The window with what a recovery adds to it or takes from it: at least one segment.
    #[must_use]
    pub fn inflated(&self, inflation: f64) -> f64 {
        (self.cwnd + inflation).max(Self::LEAST)
    }

    /// Holds the window within its bounds; the sender calls it after each edit, so a law need not.
    pub(crate) fn clamp(&mut self) {
        self.cwnd = self.cwnd.clamp(Self::LEAST, self.limit);
        self.ssthresh = self.ssthresh.max(2.0 * Self::LEAST);
    }
}

/// What an acknowledgement did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It advanced by so many segments, outside recovery, while the window was the limit: the window may grow.
    Open(u32),
    /// It advanced by so many segments while something else than the window held the sender back.
    Unlimited(u32),
    /// It advanced by so many segments during recovery.
    Recovering(u32),
    /// It advanced nothing.
    Duplicate,
}

/// An acknowledgement, as a congestion law sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// What it did.
    pub progress: Progress,
    /// The round trip of the newest segment it acknowledged, if all that it acknowledged was sent once only: behind the
    /// repair of a hole an acknowledgement has waited for the repair, not in queues. It is exact, whatever clock the
    /// retransmission timer reads, since a law may keep the time of each segment as Vegas does.
    pub rtt: Option<Span>,
    /// When the newest segment it acknowledged was sent last, however often.
    pub newest_sent: Option<Time>,
    /// Smoothed round trip, once known.
    pub srtt: Option<Span>,
    /// First byte not yet acknowledged, after this acknowledgement.
    pub una: u64,
    /// First byte never sent.
    pub sent_end: u64,
    /// Segments outstanding before this acknowledgement.
    pub flight: u32,
    /// Segments thought to be in the network, after this acknowledgement (RFC 6675, `pipe`).
    pub pipe: u32,
    /// What it told of segments not known to be delivered before, cumulatively or selectively.
    pub delivered: Delivered,
    /// What its header extension told, if the law asked for one.
    pub extension: Option<Echo>,
}

/// What the header extension of an acknowledgement tells, in stream offsets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Echo {
    /// When the segment that triggered it was sent, by the data sender's clock.
    pub sent: Time,
    /// When that segment was received, by the receiver's clock.
    pub received: Time,
    /// First byte of that segment.
    pub trigger: u64,
    /// How often that segment had been sent.
    pub sending: Sending,
    /// The modulation of the 802.16 link on the way.
    pub modulation: Option<Modulation>,
}

/// How often a segment had been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sending {
    /// Once.
    Single,
    /// More than once: it may be any of its copies.
    Repeated,
}

/// Segments that an acknowledgement told to be delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Their bytes.
    pub bytes: u64,
    /// The number of the one among them that was sent last.
    pub newest: Option<u64>,
}

/// A segment that has just left.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When.
    pub now: Time,
    /// Its number: segments are counted from 0, and one that is sent again keeps its own.
    pub number: u64,
    /// Number of the first segment outstanding.
    pub base: u64,
    /// Segments in the network before it.
    pub pipe: u32,
    /// Bytes outstanding, its own included.
    pub outstanding: u64,
    /// Bytes that wait to be sent behind it.
    pub backlog: u64,
}

/// How a loss was noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// By duplicate or selective acknowledgements, or by the law itself ([`Congestion::is_overdue`]).
    Duplicates,
    /// By the retransmission timer, for the first time for this segment.
    Timeout,
    /// By the retransmission timer again, the segment having been resent by it already.
    RepeatedTimeout,
}

/// A loss indication.
#[derive(Clone, Copy, Debug)]
pub struct Loss {
    /// When it was noticed.
    pub now: Time,
    /// How.
    pub cause: LossCause,
    /// First byte of the segment taken for lost.
    pub una: u64,
    /// What a law takes its share of.
    pub base: LossBase,
    /// Segments thought to be in the network (RFC 6675, `pipe`).
    pub pipe: u32,
    /// Distinct segments sent so far.
    pub sent: u64,
    /// First byte never sent.
    pub sent_end: u64,
    /// When the segment taken for lost was sent last.
    pub sent_at: Time,
    /// How often it was sent.
    pub times: u8,
    /// Smoothed round trip, once known.
    pub srtt: Option<Span>,
}

/// What the window after a loss is a share of, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LossBase {
    /// What is outstanding (RFC 5681's `FlightSize`).
    Flight(u32),
    /// The congestion window as it was, as in ns-2.
    Window(f64),
}

impl LossBase {
    /// The number of segments.
    #[must_use]
    pub fn segments(self) -> f64 {
        match self {
            LossBase::Flight(segments) => f64::from(segments),
            LossBase::Window(segments) => segments,
        }
    }

    /// Least window that duplicates leave: ssthresh, and so two segments (RFC 5681, 3.2), or one.
    #[must_use]
    pub fn least_window(self) -> f64 {
        match self {
            LossBase::Flight(_) => 2.0 * Window::LEAST,
            LossBase::Window(_) => Window::LEAST,
        }
    }
}

/// Whether a law took a loss for congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    /// It was congestion: the law has reduced the window.
    Reduced,
    /// It was not: the window stands.
    Kept,
}

/// What a law that tells losses apart takes a loss for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// A queue had no room.
    Congestion,
    /// The channel lost it.
    Random,
}

/// A law's answer to a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossResponse {
    /// Whether it reduced the window.
    pub reduction: Reduction,
    /// How many copies of the lost segment to send.
    pub copies: u8,
    /// What it took the loss for, if it tells losses apart.
    pub judgement: Option<Judgement>,
}

impl LossResponse {
    /// The answer of a law that does not tell losses apart.
    pub const REDUCED: LossResponse =
        LossResponse { reduction: Reduction::Reduced, copies: 1, judgement: None };
}

/// The jitter ratio as a law has it, and what it compares it with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    /// By how much packets arrive further apart than they were sent, as a share.
    pub ratio: f64,
    /// Above which it speaks of congestion.
    pub threshold: f64,
}

/// The window law.
pub trait Congestion {
    /// An acknowledgement arrived. Only [`Progress::Open`] lets the window grow.
    fn on_ack(&mut self, ack: &Ack, window: &mut Window);

    /// A segment is taken for lost. The law leaves in `window` what shall hold after recovery.
    fn on_loss(&mut self, loss: &Loss, window: &mut Window) -> LossResponse;

    /// A segment has left.
    fn on_sent(&mut self, _: &Departure) {}

    /// Whether the first unacknowledged segment shall be taken for lost at this acknowledgement, though the duplicates do
    /// not tell so (yet). Asked after [`Congestion::on_ack`] at each duplicate, and at each advance outside recovery.
    fn is_overdue(&self, _ack: &Ack, _head: &Sent) -> bool {
        false
    }

    /// In which form each segment carries an [`Extension`](crate::packet::Extension), if any.
    fn extension(&self) -> Option<Form> {
        None
    }

    /// The rate at which the path carries segments by the law's own measurement, if it makes one. Unit: segments a second.
    fn estimate(&mut self, _now: Time) -> Option<f64> {
        None
    }

    /// What the law measures of queues on the way, if it does by jitter; for traces.
    fn jitter(&self, _: &Window) -> Option<Jitter> {
        None
    }

    /// Whether a duplicate acknowledgement with this extension may count as one.
    fn heeds(&self, _echo: &Echo, _una: u64) -> bool {
        true
    }
}

/// What the sender transmits next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// A segment that was never sent.
    New,
    /// A segment sent before, by its number in the scoreboard.
    Again(u64),
}

/// Whether a new segment could be sent: there is data for it and the peer's window has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// It could.
    Ready,
    /// There is no data, or no room for it.
    Withheld,
}

/// What an acknowledgement meant to the recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: no recovery is under way.
    Open,
    /// Recovery goes on.
    Holding,
    /// A partial acknowledgement after which the retransmission timer restarts.
    Partial,
    /// A partial acknowledgement that leaves the retransmission timer running.
    PartialTimerRuns,
    /// Recovery has ended.
    Ended,
    /// A segment is lost: ask the law, then [`Recovery::begin`].
    Lost,
}

/// Which segment next, and when recovery ends.
pub trait Recovery {
    /// An acknowledgement advanced by `segments`; the scoreboard stands already behind it.
    fn on_advance(&mut self, segments: u32, board: &mut Scoreboard, window: &mut Window) -> Verdict;

    /// A duplicate acknowledgement arrived, its SACK blocks already in the scoreboard.
    fn on_duplicate(&mut self, board: &mut Scoreboard, window: &mut Window) -> Verdict;

    /// Recovery begins, the law having answered. While it lasts, this resends the first unacknowledged segment again.
    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, window: &mut Window);

    /// The retransmission timer fired; the law has answered.
    fn on_timeout(&mut self, response: LossResponse, board: &mut Scoreboard);

    /// What may be sent now, if anything.
    fn next(&mut self, board: &Scoreboard, window: &Window, fresh: Fresh) -> Option<Pick>;

    /// What was picked has been sent; the scoreboard knows.
    fn on_sent(&mut self, pick: Pick, board: &Scoreboard);

    /// Segments added to `cwnd` while recovery lasts (the duplicate acknowledgements' "inflation").
    fn inflation(&self) -> f64 {
        0.0
    }

    /// Whether recovery is under way.
    fn is_active(&self) -> bool;
}

/// A timer of a transport endpoint. Setting it again replaces it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    /// Retransmission, or persist while the peer's window is closed.
    Retransmit,
    /// A held-back acknowledgement.
    DelayedAck,
    /// The next segment, where the law spaces them.
    Pace,
}

/// Something worth a line in a trace.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Note {
    /// What happened.
    pub event: NoteEvent,
    /// First byte of the segment it is about, from 0 for the first data byte.
    pub seq: u64,
    /// Its payload in bytes.
    pub len: u32,
    /// First byte not yet acknowledged.
    pub ack: u64,
    /// Congestion window with inflation, in segments.
    pub cwnd: f64,
    /// Slow-start threshold, in segments.
    pub ssthresh: f64,
}

/// The events of a TCP sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteEvent {
    /// A segment left for the first time.
    Send,
    /// A segment left again.
    Resend,
    /// An acknowledgement advanced.
    Ack,
    /// An acknowledgement advanced within recovery without ending it.
    Partial,
    /// A duplicate acknowledgement.
    DupAck,
    /// Recovery began.
    Enter,
    /// Recovery ended.
    Exit,
    /// The retransmission timer fired.
    Timeout,
    /// A probe of a closed window left.
    Probe,
}

impl NoteEvent {
    /// All events, in the order of their codes.
    pub const NAMES: [&'static str; 9] =
        ["send", "resend", "ack", "partial", "dupack", "enter", "exit", "timeout", "probe"];
}

/// A loss, and what a law took it for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judged {
    /// Which law.
    pub judge: Judge,
    /// How the loss was noticed.
    pub cause: LossCause,
    /// What the law took it for.
    pub judgement: Judgement,
    /// First byte of the segment taken for lost.
    pub una: u64,
    /// How often that segment had been sent.
    pub times: u8,
}

/// Which law judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judge {
    /// The one that governs the window.
    Law,
    /// One that only watches, by its place in the configuration.
    Watching(usize),
}

/// Where a transport endpoint puts its answers. The host empties it and calls the next box.
pub trait Out {
    /// A packet goes to the layer below.
    fn down(&mut self, packet: Packet);

    /// Sets (or moves) a timer.
    fn set(&mut self, timer: Timer, at: Time);

    /// Cancels a timer, if it is set.
    fn cancel(&mut self, timer: Timer);

    /// Whether notes are wanted; asked before one is made.
    fn is_watching(&self) -> bool;

    /// A note for the trace.
    fn note(&mut self, note: Note);

    /// A round trip was measured: the sample, the smoothed value, and the timeout in force.
    fn measured(&mut self, rtt: Span, srtt: Span, rto: Span);

    /// The same of the handshake, which gives the timer its first sample: a round trip of a SYN, not of data.
    fn measured_handshake(&mut self, _rtt: Span, _srtt: Span, _rto: Span) {}

    /// A law has judged a loss.
    fn judged(&mut self, _: Judged) {}

    /// A law has a new jitter ratio; told only while notes are wanted.
    fn jitter(&mut self, _: Judge, _: Jitter) {}
}

/// What sits between network and link of one interface: it may hold, drop, rewrite or create packets.
///
/// Up means towards this node's network layer, which delivers a packet here or forwards it, so that what an access
/// point hands up can leave for a fixed host.
pub trait Agent {
    /// A packet comes from the network layer and would go to the link.
    fn down(&mut self, packet: Packet, now: Time, out: &mut impl AgentOut);

    /// A packet comes from the link and would go to the network layer.
    fn up(&mut self, packet: Packet, now: Time, out: &mut impl AgentOut);

    /// The link tells the fate of a packet that was handed to it.
    fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time, out: &mut impl AgentOut);

    /// The agent's timer fired.
    fn on_timer(&mut self, now: Time, out: &mut impl AgentOut);
}

/// Where an [`Agent`] puts its answers. It has one timer; setting it again replaces it.
pub trait AgentOut {
    /// A packet goes to the link.
    fn down(&mut self, packet: Packet);

    /// A packet goes to the network layer.
    fn up(&mut self, packet: Packet);

    /// Sets (or moves) the timer.
    fn set_timer(&mut self, at: Time);

    /// Cancels the timer, if it is set.
    fn cancel_timer(&mut self);
}

/// How a transmission of a node of the FRN ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmissionOutcome {
    /// A relay echo or FRN ACK was heard.
    Passed,
    /// None was heard in time.
    Failed,
}

/// One entry of a node's transmitting history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// Which packet was sent.
    pub packet: PacketId,
    /// To which neighbour.
    pub to: NodeId,
    /// When.
    pub at: SlotNo,
    /// How it ended.
    pub outcome: TransmissionOutcome,
}

/// How long a node of the FRN waits before it sends a packet again: the slots are drawn from a window whose lower end is
/// the network's, and whose upper end this says.
pub trait Interval {
    /// It is known how a transmission of this node ended.
    fn on_outcome(&mut self, transmission: Transmission);

    /// The upper end of the window for what is sent now, in slots.
    fn upper(&mut self, now: SlotNo) -> u32;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_stays_between_one_segment_and_its_limit_and_the_threshold_above_two() {
        let mut window = Window::new(50.0, None, 20.0);
        assert_eq!((window.cwnd, window.ssthresh), (20.0, 20.0));
        (window.cwnd, window.ssthresh) = (0.3, 1.0);
        window.clamp();
        assert_eq!((window.cwnd, window.ssthresh), (1.0, 2.0));
        assert!(window.in_slow_start());
    }
}
