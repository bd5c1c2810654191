//! The time without acknowledgement of delivered data after which a copy is retransmitted.
//!
//! The receiver's acknowledgements are withheld at the other end of the link and queue there. The time they take is
//! therefore measured and estimated like a retransmission timeout (RFC 6298, 2), with a minimum, and doubled with each
//! try.

use crate::estimate::Smoothed;
use crate::state_bytes::state_bytes;
use crate::units::{Span, Time};

/// The wait is doubled at most this many times.
const MOST_DOUBLINGS: u32 = 6;

state_bytes! {
    /// The timer and its estimate.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Silence {
        floor: Span,
        /// How much longer the other end withholds its acknowledgements than the minimum assumes.
        held: Span,
        at: Time,
        tries: u32,
        /// The end of a delivery that is being timed, and the time of the delivery.
        timed: Option<(u64, Time)>,
        taken: Smoothed,
    }
}

impl Silence {
    pub(super) fn new(floor: Span) -> Silence {
        Silence {
            floor,
            held: Span::ZERO,
            at: Time::NEVER,
            tries: 0,
            timed: None,
            taken: Smoothed::default(),
        }
    }

    /// When the silence is too long.
    pub(super) fn deadline(&self) -> Time {
        self.at
    }

    /// The link delivered data up to `end`; the other end may withhold the acknowledgement for `held` longer than
    /// usual.
    pub(super) fn on_delivered(&mut self, end: u64, held: Span, now: Time) {
        self.held = held;
        self.timed.get_or_insert((end, now));
        self.restart(now);
    }

    /// The receiver has acknowledged all data below `offset`.
    pub(super) fn on_confirmed(&mut self, offset: u64, now: Time) {
        self.tries = 0;
        if let Some((_, since)) = self.timed.take_if(|(end, _)| *end <= offset) {
            self.taken.take(now.since(since));
        }
    }

    /// A segment was sent again: the next answer may be to the copy (Karn's rule), and a wait that grew with each loss
    /// would become ever longer.
    pub(super) fn on_repair(&mut self) {
        self.timed = None;
    }

    /// Restarts the wait.
    pub(super) fn restart(&mut self, now: Time) {
        self.at = now.after((self.floor + self.held).max(self.taken.bound(Span::ZERO)) * (1 << self.tries));
    }

    /// No acknowledgement is awaited.
    pub(super) fn stop(&mut self) {
        self.at = Time::NEVER;
    }

    /// The silence was too long, and a copy was sent.
    pub(super) fn on_break(&mut self, now: Time) {
        self.tries = (self.tries + 1).min(MOST_DOUBLINGS);
        self.restart(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO.after(Span::from_millis(ms))
    }

    #[test]
    fn the_wait_follows_what_the_receiver_takes_and_does_not_fall_below_the_floor() {
        let mut silence = Silence::new(Span::from_millis(200));
        silence.on_delivered(1000, Span::ZERO, at(0));
        assert_eq!(silence.deadline(), at(200));
        silence.on_delivered(2000, Span::ZERO, at(50));
        // The first delivery is timed: 400 ms, plus or minus half of it.
        silence.on_confirmed(2000, at(400));
        silence.on_delivered(3000, Span::ZERO, at(1000));
        assert_eq!(silence.deadline(), at(1000 + 400 + 4 * 200));
        for second in 2..40 {
            silence.on_confirmed(u64::MAX, at(1000 * second - 990));
            silence.on_delivered(1000, Span::ZERO, at(1000 * second));
        }
        assert_eq!(silence.deadline(), at(39_000 + 200));
    }

    #[test]
    fn a_time_with_a_repair_in_it_tells_nothing() {
        let mut silence = Silence::new(Span::from_millis(200));
        silence.on_delivered(1000, Span::ZERO, at(0));
        silence.on_repair();
        silence.on_confirmed(1000, at(5000));
        silence.on_delivered(2000, Span::ZERO, at(6000));
        assert_eq!(silence.deadline(), at(6200));
    }

    #[test]
    fn each_try_doubles_the_wait_and_a_word_of_the_receiver_ends_that() {
        let mut silence = Silence::new(Span::from_millis(200));
        silence.on_delivered(1000, Span::ZERO, at(0));
        for wait in [400, 800, 1600, 3200, 6400, 12_800, 12_800] {
            silence.on_break(at(10));
            assert_eq!(silence.deadline(), at(10 + wait));
        }
        silence.on_confirmed(0, at(20));
        silence.restart(at(20));
        assert_eq!(silence.deadline(), at(220));
        silence.on_delivered(2000, Span::from_millis(300), at(30));
        assert_eq!(silence.deadline(), at(530), "the other end waits longer");
        silence.stop();
        assert_eq!(silence.deadline(), Time::NEVER);
    }
}
