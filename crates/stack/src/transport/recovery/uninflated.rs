//! Fast retransmit without fast recovery: duplicates cause a retransmission and do not inflate the window.
//!
//! **Limits.** From the third duplicate to the acknowledgement of the copy, the window releases nothing unless it
//! exceeds the outstanding data. If a hole has fewer than three duplicates, the timer repairs it.
//!
//! **Source.** The Westwood module for ns-2 of June 2002 (`Agent/TCP/Westwood`, version 1.3), which derives from Reno's
//! agent and replaces its reception. It counts duplicates, but neither adds them to the window nor records which
//! segments it has resent.
//!
//! **How.** The third duplicate of a hole resends the first unacknowledged segment; the law answers each such loss.
//! The window is the one that the law left. There is no recovery to end: an advance lets the window grow as usual.
//!
//! **Choices.** 1. Each hole has its fast retransmit, and duplicates after a timeout count like any others, as in the
//! module, which does not compare them with what was outstanding. 2. Limited transmit is not included, as in the
//! module.
//!
//! **Checked by** the tests below.

use super::Duplicates;
use crate::hooks::scoreboard::Scoreboard;
use crate::hooks::{Fresh, LossResponse, Pick, Recovery, Verdict, Window};

/// Fast retransmit alone.
#[derive(Clone, Debug, Default)]
pub struct Uninflated {
    duplicates: Duplicates,
}

impl Recovery for Uninflated {
    #[inline]
    fn on_advance(&mut self, _: u32, _: &mut Scoreboard, _: &mut Window) -> Verdict {
        self.duplicates.clear();
        Verdict::Open
    }

    fn on_duplicate(&mut self, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        if self.duplicates.tell(board) { Verdict::Lost } else { Verdict::Open }
    }

    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, _: &mut Window) {
        self.duplicates.head_copies = response.copies;
        board.suspect(board.base());
    }

    fn on_timeout(&mut self, response: LossResponse, board: &mut Scoreboard) {
        self.duplicates.clear();
        self.duplicates.go_back(response, board);
        self.duplicates.recover = None;
    }

    #[inline]
    fn next(&mut self, board: &Scoreboard, window: &Window, _: Fresh) -> Option<Pick> {
        self.duplicates.next(board, window, None)
    }

    #[inline]
    fn allows_new(&self, board: &Scoreboard, window: &Window) -> Option<u32> {
        self.duplicates.allows_new(board, window)
    }

    #[inline]
    fn on_sent(&mut self, pick: Pick, board: &Scoreboard) {
        self.duplicates.on_sent(pick, board);
    }

    #[inline]
    fn is_active(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LEN, REDUCED, board, duplicates, send, window};
    use super::*;

    /// After the third duplicate for ten segments outstanding, which left a window of eight, and the copy sent.
    fn resent() -> (Uninflated, Scoreboard, Window) {
        let (mut recovery, mut board, mut window) = (Uninflated::default(), board(10), window(10.0));
        assert_eq!(duplicates(&mut recovery, &mut board, &mut window, 3), Verdict::Lost);
        window.cwnd = 8.0;
        recovery.begin(REDUCED, &mut board, &mut window);
        assert_eq!(send(&mut recovery, &mut board, &window, Fresh::Ready), [Pick::Again(0)]);
        (recovery, board, window)
    }

    #[test]
    fn duplicates_do_not_inflate_the_window() {
        let (mut recovery, mut board, mut window) = resent();
        // Reno would have 8 + 3 + 6 = 17 segments by now, seven more than are outstanding.
        assert_eq!(duplicates(&mut recovery, &mut board, &mut window, 6), Verdict::Open);
        assert_eq!(recovery.inflation(), 0.0);
        assert!(!recovery.is_active());
        assert_eq!(send(&mut recovery, &mut board, &window, Fresh::Ready), []);
    }

    #[test]
    fn the_advance_behind_a_hole_releases_the_window_at_once_and_lets_it_grow() {
        let (mut recovery, mut board, mut window) = resent();
        board.advance(10 * LEN);
        assert_eq!(recovery.on_advance(10, &mut board, &mut window), Verdict::Open);
        assert_eq!(send(&mut recovery, &mut board, &window, Fresh::Ready), [Pick::New; 8]);
    }

    #[test]
    fn each_hole_of_a_window_is_resent() {
        let (mut recovery, mut board, mut window) = resent();
        board.advance(4 * LEN);
        recovery.on_advance(4, &mut board, &mut window);
        assert_eq!(duplicates(&mut recovery, &mut board, &mut window, 3), Verdict::Lost);
        recovery.begin(REDUCED, &mut board, &mut window);
        assert_eq!(send(&mut recovery, &mut board, &window, Fresh::Withheld), [Pick::Again(4)]);
    }

    #[test]
    fn the_first_two_duplicates_release_nothing() {
        let (mut recovery, mut board, mut window) = (Uninflated::default(), board(10), window(10.0));
        duplicates(&mut recovery, &mut board, &mut window, 2);
        assert_eq!(send(&mut recovery, &mut board, &window, Fresh::Ready), []);
    }

    #[test]
    fn duplicates_for_what_was_sent_before_a_timeout_count() {
        let (mut recovery, mut board, mut window) = resent();
        window.cwnd = 1.0;
        recovery.on_timeout(REDUCED, &mut board);
        send(&mut recovery, &mut board, &window, Fresh::Ready);
        board.advance(LEN);
        recovery.on_advance(1, &mut board, &mut window);
        assert_eq!(duplicates(&mut recovery, &mut board, &mut window, 3), Verdict::Lost);
    }
}
