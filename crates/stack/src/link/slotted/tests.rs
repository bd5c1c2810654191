//! Nodes slot by slot.

use super::interval::Windows;
use super::*;
use crate::packet::NodeId;
use crate::registry::{IntervalKind, SlottedNode};

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);
const D: NodeId = NodeId(3);
const E: NodeId = NodeId(4);

/// The answers of a node; it draws the given number.
#[derive(Default)]
struct Answers {
    up: Vec<u64>,
    done: Vec<(u64, End)>,
    draw: u32,
    bounds: Vec<u32>,
}

impl NodeOut for Answers {
    fn up(&mut self, handle: u64) {
        self.up.push(handle);
    }

    fn done(&mut self, handle: u64, end: End) {
        self.done.push((handle, end));
    }

    fn draw(&mut self, bound: u32) -> u32 {
        self.bounds.push(bound);
        self.draw.min(bound)
    }
}

fn rules() -> Rules {
    Rules {
        least_wait: 3,
        discard: Discard::Count(4),
        scope: CountScope::Path,
        remembered: Remembered::NONE,
        service: Service::Parallel,
        wait_from: WaitFrom::Transmission,
        routing: Routing::Table,
    }
}

/// A node whose packets for E go to these neighbours.
fn node(node: NodeId, rules: Rules, neighbours: &[NodeId]) -> SlottedNode {
    let mut table = NetworkTable::default();
    let neighbours: Vec<_> = neighbours.iter().map(|node| (*node, 1)).collect();
    table.enter(E, 2, &neighbours, Alternatives::Forward);
    Node::new(
        node,
        rules,
        table,
        IntervalKind::LoadAdaptive.config().build(Windows { least: 3, shortest: 5, longest: 17 }),
    )
}

/// A packet from A for E with this count of retransmissions.
fn packet(transmitter: NodeId, receiver: NodeId, retransmissions: u32) -> Frame {
    let id = PacketId { source: A, number: 0 };
    let header = Header { id, destination: E, retransmissions, born: SlotNo(0) };
    Frame { kind: FrameKind::Packet, header, transmitter, receiver, handle: 0 }
}

/// The frame that the node sends in this slot on an idle channel.
fn sends(node: &mut SlottedNode, slot: u64, out: &mut Answers) -> Option<Frame> {
    match node.begin(SlotNo(slot), out) {
        Intent::Silent => None,
        _ => node.transmit(SlotNo(slot), out),
    }
}

#[test]
fn a_packet_is_forwarded_in_the_slot_after_its_reception_and_its_echo_ends_it() {
    let (mut relay, mut out) = (node(B, rules(), &[C]), Answers::default());
    relay.on_frame(&packet(A, B, 0), 7, &mut out);
    assert_eq!(relay.next_slot(SlotNo(10)), Some(SlotNo(11)));
    assert_eq!(relay.begin(SlotNo(11), &mut out), Intent::Committed);
    let frame = relay.transmit(SlotNo(11), &mut out).expect("a relay");
    assert_eq!((frame.transmitter, frame.receiver, frame.kind), (B, C, FrameKind::Packet));
    // At least three slots, and a draw of 0.
    assert_eq!(relay.next_slot(SlotNo(11)), Some(SlotNo(14)));
    relay.on_frame(&packet(C, D, 0), 0, &mut out);
    assert_eq!((out.done, relay.next_slot(SlotNo(12))), (vec![(7, End::Passed)], None));
}

#[test]
fn the_destination_hands_up_and_answers_with_an_frn_ack_that_ends_the_senders_copy() {
    let (mut destination, mut out) = (node(E, rules(), &[]), Answers::default());
    destination.on_frame(&packet(D, E, 2), 9, &mut out);
    let ack = sends(&mut destination, 5, &mut out).expect("an FRN ACK");
    assert_eq!((ack.kind, ack.receiver, &out.up[..]), (FrameKind::Ack, D, &[9][..]));
    assert_eq!(destination.next_slot(SlotNo(5)), None);

    let (mut sender, mut out) = (node(D, rules(), &[E]), Answers::default());
    sender.on_frame(&packet(C, D, 2), 8, &mut out);
    sends(&mut sender, 4, &mut out).expect("a relay");
    sender.on_frame(&ack, 0, &mut out);
    assert_eq!(out.done, [(8, End::Passed)]);
}

#[test]
fn without_an_echo_the_packet_goes_to_the_next_neighbour_with_its_count_raised() {
    let (mut sender, mut out) = (node(A, rules(), &[B, C]), Answers { draw: 2, ..Answers::default() });
    sender.enqueue(E, 1, SlotNo(0), &mut out);
    let first = sends(&mut sender, 1, &mut out).expect("sent");
    assert_eq!((first.receiver, first.header.retransmissions), (B, 0));
    assert!((2..6).all(|slot| sends(&mut sender, slot, &mut out).is_none()));
    let second = sends(&mut sender, 6, &mut out).expect("sent again");
    assert_eq!((second.receiver, second.header.retransmissions), (C, 1));
    // 3-5 at no load; the one entry failed, so 3-17.
    assert_eq!(out.bounds, [2, 14]);
    // The echo turns the second entry into a success: 3-11 at a load of one half.
    sender.on_frame(&packet(C, D, 1), 0, &mut out);
    sender.enqueue(E, 2, SlotNo(8), &mut out);
    sends(&mut sender, 9, &mut out).expect("the next");
    assert_eq!(out.bounds, [2, 14, 8]);
}

#[test]
fn a_late_echo_ends_the_copy_that_waits_to_be_sent_again() {
    let (mut sender, mut out) = (node(A, rules(), &[B, C]), Answers::default());
    sender.enqueue(E, 1, SlotNo(0), &mut out);
    sends(&mut sender, 1, &mut out).expect("sent");
    assert_eq!(sender.begin(SlotNo(4), &mut out), Intent::Ordinary);
    // The channel is busy, and B sends the packet again.
    sender.on_frame(&packet(B, D, 1), 0, &mut out);
    assert_eq!((out.done, sender.backlog()), (vec![(1, End::Passed)], 0));
}

#[test]
fn what_a_neighbour_sends_that_was_never_sent_to_it_is_no_echo() {
    let (mut sender, mut out) = (node(A, rules(), &[B, C]), Answers::default());
    sender.enqueue(E, 1, SlotNo(0), &mut out);
    sends(&mut sender, 1, &mut out).expect("sent to B");
    sender.on_frame(&packet(C, D, 0), 0, &mut out);
    assert_eq!((out.done.len(), sender.backlog()), (0, 1));
}

#[test]
fn a_node_listens_in_the_slot_of_the_echo_and_then_sends_the_next_packet() {
    let (mut sender, mut out) = (node(A, rules(), &[B]), Answers { draw: 9, ..Answers::default() });
    for handle in [1, 2] {
        sender.enqueue(E, handle, SlotNo(0), &mut out);
    }
    let sent: Vec<u64> = (1..=6)
        .filter_map(|slot| Some((slot, sends(&mut sender, slot, &mut out)?)))
        .map(|sent| sent.0)
        .collect();
    // The first is due again at 6; the second was sent at 3 and is due later.
    assert_eq!(sent, [1, 3, 6]);
}

#[test]
fn serially_a_new_packet_waits_until_the_one_before_has_its_echo_but_one_to_forward_does_not() {
    let rules = Rules { service: Service::Serial, ..rules() };
    let (mut node, mut out) = (node(B, rules, &[C]), Answers::default());
    for handle in [1, 2] {
        node.enqueue(E, handle, SlotNo(0), &mut out);
    }
    let first = sends(&mut node, 1, &mut out).expect("the first");
    assert_eq!((first.handle, node.next_slot(SlotNo(1))), (1, Some(SlotNo(4))));
    assert!((2..4).all(|slot| sends(&mut node, slot, &mut out).is_none()));
    assert_eq!(sends(&mut node, 4, &mut out).expect("again").handle, 1);
    node.on_frame(&packet(A, B, 0), 7, &mut out);
    assert_eq!(sends(&mut node, 5, &mut out).expect("forwarded").handle, 7);
    // The echo of the first arrives, then that of the forwarded packet, and the second may be sent.
    let echo = |id| Frame { header: Header { id, ..packet(C, D, 0).header }, ..packet(C, D, 0) };
    node.on_frame(&echo(first.header.id), 0, &mut out);
    assert!(sends(&mut node, 7, &mut out).is_none(), "the forwarded one has no echo yet");
    node.on_frame(&echo(packet(A, B, 0).header.id), 0, &mut out);
    assert_eq!(sends(&mut node, 8, &mut out).expect("the second").handle, 2);
}

#[test]
fn serially_packets_are_repeated_one_after_the_other() {
    let handles = |service, busy: std::ops::Range<u64>| {
        let rules = Rules { service, discard: Discard::Count(2), ..rules() };
        let (mut relay, mut out) = (node(B, rules, &[C]), Answers::default());
        let mut sent = Vec::new();
        for slot in 0..40 {
            if slot < 2 {
                let mut frame = packet(A, B, 0);
                frame.header.id.number = slot;
                relay.on_frame(&frame, 7 + slot, &mut out);
            }
            if busy.contains(&slot) {
                relay.begin(SlotNo(slot), &mut out);
            } else {
                sent.extend(sends(&mut relay, slot, &mut out).map(|frame| frame.handle));
            }
        }
        sent
    };
    // Where the channel is busy, both are due when it is idle again.
    for busy in [0..0, 3..12] {
        assert_eq!(handles(Service::Parallel, busy.clone()), [7, 8, 7, 8, 7, 8]);
        assert_eq!(handles(Service::Serial, busy), [7, 8, 7, 7, 8, 8]);
    }
}

#[test]
fn from_the_echo_on_a_failure_is_known_two_slots_later_and_widens_the_wait_it_begins() {
    let rules = Rules { wait_from: WaitFrom::Echo, ..rules() };
    let (mut sender, mut out) = (node(A, rules, &[B]), Answers::default());
    sender.enqueue(E, 1, SlotNo(0), &mut out);
    sends(&mut sender, 1, &mut out).expect("sent");
    assert_eq!((&out.bounds[..], sender.next_slot(SlotNo(1))), (&[][..], Some(SlotNo(3))));
    assert_eq!(sender.begin(SlotNo(3), &mut out), Intent::Silent);
    // The whole history failed: 3-17. Three slots after the slot of the echo, which is 2.
    assert_eq!((&out.bounds[..], sender.next_slot(SlotNo(3))), (&[14][..], Some(SlotNo(5))));
    assert!(sends(&mut sender, 4, &mut out).is_none());
    assert_eq!(sends(&mut sender, 5, &mut out).expect("again").header.retransmissions, 1);

    // An echo after the judgement ends the copy but does not undo the failure.
    sender.begin(SlotNo(7), &mut out);
    sender.on_frame(&packet(B, C, 1), 0, &mut out);
    assert_eq!(out.done, [(1, End::Passed)]);
    sender.enqueue(E, 2, SlotNo(7), &mut out);
    sends(&mut sender, 8, &mut out).expect("the next");
    sender.begin(SlotNo(10), &mut out);
    assert_eq!(out.bounds, [14, 14, 14]);
}

#[test]
fn a_packet_whose_count_would_exceed_the_limit_is_discarded() {
    let rules = Rules { discard: Discard::Count(2), ..rules() };
    let (mut relay, mut out) = (node(B, rules, &[C]), Answers::default());
    relay.on_frame(&packet(A, B, 1), 7, &mut out);
    let counts: Vec<u32> = (1..40)
        .filter_map(|slot| sends(&mut relay, slot, &mut out))
        .map(|frame| frame.header.retransmissions)
        .collect();
    assert_eq!((counts, out.done), (vec![1, 2], vec![(7, End::Count)]));
}

#[test]
fn a_count_of_each_hop_by_itself_begins_at_zero_again() {
    let rules = Rules { scope: CountScope::Hop, ..rules() };
    let (mut relay, mut out) = (node(B, rules, &[C]), Answers::default());
    relay.on_frame(&packet(A, B, 3), 7, &mut out);
    let frame = sends(&mut relay, 1, &mut out).expect("a relay");
    assert_eq!(frame.header.retransmissions, 0);
}

#[test]
fn a_packet_older_than_its_lifetime_is_discarded_before_it_is_sent() {
    let rules = Rules { discard: Discard::Lifetime(6), ..rules() };
    let (mut sender, mut out) = (node(A, rules, &[B]), Answers::default());
    sender.enqueue(E, 1, SlotNo(0), &mut out);
    let sent: Vec<u64> = (1..20).filter(|slot| sends(&mut sender, *slot, &mut out).is_some()).collect();
    // Born in slot 0: it is sent at 1 and 4, and at 7 it is too old.
    assert_eq!((sent, out.done), (vec![1, 4], vec![(1, End::Lifetime)]));

    let (mut relay, mut out) = (node(B, rules, &[C]), Answers::default());
    relay.on_frame(&packet(A, B, 0), 7, &mut out);
    assert_eq!(relay.begin(SlotNo(7), &mut out), Intent::Silent);
    assert_eq!(out.done, [(7, End::Lifetime)]);
}

#[test]
fn a_second_copy_is_forwarded_too_unless_packets_are_remembered() {
    let (mut relay, mut out) = (node(B, rules(), &[C]), Answers::default());
    for slot in [0, 10] {
        relay.on_frame(&packet(A, B, 0), slot, &mut out);
        let frame = sends(&mut relay, slot + 1, &mut out).expect("a relay");
        assert_eq!(frame.kind, FrameKind::Packet);
        relay.on_frame(&packet(C, D, 0), 0, &mut out);
    }

    let (mut relay, mut out) =
        (node(B, Rules { remembered: Remembered::Last(4), ..rules() }, &[C]), Answers::default());
    relay.on_frame(&packet(A, B, 0), 1, &mut out);
    sends(&mut relay, 1, &mut out).expect("a relay");
    relay.on_frame(&packet(C, D, 0), 0, &mut out);
    relay.on_frame(&packet(A, B, 0), 2, &mut out);
    let answer = sends(&mut relay, 3, &mut out).expect("an FRN ACK");
    assert_eq!((answer.kind, answer.receiver), (FrameKind::Ack, A));
    assert_eq!(out.done, [(1, End::Passed), (2, End::Suppressed)]);
}

#[test]
fn a_packet_that_nobody_can_take_is_handed_back() {
    let (mut sender, mut out) = (node(A, rules(), &[]), Answers::default());
    sender.enqueue(E, 1, SlotNo(0), &mut out);
    assert_eq!((out.done, sender.next_slot(SlotNo(0))), (vec![(1, End::NoRoute)], None));
}

/// The frames of a relay that was deferred in slot 1 and received its packet again in that slot.
fn sent_after_a_deferral(remembered: Remembered) -> (Vec<FrameKind>, Vec<(u64, End)>) {
    let rules = Rules { remembered, discard: Discard::Count(0), ..rules() };
    let (mut relay, mut out) = (node(B, rules, &[C]), Answers::default());
    relay.on_frame(&packet(A, B, 0), 1, &mut out);
    assert_eq!(relay.begin(SlotNo(1), &mut out), Intent::Committed);
    relay.on_frame(&packet(A, B, 0), 2, &mut out);
    let sent = (2..9).filter_map(|slot| sends(&mut relay, slot, &mut out)).map(|frame| frame.kind);
    (sent.collect(), out.done)
}

#[test]
fn a_packet_that_comes_again_while_its_relay_is_deferred_is_queued_once_and_not_acknowledged_besides() {
    for remembered in [Remembered::NONE, Remembered::Last(4), Remembered::All] {
        let (sent, done) = sent_after_a_deferral(remembered);
        assert_eq!(sent, [FrameKind::Packet], "{remembered:?}");
        assert_eq!(done, [(2, End::Suppressed), (1, End::Count)], "{remembered:?}");
    }
}

#[test]
fn an_frn_ack_that_is_deferred_is_not_queued_twice() {
    let (mut destination, mut out) =
        (node(E, Rules { remembered: Remembered::All, ..rules() }, &[]), Answers::default());
    for slot in 0..3 {
        destination.on_frame(&packet(D, E, 0), slot, &mut out);
        assert_eq!(destination.begin(SlotNo(slot), &mut out), Intent::Committed);
    }
    let sent = (3..9).filter(|slot| sends(&mut destination, *slot, &mut out).is_some()).count();
    assert_eq!((sent, out.up), (1, vec![0]));
}

#[test]
fn a_packet_that_a_node_discarded_is_forwarded_when_it_comes_again_and_not_acknowledged() {
    let by_count = Rules { discard: Discard::Count(0), ..rules() };
    let by_lifetime = Rules { discard: Discard::Lifetime(2), ..rules() };
    for (rules, end) in [(by_count, End::Count), (by_lifetime, End::Lifetime)] {
        for remembered in [Remembered::Last(4), Remembered::All] {
            let (mut relay, mut out) = (node(B, Rules { remembered, ..rules }, &[C]), Answers::default());
            relay.on_frame(&packet(A, B, 0), 1, &mut out);
            sends(&mut relay, 1, &mut out).expect("a relay");
            assert!((2..9).all(|slot| sends(&mut relay, slot, &mut out).is_none()));
            assert_eq!(out.done, [(1, end)]);
            let mut again = packet(A, B, 0);
            again.header.born = SlotNo(9);
            relay.on_frame(&again, 2, &mut out);
            assert_eq!(sends(&mut relay, 10, &mut out).expect("a relay").kind, FrameKind::Packet);
        }
    }
}

#[test]
fn a_packet_that_nobody_can_take_is_not_acknowledged_when_it_comes_again() {
    let rules = Rules { remembered: Remembered::All, ..rules() };
    let (mut relay, mut out) = (node(B, rules, &[]), Answers::default());
    for copy in [1, 2] {
        relay.on_frame(&packet(A, B, 0), copy, &mut out);
    }
    assert_eq!((relay.next_slot(SlotNo(0)), out.done), (None, vec![(1, End::NoRoute), (2, End::NoRoute)]));
}

/// To whom the node sends a packet that enters in this slot; its echo ends it.
fn passes_on(node: &mut SlottedNode, slot: u64, out: &mut Answers) -> NodeId {
    node.enqueue(E, slot, SlotNo(slot), out);
    let frame = sends(node, slot + 1, out).expect("sent");
    node.on_frame(&Frame { transmitter: frame.receiver, receiver: E, ..frame }, 0, out);
    frame.receiver
}

#[test]
fn the_neighbour_that_was_heard_least_gets_the_packet() {
    let rules = Rules { routing: Routing::Load { frames: 4 }, ..rules() };
    let (mut sender, mut out) = (node(A, rules, &[B, C, D]), Answers::default());
    for other in [C, B, D, B] {
        sender.on_frame(&packet(other, E, 0), 0, &mut out);
    }
    // C and D have sent one of the last four frames each, and B two.
    assert_eq!(passes_on(&mut sender, 0, &mut out), C);
    // Its relay echo takes the place of the first frame: B 2, D 1, C 1.
    assert_eq!(passes_on(&mut sender, 10, &mut out), C);
    // B 1, D 1, C 2; then D 0 would need B's frames to go first: B is the first of equals.
    assert_eq!(passes_on(&mut sender, 20, &mut out), B);
}

#[test]
fn a_packet_without_an_echo_goes_to_a_neighbour_that_has_not_had_it_whatever_its_load() {
    let rules = Rules { routing: Routing::Load { frames: 8 }, ..rules() };
    let (mut sender, mut out) = (node(A, rules, &[B, C]), Answers::default());
    sender.enqueue(E, 1, SlotNo(0), &mut out);
    assert_eq!(sends(&mut sender, 1, &mut out).expect("sent").receiver, B);
    for _ in 0..3 {
        sender.on_frame(&packet(C, D, 0), 0, &mut out);
    }
    sender.enqueue(E, 2, SlotNo(2), &mut out);
    let receivers: Vec<_> =
        (2..60).filter_map(|slot| sends(&mut sender, slot, &mut out)).map(|frame| frame.receiver).collect();
    assert_eq!(receivers.iter().filter(|receiver| **receiver == C).count(), 2, "{receivers:?}");
}

#[test]
fn neighbours_get_packets_in_turn_and_a_repeated_one_goes_to_the_next() {
    let rules = Rules { routing: Routing::Turn, ..rules() };
    let (mut sender, mut out) = (node(A, rules, &[B, C, D]), Answers::default());
    let receivers = [0, 10, 20, 30].map(|slot| passes_on(&mut sender, slot, &mut out));
    assert_eq!(receivers, [B, C, D, B]);
    sender.enqueue(E, 1, SlotNo(40), &mut out);
    let tries: Vec<_> =
        (41..80).filter_map(|slot| sends(&mut sender, slot, &mut out)).map(|frame| frame.receiver).collect();
    assert_eq!(tries, [C, D, B, C, D]);
}

#[test]
fn a_single_forward_neighbour_gets_every_packet_first_under_every_rule() {
    for routing in [Routing::Table, Routing::Turn, Routing::Load { frames: 8 }] {
        let mut table = NetworkTable::default();
        table.enter(E, 2, &[(B, 1), (C, 2)], Alternatives::Sideward);
        let interval = IntervalKind::Fixed.config().build(Windows { least: 3, shortest: 5, longest: 5 });
        let mut sender = Node::new(A, Rules { routing, ..rules() }, table, interval);
        let mut out = Answers::default();
        let receivers = [0, 10, 20].map(|slot| passes_on(&mut sender, slot, &mut out));
        assert_eq!(receivers, [B, B, B], "{routing:?}");
    }
}
