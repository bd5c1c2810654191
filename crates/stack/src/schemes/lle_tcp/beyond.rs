//! Data delivered out of order, and its order in SACK options.

use crate::packet::MAX_SACK_BLOCKS;
use crate::ranges::Ranges;

/// Ranges of stream offsets beyond the first hole.
#[derive(Clone, Debug, Default)]
pub(super) struct Beyond {
    ranges: Ranges,
    /// Newest first (RFC 2018, 4).
    recent: Vec<(u64, u64)>,
}

impl Beyond {
    /// Whether `[start, end)` was delivered.
    pub(super) fn contains(&self, start: u64, end: u64) -> bool {
        self.ranges.contains(start, end)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Adds `[start, end)`; false if all of it is known.
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

    /// All below `offset` is delivered. Returns how far all is, with what lies behind the holes that this filled.
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
        ((self.ranges.as_slice().len() + self.recent.len()) * size_of::<(u64, u64)>()) as u64
    }
}
