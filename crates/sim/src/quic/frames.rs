//! The frames of a packet (RFC 9000, 19), as far as the record of a sender needs them.

/// What a packet carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Carried {
    /// Its receiver must acknowledge it (RFC 9002, 2).
    pub(super) is_eliciting: bool,
    /// It has data of the application, in a stream or a datagram.
    pub(super) has_data: bool,
    /// Stream, offset and end of the first data of a stream.
    pub(super) stream: Option<(u64, u64, u64)>,
}

/// Reads the frames of a payload; what follows an unknown frame is left out.
pub(super) fn carried(payload: &[u8]) -> Carried {
    let mut frames = Frames(payload);
    let mut carried = Carried::default();
    while frames.next(&mut carried).is_some() {}
    carried
}

struct Frames<'a>(&'a [u8]);

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

    fn next(&mut self, carried: &mut Carried) -> Option<()> {
        let kind = self.integer()?;
        carried.is_eliciting |= !matches!(kind, 0x00 | 0x02 | 0x03 | 0x1c | 0x1d);
        match kind {
            // PADDING, PING, HANDSHAKE_DONE, IMMEDIATE_ACK
            0x00 | 0x01 | 0x1e | 0x1f => {}
            // ACK, with and without ECN
            0x02 | 0x03 => {
                self.integers(2)?;
                let ranges = self.integer()?;
                self.integers(1 + 2 * ranges + if kind == 0x03 { 3 } else { 0 })?;
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
            0x08..=0x0f => {
                let stream = self.integer()?;
                let offset = if kind & 0x04 > 0 { self.integer()? } else { 0 };
                let length = self.data(kind & 0x02 > 0)?;
                carried.has_data |= length > 0;
                carried.stream = carried.stream.or(Some((stream, offset, offset + length)));
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
            0x30 | 0x31 => {
                self.data(kind == 0x31)?;
                carried.has_data = true;
            }
            // ACK_FREQUENCY (draft-ietf-quic-ack-frequency-04, 4)
            0xaf => self.integers(4)?,
            _ => return None,
        }
        Some(())
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
    fn frames_before_the_data_of_a_stream_are_skipped_and_a_packet_of_acknowledgements_needs_none() {
        // Largest 9, delay 1, two further ranges; three counts of ECN.
        let ack = [0x03, 9, 1, 2, 0, 1, 0, 1, 0, 7, 0, 0];
        assert_eq!(carried(&[&ack[..], &[0, 0]].concat()), Carried::default());
        // MAX_DATA 5; stream 4 from offset 2, three bytes.
        let stream = [0x10, 5, 0x0e, 4, 2, 3, 1, 1, 1];
        let expected = Carried { is_eliciting: true, has_data: true, stream: Some((4, 2, 5)) };
        assert_eq!(carried(&[&ack[..], &stream].concat()), expected);
        // To the end of the packet, from offset 0.
        assert_eq!(carried(&[0x08, 4, 1, 1]).stream, Some((4, 0, 2)));
        assert!(carried(&[0x01, 0, 0]).is_eliciting, "a PING");
    }
}
