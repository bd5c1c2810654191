//! RACK: a segment is lost if one sent after it has arrived, and its own time to arrive is over (RFC 8985, 6).
//!
//! **How.** The scoreboard knows the segment sent last of those that have arrived, and the round trip of the one that arrived
//! last ([`Latest`]). A segment sent before the former is lost once its age exceeds the round trip of the latter plus
//! the reordering window. Until then a timer waits for the first that may become lost. Segments sent once lie in the
//! scoreboard in the order of their departures, and copies in a queue of their own, so that each is looked at once.
//!
//! **Choices.** 1. The timer waits for the first segment that may become lost, and not for the last of all (6.2, step 5):
//! each is lost at its own time. 2. The least round trip is that of the connection; RFC 8985 (6.2, step 1) suggests that of a
//! recent period. 3. The least round trip alone decides whether the acknowledgement of a copy is taken for that of the
//! first transmission (6.2, step 2, condition 2). An echoed timestamp is stale while a segment is missing. 4. Of
//! segments that left at the same instant, which simulated bursts do, the one with the higher bytes left later (6.1),
//! but never later than a copy. 5. A timeout declares lost what RFC 8985 (6.3) names. 6. Of the segments that one
//! acknowledgement reports, the ranges of its SACK blocks arrived first, in the order of their bytes, and then those
//! below it, as in Linux. All are compared with the highest byte reported before it (6.2, step 3). 7. An
//! acknowledgement that reports nothing new declares nothing lost, as in Linux.
//!
//! **Checked by** `tests/scripts/modern/rack-*`, and the tests below: over random orders of arrival it declares lost, at each
//! instant, what the steps of RFC 8985 declare, written down as they are.

use std::collections::VecDeque;

use crate::hooks::scoreboard::{DUP_THRESH, Latest, Scoreboard, Sent};
use crate::units::{Span, Time};

/// Recoveries after which the window falls back to a quarter of a round trip (7.2 of the RFC's `reo_wnd_persist`).
const PERSIST: u32 = 16;

/// What RACK keeps beside the scoreboard.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// Quarters of the least round trip in the reordering window (`reo_wnd_mult`).
    quarters: u32,
    persist: u32,
    /// Whether a recovery began, by a loss or a timeout, whose end was not seen yet.
    recovers: bool,
    /// First byte not sent when a duplicate was last reported (`dsack_round`), and the acknowledgement that reported it.
    round: Option<u64>,
    reported: u64,
    /// First transmissions below it were looked at.
    cursor: u64,
    /// The copies with their departures, in their order.
    copies: VecDeque<(Time, u64)>,
    /// Copies declared lost, to be sent again.
    overtaken: VecDeque<u64>,
    /// When a segment may become lost that is not yet.
    pub(super) wake: Option<Time>,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            quarters: 1,
            persist: 0,
            recovers: false,
            round: None,
            reported: 0,
            cursor: 0,
            copies: VecDeque::new(),
            overtaken: VecDeque::new(),
            wake: None,
        }
    }
}

impl Rack {
    /// How long a segment may arrive after one that was sent later (6.2, step 4).
    fn window(&self, board: &Scoreboard, recovers: bool) -> Span {
        if !board.is_reordered() && (recovers || board.sacked() >= DUP_THRESH) {
            return Span::ZERO;
        }
        let quarter = board.least_rtt().unwrap_or_default().0 / 4;
        Span(quarter * u64::from(self.quarters)).min(board.srtt())
    }

    /// Declares lost the segments whose time to arrive is over; `recovers` states whether a recovery is under way.
    pub(super) fn detect(&mut self, board: &mut Scoreboard, recovers: bool) {
        self.wake = None;
        if self.recovers && !recovers {
            self.on_end(board);
        }
        let Some(latest) = board.latest() else { return };
        let window = self.window(board, recovers);
        self.detect_first(board, latest, window);
        self.detect_copies(board, latest, window);
    }

    fn detect_first(&mut self, board: &mut Scoreboard, latest: Latest, window: Span) {
        self.cursor = self.cursor.max(board.base());
        while let Some(number) = board.first_unsacked(self.cursor, board.end()) {
            self.cursor = number;
            let sent = *board.get(number);
            if sent.times == 1 && !board.is_lost(number) {
                if !latest.is_after(&sent) {
                    break;
                }
                let due = due(&sent, latest, window);
                if due > board.now() {
                    self.wake_at(due);
                    break;
                }
                board.lose(number);
            }
            self.cursor = number + 1;
        }
        board.set_lost_below(self.cursor);
    }

    fn detect_copies(&mut self, board: &mut Scoreboard, latest: Latest, window: Span) {
        while let Some(&(left, number)) = self.copies.front() {
            let waits = number >= board.base() && !board.is_sacked(number) && !board.is_lost(number);
            if waits && board.get(number).at == left {
                let sent = *board.get(number);
                if latest.at <= left {
                    return;
                }
                let due = due(&sent, latest, window);
                if due > board.now() {
                    self.wake_at(due);
                    return;
                }
                board.lose(number);
                self.overtaken.push_back(number);
            }
            self.copies.pop_front();
        }
    }

    fn wake_at(&mut self, due: Time) {
        self.wake = Some(self.wake.map_or(due, |wake| wake.min(due)));
    }

    /// A copy left. Those that went again since are forgotten, before they outnumber what is outstanding by far.
    pub(super) fn on_copy(&mut self, board: &Scoreboard, number: u64) {
        if self.copies.len() as u64 > 4 * (board.end() - board.base()) {
            self.copies.retain(|&(left, number)| number >= board.base() && board.get(number).at == left);
        }
        self.copies.push_back((board.get(number).at, number));
    }

    /// A copy declared lost that was not sent again since.
    pub(super) fn next_overtaken(&mut self, board: &Scoreboard) -> Option<u64> {
        while let Some(number) = self.overtaken.pop_front() {
            if number >= board.base() && board.is_lost(number) {
                return Some(number);
            }
        }
        None
    }

    /// The timer fired: the first segment is lost, and all that have had time to arrive (6.3).
    pub(super) fn on_timeout(&mut self, board: &mut Scoreboard) {
        self.overtaken.clear();
        self.wake = None;
        self.recovers = true;
        let rtt = board.latest().map_or(Span::ZERO, |latest| latest.rtt);
        let patience = rtt + self.window(board, true);
        board.lose_late(patience);
        self.cursor = board.base();
    }

    /// What was declared lost was not: it is in the network again.
    pub(super) fn undo(&mut self, board: &mut Scoreboard) {
        self.overtaken.clear();
        board.find_lost();
        self.cursor = board.base();
        self.wake = None;
        self.recovers = false;
    }

    /// The receiver has reported a segment twice, and acknowledges all below `ack` (6.2, step 4): once a round trip the window
    /// grows.
    pub(super) fn on_duplicate_report(&mut self, ack: u64, board: &Scoreboard) {
        if self.round.is_none_or(|round| ack >= round) {
            (self.round, self.reported) = (Some(board.sent_end()), ack);
            self.quarters += 1;
            self.persist = PERSIST;
        }
    }

    /// A recovery begins.
    pub(super) fn on_begin(&mut self) {
        self.recovers = true;
    }

    /// A recovery has ended, before what is lost is detected (6.2, step 4).
    fn on_end(&mut self, board: &Scoreboard) {
        self.recovers = false;
        if self.reported == board.una() {
            return;
        }
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }
}

/// When a segment becomes lost.
fn due(sent: &Sent, latest: Latest, window: Span) -> Time {
    sent.at.after(latest.rtt + window)
}

#[cfg(test)]
mod tests;
