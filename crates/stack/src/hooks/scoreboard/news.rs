//! What acknowledgements newly report to have arrived.

use super::{Scoreboard, Sent};
use crate::units::Time;

/// The segments that an acknowledgement newly reports as delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Delivered {
    /// Number of bytes.
    pub bytes: u64,
    /// Number of segments.
    pub segments: u32,
    /// The number of the segment among them that was sent last.
    pub newest: Option<u64>,
}

/// What acknowledgements have reported delivered since it was taken.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct News {
    pub(super) bytes: u64,
    pub(super) segments: u32,
    pub(super) newest: Option<(Time, u64)>,
    /// When the newest of those selectively acknowledged was sent that were sent once.
    pub(super) sacked_sent: Option<Time>,
}

impl News {
    #[inline]
    pub(super) fn add(&mut self, number: u64, segment: &Sent) {
        self.bytes += u64::from(segment.len);
        self.segments += 1;
        // Compared and written by fields: the greater of two options is made in memory and read back wider than it was written.
        let (at, last) = self.newest.unwrap_or_default();
        if self.newest.is_none() || (segment.at, number) > (at, last) {
            self.newest = Some((segment.at, number));
        }
    }
}

impl Scoreboard {
    /// How many segments arrived that were not known to have, since the last [`take_news`](Scoreboard::take_news).
    #[must_use]
    #[inline]
    pub fn news(&self) -> u32 {
        self.news.segments
    }

    /// When the newest segment was sent that was selectively acknowledged since the last [`take_news`](Scoreboard::take_news),
    /// of those that were sent once.
    #[must_use]
    #[inline]
    pub fn sacked_sent(&self) -> Option<Time> {
        self.news.sacked_sent
    }

    /// What was reported delivered since the last call.
    pub fn take_news(&mut self) -> Delivered {
        let News { bytes, segments, newest, .. } = std::mem::take(&mut self.news);
        Delivered { bytes, segments, newest: newest.map(|(_, number)| number) }
    }
}
