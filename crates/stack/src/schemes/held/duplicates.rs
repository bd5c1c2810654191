//! Duplicate acknowledgements of one flow: which of them requests a retransmission, and which are expected after one.

use crate::state_bytes::state_bytes;

state_bytes! {
    /// The duplicates since the last advance.
    #[derive(Clone, Copy, Debug, Default)]
    pub(in super::super) struct Duplicates {
        /// Number of duplicates received.
        seen: u32,
        /// Number of duplicates still expected from segments sent after the retransmitted one; `None` before a
        /// retransmission.
        expected: Option<u32>,
    }
}

/// The meaning of a duplicate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Tells {
    /// Nothing yet: it is among the first.
    Nothing,
    /// The segment is lost.
    Loss,
    /// A segment sent before the retransmission has arrived.
    Expected,
    /// The retransmission is lost as well.
    LostCopy,
}

impl Duplicates {
    /// Counts one more duplicate; the first `threshold` indicate nothing.
    pub(in super::super) fn take(&mut self, threshold: u32) -> Tells {
        self.seen += 1;
        match &mut self.expected {
            None if self.seen <= threshold => Tells::Nothing,
            None => Tells::Loss,
            Some(0) => Tells::LostCopy,
            Some(expected) => {
                *expected -= 1;
                Tells::Expected
            }
        }
    }

    /// Records a retransmission with this many segments behind it. Each causes one duplicate, unless it has already
    /// done so.
    pub(in super::super) fn repaired(&mut self, behind: u32) {
        self.expected = Some(behind.saturating_sub(self.seen));
    }

    /// Resets the counts after an advance.
    pub(in super::super) fn clear(&mut self) {
        *self = Duplicates::default();
    }
}
