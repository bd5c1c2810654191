//! Header prediction: the acknowledgement that is expected next, in one straight function.
//!
//! **Limits.** Laws that grow the window by counting ([`Congestion::growth`]), and recoveries that detect losses by counting.
//!
//! **Source.** V. Jacobson, "4BSD header prediction", Computer Communication Review 20 (1), 1990; in Linux the fast path of
//! `tcp_rcv_established`.
//!
//! **How.** Most acknowledgements take off the oldest segment, which was sent once, and report nothing else. What the sender,
//! its recovery and its law do then follows from their state alone.
//!
//! **Checked by** `connection/tests/predicted.rs`: random connections give the same with and without it.

use super::Sender;
use crate::hooks::{Congestion, Out, Progress, Recovery, Verdict};
use crate::transport::tcp::Parts;
use crate::units::{Span, Time};

impl<P: Parts> Sender<P> {
    /// Takes in an acknowledgement without ECN, SACK blocks or a closed window of all below `ack`, with a window up to `edge`
    /// and, where timestamps are used, the round trip that its echo measures. False, with nothing done, unless it is the one
    /// that is expected.
    #[inline]
    pub fn on_predicted(
        &mut self,
        (ack, edge): (u64, u64),
        echoed_rtt: Option<Span>,
        now: Time,
        out: &mut impl Out,
    ) -> bool {
        if !self.expects(ack) || out.is_watching() {
            return false;
        }
        let Some(grow) = self.law.growth() else { return false };
        self.edge = self.edge.max(edge);
        self.widest = self.widest.max(edge - ack);
        self.integrate(now);
        let flight = self.board.flight();
        self.limited = 0;
        let sent = self.board.take_oldest(ack);
        self.take_sample((ack, echoed_rtt), Some(sent), now, out);
        let verdict = self.recovery.on_advance(1, &mut self.board, &mut self.window);
        debug_assert_eq!(verdict, Verdict::Open, "nothing is lost, and no recovery under way");
        if self.window_limited(flight) {
            let counted = self.counted(Progress::Open(1));
            grow(&mut self.window, counted);
        }
        self.window.clamp();
        if self.board.is_empty() {
            self.disarm(out);
        } else {
            self.arm(now, out);
        }
        true
    }

    /// Whether an acknowledgement of all below `ack` takes off the oldest segment, and nothing disturbs the sender.
    #[inline]
    fn expects(&self, ack: u64) -> bool {
        let is_disturbed =
            self.persisting || self.stopped.is_some() || self.hystart.is_used() || self.recovery.is_active();
        debug_assert!(is_disturbed || self.prr.is_none(), "a recovery is paced");
        self.predicts && !is_disturbed && self.board.is_next(ack)
    }
}
