//! Captures of a link: raw IP packets as they leave, both directions in one file.
//!
//! The format is classic pcap with nanoseconds, link type 101 (raw IP). Headers and checksums are real; the payload is
//! zeros. A routing header stands as one experimental IP option of its length.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use lasthop_stack::packet::{Body, Form, Options, Packet, Segment};
use lasthop_stack::units::Time;

/// Magic number of pcap files whose times are in nanoseconds.
const MAGIC_NANOSECONDS: u32 = 0xA1B2_3C4D;
/// Link type of raw IP packets.
const LINKTYPE_RAW: u32 = 101;
/// Most bytes of a packet that are kept: all.
const SNAP_LENGTH: u32 = 65_535;
/// Time to live of every packet.
const TTL: u8 = 64;
/// IP option reserved for experiments (RFC 4727, 3.4), in which a routing header stands.
const ROUTING_OPTION: u8 = 94;
/// TCP option kind reserved for experiments (RFC 4727).
const EXPERIMENT_OPTION: u8 = 253;

/// The experiment that the stamps of JTCP and EJTCP are (RFC 6994, 3): an identifier that nobody has registered.
const JITTER_EXPERIMENT: u16 = 0x4A54;

/// A capture file being written.
///
/// A link knows a packet's departure when it takes it in, so records of the two directions come out of order; they wait
/// here until nothing earlier can follow.
pub struct Capture {
    file: Box<dyn Write + Send>,
    waiting: BinaryHeap<Reverse<(Time, u64, Vec<u8>)>>,
    records: u64,
    identification: u16,
    failed: Option<io::Error>,
}

impl Capture {
    /// Begins a capture with the file header.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn new(mut file: Box<dyn Write + Send>) -> io::Result<Capture> {
        write_file_header(&mut file, LINKTYPE_RAW)?;
        Ok(Capture { file, waiting: BinaryHeap::new(), records: 0, identification: 0, failed: None })
    }

    /// Records a packet that will have left at `departure`.
    pub(crate) fn record(&mut self, departure: Time, now: Time, packet: &Packet) {
        self.identification = self.identification.wrapping_add(1);
        self.records += 1;
        let bytes = encode(packet, self.identification);
        self.waiting.push(Reverse((departure, self.records, bytes)));
        self.flush_before(now);
    }

    fn flush_before(&mut self, now: Time) {
        while let Some(Reverse((departure, _, _))) = self.waiting.peek()
            && *departure < now
            && let Some(Reverse((departure, _, bytes))) = self.waiting.pop()
        {
            if self.failed.is_none() {
                self.failed = write_record(&mut self.file, departure, &bytes).err();
            }
        }
    }

    /// Writes what left by `end` and closes the file.
    ///
    /// # Errors
    /// The first error met while writing.
    pub fn finish(mut self, end: Time) -> io::Result<()> {
        self.flush_before(end.after(lasthop_stack::units::Span(1)));
        match self.failed {
            Some(error) => Err(error),
            None => self.file.flush(),
        }
    }
}

/// Begins a file of packets of this link type.
pub(super) fn write_file_header(file: &mut impl Write, link_type: u32) -> io::Result<()> {
    let mut header = Vec::with_capacity(24);
    header.extend(MAGIC_NANOSECONDS.to_le_bytes());
    header.extend(2u16.to_le_bytes());
    header.extend(4u16.to_le_bytes());
    header.extend([0; 8]);
    header.extend(SNAP_LENGTH.to_le_bytes());
    header.extend(link_type.to_le_bytes());
    file.write_all(&header)
}

pub(super) fn write_record(file: &mut impl Write, time: Time, bytes: &[u8]) -> io::Result<()> {
    let seconds = (time.0 / 1_000_000_000) as u32;
    let nanos = (time.0 % 1_000_000_000) as u32;
    let length = bytes.len() as u32;
    for word in [seconds, nanos, length, length] {
        file.write_all(&word.to_le_bytes())?;
    }
    file.write_all(bytes)
}

/// The packet as bytes, from the IP header on.
#[must_use]
pub fn encode(packet: &Packet, identification: u16) -> Vec<u8> {
    let total = packet.size().0 as u16;
    let header = 20 + usize::from(packet.extra_header);
    let mut bytes = Vec::with_capacity(usize::from(total));
    bytes.push(0x40 | (header / 4) as u8);
    bytes.push(0);
    bytes.extend(total.to_be_bytes());
    bytes.extend(identification.to_be_bytes());
    bytes.extend([0x40, 0]);
    let protocol = match packet.body {
        Body::Tcp(_) => 6,
        Body::Udp(_) => 17,
    };
    bytes.extend([TTL, protocol, 0, 0]);
    bytes.extend(address(packet.src.0));
    bytes.extend(address(packet.dst.0));
    if packet.extra_header >= 2 {
        bytes.extend([ROUTING_OPTION, packet.extra_header as u8]);
    }
    bytes.resize(header, 0);
    let sum = checksum(&[&bytes]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    let transport = match &packet.body {
        Body::Tcp(segment) => tcp(segment),
        Body::Udp(datagram) => {
            let mut udp = Vec::new();
            for word in [datagram.src_port, datagram.dst_port, (8 + datagram.len) as u16, 0] {
                udp.extend(word.to_be_bytes());
            }
            udp
        }
    };
    let length = (usize::from(total) - header) as u16;
    let pseudo =
        [&address(packet.src.0)[..], &address(packet.dst.0), &[0, protocol], &length.to_be_bytes()].concat();
    let sum = checksum(&[&pseudo, &transport]);
    let place = header + if protocol == 6 { 16 } else { 6 };
    bytes.extend(transport);
    // A UDP checksum of zero means none, so zero is sent as its complement (RFC 768).
    let sum = if protocol == 17 && sum == 0 { u16::MAX } else { sum };
    bytes[place..place + 2].copy_from_slice(&sum.to_be_bytes());
    bytes.resize(usize::from(total), 0);
    bytes
}

fn tcp(segment: &Segment) -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend(segment.src_port.to_be_bytes());
    bytes.extend(segment.dst_port.to_be_bytes());
    bytes.extend(segment.seq.0.to_be_bytes());
    bytes.extend(segment.ack.0.to_be_bytes());
    bytes.push(((segment.header_size() / 4) << 4) as u8);
    bytes.push(segment.flags.0);
    bytes.extend(segment.window.to_be_bytes());
    bytes.extend([0; 4]);
    options(&segment.options, &mut bytes);
    bytes
}

fn options(options: &Options, bytes: &mut Vec<u8>) {
    if let Some(mss) = options.mss {
        bytes.extend([2, 4]);
        bytes.extend(mss.to_be_bytes());
    }
    if let Some(shift) = options.window_scale {
        bytes.extend([1, 3, 3, shift]);
    }
    if options.sack_permitted {
        bytes.extend([1, 1, 4, 2]);
    }
    if let Some(stamps) = options.timestamps {
        bytes.extend([1, 1, 8, 10]);
        bytes.extend(stamps.value.to_be_bytes());
        bytes.extend(stamps.echo.to_be_bytes());
    }
    let blocks = options.sack.as_slice();
    if !blocks.is_empty() {
        bytes.extend([1, 1, 5, 2 + 8 * blocks.len() as u8]);
        for (left, right) in blocks {
            bytes.extend(left.0.to_be_bytes());
            bytes.extend(right.0.to_be_bytes());
        }
    }
    if let Some(extension) = options.extension.filter(|extension| extension.form == Form::Option) {
        bytes.extend([1, 1, 1, EXPERIMENT_OPTION, 17]);
        bytes.extend(JITTER_EXPERIMENT.to_be_bytes());
        bytes.extend(micros(extension.sent).to_be_bytes());
        bytes.extend(micros(extension.received).to_be_bytes());
        bytes.extend(extension.trigger.0.to_be_bytes());
        bytes.push(extension.modulation.map_or(0, |modulation| modulation as u8 + 1));
    }
}

/// A stamp of 32 bits; it turns round after 71 minutes.
fn micros(time: Time) -> u32 {
    (time.0 / 1_000) as u32
}

/// Node `n` has the address 10.0.0.0 + n + 1.
fn address(node: u32) -> [u8; 4] {
    (0x0A00_0000 + node + 1).to_be_bytes()
}

/// The Internet checksum (RFC 1071) over the parts, each of even length.
fn checksum(parts: &[&[u8]]) -> u16 {
    let mut sum = 0u32;
    for pair in parts.iter().flat_map(|part| part.chunks(2)) {
        sum += u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
    }
    while sum > 0xFFFF {
        sum = (sum & 0xFFFF) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lasthop_stack::packet::{Datagram, Extension, Flags, Modulation, NodeId, Timestamps};
    use lasthop_stack::units::SeqNo;

    fn verifies(parts: &[&[u8]]) -> bool {
        checksum(parts) == 0
    }

    #[test]
    fn the_option_of_the_stamps_stands_in_the_header_byte_by_byte() {
        let stamps = Extension {
            form: Form::Option,
            sent: Time(0x0102_0304 * 1_000),
            // A stamp of 32 bits turns round.
            received: Time(0x0001_0506_0708 * 1_000),
            trigger: SeqNo(0x0A0B_0C0D),
            modulation: Some(Modulation::Qam64),
        };
        let of = |form| {
            let extension = Some(Extension { form, ..stamps });
            let options = Options { extension, ..Options::default() };
            tcp(&Segment { flags: Flags::ACK, options, ..Segment::default() })
        };
        let bytes = of(Form::Option);
        assert_eq!(bytes[12] >> 4, 10, "ten words of header");
        let expected = [1, 1, 1, 253, 17, 0x4A, 0x54, 1, 2, 3, 4, 5, 6, 7, 8, 0x0A, 0x0B, 0x0C, 0x0D, 3];
        assert_eq!(bytes[20..], expected);
        assert_eq!(of(Form::Probe).len(), 20);
    }

    #[test]
    fn checksums_of_headers_and_bodies_verify() {
        let options = Options { timestamps: Some(Timestamps { value: 7, echo: 9 }), ..Options::default() };
        let segment =
            Segment { seq: SeqNo(0xDEAD_BEEF), flags: Flags::ACK, len: 33, options, ..Segment::default() };
        let datagram = Datagram { src_port: 1, dst_port: 2, len: 10, ..Datagram::default() };
        for (body, protocol) in [(Body::Tcp(segment), 6u8), (Body::Udp(datagram), 17)] {
            let packet = Packet { src: NodeId(0), dst: NodeId(300), extra_header: 20, body };
            let bytes = encode(&packet, 5);
            assert_eq!(bytes.len() as u64, packet.size().0);
            assert!(verifies(&[&bytes[..40]]));
            let length = (bytes.len() - 40) as u16;
            let pseudo = [&bytes[12..20], &[0, protocol], &length.to_be_bytes()].concat();
            assert!(verifies(&[&pseudo, &bytes[40..]]));
        }
    }
}
