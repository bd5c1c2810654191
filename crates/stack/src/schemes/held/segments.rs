//! The segments of one flow that a mobile has not acknowledged.

use std::collections::VecDeque;

use crate::packet::{Packet, Segment};
use crate::state_bytes::{StateBytes, state_bytes};
use crate::units::SeqNo;

state_bytes! {
    /// An unacknowledged segment of the mobile's, with the record that a scheme attaches to it.
    #[derive(Clone, Copy, Debug)]
    pub(in super::super) struct Held<N: StateBytes> {
        pub(in super::super) packet: Packet,
        pub(in super::super) seq: SeqNo,
        end: SeqNo,
        pub(in super::super) note: N,
    }
}

/// The result of taking a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Taken {
    /// The mobile has already acknowledged it.
    Acknowledged,
    /// It is already held, at this position.
    Known(usize),
    /// It is now held, behind all others.
    Last,
    /// It is now held at this position, before segments that had passed earlier: it was lost before the station and has
    /// been retransmitted.
    Between(usize),
    /// There is no room for it.
    Full,
}

/// The meaning of an acknowledgement to a standard TCP (RFC 5681, 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Heard {
    /// It advances.
    Advance {
        /// Whether all data, the FIN included, has been acknowledged.
        over: bool,
    },
    /// It is a duplicate.
    Duplicate,
    /// It is old, or repeats the number but carries something else: data, a new window, a duplicate SACK (RFC 2883).
    Other,
}

state_bytes! {
    /// The segments of one flow, in sequence order.
    #[derive(Clone, Debug)]
    pub(in super::super) struct Segments<N: StateBytes> {
        held: VecDeque<Held<N>>,
        most: usize,
        /// The last acknowledgement number and window seen.
        una: Option<SeqNo>,
        window: u16,
        is_heard: bool,
        fin: Option<SeqNo>,
        /// Total size of the packets held.
        bytes: u64,
    }
}

impl<N: StateBytes> Segments<N> {
    /// An empty queue with room for this many segments.
    pub(in super::super) fn new(most: usize) -> Segments<N> {
        Segments {
            held: VecDeque::with_capacity(most),
            most,
            una: None,
            window: 0,
            is_heard: false,
            fin: None,
            bytes: 0,
        }
    }

    /// Number of segments held.
    pub(in super::super) fn len(&self) -> usize {
        self.held.len()
    }

    /// Whether no segment is held.
    pub(in super::super) fn is_empty(&self) -> bool {
        self.held.is_empty()
    }

    /// Total size of the packets held, and their records.
    pub(in super::super) fn bytes(&self) -> u64 {
        self.bytes + self.held.len() as u64 * N::BYTES
    }

    /// The position of the segment that starts at this number, or the position at which to insert it.
    pub(in super::super) fn place(&self, seq: SeqNo) -> Result<usize, usize> {
        self.held.binary_search_by(|held| held.seq.distance_from(seq).cmp(&0))
    }

    /// The last window that the mobile advertised, unscaled; `None` before its first segment.
    pub(in super::super) fn window(&self) -> Option<u16> {
        self.is_heard.then_some(self.window)
    }

    /// The segment at this position.
    pub(in super::super) fn at(&mut self, place: usize) -> Option<&mut Held<N>> {
        self.held.get_mut(place)
    }

    /// The packets of all segments, in order.
    pub(in super::super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.held.iter().map(|held| &held.packet)
    }

    /// All segments, in order.
    pub(in super::super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Held<N>> {
        self.held.iter_mut()
    }

    /// The segment that the mobile expects next, if it is held.
    pub(in super::super) fn expected(&mut self) -> Option<&mut Held<N>> {
        let una = self.una?;
        self.held.front_mut().filter(|held| held.seq.distance_from(una) <= 0)
    }

    /// Takes a data segment on its way to the mobile. The first one seen is assumed to be the one that the mobile
    /// expects.
    pub(in super::super) fn take(&mut self, packet: &Packet, segment: &Segment, note: N) -> Taken {
        let end = segment.seq.plus(segment.sequence_len());
        let una = *self.una.get_or_insert(segment.seq);
        if segment.sequence_len() > segment.len {
            self.fin = Some(end);
        }
        if end.distance_from(una) <= 0 {
            return Taken::Acknowledged;
        }
        match self.place(segment.seq) {
            Ok(place) => Taken::Known(place),
            Err(place) if self.held.len() < self.most => {
                let is_last = place == self.held.len();
                self.bytes += packet.size().0;
                self.held.insert(place, Held { packet: *packet, seq: segment.seq, end, note });
                if is_last { Taken::Last } else { Taken::Between(place) }
            }
            Err(_) => Taken::Full,
        }
    }

    /// Removes a segment that was not sent after all.
    pub(in super::super) fn remove(&mut self, place: usize) {
        if let Some(held) = self.held.remove(place) {
            self.bytes -= held.packet.size().0;
        }
    }

    /// Handles an acknowledgement from the mobile; `release` receives each segment released, in order.
    pub(in super::super) fn hear(&mut self, segment: &Segment, mut release: impl FnMut(&Held<N>)) -> Heard {
        let (before, window) = (self.una, self.window);
        self.is_heard = true;
        if before.is_none_or(|una| segment.ack.distance_from(una) > 0) {
            self.una = Some(segment.ack);
            self.window = segment.window;
            while self.held.front().is_some_and(|held| held.end.distance_from(segment.ack) <= 0)
                && let Some(held) = self.held.pop_front()
            {
                self.bytes -= held.packet.size().0;
                release(&held);
            }
            return Heard::Advance { over: self.fin.is_some_and(|fin| fin.distance_from(segment.ack) <= 0) };
        }
        if before != Some(segment.ack) {
            return Heard::Other;
        }
        self.window = segment.window;
        let told = |left: SeqNo| left.distance_from(segment.ack) < 0;
        let duplicate_sack = segment.options.sack.as_slice().iter().any(|block| told(block.0));
        let repeats = segment.sequence_len() == 0 && segment.window == window && !duplicate_sack;
        if repeats { Heard::Duplicate } else { Heard::Other }
    }
}
