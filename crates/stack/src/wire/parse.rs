//! Bytes to packets.

use core::fmt;

use super::{
    END, EXPERIMENT, EXPERIMENT_2, FIXED_HEADER, JITTER_EXPERIMENT, MSS, NOP, PROTOCOL_TCP, PROTOCOL_UDP,
    SACK, SACK_PERMITTED, TACK_EXPERIMENT, TARR_EXPERIMENT, TIMESTAMPS, UDP_HEADER, WINDOW_SCALE, node,
    pseudo_header, sum,
};
use crate::packet::{
    AckOption, Body, Datagram, Ecn, Extension, Flags, Form, Modulation, Options, Packet, Segment, Timestamps,
};
use crate::units::{SeqNo, Time};

/// The bit for more fragments and the fragment offset: both are zero in a whole packet.
const FRAGMENT: u16 = 0x3FFF;

/// Why bytes are not a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// They end before the packet does.
    Truncated,
    /// Their IP version is not 4.
    Version(u8),
    /// A length field says less than a header has, or more than there is.
    Length,
    /// The checksum of the IP header is wrong.
    HeaderChecksum,
    /// They are a fragment of a packet.
    Fragment,
    /// What the packet carries is neither TCP nor UDP.
    Protocol(u8),
    /// The checksum of the transport is wrong.
    Checksum,
    /// The TCP option of this kind has a wrong length or content.
    Option(u8),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Truncated => write!(f, "the bytes end before the packet"),
            Malformed::Version(version) => write!(f, "IP version {version}; expected 4"),
            Malformed::Length => write!(f, "a length field does not fit the packet"),
            Malformed::HeaderChecksum => write!(f, "the checksum of the IP header is wrong"),
            Malformed::Fragment => write!(f, "a fragment; expected a whole packet"),
            Malformed::Protocol(protocol) => {
                write!(f, "protocol {protocol}; expected {PROTOCOL_TCP} (TCP) or {PROTOCOL_UDP} (UDP)")
            }
            Malformed::Checksum => write!(f, "the checksum of the transport is wrong"),
            Malformed::Option(kind) => write!(f, "TCP option {kind} has a wrong length or content"),
        }
    }
}

impl core::error::Error for Malformed {}

/// The packet that the bytes begin with, and its payload; what follows it is padding. `now` is the clock by which
/// stamps of 32 bits become times.
///
/// Options that this stack does not know are ignored (RFC 9293, 3.1), as are the urgent pointer, the class of service and
/// what is reserved.
///
/// # Errors
/// When the bytes do not begin with a whole and correct packet.
pub fn parse(bytes: &[u8], now: Time) -> Result<(Packet, &[u8]), Malformed> {
    let fixed: &[u8; FIXED_HEADER] = bytes.first_chunk().ok_or(Malformed::Truncated)?;
    let [first, service, t0, t1, _, _, f0, f1, _, protocol, _, _, s0, s1, s2, s3, d0, d1, d2, d3] = *fixed;
    if first >> 4 != 4 {
        return Err(Malformed::Version(first >> 4));
    }
    let header_len = usize::from(first & 0x0F) * 4;
    let total = usize::from(u16::from_be_bytes([t0, t1]));
    if header_len < FIXED_HEADER || total < header_len {
        return Err(Malformed::Length);
    }
    let whole = bytes.get(..total).ok_or(Malformed::Truncated)?;
    let (header, transport) = whole.split_at(header_len);
    if sum(&[header]) != u16::MAX {
        return Err(Malformed::HeaderChecksum);
    }
    if u16::from_be_bytes([f0, f1]) & FRAGMENT != 0 {
        return Err(Malformed::Fragment);
    }
    let (src, dst) = ([s0, s1, s2, s3], [d0, d1, d2, d3]);
    let covered = |transport: &[u8]| {
        let pseudo = pseudo_header(src, dst, protocol, transport.len() as u16);
        if sum(&[&pseudo, transport]) == u16::MAX { Ok(()) } else { Err(Malformed::Checksum) }
    };
    let (body, payload) = match protocol {
        PROTOCOL_TCP => segment(transport, now, covered)?,
        PROTOCOL_UDP => datagram(transport, covered)?,
        _ => return Err(Malformed::Protocol(protocol)),
    };
    let extra_header = (header_len - FIXED_HEADER) as u16;
    let packet = Packet::new(node(src), node(dst), body);
    Ok((Packet { extra_header, ecn: Ecn::of_bits(service), ..packet }, payload))
}

fn segment(
    bytes: &[u8],
    now: Time,
    covered: impl Fn(&[u8]) -> Result<(), Malformed>,
) -> Result<(Body, &[u8]), Malformed> {
    let fixed: &[u8; FIXED_HEADER] = bytes.first_chunk().ok_or(Malformed::Length)?;
    let [s0, s1, d0, d1, n0, n1, n2, n3, a0, a1, a2, a3, offset, flags, w0, w1, ..] = *fixed;
    let header_len = usize::from(offset >> 4) * 4;
    let options = bytes.get(FIXED_HEADER..header_len).ok_or(Malformed::Length)?;
    covered(bytes)?;
    let payload = &bytes[header_len..];
    let segment = Segment {
        src_port: u16::from_be_bytes([s0, s1]),
        dst_port: u16::from_be_bytes([d0, d1]),
        seq: number([n0, n1, n2, n3]),
        ack: number([a0, a1, a2, a3]),
        flags: Flags(u16::from_be_bytes([offset & 0x0F, flags])),
        window: u16::from_be_bytes([w0, w1]),
        len: payload.len() as u32,
        options: all_options(options, now)?,
    };
    Ok((Body::Tcp(segment), payload))
}

fn datagram(
    bytes: &[u8],
    covered: impl Fn(&[u8]) -> Result<(), Malformed>,
) -> Result<(Body, &[u8]), Malformed> {
    let fixed: &[u8; UDP_HEADER] = bytes.first_chunk().ok_or(Malformed::Length)?;
    let [s0, s1, d0, d1, l0, l1, sum @ ..] = *fixed;
    let length = usize::from(u16::from_be_bytes([l0, l1]));
    let bytes = bytes.get(..length).ok_or(Malformed::Length)?;
    let payload = bytes.get(UDP_HEADER..).ok_or(Malformed::Length)?;
    // A checksum of zero means none (RFC 768).
    if sum != [0, 0] {
        covered(bytes)?;
    }
    let datagram = Datagram {
        src_port: u16::from_be_bytes([s0, s1]),
        dst_port: u16::from_be_bytes([d0, d1]),
        len: payload.len() as u32,
        made: Time::ZERO,
        number: 0,
    };
    Ok((Body::Udp(datagram), payload))
}

fn all_options(mut rest: &[u8], now: Time) -> Result<Options, Malformed> {
    let mut options = Options::default();
    loop {
        match *rest {
            [] | [END, ..] => return Ok(options),
            [NOP, ..] => rest = &rest[1..],
            [kind] => return Err(Malformed::Option(kind)),
            [kind, len, ..] => {
                let (option, behind) = rest.split_at_checked(len.into()).ok_or(Malformed::Option(kind))?;
                // A length below two would be read without end (RFC 9293, 3.1).
                let content = option.get(2..).ok_or(Malformed::Option(kind))?;
                take(kind, content, now, &mut options).ok_or(Malformed::Option(kind))?;
                rest = behind;
            }
        }
    }
}

/// Reads one option; `None` if it does not have the form of its kind.
fn take(kind: u8, content: &[u8], now: Time, options: &mut Options) -> Option<()> {
    match kind {
        MSS => options.mss = Some(u16::from_be_bytes(content.try_into().ok()?)),
        WINDOW_SCALE => {
            let [shift] = content.try_into().ok()?;
            options.window_scale = Some(shift);
        }
        SACK_PERMITTED => {
            let [] = content.try_into().ok()?;
            options.sack_permitted = true;
        }
        SACK => {
            let (blocks, []) = content.as_chunks::<8>() else { return None };
            // There is no such option without a block (RFC 2018, 3).
            blocks.first()?;
            for [l0, l1, l2, l3, r0, r1, r2, r3] in blocks.iter().copied() {
                options.sack.push(number([l0, l1, l2, l3]), number([r0, r1, r2, r3]));
            }
        }
        TIMESTAMPS => {
            let [v0, v1, v2, v3, e0, e1, e2, e3] = content.try_into().ok()?;
            let (value, echo) = (u32::from_be_bytes([v0, v1, v2, v3]), u32::from_be_bytes([e0, e1, e2, e3]));
            options.timestamps = Some(Timestamps { value, echo });
        }
        EXPERIMENT => {
            if let Some(stamps) = content.strip_prefix(&JITTER_EXPERIMENT) {
                options.extension = Some(extension(stamps.try_into().ok()?, now)?);
            } else if let Some(least) = content.strip_prefix(&TACK_EXPERIMENT) {
                options.acks = Some(match least {
                    [] => AckOption::TakesTime,
                    _ => AckOption::LeastRoundTrip(u32::from_be_bytes(least.try_into().ok()?)),
                });
            }
        }
        EXPERIMENT_2 => {
            if let Some(request) = content.strip_prefix(&TARR_EXPERIMENT) {
                options.acks = Some(match *request {
                    [] => AckOption::TakesRequests,
                    // The last bit is reserved.
                    [every] => AckOption::Request(every >> 1),
                    _ => return None,
                });
            }
        }
        _ => {}
    }
    Some(())
}

fn extension(content: [u8; 13], now: Time) -> Option<Extension> {
    let [s0, s1, s2, s3, r0, r1, r2, r3, t0, t1, t2, t3, modulation] = content;
    let modulation = match modulation {
        0 => None,
        1 => Some(Modulation::Qpsk),
        2 => Some(Modulation::Qam16),
        3 => Some(Modulation::Qam64),
        _ => return None,
    };
    Some(Extension {
        form: Form::Option,
        sent: time_of(number([s0, s1, s2, s3]), now),
        received: time_of(number([r0, r1, r2, r3]), now),
        trigger: number([t0, t1, t2, t3]),
        modulation,
    })
}

fn number(bytes: [u8; 4]) -> SeqNo {
    SeqNo(u32::from_be_bytes(bytes))
}

/// The time nearest to `now` that a stamp names: it wraps as a sequence number does.
fn time_of(stamp: SeqNo, now: Time) -> Time {
    let micros = stamp.unwrap_near(SeqNo(0), now.0 / 1_000).unwrap_or(stamp.0.into());
    Time(micros.saturating_mul(1_000))
}
