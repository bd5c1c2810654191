//! Tahoe: after any loss a window of one segment, and retransmission from the missing segment on.
//!
//! **Limits.** Resends data that the receiver may already have; a cumulative acknowledgement then jumps ahead.
//!
//! **Source.** Jacobson 1988; RFC 2001 without fast recovery.
//!
//! **How.** The third duplicate sets `cwnd = 1` and returns to the first unacknowledged segment, from which slow start
//! resends.
//!
//! **Choices.** 1. Duplicates for data sent before the last loss was detected are ignored, as in ns-2 (`bugFix_`): they
//! come from the go-back itself. 2. A law that classifies the loss as random keeps its window; the go-back remains. 3.
//! If limited transmit may resend, as in ns-2, the count of duplicates continues across a go-back, as there.
//!
//! **Checked by** `tests/scripts/tahoe-*`.

use super::Duplicates;
use crate::hooks::scoreboard::Scoreboard;
use crate::hooks::{Fresh, LossResponse, Pick, Recovery, Reduction, Verdict, Window};
use crate::transport::tcp::Config;

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
    pub fn new<P>(config: &Config<P>) -> Tahoe {
        Tahoe { duplicates: Duplicates::new(config) }
    }

    fn go_back(&mut self, response: LossResponse, board: &mut Scoreboard) {
        if !self.duplicates.limited_transmit_resends {
            self.duplicates.clear();
        }
        self.duplicates.go_back(response, board);
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
        self.go_back(response, board);
    }

    fn on_timeout(&mut self, response: LossResponse, board: &mut Scoreboard) {
        self.go_back(response, board);
    }

    fn next(&mut self, board: &Scoreboard, window: &Window, _: Fresh) -> Option<Pick> {
        self.duplicates.next(board, window, None)
    }

    #[inline]
    fn allows_new(&self, board: &Scoreboard, window: &Window) -> Option<u32> {
        self.duplicates.allows_new(board, window)
    }

    fn on_sent(&mut self, pick: Pick, board: &Scoreboard) {
        self.duplicates.on_sent(pick, board);
    }

    fn is_active(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LEN, REDUCED, board, config, duplicates, send, window};
    use super::*;

    #[test]
    fn the_third_duplicate_goes_back_to_the_hole_with_a_window_of_one() {
        let (mut tahoe, mut board, mut window) = (Tahoe::new(&config()), board(8), window(8.0));
        assert_eq!(duplicates(&mut tahoe, &mut board, &mut window, 2), Verdict::Open);
        assert_eq!(duplicates(&mut tahoe, &mut board, &mut window, 1), Verdict::Lost);
        tahoe.begin(REDUCED, &mut board, &mut window);
        assert_eq!(window.cwnd, 1.0);
        assert_eq!(send(&mut tahoe, &mut board, &window, Fresh::Ready), [Pick::Again(0)]);
        board.advance(3 * LEN);
        assert_eq!(tahoe.on_advance(3, &mut board, &mut window), Verdict::Open);
        window.cwnd = 2.0;
        assert_eq!(send(&mut tahoe, &mut board, &window, Fresh::Ready), [Pick::Again(3), Pick::Again(4)]);
    }

    #[test]
    fn limited_transmit_after_a_go_back_sends_an_old_segment_or_nothing() {
        for (limited_transmit_resends, sent) in [(true, vec![Pick::Again(4)]), (false, vec![])] {
            let config = Config { limited_transmit_resends, ..config() };
            let (mut tahoe, mut board, mut window) = (Tahoe::new(&config), board(8), window(8.0));
            duplicates(&mut tahoe, &mut board, &mut window, 3);
            tahoe.begin(REDUCED, &mut board, &mut window);
            assert_eq!(send(&mut tahoe, &mut board, &window, Fresh::Ready), [Pick::Again(0)]);
            // Duplicates of what left before are beyond the second, unless the count began anew.
            duplicates(&mut tahoe, &mut board, &mut window, 1);
            assert_eq!(send(&mut tahoe, &mut board, &window, Fresh::Ready), []);
            board.advance(3 * LEN);
            tahoe.on_advance(3, &mut board, &mut window);
            assert_eq!(send(&mut tahoe, &mut board, &window, Fresh::Ready), [Pick::Again(3)]);
            duplicates(&mut tahoe, &mut board, &mut window, 1);
            assert_eq!(send(&mut tahoe, &mut board, &window, Fresh::Ready), sent);
        }
    }

    #[test]
    fn duplicates_of_what_the_go_back_sent_twice_tell_nothing() {
        let (mut tahoe, mut board, mut window) = (Tahoe::new(&config()), board(8), window(8.0));
        duplicates(&mut tahoe, &mut board, &mut window, 3);
        tahoe.begin(REDUCED, &mut board, &mut window);
        board.advance(8 * LEN);
        tahoe.on_advance(8, &mut board, &mut window);
        for _ in 0..4 {
            board.push(LEN as u32, false, crate::units::Time::ZERO);
        }
        assert_eq!(duplicates(&mut tahoe, &mut board, &mut window, 3), Verdict::Open);
        board.advance(9 * LEN);
        tahoe.on_advance(1, &mut board, &mut window);
        assert_eq!(duplicates(&mut tahoe, &mut board, &mut window, 3), Verdict::Lost);
    }
}
