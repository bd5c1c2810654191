//! Loss recovery: the trait [`Recovery`], which selects the next segment and decides when recovery ends.

use super::congestion::LossResponse;
use super::scoreboard::Scoreboard;
use super::window::Window;
use crate::units::Time;

/// What the sender transmits next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pick {
    /// A segment that was never sent.
    New,
    /// A segment that was sent before, by its number in the scoreboard.
    Again(u64),
}

/// Whether a new segment can be sent: data is available, and the peer's window has room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fresh {
    /// It can.
    Ready,
    /// There is no data or no room.
    Withheld,
}

/// The result of an acknowledgement for the recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No recovery is under way.
    Open,
    /// Recovery continues.
    Holding,
    /// A partial acknowledgement after which the retransmission timer restarts.
    Partial,
    /// A partial acknowledgement that leaves the retransmission timer running.
    PartialTimerRuns,
    /// Recovery has ended.
    Ended,
    /// A segment is lost: the caller asks the law and then calls [`Recovery::begin`].
    Lost,
}

/// The fate of the segments declared lost in a recovery that was not needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declared {
    /// They are lost, and may begin another.
    Stands,
    /// They are in the network.
    Withdrawn,
}

/// Selects the next segment, and decides when recovery ends.
pub trait Recovery {
    /// An acknowledgement advanced by `segments`; the scoreboard is already updated.
    fn on_advance(&mut self, segments: u32, board: &mut Scoreboard, window: &mut Window) -> Verdict;

    /// A duplicate acknowledgement arrived; its SACK blocks are already in the scoreboard.
    fn on_duplicate(&mut self, board: &mut Scoreboard, window: &mut Window) -> Verdict;

    /// Begins recovery after the law has answered. During recovery, resends the first unacknowledged segment again.
    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, window: &mut Window);

    /// The retransmission timer fired, and the law has answered.
    fn on_timeout(&mut self, response: LossResponse, board: &mut Scoreboard);

    /// Whether losses are detected by time, so that [`Recovery::on_time`], [`Recovery::wakes_at`] and the smoothed round trip
    /// of the scoreboard are in use.
    fn is_by_time(&self) -> bool {
        false
    }

    /// When a segment may become lost without another acknowledgement.
    fn wakes_at(&self) -> Option<Time> {
        None
    }

    /// That time has come. Whether a recovery should begin.
    fn on_time(&mut self, _: &mut Scoreboard) -> bool {
        false
    }

    /// The receiver reports that a segment arrived twice, with the acknowledgement of all below this byte.
    fn on_duplicate_report(&mut self, _ack: u64, _: &Scoreboard) {}

    /// The recovery under way was not needed.
    fn undo(&mut self, _: Declared, _: &mut Scoreboard) {}

    /// What may be sent now, if anything.
    fn next(&mut self, board: &Scoreboard, window: &Window, fresh: Fresh) -> Option<Pick>;

    /// Outside recovery, with nothing to be sent again: how many new segments the window allows. So often [`Self::next`]
    /// would answer with a new segment, and then with nothing. `None` where it has to be asked.
    fn allows_new(&self, _: &Scoreboard, _: &Window) -> Option<u32> {
        None
    }

    /// The picked segment has been sent; the scoreboard is already updated.
    fn on_sent(&mut self, pick: Pick, board: &Scoreboard);

    /// Segments added to `cwnd` during recovery (the "inflation" by duplicate acknowledgements).
    fn inflation(&self) -> f64 {
        0.0
    }

    /// Whether segments leave for what was selectively acknowledged, so that more than the window may be outstanding.
    fn holds_sacked(&self) -> bool {
        false
    }

    /// Whether the window is compared with an estimate of what is in the network, so that a recovery can be paced by it.
    fn goes_by_pipe(&self) -> bool {
        false
    }

    /// Whether duplicates stand for the selective acknowledgements that there are none of, and [`Scoreboard::assume`] is called
    /// where they do.
    fn assumes(&self) -> bool {
        false
    }

    /// Whether the window has been reduced for what is outstanding, so that a timeout now leaves ssthresh.
    fn has_reduced(&self, _: &Scoreboard) -> bool {
        false
    }

    /// Whether recovery is under way.
    fn is_active(&self) -> bool;
}
