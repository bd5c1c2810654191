//! The end of slow start before a loss: `HyStart` as in Linux's CUBIC, and `HyStart++` (RFC 9406).
//!
//! Both compare the least round trips of rounds. `HyStart` ends slow start at once when eight samples of a round exceed
//! the least round trip of all by an eighth (at least 4 ms, at most 16 ms). It also ends it when a train of
//! acknowledgements, at most 2 ms apart, has lasted half of the least round trip. `HyStart++` continues with a quarter
//! of the growth (CSS) for five rounds, and returns to slow start if the round trips fall again.
//!
//! **Choices.** 1. Only acknowledgements of segments that were sent once are samples. 2. Linux adds up to 1 ms to the length of
//! a train, for its offload of segmentation, and halves both without pacing; the whole millisecond is taken. 3. `HyStart` applies
//! to CUBIC alone, as in Linux, and in every slow start; `HyStart++` to CUBIC and Reno, and in the first slow start only
//! (RFC 9406, 4.3).
//!
//! **Checked by** `tests/scripts/modern/hystart-*` and the tests below.

use crate::hooks::{Ack, Progress, SlowStart, Window};
use crate::units::{Span, Time};

/// Segments of the window below which Linux's `HyStart` waits (`hystart_low_window`).
const LOW_WINDOW: f64 = 16.0;
/// The most time between two acknowledgements of a train (`hystart_ack_delta_us`).
const TRAIN_GAP: Span = Span::from_millis(2);
/// What Linux adds to the length of a train (`hystart_ack_delay`).
const TRAIN_MORE: Span = Span::from_millis(1);
/// Samples of a round (RFC 9406, 4.3: `N_RTT_SAMPLE`; Linux: `HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;
/// RFC 9406, 4.3: `MIN_RTT_THRESH`, `MAX_RTT_THRESH`, `MIN_RTT_DIVISOR`.
const LEAST_RISE: Span = Span::from_millis(4);
const MOST_RISE: Span = Span::from_millis(16);
const RISE_DIVISOR: u64 = 8;
/// RFC 9406, 4.3: `CSS_GROWTH_DIVISOR`, `CSS_ROUNDS`.
const SLOWER: f64 = 4.0;
const SLOWER_ROUNDS: u32 = 5;

/// What it knows of the round trips.
#[derive(Clone, Copy, Debug)]
pub(super) struct HyStart {
    kind: SlowStart,
    /// The round ends when this byte is acknowledged.
    round_end: u64,
    round_began: Time,
    last_ack: Time,
    least: Option<Span>,
    before: Option<Span>,
    current: Option<Span>,
    samples: u32,
    /// Conservative slow start: the least round trip at its start, and its rounds.
    slower: Option<(Span, u32)>,
    is_over: bool,
}

impl HyStart {
    pub(super) fn new(kind: SlowStart) -> HyStart {
        HyStart {
            kind,
            round_end: 0,
            round_began: Time::ZERO,
            last_ack: Time::ZERO,
            least: None,
            before: None,
            current: None,
            samples: 0,
            slower: None,
            is_over: kind == SlowStart::Standard,
        }
    }

    /// Whether it has an effect.
    #[inline]
    pub(super) fn is_used(&self) -> bool {
        !self.is_over
    }

    /// A loss or a mark has ended slow start.
    #[inline]
    pub(super) fn on_reduction(&mut self) {
        self.is_over |= self.kind == SlowStart::HyStartPlusPlus;
        self.slower = None;
    }

    /// The law has processed an acknowledgement, before which the window was `cwnd`.
    pub(super) fn on_ack(&mut self, ack: &Ack, cwnd: f64, window: &mut Window) {
        if let Some(rtt) = ack.rtt {
            self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
        }
        if cwnd >= window.ssthresh || !matches!(ack.progress, Progress::Open(_) | Progress::Unlimited(_)) {
            self.is_over |= self.kind == SlowStart::HyStartPlusPlus && cwnd >= window.ssthresh;
            return;
        }
        if self.slower.is_some() {
            window.cwnd = cwnd + (window.cwnd - cwnd) / SLOWER;
        }
        if ack.una > self.round_end {
            self.begin_round(ack, window);
        }
        if let Some(rtt) = ack.rtt {
            self.current = Some(self.current.map_or(rtt, |current| current.min(rtt)));
            self.samples += 1;
        }
        let ends = match self.kind {
            SlowStart::Standard => false,
            SlowStart::HyStart => {
                window.cwnd >= LOW_WINDOW && (self.is_train(ack.now) || self.rises(self.least))
            }
            SlowStart::HyStartPlusPlus => {
                self.look_at_round();
                false
            }
        };
        if ends {
            window.ssthresh = window.cwnd;
        }
    }

    fn begin_round(&mut self, ack: &Ack, window: &mut Window) {
        self.round_end = ack.sent_end;
        (self.round_began, self.last_ack) = (ack.now, ack.now);
        (self.before, self.current, self.samples) = (self.current, None, 0);
        if let Some((_, rounds)) = &mut self.slower {
            *rounds += 1;
            if *rounds >= SLOWER_ROUNDS {
                window.ssthresh = window.cwnd;
                self.is_over = true;
            }
        }
    }

    /// Whether acknowledgements have followed each other closely for half of the least round trip.
    fn is_train(&mut self, now: Time) -> bool {
        if now.since(self.last_ack) > TRAIN_GAP {
            return false;
        }
        self.last_ack = now;
        self.least.is_some_and(|least| now.since(self.round_began).0 > (least + TRAIN_MORE).0 / 2)
    }

    /// Whether the round's least round trip exceeds this one by the threshold (RFC 9406, `RttThresh`).
    fn rises(&self, base: Option<Span>) -> bool {
        let (Some(current), Some(base)) = (self.current, base) else { return false };
        let rise = Span(base.0 / RISE_DIVISOR).max(LEAST_RISE).min(MOST_RISE);
        self.samples >= SAMPLES && current >= base + rise
    }

    /// RFC 9406, 4.2.
    fn look_at_round(&mut self) {
        let Some(current) = self.current.filter(|_| self.samples >= SAMPLES) else { return };
        match self.slower {
            None if self.rises(self.before) => self.slower = Some((current, 0)),
            Some((base, _)) if current < base => self.slower = None,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hooks::testing::ack;

    /// An acknowledgement at this time, of this byte with one round in flight.
    fn at(ms: u64, rtt: u64, una: u64, sent_end: u64) -> Ack {
        let (now, rtt) = (Time(ms * 1_000_000), Some(Span::from_millis(rtt)));
        Ack { now, rtt, una, sent_end, ..ack(Progress::Open(1)) }
    }

    /// Feeds rounds of twenty acknowledgements with these round trips; the window after each.
    fn rounds(hystart: &mut HyStart, window: &mut Window, rtts: &[u64], gap: u64) -> Vec<f64> {
        let mut seen = Vec::new();
        for (round, rtt) in rtts.iter().enumerate() {
            let begin = 1000 * round as u64;
            for number in 0..20 {
                let before = window.cwnd;
                window.cwnd += 1.0;
                let una = begin + number + 1;
                hystart.on_ack(
                    &at(1000 * (round as u64 + 1) + gap * number, *rtt, una, begin + 1000),
                    before,
                    window,
                );
            }
            seen.push(window.cwnd);
        }
        seen
    }

    #[test]
    fn hystart_ends_slow_start_where_eight_round_trips_exceed_the_least_by_an_eighth() {
        let mut window = Window::new(16.0, None, 10_000.0);
        rounds(&mut HyStart::new(SlowStart::HyStart), &mut window, &[80, 89], 5);
        assert!(window.in_slow_start());
        rounds(&mut HyStart::new(SlowStart::HyStart), &mut window, &[80, 90], 5);
        // At the eighth sample of the second round: 20 + 8 more.
        assert_eq!(window.ssthresh, 16.0 + 40.0 + 28.0);
    }

    #[test]
    fn hystart_ends_slow_start_where_a_train_lasts_half_of_the_least_round_trip() {
        let mut window = Window::new(16.0, None, 10_000.0);
        rounds(&mut HyStart::new(SlowStart::HyStart), &mut window, &[20], 1);
        // 11 ms after the first, which is more than (20 + 1) / 2.
        assert_eq!(window.ssthresh, 16.0 + 12.0);
    }

    #[test]
    fn hystart_plus_plus_grows_by_a_quarter_for_five_rounds_and_then_ends_slow_start() {
        let mut window = Window::new(16.0, None, 10_000.0);
        let mut hystart = HyStart::new(SlowStart::HyStartPlusPlus);
        let seen = rounds(&mut hystart, &mut window, &[80, 90, 90, 90, 90, 90, 90], 5);
        // The eighth sample of the second round begins it; the rest grows by a quarter.
        assert_eq!(seen[1], 16.0 + 28.0 + 12.0 / 4.0);
        assert_eq!(seen[2], seen[1] + 5.0);
        // It lasts to the first acknowledgement of the seventh.
        assert_eq!(window.ssthresh, seen[5] + 1.0 / 4.0);
        assert!(!hystart.is_used());
    }

    #[test]
    fn hystart_plus_plus_returns_to_slow_start_where_the_round_trips_fall_again() {
        let mut window = Window::new(16.0, None, 10_000.0);
        let mut hystart = HyStart::new(SlowStart::HyStartPlusPlus);
        let seen = rounds(&mut hystart, &mut window, &[80, 90, 85, 85], 5);
        // Eight samples of the third round, of which the last ends it.
        assert_eq!(seen[2], seen[1] + 8.0 / 4.0 + 12.0);
        assert_eq!(seen[3], seen[2] + 20.0);
    }
}
