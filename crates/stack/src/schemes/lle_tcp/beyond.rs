//! Data delivered out of order, and its order in SACK options.

use crate::packet::MAX_SACK_BLOCKS;
use crate::ranges::Ranges;
use crate::state_bytes::{of_all, state_bytes};

state_bytes! {
    /// Ranges of stream offsets beyond the first hole.
    #[derive(Clone, Debug, Default)]
    pub(super) struct Beyond {
        ranges: Ranges,
        /// Newest first (RFC 2018, 4).
        recent: Vec<(u64, u64)>,
    }
}

impl Beyond {
    /// Whether `[start, end)` was delivered.
    pub(super) fn contains(&self, start: u64, end: u64) -> bool {
        self.ranges.contains(start, end)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds `[start, end)`. Returns false if all of it is known.
    pub(super) fn insert(&mut self, start: u64, end: u64) -> bool {
        if self.contains(start, end) {
            return false;
        }
        let block = self.ranges.insert(start, end);
        self.recent.retain(|old| old.0 < block.0 || old.1 > block.1);
        self.recent.insert(0, block);
        self.recent.truncate(MAX_SACK_BLOCKS);
        true
    }

    /// All data below `offset` is delivered. Returns the end of the data without a hole, including the ranges that this
    /// joins.
    pub(super) fn advance(&mut self, offset: u64) -> u64 {
        let delivered = self.ranges.advance(offset);
        self.recent.retain(|block| block.0 > delivered);
        delivered
    }

    /// The ranges that grew last, newest first.
    pub(super) fn newest(&self) -> impl Iterator<Item = (u64, u64)> {
        self.recent.iter().copied()
    }

    /// Bytes beyond the type itself.
    pub(super) fn bytes(&self) -> u64 {
        of_all(&self.ranges.as_slice().iter()) + of_all(&self.recent.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn newest(beyond: &Beyond) -> Vec<(u64, u64)> {
        beyond.newest().collect()
    }

    #[test]
    fn the_range_that_grew_last_comes_first_and_what_is_known_changes_nothing() {
        let mut beyond = Beyond::default();
        assert!(beyond.insert(300, 400) && beyond.insert(500, 600) && beyond.insert(400, 450));
        assert_eq!(newest(&beyond), [(300, 450), (500, 600)]);
        assert!(!beyond.insert(510, 600));
        assert_eq!(newest(&beyond), [(300, 450), (500, 600)]);
        assert!(beyond.contains(310, 450) && !beyond.contains(440, 460));
    }

    #[test]
    fn an_advance_takes_along_what_it_joins() {
        let mut beyond = Beyond::default();
        beyond.insert(200, 300);
        beyond.insert(400, 500);
        assert_eq!(beyond.advance(100), 100);
        assert_eq!(newest(&beyond), [(400, 500), (200, 300)]);
        assert_eq!(beyond.advance(200), 300);
        assert_eq!(newest(&beyond), [(400, 500)]);
        assert_eq!((beyond.advance(400), beyond.is_empty()), (500, true));
    }

    #[test]
    fn no_more_ranges_are_listed_than_an_option_has_room_for() {
        let mut beyond = Beyond::default();
        for start in [100, 300, 500, 700, 900] {
            beyond.insert(start, start + 100);
        }
        assert_eq!(newest(&beyond), [(900, 1_000), (700, 800), (500, 600), (300, 400)]);
        assert!(beyond.contains(100, 200));
    }
}
