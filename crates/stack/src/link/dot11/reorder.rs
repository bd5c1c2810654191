//! A receiver's reorder buffer: passes up the packets of one transmitter in the order of their sequence numbers.
//!
//! **Source.** IEEE 802.11-2012 (9.21.7), the receive reordering buffer of block acknowledgement, whose window begins
//! at the first missing number: a packet before the window is discarded. In the standard the transmitter can move the
//! window (`BlockAckReq`), which the single acknowledgements here cannot. Linux's mac80211 also lets a packet pass once
//! it has waited for a certain time (`HT_RX_REORDER_BUF_TIMEOUT`, 100 ms).
//!
//! **How.** The first packet held goes up when no earlier one is missing, or after the timeout; those that follow it
//! without a gap go up with it.

use std::collections::VecDeque;

use super::exchange::SEQUENCE_MASK;
use crate::units::{Span, Time};

/// The packets of one transmitter, whose numbers begin at zero.
#[derive(Clone, Debug)]
pub struct Reorder<T> {
    timeout: Span,
    /// The number that goes up next.
    next: u16,
    /// In the order of their numbers.
    held: VecDeque<Held<T>>,
}

#[derive(Clone, Debug)]
struct Held<T> {
    sequence: u16,
    came: Time,
    packet: T,
}

impl<T> Reorder<T> {
    /// An empty buffer.
    #[must_use]
    pub fn new(timeout: Span) -> Reorder<T> {
        Reorder { timeout, next: 0, held: VecDeque::new() }
    }

    /// Accepts a packet. Returns false where a later one went up already: it is discarded.
    pub fn take(&mut self, sequence: u16, packet: T, now: Time) -> bool {
        let ahead = self.ahead(sequence);
        if ahead > SEQUENCE_MASK / 2 {
            return false;
        }
        let before = self.held.iter().rposition(|held| self.ahead(held.sequence) < ahead);
        self.held.insert(before.map_or(0, |place| place + 1), Held { sequence, came: now, packet });
        true
    }

    /// A packet that goes up now, one at a time.
    pub fn release(&mut self, now: Time) -> Option<T> {
        let first = self.held.front()?;
        if first.sequence != self.next && now < self.due() {
            return None;
        }
        let Held { sequence, packet, .. } = self.held.pop_front()?;
        self.next = (sequence + 1) & SEQUENCE_MASK;
        Some(packet)
    }

    /// The packets held.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.held.iter().map(|held| &held.packet)
    }

    /// When the packet held first goes up, whatever is missing.
    #[must_use]
    pub fn due(&self) -> Time {
        self.held.front().map_or(Time::NEVER, |first| first.came.after(self.timeout))
    }

    fn ahead(&self, sequence: u16) -> u16 {
        sequence.wrapping_sub(self.next) & SEQUENCE_MASK
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(time: u64) -> Time {
        Time::ZERO + Span::from_millis(time)
    }

    fn released(buffer: &mut Reorder<u16>, now: Time) -> Vec<u16> {
        std::iter::from_fn(|| buffer.release(now)).collect()
    }

    #[test]
    fn packets_go_up_in_order_and_wait_for_the_one_that_is_missing() {
        let mut buffer = Reorder::new(Span::from_millis(100));
        for sequence in [2, 1, 4] {
            assert!(buffer.take(sequence, sequence, ms(0)));
            assert_eq!(released(&mut buffer, ms(0)), []);
        }
        assert!(buffer.take(0, 0, ms(50)));
        assert_eq!(released(&mut buffer, ms(50)), [0, 1, 2]);
        assert!(buffer.take(3, 3, ms(60)));
        assert_eq!(released(&mut buffer, ms(60)), [3, 4]);
        assert_eq!(buffer.due(), Time::NEVER);
    }

    #[test]
    fn the_first_goes_up_after_the_timeout_and_what_comes_late_is_discarded() {
        let mut buffer = Reorder::new(Span::from_millis(100));
        assert!(buffer.take(1, 1, ms(0)) && buffer.take(2, 2, ms(90)) && buffer.take(4, 4, ms(40)));
        assert_eq!(buffer.due(), ms(100));
        assert_eq!(released(&mut buffer, ms(99)), []);
        assert_eq!(released(&mut buffer, ms(100)), [1, 2]);
        assert!(!buffer.take(0, 0, ms(101)));
        assert_eq!(buffer.due(), ms(140));
        assert_eq!(released(&mut buffer, ms(140)), [4]);
    }

    #[test]
    fn numbers_come_round() {
        let mut buffer = Reorder::new(Span::from_millis(100));
        for number in 0..3 * 4096_u32 {
            let sequence = (number & 0xFFF) as u16;
            // Each second one comes after its follower.
            assert!(buffer.take(sequence ^ 1, sequence ^ 1, ms(0)));
            let expected: &[u16] = if number % 2 == 0 { &[] } else { &[sequence ^ 1, sequence] };
            assert_eq!(released(&mut buffer, ms(0)), expected);
        }
    }
}
