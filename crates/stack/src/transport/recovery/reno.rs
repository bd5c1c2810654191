//! Reno: fast retransmit and fast recovery, which ends at the first acknowledgement that advances.
//!
//! **Limits.** Each of several losses in a window needs its own series of duplicate ACKs, or a timeout.
//!
//! **Source.** RFC 5681, 3.2.
//!
//! **How.** The third duplicate resends the first unacknowledged segment. The window is `ssthresh + 3`, plus one for
//! each further duplicate; the next advance ends recovery with the window that the law left.
//!
//! **Choices.** 1. RFC 5681 gives each hole of a window its fast retransmit; ns-2 (`bugFix_`) allows one per window.
//! [`FastRetransmit`] names both; the profile chooses. 2. After a timeout, duplicates for data sent before it are
//! ignored, with both.
//!
//! **Checked by** `tests/scripts/reno-*`.

use super::Duplicates;
use crate::hooks::scoreboard::Scoreboard;
use crate::hooks::{Fresh, LossResponse, Pick, Recovery, Verdict, Window};
use crate::transport::tcp::{Config, FastRetransmit};

/// Reno's recovery.
#[derive(Clone, Debug)]
pub struct Reno {
    duplicates: Duplicates,
    inflation: f64,
    active: bool,
    once_a_window: bool,
}

impl Reno {
    /// At the start of a connection.
    #[must_use]
    pub fn new<P>(config: &Config<P>) -> Reno {
        Reno {
            duplicates: Duplicates::new(config),
            inflation: 0.0,
            active: false,
            once_a_window: config.reno_fast_retransmit == FastRetransmit::OnceAWindow,
        }
    }

    fn leave(&mut self) {
        self.active = false;
        self.inflation = 0.0;
    }
}

impl Recovery for Reno {
    #[inline]
    fn on_advance(&mut self, _: u32, _: &mut Scoreboard, _: &mut Window) -> Verdict {
        self.duplicates.clear();
        if self.active {
            self.leave();
            return Verdict::Ended;
        }
        Verdict::Open
    }

    fn on_duplicate(&mut self, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        if self.active {
            self.inflation += 1.0;
            return Verdict::Holding;
        }
        if self.duplicates.tell(board) { Verdict::Lost } else { Verdict::Open }
    }

    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, _: &mut Window) {
        self.duplicates.head_copies = response.copies;
        board.suspect(board.base());
        if self.active {
            return;
        }
        self.active = true;
        self.inflation = f64::from(self.duplicates.count);
        if self.once_a_window {
            self.duplicates.recover = Some(board.sent_end());
        }
    }

    fn on_timeout(&mut self, response: LossResponse, board: &mut Scoreboard) {
        self.leave();
        self.duplicates.clear();
        self.duplicates.go_back(response, board);
    }

    #[inline]
    fn next(&mut self, board: &Scoreboard, window: &Window, _: Fresh) -> Option<Pick> {
        self.duplicates.next(board, window, self.active.then_some(self.inflation))
    }

    #[inline]
    fn allows_new(&self, board: &Scoreboard, window: &Window) -> Option<u32> {
        if self.is_active() { None } else { self.duplicates.allows_new(board, window) }
    }

    #[inline]
    fn on_sent(&mut self, pick: Pick, board: &Scoreboard) {
        self.duplicates.on_sent(pick, board);
    }

    #[inline]
    fn inflation(&self) -> f64 {
        self.inflation
    }

    #[inline]
    fn is_active(&self) -> bool {
        self.active
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LEN, REDUCED, board, config, duplicates, send, window};
    use super::*;

    #[test]
    fn a_recovery_that_the_law_begins_early_inflates_by_the_duplicates_there_were() {
        for told in 0..3 {
            let (mut reno, mut board, mut window) = (Reno::new(&config()), board(10), window(10.0));
            duplicates(&mut reno, &mut board, &mut window, told);
            reno.begin(REDUCED, &mut board, &mut window);
            assert_eq!(reno.inflation(), f64::from(told));
            assert_eq!(reno.on_duplicate(&mut board, &mut window), Verdict::Holding);
            assert_eq!(reno.inflation(), f64::from(told + 1));
        }
    }

    #[test]
    fn a_head_lost_again_is_resent_within_the_recovery() {
        let (mut reno, mut board, mut window) = (Reno::new(&config()), board(10), window(5.0));
        duplicates(&mut reno, &mut board, &mut window, 3);
        for _ in 0..2 {
            reno.begin(REDUCED, &mut board, &mut window);
            assert_eq!(send(&mut reno, &mut board, &window, Fresh::Ready), [Pick::Again(0)]);
            duplicates(&mut reno, &mut board, &mut window, 1);
        }
        assert_eq!(reno.inflation(), 5.0);
    }

    #[test]
    fn duplicates_inflate_the_window_and_any_advance_ends_it() {
        let (mut reno, mut board, mut window) = (Reno::new(&config()), board(10), window(10.0));
        assert_eq!(duplicates(&mut reno, &mut board, &mut window, 3), Verdict::Lost);
        window.cwnd = 5.0;
        reno.begin(REDUCED, &mut board, &mut window);
        assert_eq!(send(&mut reno, &mut board, &window, Fresh::Ready), [Pick::Again(0)]);
        // RFC 5681 (3.2, steps 3 to 5): 5 + 3, and with the sixth duplicate 11, one more than is outstanding.
        assert_eq!(duplicates(&mut reno, &mut board, &mut window, 2), Verdict::Holding);
        assert_eq!(send(&mut reno, &mut board, &window, Fresh::Ready), []);
        duplicates(&mut reno, &mut board, &mut window, 1);
        assert_eq!(send(&mut reno, &mut board, &window, Fresh::Ready), [Pick::New]);
        board.advance(4 * LEN);
        assert_eq!(reno.on_advance(4, &mut board, &mut window), Verdict::Ended);
        assert_eq!((reno.inflation(), window.cwnd), (0.0, 5.0));
    }

    #[test]
    fn a_second_hole_is_resent_by_rfc_5681_and_left_to_the_timer_by_ns_2() {
        for (reno_fast_retransmit, second) in
            [(FastRetransmit::EveryHole, Verdict::Lost), (FastRetransmit::OnceAWindow, Verdict::Open)]
        {
            let config = Config { reno_fast_retransmit, ..config() };
            let (mut reno, mut board, mut window) = (Reno::new(&config), board(10), window(10.0));
            duplicates(&mut reno, &mut board, &mut window, 3);
            reno.begin(REDUCED, &mut board, &mut window);
            board.advance(4 * LEN);
            reno.on_advance(4, &mut board, &mut window);
            assert_eq!(duplicates(&mut reno, &mut board, &mut window, 3), second);
        }
    }

    #[test]
    fn two_copies_are_sent_when_the_law_asks_for_them() {
        let (mut reno, mut board, mut window) = (Reno::new(&config()), board(10), window(5.0));
        duplicates(&mut reno, &mut board, &mut window, 3);
        reno.begin(LossResponse { copies: 2, ..REDUCED }, &mut board, &mut window);
        assert_eq!(send(&mut reno, &mut board, &window, Fresh::Ready), [Pick::Again(0), Pick::Again(0)]);
    }

    #[test]
    fn limited_transmit_sends_one_new_segment_for_each_of_the_first_two_duplicates() {
        for (limited_transmit, sent) in [(true, vec![Pick::New]), (false, vec![])] {
            let config = Config { limited_transmit, ..config() };
            let (mut reno, mut board, mut window) = (Reno::new(&config), board(4), window(4.0));
            duplicates(&mut reno, &mut board, &mut window, 1);
            assert_eq!(send(&mut reno, &mut board, &window, Fresh::Ready), sent);
        }
    }
}
