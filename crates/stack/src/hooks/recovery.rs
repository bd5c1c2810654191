//! Loss recovery: which segment is next, and when recovery ends: the trait [`Recovery`].

use super::congestion::LossResponse;
use super::scoreboard::Scoreboard;
use super::window::Window;

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

/// The result of an acknowledgement for the recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing: no recovery is under way.
    Open,
    /// Recovery continues.
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
    /// An acknowledgement advanced by `segments`; the scoreboard is updated already.
    fn on_advance(&mut self, segments: u32, board: &mut Scoreboard, window: &mut Window) -> Verdict;

    /// A duplicate acknowledgement arrived, its SACK blocks already in the scoreboard.
    fn on_duplicate(&mut self, board: &mut Scoreboard, window: &mut Window) -> Verdict;

    /// Recovery begins; the law has answered. During recovery, this resends the first unacknowledged segment again.
    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, window: &mut Window);

    /// The retransmission timer fired; the law has answered.
    fn on_timeout(&mut self, response: LossResponse, board: &mut Scoreboard);

    /// What may be sent now, if anything.
    fn next(&mut self, board: &Scoreboard, window: &Window, fresh: Fresh) -> Option<Pick>;

    /// The picked segment has been sent; the scoreboard is updated already.
    fn on_sent(&mut self, pick: Pick, board: &Scoreboard);

    /// Segments added to `cwnd` while recovery lasts (the duplicate acknowledgements' "inflation").
    fn inflation(&self) -> f64 {
        0.0
    }

    /// Whether recovery is under way.
    fn is_active(&self) -> bool;
}
