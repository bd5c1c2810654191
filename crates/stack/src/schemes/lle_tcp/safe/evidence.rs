//! Separates duplicate acknowledgements caused by losses above the link from those caused by the link.
//!
//! A segment that the link delivers without advancing the stream (old, beyond a hole, a probe) makes the receiver
//! repeat its number. Such a repeat may wait in the receiver's queue while the link delivers the missing data, and
//! arrive when the agent believes the receiver to be further on. It is not evidence of a loss. Therefore each such
//! delivery excuses one repeat of the receiver's number at that time. A repeat without an excuse can only come from a
//! receiver that lacks data that the link had delivered. An excuse that is never used delays a repair until the silence
//! ends. If SACK blocks show which deliveries the receiver has seen, excuses are not needed.

use crate::state_bytes::{of_all, state_bytes};
use std::collections::VecDeque;

state_bytes! {
    /// Repeats that deliveries explain, by number in ascending order.
    #[derive(Clone, Debug, Default)]
    pub(super) struct Excuses {
        by_number: VecDeque<(u64, u32)>,
    }
}

impl Excuses {
    /// The receiver, which should have all data below `number`, got a segment that makes it repeat `number`.
    pub(super) fn add(&mut self, number: u64) {
        match self.by_number.back_mut() {
            Some((last, count)) if *last == number => *count = count.saturating_add(1),
            _ => self.by_number.push_back((number, 1)),
        }
    }

    /// The receiver sent `number`: the excuses for lower numbers are obsolete.
    pub(super) fn advance(&mut self, number: u64) {
        while self.by_number.front().is_some_and(|&(first, _)| first < number) {
            self.by_number.pop_front();
        }
    }

    /// Uses up one excuse for a repeat of `number`, if that is the lowest excused number. Returns whether there was
    /// one.
    pub(super) fn take(&mut self, number: u64) -> bool {
        let Some((_, count)) = self.by_number.front_mut().filter(|(first, _)| *first == number) else {
            return false;
        };
        *count -= 1;
        if *count == 0 {
            self.by_number.pop_front();
        }
        true
    }

    /// Bytes beyond the type itself.
    pub(super) fn bytes(&self) -> u64 {
        of_all(&self.by_number.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excuse_serves_once_and_only_for_its_number() {
        let mut excuses = Excuses::default();
        excuses.add(1000);
        excuses.add(1000);
        excuses.add(3000);
        assert!(!excuses.take(3000), "the receiver has not come so far");
        assert!(excuses.take(1000) && excuses.take(1000) && !excuses.take(1000));
        excuses.add(4000);
        excuses.advance(4000);
        assert_eq!(excuses.bytes(), 8 + 4, "that of 3000 is gone");
        assert!(excuses.take(4000));
        assert_eq!(excuses.bytes(), 0);
    }
}
