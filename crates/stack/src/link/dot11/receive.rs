//! The receiving side: duplicates are dropped, fragments joined.
//!
//! One record a transmitter, as IEEE 802.11-2012, 9.3.2.10 asks for: the sequence control last received from it, and how
//! far an MSDU in fragments has come. Records lie at the number of the node, since nodes are numbered from zero.

use super::frame::Frame;

/// What a data frame is to its receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Accepted {
    /// It completes an MSDU.
    Whole,
    /// A fragment, with more to come or others missing.
    Part,
    /// Received before.
    Duplicate,
}

/// What is known of one transmitter.
#[derive(Clone, Copy, Debug)]
struct Record {
    /// Sequence control of the last frame.
    last: Option<u16>,
    /// Sequence control of the fragment that continues what has been received without a gap.
    expected: Option<u16>,
}

/// The records of all transmitters.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox {
    records: Vec<Record>,
}

impl Inbox {
    /// Takes in a data frame.
    #[inline]
    pub(super) fn accept(&mut self, frame: &Frame) -> Accepted {
        let number = frame.transmitter.0 as usize;
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
        let mut inbox = Inbox::default();
        assert_eq!(inbox.accept(&data(1, 5, 0, false, false)), Accepted::Whole);
        assert_eq!(inbox.accept(&data(2, 5, 0, false, true)), Accepted::Whole);
        assert_eq!(inbox.accept(&data(1, 5, 0, false, true)), Accepted::Duplicate);
        // The same number without the retry bit is another MSDU: the numbers have come round.
        assert_eq!(inbox.accept(&data(1, 5, 0, false, false)), Accepted::Whole);
        assert_eq!(inbox.accept(&data(1, 6, 0, false, true)), Accepted::Whole);
    }

    #[test]
    fn fragments_make_an_msdu_only_without_a_gap() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.accept(&data(1, 7, 0, true, false)), Accepted::Part);
        assert_eq!(inbox.accept(&data(1, 7, 1, true, false)), Accepted::Part);
        assert_eq!(inbox.accept(&data(1, 7, 1, true, true)), Accepted::Duplicate);
        assert_eq!(inbox.accept(&data(1, 7, 2, false, false)), Accepted::Whole);
        assert_eq!(inbox.accept(&data(1, 8, 0, true, false)), Accepted::Part);
        assert_eq!(inbox.accept(&data(1, 8, 2, false, false)), Accepted::Part);
    }

    #[test]
    fn fragments_of_two_transmitters_do_not_mix() {
        let mut inbox = Inbox::default();
        assert_eq!(inbox.accept(&data(1, 7, 0, true, false)), Accepted::Part);
        assert_eq!(inbox.accept(&data(2, 7, 1, false, false)), Accepted::Part);
        assert_eq!(inbox.accept(&data(1, 7, 1, false, false)), Accepted::Whole);
    }
}
