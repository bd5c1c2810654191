//! The frames of a packet (RFC 9000, 19).

/// Most numbers of a frame that are kept.
const MOST: usize = 4;

/// A frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Frame<'a> {
    /// Its type.
    pub(super) kind: u64,
    /// Its first numbers, in their order, and how many it has of these.
    pub(super) numbers: [u64; MOST],
    /// The further ranges of an acknowledgement with its counts, a connection ID with its token, what a challenge holds, or the
    /// data of other frames.
    pub(super) rest: &'a [u8],
    /// Bytes of the whole frame.
    pub(super) length: usize,
}

impl Frame<'_> {
    pub(super) const PADDING: u64 = 0x00;
    pub(super) const PING: u64 = 0x01;
    pub(super) const ACK: u64 = 0x02;
    pub(super) const ACK_ECN: u64 = 0x03;
    pub(super) const CRYPTO: u64 = 0x06;
    pub(super) const STREAM: std::ops::RangeInclusive<u64> = 0x08..=0x0f;
    pub(super) const NEW_CONNECTION_ID: u64 = 0x18;
    pub(super) const CLOSE: std::ops::RangeInclusive<u64> = 0x1c..=0x1d;
    /// Acknowledgements of a path (draft-ietf-quic-multipath), without and with counts of marks.
    pub(super) const PATH_ACK: u64 = 0x3e;
    pub(super) const PATH_ACK_ECN: u64 = 0x3f;
    pub(super) const PATH_NEW_CONNECTION_ID: u64 = 0x3e78;
    pub(super) const DATAGRAM: std::ops::RangeInclusive<u64> = 0x30..=0x31;

    /// Whether its receiver must acknowledge it (RFC 9002, 2).
    pub(super) fn is_eliciting(&self) -> bool {
        let is_quiet = matches!(
            self.kind,
            Self::PADDING | Self::ACK | Self::ACK_ECN | Self::PATH_ACK | Self::PATH_ACK_ECN
        );
        !is_quiet && !Self::CLOSE.contains(&self.kind)
    }

    /// The stream, and where its data begins in it and ends.
    pub(super) fn stream(&self) -> Option<(u64, (u64, u64))> {
        let [id, offset, ..] = self.numbers;
        let end = offset + self.rest.len() as u64;
        Self::STREAM.contains(&self.kind).then_some((id, (offset, end)))
    }

    /// Bytes of an unreliable datagram (RFC 9221).
    pub(super) fn datagram(&self) -> Option<u64> {
        Self::DATAGRAM.contains(&self.kind).then_some(self.rest.len() as u64)
    }
}

/// The frames of a payload, up to one that is unknown.
pub(super) struct Frames<'a>(pub(super) &'a [u8]);

impl<'a> Frames<'a> {
    /// A variable-length integer (RFC 9000, 16).
    pub(super) fn integer(&mut self) -> Option<u64> {
        let first = *self.0.first()?;
        let (bytes, rest) = self.0.split_at_checked(1 << (first >> 6))?;
        self.0 = rest;
        let value = bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        Some(value & (u64::MAX >> 2 >> (8 * (8 - bytes.len()))))
    }

    fn integers(&mut self, count: u64) -> Option<()> {
        (0..count).try_for_each(|_| self.integer().map(|_| ()))
    }

    fn take(&mut self, bytes: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(bytes as usize)?;
        self.0 = rest;
        Some(taken)
    }

    /// Reads a length, if the frame has one, and as many bytes, or else all.
    fn data(&mut self, has_length: bool) -> Option<&'a [u8]> {
        let length = if has_length { self.integer()? } else { self.0.len() as u64 };
        self.take(length)
    }

    /// What follows the first numbers of an acknowledgement, of which the third counts further ranges.
    fn ranges(&mut self, further: u64, has_marks: bool) -> Option<&'a [u8]> {
        let begin = self.0;
        self.integers(2 * further + if has_marks { 3 } else { 0 })?;
        Some(&begin[..begin.len() - self.0.len()])
    }
}

impl<'a> Iterator for Frames<'a> {
    type Item = Frame<'a>;

    fn next(&mut self) -> Option<Frame<'a>> {
        let whole = self.0.len();
        let kind = self.integer()?;
        let mut numbers = [0; MOST];
        // These begin with the number of the path.
        if matches!(kind, Frame::PATH_ACK | Frame::PATH_ACK_ECN | Frame::PATH_NEW_CONNECTION_ID) {
            self.integer()?;
        }
        let count = match kind {
            Frame::PADDING | Frame::PING | 0x1e | 0x1f => 0,
            Frame::ACK | Frame::ACK_ECN | Frame::PATH_ACK | Frame::PATH_ACK_ECN | 0xaf => 4,
            0x04 => 3,
            0x05 | 0x11 | 0x15 | 0x3e75..=0x3e79 | 0x3e7c | Frame::NEW_CONNECTION_ID => 2,
            Frame::CRYPTO | 0x10 | 0x12..=0x14 | 0x16 | 0x17 | 0x19 | 0x1d | 0x3e7a | 0x3e7b => 1,
            0x07 | 0x1a | 0x1b | 0x30 | 0x31 => 0,
            0x08..=0x0f => 1 + usize::from(kind & 0x04 > 0),
            0x1c => 2,
            _ => return None,
        };
        for number in &mut numbers[..count] {
            *number = self.integer()?;
        }
        let rest = match kind {
            Frame::ACK | Frame::PATH_ACK => self.ranges(numbers[2], false)?,
            Frame::ACK_ECN | Frame::PATH_ACK_ECN => self.ranges(numbers[2], true)?,
            Frame::CRYPTO | 0x07 | 0x1c | 0x1d => self.data(true)?,
            0x08..=0x0f => self.data(kind & 0x02 > 0)?,
            Frame::NEW_CONNECTION_ID | Frame::PATH_NEW_CONNECTION_ID => {
                // An ID with its length, and a token of 16 bytes.
                let length = *self.0.first()?;
                self.take(1 + u64::from(length) + 16)?
            }
            0x1a | 0x1b => self.take(8)?,
            0x30 | 0x31 => self.data(kind == 0x31)?,
            _ => &[],
        };
        Some(Frame { kind, numbers, rest, length: whole - self.0.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_have_the_lengths_of_rfc_9000() {
        // RFC 9000 (A.1).
        for (bytes, value) in [
            (&[0xc2, 0x19, 0x7c, 0x5e, 0xff, 0x14, 0xe8, 0x8c][..], 151_288_809_941_952_652),
            (&[0x9d, 0x7f, 0x3e, 0x7d], 494_878_333),
            (&[0x7b, 0xbd], 15_293),
            (&[0x40, 0x25], 37),
            (&[0x25], 37),
        ] {
            let mut frames = Frames(bytes);
            assert_eq!((frames.integer(), frames.0.len()), (Some(value), 0));
        }
    }

    #[test]
    fn the_frames_of_a_packet_follow_one_another_with_their_lengths() {
        // ACK with ECN: largest 9, delay 1, two further ranges; three counts.
        let ack = [0x03, 9, 1, 2, 0, 1, 0, 1, 0, 7, 0, 0];
        // NEW_CONNECTION_ID with an ID of two bytes; CRYPTO with two bytes from 0; MAX_DATA 5.
        let others = [&[0x18, 1, 0, 2, 8, 8][..], &[9; 16], &[0x06, 0, 2, 7, 7, 0x10, 5]].concat();
        // ACK_FREQUENCY; stream 4 from offset 2, three bytes; a datagram of two bytes; stream 8 from 0 to the end.
        let data = [0x40, 0xaf, 0, 1, 0x40, 0x19, 2, 0x0e, 4, 2, 3, 1, 1, 1, 0x31, 2, 1, 1, 0x08, 8, 1, 1];
        let packet = [&ack[..], &others, &data].concat();
        let found: Vec<Frame> = Frames(&packet).collect();
        let kinds: Vec<u64> = found.iter().map(|frame| frame.kind).collect();
        assert_eq!(kinds, [0x03, 0x18, 0x06, 0x10, 0xaf, 0x0e, 0x31, 0x08]);
        assert_eq!(found.iter().map(|frame| frame.length).sum::<usize>(), packet.len());
        let eliciting: Vec<bool> = found.iter().map(Frame::is_eliciting).collect();
        assert_eq!(eliciting, [false, true, true, true, true, true, true, true]);
        assert_eq!((found[0].numbers, found[0].rest), ([9, 1, 2, 0], &[1, 0, 1, 0, 7, 0, 0][..]));
        assert_eq!((found[5].stream(), found[7].stream()), (Some((4, (2, 5))), Some((8, (0, 2)))));
        assert_eq!((found[6].datagram(), found[7].datagram()), (Some(2), None));
        let padded: Vec<bool> = Frames(&[0x01, 0]).map(|frame| frame.is_eliciting()).collect();
        assert_eq!(padded, [true, false], "a PING, padded");
    }
}
