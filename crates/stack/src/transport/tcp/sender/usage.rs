//! Whether the window is what limits the sender, so that it may grow.
//!
//! **Source.** RFC 7661 (4); Linux: `tcp_cwnd_validate` and `tcp_is_cwnd_limited`; RFC 9002 (7.8) for what is spaced.
//!
//! **How.** In slow start a window is used if more than half of it was outstanding, and from there on if all of it was.
//! Linux checks this after it has sent. A window that was reached counts for a round trip, that is until the data
//! outstanding then is acknowledged, and so does the most that was outstanding. Spaced segments fill the window at some
//! time of each round trip, and seldom when an acknowledgement arrives. Without that memory the window counts as used,
//! too, while it is the pace that holds back enough data to fill it.
//!
//! **Choices.** 1. Of the other limits, what waits below (`small-queue`) and the offered window limit a sender
//! permanently, and the congestion window must not grow beyond them. So it is in Linux, where they count only by the
//! round trip in which the window was reached nevertheless. 2. What Nagle's rule or the sender's silly-window avoidance
//! holds is less than a segment, and a window that it does not fill is limited by the application. 3. Data that an
//! agent or a queue below holds is outstanding.
//!
//! **Checked by** `connection/tests/usage.rs`.

use super::Sender;
use crate::hooks::{Recovery, Window};
use crate::transport::tcp::{Config, Parts};
use crate::units::Time;

/// How the window was used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    validates: bool,
    remembers: bool,
    /// Whether the rest is kept up to date.
    is_followed: bool,
    /// Whether the window was reached, and the most segments that were outstanding otherwise.
    pub(super) is_full: bool,
    pub(super) most: u32,
    /// First byte that had not been sent then.
    until: u64,
}

impl Usage {
    pub(super) fn new<P>(config: &Config<P>) -> Usage {
        let remembers = config.remembers_use && config.window_validation;
        let is_followed = remembers || (config.idle_restart && config.window_decay);
        let validates = config.window_validation;
        Usage { validates, remembers, is_followed, is_full: false, most: 0, until: 0 }
    }

    /// Nothing is known of the window.
    pub(super) fn forget(&mut self) {
        *self = Usage { is_full: false, most: 0, until: 0, ..*self };
    }
}

/// Whether this number of segments uses the window.
fn uses(window: &Window, segments: u32) -> bool {
    if window.in_slow_start() {
        window.cwnd < 2.0 * f64::from(segments)
    } else {
        segments >= window.cwnd as u32
    }
}

impl<P: Parts> Sender<P> {
    /// What may leave at this time has left.
    #[inline]
    pub fn on_flushed(&mut self, now: Time) {
        self.note_limit(now);
        if self.usage.is_followed {
            self.note_use(now);
        }
    }

    fn note_use(&mut self, now: Time) {
        let board = &self.board;
        let is_full = self.in_network() >= self.window.cwnd as u32;
        let Usage { is_full: was_full, most, until, .. } = self.usage;
        let is_news = || board.una() >= until || (!was_full && board.outstanding() > most);
        if is_full || (self.last_sent == now && is_news()) {
            self.usage = Usage { is_full, most: board.outstanding(), until: board.sent_end(), ..self.usage };
        }
        if is_full || self.last_sent == now {
            self.review_use(now);
        }
    }

    /// Segments in the network, by what the recovery goes by.
    pub(super) fn in_network(&self) -> u32 {
        if self.recovery.goes_by_pipe() { self.board.pipe() } else { self.board.flight() }
    }

    /// Whether the window was the limit within a round trip.
    pub(super) fn was_limited(&self) -> bool {
        let Usage { is_full, most, .. } = self.usage;
        is_full || (self.window.in_slow_start() && self.window.cwnd < 2.0 * f64::from(most))
    }

    /// Whether the window limits the sender, with `flight` segments outstanding before the acknowledgement.
    #[inline]
    pub(super) fn window_limited(&self, flight: u32) -> bool {
        let usage = &self.usage;
        if !usage.validates {
            true
        } else if usage.remembers {
            self.was_limited()
        } else {
            uses(&self.window, flight)
                || (self.pace.holds() && uses(&self.window, self.flight_without_pace(flight)))
        }
    }

    /// The segments that were outstanding if nothing were spaced.
    fn flight_without_pace(&self, flight: u32) -> u32 {
        let waiting = self.written.saturating_sub(self.board.sent_end());
        let room = self.edge.saturating_sub(self.board.sent_end());
        flight.saturating_add((waiting.min(room) / u64::from(self.packet)) as u32)
    }
}
