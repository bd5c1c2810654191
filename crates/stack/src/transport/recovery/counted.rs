//! `NewReno` as in Linux: duplicates count as deliveries, and what may be sent follows from what is in the network.
//!
//! **Limits.** One hole per round trip.
//!
//! **Source.** Linux without SACK: `tcp_fastretrans_alert`, `tcp_newreno_mark_lost`, `tcp_process_loss`,
//! `tcp_is_non_sack_preventing_reopen`.
//!
//! **How.** Each duplicate takes a segment out of the network ([`Scoreboard::assume`]), which a new one may replace. The third
//! declares the first segment lost, and so does each partial acknowledgement. `cwnd - pipe` segments may leave: lost ones, then new
//! ones. The window is never inflated; proportional rate reduction (`prr`) sets it within a recovery. A timeout declares all lost.
//!
//! **Choices.** 1. An acknowledgement of exactly what was outstanding at the loss does not end the recovery: duplicates of what was
//! sent twice may follow. Something above it has to be acknowledged (RFC 6582, 3.2, step 1). 2. More duplicates than segments
//! outstanding mean that the network reorders: as many as are outstanding indicate the next loss. 3. Each partial
//! acknowledgement restarts the timer. 4. A timeout within a recovery leaves ssthresh. 5. A copy that is lost is left to the timer.
//! After a timeout duplicates declare nothing lost, and count only for what was sent since.
//!
//! **Checked by** the tests below, and beside Linux (`docs/linux.md`).

use crate::hooks::scoreboard::{DUP_THRESH, SackAfterTimeout, Scoreboard};
use crate::hooks::{Declared, Fresh, LossResponse, Pick, Recovery, Verdict, Window};
use crate::transport::tcp::Config;

/// Most duplicates that indicate a loss (`tcp_max_reordering`).
const MOST_REORDERED: u32 = 300;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Recovery,
    /// After a timeout.
    Loss,
}

/// Linux's recovery without SACK.
#[derive(Clone, Debug)]
pub struct Counted {
    phase: Phase,
    /// Duplicates that indicate a loss.
    threshold: u32,
    /// First byte not sent when the loss was detected.
    point: u64,
    /// Number after the highest segment sent again.
    resent_below: u64,
    head_copies: u8,
    limited_transmit: bool,
}

impl Counted {
    /// At the start of a connection.
    #[must_use]
    pub fn new<P>(config: &Config<P>) -> Counted {
        Counted {
            phase: Phase::Open,
            threshold: DUP_THRESH,
            point: 0,
            resent_below: 0,
            head_copies: 0,
            limited_transmit: config.limited_transmit,
        }
    }

    fn count(&mut self, board: &mut Scoreboard) {
        if !board.assume() {
            self.threshold = self.threshold.max(board.outstanding().min(MOST_REORDERED));
        }
    }

    /// Whether the first segment is lost for all that duplicates tell.
    fn finds_loss(&self, board: &Scoreboard) -> bool {
        self.phase == Phase::Open && !board.is_empty() && board.assumed() >= self.threshold
    }
}

impl Recovery for Counted {
    fn on_advance(&mut self, _: u32, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        self.head_copies = 0;
        if self.phase == Phase::Open {
            board.forget_assumed();
            return Verdict::Open;
        }
        if board.una() > self.point {
            let ended = self.phase == Phase::Recovery;
            self.phase = Phase::Open;
            board.forget_assumed();
            return if ended { Verdict::Ended } else { Verdict::Open };
        }
        if self.phase == Phase::Loss {
            board.forget_assumed();
            return Verdict::Open;
        }
        if board.una() == self.point {
            board.forget_assumed();
            return Verdict::Holding;
        }
        if board.get(board.base()).times == 1 {
            board.lose(board.base());
        }
        Verdict::Partial
    }

    fn on_duplicate(&mut self, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        match self.phase {
            Phase::Open => {
                self.count(board);
                if self.finds_loss(board) { Verdict::Lost } else { Verdict::Open }
            }
            Phase::Recovery => {
                // Linux counts no duplicates of the acknowledgement of all that was outstanding at the loss.
                if board.una() < self.point {
                    self.count(board);
                }
                Verdict::Holding
            }
            Phase::Loss => {
                if board.sent_end() > self.point {
                    self.count(board);
                }
                Verdict::Open
            }
        }
    }

    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, _: &mut Window) {
        self.head_copies = response.copies;
        board.lose(board.base());
        if self.phase != Phase::Recovery {
            self.phase = Phase::Recovery;
            self.point = board.sent_end();
            self.resent_below = board.base();
        }
    }

    fn on_timeout(&mut self, response: LossResponse, board: &mut Scoreboard) {
        self.phase = Phase::Loss;
        self.point = board.sent_end();
        self.head_copies = response.copies;
        self.resent_below = board.base();
        board.forget_assumed();
        board.forget_credit();
        board.lose_all(SackAfterTimeout::Kept);
    }

    fn is_by_time(&self) -> bool {
        true
    }

    fn undo(&mut self, _: Declared, board: &mut Scoreboard) {
        // After a timeout duplicates of what was sent twice may still come.
        if self.phase == Phase::Recovery {
            self.phase = Phase::Open;
        }
        self.head_copies = 0;
        board.find_lost();
    }

    fn next(&mut self, board: &Scoreboard, window: &Window, _: Fresh) -> Option<Pick> {
        if self.head_copies > 0 && !board.is_empty() {
            return Some(Pick::Again(board.base()));
        }
        let replaces = self.limited_transmit || self.phase != Phase::Open;
        let outstanding = if replaces { board.pipe() } else { board.flight() };
        if outstanding >= window.cwnd as u32 {
            return None;
        }
        if board.lost() == 0 {
            return Some(Pick::New);
        }
        let lost = board.first_lost(self.resent_below).or_else(|| board.first_lost(board.base()));
        lost.map_or(Some(Pick::New), |number| Some(Pick::Again(number)))
    }

    fn on_sent(&mut self, pick: Pick, board: &Scoreboard) {
        if let Pick::Again(number) = pick {
            self.resent_below = self.resent_below.max(number + 1);
            self.head_copies = self.head_copies.saturating_sub(u8::from(number == board.base()));
        }
    }

    fn goes_by_pipe(&self) -> bool {
        true
    }

    fn holds_sacked(&self) -> bool {
        true
    }

    fn assumes(&self) -> bool {
        true
    }

    fn has_reduced(&self, board: &Scoreboard) -> bool {
        self.phase == Phase::Recovery && board.una() < self.point
    }

    fn is_active(&self) -> bool {
        self.phase == Phase::Recovery
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LEN, REDUCED, board, config, duplicates, send, window};
    use super::*;

    /// Twelve segments outstanding and three duplicates; the law leaves a window of six, and the first goes again.
    fn in_recovery() -> (Counted, Scoreboard, Window) {
        let (mut counted, mut board, mut window) = (Counted::new(&config()), board(12), window(12.0));
        assert_eq!(duplicates(&mut counted, &mut board, &mut window, 3), Verdict::Lost);
        window.cwnd = 6.0;
        counted.begin(REDUCED, &mut board, &mut window);
        assert_eq!(send(&mut counted, &mut board, &window, Fresh::Ready), [Pick::Again(0)]);
        (counted, board, window)
    }

    #[test]
    fn the_first_duplicates_send_new_data_each() {
        let (mut counted, mut board, mut window) = (Counted::new(&config()), board(4), window(4.0));
        for _ in 0..2 {
            duplicates(&mut counted, &mut board, &mut window, 1);
            assert_eq!(send(&mut counted, &mut board, &window, Fresh::Ready), [Pick::New]);
        }
    }

    #[test]
    fn duplicates_take_segments_out_of_the_network_and_never_inflate() {
        let (mut counted, mut board, mut window) = in_recovery();
        // Twelve less three: six more duplicates until less than the window is in the network.
        assert_eq!(board.pipe(), 9);
        duplicates(&mut counted, &mut board, &mut window, 3);
        assert_eq!(send(&mut counted, &mut board, &window, Fresh::Ready), []);
        duplicates(&mut counted, &mut board, &mut window, 1);
        assert_eq!(send(&mut counted, &mut board, &window, Fresh::Ready), [Pick::New]);
        assert_eq!(counted.inflation(), 0.0);
    }

    #[test]
    fn each_partial_acknowledgement_sends_the_next_hole_and_restarts_the_timer() {
        let (mut counted, mut board, mut window) = in_recovery();
        for una in [4, 7] {
            let segments = (una - board.base()) as u32;
            board.advance(una * LEN);
            assert_eq!(counted.on_advance(segments, &mut board, &mut window), Verdict::Partial);
            window.cwnd = f64::from(board.pipe() + 1);
            assert_eq!(send(&mut counted, &mut board, &window, Fresh::Withheld), [Pick::Again(una)]);
        }
    }

    #[test]
    fn a_recovery_ends_where_something_above_it_is_acknowledged() {
        let (mut counted, mut board, mut window) = in_recovery();
        for _ in 0..4 {
            board.push(LEN as u32, false, crate::units::Time::ZERO);
        }
        board.advance(12 * LEN);
        assert_eq!(counted.on_advance(12, &mut board, &mut window), Verdict::Holding);
        assert_eq!(duplicates(&mut counted, &mut board, &mut window, 3), Verdict::Holding);
        assert_eq!(board.assumed(), 0, "duplicates release nothing until then");
        board.advance(13 * LEN);
        assert_eq!(counted.on_advance(1, &mut board, &mut window), Verdict::Ended);
    }

    #[test]
    fn a_timeout_sends_all_again_and_heeds_no_duplicate_until_all_of_it_is_acknowledged() {
        let (mut counted, mut board, mut window) = in_recovery();
        assert!(counted.has_reduced(&board));
        window.cwnd = 1.0;
        counted.on_timeout(REDUCED, &mut board);
        assert!(!counted.has_reduced(&board));
        assert_eq!(send(&mut counted, &mut board, &window, Fresh::Ready), [Pick::Again(0)]);
        board.advance(2 * LEN);
        counted.on_advance(2, &mut board, &mut window);
        window.cwnd = 3.0;
        let again = [Pick::Again(2), Pick::Again(3), Pick::Again(4)];
        assert_eq!(send(&mut counted, &mut board, &window, Fresh::Ready), again);
        assert_eq!(duplicates(&mut counted, &mut board, &mut window, 5), Verdict::Open);
        assert_eq!(board.assumed(), 0);
    }

    #[test]
    fn what_duplicates_delivered_is_delivered_again_after_a_timeout() {
        let (mut counted, mut board, _) = in_recovery();
        board.take_news();
        counted.on_timeout(REDUCED, &mut board);
        board.advance(5 * LEN);
        assert_eq!(board.take_news().segments, 5);
    }

    #[test]
    fn more_duplicates_than_segments_outstanding_raise_what_indicates_a_loss() {
        let (mut counted, mut board, mut window) = (Counted::new(&config()), board(3), window(3.0));
        duplicates(&mut counted, &mut board, &mut window, 3);
        for _ in 0..9 {
            board.push(LEN as u32, false, crate::units::Time::ZERO);
        }
        counted.threshold = counted.threshold.max(5);
        assert_eq!(duplicates(&mut counted, &mut board, &mut window, 2), Verdict::Open);
        assert_eq!(duplicates(&mut counted, &mut board, &mut window, 1), Verdict::Lost);
    }
}
