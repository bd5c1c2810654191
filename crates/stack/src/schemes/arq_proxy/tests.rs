//! A proxy and a client, and a hop between them that the test controls: one test per rule.

use super::*;
use crate::packet::{Body, Flags, NodeId, Options, SackBlocks, Segment, Timestamps};
use crate::units::SeqNo;

const SERVER: NodeId = NodeId(0);
const MOBILE: NodeId = NodeId(9);
/// The first byte; the sequence numbers wrap within the tests.
const ZERO: SeqNo = SeqNo(u32::MAX - 2_499);
const REPLY: SeqNo = SeqNo(700);

#[derive(Debug, Default)]
struct Heard {
    down: Vec<Packet>,
    up: Vec<Packet>,
    rides: Vec<(NodeId, Rider)>,
    timer: Option<Time>,
}

impl AgentOut for Heard {
    fn down(&mut self, packet: &Packet) {
        self.down.push(*packet);
    }
    fn up(&mut self, packet: &Packet) {
        self.up.push(*packet);
    }
    fn ride(&mut self, towards: NodeId, rider: Rider) {
        self.rides.push((towards, rider));
    }
    fn set_timer(&mut self, at: Time) {
        self.timer = Some(at);
    }
    fn cancel_timer(&mut self) {
        self.timer = None;
    }
}

struct Hop {
    proxy: ArqProxy,
    client: ArqProxy,
    now: Time,
    client_timer: Option<Time>,
}

fn packet(src: NodeId, segment: Segment) -> Packet {
    let (dst, src_port, dst_port) = if src == SERVER { (MOBILE, 80, 4_000) } else { (SERVER, 4_000, 80) };
    let body = Body::Tcp(Segment { src_port, dst_port, ..segment });
    Packet::new(src, dst, body)
}

fn stamps(value: u32, echo: u32) -> Options {
    Options { timestamps: Some(Timestamps { value, echo }), ..Options::default() }
}

fn tcp(packet: &Packet) -> Segment {
    let Body::Tcp(segment) = packet.body else { panic!("a segment") };
    segment
}

/// Segment `number` of the server, with its own timestamp.
fn data(number: u32) -> Packet {
    let seq = ZERO.plus(1000 * number);
    let options = stamps(1_000 + number, 50);
    packet(
        SERVER,
        Segment { seq, ack: REPLY, flags: Flags::ACK, window: 900, len: 1000, options, ..Segment::default() },
    )
}

/// The mobile's acknowledgement of all segments before `number`.
fn ack(number: u32, window: u16) -> Segment {
    let ack = ZERO.plus(1000 * number);
    let echo = 1_000 + number.saturating_sub(1);
    Segment {
        seq: REPLY,
        ack,
        flags: Flags::ACK,
        window,
        options: stamps(60 + number, echo),
        ..Segment::default()
    }
}

/// What the client did with an acknowledgement: the hash that it requested, or the packets that it sent.
#[derive(Debug, PartialEq, Eq)]
enum Did {
    Rides(u32),
    Goes(Vec<u32>),
}

fn number(ack: SeqNo) -> u32 {
    ack.distance_from(ZERO).cast_unsigned() / 1000
}

impl Hop {
    /// After the handshake, in which the server sends the SYN; the mobile offers a window scale of 2.
    fn new(config: &Config) -> Hop {
        let at = |ahead, behind| {
            let criterion = Criterion::between([ahead], [behind]);
            ArqProxy::new(Config { criterion, ..config.clone() })
        };
        let mut hop = Hop {
            proxy: at(MOBILE, SERVER),
            client: at(SERVER, MOBILE),
            now: Time::ZERO,
            client_timer: None,
        };
        let shifted = |value, echo| Options { window_scale: Some(2), ..stamps(value, echo) };
        let syn = Segment {
            seq: SeqNo(ZERO.0.wrapping_sub(1)),
            flags: Flags::SYN,
            options: shifted(900, 0),
            ..Segment::default()
        };
        assert_eq!(hop.carry(&packet(SERVER, syn)).len(), 1);
        let flags = Flags::SYN.with(Flags::ACK);
        let answer = Segment {
            seq: SeqNo(REPLY.0 - 1),
            ack: ZERO,
            flags,
            window: 500,
            options: shifted(50, 900),
            ..Segment::default()
        };
        let sent = hop.tcp_says(answer);
        assert_eq!((sent.0.len(), hop.reaches_proxy(answer).len()), (1, 1));
        hop
    }

    /// Carries a packet of the server across the hop; returns what reaches the mobile's TCP.
    fn carry(&mut self, packet: &Packet) -> Vec<Packet> {
        let mut out = Heard::default();
        self.proxy.down(packet, self.now, &mut out);
        let mut reached = Vec::new();
        for sent in out.down {
            let mut out = Heard { timer: self.client_timer, ..Heard::default() };
            self.client.up(&sent, self.now, &mut out);
            self.client_timer = out.timer;
            reached.extend(out.up);
        }
        reached
    }

    fn receive(&mut self, numbers: impl IntoIterator<Item = u32>) {
        for number in numbers {
            assert_eq!(self.carry(&data(number)).len(), 1);
        }
    }

    /// The mobile's TCP sends a segment; returns what goes to the link, and the riders.
    fn tcp_says(&mut self, segment: Segment) -> (Vec<Packet>, Vec<(NodeId, Rider)>) {
        let mut out = Heard { timer: self.client_timer, ..Heard::default() };
        self.client.down(&packet(MOBILE, segment), self.now, &mut out);
        self.client_timer = out.timer;
        for sent in &out.down {
            self.fate(sent, Signal::Delivered);
        }
        (out.down, out.rides)
    }

    fn fate(&mut self, packet: &Packet, signal: Signal) {
        let mut out = Heard { timer: self.client_timer, ..Heard::default() };
        self.client.on_signal(signal, packet, self.now, &mut out);
        self.client_timer = out.timer;
    }

    fn says(&mut self, segment: Segment) -> Did {
        let (down, rides) = self.tcp_says(segment);
        match (&down[..], &rides[..]) {
            ([], [(SERVER, request)]) => {
                assert_eq!(request.len(), 4);
                Did::Rides(u32::from_be_bytes(request.as_slice().try_into().expect("four bytes")))
            }
            (sent, []) => Did::Goes(sent.iter().map(|packet| number(tcp(packet).ack)).collect()),
            other => panic!("{other:?}"),
        }
    }

    /// A real segment of the mobile reaches the proxy; returns what it forwards.
    fn reaches_proxy(&mut self, segment: Segment) -> Vec<Segment> {
        let mut out = Heard::default();
        self.proxy.up(&packet(MOBILE, segment), self.now, &mut out);
        out.up.iter().map(tcp).collect()
    }

    /// A request reaches the proxy; returns what it sends up.
    fn request(&mut self, hash: u32) -> Vec<Segment> {
        let mut out = Heard::default();
        self.proxy.on_rider(Rider::new(&hash.to_be_bytes()), self.now, &mut out);
        assert!(out.down.is_empty());
        out.up.iter().map(tcp).collect()
    }

    /// Time passes; returns what the client's timer sends.
    fn wait(&mut self, ms: u64) -> Vec<u32> {
        let until = self.now.after(Span::from_millis(ms));
        let mut sent = Vec::new();
        while let Some(due) = self.client_timer.take_if(|at| *at <= until) {
            self.now = due;
            let mut out = Heard::default();
            self.client.on_timer(due, &mut out);
            self.client_timer = out.timer;
            sent.extend(out.down.iter().map(|packet| number(tcp(packet).ack)));
        }
        self.now = until;
        sent
    }

    /// A hop over which the first segment and its real acknowledgement have passed, with window 500.
    fn begun() -> Hop {
        let mut hop = Hop::new(&Config::default());
        hop.receive([0]);
        assert_eq!(hop.says(ack(1, 500)), Did::Goes(vec![1]), "nothing is known of its window yet");
        assert_eq!(hop.reaches_proxy(ack(1, 500)), [ack(1, 500)].map(with_ports));
        hop
    }

    fn rides(&mut self, segment: Segment) -> u32 {
        match self.says(segment) {
            Did::Rides(hash) => hash,
            other @ Did::Goes(_) => panic!("{other:?}"),
        }
    }
}

fn with_ports(segment: Segment) -> Segment {
    Segment { src_port: 4_000, dst_port: 80, ..segment }
}

#[test]
fn a_plain_acknowledgement_stays_and_a_request_releases_it_as_tcp_made_it() {
    let mut hop = Hop::begun();
    hop.receive([1, 2]);
    let hash = hop.rides(ack(2, 500));
    let [released] = hop.request(hash)[..] else { panic!("one") };
    // All fields equal those of the real one, except the mobile's own timestamp, which is the last one seen.
    let real = with_ports(ack(2, 500));
    assert_eq!(released, Segment { options: stamps(61, 1_001), ..real });
    // Two segments at once, as with delayed acknowledgements: the echo is that of the first.
    hop.receive([3]);
    let hash = hop.rides(ack(4, 500));
    let [released] = hop.request(hash)[..] else { panic!("one") };
    assert_eq!(number(released.ack), 4);
    assert_eq!(released.options.timestamps.map(|stamps| stamps.echo), Some(1_002));
    assert_eq!(hop.client.counters().requested, 2);
}

#[test]
fn what_is_not_plain_goes_as_it_is() {
    let mut hop = Hop::begun();
    hop.receive([1, 3]);
    let sack = |number: u32, left: u32| {
        let mut blocks = SackBlocks::default();
        blocks.push(ZERO.plus(1000 * left), ZERO.plus(1000 * (left + 1)));
        let plain = ack(number, 500);
        Segment { options: Options { sack: blocks, ..plain.options }, ..plain }
    };
    assert_eq!(hop.says(sack(2, 3)), Did::Goes(vec![2]), "it has a block");
    assert_eq!(hop.says(ack(2, 500)), Did::Goes(vec![2]), "it repeats");
    hop.receive([2]);
    assert_eq!(hop.says(ack(4, 400)), Did::Goes(vec![4]), "its window changes");
    hop.receive([4, 5, 6]);
    let with_data = Segment { len: 10, ..ack(5, 400) };
    assert_eq!(hop.says(with_data), Did::Goes(vec![5]), "it has data");
    let half = Segment { ack: ZERO.plus(5_500), ..ack(5, 400) };
    assert_eq!(hop.says(half), Did::Goes(vec![5]), "no segment ends there");
    assert!(matches!(hop.says(ack(7, 400)), Did::Rides(_)));
}

#[test]
fn nothing_is_requested_before_the_window_is_known_to_have_arrived() {
    let mut hop = Hop::begun();
    hop.receive(1..6);
    let sent = hop.tcp_says(ack(2, 400)).0;
    hop.fate(&sent[0], Signal::Undelivered);
    assert_eq!(hop.says(ack(3, 400)), Did::Goes(vec![3]), "the one before did not arrive");
    assert!(matches!(hop.says(ack(4, 400)), Did::Rides(_)));
    // Two in flight: the delivery of the first does not confirm the second.
    let mut out = Heard::default();
    hop.client.down(&packet(MOBILE, ack(5, 300)), hop.now, &mut out);
    hop.client.down(&packet(MOBILE, Segment { window: 200, ..ack(5, 300) }), hop.now, &mut out);
    hop.fate(&out.down[0].clone(), Signal::Delivered);
    assert_eq!(hop.says(ack(6, 300)), Did::Goes(vec![6]));
}

#[test]
fn the_proxy_acknowledges_nothing_that_it_was_not_asked_for() {
    let mut hop = Hop::begun();
    hop.receive(1..20);
    for unknown in 0..1_000 {
        assert_eq!(hop.request(unknown), []);
    }
    assert_eq!(hop.proxy.counters().unknown, 1_000);
    // A second request for the same hash is not answered.
    let hash = hop.rides(ack(5, 500));
    assert_eq!(hop.request(hash).len(), 1);
    assert_eq!(hop.request(hash).len(), 0);
    // An older one is already covered.
    let hash = hash_of(3);
    assert_eq!(hop.request(hash).len(), 0);
}

fn hash_of(number: u32) -> u32 {
    let packet = data(number);
    hash(&packet, &tcp(&packet))
}

#[test]
fn before_a_real_window_was_heard_nothing_is_released() {
    let mut hop = Hop::new(&Config::default());
    hop.receive([0]);
    assert_eq!(hop.request(hash_of(0)), []);
}

#[test]
fn without_a_frame_to_ride_with_the_real_one_goes_soon_and_with_one_after_a_silence() {
    let mut hop = Hop::begun();
    hop.receive([1]);
    hop.rides(ack(2, 500));
    assert_eq!(hop.wait(4), []);
    assert_eq!(hop.wait(1), [2]);
    // The delivery of the real one is reported, and requests continue.
    hop.fate(&packet(MOBILE, ack(2, 500)), Signal::Delivered);
    hop.receive([2]);
    hop.rides(ack(3, 500));
    hop.receive([3]);
    assert_eq!(hop.wait(39), []);
    assert_eq!(hop.wait(1), [3]);
    let activity = hop.client.activity();
    assert_eq!((activity.suppressed, activity.passed), (0, 3));
}

#[test]
fn a_real_one_that_was_released_goes_no_further_and_a_duplicate_behind_it_does() {
    let mut hop = Hop::begun();
    hop.receive([1]);
    let hash = hop.rides(ack(2, 500));
    assert_eq!(hop.request(hash).len(), 1);
    // Segment 2 is lost, and segment 3 causes a duplicate: the held acknowledgement is sent first.
    hop.receive([3]);
    assert_eq!(hop.says(ack(2, 500)), Did::Goes(vec![2, 2]));
    assert_eq!(hop.reaches_proxy(ack(2, 500)).len(), 0);
    assert_eq!(hop.reaches_proxy(ack(2, 500)).len(), 1);
    assert_eq!(hop.proxy.counters().swallowed, 1);
    // One that was not released is forwarded.
    hop.receive([2]);
    assert_eq!(hop.reaches_proxy(ack(4, 500)).len(), 1);
}

#[test]
fn a_released_acknowledgement_never_offers_more_than_the_last_real_one() {
    let mut hop = Hop::begun();
    hop.receive(1..10);
    hop.says(ack(2, 100));
    hop.reaches_proxy(ack(2, 100));
    let hash = hop.rides(ack(3, 100));
    let [released] = hop.request(hash)[..] else { panic!("one") };
    assert_eq!((number(released.ack), released.window), (3, 100));
}

#[test]
fn a_retransmission_has_the_hash_of_its_segment_and_echoes_its_own_stamp() {
    let mut hop = Hop::begun();
    hop.receive([1]);
    let again = Segment { options: stamps(5_000, 50), ..tcp(&data(1)) };
    hop.carry(&packet(SERVER, again));
    let hash = hop.rides(ack(2, 500));
    let [released] = hop.request(hash)[..] else { panic!("one") };
    assert_eq!(released.options.timestamps.map(|stamps| stamps.echo), Some(5_000));
    assert_eq!(hop.request(hash).len(), 0);
}

#[test]
fn the_end_of_a_connection_goes_as_it_is() {
    let mut hop = Hop::begun();
    let fin = Segment { flags: Flags::ACK.with(Flags::FIN), ..tcp(&data(1)) };
    hop.carry(&packet(SERVER, fin));
    let last = Segment { ack: ZERO.plus(2_001), ..ack(2, 500) };
    assert_eq!(hop.says(last), Did::Goes(vec![2]));
}

#[test]
fn two_flows_do_not_answer_for_each_other() {
    let mut hop = Hop::begun();
    hop.receive([1, 2]);
    let mut other = data(1);
    let Body::Tcp(segment) = &mut other.body else { panic!("a segment") };
    segment.dst_port = 5_000;
    assert_eq!(hop.request(hash(&other, &tcp(&other))), []);
    assert_eq!(hop.request(hash_of(1)).len(), 1);
}

#[test]
fn of_a_proxy_that_restarts_nothing_is_requested() {
    let mut hop = Hop::begun();
    hop.receive([1]);
    let requested = hop.rides(ack(2, 500));
    hop.proxy.restart(hop.now, &mut Heard::default());
    assert_eq!(hop.request(requested), []);
    assert_eq!(hop.wait(100), [2], "it goes itself");
    let reached = hop.carry(&data(2));
    assert_eq!(reached, [data(2)], "the mark ends at the client");
    assert_eq!(hop.says(ack(3, 500)), Did::Goes(vec![3]), "the window is not known to have arrived");
    hop.receive([3]);
    assert_eq!(hop.says(ack(4, 500)), Did::Goes(vec![4]), "the proxy marks what it does not know");
    assert_eq!(hop.reaches_proxy(ack(4, 500)), [ack(4, 500)].map(with_ports));
}

#[test]
fn a_client_that_restarts_requests_nothing() {
    let mut hop = Hop::begun();
    hop.receive([1]);
    hop.rides(ack(2, 500));
    hop.client.restart(hop.now, &mut Heard::default());
    assert_eq!(hop.wait(100), [0; 0], "what it held is lost");
    hop.receive([2, 3]);
    assert_eq!(hop.says(ack(4, 500)), Did::Goes(vec![4]));
    assert_eq!(hop.reaches_proxy(ack(4, 500)), [ack(4, 500)].map(with_ports));
}
