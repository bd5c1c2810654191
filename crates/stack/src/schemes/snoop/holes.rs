//! One flow of data from a mobile: what has arrived over the wireless link.

use super::super::held::Kept;
use crate::packet::{Flags, Segment};
use crate::ranges::Ranges;
use crate::state_bytes::{StateBytes, of_all, state_bytes};
use crate::units::{SeqNo, Time};

state_bytes! {
    /// The holes of one flow. Offsets count from the first sequence number seen.
    #[derive(Clone, Debug)]
    pub(super) struct Holes {
        last_packet: Time,
        zero: SeqNo,
        /// Ranges that have arrived and are not acknowledged.
        come: Ranges,
        /// The acknowledgement number and window last seen.
        una: Option<u64>,
        window: u16,
    }
}

impl Holes {
    /// A flow that starts with this segment.
    pub(super) fn new(segment: &Segment, now: Time) -> Holes {
        Holes { last_packet: now, zero: segment.seq, come: Ranges::default(), una: None, window: 0 }
    }

    fn offset(&self, seq: SeqNo) -> Option<u64> {
        seq.unwrap_near(self.zero, self.una.unwrap_or(0))
    }

    /// Handles a segment from the mobile.
    pub(super) fn on_data(&mut self, segment: &Segment, now: Time) {
        self.last_packet = now;
        let Some(start) = self.offset(segment.seq) else { return };
        let end = start + u64::from(segment.sequence_len());
        let start = start.max(self.una.unwrap_or(0));
        if start < end {
            self.come.insert(start, end);
        }
    }

    /// Handles an acknowledgement from the fixed host. Returns whether it is a duplicate that requests data that has
    /// not arrived although later data has.
    pub(super) fn on_ack(&mut self, segment: &Segment, now: Time) -> bool {
        self.last_packet = now;
        let Some(ack) = self.offset(segment.ack) else { return false };
        if self.una.is_none_or(|una| ack > una) {
            (self.una, self.window) = (Some(ack), segment.window);
            let reached = self.come.advance(ack);
            if reached > ack {
                self.come.insert(ack, reached);
            }
            return false;
        }
        let repeats = self.una == Some(ack) && segment.window == self.window && segment.sequence_len() == 0;
        if self.una == Some(ack) {
            self.window = segment.window;
        }
        let is_hole = self.come.as_slice().first().is_some_and(|range| range.0 > ack);
        repeats && is_hole && !segment.flags.has(Flags::FIN)
    }
}

impl Kept for Holes {
    fn last_packet(&self) -> Time {
        self.last_packet
    }

    fn deadline(&self) -> Time {
        Time::NEVER
    }

    fn bytes(&self) -> u64 {
        Self::BYTES + of_all(&self.come.as_slice().iter())
    }

    fn move_to(&mut self, now: Time) {
        self.last_packet = now;
    }
}
