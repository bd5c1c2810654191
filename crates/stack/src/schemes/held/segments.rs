//! The segments of one flow that a mobile has not acknowledged.

use std::collections::VecDeque;

use crate::packet::{Body, Packet, Segment, Timestamps};
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
        /// The latest timestamp that the mobile has echoed.
        echoed: Option<u32>,
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
            echoed: None,
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

    /// The segment at this position as it is sent again. Its timestamp is not earlier than what the mobile echoes; otherwise the
    /// mobile would discard it (RFC 7323, 5.2).
    pub(in super::super) fn copy(&self, place: usize) -> Option<Packet> {
        let mut copy = self.held.get(place)?.packet;
        if let Body::Tcp(segment) = &mut copy.body
            && let Some((stamps, echoed)) = segment.options.timestamps.as_mut().zip(self.echoed)
            && Timestamps::is_later(echoed, stamps.value)
        {
            stamps.value = echoed;
        }
        Some(copy)
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
        let echo = segment.options.timestamps.map(|stamps| stamps.echo);
        if let Some(echo) =
            echo.filter(|echo| self.echoed.is_none_or(|last| Timestamps::is_later(*echo, last)))
        {
            self.echoed = Some(echo);
        }
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

#[cfg(test)]
mod tests {
    use super::super::script::{LEN, MOBILE, SERVER, ack, data, packet};
    use super::*;

    fn stamped(mut packet: Packet, value: u32, echo: u32) -> (Packet, Segment) {
        let Body::Tcp(segment) = &mut packet.body else { panic!("a segment") };
        segment.options.timestamps = Some(Timestamps { value, echo });
        let segment = *segment;
        (packet, segment)
    }

    fn value(copy: Option<Packet>) -> u32 {
        let Some(Packet { body: Body::Tcp(segment), .. }) = copy else { panic!("a segment") };
        segment.options.timestamps.expect("stamped").value
    }

    /// Segments 0 to 2, sent when the clock of their sender showed this.
    fn held(clock: u32) -> Segments<u32> {
        let mut segments = Segments::new(10);
        for number in 0..3 {
            let (packet, segment) = stamped(data(number), clock.wrapping_add(number), 0);
            assert_eq!(segments.take(&packet, &segment, number), Taken::Last);
        }
        segments
    }

    #[test]
    fn a_copy_is_not_earlier_than_what_the_mobile_echoes() {
        // The clock wraps.
        for clock in [1_000, u32::MAX, u32::MAX - 20] {
            let mut segments = held(clock);
            let mut hear = |number: u32, echo: u32| {
                let (_, segment) = stamped(packet(MOBILE, SERVER, ack(number)), 1, clock.wrapping_add(echo));
                segments.hear(&segment, |_| {});
                [0, 1].map(|place| value(segments.copy(place)).wrapping_sub(clock))
            };
            assert_eq!(hear(1, 0), [1, 2], "each has its own");
            assert_eq!(hear(1, 30), [30, 30], "the sender has repeated a segment meanwhile");
            assert_eq!(hear(1, 2), [30, 30], "an acknowledgement is late");
        }
    }

    #[test]
    fn a_copy_without_timestamps_is_the_segment_itself() {
        let mut segments = Segments::new(10);
        let plain = data(0);
        let Body::Tcp(segment) = plain.body else { panic!("a segment") };
        segments.take(&plain, &segment, 0u32);
        segments.hear(&stamped(packet(MOBILE, SERVER, ack(0)), 1, 5).1, |_| {});
        assert_eq!(segments.copy(0), Some(plain));
        assert_eq!(segments.copy(1), None);
        assert_eq!(segment.len, LEN);
    }
}
