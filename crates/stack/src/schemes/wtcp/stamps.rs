//! Estimates how fast the timestamps of a sender advance, as seen from a station.

use crate::packet::Timestamps;
use crate::state_bytes::state_bytes;
use crate::units::{Span, Time};

/// The minimum time over which the rate is measured.
const LEAST: Span = Span::from_secs(1);

state_bytes! {
    /// The first and the latest timestamp of a flow, with their arrival times.
    #[derive(Clone, Copy, Debug, Default)]
    pub(super) struct Stamps {
        first: Option<(u32, Time)>,
        latest: (u32, Time),
    }
}

impl Stamps {
    /// Records the timestamp of an arriving segment.
    pub(super) fn take(&mut self, stamp: u32, now: Time) {
        let (latest, _) = self.latest;
        if self.first.is_none() {
            self.first = Some((stamp, now));
            self.latest = (stamp, now);
        } else if !Timestamps::is_later(latest, stamp) {
            self.latest = (stamp, now);
        }
    }

    /// The number of ticks in a time span, rounded down.
    fn ticks(&self, span: Span) -> Option<u32> {
        let (first, since) = self.first?;
        let (latest, until) = self.latest;
        let measured = until.since(since);
        if measured < LEAST {
            return None;
        }
        let ticks = u128::from(latest.wrapping_sub(first)) * u128::from(span.0) / u128::from(measured.0);
        u32::try_from(ticks).ok()
    }

    /// The timestamp advanced by `span`, but not beyond what the sender's clock shows now.
    pub(super) fn later(&self, stamp: u32, span: Span, now: Time) -> Option<u32> {
        let later = stamp.wrapping_add(self.ticks(span)?);
        let shows = self.latest.0.wrapping_add(self.ticks(now.since(self.latest.1))?);
        Some(if Timestamps::is_later(later, shows) { shows } else { later })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO.after(Span::from_millis(ms))
    }

    #[test]
    fn a_second_of_stamps_tells_the_unit_of_the_clock() {
        let mut stamps = Stamps::default();
        let begin = u32::MAX - 3;
        stamps.take(begin, at(500));
        stamps.take(begin.wrapping_add(90), at(1_400));
        assert_eq!(stamps.later(begin, Span::from_millis(50), at(1_400)), None);
        stamps.take(begin.wrapping_add(100), at(1_500));
        // Ticks of 10 ms, rounded down; 200 ms after the latest timestamp the clock shows 120.
        assert_eq!(stamps.later(begin, Span::from_millis(59), at(1_700)), Some(begin.wrapping_add(5)));
        let bound = stamps.later(begin.wrapping_add(100), Span::from_secs(1), at(1_700));
        assert_eq!(bound, Some(begin.wrapping_add(120)));
        // Of segments with one timestamp the last shows how far the clock can be.
        stamps.take(begin.wrapping_add(100), at(1_509));
        // An old timestamp does not turn the clock back.
        stamps.take(begin, at(1_800));
        assert_eq!(stamps.latest, (begin.wrapping_add(100), at(1_509)));
    }
}
