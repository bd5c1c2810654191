//! Captures, byte by byte and as tshark reads them.

use std::process::Command;
use std::sync::{Arc, Mutex};

use lasthop_stack::link::dot11::{PhyRate, PhyTiming, Preset, Rules};
use lasthop_stack::packet::{Body, Flags, Segment};
use lasthop_stack::units::SeqNo;
use lasthop_stack::wire;

use super::*;
use crate::model::ports::Ports;

/// A file in memory that is still there after the capture is closed.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().expect("no writer panics").write(bytes)
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn packet(from: u32, to: u32, len: u32) -> Packet {
    let segment = Segment {
        src_port: 5000,
        dst_port: 80,
        seq: SeqNo(1),
        flags: Flags::ACK,
        window: 20_000,
        len,
        ..Segment::default()
    };
    Packet::new(NodeId(from), NodeId(to), Body::Tcp(segment))
}

/// A capture of a few exchanges of a network.
struct Story {
    capture: WifiCapture,
    phy: PhyTiming,
    now: Time,
}

impl Story {
    fn new(preset: Preset) -> (Story, Shared) {
        let file = Shared::default();
        let has_dsss = preset.config().basic_rates.has(PhyRate::Dsss1);
        let code_points = CodePoints::new([0].into_iter(), Ports::new(1, false).expect("few"));
        let capture = WifiCapture::new(Box::new(file.clone()), (PcfConfig::default(), has_dsss), code_points)
            .expect("memory takes all");
        (Story { capture, phy: Rules::new(preset.config()).config.phy, now: Time(1_000_000) }, file)
    }

    fn frame(&mut self, frame: Frame, payload: u32, packet: Option<&Packet>) {
        let airtime = self.phy.airtime(frame.bytes, payload, frame.rate);
        let heard = Heard { signal_dbm: Some(-50.4), now: self.now, outside: None };
        self.capture.record(&frame, airtime, (packet, &Load::default()), heard);
        self.now = self.now + airtime.total + Span::from_micros(10);
    }

    fn control(&mut self, kind: FrameKind, from: u32, to: u32, rate: PhyRate, duration_us: u64) {
        let bytes = if matches!(kind, FrameKind::Rts | FrameKind::CfEnd) { 20 } else { 14 };
        let frame = Frame::new(kind, NodeId(to), NodeId(from), bytes, rate);
        self.frame(Frame { duration: Span::from_micros(duration_us), ..frame }, 0, None);
    }
}

fn data(from: u32, to: u32, sequence: u16, body: u32, rate: PhyRate) -> Frame {
    let frame = Frame::new(FrameKind::Data, NodeId(to), NodeId(from), 28 + body, rate);
    Frame { sequence, msdu: Some(0), duration: Span::from_micros(314), ..frame }
}

/// Records an RTS exchange with a retry, a fragmented packet, an access point's relay and a contention-free period.
fn story(preset: Preset, slow: PhyRate, fast: PhyRate) -> Vec<u8> {
    let (mut story, file) = Story::new(preset);
    let one = packet(0, 1, 1000);
    for retry in [false, true] {
        story.control(FrameKind::Rts, 0, 1, slow, 9566);
        story.control(FrameKind::Cts, 1, 0, slow, 9252);
        story.frame(Frame { retry, ..data(0, 1, 41, 1048, fast) }, 1040, Some(&one));
    }
    story.control(FrameKind::Ack, 1, 0, slow, 0);
    for fragment in 0..3 {
        let payload = [492, 500, 48][usize::from(fragment)];
        let more_fragments = fragment < 2;
        let body = payload + if fragment == 0 { 8 } else { 0 };
        for retry in [false, true] {
            let frame = Frame { fragment, more_fragments, retry, ..data(0, 1, 42, body, fast) };
            story.frame(frame, payload, Some(&one));
        }
        story.control(FrameKind::Ack, 1, 0, slow, if more_fragments { 5000 } else { 0 });
    }
    // From station 1 over access point 2 to station 0.
    let back = packet(1, 0, 0);
    let distribution = Distribution::ToAp;
    story.frame(Frame { distribution, ..data(1, 2, 7, 48, fast) }, 40, Some(&back));
    let distribution = Distribution::FromAp;
    story.frame(Frame { distribution, ..data(2, 0, 9, 48, fast) }, 40, Some(&back));
    let beacon = Frame::new(FrameKind::Beacon, BROADCAST, NodeId(2), PcfConfig::default().beacon, slow);
    let duration = Span::from_micros(50_000);
    story.frame(Frame { sequence: 10, duration, contention_free: true, ..beacon }, 0, None);
    for (poll, cf_ack) in [(true, false), (true, true), (false, true), (false, false)] {
        let null = Frame::new(FrameKind::Null, NodeId(0), NodeId(2), 28, slow);
        story.frame(Frame { poll, cf_ack, distribution, sequence: 11, ..null }, 0, None);
        let riding = data(2, 0, 12 + u16::from(poll) + 2 * u16::from(cf_ack), 48, fast);
        story.frame(Frame { poll, cf_ack, distribution, ..riding }, 40, Some(&back));
    }
    story.control(FrameKind::CfEnd, 2, BROADCAST.0, slow, 0);
    story.capture.finish().expect("memory takes all");
    file.0.lock().expect("no writer panics").clone()
}

/// The records of a capture: their bytes.
fn records(file: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = &file[24..];
    let mut records = Vec::new();
    while rest.len() >= 16 {
        let length = u32::from_le_bytes([rest[8], rest[9], rest[10], rest[11]]) as usize;
        records.push(rest[16..16 + length].to_vec());
        rest = &rest[16 + length..];
    }
    records
}

#[test]
fn the_check_sequence_is_that_of_the_standard() {
    assert_eq!(crc32(b"123456789"), 0xCBF4_3926);
}

#[test]
fn a_cts_is_its_14_bytes_behind_a_radiotap_header_of_23() {
    let file = story(Preset::Dot11, PhyRate::Dsss1, PhyRate::Dsss1);
    let cts = &records(&file)[1];
    assert_eq!(cts.len(), 23 + 14);
    assert_eq!(cts[..8], [0, 0, 23, 0, 0x2F, 0, 0, 0]);
    assert_eq!(cts[16..23], [0x10, 2, 0x6C, 0x09, 0xA0, 0, (-50i8).cast_unsigned()]);
    assert_eq!(cts[23..33], [0xC4, 0, 0x24, 0x24, 0x02, 0, 0, 0, 0, 1]);
    assert_eq!(cts[33..], crc32(&cts[23..33]).to_le_bytes());
}

#[test]
fn a_frame_has_the_bytes_it_is_charged_on_the_air_under_the_standards_presets() {
    let file = story(Preset::Dot11, PhyRate::Dsss1, PhyRate::Dsss1);
    let lengths: Vec<usize> = records(&file)[..7].iter().map(|record| record.len() - 23).collect();
    assert_eq!(lengths, [20, 14, 1076, 20, 14, 1076, 14]);
    assert_eq!(records(&file)[18].len() - 23, PcfConfig::default().beacon as usize);
}

#[test]
fn fragments_join_to_the_packet_and_repetitions_are_equal() {
    let file = story(Preset::Dot11, PhyRate::Dsss1, PhyRate::Dsss1);
    let records = records(&file);
    let body = |record: usize| {
        let bytes = &records[record];
        &bytes[23 + 24..bytes.len() - 4]
    };
    let mut joined: Vec<u8> = Vec::new();
    for fragment in 0..3 {
        assert_eq!(body(7 + 3 * fragment), body(8 + 3 * fragment));
        joined.extend(body(7 + 3 * fragment));
    }
    assert_eq!(joined.len(), 8 + 1040);
    let mut whole = [0; 1040];
    assert_eq!(wire::write(&packet(0, 1, 1000), 2, &mut whole), Ok(1040));
    assert_eq!(joined[8..], whole);
}

/// What tshark prints of a capture, or `None` without tshark.
fn tshark(file: &[u8], name: &str, arguments: &[&str]) -> Option<String> {
    let path = std::env::temp_dir().join(format!("lasthop-{}-{name}.pcap", std::process::id()));
    std::fs::write(&path, file).expect("a temporary file can be written");
    let output = Command::new("tshark").arg("-r").arg(&path).args(arguments).output().ok();
    std::fs::remove_file(&path).expect("what was written can be removed");
    let output = output?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

const FIELDS: [&str; 8] = [
    "wlan.fc.type_subtype",
    "wlan.fcs.status",
    "wlan.fc.retry",
    "wlan.seq",
    "wlan.frag",
    "_ws.expert.severity",
    "_ws.malformed",
    "tcp.dstport",
];

/// Wireshark's number for a warning; notes are below it.
const SEVERITY_WARNING: u32 = 0x0060_0000;

#[test]
fn tshark_decodes_all_frames_without_a_warning() {
    let cases = [
        ("dsss", Preset::Dot11, PhyRate::Dsss1, PhyRate::Dsss2),
        ("short", Preset::Dot11bShort, PhyRate::Dsss2, PhyRate::Cck11),
        ("ofdm", Preset::Dot11a, PhyRate::Ofdm24, PhyRate::Ofdm54),
        ("erp", Preset::Dot11g, PhyRate::Dsss2, PhyRate::Ofdm54),
    ];
    for (name, preset, slow, fast) in cases {
        let file = story(preset, slow, fast);
        let check = ["-o", "wlan.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE"];
        let fields = FIELDS.iter().flat_map(|field| ["-e", field]);
        let arguments: Vec<&str> = check.into_iter().chain(["-T", "fields"]).chain(fields).collect();
        let Some(text) = tshark(&file, name, &arguments) else { return };
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
        assert_eq!(lines.len(), records(&file).len());
        for line in &lines {
            assert_eq!(line[1], "1", "{line:?}");
            assert_eq!(line[6], "", "{line:?}");
            // It notes each repetition, as it should.
            let mut severities = line[5].split(',').filter_map(|severity| severity.parse::<u32>().ok());
            assert!(severities.all(|severity| severity < SEVERITY_WARNING), "{line:?}");
        }
        assert_eq!(lines[2][2..5], ["0", "41", "0"]);
        assert_eq!(lines[5][2..5], ["1", "41", "0"]);
        assert_eq!(lines[13][2..5], ["0", "42", "2"]);
        // The segment is found in a whole frame, in the last fragment, and in what the access point relays.
        for number in [2, 13, 16, 17] {
            assert_eq!(lines[number][7], "80", "{:?}", lines[number]);
        }
    }
}
