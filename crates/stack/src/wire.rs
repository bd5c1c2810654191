//! Packets as bytes: IPv4 (RFC 791) with TCP (RFC 9293) or UDP (RFC 768), and back.
//!
//! ```text
//!              Headers::of ──▶ at most 120 bytes, a number of payload bytes follows
//!    Packet ───────────────▶ write ──▶ bytes       nothing is allocated, nothing is read or sent
//!           ◀─────────────── parse ◀── bytes       malformed bytes are an error, never a panic
//! ```
//!
//! If a packet can be written as bytes, `parse(write(packet))` is that packet. These parts have no bytes:
//! - the payload: a [`Packet`](crate::packet::Packet) knows its length only. It is zeros, unless [`Headers::over`] is
//!   given the bytes;
//! - [`Datagram::made`](crate::packet::Datagram) and its number, probes of the host: parsed as
//!   [`Time::ZERO`](crate::units::Time) and 0;
//! - stamps in [`Form::Probe`](crate::packet::Form), which are free; those in `Form::Paper` cannot be written at all.
//!
//! Sequence numbers are 32 bits on the wire and in a packet; a connection unwraps them near the acknowledged number.
//! The stamps of an [`Extension`](crate::packet::Extension) are 32 bits of microseconds on the wire and a
//! [`Time`](crate::units::Time) in a packet. [`parse`] takes the time nearest to `now`, which is exact for stamps of
//! one's own clock that are less than 35 minutes old. Stamps of another clock keep their differences.
//!
//! A routing header is one IP option reserved for experiments (RFC 4727, 3.4) of its length; when parsed, any IP
//! options count as one.

mod parse;
mod write;

pub use parse::{Malformed, parse};
pub use write::{Headers, Unfit, write};

use crate::packet::NodeId;

/// Most bytes of headers: IP and TCP, each with its fixed part and 40 bytes of options.
pub const MAX_HEADERS: usize = 2 * (FIXED_HEADER + MAX_OPTIONS);

/// The fixed part of an IPv4 header, and of a TCP header.
const FIXED_HEADER: usize = 20;
/// Most bytes of options of each: the header length counts at most 15 words.
const MAX_OPTIONS: usize = 40;
const UDP_HEADER: usize = crate::packet::UDP_HEADER as usize;

const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;

// TCP options (RFC 9293, 3.2; RFC 7323; RFC 2018).
const END: u8 = 0;
const NOP: u8 = 1;
const MSS: u8 = 2;
const WINDOW_SCALE: u8 = 3;
const SACK_PERMITTED: u8 = 4;
const SACK: u8 = 5;
const TIMESTAMPS: u8 = 8;
/// Reserved for experiments (RFC 4727).
const EXPERIMENT: u8 = 253;
/// Reserved for experiments as well (RFC 4727).
const EXPERIMENT_2: u8 = 254;
/// TCP ACK Rate Request (draft-ietf-tcpm-ack-rate-request).
const TARR_EXPERIMENT: [u8; 2] = [0x00, 0xAC];
/// TACK: an identifier that is not registered.
const TACK_EXPERIMENT: [u8; 2] = *b"TK";
/// The experiment of JTCP's and EJTCP's stamps (RFC 6994, 3): an identifier that is not registered.
const JITTER_EXPERIMENT: [u8; 2] = *b"JT";

/// Node `n` has the address 10.0.0.1 + n. Modulo 2³², so that each address is that of one node.
#[must_use]
pub const fn address(node: NodeId) -> [u8; 4] {
    node.0.wrapping_add(FIRST_ADDRESS).to_be_bytes()
}

/// The node that has this address.
#[must_use]
pub const fn node(address: [u8; 4]) -> NodeId {
    NodeId(u32::from_be_bytes(address).wrapping_sub(FIRST_ADDRESS))
}

const FIRST_ADDRESS: u32 = 0x0A00_0001;

/// The sum of the Internet checksum (RFC 1071) over the parts, of which each but the last has an even length.
fn sum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u32;
    for part in parts {
        let (pairs, odd) = part.as_chunks::<2>();
        sum += pairs.iter().map(|pair| u32::from(u16::from_be_bytes(*pair))).sum::<u32>();
        sum += odd.first().map_or(0, |byte| u32::from(*byte) << 8);
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    sum as u16
}

/// The Internet checksum over the parts, of which each but the last has an even length (RFC 1071).
#[must_use]
pub fn checksum(parts: &[&[u8]]) -> u16 {
    !sum(parts)
}

/// A checksum after one of the words that it covers has changed (RFC 1624, eqn. 3).
#[must_use]
pub fn mended(checksum: u16, before: u16, after: u16) -> u16 {
    let [checksum, before, after] = [!checksum, !before, after].map(u16::to_be_bytes);
    !sum(&[&checksum, &before, &after])
}

/// What a transport's checksum covers before its own bytes (RFC 9293, 3.1).
fn pseudo_header(src: [u8; 4], dst: [u8; 4], protocol: u8, length: u16) -> [u8; 12] {
    let ([s0, s1, s2, s3], [d0, d1, d2, d3], [l0, l1]) = (src, dst, length.to_be_bytes());
    [s0, s1, s2, s3, d0, d1, d2, d3, 0, protocol, l0, l1]
}

#[cfg(test)]
mod tests;
