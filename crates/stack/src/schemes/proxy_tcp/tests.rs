//! Scripts of packets: the inputs, the reports of the link, and the outputs.

use super::*;
use crate::hooks::testing::Handed;
use crate::packet::{NodeId, SackBlocks, Segment};
use crate::units::SeqNo;

const SERVER: NodeId = NodeId(0);
const CLIENT: NodeId = NodeId(9);
/// The first byte; the numbers wrap within the tests.
const ZERO: SeqNo = SeqNo(u32::MAX - 2_499);

struct Script {
    agent: ProxyTcp,
    now: Time,
}

fn data(segment: u32) -> Packet {
    let flags = Flags::ACK;
    let seq = ZERO.plus(1000 * segment);
    let segment = Segment { src_port: 80, dst_port: 4_000, seq, flags, len: 1000, ..Segment::default() };
    Packet::new(SERVER, CLIENT, Body::Tcp(segment))
}

/// An acknowledgement of all before this segment.
fn ack(segment: u32) -> Segment {
    let flags = Flags::ACK;
    let ack = ZERO.plus(1000 * segment);
    Segment { src_port: 4_000, dst_port: 80, ack, flags, window: 500, ..Segment::default() }
}

fn from_client(segment: Segment) -> Packet {
    Packet::new(CLIENT, SERVER, Body::Tcp(segment))
}

fn number(packet: &Packet) -> u32 {
    let Body::Tcp(segment) = &packet.body else { panic!("a segment") };
    segment.seq.distance_from(ZERO).cast_unsigned() / 1000
}

impl Script {
    fn of(duplicates: Duplicates) -> Script {
        Script::with(&Config { duplicates, ..Config::default() })
    }

    fn with(config: &Config) -> Script {
        let criterion = Criterion::one_hop(NodeId(1), [CLIENT]);
        Script { agent: ProxyTcp::new(Config { criterion, ..config.clone() }), now: Time::ZERO }
    }

    /// Segments pass to the link.
    fn send(&mut self, segments: impl IntoIterator<Item = u32>) -> &mut Script {
        for segment in segments {
            let mut out = Handed::default();
            self.agent.down(&data(segment), self.now, &mut out);
            assert_eq!((out.down.len(), out.up.len()), (1, 0), "data passes");
        }
        self
    }

    /// The link reports the fate of a segment; returns the number of acknowledgements that go up.
    fn signal(&mut self, signal: Signal, segment: u32) -> usize {
        let mut out = Handed::default();
        self.agent.on_signal(signal, &data(segment), self.now, &mut out);
        assert_eq!(out.down.len(), 0);
        out.up.len()
    }

    fn delivered(&mut self, segments: impl IntoIterator<Item = u32>) -> &mut Script {
        for segment in segments {
            assert_eq!(self.signal(Signal::Delivered, segment), 0);
        }
        self
    }

    /// The client acknowledges. "up", "hidden", or which segment is sent again.
    fn ack(&mut self, segment: Segment) -> String {
        let mut out = Handed::default();
        self.agent.up(&from_client(segment), self.now, &mut out);
        match (&out.up[..], &out.down[..]) {
            ([_], []) => "up".into(),
            ([], []) => "hidden".into(),
            ([], [again]) => format!("resend {}", number(again)),
            other => panic!("{other:?}"),
        }
    }

    /// Segments 0 to 4, of which the first is acknowledged: the client has window 500.
    fn begun(duplicates: Duplicates) -> Script {
        let mut script = Script::of(duplicates);
        script.send(0..5).delivered([0]);
        assert_eq!(script.ack(ack(1)), "up");
        script
    }
}

const ALL: [Duplicates; 3] = [Duplicates::WhileTrying, Duplicates::Held, Duplicates::Resend];

#[test]
fn a_duplicate_is_hidden_while_the_link_tries_the_segment_it_asks_for() {
    for rule in ALL {
        let mut script = Script::begun(rule);
        script.delivered([2, 3]);
        assert_eq!([script.ack(ack(1)), script.ack(ack(1))], ["hidden", "hidden"], "{rule:?}");
        script.delivered([1]);
        assert_eq!(script.ack(ack(4)), "up");
        assert_eq!(script.agent.counters().hidden, 2);
    }
}

#[test]
fn what_was_hidden_goes_up_when_the_link_gives_up_or_never_took_the_segment() {
    for signal in [Signal::Undelivered, Signal::Refused] {
        for (hidden, released) in [(1, 1), (3, 3), (4, 3)] {
            let mut script = Script::begun(Duplicates::WhileTrying);
            script.send(5..8).delivered(2..2 + hidden);
            for _ in 0..hidden {
                assert_eq!(script.ack(ack(1)), "hidden");
            }
            assert_eq!(script.signal(signal, 1), released);
            assert_eq!(script.ack(ack(1)), "up", "and the next ones pass");
            assert_eq!(script.agent.counters().released, released as u64);
        }
    }
}

#[test]
fn nothing_goes_up_when_another_segment_is_given_up_or_a_copy_is_with_the_link() {
    let mut script = Script::begun(Duplicates::WhileTrying);
    script.delivered([2]);
    assert_eq!(script.ack(ack(1)), "hidden");
    assert_eq!(script.signal(Signal::Undelivered, 3), 0);
    assert_eq!(script.ack(ack(1)), "hidden");
    script.send([1]);
    assert_eq!(script.signal(Signal::Undelivered, 1), 0);
}

#[test]
fn with_held_what_the_link_gave_up_or_lost_above_the_mac_is_hidden_too() {
    for signal in [Signal::Undelivered, Signal::Delivered] {
        let mut script = Script::begun(Duplicates::Held);
        assert_eq!(script.signal(signal, 1), 0);
        script.delivered([2, 3, 4]);
        for _ in 0..5 {
            assert_eq!(script.ack(ack(1)), "hidden");
        }
    }
}

#[test]
fn while_trying_what_the_link_delivered_and_the_client_lacks_is_not_hidden() {
    let mut script = Script::begun(Duplicates::WhileTrying);
    script.delivered(1..5);
    assert_eq!(script.ack(ack(1)), "up");
}

#[test]
fn with_resend_the_first_duplicate_sends_the_segment_again_and_no_other_does() {
    for signal in [Signal::Undelivered, Signal::Delivered] {
        let mut script = Script::begun(Duplicates::Resend);
        assert_eq!(script.signal(signal, 1), 0);
        script.delivered([2, 3, 4]);
        assert_eq!(script.ack(ack(1)), "resend 1");
        assert_eq!([script.ack(ack(1)), script.ack(ack(1))], ["hidden", "hidden"]);
        script.delivered([1]);
        assert_eq!(script.ack(ack(5)), "up");
        assert_eq!((script.agent.counters().resent, script.agent.counters().hidden), (1, 3));
    }
}

#[test]
fn a_copy_that_was_lost_again_is_noticed_by_a_duplicate_too_many() {
    let mut script = Script::begun(Duplicates::Resend);
    script.delivered(1..5);
    assert_eq!(script.ack(ack(1)), "resend 1");
    script.delivered([1]);
    // Two more were on their way when the copy was delivered.
    assert_eq!([script.ack(ack(1)), script.ack(ack(1))], ["hidden", "hidden"]);
    script.send([5]).delivered([5]);
    assert_eq!(script.ack(ack(1)), "resend 1");
    assert_eq!(script.signal(Signal::Undelivered, 1), 0);
    script.send([6]).delivered([6]);
    assert_eq!(script.ack(ack(1)), "resend 1", "given up this time");
}

#[test]
fn a_second_hole_is_repaired_after_the_first() {
    let mut script = Script::begun(Duplicates::Resend);
    script.delivered([1, 2, 3, 4]);
    assert_eq!(script.ack(ack(1)), "resend 1");
    script.delivered([1]);
    assert_eq!(script.ack(ack(1)), "hidden");
    assert_eq!(script.ack(ack(3)), "up", "it advances");
    script.send([5, 6]).delivered([5, 6]);
    assert_eq!(script.ack(ack(3)), "resend 3");
    script.delivered([3]);
    assert_eq!(script.ack(ack(3)), "hidden", "the second of the two that 5 and 6 made");
}

#[test]
fn what_was_lost_before_it_came_here_is_the_senders_to_repair() {
    for rule in ALL {
        let mut script = Script::of(rule);
        script.send([0, 1, 3, 4]).delivered([0, 1, 3, 4]);
        assert_eq!(script.ack(ack(2)), "up");
        for _ in 0..3 {
            assert_eq!(script.ack(ack(2)), "up", "{rule:?}");
        }
        // Its repair, and a duplicate that shows that this was lost, too.
        script.send([2]).delivered([2]);
        assert_eq!(script.ack(ack(2)), "up", "{rule:?}");
    }
}

#[test]
fn what_the_sender_has_sent_again_is_its_own_to_repair() {
    for rule in ALL {
        let mut script = Script::begun(rule);
        script.delivered([2]);
        script.send([1]);
        assert_eq!(script.ack(ack(1)), "up", "{rule:?}");
    }
}

#[test]
fn what_is_no_duplicate_passes() {
    let mut blocks = SackBlocks::default();
    blocks.push(ZERO, ZERO.plus(1000));
    for rule in ALL {
        let script = || {
            let mut script = Script::begun(rule);
            script.delivered([2]);
            script
        };
        let wider = Segment { window: 501, ..ack(1) };
        assert_eq!([script().ack(wider), script().ack(ack(1))], ["up", "hidden"], "a window");
        let with_data = Segment { len: 10, ..ack(1) };
        assert_eq!(script().ack(with_data), "up", "data");
        let fin = Segment { flags: Flags::ACK.with(Flags::FIN), ..ack(1) };
        assert_eq!(script().ack(fin), "up", "a FIN");
        let mut options = ack(1).options;
        options.sack = blocks;
        assert_eq!(script().ack(Segment { options, ..ack(1) }), "up", "a duplicate SACK");
        assert_eq!(script().ack(ack(0)), "up", "an old number");
        let mut done = script();
        done.delivered([1, 3, 4]);
        assert_eq!([done.ack(ack(5)), done.ack(ack(5))], ["up", "up"], "nothing is outstanding");
    }
}

#[test]
fn a_duplicate_with_new_blocks_is_hidden_like_one_without() {
    let mut script = Script::begun(Duplicates::WhileTrying);
    script.delivered([2]);
    let mut segment = ack(1);
    segment.options.sack.push(ZERO.plus(2000), ZERO.plus(3000));
    assert_eq!(script.ack(segment), "hidden");
}

#[test]
fn more_segments_than_may_be_remembered_are_not() {
    let mut script = Script::with(&Config { segments: 2, ..Config::default() });
    script.send(0..4).delivered([0]);
    assert_eq!(script.ack(ack(1)), "up");
    assert_eq!([script.ack(ack(1)), script.ack(ack(1))], ["hidden", "hidden"]);
    script.delivered([1]);
    assert_eq!([script.ack(ack(2)), script.ack(ack(2))], ["up", "up"], "the third was not remembered");
    assert_eq!(script.agent.state_bytes_max(), Direction::bytes(2));
}

#[test]
fn flows_end_with_their_fin_a_reset_a_new_syn_or_silence_and_leave_room() {
    let client = |node: u32| Packet { dst: NodeId(node), ..data(0) };
    let criterion = Criterion::one_hop(NodeId(1), [CLIENT, NodeId(8), NodeId(7)]);
    let config = Config { criterion, max_flows: 2, idle: Span::from_secs(10), ..Config::default() };
    let mut agent = ProxyTcp::new(config);
    let mut out = Handed::default();
    for node in [9, 8, 7] {
        agent.down(&client(node), Time::ZERO, &mut out);
    }
    assert_eq!((agent.flows.len(), agent.counters().flows_max), (2, 2));
    let with = |flags: Flags| {
        let Body::Tcp(segment) = data(0).body else { panic!("a segment") };
        Packet { body: Body::Tcp(Segment { flags, len: 0, ..segment }), ..data(0) }
    };
    for end in [Flags::RST, Flags::SYN] {
        agent.down(&with(end), Time::ZERO, &mut out);
        assert_eq!(agent.flows.len(), 1, "{end:?}");
        agent.down(&data(0), Time::ZERO, &mut out);
    }
    agent.up(&from_client(Segment { flags: Flags::RST, ..ack(0) }), Time::ZERO, &mut out);
    assert_eq!(agent.flows.len(), 1);
    agent.down(&with(Flags::ACK.with(Flags::FIN)), Time::ZERO, &mut out);
    assert_eq!(agent.flows.len(), 2);
    agent.up(&from_client(Segment { ack: ZERO.plus(1), ..ack(0) }), Time::ZERO, &mut out);
    assert_eq!(agent.flows.len(), 1);
    agent.down(&data(0), Time(10_000_000_000), &mut out);
    agent.down(&data(1), Time(10_000_000_000), &mut out);
    assert_eq!(agent.flows.len(), 1, "the silent one is forgotten");
    assert_eq!(out.up.len() + out.down.len(), 12, "and everything passed");
}

#[test]
fn data_for_nodes_further_on_and_datagrams_are_left_alone() {
    let mut agent = ProxyTcp::new(Config::default());
    let mut out = Handed::default();
    agent.down(&data(0), Time::ZERO, &mut out);
    let body = Body::Udp(crate::packet::Datagram::default());
    agent.down(&Packet { body, ..data(0) }, Time::ZERO, &mut out);
    agent.up(&Packet { body, ..data(0) }, Time::ZERO, &mut out);
    assert_eq!((agent.flows.len(), out.down.len(), out.up.len()), (0, 2, 1));
}

#[test]
fn what_may_be_sent_again_is_kept_until_it_is_acknowledged() {
    let mut script = Script::of(Duplicates::Resend);
    script.send(0..3);
    let kept = |script: &Script| {
        let mut kept = Vec::new();
        script.agent.each_kept(&mut |packet| kept.push(number(packet)));
        kept
    };
    assert_eq!(kept(&script), [0, 1, 2]);
    assert_eq!(script.ack(ack(2)), "up");
    assert_eq!(kept(&script), [2]);
}

#[test]
fn an_agent_that_restarts_hides_nothing() {
    for rule in ALL {
        let mut script = Script::begun(rule);
        assert_eq!(script.ack(ack(1)), "hidden", "{rule:?}");
        script.agent.restart(script.now, &mut Handed::default());
        assert_eq!(script.signal(Signal::Undelivered, 1), 0, "what was hidden is forgotten");
        assert_eq!([script.ack(ack(1)), script.ack(ack(1))], ["up", "up"], "{rule:?}");
    }
}
