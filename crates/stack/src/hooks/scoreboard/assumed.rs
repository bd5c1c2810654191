//! Duplicate acknowledgements without selective ones: each reports that one more segment has arrived.
//!
//! **Source.** Linux: `tcp_add_reno_sack`, `tcp_remove_reno_sacks`, `tcp_limit_reno_sacked`.
//!
//! **How.** Only the number of these segments is known, not which they are. An advance contains one that filled the
//! hole; the others had been counted, as far as duplicates have arrived for them.

use super::{Advance, News, Scoreboard};

impl Scoreboard {
    /// A duplicate arrived: one more segment above the first has. False if all but the lost ones had, so that more duplicates came
    /// than segments were outstanding.
    pub fn assume(&mut self) -> bool {
        let holes = self.lost.max(1);
        if self.assumed + holes >= self.outstanding() {
            return false;
        }
        self.assumed += 1;
        if self.credited + 1 < self.outstanding() {
            self.credited += 1;
            self.news.segments += 1;
            self.news.bytes += self.segments.front().map_or(0, |first| u64::from(first.len));
        }
        true
    }

    /// Segments assumed to have arrived.
    #[must_use]
    #[inline]
    pub fn assumed(&self) -> u32 {
        self.assumed
    }

    /// Nothing is assumed any more: the hole is filled, or all counts as lost. What was news stays so: where it is acknowledged
    /// after a timeout, it was not delivered since.
    #[inline]
    pub fn forget_assumed(&mut self) {
        self.assumed = 0;
    }

    /// What was news at duplicates is news again where it is acknowledged, as in Linux.
    pub fn forget_credit(&mut self) {
        self.credited = 0;
    }

    /// An advance, of which `known` was news before: what duplicates had reported is not news again.
    pub(super) fn settle(&mut self, advance: &Advance, known: News) {
        if advance.segments == 0 {
            return;
        }
        let counted = self.credited.min(advance.segments - 1);
        let bytes = self.news.bytes - known.bytes;
        self.news.segments -= counted;
        self.news.bytes -= bytes / u64::from(advance.segments) * u64::from(counted);
        self.credited = (self.credited - counted).min(self.outstanding());
        self.assumed -= self.assumed.min(advance.segments - 1);
        let holes = self.lost.max(1).min(self.outstanding());
        self.assumed = self.assumed.min(self.outstanding() - holes);
    }
}

#[cfg(test)]
mod tests {
    use crate::hooks::scoreboard::Scoreboard;
    use crate::units::Time;

    /// Ten segments of 100 bytes outstanding, and this many duplicates.
    fn after(duplicates: u32) -> Scoreboard {
        let mut board = Scoreboard::default();
        for _ in 0..10 {
            board.push(100, false, Time::ZERO);
        }
        for _ in 0..duplicates {
            board.assume();
        }
        board
    }

    #[test]
    fn a_duplicate_delivers_a_segment_that_the_advance_does_not_deliver_again() {
        let mut board = after(4);
        assert_eq!((board.assumed(), board.pipe()), (4, 6));
        let news = board.take_news();
        assert_eq!((news.segments, news.bytes, news.newest), (4, 400, None));
        // The hole, and the four behind it.
        board.advance(500);
        let news = board.take_news();
        assert_eq!((news.segments, news.bytes, news.newest), (1, 100, Some(4)));
        assert_eq!((board.assumed(), board.pipe()), (0, 5));
    }

    #[test]
    fn an_advance_delivers_at_least_one_segment_and_leaves_what_lies_above_it_assumed() {
        let mut board = after(6);
        board.take_news();
        board.advance(200);
        assert_eq!((board.take_news().segments, board.assumed(), board.pipe()), (1, 5, 3));
        board.advance(1000);
        assert_eq!((board.take_news().segments, board.assumed(), board.pipe()), (3, 0, 0));
    }

    #[test]
    fn what_was_reported_before_a_go_back_is_not_delivered_again() {
        let mut board = after(4);
        board.forget_assumed();
        board.go_back();
        board.take_news();
        board.advance(500);
        assert_eq!((board.take_news().segments, board.assumed()), (1, 0));
    }

    #[test]
    fn no_more_is_assumed_than_can_have_arrived() {
        let mut board = after(20);
        assert_eq!((board.assumed(), board.pipe()), (9, 1));
        assert!(!board.assume());
        board.lose(0);
        board.lose(1);
        board.advance(100);
        assert_eq!((board.assumed(), board.pipe()), (8, 0));
    }
}
