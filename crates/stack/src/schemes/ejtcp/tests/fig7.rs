//! The table of Fig. 7: a sender is fed the acknowledgements of the table, and each limit and each packet sent is checked.
//!
//! Packets 4758, 4807 and 4814 are lost from a window of 60. Packets are numbered from 1 and of 1000 bytes.

use super::*;
use crate::hooks::{Note, Out, Timer};
use crate::packet::{Body, Extension, Flags, NodeId, Options, Packet, Segment};
use crate::registry::tcp::{Config, Connection};
use crate::registry::{LawConfig, Parts, RecoveryKind};
use crate::transport::tcp::{FastRetransmit, Profile, Role};
use crate::units::SeqNo;

const SIZE: u32 = 1000;
const ISS: SeqNo = SeqNo(7);
const WINDOW_SCALE: u8 = 7;

/// What the sender has put out.
#[derive(Default)]
struct Wire {
    /// Numbers of the packets that left, in order.
    sent: Vec<u32>,
    /// The last limit noted: acknowledged packets, duplicates and the whole packets of the window.
    max_seq: f64,
}

impl Out for Wire {
    fn down(&mut self, packet: Packet) {
        let Body::Tcp(segment) = packet.body else { return };
        if segment.len > 0 {
            self.sent.push((segment.seq.0 - ISS.0 - 1) / SIZE + 1);
        }
    }
    fn set(&mut self, _: Timer, _: Time) {}
    fn cancel(&mut self, _: Timer) {}
    fn is_watching(&self) -> bool {
        true
    }
    fn note(&mut self, note: Note) {
        self.max_seq = (note.ack / u64::from(SIZE)) as f64 + libm::floor(note.cwnd);
    }
    fn measured(&mut self, _: Span, _: Span, _: Span) {}
}

struct Sender {
    connection: Connection,
    wire: Wire,
    now: Time,
}

impl Sender {
    /// A sender with a window of 60 that has sent nothing yet.
    fn new(law: EjtcpConfig) -> Sender {
        let config = Config {
            parts: Parts::new(RecoveryKind::Reno, LawConfig::Ejtcp(law)),
            reno_fast_retransmit: FastRetransmit::EveryHole,
            packet: SIZE,
            window: 2000,
            initial_window: 60,
            initial_ssthresh: Some(2.0),
            limited_transmit: false,
            window_validation: true,
            idle_restart: false,
            ..Profile::Ns2Of2004.config()
        };
        let connection = Connection::new(&config, Role::Active, (NodeId(0), 1), (NodeId(1), 2), ISS);
        let mut sender = Sender { connection, wire: Wire::default(), now: Time::ZERO };
        sender.connection.open(sender.now, &mut sender.wire);
        let options = Options { mss: Some(1000), window_scale: Some(WINDOW_SCALE), ..Options::default() };
        sender.arrive(Segment {
            flags: Flags::SYN.with(Flags::ACK),
            ack: ISS.plus(1),
            options,
            ..Segment::default()
        });
        sender
    }

    fn arrive(&mut self, segment: Segment) {
        self.now = self.now.after(Span::from_millis(1));
        let segment = Segment { src_port: 2, dst_port: 1, window: u16::MAX, ..segment };
        let packet = Packet::new(NodeId(1), NodeId(0), Body::Tcp(segment));
        self.connection.up(&packet, self.now, &mut self.wire);
    }

    /// The acknowledgement of packet `ack` arrives, triggered by packet `trigger`; what left in answer.
    fn ack(&mut self, ack: u32, trigger: u32) -> Vec<u32> {
        self.wire.sent.clear();
        let received = self.now;
        let trigger = ISS.plus(1 + (trigger - 1) * SIZE);
        let extension = Some(Extension { received, sent: received, trigger, ..Extension::default() });
        let options = Options { extension, ..Options::default() };
        let (seq, ack) = (SeqNo(1), ISS.plus(1 + ack * SIZE));
        self.arrive(Segment { flags: Flags::ACK, seq, ack, options, ..Segment::default() });
        std::mem::take(&mut self.wire.sent)
    }

    fn write(&mut self, packets: u32) {
        self.connection.write(u64::from(packets * SIZE), self.now, &mut self.wire);
    }

    /// Sends and is acknowledged up to `last`, one packet outstanding at a time, so that the window stays what it is.
    fn trickle(&mut self, last: u32) {
        for packet in 1..=last {
            self.write(1);
            self.ack(packet, packet);
        }
    }
}

/// A sender as the table begins: 4757 acknowledged, 4758 to 4817 outstanding.
fn at_first_row(law: EjtcpConfig) -> Sender {
    let mut sender = Sender::new(law);
    // With bursts limited, each acknowledgement opens the flight by two more: 29 of them from 3 packets to 60.
    let opening = if law.smooth.is_some() { 29 } else { 0 };
    sender.trickle(4757 - opening);
    sender.write(1000);
    for packet in 4758 - opening..4758 {
        sender.ack(packet, packet);
    }
    let board = sender.connection.sender().board();
    assert_eq!((board.una(), board.sent_end()), (4_757_000, 4_817_000));
    assert_eq!(sender.connection.sender().window().cwnd, 60.0);
    sender
}

/// A row: the packet acknowledged, the duplicates of it so far, the limit, and the last packet sent.
type Row = (u32, u32, u32, u32);

/// The rows up to the last, whose answer smooth transmission changes. Where the table has an X, the last packet is that
/// of the row before.
const TABLE: [Row; 6] = [
    (4757, 56, 4873, 4873),
    (4806, 0, 4866, 4873),
    (4806, 8, 4874, 4874),
    (4806, 53, 4919, 4919),
    (4813, 0, 4873, 4919),
    (4813, 44, 4917, 4919),
];

fn play(sender: &mut Sender) {
    let mut last = 4817;
    let mut resent = Vec::new();
    let (mut acknowledged, mut duplicates) = (4757, 0);
    for (ack, count, max_seq, last_sent) in TABLE {
        let before = last;
        let mut take = |sent: Vec<u32>| {
            for packet in sent {
                if packet > last {
                    assert_eq!(packet, last + 1);
                    last = packet;
                } else {
                    resent.push(packet);
                }
            }
        };
        if ack > acknowledged {
            // A retransmission has filled the hole.
            take(sender.ack(ack, acknowledged + 1));
            (acknowledged, duplicates) = (ack, 0);
        }
        while duplicates < count {
            duplicates += 1;
            take(sender.ack(ack, before));
        }
        assert_eq!(sender.wire.max_seq, f64::from(max_seq), "row {ack} {count}");
        assert_eq!(last, last_sent, "row {ack} {count}");
    }
    assert_eq!(resent, [4758, 4807, 4814]);
}

#[test]
fn the_table_is_followed_and_ends_with_a_burst_of_sixty() {
    let mut sender = at_first_row(EjtcpConfig { smooth: None, ..EjtcpConfig::default() });
    play(&mut sender);
    let burst = sender.ack(4919, 4814);
    assert_eq!(burst, (4920..=4979).collect::<Vec<_>>());
    assert_eq!(sender.wire.max_seq, 4979.0);
}

#[test]
fn smooth_transmission_follows_the_table_and_releases_three_by_three_instead_of_the_burst() {
    let mut sender = at_first_row(EjtcpConfig::default());
    play(&mut sender);
    assert_eq!(sender.ack(4919, 4814), [4920, 4921, 4922]);
    let mut last = 4922;
    // Three for each acknowledgement: 28 of them open the flight to 59 packets, and the next fills the window of 60.
    for packet in 4920..4948 {
        assert_eq!(sender.ack(packet, packet), [last + 1, last + 2, last + 3]);
        last += 3;
    }
    assert_eq!(sender.ack(4948, 4948), [last + 1, last + 2]);
    assert_eq!(sender.wire.max_seq, f64::from(last + 2));
}

#[test]
fn the_duplicate_of_a_second_copy_does_not_help_to_resend_what_was_not_lost() {
    // One loss among 64 packets: two copies. The second makes one duplicate; with two more from reordering there are three.
    for (filter, resent) in [(true, None), (false, Some(12))] {
        let mut sender = Sender::new(EjtcpConfig { filter, smooth: None, ..EjtcpConfig::default() });
        sender.write(64);
        sender.ack(1, 1);
        for trigger in [3, 4] {
            sender.ack(1, trigger);
        }
        let copies: Vec<u32> = sender.ack(1, 5).into_iter().filter(|packet| *packet == 2).collect();
        assert_eq!(copies, [2, 2]);
        sender.ack(11, 2);
        let answers = [2, 13, 14].map(|trigger| sender.ack(11, trigger));
        let again: Vec<u32> = answers.into_iter().flatten().filter(|packet| *packet <= 60).collect();
        assert_eq!(again.first().copied(), resent, "filter {filter}");
    }
}
