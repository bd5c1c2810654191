//! FACK: estimates the data in flight from the highest selectively acknowledged byte.
//!
//! **Limits.** Treats reordering by more than three segments as loss. Neither overdamping nor rampdown.
//!
//! **Source.** Mathis and Mahdavi, "Forward acknowledgement: refining TCP congestion control", SIGCOMM 1996.
//!
//! **How.** `awnd = snd.nxt - snd.fack + retran_data` is the data in the network. While `awnd < cwnd` the sender sends
//! holes below `snd.fack` first, then new data. A loss is detected by `snd.fack - snd.una > 3` segments or three
//! duplicates.
//!
//! **Choices.** 1. The window is reduced once per recovery, which ends when all data outstanding at its start is
//! acknowledged (the paper's section 4.5). 2. After a timeout all data not selectively acknowledged is lost, and the
//! data in the network is counted as in RFC 6675 until a new recovery. 3. A hole is resent once per recovery.
//!
//! **Checked by** `tests/scripts/fack-*`.

use super::copies_ahead;
use crate::hooks::scoreboard::{DUP_THRESH, Scoreboard};
use crate::hooks::{Fresh, LossResponse, Pick, Recovery, Verdict, Window};
use crate::transport::tcp::{Config, SackAfterTimeout};

/// FACK's recovery.
#[derive(Clone, Debug)]
pub struct Fack {
    duplicates: u32,
    recover: Option<u64>,
    active: bool,
    /// Number after the highest segment resent in this recovery.
    resent_below: u64,
    /// Number below which holes are declared lost.
    lost_below: u64,
    head_copies: u8,
    after_timeout: SackAfterTimeout,
}

impl Fack {
    /// At the start of a connection.
    #[must_use]
    pub fn new<P>(config: &Config<P>) -> Fack {
        let after_timeout = config.sack_after_timeout;
        Fack {
            duplicates: 0,
            recover: None,
            active: false,
            resent_below: 0,
            lost_below: 0,
            head_copies: 0,
            after_timeout,
        }
    }
}

impl Recovery for Fack {
    #[inline]
    fn on_advance(&mut self, _: u32, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        self.duplicates = 0;
        self.head_copies = 0;
        if !self.active {
            return Verdict::Open;
        }
        if self.recover.is_none_or(|recover| board.una() >= recover) {
            self.active = false;
            return Verdict::Ended;
        }
        self.lost_below = board.lose_holes(self.lost_below);
        Verdict::Partial
    }

    fn on_duplicate(&mut self, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        if self.active {
            self.lost_below = board.lose_holes(self.lost_below);
            return Verdict::Holding;
        }
        self.duplicates += 1;
        let beyond = board.number_at(board.fack()) - board.base();
        let told = self.duplicates >= DUP_THRESH || beyond > u64::from(DUP_THRESH);
        let news = self.recover.is_none_or(|recover| board.una() >= recover);
        if told && news { Verdict::Lost } else { Verdict::Open }
    }

    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, _: &mut Window) {
        self.head_copies = response.copies;
        board.lose(board.base());
        if self.active {
            return;
        }
        self.active = true;
        self.recover = Some(board.sent_end());
        self.resent_below = board.base();
        self.lost_below = board.lose_holes(board.base() + 1);
    }

    fn on_timeout(&mut self, response: LossResponse, board: &mut Scoreboard) {
        if self.active {
            board.settle_suspected(self.resent_below);
        }
        self.active = false;
        self.duplicates = 0;
        self.head_copies = copies_ahead(response);
        self.recover = Some(board.sent_end());
        board.lose_all(self.after_timeout);
        board.go_back();
    }

    #[inline]
    fn next(&mut self, board: &Scoreboard, window: &Window, _: Fresh) -> Option<Pick> {
        if self.head_copies > 0 && !board.is_empty() {
            return Some(Pick::Again(board.base()));
        }
        let cwnd = window.cwnd as u32;
        if self.active {
            let highest = board.number_at(board.fack());
            let hole = board.first_unsacked(self.resent_below, highest);
            return (board.forward_flight() < cwnd).then(|| hole.map_or(Pick::New, Pick::Again));
        }
        if board.is_behind() {
            return (board.pipe() < cwnd).then(|| board.next_lost().map_or(Pick::New, Pick::Again));
        }
        (board.forward_flight() < cwnd).then_some(Pick::New)
    }

    #[inline]
    fn on_sent(&mut self, pick: Pick, board: &Scoreboard) {
        if let Pick::Again(number) = pick {
            self.head_copies = self.head_copies.saturating_sub(u8::from(number == board.base()));
            self.resent_below = self.resent_below.max(number + 1);
        }
    }

    fn holds_sacked(&self) -> bool {
        true
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
    fn a_hole_of_more_than_three_segments_is_a_loss_at_the_first_duplicate() {
        let (mut fack, mut board, mut window) = (Fack::new(&config()), board(12), window(12.0));
        board.sack(3 * LEN, 4 * LEN);
        assert_eq!(duplicates(&mut fack, &mut board, &mut window, 1), Verdict::Lost);
    }

    #[test]
    fn holes_are_resent_once_and_then_new_data_while_the_forward_flight_is_below_the_window() {
        let (mut fack, mut board, mut window) = (Fack::new(&config()), board(12), window(12.0));
        board.sack(2 * LEN, 8 * LEN);
        duplicates(&mut fack, &mut board, &mut window, 1);
        window.cwnd = 7.0;
        fack.begin(REDUCED, &mut board, &mut window);
        // awnd = 12 - 8 = 4, one more for each segment sent.
        let sent = send(&mut fack, &mut board, &window, Fresh::Ready);
        assert_eq!(sent, [Pick::Again(0), Pick::Again(1), Pick::New]);
        assert_eq!(board.forward_flight(), 7);
    }
}
