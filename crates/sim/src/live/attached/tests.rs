//! An agent between ends that only record.

use lasthop_stack::hooks::Criterion;
use lasthop_stack::packet::{Body, Flags, NodeId, Options, Packet, Segment};
use lasthop_stack::registry::{AgentConfig, AgentKind};
use lasthop_stack::units::{SeqNo, Span, Time};
use lasthop_stack::wire::{self, Headers};

use super::*;

const HOST: NodeId = NodeId(1);
const PEER: NodeId = NodeId(2);
const LEN: u32 = 1000;
const FIRST: SeqNo = SeqNo(5000);

/// What was sent over the link and passed to the network layer.
#[derive(Default)]
struct Recorder {
    sent: Vec<(Vec<u8>, bool)>,
    passed: Vec<(Vec<u8>, bool)>,
    is_full: bool,
}

impl Ends for Recorder {
    fn send(&mut self, bytes: &[u8], is_reported: bool) -> Taken {
        if self.is_full {
            return Taken::Full;
        }
        self.sent.push((bytes.to_vec(), is_reported));
        Taken::Yes
    }

    fn pass(&mut self, bytes: &[u8], as_it_came: bool) {
        self.passed.push((bytes.to_vec(), as_it_came));
    }
}

/// LLE-TCP at an interface behind which is 10.0.0.0/24, but for its upper half.
fn attached(most_kept: usize) -> Attached {
    let criterion = Criterion::between([], [HOST]).and_from_to(NodeId(0), NodeId(100));
    let network = u32::from_be_bytes([10, 0, 0, 0]);
    let routes = vec![(network, 0xFFFF_FF00, true), (network | 128, 0xFFFF_FF80, false)];
    Attached::new(AgentKind::LleTcp.config().build(&criterion), routes, most_kept)
}

fn at(ms: u64) -> Time {
    Time::ZERO.after(Span::from_millis(ms))
}

/// A packet whose IP header is not one of this stack's, and whose payload is not zeros.
fn bytes(from: NodeId, segment: Segment) -> Vec<u8> {
    let to = if from == HOST { PEER } else { HOST };
    let packet = Packet::new(from, to, Body::Tcp(segment));
    let payload: Vec<u8> = (0..segment.len).map(|byte| byte as u8).collect();
    let mut bytes =
        Headers::over(&packet, 77, &payload).expect("it has bytes").with_dscp(46).as_bytes().to_vec();
    bytes[8] = 17;
    bytes[10..12].fill(0);
    let sum = wire::checksum(&[&bytes[..20]]);
    bytes[10..12].copy_from_slice(&sum.to_be_bytes());
    bytes.extend_from_slice(&payload);
    bytes
}

fn data(offset: u32) -> Segment {
    Segment {
        src_port: 80,
        dst_port: 4000,
        seq: FIRST.plus(1 + offset),
        ack: SeqNo(9001),
        flags: Flags::ACK,
        window: 60_000,
        len: LEN,
        ..Segment::default()
    }
}

fn answer(ack: u32) -> Segment {
    Segment {
        src_port: 4000,
        dst_port: 80,
        seq: SeqNo(9001),
        ack: FIRST.plus(1 + ack),
        flags: Flags::ACK,
        window: 60_000,
        ..Segment::default()
    }
}

fn framed(bytes: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; LINK_HEADER];
    frame.extend_from_slice(&bytes[..40]);
    // A kernel may have numbered the packet.
    frame[LINK_HEADER + 4] = 99;
    frame
}

fn opened(most_kept: usize) -> (Attached, Recorder) {
    let (mut attached, mut ends) = (attached(most_kept), Recorder::default());
    let options = Options { mss: Some(1460), ..Options::default() };
    let syn = Segment { seq: FIRST, flags: Flags::SYN, len: 0, options, ..data(0) };
    let syn_ack = Segment { seq: SeqNo(9000), flags: Flags::SYN.with(Flags::ACK), options, ..answer(0) };
    attached.from_network(&bytes(HOST, syn), at(0), &mut ends);
    attached.from_link(&bytes(PEER, syn_ack), at(1), &mut ends);
    attached.from_network(&bytes(HOST, Segment { len: 0, ..data(0) }), at(2), &mut ends);
    attached.from_link(&bytes(PEER, answer(0)), at(3), &mut ends);
    assert_eq!((ends.sent.len(), ends.passed.len()), (2, 2), "all of the handshake passes");
    ends.sent.clear();
    ends.passed.clear();
    (attached, ends)
}

fn segment(bytes: &[u8]) -> Segment {
    let (packet, _) = wire::parse(bytes, at(0)).expect("a correct packet");
    let Body::Tcp(segment) = packet.body else { panic!("a segment") };
    segment
}

#[test]
fn what_the_link_acknowledges_is_acknowledged_and_what_it_does_not_is_not() {
    let (mut attached, mut ends) = opened(1000);
    for (number, is_acknowledged) in [(0, true), (1, false), (2, true)] {
        let packet = bytes(HOST, data(number * LEN));
        attached.from_network(&packet, at(10), &mut ends);
        assert_eq!(ends.sent.pop(), Some((packet.clone(), true)), "as it came");
        attached.reported(&framed(&packet), is_acknowledged, at(11), &mut ends);
        attached.reported(&framed(&packet), true, at(11), &mut ends);
    }
    let acks: Vec<u32> =
        ends.passed.iter().map(|(bytes, _)| segment(bytes).ack.distance_from(FIRST) as u32 - 1).collect();
    assert_eq!(acks, [LEN, LEN], "the second is a hole, which a report that comes twice does not fill");
    assert!(ends.passed.iter().all(|(_, as_it_came)| !as_it_came));
    assert_eq!((attached.passed().acknowledged, attached.passed().not_acknowledged), (2, 1));
}

#[test]
fn what_it_does_not_understand_passes_untouched_in_both_directions() {
    let (mut attached, mut ends) = opened(1000);
    let mut fragment = bytes(HOST, data(0));
    fragment[6] = 0x20;
    let mut udp = bytes(PEER, answer(0));
    udp[9] = 17;
    attached.from_network(&fragment, at(10), &mut ends);
    attached.from_link(&udp, at(10), &mut ends);
    assert_eq!(ends.sent, [(fragment, false)]);
    assert_eq!(ends.passed, [(udp, true)]);
    assert_eq!(attached.passed().untouched, 2);
}

#[test]
fn a_packet_from_elsewhere_is_not_passed_since_the_kernel_has_it_already() {
    let (mut attached, mut ends) = opened(1000);
    for (last, is_behind) in [(3, true), (200, false)] {
        let mut packet = bytes(PEER, answer(0));
        packet[9] = 17;
        packet[15] = last;
        attached.from_link(&packet, at(10), &mut ends);
        assert_eq!(ends.passed.pop().is_some(), is_behind);
    }
    let mut elsewhere = bytes(PEER, answer(0));
    elsewhere[12] = 11;
    attached.from_link(&elsewhere, at(10), &mut ends);
    assert!(ends.passed.is_empty());
}

#[test]
fn of_a_segment_whose_flags_change_all_other_fields_stay() {
    let (mut attached, mut ends) = (attached(1000), Recorder::default());
    // It has not seen the connection begin: it marks the data.
    let packet = bytes(HOST, data(0));
    attached.from_network(&packet, at(0), &mut ends);
    let (marked, _) = ends.sent.pop().expect("it passes");
    assert_eq!(segment(&marked).flags, Flags::ACK.with(Flags::REFUSED));
    let differ: Vec<usize> = (0..packet.len()).filter(|place| packet[*place] != marked[*place]).collect();
    assert!(differ.iter().all(|place| [32, 33, 36, 37].contains(place)), "{differ:?}");
}

#[test]
fn packets_wait_while_the_link_takes_none_and_keep_their_order() {
    let (mut attached, mut ends) = opened(1000);
    ends.is_full = true;
    for number in 0..3 {
        attached.from_network(&bytes(HOST, data(number * LEN)), at(10), &mut ends);
    }
    assert!(attached.is_blocked() && ends.sent.is_empty());
    ends.is_full = false;
    attached.resume(at(11), &mut ends);
    let order: Vec<SeqNo> = ends.sent.iter().map(|(bytes, _)| segment(bytes).seq).collect();
    assert_eq!(order, [0, 1, 2].map(|number| FIRST.plus(1 + number * LEN)));
    assert!(!attached.is_blocked());
}

#[test]
fn a_segment_for_which_there_is_no_room_passes_and_is_not_acknowledged() {
    let (mut attached, mut ends) = opened(64);
    for number in 0..200 {
        let packet = bytes(HOST, data(number * 10));
        attached.from_network(&packet, at(10), &mut ends);
    }
    assert_eq!(ends.sent.len(), 200);
    assert!(attached.passed().without_room > 100);
    assert!(attached.contents.len() <= 64);
    let packets: Vec<Vec<u8>> = ends.sent.iter().map(|(bytes, _)| bytes.clone()).collect();
    for packet in &packets {
        attached.reported(&framed(packet), true, at(11), &mut ends);
    }
    let most = ends.passed.iter().map(|(bytes, _)| segment(bytes).ack.distance_from(FIRST)).max();
    assert!(most.is_some_and(|most| most < 2000), "{most:?}");
}

#[test]
fn what_it_holds_goes_when_it_ends() {
    let criterion = Criterion::between([], [HOST]).and_from_to(NodeId(0), NodeId(100));
    let scheme: AgentConfig = AgentKind::AckFilter.config();
    let mut attached = Attached::new(scheme.build(&criterion), Vec::new(), 100);
    let mut ends = Recorder::default();
    for number in 1..4 {
        let back = Segment { len: 0, ack: SeqNo(9001 + number * LEN), ..data(0) };
        attached.from_network(&bytes(HOST, back), at(u64::from(number)), &mut ends);
    }
    assert_eq!(ends.sent.len(), 1, "one is with the link, and of the others the newest waits");
    attached.finish(at(3), &mut ends);
    let acks: Vec<SeqNo> = ends.sent.iter().map(|(bytes, _)| segment(bytes).ack).collect();
    assert_eq!(acks, [SeqNo(10_001), SeqNo(12_001)]);
}

#[cfg(target_os = "linux")]
#[test]
fn who_asks_for_an_address_of_this_machine_gets_that_of_the_interface() {
    let own = carry::Own { link: [2, 0, 0, 0, 0, 1], network: vec![[10, 0, 0, 1]] };
    let request = |asked: u8| {
        let mut frame = vec![0xFF; 6];
        frame.extend([2, 0, 0, 0, 0, 7, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 7, 10, 0, 0, 7]);
        frame.extend([0, 0, 0, 0, 0, 0, 10, 0, 0, asked]);
        frame
    };
    let answer = carry::arp_answer(&request(1), &own).expect("an answer");
    assert_eq!(answer[..12], [2, 0, 0, 0, 0, 7, 2, 0, 0, 0, 0, 1]);
    assert_eq!(answer[20..32], [0, 2, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1]);
    assert_eq!(answer[32..], [2, 0, 0, 0, 0, 7, 10, 0, 0, 7]);
    assert_eq!(carry::arp_answer(&request(2), &own), None, "of another machine");
    assert_eq!(carry::arp_answer(&request(1)[..41], &own), None, "cut off");
    assert_eq!(carry::arp_answer(&answer, &own), None, "an answer");
}
