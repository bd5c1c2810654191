//! The receiving side: discards duplicates and reassembles fragments.
//!
//! There is one record per transmitter, as IEEE 802.11-2012, 9.3.2.10 requires: the sequence control last received from
//! it, and the progress of an MSDU in fragments. Records are indexed by the number of the node, because nodes are
//! numbered from zero. If fragments may come in any order, a record is a window of sequence numbers, each with a bit
//! map of what was received.

use super::exchange::SEQUENCE_MASK;
use super::frame::Frame;
use super::standard::Reassembly;
use super::units::WINDOW;

/// The classification of a data frame at its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accepted {
    /// It completes an MSDU.
    Whole,
    /// A fragment, with more to come or others missing.
    Part,
    /// Received before.
    Duplicate,
}

/// The record of one transmitter.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Sequence control of the last frame.
    last: Option<u16>,
    /// Sequence control of the fragment that continues what has been received without a gap.
    expected: Option<u16>,
}

/// The received part of one MSDU.
#[derive(Clone, Copy, Debug, Default)]
struct Received {
    /// Its sequence number, extended beyond the twelve bits, which wrap; 0 is none.
    number: u32,
    /// Its fragments, a bit for each.
    fragments: u16,
    /// How many it has, once the last has arrived.
    of: Option<u8>,
}

/// The MSDUs of one transmitter whose fragments come in any order.
#[derive(Clone, Debug, Default)]
struct Window {
    /// The highest sequence number received, extended.
    newest: u32,
    /// Each at its number modulo the length.
    received: Vec<Received>,
}

impl Window {
    fn accept(&mut self, frame: &Frame) -> Accepted {
        if self.received.is_empty() {
            self.received.resize(usize::from(WINDOW), Received::default());
            // No number before the first is below one window.
            self.newest = u32::from(SEQUENCE_MASK + 1) + u32::from(frame.sequence);
        }
        let number = self.counted_on(frame.sequence);
        self.newest = self.newest.max(number);
        let record = &mut self.received[(number % u32::from(WINDOW)) as usize];
        let bit = 1 << frame.fragment;
        // A first transmission with a known number belongs to another MSDU: the numbers have wrapped without being
        // received.
        let is_other = record.fragments & bit != 0 && !frame.retry;
        if record.number != number || is_other {
            *record = Received { number, ..Received::default() };
        }
        if record.fragments & bit != 0 {
            return Accepted::Duplicate;
        }
        record.fragments |= bit;
        if !frame.more_fragments {
            record.of = Some(frame.fragment + 1);
        }
        let is_whole = record.of.is_some_and(|of| u32::from(record.fragments) == (1 << of) - 1);
        if is_whole { Accepted::Whole } else { Accepted::Part }
    }

    /// The extended sequence number: of the possible ones, the one nearest to the newest.
    fn counted_on(&self, sequence: u16) -> u32 {
        let round = SEQUENCE_MASK + 1;
        let ahead = sequence.wrapping_sub(self.newest as u16) & SEQUENCE_MASK;
        let number = self.newest + u32::from(ahead);
        if ahead < round / 2 { number } else { number - u32::from(round) }
    }
}

/// The records of all transmitters.
#[derive(Clone, Debug)]
pub(super) struct Inbox {
    reassembly: Reassembly,
    records: Vec<Record>,
    windows: Vec<Window>,
}

impl Inbox {
    /// An inbox that has received nothing.
    pub(super) fn new(reassembly: Reassembly) -> Inbox {
        Inbox { reassembly, records: Vec::new(), windows: Vec::new() }
    }

    /// Processes a data frame.
    #[inline]
    pub(super) fn accept(&mut self, frame: &Frame) -> Accepted {
        let number = frame.transmitter.0 as usize;
        if self.reassembly == Reassembly::AnyOrder {
            if number >= self.windows.len() {
                self.windows.resize(number + 1, Window::default());
            }
            return self.windows[number].accept(frame);
        }
        if number >= self.records.len() {
            self.records.resize(number + 1, Record { last: None, expected: None });
        }
        let record = &mut self.records[number];
        let control = frame.sequence_control();
        if frame.retry && record.last == Some(control) {
            return Accepted::Duplicate;
        }
        record.last = Some(control);
        let in_order = frame.fragment == 0 || record.expected == Some(control);
        if in_order && frame.more_fragments {
            record.expected = Some(control + 1);
            return Accepted::Part;
        }
        record.expected = None;
        if in_order { Accepted::Whole } else { Accepted::Part }
    }
}

#[cfg(test)]
mod tests {
    use super::super::frame::FrameKind;
    use super::super::rates::PhyRate;
    use super::*;
    use crate::packet::NodeId;

    fn data(transmitter: u32, sequence: u16, fragment: u8, more_fragments: bool, retry: bool) -> Frame {
        let frame = Frame::new(FrameKind::Data, NodeId(0), NodeId(transmitter), 100, PhyRate::Dsss1);
        Frame { sequence, fragment, retry, more_fragments, ..frame }
    }

    #[test]
    fn a_repetition_is_a_duplicate_only_of_the_frame_last_received_from_its_transmitter() {
        let mut inbox = Inbox::new(Reassembly::InOrder);
        assert_eq!(inbox.accept(&data(1, 5, 0, false, false)), Accepted::Whole);
        assert_eq!(inbox.accept(&data(2, 5, 0, false, true)), Accepted::Whole);
        assert_eq!(inbox.accept(&data(1, 5, 0, false, true)), Accepted::Duplicate);
        // The same number without the retry bit is another MSDU: the numbers have wrapped.
        assert_eq!(inbox.accept(&data(1, 5, 0, false, false)), Accepted::Whole);
        assert_eq!(inbox.accept(&data(1, 6, 0, false, true)), Accepted::Whole);
    }

    #[test]
    fn fragments_make_an_msdu_only_without_a_gap() {
        let mut inbox = Inbox::new(Reassembly::InOrder);
        assert_eq!(inbox.accept(&data(1, 7, 0, true, false)), Accepted::Part);
        assert_eq!(inbox.accept(&data(1, 7, 1, true, false)), Accepted::Part);
        assert_eq!(inbox.accept(&data(1, 7, 1, true, true)), Accepted::Duplicate);
        assert_eq!(inbox.accept(&data(1, 7, 2, false, false)), Accepted::Whole);
        assert_eq!(inbox.accept(&data(1, 8, 0, true, false)), Accepted::Part);
        assert_eq!(inbox.accept(&data(1, 8, 2, false, false)), Accepted::Part);
    }

    #[test]
    fn fragments_of_two_transmitters_do_not_mix() {
        let mut inbox = Inbox::new(Reassembly::InOrder);
        assert_eq!(inbox.accept(&data(1, 7, 0, true, false)), Accepted::Part);
        assert_eq!(inbox.accept(&data(2, 7, 1, false, false)), Accepted::Part);
        assert_eq!(inbox.accept(&data(1, 7, 1, false, false)), Accepted::Whole);
    }

    #[test]
    fn fragments_of_several_msdus_are_joined_in_any_order() {
        let mut inbox = Inbox::new(Reassembly::AnyOrder);
        assert_eq!(inbox.accept(&data(1, 7, 1, true, false)), Accepted::Part);
        assert_eq!(inbox.accept(&data(1, 8, 1, false, false)), Accepted::Part);
        assert_eq!(inbox.accept(&data(2, 8, 0, true, true)), Accepted::Part);
        assert_eq!(inbox.accept(&data(1, 7, 2, false, true)), Accepted::Part);
        assert_eq!(inbox.accept(&data(1, 8, 1, false, true)), Accepted::Duplicate);
        assert_eq!(inbox.accept(&data(1, 8, 0, true, true)), Accepted::Whole);
        assert_eq!(inbox.accept(&data(1, 7, 0, true, true)), Accepted::Whole);
        assert_eq!(inbox.accept(&data(1, 7, 0, true, true)), Accepted::Duplicate);
        assert_eq!(inbox.accept(&data(1, 8, 1, false, true)), Accepted::Duplicate);
    }

    #[test]
    fn a_first_transmission_with_a_number_received_already_is_another_msdus() {
        let mut inbox = Inbox::new(Reassembly::AnyOrder);
        for _ in 0..3 {
            assert_eq!(inbox.accept(&data(1, 5, 0, true, false)), Accepted::Part);
            assert_eq!(inbox.accept(&data(1, 5, 1, false, true)), Accepted::Whole);
            assert_eq!(inbox.accept(&data(1, 5, 1, false, true)), Accepted::Duplicate);
        }
    }

    #[test]
    fn sequence_numbers_that_come_round_are_not_those_of_before() {
        let mut inbox = Inbox::new(Reassembly::AnyOrder);
        for number in 0..3 * 4096_u32 {
            let sequence = (number & 0xFFF) as u16;
            // Of every third one no first transmission was received.
            assert_eq!(inbox.accept(&data(1, sequence, 0, true, number % 3 == 0)), Accepted::Part);
            // A repetition whose first transmission was never received.
            assert_eq!(inbox.accept(&data(1, sequence, 1, false, true)), Accepted::Whole, "number {number}");
        }
        // All that fits the window is still known, also where the numbers have wrapped.
        assert_eq!(inbox.accept(&data(1, 4095 - 1023, 1, false, true)), Accepted::Duplicate);
        assert_eq!(inbox.accept(&data(1, 0, 0, false, false)), Accepted::Whole);
        assert_eq!(inbox.accept(&data(1, 4095 - 1022, 1, false, true)), Accepted::Duplicate);
    }
}
