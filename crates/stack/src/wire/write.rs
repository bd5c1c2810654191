//! Packets to bytes.

use core::fmt;

use super::{
    EXPERIMENT, EXPERIMENT_2, FIXED_HEADER, JITTER_EXPERIMENT, MAX_HEADERS, MAX_OPTIONS, MSS, NOP,
    PROTOCOL_TCP, PROTOCOL_UDP, SACK, SACK_PERMITTED, TACK_EXPERIMENT, TARR_EXPERIMENT, TIMESTAMPS,
    UDP_HEADER, WINDOW_SCALE, address, checksum, pseudo_header,
};
use crate::packet::{AckOption, Body, Datagram, Extension, Form, Options, Packet, Segment};
use crate::units::Time;

/// Version 4; the length of the header is added.
const VERSION: u8 = 0x40;
/// Do not fragment.
const DF: u8 = 0x40;
/// Time to live of every packet.
const TTL: u8 = 64;
/// IP option reserved for experiments (RFC 4727, 3.4), which carries a routing header.
const ROUTING_OPTION: u8 = 94;
/// Most bytes of an IP packet.
const MAX_PACKET: u64 = u16::MAX as u64;

/// Why a packet cannot be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It is longer than an IP packet can be, with this many bytes.
    TooLong(u64),
    /// Its routing header is not a multiple of 4 bytes, or has more than 40.
    RoutingHeader(u16),
    /// Its TCP options take more than the 40 bytes that a header has for them.
    Options(u32),
    /// Its stamps are charged as EJTCP's paper does: two bytes, which cannot hold them.
    PaperStamps,
    /// It has a payload of another length than the one given.
    Payload {
        /// Bytes according to the packet.
        packet: u32,
        /// Bytes given.
        given: usize,
    },
    /// The slice to write into is shorter than the packet.
    NoRoom {
        /// Bytes of the packet.
        packet: usize,
        /// Bytes of the slice.
        room: usize,
    },
}

impl fmt::Display for Unfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unfit::TooLong(bytes) => write!(f, "{bytes} B of packet; expected at most {MAX_PACKET} B"),
            Unfit::RoutingHeader(bytes) => {
                write!(f, "{bytes} B of routing header; expected a multiple of 4 B, at most {MAX_OPTIONS} B")
            }
            Unfit::Options(bytes) => {
                write!(f, "{bytes} B of TCP options; expected at most {MAX_OPTIONS} B")
            }
            Unfit::PaperStamps => write!(f, "stamps in two bytes; expected the option of 20 B"),
            Unfit::Payload { packet, given } => {
                write!(f, "{given} B of payload; expected {packet} B, as the packet says")
            }
            Unfit::NoRoom { packet, room } => write!(f, "{room} B of room; expected at least {packet} B"),
        }
    }
}

impl core::error::Error for Unfit {}

/// The headers of a packet, as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Headers {
    bytes: [u8; MAX_HEADERS],
    len: u8,
    payload: u16,
}

/// Writes a whole packet with a payload of zeros to the beginning of `into` and returns its length.
///
/// # Errors
/// When the packet has no bytes, or more than `into`.
pub fn write(packet: &Packet, identification: u16, into: &mut [u8]) -> Result<usize, Unfit> {
    let headers = Headers::of(packet, identification)?;
    let (header, whole) = (headers.as_bytes(), headers.packet_len());
    let room = into.len();
    let into = into.get_mut(..whole).ok_or(Unfit::NoRoom { packet: whole, room })?;
    into[..header.len()].copy_from_slice(header);
    into[header.len()..].fill(0);
    Ok(whole)
}

impl Headers {
    /// The headers of a packet whose payload is zeros. `identification` is that of the IP header.
    ///
    /// # Errors
    /// When the packet has no bytes.
    pub fn of(packet: &Packet, identification: u16) -> Result<Headers, Unfit> {
        Headers::make(packet, identification, &[])
    }

    /// The headers of a packet with this payload, which their checksum covers.
    ///
    /// # Errors
    /// When the packet has no bytes, or a payload of another length.
    pub fn over(packet: &Packet, identification: u16, payload: &[u8]) -> Result<Headers, Unfit> {
        if packet.payload() as usize != payload.len() {
            return Err(Unfit::Payload { packet: packet.payload(), given: payload.len() });
        }
        Headers::make(packet, identification, payload)
    }

    /// The bytes from the IP header up to the payload.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }

    /// Bytes of payload that follow.
    #[must_use]
    pub fn payload_len(&self) -> usize {
        usize::from(self.payload)
    }

    /// Bytes of the whole packet.
    #[must_use]
    pub fn packet_len(&self) -> usize {
        usize::from(self.len) + self.payload_len()
    }

    /// The same with a differentiated services code point: the upper six bits of the second byte (RFC 2474, 3).
    #[must_use]
    pub fn with_dscp(mut self, dscp: u8) -> Headers {
        self.bytes[1] = dscp << 2 | self.bytes[1] & 0b11;
        let end = 4 * usize::from(self.bytes[0] & 0x0F);
        self.bytes[10..12].fill(0);
        let header_sum = checksum(&[&self.bytes[..end]]);
        self.bytes[10..12].copy_from_slice(&header_sum.to_be_bytes());
        self
    }

    /// A payload of zeros adds nothing to the checksum, so it may be left out.
    fn make(packet: &Packet, identification: u16, payload: &[u8]) -> Result<Headers, Unfit> {
        let total = length_of(packet)?;
        let mut headers = Headers { bytes: [0; MAX_HEADERS], len: 0, payload: packet.payload() as u16 };
        let (src, dst) = (address(packet.src), address(packet.dst));
        let (protocol, checksum_at) = match packet.body {
            Body::Tcp(_) => (PROTOCOL_TCP, 16),
            Body::Udp(_) => (PROTOCOL_UDP, 6),
        };
        let words = (FIXED_HEADER as u16 + packet.extra_header) / 4;
        headers.put([VERSION | words as u8, packet.ecn as u8]);
        headers.put(total.to_be_bytes());
        headers.put(identification.to_be_bytes());
        headers.put([DF, 0, TTL, protocol, 0, 0]);
        headers.put(src);
        headers.put(dst);
        if packet.extra_header > 0 {
            headers.put([ROUTING_OPTION, packet.extra_header as u8]);
            headers.skip(usize::from(packet.extra_header) - 2);
        }
        let transport = usize::from(headers.len);
        let header_sum = checksum(&[headers.as_bytes()]);
        headers.bytes[10..12].copy_from_slice(&header_sum.to_be_bytes());
        match &packet.body {
            Body::Tcp(segment) => headers.put_segment(segment),
            Body::Udp(datagram) => headers.put_datagram(datagram),
        }
        let pseudo = pseudo_header(src, dst, protocol, total - transport as u16);
        let mut checksum = checksum(&[&pseudo, &headers.as_bytes()[transport..], payload]);
        if protocol == PROTOCOL_UDP && checksum == 0 {
            // A UDP checksum of zero means none, so zero is sent as its complement (RFC 768).
            checksum = u16::MAX;
        }
        let place = transport + checksum_at;
        headers.bytes[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
        Ok(headers)
    }

    fn put_segment(&mut self, segment: &Segment) {
        self.put(segment.src_port.to_be_bytes());
        self.put(segment.dst_port.to_be_bytes());
        self.put(segment.seq.0.to_be_bytes());
        self.put(segment.ack.0.to_be_bytes());
        self.put(((((segment.header_size() / 4) << 12) as u16) | segment.flags.0).to_be_bytes());
        self.put(segment.window.to_be_bytes());
        // Checksum and urgent pointer.
        self.skip(4);
        self.put_options(&segment.options);
    }

    fn put_datagram(&mut self, datagram: &Datagram) {
        let length = UDP_HEADER as u32 + datagram.len;
        for word in [datagram.src_port, datagram.dst_port, length as u16, 0] {
            self.put(word.to_be_bytes());
        }
    }

    /// Each option on whole words, as hosts lay them out (RFC 7323, appendix A).
    fn put_options(&mut self, options: &Options) {
        if let Some(mss) = options.mss {
            self.put([MSS, 4]);
            self.put(mss.to_be_bytes());
        }
        if let Some(shift) = options.window_scale {
            self.put([NOP, WINDOW_SCALE, 3, shift]);
        }
        if options.sack_permitted {
            self.put([NOP, NOP, SACK_PERMITTED, 2]);
        }
        if let Some(stamps) = options.timestamps {
            self.put([NOP, NOP, TIMESTAMPS, 10]);
            self.put(stamps.value.to_be_bytes());
            self.put(stamps.echo.to_be_bytes());
        }
        let blocks = options.sack.as_slice();
        if !blocks.is_empty() {
            self.put([NOP, NOP, SACK, 2 + 8 * blocks.len() as u8]);
            for (left, right) in blocks {
                self.put(left.0.to_be_bytes());
                self.put(right.0.to_be_bytes());
            }
        }
        if let Some(extension) = options.extension.filter(|extension| extension.form == Form::Option) {
            self.put_extension(&extension);
        }
        if let Some(option) = options.acks {
            self.put_about_acks(option);
        }
    }

    fn put_extension(&mut self, extension: &Extension) {
        self.put([NOP, NOP, NOP, EXPERIMENT, 17]);
        self.put(JITTER_EXPERIMENT);
        self.put(micros(extension.sent).to_be_bytes());
        self.put(micros(extension.received).to_be_bytes());
        self.put(extension.trigger.0.to_be_bytes());
        self.put([extension.modulation.map_or(0, |modulation| modulation as u8 + 1)]);
    }

    fn put_about_acks(&mut self, option: AckOption) {
        match option {
            AckOption::TakesRequests => {
                self.put([EXPERIMENT_2, 4]);
                self.put(TARR_EXPERIMENT);
            }
            AckOption::Request(every) => {
                self.put([NOP, NOP, NOP, EXPERIMENT_2, 5]);
                self.put(TARR_EXPERIMENT);
                self.put([every << 1]);
            }
            AckOption::TakesTime => {
                self.put([EXPERIMENT, 4]);
                self.put(TACK_EXPERIMENT);
            }
            AckOption::LeastRoundTrip(micros) => {
                self.put([EXPERIMENT, 8]);
                self.put(TACK_EXPERIMENT);
                self.put(micros.to_be_bytes());
            }
        }
    }

    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        let at = usize::from(self.len);
        self.bytes[at..at + N].copy_from_slice(&bytes);
        self.len += N as u8;
    }

    /// Leaves zeros.
    fn skip(&mut self, bytes: usize) {
        self.len += bytes as u8;
    }
}

/// The length of a packet, if it has bytes.
fn length_of(packet: &Packet) -> Result<u16, Unfit> {
    let extra = packet.extra_header;
    if !extra.is_multiple_of(4) || usize::from(extra) > MAX_OPTIONS {
        return Err(Unfit::RoutingHeader(extra));
    }
    if let Body::Tcp(Segment { options, .. }) = &packet.body {
        if options.extension.is_some_and(|extension| extension.form == Form::Paper) {
            return Err(Unfit::PaperStamps);
        }
        if options.size() as usize > MAX_OPTIONS {
            return Err(Unfit::Options(options.size()));
        }
    }
    // A payload near 2³² would overflow the sizes of a packet.
    let total = u64::from(packet.payload()) + headers_of(packet);
    u16::try_from(total).map_err(|_| Unfit::TooLong(total))
}

/// Bytes of headers of a packet.
fn headers_of(packet: &Packet) -> u64 {
    let transport = match &packet.body {
        Body::Tcp(segment) => u64::from(segment.header_size()),
        Body::Udp(_) => UDP_HEADER as u64,
    };
    FIXED_HEADER as u64 + u64::from(packet.extra_header) + transport
}

/// A stamp of 32 bits; it wraps after 71 minutes.
fn micros(time: Time) -> u32 {
    (time.0 / 1_000) as u32
}
