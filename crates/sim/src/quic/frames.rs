//! The frames of a packet (RFC 9000, 19), as far as the record of a sender needs them.

/// What a packet carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Frame {
    /// Nothing that its receiver must acknowledge (RFC 9002, 2).
    Quiet,
    /// Data of a stream.
    Stream {
        /// The stream.
        id: u64,
        /// Where the data begins in it, and where it ends.
        data: (u64, u64),
    },
    /// As many bytes in an unreliable datagram.
    Datagram(u64),
    /// Another one.
    Other,
}

/// The frames of a payload, up to one that is unknown.
pub(super) struct Frames<'a>(pub(super) &'a [u8]);

impl Frames<'_> {
    /// A variable-length integer (RFC 9000, 16).
    fn integer(&mut self) -> Option<u64> {
        let first = *self.0.first()?;
        let (bytes, rest) = self.0.split_at_checked(1 << (first >> 6))?;
        self.0 = rest;
        let value = bytes.iter().fold(0, |value, byte| value << 8 | u64::from(*byte));
        Some(value & (u64::MAX >> 2 >> (8 * (8 - bytes.len()))))
    }

    fn integers(&mut self, count: u64) -> Option<()> {
        (0..count).try_for_each(|_| self.integer().map(|_| ()))
    }

    fn skip(&mut self, bytes: u64) -> Option<()> {
        self.0 = self.0.get(bytes as usize..)?;
        Some(())
    }

    /// Reads a length, if the frame has one, and skips as many bytes, or else all.
    fn data(&mut self, has_length: bool) -> Option<u64> {
        let length = if has_length { self.integer()? } else { self.0.len() as u64 };
        self.skip(length)?;
        Some(length)
    }
}

impl Iterator for Frames<'_> {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        match self.integer()? {
            // PADDING
            0x00 => return Some(Frame::Quiet),
            // PING, HANDSHAKE_DONE, IMMEDIATE_ACK
            0x01 | 0x1e | 0x1f => {}
            // ACK, with and without ECN
            kind @ (0x02 | 0x03) => {
                self.integers(2)?;
                let ranges = self.integer()?;
                self.integers(1 + 2 * ranges + if kind == 0x03 { 3 } else { 0 })?;
                return Some(Frame::Quiet);
            }
            // RESET_STREAM
            0x04 => self.integers(3)?,
            // STOP_SENDING, MAX_STREAM_DATA, STREAM_DATA_BLOCKED
            0x05 | 0x11 | 0x15 => self.integers(2)?,
            // CRYPTO
            0x06 => {
                self.integer()?;
                self.data(true)?;
            }
            // NEW_TOKEN
            0x07 => _ = self.data(true)?,
            // STREAM
            kind @ 0x08..=0x0f => {
                let id = self.integer()?;
                let offset = if kind & 0x04 > 0 { self.integer()? } else { 0 };
                let length = self.data(kind & 0x02 > 0)?;
                return Some(Frame::Stream { id, data: (offset, offset + length) });
            }
            // MAX_DATA, MAX_STREAMS, DATA_BLOCKED, STREAMS_BLOCKED, RETIRE_CONNECTION_ID
            0x10 | 0x12..=0x14 | 0x16 | 0x17 | 0x19 => self.integers(1)?,
            // NEW_CONNECTION_ID: numbers, ID, and a token of 16 bytes
            0x18 => {
                self.integers(2)?;
                let length = *self.0.first()?;
                self.skip(1 + u64::from(length) + 16)?;
            }
            // PATH_CHALLENGE, PATH_RESPONSE
            0x1a | 0x1b => self.skip(8)?,
            // DATAGRAM (RFC 9221, 4)
            kind @ (0x30 | 0x31) => return Some(Frame::Datagram(self.data(kind == 0x31)?)),
            // ACK_FREQUENCY (draft-ietf-quic-ack-frequency-04, 4)
            0xaf => self.integers(4)?,
            _ => return None,
        }
        Some(Frame::Other)
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
        let stream = |id, data| Frame::Stream { id, data };
        let expected = [
            &[Frame::Quiet][..],
            &[Frame::Other; 4],
            &[stream(4, (2, 5)), Frame::Datagram(2), stream(8, (0, 2))],
        ];
        assert_eq!(found, expected.concat());
        assert_eq!(Frames(&[0x01, 0]).collect::<Vec<_>>(), [Frame::Other, Frame::Quiet], "a PING, padded");
    }
}
