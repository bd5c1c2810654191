//! Two agents, and a link between them that the test controls: one test per rule.

use super::*;
use crate::packet::{Flags, Options, SackBlocks, Timestamps};
use crate::units::SeqNo;

const AP: NodeId = NodeId(1);
const SERVER: NodeId = NodeId(0);
const CLIENT: NodeId = NodeId(2);

#[derive(Debug, Default)]
struct Side {
    down: Vec<Packet>,
    up: Vec<Packet>,
    riders: Vec<Rider>,
    timer: Option<Time>,
}

impl AgentOut for Side {
    fn down(&mut self, packet: &Packet) {
        self.down.push(*packet);
    }
    fn up(&mut self, packet: &Packet) {
        self.up.push(*packet);
    }
    fn ride_behind(&mut self, towards: NodeId, rider: Rider) {
        assert_eq!(towards, SERVER);
        self.riders.push(rider);
    }
    fn unload(&mut self, towards: NodeId) {
        assert_eq!(towards, SERVER);
        self.riders.clear();
    }
    fn set_timer(&mut self, at: Time) {
        self.timer = Some(at);
    }
    fn cancel_timer(&mut self) {
        self.timer = None;
    }
}

/// The agents at the client and at the access point.
struct Hop {
    client: Hack,
    point: Hack,
    side: Side,
    far: Side,
    now: Time,
}

fn ack(number: u32) -> Packet {
    let options =
        Options { timestamps: Some(Timestamps { value: number, echo: number }), ..Options::default() };
    let ack = SeqNo(2_896 * number);
    let segment = Segment {
        src_port: 5,
        dst_port: 80,
        ack,
        flags: Flags::ACK,
        window: 9,
        options,
        ..Segment::default()
    };
    Packet::new(CLIENT, SERVER, Body::Tcp(segment))
}

impl Hop {
    /// After a first acknowledgement that travelled as a packet.
    fn new() -> Hop {
        let side = || Hack::new(Config::default());
        let (client, point, now) = (side(), side(), Time::ZERO + Span::from_millis(1));
        let mut hop = Hop { client, point, side: Side::default(), far: Side::default(), now };
        hop.frame(false, 0);
        hop.says(ack(0));
        hop.arrives();
        hop
    }

    /// A frame of the access point, whose acknowledgement takes so many riders along for the first time.
    fn frame(&mut self, more: bool, boards: usize) {
        for rider in self.side.riders.drain(..boards) {
            self.point.on_rider(rider, self.now, &mut self.far);
        }
        let answer = Answered { to: AP, more: Some(more), boarded: boards as u32 };
        self.client.on_answer(answer, self.now, &mut self.side);
    }

    fn says(&mut self, packet: Packet) {
        self.client.down(&packet, self.now, &mut self.side);
    }

    /// The link delivers what was sent as packets.
    fn arrives(&mut self) {
        for packet in std::mem::take(&mut self.side.down) {
            self.point.up(&packet, self.now, &mut self.far);
            self.client.on_signal(Signal::Delivered, &packet, self.now, &mut self.side);
        }
    }

    fn later(&mut self, ms: u64) {
        self.now = self.now + Span::from_millis(ms);
        if self.side.timer.take_if(|at| *at <= self.now).is_some() {
            self.client.on_timer(self.now, &mut self.side);
        }
    }

    fn counts(&self) -> [u64; 2] {
        [self.point.repeated, self.point.unknown]
    }
}

#[test]
fn acknowledgements_of_a_burst_ride_with_the_next_and_arrive_unchanged() {
    let mut hop = Hop::new();
    hop.frame(true, 0);
    for number in 1..4 {
        hop.says(ack(number));
    }
    assert_eq!((hop.side.down.len(), hop.side.riders.len()), (0, 3));
    hop.frame(true, 3);
    assert_eq!(hop.far.up, [ack(0), ack(1), ack(2), ack(3)]);
    let activity = hop.client.activity();
    assert_eq!((activity.suppressed, activity.passed, hop.client.bytes), (3, 1, 24));
}

#[test]
fn without_more_data_they_leave_as_packets_and_those_that_did_not_board_as_well() {
    let mut hop = Hop::new();
    hop.says(ack(1));
    assert_eq!(hop.side.down, [ack(1)]);
    hop.arrives();
    hop.frame(true, 0);
    (2..5).for_each(|number| hop.says(ack(number)));
    hop.frame(false, 1);
    assert_eq!(hop.side.down, [ack(3), ack(4)]);
    hop.arrives();
    // The numbers of those that did not board are used again.
    hop.frame(true, 0);
    hop.says(ack(5));
    hop.frame(true, 1);
    assert_eq!(hop.far.up, [0, 1, 2, 3, 4, 5].map(ack));
}

#[test]
fn if_no_frame_comes_they_leave_after_the_hold_time() {
    let mut hop = Hop::new();
    hop.frame(true, 0);
    hop.says(ack(1));
    hop.later(19);
    assert!(hop.side.down.is_empty());
    hop.later(1);
    assert_eq!((hop.side.down.clone(), hop.side.riders.len()), (vec![ack(1)], 0));
    // The announcement is forgotten.
    hop.says(ack(2));
    assert_eq!(hop.side.down.len(), 2);
}

#[test]
fn those_behind_a_packet_in_the_queue_of_the_link_wait_until_it_is_delivered() {
    let mut hop = Hop::new();
    hop.says(ack(1));
    hop.frame(true, 0);
    hop.says(ack(2));
    hop.says(ack(3));
    assert_eq!((hop.side.down.len(), hop.side.riders.len()), (1, 0));
    hop.arrives();
    assert_eq!(hop.side.riders.len(), 2);
    hop.frame(true, 2);
    assert_eq!(hop.far.up.last(), Some(&ack(3)));
}

#[test]
fn duplicates_and_sack_blocks_travel_as_packets_behind_those_that_wait() {
    let mut hop = Hop::new();
    hop.frame(true, 0);
    hop.says(ack(1));
    let mut duplicate = ack(1);
    if let Body::Tcp(segment) = &mut duplicate.body {
        let mut blocks = SackBlocks::default();
        blocks.push(SeqNo(9_000), SeqNo(9_500));
        segment.options.sack = blocks;
    }
    hop.says(duplicate);
    assert_eq!((hop.side.down.clone(), hop.side.riders.len()), (vec![ack(1), duplicate], 0));
    hop.arrives();
    hop.says(ack(1));
    assert_eq!(hop.side.down, [ack(1)], "a duplicate without blocks");
}

#[test]
fn what_rides_again_is_passed_up_once_and_a_loss_costs_no_more_than_itself() {
    let mut hop = Hop::new();
    hop.frame(true, 0);
    hop.says(ack(1));
    hop.says(ack(2));
    let again: Vec<Rider> = hop.side.riders.clone();
    hop.frame(true, 2);
    for rider in &again {
        hop.point.on_rider(*rider, hop.now, &mut hop.far);
    }
    assert_eq!((hop.far.up.len(), hop.counts()), (3, [2, 0]));
    (3..6).for_each(|number| hop.says(ack(number)));
    hop.side.riders.drain(..2);
    hop.frame(true, 1);
    assert_eq!((hop.far.up.last(), hop.counts()), (Some(&ack(5)), [2, 0]));
}

#[test]
fn a_restart_forgets_what_waits() {
    let mut hop = Hop::new();
    hop.frame(true, 0);
    hop.says(ack(1));
    hop.client.restart(hop.now, &mut Side::default());
    hop.says(ack(2));
    assert_eq!(hop.side.down, [ack(2)]);
}
