//! Recovery by selective acknowledgements that counts packets in flight, as ns-2's `Sack1` does.
//!
//! **Limits.** A second loss in a window stays in `pipe` until recovery ends, so less is sent than RFC 6675 allows.
//!
//! **Source.** Fall and Floyd, "Simulation-based comparisons of Tahoe, Reno, and SACK TCP", 1996; ns-2 2.35.
//!
//! **How.** `pipe` begins as the outstanding segments less the three duplicates. Each segment sent adds one, each
//! duplicate subtracts one and each partial acknowledgement two. While `pipe < cwnd`, holes below the highest byte
//! selectively acknowledged are sent again, each once, and then new data.
//!
//! **Choices.** 1. Outside recovery it behaves as Reno: selective acknowledgements are forgotten at each advance and
//! each timeout, and a go-back sends all again. 2. From a timeout to the next advance duplicates are ignored. 3. After
//! a recovery no duplicate is too old to indicate a loss; after a timeout those for data sent before it are. All three
//! are ns-2's.
//!
//! **Checked by** the tests below and ns-2 (`tests/python/test_ns2.py`).

use super::Duplicates;
use crate::hooks::scoreboard::{DUP_THRESH, Scoreboard};
use crate::hooks::{Fresh, LossResponse, Pick, Recovery, Verdict, Window};
use crate::transport::tcp::{Config, SackAfterTimeout};

/// The recovery of ns-2's `Sack1`.
#[derive(Clone, Debug)]
pub struct Sack1 {
    duplicates: Duplicates,
    /// Segments thought to be in the network, while recovery lasts.
    pipe: i64,
    /// The byte whose acknowledgement ends recovery.
    point: Option<u64>,
    /// Number after the highest segment resent in this recovery.
    resent_below: u64,
    /// Number below which holes are declared lost.
    lost_below: u64,
    /// Whether the timer has fired since the last advance.
    timed_out: bool,
}

impl Sack1 {
    /// At the start of a connection.
    #[must_use]
    pub fn new<P>(config: &Config<P>) -> Sack1 {
        let duplicates = Duplicates::new(config);
        Sack1 { duplicates, pipe: 0, point: None, resent_below: 0, lost_below: 0, timed_out: false }
    }
}

impl Recovery for Sack1 {
    #[inline]
    fn on_advance(&mut self, _: u32, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        self.duplicates.head_copies = 0;
        let verdict = match self.point {
            Some(point) if board.una() < point => {
                self.pipe -= 2;
                self.lost_below = board.lose_holes(self.lost_below);
                return Verdict::Partial;
            }
            Some(_) => Verdict::Ended,
            None => Verdict::Open,
        };
        if self.point.take().is_some() {
            self.duplicates.recover = None;
        }
        self.duplicates.clear();
        self.timed_out = false;
        board.forget_sacks();
        verdict
    }

    fn on_duplicate(&mut self, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        if self.is_active() {
            self.pipe -= 1;
            self.lost_below = board.lose_holes(self.lost_below);
            return Verdict::Holding;
        }
        if !self.timed_out && self.duplicates.tell(board) { Verdict::Lost } else { Verdict::Open }
    }

    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, _: &mut Window) {
        self.duplicates.head_copies = response.copies;
        board.lose(board.base());
        if self.is_active() {
            return;
        }
        self.point = Some(board.sent_end());
        self.pipe = i64::from(board.outstanding()) - i64::from(DUP_THRESH);
        self.resent_below = board.base();
        self.lost_below = board.lose_holes(board.base() + 1);
    }

    fn on_timeout(&mut self, response: LossResponse, board: &mut Scoreboard) {
        if self.is_active() {
            board.settle_suspected(self.resent_below);
        }
        self.point = None;
        self.timed_out = true;
        self.duplicates.clear();
        board.lose_all(SackAfterTimeout::Cleared);
        self.duplicates.go_back(response, board);
    }

    #[inline]
    fn next(&mut self, board: &Scoreboard, window: &Window, _: Fresh) -> Option<Pick> {
        if self.duplicates.head_copies > 0 || !self.is_active() {
            return self.duplicates.next(board, window, None);
        }
        let highest = board.number_at(board.fack());
        let hole = board.first_unsacked(self.resent_below, highest);
        (self.pipe < window.cwnd as i64).then(|| hole.map_or(Pick::New, Pick::Again))
    }

    fn on_sent(&mut self, pick: Pick, board: &Scoreboard) {
        // The segment sent for the third duplicate was not subtracted.
        self.pipe += i64::from(self.duplicates.head_copies == 0);
        self.duplicates.on_sent(pick, board);
        if let Pick::Again(number) = pick {
            self.resent_below = self.resent_below.max(number + 1);
        }
    }

    fn holds_sacked(&self) -> bool {
        true
    }

    #[inline]
    fn is_active(&self) -> bool {
        self.point.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LEN, REDUCED, board, config, duplicates, send, window};
    use super::*;

    /// Twelve outstanding, 0 and 5 lost, three duplicates, and the window halved.
    fn in_recovery() -> (Sack1, Scoreboard, Window) {
        let (mut sack1, mut board, mut window) = (Sack1::new(&config()), board(12), window(12.0));
        board.sack(LEN, 4 * LEN);
        assert_eq!(duplicates(&mut sack1, &mut board, &mut window, 3), Verdict::Lost);
        window.cwnd = 6.0;
        sack1.begin(REDUCED, &mut board, &mut window);
        assert_eq!(send(&mut sack1, &mut board, &window, Fresh::Ready), [Pick::Again(0)]);
        (sack1, board, window)
    }

    #[test]
    fn pipe_counts_departures_and_acknowledgements_and_knows_no_second_loss() {
        let (mut sack1, mut board, mut window) = in_recovery();
        // Twelve less three, and one less for each duplicate: at the fourth there is room.
        assert_eq!(sack1.pipe, 9);
        board.sack(4 * LEN, 5 * LEN);
        board.sack(6 * LEN, 8 * LEN);
        duplicates(&mut sack1, &mut board, &mut window, 3);
        assert_eq!(send(&mut sack1, &mut board, &window, Fresh::Ready), []);
        duplicates(&mut sack1, &mut board, &mut window, 1);
        assert_eq!(send(&mut sack1, &mut board, &window, Fresh::Ready), [Pick::Again(5)]);
        // A hole goes once, and then new data.
        duplicates(&mut sack1, &mut board, &mut window, 1);
        assert_eq!(send(&mut sack1, &mut board, &window, Fresh::Ready), [Pick::New]);
    }

    #[test]
    fn a_partial_acknowledgement_takes_two_off_and_the_last_ends_it() {
        let (mut sack1, mut board, mut window) = in_recovery();
        board.sack(6 * LEN, 10 * LEN);
        board.advance(5 * LEN);
        assert_eq!(sack1.on_advance(5, &mut board, &mut window), Verdict::Partial);
        assert_eq!(sack1.pipe, 7);
        board.advance(12 * LEN);
        assert_eq!(sack1.on_advance(7, &mut board, &mut window), Verdict::Ended);
        assert!(!sack1.is_active());
    }

    #[test]
    fn an_advance_outside_recovery_forgets_what_was_selectively_acknowledged() {
        let (mut sack1, mut board, mut window) = (Sack1::new(&config()), board(12), window(12.0));
        board.sack(4 * LEN, 6 * LEN);
        board.advance(2 * LEN);
        assert_eq!(sack1.on_advance(2, &mut board, &mut window), Verdict::Open);
        assert_eq!((board.sacked(), board.fack()), (0, 2 * LEN));
        assert!(board.sack(4 * LEN, 6 * LEN), "told anew it is news");
    }

    #[test]
    fn after_a_timeout_all_is_sent_again_and_duplicates_are_not_heard() {
        let (mut sack1, mut board, mut window) = in_recovery();
        sack1.on_timeout(REDUCED, &mut board);
        window.cwnd = 3.0;
        let sent = send(&mut sack1, &mut board, &window, Fresh::Ready);
        assert_eq!(sent, [Pick::Again(0), Pick::Again(1), Pick::Again(2)]);
        assert_eq!(duplicates(&mut sack1, &mut board, &mut window, 3), Verdict::Open);
        assert_eq!(send(&mut sack1, &mut board, &window, Fresh::Ready), []);
    }
}
