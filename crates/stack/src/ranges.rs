//! A sorted set of disjoint byte ranges, for data received out of order.

use crate::state_bytes::state_bytes;

state_bytes! {
    /// Half-open ranges of stream offsets, ascending, with a gap between neighbours.
    #[derive(Clone, Debug, Default)]
    pub struct Ranges {
        ranges: Vec<(u64, u64)>,
    }
}

impl Ranges {
    /// Adds `[start, end)` and returns the range that now holds it.
    pub fn insert(&mut self, start: u64, end: u64) -> (u64, u64) {
        debug_assert!(start < end, "an empty range holds nothing");
        let first = self.ranges.partition_point(|range| range.1 < start);
        let last = self.ranges.partition_point(|range| range.0 <= end);
        if first == last {
            self.ranges.insert(first, (start, end));
            return (start, end);
        }
        let merged = (start.min(self.ranges[first].0), end.max(self.ranges[last - 1].1));
        self.ranges[first] = merged;
        self.ranges.drain(first + 1..last);
        merged
    }

    /// Removes what lies below `offset` and returns where the run that starts at or below `offset` ends.
    pub fn advance(&mut self, offset: u64) -> u64 {
        let mut reached = offset;
        let covered = self.ranges.partition_point(|range| range.0 <= offset);
        if covered > 0 {
            reached = reached.max(self.ranges[covered - 1].1);
            self.ranges.drain(..covered);
        }
        reached
    }

    /// Whether `[start, end)` is held whole.
    #[must_use]
    pub fn contains(&self, start: u64, end: u64) -> bool {
        let index = self.ranges.partition_point(|range| range.1 < end);
        self.ranges.get(index).is_some_and(|range| range.0 <= start)
    }

    /// The ranges, ascending.
    #[must_use]
    pub fn as_slice(&self) -> &[(u64, u64)] {
        &self.ranges
    }

    /// Whether nothing is held.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.ranges.iter().map(|range| range.1 - range.0).sum()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.ranges.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn touching_ranges_merge() {
        let mut ranges = Ranges::default();
        assert_eq!(ranges.insert(10, 20), (10, 20));
        assert_eq!(ranges.insert(30, 40), (30, 40));
        assert_eq!(ranges.insert(20, 30), (10, 40));
        assert_eq!(ranges.as_slice(), [(10, 40)]);
    }

    #[test]
    fn advancing_swallows_the_run_it_touches() {
        let mut ranges = Ranges::default();
        ranges.insert(10, 20);
        ranges.insert(30, 40);
        assert_eq!(ranges.advance(10), 20);
        assert_eq!(ranges.as_slice(), [(30, 40)]);
        assert_eq!(ranges.advance(25), 25);
        assert_eq!(ranges.advance(35), 40);
        assert!(ranges.is_empty());
    }

    proptest! {
        #[test]
        fn holds_exactly_what_was_inserted(inserts in prop::collection::vec((0u64..200, 1u64..20), 1..40)) {
            let mut ranges = Ranges::default();
            let mut bytes = [false; 256];
            for (start, len) in inserts {
                ranges.insert(start, start + len);
                bytes[start as usize..(start + len) as usize].fill(true);
            }
            for (index, held) in bytes.iter().enumerate() {
                prop_assert_eq!(ranges.contains(index as u64, index as u64 + 1), *held);
            }
            prop_assert!(ranges.as_slice().windows(2).all(|pair| pair[0].1 < pair[1].0));
            prop_assert_eq!(ranges.bytes(), bytes.iter().filter(|held| **held).count() as u64);
        }
    }
}
