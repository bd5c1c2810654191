//! When segments arrive, and what that reveals: round trips, reordering, and the segment of RACK (RFC 8985).

use super::{Scoreboard, Sent};
use crate::units::{Span, Time};

/// The segment that was sent last of those that have arrived, and the round trip of the one that arrived last (RFC 8985, 5.2:
/// `RACK.xmit_ts`, `RACK.end_seq` and `RACK.rtt`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latest {
    /// When it was sent.
    pub at: Time,
    /// The byte after its last.
    pub end: u64,
    /// The round trip of the segment that arrived last, which may be another. If segments that left earlier arrive now,
    /// the path takes that long, however fast a later one has overtaken them.
    pub rtt: Span,
}

impl Latest {
    /// Whether it was sent after this segment; of two that left at the same time the one with the higher bytes did.
    #[must_use]
    #[inline]
    pub fn is_after(&self, sent: &Sent) -> bool {
        (self.at, self.end) > (sent.at, sent.end())
    }
}

impl Scoreboard {
    /// Sets when the acknowledgement that is processed next arrived.
    #[inline]
    pub fn hear(&mut self, now: Time) {
        self.now = now;
        self.fack_before = self.fack.max(self.una);
    }

    /// When the acknowledgement that is being processed arrived.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Records the arrival of a segment that was sent `times` times, the last time at `at`.
    #[inline]
    pub(super) fn note_arrival(&mut self, at: Time, times: u8, end: u64) {
        let rtt = self.now.since(at);
        if times == 1 {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        } else if self.least_rtt.is_none_or(|least| rtt < least) {
            return;
        }
        self.latest_arrived = self.latest_arrived.max(at);
        if self.is_followed {
            self.follow(at, times, end, rtt);
        }
    }

    /// Records an arrival for a recovery by time. Each sets the round trip, and one that left after all those before it
    /// also sets the segment (RFC 8985, 6.2, step 2).
    fn follow(&mut self, at: Time, times: u8, end: u64, rtt: Span) {
        self.reordered |= times == 1 && end < self.fack_before;
        self.original_arrived |= times == 1 && end <= self.watched_below;
        let (at, end) = self.latest.map_or((at, end), |latest| (latest.at, latest.end).max((at, end)));
        self.latest = Some(Latest { at, end, rtt });
    }

    /// When the segment left that was sent last of those that have arrived. A copy counts if it left at least the least
    /// round trip before its acknowledgement arrived; otherwise it was an earlier copy that arrived (RFC 8985, 6.2, step 2).
    #[must_use]
    pub fn latest_arrived(&self) -> Time {
        self.latest_arrived
    }

    /// The segment sent last of those that have arrived.
    #[must_use]
    pub fn latest(&self) -> Option<Latest> {
        self.latest
    }

    /// Whether a segment that was sent once has arrived after one with higher bytes (RFC 8985, 6.2, step 3).
    #[must_use]
    pub fn is_reordered(&self) -> bool {
        self.reordered
    }

    /// The segment at this byte was late and not lost, as an echo of its own timestamp shows, though it was sent again.
    pub fn see_late(&mut self, left: u64) {
        self.reordered |= left < self.fack_before;
    }

    /// The least round trip of a segment that was sent once.
    #[must_use]
    pub fn least_rtt(&self) -> Option<Span> {
        self.least_rtt
    }

    /// The smoothed round trip.
    #[must_use]
    pub fn srtt(&self) -> Span {
        self.srtt
    }

    /// Sets the smoothed round trip, for a recovery by time; arrivals are followed from now on.
    #[inline]
    pub fn set_srtt(&mut self, srtt: Span) {
        (self.srtt, self.is_followed) = (srtt, true);
    }

    /// From now on notes the arrival of segments below `end` that were sent once.
    pub fn watch_originals(&mut self, end: u64) {
        (self.watched_below, self.original_arrived) = (end, false);
    }

    /// Whether such a segment has arrived since it was asked last.
    #[inline]
    pub fn take_original(&mut self) -> bool {
        std::mem::take(&mut self.original_arrived)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(board: &mut Scoreboard, now: u64, at: u64, times: u8, end: u64) {
        board.hear(Time(now));
        board.note_arrival(Time(at), times, end);
    }

    #[test]
    fn a_copy_that_is_back_before_the_least_round_trip_has_not_arrived() {
        let mut board = Scoreboard::default();
        heard(&mut board, 100, 10, 1, 100);
        heard(&mut board, 210, 30, 1, 200);
        assert_eq!((board.least_rtt(), board.latest_arrived()), (Some(Span(90)), Time(30)));
        heard(&mut board, 289, 200, 2, 300);
        assert_eq!(board.latest_arrived(), Time(30), "an earlier copy arrived");
        heard(&mut board, 290, 200, 2, 300);
        assert_eq!((board.least_rtt(), board.latest_arrived()), (Some(Span(90)), Time(200)));
    }

    #[test]
    fn each_arrival_sets_the_round_trip_and_the_last_that_left_the_segment() {
        let mut board = Scoreboard::default();
        heard(&mut board, 100, 20, 1, 300);
        assert_eq!(board.latest(), None, "only a recovery by time follows arrivals");
        board.set_srtt(Span(80));
        heard(&mut board, 100, 20, 1, 300);
        heard(&mut board, 130, 10, 1, 200);
        assert_eq!(board.latest(), Some(Latest { at: Time(20), end: 300, rtt: Span(120) }));
        heard(&mut board, 140, 20, 1, 400);
        assert_eq!(
            board.latest(),
            Some(Latest { at: Time(20), end: 400, rtt: Span(120) }),
            "of two the higher"
        );
    }

    #[test]
    fn a_segment_sent_once_below_one_that_had_arrived_before_is_reordering() {
        let mut board = Scoreboard::default();
        (0..4).for_each(|_| board.push(100, false, Time(0)));
        board.set_srtt(Span(80));
        board.hear(Time(100));
        board.sack(200, 300);
        board.note_arrival(Time(0), 1, 200);
        assert!(!board.is_reordered(), "both arrive with this acknowledgement");
        heard(&mut board, 110, 0, 2, 100);
        assert!(!board.is_reordered(), "it was sent again");
        heard(&mut board, 110, 0, 1, 300);
        assert!(!board.is_reordered());
        heard(&mut board, 110, 0, 1, 299);
        assert!(board.is_reordered());
    }

    #[test]
    fn an_original_below_the_mark_is_noted_once() {
        let mut board = Scoreboard::default();
        board.set_srtt(Span(80));
        board.watch_originals(200);
        heard(&mut board, 100, 0, 1, 201);
        heard(&mut board, 100, 0, 2, 200);
        assert!(!board.take_original());
        heard(&mut board, 100, 0, 1, 200);
        assert!(board.take_original() && !board.take_original());
    }
}
