//! A bench for one agent: the tests pass segments in and examine what comes out.

use super::super::{Config, Counters, LleTcp, Mode};
use crate::hooks::testing::Handed;
use crate::hooks::{Agent, Criterion};
use crate::packet::{Body, Flags, NodeId, Options, Packet, SackBlocks, Segment, Timestamps};
use crate::signal::Signal;
use crate::units::{SeqNo, Span, Time};

/// The data sender and receiver, one hop apart.
pub(super) const SENDER: NodeId = NodeId(0);
pub(super) const RECEIVER: NodeId = NodeId(1);
const PORTS: (u16, u16) = (1000, 2000);
/// Sequence numbers of the first data bytes; the sender's wrap within the first segments.
pub(super) const SENDER_ZERO: SeqNo = SeqNo(u32::MAX - 2_499);
pub(super) const RECEIVER_ZERO: SeqNo = SeqNo(7_000_001);
/// The receiver's shift.
pub(super) const SHIFT: u8 = 2;

pub(super) struct Bench {
    pub(super) agent: LleTcp,
    pub(super) now: Time,
    pub(super) handed: Handed,
}

/// The options that both sides offer.
pub(super) fn offer() -> Options {
    Options {
        mss: Some(1000),
        window_scale: Some(SHIFT),
        sack_permitted: true,
        timestamps: Some(Timestamps { value: 100, echo: 0 }),
        ..Options::default()
    }
}

/// A segment of the sender with `len` bytes at `offset`.
pub(super) fn data(offset: u32, len: u32) -> Segment {
    Segment {
        src_port: PORTS.0,
        dst_port: PORTS.1,
        seq: SENDER_ZERO.plus(offset),
        ack: RECEIVER_ZERO,
        flags: Flags::ACK,
        window: 5000,
        len,
        options: Options {
            timestamps: Some(Timestamps { value: 200 + offset, echo: 0 }),
            ..Options::default()
        },
    }
}

/// An acknowledgement of the receiver with a window of `window` bytes.
pub(super) fn ack(offset: u32, window: u32) -> Segment {
    Segment {
        src_port: PORTS.1,
        dst_port: PORTS.0,
        seq: RECEIVER_ZERO,
        ack: SENDER_ZERO.plus(offset),
        flags: Flags::ACK,
        window: (window >> SHIFT) as u16,
        len: 0,
        options: Options {
            timestamps: Some(Timestamps { value: 100 + offset / 1000, echo: 0 }),
            ..Options::default()
        },
    }
}

/// The same with SACK blocks.
pub(super) fn sack(offset: u32, window: u32, blocks: &[(u32, u32)]) -> Segment {
    let mut segment = ack(offset, window);
    segment.options.sack = SackBlocks::default();
    for block in blocks {
        segment.options.sack.push(SENDER_ZERO.plus(block.0), SENDER_ZERO.plus(block.1));
    }
    segment
}

pub(super) fn syn(options: Options) -> Segment {
    Segment { seq: SENDER_ZERO.plus(u32::MAX), ack: SeqNo(0), flags: Flags::SYN, options, ..data(0, 0) }
}

/// The receiver's SYN, which answers the sender's and offers 20 000 bytes.
pub(super) fn syn_ack(options: Options) -> Segment {
    let flags = Flags::SYN.with(Flags::ACK);
    Segment { seq: SeqNo(RECEIVER_ZERO.0 - 1), window: 20_000, flags, options, ..ack(0, 0) }
}

pub(super) fn packet(segment: Segment) -> Packet {
    let from_sender = segment.src_port == PORTS.0;
    let (src, dst) = if from_sender { (SENDER, RECEIVER) } else { (RECEIVER, SENDER) };
    Packet::new(src, dst, Body::Tcp(segment))
}

pub(super) fn segment(packet: &Packet) -> Segment {
    match packet.body {
        Body::Tcp(segment) => segment,
        Body::Udp(_) => panic!("a TCP segment"),
    }
}

/// Acknowledgement number as an offset, and window in bytes.
pub(super) fn told(packet: &Packet) -> (i32, u32) {
    let segment = segment(packet);
    (segment.ack.distance_from(SENDER_ZERO), u32::from(segment.window) << SHIFT)
}

/// The SACK blocks as offsets.
pub(super) fn blocks(packet: &Packet) -> Vec<(i32, i32)> {
    let offset = |seq: SeqNo| seq.distance_from(SENDER_ZERO);
    segment(packet).options.sack.as_slice().iter().map(|block| (offset(block.0), offset(block.1))).collect()
}

pub(super) fn safe(local: NodeId) -> Config {
    Config::new(Mode::Safe, Criterion::one_hop(local, [NodeId(1 - local.0)]))
}

/// An agent between the two, one hop before the receiver.
pub(super) fn relay() -> Config {
    Config::new(Mode::Safe, Criterion::one_hop(NodeId(9), [RECEIVER]))
}

pub(super) fn paper(local: NodeId) -> Config {
    Config { mode: Mode::Paper, ..safe(local) }
}

impl Bench {
    pub(super) fn new(config: Config) -> Bench {
        Bench { agent: LleTcp::new(config), now: Time::ZERO, handed: Handed::default() }
    }

    /// At the sender, after the handshake.
    pub(super) fn at_sender(config: Config) -> Bench {
        let mut bench = Bench::new(config);
        bench.down(syn(offer()));
        bench.up(syn_ack(offer()));
        bench.down(data(0, 0));
        bench.handed = Handed { timer: bench.handed.timer, ..Handed::default() };
        bench
    }

    /// At the receiver, after the handshake and the first acknowledgement, which opens a window of `window` bytes.
    pub(super) fn at_receiver(config: Config, window: u32) -> Bench {
        let mut bench = Bench::new(config);
        bench.up(syn(offer()));
        bench.down(syn_ack(offer()));
        bench.up(data(0, 1000));
        bench.down(ack(1000, window));
        bench.handed = Handed { timer: bench.handed.timer, ..Handed::default() };
        bench
    }

    pub(super) fn down(&mut self, segment: Segment) -> Vec<Packet> {
        let before = self.handed.down.len();
        self.agent.down(&packet(segment), self.now, &mut self.handed);
        self.handed.down.split_off(before)
    }

    pub(super) fn up(&mut self, segment: Segment) -> Vec<Packet> {
        let before = self.handed.up.len();
        self.agent.up(&packet(segment), self.now, &mut self.handed);
        self.handed.up.split_off(before)
    }

    /// A segment of the sender goes down, and the link reports its fate. Returns the answers that went up.
    pub(super) fn carry(&mut self, segment: Segment, signal: Signal) -> Vec<Packet> {
        self.down(segment);
        self.signal(segment, signal)
    }

    pub(super) fn deliver(&mut self, segment: Segment) -> Vec<Packet> {
        self.carry(segment, Signal::Delivered)
    }

    pub(super) fn signal(&mut self, segment: Segment, signal: Signal) -> Vec<Packet> {
        let before = self.handed.up.len();
        self.agent.on_signal(signal, &packet(segment), self.now, &mut self.handed);
        self.handed.up.split_off(before)
    }

    /// Time passes, and the timer fires whenever it is due.
    pub(super) fn wait(&mut self, span: Span) {
        let until = self.now.after(span);
        while let Some(at) = self.handed.timer.filter(|&at| at <= until) {
            self.now = at;
            self.handed.timer = None;
            self.agent.on_timer(at, &mut self.handed);
        }
        self.now = until;
    }

    pub(super) fn counters(&self) -> Counters {
        self.agent.counters()
    }
}
