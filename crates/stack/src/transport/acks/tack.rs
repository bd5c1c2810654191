//! TACK (Li et al., SIGCOMM 2020): acknowledgements at the rate
//!
//! ```text
//!    f = min(bw / (L · MSS), beta / RTTmin)
//! ```
//!
//! so that there are at most `beta` in the least round trip, however fast data arrives, and one for each `L` segments where
//! that is rarer. The receiver counts bytes and measures the time since its last acknowledgement: one leaves when both allow
//! it. Therefore it needs no estimate of the bandwidth, and the product of bandwidth and delay at which the two change places
//! (beta · L · MSS) is not computed.
//!
//! An *instant* acknowledgement (IACK) leaves for each new gap, for a hole that fills, for data that arrives twice, at the end of
//! the stream, and when the window opens. More data behind a known gap waits for the next TACK, whose SACK blocks
//! report it.
//!
//! **Choices.** 1. Less than `L` segments wait for the delay of RFC 5681 at most, or for the period where that is
//! longer. The paper does not say when the tail of a stream is acknowledged. 2. The least round trip comes from the
//! sender, in an option on data; until it has come the receiver counts bytes. 3. A hole that fills is acknowledged at
//! once (RFC 5681, 4.2), so that the recovery sees its progress. 4. The header has room for at most four SACK blocks,
//! three with timestamps. As each new gap is reported at once, with the block before it, no block goes unreported.

use super::Due;
use crate::units::{Span, Time};

/// The constants of TACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TackConfig {
    /// Segments for each acknowledgement where these are rare (L).
    pub segments: u32,
    /// Acknowledgements in the least round trip where segments are many (beta).
    pub per_round_trip: u32,
}

impl TackConfig {
    /// As in the paper's evaluation.
    pub const PAPER: TackConfig = TackConfig { segments: 2, per_round_trip: 4 };
}

/// The state of one receiver.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tack {
    per_round_trip: u32,
    /// Bytes that a rare acknowledgement is for.
    share: u64,
    /// The least time between two.
    interval: Span,
    /// Bytes not yet acknowledged, and those before the last segment.
    waiting: u64,
    before: u64,
    last: Time,
}

impl Tack {
    pub(super) fn new(config: TackConfig, full_segment: u32) -> Tack {
        let share = u64::from(config.segments) * u64::from(full_segment);
        let per_round_trip = config.per_round_trip;
        Tack { per_round_trip, share, interval: Span::ZERO, waiting: 0, before: 0, last: Time::ZERO }
    }

    pub(super) fn learn_round_trip(&mut self, least: Span) {
        self.interval = Span(least.0 / u64::from(self.per_round_trip.max(1)));
    }

    pub(super) fn count(&mut self, len: u32) {
        self.before = self.waiting;
        self.waiting += u64::from(len);
    }

    pub(super) fn due(&self, now: Time, delay: Span, is_first: bool) -> Due {
        let earliest = self.last.after(self.interval);
        if self.waiting < self.share {
            return if is_first { Due::At(now.after(delay).max(earliest)) } else { Due::AsSet };
        }
        if earliest <= now {
            Due::Now
        } else if is_first || self.before < self.share {
            Due::At(earliest)
        } else {
            Due::AsSet
        }
    }

    pub(super) fn sent(&mut self, now: Time) {
        self.last = now;
        self.waiting = 0;
        self.before = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::acks::{AckLaw, Acks, Reply};

    const DELAY: Span = Span::from_millis(40);

    fn acks(round_trip_ms: u64) -> Acks {
        let mut acks = Acks::new(2, 16, 1000, Span::ZERO);
        acks.agree(AckLaw::Tack(TackConfig::PAPER));
        acks.learn_round_trip(Span::from_millis(round_trip_ms));
        acks
    }

    /// The times in milliseconds at which acknowledgements leave while a segment arrives in each `spacing` milliseconds.
    fn times(mut acks: Acks, spacing: u64, segments: u64) -> Vec<u64> {
        let mut times = Vec::new();
        let mut pending: Option<Time> = None;
        for number in 1..=segments {
            let now = Time(number * spacing * 1_000_000);
            if let Some(at) = pending.filter(|at| *at <= now) {
                times.push(at.0 / 1_000_000);
                acks.sent_at(at);
                pending = None;
            }
            assert_eq!(acks.on_segment(1000, false, false), Reply::Later);
            match acks.due(now, DELAY, pending.is_none()) {
                Due::Now => {
                    times.push(now.0 / 1_000_000);
                    acks.sent_at(now);
                    pending = None;
                }
                Due::At(at) => pending = Some(at),
                Due::AsSet => {}
            }
        }
        times
    }

    #[test]
    fn few_segments_are_acknowledged_in_pairs() {
        // Equation 3, bw / (L · MSS): below beta · L = 8 segments in a round trip of 40 ms.
        assert_eq!(times(acks(40), 10, 8), [20, 40, 60, 80]);
    }

    #[test]
    fn many_segments_are_acknowledged_beta_times_in_a_round_trip() {
        // Equation 3, beta / RTTmin: 40 segments in 40 ms, and one acknowledgement in 10 ms.
        assert_eq!(times(acks(40), 1, 60), [10, 20, 30, 40, 50, 60]);
    }

    #[test]
    fn before_the_round_trip_is_known_bytes_count() {
        let mut fresh = Acks::new(2, 16, 1000, Span::ZERO);
        fresh.agree(AckLaw::Tack(TackConfig::PAPER));
        assert_eq!(times(fresh, 1, 6), [2, 4, 6]);
    }

    #[test]
    fn a_rest_waits_for_the_delay_or_for_the_period_if_that_is_longer() {
        for (round_trip, expected) in [(40, 42), (400, 100)] {
            let mut acks = acks(round_trip);
            acks.sent_at(Time::ZERO);
            acks.on_segment(1000, false, false);
            let due = acks.due(Time(2_000_000), DELAY, true);
            assert_eq!(due, Due::At(Time(expected * 1_000_000)), "round trip of {round_trip} ms");
        }
    }

    #[test]
    fn a_gap_and_the_end_of_the_stream_are_acknowledged_at_once_and_what_follows_a_gap_is_counted() {
        let mut acks = acks(40);
        assert_eq!(acks.on_beyond(1000, 0, true, false), Reply::Now);
        assert_eq!(acks.on_beyond(1000, 0, false, false), Reply::Later);
        assert_eq!(acks.on_segment(1000, true, false), Reply::Now);
    }

    #[test]
    fn small_segments_count_by_their_bytes() {
        let mut acks = acks(0);
        for _ in 0..19 {
            acks.on_segment(100, false, false);
            assert_ne!(acks.due(Time(1), DELAY, true), Due::Now);
        }
        acks.on_segment(100, false, false);
        assert_eq!(acks.due(Time(1), DELAY, true), Due::Now);
    }
}
