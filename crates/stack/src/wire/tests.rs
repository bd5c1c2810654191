//! Hand-made bytes, and the properties that hold for all packets and all bytes.

use proptest::prelude::*;

use super::*;
use crate::packet::{
    AckOption, Body, Datagram, Ecn, Extension, Flags, Form, Modulation, Options, Packet, SackBlocks, Segment,
    Timestamps,
};
use crate::units::{SeqNo, Time};

/// Later than a wrap of the stamps, which takes 71 minutes.
const NOW: Time = Time(10_000_000_000_000);

fn tcp(segment: Segment) -> Packet {
    Packet::new(NodeId(0), NodeId(300), Body::Tcp(segment))
}

fn bytes_of(packet: &Packet) -> Vec<u8> {
    let mut bytes = vec![0xAA; 1 << 16];
    let written = write(packet, 5, &mut bytes).expect("the packet has bytes");
    bytes.truncate(written);
    bytes
}

/// Writes the checksums that the lengths in the headers require.
fn mend_checksums(bytes: &mut [u8]) {
    let header_len = usize::from(bytes[0] & 0x0F) * 4;
    let total = usize::from(u16::from_be_bytes([bytes[2], bytes[3]]));
    if header_len < 20 || total < header_len || total > bytes.len() {
        return;
    }
    let (header, transport) = bytes[..total].split_at_mut(header_len);
    header[10..12].fill(0);
    let checksum = super::checksum(&[header]);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    let place = if header[9] == PROTOCOL_TCP { 16 } else { 6 };
    if transport.len() >= place + 2 {
        transport[place..place + 2].fill(0);
        let pseudo = [&header[12..20], &[0, header[9]], &(transport.len() as u16).to_be_bytes()].concat();
        let checksum = super::checksum(&[&pseudo, transport]);
        transport[place..place + 2].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// A datagram with these changes to its bytes and checksums that are right.
fn changed(packet: &Packet, change: impl FnOnce(&mut Vec<u8>)) -> Result<Packet, Malformed> {
    let mut bytes = bytes_of(packet);
    change(&mut bytes);
    mend_checksums(&mut bytes);
    parse(&bytes, NOW).map(|(packet, _)| packet)
}

/// A segment whose options are these bytes.
fn with_options(options: &[u8]) -> Result<Options, Malformed> {
    let room = Options { timestamps: Some(Timestamps::default()), ..Options::default() };
    let found = changed(&tcp(Segment { options: room, ..Segment::default() }), |bytes| {
        bytes.truncate(40);
        bytes.extend(options);
        bytes.resize(40 + options.len().next_multiple_of(4), 0);
        (bytes[3], bytes[32]) = (bytes.len() as u8, (((bytes.len() - 20) / 4) << 4) as u8);
    })?;
    let Body::Tcp(segment) = found.body else { panic!("a segment") };
    Ok(segment.options)
}

#[test]
fn the_option_of_the_stamps_stands_in_the_header_byte_by_byte() {
    let stamps = Extension {
        form: Form::Option,
        sent: Time(0x0102_0304 * 1_000),
        // A stamp of 32 bits wraps.
        received: Time(0x0001_0506_0708 * 1_000),
        trigger: SeqNo(0x0A0B_0C0D),
        modulation: Some(Modulation::Qam64),
    };
    let of = |form| {
        let options = Options { extension: Some(Extension { form, ..stamps }), ..Options::default() };
        Headers::of(&tcp(Segment { flags: Flags::ACK, options, ..Segment::default() }), 1)
    };
    let headers = of(Form::Option).expect("the option has bytes");
    let bytes = &headers.as_bytes()[20..];
    assert_eq!(bytes[12] >> 4, 10, "ten words of header");
    let expected = [1, 1, 1, 253, 17, 0x4A, 0x54, 1, 2, 3, 4, 5, 6, 7, 8, 0x0A, 0x0B, 0x0C, 0x0D, 3];
    assert_eq!(bytes[20..], expected);
    assert_eq!(of(Form::Probe).map(|headers| headers.packet_len()), Ok(40));
    assert_eq!(of(Form::Paper), Err(Unfit::PaperStamps));
}

#[test]
fn the_ecn_field_is_the_end_of_the_second_byte_and_the_flags_of_ecn_begin_the_fourteenth_of_tcp() {
    let flags = Flags::ACK.with(Flags::ECE).with(Flags::CWR);
    for (ecn, byte) in [(Ecn::NotEct, 0), (Ecn::Ect1, 1), (Ecn::Ect0, 2), (Ecn::Ce, 3)] {
        let packet = Packet { ecn, ..tcp(Segment { flags, ..Segment::default() }) };
        let bytes = bytes_of(&packet);
        // RFC 3168 (5, figure 1; 6.1, figure 4): ECN is bits 6 and 7 of the byte; CWR is 0x80, ECE 0x40.
        assert_eq!((bytes[1], bytes[33]), (byte, 0xD0));
        assert_eq!(parse(&bytes, NOW).map(|(packet, _)| packet), Ok(packet));
        // The class of service above it is another field.
        assert_eq!(changed(&packet, |bytes| bytes[1] |= 0xB8).map(|packet| packet.ecn), Ok(ecn));
    }
}

#[test]
fn a_code_point_is_the_upper_six_bits_of_the_second_byte_and_the_checksum_covers_it() {
    let packet = Packet { ecn: Ecn::Ect0, extra_header: 8, ..tcp(Segment::default()) };
    let plain = Headers::of(&packet, 7).expect("it has bytes");
    for dscp in [0, 46, 63] {
        let marked = plain.with_dscp(dscp);
        // RFC 2474 (3); ECN below it stays.
        assert_eq!(marked.as_bytes()[1], dscp << 2 | 2);
        assert_eq!(parse(marked.as_bytes(), NOW).map(|(packet, _)| packet), Ok(packet));
        assert_eq!(marked.with_dscp(0).as_bytes(), plain.as_bytes());
    }
}

/// A SYN as Linux sends it, its options packed without padding; made with scapy 2.8.
#[rustfmt::skip]
const LINUX_SYN: [u8; 60] = [
    0x45, 0x00, 0x00, 0x3C, 0x12, 0x34, 0x40, 0x00, 0x40, 0x06, 0x5C, 0xD7, 0xC0, 0xA8, 0x01, 0x07, 0x0A, 0x00, 0x00, 0x02,
    0xA8, 0xCA, 0x00, 0x50, 0xDE, 0xAD, 0xBE, 0xEF, 0x00, 0x00, 0x00, 0x00, 0xA0, 0x02, 0xFA, 0xF0, 0x36, 0xA0, 0x00, 0x00,
    0x02, 0x04, 0x05, 0xB4, 0x04, 0x02, 0x08, 0x0A, 0x01, 0x02, 0x03, 0x04, 0x00, 0x00, 0x00, 0x00, 0x01, 0x03, 0x03, 0x07,
];

#[test]
fn a_syn_of_another_stack_is_understood() {
    let (packet, payload) = parse(&LINUX_SYN, NOW).expect("a good SYN");
    assert!(payload.is_empty());
    let Body::Tcp(segment) = packet.body else { panic!("a segment") };
    assert_eq!((address(packet.src), address(packet.dst)), ([192, 168, 1, 7], [10, 0, 0, 2]));
    assert_eq!((segment.src_port, segment.dst_port, segment.flags), (43_210, 80, Flags::SYN));
    assert_eq!((segment.seq, segment.window), (SeqNo(0xDEAD_BEEF), 64_240));
    let stamps = Timestamps { value: 0x0102_0304, echo: 0 };
    let expected = Options {
        mss: Some(1460),
        window_scale: Some(7),
        sack_permitted: true,
        timestamps: Some(stamps),
        ..Options::default()
    };
    assert_eq!(segment.options, expected);
}

#[test]
fn a_payload_given_is_covered_by_the_checksum_and_comes_back() {
    let payload = *b"an odd number of bytes!";
    for body in [
        Body::Tcp(Segment { len: 23, ..Segment::default() }),
        Body::Udp(Datagram { len: 23, ..Datagram::default() }),
    ] {
        let packet = Packet { body, ..tcp(Segment::default()) };
        let headers = Headers::over(&packet, 1, &payload).expect("it has bytes");
        let mut bytes = [headers.as_bytes(), &payload].concat();
        assert_eq!(parse(&bytes, NOW), Ok((packet, &payload[..])));
        bytes.extend([0; 6]);
        assert_eq!(parse(&bytes, NOW), Ok((packet, &payload[..])), "what follows is padding");
        let last = headers.packet_len() - 1;
        bytes[last] ^= 1;
        assert_eq!(parse(&bytes, NOW), Err(Malformed::Checksum));
        assert_eq!(Headers::over(&packet, 1, b"?"), Err(Unfit::Payload { packet: 23, given: 1 }));
    }
}

#[test]
fn a_udp_checksum_of_zero_is_sent_as_its_complement_and_none_is_accepted() {
    let datagram = Datagram { src_port: 1, dst_port: 2, len: 10, ..Datagram::default() };
    let of =
        |src_port| Packet { body: Body::Udp(Datagram { src_port, ..datagram }), ..tcp(Segment::default()) };
    let checksum = |packet: &Packet| u16::from_be_bytes([bytes_of(packet)[26], bytes_of(packet)[27]]);
    // One's complement arithmetic: a port larger by the checksum makes the sum all ones.
    let zero = of(1 + checksum(&of(1)));
    assert_eq!(checksum(&zero), 0xFFFF);
    assert_eq!(parse(&bytes_of(&zero), NOW).map(|found| found.0), Ok(zero));
    let mut bytes = bytes_of(&zero);
    bytes[26..28].fill(0);
    assert_eq!(parse(&bytes, NOW).map(|found| found.0), Ok(zero));
}

#[test]
fn what_has_no_bytes_is_refused_and_says_why() {
    let of = |packet: &Packet| Headers::of(packet, 1).map(|headers| headers.packet_len());
    let long = |len| tcp(Segment { len, ..Segment::default() });
    let routed = |extra_header| Packet { extra_header, ..long(0) };
    let with = |options| tcp(Segment { options, ..Segment::default() });
    let full = Options {
        timestamps: Some(Timestamps::default()),
        mss: Some(1460),
        window_scale: Some(3),
        extension: Some(Extension { form: Form::Option, ..Extension::default() }),
        ..Options::default()
    };
    assert_eq!([of(&long(65_495)), of(&with(full)), of(&routed(40))], [Ok(65_535), Ok(80), Ok(80)]);
    let cases = [
        (long(65_496), "65536 B of packet; expected at most 65535 B"),
        (long(u32::MAX), "4294967335 B of packet; expected at most 65535 B"),
        (routed(10), "10 B of routing header; expected a multiple of 4 B, at most 40 B"),
        (routed(44), "44 B of routing header; expected a multiple of 4 B, at most 40 B"),
        (with(Options { sack_permitted: true, ..full }), "44 B of TCP options; expected at most 40 B"),
    ];
    for (packet, text) in cases {
        assert_eq!(of(&packet).map_err(|unfit| unfit.to_string()), Err(text.to_owned()));
    }
    assert_eq!(write(&long(10), 1, &mut [0; 49]), Err(Unfit::NoRoom { packet: 50, room: 49 }));
    assert_eq!(write(&long(10), 1, &mut [0; 50]), Ok(50));
}

#[test]
fn each_fault_of_the_headers_has_its_error() {
    let segment = tcp(Segment { len: 4, ..Segment::default() });
    let datagram = Packet { body: Body::Udp(Datagram { len: 4, ..Datagram::default() }), ..segment };
    let set = |packet: &Packet, at: usize, value: u8| changed(packet, |bytes| bytes[at] = value);
    assert_eq!(parse(&[], NOW), Err(Malformed::Truncated));
    assert_eq!(changed(&segment, |bytes| bytes.truncate(43)), Err(Malformed::Truncated));
    assert_eq!(set(&segment, 0, 0x65), Err(Malformed::Version(6)));
    assert_eq!(set(&segment, 0, 0x44), Err(Malformed::Length), "an IP header of 16 bytes");
    assert_eq!(set(&segment, 3, 19), Err(Malformed::Length), "a whole of 19 bytes");
    assert_eq!(set(&segment, 6, 0x20), Err(Malformed::Fragment), "more follow");
    assert_eq!(set(&segment, 7, 1), Err(Malformed::Fragment), "some went before");
    assert_eq!(set(&segment, 9, 1), Err(Malformed::Protocol(1)), "ICMP");
    assert_eq!(set(&segment, 32, 0x40), Err(Malformed::Length), "a TCP header of 16 bytes");
    assert_eq!(set(&segment, 32, 0x70), Err(Malformed::Length), "a TCP header of 28 bytes in 24");
    assert_eq!(set(&segment, 3, 39), Err(Malformed::Length), "a segment of 19 bytes");
    assert_eq!(set(&datagram, 25, 7), Err(Malformed::Length), "a datagram of 7 bytes");
    assert_eq!(set(&datagram, 25, 13), Err(Malformed::Length), "a datagram of 13 bytes in 12");
    assert_eq!(set(&datagram, 3, 27), Err(Malformed::Length), "half a UDP header");
    let mut bytes = bytes_of(&segment);
    bytes[8] -= 1;
    assert_eq!(parse(&bytes, NOW), Err(Malformed::HeaderChecksum));
    // The class of service, the reserved bit of the IP header and the urgent pointer are ignored.
    let passed = changed(&segment, |bytes| {
        (bytes[1], bytes[6], bytes[8], bytes[39]) = (0xFC, 0x80, 1, 9);
    });
    assert_eq!(passed, Ok(segment));
}

#[test]
fn options_are_read_in_any_order_and_unknown_ones_passed_over() {
    let block = [0, 0, 0, 1, 0, 0, 0, 9];
    let mixed =
        [&[5, 10][..], &block, &[254, 4, 9, 9, 253, 4, 9, 9, 1, 3, 3, 2, 4, 2, 99, 2, 0, 77, 1, 0]].concat();
    let mut expected = Options { window_scale: Some(2), sack_permitted: true, ..Options::default() };
    expected.sack.push(SeqNo(1), SeqNo(9));
    assert_eq!(with_options(&mixed), Ok(expected), "what follows the end of options is not read");
    let wrong: [(&[u8], u8); 12] = [
        (&[1, 1, 1, 2], MSS),
        (&[2, 3, 9, 0], MSS),
        (&[2, 0, 5, 0], MSS),
        (&[77, 1, 0, 0], 77),
        (&[77, 5, 0, 0], 77),
        (&[3, 4, 9, 9], WINDOW_SCALE),
        (&[4, 3, 9, 0], SACK_PERMITTED),
        (&[5, 2, 0, 0], SACK),
        (&[5, 6, 0, 0, 0, 0, 0, 0], SACK),
        (&[8, 8, 0, 0, 0, 0, 0, 0], TIMESTAMPS),
        (&[253, 5, 0x4A, 0x54, 0, 0, 0, 0], EXPERIMENT),
        (&[253, 17, 0x4A, 0x54, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0], EXPERIMENT),
    ];
    for (bytes, kind) in wrong {
        assert_eq!(with_options(bytes), Err(Malformed::Option(kind)), "{bytes:?}");
    }
}

#[test]
fn a_stamp_is_the_nearest_time_and_before_the_start_there_is_none() {
    let of = |sent: Time, now: Time| {
        let extension = Some(Extension { form: Form::Option, sent, ..Extension::default() });
        let options = Options { extension, ..Options::default() };
        let bytes = bytes_of(&tcp(Segment { options, ..Segment::default() }));
        let (packet, _) = parse(&bytes, now).expect("it was written");
        let Body::Tcp(segment) = packet.body else { panic!("a segment") };
        segment.options.extension.expect("its option").sent
    };
    let half_turn = 1_000 * (1u64 << 31);
    let exact = [Time::ZERO, Time(NOW.0 - 1_000), Time(NOW.0 - half_turn), Time(NOW.0 + half_turn - 1_000)];
    assert_eq!(exact.map(|sent| of(sent, if sent == Time::ZERO { sent } else { NOW })), exact);
    assert_eq!(of(Time(NOW.0 - half_turn - 1_000), NOW), Time(NOW.0 + half_turn - 1_000), "a turn too late");
    assert_eq!(of(Time(5_000_999), Time(9_000_000)), Time(5_000_000), "whole microseconds");
    assert_eq!(of(Time(1_000 * u64::from(u32::MAX)), Time::ZERO), Time(1_000 * u64::from(u32::MAX)));
}

fn extensions() -> impl Strategy<Value = Extension> {
    let stamp = || (NOW.0 / 1_000 - (1 << 31)..NOW.0 / 1_000 + (1 << 31)).prop_map(|us| Time(us * 1_000));
    let modulation =
        prop::option::of(prop::sample::select(vec![Modulation::Qpsk, Modulation::Qam16, Modulation::Qam64]));
    (stamp(), stamp(), any::<u32>(), modulation).prop_map(|(sent, received, trigger, modulation)| Extension {
        form: Form::Option,
        sent,
        received,
        trigger: SeqNo(trigger),
        modulation,
    })
}

fn about_acks() -> impl Strategy<Value = AckOption> {
    prop_oneof![
        Just(AckOption::TakesRequests),
        (0..=AckOption::MOST).prop_map(AckOption::Request),
        Just(AckOption::TakesTime),
        any::<u32>().prop_map(AckOption::LeastRoundTrip),
    ]
}

/// All options that fit into a header.
fn options() -> impl Strategy<Value = Options> {
    let stamps = any::<(u32, u32)>().prop_map(|(value, echo)| Timestamps { value, echo });
    let blocks = prop::collection::vec(any::<(u32, u32)>(), 0..=4);
    let parts = (prop::option::of(stamps), blocks, any::<Option<u16>>(), any::<Option<u8>>(), any::<bool>());
    (parts, prop::option::of(extensions()), prop::option::of(about_acks()))
        .prop_map(|((timestamps, blocks, mss, window_scale, sack_permitted), extension, acks)| {
            let sack = SackBlocks::default();
            let mut options =
                Options { timestamps, sack, mss, window_scale, sack_permitted, extension, acks };
            for (left, right) in blocks {
                options.sack.push(SeqNo(left), SeqNo(right));
            }
            options
        })
        .prop_filter("a header holds 40 bytes of options", |options| options.size() <= 40)
}

/// Every packet that has bytes.
fn packets() -> impl Strategy<Value = Packet> {
    let ends = (any::<u16>(), any::<u16>(), any::<u32>(), any::<u32>(), 0u16..0x1000, any::<u16>());
    let len = prop_oneof![Just(0), 0u32..3_000, 0u32..=65_375];
    let body = (ends, len, prop::option::weighted(0.8, options())).prop_map(
        |((src_port, dst_port, seq, ack, flags, window), len, options)| match options {
            None => Body::Udp(Datagram { src_port, dst_port, len, made: Time::ZERO, number: 0 }),
            Some(options) => {
                let (seq, ack, flags) = (SeqNo(seq), SeqNo(ack), Flags(flags));
                Body::Tcp(Segment { src_port, dst_port, seq, ack, flags, window, len, options })
            }
        },
    );
    (any::<(u32, u32)>(), 0u16..=10, 0u8..4, body).prop_map(|((src, dst), words, ecn, body)| Packet {
        extra_header: 4 * words,
        ecn: Ecn::of_bits(ecn),
        ..Packet::new(NodeId(src), NodeId(dst), body)
    })
}

/// That bytes are an error, or a packet that is the same after it was written again, if its options still fit: this
/// stack lays them out on whole words.
fn check_any(bytes: &[u8]) -> Result<(), TestCaseError> {
    let Ok((packet, payload)) = parse(bytes, NOW) else { return Ok(()) };
    prop_assert_eq!(packet.payload() as usize, payload.len());
    match Headers::over(&packet, 5, payload) {
        Ok(headers) => {
            let again = [headers.as_bytes(), payload].concat();
            prop_assert_eq!(parse(&again, NOW), Ok((packet, payload)));
        }
        Err(unfit) => {
            let options =
                |packet: &Packet| matches!(packet.body, Body::Tcp(ref tcp) if tcp.options.size() > 40);
            prop_assert!(options(&packet) || matches!(unfit, Unfit::TooLong(_)), "{}", unfit);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_read_as_it_was(packet in packets(), identification: u16) {
        let bytes = bytes_of(&packet);
        prop_assert_eq!(bytes.len() as u64, packet.size().0);
        let (found, payload) = parse(&bytes, NOW).expect("it was written");
        prop_assert_eq!(found, packet);
        prop_assert!(payload.iter().all(|byte| *byte == 0));
        let headers = Headers::of(&packet, identification).expect("it has bytes");
        prop_assert_eq!(headers.packet_len(), bytes.len());
        prop_assert_eq!(&headers.as_bytes()[4..6], &identification.to_be_bytes());
    }

    #[test]
    fn no_bytes_make_it_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..200), looks_right: bool) {
        if looks_right && bytes.len() >= 60 {
            (bytes[0], bytes[2], bytes[6], bytes[7]) = (0x45 + bytes[0] % 4, 0, 0, 0);
            bytes[9] = if bytes[9] % 4 == 0 { PROTOCOL_UDP } else { PROTOCOL_TCP };
            mend_checksums(&mut bytes);
        }
        check_any(&bytes)?;
    }

    #[test]
    fn a_changed_packet_is_another_one_or_an_error(
        packet in packets(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        length in prop::option::of(any::<prop::sample::Index>()),
        mended: bool,
    ) {
        let mut bytes = bytes_of(&packet);
        bytes.truncate(200);
        if bytes.len() == 200 {
            bytes[2..4].copy_from_slice(&200u16.to_be_bytes());
        }
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        if let Some(length) = length {
            bytes.truncate(length.index(bytes.len()));
        }
        if mended && bytes.len() >= 20 {
            mend_checksums(&mut bytes);
        }
        check_any(&bytes)?;
    }

    #[test]
    fn one_bit_that_fell_over_is_detected(packet in packets(), bit: prop::sample::Index) {
        let packet = match packet.body {
            Body::Tcp(mut segment) => {
                segment.len %= 100;
                Packet { body: Body::Tcp(segment), ..packet }
            }
            // One bit may make a UDP checksum zero, which means none.
            Body::Udp(_) => return Ok(()),
        };
        let mut bytes = bytes_of(&packet);
        let bit = bit.index(8 * bytes.len());
        bytes[bit / 8] ^= 1 << (bit % 8);
        prop_assert!(parse(&bytes, NOW).is_err());
    }
}

#[test]
fn options_about_acknowledgements_stand_in_the_header_byte_by_byte() {
    for (option, bytes) in [
        (AckOption::TakesRequests, &[254, 4, 0x00, 0xAC][..]),
        (AckOption::Request(8), &[1, 1, 1, 254, 5, 0x00, 0xAC, 0x10]),
        (AckOption::TakesTime, &[253, 4, b'T', b'K']),
        (AckOption::LeastRoundTrip(0x0102_0304), &[253, 8, b'T', b'K', 1, 2, 3, 4]),
    ] {
        let options = Options { acks: Some(option), ..Options::default() };
        let packet = tcp(Segment { options, ..Segment::default() });
        assert_eq!(&Headers::of(&packet, 0).expect("room").as_bytes()[40..], bytes);
        assert_eq!(option.bytes() as usize, bytes.len());
        assert_eq!(with_options(bytes).map(|options| options.acks), Ok(Some(option)));
    }
    // Another experiment, and requests of a wrong length.
    assert_eq!(with_options(&[254, 4, 1, 2]).map(|options| options.acks), Ok(None));
    assert_eq!(with_options(&[254, 6, 0x00, 0xAC, 2, 2]), Err(Malformed::Option(254)));
    assert_eq!(with_options(&[253, 5, b'T', b'K', 2]), Err(Malformed::Option(253)));
}

proptest! {
    #[test]
    fn a_mended_checksum_is_that_of_the_changed_words(words in prop::array::uniform4(1u16..), changed in 1u16..) {
        let of = |words: [u16; 4]| {
            let [a, b, c, d] = words.map(u16::to_be_bytes);
            super::checksum(&[&a, &b, &c, &d])
        };
        let after = [words[0], changed, words[2], words[3]];
        prop_assert_eq!(mended(of(words), words[1], changed), of(after));
    }
}
