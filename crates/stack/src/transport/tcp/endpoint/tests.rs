//! Two endpoints over a wire that the test holds in its hands, as packets or as bytes.

use std::collections::VecDeque;

use proptest::prelude::*;

use super::*;
use crate::packet::{Body, Flags, NodeId, Options, Segment, Timestamps};
use crate::registry::tcp::{Config, Connection, Endpoint, Profile, Role, State};
use crate::registry::{CongestionKind, Parts, RecoveryKind};
use crate::units::{SeqNo, Span};
use crate::wire;

const ONE_WAY: Span = Span::from_millis(10);
const FILE: u64 = 300_000;

/// How a wire carries packets.
#[derive(Clone, Copy, PartialEq)]
enum Carries {
    Packets,
    Bytes,
}

/// When a host calls an endpoint.
#[derive(Clone, Copy)]
enum Host {
    /// At its timeout.
    Exact,
    /// Also each millisecond, without need.
    Eager,
    /// At the next whole 50 ms after its timeout.
    Late,
}

struct Pair {
    ends: [Endpoint; 2],
    flying: [VecDeque<(Time, Packet)>; 2],
    sent: [u64; 2],
    /// Every packet that left, with its time.
    log: Vec<(Time, Packet)>,
    now: Time,
    carries: Carries,
    host: Host,
}

impl Pair {
    fn new(config: &Config, carries: Carries, host: Host) -> Pair {
        let (client, server) = ((NodeId(0), 1000), (NodeId(1), 2000));
        let end = |role, local, remote| {
            Endpoint::new(Connection::new(config, role, local, remote, SeqNo(u32::MAX - 1500)))
        };
        let ends = [end(Role::Active, client, server), end(Role::Passive, server, client)];
        let mut pair = Pair {
            ends,
            flying: Default::default(),
            sent: [0; 2],
            log: Vec::new(),
            // A stamp of 32 bits wraps after 4 295 s.
            now: Time(4_294_500_000_000),
            carries,
            host,
        };
        let now = pair.now;
        pair.ends[0].act(|tcp, out| {
            tcp.open(now, out);
            tcp.write(FILE, now, out);
            tcp.close(now, out);
        });
        pair
    }

    fn transmit(&mut self) {
        for side in 0..2 {
            while let Some(packet) = self.ends[side].poll_transmit() {
                self.log.push((self.now, packet));
                self.sent[side] += 1;
                // One in 29 is lost, on both ways.
                if self.sent[side] % 29 != 17 {
                    self.flying[side].push_back((self.now + ONE_WAY, self.carried(packet)));
                }
            }
        }
    }

    fn carried(&self, packet: Packet) -> Packet {
        if self.carries == Carries::Packets {
            return packet;
        }
        let mut bytes = [0; 2_000];
        let length = wire::write(&packet, 1, &mut bytes).expect("it has bytes");
        wire::parse(&bytes[..length], self.now + ONE_WAY).expect("they are whole").0
    }

    /// The next time at which the host acts.
    fn next(&self) -> Option<Time> {
        let arrivals = self.flying.iter().filter_map(|wire| wire.front().map(|flight| flight.0));
        let timeouts = self.ends.iter().filter_map(Endpoint::poll_timeout);
        let next_whole = |step: u64, at: u64| Time(at.next_multiple_of(step));
        match self.host {
            Host::Exact => arrivals.chain(timeouts).min(),
            Host::Eager => arrivals.chain(timeouts).chain([next_whole(1_000_000, self.now.0 + 1)]).min(),
            Host::Late => arrivals.chain(timeouts.map(|at| next_whole(50_000_000, at.0))).min(),
        }
    }

    fn step(&mut self) -> bool {
        self.transmit();
        let Some(next) = self.next() else { return false };
        self.now = self.now.max(next);
        for side in 0..2 {
            while let Some(&(at, packet)) = self.flying[side].front()
                && at <= self.now
            {
                self.flying[side].pop_front();
                self.ends[1 - side].on_packet(&packet, self.now);
            }
        }
        for end in &mut self.ends {
            end.on_timeout(self.now);
        }
        true
    }

    fn is_done(&self) -> bool {
        self.ends.iter().all(|end| end.connection().is_done())
    }

    /// Until both ends are done.
    fn run(&mut self) {
        for _ in 0..200_000 {
            if self.is_done() {
                assert_eq!(self.ends[1].connection().receiver().in_order(), FILE);
                return;
            }
            assert!(self.step(), "something is waited for");
        }
        panic!("the two ends talk without end");
    }
}

fn configs() -> Vec<Config> {
    let of = |kind: CongestionKind| Profile::Modern.with(Parts::new(RecoveryKind::Sack, kind.config()));
    let kinds = [CongestionKind::Reno, CongestionKind::Cubic, CongestionKind::Bbr, CongestionKind::Ejtcp];
    kinds.map(of).into_iter().chain([Profile::Ns2Of2004.config()]).collect()
}

#[test]
fn a_wire_that_carries_bytes_changes_nothing() {
    for config in configs() {
        let [packets, bytes] = [Carries::Packets, Carries::Bytes].map(|carries| {
            let mut pair = Pair::new(&config, carries, Host::Exact);
            pair.run();
            pair.log
        });
        assert!(packets.len() > 200);
        assert_eq!(packets, bytes, "{:?}", config.parts.law);
    }
}

#[test]
fn calls_before_the_timeout_change_nothing() {
    for config in configs() {
        let [exact, eager] = [Host::Exact, Host::Eager].map(|host| {
            let mut pair = Pair::new(&config, Carries::Packets, host);
            pair.run();
            pair.log
        });
        assert_eq!(exact, eager, "{:?}", config.parts.law);
    }
}

#[test]
fn a_host_that_is_late_delivers_all_the_same() {
    for config in configs() {
        Pair::new(&config, Carries::Packets, Host::Late).run();
    }
}

#[test]
fn an_end_that_is_done_waits_for_nothing() {
    let mut pair = Pair::new(&Profile::Modern.config(), Carries::Packets, Host::Exact);
    pair.run();
    while pair.step() {}
    assert_eq!(pair.ends.each_ref().map(Endpoint::poll_timeout), [None; 2]);
    assert_eq!(pair.ends.each_ref().map(|end| end.connection().state()), [State::Established; 2]);
}

#[test]
fn a_window_scale_above_fourteen_means_fourteen() {
    let config = Profile::Modern.config();
    let mut end = Endpoint::new(Connection::new(
        &config,
        Role::Passive,
        (NodeId(1), 2000),
        (NodeId(0), 1000),
        SeqNo(0),
    ));
    let options = Options { window_scale: Some(200), ..Options::default() };
    let syn = Segment { flags: Flags::SYN, options, ..Segment::default() };
    let ack = Segment { seq: SeqNo(1), ack: SeqNo(1), flags: Flags::ACK, window: 1, ..Segment::default() };
    for segment in [syn, ack] {
        let packet = Packet::new(NodeId(0), NodeId(1), Body::Tcp(segment));
        end.on_packet(&packet, Time::ZERO);
    }
    assert_eq!(end.connection().state(), State::Established);
    let mut sent = 0;
    end.act(|tcp, out| tcp.write(1 << 20, Time::ZERO, out));
    while let Some(packet) = end.poll_transmit() {
        sent += packet.payload();
    }
    // The initial window of ten segments, within the 16 384 bytes that were advertised.
    assert_eq!(sent, 10 * 1448);
}

/// An invalid segment: its numbers are arbitrary, or near those that the connection expects.
#[derive(Clone, Debug)]
struct Stray {
    step: u8,
    to: usize,
    near: bool,
    segment: Segment,
}

fn strays() -> impl Strategy<Value = Vec<Stray>> {
    let numbers = any::<(u32, u32, u16)>();
    let flags = prop::sample::select(vec![0x10, 0x10, 0x18, 0x11, 0x02, 0x12, 0x01, 0x00, 0xFF]);
    let len = prop_oneof![Just(0), 1u32..3_000, Just(65_000)];
    let options = (
        prop::option::of(any::<(u32, u32)>()),
        prop::collection::vec(any::<(u32, u32)>(), 0..4),
        any::<Option<u16>>(),
        any::<Option<u8>>(),
        any::<bool>(),
    );
    let stray = (any::<u8>(), 0usize..2, any::<bool>(), numbers, flags, len, options).prop_map(
        |(step, to, near, (seq, ack, window), flags, len, options)| {
            let (stamps, blocks, mss, window_scale, sack_permitted) = options;
            let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
            let mut options = Options { timestamps, mss, window_scale, sack_permitted, ..Options::default() };
            for (left, right) in blocks {
                options.sack.push(SeqNo(left), SeqNo(right));
            }
            let (seq, ack, flags) = (SeqNo(seq), SeqNo(ack), Flags(flags));
            let segment = Segment { src_port: 0, dst_port: 0, seq, ack, flags, window, len, options };
            Stray { step, to, near, segment }
        },
    );
    prop::collection::vec(stray, 1..12)
}

/// The segment with its numbers within a few thousand bytes of those that the connection sends and expects.
fn near(segment: Segment, connection: &Connection) -> Segment {
    let close = |to: SeqNo, number: SeqNo| to.plus(number.0 % 8_192).plus(0u32.wrapping_sub(4_096));
    let sent = connection.sequence_of(connection.sender().board().una());
    let Segment { seq, ack, mut options, .. } = segment;
    let blocks: Vec<_> = options.sack.as_slice().to_vec();
    options.sack = crate::packet::SackBlocks::default();
    for (left, right) in blocks {
        options.sack.push(close(sent, left), close(sent, right));
    }
    let expected = SeqNo(u32::MAX - 1499).plus(connection.receiver().next() as u32);
    Segment { seq: close(expected, seq), ack: close(sent, ack), options, ..segment }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_segment_makes_a_connection_panic_or_send_without_end(
        strays in strays(),
        config in prop::sample::select(configs()),
    ) {
        let mut pair = Pair::new(&config, Carries::Packets, Host::Exact);
        for stray in strays {
            for _ in 0..stray.step {
                pair.step();
            }
            let end = &mut pair.ends[stray.to];
            let segment = if stray.near { near(stray.segment, end.connection()) } else { stray.segment };
            let packet = Packet::new(NodeId(9), NodeId(8), Body::Tcp(segment));
            end.on_packet(&packet, pair.now);
        }
        let sent = pair.log.len();
        let end = pair.now + Span::from_secs(5);
        for _ in 0..20_000 {
            if pair.now > end || !pair.step() {
                break;
            }
        }
        prop_assert!(pair.log.len() - sent < 15_000);
    }
}
