//! Packets as bytes, and what stands for them.

use lasthop_stack::packet::{Body, Packet, Segment};
use lasthop_stack::wire::mended;

use crate::outside::Content;

const FIXED_HEADER: usize = 20;
/// Where the offset with the flags and the checksum are in a TCP header.
const FLAGS: usize = 12;
const CHECKSUM: usize = 16;
const TCP: u8 = 6;

/// What identifies a segment among those with the link: its addresses, and its TCP header without options.
pub(super) type Mark = [u8; 8 + FIXED_HEADER];

/// That of an IP packet, if it is a TCP segment. The kernel may have numbered the packet, and mended the checksum of its IP header.
pub(super) fn mark_of(bytes: &[u8]) -> Option<Mark> {
    let header: &[u8; FIXED_HEADER] = bytes.first_chunk()?;
    let segment: &[u8; FIXED_HEADER] = bytes.get(length_of(header[0])..)?.first_chunk()?;
    if header[0] >> 4 != 4 || header[9] != TCP {
        return None;
    }
    let mut mark = [0; 8 + FIXED_HEADER];
    mark[..8].copy_from_slice(&header[12..]);
    mark[8..].copy_from_slice(segment);
    Some(mark)
}

fn length_of(first: u8) -> usize {
    4 * usize::from(first & 0x0F)
}

/// Writes a packet whose flags alone an agent has changed; false if it has changed more. All other fields stay as they came, and
/// the checksum is mended.
pub(super) fn with_flags(content: &Content, packet: &Packet, into: &mut Vec<u8>) -> bool {
    let (Body::Tcp(before), Body::Tcp(after)) = (&content.packet.body, &packet.body) else { return false };
    if (Segment { flags: after.flags, ..*before }) != *after || before.flags == after.flags {
        return false;
    }
    into.clear();
    into.extend_from_slice(&content.bytes);
    let segment = &mut into[length_of(content.bytes[0])..];
    let old = u16::from_be_bytes([segment[FLAGS], segment[FLAGS + 1]]);
    let new = old & 0xF000 | after.flags.0;
    let checksum = u16::from_be_bytes([segment[CHECKSUM], segment[CHECKSUM + 1]]);
    segment[FLAGS..FLAGS + 2].copy_from_slice(&new.to_be_bytes());
    segment[CHECKSUM..CHECKSUM + 2].copy_from_slice(&mended(checksum, old, new).to_be_bytes());
    true
}
