//! Which segment has a property: by its number, its offset or its fate.

use super::{Scoreboard, Sent};
use crate::hooks::Pick;

impl Scoreboard {
    /// The outstanding segment that begins at this stream offset, if there is one.
    #[must_use]
    pub fn at(&self, offset: u64) -> Option<&Sent> {
        self.segments.get(self.index_at(offset)).filter(|segment| segment.start == offset)
    }

    /// The first segment at or after `from` and below `limit` that is not selectively acknowledged.
    #[must_use]
    pub fn first_unsacked(&self, from: u64, limit: u64) -> Option<u64> {
        let number = self.skip_sacked(from.max(self.base));
        (number < limit.min(self.end())).then_some(number)
    }

    /// The first segment of a go-back that was declared lost and not resent since.
    #[must_use]
    pub fn next_lost(&self) -> Option<u64> {
        self.first_lost(self.next)
    }

    /// The first segment at or after `from` that was declared lost and not resent since.
    #[must_use]
    pub fn first_lost(&self, from: u64) -> Option<u64> {
        let mut number = self.skip_sacked(from.max(self.base));
        while number < self.end() && !self.is_lost(number) {
            number = self.skip_sacked(number + 1);
        }
        (number < self.end()).then_some(number)
    }

    /// What slow start sends next after a go-back: what is lost, then new data, all within `cwnd` of the first
    /// unacknowledged segment (RFC 5681, 2).
    #[must_use]
    pub fn next_in_slow_start(&self, cwnd: u32) -> Option<Pick> {
        let lost = self.next_lost();
        let place = lost.unwrap_or(self.end()) - self.base;
        (place < u64::from(cwnd)).then(|| lost.map_or(Pick::New, Pick::Again))
    }

    /// The first number at or after `number` that is not selectively acknowledged. It leaps over whole ranges, since a
    /// walk along each would cost as much as the window for every acknowledgement.
    fn skip_sacked(&self, mut number: u64) -> u64 {
        while number < self.end() && self.is_sacked(number) {
            let start = self.get(number).start;
            let ranges = self.sacked_ranges.as_slice();
            let range = ranges.partition_point(|range| range.1 <= start);
            let leap = ranges.get(range).map_or(number + 1, |range| self.number_at(range.1));
            number = leap.max(number + 1);
        }
        number
    }

    /// The last segment not selectively acknowledged. It leaps over whole ranges, as `skip_sacked` does.
    #[must_use]
    pub fn last_unsacked(&self) -> Option<u64> {
        let mut after = self.end();
        while after > self.base && self.is_sacked(after - 1) {
            let start = self.get(after - 1).start;
            let ranges = self.sacked_ranges.as_slice();
            let range = ranges.partition_point(|range| range.1 <= start);
            let leap = ranges.get(range).map_or(after - 1, |range| self.number_at(range.0));
            after = leap.min(after - 1);
        }
        (after > self.base).then(|| after - 1)
    }

    /// The number of the first segment at or above stream offset `offset`.
    #[must_use]
    pub fn number_at(&self, offset: u64) -> u64 {
        self.base + self.index_at(offset) as u64
    }

    /// The whole segments between two offsets. Of a segment that a SACK block covers in part nothing counts, as in Linux.
    #[inline(never)]
    pub(super) fn whole(&self, left: u64, right: u64) -> (u64, u64) {
        let start = |index: usize| self.segments.get(index).map_or(self.sent_end, |it| it.start);
        let after = self.index_at(right);
        let is_cut = start(after) > right;
        (start(self.index_at(left)), start(after - usize::from(is_cut)))
    }

    pub(super) fn index_at(&self, offset: u64) -> usize {
        // Nearly always all segments have the same length, so the guess is right.
        if let Some(first) = self.segments.front() {
            let guess = (offset.saturating_sub(first.start) / u64::from(first.len.max(1))) as usize;
            if guess < self.segments.len() && self.segments[guess].start == offset {
                return guess;
            }
        }
        self.segments.partition_point(|segment| segment.start < offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Time;
    use proptest::prelude::*;

    /// Segments of these lengths after two that have arrived, with these acknowledged selectively.
    fn board(lengths: &[u32], sacked: &[std::ops::Range<usize>]) -> Scoreboard {
        board_of_parts(lengths, &sacked.iter().map(|range| (range.clone(), [0; 2])).collect::<Vec<_>>())
    }

    /// The same, with each SACK block shortened by the given number of bytes at its left and right edge.
    fn board_of_parts(lengths: &[u32], sacked: &[(std::ops::Range<usize>, [u64; 2])]) -> Scoreboard {
        let mut board = Scoreboard::default();
        [10, 10].iter().chain(lengths).for_each(|len| board.push(*len, false, Time::ZERO));
        board.advance(20);
        for (range, [before, after]) in sacked {
            let end =
                |segments: usize| 20 + lengths.iter().take(segments).map(|len| u64::from(*len)).sum::<u64>();
            board.sack(end(range.start) + before, end(range.end) - after);
        }
        board.mark_lost();
        board
    }

    proptest! {
        #[test]
        fn leaps_over_ranges_end_where_a_walk_does(
            lengths in prop::collection::vec(prop::sample::select(vec![10_u32, 10, 10, 7, 25]), 0..24),
            sacked in prop::collection::vec(
                ((0..24_usize, 1..6_usize).prop_map(|(at, some)| at..at + some), prop::array::uniform2(0..12_u64)),
                0..6,
            ),
            (from, limit) in (0..30_u64, 0..30_u64),
        ) {
            let board = board_of_parts(&lengths, &sacked);
            let waits = |number: &u64| !board.is_sacked(*number);
            let (base, end) = (board.base, board.end());
            prop_assert_eq!(board.first_unsacked(from, limit), (from.max(base)..limit.min(end)).find(waits));
            prop_assert_eq!(board.last_unsacked(), (base..end).rfind(waits));
            let is_lost = |number: &u64| waits(number) && board.is_lost(*number);
            prop_assert_eq!(board.first_lost(from), (from.max(base)..end).find(is_lost));
        }

        #[test]
        fn a_segment_is_found_by_its_first_byte_whatever_the_lengths(
            lengths in prop::collection::vec(prop::sample::select(vec![10_u32, 10, 10, 7, 25]), 0..24),
            offset in 0..300_u64,
        ) {
            let board = board(&lengths, &[]);
            let starts: Vec<u64> = (board.base..board.end()).map(|number| board.get(number).start).collect();
            let below = starts.iter().filter(|start| **start < offset).count() as u64;
            prop_assert_eq!(board.number_at(offset), board.base + below);
            prop_assert_eq!(board.at(offset).map(|sent| sent.start), starts.contains(&offset).then_some(offset));
        }
    }

    #[test]
    fn of_a_segment_that_blocks_cover_in_part_nothing_counts() {
        let mut board = board(&[10; 6], &[]);
        assert!(!board.sack(43, 49) && !board.sack(43, 57), "within one, and parts of two");
        assert!(board.sack(35, 55));
        assert_eq!((board.sacked(), board.fack(), board.last_unsacked()), (1, 50, Some(7)));
        assert_eq!([2, 4].map(|from| board.first_unsacked(from, 8)), [Some(2), Some(5)]);
        assert!(!board.sack(50, 59) && board.sack(45, 60), "the first adds to no segment");
        assert_eq!((board.sacked(), board.fack(), board.first_unsacked(4, 8)), (2, 60, Some(6)));
    }

    #[test]
    fn in_slow_start_what_is_lost_is_sent_before_new_data_and_both_within_the_window() {
        let mut board = board(&[10; 6], &[2..3, 4..6]);
        board.next = board.base;
        assert_eq!(board.next_lost(), Some(2));
        assert_eq!(board.next_in_slow_start(1), Some(Pick::Again(2)));
        board.next = 4;
        assert_eq!(
            (board.next_lost(), board.next_in_slow_start(6), board.next_in_slow_start(7)),
            (None, None, Some(Pick::New))
        );
    }
}
