//! SACK blocks: data received out of order, and which deliveries of the link the receiver has confirmed.

use super::generator::Generator;
use crate::packet::Segment;

/// The information in SACK blocks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Blocks {
    /// Whether they report data that the link had not reported.
    pub(super) news: bool,
    /// The last delivery of the link that the receiver is known to have seen.
    pub(super) seen: u64,
}

impl Generator {
    /// Processes the receiver's SACK blocks.
    pub(super) fn take_blocks(&mut self, segment: &Segment, ack: u64) -> Option<Blocks> {
        let mut heard = None;
        for &(left, right) in segment.options.sack.as_slice() {
            let (Some(left), Some(right)) = (self.offset(left), self.offset(right)) else {
                continue;
            };
            if left >= right || right > self.sent_end {
                continue;
            }
            if right <= ack || (self.selective.contains(left, right) && self.is_twice(segment, left, right)) {
                // Reported only if the sender itself sent it twice, not for a repair from here.
                if left < self.sent_again {
                    self.twice = Some((left, right));
                }
                continue;
            }
            self.selective.insert(left.max(ack), right);
            // The newest data is at an end of its block, unless it joined two blocks.
            let ends = [left.max(ack), right.min(self.fin.unwrap_or(right)) - 1];
            let seen = ends.into_iter().map(|end| self.copies.delivery_of(end)).max().unwrap_or(0);
            // Only the receiver acknowledges a FIN that it has.
            let (left, right) = (left.max(self.delivered), right.min(self.fin.unwrap_or(right)));
            let blocks: &mut Blocks = heard.get_or_insert_default();
            blocks.seen = blocks.seen.max(seen);
            blocks.news |= left < right && self.beyond.insert(left, right);
        }
        heard
    }

    /// Whether the first block lies within the second: a range received twice (RFC 2883, 4.2).
    fn is_twice(&self, segment: &Segment, left: u64, right: u64) -> bool {
        let blocks = segment.options.sack.as_slice();
        let outer = blocks.get(1).map(|&(left, right)| (self.offset(left), self.offset(right)));
        let first = blocks.first().is_some_and(|&first| self.offset(first.0) == Some(left));
        first
            && matches!(outer, Some((Some(outer_left), Some(outer_right)))
                if outer_left <= left && right <= outer_right)
    }
}
