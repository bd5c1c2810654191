//! Conservative loss recovery by selective acknowledgements.
//!
//! **Limits.** No D-SACK, no proportional rate reduction.
//!
//! **Source.** RFC 6675, 4 and 5.
//!
//! **How.** `pipe` counts what is thought to be in the network; while `cwnd - pipe >= 1` the sender sends, in this
//! order: holes taken for lost, new data, other holes, and once a recovery the last hole of all (the rescue).
//!
//! **Choices.** 1. Outside recovery the same pipe rules, so a duplicate that carries news releases one segment (step 3
//! of section 5, RFC 3042) where limited transmit is on. 2. After a timeout the scoreboard is kept (RFC 6675, 5.1):
//! slow start resends, skipping what was selectively acknowledged.
//!
//! **Checked by** `tests/scripts/sack-*`.

use crate::hooks::{Fresh, LossResponse, Pick, Recovery, Verdict, Window};
use crate::transport::tcp::scoreboard::{DUP_THRESH, Scoreboard};
use crate::transport::tcp::{Config, SackAfterTimeout};

/// RFC 6675's recovery.
#[derive(Clone, Debug)]
pub struct Sack {
    duplicates: u32,
    /// `RecoveryPoint`.
    point: Option<u64>,
    active: bool,
    /// Number after the highest segment resent in this recovery (`HighRxt`).
    resent_below: u64,
    /// `RescueRxt`.
    rescued: Option<u64>,
    head_copies: u8,
    after_timeout: SackAfterTimeout,
    limited_transmit: bool,
}

impl Sack {
    /// At the start of a connection.
    #[must_use]
    pub fn new(config: &Config) -> Sack {
        Sack {
            duplicates: 0,
            point: None,
            active: false,
            resent_below: 0,
            rescued: None,
            head_copies: 0,
            after_timeout: config.sack_after_timeout,
            limited_transmit: config.limited_transmit,
        }
    }

    /// `NextSeg ()` of RFC 6675, 4, by its numbered rules.
    fn next_segment(&mut self, board: &Scoreboard, fresh: Fresh) -> Option<Pick> {
        let highest = board.number_at(board.fack());
        let rule_1 = board.first_unsacked(self.resent_below, board.lost_below().min(highest));
        let rule_2 = (fresh == Fresh::Ready).then_some(Pick::New);
        let rule_3 = || board.first_unsacked(self.resent_below, highest).map(Pick::Again);
        let pick = rule_1.map(Pick::Again).or(rule_2).or_else(rule_3);
        if pick.is_none() && self.rescued.is_none_or(|rescued| board.una() > rescued) {
            // Rule 4, once: it leaves `HighRxt` where it is.
            self.rescued = self.point;
            return board.last_unsacked().map(Pick::Again);
        }
        if let Some(Pick::Again(number)) = pick {
            self.resent_below = number + 1;
        }
        pick
    }
}

impl Recovery for Sack {
    #[inline]
    fn on_advance(&mut self, _: u32, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        self.duplicates = 0;
        self.head_copies = 0;
        board.mark_lost();
        if !self.active {
            return Verdict::Open;
        }
        if self.point.is_none_or(|point| board.una() >= point) {
            self.active = false;
            return Verdict::Ended;
        }
        Verdict::Partial
    }

    fn on_duplicate(&mut self, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        board.mark_lost();
        if self.active {
            return Verdict::Holding;
        }
        self.duplicates += 1;
        let told = self.duplicates >= DUP_THRESH || (!board.is_empty() && board.is_lost(board.base()));
        let news = self.point.is_none_or(|point| board.una() >= point);
        if told && news { Verdict::Lost } else { Verdict::Open }
    }

    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, _: &mut Window) {
        self.active = true;
        self.point = Some(board.sent_end());
        self.resent_below = board.base();
        self.rescued = None;
        self.head_copies = response.copies;
        board.lose(board.base());
    }

    fn on_timeout(&mut self, board: &mut Scoreboard) {
        self.active = false;
        self.duplicates = 0;
        self.head_copies = 0;
        self.point = Some(board.sent_end());
        board.lose_all(self.after_timeout);
        board.go_back();
    }

    #[inline]
    fn next(&mut self, board: &Scoreboard, window: &Window, fresh: Fresh) -> Option<Pick> {
        if self.head_copies > 0 && !board.is_empty() {
            return Some(Pick::Again(board.base()));
        }
        let cwnd = window.cwnd as u32;
        if self.active {
            return if board.pipe() < cwnd { self.next_segment(board, fresh) } else { None };
        }
        if board.is_behind() {
            return (board.pipe() < cwnd).then(|| board.next_lost().map_or(Pick::New, Pick::Again));
        }
        let outstanding = if self.limited_transmit { board.pipe() } else { board.flight() };
        (outstanding < cwnd).then_some(Pick::New)
    }

    fn on_sent(&mut self, pick: Pick, board: &Scoreboard) {
        if self.head_copies > 0 && pick == Pick::Again(board.base()) {
            self.head_copies -= 1;
            self.resent_below = self.resent_below.max(board.base() + 1);
        }
    }

    #[inline]
    fn is_active(&self) -> bool {
        self.active
    }
}
