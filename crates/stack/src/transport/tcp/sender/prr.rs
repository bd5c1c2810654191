//! Proportional rate reduction (RFC 9937): how fast a recovery sends on its way to the window that the law chose.
//!
//! While more than that window is in the network, segments leave in proportion to those that are delivered. The
//! recovery thus neither falls silent for half a round trip nor sends a burst at its end. Below the window, a segment
//! leaves for each delivered, and one more for each acknowledgement that shows progress.
//!
//! **How.** The window in force is `inflight + sndcnt` after each acknowledgement of a recovery. The law's own window waits in
//! [`Prr::target`]; the law sees and edits that one, and it is in force again when the recovery ends.
//!
//! **Choices.** 1. Everything is counted in segments, as in Linux. 2. The target is the window that the law left, which is
//! ssthresh for the laws that RFC 9937 is about (6.1). 3. The answer to a mark (RFC 3168) is not paced. 4. Laws that set their
//! window within recovery themselves ([`Congestion::governs_recovery`]) are left alone.
//!
//! **Checked by** `tests/scripts/prr-*` and the tests below.

use super::Sender;
use crate::hooks::{Congestion, Recovery, Window};
use crate::transport::tcp::Parts;

/// The account of one recovery, in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Prr {
    /// The window that the law chose.
    target: f64,
    /// In the network when the recovery began (`RecoverFS`).
    flight: u32,
    delivered: u32,
    sent: u32,
}

impl Prr {
    /// At the start of a recovery with this many segments in the network (6.1).
    fn new(window: &Window, flight: u32) -> Prr {
        Prr { target: window.cwnd, flight: flight.max(1), delivered: 0, sent: 0 }
    }

    /// An acknowledgement reports deliveries (6.2): the window in force after it, with `pipe` segments in the network. It is
    /// safe if it advances and indicates no further loss.
    fn window(&mut self, delivered: u32, is_safe: bool, pipe: u32) -> f64 {
        self.delivered += delivered;
        let target = self.target as u32;
        let mut count = if pipe > target {
            let share = (u64::from(self.delivered) * u64::from(target)).div_ceil(u64::from(self.flight));
            (share as u32).saturating_sub(self.sent)
        } else {
            let count = self.delivered.saturating_sub(self.sent).max(delivered) + u32::from(is_safe);
            count.min(target - pipe)
        };
        if self.sent == 0 {
            // The fast retransmit.
            count = count.max(1);
        }
        f64::from(pipe + count)
    }
}

impl<P: Parts> Sender<P> {
    /// A recovery begins with an acknowledgement that reports these deliveries.
    pub(super) fn begin_prr(&mut self, delivered: u32) {
        let is_paced = self.is_recovery_paced && self.recovery.is_active() && self.recovery.goes_by_pipe();
        if !is_paced || self.prr.is_some() || self.law.governs_recovery() {
            return;
        }
        let board = &self.board;
        self.prr =
            Some(Prr::new(&self.window, board.outstanding() - board.sacked() - board.assumed() + delivered));
        self.pace_recovery(delivered, false);
    }

    /// An acknowledgement within a recovery has been reported to the law.
    #[inline]
    pub(super) fn pace_recovery(&mut self, delivered: u32, is_safe: bool) {
        if let Some(prr) = &mut self.prr
            && delivered > 0
        {
            self.window.cwnd = prr.window(delivered, is_safe, self.board.pipe());
            self.window.clamp();
        }
    }

    /// A segment has been sent (6.3).
    #[inline]
    pub(super) fn count_paced(&mut self) {
        if let Some(prr) = &mut self.prr {
            prr.sent += 1;
        }
    }

    /// The recovery is over, whatever ended it: the law's window is in force (6.4).
    #[inline]
    pub(super) fn end_prr(&mut self) {
        if let Some(prr) = self.prr.take() {
            self.window.cwnd = prr.target;
        }
    }

    /// Lets the law edit its own window within a recovery.
    #[inline]
    pub(super) fn with_target<T>(&mut self, edit: impl FnOnce(&mut Self) -> T) -> T {
        let Some(prr) = self.prr else { return edit(self) };
        let paced = std::mem::replace(&mut self.window.cwnd, prr.target);
        let result = edit(self);
        self.window.clamp();
        let target = std::mem::replace(&mut self.window.cwnd, paced);
        self.prr = Some(Prr { target, ..prr });
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: f64) -> Window {
        Window::new(cwnd, Some(cwnd), 1000.0)
    }

    #[test]
    fn above_the_target_segments_leave_in_proportion_to_those_delivered() {
        let mut prr = Prr::new(&window(10.0), 20);
        // Ten leave while twenty are delivered: after every second one.
        let mut pipe = 19;
        let mut left = Vec::new();
        for _ in 0..8 {
            let allowed = prr.window(1, false, pipe) as u32 - pipe;
            left.push(allowed);
            prr.sent += allowed;
            pipe = pipe + allowed - 1;
        }
        assert_eq!(left, [1, 0, 1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn below_the_target_what_is_delivered_leaves_and_one_more_for_a_safe_acknowledgement() {
        let mut prr = Prr { sent: 1, ..Prr::new(&window(10.0), 20) };
        assert_eq!(prr.window(1, false, 4), 5.0);
        prr.sent += 1;
        assert_eq!(prr.window(1, true, 4), 6.0);
        prr.sent += 2;
        // Never more than the target.
        assert_eq!(prr.window(5, true, 8), 10.0);
    }

    #[test]
    fn the_first_segment_leaves_whatever_the_proportion_is() {
        let mut prr = Prr::new(&window(2.0), 100);
        assert_eq!(prr.window(1, false, 90), 91.0);
        let mut prr = Prr { delivered: 0, ..Prr::new(&window(2.0), 100) };
        prr.sent = 1;
        assert_eq!(prr.window(1, false, 90), 90.0);
    }
}
