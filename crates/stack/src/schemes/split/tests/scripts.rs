//! Packet scripts: what arrives at a station, and what leaves it.

mod end_to_end;

use super::*;
use crate::hooks::testing::Handed;
use crate::packet::{Options, Timestamps};

const H: SeqNo = SeqNo(u32::MAX - 1_500);
const M: SeqNo = SeqNo(70_000);

/// A station, and its output since the last query.
struct Script {
    agent: Split<Parts>,
    now: Time,
    out: Handed,
}

fn segment(packet: &Packet) -> Segment {
    let Body::Tcp(segment) = packet.body else { panic!("a segment") };
    segment
}

impl Script {
    fn new(agent: Split<Parts>) -> Script {
        Script { agent, now: Time(ms(10).0), out: Handed::default() }
    }

    fn host_sends(&mut self, segment: Segment) -> &mut Script {
        let segment = Segment { src_port: HOST_PORT, dst_port: MOBILE_PORT, ..segment };
        let packet = Packet::new(HOST, MOBILE, Body::Tcp(segment));
        self.agent.down(&packet, self.now, &mut self.out);
        self
    }

    fn mobile_sends(&mut self, segment: Segment) -> &mut Script {
        let segment = Segment { src_port: MOBILE_PORT, dst_port: HOST_PORT, ..segment };
        let packet = Packet::new(MOBILE, HOST, Body::Tcp(segment));
        self.agent.up(&packet, self.now, &mut self.out);
        self
    }

    /// Discards the output so far.
    fn clear(&mut self) {
        self.out.up.clear();
        self.out.down.clear();
    }

    /// Runs the agent's timer for this many milliseconds.
    fn wait(&mut self, span_ms: u64) -> &mut Script {
        let end = self.now.after(ms(span_ms));
        while let Some(at) = self.out.timer.filter(|at| *at <= end) {
            self.now = at;
            self.out.timer = None;
            self.agent.on_timer(at, &mut self.out);
        }
        self.now = end;
        self
    }

    fn link(&mut self, event: LinkEvent) -> &mut Script {
        self.agent.on_link(event, None, self.now, &mut self.out);
        self
    }

    /// The packets sent up: flags, acknowledgement in the host's offsets, window, and payload.
    fn up(&mut self) -> Vec<(Flags, u32, u16, u32)> {
        let sent = self.out.up.drain(..).map(|packet| {
            assert_eq!((packet.src, packet.dst), (MOBILE, HOST), "in the address of the mobile");
            let segment = segment(&packet);
            (segment.flags, segment.ack.0.wrapping_sub(H.plus(1).0), segment.window, segment.len)
        });
        sent.collect()
    }

    /// The packets sent down: flags, first byte in the host's offsets, and payload.
    fn down(&mut self) -> Vec<(Flags, u32, u32)> {
        let sent = self.out.down.drain(..).map(|packet| {
            assert_eq!((packet.src, packet.dst), (HOST, MOBILE), "in the address of the host");
            let segment = segment(&packet);
            (segment.flags, segment.seq.0.wrapping_sub(H.plus(1).0), segment.len)
        });
        sent.collect()
    }

    fn acks_up(&mut self) -> Vec<(u32, u16)> {
        self.up().into_iter().map(|(_, ack, window, _)| (ack, window)).collect()
    }

    fn data_down(&mut self) -> Vec<(u32, u32)> {
        self.down().into_iter().filter(|sent| sent.2 > 0).map(|(_, seq, len)| (seq, len)).collect()
    }

    /// A station after the handshake, with nothing in flight.
    fn opened(agent: Split<Parts>) -> Script {
        let mut script = Script::new(agent);
        script.host_sends(syn()).mobile_sends(syn_ack());
        script.host_sends(Segment {
            seq: H.plus(1),
            ack: M.plus(1),
            flags: Flags::ACK,
            window: 8_000,
            ..Segment::default()
        });
        script.clear();
        script
    }
}

fn options() -> Options {
    Options { mss: Some(1000), window_scale: Some(0), ..Options::default() }
}

fn syn() -> Segment {
    Segment { seq: H, flags: Flags::SYN, window: 8_000, options: options(), ..Segment::default() }
}

fn syn_ack() -> Segment {
    let flags = Flags::SYN.with(Flags::ACK);
    Segment { seq: M, ack: H.plus(1), flags, window: 8_000, options: options(), ..Segment::default() }
}

/// Segment `number` of the host, of 1000 bytes.
fn data(number: u32) -> Segment {
    let seq = H.plus(1).plus(1000 * number);
    Segment { seq, ack: M.plus(1), flags: Flags::ACK, window: 8_000, len: 1000, ..Segment::default() }
}

/// The mobile acknowledges everything before this offset.
fn ack(offset: u32) -> Segment {
    let ack = H.plus(1).plus(offset);
    Segment { seq: M.plus(1), ack, flags: Flags::ACK, window: 8_000, ..Segment::default() }
}

const ACK: Flags = Flags::ACK;

#[test]
fn the_station_opens_towards_the_addressee_first_and_both_ends_have_the_hosts_numbers() {
    let mut script = Script::new(indirect());
    script.host_sends(syn());
    assert_eq!(script.up(), [], "the opener waits");
    assert_eq!(script.out.down.iter().map(|it| segment(it).seq).collect::<Vec<_>>(), [H]);
    script.out.down.clear();
    script.mobile_sends(syn_ack());
    assert_eq!(script.down(), [(ACK, 0, 0)], "the mobile's SYN is acknowledged here");
    let answer = segment(&script.out.up[0]);
    assert_eq!((answer.seq, answer.ack), (M, H.plus(1)));
    assert_eq!(answer.flags, Flags::SYN.with(ACK));
    assert_eq!(answer.window, 8_000, "the buffer of the station");
    assert_eq!(answer.options.mss, Some(1000));
}

#[test]
fn a_mobile_opens_likewise() {
    let mut script = Script::new(indirect());
    let open = Segment { seq: M, flags: Flags::SYN, window: 8_000, options: options(), ..Segment::default() };
    script.mobile_sends(open);
    assert_eq!((script.out.up.len(), script.out.down.len()), (1, 0));
    assert_eq!(segment(&script.out.up.remove(0)).seq, M);
    let answer = Segment { seq: H, ack: M.plus(1), ..syn_ack() };
    script.host_sends(answer);
    assert_eq!(script.out.up.len(), 1, "an acknowledgement");
    let answer = segment(&script.out.down[0]);
    assert_eq!((answer.seq, answer.ack, answer.flags), (H, M.plus(1), Flags::SYN.with(ACK)));
}

#[test]
fn a_lost_syn_goes_again_by_the_stations_own_timer() {
    let mut script = Script::new(indirect());
    script.host_sends(syn());
    script.down();
    script.wait(1_100);
    assert_eq!(script.down().len(), 1);
    assert_eq!(script.out.up.len(), 0);
}

#[test]
fn data_is_acknowledged_at_once_and_copied() {
    let mut script = Script::opened(indirect());
    script.host_sends(data(0)).host_sends(data(1));
    assert_eq!(script.data_down(), [(0, 1000), (1000, 1000)]);
    assert_eq!(
        script.acks_up(),
        [(1000, 8_000), (2000, 8_000)],
        "what is copied leaves its room in the buffer"
    );
    assert_eq!(script.agent.activity().unconfirmed, Some(2000));
    script.mobile_sends(ack(2000));
    assert_eq!((script.up(), script.down()), (vec![], vec![]), "the host has its acknowledgement");
    assert_eq!(script.agent.activity().unconfirmed, Some(0));
}

#[test]
fn a_loss_on_the_hop_is_repaired_from_here_and_hidden_from_the_host() {
    let mut script = Script::opened(indirect());
    for number in 0..5 {
        script.host_sends(data(number));
    }
    script.data_down();
    script.up();
    for _ in 0..4 {
        script.mobile_sends(ack(0));
    }
    assert_eq!(script.data_down()[0], (0, 1000), "three duplicates");
    assert_eq!(script.up(), []);
    assert_eq!(script.agent.activity().repaired, 1);
}

#[test]
fn the_window_closes_when_two_buffers_are_full_and_opens_when_the_mobile_acknowledges() {
    let mut script = Script::opened(indirect());
    for number in 0..20 {
        script.host_sends(data(number));
    }
    let acks = script.acks_up();
    assert_eq!(
        acks.last(),
        Some(&(16_000, 0)),
        "one buffer waits for the mobile, and one is not read: {acks:?}"
    );
    assert_eq!(script.agent.levels()[0].value, 16_000);
    assert!(script.data_down().iter().all(|(seq, len)| seq + len <= 8_000));
    script.mobile_sends(ack(4_000));
    assert_eq!(script.acks_up(), [(16_000, 4_000)]);
    assert_eq!(script.agent.levels()[0].value, 12_000);
    assert_eq!(script.agent.levels()[1].value, 16_000, "the most");
}

#[test]
fn a_fin_passes_on_when_all_before_it_has_been_copied() {
    let mut script = Script::opened(indirect());
    for number in 0..10 {
        script.host_sends(data(number));
    }
    let fin = Segment { flags: ACK.with(Flags::FIN), len: 0, ..data(10) };
    script.host_sends(fin);
    let has_fin = |sent: &(Flags, u32, u32)| sent.0.has(Flags::FIN);
    assert!(!script.down().iter().any(has_fin), "two segments do not fit into the buffer");
    for offset in [2_000, 4_000, 8_000] {
        script.mobile_sends(ack(offset));
    }
    let down = script.down();
    assert!(down.iter().filter(|sent| has_fin(sent)).all(|sent| sent.1 + sent.2 == 10_000), "{down:?}");
    assert!(down.iter().any(has_fin), "{down:?}");
}

#[test]
fn a_fin_that_comes_with_data_goes_with_it() {
    let mut script = Script::opened(indirect());
    script.host_sends(Segment { flags: ACK.with(Flags::FIN), ..data(0) });
    let down = script.down();
    assert!(down.len() == 1 && down[0].0.has(Flags::FIN) && down[0].2 == 1_000, "{down:?}");
}

#[test]
fn what_is_of_no_known_connection_is_dropped_and_a_full_station_refuses_syns() {
    let mut script = Script::new(indirect());
    script.host_sends(data(0)).mobile_sends(ack(0));
    assert_eq!((script.up(), script.down()), (vec![], vec![]));
    assert_eq!(script.agent.counters().strays, 2);
    for port in 0..3 {
        let segment = Segment { src_port: 6000 + port, dst_port: MOBILE_PORT, ..syn() };
        let packet = Packet::new(HOST, MOBILE, Body::Tcp(segment));
        script.agent.down(&packet, script.now, &mut script.out);
    }
    assert_eq!((script.out.down.len(), script.agent.counters().refused), (2, 1));
}

#[test]
fn what_is_not_between_a_mobile_and_another_passes_and_a_reset_ends_the_connection() {
    let mut script = Script::opened(indirect());
    let strange = Packet::new(HOST, NodeId(9), Body::Tcp(data(0)));
    script.agent.down(&strange, script.now, &mut script.out);
    let own = Packet::new(MOBILE, MOBILE, Body::Tcp(data(0)));
    script.agent.down(&own, script.now, &mut script.out);
    assert_eq!(script.out.down.len(), 2);
    script.out.down.clear();
    script.host_sends(Segment { flags: Flags::RST, ..data(0) });
    assert_eq!(script.down()[0].0, Flags::RST);
    script.host_sends(data(0));
    assert_eq!(script.agent.counters().strays, 1);
}

#[test]
fn a_station_that_restarts_has_lost_what_it_had_acknowledged() {
    let mut script = Script::opened(indirect());
    for number in 0..3 {
        script.host_sends(data(number));
    }
    script.mobile_sends(ack(1_000)).wait(50);
    assert_eq!(script.agent.activity().unconfirmed, Some(2_000));
    script.agent.restart(script.now, &mut script.out);
    assert_eq!((script.agent.counters().lost, script.agent.activity().unconfirmed), (2_000, Some(0)));
    assert_eq!(script.out.timer, None, "nothing is known, nothing is due");
    script.clear();
    script.host_sends(data(3)).mobile_sends(ack(1_000)).wait(10_000);
    assert_eq!((script.up(), script.down()), (vec![], vec![]));
    assert_eq!(script.agent.counters().strays, 2);
}

#[test]
fn state_moves_to_another_station_and_the_hop_begins_in_slow_start() {
    let mut script = Script::opened(indirect());
    for number in 0..6 {
        script.host_sends(data(number));
    }
    script.mobile_sends(ack(2_000)).wait(50);
    script.up();
    let exported = script.agent.export(MOBILE, script.now, &mut script.out).expect("a flow");
    assert_eq!(exported.bytes, 4_000 + 2 * 256);
    assert_eq!((script.agent.activity().unconfirmed, script.out.timer), (Some(0), None));
    assert_eq!(script.agent.counters().lost, 0);
    let mut other = Script::new(indirect());
    other.now = script.now.after(ms(500));
    other.agent.import(exported, other.now, &mut other.out);
    assert_eq!(other.data_down(), [(2000, 1000), (3000, 1000), (4000, 1000), (5000, 1000)]);
    assert_eq!(other.agent.activity().unconfirmed, Some(4_000));
    other.mobile_sends(ack(6_000)).host_sends(data(6)).wait(50);
    assert_eq!(other.acks_up(), [(7_000, 8_000)], "the wired end goes on");
}

#[test]
fn a_hop_that_has_backed_off_begins_anew_after_a_hand_off() {
    let mut script = Script::opened(indirect());
    script.host_sends(data(0)).host_sends(data(1)).wait(5_000);
    let again = script.data_down().len();
    assert!(again >= 4, "{again}");
    let exported = script.agent.export(MOBILE, script.now, &mut script.out).expect("a flow");
    let mut other = Script::new(indirect());
    other.now = script.now;
    other.agent.import(exported, other.now, &mut other.out);
    assert_eq!(other.data_down(), [(0, 1000), (1000, 1000)]);
    assert_eq!(other.out.timer, Some(other.now.after(Span::from_secs(1))), "the timeout of a new connection");
}

#[test]
fn a_timer_that_fell_due_on_the_way_is_due_on_arrival() {
    let mut script = Script::opened(indirect());
    // The station has sent data of the mobile to the host, which does not answer.
    script.mobile_sends(Segment { len: 1000, ..ack(0) });
    assert!(script.out.timer.is_some());
    let exported = script.agent.export(MOBILE, script.now, &mut script.out).expect("a flow");
    let mut other = Script::new(indirect());
    other.now = script.now.after(ms(30_000));
    other.agent.import(exported, other.now, &mut other.out);
    assert_eq!(other.out.timer, Some(other.now));
    other.wait(0);
    assert_eq!(other.out.up.len(), 1, "it sends again");
}

#[test]
fn a_connection_is_forgotten_a_while_after_both_ends_have_closed() {
    let mut script = Script::opened(indirect());
    let fin = ACK.with(Flags::FIN);
    script.host_sends(Segment { flags: fin, len: 0, ..data(0) });
    script.mobile_sends(Segment { flags: fin, ..ack(1) });
    script.host_sends(Segment { ack: M.plus(2), len: 0, seq: H.plus(2), ..data(0) });
    script.wait(230_000);
    script.clear();
    script.mobile_sends(Segment { flags: fin, ..ack(1) });
    assert_eq!(script.down().len(), 1, "a FIN that comes again is acknowledged");
    script.wait(240_100);
    script.mobile_sends(Segment { flags: fin, ..ack(1) });
    assert_eq!((script.down().len(), script.agent.counters().strays), (0, 1));
}
