//! Header prediction: the acknowledgement that is expected next, and the full segments that follow it, each in one straight
//! function.
//!
//! **Limits.** Laws that grow the window by counting ([`Congestion::growth`]), and recoveries that detect losses by counting.
//!
//! **Source.** V. Jacobson, "4BSD header prediction", Computer Communication Review 20 (1), 1990; in Linux the fast path of
//! `tcp_rcv_established`.
//!
//! **How.** Most acknowledgements take off the oldest segment, which was sent once, and report nothing else. The
//! actions of the sender, its recovery and its law then follow from their state alone. So do the effects of a full
//! segment of new data.
//!
//! **Checked by** `connection/tests/predicted.rs`: random connections give the same with and without it.

use super::{Outgoing, Sender};
use crate::hooks::{Congestion, Out, Pick, Progress, Recovery, Verdict};
use crate::packet::Ecn;
use crate::transport::tcp::Parts;
use crate::units::{Span, Time};

impl<P: Parts> Sender<P> {
    /// Whether an acknowledgement of all below `ack`, without ECN, SACK blocks or a closed window, is the one that is expected.
    #[inline]
    pub fn predicts(&self, ack: u64, out: &impl Out) -> bool {
        let is_disturbed =
            self.persisting || self.stopped.is_some() || self.hystart.is_used() || self.recovery.is_active();
        debug_assert!(is_disturbed || self.prr.is_none(), "a recovery is paced");
        let is_plain = self.is_plain && !is_disturbed && !out.is_watching();
        is_plain && self.board.is_next(ack) && self.law.growth().is_some()
    }

    /// Processes the acknowledgement that was [predicted](Self::predicts), with a window up to `edge` and, where
    /// timestamps are used, the round trip that its echo measures.
    #[inline]
    pub fn on_predicted(
        &mut self,
        (ack, edge): (u64, u64),
        echoed_rtt: Option<Span>,
        now: Time,
        out: &mut impl Out,
    ) {
        self.edge = self.edge.max(edge);
        self.widest = self.widest.max(edge - ack);
        self.integrate(now);
        let flight = self.board.flight();
        self.limited = 0;
        let sent = self.board.take_oldest(ack);
        self.take_sample(ack, echoed_rtt, Some(sent), Some(sent), now, out);
        let verdict = self.recovery.on_advance(1, &mut self.board, &mut self.window);
        debug_assert_eq!(verdict, Verdict::Open, "nothing is lost, and no recovery under way");
        if self.window_limited(flight)
            && let Some(grow) = self.law.growth()
        {
            let counted = self.counted(Progress::Open(1), 1);
            grow(&mut self.window, counted);
        }
        self.window.clamp();
        if self.board.is_empty() {
            self.disarm(out);
        } else {
            self.arm(now, out);
        }
    }

    /// How many new segments the window allows, if that alone decides what may be sent. Nothing is then sent again,
    /// there is no pace, and the law only counts acknowledgements and ignores departures.
    #[inline]
    pub fn allows_new(&self) -> Option<u32> {
        let is_disturbed = self.persisting || self.stopped.is_some() || self.bounds_below();
        if self.is_plain && self.law.growth().is_some() && !is_disturbed {
            self.recovery.allows_new(&self.board, &self.window)
        } else {
            None
        }
    }

    /// Whether more than a full segment of new data waits behind outstanding data, and no option or mark asks what is sent.
    #[inline]
    pub fn has_only_data(&self, out: &impl Out) -> bool {
        let full = u64::from(self.packet);
        let end = self.board.sent_end();
        let is_plain = self.marks.is_unused() && self.asking.is_unused();
        let has_room = self.board.end() - self.board.base() < u64::from(self.window_limit)
            && self.written.saturating_sub(end) > full
            && self.edge.saturating_sub(end) >= full;
        is_plain && has_room && !self.board.is_empty() && !out.is_watching()
    }

    /// Sends a full segment, where there is [only data](Self::has_only_data) and the window [allows](Self::allows_new) it.
    #[inline]
    pub fn send_full(&mut self, now: Time, out: &mut impl Out) -> Outgoing {
        let (start, len) = (self.board.sent_end(), self.packet);
        self.board.push(len, false, now);
        self.counters.segments_sent += 1;
        if self.timed.is_none() && !self.timestamps {
            self.timed = Some((self.board.sent_end(), now));
        }
        self.count_pace(len, now);
        self.recovery.on_sent(Pick::New, &self.board);
        self.last_sent = now;
        if !self.armed {
            self.arm(now, out);
        }
        Outgoing { start, len, fin: false, push: false, ecn: Ecn::NotEct, cwr: false, asks: None }
    }
}
