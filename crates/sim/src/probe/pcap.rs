//! Captures of a link: raw IP packets at their departure, both directions in one file.
//!
//! The format is classic pcap with nanoseconds, link type 101 (raw IP). [`lasthop_stack::wire`] writes the packets:
//! headers and checksums are real, the payload is zeros. What a program outside sent is shown as it is.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io::{self, Write};

use lasthop_stack::packet::Packet;
use lasthop_stack::units::Time;
use lasthop_stack::wire::{Headers, Unfit};

use crate::model::ports::Ports;
use crate::outside::Outside;

/// Magic number of pcap files whose times are in nanoseconds.
const MAGIC_NANOSECONDS: u32 = 0xA1B2_3C4D;
/// Link type of raw IP packets.
const LINKTYPE_RAW: u32 = 101;
/// Most bytes of a packet that are kept: all.
const SNAP_LENGTH: u32 = 65_535;
/// Zeros for payloads.
static ZEROS: [u8; SNAP_LENGTH as usize] = [0; SNAP_LENGTH as usize];

/// The code point of the packets of each flow.
#[derive(Clone, Debug)]
pub(crate) struct CodePoints {
    ports: Ports,
    /// By flow; empty where all have 0.
    of: Vec<u8>,
}

impl CodePoints {
    /// Those of the flows in their order.
    pub(crate) fn new(flows: impl Iterator<Item = u8>, ports: Ports) -> CodePoints {
        let of: Vec<u8> = flows.collect();
        CodePoints { ports, of: if of.iter().all(|dscp| *dscp == 0) { Vec::new() } else { of } }
    }

    /// A packet as a capture shows it: the headers with the code point of its flow, or what a program outside sent.
    pub(super) fn shown(
        &self,
        packet: &Packet,
        identification: u16,
        outside: Option<&Outside>,
    ) -> Result<Shown, Unfit> {
        let mut bytes = Vec::new();
        // A packet that an agent made has zeros as its payload.
        if let Some(outside) = outside.filter(|outside| outside.connections.have(packet))
            && outside.write(packet, identification, &mut bytes).is_ok()
        {
            return Ok(Shown::Whole(bytes));
        }
        let payload = outside.and_then(|outside| outside.payload(packet)).unwrap_or_default();
        let headers = match payload {
            [] => Headers::of(packet, identification)?,
            payload => Headers::over(packet, identification, payload)?,
        };
        let headers = match &self.of[..] {
            [] => headers,
            of => headers.with_dscp(of[self.ports.addressee(packet).0]),
        };
        Ok(match payload {
            [] => Shown::Headers(headers),
            payload => Shown::Whole([headers.as_bytes(), payload].concat()),
        })
    }
}

/// The bytes of a packet in a capture.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Shown {
    /// Those before a payload of zeros.
    Headers(Headers),
    /// All of them.
    Whole(Vec<u8>),
}

impl Shown {
    /// The bytes up to the zeros.
    pub(super) fn as_bytes(&self) -> &[u8] {
        match self {
            Shown::Headers(headers) => headers.as_bytes(),
            Shown::Whole(bytes) => bytes,
        }
    }

    /// How many zeros follow.
    pub(super) fn zeros(&self) -> usize {
        match self {
            Shown::Headers(headers) => headers.payload_len(),
            Shown::Whole(_) => 0,
        }
    }
}

/// A capture file being written.
///
/// A link knows a packet's departure when it accepts it, so records of the two directions come out of order; they wait
/// here until nothing earlier can follow.
pub struct Capture {
    file: Box<dyn Write + Send>,
    code_points: CodePoints,
    waiting: BinaryHeap<Reverse<(Time, u64, Shown)>>,
    records: u64,
    identification: u16,
    failed: Option<io::Error>,
}

impl Capture {
    /// Begins a capture with the file header.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub(crate) fn new(mut file: Box<dyn Write + Send>, code_points: CodePoints) -> io::Result<Capture> {
        write_file_header(&mut file, LINKTYPE_RAW)?;
        let waiting = BinaryHeap::new();
        Ok(Capture { file, code_points, waiting, records: 0, identification: 0, failed: None })
    }

    /// Records a packet that leaves at `departure`.
    pub(crate) fn record(&mut self, departure: Time, now: Time, packet: &Packet, outside: Option<&Outside>) {
        self.identification = self.identification.wrapping_add(1);
        self.records += 1;
        match self.code_points.shown(packet, self.identification, outside) {
            Ok(shown) => self.waiting.push(Reverse((departure, self.records, shown))),
            Err(unfit) => self.failed = self.failed.take().or(Some(io::Error::other(unfit))),
        }
        self.flush_before(now);
    }

    fn flush_before(&mut self, now: Time) {
        while let Some(Reverse((departure, _, _))) = self.waiting.peek()
            && *departure < now
            && let Some(Reverse((departure, _, shown))) = self.waiting.pop()
        {
            if self.failed.is_none() {
                self.failed = write_record(&mut self.file, departure, shown.as_bytes(), shown.zeros()).err();
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

/// Writes a record: the bytes given, followed by zeros for the payload.
pub(super) fn write_record(file: &mut impl Write, time: Time, bytes: &[u8], zeros: usize) -> io::Result<()> {
    let seconds = (time.0 / 1_000_000_000) as u32;
    let nanos = (time.0 % 1_000_000_000) as u32;
    let length = (bytes.len() + zeros) as u32;
    for word in [seconds, nanos, length, length] {
        file.write_all(&word.to_le_bytes())?;
    }
    file.write_all(bytes)?;
    file.write_all(&ZEROS[..zeros])
}
