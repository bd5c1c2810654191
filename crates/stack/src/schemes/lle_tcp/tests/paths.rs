//! The positions of agents, and the flows for which they act.

use super::super::{Config, LleTcp, Mode};
use super::bench::{
    Bench, RECEIVER, RECEIVER_ZERO, SENDER, ack, data, offer, packet, safe, segment, syn, syn_ack, told,
};
use crate::hooks::testing::Handed;
use crate::hooks::{Agent, Criterion};
use crate::packet::{Extension, Flags, Form, NodeId, Packet, Segment};
use crate::signal::Signal;
use crate::units::{SeqNo, Span, Time};

const ACCESS_POINT: NodeId = NodeId(5);

/// The agent of an interface with these neighbours.
fn agent(local: NodeId, ahead: &[NodeId]) -> LleTcp {
    LleTcp::new(Config::new(Mode::Safe, Criterion::one_hop(local, ahead.iter().copied())))
}

/// Passes a packet down, and reports its delivery by the link. Returns what went up.
fn carry(agent: &mut LleTcp, segment: Segment) -> Vec<Packet> {
    let mut handed = Handed::default();
    agent.down(&packet(segment), Time::ZERO, &mut handed);
    agent.on_signal(Signal::Delivered, &packet(segment), Time::ZERO, &mut handed);
    handed.up
}

fn up(agent: &mut LleTcp, segment: Segment) -> Vec<Packet> {
    let mut handed = Handed::default();
    agent.up(&packet(segment), Time::ZERO, &mut handed);
    handed.up
}

fn down(agent: &mut LleTcp, segment: Segment) -> Vec<Packet> {
    let mut handed = Handed::default();
    agent.down(&packet(segment), Time::ZERO, &mut handed);
    handed.down
}

#[test]
fn from_a_fixed_host_to_a_mobile_the_access_point_acknowledges() {
    // The receiver is the mobile; the sender lies beyond the access point.
    let mut access_point = agent(ACCESS_POINT, &[RECEIVER]);
    let mut mobile = agent(RECEIVER, &[ACCESS_POINT]);
    down(&mut access_point, syn(offer()));
    up(&mut mobile, syn(offer()));
    down(&mut mobile, syn_ack(offer()));
    up(&mut access_point, syn_ack(offer()));
    let made = carry(&mut access_point, data(0, 1000));
    assert_eq!((made[0].src, made[0].dst, told(&made[0]).0), (RECEIVER, SENDER, 1000), "to be routed on");
    up(&mut mobile, data(0, 1000));
    assert_eq!(down(&mut mobile, ack(1000, 40_000)).len(), 1, "a new edge");
    up(&mut mobile, data(1000, 1000));
    assert!(down(&mut mobile, ack(2000, 40_000)).is_empty());
}

#[test]
fn from_a_mobile_to_a_fixed_host_nothing_is_generated_nor_held_back() {
    // The sender is the mobile, and the link ends before the receiver.
    let mut mobile = agent(SENDER, &[ACCESS_POINT]);
    let mut access_point = agent(ACCESS_POINT, &[SENDER]);
    for (agent, segment) in [(&mut mobile, syn(offer())), (&mut access_point, syn_ack(offer()))] {
        down(agent, segment);
    }
    up(&mut access_point, syn(offer()));
    down(&mut access_point, syn_ack(offer()));
    up(&mut mobile, syn_ack(offer()));
    assert!(carry(&mut mobile, data(0, 1000)).is_empty());
    assert_eq!(down(&mut access_point, ack(1000, 20_000)).len(), 1);
    assert_eq!(down(&mut access_point, ack(2000, 20_000)).len(), 1);
    assert_eq!(up(&mut mobile, ack(2000, 20_000)).len(), 1);
    // Data of the fixed host on the same connection is acknowledged at the access point.
    let reverse = Segment { len: 700, flags: Flags::ACK, ..ack(2000, 20_000) };
    up(&mut access_point, Segment { ack: RECEIVER_ZERO, ..data(2000, 0) });
    assert_eq!(segment(&carry(&mut access_point, reverse)[0]).ack, RECEIVER_ZERO.plus(700));
}

#[test]
fn from_mobile_to_mobile_the_relay_acknowledges_the_last_hop_of_both_directions() {
    let mut relay = agent(ACCESS_POINT, &[SENDER, RECEIVER]);
    for segment in [syn(offer()), syn_ack(offer()), data(0, 0)] {
        assert_eq!(up(&mut relay, segment).len(), 1);
        assert_eq!(down(&mut relay, segment).len(), 1);
    }
    assert_eq!(up(&mut relay, data(0, 1000)).len(), 1, "the first hop is none of its business");
    let made = carry(&mut relay, data(0, 1000));
    assert_eq!((made.len(), told(&made[0])), (1, (1000, 19_000)));
    assert_eq!(down(&mut relay, segment(&made[0])).len(), 1, "and on to the first mobile");
    let reverse = Segment { len: 700, ..ack(1000, 19_000) };
    assert_eq!(up(&mut relay, reverse).len(), 1);
    let made = carry(&mut relay, reverse);
    assert_eq!(segment(&made[0]).ack, RECEIVER_ZERO.plus(700));
    assert_eq!(made[0].dst, RECEIVER);
}

#[test]
fn on_a_path_of_several_hops_only_the_last_one_is_used() {
    // The sender's neighbour is another relay.
    let mut first = agent(SENDER, &[NodeId(7)]);
    down(&mut first, syn(offer()));
    up(&mut first, syn_ack(offer()));
    assert!(carry(&mut first, data(0, 1000)).is_empty());
    let mut middle = agent(NodeId(7), &[SENDER, NodeId(8)]);
    for segment in [syn(offer()), syn_ack(offer())] {
        up(&mut middle, segment);
        down(&mut middle, segment);
    }
    assert!(carry(&mut middle, data(0, 1000)).is_empty());
    assert_eq!(up(&mut middle, ack(1000, 20_000)).len(), 1);
}

#[test]
fn flows_of_two_ports_are_kept_apart() {
    let mut bench = Bench::at_sender(safe(SENDER));
    let other = |segment: Segment| Segment {
        src_port: if segment.src_port == 1000 { 1001 } else { 2000 },
        dst_port: if segment.dst_port == 1000 { 1001 } else { 2000 },
        ..segment
    };
    let packet = |segment: Segment| Packet {
        src: if segment.src_port == 1001 { SENDER } else { RECEIVER },
        dst: if segment.src_port == 1001 { RECEIVER } else { SENDER },
        ..packet(segment)
    };
    let mut handed = Handed::default();
    bench.agent.down(&packet(other(syn(offer()))), Time::ZERO, &mut handed);
    bench.agent.up(&packet(other(syn_ack(offer()))), Time::ZERO, &mut handed);
    bench.deliver(data(0, 1000));
    handed.up.clear();
    let segment = other(data(0, 400));
    bench.agent.down(&packet(segment), Time::ZERO, &mut handed);
    bench.agent.on_signal(Signal::Delivered, &packet(segment), Time::ZERO, &mut handed);
    assert_eq!((told(&handed.up[0]).0, bench.counters().flows), (400, 2));
    assert_eq!(told(&bench.deliver(data(1000, 1000))[0]).0, 2000);
}

#[test]
fn a_flow_whose_start_was_not_seen_is_left_alone() {
    for seen in [vec![], vec![syn_ack(offer())], vec![syn(offer())]] {
        let mut bench = Bench::new(safe(SENDER));
        for segment in seen {
            if segment.src_port == 1000 {
                bench.down(segment)
            } else {
                bench.up(segment)
            };
        }
        assert!(bench.deliver(data(0, 1000)).is_empty());
        assert_eq!(told(&bench.up(ack(1000, 20_000))[0]), (1000, 20_000));
        let mut bench = Bench::new(safe(RECEIVER));
        assert_eq!((bench.down(ack(1000, 40_000)).len(), bench.down(ack(2000, 40_000)).len()), (1, 1));
    }
}

#[test]
fn a_new_syn_on_used_ports_begins_anew_and_a_repeated_one_does_not() {
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    bench.down(syn(offer()));
    assert_eq!(told(&bench.deliver(data(1000, 1000))[0]).0, 2000);
    let zero = SeqNo(400_000);
    bench.down(Segment { seq: zero, ..syn(offer()) });
    assert_eq!(bench.counters().never_confirmed, 2000, "what the old one owed");
    bench.up(Segment { ack: zero.plus(1), ..syn_ack(offer()) });
    let up = bench.deliver(Segment { seq: zero.plus(1), ..data(0, 1000) });
    assert_eq!(segment(&up[0]).ack, zero.plus(1001));
    assert_eq!(bench.counters().flows, 1);
}

#[test]
fn a_reset_passes_and_ends_the_flow() {
    let reset = Segment { flags: Flags::RST, ..ack(1000, 0) };
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(data(0, 1000));
    assert_eq!(bench.up(reset).len(), 1);
    let counters = bench.counters();
    assert_eq!((counters.flows, counters.state_bytes, counters.never_confirmed), (0, 0, 1000));
    assert_eq!(bench.handed.timer, None);
    assert!(bench.deliver(data(1000, 1000)).is_empty());
}

#[test]
fn a_flow_ends_when_both_fins_are_acknowledged() {
    let fin = Flags::ACK.with(Flags::FIN);
    let mut bench = Bench::at_sender(safe(SENDER));
    bench.deliver(Segment { flags: fin, ..data(0, 1000) });
    assert_eq!(bench.up(Segment { flags: fin, ..ack(1001, 19_000) }).len(), 1);
    assert_eq!(bench.counters().flows, 1);
    bench.down(Segment { ack: RECEIVER_ZERO.plus(1), ..data(1001, 0) });
    let counters = bench.counters();
    assert_eq!((counters.flows, counters.state_bytes, counters.never_confirmed), (0, 0, 0));
}

#[test]
fn an_idle_flow_is_forgotten() {
    let mut bench = Bench::at_sender(Config { idle: Span::from_secs(100), ..safe(SENDER) });
    bench.wait(Span::from_secs(60));
    bench.deliver(data(0, 1000));
    bench.up(ack(1000, 20_000));
    bench.wait(Span::from_secs(99));
    assert_eq!(bench.counters().flows, 1);
    bench.wait(Span::from_secs(1));
    assert_eq!((bench.counters().flows, bench.counters().state_bytes, bench.handed.timer), (0, 0, None));
}

#[test]
fn a_flow_for_which_there_is_no_room_is_left_alone() {
    let mut bench = Bench::at_sender(Config { max_flows: 1, ..safe(SENDER) });
    bench.down(Segment { src_port: 999, ..syn(offer()) });
    assert_eq!((bench.counters().flows, bench.counters().flows_refused), (1, 1));
    assert_eq!(bench.deliver(data(0, 1000)).len(), 1, "the first one goes on");
}

#[test]
fn a_syn_of_a_connection_that_is_refused_tells_the_other_end_which_leaves_it_alone_and_removes_the_mark() {
    for mode in [Mode::Paper, Mode::Safe] {
        let of_mode = |local| Config { mode, ..safe(local) };
        let none = |local| Config { max_flows: 0, ..of_mode(local) };
        let mut sending = Bench::new(none(SENDER));
        let marked = segment(&sending.down(syn(offer()))[0]);
        assert_eq!(marked.flags, Flags::SYN.with(Flags::REFUSED));
        let mut receiving = Bench::new(of_mode(RECEIVER));
        assert_eq!(segment(&receiving.up(marked)[0]).flags, Flags::SYN);
        receiving.down(syn_ack(offer()));
        receiving.up(data(0, 1000));
        assert_eq!(receiving.down(ack(1000, 40_000)).len(), 1, "its acknowledgement passes");
        assert_eq!((receiving.counters().flows, receiving.counters().suppressed), (0, 0));
        // The end that answers refuses, and the end that had accepted forgets the connection.
        let mut answering = Bench::new(none(RECEIVER));
        answering.up(syn(offer()));
        let marked = segment(&answering.down(syn_ack(offer()))[0]);
        let mut asking = Bench::new(of_mode(SENDER));
        assert_eq!(segment(&asking.down(syn(offer()))[0]).flags, Flags::SYN);
        assert_eq!(segment(&asking.up(marked)[0]).flags, Flags::SYN.with(Flags::ACK));
        assert!(asking.deliver(data(0, 1000)).is_empty(), "nothing is acknowledged here");
        assert_eq!((asking.counters().flows, asking.counters().generated), (0, 0));
    }
}

#[test]
fn a_syn_that_only_passes_on_its_way_to_a_hop_of_others_is_not_marked() {
    let mut relay = agent(ACCESS_POINT, &[RECEIVER]);
    let mut handed = Handed::default();
    relay.down(&packet(syn_ack(offer())), Time::ZERO, &mut handed);
    assert_eq!(handed.down, [packet(syn_ack(offer()))]);
}

#[test]
fn the_state_of_a_flow_is_bounded_and_what_finds_no_room_is_not_acknowledged() {
    let mut bench = Bench::at_sender(Config { max_kept: 3000, ..safe(SENDER) });
    for offset in [0, 1000, 2000] {
        assert_eq!(bench.deliver(data(offset, 1000)).len(), 1);
    }
    assert!(bench.deliver(data(3000, 1000)).is_empty());
    assert!(bench.deliver(data(4000, 1000)).is_empty(), "nor taken for a hole");
    assert!(bench.counters().state_bytes < 5000);
    bench.up(ack(1000, 20_000));
    assert!(bench.deliver(data(5000, 1000)).is_empty(), "there is room again, and still no hole");
    assert_eq!(told(&bench.up(ack(5000, 20_000))[0]).0, 6000);
    assert_eq!(told(&bench.deliver(data(6000, 1000))[0]).0, 7000);
}

#[test]
fn flows_with_ecn_or_a_header_extension_are_left_alone() {
    let mut bench = Bench::new(safe(SENDER));
    let ece_cwr = Flags(0xC0);
    bench.down(Segment { flags: Flags::SYN.with(ece_cwr), ..syn(offer()) });
    bench.up(syn_ack(offer()));
    assert!(bench.deliver(data(0, 1000)).is_empty());

    let mut extended = data(0, 1000);
    extended.options.extension = Some(Extension { form: Form::Option, ..Extension::default() });
    let mut bench = Bench::at_sender(safe(SENDER));
    assert!(bench.deliver(extended).is_empty());
    let mut bench = Bench::at_receiver(safe(RECEIVER), 40_000);
    bench.up(extended);
    assert_eq!(bench.down(ack(2000, 40_000)).len(), 1);
}

#[test]
fn ten_thousand_flows_are_told_apart_and_leave_nothing_behind() {
    let flow = |number: u32, segment: Segment| {
        let mut packet = packet(segment);
        let (src, dst) = (&mut packet.src, &mut packet.dst);
        let far = if *src == SENDER { src } else { dst };
        *far = NodeId(100 + number);
        packet
    };
    let mut agent = agent(ACCESS_POINT, &[RECEIVER]);
    let mut handed = Handed::default();
    for number in 0..10_000 {
        agent.down(&flow(number, syn(offer())), Time::ZERO, &mut handed);
        agent.up(&flow(number, syn_ack(offer())), Time::ZERO, &mut handed);
    }
    handed.up.clear();
    for number in 0..10_000 {
        let segment = data(0, 1 + number % 1000);
        agent.down(&flow(number, segment), Time::ZERO, &mut handed);
        agent.on_signal(Signal::Delivered, &flow(number, segment), Time::ZERO, &mut handed);
    }
    assert_eq!(agent.counters().flows, 10_000);
    for (number, made) in (0..10_000).zip(&handed.up) {
        assert_eq!((made.dst, told(made).0), (NodeId(100 + number), 1 + (number % 1000).cast_signed()));
    }
    for number in 0..10_000 {
        agent.up(&flow(number, Segment { flags: Flags::RST, ..ack(0, 0) }), Time::ZERO, &mut handed);
    }
    assert_eq!((agent.counters().flows, agent.counters().state_bytes, handed.timer), (0, 0, None));
    assert_eq!(agent.counters().flows_max, 10_000);
}
