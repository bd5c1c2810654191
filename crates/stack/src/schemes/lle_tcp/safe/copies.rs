//! The agent's copies of unacknowledged segments.

use std::collections::VecDeque;

use crate::packet::Packet;
use crate::state_bytes::{StateBytes, state_bytes};
use crate::units::Time;

/// The number of the packet that brought a range ([`Packet::id`]). It is not state: it stands for the bytes of the range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number(pub(super) u32);

impl StateBytes for Number {
    const BYTES: u64 = 0;
}

state_bytes! {
    /// A range of the stream that was handed to the link.
    #[derive(Clone, Copy, Debug)]
    pub(super) struct Kept {
        /// Stream offset of its first byte.
        pub(super) start: u64,
        /// Payload bytes.
        pub(super) len: u32,
        pub(super) of: Number,
        /// Whether it carried PSH.
        pub(super) push: bool,
        /// Whether the link discarded it, by the link's last report.
        pub(super) given_up: bool,
        /// Whether the link holds a copy sent from here.
        pub(super) resent: bool,
        /// When the last copy was sent, or left the link.
        pub(super) resent_at: Time,
        /// The numbers of its first and its last delivery by the link; 0 before. A delivery before the receiver was known
        /// to lack it no longer counts as the first.
        pub(super) first_delivery: u64,
        pub(super) last_delivery: u64,
    }
}

impl Kept {
    /// The offset after its last byte.
    pub(super) fn end(&self) -> u64 {
        self.start + u64::from(self.len)
    }
}

state_bytes! {
    /// The stored data of one flow: ranges in ascending order that do not overlap.
    #[derive(Clone, Debug, Default)]
    pub(super) struct Copies {
        kept: VecDeque<Kept>,
        payload: u64,
    }
}

impl Copies {
    /// Stores `[start, end)` of a packet, except what is already stored. Returns whether there was room for all of it.
    pub(super) fn keep(&mut self, start: u64, end: u64, of: Number, push: bool, room: u64) -> bool {
        let mut from = start;
        let mut index = match self.kept.back() {
            Some(last) if last.end() > start => self.index_of(start),
            _ => self.kept.len(),
        };
        while from < end {
            let until = match self.kept.get(index) {
                Some(next) if next.start <= from => {
                    from = from.max(next.end());
                    index += 1;
                    continue;
                }
                Some(next) => end.min(next.start),
                None => end,
            };
            if self.payload + (until - from) > room {
                return false;
            }
            self.payload += until - from;
            self.kept.insert(
                index,
                Kept {
                    start: from,
                    len: (until - from) as u32,
                    of,
                    push,
                    given_up: false,
                    resent: false,
                    resent_at: Time::ZERO,
                    first_delivery: 0,
                    last_delivery: 0,
                },
            );
            from = until;
            index += 1;
        }
        true
    }

    /// The receiver has acknowledged all data below `offset`. Returns how many of the released ranges the link had
    /// discarded, and the highest first delivery among them.
    pub(super) fn release(&mut self, offset: u64) -> (u64, u64) {
        let (mut given_up, mut seen) = (0, 0);
        while let Some(first) = self.kept.front_mut() {
            if first.end() > offset {
                if first.start < offset {
                    let gone = offset - first.start;
                    first.start = offset;
                    first.len -= gone as u32;
                    self.payload -= gone;
                }
                break;
            }
            given_up += u64::from(first.given_up);
            seen = first.first_delivery.max(seen);
            self.payload -= u64::from(first.len);
            self.kept.pop_front();
        }
        (given_up, seen)
    }

    /// The end of the data stored without a gap from `start`, at most `end`.
    pub(super) fn covered(&self, start: u64, end: u64) -> u64 {
        let mut reached = start;
        for kept in self.kept.range(self.index_of(start)..) {
            if kept.start > reached || reached >= end {
                break;
            }
            reached = kept.end();
        }
        reached.min(end)
    }

    /// The link delivered `[start, end)`; this was its delivery `number`.
    pub(super) fn on_delivered(&mut self, start: u64, end: u64, number: u64) {
        let first = self.index_of(start);
        for kept in self.kept.range_mut(first..).take_while(|kept| kept.start < end) {
            kept.last_delivery = number;
            if kept.first_delivery == 0 {
                kept.first_delivery = number;
            }
        }
    }

    /// The link that held copies is another one now.
    pub(super) fn leave_link(&mut self) {
        for kept in &mut self.kept {
            (kept.resent, kept.resent_at) = (false, Time::ZERO);
        }
    }

    /// The first delivery of the data at `offset` that the receiver may have got; 0 if it is unknown.
    pub(super) fn delivery_of(&self, offset: u64) -> u64 {
        let kept = self.kept.get(self.index_of(offset)).filter(|kept| kept.start <= offset);
        kept.map_or(0, |kept| kept.first_delivery)
    }

    /// All ranges, in order.
    pub(super) fn each(&self) -> impl Iterator<Item = &Kept> {
        self.kept.iter()
    }

    /// The range that contains `offset`.
    pub(super) fn at(&mut self, offset: u64) -> Option<&mut Kept> {
        let index = self.index_of(offset);
        self.kept.get_mut(index).filter(|kept| kept.start <= offset)
    }

    /// The ranges that begin at or after `start` and below `limit`, in order.
    pub(super) fn between(&mut self, start: u64, limit: u64) -> impl Iterator<Item = &mut Kept> {
        let first = self.kept.partition_point(|kept| kept.start < start);
        self.kept.range_mut(first..).take_while(move |kept| kept.start < limit)
    }

    /// Bytes of state: the payload, and a header and the record for each range.
    pub(super) fn bytes(&self) -> u64 {
        self.payload + self.kept.len() as u64 * (Packet::BYTES + Kept::BYTES)
    }

    /// Index of the first range that ends beyond `offset`.
    fn index_of(&self, offset: u64) -> usize {
        self.kept.partition_point(|kept| kept.end() <= offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stretches(copies: &Copies) -> Vec<(u64, u64)> {
        copies.kept.iter().map(|kept| (kept.start, kept.end())).collect()
    }

    #[test]
    fn a_segment_cut_differently_the_second_time_fills_the_gaps_only() {
        let mut copies = Copies::default();
        assert!(copies.keep(0, 100, Number(0), false, 1000));
        assert!(copies.keep(200, 300, Number(0), false, 1000));
        assert!(copies.keep(50, 350, Number(0), false, 1000));
        assert_eq!(stretches(&copies), [(0, 100), (100, 200), (200, 300), (300, 350)]);
        assert_eq!((copies.covered(20, 400), copies.payload), (350, 350));
    }

    #[test]
    fn what_finds_no_room_is_not_covered() {
        let mut copies = Copies::default();
        assert!(copies.keep(0, 100, Number(0), false, 150));
        assert!(!copies.keep(100, 200, Number(0), false, 150));
        assert_eq!(copies.covered(0, 200), 100);
    }

    #[test]
    fn an_acknowledgement_within_a_segment_releases_its_part() {
        let mut copies = Copies::default();
        copies.keep(0, 100, Number(0), false, 1000);
        copies.keep(100, 200, Number(0), false, 1000);
        copies.at(50).expect("kept").given_up = true;
        copies.on_delivered(0, 100, 7);
        copies.on_delivered(0, 200, 8);
        assert_eq!(copies.release(150), (1, 7));
        assert_eq!((copies.delivery_of(149), copies.delivery_of(150)), (0, 8));
        assert_eq!((stretches(&copies), copies.payload), (vec![(150, 200)], 50));
    }
}
