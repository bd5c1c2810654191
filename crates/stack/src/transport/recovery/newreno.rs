//! `NewReno`: fast recovery that lasts until everything sent before the loss is acknowledged.
//!
//! **Limits.** One hole per round trip.
//!
//! **Source.** RFC 6582, 3.2.
//!
//! **How.** As Reno, but a partial acknowledgement resends the next hole and deflates the window by the amount
//! acknowledged, less one segment. The acknowledgement of all data outstanding when the loss was detected (`recover`)
//! ends recovery with the window that the law left in `cwnd`, or with `min(cwnd, max(flight, 1) + 1)`.
//!
//! **Choices.** 1. Impatient (the timer restarts on the first partial acknowledgement only) or slow-but-steady (on
//! each): RFC 3782, 4, names both; the scenario chooses. 2. Re-entry needs an acknowledgement above `recover` (RFC
//! 6582, 3.2, step 1), without the heuristics of its section 4. But the very first segment may be resent fast, as with
//! ns-2's `bugfix_ss_`, although the text, taken literally, leaves it to the timer. 3. Both windows of RFC 6582, 3.2,
//! step 3, are available, and so is ns-2's, which a partial acknowledgement of more than the inflation reduces
//! permanently ([`FullAck`]). The profile chooses. 4. ns-2 releases at most two new segments per acknowledgement during
//! recovery (`recovery-burst`).
//!
//! **Checked by** `tests/scripts/newreno-*`.

use super::Duplicates;
use crate::hooks::scoreboard::Scoreboard;
use crate::hooks::{Fresh, LossResponse, Pick, Recovery, Verdict, Window};
use crate::transport::tcp::{Config, FullAck};

/// `NewReno`'s recovery.
#[derive(Clone, Debug)]
pub struct NewReno {
    duplicates: Duplicates,
    inflation: f64,
    phase: Phase,
    impatient: bool,
    full_ack: FullAck,
    burst: u32,
    /// New segments that the last acknowledgement may still release.
    left: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    Recovery,
    RecoveryAfterPartial,
}

impl NewReno {
    /// At the start of a connection.
    #[must_use]
    pub fn new<P>(config: &Config<P>) -> NewReno {
        NewReno {
            duplicates: Duplicates::new(config),
            inflation: 0.0,
            phase: Phase::Open,
            impatient: config.newreno_impatient,
            full_ack: config.newreno_full_ack,
            burst: config.newreno_recovery_burst.unwrap_or(u32::MAX),
            left: u32::MAX,
        }
    }
}

impl Recovery for NewReno {
    #[inline]
    fn on_advance(&mut self, segments: u32, board: &mut Scoreboard, window: &mut Window) -> Verdict {
        self.duplicates.clear();
        self.left = self.burst;
        if self.phase == Phase::Open {
            return Verdict::Open;
        }
        if self.duplicates.recover.is_none_or(|recover| board.una() >= recover) {
            self.phase = Phase::Open;
            self.inflation = 0.0;
            if self.full_ack == FullAck::Flight {
                window.cwnd = window.cwnd.min(f64::from(board.flight().max(1)) + 1.0);
            }
            return Verdict::Ended;
        }
        let first = self.phase == Phase::Recovery;
        self.phase = Phase::RecoveryAfterPartial;
        self.duplicates.head_copies = 1;
        board.suspect(board.base());
        self.inflation -= f64::from(segments);
        if segments >= 1 {
            self.inflation += 1.0;
        }
        if self.full_ack == FullAck::Deflated && self.inflation < 1.0 {
            window.cwnd = (window.cwnd + self.inflation - 1.0).max(1.0);
            self.inflation = 1.0;
        }
        // RFC 6582 does not say how far: one that acknowledges more than the window leaves the least window there is.
        self.inflation = window.inflated(self.inflation) - window.cwnd;
        if first || !self.impatient { Verdict::Partial } else { Verdict::PartialTimerRuns }
    }

    fn on_duplicate(&mut self, board: &mut Scoreboard, _: &mut Window) -> Verdict {
        self.left = self.burst;
        if self.is_active() {
            self.inflation += 1.0;
            return Verdict::Holding;
        }
        if self.duplicates.tell(board) { Verdict::Lost } else { Verdict::Open }
    }

    fn begin(&mut self, response: LossResponse, board: &mut Scoreboard, _: &mut Window) {
        self.duplicates.head_copies = response.copies;
        board.suspect(board.base());
        if self.is_active() {
            return;
        }
        self.phase = Phase::Recovery;
        self.inflation = f64::from(self.duplicates.count);
        self.duplicates.recover = Some(board.sent_end());
    }

    fn on_timeout(&mut self, response: LossResponse, board: &mut Scoreboard) {
        self.phase = Phase::Open;
        self.inflation = 0.0;
        self.duplicates.clear();
        self.duplicates.go_back(response, board);
    }

    #[inline]
    fn next(&mut self, board: &Scoreboard, window: &Window, _: Fresh) -> Option<Pick> {
        if !self.is_active() {
            return self.duplicates.next(board, window, None);
        }
        let pick = self.duplicates.next(board, window, Some(self.inflation));
        pick.filter(|pick| *pick != Pick::New || self.left > 0)
    }

    #[inline]
    fn allows_new(&self, board: &Scoreboard, window: &Window) -> Option<u32> {
        if self.is_active() { None } else { self.duplicates.allows_new(board, window) }
    }

    #[inline]
    fn on_sent(&mut self, pick: Pick, board: &Scoreboard) {
        self.duplicates.on_sent(pick, board);
        self.left = self.left.saturating_sub(u32::from(pick == Pick::New));
    }

    #[inline]
    fn inflation(&self) -> f64 {
        self.inflation
    }

    #[inline]
    fn is_active(&self) -> bool {
        self.phase != Phase::Open
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{LEN, REDUCED, board, config, duplicates, send, window};
    use super::*;

    fn in_recovery<P>(config: &Config<P>) -> (NewReno, Scoreboard, Window) {
        let (mut newreno, mut board, mut window) = (NewReno::new(config), board(12), window(12.0));
        assert_eq!(duplicates(&mut newreno, &mut board, &mut window, 3), Verdict::Lost);
        window.cwnd = 6.0;
        newreno.begin(REDUCED, &mut board, &mut window);
        send(&mut newreno, &mut board, &window, Fresh::Withheld);
        (newreno, board, window)
    }

    #[test]
    fn a_partial_acknowledgement_resends_the_next_hole_and_deflates() {
        let (mut newreno, mut board, mut window) = in_recovery(&config());
        board.advance(4 * LEN);
        // RFC 6582 (3.2, step 3): 6 + 3 - 4 + 1.
        assert_eq!(newreno.on_advance(4, &mut board, &mut window), Verdict::Partial);
        assert_eq!(window.cwnd + newreno.inflation(), 6.0);
        assert_eq!(send(&mut newreno, &mut board, &window, Fresh::Withheld), [Pick::Again(4)]);
    }

    #[test]
    fn a_partial_acknowledgement_of_more_than_the_window_leaves_a_window_of_one_segment() {
        let (mut newreno, mut board, mut window) = in_recovery(&config());
        window.cwnd = 2.0;
        board.advance(10 * LEN);
        // 2 + 3 - 10 + 1 = -4.
        newreno.on_advance(10, &mut board, &mut window);
        assert_eq!(window.cwnd + newreno.inflation(), 1.0);
        newreno.on_duplicate(&mut board, &mut window);
        assert_eq!(window.cwnd + newreno.inflation(), 2.0, "duplicates count from there");
        // A law that lowers the window in the meantime does not bring it below one segment either.
        newreno.inflation = -4.0;
        window.cwnd = 3.0;
        assert_eq!(window.inflated(newreno.inflation()), 1.0);
    }

    #[test]
    fn the_impatient_variant_restarts_the_timer_on_the_first_partial_only() {
        for (newreno_impatient, second) in [(true, Verdict::PartialTimerRuns), (false, Verdict::Partial)] {
            let (mut newreno, mut board, mut window) = in_recovery(&Config { newreno_impatient, ..config() });
            board.advance(2 * LEN);
            assert_eq!(newreno.on_advance(2, &mut board, &mut window), Verdict::Partial);
            board.advance(4 * LEN);
            assert_eq!(newreno.on_advance(2, &mut board, &mut window), second);
        }
    }

    #[test]
    fn a_large_partial_acknowledgement_deflates_for_good_where_ns_2_is_followed() {
        for (newreno_full_ack, left) in [(FullAck::Ssthresh, 6.0), (FullAck::Deflated, 1.0)] {
            let (mut newreno, mut board, mut window) = in_recovery(&Config { newreno_full_ack, ..config() });
            board.advance(8 * LEN);
            // 6 + 3 - 8 + 1 either way.
            newreno.on_advance(8, &mut board, &mut window);
            assert_eq!(window.cwnd + newreno.inflation(), 2.0);
            board.advance(12 * LEN);
            newreno.on_advance(4, &mut board, &mut window);
            assert_eq!(window.cwnd, left);
        }
    }

    #[test]
    fn an_acknowledgement_in_recovery_releases_so_many_new_segments_at_most() {
        for (newreno_recovery_burst, released) in [(None, 5), (Some(2), 2)] {
            let config = Config { newreno_recovery_burst, ..config() };
            let (mut newreno, mut board, mut window) = in_recovery(&config);
            for _ in 0..4 {
                newreno.on_duplicate(&mut board, &mut window);
            }
            window.cwnd = 9.0;
            // 9 + 7 - 4 + 1 = 13 may be outstanding, where 8 are.
            board.advance(4 * LEN);
            newreno.on_advance(4, &mut board, &mut window);
            let sent = send(&mut newreno, &mut board, &window, Fresh::Ready);
            assert_eq!(sent[0], Pick::Again(4));
            assert_eq!(sent[1..], vec![Pick::New; released]);
        }
    }

    #[test]
    fn the_full_acknowledgement_leaves_one_of_two_windows() {
        for (newreno_full_ack, cwnd) in
            [(FullAck::Flight, 2.0), (FullAck::Ssthresh, 6.0), (FullAck::Deflated, 6.0)]
        {
            let (mut newreno, mut board, mut window) = in_recovery(&Config { newreno_full_ack, ..config() });
            board.advance(12 * LEN);
            assert_eq!(newreno.on_advance(12, &mut board, &mut window), Verdict::Ended);
            assert_eq!((window.cwnd, newreno.is_active()), (cwnd, false));
        }
    }
}
