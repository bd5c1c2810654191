//! The compressed form of a pure acknowledgement: what changes from one to the next, without their higher bytes.
//!
//! ```text
//!   0      1      2      3 ...
//!   context, form │ number │ ack (2 or 3) │ window (0 or 2) │ timestamps (0, 2 or 4) │ check
//! ```

use crate::hooks::Rider;
use crate::packet::{Flags, FlowKey, Segment, Timestamps};
use crate::state_bytes::state_bytes;
use crate::units::SeqNo;

/// The bits of the context's number in the first two bytes; the other four are the form.
const CONTEXT: u16 = 0x0FFF;
const LONG_ACK: u8 = 1;
const WINDOW: u8 = 2;
const STAMPS: u8 = 4;
const LONG_STAMPS: u8 = 8;
/// A field is sent in so many bits that it can be read after three acknowledgements in a row are lost.
const MARGIN: u32 = 4;

state_bytes! {
    /// The fields of the last acknowledgement of a flow, from which those of the next follow.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) struct Reference {
        pub(super) seq: SeqNo,
        pub(super) ack: SeqNo,
        pub(super) window: u16,
        pub(super) stamps: Option<Timestamps>,
    }
}

impl Reference {
    pub(super) fn of(segment: &Segment) -> Reference {
        let Segment { seq, ack, window, options, .. } = *segment;
        Reference { seq, ack, window, stamps: options.timestamps }
    }

    fn check(&self, key: &FlowKey) -> u8 {
        let stamps = self.stamps.unwrap_or_default();
        let words = [self.seq.0, self.ack.0, self.window.into(), stamps.value, stamps.echo];
        words.iter().fold(of_key(key) as u8, |check, word| crc8(check, &word.to_be_bytes()))
    }
}

/// The number of a flow's context, which both ends compute.
pub(super) fn context(key: &FlowKey) -> u16 {
    of_key(key) & CONTEXT
}

fn of_key(key: &FlowKey) -> u16 {
    let ports = u32::from(key.src_port) << 16 | u32::from(key.dst_port);
    let hash = [key.src.0, key.dst.0, ports]
        .iter()
        .fold(0x811C_9DC5_u32, |hash, word| (hash ^ word).wrapping_mul(0x0100_0193).rotate_left(13));
    (hash ^ hash >> 16) as u16
}

/// CRC-8 with the polynomial x^8 + x^2 + x + 1, as ROHC uses it (RFC 3095, 5.9.1).
fn crc8(start: u8, bytes: &[u8]) -> u8 {
    bytes.iter().fold(start, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc, _| if crc & 0x80 == 0 { crc << 1 } else { crc << 1 ^ 0x07 })
    })
}

/// Whether it is a pure acknowledgement without anything that the compressed form lacks.
pub(in super::super) fn is_plain(segment: &Segment) -> bool {
    let options = &segment.options;
    segment.len == 0
        && segment.flags == Flags::ACK
        && options.sack.is_empty()
        && options.extension.is_none()
        && options.acks.is_none()
}

/// Compresses a plain acknowledgement, if it follows the last one closely.
pub(super) fn compress(key: &FlowKey, last: &Reference, number: u8, next: &Reference) -> Option<Rider> {
    let ahead = u32::try_from(next.ack.distance_from(last.ack)).ok().filter(|ahead| *ahead > 0)?;
    let fits = |step: u32, bits: u32| step < (1 << bits) / MARGIN;
    if next.seq != last.seq || !fits(ahead, 24) {
        return None;
    }
    let mut form = if fits(ahead, 16) { 0 } else { LONG_ACK };
    if let (Some(old), Some(new)) = (last.stamps, next.stamps) {
        let step = new.value.wrapping_sub(old.value).max(new.echo.wrapping_sub(old.echo));
        form |= match step {
            step if fits(step, 8) => STAMPS,
            step if fits(step, 16) => STAMPS | LONG_STAMPS,
            _ => return None,
        };
    } else if last.stamps != next.stamps {
        return None;
    }
    form |= if next.window == last.window { 0 } else { WINDOW };
    let mut bytes = [0; Rider::MOST];
    let mut len = 0;
    let mut put = |word: u32, count: usize| {
        bytes[len..len + count].copy_from_slice(&word.to_be_bytes()[4 - count..]);
        len += count;
    };
    put(u32::from(context(key)) << 4 | u32::from(form), 2);
    put(number.into(), 1);
    put(next.ack.0, if form & LONG_ACK == 0 { 2 } else { 3 });
    if form & WINDOW != 0 {
        put(next.window.into(), 2);
    }
    if let Some(stamps) = next.stamps {
        let count = if form & LONG_STAMPS == 0 { 1 } else { 2 };
        put(stamps.value, count);
        put(stamps.echo, count);
    }
    put(next.check(key).into(), 1);
    Some(Rider::new(&bytes[..len]))
}

/// The number of the context of a compressed acknowledgement, and its own.
pub(super) fn labels(bytes: &[u8]) -> Option<(u16, u8)> {
    let [first, second, number, ..] = *bytes else { return None };
    Some((u16::from_be_bytes([first, second]) >> 4, number))
}

/// The fields of a compressed acknowledgement, if they follow from the last one of this flow.
pub(super) fn restore(key: &FlowKey, last: &Reference, bytes: &[u8]) -> Option<Reference> {
    let form = bytes.get(1)? & 0x0F;
    let mut rest = bytes.get(3..)?;
    // The least value not before `from` that ends in these bytes.
    let mut take = |from: u32, count: usize| {
        let (field, others) = rest.split_at_checked(count)?;
        rest = others;
        let low = field.iter().fold(0, |low, byte| low << 8 | u32::from(*byte));
        Some(from.wrapping_add(low.wrapping_sub(from) & ((1 << (8 * count)) - 1)))
    };
    let ack = SeqNo(take(last.ack.0, if form & LONG_ACK == 0 { 2 } else { 3 })?);
    let window = if form & WINDOW == 0 { last.window } else { take(0, 2)? as u16 };
    let stamps = if form & STAMPS == 0 {
        None
    } else {
        let (count, old) = (if form & LONG_STAMPS == 0 { 1 } else { 2 }, last.stamps?);
        Some(Timestamps { value: take(old.value, count)?, echo: take(old.echo, count)? })
    };
    let check = take(0, 1)? as u8;
    let restored = Reference { seq: last.seq, ack, window, stamps };
    (rest.is_empty() && restored.check(key) == check).then_some(restored)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::NodeId;
    use proptest::prelude::*;

    const KEY: FlowKey = FlowKey { src: NodeId(2), src_port: 40_000, dst: NodeId(0), dst_port: 80 };

    fn reference(ack: u32, window: u16, stamps: Option<(u32, u32)>) -> Reference {
        let stamps = stamps.map(|(value, echo)| Timestamps { value, echo });
        Reference { seq: SeqNo(7), ack: SeqNo(ack), window, stamps }
    }

    #[test]
    fn two_segments_later_an_acknowledgement_takes_8_bytes_with_timestamps_and_6_without() {
        let size = |last, next| compress(&KEY, &last, 0, &next).map(|rider| rider.as_slice().len());
        let (old, new) = (reference(1_000, 9, Some((5, 6))), reference(3_896, 9, Some((7, 8))));
        assert_eq!(size(old, new), Some(8));
        assert_eq!(size(reference(1_000, 9, None), reference(3_896, 9, None)), Some(6));
        assert_eq!(size(old, Reference { window: 10, ..new }), Some(10));
        assert_eq!(size(old, reference(21_000, 9, Some((1_005, 6)))), Some(11));
        // A duplicate, one from before, and a pause of more than 16 s are not compressed.
        assert_eq!(size(old, reference(1_000, 9, Some((7, 8)))), None);
        assert_eq!(size(old, reference(999, 9, Some((7, 8)))), None);
        assert_eq!(size(old, reference(3_896, 9, Some((16_500, 8)))), None);
    }

    #[test]
    fn the_check_sequence_is_that_of_rohc() {
        // The published check value of CRC-8 with this polynomial and start 0.
        assert_eq!(crc8(0, b"123456789"), 0xF4);
    }

    #[test]
    fn what_does_not_follow_is_not_restored() {
        let (last, next) = (reference(0xFFFF_F000, 9, None), reference(0x300, 9, None));
        let rider = compress(&KEY, &last, 3, &next).expect("it follows");
        assert_eq!(labels(rider.as_slice()), Some((context(&KEY), 3)));
        assert_eq!(restore(&KEY, &last, rider.as_slice()), Some(next));
        assert_eq!(restore(&KEY, &Reference { window: 8, ..last }, rider.as_slice()), None);
        assert_eq!(restore(&FlowKey { src_port: 40_001, ..KEY }, &last, rider.as_slice()), None);
        assert_eq!(restore(&KEY, &last, &rider.as_slice()[..5]), None);
    }

    proptest! {
        #[test]
        fn after_up_to_three_losses_in_a_row_it_is_restored(
            start in any::<u32>(), steps in prop::collection::vec((1u32..16_000, 0u32..60, any::<bool>()), 4)
        ) {
            let first = reference(start, 9, Some((start, start)));
            let mut last = first;
            let mut rider = Rider::default();
            for (ahead, ms, _) in steps {
                let stamps = last.stamps.map(|old| Timestamps {
                    value: old.value.wrapping_add(ms),
                    echo: old.echo.wrapping_add(ms),
                });
                let next = Reference { ack: last.ack.plus(ahead), stamps, ..last };
                rider = compress(&KEY, &last, 0, &next).expect("it follows");
                last = next;
            }
            prop_assert_eq!(restore(&KEY, &first, rider.as_slice()), Some(last));
        }
    }
}
