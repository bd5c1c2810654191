//! Two connections over a wire that the test holds in its hands: it sees each packet, may drop it, and moves time.

use std::collections::VecDeque;

use super::*;
use crate::hooks::Note;
use crate::registry::tcp::{Config, Connection, Profile};
use crate::registry::{LawConfig, Parts, RecoveryKind};
use crate::units::Span;

const CLIENT: usize = 0;
const SERVER: usize = 1;
const ONE_WAY: Span = Span::from_millis(10);

/// What one end has put out: packets with the times they left, and its timers.
#[derive(Default)]
struct Side {
    wire: VecDeque<(Time, Packet)>,
    retransmit: Option<Time>,
    delayed_ack: Option<Time>,
    pace: Option<Time>,
    now: Time,
}

impl Out for Side {
    fn down(&mut self, packet: Packet) {
        self.wire.push_back((self.now, packet));
    }
    fn set(&mut self, timer: Timer, at: Time) {
        *self.timer(timer) = Some(at);
    }
    fn cancel(&mut self, timer: Timer) {
        *self.timer(timer) = None;
    }
    fn is_watching(&self) -> bool {
        false
    }
    fn note(&mut self, _: Note) {}
    fn measured(&mut self, _: Span, _: Span, _: Span) {}
}

impl Side {
    fn timer(&mut self, timer: Timer) -> &mut Option<Time> {
        match timer {
            Timer::Retransmit => &mut self.retransmit,
            Timer::DelayedAck => &mut self.delayed_ack,
            Timer::Pace => &mut self.pace,
        }
    }
}

struct Pair {
    ends: [Connection; 2],
    sides: [Side; 2],
    now: Time,
    /// Every segment that left, with its side and time, in order.
    log: Vec<(Time, usize, Segment)>,
    seen: [usize; 2],
    /// Segments (counted from 0 per side) that the wire loses.
    lost: [Vec<usize>; 2],
}

impl Pair {
    fn new(config: &Config) -> Pair {
        let address = [(NodeId(0), 1000), (NodeId(1), 2000)];
        // Both initial sequence numbers lie just below the wrap.
        let iss = [SeqNo(u32::MAX - 1500), SeqNo(u32::MAX - 3)];
        let end =
            |role, side: usize| Connection::new(config, role, address[side], address[1 - side], iss[side]);
        Pair {
            ends: [end(Role::Active, CLIENT), end(Role::Passive, SERVER)],
            sides: [Side::default(), Side::default()],
            now: Time::ZERO,
            log: Vec::new(),
            seen: [0; 2],
            lost: [Vec::new(), Vec::new()],
        }
    }

    fn with(&mut self, side: usize, act: impl FnOnce(&mut Connection, Time, &mut Side)) {
        self.sides[side].now = self.now;
        act(&mut self.ends[side], self.now, &mut self.sides[side]);
    }

    fn open(&mut self) {
        self.with(CLIENT, Connection::open);
    }

    fn write(&mut self, side: usize, bytes: u64) {
        self.with(side, |end, now, out| end.write(bytes, now, out));
    }

    fn close(&mut self, side: usize) {
        self.with(side, Connection::close);
    }

    /// The next thing that happens, if anything: an arrival or a timer.
    fn step(&mut self) -> bool {
        let mut next: Option<(Time, u8, usize)> = None;
        let mut consider = |at: Option<Time>, what: u8, side: usize| {
            if let Some(at) = at
                && next.is_none_or(|(time, ..)| at < time)
            {
                next = Some((at, what, side));
            }
        };
        for side in [CLIENT, SERVER] {
            consider(self.sides[side].wire.front().map(|sent| sent.0.after(ONE_WAY)), 0, side);
            consider(self.sides[side].retransmit, 1, side);
            consider(self.sides[side].delayed_ack, 2, side);
            consider(self.sides[side].pace, 3, side);
        }
        let Some((time, what, side)) = next else { return false };
        self.now = time;
        match what {
            0 => {
                let Some((sent, packet)) = self.sides[side].wire.pop_front() else { return false };
                let number = self.seen[side];
                self.seen[side] += 1;
                if let Body::Tcp(segment) = packet.body {
                    self.log.push((sent, side, segment));
                }
                if !self.lost[side].contains(&number) {
                    self.with(1 - side, |end, now, out| end.up(&packet, now, out));
                }
            }
            1 => {
                self.sides[side].retransmit = None;
                self.with(side, |end, now, out| end.on_timer(Timer::Retransmit, now, out));
            }
            3 => {
                self.sides[side].pace = None;
                self.with(side, |end, now, out| end.on_timer(Timer::Pace, now, out));
            }
            _ => {
                self.sides[side].delayed_ack = None;
                self.with(side, |end, now, out| end.on_timer(Timer::DelayedAck, now, out));
            }
        }
        true
    }

    /// Lets everything happen until `until`.
    fn run(&mut self, until: Span) {
        for _ in 0..100_000 {
            if self.now.0 > until.0 || !self.step() {
                return;
            }
        }
        panic!("the two ends talk without end");
    }

    fn sent_by(&self, side: usize) -> Vec<Segment> {
        self.log.iter().filter(|line| line.1 == side).map(|line| line.2).collect()
    }

    fn data_of(&self, side: usize) -> Vec<(u32, u32)> {
        let zero = self.ends[side].iss.plus(1);
        let data = self.sent_by(side).into_iter().filter(|segment| segment.len > 0);
        data.map(|segment| (segment.seq.0.wrapping_sub(zero.0), segment.len)).collect()
    }
}

fn modern() -> Config {
    Config { packet: 1000, initial_window: 4, ..Profile::Modern.config() }
}

#[test]
fn the_handshake_takes_three_segments_and_negotiates_the_options() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.run(Span::from_secs(1));
    let flags: Vec<Flags> = pair.log.iter().map(|line| line.2.flags).collect();
    assert_eq!(flags, [Flags::SYN, Flags::SYN.with(Flags::ACK), Flags::ACK]);
    assert_eq!(pair.ends.each_ref().map(Connection::state), [State::Established; 2]);
    let syn = pair.log[0].2.options;
    assert!(syn.sack_permitted && syn.timestamps.is_some() && syn.mss == Some(1000));
    assert_eq!(syn.window_scale, Some(modern().window_scale_shift()));
    assert_eq!(pair.ends[CLIENT].sender().rtt().srtt(), Some(Span::from_millis(20)));
}

#[test]
fn the_windows_of_syn_segments_are_not_scaled() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.run(Span::from_secs(1));
    let windows: Vec<u16> = pair.log.iter().map(|line| line.2.window).collect();
    assert_eq!(windows[..2], [u16::MAX; 2]);
    let (buffer, shift) = (modern().receive_buffer_bytes(), modern().window_scale_shift());
    assert_eq!(u64::from(windows[2]), buffer >> shift);
}

#[test]
fn an_option_that_one_side_lacks_is_used_by_neither() {
    let mut pair = Pair::new(&modern());
    pair.ends[SERVER].timestamps = false;
    pair.ends[SERVER].sack = false;
    pair.open();
    pair.write(CLIENT, 3_000);
    pair.run(Span::from_secs(1));
    let later = &pair.log[2..];
    assert!(later.iter().all(|line| line.2.options.timestamps.is_none()));
    assert!(!pair.ends[CLIENT].sack && !pair.ends[CLIENT].timestamps);
}

#[test]
fn a_lost_syn_is_sent_again_after_the_initial_timeout_and_leaves_a_window_of_one() {
    let mut pair = Pair::new(&modern());
    pair.lost[CLIENT] = vec![0];
    pair.open();
    pair.write(CLIENT, 10_000);
    pair.run(Span::from_millis(1_022));
    assert_eq!(pair.log[1].0, Time(1_000_000_000));
    assert_eq!(pair.ends[CLIENT].sender().window().cwnd, 1.0);
    // RFC 6298 (5.7): data starts with a timeout of three seconds.
    assert_eq!(pair.ends[CLIENT].sender().rtt().rto(), Span::from_secs(3));
}

#[test]
fn a_lost_end_of_the_handshake_is_made_good_by_the_first_data() {
    let mut pair = Pair::new(&modern());
    pair.lost[CLIENT] = vec![1];
    pair.open();
    pair.write(CLIENT, 2_500);
    pair.close(CLIENT);
    pair.run(Span::from_secs(10));
    assert!(pair.ends[CLIENT].is_done() && pair.ends[SERVER].is_done());
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 2_500);
}

#[test]
fn the_initial_window_leaves_at_once_and_crosses_the_wrap() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.write(CLIENT, 100_000);
    pair.run(Span::from_millis(29));
    while pair.data_of(CLIENT).len() < 4 {
        assert!(pair.step());
    }
    assert_eq!(pair.now, Time(30_000_000), "all four left when the handshake ended, at 20 ms");
    assert_eq!(pair.data_of(CLIENT), [(0, 1000), (1000, 1000), (2000, 1000), (3000, 1000)]);
    pair.run(Span::from_secs(5));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 100_000);
}

#[test]
fn the_fin_rides_on_the_last_segment_and_both_sides_close() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.write(CLIENT, 1_500);
    pair.close(CLIENT);
    pair.run(Span::from_secs(5));
    let data: Vec<Segment> = pair.sent_by(CLIENT).into_iter().filter(|segment| segment.len > 0).collect();
    assert!(!data[0].flags.has(Flags::FIN) && data[1].flags.has(Flags::FIN.with(Flags::PSH)));
    assert!(pair.ends[CLIENT].is_done() && pair.ends[SERVER].is_done());
    assert!(pair.sides.iter().all(|side| side.retransmit.is_none() && side.delayed_ack.is_none()));
}

#[test]
fn acknowledgements_ride_on_data_that_goes_the_other_way() {
    let config = Config { ack_every: 2, ..modern() };
    let mut pair = Pair::new(&config);
    pair.open();
    pair.run(Span::from_millis(100));
    pair.write(CLIENT, 1_000);
    // The answer leaves while the acknowledgement is held back.
    pair.now = pair.now.after(Span::from_millis(15));
    while pair.ends[SERVER].receiver().in_order() < 1_000 {
        assert!(pair.step());
    }
    pair.write(SERVER, 500);
    pair.run(Span::from_secs(1));
    let server = pair.sent_by(SERVER);
    let answer = server.iter().find(|segment| segment.len == 500).expect("the answer");
    assert_eq!(answer.ack, pair.ends[CLIENT].iss.plus(1).plus(1_000));
    assert_eq!(server.len(), 2, "the SYN and the answer alone");
}

#[test]
fn a_held_acknowledgement_leaves_when_its_timer_fires() {
    let config = Config { ack_every: 2, ack_delay: Span::from_millis(40), ..modern() };
    let mut pair = Pair::new(&config);
    pair.open();
    pair.run(Span::from_millis(100));
    pair.write(CLIENT, 1_000);
    let sent = pair.now;
    pair.run(Span::from_secs(1));
    let (time, ..) = pair.log.last().expect("an acknowledgement");
    assert_eq!(*time, sent.after(ONE_WAY).after(Span::from_millis(40)));
}

#[test]
fn repeated_acknowledgements_advertise_one_window_even_when_data_was_just_read() {
    // A window that moved between them would make them window updates, not duplicates (RFC 5681, 2).
    let config = Config { timestamps: false, sack: false, ack_every: 1, ..modern() };
    let mut pair = Pair::new(&config);
    pair.lost[CLIENT] = vec![3];
    pair.open();
    pair.write(CLIENT, 8_000);
    pair.run(Span::from_millis(95));
    let acks = pair.sent_by(SERVER);
    let repeated: Vec<&Segment> = acks.iter().filter(|segment| segment.ack == acks[2].ack).collect();
    assert!(repeated.len() >= 3, "{}", repeated.len());
    assert!(repeated.iter().all(|segment| segment.window == repeated[0].window));
}

#[test]
fn the_timer_doubles_and_the_window_falls_to_one_segment() {
    let config = Config {
        parts: Parts::new(RecoveryKind::NewReno, LawConfig::Reno(())),
        timestamps: false,
        sack: false,
        ..modern()
    };
    let mut pair = Pair::new(&config);
    pair.open();
    pair.run(Span::from_millis(100));
    pair.lost[CLIENT] = (2..=4).collect();
    pair.write(CLIENT, 1_000);
    pair.run(Span::from_secs(10));
    let times: Vec<u64> = pair
        .log
        .iter()
        .filter(|line| line.1 == CLIENT && line.2.len > 0)
        .map(|line| line.0.0 / 1_000_000)
        .collect();
    let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert_eq!(gaps, [200, 400, 800]);
    let counters = pair.ends[CLIENT].counters(pair.now);
    assert_eq!((counters.timeouts, counters.timeout_series), (3, 1));
}

#[test]
fn nagle_holds_a_small_segment_until_the_last_is_acknowledged() {
    for (nagle, expected) in [(true, vec![(0, 10), (10, 20)]), (false, vec![(0, 10), (10, 10), (20, 10)])] {
        let mut pair = Pair::new(&Config { nagle, ..modern() });
        pair.open();
        pair.run(Span::from_millis(100));
        for _ in 0..3 {
            pair.write(CLIENT, 10);
        }
        pair.run(Span::from_secs(1));
        assert_eq!(pair.data_of(CLIENT), expected);
    }
}

#[test]
fn a_closed_window_is_probed_with_one_byte_and_opened_by_an_update() {
    let config = Config { receive_buffer: Some(3_000), ack_every: 1, ..modern() };
    let mut pair = Pair::new(&config);
    pair.ends[SERVER].read_by_hand();
    pair.open();
    pair.write(CLIENT, 5_000);
    pair.run(Span::from_millis(700));
    let probes: Vec<(u32, u32)> = pair.data_of(CLIENT).into_iter().filter(|data| data.1 == 1).collect();
    assert!(probes.len() >= 2 && probes.iter().all(|probe| *probe == (3_000, 1)), "{probes:?}");
    assert!(pair.ends[CLIENT].sender().is_persisting());
    pair.with(SERVER, |end, now, out| end.read(3_000, now, out));
    pair.run(Span::from_secs(2));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 5_000);
    assert_eq!(pair.ends[CLIENT].counters(pair.now).timeouts, 0, "probing is no loss");
}

#[test]
fn probing_goes_on_when_a_probe_was_taken_and_closed_the_window() {
    let config = Config { receive_buffer: Some(3_100), ack_every: 1, ..modern() };
    let mut pair = Pair::new(&config);
    pair.ends[SERVER].read_by_hand();
    pair.open();
    pair.write(CLIENT, 5_000);
    pair.run(Span::from_millis(300));
    // Two full segments leave a room that only a probe fills.
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 3_100);
    let update = pair.seen[SERVER];
    pair.lost[SERVER].push(update);
    pair.with(SERVER, |end, now, out| end.read(3_100, now, out));
    pair.run(Span::from_secs(4));
    assert_eq!(pair.ends[SERVER].receiver().in_order(), 5_000);
}

#[test]
fn data_without_an_acknowledgement_is_dropped() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.write(CLIENT, 1_000);
    pair.run(Span::from_secs(1));
    let Segment { seq, src_port, dst_port, .. } = *pair.sent_by(CLIENT).last().expect("sent");
    for (flags, received) in [(Flags::PSH, 1_000), (Flags::PSH.with(Flags::ACK), 1_500)] {
        let ack = pair.ends[SERVER].iss.plus(1);
        let seq = seq.plus(1_000);
        let segment = Segment { src_port, dst_port, seq, ack, flags, len: 500, ..Segment::default() };
        let packet = Packet { src: NodeId(0), dst: NodeId(1), extra_header: 0, body: Body::Tcp(segment) };
        pair.with(SERVER, |end, now, out| end.up(&packet, now, out));
        assert_eq!(pair.ends[SERVER].receiver().in_order(), received);
    }
}

#[test]
fn a_reset_ends_the_connection() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.write(CLIENT, 10_000);
    pair.run(Span::from_millis(25));
    let segment = Segment { flags: Flags::RST, ..Segment::default() };
    let packet = Packet { src: NodeId(1), dst: NodeId(0), extra_header: 0, body: Body::Tcp(segment) };
    pair.with(CLIENT, |end, now, out| end.up(&packet, now, out));
    assert_eq!(pair.ends[CLIENT].state(), State::Closed);
    assert_eq!(pair.sides[CLIENT].retransmit, None);
}

#[test]
fn an_idle_time_of_one_timeout_brings_the_initial_window_back() {
    let config = Config { window_validation: false, ..modern() };
    let mut pair = Pair::new(&config);
    pair.open();
    pair.write(CLIENT, 60_000);
    pair.run(Span::from_secs(1));
    assert!(pair.ends[CLIENT].sender().window().cwnd > 20.0);
    pair.now = Time(5_000_000_000);
    pair.write(CLIENT, 60_000);
    assert_eq!(pair.sides[CLIENT].wire.len(), 4);
}

#[test]
fn a_window_that_does_not_limit_does_not_grow() {
    for (window_validation, grows) in [(true, false), (false, true)] {
        let mut pair = Pair::new(&Config { window_validation, nagle: false, ..modern() });
        pair.open();
        for _ in 0..20 {
            pair.run(Span(pair.now.0 + 100_000_000));
            pair.now = pair.now.after(Span::from_millis(100));
            pair.write(CLIENT, 100);
        }
        assert_eq!(pair.ends[CLIENT].sender().window().cwnd > 4.0, grows);
    }
}

#[test]
fn a_stopped_application_forgets_what_it_had_not_sent() {
    let mut pair = Pair::new(&modern());
    pair.open();
    pair.write(CLIENT, 1_000_000);
    pair.run(Span::from_millis(25));
    pair.with(CLIENT, Connection::stop);
    pair.run(Span::from_secs(5));
    assert!(pair.ends[SERVER].is_done());
    assert!(pair.ends[SERVER].receiver().in_order() < 20_000);
}

#[test]
fn timestamps_are_learnt_from_every_segment_but_not_from_beyond_a_hole() {
    let config = Config { ack_every: 1, ..modern() };
    let mut pair = Pair::new(&config);
    pair.lost[CLIENT] = vec![6];
    pair.open();
    pair.write(CLIENT, 40_000);
    pair.run(Span::from_millis(100));
    let echoes: Vec<u32> = pair
        .sent_by(CLIENT)
        .iter()
        .filter_map(|segment| segment.options.timestamps)
        .map(|stamps| stamps.echo)
        .collect();
    assert!(echoes.last() > echoes.get(2), "pure acknowledgements carry news too: {echoes:?}");
    let acks = pair.sent_by(SERVER);
    let hole = acks.iter().find(|ack| !ack.options.sack.is_empty()).expect("a hole").ack;
    let repeated: Vec<u32> = acks
        .iter()
        .filter(|ack| ack.ack == hole)
        .filter_map(|ack| ack.options.timestamps)
        .map(|stamps| stamps.echo)
        .collect();
    assert!(repeated.len() > 2 && repeated.iter().all(|echo| *echo == repeated[0]), "{repeated:?}");
}

#[test]
fn an_outdated_timestamp_gives_way_to_any() {
    // A clock of microseconds turns half round in 36 minutes.
    let config = Config { tick: Span::ZERO, ..modern() };
    let mut pair = Pair::new(&config);
    pair.open();
    pair.write(CLIENT, 1_000);
    pair.run(Span::from_secs(1));
    pair.now = Time(2_400 * 1_000_000_000);
    pair.write(CLIENT, 5_000);
    pair.run(Span::from_secs(2_401));
    let srtt = pair.ends[CLIENT].sender().rtt().srtt().expect("a sample");
    assert!(srtt < Span::from_millis(100), "{srtt:?}");
}

mod duplex;
mod window_rules;

#[test]
fn an_end_that_was_made_anew_is_like_a_new_one_but_for_what_it_has_counted() {
    let config = Config { timestamps: true, sack: true, ..Profile::Modern.config() };
    let mut pair = Pair::new(&config);
    pair.lost[CLIENT] = vec![4, 9];
    pair.ends[SERVER].close_after_peer();
    pair.open();
    pair.write(CLIENT, 100_000);
    pair.close(CLIENT);
    while pair.step() {}
    assert!(pair.ends.iter().all(Connection::is_done));
    let counted = pair.ends[CLIENT].counters(pair.now);
    assert!(counted.retransmits > 0 && counted.rtt_samples > 0, "{counted:?}");
    let iss = SeqNo(77);
    for (side, role) in [(CLIENT, Role::Passive), (SERVER, Role::Active)] {
        let other = 1 - side;
        let [near, far] = [side, other].map(|side| (NodeId(side as u32), 3000 + side as u16));
        let mut end = pair.ends[side].clone();
        let received = end.bytes_received();
        end.renew(role, (near.1, far.1), iss);
        assert_eq!(end.bytes_received(), received);
        assert_eq!(end.counters(Time::ZERO).segments_sent, pair.ends[side].counters(pair.now).segments_sent);
        let mut fresh = Connection::new(&config, role, near, far, iss);
        fresh.bytes_received = received;
        fresh.closes_on_eof = end.closes_on_eof;
        let show = |end: &Connection| {
            let text = format!("{end:?}");
            let from = text.find("counters: ").expect("the counters of the sender");
            let to = from + text[from..].find('}').expect("their end");
            format!("{}{}", &text[..from], &text[to..])
        };
        assert_eq!(show(&end), show(&fresh));
    }
}
