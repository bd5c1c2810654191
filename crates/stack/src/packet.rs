//! An IP packet with a TCP segment or a UDP datagram.
//!
//! Header fields are real; the payload is only a length, because no protocol here reads it. A capture writes zeros.

mod acks;
mod options;

pub use acks::AckOption;
pub use options::{Extension, Form, MAX_SACK_BLOCKS, Modulation, Options, SackBlocks, Timestamps};

use crate::units::{Bytes, SeqNo, Time};

/// A host or router. It represents an IP address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub u32);

/// IPv4 header without options.
pub const IP_HEADER: u32 = 20;
/// TCP header without options (RFC 9293, 3.1).
pub const TCP_HEADER: u32 = 20;
/// UDP header (RFC 768).
pub const UDP_HEADER: u32 = 8;

/// An IP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Its source.
    pub src: NodeId,
    /// Its destination.
    pub dst: NodeId,
    /// Bytes that a routing protocol adds between IP and transport, as ns-2's DSDV and DSR do.
    pub extra_header: u16,
    /// The number by which a host traces it, or finds the bytes that it has outside a simulation; 0 without one. It is not
    /// on the wire: a copy that an agent sends again has the same, and a packet made from its fields has none.
    pub id: u32,
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// The transport's part.
    pub body: Body,
}

/// The ECN field of an IP header, with its two bits as the value (RFC 3168, 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The transport does not use ECN.
    #[default]
    NotEct = 0b00,
    /// The transport uses ECN: ECT(1).
    Ect1 = 0b01,
    /// The transport uses ECN: ECT(0).
    Ect0 = 0b10,
    /// A queue on the way indicates congestion.
    Ce = 0b11,
}

impl Ecn {
    /// The value of two bits; those above them are ignored.
    #[must_use]
    pub const fn of_bits(bits: u8) -> Ecn {
        match bits & 0b11 {
            0b00 => Ecn::NotEct,
            0b01 => Ecn::Ect1,
            0b10 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Whether a queue may mark the packet: its transport uses ECN.
    #[must_use]
    pub const fn is_capable(self) -> bool {
        !matches!(self, Ecn::NotEct)
    }
}

/// The transport's part of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// A TCP segment.
    Tcp(Segment),
    /// A UDP datagram.
    Udp(Datagram),
}

/// A TCP segment with its options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Sequence number of the first payload byte (or of SYN or FIN).
    pub seq: SeqNo,
    /// Acknowledgement number, valid with [`Flags::ACK`].
    pub ack: SeqNo,
    /// Control bits.
    pub flags: Flags,
    /// Window field as in the header: not yet scaled.
    pub window: u16,
    /// Payload length in bytes.
    pub len: u32,
    /// TCP options.
    pub options: Options,
}

/// The control bits of a segment with the four reserved ones before them (RFC 9293, 3.1): the last 12 bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Flags = Flags(0x01);
    /// Synchronise sequence numbers.
    pub const SYN: Flags = Flags(0x02);
    /// Reset the connection.
    pub const RST: Flags = Flags(0x04);
    /// Push what has arrived to the application.
    pub const PSH: Flags = Flags(0x08);
    /// The acknowledgement number is valid.
    pub const ACK: Flags = Flags(0x10);
    /// The receiver echoes a mark; on a SYN, the sender can use ECN (RFC 3168, 6.1).
    pub const ECE: Flags = Flags(0x40);
    /// Accurate ECN; outside SYNs the highest bit of the count of marked packets, of which CWR and ECE are the others
    /// (RFC 9768, 3.1.1 and 3.2.2).
    pub const AE: Flags = Flags(0x100);
    /// The sender has reduced its window; on a SYN, it can use ECN (RFC 3168, 6.1).
    pub const CWR: Flags = Flags(0x80);
    /// The first reserved bit, on a segment on its way over one hop: the agent that passed it leaves the segment alone, and if it is a
    /// SYN the connection.
    pub const REFUSED: Flags = Flags(0x800);
    /// The second reserved bit, explicit loss notification (ELN): the segment that a duplicate acknowledgement requests
    /// was lost on a wireless link.
    pub const ELN: Flags = Flags(0x400);

    /// Whether all bits of `other` are set.
    #[must_use]
    pub const fn has(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// These bits and those of `other`.
    #[must_use]
    pub const fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }

    /// These bits without those of `other`.
    #[must_use]
    pub const fn without(self, other: Flags) -> Flags {
        Flags(self.0 & !other.0)
    }
}

/// A UDP datagram.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Datagram {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
    /// Payload length in bytes.
    pub len: u32,
    /// Its number within its flow, from 0, which identifies duplicates; it is part of the payload and adds no bytes.
    pub number: u32,
    /// When it was made, for the delay probe; likewise.
    pub made: Time,
}

impl Segment {
    /// A segment without payload, control bits and options.
    pub const EMPTY: Segment = Segment {
        src_port: 0,
        dst_port: 0,
        seq: SeqNo(0),
        ack: SeqNo(0),
        flags: Flags(0),
        window: 0,
        len: 0,
        options: Options::NONE,
    };

    /// Bytes of header, options included.
    #[must_use]
    pub fn header_size(&self) -> u32 {
        TCP_HEADER + self.options.size()
    }

    /// The sequence space it takes: payload, and one each for SYN and FIN.
    #[must_use]
    pub fn sequence_len(&self) -> u32 {
        self.len + u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN))
    }
}

impl Packet {
    /// What is in the room for a packet before there is one.
    pub const NONE: Packet = Packet::new(
        NodeId(0),
        NodeId(0),
        Body::Udp(Datagram { src_port: 0, dst_port: 0, len: 0, number: 0, made: Time::ZERO }),
    );

    /// A packet without an extra header or a number, whose transport does not use ECN.
    #[must_use]
    pub const fn new(src: NodeId, dst: NodeId, body: Body) -> Packet {
        Packet { src, dst, extra_header: 0, id: 0, ecn: Ecn::NotEct, body }
    }

    /// The whole length of the IP packet.
    #[must_use]
    #[inline]
    pub fn size(&self) -> Bytes {
        let transport = match &self.body {
            Body::Tcp(segment) => segment.header_size() + segment.len,
            Body::Udp(datagram) => UDP_HEADER + datagram.len,
        };
        Bytes(u64::from(IP_HEADER + u32::from(self.extra_header) + transport))
    }

    /// Bytes of application payload.
    #[must_use]
    pub fn payload(&self) -> u32 {
        match &self.body {
            Body::Tcp(segment) => segment.len,
            Body::Udp(datagram) => datagram.len,
        }
    }

    /// Source and destination port.
    #[must_use]
    pub fn ports(&self) -> (u16, u16) {
        match &self.body {
            Body::Tcp(segment) => (segment.src_port, segment.dst_port),
            Body::Udp(datagram) => (datagram.src_port, datagram.dst_port),
        }
    }
}

/// One direction of a connection, by the addresses and ports of the packets that go this way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowKey {
    /// Where its packets come from.
    pub src: NodeId,
    /// From which port.
    pub src_port: u16,
    /// Where they go.
    pub dst: NodeId,
    /// To which port.
    pub dst_port: u16,
}

impl FlowKey {
    /// The direction in which a packet goes.
    #[must_use]
    pub fn of(packet: &Packet) -> FlowKey {
        let (src_port, dst_port) = packet.ports();
        FlowKey { src: packet.src, src_port, dst: packet.dst, dst_port }
    }

    /// The other direction: that of the data which an acknowledgement of this one is about.
    #[must_use]
    pub fn reversed(self) -> FlowKey {
        FlowKey { src: self.dst, src_port: self.dst_port, dst: self.src, dst_port: self.src_port }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data_packet(options: Options) -> Packet {
        let segment = Segment { len: 1000, options, ..Segment::default() };
        Packet::new(NodeId(0), NodeId(1), Body::Tcp(segment))
    }

    #[test]
    fn its_number_takes_no_room() {
        assert_eq!(size_of::<Packet>(), 128);
    }

    #[test]
    fn a_full_segment_without_options_is_its_payload_and_forty_bytes() {
        assert_eq!(data_packet(Options::default()).size(), Bytes(1040));
    }

    #[test]
    fn options_are_padded_to_a_multiple_of_four() {
        let timestamps = Some(Timestamps::default());
        assert_eq!(data_packet(Options { timestamps, ..Options::default() }).size(), Bytes(1052));
        let mut sack = SackBlocks::default();
        sack.push(SeqNo(1), SeqNo(2));
        sack.push(SeqNo(3), SeqNo(4));
        assert_eq!(Options { timestamps, sack, ..Options::default() }.size(), 12 + 20);
    }

    #[test]
    fn an_extension_costs_what_its_form_says_and_takes_the_room_of_blocks() {
        let of = |form| Some(Extension { form, ..Extension::default() });
        let stamped = Options { timestamps: Some(Timestamps::default()), ..Options::default() };
        let sizes = [(Form::Probe, 0, 4, 3), (Form::Paper, 2, 4, 2), (Form::Option, 20, 2, 0)];
        for (form, bytes, alone, beside_timestamps) in sizes {
            let options = Options { extension: of(form), ..Options::default() };
            assert_eq!((options.size(), options.room_for_blocks()), (bytes, alone));
            let options = Options { extension: of(form), ..stamped };
            assert_eq!(options.room_for_blocks(), beside_timestamps);
        }
        assert_eq!(Form::Option.stamp(Time(1_999_999)), Time(1_999_000));
        assert_eq!(Form::Paper.stamp(Time(1_999_999)), Time(1_999_999));
    }

    #[test]
    fn a_fifth_sack_block_has_no_room() {
        let mut sack = SackBlocks::default();
        for i in 0..5 {
            sack.push(SeqNo(i), SeqNo(i + 1));
        }
        assert_eq!(sack.as_slice().len(), MAX_SACK_BLOCKS);
    }

    #[test]
    fn the_bits_of_a_symbol_are_as_one_to_two_to_three() {
        let bits = [Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64].map(Modulation::bits_per_symbol);
        assert_eq!(bits.map(|bits| bits * 16), [32, 64, 96], "megabits a second in 20 MHz");
    }

    #[test]
    fn the_ecn_field_has_the_code_points_of_rfc_3168_and_fits_into_what_a_packet_had() {
        // RFC 3168 (5), figure 1.
        for (bits, ecn) in [(0, Ecn::NotEct), (1, Ecn::Ect1), (2, Ecn::Ect0), (3, Ecn::Ce)] {
            assert_eq!((Ecn::of_bits(bits), ecn as u8), (ecn, bits));
            assert_eq!(Ecn::of_bits(0b1011_1000 | bits), ecn, "the class of service is not ECN's");
            assert_eq!(ecn.is_capable(), bits > 0);
        }
        assert_eq!(size_of::<Packet>(), 128);
    }

    #[test]
    fn flags_are_set_when_all_of_them_are() {
        let both = Flags::SYN.with(Flags::ACK);
        assert!(both.has(Flags::ACK) && both.has(both) && !Flags::ACK.has(both));
    }

    #[test]
    fn a_routing_header_comes_on_top() {
        let packet = Packet { extra_header: 20, ..data_packet(Options::default()) };
        assert_eq!(packet.size(), Bytes(1060));
    }

    #[test]
    fn an_acknowledgement_goes_against_the_direction_of_its_data() {
        let segment = |src_port, dst_port| Body::Tcp(Segment { src_port, dst_port, ..Segment::default() });
        let data = Packet::new(NodeId(3), NodeId(7), segment(80, 4_000));
        let ack = Packet::new(NodeId(7), NodeId(3), segment(4_000, 80));
        assert_eq!(FlowKey::of(&ack).reversed(), FlowKey::of(&data));
        assert_ne!(FlowKey::of(&ack), FlowKey::of(&data));
    }
}
