//! The limits that keep the sender from sending more, and for how long.
//!
//! **Source.** Linux: `tcp_chrono_start`, whose times `ss -i` shows as `busy`, `rwnd_limited` and `sndbuf_limited`.
//!
//! **How.** Each time the sender has sent all that it may, one limit holds back the rest. It remains the limit until
//! the next such time.
//!
//! **Choices.** 1. In a recovery, and until a lost segment has gone again, the window is the limit, whatever waits behind it.
//! 2. What Nagle's rule holds is less than a segment: the application is the limit. 3. A window at the maximum that the scenario
//! sets (`tcp.window`) counts as the receiver's, as which the maximum stands. 4. A full queue of the host (`small-queue`) counts as
//! the pace, from which its bound comes.
//!
//! **Checked by** `connection/tests/limits.rs`.

use super::Sender;
use crate::hooks::Recovery;
use crate::transport::tcp::Parts;
use crate::units::{Span, Time};

/// What may limit a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Limit {
    /// It has nothing to send.
    #[default]
    Application,
    /// The receiver's window, or the maximum of its own.
    Receiver,
    /// Segments are spaced.
    Pace,
    /// The congestion window.
    Window,
}

/// The times for which each of them was the limit.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Limits {
    now: Limit,
    since: Time,
    spent: [Span; 4],
}

impl Limits {
    /// The first handshake is over.
    pub(super) fn begin(&mut self, now: Time) {
        if self.since == Time::ZERO {
            self.since = now;
        }
    }

    #[inline]
    fn set(&mut self, limit: Limit, now: Time) {
        if limit != self.now {
            self.spent = self.spent(now);
            (self.now, self.since) = (limit, now);
        }
    }

    /// The times up to now, in the order of [`Limit`].
    pub(super) fn spent(&self, now: Time) -> [Span; 4] {
        let mut spent = self.spent;
        if self.since > Time::ZERO {
            spent[self.now as usize] += now.since(self.since);
        }
        spent
    }
}

impl<P: Parts> Sender<P> {
    /// What may leave at this time has left.
    #[inline]
    pub(super) fn note_limit(&mut self, now: Time) {
        let limit = self.limit();
        self.limits.set(limit, now);
    }

    /// Nothing waits, and nothing is outstanding.
    #[inline]
    pub fn is_idle(&mut self, now: Time) {
        self.limits.set(Limit::Application, now);
    }

    #[inline]
    fn limit(&self) -> Limit {
        if self.persisting {
            return Limit::Receiver;
        }
        if self.stopped.is_some() {
            return Limit::Window;
        }
        let repairs = self.recovery.is_active() || self.board.lost() > 0;
        let waiting = self.written.saturating_sub(self.board.sent_end());
        if !repairs && (waiting == 0 || self.nagle_holds(waiting)) {
            return Limit::Application;
        }
        if self.pace.waits() {
            return Limit::Pace;
        }
        let room = self.edge.saturating_sub(self.board.sent_end());
        let has_room = room >= waiting.min(u64::from(self.packet)) && self.window.cwnd < self.window.limit;
        if repairs || has_room { Limit::Window } else { Limit::Receiver }
    }
}
