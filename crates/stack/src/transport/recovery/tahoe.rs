//! Tahoe: after any loss a window of one, and everything again from the hole.
//!
//! **Limits.** Resends what the receiver may hold already; a cumulative acknowledgement then jumps ahead.
//!
//! **Source.** Jacobson 1988; RFC 2001 without fast recovery.
//!
//! **How.** The third duplicate sets `cwnd = 1`, goes back to the first unacknowledged segment, and slow start resends
//! from there.
//!
//! **Choices.** 1. Duplicates for data sent before the last loss was noticed are ignored, as in ns-2 (`bugFix_`): they
//! come from the go-back itself. 2. A law that takes the loss for random keeps its window; the go-back stays.
//!
//! **Checked by** `tests/scripts/tahoe-*`.

use super::Duplicates;
use crate::hooks::{Fresh, LossResponse, Pick, Recovery, Reduction, Verdict, Window};
use crate::transport::tcp::Config;
use crate::transport::tcp::scoreboard::Scoreboard;

/// Window after a loss, in segments.
const LOSS_WINDOW: f64 = 1.0;

/// Tahoe's recovery.
#[derive(Clone, Debug)]
pub struct Tahoe {
    duplicates: Duplicates,
}

impl Tahoe {
    /// At the start of a connection.
    #[must_use]
    pub fn new(config: &Config) -> Tahoe {
        Tahoe { duplicates: Duplicates::new(config) }
    }
}

impl Recovery for Tahoe {
    fn on_advance(&mut self, _: u32, _: &mut Scoreboard, _: &mut Window) -> Verdict {
        self.duplicates.clear();
        Verdict::Open
    }

    fn on_duplicate(&mut self, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        if self.duplicates.tell(board) { Verdict::Lost } else { Verdict::Open }
    }

    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, window: &mut Window) {
        if response.reduction == Reduction::Reduced {
            window.cwnd = LOSS_WINDOW;
        }
        self.duplicates.timed_out(board);
        self.duplicates.head_copies = response.copies.saturating_sub(1);
        board.go_back();
    }

    fn on_timeout(&mut self, board: &mut Scoreboard) {
        self.duplicates.timed_out(board);
        board.go_back();
    }

    fn next(&mut self, board: &Scoreboard, window: &Window, _: Fresh) -> Option<Pick> {
        self.duplicates.next(board, window.cwnd)
    }

    fn on_sent(&mut self, pick: Pick, board: &Scoreboard) {
        self.duplicates.on_sent(pick, board);
    }

    fn is_active(&self) -> bool {
        false
    }
}
